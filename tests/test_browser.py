"""Pages in a real browser, network off: nothing is requested, every mark is drawn, nothing hostile acts."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from make_reports import HOSTILE, figure_data, notebook, project, showing, spec
from playwright.sync_api import Browser, Page, sync_playwright

from medgauge_lib import demo
from medgauge_lib.report.build import build
from medgauge_lib.schema import fault

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--proxy-server=127.0.0.1:9",
]
PROJECT = Path(__file__).parents[1] / "notebooks"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="needs chromium on the path (Debian: apt-get install chromium)"
    ),
]


def places(part: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Every string of a document: its place with list items alike, what holds it, and its key there."""
    items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in items:
        here = (*place, "" if isinstance(part, list) else str(key))
        if isinstance(value, str):
            yield here, part, key
        yield from places(value, here)


def hostile_records(folder: Path) -> list[dict[str, Any]]:
    """Records of a demo board with hostile text in every place where the schema allows any text."""
    demo.write(folder)
    made = []
    for file in sorted((folder / "bm-demo-lab" / "0.1.0").glob("*.json")):
        document = json.loads(file.read_bytes())
        found: dict[tuple[str, ...], list[tuple[Any, Any]]] = {}
        for place, holder, key in places(document):
            found.setdefault(place, []).append((holder, key))
        for texts in found.values():
            before = [holder[key] for holder, key in texts]
            for holder, key in texts:
                holder[key] = f"{HOSTILE} {document['id']}"
            if fault(document) is not None:
                for (holder, key), text in zip(texts, before, strict=True):
                    holder[key] = text
        made.append(document)
    assert all("window.hit" in document["model"] for document in made)
    return made


def other_pages() -> dict[str, nbformat.NotebookNode]:
    """Two pages of outputs that the project's own notebooks do not have."""
    wide = "<table><tr>" + "".join(f"<td>column{number}</td>" for number in range(40)) + "</tr></table>"
    table = "<table><tr><th scope='col'>a</th></tr><tr><td>b</td></tr></table>"
    return {
        "difficulty": notebook(
            showing(
                figure_data("bars", HOSTILE, chart=spec([HOSTILE, "b", "c"])),
                figure_data("table", HOSTILE, html=table),
                {"text/markdown": f"# {HOSTILE}\n\n{HOSTILE}"},
                {"text/html": f"<p>{HOSTILE}</p>"},
                {"text/plain": HOSTILE},
            ),
            f"print({HOSTILE!r})",
        ),
        "integrity": notebook(
            showing(
                {"text/html": wide},
                {"image/png": PIXEL, "text/plain": "A picture"},
                figure_data("own", chart=spec([f"bar {number}" for number in range(40)], width=900)),
            ),
            "print('x' * 3000)\nprint('y\\n' * 3)",
            title=None,
        ),
    }


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of one built report: the project's notebooks over hostile records, and two other pages."""
    root = tmp_path_factory.mktemp("browser")
    own = {path.stem: nbformat.read(path, as_version=4) for path in sorted(PROJECT.glob("*.ipynb"))}
    title = json.dumps("</title><script>window.hit=1</script>\"'", ensure_ascii=True)
    records = hostile_records(root / "demo")
    file = project(
        root,
        own | other_pages(),
        records=records,
        title=title,
        benchmark="bm-demo-lab",
        benchmark_version="0.1.0",
    )
    (made,) = build([file], out=root / "reports", notebooks=root / "notebooks", progress=False)
    return made.folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium without a network."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


@dataclass
class Seen:
    """What a page did while it was open."""

    page: Page
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


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
        seen.page.on("console", lambda said: said.type == "error" and seen.errors.append(said.text))
        seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
        seen.page.on("dialog", lambda dialog: (seen.dialogs.append(dialog.message), dialog.dismiss()))
        seen.page.goto(file.as_uri())
        if options.get("java_script_enabled", True) and file.parent.name != "reports":
            seen.page.wait_for_function("document.documentElement.dataset.charts", timeout=20_000)
        return seen

    yield open_file
    for seen in seen_pages:
        assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == []
        assert seen.dialogs == []
        assert seen.errors == []
    for context in contexts:
        context.close()


def pages_of(report: Path) -> list[Path]:
    """Every page of a report and the list of reports."""
    return [*sorted(report.glob("*.html")), report.parents[1] / "index.html"]


def test_every_mark_is_drawn_and_nothing_is_requested(report: Path, opened: Any) -> None:
    """Each figure of each page draws its marks; there is no request and no error in the console."""
    drawn = {}
    for file in pages_of(report):
        page = opened(file).page
        figures = page.locator(".chart[data-figure]")
        for number in range(figures.count()):
            figure = figures.nth(number)
            marks = figure.locator(":is(.role-mark:not(.mark-group)) :is(path, text, line, image)").count()
            drawn[figure.get_attribute("data-figure")] = marks
        assert page.evaluate("document.documentElement.dataset.charts ?? 'none'") in ("drawn", "none")
    specs = {path.name.removesuffix(".vl.json") for path in (report / "figures").glob("*.vl.json")}
    assert set(drawn) == specs
    assert min(drawn.values()) > 0
    assert drawn["bars"] == 3
    assert drawn["own"] == 40


