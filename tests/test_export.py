"""Tables as files: programs get every digit back, people get words, and no text becomes anything but text."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import mistune
import pandas as pd
import pytest
from beside import RECORDS, needs_shared
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from make_records import record, write
from make_reports import figure_data, notebook, project, showing
from pyarrow import parquet

from medgauge_lib import InputError, __version__, board, demo, difficulty, dimensions, failures, read_records
from medgauge_lib.charts import display
from medgauge_lib.charts.figure import table_json
from medgauge_lib.cli import main
from medgauge_lib.export import (
    FORMATS,
    board_table,
    difficulty_table,
    dimensions_table,
    failures_table,
    figure_table,
    format_of,
    pairs_table,
)
from medgauge_lib.export.formats import SUFFIXES, csv_bytes, latex_text, markdown_bytes
from medgauge_lib.report.build import build

HOSTILE = (
    "=HYPERLINK(1)", "+1", "-1+2", "@SUM(A1)", "\t=1", "\r=1", "'=1", "a|b", "<script>alert(1)</script>",
    r"\input{/etc/passwd}", "$x^2$ & 50 % #1 _a_ ~b~ {c}", "[x](https://example.org) ![y](z)",
    "`code` *b* **c**",
    "https://example.org www.example.org a@b.example", "[2cm]", "*", "two\nlines", "\u202eback",
    "a--b``c''d,,e",
    "&amp; &#64; &lt;b&gt;", "\\", "\\\\", "| --- |", " ends with \\", "@team #12", "H~2~O ==x== ^2^",
)  # fmt: skip


def tables(name="bm-demo-ward", version="1.1.0"):
    """Every table of one version of the demo set."""
    held = demo.record_set(name, version)
    found = board(held)
    return {
        "board": board_table(found),
        "pairs": pairs_table(found),
        "dimensions": dimensions_table(dimensions(held, found), found),
        "difficulty": difficulty_table(difficulty(held, found), found),
        "failures": failures_table(failures(held, found)),
    }


@pytest.fixture(scope="module")
def made():
    """The tables of the ward demo, which has community records, vetoes, and rows without amounts."""
    return tables()


def cells(table):
    """Columns and rows as plain values."""
    found = table_json(table.frame)
    return found["columns"], found["rows"]


@pytest.mark.parametrize("name", ["board", "pairs", "dimensions", "difficulty", "failures"])
def test_csv_comes_back_as_it_was(made, name):
    """Each number of a CSV reads back as the same double, each text as it was, and absent is empty."""
    columns, rows = cells(made[name])
    head, *lines = csv.reader(io.StringIO(made[name].to_bytes("csv").decode(), newline=""))
    assert head == columns
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        for text, value in zip(line, row, strict=True):
            if value is None:
                assert text == ""
            elif isinstance(value, bool):
                assert text == str(value)
            elif isinstance(value, int | float):
                assert type(value)(text) == value
            else:
                assert text.removeprefix("'") == value


@pytest.mark.parametrize("name", ["board", "pairs", "dimensions", "difficulty", "failures"])
def test_json_comes_back_as_it_was(made, name):
    """JSON holds the columns and values of the frame, null where absent, and says what they are of."""
    columns, rows = cells(made[name])
    found = json.loads(made[name].to_bytes("json"))
    assert [list(line) for line in found["rows"]] == [columns] * len(rows)
    assert [list(line.values()) for line in found["rows"]] == rows
    assert found["about"]["table"] == name
    assert (found["about"]["benchmark_version"], found["about"]["medgauge"]) == ("1.1.0", __version__)
    assert found["about"].get("seed", 20260101) == 20260101


@pytest.mark.parametrize("name", ["board", "pairs", "dimensions", "difficulty", "failures"])
def test_parquet_comes_back_as_it_was(made, name):
    """Parquet read by pandas is the result's own frame, types included, with the same metadata as JSON."""
    data = made[name].to_bytes("parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(data)), made[name].frame)
    told = parquet.read_schema(io.BytesIO(data)).metadata[b"medgauge"]
    assert json.loads(told) == json.loads(made[name].to_bytes("json"))["about"]


def test_reasons_stay_beside_absent_figures(made):
    """Wherever a bound or a cost of the board is absent, the column beside it says why, and nowhere else."""
    for table, figure, reason in [
        *(("board", f"{name}_low", f"{name}_reason") for name in ("pass_pow_3", "task_pass_rate")),
        ("board", "cost_per_success", "cost_per_success_reason"),
        ("pairs", "low", "interval_reason"),
        ("pairs", "p", "p_reason"),
    ]:
        frame = made[table].frame
        assert (frame[figure].isna() == (frame[reason] != "")).all()
    assert made["board"].frame["task_pass_rate_reason"].str.len().max() > 0


def test_the_same_table_gives_the_same_bytes(made):
    """Computed anew, every table has the same bytes in every format."""
    again = tables()
    for form in FORMATS:
        assert all(again[name].to_bytes(form) == table.to_bytes(form) for name, table in made.items())


class Read(HTMLParser):
    """The cells of a page's tables, and every tag that is not part of a table or a paragraph."""

    def __init__(self):
        super().__init__()
        self.rows, self.strange, self.inside = [], [], False

    def handle_starttag(self, tag, attrs):
        """Take what the parser found."""
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")
            self.inside = True
        elif tag not in {"table", "thead", "tbody", "p"}:
            self.strange.append(tag)

    def handle_endtag(self, tag):
        """Take what the parser found."""
        if tag in {"td", "th"}:
            self.inside = False

    def handle_data(self, data):
        """Take what the parser found."""
        if self.inside:
            self.rows[-1][-1] += data


def rendered(data):
    """Markdown as a renderer with every extension shows it, raw HTML let through."""
    plugins = [
        "table",
        "url",
        "strikethrough",
        "math",
        "mark",
        "insert",
        "superscript",
        "subscript",
        "footnotes",
    ]
    page = Read()
    page.feed(mistune.create_markdown(escape=False, plugins=plugins)(data.decode()))
    page.close()
    return page


def squeezed(words):
    """A text as a page shows it: spaces at its ends, of any kind, are not seen."""
    return words.strip()


@pytest.mark.parametrize("name", ["board", "pairs", "dimensions", "difficulty", "failures"])
def test_markdown_renders_cell_by_cell(made, name):
    """A Markdown renderer shows the table of words, cell by cell, and nothing but text in it."""
    page = rendered(made[name].to_bytes("markdown"))
    worded = made[name].worded
    assert page.strange == []
    assert page.rows == [
        [squeezed(cell) for cell in line] for line in [list(worded), *worded.to_numpy().tolist()]
    ]


@given(st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=30)), min_size=2, max_size=2))
def test_no_text_becomes_markdown_or_html(words):
    """Whatever a text holds, a renderer shows it as it is: no tag, no link, no further cell."""
    shown = [display.text(one) for one in words]
    page = rendered(markdown_bytes(pd.DataFrame([["x", *words, "y"]], columns=["a", *words, "d"][:4]), ()))
    assert page.strange == []
    assert [[squeezed(cell) for cell in row] for row in page.rows] == [
        ["a", *map(squeezed, shown), "d"],
        ["x", *map(squeezed, shown), "y"],
    ]


