"""The numbers of each figure of a full report against a second computation, by plain loops over the records.

The notebooks run here without a kernel, and the data of their figures, which a report writes as CSV, are held
to `by_definition`. `CHECKS` names for each figure what computes it anew, `ELSEWHERE` for each of the others
the test that does; no figure of the demo's largest report is left out.
"""

from __future__ import annotations

import ast
import hashlib
import json
import statistics
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import by_definition
import nbformat
import pytest
from beside import boards, labels_of

from medgauge_lib import demo
from medgauge_lib.charts.figure import table_json

PROJECT = Path(__file__).parents[1]
PAGES = ("summary", "groups", "intervals", "dimensions", "difficulty", "failure_attribution", "integrity")
SUBJECT = ("model", "agent", "harness", "application", "provider")
QUANTITIES = {
    "pass^3": "pass_pow_3",
    "pass@3": "pass_at_3",
    "task pass rate": "task_pass_rate",
    "continuous score": "continuous_score",
}
EXACT = ("pass_pow_3", "pass_at_3")
FEW = 13
"""Rows up to which groups and sums of signs are tried out one by one."""

Lines = list[dict[str, Any]]


class Source:
    """Records as their files have them, with the figures that notebooks make of them.

    Attributes
    ----------
    records : dict
        By id.
    labels : dict
        By task key.
    figures : dict
        Data of each figure by its id, a dictionary a line.
    """

    def __init__(self, folder: Path, labels: Path | None) -> None:
        files = sorted(folder.glob("*.json"))
        self.records = {one["id"]: one for one in (json.loads(file.read_bytes()) for file in files)}
        self.hashes = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
        self.verified = [one for one in self.records.values() if one["verified_by_site"]]
        self.void = by_definition.void_tasks(self.verified)
        self.labels = json.loads(labels.read_bytes()) if labels else {}
        about = self.verified[0]
        values = {
            "benchmark": about["benchmark"],
            "benchmark_version": about["benchmark_version"],
            "records": str(folder),
            "labels": str(labels) if labels else None,
        }
        self._bca: dict[tuple[str, str], tuple[float, float] | None] = {}
        self.figures: dict[str, Lines] = {}
        for name in PAGES:
            self.figures |= figures_of(PROJECT / f"notebooks/{name}.ipynb", values)
        self.ids = {line["label"]: line["id"] for line in self.figures["inputs"]}

    @cached_property
    def order(self) -> list[str]:
        """Ids of the board's rows as it has them."""
        return [line["id"] for line in self.figures["board"]]

    def tasks(self, record: str, subset: str = "holdout") -> list[dict[str, Any]]:
        """Live tasks of a row."""
        return by_definition.tasks_of(self.records[record], subset, self.void)

    def runs(self, record: str, *subsets: str) -> list[dict[str, Any]]:
        """Live runs of a row."""
        return [run for subset in subsets for task in self.tasks(record, subset) for run in task["runs"]]

    def values(self, record: str, quantity: str, subset: str = "holdout") -> list[Fraction]:
        """Value of each live task of a row."""
        return [by_definition.task_value(task, quantity) for task in self.tasks(record, subset)]

    def mean(self, record: str, quantity: str, subset: str = "holdout") -> Fraction:
        """Mean over the live tasks of a row."""
        return by_definition.mean(self.values(record, quantity, subset))

    def of_class(self, record: str, number: int) -> list[dict[str, Any]]:
        """Live holdout tasks of a row that are of a class."""
        return [task for task in self.tasks(record) if self.classes(task) == number]

    def classes(self, task: dict[str, Any]) -> int | None:
        """Class of a task."""
        label = self.labels.get(task["task_key"])
        return label["difficulty"] if isinstance(label, dict) else label

    def bca(self, record: str, quantity: str) -> tuple[float, float] | None:
        """BCa interval of a quantity of a row, worked out once."""
        if (record, quantity) not in self._bca:
            numbers = self.values(record, quantity)
            words = by_definition.philox(20260101, by_definition.RESAMPLES * len(numbers))
            self._bca[record, quantity] = by_definition.bca(numbers, words)
        return self._bca[record, quantity]

    def cost(self, record: str, subset: str = "holdout") -> Fraction | None:
        """Cost per success, None where a run has no amount or none passes."""
        if all("amount" in run for run in self.runs(record, subset)):
            return by_definition.cost_per_success(self.tasks(record, subset))
        return None


