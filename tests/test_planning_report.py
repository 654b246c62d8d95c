"""The report of a plan: built from its params file alone, reproducible, and readable in a browser."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest
from browsing import LOOK, assert_accessible

from medgauge_lib.errors import InputError
from medgauge_lib.pairs import resolution
from medgauge_lib.planning import around, power_plan, tasks_for_bound
from medgauge_lib.report.build import build
from medgauge_lib.report.reproduce import reproduce
from medgauge_lib.simulation import first_step, reaching

ROOT = Path(__file__).parents[1]
FIGURES = ["planned-bound", "planned-bounds", "planned-difference", "planned-power", "planned-resolution"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the plan of the repository, on fewer replications, and its report."""
    root = tmp_path_factory.mktemp("planned")
    for name in ("notebooks", "params"):
        (root / name).mkdir()
    shutil.copy(ROOT / "notebooks/planning.ipynb", root / "notebooks")
    text = (ROOT / "params/planning.yaml").read_text(encoding="utf-8")
    (root / "params/p.yaml").write_text(
        text.replace("replications: 2000", "replications: 500"), encoding="utf-8"
    )
    build([root / "params/p.yaml"], out=root / "reports", notebooks=root / "notebooks", progress=False)
    return root


@pytest.fixture(scope="module")
def report(root: Path) -> Path:
    """Folder of the report."""
    return root / "reports/bm-planned/0.1.0"


def rows(report: Path, figure: str) -> list[dict[str, str]]:
    """The data of a figure."""
    with (report / f"figures/{figure}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_report_shows_what_the_library_plans(report: Path) -> None:
    """Bounds, resolution and power of the page are those of the library for the params file."""
    for line in rows(report, "planned-bounds")[:4]:
        assert int(line["n_tasks"]) == tasks_for_bound(float(line["asked"]))
    board = resolution(8, 100)
    assert board
    (here,) = [line for line in rows(report, "planned-resolution") if line["words"]]
    assert (here["n_rows"], here["n_discordant"]) == ("8", str(board.n_discordant))
    plan = power_plan(
        reaching(0.75, 0.3),
        reaching(0.6, 0.3),
        [100],
        alpha=first_step(8),
        correlation=0.5,
        n_replications=500,
    )
    for line in plan.study.lines:
        n_tasks = str(line.contest.n_tasks)
        (shown,) = [
            found
            for found in rows(report, "planned-power")
            if (found["kind"], found["n_tasks"]) == ("simulated", n_tasks)
        ]
        assert float(shown["power"]) == float(line.shown)


def test_the_report_is_reproduced(root: Path, report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run again, every figure of a plan matches, since it is made from its params file alone."""
    monkeypatch.chdir(root)
    found = reproduce(report)
    assert sorted(one.figure for one in found.figures) == FIGURES
    assert found.exit_code == 0


def test_a_plan_of_one_task_or_of_equal_rows_is_a_report_too(root: Path) -> None:
    """Where nothing can be detected, sentences say so in place of a figure."""
    text = (
        (root / "params/p.yaml").read_text(encoding="utf-8").replace("replications: 500", "replications: 20")
    )
    text = text.replace("tasks: 100", "tasks: 1").replace("ahead: 0.75", "ahead: 0.60")
    file = root / "params/least.yaml"
    file.write_text(text.replace("bm-planned", "bm-least"), encoding="utf-8")
    build([file], out=root / "reports", notebooks=root / "notebooks", progress=False)
    page = (root / "reports/bm-least/0.1.0/index.html").read_text(encoding="utf-8")
    assert "no row ahead with this spread has the power" in page
    assert "is out of reach: even 2,000 tasks have less power." in page
    assert "it cannot show any two rows to differ, however far apart they are" in page


def test_a_plan_that_cannot_be_is_refused_before_anything_runs(root: Path) -> None:
    """A spread that does not go with a pass^3 is said of the params file, and nothing is built."""
    file = root / "params/wrong.yaml"
    text = (root / "params/p.yaml").read_text(encoding="utf-8").replace("bm-planned", "bm-wrong")
    file.write_text(text.replace("ahead: 0.75", "ahead: 0.999"), encoding="utf-8")
    with pytest.raises(InputError, match=r"wrong\.yaml: /ahead: pass_pow_3 must lie in .* spread of 0\.3"):
        build([file], out=root / "reports", notebooks=root / "notebooks", progress=False)
    assert not (root / "reports/bm-wrong").exists()


class TestInBrowser:
    """The page in a real browser with the network off."""

    pytestmark = pytest.mark.browser

    def test_every_mark_is_drawn(self, report: Path, opened: Any) -> None:
        """Each chart draws its marks, and nothing is requested."""
        page = opened(report / "index.html").page
        drawn = page.evaluate(LOOK)["marks"]
        assert set(drawn) == {"planned-bound", "planned-resolution", "planned-power", "planned-difference"}
        assert min(drawn.values()) >= 3
        assert drawn["planned-power"] >= 2 * len(around(100))  # points and their intervals

    def test_axe_finds_nothing(self, report: Path, opened: Any) -> None:
        """The accessibility checker finds nothing, and no page is wider than its screen."""
        assert_accessible(opened, report / "index.html", report.parents[1] / "index.html")
