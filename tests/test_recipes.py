"""What a notebook explores with: every result is a table, rows can be left out, and charts compose."""

from __future__ import annotations

from dataclasses import replace

import altair as alt
import pandas as pd
import pytest
from demo_pages import LAB, WARD, changed, labels_file, raw
from make_findings import finding, rows, submission, task, write, write_json
from pandas.testing import assert_frame_equal

import medgauge_lib
from medgauge_lib import audit, board, charts, check, compare, demo, difficulty, dimensions, failures, values
from medgauge_lib.checks import findings_frame
from medgauge_lib.findings import write_packets
from medgauge_lib.labels import read_labels
from medgauge_lib.planning import exam_plan
from medgauge_lib.results import Absent

NO_TABLES = {"Absent", "Estimate", "InputError", "Interval", "RecordSet"}
"""Public classes that are one value, an error, or a set of tables."""


@pytest.fixture(scope="module")
def records():
    """Records of the demo's largest board."""
    return demo.record_set(*WARD)


@pytest.fixture(scope="module")
def found(records):
    """Board of the holdout tasks."""
    return board(records)


def test_every_public_result_shows_as_a_table(records, found, tmp_path):
    """Each class of result that the package hands out is a table of at least one line by `to_frame`."""
    made = [
        found,
        found.outcomes,
        found.pairs,
        values(found.outcomes, "pass_pow_3"),
        dimensions(records, found),
        difficulty(records, found),
        failures(records, found),
        audit(records),
        read_labels(labels_file(tmp_path, *WARD)),
    ]
    public = [getattr(medgauge_lib, name) for name in medgauge_lib.__all__]
    classes = {one.__name__ for one in public if isinstance(one, type)} - NO_TABLES
    assert classes == {type(one).__name__ for one in made}
    for one in made:
        frame = one.to_frame()
        assert isinstance(frame, pd.DataFrame)
        assert len(frame) > 0
        assert frame.columns.is_unique


def test_a_result_shows_itself_as_its_table(found):
    """A notebook and a terminal show the table of a result, and no label of it is markup."""
    row = replace(found.rows[0], label="<img src=x onerror=alert(1)>")
    hostile = replace(found, rows=(row, *found.rows[1:]))
    for one in (hostile, found.pairs, found.outcomes, exam_plan([0.8], [10])):
        frame = one.to_frame()
        assert repr(one) == f"{type(one).__name__}\n{frame!r}"
        shown = one._repr_html_()
        assert shown.count("<tr") == min(len(frame), 60) + 1 + (len(frame) > 60)
        assert f"<p>{len(frame)} rows" in shown
    assert "<img" not in hostile._repr_html_()
    assert "&lt;img src=x" in hostile._repr_html_()


def test_records_say_in_a_line_what_they_are(records):
    """A record set tells its benchmark and its size, not its content."""
    said = f"RecordSet of bm-demo-ward 1.1.0: 14 subjects, {len(records.runs):,} runs"
    assert repr(records) == said


def test_values_show_the_mean_of_every_row(found):
    """The table of values holds each row's mean over tasks, which the board states too."""
    frame = values(found.outcomes, "task_pass_rate").to_frame().set_index("id")
    assert {row.id: float(row.task_pass_rate) for row in found.rows} == frame["value"].to_dict()
    assert set(frame["n_tasks"]) == {found.n_tasks}


def test_labels_show_as_counts_without_a_task(tmp_path):
    """The table of labels adds up to the labelled tasks of each family and holds no task key."""
    labels = read_labels(labels_file(tmp_path, *WARD))
    frame = labels.to_frame()
    assert frame.loc[frame["family"] == "difficulty", "n_tasks"].sum() == labels.n_tasks
    assert "tk-" not in frame.to_csv()


def test_findings_show_as_a_table(tmp_path):
    """Findings are lines with what they say, in their order."""

    def spoil(made):
        made[min(made)]["run_outcomes"][0]["runs"][0]["s"] = 0.123

    told = check(changed(tmp_path / "records", *LAB, spoil))
    frame = findings_frame(told)
    assert frame["rule"].tolist() == ["run.share"]
    assert frame.loc[0, "published"] == 0.123
    assert frame.loc[0, "file"] == told[0].file


def test_packets_show_as_one_table(tmp_path):
    """Packets are one table over all tasks, empty where no submission got one."""
    write(tmp_path, [(task(), rows(100)), (task(task_id="t2"), rows(100))])
    write_json(tmp_path / "submissions/t1.json", submission(finding(rows(100))))
    drawn = write_packets(tmp_path / "data", tmp_path / "submissions", tmp_path / "out", seed="00")
    frame = drawn.to_frame()
    assert frame.columns.tolist() == ["task_id", "doc_id", "quoted"]
    assert set(frame["task_id"]) == {"t1"}
    assert len(frame) == len(drawn.packets[0].document_ids)


@pytest.mark.parametrize("place", [0, 5, -1])
def test_records_without_one_are_those_read_without_its_file(tmp_path, place):
    """Leaving a row out gives the tables, labels and void tasks of a folder that lacks its file."""
    whole = changed(tmp_path / "whole", *WARD, lambda made: None)
    left_out = sorted(whole.published)[place]
    less = whole.without(left_out)
    read = changed(tmp_path / "less", *WARD, lambda made: made.pop(left_out))
    assert_frame_equal(less.subjects, read.subjects)
    assert_frame_equal(less.runs, read.runs)
    assert_frame_equal(less.void, read.void)
    assert less.published == read.published
    assert less.decimals == read.decimals
    assert board(less).to_json() == board(read).to_json()