def figures_of(notebook: Path, values: dict[str, Any]) -> dict[str, Lines]:
    """Run a notebook with these parameters, and give the data of each figure that it shows."""
    room: dict[str, Any] = {}
    found = {}
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        parsed = ast.parse(cell.source)
        last = parsed.body.pop() if isinstance(parsed.body[-1], ast.Expr) else None
        exec(compile(parsed, notebook.name, "exec"), room)
        if "parameters" in cell.metadata.get("tags", ()):
            room |= values
        shown = eval(compile(ast.Expression(last.value), notebook.name, "eval"), room) if last else None
        if hasattr(shown, "id"):
            table = table_json(shown.table)
            found[shown.id] = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    return found


def held_interval(
    source: Source, record: str, quantity: str, low: Any, high: Any, *, subset: str = "holdout"
) -> None:
    """Hold an interval to its definition; the bounds by resampling of the first and last row only."""
    numbers = source.values(record, quantity, subset)
    if quantity in EXACT:
        bounds = by_definition.clopper_pearson(int(sum(numbers)), len(numbers), 0.05)
        assert (low, high) == pytest.approx(bounds, abs=1e-9)
    elif len(set(numbers)) == 1:
        assert (low, high) == (None, None)
    elif record in (source.order[1], source.order[-1]):
        assert (low, high) == source.bca(record, quantity)
    else:
        assert low <= by_definition.mean(numbers) <= high


def rows(subset: str = "holdout") -> Callable[[Source, Lines], None]:
    """Give what holds a table of rows to the records: quantities, cost, errors, vetoes and the exam."""

    def check(source: Source, lines: Lines) -> None:
        for line in lines:
            runs = source.runs(line["id"], subset)
            tasks = source.tasks(line["id"], subset)
            assert line["n_tasks"] == len(tasks)
            for quantity in QUANTITIES.values():
                assert line[quantity] == float(source.mean(line["id"], quantity, subset))
                if subset == "holdout":
                    bounds = line[f"{quantity}_low"], line[f"{quantity}_high"]
                    held_interval(source, line["id"], quantity, *bounds)
            gap = source.mean(line["id"], "pass_at_3", subset) - source.mean(line["id"], "pass_pow_3", subset)
            assert line["instability"] == float(gap)
            cost = source.cost(line["id"], subset)
            assert line["cost_per_success"] == (None if cost is None else float(cost))
            errors = Counter(run["error"]["attribution"] for run in runs if run["error"])
            assert line["error_rate"] == float(Fraction(sum(errors[one] for one in SUBJECT), len(runs)))
            assert [line[f"errors_{one}"] for one in SUBJECT] == [errors[one] for one in SUBJECT]
            vetoes = Counter(category for run in runs for category in run["veto_categories"])
            told = {
                name[5:]: n for name, n in line.items() if name.startswith("veto_") and name != "veto_rate"
            }
            assert {name: n for name, n in told.items() if n} == vetoes
            vetoed = sum(bool(run["veto_categories"]) for run in runs)
            assert line["veto_rate"] == float(Fraction(vetoed, len(runs)))
            passed = all(run["pass"] for run in runs) and not vetoed
            assert line["exam"] == ("passed" if passed else "not_passed")
            bound = line["claimable_lower_bound"]
            assert bound == (pytest.approx(0.05 ** (1 / len(tasks)), abs=1e-12) if passed else None)

    return check


def board(source: Source, lines: Lines) -> None:
    """The rows, their ranks, their groups by trying every set of rows, and their order by the cost rule."""
    rows()(source, lines)
    score = {line["id"]: source.mean(line["id"], "pass_pow_3") for line in lines}
    for line in lines:
        assert line["rank"] == 1 + sum(other > score[line["id"]] for other in score.values())
    letters = {line["id"]: tuple(line["letters"].split()) for line in lines}
    if len(lines) <= FEW:
        pairs = list(combinations(score, 2))
        adjusted = by_definition.holm([by_definition.mcnemar_p(*discordant(source, *pair)) for pair in pairs])
        apart = {frozenset(pair) for pair, p in zip(pairs, adjusted, strict=True) if p <= Fraction(1, 20)}
        every = {letter for own in letters.values() for letter in own}
        groups = {frozenset(row for row in letters if letter in letters[row]) for letter in every}
        assert groups == by_definition.maximal_groups(list(score), apart)
    prices = {
        own: {
            (cost.get("currency"), cost.get("price_table_version"))
            for row in letters
            if letters[row] == own and source.cost(row) is not None
            for cost in [source.records[row]["cost"]]
        }
        for own in letters.values()
    }
    cost = {row: source.cost(row) if len(prices[letters[row]]) == 1 else None for row in letters}
    assert [line["id"] for line in lines] == by_definition.order(sorted(score), score, letters, cost)


