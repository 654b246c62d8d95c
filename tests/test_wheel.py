"""The wheel holds all that the commands need; a checkout is not among it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from medgauge_lib.library import library

ROOT = Path(__file__).parents[1]
PARAMS = """\
benchmark: bm-demo-lab
benchmark_version: 0.1.0
records: demo/bm-demo-lab/0.1.0
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the wheel is installed, made and put there without a network."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheels, target = (tmp_path_factory.mktemp(name) for name in ("wheels", "target"))
    offline = ["--no-deps", "--no-index"]
    made = ["wheel", *offline, "--no-build-isolation", "--wheel-dir", wheels, ROOT]
    subprocess.run([*pip, *made], check=True, capture_output=True)
    subprocess.run([*pip, "install", *offline, "--target", target, *wheels.iterdir()], check=True)
    return target


def run(installed: Path, folder: Path, *arguments: str) -> str:
    """Run the installed command in a folder and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-P", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_what_the_checkout_has(installed: Path) -> None:
    """Every file of the library and every notebook is in it, and no other."""
    library = {
        path.relative_to(ROOT / "medgauge_lib")
        for path in (ROOT / "medgauge_lib").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    notebooks = {path.relative_to(ROOT) for path in (ROOT / "notebooks").glob("*.ipynb")}
    there = {
        path.relative_to(installed / "medgauge_lib")
        for path in (installed / "medgauge_lib").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert there == library | notebooks


def test_a_report_is_built_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """Outside the checkout the demo set is written and a page of its report built, by the same code."""
    program = "from medgauge_lib import library; print(library.__file__, library.library()['sha256'])"
    place, sha256 = run(installed, tmp_path, "-c", program).split()
    assert Path(place) == installed / "medgauge_lib" / "library.py"
    run(installed, tmp_path, "-m", "medgauge", "demo", "demo")
    (tmp_path / "lab.yaml").write_text(PARAMS, encoding="utf-8")
    told = run(installed, tmp_path, "-m", "medgauge", "report", "lab.yaml", "--only", "summary")
    assert told == "reports/bm-demo-lab/0.1.0/index.html: built\n"
    assert sha256 in (tmp_path / "reports/bm-demo-lab/0.1.0/manifest.json").read_text("utf-8")
    assert library()["sha256"] == sha256
