"""Pages in a real browser, network off: nothing is requested, every mark is drawn, nothing hostile acts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest
from browsing import Facts, assert_quiet, load, open_details, visit, watched
from jinja2 import Environment
from make_reports import HOSTILE, figure_data, notebook, project, showing, spec
from playwright.sync_api import Browser, Page

from medgauge_lib import demo
from medgauge_lib.report.build import build
from medgauge_lib.report.manifest import SINGLE
from medgauge_lib.report.paper import printed
from medgauge_lib.report.plan import notebook_files
from medgauge_lib.schema import fault

PROJECT = Path(__file__).parents[1] / "notebooks"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

pytestmark = pytest.mark.browser


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


NAMES = ["Ash", HOSTILE, "Birch 9", "Birch 10", "Cedar", "Dill", "Elder"]
SCORES = ["85.0", "9.5", "−1.0", "70.0", "70.0", "100.0", "0.0"]
COSTS = ["EUR 2.00", "USD 1.00", "", "EUR 0.50", "USD 0.25", "EUR 1,000.00", ""]


BOARD = """<style>.mg-scroll { overflow-x: auto; position: relative; } .mg-sr { position: absolute; }</style>
<div class="mg-scroll" role="region" tabindex="0" aria-label="Board">
<table class="mg-table mg-board">
<thead><tr><th scope="col">Rank</th><th scope="col">Subject</th><th scope="col">Groups</th>
<th scope="col">pass^3</th><th scope="col"><span class="mg-sr">drawn</span></th>
<th scope="col">Cost</th></tr></thead>
<tbody>
{% for name, score, cost in rows %}
<tr data-row="r{{ loop.index }}">
<td>{{ loop.index }}</td>
<th scope="row">{{ name }}<small>small print</small></th>
<td class="mg-groups"><svg class="mg-bars" width="9" viewBox="0 0 9 10"><rect width="5" height="10"/></svg>
<span class="mg-sr">a</span></td>
<td>{{ score }}<small>1 to 2</small></td>
<td class="mg-interval"><svg width="9" height="9"></svg></td>
<td{% if not cost %} class="mg-absent"{% endif %}>{{ cost or "not available" }}</td>
</tr>
{% endfor %}
</tbody>
</table>
</div>
"""
"""A table in the form of the board, with one row a name."""


def subjects_table() -> str:
    """Return the made board, its rows in board order."""
    rows = zip(NAMES, SCORES, COSTS, strict=True)
    return Environment(autoescape=True).from_string(BOARD).render(rows=list(rows))


def subjects_chart() -> dict[str, Any]:
    """Return a chart with one bar and one text a name, whose rows say the subject and its id."""
    rows = [{"id": f"r{n}", "subject": name, "n": n} for n, name in enumerate(NAMES, 1)]
    y = {"field": "n", "type": "ordinal", "axis": None}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "description": "A bar a subject.",
        "datasets": {"rows": rows},
        "data": {"name": "rows"},
        "layer": [
            {"mark": "bar", "encoding": {"y": y, "x": {"field": "n", "type": "quantitative"}}},
            {"mark": "text", "encoding": {"y": y, "text": {"field": "id", "type": "nominal"}}},
        ],
    }


def other_pages() -> dict[str, nbformat.NotebookNode]:
    """Pages of outputs that the project's own notebooks do not have, or not as precisely."""
    wide = "<table><tr>" + "".join(f"<td>column{number}</td>" for number in range(40)) + "</tr></table>"
    table = "<table><tr><th scope='col'>a</th></tr><tr><td>b</td></tr></table>"
    data = figure_data("subjects", chart=subjects_chart())
    data["application/vnd.medgauge.table+json"] = {
        "columns": ["id", "subject", "version", "score"],
        "rows": [
            [f"r{number}", name, version, score]
            for number, (name, version, score) in enumerate(
                zip(
                    NAMES,
                    ["1.10", "1.9", "1.2", "1.1", "1", "2", "3"],
                    [0.5, None, -1, 1e-7, 10, 9, 2],
                    strict=True,
                ),
                1,
            )
        ],
    }
    return {
        "summary": notebook(showing(figure_data("board", html=subjects_table()), data)),
        "groups": notebook(showing(figure_data("again", chart=subjects_chart())), title="Again"),
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
    """Folder of one whole report, as pages and as one file: the project's notebooks over hostile records."""
    root = tmp_path_factory.mktemp("browser")
    own = {path.stem: nbformat.read(path, as_version=4) for path in sorted(PROJECT.glob("*.ipynb"))}
    file = project(
        root,
        own,
        records=hostile_records(root / "demo"),
        title=json.dumps("</title><script>window.hit=1</script>\"'", ensure_ascii=True),
        benchmark="bm-demo-lab",
        benchmark_version="0.1.0",
    )
    return built(root, file)


@pytest.fixture(scope="session")
def others(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a report with the pages made here, as pages and as one file."""
    root = tmp_path_factory.mktemp("others")
    return built(root, project(root, other_pages()))


def built(root: Path, file: Path) -> Path:
    """Build a project's report, as pages and as one file, and return its folder."""
    (made,) = build(
        [file], out=root / "reports", notebooks=root / "notebooks", single_file=True, progress=False
    )
    return made.folder


@pytest.fixture(scope="session")
def facts(report: Path, others: Path, published: Path, browser: Browser) -> dict[Path, Facts]:
    """What one visit to each page of the reports, to their single files and to a list of reports finds out.

    Nothing was requested, asked or written to the console. The accessibility checker looks at hostile and
    made pages with their data in both schemes, and at the largest report, narrow and dark, without them; a
    single file holds the data of its pages once more.
    """
    found = {}
    ward, lab = published / "bm-demo-ward/1.1.0", published / "bm-demo-lab/0.1.0"
    files = [file for one in (report, others, ward, lab) for file in sorted(one.glob("*.html"))]
    for file in (*files, published / "index.html"):
        context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
        seen = watched(context.new_page())
        load(seen, file)
        found[file] = visit(
            seen.page,
            data=file.name != SINGLE and file.parent in (report, others),
            wide=file.parent in (report, others, published),
            narrow=file.parent in (report, others, published)
            or (file.parent == ward and file.name != SINGLE),
        )
        assert_quiet(seen)
        context.close()
    return found


def test_every_mark_is_drawn_and_nothing_is_requested(facts: dict[Path, Facts]) -> None:
    """Each figure of each page draws its marks; there is no request and nothing in the console."""
    drawn = {(file, name): n for file, one in facts.items() for name, n in one.marks.items()}
    assert {one.drawn for one in facts.values()} == {"drawn", "none"}
    assert min(drawn.values()) > 0
    for folder in {file.parent for file in facts if file.parent.name != "reports"}:
        specs = {path.name.removesuffix(".vl.json") for path in (folder / "figures").glob("*.vl.json")}
        assert {name for file, name in drawn if file.parent == folder and file.name != SINGLE} == specs
        if folder / SINGLE in facts:
            assert sum(file == folder / SINGLE for file, _ in drawn) == len(specs)
    assert {name: n for (file, name), n in drawn.items() if file.name == "integrity.html"}.get("own") == 40
    assert {name: n for (_, name), n in drawn.items()}["difficulty-bars"] == 3


def test_axe_finds_nothing(facts: dict[Path, Facts]) -> None:
    """The accessibility checker finds nothing, on a wide and a narrow screen, in light and in dark."""
    assert {file: one.wide + one.narrow for file, one in facts.items() if one.wide + one.narrow} == {}


def test_hostile_strings_stay_text(facts: dict[Path, Facts]) -> None:
    """No string of a record or a params file becomes an element, a script or a request."""
    for file, one in facts.items():
        assert not one.hit
        assert one.counted["images"] == one.counted["handlers"] == 0
        scripts = 0 if file.parent.name == "reports" else 2 if one.counted["charts"] else 1
        assert one.counted["scripts"] == scripts
        inline = r"data:(text/csv|application/json|image/svg\+xml);base64,[\w+/=]*"
        allowed = rf"[#./\w-]+(\.\w+)*|{inline}" if file.name == SINGLE else r"[#./\w-]+(\.\w+)*"
        assert [address for address in one.addresses if not re.fullmatch(allowed, address)] == []


def test_tooltips_show_hostile_text_as_text(others: Path, opened: Any) -> None:
    """A tooltip writes what the record says and makes no element of it."""
    page = opened(others / "difficulty.html").page
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
            return new Promise((failed) => box.firstChild.addEventListener("error", () => failed()));
        }"""
    )
    assert page.evaluate("'hit' in window") is False
    assert failures == ["csp"]
    context.close()


def test_pages_fit_a_narrow_screen(facts: dict[Path, Facts]) -> None:
    """At 390 px no page scrolls sideways; what is wider scrolls in a region the keyboard reaches."""
    assert {file: one.width for file, one in facts.items() if one.width != 390} == {}
    assert {file: one.unreachable for file, one in facts.items() if one.unreachable} == {}


def test_charts_keep_a_readable_size(others: Path, opened: Any) -> None:
    """On a narrow screen a wide chart is scrolled, not shrunk until its text cannot be read."""
    page = opened(others / "integrity.html", 390).page
    box = page.locator(".chart svg.marks").bounding_box()
    assert box is not None
    assert box["width"] >= 570


def test_headings_and_landmarks_of_every_page(facts: dict[Path, Facts]) -> None:
    """One h1, no level left out, one main, header and footer; ids are unique; the current page is marked."""
    for file, one in facts.items():
        if file.parent.name == "reports":
            continue
        assert one.levels.count(1) == 1
        assert one.levels[0] == 1
        assert all(after - before <= 1 for before, after in pairwise(one.levels))
        assert {one.counted[landmark] for landmark in ("main", "header", "pages", "footer")} == {1}
        assert len(one.ids) == len(set(one.ids)), file
        assert one.current == ([] if file.name == SINGLE else [file.name])


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
    assert page.locator("nav:visible, .highlight:visible, .tools :is(label, button):visible").count() == 0
    assert not page.locator("details.code").first.is_visible()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("figure details.data table").first.is_visible()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.querySelectorAll('details[open]').length") == 0
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_dark_pages_are_dark_and_charts_legible(report: Path, others: Path, opened: Any) -> None:
    """In dark the library's charts take the dark colours; a chart in its own colours keeps a light ground."""
    page = opened(report / "groups.html", scheme="dark").page
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 23)"
    colours = page.evaluate(
        "[...document.querySelectorAll('.themed svg.marks text')].map(text => getComputedStyle(text).fill)"
    )
    assert {"rgb(230, 237, 243)", "rgb(157, 167, 179)"} >= set(colours) != set()
    page = opened(others / "difficulty.html", scheme="dark").page
    ground = "getComputedStyle(document.querySelector('.chart.light')).backgroundColor"
    assert page.evaluate(ground) == "rgb(255, 255, 255)"


