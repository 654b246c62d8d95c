"""Charts and tables: their data and marks, the order on the page, words, refusals, untrusted names."""

from __future__ import annotations

import base64
import itertools
import json
import random
import re
from fractions import Fraction
from html.parser import HTMLParser
from itertools import pairwise

import altair as alt
import nbformat
import numpy as np
import pandas as pd
import pytest
import vl_convert
from altair.utils.schemapi import SchemaValidationError
from hypothesis import given, settings
from hypothesis import strategies as st
from make_records import community, record, write

from medgauge_lib import charts, demo
from medgauge_lib.board import board
from medgauge_lib.charts import display, theme
from medgauge_lib.charts.figure import FIGURE, TABLE, VEGA_LITE, table_json
from medgauge_lib.charts.forest import group_frame
from medgauge_lib.charts.matrix import MAX_PAIRS, STEPS
from medgauge_lib.charts.passes import MAX_CELLS
from medgauge_lib.charts.rows import names
from medgauge_lib.estimators import exam_bound, values
from medgauge_lib.intervals import resampled_sums
from medgauge_lib.pairs import compare
from medgauge_lib.records import read_records
from medgauge_lib.results import Absent

PASS, FAIL, SOMETIMES = [(2, 2)] * 3, [(1, 2)] * 3, [(2, 2), (0, 2), (2, 2)]
CHARTS = {
    "forest": (charts.forest, charts.forest_frame),
    "differences": (charts.differences, charts.differences_frame),
    "cost": (charts.cost, charts.cost_frame),
    "quantities": (charts.quantities, charts.quantities_frame),
    "exam-bound": (charts.exam, charts.exam_frame),
    "passes": (charts.passes, charts.passes_frame),
}
ORDERED = ("forest", "quantities", "passes")
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


def made(folder, n_rows, n_tasks, *, name=str, amounts=True):
    """Return a board of made-up rows that fall from good to bad, named against the alphabet."""
    draw = random.Random(n_rows)
    rows = []
    for k in range(n_rows):
        skill = 1 - k / max(n_rows, 2)
        tasks = {t: [_run(draw, skill, amounts and k % 3) for _ in range(3)] for t in range(1, n_tasks + 1)}
        model = name(f"model {n_rows - k:03d}")
        rows.append(record(f"res-2026-01-01-{n_rows - k:03d}", tasks, model=model))
    return board(read_records(write(folder, *rows)))


def _run(draw, skill, amount):
    return (2 if draw.random() < skill else draw.randrange(2), 2, {"amount": draw.random()} if amount else {})


def figure_of(name, found):
    """Make one of the charts a figure."""
    chart, frame = CHARTS[name]
    return charts.figure(chart(found), id=name, title="Title", caption="Caption", table=frame(found))


@pytest.fixture(scope="session")
def demo_board():
    """Return the board of the demo set with most in it."""
    return board(demo.record_set("bm-demo-ward", "1.1.0"))


@pytest.fixture(scope="session", params=[(1, 4), (2, 9), (13, 30), (38, 24), (100, 30)], ids=str)
def sized(request, tmp_path_factory):
    """Return boards of one row up to a hundred."""
    return made(tmp_path_factory.mktemp("rows"), *request.param)


def marks(spec, kind, name=None):
    """Return drawn items of a kind with their absolute place, from the scene graph."""
    found = []

    def walk(item, x, y):
        if item.get("marktype") == kind and item.get("role") == "mark":
            found.extend(
                {**part, "x": x + part.get("x", 0), "y": y + part.get("y", 0)} for part in item["items"]
            )
        elif item.get("marktype") == "group" or "items" in item:
            for part in item.get("items", ()):
                group = "marktype" not in part
                walk(part, x + part.get("x", 0) * group, y + part.get("y", 0) * group)

    walk(vl_convert.vegalite_to_scenegraph(spec)["scenegraph"], 0, 0)
    return found


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_every_chart_is_drawn_at_every_size(name, sized):
    """From one row to a hundred each chart has marks, alternative text and at most 10,000 rows of data."""
    made_figure = figure_of(name, sized)
    assert made_figure.n_marks > 0
    assert len(made_figure.alt) > 30
    assert "nan" not in made_figure.alt.lower()
    assert "None" not in made_figure.alt


@pytest.mark.parametrize("name", ORDERED)
def test_rows_stand_in_board_order(name, sized):
    """Read from the scene graph, names stand from top to bottom as the board has them."""
    texts = marks(figure_of(name, sized).spec, "text")
    shown = [display.text(label, 52) for label in names(sized)]
    drawn = [item for item in texts if item["text"] in set(shown)]
    assert [item["text"] for item in sorted(drawn, key=lambda item: item["y"])] == shown


def test_marks_of_the_forest_stand_beside_their_names(demo_board):
    """Each row's pass^3 is drawn at its value, on the line of its own name."""
    spec = figure_of("forest", demo_board).spec
    shown = [display.text(label, 52) for label in names(demo_board)]
    lines = {item["text"]: item["y"] for item in marks(spec, "text") if item["text"] in set(shown)}
    points = [item for item in marks(spec, "symbol") if item["fill"] == theme.VALUE]
    left = min(item["x"] for item in points)  # the demo's last row passes nothing: pass^3 of 0
    for row, name in zip(demo_board.rows, shown, strict=True):
        (point,) = [item for item in points if item["y"] == pytest.approx(lines[name], abs=0.01)]
        assert point["x"] - left == pytest.approx(400 * float(row.pass_pow_3), abs=0.01)


