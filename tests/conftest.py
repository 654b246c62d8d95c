"""What several tests share: a browser for pages, and a Dask cluster for work on several machines."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsing import CHROMIUM, FLAGS, Seen, assert_quiet, load, watched
from dask_cluster import Cluster, cluster
from hypothesis import settings

from medgauge_lib import demo
from medgauge_lib.files import locked
from medgauge_lib.report.build import build

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# How long an example takes says nothing about what is right; the first one may load a library.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# A shell that starts tests in the background has them ignore Ctrl-C, and programs they start inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

LONGEST = (
    *("test_browser", "test_notebooks", "test_report", "test_kill", "test_files", "test_methodology_report"),
    *("test_audit", "test_figures_by_definition", "test_simulation", "test_charts", "test_planning_report"),
)
"""Files that take longest, longest first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first: then no worker ends long before another."""
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))


@pytest.fixture(autouse=True)
def no_time_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a machine is slow changes nothing of what commands say here."""
    monkeypatch.setattr("medgauge_lib.progress.QUIET_SECONDS", float("inf"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium without a network."""
    # Loaded by tests that need it alone: most runs open no page.
    from playwright.sync_api import sync_playwright

    if CHROMIUM is None:
        pytest.fail("needs chromium on the path (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of all reports, with public ones of two demo boards: the largest one, and one of the other kind.

    It is made once for all workers, so no test changes it.
    """
    place = tmp_path_factory.getbasetemp()
    root = (place.parent if "PYTEST_XDIST_WORKER" in os.environ else place) / "published"
    with locked(root.with_name("publishing")):  # not `root`, which what is written in it locks
        if not (root / "whole").exists():
            publish(root)
            (root / "whole").touch()
    return root / "reports"


def publish(root: Path) -> None:
    """Write the demo set and a project for it, and build two of its reports."""
    demo.write(root / "demo")
    project = Path(__file__).parents[1]
    shutil.copytree(project / "notebooks", root / "notebooks", ignore=shutil.ignore_patterns(".*"))
    shutil.copytree(project / "params", root / "params")
    for name, single_file in (("demo-ward-1.1.0", True), ("demo-lab-0.1.0", False)):
        build(
            [root / f"params/{name}.yaml"],
            out=root / "reports",
            notebooks=root / "notebooks",
            single_file=single_file,
            progress=False,
        )


@pytest.fixture
def opened(browser: Browser) -> Iterator[Any]:
    """A function that opens a file and returns what the page did; nothing forbidden may have happened."""
    contexts, seen_pages = [], []

    def open_file(file: Path, width: int = 1280, scheme: str = "light", **options: Any) -> Seen:
        context = browser.new_context(
            offline=True, viewport={"width": width, "height": 900}, color_scheme=scheme, **options
        )
        contexts.append(context)
        seen = watched(context.new_page())
        seen_pages.append(seen)
        load(seen, file, scripts=options.get("java_script_enabled", True))
        return seen

    yield open_file
    for seen in seen_pages:
        assert_quiet(seen)
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and two workers on the loopback interface."""
    with cluster(tmp_path_factory.mktemp("dask"), 2) as running:
        yield running