LATEX = re.compile(
    r"\\textbackslash\{\}|\\textasciicircum\{\}|\\textasciitilde\{\}|\\textless\{\}|\\textgreater\{\}"
    r"|\\textbar\{\}|\\symbol\{34\}|\\textquotesingle\{\}|\\textasciigrave\{\}|\\ensuremath\{-\}"
    r"|\\textendash\{\}|\\ldots\{\}|\\textperiodcentered\{\}|\\ensuremath\{\\diamond\}"
    r"|\\[{}$&#%_]|\{\[\}|\{\*\}|\{\}|~|[^\\{}$&#%_^~<>|\"'`]"
)
MEANT = {
    r"\textbackslash{}": "\\", r"\textasciicircum{}": "^", r"\textasciitilde{}": "~", r"\textless{}": "<",
    r"\textgreater{}": ">", r"\textbar{}": "|", r"\symbol{34}": '"', r"\textquotesingle{}": "'",
    r"\textasciigrave{}": "`", r"\ensuremath{-}": "\u2212", r"\textendash{}": "–", r"\ldots{}": "…",
    r"\textperiodcentered{}": "·", r"\ensuremath{\diamond}": "\ufffd", "{}": "", "~": "\u00a0",
    "{[}": "[", "{*}": "*",
}  # fmt: skip