def order(page: Page) -> list[str]:
    """Ranks of the rows of the made board as they are shown."""
    cells = page.locator("#board .mg-board tbody tr:not([hidden]) td:first-child")
    return [text.strip() for text in cells.all_inner_texts()]


def header(page: Page, words: str) -> Any:
    """Return the button in a header of the made board."""
    return page.locator("#board .mg-board thead").get_by_role("button", name=words, exact=True)


def test_a_table_is_sorted_by_a_column_and_put_back(others: Path, opened: Any) -> None:
    """A header sorts up, down and back, by numbers as numbers; the page says what it did."""
    page = opened(others / "index.html").page
    status = page.locator("#board .table .tools [role=status]")
    head = page.locator("#board .mg-board").get_by_role("columnheader", name="pass^3", exact=True)
    assert order(page) == list("1234567")
    assert head.get_attribute("aria-sort") is None
    header(page, "pass^3").click()
    assert order(page) == list("3724516")
    assert head.get_attribute("aria-sort") == "ascending"
    assert status.inner_text().startswith("Sorted by pass^3, ascending. Bars mark the same groups as before")
    header(page, "pass^3").click()
    assert order(page) == list("6145273")
    assert head.get_attribute("aria-sort") == "descending"
    header(page, "pass^3").click()
    assert order(page) == list("1234567")
    assert head.get_attribute("aria-sort") is None
    assert status.inner_text() == ""
    header(page, "Subject").click()
    assert order(page)[-5:] == list("34567")
    page.get_by_role("button", name="Back to board order").click()
    assert order(page) == list("1234567")
    assert page.evaluate("document.activeElement.textContent") == "Subject"
    assert page.locator("#board .mg-board thead button").count() == 5


