"""The report of the method itself: simulated, built like any other, listed apart, reproduced to the digit."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from browsing import LOOK, assert_accessible, open_details
from make_reports import files_of

from medgauge_lib.errors import InputError
from medgauge_lib.report.build import build
from medgauge_lib.report.params import MethodologyParams, read_params
from medgauge_lib.report.reproduce import reproduce
from medgauge_lib.report.site import site_page

ROOT = Path(__file__).parents[1]
FIGURES = [
    *("coverage", "differences-found", "exact-coverage", "family-wise-error", "overlap"),
    *("power", "resampled-p", "undefined", "widths"),
]


def project(root: Path, **changes: str) -> Path:
    """Make a project with the methodology notebook and a params file of few replications."""
    (root / "notebooks").mkdir(parents=True)
    (root / "params").mkdir()
    shutil.copy(ROOT / "notebooks/methodology.ipynb", root / "notebooks")
    text = (ROOT / "params/methodology.yaml").read_text(encoding="utf-8")
    for before, after in {"replications: 1000": "replications: 20", **changes}.items():
        assert before in text
        text = text.replace(before, after)
    file = root / "params/methodology.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with its report."""
    root = tmp_path_factory.mktemp("methodology")
    build([project(root)], out=root / "reports", notebooks=root / "notebooks", progress=False)
    return root


@pytest.fixture(scope="module")
def report(root: Path) -> Path:
    """Folder of the report."""
    return root / "reports/methodology/0.1.0"


def test_the_report_is_made_from_a_seed_alone(report):
    """The manifest names the parameters and no source folder, and every figure is there."""
    known = json.loads((report / "manifest.json").read_text(encoding="utf-8"))
    assert sorted(known["figures"]) == FIGURES
    assert set(known["inputs"]) == {"params", "notebooks", "method", "library"}
    assert known["inputs"]["params"]["values"]["replications"] == 20
    assert known["inputs"]["method"]["seed"] == 20260101
    crate = json.loads((report / "ro-crate-metadata.json").read_text(encoding="utf-8"))
    (dataset,) = [one for one in crate["@graph"] if one["@id"] == "./"]
    assert dataset["datePublished"] == "2026-06-30"


def test_the_page_says_how_much_is_behind_it(report):
    """Replications and seed stand on the page, and assumptions with every study."""
    html = (report / "index.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    assert html.count("20 replications of each setting, seed 20260101.") == 6
    assert html.count("What is assumed: ") == 6
    assert "Simulated" in html
    assert "Replications" in html
    assert "subset" not in html.partition("<main")[0]


def test_every_simulated_number_has_its_error(report):
    """In the published data each simulated column has a column of its standard error beside it."""
    names = {"coverage", "undefined", "width", "error", "found", "merged", "paired", "covered", "ratio"}
    names |= {"exact", "resampled", "silent", "power"}
    files = sorted((report / "figures").glob("*.csv"))
    assert [file.stem for file in files] == FIGURES
    for file in files:
        with file.open(encoding="utf-8", newline="") as stream:
            header = next(csv.reader(stream))
        found = names.intersection(header)
        assert found, file.name
        exact = set() if file.stem == "resampled-p" else {"exact"}  # there a simulated share has that name
        assert all(f"{name}_se" in header for name in found - exact), file.name


def test_the_same_seed_gives_the_same_bytes(root, tmp_path):
    """Another project with the same params file and notebook has the same files, the run record aside."""
    build([project(tmp_path)], out=tmp_path / "reports", notebooks=tmp_path / "notebooks", progress=False)
    again, before = (files_of(place / "reports/methodology/0.1.0") for place in (tmp_path, root))
    assert {**again, "run.json": b""} == {**before, "run.json": b""}


def test_the_report_is_reproduced(root, report, tmp_path, monkeypatch):
    """Every figure comes out the same from the manifest; another number of replications is another input."""
    monkeypatch.chdir(root)
    found = reproduce(report)
    assert found.exit_code == 0
    assert len(found.figures) == len(FIGURES)
    other = tmp_path / "methodology.yaml"
    text = (root / "params/methodology.yaml").read_text(encoding="utf-8")
    other.write_text(text.replace("replications: 20", "replications: 30"), encoding="utf-8")
    with pytest.raises(InputError, match="replications is 30, and was 20"):
        reproduce(report, params=other)


def test_the_report_is_listed_apart(root):
    """The list of reports has a part for the method, and none for boards where there is no board."""
    page = site_page(root / "reports")
    assert "The method</h2>" in page
    assert "20 replications" in page
    assert "dated 2026-06-30" in page
    assert ">Boards<" not in page


def test_a_params_file_of_the_methodology_is_typed(root):
    """Its keys are its own, in the order of the parameters cell."""
    read = read_params(root / "params/methodology.yaml")
    assert isinstance(read, MethodologyParams)
    assert read.source_folders() == {}
    assert read.values() == {
        "system": "methodology", "benchmark": "methodology", "benchmark_version": "0.1.0",
        "date": "2026-06-30", "replications": 20, "seed": 20260101,
        "title": "Methodology 0.1.0 in simulated worlds", "publish": "public",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("replications: 1000", "replications: 0", "is not an integer from 1 to 999,999,999"),
        ("replications: 1000", "replications: many", "write digits only, such as 1000"),
        ('"0.1.0"', '"0.2.0"', "'0.2.0' is not the methodology implemented here\n  write 0.1.0"),
        ("system: methodology", "system: method", "'method' is not one of"),
        ("seed: 20260101", "records: ../records", "unknown key 'records'"),
    ],
)
def test_what_cannot_be_simulated_is_refused(tmp_path, before, after, words):
    """What is wrong with the params file is said before anything runs, and nothing is made."""
    file = project(tmp_path / "p", **{before: after})
    with pytest.raises(InputError) as raised:
        build([file], out=tmp_path / "out", notebooks=tmp_path / "p/notebooks", progress=False)
    assert words in str(raised.value)
    assert not (tmp_path / "out/methodology").exists()


class TestInTheBrowser:
    """The page as a reader sees it, without a network."""

    pytestmark = pytest.mark.browser

    def test_every_chart_is_drawn(self, report: Path, opened: Any) -> None:
        """All charts draw their marks; nothing is requested and the console stays empty."""
        page = opened(report / "index.html").page
        drawn = page.evaluate(LOOK)["marks"]
        assert sorted(drawn) == FIGURES
        assert min(drawn.values()) >= 18  # six boards with two points, their bars and lines

    def test_axe_finds_nothing(self, report: Path, opened: Any) -> None:
        """The accessibility checker finds nothing, wide and light, narrow and dark, list included."""
        assert_accessible(opened, report / "index.html", report.parents[1] / "index.html")

    def test_the_page_fits_a_narrow_screen(self, report: Path, opened: Any) -> None:
        """At 390 px the page does not scroll sideways."""
        page = opened(report / "index.html", 390).page
        open_details(page)
        assert page.evaluate("document.documentElement.scrollWidth") == 390