def test_group_bars_hold_exactly_the_members(sized):
    """The stretches of a group's bars cover its rows and no other, wherever cost moved them."""
    bars = group_frame(sized)
    covered = {}
    for bar in bars.to_dict("records"):
        covered.setdefault(bar["column"], []).extend(sized.order[bar["top"] - 1 : bar["bottom"]])
    assert [set(covered[k]) for k in range(len(sized.groups))] == [set(group) for group in sized.groups]
    assert [len(covered[k]) for k in range(len(sized.groups))] == [len(group) for group in sized.groups]


def test_darker_bars_are_the_groups_of_the_highest_row(demo_board):
    """Bars are marked where their group holds a row of rank 1, not where it holds the first line."""
    best = {row.id for row in demo_board.rows if row.rank == 1}
    bars = group_frame(demo_board).drop_duplicates("column")
    assert bars["leads"].tolist() == [bool(best & set(group)) for group in demo_board.groups]


def test_forest_says_who_leads(demo_board):
    """The alternative text names the row with the highest pass^3, its interval and the number of groups."""
    alternative = figure_of("forest", demo_board).alt
    best = next(row for row in demo_board.rows if row.rank == 1)
    assert display.text(best.label) in alternative
    assert display.interval(best.pass_pow_3.interval) in alternative
    assert f"{len(demo_board.groups)} groups" in alternative
    assert "not shown to differ" in alternative


def test_matrix_has_every_pair_as_the_board_has_it(demo_board):
    """Each pair once, the upper row first; where cost turned a pair round, every figure is turned with it."""
    frame = charts.differences_frame(demo_board)
    assert len(frame) == len(demo_board.pairs.pairs)
    assert (frame["upper_place"] < frame["lower_place"]).all()
    lines = {
        (demo_board.order[line["upper_place"] - 1], demo_board.order[line["lower_place"] - 1]): line
        for line in frame.to_dict("records")
    }
    turned = 0
    for pair in demo_board.pairs.pairs:
        straight = (pair.a, pair.b) in lines
        line = lines[(pair.a, pair.b) if straight else (pair.b, pair.a)]
        sign = 1 if straight else -1
        turned += not straight
        assert line["difference"] == pytest.approx(sign * float(pair.difference))
        counts = (pair.b_count, pair.c_count)
        assert (line["b_count"], line["c_count"]) == counts[::sign]
        if pair.interval:
            bounds = sorted((sign * pair.interval.low, sign * pair.interval.high))
            assert [line["low"], line["high"]] == bounds
        assert line["differs"] == pair.differs
    assert turned  # the demo's cost order moves a row past one with a higher pass^3


def test_tiles_of_pairs_shown_to_differ_are_larger(demo_board):
    """The verdict is in the size of a tile, not in its colour alone."""
    tiles = marks(figure_of("differences", demo_board).spec, "symbol")
    sizes = sorted({item["size"] for item in tiles})
    assert len(sizes) == 2
    assert sum(item["size"] == sizes[1] for item in tiles) == len(demo_board.pairs.differing)
    assert sum(item["size"] == sizes[0] for item in tiles) == len(demo_board.pairs.pairs) - len(
        demo_board.pairs.differing
    )


def test_too_many_pairs_become_counts(tmp_path):
    """A board with more pairs than a page should draw counts, for each row, the rows that differ from it."""
    rows = [
        record(f"res-2026-01-01-{k:03d}", {t: PASS if (t > 30) == (k < 40) else FAIL for t in range(1, 61)})
        for k in range(111)
    ]
    found = board(read_records(write(tmp_path, *rows)))
    assert len(found.pairs.pairs) > MAX_PAIRS
    drawn = figure_of("differences", found)
    bars = [item for item in marks(drawn.spec, "rect") if item.get("fill") in theme.DIVERGING]
    assert len(bars) == 3 * len(found.rows)
    assert "too many tiles" in charts.differences_caption(found)
    assert len(drawn.table) == len(found.pairs.pairs)
    ends = drawn.spec["datasets"][drawn.spec["hconcat"][1]["data"]["name"]]
    for place, row in enumerate(found.order, 1):
        counts = {line["verdict"]: line["n_rows"] for line in ends if line["place"] == place}
        ahead = [p for p in found.pairs.pairs if p.differs and row == (p.a if p.difference > 0 else p.b)]
        differing = [p for p in found.pairs.pairs if p.differs and row in (p.a, p.b)]
        assert counts["shown to be behind it"] == len(ahead)
        assert counts["shown to be ahead of it"] == len(differing) - len(ahead)
        assert sum(counts.values()) == len(found.rows) - 1


@given(st.fractions(-1, 1))
def test_every_difference_has_one_colour(difference):
    """Steps cover all differences, ends belong to the lower step, and there is a colour for each."""
    assert len(STEPS) == len(theme.DIVERGING)
    words = next(words for end, words in STEPS if difference <= end)
    low, _, high = words.replace("−", "-").replace("below", "-100 to").replace("above", "").partition(" to ")
    low, high = (int(low), int(high)) if high else (int(low), 100)
    assert Fraction(low, 100) <= difference <= Fraction(high, 100)