def test_amounts_are_ordered_within_their_currency(others: Path, opened: Any) -> None:
    """Amounts in two currencies are never compared, and what is absent comes last in either direction."""
    page = opened(others / "index.html").page
    header(page, "Cost").click()
    assert order(page) == list("4165237")
    header(page, "Cost").click()
    assert order(page) == list("6142537")


def test_tables_are_sorted_with_the_keyboard(others: Path, opened: Any) -> None:
    """Enter and Space work a header, and the focus stays there and is seen."""
    page = opened(others / "index.html").page
    header(page, "pass^3").focus()
    page.keyboard.press("Enter")
    assert order(page) == list("3724516")
    page.keyboard.press("Space")
    assert order(page) == list("6145273")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_moved_rows_have_bars_of_their_own(others: Path, opened: Any) -> None:
    """In board order bars of neighbours meet; after sorting or filtering each row's bar stands alone."""
    page = opened(others / "index.html").page
    gap = """() => {
        const [above, below] = [...document.querySelectorAll("#board tr:not([hidden]) .mg-bars")]
            .map(bar => bar.closest("table").classList.contains("moved"));
        return above && below;
    }"""
    assert page.evaluate(gap) is False
    header(page, "Rank").click()
    assert page.evaluate(gap) is True


def test_a_table_is_filtered_by_words(others: Path, opened: Any) -> None:
    """Rows that hold every word stay, and how many is said; hostile words are only words."""
    page = opened(others / "index.html").page
    box = page.get_by_role("searchbox", name="Filter rows of Title text")
    status = page.locator("#board .table .tools [role=status]")
    box.fill("birch")
    assert order(page) == ["3", "4"]
    assert status.inner_text().startswith("2 of 7 rows shown.")
    box.fill("BIRCH 10")
    assert order(page) == ["4"]
    box.fill(HOSTILE.replace("\u2028", " "))
    assert order(page) == ["2"]
    box.fill("nothing like it")
    assert order(page) == []
    assert status.inner_text().startswith("0 of 7 rows shown.")
    box.fill("")
    assert order(page) == list("1234567")
    assert status.inner_text() == ""


