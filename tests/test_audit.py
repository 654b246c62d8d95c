"""The audit: a wrong last digit anywhere is found and pointed at, and a correct record is clean."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from beside import boards
from click.testing import CliRunner
from make_records import community, record, task, write
from mutations import (
    Table,
    at,
    each_once,
    in_turn,
    kind_of,
    leaves,
    mutations,
    one_unit,
    points_at,
    with_number,
)

from medgauge_lib import charts, demo, scoring
from medgauge_lib.audit import audit
from medgauge_lib.audit.agreement import agreement
from medgauge_lib.audit.published import CLOSED, numbers
from medgauge_lib.audit.recomputed import Bound
from medgauge_lib.board import board
from medgauge_lib.checks import Finding, check, checked
from medgauge_lib.cli import main
from medgauge_lib.errors import InputError
from medgauge_lib.intervals import QUANTILE_RULE, clopper_pearson
from medgauge_lib.labels import Labels, read_labels
from medgauge_lib.records import RecordSet, read_records

ROOT = Path(__file__).parents[1]
PASS, FAIL, ONCE = [(2, 2)] * 3, [(1, 2)] * 3, [(2, 2), (1, 2), (1, 2)]
HOLDOUT = ("scores", "by_subset", "holdout")
M3 = ("scores", "dimensions", "m3_efficiency")
ONE = "res-2026-01-01-a"


@pytest.fixture(scope="module")
def ward() -> RecordSet:
    """The largest board of the demo: three subsets, void tasks, community records, two currencies."""
    return demo.record_set("bm-demo-ward", "1.1.0")


@pytest.fixture(scope="module")
def lab() -> RecordSet:
    """The smallest board of the demo."""
    return demo.record_set("bm-demo-lab", "0.1.0")


def changed(records: RecordSet, path: tuple[Any, ...], value: Any, row: str = "") -> RecordSet:
    """Publish another value in one record, the first where none is named."""
    row = row or next(iter(records.published))
    document = with_number(records.published[row], path, value)
    return replace(records, published={**records.published, row: document})


def read(folder: Path, *rows: Mapping[str, Any]) -> RecordSet:
    """Score rows, so that every figure is there, and read them back."""
    made = scoring.score(read_records(write(folder / "in", *rows)))
    scoring.write(made, folder / "out")
    return read_records(folder / "out")


def told(records: RecordSet, **options: Any) -> list[tuple[str, str, str]]:
    """Severity, code and place of every finding."""
    return [(one.severity, one.code, one.pointer) for one in audit(records, **options).findings]


def only(records: RecordSet, **options: Any) -> Finding:
    """The one finding there is."""
    (finding,) = audit(records, **options).findings
    return finding


@pytest.mark.parametrize("version", demo.benchmarks(), ids=" ".join)
def test_the_demo_set_is_clean(version: tuple[str, str]) -> None:
    """Every figure of the demo agrees; what is not recomputed is of the closed side, with its reason."""
    found = audit(demo.record_set(*version))
    assert found.findings == ()
    assert found.count("agrees") > 300
    assert {figure.outcome for figure in found.figures} == {"agrees", "closed"}
    assert sum(found.closed().values()) == found.count("closed") > 0
    assert all(figure.reason for figure in found.figures if figure.outcome == "closed")


def test_every_number_is_listed_once(ward: RecordSet) -> None:
    """No published number escapes: each is compared, part of what is compared, closed, or says how."""
    found = audit(ward)
    listed = {(figure.id, figure.path) for figure in found.figures}
    assert len(listed) == len(found.figures)
    for row, document in ward.published.items():
        for block in ("scores", "board", "cost", "failure_attribution", "closed_checkpoint_detail"):
            for path, _ in numbers(document.get(block, {}), (block,)):
                assert (row, path) in listed or path[-1] in ("seed", "level", "resamples"), path


def all_found(table: Table, *, recomputable: int, held: int) -> None:
    """Nothing was missed, enough of each kind was tried, and few changes left a number right."""
    assert table.missed == []
    assert table.found["recomputable"] == table.changed["recomputable"] > recomputable
    assert table.found["held together"] == table.changed["held together"] > held
    assert table.changed["still right"] < table.changed["recomputable"] / 5


def test_a_wrong_last_digit_anywhere_is_found(lab: RecordSet, ward: RecordSet) -> None:
    """Every number, or one of each place, one unit of its last digit up and down: all found and named."""
    all_found(mutations(lab), recomputable=200, held=50)
    all_found(mutations(ward, each_once(ward.published)), recomputable=200, held=50)


@pytest.mark.parametrize("folder", boards())
def test_real_records_are_clean_and_wrong_digits_in_them_found(folder: Path) -> None:
    """Converted public runs agree with their published figures; changed ones do not."""
    records = read_records(folder)
    assert audit(records).findings == ()
    fifth = {row: leaves(one)[k % 5 :: 5] for k, (row, one) in enumerate(records.published.items())}
    all_found(mutations(records, fifth), recomputable=50, held=10)


REASONS = (
    "missed fabricated_evidence corrected_value overreported followed_injection input_modified format "
    "step_limit other"
)


def made_set(folder: Path) -> Path:
    """Write a row in every subset and class, with every reason of failure and hits of both kinds of gates."""
    vetoed = [(2, 2, {"veto_categories": ["unsafe_advice"]}), (1, 2), (0, 2)]
    tasks = [task(k, vetoed if k < 6 else PASS, subset="holdout") for k in range(1, 9)]
    tasks += [task(10, PASS, subset="dev"), task(11, PASS, subset="dev"), task(12, ONCE, subset="calib")]
    counts = dict.fromkeys(REASONS.split(), 1) | {"missed": 9}
    one = record(ONE, tasks, scores={"veto_hits": {"dose": 2}, "assertion_veto_hits": {"allergy": 3}})
    one["failure_attribution"] = counts
    for subset, n in (("holdout", 8), ("dev", 2), ("calib", 1)):
        block = one["scores"]["by_subset"][subset]
        rates = {name: block[name] for name in ("task_pass_rate", "pass_pow_3")}
        block["by_difficulty_class"] = {"4": {"n": n} | rates}
    scoring.write(scoring.score(read_records(write(folder / "in", one))), folder / "out")
    return folder / "out"


def pattern(path: tuple[str, ...]) -> tuple[str, ...]:
    """Path with the steps that are names of subsets, classes and constraints left open."""
    names = ("by_subset", "by_difficulty_class", "by_defect_class_recall", "veto_hits", "assertion_veto_hits")
    return tuple("*" if before in names else step for before, step in zip(("", *path), path, strict=False))


def test_a_wrong_digit_in_a_file_is_found(tmp_path: Path) -> None:
    """A number of each place in the schema, changed in a file: `check` points at it, or refuses it there."""
    demo.write(tmp_path / "demo")
    table, tried = Table(), set()
    for folder in (tmp_path / "demo" / "bm-demo-lab" / "0.1.0", made_set(tmp_path)):
        documents = {file: json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("*.json"))}
        chosen = {
            file: [path for path in paths if pattern(path) not in tried]
            for file, paths in each_once(documents, pattern).items()
        }
        tried |= {pattern(path) for paths in chosen.values() for path in paths}
        for paths in in_turn(chosen):
            try_in_files(documents, paths, table)
    sets = [demo.record_set(*version) for version in demo.benchmarks()]
    assert {
        pattern(path) for held in sets for one in held.published.values() for path in leaves(one)
    } <= tried
    assert sum(table.changed.values()) == len(tried)
    all_found(table, recomputable=40, held=10)


def try_in_files(documents: Mapping[Path, Any], chosen: Mapping[Path, tuple[str, ...]], table: Table) -> None:
    """Change a number in each of several files, those that leave the schema one by one; see what is told."""
    told_of: dict[Path, tuple[str, tuple[str, ...], Any]] = {}
    for file, path in chosen.items():
        old = at(documents[file], path)
        new = one_unit(old, 1)
        kind, what = kind_of(path, old, new), (file.name, "/" + "/".join(path), old, new)
        file.write_text(json.dumps(with_number(documents[file], path, new)), encoding="utf-8")
        try:
            read_records(file)
            told_of[file] = (kind, path, what)
        except InputError as refused:
            table.enter(kind, what, found=refused.pointer == what[1])
            file.write_text(json.dumps(documents[file]), encoding="utf-8")
    (folder,) = {file.parent for file in documents}
    done = CliRunner().invoke(main, ["check", "--format", "json", str(folder)], catch_exceptions=False)
    findings = [one for one in json.loads(done.stdout)["findings"] if one["severity"] == "error"]
    assert done.exit_code == (1 if findings else 0)
    for file, (kind, path, what) in told_of.items():
        places = [one["pointer"] for one in findings if one["file"] == file.name]
        table.enter(kind, what, found=any(points_at(place, path, kind) for place in places))
        file.write_text(json.dumps(documents[file]), encoding="utf-8")


@pytest.mark.parametrize("folder", boards())
def test_scored_real_records_are_clean(folder: Path, tmp_path: Path) -> None:
    """What scoring writes from public runs is complete and agrees in every figure."""
    scoring.write(scoring.score(read_records(folder), seed=11), tmp_path)
    records = read_records(tmp_path)
    assert check(records) == ()
    assert audit(records).findings == ()
    assert "task_pass_rate_ci" in next(iter(records.published.values()))["scores"]["by_subset"]["holdout"]


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ((*HOLDOUT, "any_veto"), None, "published.any_veto"),
        ((*HOLDOUT, "exam", "outcome"), "passed", "published.exam"),
        (("board", "letters"), ["z"], "published.letters"),
        ((*M3, "cost_per_success"), "not_available", "published.m3_efficiency"),
    ],
)
def test_words_are_held_too(lab: RecordSet, path: tuple[str, ...], value: Any, code: str) -> None:
    """Outcomes, letters, yes and no are compared like numbers."""
    row = "res-2026-05-24-fennel-chart"
    if value is None:
        value = not lab.published[row]["scores"]["by_subset"]["holdout"]["any_veto"]
    assert told(changed(lab, path, value, row)) == [("error", code, "/" + "/".join(path))]


def test_a_finding_says_what_was_published_and_what_the_runs_give(tmp_path: Path) -> None:
    """The message has both, the exact fraction too."""
    records = read(tmp_path, record(ONE, {1: PASS, 2: FAIL, 3: ONCE}))
    found = only(changed(records, (*HOLDOUT, "pass_at_3"), 0.6))
    assert (found.file, found.published, found.expected) == (f"{ONE}.json", 0.6, 2 / 3)
    assert found.message == "pass_at_3 is 0.6, but the runs give 2/3 = 0.6666666666666666"


def test_a_finding_on_a_bound_says_the_bound_alone(tmp_path: Path) -> None:
    """A BCa bound is said as it is published, to six decimals, and nothing beside it."""
    records = read(tmp_path, record(ONE, {k: (PASS if k % 3 else ONCE) for k in range(1, 24)}))
    bound = records.published[ONE]["scores"]["by_subset"]["holdout"]["task_pass_rate_ci"]["lower"]
    found = only(changed(records, (*HOLDOUT, "task_pass_rate_ci", "lower"), 0.5))
    assert (found.published, found.expected) == (0.5, bound)
    assert found.message == f"task_pass_rate_ci lower is 0.5, but the runs give {bound}"


@pytest.mark.parametrize("decimals", [2, 3, 4, 6, 15, 16])
def test_a_record_that_rounds_is_correct(ward: RecordSet, decimals: int) -> None:
    """Every figure rounded to the same decimals, zeros dropped: no error."""
    published = {row: rounded(document, decimals) for row, document in ward.published.items()}
    findings = audit(replace(ward, published=published)).findings
    assert [one for one in findings if one.severity == "error"] == []


def rounded(value: Any, decimals: int) -> Any:
    """Round all fractional numbers of a document except those of the schema's constants."""
    if isinstance(value, dict):
        return {name: one if name == "level" else rounded(one, decimals) for name, one in value.items()}
    return round(value, decimals) if isinstance(value, float) else value


