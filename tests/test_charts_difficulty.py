"""The page on difficulty: strata against a second computation, what rises, and what stays closed."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import by_definition
import pytest
from demo_pages import LAB, WARD, changed, column, labels_file, raw, raw_labels, tables, tags
from make_records import record, write
from markupsafe import escape
from test_charts_dimensions import HOSTILE, by_row

from medgauge_lib import charts, demo
from medgauge_lib.board import board
from medgauge_lib.charts import display
from medgauge_lib.charts.words import Sentences
from medgauge_lib.difficulty import difficulty
from medgauge_lib.labels import read_labels
from medgauge_lib.records import read_records

CLASSES = (1, 2, 3, 4)


def page(benchmark, folder=None, *, publish="public"):
    """Return board and strata of a demo board, with its labels where there is a folder to write them to."""
    records = demo.record_set(*benchmark)
    found = board(records)
    labels = read_labels(labels_file(folder, *benchmark)) if folder else None
    return found, difficulty(records, found, labels, publish=publish)


def class_of(label):
    """Return the class of a task from its entry in the file of labels."""
    return label["difficulty"] if isinstance(label, dict) else label


def live_tasks(benchmark):
    """Return each record with its live holdout tasks."""
    records = raw(*benchmark)
    void = by_definition.void_tasks([one for one in records if one["verified_by_site"]])
    return [(one, by_definition.tasks_of(one, "holdout", void)) for one in records]


def test_strata_are_those_of_runs_and_labels(tmp_path):
    """Every cell of pass^3 by class is a plain count over the runs, with its interval by bisection."""
    found, strata = page(WARD, tmp_path, publish="internal")
    html = charts.strata_table(strata, found, "pass_pow_3").html
    labels = raw_labels(*WARD)
    for one, tasks in live_tasks(WARD):
        for number in CLASSES:
            own = [task for task in tasks if class_of(labels[task["task_key"]]) == number]
            passed = sum(by_definition.task_value(task, "pass_pow_3") for task in own)
            cell = by_row(column(html, f"class {number}"), one)
            assert float(cell.attributes["data-sort"]) == float(Fraction(passed, len(own)))
            low, high = by_definition.clopper_pearson(int(passed), len(own), 0.05)
            written = [
                float(part) / 100 for part in cell.text.split(" % ")[1].removesuffix(" %").split(" to ")
            ]
            assert low - 0.0011 < written[0] <= low + 1e-9
            assert high - 1e-9 <= written[1] < high + 0.0011


def test_task_pass_rate_by_class_has_its_bca_interval(tmp_path):
    """A cell of the task pass rate has the BCa interval of the class by definition, resample by resample."""
    found, strata = page(LAB, tmp_path, publish="internal")
    html = charts.strata_table(strata, found, "task_pass_rate").html
    labels = raw_labels(*LAB)
    one, tasks = live_tasks(LAB)[1]
    own = [task for task in tasks if class_of(labels.get(task["task_key"])) == 2]
    numbers = [by_definition.task_value(task, "task_pass_rate") for task in own]
    low, high = by_definition.bca(numbers, by_definition.philox(found.seed, 10_000 * len(own)))
    written = by_row(column(html, "class 2"), one).text.split(" % ")[1].removesuffix(" %").split(" to ")
    assert low - 0.0011 < float(written[0]) / 100 <= low + 1e-9
    assert high - 1e-9 <= float(written[1]) / 100 < high + 0.0011


def test_arrows_are_where_a_harder_class_is_higher(tmp_path):
    """An arrow stands at exactly the classes whose pass^3 is above the next easier one's."""
    found, strata = page(WARD, tmp_path)
    html = charts.strata_table(strata, found, "pass_pow_3").html
    labels = raw_labels(*WARD)
    expected, marked = set(), set()
    for one, tasks in live_tasks(WARD):
        shares = []
        for number in CLASSES:
            own = [task for task in tasks if class_of(labels[task["task_key"]]) == number]
            shares.append(by_definition.mean([by_definition.task_value(task, "pass_pow_3") for task in own]))
            if "↑" in by_row(column(html, f"class {number}"), one).text:
                marked.add((one["id"], number))
        expected |= {(one["id"], number) for number in (2, 3, 4) if shares[number - 1] > shares[number - 2]}
    assert marked == expected
    table = charts.rises_table(strata).table
    assert set(zip(table["id"], table["harder"], strict=True)) == expected
    assert expected