def read_latex(text):
    """What LaTeX prints for a text without commands of its own, or a failure where one is left."""
    parts, place = [], 0
    while place < len(text):
        found = LATEX.match(text, place)
        assert found, f"LaTeX would run {text[place:]!r}"
        part = found[0]
        parts.append(MEANT.get(part, part[1:] if part.startswith("\\") else part))
        place = found.end()
    return "".join(parts)


@given(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40)))
def test_no_text_becomes_a_command_of_latex(words):
    """Whatever a text holds, LaTeX prints it: no command, group, formula, comment, argument or ligature."""
    escaped = latex_text(words)
    assert read_latex(escaped) == display.text(words)
    assert not re.search(r"--|``|''|,,|<<|>>", escaped)
    assert not escaped.startswith(("[", "*"))


@pytest.mark.parametrize("name", ["board", "pairs", "dimensions", "difficulty", "failures"])
def test_latex_holds_the_table_of_words(made, name):
    """Between the rules of booktabs stands each line of the table of words, its cells in order."""
    text = made[name].to_bytes("latex").decode()
    worded = made[name].worded
    long = len(worded) > 40
    assert text.count(r"\begin{longtable}" if long else r"\begin{tabular}") == 1
    assert f"packages: {'booktabs, longtable' if long else 'booktabs'}" in text
    lines = [line.removesuffix(r" \\") for line in text.splitlines() if line.endswith(r" \\")]
    lines = [line for line in lines if r"\multicolumn" not in line]
    read = [[read_latex(cell) for cell in re.split(r"(?<!\\) & ", f" {line} "[1:-1])] for line in lines]
    assert read[-len(worded) :] == worded.to_numpy().tolist()
    assert set(map(tuple, read[: -len(worded)])) == {tuple(worded)}


@given(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=20)))
def test_no_text_of_a_csv_is_run_by_a_spreadsheet(words):
    """No cell begins with a sign that starts a formula, and the text comes back without the apostrophe."""
    ((cell, number),) = csv.reader(io.StringIO(csv_bytes([words, "n"], []).decode("utf-8"), newline=""))
    assert number == "n"
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert (cell[1:] if cell.startswith("'") else cell) == words


def test_numbers_of_a_csv_are_left_alone():
    """A negative number is no formula: it stays a number."""
    assert csv_bytes(["d"], [[-0.5], [-3]]) == b"d\n-0.5\n-3\n"


FIGURE = {
    "columns": ["row", "value", "low", "high", "n", "yes"],
    "rows": [
        ["=a", 0.123456789, 0.123456789, 0.123451, 3, True],
        ["b", None, 0.0000123456, None, None, False],
    ],
}


def test_a_figure_in_words_claims_no_more_than_its_numbers():
    """Lower bounds are rounded down and upper ones up, small numbers keep three digits, absent is empty."""
    table = figure_table(FIGURE, {"figure": "f"})
    assert table.worded.to_numpy().tolist() == [
        ["=a", "0.1235", "0.1234", "0.1235", "3", "yes"],
        ["b", "", "0.0000123", "", "", "no"],
    ]
    assert json.loads(table.to_bytes("json"))["rows"][0]["value"] == 0.123456789


