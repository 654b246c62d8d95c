"""A report is reproduced from its folder and the records: figures match, or the rows that differ are told."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from make_reports import figure_data, notebook, project, showing

from medgauge_lib.charts.figure import TABLE as DATA
from medgauge_lib.cli import main
from medgauge_lib.errors import InputError
from medgauge_lib.report.build import build
from medgauge_lib.report.compare import LINES, Cell, Difference, differences
from medgauge_lib.report.hashes import sha256, sorted_json
from medgauge_lib.report.reproduce import Reproduced, reproduce
from medgauge_lib.report.shown import Shown, figures

RATES = """\
import json
import os
from IPython.display import display
from medgauge_lib import load
found = load(records, benchmark=benchmark, benchmark_version=benchmark_version)
rates = found.runs.groupby("id")["passed"].mean()
rows = [[name, float(rate)] for name, rate in rates.items()]
data = json.loads(DATA)
data["application/vnd.medgauge.table+json"] = {"columns": ["row", "rate"], "rows": rows}
display(data, raw=True)
"""
CHART, TABLE = figure_data("rates"), figure_data("board", "board", html="<table><tr><td>1</td></tr></table>")
PAGES = {
    "summary": notebook(RATES.replace("DATA", repr(json.dumps(CHART)))),
    "groups": notebook(showing(TABLE)),
    "integrity": notebook("1 / 1"),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose report is built; tests copy it."""
    root = tmp_path_factory.mktemp("built")
    file = project(root, PAGES, title="Made for tests")
    build([file], out=root / "reports", notebooks=root / "notebooks", progress=False)
    return root