def test_the_caption_says_what_decides_where_interval_and_test_disagree(demo_board):
    """An interval of one pair may leave out 0 where Holm over all pairs shows no difference (decision 18)."""
    frame = charts.differences_frame(demo_board)
    assert ((frame["low"] > 0) & ~frame["differs"]).any()
    assert "interval is of each pair alone" in charts.differences_caption(demo_board)


def test_cost_takes_one_currency_and_names_the_others(demo_board):
    """Only rows of the most common price table are drawn; the caption says which are not, and why."""
    frame = charts.cost_frame(demo_board)
    drawn = frame[frame["drawn"]]
    assert drawn[["currency", "price_table"]].drop_duplicates().shape[0] == 1
    caption = charts.cost_caption(demo_board)
    for line in frame[~frame["drawn"]].to_dict("records"):
        assert line["subject"] in caption
    assert "amount not applicable" in caption
    assert "USD" in caption
    assert len(marks(figure_of("cost", demo_board).spec, "symbol")) == len(drawn)


def test_a_free_subject_is_drawn(tmp_path):
    """A cost of exactly 0 is a cost: its row is drawn and not named among those left out."""
    free = {"amount_applicable": True, "amount": 0, "currency": "EUR", "price_table_version": "p"}
    rows = [
        record(
            f"res-2026-01-01-{name}",
            {1: [(1, 1, {"amount": 0})] * 3, 2: [(0, 1, {"amount": 0})] * 3},
            model=name,
            cost=free,
        )
        for name in "ab"
    ]
    found = board(read_records(write(tmp_path, *rows)))
    assert charts.cost_frame(found)["drawn"].all()
    assert "Not drawn" not in charts.cost_caption(found)
    assert len(marks(figure_of("cost", found).spec, "symbol")) == 2


def test_cost_without_any_amount_says_so(tmp_path):
    """A board without amounts has a chart that says why it is empty."""
    found = made(tmp_path, 3, 4, amounts=False)
    (item,) = marks(figure_of("cost", found).spec, "text")
    assert "amount not applicable" in item["text"]


def test_cost_of_rows_without_a_success_is_not_called_not_applicable(tmp_path):
    """Amounts without any passing run are "not_available", another reason than no amounts (decision 6)."""
    billed = {"amount_applicable": True, "amount": 3, "currency": "EUR", "price_table_version": "p"}
    failed = {1: [(0, 1, {"amount": 1})] * 3}
    rows = [record(f"res-2026-01-01-{name}", failed, model=name, cost=billed) for name in "ab"]
    found = board(read_records(write(tmp_path, *rows)))
    (item,) = marks(figure_of("cost", found).spec, "text")
    assert item["text"] == "no row has a cost per success: not available: no task with a passing run"


def test_quantities_write_that_an_interval_is_not_estimable(tmp_path):
    """A row whose tasks are all equal shows words instead of an interval without width."""
    rows = [
        record("res-2026-01-01-a", dict.fromkeys(range(1, 5), PASS)),
        record("res-2026-01-01-b", {1: PASS, 2: FAIL, 3: SOMETIMES, 4: FAIL}),
    ]
    found = board(read_records(write(tmp_path, *rows)))
    drawn = figure_of("quantities", found)
    words = [item for item in marks(drawn.spec, "text") if item["text"] == "interval not estimable"]
    assert len(words) == 2  # task pass rate and continuous score of the first row
    assert "2 intervals not estimable" in drawn.alt
    missing = drawn.table[drawn.table["low"].isna()]
    assert set(missing["quantity"]) == {"task pass rate", "continuous score"}


def test_quantities_are_those_of_the_board(demo_board):
    """Every value and bound of the chart is the board's own."""
    frame = charts.quantities_frame(demo_board)
    assert len(frame) == 4 * len(demo_board.rows)
    for row in demo_board.rows:
        part = frame[frame["subject"] == display.text(row.label)].set_index("quantity")
        assert part.loc["task pass rate", "value"] == float(row.task_pass_rate)
        assert part.loc["pass^3", "low"] == row.pass_pow_3.interval.low
        if row.continuous_score.interval:
            assert part.loc["continuous score", "high"] == row.continuous_score.interval.high


def test_thresholds_are_the_fewest_tasks_that_reach_them(demo_board):
    """0.80, 0.90, 0.95 and 0.99 need 14, 29, 59 and 299 tasks (methodology, "The exam and its bound")."""
    frame = charts.exam_frame(demo_board)
    marked = frame[frame["kind"] == "threshold"]
    assert list(marked["n_tasks"]) == [14, 29, 59, 299]
    for claim, n in zip((0.80, 0.90, 0.95, 0.99), marked["n_tasks"], strict=True):
        assert exam_bound(n - 1) < claim <= exam_bound(n)


def test_exam_marks_this_board(demo_board):
    """The board's number of tasks is a point of the chart and a number of its words."""
    frame = charts.exam_frame(demo_board)
    (here,) = frame[frame["kind"] == "this board"].to_dict("records")
    assert here["n_tasks"] == demo_board.n_tasks
    assert here["bound"] == exam_bound(demo_board.n_tasks)
    assert f"{demo_board.n_tasks} tasks" in figure_of("exam-bound", demo_board).alt