def test_a_column_of_numbers_and_texts_goes_into_parquet_as_texts():
    """Numbers and words in one column of a figure are kept as words; whole and other numbers as numbers."""
    table = figure_table({"columns": ["m", "n"], "rows": [[1, 1], ["not estimable", 2.5], [None, None]]}, {})
    frame = pd.read_parquet(io.BytesIO(table.to_bytes("parquet")))
    assert frame["m"].tolist()[:2] == ["1", "not estimable"]
    assert frame["n"].tolist()[:2] == [1.0, 2.5]


def test_two_columns_of_one_name_are_refused():
    """A table whose columns cannot be told apart is written in no format."""
    with pytest.raises(InputError, match="column 'n' twice"):
        figure_table({"columns": ["n", "n"], "rows": [[1, 2]]}, {}).to_bytes("csv")


@pytest.mark.parametrize("form", FORMATS)
def test_a_format_follows_from_the_suffix(form, tmp_path):
    """The suffix names the format, in any case; a format by name goes before it."""
    assert format_of(tmp_path / f"a{SUFFIXES[form].upper()}") == form
    assert format_of(tmp_path / "a.csv", form) == form


def run(*arguments):
    """Run ``medgauge export`` in this process."""
    return CliRunner().invoke(main, ["export", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def folder(tmp_path):
    """Two rows, one with a name that is markup everywhere."""
    passed, failed = [(1, 1)] * 3, [(0, 1)] * 3
    return write(
        tmp_path / "set",
        record("res-2026-01-01-a", dict.fromkeys(range(6), passed), model="=a|b<i>_$&%"),
        record("res-2026-01-01-b", dict.fromkeys(range(6), failed), model="birch"),
    )


@pytest.mark.parametrize("name", ["board", "pairs", "dimensions", "difficulty", "failures"])
@pytest.mark.parametrize("form", FORMATS)
def test_the_command_writes_what_the_library_makes(folder, name, form, tmp_path):
    """For each table and format, file and standard output hold the bytes of the library."""
    held = read_records(folder)
    found = board(held)
    made = {
        "board": lambda: board_table(found),
        "pairs": lambda: pairs_table(found),
        "dimensions": lambda: dimensions_table(dimensions(held, found), found),
        "difficulty": lambda: difficulty_table(difficulty(held, found), found),
        "failures": lambda: failures_table(failures(held, found)),
    }[name]().to_bytes(form)
    out = tmp_path / f"table{SUFFIXES[form]}"
    done = run(name, folder, "--out", out)
    assert (done.exit_code, done.stdout) == (0, f"{out}: {form}\n")
    assert out.read_bytes() == made
    assert run(name, folder, "--format", form).stdout_bytes == made


def test_the_board_command_prints_the_same_tables(folder):
    """``medgauge board --format`` csv, latex and markdown are the bytes of the export."""
    for form in ("csv", "latex", "markdown"):
        done = CliRunner().invoke(main, ["board", str(folder), "--format", form])
        assert done.stdout_bytes == run("board", folder, "--format", form).stdout_bytes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--out", "x.txt"), "x.txt: names no format by its suffix '.txt'\n  use one of .csv, .json"),
        (("--out", "."), ".: names no format by its suffix"),
        (("--out", ".", "--format", "csv"), ".: is no regular file"),
        (("--out", "/dev/null", "--format", "csv"), "/dev/null: is no regular file"),
        (("--out", "/dev/null/x.csv"), "cannot be written: file exists"),
    ],
)
def test_where_a_table_cannot_go_is_said_in_two_lines(folder, arguments, message, monkeypatch, tmp_path):
    """A place that cannot be written, or that names no format, is an error of at most two lines."""
    monkeypatch.chdir(tmp_path)
    done = run("board", folder, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") <= 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["set"]


def test_a_table_is_not_written_over_a_record(folder):
    """A record that is read is never the file that is written; a new file beside it may be."""
    record = min(folder.glob("*.json"))
    before = record.read_bytes()
    done = run("board", folder, "--out", record)
    message = f"medgauge: {record}: it is among the files that are read\n  write to another place\n"
    assert (done.exit_code, done.stderr, record.read_bytes()) == (2, message, before)
    table = folder / "board.csv"
    assert [run("board", folder, "--out", table).exit_code for _ in range(2)] == [0, 0]
    table.unlink()


def test_parquet_without_its_library_is_said(folder, monkeypatch, tmp_path):
    """Without the extra, Parquet is refused with the command that installs it, and no file is left."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = run("board", folder, "--out", tmp_path / "b.parquet")
    assert done.exit_code == 2
    assert 'pip install "medgauge[parquet]"' in done.stderr
    assert not (tmp_path / "b.parquet").exists()


def test_labels_make_a_table_that_is_not_public(folder, tmp_path):
    """With the closed labels, figures by class are recomputed, and the table says that it is internal."""
    labels = tmp_path / "labels.json"
    labels.write_text(json.dumps({f"tk-{k:012x}": 1 + k % 2 for k in range(6)}))
    found = json.loads(run("difficulty", folder, "--labels", labels, "--format", "json").stdout)
    assert found["about"]["publish"] == "internal"
    assert {line["provenance"] for line in found["rows"] if line["n_tasks"]} == {"recomputed"}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report with one figure, whose data are hostile and have bounds."""
    root = tmp_path_factory.mktemp("built")
    figure = figure_data("rates") | {"application/vnd.medgauge.table+json": FIGURE}
    file = project(root, {"groups": notebook(showing(figure))})
    build([file], out=root / "reports", notebooks=root / "notebooks", progress=False)
    return root / "reports/bm-made/1.0.0"


def test_a_figure_of_a_report_is_exported_as_built(report):
    """The data of a figure come out in every format; its CSV is the one beside the page."""
    assert run("figure", report, "rates").stdout_bytes == (report / "figures/rates.csv").read_bytes()
    found = json.loads(run("figure", report, "rates", "--format", "json").stdout)
    assert [list(line.values()) for line in found["rows"]] == FIGURE["rows"]
    assert found["about"] == {
        "figure": "rates",
        "benchmark": "bm-made",
        "benchmark_version": "1.0.0",
        "subset": "holdout",
        "seed": 20260101,
        "medgauge": __version__,
    }
    assert "0.1234" in run("figure", report, "rates", "--format", "markdown").stdout


def test_a_figure_that_is_not_there_or_not_as_built_is_refused(report, tmp_path):
    """An unknown figure names the nearest one; data that were altered since the build are not passed on."""
    done = run("figure", report, "rate")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 2)
    assert "has no figure 'rate'" in done.stderr
    assert "rates" in done.stderr.splitlines()[1]
    file = report / "notebooks/groups.ipynb"
    before = file.read_text()
    file.write_text(before.replace("0.123456789", "0.923456789"))
    try:
        done = run("figure", report, "rates")
    finally:
        file.write_text(before)
    assert done.exit_code == 2
    assert "does not hold the data of 'rates' as built" in done.stderr
    for put in (os.mkfifo, Path.mkdir):
        file.unlink()
        put(file)
        try:
            done = run("figure", report, "rates")
        finally:
            file.rmdir() if file.is_dir() else file.unlink()
            file.write_text(before)
        assert (done.exit_code, done.stderr.count("\n")) == (2, 2)
        assert f"{file}: is " in done.stderr
    assert run("figure", tmp_path, "rates").exit_code == 2


@needs_shared
@pytest.mark.parametrize("name", ["bm-mcpmark-filesystem/1.0.0", "bm-terminal-bench-core/0.1.1"])
def test_public_boards_come_back_as_they_were(name):
    """Boards of public runs survive each format for programs, and render as their table of words."""
    found = board(read_records(RECORDS / name))
    for table in (board_table(found), pairs_table(found)):
        pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(table.to_bytes("parquet"))), table.frame)
        assert [list(x.values()) for x in json.loads(table.to_bytes("json"))["rows"]] == cells(table)[1]
        page = rendered(table.to_bytes("markdown"))
        assert page.strange == []
        assert page.rows[1:] == table.worded.to_numpy().tolist()
