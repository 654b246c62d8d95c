"""Pages of the ten dimensions: every cell against a second computation from the records themselves."""

from __future__ import annotations

from fractions import Fraction
from statistics import median

import by_definition
import pytest
from demo_pages import LAB, WARD, changed, column, raw, tables, tags
from make_records import record, write

from medgauge_lib import charts, demo
from medgauge_lib.board import board
from medgauge_lib.charts import display
from medgauge_lib.charts.dimensions import VIEWS
from medgauge_lib.charts.figure import FIGURE, TABLE
from medgauge_lib.charts.panels import SIDE
from medgauge_lib.charts.words import Sentences
from medgauge_lib.dimensions import dimensions
from medgauge_lib.records import read_records

HOSTILE = (
    "'] + datum.x + ['",
    'a "quoted" \\ name',
    "two\nlines\u2028three",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\u202egnirts",
    "{{ datum.secret }} ${x} %s",
    "javascript:alert(1)",
)


@pytest.fixture(scope="module")
def ward():
    """Return board and dimensions of the ward demo, without labels."""
    records = demo.record_set(*WARD)
    found = board(records)
    return found, dimensions(records, found)


def views(ward):
    """Return every view of the ward demo that is a table."""
    found, measured = ward
    made = [charts.dimension_table(measured, found, view) for view in VIEWS]
    assert not [one for one in made if isinstance(one, Sentences)]
    return dict(zip(VIEWS, made, strict=True))


def test_every_view_is_a_figure_with_its_data(ward):
    """A view carries its words, provenance and data, and ids of views differ."""
    made = views(ward)
    for table in made.values():
        bundle = table._repr_mimebundle_()
        assert all(bundle[FIGURE].values())
        assert bundle[TABLE]["rows"]
    assert len({table.id for table in made.values()}) == len(VIEWS)
    sources = {view: table.provenance for view, table in made.items()}
    assert sources["M1"] == sources["M2"] == "recomputed"
    assert sources["M5"] == sources["M7"] == sources["M8"] == sources["M9"] == "as published"
    assert sources["M3"] == sources["M6"] == sources["M10"] == "mixed"


def test_rows_stand_in_board_order_and_unranked_ones_apart(ward):
    """Rows follow the board, and records that the site has not verified come under a heading, unranked."""
    found, measured = ward
    apart = [row.id for row in found.unranked]
    expected = [measured.row(record).label for record in (*found.order, *apart)]
    for view in ("M1", "M2", "M3", "M9"):
        for table in tables(charts.dimension_table(measured, found, view).html):
            rows = [row for row in table[1:] if len(row) > 1]
            names = [row[1].text.replace(" veto", "") for row in rows]
            assert names == [label.replace(" · ", " ") for label in expected]
            heading = [row[0].text for row in table[1:] if len(row) == 1]
            assert heading == ["Listed apart, not ranked: not verified by the site"]
            assert [row[0].text for row in rows[-len(apart) :]] == ["–"] * len(apart)
            assert rows[0][0].text == "1"


def test_rows_with_a_veto_are_marked(ward):
    """Exactly the rows with a vetoed run of the subset carry the mark, on every view."""
    found, measured = ward
    vetoed = {row.label.replace(" · ", " ") for row in (*found.rows, *found.unranked) if row.tallies.n_vetoed}
    for view in VIEWS:
        cells = [
            row[1].text
            for table in tables(charts.dimension_table(measured, found, view).html)
            for row in table[1:]
            if len(row) > 1
        ]
        marked = {text.replace(" veto", "") for text in cells if " veto" in text}
        assert marked == vetoed, view


def by_row(cells, record):
    """Return the cell of a record from a column by headings."""
    model, harness = record["model"], f"{record['harness']} {record['harness_version']}"
    effort, snapshot = record["run_conditions"].get("reasoning_effort"), record["model_snapshot"]
    hits = [
        cell
        for head, cell in cells.items()
        if head.startswith(model)
        and harness in head
        and ("(effort" not in head or f"(effort {effort})" in head)
        and ("(20" not in head or snapshot in head)
    ]
    assert len(hits) == 1, record["id"]
    return hits[0]