def test_classes_are_never_averaged(tmp_path):
    """No column of the page is over several classes: four panels a quantity, and none besides."""
    found, strata = page(WARD, tmp_path)
    for quantity in ("pass_pow_3", "task_pass_rate"):
        made = charts.strata_table(strata, found, quantity)
        heads = [cell.text[:7] for table in tables(made.html) for cell in table[0][2:]]
        assert heads == [f"class {number}" for number in CLASSES]
        assert len(made.table) == 4 * len(strata.rows)


def test_without_labels_strata_are_as_published():
    """Without labels every mark is a diamond, pass^3 keeps its exact interval, and the pass rate has none."""
    found, strata = page(WARD)
    made = charts.strata_table(strata, found, "pass_pow_3")
    assert made.provenance == "as published"
    cells = [cell for number in CLASSES for cell in column(made.html, f"class {number}").values()]
    assert all(cell.drawn("path", "mg-hollow") and " to " in cell.text for cell in cells)
    rates = column(charts.strata_table(strata, found, "task_pass_rate").html, "class 1").values()
    assert all("no interval" in cell.text for cell in rates)
    assert "No labels of tasks are given" in str(charts.difficulty_sentences(strata))
    assert str(charts.labels_table(strata)) == "No labels of tasks are given, so none are counted."


def test_a_task_without_a_label_is_told(tmp_path):
    """The demo task that lacks a label is counted in words and in the table of labels."""
    _, strata = page(LAB, tmp_path, publish="internal")
    tasks = {task["task_key"] for task in raw(*LAB)[0]["run_outcomes"]}
    missing = len(tasks - set(raw_labels(*LAB)))
    assert missing == 1
    said = str(charts.difficulty_sentences(strata))
    assert f"Tasks without a label: {missing} of {len(tasks)}" in said
    table = charts.labels_table(strata).table
    (line,) = table[(table["family"] == "difficulty") & (table["kind"] == "without a label")].to_dict(
        "records"
    )
    assert line["n_tasks"] == missing


def test_labels_are_counted_as_they_are(tmp_path):
    """The table of labels has the count of each label over the board's tasks, and draws a bar for each."""
    _, strata = page(WARD, tmp_path, publish="internal")
    made = charts.labels_table(strata)
    assert made.provenance == "counted"
    labels = raw_labels(*WARD)
    tasks = [task["task_key"] for task in live_tasks(WARD)[0][1]]
    for line in made.table.to_dict("records"):
        own = [
            label.get(line["family"]) if isinstance(label := labels[task], dict) else None for task in tasks
        ]
        if line["family"] == "difficulty":
            own = [class_of(labels[task]) for task in tasks]
        wanted = None if line["kind"] == "without a label" else line["value"]
        assert line["n_tasks"] == sum((None if value is None else str(value)) == wanted for value in own)
    lengths = [float(width) for width in re.findall(r'<rect [^>]*? width="([0-9.]+)"', made.html)]
    assert lengths == pytest.approx(made.table["n_tasks"] * 144 / made.table["n_tasks"].max(), abs=0.005)
    hollow = [kind != "label" for kind in made.table["kind"]]
    assert ["mg-hollow" in rect for rect in re.findall(r"<rect [^>]*>", made.html)] == hollow


def test_a_public_page_withholds_what_records_do_not_publish(tmp_path):
    """Strata that a record does not publish are withheld on a public page, and the page says so."""

    def change(records):
        for one in records.values():
            one["scores"]["by_subset"]["holdout"].pop("by_difficulty_class", None)

    records = changed(tmp_path / "changed", *WARD, change)
    found = board(records)
    labels = read_labels(labels_file(tmp_path, *WARD))
    public = difficulty(records, found, labels, publish="public")
    said = charts.strata_table(public, found, "pass_pow_3")
    assert isinstance(said, Sentences)
    assert "class 1 (withheld)" in str(said)
    assert "Strata that a record does not publish are withheld" in str(charts.difficulty_sentences(public))
    internal = difficulty(records, found, labels, publish="internal")
    assert charts.strata_table(internal, found, "pass_pow_3").provenance == "recomputed"


def test_a_stratum_that_differs_is_marked(tmp_path):
    """A published stratum that runs and labels do not give has a star on an internal page."""

    def change(records):
        strata = records["res-2026-06-13-dill-plain"]["scores"]["by_subset"]["holdout"]["by_difficulty_class"]
        strata["1"]["task_pass_rate"] = 0.123

    records = changed(tmp_path / "changed", *WARD, change)
    found = board(records)
    labels = read_labels(labels_file(tmp_path, *WARD))
    made = charts.strata_table(
        difficulty(records, found, labels, publish="internal"), found, "task_pass_rate"
    )
    starred = [name for name, cell in column(made.html, "class 1").items() if "*" in cell.text]
    assert len(starred) == 1
    assert "1 stratum marked *" in made.caption


