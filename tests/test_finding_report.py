"""The report of finding quality: built like a board's, listed apart from boards, and safe in a browser."""

from __future__ import annotations

import csv
import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from browsing import LOOK, assert_accessible, open_details, open_sections
from make_records import record, write
from make_reports import HOSTILE

from medgauge_lib import demo
from medgauge_lib.errors import InputError
from medgauge_lib.report.build import Built, build
from medgauge_lib.report.reproduce import reproduce
from medgauge_lib.report.site import site_page

ROOT = Path(__file__).parents[1]
FIGURES = ["assessments", "distribution", "effects", "evidence", "judge", "remarks", "summaries", "tasks"]


def edit(file: Path, **values: Any) -> None:
    """Change members of a JSON file."""
    document = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(document | values, ensure_ascii=False), encoding="utf-8")


def made_hostile(findings: Path) -> None:
    """Put hostile text where an agent and a judge write freely and no review is bound to it."""
    for file in sorted((findings / "reviews").glob("synthetic-*.json")):
        judged = json.loads(file.read_text(encoding="utf-8"))["findings"]
        edit(file, findings=[one | {"rationale": f"{HOSTILE} كُتبت e\u0301 👍🏽"} for one in judged])
    edit(findings / "reviews/judge_config.json", note=HOSTILE)
    edit(findings / "submissions/synthetic-clinic-trend.json", abstention_reason=HOSTILE)
    (findings / "submissions/run.json").write_text('{"track": "task_only"}', encoding="utf-8")
    file = findings / "submissions/synthetic-device-contrast.json"
    claims = json.loads(file.read_text(encoding="utf-8"))["findings"]
    edit(file, findings=[one | {"claim": HOSTILE} for one in claims])


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the demo benchmark of findings and its report, built from hostile texts."""
    root = tmp_path_factory.mktemp("findings")
    demo.write(root / "demo")
    made_hostile(root / "demo/findings")
    shutil.copytree(ROOT / "notebooks", root / "notebooks", ignore=shutil.ignore_patterns(".*"))
    (root / "params").mkdir()
    shutil.copy(ROOT / "params/demo-findings.yaml", root / "params")
    made(root)
    return root


def made(root: Path, *files: str, **options: Any) -> list[Built]:
    """Build the reports of some params files of a project."""
    named = [root / "params" / file for file in files or ("demo-findings.yaml",)]
    return build(named, out=root / "reports", notebooks=root / "notebooks", progress=False, **options)


@pytest.fixture(scope="module")
def report(root: Path) -> Path:
    """Folder of the report."""
    return root / "reports/bm-demo-findings/synthetic-1.0"


def rows(report: Path, figure: str) -> list[dict[str, str]]:
    """Rows of a figure's CSV file."""
    with (report / f"figures/{figure}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_report_holds_its_page_and_every_figure(report):
    """The report has one page, and beside it data, manifest and crate as any report."""
    known = json.loads((report / "manifest.json").read_text(encoding="utf-8"))
    assert sorted(known["figures"]) == FIGURES
    assert sorted(path.stem for path in (report / "figures").glob("*.csv")) == FIGURES
    assert [path.name for path in report.glob("*.html")] == ["index.html"]
    inputs = known["inputs"]
    assert inputs["params"]["values"]["system"] == "findings"
    assert {"tasks.json", "release.json"} < set(inputs["data"])
    assert len(inputs["submissions"]) == 14  # run.json beside them is none
    assert "judge_config.json" in inputs["reviews"]
    crate = json.loads((report / "ro-crate-metadata.json").read_text(encoding="utf-8"))
    (dataset,) = [one for one in crate["@graph"] if one["@id"] == "./"]
    assert dataset["datePublished"] == "2026-06-30"


def test_the_data_of_the_report_are_the_scores(report):
    """The published data hold the values of the specification and of the demo, computed by hand."""
    quality = {row["task_id"]: row["quality"] for row in rows(report, "tasks")}
    assert quality["synthetic-clinic-reversal"] == "83.5"
    assert quality["synthetic-pharmacy-contrast"] == "41.75"
    assert quality["synthetic-device-trend"] == "0.0"
    assert quality["synthetic-clinic-trend"] == ""
    (overall,) = [row for row in rows(report, "summaries") if row["by"] == "all"]
    # (90 + 37.75 + 83.5 + 95 + 26.25 + 0 + 65 + 41.75) / 8
    assert overall["conditional_quality_mean"] == "54.90625"
    assert (overall["scored_tasks"], overall["tasks"], overall["quality_mean"]) == ("8", "15", "")
    (reversal,) = [row for row in rows(report, "effects") if row["reversal"] == "True"]
    assert [float(reversal[name]) for name in ("crude", "standardized", "without_largest")] == [46, -10, -10]


def test_the_page_says_what_it_must(report):
    """Counts, the absent mean, evaluator error, the bounded audit and the refused review are in the page."""
    html = (report / "index.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    for words in (
        "Over the 8 scored tasks only, the conditional mean is 54.9 of 100 points",
        "There is no quality mean: 7 of 15 tasks have no score.",
        "Scores given by a model carry evaluator error.",
        "It gives no estimate of label accuracy.",
        "synthetic-pharmacy-trend (stale review)",
        "synthetic-judge",
        "Recomputed from the corpora and submissions",
    ):
        assert words in html, words
    assert "subset" not in html.partition("<main")[0]


def test_the_list_of_reports_has_a_part_for_each_system(root, tmp_path):
    """Findings are listed under a heading of their own, below the boards and never among them."""
    shutil.copytree(root / "reports", tmp_path / "reports")
    alone = site_page(tmp_path / "reports")
    assert "Finding quality</h2>" in alone
    assert ">Boards<" not in alone
    values = {"benchmark": "bm-x", "benchmark_version": "1.0.0", "subset": "holdout", "title": None}
    inputs = {"params": {"values": values | {"publish": "public"}}, "records": {"a.json": "0"}}
    folder = tmp_path / "reports/bm-x/1.0.0"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps({"inputs": inputs}), encoding="utf-8")
    both = site_page(tmp_path / "reports")
    boards, _, findings = both.partition("Finding quality</h2>")
    assert "bm-x" in boards
    assert "bm-x" not in findings
    assert "bm-demo-findings" in findings
    assert "bm-demo-findings" not in boards
    assert "14 submissions" in findings