def test_recomputed_cells_are_what_the_runs_give(ward):
    """M1, M2, M6 and the medians of M3 are those of a plain count over the runs of the records."""
    found, measured = ward
    records = raw(*WARD)
    void = by_definition.void_tasks([one for one in records if one["verified_by_site"]])
    html = {view: charts.dimension_table(measured, found, view).html for view in ("M1", "M2", "M3", "M6")}
    for one in records:
        tasks = by_definition.tasks_of(one, "holdout", void)
        runs = [run for task in tasks for run in task["runs"]]
        for view, title, quantity in (
            ("M1", "task pass rate", "task_pass_rate"),
            ("M1", "continuous score", "continuous_score"),
            ("M2", "pass@3", "pass_at_3"),
            ("M2", "pass^3", "pass_pow_3"),
        ):
            mean = by_definition.mean([by_definition.task_value(task, quantity) for task in tasks])
            cell = by_row(column(html[view], title), one)
            assert cell.text.startswith(display.percent(mean).replace("\u00a0", " ")), (one["id"], title)
            assert float(cell.attributes["data-sort"]) == float(mean)
        vetoed = Fraction(sum(bool(run["veto_categories"]) for run in runs), len(runs))
        assert float(by_row(column(html["M6"], "veto rate"), one).attributes["data-sort"]) == float(vetoed)
        passing = [run for run in runs if run["pass"]]
        cell = by_row(column(html["M3"], "median wall clock"), one)
        if passing and all("wall_clock_sec" in run for run in passing):
            assert float(cell.attributes["data-sort"]) == pytest.approx(
                median(run["wall_clock_sec"] for run in passing), abs=1e-12
            )
        else:
            assert cell.text in ("not applicable", "no passing run")


def test_intervals_in_cells_are_exact(ward):
    """The interval of pass^3 in a cell is Clopper and Pearson's by bisection, rounded outward."""
    found, measured = ward
    cells = column(charts.dimension_table(measured, found, "M2").html, "pass^3")
    records = {one["id"]: one for one in raw(*WARD)}
    for row in found.rows:
        estimate = row.pass_pow_3
        low, high = by_definition.clopper_pearson(estimate.n_successes, estimate.n_tasks, 0.05)
        written = by_row(cells, records[row.id]).text.split(" % ")[1].removesuffix(" %")
        shown = [float(part) / 100 for part in written.split(" to ")]
        assert low - 0.0011 < shown[0] <= low + 1e-9
        assert high - 1e-9 <= shown[1] < high + 0.0011


def test_published_cells_are_what_the_records_say(ward):
    """M5 and M7 to M9 show the published number of each record, and say so where it has none."""
    found, measured = ward
    places = {
        "M5": ("m5_optimality", {"order violations": "order_violations"}),
        "M7": ("m7_quality_control", {"defect recall": "defect_recall", "self check": "self_check_rate"}),
        "M8": ("m8_exploration", {"Brier score": "brier", "overreach": "overreach_rate"}),
        "M9": ("m9_auditability", {"trajectory": "trajectory_completeness"}),
    }
    seen = set()
    for view, (block, names) in places.items():
        html = charts.dimension_table(measured, found, view).html
        for title, name in names.items():
            cells = column(html, title)
            for one in raw(*WARD):
                value = one["scores"].get("dimensions", {}).get(block, {}).get(name)
                cell = by_row(cells, one)
                seen.add(value is None)
                if value is None:
                    assert (cell.text, cell.shapes) == ("not applicable", [])
                    assert "data-sort" not in cell.attributes
                else:
                    assert float(cell.attributes["data-sort"]) == value
    assert seen == {True, False}


def test_marks_tell_where_a_figure_comes_from(ward):
    """A recomputed figure is a circle and a published one a hollow diamond; both stand at their value."""
    found, measured = ward
    circles = column(charts.dimension_table(measured, found, "M1").html, "task pass rate")
    diamonds = column(charts.dimension_table(measured, found, "M7").html, "defect recall")
    plots = set()
    for cells, tag, published in ((circles, "circle", False), (diamonds, "path", True)):
        for cell in cells.values():
            if "data-sort" not in cell.attributes:
                continue
            (mark,) = cell.drawn(tag, "mg-value")
            assert ("mg-hollow" in mark["class"]) is published
            at = float(mark["d"][1:].split()[0]) if published else float(mark["cx"])
            value = float(cell.attributes["data-sort"])
            if value > 0.1:
                plots.add((published, round((at - SIDE) / value, 0)))
    assert len(plots) == 2  # one width of the axis a figure


def test_dispersion_is_drawn_as_quartiles_and_said_so(ward):
    """Ratios of M3 have a bar from quartile to quartile, and a tick at the median inside it."""
    found, measured = ward
    table = charts.dimension_table(measured, found, "M3 actions")
    cells = [cell for cell in column(table.html, "actions").values() if "data-sort" in cell.attributes]
    assert cells
    for cell in cells:
        (bar,) = cell.drawn("rect", "mg-bar")
        (tick,) = cell.drawn("line", "mg-value")
        left, width = float(bar["x"]), float(bar["width"])
        assert left <= float(tick["x1"]) <= left + width + 0.01
    assert "quartiles over tasks (not an interval)" in table.caption


