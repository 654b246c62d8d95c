"""The list of all reports, and the forms a report comes in beside its pages."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from make_reports import HOSTILE, figure_data, notebook, project, showing

from medgauge_lib.cli import main
from medgauge_lib.errors import InputError
from medgauge_lib.reading import natural
from medgauge_lib.report import make, paper, plan
from medgauge_lib.report.build import build
from medgauge_lib.report.hashes import sha256
from medgauge_lib.report.manifest import NAME, SINGLE
from medgauge_lib.report.paper import PAPER, printed, require_browser
from medgauge_lib.report.site import site_page

PAGES = {"summary": notebook(showing(figure_data("bars"))), "groups": notebook("1", title="Groups")}


def listed(out: Path, benchmark: str, version: str, **values: Any) -> Path:
    """Write the manifest of a report and return its folder."""
    folder = out / benchmark / version
    folder.mkdir(parents=True)
    known = {
        "benchmark": benchmark,
        "benchmark_version": version,
        "title": None,
        "subset": "holdout",
        "publish": "public",
    }
    inputs = {"params": {"values": known | values}, "records": {"a.json": "0"}}
    (folder / NAME).write_text(json.dumps({"inputs": inputs}), encoding="utf-8")
    return folder


def test_versions_are_listed_newest_first_and_said_not_to_be_comparable(tmp_path: Path) -> None:
    """1.10 stands above 1.9; the words are there where a benchmark has several versions, and only there."""
    for version in ("1.9.0", "1.10.0", "0.2"):
        listed(tmp_path, "bm-b", version)
    listed(tmp_path, "bm-a", "1")
    first, _, second = site_page(tmp_path).partition(">bm-b</h3>")
    places = [second.index(f"bm-b/{version}/index.html") for version in ("1.10.0", "1.9.0", "0.2")]
    assert places == sorted(places)
    assert ">bm-a</h3>" in first
    assert "not comparable" in second
    assert "not comparable" not in first


def test_the_list_says_what_is_internal_and_links_other_forms(tmp_path: Path) -> None:
    """A report that is not for the public is marked; one file and PDF are linked where they are."""
    folder = listed(tmp_path, "bm-a", "1", publish="internal", title="Title")
    page = site_page(tmp_path)
    assert ">internal<" in page
    assert SINGLE not in page
    (folder / SINGLE).touch()
    (folder / PAPER).touch()
    page = site_page(tmp_path)
    assert 'href="bm-a/1/report.html" aria-label="Title as one file"' in page
    assert 'href="bm-a/1/report.pdf" aria-label="Title as PDF"' in page


def test_a_list_of_no_report_says_so_and_hostile_titles_stay_text(tmp_path: Path) -> None:
    """An empty folder is no error, and a title is never markup."""
    assert "no report here yet" in site_page(tmp_path)
    listed(tmp_path, "bm-a", "1", title=HOSTILE, subset=HOSTILE)
    page = site_page(tmp_path)
    assert "<script" not in page
    assert "<img" not in page


def test_plans_are_listed_apart_with_what_is_planned(tmp_path: Path) -> None:
    """A plan stands under a heading of its own with its size and day, and is said to be no result."""
    listed(tmp_path, "bm-a", "1")
    listed(tmp_path, "bm-p", "1", system="planning", rows=8, tasks=100, date="2026-06-30")
    before, _, after = site_page(tmp_path).partition('<h2 id="planning">Plans</h2>')
    assert "bm-a/1/index.html" in before
    assert "bm-p/1/index.html" in after
    assert "Nothing here is a result." in after
    for fact in ("8 rows", "100 tasks", "dated 2026-06-30"):
        assert f"<span>{fact}</span>" in after


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "[" * 100_000,
        '{"inputs": 1}',
        '{"inputs": {"params": []}}',
        '{"inputs": {"params": {"values": {}}}}',
        '{"inputs": {"params": {"values": {"system": []}}}}',
        '{"inputs": {"params": {"values": {"system": "other"}}}}',
    ],
)
def test_a_manifest_of_another_form_is_not_listed(tmp_path: Path, content: str) -> None:
    """A file that is no manifest of a report costs no other report its place in the list."""
    listed(tmp_path, "bm-a", "1")
    (listed(tmp_path, "bm-b", "1") / NAME).write_text(content)
    page = site_page(tmp_path)
    assert "bm-a/1/index.html" in page
    assert "bm-b" not in page


@pytest.mark.parametrize(
    "values",
    [
        {"title": 1},
        {"publish": None},
        {"subset": 1},
        {"benchmark": None},
        {"benchmark_version": "1" * 5000},
        {"system": "findings"},
    ],
)
def test_a_report_that_does_not_say_what_the_list_shows_is_not_listed(
    tmp_path: Path, values: dict[str, Any]
) -> None:
    """A value of another type, or one that is missing, leaves its report out and the others in."""
    listed(tmp_path, "bm-a", "1")
    file = listed(tmp_path, "bm-b", "1") / NAME
    known = json.loads(file.read_bytes())
    known["inputs"]["params"]["values"] |= values
    file.write_text(json.dumps(known))
    page = site_page(tmp_path)
    assert "bm-a/1/index.html" in page
    assert "bm-b" not in page


def test_a_pipe_is_no_manifest_and_is_not_waited_for(tmp_path: Path) -> None:
    """Where a pipe lies in the place of a manifest, the list is made without it."""
    (tmp_path / "bm-a" / "1").mkdir(parents=True)
    os.mkfifo(tmp_path / "bm-a" / "1" / NAME)
    assert "no report here yet" in site_page(tmp_path)


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99)), unique=True))
def test_versions_are_ordered_by_their_numbers(numbers: list[tuple[int, int, int]]) -> None:
    """Versions sort as their numbers do, not as their letters."""
    versions = [".".join(map(str, version)) for version in numbers]
    assert sorted(versions, key=natural) == [".".join(map(str, version)) for version in sorted(numbers)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Params file of a project whose report is built as pages; tests copy what they change."""
    file = project(tmp_path_factory.mktemp("made"), PAGES)
    making(file)
    return file


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> Path:
    """Params file of a copy of the built project."""
    shutil.copytree(made.parents[1], tmp_path / "project")
    return tmp_path / "project" / "params" / made.name


