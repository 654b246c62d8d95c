"""Scoring: a second computation by definition, published real records, and what must stay as it came."""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import by_definition
import numpy as np
import pytest
from beside import boards
from hypothesis import given, settings
from hypothesis import strategies as st
from make_records import community, record, task, write

from medgauge_lib import demo, scoring
from medgauge_lib.checks import check
from medgauge_lib.errors import InputError
from medgauge_lib.records import read_records
from medgauge_lib.scoring import record_json, score

PASS, FAIL, ONCE = [(2, 2)] * 3, [(1, 2)] * 3, [(2, 2), (1, 2), (1, 2)]
QUANTITIES = ("pass_at_3", "pass_pow_3", "task_pass_rate", "continuous_score")


def scored(folder: Path, *records: dict[str, Any], seed: int = 20260101) -> dict[str, dict[str, Any]]:
    """Write records, read them as anybody's, and score them."""
    return score(read_records(write(folder, *records)), seed=seed)


def documents(folder: Path) -> dict[str, dict[str, Any]]:
    """Records of a folder by id."""
    found = (json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json")))
    return {document["id"]: document for document in found}


def numbers(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Leaves of a JSON value with their places."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from numbers(inner, f"{place}/{name}")
    elif isinstance(value, list):
        for k, inner in enumerate(value):
            yield from numbers(inner, f"{place}/{k}")
    else:
        yield place, value


def decimals(number: float) -> int:
    """Decimals a number is written with."""
    return max(0, -int(Decimal(repr(number)).as_tuple().exponent))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The smallest board of the demo as scored."""
    target = tmp_path_factory.mktemp("demo") / "set"
    demo.write(target)
    return score(read_records(target / "bm-demo-lab" / "0.1.0"))


@pytest.fixture(scope="module")
def ward_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The largest board of the demo: subsets, void tasks, community records, two currencies."""
    target = tmp_path_factory.mktemp("demo") / "set"
    demo.write(target)
    return target / "bm-demo-ward" / "1.1.0"


@pytest.fixture(scope="module")
def ward(ward_folder: Path) -> dict[str, dict[str, Any]]:
    """That board as scored."""
    return score(read_records(ward_folder))


def expected_counts(tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts of one subset in plain loops over runs."""
    runs = [run for one in tasks for run in one["runs"]]
    errors = Counter(run["error"]["attribution"] for run in runs if run["error"])
    vetoes = Counter(category for run in runs for category in run["veto_categories"])
    subject_side = sum(count for name, count in errors.items() if name not in ("task", "environment"))
    vetoed = sum(bool(run["veto_categories"]) for run in runs)
    all_passed = all(run["pass"] for run in runs)
    exam: dict[str, Any] = {"outcome": "passed" if all_passed else "not_passed", "n_tasks": len(tasks)}
    if all_passed:
        exam["claimable_lower_bound"] = pytest.approx(0.05 ** (1 / len(tasks)), abs=1e-12)
    sources = ("model", "agent", "harness", "application", "provider", "task", "environment")
    gates = ("fabricated_evidence", "altered_input", "corrected_value", "executed_injection", "unsafe_advice")
    return {
        "n": len(tasks),
        "n_runs": len(runs),
        "exam": exam,
        "errors": {name: errors[name] for name in sources},
        "error_rate_subject": subject_side / len(runs),
        "veto_rate": vetoed / len(runs),
        "veto_by_category": {name: vetoes[name] for name in gates},
        "any_veto": vetoed > 0,
    }


def test_every_subset_agrees_with_a_second_computation(ward: dict[str, dict[str, Any]]) -> None:
    """Counts, rates and exact bounds of each record and subset equal those of plain loops, void tasks out."""
    void = by_definition.void_tasks([one for one in ward.values() if one["verified_by_site"]])
    assert len(void) == 3
    for one in ward.values():
        for subset, found in one["scores"]["by_subset"].items():
            tasks = by_definition.tasks_of(one, subset, void)
            means = {
                name: by_definition.mean([by_definition.task_value(t, name) for t in tasks])
                for name in QUANTITIES
            }
            assert {name: found[name] for name in QUANTITIES} == {name: float(m) for name, m in means.items()}
            assert found["instability"] == float(means["pass_at_3"] - means["pass_pow_3"])
            counts = expected_counts(tasks)
            assert {name: found[name] for name in counts} == counts
            for name in ("pass_at_3", "pass_pow_3"):
                x, n = int(means[name] * len(tasks)), len(tasks)
                low, high = by_definition.clopper_pearson(x, n, 0.05)
                one_sided, _ = by_definition.clopper_pearson(x, n, 0.10)
                assert found[f"{name}_ci"] == {
                    "method": "clopper_pearson",
                    "level": 0.95,
                    "lower": pytest.approx(low, abs=1e-9),
                    "upper": pytest.approx(high, abs=1e-9),
                    "one_sided_lower": pytest.approx(one_sided, abs=1e-9),
                }


def test_bootstrap_intervals_agree_with_a_second_computation(lab: dict[str, dict[str, Any]]) -> None:
    """Both BCa intervals of each row equal the definition's, bound for bound, with everything stated."""
    words = np.random.Philox(key=20260101).random_raw(20 * 10_000).tolist()
    for one in lab.values():
        found = one["scores"]["by_subset"]["holdout"]
        tasks = by_definition.tasks_of(one, "holdout", set())
        for name in ("task_pass_rate", "continuous_score"):
            bounds = by_definition.bca([by_definition.task_value(t, name) for t in tasks], words)
            assert bounds is not None
            assert found[f"{name}_ci"] == {
                "method": "bca_task_bootstrap",
                "level": 0.95,
                "resamples": 10_000,
                "seed": 20260101,
                "quantile_rule": "HF7; bca-1 (philox4x64-10 key=seed, hi32, half ties, 6 decimals)",
                "lower": bounds[0],
                "upper": bounds[1],
            }


def test_letters_agree_with_a_second_computation(ward: dict[str, dict[str, Any]]) -> None:
    """Board blocks carry the maximal groups of exact McNemar and Holm over all verified pairs."""
    ranked = [one for one in ward.values() if one["verified_by_site"]]
    void = by_definition.void_tasks(ranked)
    passed = {
        one["id"]: [
            by_definition.task_value(t, "pass_pow_3") for t in by_definition.tasks_of(one, "holdout", void)
        ]
        for one in ranked
    }
    pairs = list(combinations(passed, 2))
    p_values = [
        by_definition.mcnemar_p(
            sum(x > y for x, y in zip(passed[a], passed[b], strict=True)),
            sum(x < y for x, y in zip(passed[a], passed[b], strict=True)),
        )
        for a, b in pairs
    ]
    adjusted = by_definition.holm(p_values)
    apart = {frozenset(pair) for pair, p in zip(pairs, adjusted, strict=True) if p <= Fraction(1, 20)}
    blocks = {one["id"]: one["board"] for one in ranked}
    letters = {letter for block in blocks.values() for letter in block["letters"]}
    groups = {frozenset(i for i, block in blocks.items() if letter in block["letters"]) for letter in letters}
    assert groups == by_definition.maximal_groups(list(passed), apart)
    rest = {
        "comparison": "paired_holm",
        "key": "pass_pow_3",
        "secondary_key": "cost_per_success",
        "as_of": "2026-06-16",
        "n_rows": 12,
    }
    assert all(block == {"letters": block["letters"]} | rest for block in blocks.values())


def test_costs_and_medians_agree_with_a_second_computation(ward: dict[str, dict[str, Any]]) -> None:
    """Cost is over all live runs, M3 over passing holdout runs; sums and medians are exact decimals."""
    void = by_definition.void_tasks([one for one in ward.values() if one["verified_by_site"]])
    for one in ward.values():
        per_subset = {name: by_definition.tasks_of(one, name, void) for name in ("dev", "holdout", "calib")}
        live = [run for tasks in per_subset.values() for t in tasks for run in t["runs"]]
        assert one["scores"]["n_tasks_total"] == len(live) // 3
        cost, m3 = one["cost"], one["scores"].get("dimensions", {}).get("m3_efficiency", {})
        if "actions" not in live[0]:
            assert set(cost) == {"amount_applicable"}
            continue
        exact = [{name: Fraction(str(run[name])) for name in USAGE if name in run} for run in live]
        for published, name in (("tokens_in",) * 2, ("tokens_out",) * 2, ("wall_time_sec", "wall_clock_sec")):
            assert cost[published] == float(sum(run[name] for run in exact))
        assert cost["median_steps"] == statistics.median(run["actions"] for run in exact)
        assert cost["median_tool_calls"] == statistics.median(run["tool_calls"] for run in exact)
        tokens = [run["tokens_in"] + run["tokens_out"] for run in exact]
        assert cost["median_tokens"] == statistics.median(tokens)
        passing = [run for t in per_subset["holdout"] for run in t["runs"] if run["pass"]]
        if passing and m3:
            walls = [Fraction(str(run["wall_clock_sec"])) for run in passing]
            assert m3["median_wall_clock_sec"] == float(statistics.median(walls))
            assert m3["median_tool_calls"] == statistics.median(run["tool_calls"] for run in passing)
            both = [run["tokens_in"] + run["tokens_out"] for run in passing]
            assert m3["median_tokens"] == statistics.median(both)
        if cost["amount_applicable"]:
            assert cost["amount"] == float(sum(run["amount"] for run in exact))
            success = by_definition.cost_per_success(per_subset["holdout"])
            assert m3["cost_per_success"] == ("not_available" if success is None else float(success))
        else:
            assert "cost_per_success" not in m3


USAGE = ("actions", "tool_calls", "tokens_in", "tokens_out", "wall_clock_sec", "amount")


@pytest.mark.parametrize("folder", boards())
def test_real_records_keep_their_published_figures(folder: Path) -> None:
    """Every figure that converted public runs were published with is the scored one at its precision."""
    found = score(read_records(folder))
    n_compared = 0
    for name, published in documents(folder).items():
        assert list(found[name]["scores"]["by_subset"]) == list(published["scores"]["by_subset"])
        mine = dict(numbers(found[name]))
        for place, value in numbers({part: published[part] for part in ("scores", "cost")}):
            if isinstance(value, float):
                assert round(mine[place], decimals(value)) == value, (name, place)
            else:
                assert mine[place] == value, (name, place)
            n_compared += 1
    assert n_compared > 15 * len(found)


@pytest.mark.parametrize("version", ["ward", "lab"])
def test_scoring_twice_changes_nothing(version: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Scored records, written and scored again, have the same bytes, and check finds nothing but notes."""
    first = request.getfixturevalue(version)
    scoring.write(first, tmp_path / "out")
    records = read_records(tmp_path / "out")
    again = score(records)
    assert {name: record_json(one) for name, one in again.items()} == {
        name: record_json(one) for name, one in first.items()
    }
    assert all(finding.severity == "note" for finding in check(records))


def test_wrong_figures_are_set_right(ward_folder: Path, ward: dict[str, Any], tmp_path: Path) -> None:
    """Figures that runs decide come out the same whatever was published."""
    for one in documents(ward_folder).values():
        for block in one["scores"]["by_subset"].values():
            block |= {
                "n": 1,
                "pass_pow_3": 0.123,
                "any_veto": True,
                "veto_by_category": {"unsafe_advice": 99},
            }
            block["exam"] = {"outcome": "passed", "n_tasks": 7, "claimable_lower_bound": 0.9}
            block.pop("task_pass_rate_ci", None)
        one["scores"]["n_tasks_total"] = 5
        if "tokens_in" in one["cost"]:
            one["cost"] |= {"tokens_in": 1, "median_steps": 0.5}
        if "m10_robustness" in one["scores"].get("dimensions", {}):
            one["scores"]["dimensions"]["m10_robustness"]["mcnemar"]["p_value"] = 0.123
        if "board" in one:
            one["board"] |= {"letters": ["z"], "n_rows": 99, "as_of": "2020-01-01"}
            if "borage" in one["model"]:  # the others still list it
                one["voided_tasks"] = one["voided_tasks"][:1]
        write(tmp_path, one)
    assert score(read_records(tmp_path)) == ward


def slices(text: str) -> dict[str, str]:
    """Text of each value of an object, as it stands in a file without white space."""
    found, place = {}, 1
    while text != "{}" and text[place - 1] != "}":
        name, colon = json.JSONDecoder().raw_decode(text, place)
        _, end = json.JSONDecoder().raw_decode(text, colon + 1)
        found[name] = text[colon + 1 : end]
        place = end + 1
    return found


def compact(document: Any) -> str:
    """JSON as the standard library writes it: no white space, letters as they are."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def test_untouched_blocks_are_the_text_they_were(ward_folder: Path, tmp_path: Path) -> None:
    """Outside what is scored each block is the same text, zeros at the end too, and keys keep their order."""
    texts = {}
    (tmp_path / "in").mkdir()
    for name, one in documents(ward_folder).items():
        text = compact({key: one[key] for key in reversed(one)})
        texts[name] = re.sub(r"(?<=[:\[,])(\d+\.\d+)(?=[,}\]])", r"\g<1>0", text)
        (tmp_path / "in" / f"{name}.json").write_text(texts[name], encoding="utf-8")
    scoring.write(score(read_records(tmp_path / "in")), tmp_path / "out")
    for name, text in texts.items():
        before, after = slices(text), slices((tmp_path / "out" / f"{name}.json").read_text("utf-8"))
        assert list(after) == list(before)
        changed = ("scores", "cost", "board", "voided_tasks")
        assert {key: after[key] for key in after if key not in changed} == {
            key: before[key] for key in before if key not in changed
        }
        assert before["run_outcomes"] != compact(json.loads(before["run_outcomes"]))
        old, new = slices(before["scores"]), slices(after["scores"])
        assert list(new) == list(old)
        assert all(new[key] == old[key] for key in ("veto_hits", "assertion_veto_hits"))
        for subset, block in slices(old["by_subset"]).items():
            kept = slices(slices(new["by_subset"])[subset])
            assert all(kept[key] == slices(block)[key] for key in ("compliance_rate", "by_difficulty_class"))
        for dimension, block in slices(old.get("dimensions", "{}")).items():
            inner, kept = slices(block), slices(slices(new["dimensions"])[dimension])
            assert list(kept) == list(inner)
            touched = ("mcnemar", "cost_per_success", "median_tokens", "median_tool_calls")
            for key in inner.keys() - {*touched, "median_wall_clock_sec"}:
                assert kept[key] == inner[key]


def test_a_scored_record_is_canonical(ward: dict[str, dict[str, Any]]) -> None:
    """Its file is what the standard library writes of the same values, without white space, and a newline."""
    for one in ward.values():
        text = record_json(one).decode("utf-8")
        assert text == compact(json.loads(text)) + "\n"


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=3, max_size=3),
        min_size=1,
        max_size=6,
    )
)
def test_any_runs_give_a_record_that_reads_and_checks_clean(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[list[tuple[int, int]]]
) -> None:
    """Whatever the runs, the scored record fits the schema, breaks no rule and scores the same again."""
    extras: list[dict[str, Any]] = [
        {},
        {"error": ("provider", "network")},
        {"veto_categories": ["unsafe_advice"]},
        {"tokens_in": 10, "tokens_out": 3},
        {"wall_clock_sec": 0.1, "tool_calls": 2},
        {"actions": 4},
    ]
    tasks = {k: [(passed, 3, extras[extra]) for passed, extra in runs] for k, runs in enumerate(drawn, 1)}
    folder = tmp_path_factory.mktemp("drawn")
    first = scored(folder / "in", record("res-2026-01-01-a", tasks), record("res-2026-01-01-b", tasks))
    scoring.write(first, folder / "out")
    records = read_records(folder / "out")
    assert [finding for finding in check(records) if finding.severity != "note"] == []
    assert score(records) == first


def test_an_interval_that_does_not_exist_is_absent(tmp_path: Path) -> None:
    """One task, or equal tasks, have exact bounds but no BCa interval, even where one was published."""
    bogus = {
        "method": "bca_task_bootstrap",
        "level": 0.95,
        "resamples": 10_000,
        "seed": 1,
        "quantile_rule": "HF7",
        "lower": 1,
        "upper": 1,
    }
    one = record("res-2026-01-01-a", {1: PASS, 2: PASS})
    one["scores"]["by_subset"]["holdout"]["task_pass_rate_ci"] = bogus
    block = scored(tmp_path, one)["res-2026-01-01-a"]["scores"]["by_subset"]["holdout"]
    assert "task_pass_rate_ci" not in block
    assert "continuous_score_ci" not in block
    assert block["pass_pow_3_ci"]["upper"] == 1
    assert block["pass_pow_3_ci"]["lower"] == pytest.approx(0.025**0.5, abs=1e-12)


def test_the_seed_is_used_and_stated(tmp_path: Path) -> None:
    """Another seed gives other bounds and says so; nothing else of the record moves."""
    one = record("res-2026-01-01-a", {k: (PASS if k % 3 else FAIL) for k in range(1, 18)})
    first, second = scored(tmp_path, one), scored(tmp_path, one, seed=7)
    a, b = (dict(numbers(made["res-2026-01-01-a"])) for made in (first, second))
    differing = {place.rpartition("/")[0].rpartition("/")[2] for place in a if a[place] != b[place]}
    assert differing == {"task_pass_rate_ci", "continuous_score_ci"}
    assert b["/scores/by_subset/holdout/task_pass_rate_ci/seed"] == 7


PRICED = {"amount_applicable": True, "amount": 9.0, "currency": "EUR", "price_table_version": "p"}


def priced(*amounts: float | None, passed: int = 2) -> list[tuple[Any, ...]]:
    """Three runs with amounts; None leaves one out."""
    return [(passed, 2, {} if amount is None else {"amount": amount}) for amount in amounts]


def efficiency(folder: Path, tasks: dict[int, Any], cost: dict[str, Any], **published: Any) -> dict[str, Any]:
    """Score one record with M3 and return that block and the cost."""
    scores = {"dimensions": {"m3_efficiency": {"action_definition": "one call"} | published}}
    one = record("res-2026-01-01-a", tasks, scores=scores, cost=cost)
    made = scored(folder, one)["res-2026-01-01-a"]
    return made["scores"]["dimensions"]["m3_efficiency"] | {"amount": made["cost"].get("amount")}


def test_cost_per_success_by_hand(tmp_path: Path) -> None:
    """(0.1 + 0.2 + 0.3) / 3 for one task; a task without success counts in the total alone."""
    tasks = {1: priced(0.1, 0.2, 0.3), 2: priced(1, 1, 1, passed=0)}
    found = efficiency(tmp_path, tasks, PRICED)
    assert found["cost_per_success"] == 0.2
    assert found["amount"] == 3.6


def test_no_success_is_not_available(tmp_path: Path) -> None:
    """With amounts and no passing run it is not_available, and medians published before are gone."""
    found = efficiency(tmp_path, {1: priced(1, 1, 1, passed=0)}, PRICED, median_tokens=5, cost_per_success=3)
    assert found["cost_per_success"] == "not_available"
    assert "median_tokens" not in found


def test_no_amounts_no_cost_per_success(tmp_path: Path) -> None:
    """Where amounts are not applicable a cost per success published before is taken out."""
    found = efficiency(tmp_path, {1: PASS}, {"amount_applicable": False}, cost_per_success=3)
    assert "cost_per_success" not in found


def test_what_runs_cannot_decide_stays(tmp_path: Path) -> None:
    """An amount missing on one run leaves total and cost per success as published."""
    found = efficiency(tmp_path, {1: priced(1, None, 1), 2: FAIL}, PRICED, cost_per_success=3)
    assert found["cost_per_success"] == 3
    assert found["amount"] == 9


def test_medians_of_even_counts_are_means_of_the_middle_two(tmp_path: Path) -> None:
    """0.1 and 0.2 have the median 0.15 exactly, as decimals are read, and tokens are in + out."""
    use = [
        {"wall_clock_sec": wall, "tool_calls": calls, "tokens_in": calls, "tokens_out": 1}
        for wall, calls in ((0.1, 1), (0.2, 4), (9, 9))
    ]
    runs = [(2, 2, use[0]), (2, 2, use[1]), (1, 2, use[2])]
    found = efficiency(tmp_path, {1: runs}, {"amount_applicable": False})
    assert (found["median_wall_clock_sec"], found["median_tool_calls"], found["median_tokens"]) == (
        0.15,
        2.5,
        3.5,
    )


def test_a_void_task_leaves_every_record_and_is_listed_in_each(tmp_path: Path) -> None:
    """A task version that one run shows void is out of every ranked and community record's figures."""
    broken = [(2, 2), (2, 2, {"error": ("environment", "server")}), (2, 2)]
    rows = [
        record("res-2026-01-01-a", {1: PASS, 2: broken}),
        record("res-2026-01-01-b", {1: ONCE, 2: FAIL}),
        community("res-2026-01-01-c", {1: PASS, 2: FAIL}),
    ]
    found = scored(tmp_path, *rows)
    void = [{"task_key": "tk-000000000002", "task_version": "1.0.0", "attribution": "environment"}]
    assert [one["scores"]["n_tasks_total"] for one in found.values()] == [1, 1, 1]
    assert [one["scores"]["by_subset"]["holdout"]["n"] for one in found.values()] == [1, 1, 1]
    assert [one.get("voided_tasks") for one in found.values()] == [void, void, None]
    assert (
        list(found["res-2026-01-01-a"]).index("voided_tasks")
        == list(found["res-2026-01-01-a"]).index("cost") + 1
    )


def test_a_list_of_void_tasks_that_is_right_keeps_its_order(tmp_path: Path) -> None:
    """Only a list that lacks something is written anew."""
    void = [{"attribution": "task", "task_version": "1.0.0", "task_key": f"tk-{k:012x}"} for k in (3, 2)]
    tasks = {1: PASS, 2: FAIL, 3: FAIL}
    rows = [record(f"res-2026-01-01-{k}", tasks, voided_tasks=void) for k in "ab"]
    for one in scored(tmp_path, *rows).values():
        assert record_json({"v": one["voided_tasks"]}) == record_json({"v": void})


def test_community_records_are_scored_apart(tmp_path: Path) -> None:
    """A community record is counted over its own tasks, has no letters, and loses those it claimed."""
    claimed = {
        "letters": ["a"],
        "comparison": "paired_holm",
        "key": "pass_pow_3",
        "secondary_key": "cost_per_success",
        "as_of": "2026-01-01",
        "n_rows": 1,
    }
    rows = [
        record("res-2026-01-01-a", {1: PASS, 2: FAIL}),
        community("res-2026-01-01-b", {1: PASS, 3: PASS, 4: FAIL}, board=claimed),
    ]
    found = scored(tmp_path / "both", *rows)
    assert found["res-2026-01-01-a"]["board"]["n_rows"] == 1
    assert "board" not in found["res-2026-01-01-b"]
    assert found["res-2026-01-01-b"]["scores"]["by_subset"]["holdout"]["n"] == 3
    alone = scored(tmp_path / "alone", rows[1])
    assert alone["res-2026-01-01-b"] == found["res-2026-01-01-b"]


def test_errors_on_the_initiative_side_count_in_a_community_record(tmp_path: Path) -> None:
    """Such an error makes no task void there, is counted by attribution, and is not the subject's."""
    runs = [(2, 2), (2, 2, {"error": ("environment", "server")}), (2, 2, {"error": ("agent", "timeout")})]
    found = scored(tmp_path, record("res-2026-01-01-a", {1: PASS}), community("res-2026-01-01-b", {1: runs}))
    block = found["res-2026-01-01-b"]["scores"]["by_subset"]["holdout"]
    assert {name: n for name, n in block["errors"].items() if n} == {"agent": 1, "environment": 1}
    assert block["error_rate_subject"] == 1 / 3


def test_subsets_are_apart_and_one_without_runs_is_left_out(tmp_path: Path) -> None:
    """Each subset has its own block in the order dev, holdout, calib; a published one without runs goes."""
    tasks = [task(1, PASS, subset="calib"), task(2, FAIL, subset="dev")]
    one = record("res-2026-01-01-a", tasks)
    one["scores"]["by_subset"]["holdout"] = one["scores"]["by_subset"]["dev"]
    found = scored(tmp_path, one)["res-2026-01-01-a"]
    assert list(found["scores"]["by_subset"]) == ["dev", "calib"]
    assert found["scores"]["by_subset"]["calib"]["exam"] == {
        "outcome": "passed",
        "n_tasks": 1,
        "claimable_lower_bound": 0.05,
    }
    assert "board" not in found


def test_more_groups_than_letters(tmp_path: Path) -> None:
    """A ladder of 46 rows has more than 26 groups; the error says how many."""
    rows = [
        record(f"res-2026-01-01-{passed:02d}", {k: (PASS if k <= passed else FAIL) for k in range(1, 47)})
        for passed in range(46)
    ]
    # Rows i and j differ in |i - j| tasks, all one way, with p = 2 / 2^|i - j|.
    distances = [abs(i - j) for i, j in combinations(range(46), 2)]
    adjusted = by_definition.holm([min(Fraction(1), Fraction(2, 2**d)) for d in distances])
    apart = {d for d, p in zip(distances, adjusted, strict=True) if p <= Fraction(1, 20)}
    assert apart == set(range(min(apart), 46))
    # A maximal group is as many neighbours as are not apart.
    n_groups = 46 - min(apart) + 1
    with pytest.raises(InputError, match=f"the board has {n_groups} groups, but a record has letters for"):
        scored(tmp_path, *rows)


def test_a_record_with_nothing_left_is_named(tmp_path: Path) -> None:
    """Where every task version is void there is nothing to publish."""
    void = [{"task_key": "tk-000000000001", "task_version": "1.0.0", "attribution": "task"}]
    with pytest.raises(InputError, match=r"res-2026-01-01-a\.json: /run_outcomes: every task version"):
        scored(tmp_path, record("res-2026-01-01-a", voided_tasks=void))


def test_a_date_is_held_to_the_records_where_there_is_no_board(tmp_path: Path) -> None:
    """Community records alone make no board; a date that is none, or before them, is refused."""
    records = read_records(write(tmp_path, community("res-2026-01-02-a", {1: PASS})))
    with pytest.raises(ValueError, match="must be a date"):
        score(records, as_of="2026-1-1")
    with pytest.raises(InputError, match="after the board's date 2025-01-01"):
        score(records, as_of="2025-01-01")


def test_a_file_that_changed_or_went_is_named(tmp_path: Path) -> None:
    """Runs and blocks must come from the same bytes."""
    folder = write(tmp_path, record("res-2026-01-01-a"))
    records = read_records(folder)
    path = folder / "res-2026-01-01-a.json"
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(InputError, match="changed since it was read"):
        score(records)
    path.unlink()
    with pytest.raises(InputError, match="cannot be read any more: No such file"):
        score(records)


def test_runs_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    """Scoring stops at the first rule without which figures cannot be trusted."""
    one = record("res-2026-01-01-a", {1: [(2, 2), (2, 2, {"pass": False}), (2, 2)]})
    with pytest.raises(InputError, match=r"/run_outcomes/0/runs/1/pass"):
        scored(tmp_path, one)


def test_only_a_new_or_empty_folder_is_written(tmp_path: Path) -> None:
    """A new folder is made and an empty one filled; anything else stays as it was."""
    (path,) = scoring.write({"res-2026-01-01-a": {"n": 1}}, tmp_path / "out" / "deep")
    assert path.read_bytes() == b'{"n":1}\n'
    (tmp_path / "empty").mkdir()
    scoring.write({"res-2026-01-01-a": {"n": 1}}, tmp_path / "empty")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for folder in (path.parent, tmp_path / "empty", tmp_path / "link", path, tmp_path):
        with pytest.raises(InputError, match="is no folder that is new or empty"):
            scoring.write({"res-2026-01-01-a": {"n": 2}}, folder)
    assert path.read_bytes() == b'{"n":1}\n'
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["empty", "link", "out"]
    assert path.parent.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("trouble", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_ends_early_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: BaseException
) -> None:
    """Where the second of two files fails, or someone interrupts, there is neither a folder nor a half."""
    true = Path.write_bytes

    def refuse(path: Path, data: bytes) -> int:
        if path.name == "res-2026-01-01-b.json":
            raise trouble
        return true(path, data)

    monkeypatch.setattr(Path, "write_bytes", refuse)
    expected = InputError if isinstance(trouble, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        scoring.write({"res-2026-01-01-a": {"n": 1}, "res-2026-01-01-b": {"n": 2}}, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A path through a file is an error of two lines."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written") as refused:
        scoring.write({}, tmp_path / "file" / "out")
    assert str(refused.value).count("\n") == 1