def test_one_rounded_figure_is_correct(tmp_path: Path) -> None:
    """A single figure may be rounded where all others are not, down to one decimal."""
    records = read(tmp_path, record(ONE, {k: (PASS if k % 3 else ONCE) for k in range(1, 24)}))
    block = records.published[ONE]["scores"]["by_subset"]["holdout"]
    for name in ("pass_pow_3", "instability", "task_pass_rate", "continuous_score"):
        for decimals in range(1, 9):
            assert told(changed(records, (*HOLDOUT, name), round(block[name], decimals))) == []


@pytest.mark.parametrize(
    ("published", "exact", "decimals", "expected"),
    [
        (0.4333, Fraction(13, 30), 4, "rounded"),
        (0.4334, Fraction(13, 30), 4, "differs"),
        (0.12, Fraction(1, 8), 2, "rounded"),  # a tie goes either way
        (0.13, Fraction(1, 8), 2, "rounded"),
        (0.3, Fraction(31, 100), 1, "one off"),
        (0.3, Fraction(31, 100), 2, "differs"),
        (2 / 3, Fraction(2, 3), 16, "same"),
        (0.6666666666666667, Fraction(2, 3), 16, "same"),  # 2/3 to 16 decimals; the double is …66
        (0.6666666666666665, Fraction(2, 3), 16, "differs"),
        (0.6666666666666668, Fraction(2, 3), 16, "differs"),
        (0.666666666666667, Fraction(2, 3), 15, "rounded"),  # as %.15g writes it
        (0.666666666666666, Fraction(2, 3), 15, "differs"),
        (0.945828924162258, Fraction(107257, 113400), 15, "rounded"),  # …2574955; its double is …25755
        (0.666666666667, Fraction(2, 3), 12, "rounded"),
        (0.794183123, Bound(0.79418312345678, 12), 9, "rounded"),
        (0.794183123457, Bound(0.79418312345678, 12), 12, "same"),
        (0.794183123458, Bound(0.79418312345678, 12), 12, "differs"),
        (0.79418312345679, Bound(0.79418312345678, 12), 14, "other digits"),
        (0.79418312346678, Bound(0.79418312345678, 12), 14, "differs"),
        (0.25926, Bound(0.259259, 6), 5, "one off"),
        (0.2593, Bound(0.259259, 6), 4, "rounded"),
        (0.2592591, Bound(0.259259, 6), 7, "differs"),
        (20.0, 20, 1, "same"),
        (20.4, 20, 0, "differs"),
    ],
)
def test_agreement_case_by_case(published: float, exact: Any, decimals: int, expected: str) -> None:
    """Decision 9 and its cases, worked out by hand."""
    assert agreement(published, exact, decimals=decimals) == expected