def test_heat_map_has_a_cell_a_task_and_row(demo_board):
    """Cells are the outcomes: rows in board order, tasks by falling total and then by key."""
    drawn = figure_of("passes", demo_board)
    cells = [item for item in marks(drawn.spec, "rect") if item["fill"] in theme.STEPS]
    assert len(cells) == demo_board.n_tasks * len(demo_board.rows)
    totals = drawn.table.drop(columns="task").sum(axis=1).tolist()
    assert all(
        one > other or (one == other and a < b)
        for (one, a), (other, b) in pairwise(zip(totals, drawn.table["task"], strict=True))
    )
    outcomes = demo_board.outcomes
    for row in demo_board.rows:
        column = dict(zip(outcomes.tasks, outcomes.passes[:, outcomes.rows.index(row.id)], strict=True))
        assert drawn.table[row.label].tolist() == [column[task] for task in drawn.table["task"]]


def test_too_many_cells_become_shares(tmp_path):
    """A board with more cells than a page should draw shows each row's tasks by passing runs instead."""
    found = made(tmp_path, 61, 100, amounts=False)
    assert found.n_tasks * len(found.rows) > MAX_CELLS
    drawn = figure_of("passes", found)
    bars = [item for item in marks(drawn.spec, "rect") if item["fill"] in theme.STEPS]
    assert len(bars) == 4 * len(found.rows)
    assert "too many cells" in charts.passes_caption(found)
    assert drawn.table.shape == (found.n_tasks, 1 + len(found.rows))


# ---- figures ----


def small_chart(**changes):
    """Return a chart of two points."""
    data = pd.DataFrame({"length": [1, 2], "share": [0.5, 0.25]})
    return (
        alt.Chart(data, description="Two points.", **changes).mark_point().encode(x="length:Q", y="share:Q")
    )


def made_figure(chart=None, **changes):
    """Return a figure of a chart, all words there."""
    words = {"id": "two-points", "title": "Two points", "caption": "One a value.", "table": pd.DataFrame()}
    return charts.figure(small_chart() if chart is None else chart, **(words | changes))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: made_figure(title=" "), "title is missing"),
        (lambda: made_figure(caption=""), "caption is missing"),
        (lambda: made_figure(small_chart().properties(description="")), "alternative text is missing"),
        (
            lambda: made_figure(alt.Chart(pd.DataFrame({"x": [1]})).mark_point().encode(x="x:Q")),
            "alternative",
        ),
        (lambda: made_figure(id="../etc"), "'../etc'"),
        (lambda: made_figure(id="Two Points"), "lower-case words"),
        (lambda: made_figure(provenance="guessed"), "'guessed'"),
        (lambda: made_figure(small_chart().encode(x="lenght:Q")), "no field 'lenght'; did you mean 'length'"),
        (lambda: made_figure(small_chart().transform_filter("datum.share > 9")), "nothing is drawn"),
        (lambda: made_figure(small_chart().properties(data="https://example.org/x.csv")), "url refers to"),
        (lambda: made_figure(small_chart().encode(href="share:N")), "href refers to"),
        (lambda: made_figure(small_chart().mark_image(url="https://example.org/x.png")), "url refers to"),
        (
            lambda: made_figure(
                small_chart().properties(data=pd.DataFrame({"length": range(10_001), "share": 1}))
            ),
            "10,001 rows of data are more than the 10,000",
        ),
    ],
)
def test_misleading_figures_are_refused(make, message):
    """No words, no marks, a misspelt field, data from elsewhere or too many rows: each says what is wrong."""
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


def test_figure_is_shown_by_any_front_end(demo_board):
    """The bundle is valid in a notebook and holds specification, table, words, drawing and picture."""
    drawn = figure_of("forest", demo_board)
    bundle = drawn._repr_mimebundle_()
    output = nbformat.v4.new_output("display_data", data=bundle)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=[output])])
    nbformat.validate(notebook)
    json.dumps(bundle, allow_nan=False)
    assert set(bundle) == {VEGA_LITE, TABLE, FIGURE, "image/svg+xml", "image/png", "text/plain"}
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert bundle["text/plain"] == drawn.alt == bundle[FIGURE]["alt"]
    assert bundle[VEGA_LITE]["usermeta"] == {"medgauge": bundle[FIGURE]}
    assert bundle[FIGURE]["provenance"] == "recomputed"


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_figures_are_the_same_every_time(name, demo_board):
    """Two makings give the same specification, drawing and table."""
    one, other = figure_of(name, demo_board), figure_of(name, demo_board)
    assert json.dumps(one.spec) == json.dumps(other.spec)
    assert table_json(one.table) == table_json(other.table)
    strip = re.compile(r"(clip|gradient_)\d+")
    assert strip.sub("", one.svg) == strip.sub("", other.svg)


def test_making_a_figure_leaves_altair_as_it_was(demo_board):
    """Neither the theme nor the row limit of someone else's charts changes, and no data stay behind."""

    def current():
        data = alt.data_transformers
        return alt.theme.active, data.active, dict(data.options), data.names()

    before = current()
    figure_of("cost", demo_board)
    assert current() == before