@pytest.mark.parametrize("view", ["M3 actions", "M5 redundancy"])
def test_action_figures_stand_under_their_harness_version(ward, view):
    """Rows of a harness version stand under its heading in board order, and the caption says why."""
    found, measured = ward
    table = charts.dimension_table(measured, found, view)
    under, heading = {}, ""
    for row in tables(table.html)[0][1:]:
        if len(row) == 1:
            heading = row[0].text
        else:
            under.setdefault(heading, []).append(row[1].text.replace(" veto", ""))
    order = [measured.row(one).label.replace(" · ", " ") for one in found.order]
    assert sum(map(len, under.values())) == len(measured.rows)
    for words, names in under.items():
        harness = words.split(" — ")[0]
        assert all(harness in name for name in names)
        ranked = [name for name in names if name in order]
        assert ranked == sorted(ranked, key=order.index)
        assert ("not ranked" in words) is (not ranked)
    assert "Compare rows under one heading only" in table.caption
    assert "an action: one command sent to the sandbox" in " ".join(under)
    assert set(table.table["harness"].dropna()) == set(measured.by_harness())


def test_cost_per_success_is_beside_every_view_of_m3(ward):
    """Both views of M3 have cost per success, one panel a currency, and no cost on another's axis."""
    found, measured = ward
    for view in ("M3", "M3 actions"):
        html = charts.dimension_table(measured, found, view).html
        euros, dollars = column(html, "cost per success, EUR"), column(html, "cost per success, USD")
        for name, cell in euros.items():
            if cell.text.startswith("EUR"):
                assert dollars[name].text == "other prices"
                assert not dollars[name].shapes
        assert any(cell.text.startswith("USD") for cell in dollars.values())
        assert any(cell.text == "amount not applicable" for cell in euros.values())
        assert any(cell.text == "no task with a passing run" for cell in euros.values())
        # M3 takes the mean over tasks with a success, so not every run has a part in it.
        assert "counts all runs" not in charts.dimension_table(measured, found, view).caption


def test_robustness_has_b_c_and_p_from_them(ward):
    """M10 writes b and c as published and p as the exact McNemar p of the two."""
    found, measured = ward
    cells = column(charts.dimension_table(measured, found, "M10").html, "exact McNemar")
    checked = 0
    for one in raw(*WARD):
        block = one["scores"].get("dimensions", {}).get("m10_robustness")
        if block:
            b, c = block["mcnemar"]["b"], block["mcnemar"]["c"]
            p = display.p_value(by_definition.mcnemar_p(b, c))
            assert by_row(cells, one).text == f"{b}, {c}, {p}".replace("\u00a0", " ")
            checked += 1
    assert checked > 5


def test_recall_is_shown_by_class_of_defect(ward):
    """Each class of defect that a record names has its own panel with the published recall."""
    found, measured = ward
    html = charts.dimension_table(measured, found, "M7 defects").html
    for one in raw(*WARD):
        block = one["scores"].get("dimensions", {}).get("m7_quality_control", {})
        for name, recall in block.get("by_defect_class_recall", {}).items():
            assert float(by_row(column(html, name), one).attributes["data-sort"]) == recall


def test_directions_are_said(ward):
    """Every panel of a figure with a better end says which; a signed difference says none."""
    found, measured = ward
    heads = [cell.text for cell in tables(charts.dimension_table(measured, found, "M2").html)[0][0][2:]]
    assert [("higher" in head, "lower" in head) for head in heads] == [(True, False)] * 2 + [(False, True)]
    signed = [cell.text for cell in tables(charts.dimension_table(measured, found, "M10").html)[0][0]]
    assert not [head for head in signed if head.startswith("robustness gap, with sign") and "better" in head]


def test_a_record_without_dimensions_is_not_applicable_everywhere(ward):
    """The demo record without dimensions has no mark and no 0 in any published panel."""
    found, measured = ward
    (bare,) = [one for one in raw(*WARD) if not one["scores"].get("dimensions") and one["verified_by_site"]]
    for view in ("M5", "M5 redundancy", "M7", "M7 defects", "M8", "M9", "M10"):
        for table in tables(charts.dimension_table(measured, found, view).html):
            cells = [row[2:] for row in table[1:] if len(row) > 1 and bare["model"] in row[1].text]
            assert [(cell.text, cell.shapes) for row in cells for cell in row] == [
                ("not applicable", [])
            ] * len(table[0][2:])


def test_a_published_figure_that_differs_is_marked(tmp_path):
    """A recomputed figure whose record publishes another has a star, and the caption and data say so."""

    def change(records):
        records["res-2026-06-13-dill-plain"]["scores"]["by_subset"]["holdout"]["task_pass_rate"] = 0.9

    records = changed(tmp_path / "changed", *WARD, change)
    found = board(records)
    table = charts.dimension_table(dimensions(records, found), found, "M1")
    starred = [name for name, cell in column(table.html, "task pass rate").items() if "*" in cell.text]
    assert len(starred) == 1
    assert starred[0].startswith("demo-model-dill")
    assert "1 figure marked *" in table.caption
    assert table.table["remark"].str.contains("publishes 0.9").sum() == 1