def test_zeros_at_the_end_count_as_decimals(tmp_path: Path) -> None:
    """0.30 for 0.3 agrees, 0.50 for 0.497… does not, though 0.5 would; other figures are rounded too."""
    one = record(ONE, {k: (PASS if k <= 84 else FAIL) for k in range(1, 170)})
    block = rounded(one["scores"]["by_subset"]["holdout"], 2)
    one["scores"]["by_subset"]["holdout"] = block | {"continuous_score": 0.75}
    assert block["task_pass_rate"] == 0.5
    text = json.dumps(one)
    folder = write(tmp_path, one)
    assert told(read_records(folder)) == []
    for written, wrong in (("0.50", []), ("0.500", ["/scores/by_subset/holdout/task_pass_rate"])):
        changed_text = text.replace('"task_pass_rate": 0.5,', f'"task_pass_rate": {written},')
        (folder / f"{ONE}.json").write_text(changed_text, encoding="utf-8")
        records = read_records(folder)
        assert records.decimals[ONE] == {(*HOLDOUT, "task_pass_rate"): len(written) - 2}
        assert [place for _, _, place in told(records)] == wrong


def test_a_share_of_one_is_not_a_rounding_of_less(tmp_path: Path) -> None:
    """1 published for 24/25 is wrong in a record whose other shares have more decimals."""
    records = read(tmp_path, record(ONE, {k: (PASS if k > 1 else ONCE) for k in range(1, 26)}))
    assert told(changed(records, (*HOLDOUT, "pass_pow_3"), 1)) == [
        ("error", "published.pass_pow_3", "/scores/by_subset/holdout/pass_pow_3")
    ]