def discordant(source: Source, one: str, other: str) -> tuple[int, int]:
    """Tasks that only the one, and only the other row passes in all three runs."""
    pairs = list(zip(source.values(one, "pass_pow_3"), source.values(other, "pass_pow_3"), strict=True))
    return sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)


def forest(source: Source, lines: Lines) -> None:
    """pass^3 with its interval, pass@3 and the gap of each row, in board order."""
    assert [line["id"] for line in lines] == source.order
    for line in lines:
        assert line["pass_pow_3"] == float(source.mean(line["id"], "pass_pow_3"))
        assert line["pass_at_3"] == float(source.mean(line["id"], "pass_at_3"))
        held_interval(source, line["id"], "pass_pow_3", line["low"], line["high"])


def differences(source: Source, lines: Lines) -> None:
    """Difference, discordant tasks, p and adjusted p of every pair of rows."""
    counts = [
        discordant(source, source.order[line["upper_place"] - 1], source.order[line["lower_place"] - 1])
        for line in lines
    ]
    p_values = [by_definition.mcnemar_p(*pair) for pair in counts]
    n_tasks = len(source.tasks(source.order[0]))
    assert len(lines) == len(list(combinations(source.order, 2)))
    for line, (b, c), p, holm in zip(lines, counts, p_values, by_definition.holm(p_values), strict=True):
        assert (line["b_count"], line["c_count"]) == (b, c)
        assert line["difference"] == float(Fraction(b - c, n_tasks))
        assert (line["p"], line["holm"]) == (float(p), float(holm))
        assert line["differs"] == (holm <= Fraction(1, 20))


def sensitivity(source: Source, lines: Lines) -> None:
    """Pairs that a quantity of whole passes shows to differ, and those it shares with pass^3.

    Sums of the continuous score are too many to count for every pair; `test_pairs` holds single ones.
    """
    if len(source.order) > FEW:
        return
    pairs = list(combinations(source.order, 2))
    apart = {}
    for line in lines:
        assert line["n_pairs"] == len(pairs)
        if line["quantity"] == "continuous score":
            continue
        p_values = []
        for one, other in pairs:
            values = (source.values(row, QUANTITIES[line["quantity"]]) for row in (one, other))
            p_values.append(
                by_definition.convolved_sign_flip_p([a - b for a, b in zip(*values, strict=True) if a != b])
            )
        adjusted = by_definition.holm(p_values)
        apart[line["quantity"]] = {
            pair for pair, p in zip(pairs, adjusted, strict=True) if p <= Fraction(1, 20)
        }
        own, of_pass = apart[line["quantity"]], apart["pass^3"]
        assert line["n_differ"] == len(own)
        told = (line["also_in_pass_pow_3"], line["only_here"], line["only_in_pass_pow_3"])
        assert told == (len(own & of_pass), len(own - of_pass), len(of_pass - own))


def cost(source: Source, lines: Lines) -> None:
    """Cost per success and pass^3 with its interval of each row."""
    for line in lines:
        own = source.cost(line["id"])
        assert line["cost"] == (None if own is None else float(own))
        assert line["pass_pow_3"] == float(source.mean(line["id"], "pass_pow_3"))
        held_interval(source, line["id"], "pass_pow_3", line["low"], line["high"])


def quantities(source: Source, lines: Lines) -> None:
    """The four quantities of each row with their intervals."""
    assert len(lines) == 4 * len(source.order)
    for line in lines:
        row, quantity = source.ids[line["subject"]], QUANTITIES[line["quantity"]]
        assert line["value"] == float(source.mean(row, quantity))
        held_interval(source, row, quantity, line["low"], line["high"])