def test_one_filter_serves_all_tables_of_a_figure(published: Path, opened: Any) -> None:
    """Where columns go on in a second table, rows that the filter leaves out are left out of both."""
    page = opened(published / "bm-demo-ward/1.1.0/failure_attribution.html").page
    figure = page.locator("#failure-reasons > .table")
    figure.get_by_role("searchbox").fill("cedar")
    tables = figure.locator("table.mg-table").all()
    assert len(tables) == 2
    for table in tables:
        shown = table.locator("tbody tr:visible").all_inner_texts()
        assert shown
        assert all("cedar" in words for words in shown)


def test_data_are_sorted_and_filtered_too(others: Path, opened: Any) -> None:
    """Data sort by value: numbers by size, versions part by part, what is missing last."""
    page = opened(others / "index.html").page
    page.locator("#subjects details.data > summary").click()

    def shown() -> list[str]:
        return [
            text.removeprefix("r")
            for text in page.locator("#subjects tbody tr:not([hidden]) td:first-child").all_inner_texts()
        ]

    page.locator("#subjects thead").get_by_role("button", name="score").click()
    assert shown() == list("3417652")
    page.locator("#subjects thead").get_by_role("button", name="score").click()
    assert shown() == list("5671432")
    page.locator("#subjects thead").get_by_role("button", name="version").click()
    assert shown() == list("5432167")
    page.get_by_role("searchbox", name="Filter rows of the data of Title text").fill("birch")
    assert shown() == list("43")


def picked(page: Page) -> tuple[list[str], int, int]:
    """Highlighted rows of the made board, and how many marks stand out and stand back."""
    rows = page.locator("#board tr.picked").evaluate_all("rows => rows.map(row => row.dataset.row)")
    return rows, page.locator("svg .picked").count(), page.locator("svg .passed").count()


def test_a_subject_is_highlighted_in_tables_and_charts(others: Path, opened: Any) -> None:
    """A choice from the list, a name in the board or a mark highlights one subject; Escape ends it."""
    page = opened(others / "index.html").page
    select = page.get_by_label("Highlight a subject")
    assert select.locator("option").all_inner_texts()[:2] == ["none", "Ash"]
    assert select.locator("option").count() == 1 + len(NAMES)
    assert picked(page) == ([], 0, 0)
    select.select_option("Cedar")
    assert picked(page) == (["r5"], 2, 12)
    page.locator("#board").get_by_role("button", name="Birch 10").press("Enter")
    assert picked(page) == (["r4"], 2, 12)
    assert select.input_value() == "Birch 10"
    assert page.locator("button.subject[aria-pressed=true]").inner_text() == "Birch 10"
    assert (
        page.locator("#subjects svg text.picked").evaluate("text => getComputedStyle(text).fontWeight")
        == "700"
    )
    page.locator("#subjects svg path.subject").nth(6).click()
    assert picked(page) == (["r7"], 2, 12)
    page.keyboard.press("Escape")
    assert picked(page) == ([], 0, 0)
    assert select.input_value() == ""