def test_what_only_a_left_out_row_made_void_counts_again(tmp_path):
    """A task version that one record alone shows as void is back when that record is left out."""
    made = {one["id"]: one for one in raw(*LAB)}
    first = min(made)

    def spoil(records):
        records[first]["run_outcomes"][0]["runs"][0] |= {
            "pass": False,
            "error": {"attribution": "environment", "kind": "server"},
        }

    whole = changed(tmp_path / "records", *LAB, spoil)
    assert len(whole.void) == len(demo.record_set(*LAB).void) + 1
    assert_frame_equal(whole.without(first).void, demo.record_set(*LAB).without(first).void)


def test_leaving_out_names_what_is_wrong(records):
    """An unknown id, and all ids, are a caller's mistake that is named."""
    with pytest.raises(ValueError, match="ids must name records of this set, but got 'res-none'"):
        records.without("res-none")
    with pytest.raises(ValueError, match="they name all of this set"):
        records.without(*records.published)


def test_a_row_against_the_others_is_its_comparison_with_each(found):
    """Seen from a row, each line is what comparing it first with that other row gives."""
    for record in (found.order[0], found.order[4], found.order[-1]):
        ranked = [record, *(one for one in found.order if one != record)]
        fresh = compare(values(found.outcomes, "pass_pow_3"), ranked=ranked).to_frame()
        expected = fresh[fresh["a"] == record].reset_index(drop=True)
        seen = found.against(record)
        assert seen["id"].tolist() == expected["b"].tolist() == ranked[1:]
        columns = ["b_count", "c_count", "difference", "p", "holm", "differs"]
        assert_frame_equal(seen[columns], expected[columns])
        # Both ends are rounded to six decimals on their own, so turned bounds may differ by one of them.
        assert (seen[["low", "high"]] - expected[["low", "high"]]).abs().max(axis=None) <= 1e-6
        assert seen["letters"].tolist() == [" ".join(found.row(one).letters) for one in ranked[1:]]


def test_turning_a_pair_twice_gives_it_back(found):
    """A comparison seen from the other row and back again is the same."""
    for pair in found.pairs.pairs:
        assert pair.turned().turned() == pair
        assert (pair.turned().a, pair.turned().difference) == (pair.b, -pair.difference)


def test_an_only_row_has_nothing_to_be_compared_with(tmp_path):
    """On a board of one row the comparison is an empty table with the usual columns."""
    whole = demo.record_set(*LAB)
    ids = board(whole).order
    alone = board(whole.without(*ids[1:]))
    assert alone.against(ids[0]).columns.tolist() == board(whole).against(ids[0]).columns.tolist()
    assert alone.against(ids[0]).empty


def test_rows_that_are_not_ranked_are_compared_with_none(found):
    """A community record or an unknown id has no comparison."""
    for record in (found.unranked[0].id, "res-none"):
        with pytest.raises(KeyError, match="no ranked row"):
            found.against(record)
        with pytest.raises(KeyError, match="in no pair"):
            found.pairs.seen_from(record)


def marks(chart):
    """Marks that a chart draws as a figure."""
    words = {"id": "made", "title": "Made", "caption": "Made.", "table": pd.DataFrame({"n": [1]})}
    return charts.figure(chart.properties(description="Made."), **words).n_marks


def test_charts_are_layered_filtered_faceted_and_joined(found):
    """Each way of composing draws the marks it should: three a point, and those of what is added."""
    drawn = charts.cost_frame(found).query("drawn")
    line = alt.Chart(alt.Data(values=[{"least": 0.5}])).mark_rule().encode(y="least:Q")
    cost = charts.cost(found)
    assert marks(cost) == 3 * len(drawn)
    assert marks(cost + line) == 3 * len(drawn) + 1
    high = drawn[drawn["pass_pow_3"] >= 0.75]
    assert 0 < len(high) < len(drawn)
    assert marks(charts.cost(found).transform_filter(alt.datum.pass_pow_3 >= 0.75)) == 3 * len(high)
    assert marks(charts.cost(found).facet("harness:N")) == 3 * len(drawn)
    for several in (charts.forest, charts.quantities, charts.differences, charts.passes, charts.exam):
        assert marks(several(found) & charts.cost(found)) == marks(several(found)) + 3 * len(drawn)


@pytest.mark.parametrize("compose", ["layer", "facet"])
def test_a_field_that_is_not_there_is_refused_in_composed_charts(found, compose):
    """A misspelt field of added data or of a facet is an error that names a near one."""
    if compose == "layer":
        data = alt.Data(values=[{"least": 0.5}])
        chart = charts.cost(found) + alt.Chart(data).mark_rule().encode(y="lest:Q")
    else:
        chart = charts.cost(found).facet("harnes:N")
    with pytest.raises(ValueError, match="the data have no field"):
        marks(chart)


def test_rows_written_into_a_chart_count(found):
    """Data written into a chart count towards the rows a page should draw."""
    data = alt.Data(values=[{"n": n} for n in range(10_001)])
    with pytest.raises(ValueError, match="10,001 rows of data"):
        marks(alt.Chart(data).mark_point().encode(x="n:Q"))


def test_what_is_absent_is_missing_in_a_table_with_its_reason(records, found):
    """No absent figure of a dimension shows a number, and each has its reason beside it."""
    measured = dimensions(records, found)
    frame = measured.to_frame()
    absent = [isinstance(figure.value, Absent) for row in measured.rows for figure in row.figures]
    assert any(absent)
    assert (frame["reason"] != "").tolist() == absent
    assert frame.loc[absent, "value"].isna().all()