def test_another_quantile_rule_is_not_a_mismatch(lab: RecordSet) -> None:
    """An interval by a rule not implemented here is a note, and its bounds are not compared."""
    path = (*HOLDOUT, "task_pass_rate_ci")
    other = changed(changed(lab, (*path, "quantile_rule"), "HF8"), (*path, "lower"), 0.01)
    found = audit(other)
    (one,) = found.findings
    assert (one.severity, one.code) == ("note", "published.quantile_rule")
    assert one.pointer == "/scores/by_subset/holdout/task_pass_rate_ci/quantile_rule"
    assert (one.published, one.expected) == ("HF8", QUANTILE_RULE)
    assert "not implemented here" in one.message
    assert found.count("not implemented") == 1
    assert found.count("differs") == 0


def test_each_interval_is_recomputed_with_its_own_seed(tmp_path: Path) -> None:
    """Rows with other seeds than the board's are clean, and a bound of another seed is wrong."""
    rows = [record(f"res-2026-01-01-{k}", {t: (PASS if t % 3 else ONCE) for t in range(30)}) for k in "ab"]
    folder = write(tmp_path / "in", *rows)
    seeds = {"res-2026-01-01-a": 5, "res-2026-01-01-b": 2**64 - 1}
    for row, seed in seeds.items():
        made = scoring.score(read_records(folder), seed=seed)[row]
        write(tmp_path / "out", made)
    records = read_records(tmp_path / "out")
    assert told(records) == []
    path = (*HOLDOUT, "continuous_score_ci")
    block = records.published["res-2026-01-01-a"]["scores"]["by_subset"]["holdout"]["continuous_score_ci"]
    wrong = changed(records, (*path, "upper"), round(block["upper"] + 1e-6, 6))
    assert told(wrong) == [("error", "published.continuous_score_ci", "/" + "/".join([*path, "upper"]))]


def test_a_figure_that_does_not_exist_is_found(tmp_path: Path) -> None:
    """An interval of equal tasks, a bound of an exam not passed, a cost per success without amounts."""
    bogus = {"method": "bca_task_bootstrap", "level": 0.95, "resamples": 10_000, "seed": 1}
    bogus |= {"quantile_rule": QUANTILE_RULE, "lower": 1, "upper": 1}
    one = record(
        ONE, {1: FAIL, 2: FAIL}, scores={"dimensions": {"m3_efficiency": {"action_definition": "x"}}}
    )
    one["scores"]["dimensions"]["m3_efficiency"]["cost_per_success"] = 2
    one["scores"]["by_subset"]["holdout"] |= {"task_pass_rate_ci": bogus}
    one["scores"]["by_subset"]["holdout"]["exam"]["claimable_lower_bound"] = 0.2
    found = told(read_records(write(tmp_path, one)))
    assert [(code, place.rpartition("/")[2]) for _, code, place in found] == [
        ("published.claimable_lower_bound", "claimable_lower_bound"),
        ("published.task_pass_rate_ci", "task_pass_rate_ci"),
        ("published.m3_efficiency", "cost_per_success"),
    ]