@pytest.mark.parametrize(
    "channel",
    [
        lambda: alt.X("n:N", sort="upwards"),
        lambda: alt.X("n:Q", stack="nonsense"),
        lambda: alt.X("n:Q", scale={"typ": "log"}),
    ],
)
def test_an_encoding_that_vega_lite_does_not_know_is_refused(channel):
    """Vega would pass over it in silence, and Altair looks at an encoding in its chart alone."""
    data = pd.DataFrame({"n": [1, 2], "share": [0.5, 0.25]})
    chart = alt.Chart(data, description="Two points.").mark_point().encode(x=channel(), y="share:Q")
    with pytest.raises(SchemaValidationError):
        made_figure(chart)


def test_layers_that_come_and_go_keep_their_own_data():
    """Each table is written once, and no layer gets the data of another: layers and data are Altair's own."""
    frames = [pd.DataFrame({"n": [k, k + 1], "share": [k / 10, 0.5]}) for k in (1, 2, 1)]
    parts = [alt.Chart(frame).mark_point().encode(x="n:Q", y="share:Q") for frame in (*frames, frames[0])]
    parts += [part.mark_line().properties(data=frames[k].copy()) for k, part in enumerate(parts[:3])]
    chart = alt.layer(*parts).properties(description="Several layers.")
    made = made_figure(chart).spec
    own = chart.to_dict()
    assert {name: made[name] for name in ("layer", "datasets")} == {
        name: own[name] for name in ("layer", "datasets")
    }
    assert len(made["datasets"]) == 2


def test_charts_join_with_others(demo_board):
    """A chart carries no configuration of its own, so that it can stand beside another one."""
    both = charts.forest(demo_board) | charts.differences(demo_board)
    both = both.properties(description="Forest and matrix side by side.")
    assert made_figure(both).n_marks > figure_of("forest", demo_board).n_marks


def test_missing_values_of_a_table_are_null():
    """Table data are plain values, not rounded, null where a figure is absent."""
    frame = pd.DataFrame({"a": [0.1 + 0.2, float("nan")], "b": [True, False], "c": [None, "x"], "d": [1, 2]})
    assert table_json(frame) == {
        "columns": ["a", "b", "c", "d"],
        "rows": [[0.1 + 0.2, True, None, 1], [None, False, "x", 2]],
    }


# ---- colours ----


def luminance(colour):
    """Return the relative luminance of WCAG 2.2."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    """Return the contrast ratio of WCAG 2.2."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_colours_are_legible(dark):
    """Text has 4.5:1 and the marks that carry figures 3:1 against the page, light and dark (WCAG 2.2 AA)."""
    shown = theme.DARK if dark else {colour: colour for colour in theme.DARK}
    page = shown[theme.PAGE]
    assert all(contrast(shown[colour], page) >= 4.5 for colour in (theme.INK, theme.MUTED, theme.GROUP))
    assert all(contrast(shown[colour], page) >= 3 for colour in (theme.VALUE, theme.GROUP))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_steps_of_passes_are_told_apart_without_hue(dark):
    """None to three passing runs go one way from light to dark, so that a grey print still reads."""
    steps = [luminance(theme.DARK[colour] if dark else colour) for colour in theme.STEPS]
    assert steps in (sorted(steps), sorted(steps, reverse=True))
    assert all(abs(one - other) > 0.04 for one, other in pairwise(steps))


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_charts_draw_in_the_theme_alone(name, demo_board):
    """Every colour has a twin for a dark page, and no chart paints a background."""
    svg = figure_of(name, demo_board).svg
    used = set(re.findall(r'(?:fill|stroke)="([^"]+)"', svg)) - {"none", "transparent"}
    assert used <= set(theme.DARK)
    rules = theme.stylesheet("figure svg")
    assert all(f'[fill="{colour}"] {{ fill: {theme.DARK[colour]}; }}' in rules for colour in used)


# ---- tables ----


