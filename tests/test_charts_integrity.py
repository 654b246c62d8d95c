"""The page on integrity: outcomes of rules, published against recomputed, void tasks, conditions, inputs."""

from __future__ import annotations

import hashlib
import json

import by_definition
import pytest
from demo_pages import WARD, changed, column, raw, tables, tags
from make_records import record, run, task, write

from medgauge_lib import charts, demo
from medgauge_lib.audit import audit
from medgauge_lib.board import board
from medgauge_lib.charts.integrity import SHOWN
from medgauge_lib.charts.words import Notice, Sentences
from medgauge_lib.checks import RULES, check, checked
from medgauge_lib.records import read_records


def page(records):
    """Return board, rules with findings, and audit of records."""
    found = audit(records)
    return board(records), (*checked(records), *found.checked), found


@pytest.fixture(scope="module")
def ward():
    """Return records, board, rules and audit of the ward demo."""
    records = demo.record_set(*WARD)
    return records, *page(records)


def test_every_rule_has_an_outcome(ward):
    """Each rule of the checks and of the audit is listed once, those with findings first."""
    _, _, rules, found = ward
    (table,) = tables(charts.checks_table(rules).html)
    lines = [[cell.text for cell in row] for row in table[1:]]
    assert sorted(line[0] for line in lines) == sorted(rule.code for rule, _ in rules)
    assert len(lines) == len(RULES) + len(found.checked)
    kept = [line[3] == "kept" for line in lines]
    assert kept == sorted(kept)
    # The rule says unusable, but a record that is listed apart may hold other tasks.
    assert [line[2:] for line in lines if line[3] != "kept"] == [
        ["unusable", "• 1 note in 1 file, of records listed apart"]
    ]


def test_findings_have_their_place(tmp_path):
    """A broken rule and a figure that differs are listed with file, place, published and expected."""

    def change(records):
        records["res-2026-06-13-dill-plain"]["run_outcomes"][0]["runs"][0]["s"] = 0.123
        records["res-2026-06-13-elder-plain"]["scores"]["by_subset"]["holdout"]["pass_at_3"] = 0.5

    records = changed(tmp_path / "changed", *WARD, change)
    found, rules, audited = page(records)
    made = charts.findings_table(rules)
    lines = made.table.set_index("rule")
    assert lines.loc["run.share", "file"] == "res-2026-06-13-dill-plain.json"
    assert lines.loc["run.share", "pointer"].startswith("/run_outcomes/0/runs/0")
    differing = lines.loc["published.pass_at_3"]
    assert differing["pointer"] == "/scores/by_subset/holdout/pass_at_3"
    assert (differing["published"], differing["severity"]) == ("0.5", "error")
    assert json.loads(differing["expected"]) == float(found.row("res-2026-06-13-elder-plain").pass_at_3)
    (table,) = tables(made.html)
    assert len(table) - 1 == len(made.table)
    assert "1 differ" in str(charts.integrity_sentences(rules, audited))
    cells = column(charts.audit_table(audited, records, found).html, "differs")
    assert {cell.text for name, cell in cells.items() if name.startswith("demo-model-elder")} == {"▲ 1"}
    by_figure = charts.audit_figures_table(audited)
    assert by_figure.table.set_index("figure").loc["pass_at_3", "differs"] == 1
    assert by_figure.alt.endswith("differing: pass_at_3.")


def test_a_clean_board_says_so(tmp_path):
    """Without a finding sentences say so, and no rule is marked."""
    rows = [record(f"res-2026-01-01-{k}", {1: [(1, 1)] * 3, 2: [(k, 1)] * 3}) for k in (0, 1)]
    _, rules, audited = page(read_records(write(tmp_path / "clean", *rows)))
    said = str(charts.integrity_sentences(rules, audited))
    assert said.startswith(f"All {len(rules)} rules are kept: no finding in any file.")
    assert "none differs" in said
    assert isinstance(charts.findings_table(rules), Sentences)


def test_many_findings_are_cut_and_counted(tmp_path):
    """A page shows the first findings and says how many there are; the data hold them all."""

    def change(records):
        for one in records.values():
            for outcome in one["run_outcomes"]:
                outcome["runs"][0]["s"] = 0.123

    records = changed(tmp_path / "changed", *WARD, change)
    made = charts.findings_table(checked(records))
    assert len(made.table) > SHOWN
    assert len(tables(made.html)[0]) - 1 == SHOWN
    assert f"The first {SHOWN} of {len(made.table):,} are shown" in made.caption