def test_a_subset_without_runs_has_no_figures(tmp_path: Path) -> None:
    """A block of a subset that no run is of: its counts are 0 and its rates do not exist."""
    one = record(ONE, {1: PASS})
    one["scores"]["by_subset"]["dev"] = record(ONE, {1: PASS})["scores"]["by_subset"]["holdout"]
    places = [place for _, _, place in told(read_records(write(tmp_path, one)))]
    assert "/scores/by_subset/dev/n" in places
    assert "/scores/by_subset/dev/pass_at_3" in places
    assert all(place.startswith("/scores/by_subset/dev/") for place in places)


def test_a_count_left_out_is_zero(tmp_path: Path) -> None:
    """Errors that are not counted are found; categories without any may be left out."""
    runs = [(2, 2), (0, 2, {"error": ("agent", "timeout")}), (0, 2, {"error": ("model", "other")})]
    records = read_records(write(tmp_path, record(ONE, {1: runs})))
    assert told(records) == []
    found = only(changed(records, (*HOLDOUT, "errors"), {"agent": 1}))
    assert (found.pointer, found.published, found.expected) == (
        "/scores/by_subset/holdout/errors/model",
        0,
        1,
    )


def test_fields_that_some_runs_lack_decide_nothing(tmp_path: Path) -> None:
    """A total over runs of which one has no amount is listed as undecided, with how many lack it."""
    runs = [(2, 2, {"amount": 1}), (2, 2, {"amount": 1}), (2, 2)]
    found = audit(read_records(write(tmp_path, record(ONE, {1: runs}))))
    (figure,) = (one for one in found.figures if one.outcome == "undecided")
    assert (figure.pointer, figure.reason) == ("/cost/amount", "not recorded on 1 of 3 runs")
    assert found.findings == ()


def test_last_digits_that_programs_disagree_on_are_a_note(tmp_path: Path) -> None:
    """A Clopper–Pearson bound with other digits after the 12th decimal is told, and no error."""
    records = read(tmp_path, record(ONE, {k: (PASS if k % 3 else FAIL) for k in range(1, 18)}))
    bound = clopper_pearson(12, 17).low
    path = (*HOLDOUT, "pass_pow_3_ci", "lower")
    assert told(changed(records, path, bound)) == []
    assert told(changed(records, path, bound + 3e-15)) == [
        ("note", "published.last_digits", "/scores/by_subset/holdout/pass_pow_3_ci/lower")
    ]
    assert told(changed(records, path, bound + 3e-12))[0][:2] == ("error", "published.pass_pow_3_ci")


def labelled(folder: Path, **classes: int) -> Labels:
    """Read labels of tasks named t1, t2 and on."""
    file = folder / "x.labels.json"
    file.write_text(json.dumps({f"tk-{int(task[1:]):012x}": n for task, n in classes.items()}))
    return read_labels(file)


def with_strata(**strata: Mapping[str, float]) -> dict[str, Any]:
    """Three tasks, of which one passes, one sometimes, one never, and strata c1, c2 and on."""
    one = record(ONE, {1: PASS, 2: ONCE, 3: FAIL})
    blocks = {name[1:]: dict(block) for name, block in strata.items()}
    one["scores"]["by_subset"]["holdout"]["by_difficulty_class"] = blocks
    return one


RIGHT = {"n": 2, "task_pass_rate": 0.6667, "pass_pow_3": 0.5}
HARD = {"n": 1, "task_pass_rate": 0, "pass_pow_3": 0}


@pytest.mark.parametrize(
    ("easy", "place", "message"),
    [
        (RIGHT, None, ""),
        (RIGHT | {"n": 3}, "", "the classes have 4 tasks, the subset 3"),
        (RIGHT | {"task_pass_rate": 0.6}, "/1/task_pass_rate", "no whole number of 6 runs"),
        (RIGHT | {"pass_pow_3": 0.51}, "/1/pass_pow_3", "no whole number of 2 tasks"),
        (RIGHT | {"pass_pow_3": 1.0}, "", "the classes have 2 successes together, the subset 1"),
        (RIGHT | {"task_pass_rate": 0.8333}, "", "the classes have 5 successes together, the subset 4"),
    ],
)
def test_strata_add_up_without_labels(
    tmp_path: Path, easy: Mapping[str, float], place: str | None, message: str
) -> None:
    """Classes hold the tasks of the subset, their rates are whole counts and add up to the family's."""
    records = read_records(write(tmp_path, with_strata(c1=easy, c3=HARD)))
    found = [one for one in audit(records).findings if one.code == "published.strata"]
    root = "/scores/by_subset/holdout/by_difficulty_class"
    assert [one.pointer for one in found] == ([] if place is None else [root + place])
    assert all(message in one.message for one in found)