def test_an_unchanged_report_is_not_built_again(root):
    """The same files give the same report, which is left as it is."""
    assert [one.status for one in made(root)] == ["unchanged"]


def test_every_figure_is_reproduced(root, report, monkeypatch):
    """Run again from its own folder, the report gives every figure to the byte."""
    monkeypatch.chdir(root)
    found = reproduce(report, params=root / "params/demo-findings.yaml")
    assert {one.figure: one.outcome for one in found.figures} == dict.fromkeys(FIGURES, "match")


def test_a_changed_review_is_named_before_anything_runs(root, report, tmp_path):
    """A review that is not the one of the report keeps it from being reproduced, and is named."""
    shutil.copytree(root, tmp_path / "other")
    edit(tmp_path / "other/demo/findings/reviews/judge_config.json", model="another")
    with pytest.raises(InputError, match=r"judge_config\.json changed"):
        reproduce(report, params=tmp_path / "other/params/demo-findings.yaml")


def test_another_version_stops_before_anything_runs(root, tmp_path):
    """Data of another version are refused in two lines, and nothing is written."""
    text = (root / "params/demo-findings.yaml").read_text(encoding="utf-8")
    file = root / "params/other.yaml"
    file.write_text(text.replace('"synthetic-1.0"', '"2.0"'), encoding="utf-8")
    with pytest.raises(InputError, match=r"is version 'synthetic-1\.0', not 2\.0") as raised:
        made(root, "other.yaml")
    assert len(str(raised.value).splitlines()) == 2
    assert not (root / "reports/bm-demo-findings/2.0").exists()