@pytest.fixture
def copied(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project in another folder, as on another machine, which is the working folder."""
    root = tmp_path / "elsewhere"
    shutil.copytree(built, root)
    monkeypatch.chdir(root)
    return root


REPORT = Path("reports", "bm-made", "1.0.0")
REMARKS = [
    f"the report's notebook {name} is not the one of this medgauge; the report's was run"
    for name in ("groups", "summary")
]


def run(*arguments: str) -> tuple[int, str, str]:
    """Run the command line; give its exit code and what it wrote."""
    done = CliRunner().invoke(main, ["reproduce", str(REPORT), *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    return done.exit_code, done.stdout, done.stderr


def alter(what: Callable[[dict[str, Any]], None]) -> None:
    """Change the manifest of the report."""
    file = REPORT / "manifest.json"
    known = json.loads(file.read_bytes())
    what(known)
    file.write_bytes(sorted_json(known))


def test_every_figure_of_a_report_matches(copied: Path) -> None:
    """On another machine, from the report and the records, each figure is the same to the byte."""
    code, told, errors = run()
    assert (code, errors) == (0, "")
    assert told.splitlines() == [
        "bm-made 1.0.0: inputs as in the manifest",
        *(f"note: {remark}" for remark in REMARKS),
        "board (groups): match",
        "rates (summary): match",
        "2 figures: 2 match",
    ]


def test_a_figure_runs_its_own_notebook_alone(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reproducing one figure executes one notebook, and no other is even read."""
    ran: list[str] = []
    module = __import__("medgauge_lib.report.reproduce", fromlist=["run_all"])
    real = module.run_all

    def counting(jobs: list[Any], **how: Any) -> Any:
        ran.extend(job.name for job in jobs)
        return real(jobs, **how)

    monkeypatch.setattr(module, "run_all", counting)
    made = reproduce(REPORT, figures=["board"])
    assert [(one.figure, one.outcome) for one in made.figures] == [("board", "match")]
    assert ran == ["groups"]


def test_the_report_and_the_records_are_enough(copied: Path, tmp_path: Path) -> None:
    """With neither params file nor notebooks, records anywhere will do, and nothing is written."""
    shutil.move("records", tmp_path / "data")
    shutil.rmtree("params")
    shutil.rmtree("notebooks")
    before = sorted(copied.rglob("*"))
    code, told, _ = run("--records", str(tmp_path / "data"), "--figure", "rates")
    assert (code, told.splitlines()[-1]) == (0, "1 figure: 1 matches")
    assert sorted(copied.rglob("*")) == before
    code, _, told = run()
    assert code == 2
    assert "../records does not exist" in told
    assert "--records" in told


def changed_record(root: Path) -> str:
    """Change one record."""
    file = root / "records" / "res-2026-01-01-a.json"
    file.write_text(file.read_text() + "\n")
    return "records/res-2026-01-01-a.json changed"


def missing_record(root: Path) -> str:
    """Remove one record."""
    (root / "records" / "res-2026-01-01-b.json").unlink()
    return "records/res-2026-01-01-b.json is missing"


def new_record(root: Path) -> str:
    """Add one record."""
    shutil.copy(root / "records" / "res-2026-01-01-b.json", root / "records" / "c.json")
    return "records/c.json is new"


def changed_params(root: Path) -> str:
    """Change the seed."""
    file = root / "params" / "made.yaml"
    file.write_text(file.read_text() + "seed: 7\n")
    return "params/made.yaml: seed is 7, and was 20260101"


def changed_notebook(root: Path) -> str:
    """Change an executed notebook."""
    file = root / REPORT / "notebooks" / "summary.ipynb"
    file.write_text(file.read_text() + " ")
    return "notebooks/summary.ipynb is not as built"


def changed_data(root: Path) -> str:
    """Change the data of a figure that readers take along."""
    (root / REPORT / "figures" / "rates.csv").write_text("row,rate\n")
    return "figures/rates.csv is not as built"


@pytest.mark.parametrize(
    "change", [changed_record, missing_record, new_record, changed_params, changed_notebook, changed_data]
)
def test_a_changed_input_is_named_before_anything_runs(
    copied: Path, change: Callable[[Path], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record, a value, a notebook or a file of the report that changed is named; exit 2, nothing ran."""
    monkeypatch.setattr("medgauge_lib.report.reproduce.run_all", None)
    named = change(copied)
    code, told, errors = run()
    assert (code, told) == (2, "")
    assert named in errors
    assert len(errors.splitlines()) == 2


def test_many_changes_are_counted(copied: Path) -> None:
    """A folder of other records is told in one message."""
    for number in range(9):
        (copied / "records" / f"z{number}.json").write_text("{}")
    code, _, errors = run()
    assert code == 2
    assert "records/z2.json is new; and 6 more changes" in errors


def test_labels_of_an_internal_report_are_held_against_their_hash(tmp_path: Path) -> None:
    """Changed or missing labels of an internal report are named; those of a public one have no hash."""
    for publish, message in (("internal", "labels.json changed"), ("public", "")):
        root = tmp_path / publish
        root.mkdir()
        (root / "x.labels.json").write_text("{}")
        file = project(root, {"groups": PAGES["groups"]}, labels="../x.labels.json", publish=publish)
        (made,) = build([file], out=root / "reports", notebooks=root / "notebooks", progress=False)
        (root / "x.labels.json").write_text("{ }")
        if message:
            with pytest.raises(InputError, match=message):
                reproduce(made.folder, params=file)
        else:
            assert reproduce(made.folder, params=file).exit_code == 0


def test_labels_may_be_named_or_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the labels what needs none is reproduced, and the rest says what it misses; exit 2."""
    (tmp_path / "x.labels.json").write_text("{}")
    reads = "from medgauge_lib.loading import locate\nlocate(labels)\n" + showing(CHART)
    pages = {"summary": notebook(reads), "groups": PAGES["groups"]}
    file = project(tmp_path, pages, labels="../x.labels.json", publish="internal")
    build([file], out=tmp_path / "reports", notebooks=tmp_path / "notebooks", progress=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params").rename(tmp_path / "elsewhere")  # who has the report and its data has no params
    assert run()[0] == 0
    (tmp_path / "x.labels.json").rename(tmp_path / "closed.json")
    code, told, _ = run("--records", "records")
    assert code == 2
    assert "note: without the task labels" in told
    assert "board (groups): match" in told
    assert "rates (summary): not made: ../x.labels.json does not exist" in told
    assert run("--records", "records", "--labels", "closed.json")[0] == 0
    assert run("--records", "records", "--labels", "nowhere.json") == (
        2, "", "medgauge: nowhere.json: is not a file\n  name the file of task labels\n",
    )  # fmt: skip


def test_a_figure_that_differs_is_told_by_rows(copied: Path) -> None:
    """Where the same records give other numbers, rows and exact differences are told; exit 1."""
    file = REPORT / "notebooks" / "summary.ipynb"
    made = nbformat.read(file, as_version=4)
    cell = next(cell for cell in made.cells if "rates.items" in cell.source)
    cell.source = cell.source.replace("float(rate)]", "float(rate) + 0.25 * (name[-1] == 'a')]")
    nbformat.write(made, file)
    alter(lambda known: known["outputs"].update({"notebooks/summary.ipynb": sha256(file.read_bytes())}))
    code, told, _ = run("--figure", "rates")
    before = figures("summary", made)["rates"].table["rows"]
    assert code == 1
    assert told.splitlines()[-3:] == [
        "rates (summary): differs",
        f"  row res-2026-01-01-a: rate {before[0][1]!r} → {before[0][1] + 0.25!r} (+0.25)",
        "1 figure: 1 differs",
    ]
    code, told, _ = run("--figure", "rates", "--format", "json")
    (figure,) = json.loads(told)["figures"]
    assert code == 1
    assert figure["outcome"] == "differs"
    assert figure["differences"][0]["cells"][0]["by"] == "+0.25"


@pytest.mark.parametrize("written", ["NaN", '"\\ud800"'])
def test_a_figure_that_no_hash_can_be_of_is_told(copied: Path, written: str) -> None:
    """A notebook that was changed by hand to hold what JSON can spell and no report writes: one message."""
    file = REPORT / "notebooks" / "summary.ipynb"
    made = nbformat.read(file, as_version=4)
    shown = (output.data for cell in made.cells for output in cell.get("outputs", []) if "data" in output)
    next(data[DATA] for data in shown if DATA in data)["rows"][0][0] = "changed"
    file.write_text(nbformat.writes(made).replace('"changed"', written))
    alter(lambda known: known["outputs"].update({"notebooks/summary.ipynb": sha256(file.read_bytes())}))
    code, _, wrong = run("--figure", "rates")
    assert code == 2
    assert wrong.startswith("medgauge: notebook summary of the report cannot be read: ")


def test_a_hash_that_is_not_of_the_figure_is_told(copied: Path) -> None:
    """A figure that is made as the report shows it differs from a manifest with another hash, in words."""
    alter(lambda known: known["figures"]["rates"].update({"data": "0" * 64}))
    code, told, _ = run("--figure", "rates")
    assert code == 1
    words = "it is made as the report shows it, but the manifest has other hashes"
    assert told.splitlines()[-2:] == [f"rates (summary): differs: {words}", "1 figure: 1 differs"]


def test_a_notebook_that_fails_is_told_beside_the_others(copied: Path) -> None:
    """A notebook that does not run costs its own figures only; exit 2."""
    file = REPORT / "notebooks" / "groups.ipynb"
    made = nbformat.read(file, as_version=4)
    made.cells[-1].source = "raise ValueError('no')"
    nbformat.write(made, file)
    known = json.loads((REPORT / "manifest.json").read_bytes())
    with pytest.raises(InputError, match=r"groups\.ipynb is not as built"):
        reproduce(REPORT)
    known["outputs"]["notebooks/groups.ipynb"] = sha256(file.read_bytes())
    (REPORT / "manifest.json").write_bytes(sorted_json(known))
    code, told, trouble = run()
    assert code == 2
    assert trouble == "medgauge: groups did not run, so its figures cannot be compared\n"
    assert "board (groups): not made: " in told
    assert "ValueError: no" in told
    assert "rates (summary): match" in told
    assert told.splitlines()[-1] == "2 figures: 1 matches, 1 not made"


def test_other_versions_are_told_and_are_no_error(copied: Path) -> None:
    """A report made with other libraries is still compared; their versions are said."""

    def older(known: dict[str, Any]) -> None:
        known["inputs"]["library"] |= {"medgauge": "0.0.1"}
        known["inputs"]["library"]["uses"] |= {"numpy": "1.0"}

    alter(older)
    code, told, _ = run("--figure", "board")
    assert code == 0
    assert "note: made with medgauge 0.0.1; this is " in told
    assert "numpy 1.0 (here " in told


def test_an_unknown_figure_names_the_near_one(copied: Path) -> None:
    """A figure that is not in the report is an error that names the one it resembles."""
    with pytest.raises(InputError, match="did you mean 'rates'"):
        reproduce(REPORT, figures=["rate"])
    with pytest.raises(InputError, match="there are board, rates"):
        reproduce(REPORT, figures=["zzz"])


@pytest.mark.parametrize("content", [None, "", "[]", "{}", '{"inputs": {}}'])
def test_a_folder_that_is_no_report_is_refused(tmp_path: Path, content: str | None) -> None:
    """Without a manifest there is nothing to reproduce, and the message says so."""
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(InputError, match="holds no report"):
        reproduce(tmp_path)


def shown(rows: list[list[Any]], columns: tuple[str, ...] = ("row", "n"), **about: Any) -> Shown:
    """A figure that shows these rows."""
    return replace(Shown("f", "F", "summary", {"columns": list(columns), "rows": rows}, None, ""), **about)


@pytest.mark.parametrize(
    ("published", "made", "told"),
    [
        (shown([["a", 1]]), shown([["a", 1]]), []),
        (shown([["a", 1]]), shown([["a", 3]]), ["row a: n 1 → 3 (+2)"]),
        (shown([["a", 0.1]]), shown([["a", 0.3]]), ["row a: n 0.1 → 0.3 (+0.2)"]),
        (shown([["a", 1]]), shown([["a", 1.0]]), ["row a: n 1 → 1.0 (+0.0)"]),
        (shown([["a", 1]]), shown([["a", True]]), ["row a: n 1 → true"]),
        (shown([["a", None]]), shown([["a", 2]]), ["row a: n null → 2"]),
        (shown([["a", 1]]), shown([["b", 1]]), ["row a: only in the report", "row b: only made now"]),
        (shown([["a", 1], ["b", 2]]), shown([["b", 2], ["a", 1]]), ["row 1: order “a” → “b”"]),
        (shown([[1, 1]]), shown([[1, 2], [5, 5]]), ["row 1: n 1 → 2 (+1)", "row 2: only made now"]),
        (shown([["a", 1]]), shown([["a", 1]], ("row", "m")), ["columns: names “row, n” → “row, m”"]),
        (shown([], spec={"a": [1, 2]}), shown([], spec={"a": [1, 3]}), ["spec: /a/1: value 2 → 3 (+1)"]),
        (
            shown([["a", 1]], spec={"data": [1]}),
            shown([["a", 2]], spec={"data": [2]}),
            ["row a: n 1 → 2 (+1)"],
        ),
        (shown([], html="x"), shown([], html="y"), ["the markup of its table differs"]),
        (shown([]), None, ["its notebook shows no such figure"]),
        (shown([["a\x1b[2J", 1]]), shown([["a\x1b[2J", 2]]), ["row a\ufffd[2J: n 1 → 2 (+1)"]),
    ],
)
def test_differences_are_told(published: Shown, made: Shown | None, told: list[str]) -> None:
    """Rows are found by their words, numbers differ by exact amounts, and no control character is printed."""
    assert [str(one) for one in differences(published, made)] == told


VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
TABLES = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(VALUES, min_size=width, max_size=width), max_size=4).map(
        lambda rows: shown(rows, tuple("abc"[:width]))
    )
)


@given(TABLES, TABLES)
def test_tables_differ_where_their_hashes_do(one: Shown, two: Shown) -> None:
    """Two figures have the same hash exactly where no difference is found, in either direction."""
    for before, now in ((one, two), (two, one), (one, one)):
        assert bool(differences(before, now)) == (before.hashes() != now.hashes())


def test_long_lists_are_cut_in_text_and_whole_in_json() -> None:
    """Text shows the first few differences and says how many more there are; JSON has them all."""
    from medgauge_lib.report.reproduce import ReproducedFigure

    found = tuple(Difference("changed", str(n), (Cell("n", n, n + 1),)) for n in range(LINES + 3))
    made = Reproduced("bm 1", (ReproducedFigure("f", "summary", "differs", found),), ())
    assert made.to_text().splitlines()[-2] == "  and 3 more differences; --format json lists them all"
    assert len(made.to_json()["figures"][0]["differences"]) == LINES + 3


@pytest.mark.parametrize(
    ("where", "value", "told"),
    [
        ("figures", {}, "names no figure"),
        ("figures", [], "holds no report"),
        ("figures/board", "groups", "'board' names no notebook"),
        ("figures/board/notebook", "../groups", "'board' names no notebook"),
        ("figures/board/notebook", 3, "'board' names no notebook"),
        ("figures/board/notebook", "other", "not among the outputs"),
        ("figures/more", {"notebook": "groups"}, "shows no figure 'more'"),
        ("outputs", ["a"], "holds no report"),
        ("outputs/..", "0", "holds no report"),
        ("outputs/" + "a" * 300, "0", "holds no report"),
        ("outputs/index.html", None, "holds no report"),
        ("inputs", 1, "holds no report"),
        ("inputs/params", [], "holds no report"),
        ("inputs/params/values", None, "holds no report"),
        ("inputs/params/values/records", 1, "/inputs/params/values/records: is not a text"),
        ("inputs/params/values/library", "x", "source folders records"),
        ("inputs/params/file", "../made.yaml", "/inputs/params/file"),
        ("inputs/params/file", {}, "/inputs/params/file"),
        ("inputs/records", {"..": "0"}, "/inputs/records"),
        ("inputs/records", None, "/inputs/records"),
        ("inputs/labels", 7, "/inputs/labels"),
        ("inputs/library", {}, "/inputs/library"),
        ("inputs/library/uses", {"numpy": 1}, "/inputs/library"),
    ],
)
def test_a_manifest_of_another_form_is_refused(copied: Path, where: str, value: Any, told: str) -> None:
    """Whatever part of a manifest is not as a build writes it, two lines say so; exit 2, nothing ran."""

    def put(known: dict[str, Any]) -> None:
        *way, last = where.split("/")
        for step in way:
            known = known[step]
        known[last] = value

    alter(put)
    code, out, errors = run()
    assert (code, out, len(errors.splitlines())) == (2, "", 2)
    assert told in errors


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"a": "\xff"}', b'{"a": "\\ud800"}', b'{"a": NaN}'])
def test_a_manifest_that_is_no_json_is_refused(copied: Path, content: bytes) -> None:
    """Depth, bytes and values that JSON does not have are told in two lines; exit 2."""
    (REPORT / "manifest.json").write_bytes(content)
    code, _, errors = run()
    assert (code, len(errors.splitlines())) == (2, 2)
    assert "holds no report" in errors


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"nbformat": 4, "nbformat_minor": 5, "cells": [1]}'],
)
def test_a_broken_notebook_of_a_report_is_named(copied: Path, content: bytes) -> None:
    """A notebook that the manifest vouches for and that is none is named in two lines; exit 2."""
    (REPORT / "notebooks" / "groups.ipynb").write_bytes(content)
    alter(lambda known: known["outputs"].update({"notebooks/groups.ipynb": sha256(content)}))
    code, out, errors = run()
    assert (code, out, len(errors.splitlines())) == (2, "", 2)
    assert "groups" in errors


def test_a_file_outside_the_report_is_not_one_of_it(copied: Path) -> None:
    """A link that leads out of the folder is refused."""
    file = REPORT / "notebooks" / "groups.ipynb"
    file.rename(copied / "away.ipynb")
    file.symlink_to(copied / "away.ipynb")
    assert "leads out of the folder" in run()[2]


@pytest.mark.parametrize("name", ["manifest.json", "index.html"])
def test_a_pipe_in_a_report_is_not_waited_for(copied: Path, name: str) -> None:
    """Where a pipe lies in the place of a file, the report is refused at once."""
    (REPORT / name).unlink()
    os.mkfifo(REPORT / name)
    assert run()[0] == 2


def test_what_a_manifest_says_reaches_no_terminal_as_a_command() -> None:
    """Names, remarks and reasons are printed without control characters."""
    from medgauge_lib.report.reproduce import ReproducedFigure

    evil = "a\x1b]0;x\x07\x9b2J"
    made = Reproduced(evil, (ReproducedFigure(evil, evil, "failed", reason=evil),), (evil,))
    assert made.to_text().replace("\n", "").isprintable()