def test_no_page_names_a_task(tmp_path):
    """No task key stands in any text, markup or table of the page, whoever it is for."""
    for publish in ("public", "internal"):
        found, strata = page(WARD, tmp_path, publish=publish)
        made = [
            charts.difficulty_sentences(strata),
            *(charts.strata_table(strata, found, quantity) for quantity in ("pass_pow_3", "task_pass_rate")),
            charts.rises_table(strata),
            charts.class_counts_table(strata),
            charts.labels_table(strata),
        ]
        for one in made:
            bundle = one._repr_mimebundle_()
            assert "tk-" not in json.dumps(bundle), type(one)


def test_counts_of_classes_are_those_of_the_tasks(tmp_path):
    """The counts of classes are the board's, and a record listed apart that holds fewer tasks has its own."""
    _, strata = page(WARD, tmp_path, publish="internal")
    labels = raw_labels(*WARD)
    counted = {}
    for one, tasks in live_tasks(WARD):
        for number in CLASSES:
            n = sum(class_of(labels[task["task_key"]]) == number for task in tasks)
            counted.setdefault((number, n), []).append(one["id"])
    table = charts.class_counts_table(strata).table
    shown = {(line.difficulty, line.n_tasks): line.n_rows for line in table.itertuples()}
    assert shown == {case: len(ids) for case, ids in counted.items()}


def test_figures_that_cannot_be_are_sentences(tmp_path):
    """On records without strata each part of the page is a sentence."""
    rows = [record(f"res-2026-01-01-{k}", {1: [(1, 1)] * 3, 2: [(k, 1)] * 3}) for k in (0, 1)]
    records = read_records(write(tmp_path / "bare", *rows))
    found = board(records)
    strata = difficulty(records, found)
    said = [
        charts.strata_table(strata, found, "pass_pow_3"),
        charts.rises_table(strata),
        charts.class_counts_table(strata),
        charts.labels_table(strata),
    ]
    assert all(isinstance(one, Sentences) for one in said)


def test_a_flat_board_rises_nowhere(tmp_path):
    """Where no harder class is higher, a sentence says in how many rows."""
    keys = [f"tk-{k:012x}" for k in range(1, 5)]
    strata_of = {str(number): {"n": 2, "pass_pow_3": 1.0, "task_pass_rate": 1.0} for number in (1, 2)}
    one = record(
        "res-2026-01-01-a",
        dict.fromkeys(keys, [(1, 1)] * 3),
        scores={"by_subset": {"holdout": {"by_difficulty_class": strata_of}}},
    )
    records = read_records(write(tmp_path / "flat", one))
    said = charts.rises_table(difficulty(records, board(records)))
    assert str(said) == "Of 1 row with figures of two classes or more, pass^3 rises in none."


def test_labels_stay_text(tmp_path):
    """A label of markup or an expression stands there as text."""
    keys = [f"tk-{k:012x}" for k in range(1, len(HOSTILE) * 2 + 1)]
    one = record("res-2026-01-01-a", dict.fromkeys(keys, [(1, 1)] * 3))
    records = read_records(write(tmp_path / "hostile", one))
    words = [display.text(text).replace("\ufffd", "?") for text in HOSTILE]
    file = tmp_path / "labels.json"
    file.write_text(
        json.dumps({key: {"difficulty": 1, words[5]: words[k // 2]} for k, key in enumerate(keys)}),
        encoding="utf-8",
    )
    strata = difficulty(records, board(records), read_labels(file), publish="internal")
    made = charts.labels_table(strata)
    assert "<script" not in made.html
    assert "<img" not in made.html
    assert all(text in made.alt for text in words)
    assert all(str(escape(text)) in made.html for text in words)


def test_unknown_quantity_is_refused(tmp_path):
    """Another quantity than the two of M4 is refused with their names."""
    found, strata = page(WARD, tmp_path)
    with pytest.raises(ValueError, match=r"quantity must be one of pass_pow_3, task_pass_rate, but got 'x'"):
        charts.strata_table(strata, found, "x")


def test_markup_holds_no_more_than_a_table(tmp_path):
    """Strata are markup of a table with drawings, and nothing that runs or loads."""
    found, strata = page(WARD, tmp_path)
    html = charts.strata_table(strata, found, "pass_pow_3").html
    assert not tags(html) & {"script", "img", "a", "iframe", "object", "link"}
