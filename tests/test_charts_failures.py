"""The page on failures: counts against the records themselves, and what does not add up."""

from __future__ import annotations

from collections import Counter

import by_definition
import pytest
from demo_pages import WARD, changed, column, raw, tables, tags
from make_records import record, write
from test_charts_dimensions import HOSTILE, by_row

from medgauge_lib import charts, demo
from medgauge_lib.board import board
from medgauge_lib.charts import display
from medgauge_lib.charts.words import Sentences
from medgauge_lib.failures import REASONS, failures
from medgauge_lib.records import read_records

SUBJECT = ("model", "agent", "harness", "application", "provider")


@pytest.fixture(scope="module")
def ward():
    """Return board and failures of the ward demo."""
    records = demo.record_set(*WARD)
    found = board(records)
    return found, failures(records, found)


def live_runs(subset=None):
    """Return each record of the ward demo with its live runs, of one subset or of all."""
    records = raw(*WARD)
    void = by_definition.void_tasks([one for one in records if one["verified_by_site"]])
    subsets = (subset,) if subset else ("dev", "holdout", "calib")
    return [
        (one, [run for s in subsets for task in by_definition.tasks_of(one, s, void) for run in task["runs"]])
        for one in records
    ]


def test_reasons_are_counts_and_shares_of_the_failed_runs(ward):
    """Each cell is the recorded count and its share of the failed runs counted, over all subsets."""
    found, failed = ward
    html = charts.reasons_table(failed, found).html
    for one, runs in live_runs():
        n_failed = sum(not run["pass"] for run in runs)
        counted = by_row(column(html, "failed runs, counted"), one)
        assert counted.text == f"{n_failed:,} of {len(runs):,}"
        for reason in REASONS:
            n = one["failure_attribution"].get(reason, 0)
            cell = by_row(column(html, reason.replace("_", " ")), one)
            if not n_failed:
                assert (cell.text, cell.shapes) == ("–", [])
                continue
            share = display.percent(n / n_failed).replace("\u00a0", " ")
            assert cell.text == (f"{n:,} {share}" if n else "0")
            assert float(cell.attributes["data-sort"]) == n / n_failed
            assert len(cell.drawn("rect", "mg-bar")) == (n > 0)


def test_all_reasons_have_a_column(ward):
    """All nine reasons stand in the order of the method, whether or not they occur."""
    found, failed = ward
    heads = [cell.text for table in tables(charts.reasons_table(failed, found).html) for cell in table[0][2:]]
    assert [head for head in heads if head.replace(" ", "_") in REASONS] == [
        r.replace("_", " ") for r in REASONS
    ]


@pytest.mark.parametrize(
    ("off", "words"), [(-1, "1 not attributed"), (2, "2 attributed twice, or not failed")]
)
def test_counts_that_do_not_add_up_are_shown(tmp_path, off, words):
    """A reason too few or too many is shown in its row and said in words, and no other row is touched."""

    def change(records):
        records["res-2026-06-13-dill-plain"]["failure_attribution"]["missed"] += off

    records = changed(tmp_path / "changed", *WARD, change)
    found = board(records)
    failed = failures(records, found)
    table = charts.reasons_table(failed, found)
    cells = column(table.html, "reasons less failed runs")
    off_rows = {name: cell.text for name, cell in cells.items() if cell.text != "0"}
    assert list(off_rows.values()) == [f"▲ {words}"]
    assert next(iter(off_rows)).startswith("demo-model-dill")
    assert f"demo-model-dill · hx-demo-plain 0.9.0 ({words})" in str(charts.failure_sentences(failed))
    assert set(table.table.loc[table.table["difference"] == off, "id"]) == {"res-2026-06-13-dill-plain"}


def test_a_record_in_good_order_is_said_to_be(ward):
    """Where reasons add up everywhere, the sentence says so."""
    _, failed = ward
    assert "In each, the recorded reasons add up to the failed runs." in str(charts.failure_sentences(failed))


