"""The ten dimensions: each figure from its own field, recomputed by definition, absent where not carried."""

from __future__ import annotations

import copy
import json
import random
import statistics
from fractions import Fraction

import by_definition
import pytest
from beside import boards
from hypothesis import given, settings
from hypothesis import strategies as st
from make_records import community, record, task, write

from medgauge_lib import demo
from medgauge_lib.board import board
from medgauge_lib.dimensions import NAMES, PUBLISHED, dimensions
from medgauge_lib.records import read_records
from medgauge_lib.results import Absent
from medgauge_lib.schema import schema

USED = {"tool_calls": 4, "tokens_in": 100, "tokens_out": 11, "wall_clock_sec": 2.5, "amount": 0.3}
EVERY_BLOCK = {
    "m3_efficiency": {
        "action_definition": "one turn",
        "action_ratio": {"geometric_mean": 1.01, "median": 1.02, "q1": 1.03, "q3": 1.04},
        "amount_ratio": {"geometric_mean": 1.05, "median": 1.06, "q1": 1.07, "q3": 1.08},
    },
    "m5_optimality": {"redundancy_rate": 0.11, "order_violations": 2, "tool_deviations": 3, "n_tasks": 4},
    "m7_quality_control": {
        "defect_recall": 0.21,
        "defect_precision": 0.22,
        "defect_f1": 0.23,
        "defect_f1_task_equal": 0.24,
        "self_check_rate": 0.25,
        "traceability_rate": 0.26,
        "evidence_error_rate": 0.27,
        "by_defect_class_recall": {"b": 0.28, "a": 0.29},
    },
    "m8_exploration": {
        "appropriate_abstention_rate": 0.31,
        "over_abstention_rate": 0.32,
        "overreach_rate": 0.33,
        "brier": 0.34,
        "n_undecidable_points": 7,
        "n_decidable_points": 8,
    },
    "m9_auditability": {
        "regrade_agreement": 1,
        "trajectory_completeness": 0.41,
        "env_delta": {"signed": -0.42, "absolute": 0.42},
    },
    "m10_robustness": {
        "robustness_gap": {"signed": 0.51, "absolute": 0.51},
        "flip_rate": 0.52,
        "mcnemar": {"b": 8, "c": 1, "p_value": 0.0390625},
        "paired_bootstrap": {
            "method": "bca_task_bootstrap",
            "level": 0.95,
            "resamples": 10000,
            "seed": 1,
            "quantile_rule": "HF7",
            "lower": 0.53,
            "upper": 0.54,
        },
        "n_pairs": 20,
    },
}


def dimensions_of(folder, *rows, subset="holdout"):
    """Return the dimensions of records, written and read."""
    records = read_records(write(folder, *rows))
    return dimensions(records, board(records, subset))


def carried(found, code):
    """Values of one dimension of the first row, by name and part."""
    return {(f.name, f.part): f.value for f in found.rows[0].dimension(code)}


def test_each_published_figure_reads_its_own_field(tmp_path):
    """Every figure of a block is the value of the field it is named after, as published."""
    found = dimensions_of(tmp_path, record(scores={"dimensions": EVERY_BLOCK}))
    for code, name, parts, _, _ in PUBLISHED:
        block = EVERY_BLOCK[by_definition.BLOCKS[code]]
        for part in parts:
            figure = found.rows[0].figure(name, part)
            assert figure.value == (block[name][part] if part else block[name]), (name, part)
            assert (figure.dimension, figure.provenance) == (code, "as published")
    defects = carried(found, "M7")
    assert [defects["by_defect_class_recall", name] for name in "ab"] == [0.29, 0.28]
    assert [found.rows[0].figure("paired_bootstrap", bound).value for bound in ("lower", "upper")] == [
        0.53,
        0.54,
    ]
    assert found.rows[0].figure("redundancy_rate").counts == {"n_tasks": 4}
    assert found.rows[0].figure("brier").counts == {"n_undecidable_points": 7, "n_decidable_points": 8}