def bca(source: Source, lines: Lines) -> None:
    """Bias and acceleration of the intervals, resample by resample for one row."""
    for line in lines:
        row, quantity = source.ids[line["subject"]], QUANTITIES[line["quantity"]]
        held_interval(source, row, quantity, line["low"], line["high"])
        numbers = source.values(row, quantity)
        if row == source.order[1] and len(set(numbers)) > 1:
            words = by_definition.philox(20260101, by_definition.RESAMPLES * len(numbers))
            z0, a, *_ = by_definition.bca_inputs(numbers, words)
            assert (line["z0"], line["a"]) == pytest.approx((z0, a), abs=1e-12)


def exam_bound(source: Source, lines: Lines) -> None:
    """0.05^(1/n) for each number of tasks, and for that of this board."""
    for line in lines:
        assert line["bound"] == pytest.approx(0.05 ** (1 / line["n_tasks"]), abs=1e-12)
    assert len(source.tasks(source.order[0])) in {line["n_tasks"] for line in lines}


def passes(source: Source, lines: Lines) -> None:
    """Passing runs of each task and row."""
    assert {line["task"] for line in lines} == {task["task_key"] for task in source.tasks(source.order[0])}
    for label, row in source.ids.items():
        if row in source.order:
            own = {task["task_key"]: sum(r["pass"] for r in task["runs"]) for task in source.tasks(row)}
            assert {line["task"]: line[label] for line in lines} == own


def dimension(source: Source, lines: Lines) -> None:
    """Figures of a dimension: from runs where they decide it, otherwise the record's own."""
    assert {line["id"] for line in lines} == set(source.records)
    for line in lines:
        expected = recomputed(source, line) if line["provenance"] == "recomputed" else stated(source, line)
        shown = line["value"] if line["text"] is None else line["text"]
        assert shown == (None if expected is None else pytest.approx(expected, abs=1e-12)), line
        if line["figure"] in EXACT and not line["part"]:
            held_interval(source, line["id"], line["figure"], line["low"], line["high"])


def stated(source: Source, line: dict[str, Any]) -> Any:
    """What a record says of a figure, None where it carries none."""
    scores = source.records[line["id"]]["scores"]
    held = scores.get("by_subset", {}).get("holdout", {})
    if line["dimension"] == "M4":
        return held["by_difficulty_class"].get(line["part"].removeprefix("class "), {}).get(line["figure"])
    if line["dimension"] == "M6":
        return held.get(line["figure"], scores.get(line["figure"]))
    block = scores.get("dimensions", {}).get(by_definition.BLOCKS[line["dimension"]], {})
    value = block.get(line["figure"])
    return value.get(line["part"]) if isinstance(value, dict) and line["part"] else value


def recomputed(source: Source, line: dict[str, Any]) -> Any:
    """What the runs of a record give for a figure, None where they give none."""
    name, row = line["figure"], line["id"]
    runs = source.runs(row, "holdout")
    if line["dimension"] == "M4":
        own = source.of_class(row, int(line["part"].removeprefix("class ")))
        return float(by_definition.mean([by_definition.task_value(task, name) for task in own]))
    if name in QUANTITIES.values():
        return float(source.mean(row, name))
    if name == "instability":
        return float(source.mean(row, "pass_at_3") - source.mean(row, "pass_pow_3"))
    if name == "cost_per_success":
        own_cost = source.cost(row)
        return None if own_cost is None else float(own_cost)
    if name == "veto_rate":
        return sum(bool(run["veto_categories"]) for run in runs) / len(runs)
    if name == "veto_by_category":
        return sum(line["part"] in run["veto_categories"] for run in runs)
    if name == "mcnemar":
        block = stated(source, line | {"part": ""})
        return block and float(by_definition.mcnemar_p(block["b"], block["c"]))
    fields = ("tokens_in", "tokens_out") if name == "median_tokens" else (name.removeprefix("median_"),)
    used = [[run.get(field) for field in fields] for run in runs if run["pass"]]
    if not used or any(None in one for one in used):
        return None
    return statistics.median(map(sum, used))


def stratum(source: Source, record: str, number: int, quantity: str) -> tuple[int, float] | None:
    """Tasks and value of a class of a row: from labels, or as published where there are none."""
    if source.labels:
        own = source.of_class(record, number)
        numbers = [by_definition.task_value(task, quantity) for task in own]
        return (len(own), float(by_definition.mean(numbers))) if own else None
    held = source.records[record]["scores"]["by_subset"]["holdout"]
    published = held.get("by_difficulty_class", {}).get(str(number))
    return (published["n"], published[quantity]) if published else None