def test_published_figures_are_counted_by_outcome(ward):
    """Counts by record add up to every published figure, and so do counts by figure without the closed."""
    records, found, _, audited = ward
    made = charts.audit_table(audited, records, found)
    outcomes = ["agrees", "differs", "undecided", "not_implemented", "closed"]
    assert made.table[outcomes].to_numpy().sum() == len(audited.figures)
    assert made.table["id"].tolist() == [*found.order, *(row.id for row in found.unranked)]
    for outcome in ("agrees", "closed"):
        cells = column(made.html, outcome)
        assert sum(int(cell.text) for cell in cells.values()) == audited.count(outcome)
    by_figure = charts.audit_figures_table(audited).table
    closed = charts.closed_table(audited).table
    assert by_figure["n_published"].sum() + closed["n_figures"].sum() == len(audited.figures)


def test_void_task_versions_are_those_of_the_records(ward):
    """The void task versions are those that a list or an initiative-side error makes void."""
    records, found, _, _ = ward
    made = charts.void_table(found, records)
    verified = [one for one in raw(*WARD) if one["verified_by_site"]]
    shown = set(zip(made.table["task_key"], made.table["task_version"], strict=True))
    assert shown == by_definition.void_tasks(verified)
    subset_of = {
        (outcome["task_key"], outcome["task_version"]): outcome["subset"]
        for outcome in verified[0]["run_outcomes"]
    }
    for line in made.table.to_dict("records"):
        assert line["subset"] == subset_of[line["task_key"], line["task_version"]]
        assert line["attribution"] in ("task", "environment")
    (table,) = tables(made.html)
    assert "12 of 14 records" in {row[4].text for row in table[1:]}


def test_a_board_without_void_tasks_says_so():
    """Where no task version is void a sentence says so, in the conditions too."""
    records = demo.record_set("bm-demo-ward", "1.0.0")
    found = board(records)
    assert isinstance(charts.void_table(found, records), Sentences)
    words = charts.conditions_table(found, records).table.set_index("condition")["on_this_board"]
    assert words["No task is removed after the fact"] == (
        "No task version of subset holdout is void, and no row leaves a task out; "
        "a task that was taken out of every record, no record shows."
    )


def test_conditions_are_facts_of_this_board(ward):
    """Conditions give this board's tasks, rows, runs and void task versions, and who passes."""
    records, found, _, _ = ward
    words = charts.conditions_table(found, records).table.set_index("condition")["on_this_board"]
    verified = [one for one in raw(*WARD) if one["verified_by_site"]]
    void = by_definition.void_tasks(verified)
    tasks = [by_definition.tasks_of(one, "holdout", void) for one in verified]
    n_tasks, n_runs = len(tasks[0]), sum(len(outcome["runs"]) for own in tasks for outcome in own)
    assert words["Every row takes the same tasks"].startswith(
        f"Yes: {len(verified)} rows, each on the same {n_tasks} tasks of subset holdout."
    )
    assert f"{n_runs:,} runs" in words["No run is repeated after the fact"]
    here = {
        outcome["task_key"]
        for one in verified
        for outcome in one["run_outcomes"]
        if outcome["subset"] == "holdout"
    }
    n_void = sum(key in here for key, _ in void)
    assert words["No task is removed after the fact"].startswith(
        f"{n_void} task versions of subset holdout are void"
    )
    bound = 0.05 ** (1 / n_tasks)
    assert "Passed by demo-model-aster" in words["Outcome of the exam"]
    shown = float(words["Outcome of the exam"].split("at least ")[1].split("\u00a0")[0]) / 100
    assert bound - 0.001 < shown <= bound


def test_a_condition_that_records_cannot_show_is_stated(ward):
    """That tasks are built and screened, not sampled, is stated and never called a fact."""
    records, found, _, _ = ward
    table = charts.conditions_table(found, records).table
    (line,) = table[table["condition"].str.contains("not sampled from practice")].to_dict("records")
    assert line["kind"] == "stated"
    assert (table["kind"] == "stated").sum() == 1


def test_no_pass_claims_nothing(tmp_path):
    """Where no row passes, no bound is named."""
    records = read_records(write(tmp_path / "fail", record("res-2026-01-01-a", {1: [(0, 1)] * 3})))
    words = charts.conditions_table(board(records), records)
    assert "so no bound is claimed" in words.alt
    assert "%" not in words.table["on_this_board"].str.cat()


def test_inputs_have_the_hash_of_their_file(tmp_path):
    """Each input has the SHA-256 of its file and whether the site verified it."""
    records = changed(tmp_path / "copied", *WARD, dict)
    table = charts.inputs_table(records, labels=False, publish="public").table
    for line in table.to_dict("records"):
        data = (tmp_path / "copied" / line["file"]).read_bytes()
        assert line["sha256"] == hashlib.sha256(data).hexdigest()
    assert table["verified"].tolist() == [one["verified_by_site"] for one in raw(*WARD)]