def test_every_field_of_a_record_has_its_figure():
    """No figure that a record may carry under its dimensions is left out."""
    blocks = schema()["properties"]["scores"]["properties"]["dimensions"]["properties"]
    named = {(code, name) for code, name, *_ in PUBLISHED} | {
        ("M3", "cost_per_success"),
        ("M3", "median_tool_calls"),
        ("M3", "median_tokens"),
        ("M3", "median_wall_clock_sec"),
        ("M7", "by_defect_class_recall"),
        ("M10", "paired_bootstrap"),
    }
    there = {
        (code, name)
        for code, block in by_definition.BLOCKS.items()
        for name in blocks[block]["properties"]
        if not name.startswith("n_")
    }
    assert named == there


def test_what_is_not_carried_is_absent_and_never_zero(tmp_path):
    """A record without dimensions has every figure with the reason why it is not applicable."""
    found = dimensions_of(tmp_path, record())
    for code, block in by_definition.BLOCKS.items():
        for name, value in carried(found, code).items():
            assert isinstance(value, Absent), name
            assert value.reason.startswith(("not applicable", "amount not applicable")), name
            if code != "M3":
                assert value.reason == f"not applicable: the record carries no {block}"
    frame = found.to_frame()
    assert set(frame["dimension"]) == set(NAMES)
    assert (frame["value"].isna() == (frame["reason"] != "")).all()


def test_field_missing_from_a_block_is_absent(tmp_path):
    """A block that lacks one field has the others; a mark of 0 that it carries stays 0."""
    blocks = {"m8_exploration": {"brier": 0, "overreach_rate": 0.2}}
    found = dimensions_of(tmp_path, record(scores={"dimensions": blocks}))
    assert found.rows[0].figure("brier").value == 0
    assert found.rows[0].figure("over_abstention_rate").value == Absent(
        "not applicable: the record does not carry it"
    )


def test_medians_are_over_passing_holdout_runs(tmp_path):
    """Medians of tool calls, tokens (in + out) and wall clock are exact and over passing runs alone."""
    spec = [(1, 1, USED | {"tool_calls": n, "wall_clock_sec": 0.1 * n}) for n in (1, 2, 4)]
    failing = (0, 1, USED | {"tool_calls": 90})
    tasks = [
        task(1, spec),
        task(2, [(1, 1, USED | {"tool_calls": 7, "wall_clock_sec": 0.7}), failing, failing]),
        task(3, [(1, 1, USED | {"tool_calls": 99})] * 3, subset="dev"),
    ]
    row = dimensions_of(tmp_path, record(tasks=tasks)).rows[0]
    assert row.figure("median_tool_calls").value == 3
    assert row.figure("median_tokens").value == 111
    assert row.figure("median_wall_clock_sec").value == Fraction(3, 10)
    assert row.figure("median_tokens").counts == {"n_runs": 4}
    assert row.figure("cost_per_success").value == Fraction(6, 10)  # (0.9 / 3 + 0.9 / 1) / 2
    assert (row.figure("cost_per_success").unit, row.figure("cost_per_success").counts) == (
        "EUR",
        {"n_tasks": 2},
    )


def test_median_that_runs_do_not_decide_is_as_published(tmp_path):
    """Where a passing run lacks the field the published median stands, and without one it is absent."""
    tasks = {1: [(1, 1, USED), (1, 1, USED), (1, 1, {k: v for k, v in USED.items() if k != "tool_calls"})]}
    blocks = {"m3_efficiency": {"action_definition": "x", "median_tool_calls": 5}}
    row = dimensions_of(tmp_path / "a", record(tasks=tasks, scores={"dimensions": blocks})).rows[0]
    assert (row.figure("median_tool_calls").value, row.figure("median_tool_calls").provenance) == (
        5,
        "as published",
    )
    assert row.figure("median_tokens").provenance == "recomputed"
    row = dimensions_of(tmp_path / "b", record(tasks=tasks)).rows[0]
    assert row.figure("median_tool_calls").value == Absent("not applicable: not recorded on 1 of 3 runs")