def test_a_hostile_name_is_highlighted_as_text(others: Path, opened: Any) -> None:
    """A name that could be markup is an option and a button like any other."""
    page = opened(others / "index.html").page
    page.get_by_label("Highlight a subject").select_option(index=2)
    assert picked(page) == (["r2"], 2, 12)
    assert page.locator("option *, button.subject *").count() == 0
    assert page.locator("button.subject").nth(1).evaluate("button => button.textContent") == HOSTILE
    assert page.evaluate("'hit' in window") is False


def test_the_highlight_stays_from_page_to_page(others: Path, opened: Any) -> None:
    """The next page of a report highlights the same subject."""
    page = opened(others / "index.html").page
    page.get_by_label("Highlight a subject").select_option("Dill")
    page.get_by_role("link", name="Next Groups").click()
    page.locator("h1", has_text="Again").wait_for()
    page.locator("html[data-charts]").wait_for(state="attached")
    assert page.get_by_label("Highlight a subject").input_value() == "Dill"
    assert page.locator("svg .picked").count() == 2


def test_a_subject_is_highlighted_on_every_page_of_a_report(report: Path, opened: Any) -> None:
    """Every page that shows subjects highlights one in its tables or its charts."""
    for file in sorted(report.glob("*.html")):
        page = opened(file).page
        open_details(page)
        page.get_by_label("Highlight a subject").select_option(index=1)
        assert page.locator("tr.picked, svg .picked").count() > 0, file.name
    assert page.locator("tr.picked button.subject").count() > 0


def test_bands_behind_rows_are_no_marks_of_a_subject(report: Path, opened: Any) -> None:
    """A choice leaves the pale bands of a chart as they are, though they lie behind the rows of subjects."""
    page = opened(report / "intervals.html").page
    page.get_by_label("Highlight a subject").select_option(index=1)
    figure = page.locator("#quantities svg")
    assert figure.locator(".picked").count() > 4
    bands = figure.locator('path[fill="#1b1f24"][opacity="0.05"]')
    assert bands.count() > 4
    assert set(bands.evaluate_all("all => all.map(one => getComputedStyle(one).opacity)")) == {"0.05"}


def test_a_long_page_is_an_overview_whose_sections_open(published: Path, opened: Any) -> None:
    """The first of many sections is open; others open by a key, a link to a place in them, or all at once."""
    file = published / "bm-demo-ward/1.1.0/dimensions.html"
    page = opened(file).page
    folds = page.locator("button.fold")
    bodies = page.locator(".folded")
    assert folds.count() == bodies.count() == 10
    assert [body.is_visible() for body in bodies.all()] == [True] + [False] * 9
    assert page.evaluate("document.documentElement.scrollHeight") < 5000
    folds.nth(2).focus()
    page.keyboard.press("Enter")
    assert bodies.nth(2).locator("table").first.is_visible()
    assert folds.nth(2).get_attribute("aria-expanded") == "true"
    page.evaluate("location.hash = 'm9-auditability'")
    page.locator("#m9-auditability table").first.wait_for(state="visible")
    page.get_by_role("button", name="Close all sections").click()
    assert not any(body.is_visible() for body in bodies.all())
    page.get_by_role("button", name="Open all sections").click()
    assert all(body.is_visible() for body in bodies.all())


def test_all_sections_are_there_without_script_and_on_paper(published: Path, opened: Any) -> None:
    """Nothing of a long page is missing where no script runs, or where it is printed."""
    file = published / "bm-demo-ward/1.1.0/dimensions.html"
    plain = opened(file, java_script_enabled=False).page
    tables = plain.locator("figure > .table table")
    assert tables.count() > 10
    assert all(table.is_visible() for table in tables.all())
    printed = opened(file).page
    printed.emulate_media(media="print")
    assert all(table.is_visible() for table in printed.locator("figure > .table table").all())
    assert not printed.locator(".folding").is_visible()