@pytest.mark.parametrize(
    ("labels", "publish", "words"),
    [
        (True, "public", "Not even their SHA-256 is shown"),
        (True, "internal", "stands in the manifest"),
        (False, "public", "No labels of tasks were used."),
    ],
)
def test_labels_are_named_and_never_hashed_in_public(ward, labels, publish, words):
    """The caption of the inputs says what becomes of the labels; their hash is in no table."""
    records, _, _, _ = ward
    made = charts.inputs_table(records, labels=labels, publish=publish)
    assert words in made.caption
    assert len(made.table) == len(records.subjects)


def test_subsets_have_boards_of_their_own(ward):
    """The boards of dev and calib have ids, titles and tasks of their own."""
    records, found, _, _ = ward
    made = {subset: charts.board_table(board(records, subset)) for subset in ("dev", "calib")}
    assert [table.id for table in made.values()] == ["board-dev", "board-calib"]
    assert charts.board_table(found).id == "board"
    verified = [one for one in raw(*WARD) if one["verified_by_site"]]
    void = by_definition.void_tasks(verified)
    for subset, table in made.items():
        n_tasks = len(by_definition.tasks_of(verified[0], subset, void))
        assert f"{n_tasks} tasks of subset {subset}" in table.caption
        assert table.title.endswith(f", subset {subset}")
    assert str(charts.no_subset("dev")) == "The ranked records hold no task of subset dev."


def test_text_of_records_stays_text(tmp_path):
    """What a record says is escaped in findings, inputs and void tasks."""
    bad = "<img src=x onerror=alert(1)>"
    rows = [
        record(
            f"res-2026-01-01-{k}",
            [
                task(1, [(1, 1)] * 3),
                task(2, [(k, 1)] * 3) | {"runs": [run(n, k, 1, {"s": 0.5}) for n in (1, 2, 3)]},
            ],
            model=f"{bad} {k}",
        )
        for k in (0, 1)
    ]
    records = read_records(write(tmp_path / "hostile", *rows))
    found, rules, audited = page(records)
    for made in (
        charts.findings_table(rules),
        charts.audit_table(audited, records, found),
        charts.inputs_table(records, labels=False, publish="public"),
    ):
        assert not tags(made.html) & {"script", "img", "a"}


def test_records_that_publish_wrong_figures_are_told_first(tmp_path):
    """A notice names how many figures differ, how many rules are broken, and whose records they are in."""

    def change(records):
        records["res-2026-06-13-dill-plain"]["run_outcomes"][0]["runs"][0]["s"] = 0.123
        records["res-2026-06-13-elder-plain"]["scores"]["by_subset"]["holdout"]["pass_at_3"] = 0.5

    records = changed(tmp_path / "changed", *WARD, change)
    audited = audit(records)
    assert len((*check(records), *audited.findings)) == 3
    notice = charts.integrity_notice(records, check(records), audited)
    assert isinstance(notice, Notice)
    assert notice.page == "integrity"
    assert notice.paragraphs[0] == (
        "▲ These records have 1 published figure that the runs do not give and 1 break of the rules "
        "for records: demo-model-dill · hx-demo-plain 0.9.0 and demo-model-elder · hx-demo-plain 0.9.0."
    )
    bundle = notice._repr_mimebundle_()
    assert bundle["application/vnd.medgauge.notice+json"]["page"] == "integrity"
    assert bundle["text/html"].startswith("<p><strong>▲ These records")


def test_figures_that_contradict_each_other_are_breaks_of_rules(tmp_path):
    """A notice counts as figures what the page counts as differing; sums that do not add up are breaks."""

    def change(records):
        one = records["res-2026-06-13-dill-plain"]
        one["failure_attribution"][next(iter(one["failure_attribution"]))] += 1
        one["scores"]["by_subset"]["holdout"]["pass_at_3"] = 0.5

    records = changed(tmp_path / "changed", *WARD, change)
    audited = audit(records)
    assert audited.counts()["differs"] == 1
    assert "published.failure_attribution" in {finding.code for finding in audited.findings}
    (first, _) = charts.integrity_notice(records, check(records), audited).paragraphs
    assert first.startswith(
        "▲ These records have 1 published figure that the runs do not give and 1 break of the rules"
    )


def test_notes_alone_are_no_notice(ward):
    """A board whose only finding is a note says that its figures are what the runs give."""
    records, _, _, audited = ward
    findings = (*check(records), *audited.findings)
    assert [finding.severity for finding in findings] == ["note"]
    told = charts.integrity_notice(records, check(records), audited)
    assert not isinstance(told, Notice)
    assert "No rule is broken" in str(told)