def test_nothing_passed_has_no_median_and_no_cost(tmp_path):
    """Without a passing run there is neither a median nor a cost per success, whatever is published."""
    blocks = {
        "m3_efficiency": {"action_definition": "x", "median_tokens": 5, "cost_per_success": "not_available"}
    }
    tasks = {1: [(0, 1, USED)] * 3}
    row = dimensions_of(tmp_path, record(tasks=tasks, scores={"dimensions": blocks})).rows[0]
    assert row.figure("cost_per_success").value == Absent("no task with a passing run")
    assert row.figure("cost_per_success").remark == ""
    assert row.figure("median_tokens").value == Absent("no passing run")
    assert row.figure("median_tokens").remark == "the record publishes 5; by its runs: no passing run"


def test_cost_published_as_not_available_that_runs_give_is_remarked(tmp_path):
    """A cost per success that the runs give is shown, and that the record publishes none is told."""
    blocks = {"m3_efficiency": {"action_definition": "x", "cost_per_success": "not_available"}}
    row = record(tasks={1: [(1, 1, USED)] * 3}, scores={"dimensions": blocks})
    cost = dimensions_of(tmp_path, row).rows[0].figure("cost_per_success")
    assert (cost.value, cost.provenance) == (Fraction(3, 10), "recomputed")
    assert cost.remark == "the record publishes not_available; its runs give 0.3"


def test_cost_not_available_without_holdout_is_as_published(tmp_path):
    """A record without holdout that publishes not_available has no cost on any board, whatever its runs."""
    blocks = {"m3_efficiency": {"action_definition": "x", "cost_per_success": "not_available"}}
    tasks = {1: [(1, 1, USED)] * 3}
    row = record(tasks=tasks, subset="dev", scores={"dimensions": blocks})
    cost = dimensions_of(tmp_path, row, subset="dev").rows[0].figure("cost_per_success")
    assert (cost.value, cost.provenance, cost.remark) == (
        Absent("not available, as the record publishes it"),
        "as published",
        "",
    )


def test_disagreement_shows_the_recomputed_figure_and_says_so(tmp_path):
    """A published figure that its runs contradict is replaced, and both are told; one that agrees is not."""
    row = record(tasks={1: [(1, 1), (0, 1), (0, 1)], 2: [(1, 1)] * 3})
    blocks = copy.deepcopy(EVERY_BLOCK)
    blocks["m10_robustness"]["mcnemar"]["p_value"] = 0.04
    row["scores"]["dimensions"] = blocks
    row["scores"]["by_subset"]["holdout"] |= {"task_pass_rate": 0.6, "pass_pow_3": 0.5, "veto_rate": 0.1}
    found = dimensions_of(tmp_path, row).rows[0]
    rate = found.figure("task_pass_rate")
    assert (rate.value, rate.remark) == (
        Fraction(2, 3),
        "the record publishes 0.6; its runs give 0.6666666666666666",
    )
    assert found.figure("pass_pow_3").remark == ""
    assert found.figure("veto_rate").remark == "the record publishes 0.1; its runs give 0.0"
    assert found.figure("mcnemar", "p_value").remark == ""  # 0.0390625 is 0.04 at two decimals
    row["scores"]["dimensions"]["m10_robustness"]["mcnemar"]["p_value"] = 0.05
    again = dimensions_of(tmp_path, row).rows[0].figure("mcnemar", "p_value")
    assert (again.value, again.provenance) == (Fraction(5, 128), "recomputed")
    assert again.remark == "the record publishes 0.05; b and c give 0.0390625"


def test_p_of_robustness_is_by_definition(tmp_path):
    """The p-value of M10 is the exact McNemar p of the record's b and c."""
    for b, c in ((8, 1), (0, 0), (3, 3), (0, 6)):
        blocks = {"m10_robustness": {"mcnemar": {"b": b, "c": c, "p_value": 1}}}
        row = dimensions_of(tmp_path, record(scores={"dimensions": blocks})).rows[0]
        assert row.figure("mcnemar", "p_value").value == by_definition.mcnemar_p(b, c)