def test_a_dimension_that_no_record_carries_is_one_sentence(tmp_path):
    """Where no row has a figure of a dimension, a sentence says so in place of a figure."""
    rows = [record(f"res-2026-01-01-{k}", {1: [(1, 1)] * 3, 2: [(k, 1)] * 3}) for k in (0, 1)]
    records = read_records(write(tmp_path / "bare", *rows))
    found = board(records)
    said = charts.dimension_table(dimensions(records, found), found, "M7")
    assert str(said) == (
        "M7: defects found, self-check and traceability — not applicable: the record carries no "
        "m7_quality_control."
    )


def test_a_column_without_any_figure_is_told_in_the_caption(tmp_path):
    """A panel in which no row has a figure is left out and named with the reason."""
    rows = [record(f"res-2026-01-01-{k}", {1: [(1, 1)] * 3, 2: [(k, 1)] * 3}) for k in (0, 1)]
    records = read_records(write(tmp_path / "bare", *rows))
    found = board(records)
    table = charts.dimension_table(dimensions(records, found), found, "M6")
    assert "compliance rate" not in [cell.text for cell in tables(table.html)[0][0]]
    assert "In no row there is a figure for compliance rate (not applicable)." in table.caption


def test_unknown_view_names_the_views(ward):
    """A view that does not exist is refused with those that do."""
    found, measured = ward
    with pytest.raises(ValueError, match=r"view must be one of M1, .*M7 defects, but got 'M11'"):
        charts.dimension_table(measured, found, "M11")


@pytest.mark.parametrize("n_rows", [1, 2, 38, 100])
def test_any_number_of_rows_is_drawn(tmp_path, n_rows):
    """A board of one row and one of a hundred have every row once in every block."""
    tasks = [{t: [(int(t % (k + 2) > 0), 1)] * 3 for t in range(1, 9)} for k in range(n_rows)]
    rows = [record(f"res-2026-01-01-{k:03d}", tasks[k], model="m" * 60 + f"-{k}") for k in range(n_rows)]
    records = read_records(write(tmp_path / "rows", *rows))
    found = board(records)
    for table in tables(charts.dimension_table(dimensions(records, found), found, "M6").html):
        assert len({row[1].text for row in table[1:]}) == n_rows == len(table) - 1


def test_text_of_records_stays_text(tmp_path):
    """Markup, quotes and expressions in names, harnesses and classes of defects never become elements."""
    dimensions_of = {
        "m3_efficiency": {
            "action_definition": HOSTILE[3],
            "action_ratio": {"geometric_mean": 1.2, "median": 1.1, "q1": 1, "q3": 1.4},
        },
        "m7_quality_control": {
            "defect_recall": 0.5,
            "defect_precision": 0.5,
            "defect_f1": 0.5,
            "by_defect_class_recall": dict.fromkeys(HOSTILE, 0.5),
        },
    }
    rows = [
        record(
            f"res-2026-01-01-{k}",
            {1: [(1, 1)] * 3, 2: [(k % 2, 1)] * 3},
            model=text,
            scores={"dimensions": dimensions_of},
        )
        for k, text in enumerate(HOSTILE)
    ]
    records = read_records(write(tmp_path / "hostile", *rows))
    found = board(records)
    measured = dimensions(records, found)
    for view in ("M1", "M3 actions", "M7 defects"):
        table = charts.dimension_table(measured, found, view)
        assert tags(table.html) <= {
            *("style", "div", "table", "caption", "strong", "thead", "tbody", "tr", "th", "td", "small"),
            *("abbr", "span", "br", "svg", "line", "circle", "rect", "path", "text"),
        }
        assert "\u202e" not in table.html
        assert "&lt;img src=x onerror=alert(1)&gt;" in table.html


def test_alternative_text_names_the_ends(ward):
    """The alternative text of a view gives the lowest and highest row of each panel."""
    found, measured = ward
    alt = charts.dimension_table(measured, found, "M1").alt
    low = min((*found.rows, *found.unranked), key=lambda row: row.task_pass_rate.value)
    assert f"from {display.percent(low.task_pass_rate.value)} ({low.label})" in alt
    assert alt.startswith("M1: task pass rate and continuous score, 14 rows in board order.")


def test_other_boards_have_every_view_too():
    """On the lab board each view is a table or a sentence."""
    records = demo.record_set(*LAB)
    found = board(records)
    measured = dimensions(records, found)
    for view in VIEWS:
        made = charts.dimension_table(measured, found, view)
        assert isinstance(made, Sentences) or made.table["id"].nunique() == 5