def making(file: Path, **how: Any) -> tuple[str, Path]:
    """Build the project of a params file, silently; return what became of it and the folder."""
    root = file.parents[1]
    (one,) = build([file], out=root / "reports", notebooks=root / "notebooks", progress=False, **how)
    return one.status, one.folder


def test_one_file_is_written_beside_the_pages_without_running_anything(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A form that a report lacks is made from its executed notebooks, is in the manifest, and then stays."""
    monkeypatch.setattr(make, "run_all", lambda jobs, **how: pytest.fail("ran") if list(jobs) else None)
    status, folder = making(copied, single_file=True)
    assert status == "built"
    content = (folder / SINGLE).read_bytes()
    assert sha256(content) in (folder / NAME).read_text(encoding="utf-8")
    assert making(copied, single_file=True)[0] == "unchanged"
    assert making(copied)[0] == "unchanged"
    assert (folder / SINGLE).read_bytes() == content
    assert SINGLE in (folder.parents[1] / "index.html").read_text(encoding="utf-8")


def test_paper_is_no_output_of_the_manifest_and_stays_with_its_inputs(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A PDF is printed once for the same inputs, stays beside other forms, and goes when an input changes."""
    times: list[str] = []
    monkeypatch.setattr(plan, "require_browser", lambda: "browser")
    monkeypatch.setattr(make, "printed", lambda html: times.append(html) or b"%PDF made")
    status, folder = making(copied, pdf=True)
    assert status == "built"
    assert (folder / PAPER).read_bytes() == b"%PDF made"
    assert not (folder / SINGLE).exists()
    assert PAPER not in (folder / NAME).read_text(encoding="utf-8")
    assert making(copied, pdf=True)[0] == "unchanged"
    assert making(copied, single_file=True)[0] == "built"
    assert (folder / PAPER).exists()
    assert len(times) == 1
    assert (folder / SINGLE).read_text(encoding="utf-8") == times[0]
    copied.write_text(copied.read_text(encoding="utf-8") + "seed: 5\n", encoding="utf-8")
    making(copied)
    assert not (folder / PAPER).exists()
    assert not (folder / SINGLE).exists()


def test_a_pdf_without_a_browser_is_refused_before_anything_runs(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without Chromium the command says so in one line, leaves with exit code 2, and the report stays."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(InputError, match="a PDF needs Chromium, and there is none on the path"):
        require_browser()
    out = copied.parents[1] / "reports"
    before = sorted(out.rglob("*"))
    done = CliRunner().invoke(main, ["report", str(copied), "--out", str(out), "--pdf"])
    assert done.exit_code == 2
    assert done.stderr.count("\n") <= 2
    assert "install chromium, or leave out --pdf" in done.stderr
    assert sorted(out.rglob("*")) == before


@pytest.mark.parametrize(
    ("program", "reason"),
    [("exit 3", "ended with exit code 3"), ("exit 0", "wrote nothing"), ("sleep 9", "took more than 1 s")],
)
def test_a_browser_that_prints_nothing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, reason: str
) -> None:
    """The message names the browser and what it did."""
    fake = tmp_path / "chromium"
    fake.write_text(f"#!/bin/sh\nexec sh -c '{program}'\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setattr(paper, "require_browser", lambda: str(fake))
    monkeypatch.setattr(paper, "SECONDS", 1)
    with pytest.raises(InputError, match=f"chromium printed no PDF: it {reason}"):
        printed("<p>")