def test_vetoes_are_counted_from_runs(tmp_path):
    """The veto rate and each category come from runs, 0 where none was hit; compliance is as published."""
    row = record(tasks={1: [(1, 1, {"veto_categories": ["unsafe_advice", "altered_input"]}), (1, 1), (1, 1)]})
    row["scores"]["by_subset"]["holdout"]["compliance_rate"] = 0.9
    found = dimensions_of(tmp_path, row)
    vetoes = carried(found, "M6")
    assert vetoes["veto_rate", ""] == Fraction(1, 3)
    assert [vetoes["veto_by_category", name] for name in ("unsafe_advice", "altered_input")] == [1, 1]
    assert vetoes["veto_by_category", "fabricated_evidence"] == 0
    assert (vetoes["compliance_rate", ""], found.rows[0].figure("compliance_rate").provenance) == (
        0.9,
        "as published",
    )


def test_action_figures_carry_their_harness(tmp_path):
    """Only figures that rest on a harness's own count of actions name it, and rows group by its version."""
    blocks = {"dimensions": EVERY_BLOCK}
    rows = [
        record("res-2026-01-01-a", harness_version="1.0.0", scores=blocks),
        record("res-2026-01-01-b", harness_version="1.1.0", scores=blocks),
        record("res-2026-01-01-c", harness_version="1.0.0", scores=blocks),
    ]
    found = dimensions_of(tmp_path, *rows)
    bound = {figure.name for figure in found.rows[0].figures if figure.harness}
    assert bound == {"action_definition", "action_ratio", "redundancy_rate"}
    groups = {name: [row.id[-1] for row in members] for name, members in found.by_harness().items()}
    assert groups == {"hx-made 1.0.0": ["a", "c"], "hx-made 1.1.0": ["b"]}


def test_dimensions_of_another_subset_are_not_those_of_the_holdout(tmp_path):
    """On a dev board figures over holdout runs are absent; a record without holdout keeps them."""
    tasks = [task(1, [(1, 1, USED)] * 3), task(2, [(1, 1, USED | {"tool_calls": 6})] * 3, subset="dev")]
    blocks = copy.deepcopy(EVERY_BLOCK)
    blocks["m3_efficiency"]["median_tool_calls"] = 4
    row = record(tasks=tasks, scores={"dimensions": blocks})
    found = dimensions_of(tmp_path / "a", row, subset="dev").rows[0]
    assert found.figure("brier").value == Absent(
        "not applicable: published over the holdout runs, not over dev"
    )
    assert (found.figure("median_tool_calls").value, found.figure("median_tool_calls").remark) == (6, "")
    assert found.figure("brier").counts == {}
    alone = record(tasks=tasks[1:], scores={"dimensions": blocks})
    found = dimensions_of(tmp_path / "b", alone, subset="dev").rows[0]
    assert found.figure("brier").value == 0.34
    assert (found.figure("median_tool_calls").value, found.figure("median_tool_calls").provenance) == (
        4,
        "as published",
    )


def test_rows_stand_in_board_order_and_alike(tmp_path):
    """Rows come in board order, unranked ones last, each with the same figures in the same order."""
    dimmed = {"m7_quality_control": {"by_defect_class_recall": {"late": 0.5}}}
    rows = [
        record("res-2026-01-01-a", {1: [(0, 1)] * 3}),
        record("res-2026-01-01-b", scores={"dimensions": dimmed}),
        community("res-2026-01-01-0"),
    ]
    found = dimensions_of(tmp_path, *rows)
    assert [(row.id[-1], row.ranked) for row in found.rows] == [("b", True), ("a", True), ("0", False)]
    assert len({tuple((f.dimension, f.name, f.part) for f in row.figures) for row in found.rows}) == 1
    assert found.row("res-2026-01-01-b").figure("by_defect_class_recall", "late").value == 0.5
    assert list(dict.fromkeys(f.dimension for f in found.rows[0].figures)) == list(NAMES)


def test_unknown_names_are_told(tmp_path):
    """A dimension, figure or row that does not exist is the caller's mistake and named."""
    found = dimensions_of(tmp_path, record())
    with pytest.raises(ValueError, match=r"code must be one of M1, M2, .* but got 'M11'"):
        found.rows[0].dimension("M11")
    with pytest.raises(KeyError, match="is no figure of a dimension"):
        found.rows[0].figure("briar")
    with pytest.raises(KeyError, match="is no row of this board"):
        found.row("res-x")