def test_named_notebooks_leave_other_systems_alone(root):
    """A notebook of boards is run for boards; a report of findings beside them stays as it is."""
    write(root / "records", record("res-2026-01-01-a"), record("res-2026-01-01-b"))
    board = "benchmark: bm-made\nbenchmark_version: 1.0.0\nrecords: ../records\n"
    (root / "params/board.yaml").write_text(board, encoding="utf-8")
    with pytest.raises(InputError, match="there is no notebook 'summary'"):
        made(root, only=["summary"])
    before = (root / "reports/bm-demo-findings/synthetic-1.0/run.json").read_bytes()
    (built,) = made(root, "board.yaml", "demo-findings.yaml", only=["difficulty"])
    assert built.params.benchmark == "bm-made"
    assert (root / "reports/bm-demo-findings/synthetic-1.0/run.json").read_bytes() == before
    shutil.rmtree(root / "reports/bm-made")


class TestInBrowser:
    """The page in a real browser with the network off."""

    pytestmark = pytest.mark.browser

    def test_every_mark_is_drawn(self, report: Path, opened: Any) -> None:
        """Both charts draw their marks; nothing is requested and the console stays empty."""
        page = opened(report / "index.html").page
        drawn = page.evaluate(LOOK)["marks"]
        assert set(drawn) == {"distribution", "effects"}
        assert drawn["distribution"] >= 10 + 3 * 6
        assert drawn["effects"] >= 30 * 4

    def test_axe_finds_nothing(self, report: Path, opened: Any) -> None:
        """The accessibility checker finds nothing, wide and light, narrow and dark, list included."""
        assert_accessible(opened, report / "index.html", report.parents[1] / "index.html")

    def test_hostile_text_stays_text(self, report: Path, opened: Any) -> None:
        """What agents and judges wrote is read as text and does nothing; no line is turned around."""
        page = opened(report / "index.html").page
        open_sections(page)
        assert page.evaluate("'hit' in window") is False
        assert page.locator("img:not([src^='data:image/'])").count() == 0
        assert page.locator("[onclick], [onerror], [onload], iframe, object, embed, base").count() == 0
        for figure in ("assessments", "judge", "tasks", "evidence"):
            shown = page.locator(f"#{figure} .table").inner_text()
            assert "window.hit=1</script>" in shown, figure
            assert "\u202e" not in shown
        assert "كُتبت e\u0301 👍🏽" in page.locator("#assessments .table").inner_text()

    def test_evidence_is_marked_within_its_context(self, report: Path, opened: Any) -> None:
        """Quotations stand out inside the text around them, right-to-left text and line breaks included."""
        page = opened(report / "index.html").page
        open_sections(page)
        passages = page.locator("#evidence .table .mg-passage")
        assert passages.count() == 60
        assert passages.locator("mark").count() == 60
        texts = passages.all_inner_texts()
        assert any("كُتبت هذه الملاحظة للعرض." in text for text in texts)
        assert any("Cafe\u0301 nearby was closed.\nNothing else to report." in text for text in texts)
        style = page.evaluate(
            "getComputedStyle(document.querySelector('.mg-passage mark')).textDecorationLine"
        )
        assert style == "underline"

    def test_the_page_fits_a_narrow_screen(self, report: Path, opened: Any) -> None:
        """At 390 px the page does not scroll sideways; wide tables scroll where the keyboard reaches them."""
        page = opened(report / "index.html", 390).page
        open_details(page)
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        unreachable = page.evaluate(
            """() => [...document.querySelectorAll("main *")]
                .filter(element => element.scrollWidth > element.clientWidth + 1 && element.tabIndex < 0)
                .filter(element => ["auto", "scroll"].includes(getComputedStyle(element).overflowX))
                .map(element => element.outerHTML.slice(0, 80))"""
        )
        assert unreachable == []

    def test_headings_are_in_order(self, report: Path, opened: Any) -> None:
        """One h1, no level left out."""
        page = opened(report / "index.html").page
        levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])")
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