def test_strata_are_recomputed_with_labels(tmp_path: Path) -> None:
    """Where every task has its label, a stratum is compared like any figure."""
    labels = labelled(tmp_path, t1=1, t2=1, t3=3)
    records = read_records(write(tmp_path / "in", with_strata(c1=RIGHT, c3=HARD)))
    assert told(records, labels=labels) == []
    swapped = {"c1": HARD | {"n": 1}, "c3": RIGHT}
    wrong = read_records(write(tmp_path / "in", with_strata(**swapped)))
    assert told(wrong) == []
    assert {code for _, code, _ in told(wrong, labels=labels)} == {"published.by_difficulty_class"}
    places = [place for _, _, place in told(wrong, labels=labels)]
    assert "/scores/by_subset/holdout/by_difficulty_class/1/n" in places


def test_labels_that_lack_a_task_decide_no_stratum(tmp_path: Path) -> None:
    """A task without its label could be of any class."""
    records = read_records(write(tmp_path / "in", with_strata(c1=RIGHT, c3=HARD)))
    found = audit(records, labels=labelled(tmp_path, t1=1, t2=1))
    (one,) = (figure for figure in found.figures if figure.outcome == "undecided")
    assert one.reason == "1 of 3 tasks carry no label"


def quality(precision: float, recall: float, f1: float) -> dict[str, Any]:
    """Build one record with M7."""
    block = {"defect_precision": precision, "defect_recall": recall, "defect_f1": f1}
    return record(ONE, scores={"dimensions": {"m7_quality_control": block}})


@pytest.mark.parametrize(
    ("figures", "severities"),
    [
        ((0.5, 0.25, 1 / 3), []),
        ((0.5, 0.25, 0.3333), []),
        ((0.5, 0.25, 0.3334), ["error"]),
        ((0.0, 0.0, 0.0), []),
        ((0.0, 0.0, 0.1), ["error"]),
        ((0.0, 0.5, 0.0), []),
        # 2/3 and 2/5 have F1 1/2; rounded to one decimal, 0.7 and 0.4 give 0.509….
        ((0.67, 0.43, 0.53), ["note"]),  # as published 0.5238…; 0.674 and 0.434 give 0.528
        ((0.67, 0.43, 0.54), ["error"]),
    ],
)
def test_f1_follows_from_precision_and_recall(
    tmp_path: Path, figures: tuple[float, float, float], severities: list[str]
) -> None:
    """2PR/(P + R) at the precision of F1; what the rounding of P and R explains is a note."""
    found = audit(read_records(write(tmp_path, quality(*figures)))).findings
    assert [one.severity for one in found] == severities
    assert all(one.code == "published.f1" for one in found)


@pytest.mark.parametrize(
    ("signed", "absolute", "right"),
    [
        (-0.25, 0.25, True),
        (-0.25, 0.26, False),
        (0.2513, 0.25, True),
        (-0.25, 0.2513, True),
        (-0.25, 0.2613, False),
        (0, 0.0, True),
        (0, 0.1, False),
    ],
)
def test_an_absolute_figure_is_the_size_of_the_signed(
    tmp_path: Path, signed: float, absolute: float, right: bool
) -> None:
    """The one with fewer decimals is the rounding of the other."""
    block = {"regrade_agreement": 1, "env_delta": {"signed": signed, "absolute": absolute}}
    one = record(ONE, scores={"dimensions": {"m9_auditability": block}})
    places = [place for _, _, place in told(read_records(write(tmp_path, one)))]
    assert places == ([] if right else ["/scores/dimensions/m9_auditability/env_delta/absolute"])