def check_by_definition(folder, subset="holdout"):
    """Hold M1, M2, M3 and M6 of every row to loops over its file."""
    raw = {row["id"]: row for row in (json.loads(path.read_bytes()) for path in folder.glob("*.json"))}
    void = by_definition.void_tasks([row for row in raw.values() if row["verified_by_site"]])
    records = read_records(folder)
    found = dimensions(records, board(records, subset))
    for row in found.rows:
        tasks = by_definition.tasks_of(raw[row.id], subset, void)
        for quantity in ("task_pass_rate", "continuous_score", "pass_at_3", "pass_pow_3"):
            expected = by_definition.mean([by_definition.task_value(one, quantity) for one in tasks])
            assert row.figure(quantity).value == expected
        assert (
            row.figure("instability").value == row.figure("pass_at_3").value - row.figure("pass_pow_3").value
        )
        runs = [run for one in tasks for run in one["runs"]]
        assert row.figure("veto_rate").value == Fraction(
            sum(bool(r["veto_categories"]) for r in runs), len(runs)
        )
        passing = [run for run in runs if run["pass"]]
        used = {
            "median_tool_calls": [run.get("tool_calls") for run in passing],
            "median_wall_clock_sec": [run.get("wall_clock_sec") for run in passing],
            "median_tokens": [
                run["tokens_in"] + run["tokens_out"] if {"tokens_in", "tokens_out"} <= set(run) else None
                for run in passing
            ],
        }
        for name, numbers in used.items():
            value = row.figure(name).value
            if numbers and None not in numbers:
                assert value == statistics.median(Fraction(str(number)) for number in numbers)
            else:
                assert isinstance(value, Absent) or row.figure(name).provenance == "as published"
        cost = row.figure("cost_per_success").value
        if isinstance(cost, Fraction):
            assert cost == by_definition.cost_per_success(tasks)
    return found


@pytest.mark.parametrize("folder", boards())
def test_real_records_by_definition(folder):
    """M1, M2, M3 and M6 of the real records are those of plain loops, and agree with what is published."""
    frame = check_by_definition(folder).to_frame()
    assert not frame["remark"].any()
    assert set(frame["provenance"]) == {"recomputed", "as published"}


@pytest.mark.parametrize("subset", ["holdout", "dev", "calib"])
def test_demo_by_definition(tmp_path, subset):
    """The demo's figures are those of plain loops on each subset; its row without dimensions says so."""
    demo.write(tmp_path / "demo")
    found = check_by_definition(tmp_path / "demo/bm-demo-ward/1.1.0", subset)
    assert not found.to_frame()["remark"].any()
    bare = found.row("res-2026-06-15-gorse-plain")
    assert all(
        isinstance(figure.value, Absent)
        for code in ("M5", "M7", "M8", "M9")
        for figure in bare.dimension(code)
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32))
def test_order_of_files_and_runs_changes_nothing(tmp_path_factory, seed):
    """Tasks in another order in the file give the same table."""
    draw = random.Random(seed)
    tasks = [
        task(k, [(draw.randint(0, 1), 1, USED | {"tool_calls": draw.randint(0, 9)})] * 3) for k in range(1, 6)
    ]
    row = record(tasks=tasks, scores={"dimensions": EVERY_BLOCK})
    other = row | {"run_outcomes": draw.sample(row["run_outcomes"], len(tasks))}
    frames = [dimensions_of(tmp_path_factory.mktemp("d"), one).to_frame() for one in (row, other)]
    assert frames[0].equals(frames[1])


def test_an_endless_count_of_pairs_ends_no_report(tmp_path):
    """A published number of pairs beyond what an exact p is computed for leaves p as published."""
    robustness = {"mcnemar": {"b": 2**61, "c": 2**61, "p_value": 1}}
    scores = {"dimensions": {"m10_robustness": robustness}}
    records = read_records(write(tmp_path, record(scores=scores)))
    figure = dimensions(records, board(records)).rows[0].figure("mcnemar", "p_value")
    assert (figure.value, figure.provenance) == (1, "as published")