def test_axe_finds_nothing(report: Path, opened: Any) -> None:
    """The accessibility checker finds nothing, on a wide and a narrow screen, in light and in dark."""
    axe = Path(AXE_FILE_PATH).read_text(encoding="utf-8")
    for file in pages_of(report):
        for width, scheme in ((1280, "light"), (390, "dark")):
            page = opened(file, width, scheme).page
            page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
            page.evaluate(axe)
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations)")
            assert [(one["id"], one["nodes"][0]["html"]) for one in found] == [], file.name


def test_hostile_strings_stay_text(report: Path, opened: Any) -> None:
    """No string of a record or a params file becomes an element, a script or a request."""
    for file in pages_of(report):
        page = opened(file).page
        assert page.evaluate("'hit' in window") is False
        assert page.locator("img:not([src^='data:image/'])").count() == 0
        scripts = page.locator("script:not([type='application/json'])").count()
        assert scripts == (0 if file.parent.name == "reports" else 2 if page.locator(".chart").count() else 1)
        assert page.locator("[onclick], [onerror], [onload], iframe, object, embed, base").count() == 0
        for link in page.locator("a[href]").all():
            assert re.fullmatch(r"[#./\w-]+(\.\w+)*", str(link.get_attribute("href")))


def test_tooltips_show_hostile_text_as_text(report: Path, opened: Any) -> None:
    """A tooltip writes what the record says and makes no element of it."""
    page = opened(report / "difficulty.html").page
    page.locator(".chart .mark-rect.role-mark path").first.hover()
    tooltip = page.locator("#vg-tooltip-element")
    tooltip.wait_for(state="visible")
    assert "window.hit=1" in tooltip.inner_text()
    assert tooltip.locator("img, script").count() == 0
    assert page.evaluate("'hit' in window") is False


def test_the_policy_stops_what_is_injected(report: Path, browser: Browser) -> None:
    """Even a script, a handler or an image that got into the page would not act."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    failures: list[str | None] = []
    page.on("requestfailed", lambda request: failures.append(request.failure))
    page.goto((report / "index.html").as_uri())
    page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.hit = 1";
            document.body.append(script);
            const box = document.createElement("div");
            box.innerHTML = "<img src='https://example.org/a.png' onerror='window.hit = 2'>";
            document.body.append(box);
        }"""
    )
    page.wait_for_timeout(200)
    assert page.evaluate("'hit' in window") is False
    assert failures == ["csp"]
    context.close()


def test_pages_fit_a_narrow_screen(report: Path, opened: Any) -> None:
    """At 390 px no page scrolls sideways; what is wider scrolls in a region the keyboard reaches."""
    for file in pages_of(report):
        page = opened(file, 390).page
        page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
        assert page.evaluate("document.documentElement.scrollWidth") == 390, file.name
        unreachable = page.evaluate(
            """() => [...document.querySelectorAll("main *")]
                .filter(element => element.scrollWidth > element.clientWidth + 1 && element.tabIndex < 0)
                .filter(element => ["auto", "scroll"].includes(getComputedStyle(element).overflowX))
                .map(element => element.outerHTML.slice(0, 80))"""
        )
        assert unreachable == [], file.name


def test_charts_keep_a_readable_size(report: Path, opened: Any) -> None:
    """On a narrow screen a wide chart is scrolled, not shrunk until its text cannot be read."""
    page = opened(report / "integrity.html", 390).page
    box = page.locator(".chart svg.marks").bounding_box()
    assert box is not None
    assert box["width"] >= 570


def test_headings_and_landmarks_of_every_page(report: Path, opened: Any) -> None:
    """One h1, no level left out, one main, one header, one footer; the current page is marked."""
    for file in pages_of(report)[:-1]:
        page = opened(file).page
        levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])")
        assert levels.count(1) == 1
        assert levels[0] == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        for landmark in ("main", "body > header", "nav", "body > footer"):
            assert page.locator(landmark).count() == 1
        assert page.locator("nav [aria-current=page]").get_attribute("href") == file.name


def test_the_keyboard_reaches_content_and_data(report: Path, opened: Any) -> None:
    """The first stop skips the navigation; data open with the keyboard."""
    page = opened(report / "groups.html").page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.locator("figure details.data summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("figure details.data table").first.is_visible()


def test_a_page_can_be_read_without_scripts(report: Path, opened: Any) -> None:
    """Without scripts every chart is a still image with alternative text, and its data open as well."""
    page = opened(report / "groups.html", java_script_enabled=False).page
    images = page.locator(".chart img")
    assert images.count() > 0
    for image in images.all():
        assert image.get_attribute("alt")
        assert image.evaluate("image => image.naturalWidth") > 0
        assert image.is_visible()


def test_paper_shows_the_data_and_no_navigation(report: Path, opened: Any) -> None:
    """In print the data are open, navigation and code are gone, and charts fit the paper."""
    page = opened(report / "groups.html").page
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert not page.locator("details.code").first.is_visible()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("figure details.data table").first.is_visible()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.querySelectorAll('details[open]').length") == 0
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_dark_pages_are_dark_and_charts_legible(report: Path, opened: Any) -> None:
    """In dark the library's charts take the dark colours; a chart in its own colours keeps a light ground."""
    page = opened(report / "groups.html", scheme="dark").page
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 23)"
    colours = page.evaluate(
        "[...document.querySelectorAll('.themed svg.marks text')].map(text => getComputedStyle(text).fill)"
    )
    assert {"rgb(230, 237, 243)", "rgb(157, 167, 179)"} >= set(colours) != set()
    page = opened(report / "difficulty.html", scheme="dark").page
    ground = "getComputedStyle(document.querySelector('.chart.light')).backgroundColor"
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