def test_record_without_reasons_is_said_to_carry_none(tmp_path):
    """A record without failure_attribution has no figure for any reason, in table, words and alternative."""

    def change(records):
        del records["res-2026-06-13-dill-plain"]["failure_attribution"]

    records = changed(tmp_path / "changed", *WARD, change)
    found = board(records)
    failed = failures(records, found)
    name = "demo-model-dill · hx-demo-plain 0.9.0"
    (one,) = (one for one in raw(*WARD) if one["id"] == "res-2026-06-13-dill-plain")
    made = charts.reasons_table(failed, found)
    for reason in REASONS:
        cells = column(made.html, reason.replace("_", " "))
        cell = by_row(cells, one)
        assert (cell.text.split()[0], cell.shapes) == ("–", [])
    cells = column(made.html, "reasons less failed runs")
    assert [cell.text for row, cell in cells.items() if cell.text != "0"] == ["the record does not carry it"]
    bare = made.table[made.table["id"] == "res-2026-06-13-dill-plain"]
    assert bare[["n_runs", "share", "difference"]].isna().all(axis=None)
    assert (
        f"{name}: {failed.row('res-2026-06-13-dill-plain').n_failed} failed, reasons: the record" in made.alt
    )
    said = str(charts.failure_sentences(failed))
    assert "Where reasons are recorded, they add up to the failed runs." in said
    assert f"No reasons are known of {name}: the record does not carry it." in said
    assert made._repr_mimebundle_()


def test_errors_are_counted_by_attribution_and_kind(ward):
    """Each cell counts the runs of the subset that ended in such an error; the rate is the subject's side."""
    found, failed = ward
    html = charts.errors_table(failed, found).html
    seen = set()
    for one, runs in live_runs("holdout"):
        errors = Counter((run["error"]["attribution"], run["error"]["kind"]) for run in runs if run["error"])
        seen |= set(errors)
        for table in tables(html):
            for head in [cell.text for cell in table[0][2:]]:
                if ": " in head:
                    source, kind = head.split(": ")
                    cell = by_row(column(html, head), one)
                    assert cell.text == str(errors[source, kind.replace(" ", "_")])
        mine = sum(n for (source, _), n in errors.items() if source in SUBJECT)
        cell = by_row(column(html, "subject-side error rate"), one)
        assert cell.text.endswith(f"{mine} of {len(runs)} runs")
        assert float(cell.attributes["data-sort"]) == mine / len(runs)
    heads = {cell.text for table in tables(html) for cell in table[0][2:] if ": " in cell.text}
    assert heads == {f"{source}: {kind.replace('_', ' ')}" for source, kind in seen}


def test_bars_of_counts_share_one_scale(ward):
    """Bars of different kinds of errors are as long as their counts, so that they compare."""
    found, failed = ward
    html = charts.errors_table(failed, found).html
    scales = set()
    for table in tables(html):
        for k, head in enumerate(table[0]):
            if ": " in head.text:
                for row in table[1:]:
                    for bar in row[k].drawn("rect", "mg-bar") if len(row) > k else ():
                        scales.add(round(float(bar["width"]) / int(row[k].text), 1))
    assert len(scales) == 1


def test_vetoes_are_counted_by_category(ward):
    """Each cell counts the runs of the subset that hit the gate; every category has a column."""
    found, failed = ward
    html = charts.vetoes_table(failed, found).html
    heads = [cell.text for cell in tables(html)[0][0][2:]]
    assert len(heads) == 6
    for one, runs in live_runs("holdout"):
        hits = Counter(category for run in runs for category in run["veto_categories"])
        vetoed = sum(bool(run["veto_categories"]) for run in runs)
        assert by_row(column(html, "vetoed runs"), one).text == f"{vetoed} of {len(runs)}"
        for head in heads[1:]:
            assert by_row(column(html, head), one).text == str(hits[head.replace(" ", "_")])


def test_rows_with_a_veto_are_marked_by_their_subset(ward):
    """Reasons, over all subsets, mark a veto of any; errors and vetoes mark one of their own subset."""
    found, failed = ward
    for made, subset in (
        (charts.reasons_table(failed, found), None),
        (charts.errors_table(failed, found), "holdout"),
        (charts.vetoes_table(failed, found), "holdout"),
    ):
        names = [row[1].text for row in tables(made.html)[0][1:] if len(row) > 1]
        vetoed = sum(any(run["veto_categories"] for run in runs) for _, runs in live_runs(subset))
        assert sum(" veto" in name for name in names) == vetoed