def test_pairs_p_failures_and_hits_are_held_together(tmp_path: Path) -> None:
    """A p follows from b and c, pairs are at least as many, reasons add up, and hits need vetoed runs."""
    vetoed = [(2, 2, {"veto_categories": ["unsafe_advice"]}), (2, 2), (1, 2)]
    m10 = {"mcnemar": {"b": 5, "c": 1, "p_value": 0.21875}, "n_pairs": 6}
    scores = {"dimensions": {"m10_robustness": m10}, "veto_hits": {"dose": 1}}
    records = read_records(write(tmp_path, record(ONE, {1: vetoed}, scores=scores)))
    assert told(records) == []
    where = ("scores", "dimensions", "m10_robustness")
    assert told(changed(records, (*where, "mcnemar", "p_value"), 0.2188)) == []
    assert told(changed(records, (*where, "mcnemar", "p_value"), 0.2189))[0][1] == "published.m10_robustness"
    assert told(changed(records, (*where, "n_pairs"), 5))[0][1] == "published.n_pairs"
    found = only(changed(records, ("failure_attribution",), {"other": 1}))
    assert (found.pointer, found.published, found.expected) == ("/failure_attribution", 1, 2)
    assert told(changed(records, ("scores", "veto_hits"), {})) == [
        ("note", "published.veto_hits", "/scores/veto_hits")
    ]
    none = read_records(write(tmp_path / "none", record(ONE, {1: ONCE}, scores={"veto_hits": {"dose": 1}})))
    assert told(none) == [("error", "published.veto_hits", "/scores/veto_hits")]


def test_counts_beyond_reason_are_not_computed(tmp_path: Path) -> None:
    """A b of 2^62 does not keep anybody waiting: its p is listed as undecided."""
    m10 = {"mcnemar": {"b": 2**62, "c": 2**62, "p_value": 1.0}}
    records = read_records(write(tmp_path, record(ONE, scores={"dimensions": {"m10_robustness": m10}})))
    (one,) = (figure for figure in audit(records).figures if figure.outcome == "undecided")
    assert one.pointer == "/scores/dimensions/m10_robustness/mcnemar/p_value"
    assert "up to 4000" in one.reason


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        (("2026-01-01", "2026-01-01", "2026-01-01"), []),
        (("2026-03-01", "2026-03-01", "2026-03-01"), [("note", 0)]),
        (("2026-03-01", "2026-01-01", "2026-01-01"), [("error", 0)]),
        (("2026-03-01", "2026-03-01", "2026-03-02"), [("note", 0), ("error", 2)]),
        (("2025-12-31", "2026-01-01", "2026-01-01"), [("error", 0)]),
    ],
)
def test_the_date_of_a_board(tmp_path: Path, dates: tuple[str, ...], expected: list[tuple[str, int]]) -> None:
    """The date of the latest record, or a later one in all rows, which is then said to be given."""
    records = read(tmp_path, *(record(f"res-2026-01-01-{k}", {1: ONCE}) for k in "abc"))
    rows = list(records.published)
    for row, date in zip(rows, dates, strict=True):
        records = changed(records, ("board", "as_of"), date, row)
    found = audit(records).findings
    assert [(one.severity, rows.index(one.file.removesuffix(".json"))) for one in found] == expected
    assert {one.pointer for one in found} <= {"/board/as_of"}


def test_a_row_that_was_added_makes_boards_stale(tmp_path: Path) -> None:
    """Letters and number of rows are those of all records, and a community record has none."""
    wins, loses = dict.fromkeys(range(1, 13), PASS), dict.fromkeys(range(1, 13), FAIL)
    alone = read(tmp_path / "alone", record("res-2026-01-01-b", loses))
    folder = write(tmp_path / "both", record("res-2026-01-01-a", wins))
    (old,) = (tmp_path / "alone" / "out").glob("*.json")
    one = json.loads(old.read_text(encoding="utf-8"))
    assert told(alone) == []
    write(folder, one, community("res-2026-01-01-c", {1: PASS}, board=one["board"]))
    assert told(read_records(folder)) == [
        ("error", "published.letters", "/board/letters"),
        ("error", "published.n_rows", "/board/n_rows"),
        ("error", "published.board", "/board"),
    ]


def test_void_versions_and_other_subsets_are_out(tmp_path: Path) -> None:
    """Figures that count a void task version are wrong in every block that they enter."""
    tasks = [task(1, PASS), task(2, FAIL), task(3, ONCE, subset="dev")]
    void = [{"task_key": "tk-000000000002", "task_version": "1.0.0", "attribution": "task"}]
    right = record(ONE, tasks, voided_tasks=void)
    assert told(read_records(write(tmp_path, right))) == []
    wrong = record(ONE, tasks) | {"voided_tasks": void}
    codes = {code for _, code, _ in told(read_records(write(tmp_path, wrong)))}
    assert {"published.n", "published.n_tasks_total", "published.failure_attribution"} <= codes


def test_runs_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    """Nothing is held against runs that contradict themselves."""
    one = record(ONE, {1: [(2, 2), (2, 2, {"pass": False}), (2, 2)]})
    with pytest.raises(InputError, match="/run_outcomes/0/runs/1/pass"):
        audit(read_records(write(tmp_path, one)))