class Markup(HTMLParser):
    """Collects elements, attributes and text of a page."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.attributes, self.text = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        """Keep an element and its attributes."""
        self.elements.append(tag)
        self.attributes.extend(attrs)

    def handle_data(self, data):
        """Keep a piece of text."""
        self.text.append(data)


def test_board_table_shows_every_row_with_its_groups(demo_board):
    """One row header a row in board order, and one piece of bar for each letter it carries."""
    table = charts.board_table(demo_board)
    headers = re.findall(r'<th scope="row">(.*?)</th>', table.html)
    assert [row.model in header for row, header in zip(demo_board.rows, headers, strict=True)] == [
        True
    ] * len(headers)
    rows = re.findall(r"<tr\b[^>]*>(.*?)</tr>", table.html, flags=re.DOTALL)[1:]
    assert [row.count("<rect") for row in rows] == [len(row.letters) for row in demo_board.rows]
    assert table.html.count('class="mg-mark"') == sum(row.tallies.n_vetoed > 0 for row in demo_board.rows)


def test_board_table_shows_each_figure(demo_board):
    """Value and interval of every quantity, cost, instability, exam and bound stand in their row."""
    table = charts.board_table(demo_board)
    rows = re.findall(r"<tr\b[^>]*>(.*?)</tr>", table.html, flags=re.DOTALL)[1:]
    for row, cells in zip(demo_board.rows, rows, strict=True):
        for quantity in (row.pass_pow_3, row.pass_at_3, row.task_pass_rate, row.continuous_score):
            assert f"<td>{display.percent(quantity.value, unit=False)}<small" in cells
            if isinstance(quantity.interval, Absent):
                assert f'<small title="{display.absent(quantity.interval)}">not estimable</small>' in cells
            else:
                assert f"<small>{display.interval(quantity.interval, unit=False)}</small>" in cells
        assert display.cost(row) in cells
        assert f"<td>{display.rank(row)}</td>" in cells
        if row.exam.passed:
            assert f"at least {display.bound(row.exam.claimable_lower_bound)}" in cells
    assert "NaN" not in table.html
    assert "None" not in table.html


def test_veto_columns_are_the_categories_that_occur(tmp_path):
    """A category nobody hit has no column; the total always has one."""
    hit = {"veto_categories": ["unsafe_advice"]}
    rows = [
        record("res-2026-01-01-a", {1: [(2, 2), (2, 2), (2, 2, hit)], 2: PASS}),
        record("res-2026-01-01-b", {1: PASS, 2: FAIL}),
    ]
    html = charts.board_table(board(read_records(write(tmp_path, *rows)))).html
    assert "Vetoed runs" in html
    assert "unsafe advice" in html
    assert "altered input" not in html


def test_letters_are_carried_by_bars(tmp_path):
    """However many letters a row has, bars show them, and who listens hears them."""
    found = board(read_records(write(tmp_path, *_ladder())))
    html = charts.board_table(found).html
    for row in found.rows:
        assert f'<span class="mg-sr">{" ".join(row.letters)}</span>' in html
    assert max(len(row.letters) for row in found.rows) > 3


def _ladder():
    """Rows that each pass one task more than the next, so that groups overlap many times."""
    return [
        record(f"res-2026-01-01-{k:02d}", {t: PASS if t > k else FAIL for t in range(1, 41)})
        for k in range(20)
    ]


def test_community_records_are_listed_apart(tmp_path, demo_board):
    """Unverified records have a table without rank or groups; where there is none a sentence says so."""
    table = charts.community_table(demo_board)
    assert "Rank" not in table.html
    assert {row.id for row in demo_board.unranked} == set(table.table["id"])
    assert not set(charts.board_table(demo_board).table["id"]) & set(table.table["id"])
    none = board(read_records(write(tmp_path, record())))
    assert "verified by the site" in str(charts.community_table(none))


def test_table_data_are_those_of_the_board(demo_board):
    """The data behind the table are the board's own, ranks as whole numbers."""
    data = charts.board_table(demo_board)._repr_mimebundle_()[TABLE]
    ids = [line[data["columns"].index("id")] for line in data["rows"]]
    assert ids == list(demo_board.order)
    ranks = [line[data["columns"].index("rank")] for line in data["rows"]]
    assert ranks == [row.rank for row in demo_board.rows]
    assert all(isinstance(rank, int) for rank in ranks)


def test_bca_inputs_are_those_of_the_intervals(demo_board):
    """z0 and a are shown for every BCa interval, and a reason where there is none."""
    table = charts.bca_table(demo_board)
    assert len(table.table) == 2 * len(demo_board.rows)
    for line in table.table.to_dict("records"):
        row = next(row for row in demo_board.rows if row.label == line["subject"])
        quantity = line["quantity"].replace(" ", "_")
        bounds = getattr(row, quantity).interval
        if isinstance(bounds, Absent):
            assert line["note"].startswith("not estimable")
        else:
            assert (line["z0"], line["a"]) == (bounds.bias, bounds.acceleration)
    assert "nan" not in table.html.lower()


def test_bias_has_the_sign_of_the_resamples_below_less_those_above(demo_board):
    """z0 is 0 where as many resamples lie below the estimate as above it, as the caption says."""
    rates = values(demo_board.outcomes, "task_pass_rate")
    sums = resampled_sums(rates.x, seed=demo_board.seed)
    for row, x, resamples in zip(rates.rows, rates.x.T, sums, strict=True):
        interval = demo_board.row(row).task_pass_rate.interval
        if not isinstance(interval, Absent):
            below, above = (resamples < x.sum()).sum(), (resamples > x.sum()).sum()
            assert np.sign(interval.bias) == np.sign(int(below) - int(above))
    assert (
        "0 where as many resamples lie below the estimate as above it" in charts.bca_table(demo_board).caption
    )


def test_sensitivity_counts_agree_with_the_comparisons(demo_board):
    """Pairs shown to differ are counted as sets against those of pass^3."""
    views = [
        compare(values(demo_board.outcomes, quantity), ranked=demo_board.order)
        for quantity in ("task_pass_rate", "continuous_score")
    ]
    lines = charts.sensitivity_table(demo_board, views).table.set_index("quantity")
    base = demo_board.pairs.differing
    for name, view in zip(("task pass rate", "continuous score"), views, strict=True):
        line = lines.loc[name]
        assert line["n_differ"] == sum(pair.differs for pair in view.pairs)
        assert line["also_in_pass_pow_3"] + line["only_here"] == line["n_differ"]
        assert line["also_in_pass_pow_3"] + line["only_in_pass_pow_3"] == len(base)


# ---- words ----


def test_words_say_what_a_board_cannot_tell(tmp_path):
    """Few tasks and some rows: no pair can be shown to differ, and the words say so."""
    found = made(tmp_path, 6, 5)
    assert "cannot show any two rows to differ" in str(charts.resolution_words(found))