def strata(quantity: str) -> Callable[[Source, Lines], None]:
    """Give what holds a table of classes to runs and labels, with the exact interval of pass^3."""

    def check(source: Source, lines: Lines) -> None:
        for line in lines:
            if line["difficulty"] is None or line[quantity] is None:
                continue
            expected = stratum(source, line["id"], line["difficulty"], quantity)
            assert (line["n_tasks"], line[quantity]) == pytest.approx(expected, abs=1e-12)
            if quantity == "pass_pow_3":
                n, value = expected
                bounds = by_definition.clopper_pearson(round(n * value), n, 0.05)
                assert (line["pass_pow_3_low"], line["pass_pow_3_high"]) == pytest.approx(bounds, abs=1e-9)
        assert any(line[quantity] is not None for line in lines)

    return check


def rises(source: Source, lines: Lines) -> None:
    """Neighbouring classes of a row of which the harder has the higher pass^3, and by how much."""
    expected = {}
    for row in source.records:
        own = [(number, stratum(source, row, number, "pass_pow_3")) for number in (1, 2, 3, 4)]
        for (easier, low), (harder, high) in pairwise([one for one in own if one[1]]):
            if high[1] > low[1]:
                expected[row, easier, harder] = high[1] - low[1]
    shown = {(line["id"], line["easier"], line["harder"]): line["difference"] for line in lines}
    assert shown == pytest.approx(expected, abs=1e-12)


def class_counts(source: Source, lines: Lines) -> None:
    """How many rows hold how many tasks of each class."""
    counted = Counter(
        (number, found[0])
        for row in source.records
        for number in (1, 2, 3, 4)
        if (found := stratum(source, row, number, "pass_pow_3"))
    )
    shown: Counter[tuple[int, int]] = Counter()
    for line in lines:
        shown[line["difficulty"], line["n_tasks"]] += line["n_rows"]
    assert {key: n for key, n in shown.items() if key[1]} == counted


def labels(source: Source, lines: Lines) -> None:
    """How many tasks of the board carry each class."""
    counted = Counter(source.classes(task) for task in source.tasks(source.order[0]))
    told = [line for line in lines if line["family"] == "difficulty" and line["kind"] == "label"]
    assert {int(line["value"]): line["n_tasks"] for line in told} == counted


def reasons(source: Source, lines: Lines) -> None:
    """Recorded reasons as counts and shares of the failed runs of all subsets."""
    assert {line["id"] for line in lines} == set(source.records)
    for line in lines:
        failed = sum(not run["pass"] for run in source.runs(line["id"], "dev", "holdout", "calib"))
        recorded = source.records[line["id"]]["failure_attribution"]
        n = recorded.get(line["reason"], 0)
        assert (line["n_failed"], line["n_attributed"]) == (failed, sum(recorded.values()))
        assert line["difference"] == sum(recorded.values()) - failed
        if line["reason"] is not None:
            assert line["n_runs"] == n
            assert line["share"] == (n / failed if failed else None)


def errors(source: Source, lines: Lines) -> None:
    """Runs that ended in an error, by attribution and kind."""
    counted = Counter(
        (row, "holdout", run["error"]["attribution"], run["error"]["kind"])
        for row in source.records
        for run in source.runs(row, "holdout")
        if run["error"]
    )
    keys = ("id", "subset", "error_attribution", "error_kind")
    assert {tuple(line[key] for key in keys): line["n_runs"] for line in lines} == counted


def vetoes(source: Source, lines: Lines) -> None:
    """Runs that hit a gate, by category, of each subset."""
    for line in lines:
        runs = source.runs(line["id"], line["subset"])
        assert line["n_runs"] == sum(line["category"] in run["veto_categories"] for run in runs)


def runs_by_subset(source: Source, lines: Lines) -> None:
    """Runs, failed runs, errors and vetoes of each row and subset."""
    for line in lines:
        runs = source.runs(line["id"], line["subset"])
        ended = sum(bool(run["error"]) and run["error"]["attribution"] in SUBJECT for run in runs)
        assert (line["n_runs"], line["n_failed"]) == (len(runs), sum(not run["pass"] for run in runs))
        assert (line["n_subject_errors"], line["error_rate_subject"]) == (ended, ended / len(runs))
        assert line["n_vetoed"] == sum(bool(run["veto_categories"]) for run in runs)