def test_a_table_says_that_it_scrolls_as_long_as_it_does(published: Path, opened: Any) -> None:
    """The board says that columns lie to the right until they are seen; a table that fits says nothing."""
    page = opened(published / "bm-demo-ward/1.1.0/index.html").page
    hint = page.locator("#board .more")
    assert hint.is_visible()
    page.locator("#board .mg-scroll").evaluate("scroller => { scroller.scrollLeft = scroller.scrollWidth; }")
    hint.wait_for(state="hidden")
    page.set_viewport_size({"width": 2400, "height": 900})
    assert not page.locator("#community .more").is_visible()


def test_one_file_holds_the_files_of_its_figures(others: Path, opened: Any) -> None:
    """Links of the single file save the same bytes as the files of the folder."""
    page = opened(others / SINGLE).page
    open_details(page)
    for label, name in (("CSV", "subjects.csv"), ("Vega-Lite", "subjects.vl.json"), ("SVG", "subjects.svg")):
        with page.expect_download() as saving:
            page.locator("#summary-subjects").get_by_role("link", name=label).click()
        assert saving.value.suggested_filename == name
        assert Path(saving.value.path()).read_bytes() == (others / "figures" / name).read_bytes()


def test_one_file_is_navigated_by_its_pages_and_sections(report: Path, opened: Any) -> None:
    """Each link to a page or a section of the single file leads to a place in it."""
    page = opened(report / SINGLE).page
    labels = page.locator("nav.pages a").all_inner_texts()
    assert len(labels) == len(notebook_files(PROJECT))
    page.locator("nav.pages a").nth(2).click()
    assert page.evaluate("document.querySelector(':target').tagName") == "SECTION"
    assert page.evaluate("Math.abs(document.querySelector(':target').getBoundingClientRect().top) < 100")
    targets = page.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.getAttribute('href').slice(1))"
    )
    assert page.evaluate("targets => targets.filter(id => !document.getElementById(id))", targets) == []
    assert len(targets) > 10


WIDER = """() => [...document.querySelectorAll("main :is(table, svg, img, pre)")]
    .filter(element => element.getBoundingClientRect().right > innerWidth + 1)
    .map(element => element.outerHTML.slice(0, 80))"""

SMALL = """(least) => {
    const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    const found = [];
    for (let text; (text = texts.nextNode()); ) {
        const range = document.createRange();
        range.selectNodeContents(text);
        const { width, height } = range.getBoundingClientRect();
        const parent = text.parentElement;
        if (width < 2 || height < 2 || parent.closest(".mg-sr, .of, caption")) continue;
        const shape = parent.closest("svg") && parent.getScreenCTM();
        let scale = shape ? Math.hypot(shape.a, shape.b) : 1;
        for (let one = parent; one && !shape; one = one.parentElement) scale *= getComputedStyle(one).zoom;
        const points = parseFloat(getComputedStyle(parent).fontSize) * scale * 0.75;
        if (points < least) found.push([points, text.data.slice(0, 40)]);
    }
    return found;
}"""
"""Texts on paper that are smaller than so many points, whatever made them so."""


@pytest.mark.parametrize("which", ["report", "ward"])
def test_everything_is_there_and_legible_on_paper(
    which: str, report: Path, published: Path, opened: Any
) -> None:
    """On landscape A4 no table or chart is wider than the paper, data are open, and no text is below 6 pt."""
    folder = report if which == "report" else published / "bm-demo-ward/1.1.0"
    page = opened(folder / SINGLE, 1032).page
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(WIDER) == []
    assert page.evaluate(SMALL, 6) == []
    assert len(page.evaluate(SMALL, 9)) > 100
    assert page.locator("details.data:not([open])").count() == 0
    assert not page.locator(".highlight").is_visible()
    cells = page.locator("#summary-board details.data tbody tr").first.locator("td")
    assert cells.first.evaluate("cell => getComputedStyle(cell, '::before').content") == '"rank "'


def test_the_pdf_is_tagged_and_has_an_outline(others: Path) -> None:
    """Chromium prints the single file as a tagged PDF with one bookmark a heading."""
    made = printed((others / SINGLE).read_text(encoding="utf-8"))
    assert made.startswith(b"%PDF")
    for part in (b"/StructTreeRoot", b"/Outlines", b"/Marked true", b"/Lang (en)"):
        assert part in made
    assert len(re.findall(rb"/Type /Page\b", made)) >= 4