def test_words_say_the_resolution_of_38_rows(tmp_path):
    """38 rows, 703 pairs: 15 tasks, all one way (statistics, "Pairs")."""
    found = made(tmp_path, 38, 24)
    expected = (
        "With 38 rows (703 pairs) 15 tasks that all go one way are always enough to show a difference, and"
    )
    words = str(charts.resolution_words(found))
    assert words.startswith(expected)
    # Holm's last step takes one pair at 0.05: 6 tasks all one way, far fewer than 15.
    assert "once some are, the others need less" in words
    assert "others" not in str(charts.resolution_words(made(tmp_path / "two", 2, 24)))


def test_equal_rows_lead_together(tmp_path):
    """Rows with the same highest pass^3 share the lead; if all have it, none leads."""
    same = {1: PASS, 2: PASS, 3: FAIL}
    rows = [record(f"res-2026-01-01-{k}", same) for k in "ab"]
    assert "none leads" in str(charts.board_sentences(board(read_records(write(tmp_path / "all", *rows)))))
    rows.append(record("res-2026-01-01-c", dict.fromkeys(range(1, 4), FAIL)))
    words = str(charts.board_sentences(board(read_records(write(tmp_path / "two", *rows)))))
    assert "share the highest pass^3" in words


def test_one_pair_that_is_not_shown_to_differ_is_told_as_one(tmp_path):
    """The only pair of a board, with one task each way, is not shown to differ, and not called equal."""
    rows = [
        record("res-2026-01-01-a", {1: PASS, 2: FAIL}, model="a"),
        record("res-2026-01-01-b", {1: FAIL, 2: PASS}, model="b"),
    ]
    words = str(charts.board_sentences(board(read_records(write(tmp_path, *rows)))))
    assert "No pair of rows is shown to differ" in words
    assert "which does not mean equal. Rows fall into 1 group." in words


def test_not_shown_to_differ_is_never_called_equal(demo_board):
    """The words keep apart what was not shown and what was shown to be the same."""
    words = str(charts.board_sentences(demo_board))
    assert "not shown to differ" in words
    assert "does not mean equal" in words
    assert "no difference" not in words


