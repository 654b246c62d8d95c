"""What tests of pages in a browser share: where the browser is, and what a page does and breaks."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medgauge_lib.report.paper import BROWSERS

if TYPE_CHECKING:
    from collections.abc import Callable

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


@dataclass
class Seen:
    """What a page did while it was open."""

    page: Page
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


def watched(page: Page) -> Seen:
    """Note from now on what a page does."""
    seen = Seen(page)
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("console", lambda said: said.type in ("error", "warning") and seen.errors.append(said.text))
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("dialog", lambda dialog: (seen.dialogs.append(dialog.message), dialog.dismiss()))
    return seen


def load(seen: Seen, file: Path, *, scripts: bool = True) -> None:
    """Open a file and wait for its charts; a list of reports has none."""
    seen.page.goto(file.as_uri())
    if scripts and file.parent.name != "reports":
        seen.page.locator("html[data-charts]").wait_for(state="attached")


def assert_quiet(seen: Seen) -> None:
    """Nothing was requested but the page's own files, nothing asked, and nothing wrong in the console."""
    assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == []
    assert seen.dialogs == []
    assert seen.errors == []


@dataclass(frozen=True)
class Facts:
    """What one visit to a page finds out: wide and light, then narrow and dark.

    Attributes
    ----------
    drawn : str
        What became of its charts.
    marks : dict
        Marks that each chart draws.
    hit : bool
        Whether a hostile text acted.
    counted : dict
        Elements by what they are.
    addresses : list
        Where its links lead.
    levels, ids : list
        Levels of its headings, and ids of its elements, in order.
    current : list
        Addresses that the navigation marks as this page.
    wide, narrow : list
        What the accessibility checker finds.
    width : int
        Width of the page at 390 px.
    unreachable : list
        What scrolls sideways and cannot be reached by the keyboard there.
    """

    drawn: str
    marks: dict[str, int]
    hit: bool
    counted: dict[str, int]
    addresses: list[str]
    levels: list[int]
    ids: list[str]
    current: list[str]
    wide: list[tuple[str, str]]
    narrow: list[tuple[str, str]]
    width: int
    unreachable: list[str]


LOOK = """() => {
    const all = (words) => [...document.querySelectorAll(words)];
    const count = (words) => all(words).length;
    const marks = ":is(.role-mark:not(.mark-group)) :is(path, text, line, image)";
    const drawn = (chart) => [chart.dataset.figure, chart.querySelectorAll(marks).length];
    return {
        drawn: document.documentElement.dataset.charts ?? "none",
        marks: Object.fromEntries(all(".chart[data-figure]").map(drawn)),
        hit: "hit" in window,
        counted: {
            images: count("img:not([src^='data:image/'])"),
            scripts: count("script:not([type='application/json'])"),
            handlers: count("[onclick], [onerror], [onload], iframe, object, embed, base"),
            charts: count(".chart"),
            main: count("main"),
            header: count("body > header"),
            pages: count("nav.pages"),
            footer: count("body > footer"),
        },
        addresses: all("a[href]").map((link) => link.getAttribute("href")),
        levels: all("h1, h2, h3, h4, h5, h6").map((heading) => +heading.tagName[1]),
        ids: all("[id]").map((element) => element.id),
        current: all("nav [aria-current=page]").map((link) => link.getAttribute("href")),
    };
}"""

UNREACHABLE = """() => [...document.querySelectorAll("main *")]
    .filter((element) => element.scrollWidth > element.clientWidth + 1 && element.tabIndex < 0)
    .filter((element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX))
    .map((element) => element.outerHTML.slice(0, 80))"""


def visit(page: Page, *, data: bool, wide: bool, narrow: bool) -> Facts:
    """Look at an open page, its sections open: wide and light, then narrow and dark.

    The accessibility checker takes seconds a page, and most of them for data; so `data`, `wide` and `narrow`
    say at what it looks.
    """
    seen = page.evaluate(LOOK)
    open_sections(page)
    if data:
        open_details(page)
    light = violations(page) if wide else []
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 900})
    dark = violations(page) if narrow else []
    open_details(page)
    width = page.evaluate("document.documentElement.scrollWidth")
    return Facts(**seen, wide=light, narrow=dark, width=width, unreachable=page.evaluate(UNREACHABLE))


def open_sections(page: Page) -> None:
    """Open the sections of a page that has many."""
    page.evaluate(
        "for (const fold of document.querySelectorAll('button.fold[aria-expanded=false]')) fold.click()"
    )


def open_details(page: Page) -> None:
    """Open everything that can be opened."""
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    open_sections(page)
    page.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")


def assert_accessible(opened: Callable[..., Seen], *files: Path) -> None:
    """The accessibility checker finds nothing, wide and light, narrow and dark, and each page fits."""
    for file in files:
        for width, scheme in ((1280, "light"), (390, "dark")):
            page = opened(file, width, scheme).page
            open_details(page)
            assert violations(page) == [], file.name
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def violations(page: Page) -> list[tuple[str, str]]:
    """What the accessibility checker finds: the rule, and the first element that breaks it."""
    from axe_playwright_python.base import AXE_FILE_PATH

    page.evaluate(Path(AXE_FILE_PATH).read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate(
        "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations)"
    )
    return [(one["id"], one["nodes"][0]["html"]) for one in found]
