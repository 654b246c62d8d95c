"""What the built pages of demo reports show: what is wrong, void, vetoed, apart or not applicable."""

from __future__ import annotations

import hashlib
import html
import json
import re
import shutil
from pathlib import Path

import pytest
from demo_pages import LAB, WARD, raw, raw_labels, tables

from medgauge_lib import demo
from medgauge_lib.report.build import Built, build

ROOT = Path(__file__).parents[1]
PAGES = ("index", "groups", "intervals", "dimensions", "difficulty", "failure_attribution", "integrity")
FIGURE = re.compile(r'<figure id="([\w-]+)">(.*?)</figure>', re.DOTALL)


@pytest.fixture(scope="module")
def ward(published: Path) -> Path:
    """Folder of the public report."""
    return published / "bm-demo-ward/1.1.0"


def figures(page: Path) -> dict[str, str]:
    """Markup of each figure of a page by its id, its data aside."""
    text = page.read_text(encoding="utf-8")
    return {
        name: re.sub(r"<details.*?</details>", "", body, flags=re.DOTALL)
        for name, body in FIGURE.findall(text)
    }


def words(markup: str) -> str:
    """Text of markup."""
    return " ".join(
        html.unescape(re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", markup, flags=re.DOTALL)).split()
    )


def vetoed() -> set[str]:
    """Records of which a live holdout run hit a gate."""
    records = raw(*WARD)
    void = {
        (task["task_key"], task["task_version"])
        for record in records
        if record["verified_by_site"]
        for task in record.get("voided_tasks", ())
    }
    return {
        record["id"]
        for record in records
        for task in record["run_outcomes"]
        if task["subset"] == "holdout" and (task["task_key"], task["task_version"]) not in void
        if any(run["veto_categories"] for run in task["runs"])
    }


@pytest.mark.parametrize("page", PAGES)
def test_rows_with_a_veto_are_marked_in_every_table_of_rows(ward: Path, page: str) -> None:
    """On each page, a row of a table has the mark exactly when one of its live runs hit a gate."""
    expected = vetoed()
    seen = 0
    for name, body in figures(ward / f"{page}.html").items():
        if name in ("board-dev", "board-calib"):
            continue
        for record, row in re.findall(r'<tr data-row="([\w-]+)">(.*?)</tr>', body, re.DOTALL):
            assert ('<span class="mg-mark">veto</span>' in row) == (record in expected), (name, record)
            seen += 1
    assert seen > 0 or page in ("groups", "intervals")


def test_void_task_versions_are_listed_with_their_attribution(ward: Path) -> None:
    """The integrity page names each void task version and who is to blame; the summary says how many."""
    listed = {
        (task["task_key"], task["task_version"], task["attribution"])
        for record in raw(*WARD)
        if record["verified_by_site"]
        for task in record.get("voided_tasks", ())
    }
    assert listed
    table = tables(figures(ward / "integrity.html")["void"])[0][1:]
    assert {(row[0].text, row[1].text, row[3].text) for row in table} == listed
    summary = words((ward / "index.html").read_text(encoding="utf-8"))
    assert f"{len(listed)} task versions of this benchmark version are void for every row" in summary


def test_a_dimension_that_a_record_lacks_is_written_not_applicable(ward: Path) -> None:
    """Each cell of a dimension that a record does not carry says not applicable and shows no number."""
    lacking = {
        record["id"]: record
        for record in raw(*WARD)
        if "m9_auditability" not in record["scores"].get("dimensions", {})
    }
    assert {record["model"] for record in lacking.values()} == {"demo-model-gorse"}
    body = figures(ward / "dimensions.html")["m9-auditability"]
    (row,) = [
        row
        for record, row in re.findall(r'<tr data-row="([\w-]+)">(.*?)</tr>', body, re.DOTALL)
        if record in lacking
    ]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)[1:]
    assert cells
    assert {words(cell) for cell in cells} == {"not applicable"}


def test_community_records_stand_apart_without_a_rank(ward: Path) -> None:
    """Records that the site did not verify are on the list apart, and in no row of the board."""
    apart = {record["id"] for record in raw(*WARD) if not record["verified_by_site"]}
    assert apart
    summary = figures(ward / "index.html")
    assert apart.isdisjoint(re.findall(r'<tr data-row="([\w-]+)">', summary["board"]))
    assert set(re.findall(r'<tr data-row="([\w-]+)">', summary["community"])) == apart
    for name, body in figures(ward / "dimensions.html").items():
        for record, row in re.findall(r'<tr data-row="([\w-]+)">(.*?)</tr>', body, re.DOTALL):
            rank = words(row.split("</td>")[0])
            assert (rank == "–") == (record in apart), name