def test_constraints_are_as_published(ward):
    """Hits of each constraint are those of the records, gates and grading references apart."""
    found, failed = ward
    made = charts.constraints_table(failed, found)
    expected = {
        (one["id"], name, source): n
        for one in raw(*WARD)
        for source, block in (("gate", "veto_hits"), ("grading reference", "assertion_veto_hits"))
        for name, n in one["scores"].get(block, {}).items()
    }
    shown = {(line.id, line.constraint, line.source): line.hits for line in made.table.itertuples()}
    assert shown == expected
    heads = [cell.text.replace(" ", "") for table in tables(made.html) for cell in table[0][2:]]
    columns = sorted({(source, name) for _, name, source in expected})
    assert heads == [f"{name}{source}".replace(" ", "") for source, name in columns]
    cells = [cell for table in tables(made.html) for row in table[1:] for cell in row[2:]]
    assert sum(int(cell.text) for cell in cells) == sum(expected.values())
    assert made.provenance == "as published"


def test_every_subset_stands_by_itself(ward):
    """Runs, failed runs, errors and vetoes are given for each subset, and no line is over several."""
    _, failed = ward
    table = charts.subsets_table(failed).table
    assert set(table["subset"]) == {"dev", "holdout", "calib"}
    for subset in ("dev", "holdout", "calib"):
        for one, runs in live_runs(subset):
            (line,) = table[(table["id"] == one["id"]) & (table["subset"] == subset)].to_dict("records")
            assert line["n_runs"] == len(runs)
            assert line["n_failed"] == sum(not run["pass"] for run in runs)
            assert line["n_vetoed"] == sum(bool(run["veto_categories"]) for run in runs)


def test_counts_published_otherwise_are_told(tmp_path):
    """A record that publishes other errors than its runs hold has the difference beside its subset."""

    def change(records):
        records["res-2026-06-13-dill-plain"]["scores"]["by_subset"]["dev"]["errors"]["model"] = 7

    records = changed(tmp_path / "changed", *WARD, change)
    made = charts.subsets_table(failures(records, board(records)))
    assert [cell.text for cell in tables(made.html)[0][0]][-1] == "Published otherwise"
    assert "the record publishes 7 errors of model; its runs give 0" in made.html


def test_nothing_to_show_is_a_sentence(tmp_path):
    """Without an error or a hit of a constraint a sentence says so; vetoes are a table of zeros."""
    records = read_records(write(tmp_path / "clean", record("res-2026-01-01-a", {1: [(1, 1)] * 3})))
    found = board(records)
    failed = failures(records, found)
    assert str(charts.errors_table(failed, found)) == "No run of subset holdout ended in an error."
    assert str(charts.constraints_table(failed, found)) == "No record publishes a hit of a constraint."
    assert isinstance(charts.failure_sentences(failed), Sentences)
    assert charts.vetoes_table(failed, found).alt == "Vetoed runs by row: none."
    assert charts.reasons_table(failed, found).alt.endswith("no run failed.")


def test_constraints_stay_text(tmp_path):
    """Names of constraints and subjects that hold markup or expressions are escaped."""
    hits = dict.fromkeys(HOSTILE, 1)
    rows = [
        record(f"res-2026-01-01-{k}", {1: [(k % 2, 1)] * 3}, model=text, scores={"veto_hits": hits})
        for k, text in enumerate(HOSTILE)
    ]
    records = read_records(write(tmp_path / "hostile", *rows))
    found = board(records)
    failed = failures(records, found)
    for made in (charts.constraints_table(failed, found), charts.reasons_table(failed, found)):
        assert not tags(made.html) & {"script", "img", "a", "b"}
        assert "&lt;img src=x onerror=alert(1)&gt;" in made.html
        assert "\u202e" not in made.html