def test_each_figure_of_the_quantities_is_drawn_once(sized):
    """A panel has its own quantity and no other: a point a row, and an interval with its ends where it is."""
    drawn, frame = figure_of("quantities", sized).spec, charts.quantities_frame(sized)
    bands = [mark for mark in marks(drawn, "rect") if mark.get("width") == 165]
    starts = dict(zip(dict.fromkeys(frame["quantity"]), sorted({mark["x"] for mark in bands}), strict=True))
    middle = dict(zip(sized.order, sorted({mark["y"] for mark in marks(drawn, "symbol")}), strict=True))
    rows = {display.text(row.label): row.id for row in sized.rows}

    def at(mark):
        return round(mark["x"], 3), round(mark["y"], 3)

    def drawn_at(column, part):
        return sorted(
            (
                round(starts[line["quantity"]] + 165 * line[column], 3),
                round(middle[rows[line["subject"]]], 3),
            )
            for line in part.to_dict("records")
        )

    known = frame[frame["low"].notna()]
    spreads = marks(drawn, "rule")
    assert sorted(map(at, marks(drawn, "symbol"))) == drawn_at("value", frame)
    assert sorted(map(at, spreads)) == drawn_at("low", known)
    assert sorted(round(mark["x2"], 3) for mark in spreads) == sorted(round(165 * known["high"], 3))
    ticks = [
        {**mark, "x": mark["x"] + mark["width"] / 2} for mark in marks(drawn, "rect") if mark["width"] < 2
    ]
    centred = [{**mark, "y": mark["y"] + mark["height"] / 2} for mark in ticks]
    assert sorted(map(at, centred)) == sorted([*drawn_at("low", known), *drawn_at("high", known)])
    assert len(bands) == 4 * -(-len(rows) // 2)


# ---- untrusted names ----


WIDE = {"医疗智能体模型" * 3: 11.0, "MEDGEMMA-27B-MULTIMODAL-INSTRUCT": 7.0, "W" * 30: 10.3, "%@" * 15: 10.4}
"""Names, and pixels that a character of theirs takes on average at a size of 11; ideographs fill a square."""


@pytest.mark.parametrize("name", ORDERED)
@pytest.mark.parametrize("model", WIDE)
def test_wide_names_have_room(name, model, tmp_path):
    """Names of wide letters and ideographs end before the ranks at their left."""
    rows = [record(f"res-2026-01-01-{k}", {1: PASS, 2: FAIL}, model=f"{model}{k}") for k in range(2)]
    texts = marks(figure_of(name, board(read_records(write(tmp_path, *rows)))).spec, "text")
    ranks = [item for item in texts if item["text"] in ("1", "1=")]
    named = [item for item in texts if model[:9] in item["text"]]
    assert len(named) == len(ranks) == 2
    for item in named:
        rest = len(item["text"]) - len(model)
        assert item["x"] - WIDE[model] * len(model) - 5.5 * rest > ranks[0]["x"]


def test_a_sign_that_does_not_print_is_seen_on_the_board(tmp_path):
    """Names that differ by a sign without width differ for a reader too, in tables as in charts."""
    rows = [
        record(f"res-2026-01-01-{k}", {1: PASS}, model=f"m{sign}x") for k, sign in enumerate(("", "\u200b"))
    ]
    found = board(read_records(write(tmp_path, *rows)))
    html = charts.board_table(found).html
    assert "m\\u200bx" in html
    assert "\u200b" not in html


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Return a board whose names try to become expressions, markup or addresses."""
    tasks = [{1: PASS, 2: SOMETIMES, 3: FAIL}, {1: FAIL, 2: PASS, 3: FAIL}]
    amount = {"amount_applicable": False}
    rows = [
        record(f"res-2026-01-01-{k}", tasks[k % 2], model=f"INJECT{name}", cost=amount)
        for k, name in enumerate(HOSTILE)
    ]
    rows.append(community("res-2026-01-01-zz", tasks[0], model=f"INJECT{HOSTILE[3]}"))
    return board(read_records(write(tmp_path_factory.mktemp("hostile"), *rows)))


def _code(part):
    """Every string of a compiled specification that Vega reads as an expression or an address."""
    if isinstance(part, dict):
        for name, inner in part.items():
            if isinstance(inner, str) and name in {"signal", "expr", "test", "update", "init", "url", "href"}:
                yield inner
            elif name != "values":
                yield from _code(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _code(inner)


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_names_never_become_expressions(name, hostile):
    """Whatever a record is called, its name is data: no expression of the compiled chart contains it."""
    drawn = figure_of(name, hostile)
    compiled = vl_convert.vegalite_to_vega(drawn.spec)
    assert not [code for code in _code(compiled) if "INJECT" in code or "alert" in code]
    assert not set(Markup(drawn.svg).elements) & {"script", "img", "image", "a", "foreignobject"}
    if name in ORDERED:
        shown = {display.text(label, 52) for label in names(hostile)}
        assert shown <= {item["text"] for item in marks(drawn.spec, "text")}


def test_names_never_become_markup(hostile):
    """Tables and sentences hold every name as text: no element, handler or style comes from one."""
    views = [compare(values(hostile.outcomes, "task_pass_rate"), ranked=hostile.order)]
    for shown in (
        charts.board_table(hostile),
        charts.community_table(hostile),
        charts.bca_table(hostile),
        charts.sensitivity_table(hostile, views),
        charts.board_sentences(hostile),
    ):
        markup = Markup(shown._repr_mimebundle_()["text/html"])
        assert not set(markup.elements) & {"script", "img", "a", "iframe", "object"}
        assert not [
            name for name, _ in markup.attributes if name.startswith("on") or name in {"href", "style"}
        ]
        assert not [value for _, value in markup.attributes if value and "INJECT" in value]
    text = "".join(Markup(charts.board_table(hostile).html).text)
    assert all(display.text(row.model) in text for row in hostile.rows)


@settings(max_examples=15, deadline=None)
@given(name=st.text(min_size=1, max_size=60))
def test_any_name_can_be_drawn(name, tmp_path_factory):
    """No text in a name breaks a chart or a table, and the chart shows it cut to one line."""
    clean = name.encode("utf-8", "ignore").decode()
    folder = tmp_path_factory.mktemp("name")
    found = board(
        read_records(write(folder, record(model=clean or "x"), record("res-2026-01-01-b", model="other")))
    )
    drawn = figure_of("forest", found)
    texts = {item["text"] for item in marks(drawn.spec, "text")}
    assert {display.text(label, 52) for label in names(found)} <= texts
    assert charts.board_table(found).html.count('<th scope="row">') == 2


@pytest.mark.parametrize("n_rows", [12, 100])
def test_no_label_of_the_cost_chart_covers_another(n_rows, demo_board, tmp_path):
    """As drawn, no label lies over another or a point, however many rows; each is a rank or a name."""
    found = demo_board if n_rows == 12 else made(tmp_path, n_rows, 30)
    spec = charts.cost(found).to_dict()
    labels = [item for item in marks(spec, "text") if item["text"]]
    assert 2 < len(labels) <= n_rows
    known = {
        words
        for line in charts.cost_frame(found).to_dict("records")
        for words in (line["name"], line["rank"])
    }
    assert {item["text"] for item in labels} <= known
    points = [(item["x"] - 4, item["x"] + 4, item["y"] - 4, item["y"] + 4) for item in marks(spec, "symbol")]
    assert len(points) == charts.cost_frame(found)["drawn"].sum()
    boxes = []
    for item in labels:
        x, y, width = item["x"] + item["dx"], item["y"] + item["dy"], 5.6 * len(item["text"])
        left = x - width if item.get("align") == "right" else x
        boxes.append((left, left + width, y - 8, y + 3))
    for (a, b, c, d), (e, f, g, h) in [
        *itertools.combinations(boxes, 2),
        *itertools.product(boxes, points),
    ]:
        assert not (a < f and e < b and c < h and g < d)


def test_one_row_has_no_pairs_and_says_so(tmp_path):
    """The chart of every pair of a board of one row is a line of words, and its caption says why."""
    found = made(tmp_path, 1, 4)
    drawn = figure_of("differences", found)
    assert [item["text"] for item in marks(drawn.spec, "text")] == ["one row: there is no pair to compare"]
    assert charts.differences_caption(found) == "A pair takes two rows."
    assert drawn.table.empty