def test_action_figures_are_shown_by_harness_version(ward: Path) -> None:
    """Action ratios and redundancy stand in one section a harness version, and the page says why."""
    page = figures(ward / "dimensions.html")
    harness = {record["id"]: f"{record['harness']} {record['harness_version']}" for record in raw(*WARD)}
    for name in ("m3-actions", "m5-redundancy"):
        sections = re.split(r'<th scope="rowgroup"[^>]*>', page[name])[1:]
        assert len(sections) >= len(set(harness.values()))
        for section in sections:
            rows = re.findall(r'<tr data-row="([\w-]+)">', section)
            assert len({harness[record] for record in rows}) == 1
            assert harness[rows[0]] in words(section.split("</th>")[0])
        assert "within one harness version" in words(page[name])


def test_what_is_for_notebooks_stands_on_no_page(ward: Path) -> None:
    """Hints for those who run a notebook are in the executed notebook and on no page."""
    pages, notebooks = list(ward.glob("*.html")), list((ward / "notebooks").glob("*.ipynb"))
    assert len(pages) >= len(notebooks) == len(PAGES)
    for file in pages:
        assert "What to try next" not in file.read_text(encoding="utf-8"), file.name
    for file in notebooks:
        assert "What to try next" in file.read_text(encoding="utf-8"), file.name


def test_the_page_says_when_published_strata_tell_labels(ward: Path) -> None:
    """A publisher reads on the page on difficulty that these records tell the class of every task."""
    page = words((ward / "difficulty.html").read_text(encoding="utf-8"))
    assert "already tell the class of every task" in page


MAPPED = re.compile(r"[\"'](tk-[0-9a-f]{12,64})[\"']\s*:\s*[{\d]")
"""A task key that stands for a class or for labels, as in a file of labels."""


def test_no_file_of_a_public_report_holds_labels(ward: Path, published: Path) -> None:
    """No file holds the text or the hash of the labels, or a task key with a class or labels of its own."""
    file = published.parent / "demo" / WARD[0] / f"{WARD[1]}.labels.json"
    closed = file.read_bytes()
    assert len(MAPPED.findall(closed.decode())) == len(raw_labels(*WARD))
    hashed = hashlib.sha256(closed).hexdigest()
    for path in sorted(path for path in ward.rglob("*") if path.is_file()):
        text = html.unescape(path.read_text(encoding="utf-8")).replace('\\"', '"')
        assert hashed not in text, path.name
        assert closed.decode().strip() not in text, path.name
        assert MAPPED.findall(text) == [], path.name


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A report of lab records of which one names a failed run too many, and whose labels lack a task."""
    root = tmp_path_factory.mktemp("wrong")
    demo.write(root / "demo")
    for name in ("summary", "difficulty", "failure_attribution", "integrity"):
        (root / "notebooks").mkdir(exist_ok=True)
        shutil.copy(ROOT / f"notebooks/{name}.ipynb", root / "notebooks")
    (root / "params").mkdir()
    shutil.copy(ROOT / "params/demo-lab-0.1.0.yaml", root / "params")
    file = min((root / "demo" / LAB[0] / LAB[1]).glob("*.json"))
    record = json.loads(file.read_bytes())
    record["failure_attribution"]["missed"] = record["failure_attribution"].get("missed", 0) + 1
    file.write_text(json.dumps(record), encoding="utf-8")
    files = [root / "params/demo-lab-0.1.0.yaml"]
    (made,) = build(files, out=root / "reports", notebooks=root / "notebooks", progress=False)
    return made


def test_wrong_records_are_told_on_the_summary_and_when_building(wrong: Built) -> None:
    """The summary opens with a notice that leads to the integrity page; who builds the report sees it."""
    page = (wrong.folder / "index.html").read_text(encoding="utf-8")
    (notice,) = re.findall(r'<div class="notice" role="note">(.*?)</div>', page, re.DOTALL)
    assert page.index('class="notice"') < page.index("<h2")
    assert "These records have 1 break of the rules for records: demo-model-aster" in words(notice)
    assert '<a href="integrity.html">See Integrity</a>' in notice
    assert wrong.notices == (words(notice.split("</p>")[0]),)


def test_a_failure_too_many_is_shown_with_its_difference(wrong: Built) -> None:
    """The page on failures shows by how much the reasons exceed the failed runs, and integrity lists it."""
    record = json.loads(min((wrong.folder.parents[2] / "demo" / LAB[0] / LAB[1]).glob("*.json")).read_bytes())
    page = (wrong.folder / "failure_attribution.html").read_text(encoding="utf-8")
    assert "1 attributed twice, or not failed" in words(page)
    assert record["model"] in words(page)
    assert record["id"] in (wrong.folder / "figures/findings.csv").read_text(encoding="utf-8")


def test_a_missing_label_is_told(wrong: Built) -> None:
    """The page on difficulty says how many tasks have no label, and counts them in the figure of labels."""
    page = words((wrong.folder / "difficulty.html").read_text(encoding="utf-8"))
    assert "Tasks without a label: 1 of 20; they are in no class." in page
    assert "without a label,1" in (wrong.folder / "figures/labels.csv").read_text(encoding="utf-8").replace(
        ",,", ","
    )