def test_a_broken_community_record_stops_nothing_but_its_own_figures(tmp_path: Path) -> None:
    """Rows of the board are compared as without it; its numbers are undecided, and `score` refuses it."""
    broken = community("res-2026-01-01-c", {1: [(2, 2), (2, 2, {"pass": False}), (2, 2)]})
    alone = read(tmp_path, record(ONE, {1: PASS, 2: ONCE}), record("res-2026-01-01-b", {1: FAIL, 2: ONCE}))
    together = read_records(write(tmp_path / "out", broken))
    before, found = audit(alone), audit(together)
    assert [one for one in found.figures if one.id != broken["id"]] == list(before.figures)
    assert found.findings == before.findings == ()
    apart = [one for one in found.figures if one.id == broken["id"]]
    assert {one.outcome for one in apart} == {"undecided", "closed"}
    reason = (
        "the runs cannot be trusted: /run_outcomes/0/runs/1/pass: pass is false, but all checkpoints passed"
    )
    assert {one.reason for one in apart if one.outcome == "undecided"} == {reason}
    assert [one.code for one in check(together) if one.severity == "unusable"] == ["run.pass"]
    with pytest.raises(InputError, match=r"res-2026-01-01-c\.json: /run_outcomes/0/runs/1/pass"):
        scoring.score(together)


def test_the_tables_of_integrity_stand_beside_a_broken_community_record(tmp_path: Path) -> None:
    """Every table of the notebook that takes the audit or the community is made all the same."""
    broken = community("res-2026-01-01-c", {1: [(2, 2), (2, 2, {"pass": False}), (2, 2)]})
    held = read_records(write(tmp_path, record(ONE, {1: PASS, 2: ONCE}), broken))
    compared, audited = board(held), audit(held)
    rules = (*checked(held), *audited.checked)
    charts.integrity_sentences(rules, audited)
    charts.findings_table(rules)
    charts.checks_table(rules)
    charts.audit_table(audited, held, compared)
    charts.audit_figures_table(audited)
    charts.closed_table(audited)
    charts.community_table(compared, id="community-integrity")
    assert any("res-2026-01-01-c.json: /run_outcomes/0/runs/1/pass" in note for note in compared.notes)


@pytest.mark.parametrize(("lower", "right"), [(0.039062, True), (0.039063, True), (0.039061, False)])
def test_an_exact_half_may_be_rounded_either_way(tmp_path: Path, lower: float, right: bool) -> None:
    """With 128 tasks a bound of 5/128 = 0.0390625 agrees with both neighbours, and with no other number."""
    tasks = {k: [(int(k < 10), 1)] * 3 for k in range(128)}
    records = read(tmp_path, record(ONE, tasks))
    path = (*HOLDOUT, "task_pass_rate_ci")
    block = records.published[ONE]["scores"]["by_subset"]["holdout"]["task_pass_rate_ci"]
    assert (block["lower"], block["upper"]) == (0.039062, 0.132812)  # 5/128 and 17/128
    wrong = [("error", "published.task_pass_rate_ci", "/" + "/".join([*path, "lower"]))]
    assert told(changed(records, (*path, "lower"), lower)) == ([] if right else wrong)


def test_a_fault_inside_a_class_is_told(tmp_path: Path) -> None:
    """A class of difficulty is a key that looks like a number; what is wrong in it is named all the same."""
    with pytest.raises(InputError, match="/by_difficulty_class/1/n"):
        read_records(write(tmp_path, with_strata(c1={"n": -1})))


def test_every_rule_is_told_clean_or_not(lab: RecordSet) -> None:
    """Each rule has a code of its own and a sentence, and the one that is broken has its finding."""
    checked = audit(changed(lab, (*HOLDOUT, "n"), 21)).checked
    codes = [rule.code for rule, _ in checked]
    assert len(set(codes)) == len(codes) > 25
    assert all(code.startswith("published.") for code in codes)
    assert all(rule.sentence.endswith(".") for rule, _ in checked)
    assert [(rule.code, len(findings)) for rule, findings in checked if findings] == [("published.n", 1)]


def test_the_list_of_what_cannot_be_recomputed_is_documented() -> None:
    """The page lists exactly the paths that the audit leaves to the closed side."""
    page = (ROOT / "docs/published-numbers.md").read_text(encoding="utf-8")
    section = page.partition("## Only the closed side")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(.+?)` \| (.+?) \| (.*?) ?\|$", section, re.MULTILINE)
    assert tuple(rows) == CLOSED


def test_the_frame_has_a_line_a_figure(lab: RecordSet) -> None:
    """Figures as a table: fractions as floats, the outcome in words."""
    found = audit(lab)
    frame = found.to_frame()
    assert len(frame) == len(found.figures)
    line = frame[frame["pointer"] == "/scores/by_subset/holdout/pass_pow_3"].iloc[0]
    assert (line["outcome"], line["published"], line["code"]) == (
        "agrees",
        line["recomputed"],
        "published.pass_pow_3",
    )
