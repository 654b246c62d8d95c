"""What several tests share: a browser for pages, and a Dask cluster for work on several machines."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsing import CHROMIUM, FLAGS, Seen, assert_quiet, load, watched
from dask_cluster import Cluster, cluster
from hypothesis import settings

from medgauge_lib import demo
from medgauge_lib.report.build import build

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# How long an example takes says nothing about what is right; the first one may load a library.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


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
    """Folder of all reports, with the public report of the demo's largest board, as pages and one file."""
    root = tmp_path_factory.mktemp("published")
    demo.write(root / "demo")
    project = Path(__file__).parents[1]
    shutil.copytree(project / "notebooks", root / "notebooks", ignore=shutil.ignore_patterns(".*"))
    shutil.copytree(project / "params", root / "params")
    build(
        [root / "params/demo-ward-1.1.0.yaml"],
        out=root / "reports",
        notebooks=root / "notebooks",
        single_file=True,
        progress=False,
    )
    return root / "reports"


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


@pytest.fixture(scope="session")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and two workers on the loopback interface."""
    with cluster(tmp_path_factory.mktemp("dask"), 2) as running:
        yield running