def constraints(source: Source, lines: Lines) -> None:
    """Hits of each constraint as the records have them."""
    fields = {"gate": "veto_hits", "grading reference": "assertion_veto_hits"}
    expected = {
        (row, hit, words): n
        for row, record in source.records.items()
        for words, field in fields.items()
        for hit, n in record["scores"].get(field, {}).items()
    }
    assert {(line["id"], line["constraint"], line["source"]): line["hits"] for line in lines} == expected


def void(source: Source, lines: Lines) -> None:
    """Task versions that a list or an initiative-side error makes void."""
    assert {(line["task_key"], line["task_version"]) for line in lines} == source.void


def inputs(source: Source, lines: Lines) -> None:
    """The hash of every record file."""
    assert {line["file"]: line["sha256"] for line in lines} == source.hashes


DIMENSIONS = (
    *("m1-effectiveness", "m2-reliability", "m3-efficiency", "m3-actions", "m4-difficulty", "m5-optimality"),
    *("m5-redundancy", "m6-clinical-compliance", "m7-quality-control", "m7-defect-classes", "m8-exploration"),
    *("m9-auditability", "m10-robustness"),
)
CHECKS: dict[str, Callable[[Source, Lines], None]] = {
    "board": board,
    "board-calib": rows("calib"),
    "board-dev": rows("dev"),
    "community": rows(),
    "community-integrity": rows(),
    "forest": forest,
    "differences": differences,
    "sensitivity": sensitivity,
    "cost": cost,
    "quantities": quantities,
    "bca": bca,
    "exam-bound": exam_bound,
    "passes": passes,
    **dict.fromkeys(DIMENSIONS, dimension),
    "strata-pass-pow-3": strata("pass_pow_3"),
    "strata-task-pass-rate": strata("task_pass_rate"),
    "difficulty-rises": rises,
    "class-counts": class_counts,
    "labels": labels,
    "failure-reasons": reasons,
    "run-errors": errors,
    "vetoes": vetoes,
    "runs-by-subset": runs_by_subset,
    "constraint-hits": constraints,
    "void": void,
    "inputs": inputs,
}
ELSEWHERE = {
    "checks": "test_checks.py::test_vectorised_rules_find_what_a_slow_reading_finds",
    "findings": "test_charts_integrity.py::test_findings_have_their_place",
    "published-by-record": "test_audit.py::test_a_wrong_last_digit_anywhere_is_found",
    "published-by-figure": "test_audit.py::test_a_wrong_last_digit_anywhere_is_found",
    "closed-figures": "test_audit.py::test_the_list_of_what_cannot_be_recomputed_is_documented",
    "exam-conditions": "test_charts_integrity.py::test_conditions_are_facts_of_this_board",
}


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Source:
    """Return the demo's largest board."""
    root = tmp_path_factory.mktemp("ward") / "demo"
    demo.write(root)
    return Source(root / "bm-demo-ward/1.1.0", root / "bm-demo-ward/1.1.0.labels.json")


@pytest.mark.parametrize("name", CHECKS)
def test_demo_by_definition(ward: Source, name: str) -> None:
    """Each number of the figure is that of plain loops over the files of the demo set."""
    assert ward.figures[name]
    CHECKS[name](ward, ward.figures[name])


@pytest.mark.parametrize("folder", boards())
def test_real_records_by_definition(folder: Path) -> None:
    """Each number of every figure of a report on real records is that of plain loops over their files."""
    closed = labels_of(folder)
    source = Source(folder, closed if closed.exists() else None)
    assert len(source.figures) > len(CHECKS) / 2
    for name in source.figures.keys() & CHECKS.keys():
        CHECKS[name](source, source.figures[name])


def test_no_figure_is_left_out(ward: Source) -> None:
    """Every figure of a full report has a check here, or one named test that is there."""
    assert set(ward.figures) == CHECKS.keys() | ELSEWHERE.keys()
    for place in ELSEWHERE.values():
        file, _, name = place.partition("::")
        assert f"def {name}(" in (PROJECT / "tests" / file).read_text(encoding="utf-8")
