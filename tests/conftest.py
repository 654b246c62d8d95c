"""What several tests share: a browser for pages, and a Dask cluster for work on several machines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsing import CHROMIUM, FLAGS, Seen
from dask_cluster import Cluster, cluster

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(autouse=True)
def no_time_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a machine is slow changes nothing of what commands say here."""
    monkeypatch.setattr("medgauge_lib.progress.QUIET_SECONDS", float("inf"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium without a network."""
    # Loaded by tests that need it alone: most runs open no page.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Any]:
    """A function that opens a file and returns what the page did; nothing forbidden may have happened."""
    contexts, seen_pages = [], []

    def open_file(file: Path, width: int = 1280, scheme: str = "light", **options: Any) -> Seen:
        context = browser.new_context(
            offline=True, viewport={"width": width, "height": 900}, color_scheme=scheme, **options
        )
        contexts.append(context)
        seen = Seen(context.new_page())
        seen_pages.append(seen)
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        seen.page.on(
            "console", lambda said: said.type in ("error", "warning") and seen.errors.append(said.text)
        )
        seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
        seen.page.on("dialog", lambda dialog: (seen.dialogs.append(dialog.message), dialog.dismiss()))
        seen.page.goto(file.as_uri())
        if options.get("java_script_enabled", True) and file.parent.name != "reports":
            seen.page.locator("html[data-charts]").wait_for(state="attached")
        return seen

    yield open_file
    for seen in seen_pages:
        assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == []
        assert seen.dialogs == []
        assert seen.errors == []
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and two workers on the loopback interface."""
    pytest.importorskip("distributed")
    with cluster(tmp_path_factory.mktemp("dask"), 2) as running:
        yield running
