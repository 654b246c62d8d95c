"""What tests of pages in a browser share: where the browser is, and what a page does and breaks."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from medgauge_lib.report.paper import BROWSERS

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--proxy-server=127.0.0.1:9",
]
NEEDS_CHROMIUM = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="needs chromium on the path (Debian: apt-get install chromium)"
    ),
]


@dataclass
class Seen:
    """What a page did while it was open."""

    page: Page
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


def open_details(page: Page) -> None:
    """Open everything that can be opened."""
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    page.wait_for_timeout(50)


def violations(page: Page) -> list[tuple[str, str]]:
    """What the accessibility checker finds: the rule, and the first element that breaks it."""
    from axe_playwright_python.base import AXE_FILE_PATH

    page.evaluate(Path(AXE_FILE_PATH).read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate(
        "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations)"
    )
    return [(one["id"], one["nodes"][0]["html"]) for one in found]
