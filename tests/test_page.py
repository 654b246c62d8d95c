"""An executed notebook becomes one page: ordered headings, everything escaped, every figure with its data."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from html.parser import HTMLParser
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from make_reports import HOSTILE, figure_data, output, spec

from medgauge_lib.errors import InputError
from medgauge_lib.report.exporter import PageExporter
from medgauge_lib.report.figures import ROWS_ON_PAGE, SVG_ON_PAGE
from medgauge_lib.report.markup import Headings, markdown, numbered_svg, sanitized, script_json
from medgauge_lib.report.page import TEXT_ON_PAGE, PageContext, page_label, page_of
from medgauge_lib.report.single import single_page

MARKDOWN = nbformat.v4.new_markdown_cell
CODE = nbformat.v4.new_code_cell

VOID = {"meta", "img", "br", "hr", "link", "input", "col", "wbr"}


class Elements(HTMLParser):
    """The elements of a page in order: name, attributes, text directly inside, and the names around it."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str], list[str], tuple[str, ...]]] = []
        self._open: list[tuple[str, dict[str, str], list[str], tuple[str, ...]]] = []
        self.feed(page)
        self.close()
        assert not self._open, self._open[-1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        around = tuple(element[0] for element in self._open)
        element = (tag, {name: value or "" for name, value in attrs}, [], around)
        self.found.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        """Close the latest element, which must be of this name."""
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        """Keep text with its element."""
        if self._open:
            self._open[-1][2].append(data)

    def all(self, *tags: str) -> list[tuple[str, dict[str, str], str, tuple[str, ...]]]:
        """Elements of these names with their text."""
        return [(tag, attrs, "".join(text), around) for tag, attrs, text, around in self.found if tag in tags]


def page(*cells: Any, name: str = "made", context: PageContext | None = None) -> tuple[str, dict[str, bytes]]:
    """Make the page of a notebook of these cells, and its files."""
    notebook = nbformat.v4.new_notebook(cells=list(cells))
    return page_of(notebook, name, context or PageContext(title=page_label(name)))


def shown(*outputs: Any, source: str = "x") -> Any:
    """Make a code cell with outputs."""
    return CODE(source, outputs=list(outputs))


def headings(html: str) -> list[tuple[int, str]]:
    """Return level and text of every heading of a page."""
    return [(int(tag[1]), text) for tag, _, text, _ in Elements(html).all("h1", "h2", "h3", "h4", "h5", "h6")]


def test_headings_are_in_order_whatever_the_notebook_writes() -> None:
    """A page has one h1 and leaves no level out; a figure's title is one below the section it is in."""
    html, _ = page(
        MARKDOWN("# Title\n\n# Second\n\n##### Deep"),
        shown(output(figure_data())),
        MARKDOWN("# Third\n\nA\n=\n\nB\n-"),
    )
    assert headings(html) == [
        (1, "Title"), (2, "Second"), (3, "Deep"), (4, "Title text"), (2, "Third"), (2, "A"), (2, "B"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "first"), [("no heading", "My page"), ("## Section", "My page"), ("", "My page")]
)
def test_a_notebook_without_a_title_is_called_by_its_name(text: str, first: str) -> None:
    """Where the first heading is no title, the name of the notebook is."""
    html, _ = page(MARKDOWN(text), CODE("1"), name="my_page")
    assert headings(html)[0] == (1, first)
    assert [level for level, _ in headings(html)].count(1) == 1


@given(st.lists(st.integers(1, 6), max_size=8))
def test_no_sequence_of_headings_leaves_a_level_out(levels: list[int]) -> None:
    """Levels grow by at most one from heading to heading, and there is at most one h1."""
    numbers = Headings(first_is_title=bool(levels) and levels[0] == 1)
    placed = [numbers.next(level) for level in levels]
    before = [1, *placed]
    assert all(after - earlier <= 1 for earlier, after in zip(before, placed, strict=False))
    assert placed.count(1) == (bool(levels) and levels[0] == 1)


def test_a_page_has_its_landmarks_and_names() -> None:
    """A page has header, navigation with its place marked, main, footer, and a way past the navigation."""
    context = PageContext(
        title="Report", benchmark="bm-a", version="1.10.0", subset="dev",
        pages=(("Summary", "index.html"), ("Groups", "groups.html")), current="groups.html",
        home="../../index.html",
        facts=(("Seed", "1"),), links=(("Manifest", "manifest.json"),),
    )  # fmt: skip
    html, _ = page(MARKDOWN("# Groups"), context=context)
    elements = Elements(html)
    assert html.startswith('<!DOCTYPE html>\n<html lang="en">')
    landmarks = elements.all("header", "nav", "main", "footer")
    assert [(tag, attrs.get("class")) for tag, attrs, *_ in landmarks] == [
        ("header", "report"), ("nav", "pages"), ("main", None), ("nav", "neighbours"), ("footer", None),
    ]  # fmt: skip
    assert elements.all("title")[0][2] == "Groups – Report"
    links = {text: attrs for _, attrs, text, _ in elements.all("a")}
    assert links["Skip to the content"]["href"] == "#main"
    assert links["Groups"] == {"href": "groups.html", "aria-current": "page"}
    assert "aria-current" not in links["Summary"]
    assert {"All reports", "Manifest"} <= set(links)
    for words in ("bm-a", "version 1.10.0", "subset dev"):
        assert words in html


def test_a_page_lists_its_sections_and_its_neighbours() -> None:
    """Sections are listed by their words where there are several; the pages before and after are linked."""
    context = PageContext(
        title="R",
        pages=(("One", "index.html"), ("Two", "two.html"), ("Three", "three.html")),
        current="two.html",
    )
    html, _ = page(
        MARKDOWN("# T\n\n## A *b* & c\n\n### Deeper"), MARKDOWN("## A b c"), CODE("1"), context=context
    )
    links = {text: attrs for _, attrs, text, around in Elements(html).all("a") if around.count("nav")}
    assert links["A b & c"]["href"] == "#section-a-b-c"
    assert links["A b c"]["href"] == "#section-a-b-c-2"
    assert "Deeper" not in links
    assert {attrs["href"]: attrs["rel"] for attrs in links.values() if "rel" in attrs} == {
        "index.html": "prev", "three.html": "next",
    }  # fmt: skip
    assert "On this page" not in page(MARKDOWN("# T\n\n## A"))[0]


@pytest.mark.parametrize(
    ("current", "around"), [(0, (None, 1)), (1, (0, 2)), (2, (1, None)), (None, (None, None))]
)
def test_the_first_and_the_last_page_have_one_neighbour(current: int | None, around: tuple[Any, Any]) -> None:
    """There is nothing before the first page and nothing after the last."""
    pages = (("a", "a.html"), ("b", "b.html"), ("c", "c.html"))
    context = PageContext(title="R", pages=pages, current="" if current is None else pages[current][1])
    assert context.neighbours == tuple(None if place is None else pages[place] for place in around)


def whole(*pages: tuple[str, list[Any]], **context: Any) -> str:
    """Return one document of several pages, each a name and its cells."""
    return single_page(
        PageContext(title="Report", **context),
        [(name, nbformat.v4.new_notebook(cells=cells)) for name, cells in pages],
    )


TWO = (
    ("summary", [MARKDOWN("# The board\n\n## Words\n\n## More"), shown(output(figure_data("bars")))]),
    (
        "failure_attribution",
        [MARKDOWN("## Words"), shown(output(figure_data("bars", html="<table></table>")))],
    ),
)


def test_one_document_holds_all_pages_in_order() -> None:
    """The report is the only h1, its pages are one below it, and no level is left out."""
    html = whole(*TWO)
    assert headings(html) == [
        (1, "Report"), (2, "The board"), (3, "Words"), (3, "More"), (4, "Title text"),
        (2, "Failure attribution"), (3, "Words"), (4, "Title text"),
    ]  # fmt: skip
    links = {text: attrs["href"] for _, attrs, text, _ in Elements(html).all("a")}
    assert links["Summary"] == "#summary"
    assert links["Failure attribution"] == "#failure_attribution"
    assert links["More"] == "#summary-section-more"


def test_every_id_of_one_document_is_unique_and_every_link_leads_somewhere() -> None:
    """Two pages may have sections and figures of the same name."""
    elements = Elements(whole(*TWO))
    ids = [attrs["id"] for _, attrs, _, _ in elements.found if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {"summary-bars", "failure_attribution-bars", "summary-section-words"} < set(ids)
    for _, attrs, _, _ in elements.found:
        for name in {"src", "href", "aria-labelledby"} & set(attrs):
            address = attrs[name]
            assert address.startswith("data:") or address.removeprefix("#") in ids


def test_a_table_shown_twice_is_no_landmark_twice() -> None:
    """The scrolling region of a table keeps its name and its place in the tab order, as a group."""
    region = '<div class="mg-scroll" role="region" tabindex="0" aria-label="Board"><table></table></div>'
    html = whole(
        *((name, [shown(output(figure_data("board", html=region)))]) for name in ("summary", "groups"))
    )
    found = [attrs for _, attrs, _, _ in Elements(html).all("div") if attrs.get("class") == "mg-scroll"]
    assert found == [{"class": "mg-scroll", "role": "group", "tabindex": "0", "aria-label": "Board"}] * 2


def test_one_document_holds_the_files_of_its_figures() -> None:
    """A link of the document holds the bytes that the page of a folder links to."""
    _, files = page(*TWO[0][1])
    links = [attrs for _, attrs, _, _ in Elements(whole(TWO[0])).all("a") if "download" in attrs]
    found = {attrs["download"]: base64.b64decode(attrs["href"].partition(",")[2]) for attrs in links}
    assert found == {path.removeprefix("figures/"): files[path] for path in files if "figures/" in path}
    assert [attrs["href"].partition(";")[0] for attrs in links] == [
        "data:text/csv", "data:application/json", "data:image/svg+xml",
    ]  # fmt: skip


def test_the_policy_of_one_document_names_the_hash_of_each_script() -> None:
    """The one file runs its two scripts and nothing from beside it; without a chart it has one."""
    for pages, count in ((TWO, 2), (TWO[1:], 1)):
        elements = Elements(whole(*pages))
        (policy,) = [attrs["content"] for _, attrs, _, _ in elements.all("meta") if "http-equiv" in attrs]
        scripts = [text for _, attrs, text, _ in elements.all("script") if "type" not in attrs]
        assert len(scripts) == count
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
        sources = " ".join(f"'sha256-{digest}'" for digest in digests)
        assert f"script-src {sources};" in policy
        assert "file:" not in policy
        assert "'self'" not in policy


def test_one_document_is_the_same_every_time_and_holds_hostile_text_as_text() -> None:
    """The same pages give the same bytes; whatever a string holds, the elements are the same."""

    def made(text: str) -> str:
        cells = [
            MARKDOWN("# T"),
            shown(output(figure_data("bars", text, chart=spec([text]), provenance=text))),
        ]
        return whole(("summary", cells), benchmark=text, version=text, subset=text, facts=((text, text),))

    assert made(HOSTILE) == made(HOSTILE)
    assert [found[0] for found in Elements(made(HOSTILE)).found] == [
        found[0] for found in Elements(made("x")).found
    ]


def test_every_figure_has_what_a_reader_needs() -> None:
    """A figure has an id, a title, its drawing with alternative text, a caption, its data and its files."""
    context = PageContext(title="R", command="medgauge reproduce reports/bm-a/1")
    html, files = page(MARKDOWN("# T"), shown(output(figure_data("bars"))), context=context)
    elements = Elements(html)
    (figure,) = elements.all("figure")
    assert figure[1]["id"] == "bars"
    (image,) = elements.all("img")
    assert image[1]["alt"] == "Alternative text"
    assert image[1]["src"].startswith("data:image/svg+xml;base64,")
    assert int(image[1]["width"]) > 500
    assert "Caption text" in html
    assert "Recomputed from the runs" in html
    rows = [text for _, _, text, around in elements.all("th", "td") if "details" in around]
    assert rows == ["n", "Column text", "0.1", "text", "", "b"]
    links = [attrs for _, attrs, _, _ in elements.all("a") if "download" in attrs]
    downloads = {attrs["href"] for attrs in links}
    assert all(attrs["href"] == f"figures/{attrs['download']}" for attrs in links)
    assert downloads == {"figures/bars.csv", "figures/bars.vl.json", "figures/bars.svg"} <= set(files)
    assert "<code>medgauge reproduce reports/bm-a/1 --figure bars</code>" in html
    assert all("open" not in attrs for _, attrs, _, _ in elements.all("details"))


def test_the_files_of_a_figure_hold_its_data_and_spec() -> None:
    """The CSV is the whole table, exactly; the spec is the notebook's; the drawing is an SVG."""
    data = figure_data("bars", 'a "quoted", text\nof two lines')
    _, files = page(shown(output(data)))
    table = list(csv.reader(io.StringIO(files["figures/bars.csv"].decode(), newline="")))
    assert table == [
        ["n", 'Column a "quoted", text\nof two lines'],
        ["0.1", 'a "quoted", text\nof two lines'],
        ["", "b"],
    ]
    assert json.loads(files["figures/bars.vl.json"]) == spec()
    assert files["figures/bars.svg"].startswith(b"<svg ")


def test_specs_reach_the_page_unchanged() -> None:
    """The spec in the page is the spec of the notebook, whatever its strings hold."""
    chart = spec([HOSTILE, "b"])
    html, _ = page(shown(output(figure_data(chart=chart))))
    (element,) = [
        found for found in Elements(html).all("script") if found[1].get("type") == "application/json"
    ]
    assert json.loads(element[2]) == chart
    assert element[2].isascii()


def test_a_table_is_shown_with_the_style_it_brings() -> None:
    """A table keeps its markup; its style sheet moves to the head unless it could end the element there."""
    html, files = page(
        shown(output(figure_data("board", html="<style>.x { color: red }</style><table class='x'></table>")))
    )
    assert "<style>.x" not in html
    assert ".x { color: red }" in Elements(html).all("style")[0][2]
    assert '<table class="x"></table>' in html
    assert set(files) == {"figures/board.csv"}
    html, _ = page(shown(output(figure_data("board", html="<style>a</b></style><table></table>"))))
    assert "a</b>" not in html


def test_hostile_text_is_text_in_every_place() -> None:
    """Whatever a string holds, the page has the elements it has with a harmless one."""

    def everything(text: str) -> str:
        cell = shown(
            output(figure_data("bars", text, chart=spec([text]), provenance=text)),
            output(figure_data("board", text, html="<table></table>")),
            output({"text/plain": text}),
            output({"text/markdown": text}),
            output({"image/png": "AAAA", "text/plain": text}),
            nbformat.v4.new_output("stream", text=text),
            nbformat.v4.new_output("error", ename=text, evalue=text, traceback=[text]),
            source=text,
        )
        pages = ((text, "index.html"),)
        context = PageContext(
            text, text, text, text, pages, text, "up", text, ((text, text),), ((text, "x"),)
        )
        return page(MARKDOWN("# T"), cell, nbformat.v4.new_raw_cell(text), context=context)[0]

    hostile, harmless = everything(HOSTILE), everything("harmless")
    assert [found[0] for found in Elements(hostile).found] == [found[0] for found in Elements(harmless).found]
    for _, attrs, _, _ in Elements(hostile).found:
        assert not [name for name in attrs if name.startswith("on")]


@given(st.text(max_size=60))
def test_any_text_in_a_figure_is_shown_as_it_is(text: str) -> None:
    """Titles and cells of a figure reach the reader as they are, and add no element."""
    words = text.replace("\r", " ").replace("\x00", " ")
    html, _ = page(shown(output(figure_data("board", words, html="<table></table>"))))
    cells = [cell for _, _, cell, around in Elements(html).all("td") if "details" in around]
    assert cells == ["0.1", words, "", "b"]


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ('<img src="http://a.b/c.png" alt="words">', "words"),
        ('<img src="data:image/svg+xml;base64,AAAA">', ""),
        ('<img src="data:image/png;base64,AAAA">', '<img src="data:image/png;base64,AAAA" alt="">'),
        ('<a href="javascript:x()">a</a>', "<a>a</a>"),
        ('<a href="java\nscript:x()">a</a>', "<a>a</a>"),
        ('<a href="data:text/html,x">a</a>', "<a>a</a>"),
        ('<a href=" DA&#9;TA:text/html,x">a</a>', "<a>a</a>"),
        ('<a href="&#1;d&#10;ata:text/html,x">a</a>', "<a>a</a>"),
        ('<a href="https://a.b/" onclick="x()" target="_blank">a</a>', '<a href="https://a.b/">a</a>'),
        ("<p onclick=x() id=main>a</p>", "<p>a</p>"),
        ("<script>x()</script><style>a</style>b", "b"),
        ("<scr<script></script>ipt>x()</script>", "ipt&gt;x()"),
        ("<svg><script>x()</script></svg>", "<svg></svg>"),
        ("<svg><title>a<img src=x onerror=x()></title></svg>", "<svg><title>a</title></svg>"),
        ("<svg viewbox='0 0 1 1'><foreignObject><p>a", '<svg viewBox="0 0 1 1"></svg>'),
        ("<svg><rect fill='url(//a.b/c#d)' stroke='u\\72l(//a.b)'/></svg>", "<svg><rect></rect></svg>"),
        ("<svg><rect fill='rgb(0 0 0)'/></svg>", '<svg><rect fill="rgb(0 0 0)"></rect></svg>'),
        ("<svg><a><set attributeName=href to=javascript:x()></set></a></svg>", "<svg><a></a></svg>"),
        ("<math><mi>a</mi></math>", ""),
        ("<iframe src=x></iframe>", ""),
        ("<noscript><p title='</noscript><img src=x onerror=x()>'>a", "&lt;p title=''&gt;a"),
        ("<form action=x><button>a</button></form>", "a"),
        ('<p title="<img> &lt;">a</p>', '<p title="&lt;img&gt; &lt;">a</p>'),
        ("<img alt='<script>'>", "&lt;script&gt;"),
        ("<img x1=1 alt=words>", "words"),
        ("<img title=' src=' alt=words>", "words"),
        ("<img title=' alt=' class=a>", ""),
        ("<!-- a -->b", "b"),
        ('<td style="width:1px;background:url(http://a.b);position:fixed">a</td>', 'a'),
        ('<p style="width:1px;background:url(//a.b);position:fixed">a</p>', '<p style="width:1px">a</p>'),
        ('<meta http-equiv="refresh" content="x">', ""),
        ("<b>open", "<b>open</b>"),
    ],
)  # fmt: skip
def test_foreign_html_is_made_harmless(html: str, kept: str) -> None:
    """Of HTML from elsewhere, only what can be read stays."""
    assert sanitized(html) == kept


def test_markdown_of_an_output_holds_no_html() -> None:
    """HTML in the markdown of an output is text; in a cell it is cleaned."""
    headings_ = Headings(first_is_title=False)
    assert markdown("a <b>b</b>", headings_, escape=True) == "<p>a &lt;b&gt;b&lt;/b&gt;</p>"
    assert markdown("a <b onclick=x()>b</b>", headings_, escape=False) == "<p>a <b>b</b></p>"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_in_a_script_is_the_same_and_cannot_end_it(value: Any) -> None:
    """JSON for a script element reads back as it was and has no character that means something to HTML."""
    text = script_json(value)
    assert json.loads(text) == value
    assert not set(text) & set("<>&\u2028\u2029")


def test_the_policy_lets_nothing_run_but_our_own() -> None:
    """The policy names every inline script and style of the page by its hash and allows no other."""
    html, files = page(shown(output(figure_data())))
    elements = Elements(html)
    (policy,) = [attrs["content"] for _, attrs, _, _ in elements.all("meta") if "http-equiv" in attrs]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["base-uri"] == directives["form-action"] == "'none'"
    assert directives["img-src"] == "data:"
    assert "unsafe" not in directives["script-src"] + directives["style-src"]
    for tag, source in (("script", "script-src"), ("style", "style-src")):
        for _, attrs, text, _ in elements.all(tag):
            if "src" in attrs:
                assert attrs["src"] in files
            elif attrs.get("type") != "application/json":
                digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
                assert f"'sha256-{digest}'" in directives[source]


def test_nothing_of_a_page_is_elsewhere() -> None:
    """Every address in a page is one of its own files, a data URI, or a place on the page."""
    html, files = page(MARKDOWN("# T\n\n## S"), shown(output(figure_data()), output({"image/png": "AAAA"})))
    elements = Elements(html)
    ids = {attrs["id"] for _, attrs, _, _ in elements.found if "id" in attrs}
    assert len(ids) == sum("id" in attrs for _, attrs, _, _ in elements.found)
    for _, attrs, _, _ in elements.found:
        for name in {"src", "href"} & set(attrs):
            address = attrs[name]
            assert address in files or address.startswith("data:image/") or address.removeprefix("#") in ids
        for name in {"aria-labelledby"} & set(attrs):
            assert attrs[name] in ids


def test_a_page_without_charts_needs_no_bundle() -> None:
    """The script that draws charts is there only where there is a chart."""
    html, files = page(MARKDOWN("# T"))
    assert "vega" not in "".join(files)
    assert "<script src" not in html
    _, files = page(shown(output(figure_data())))
    (bundle,) = [path for path in files if path.startswith("assets/")]
    assert re.fullmatch(r"assets/vega-[0-9a-f]{12}\.js", bundle)
    assert b"vegaEmbed" in files[bundle]


def test_two_figures_of_one_id_are_refused() -> None:
    """An id names one figure of a page."""
    with pytest.raises(InputError, match="two figures are called bars"):
        page(shown(output(figure_data()), output(figure_data())))


@pytest.mark.parametrize("name", ["../up", "A", "a b", "1", "x" + HOSTILE])
def test_an_id_that_is_no_word_is_refused(name: str) -> None:
    """An id becomes a file name, so it is a plain word."""
    with pytest.raises(InputError, match="is no word of a-z"):
        page(shown(output(figure_data(name))))


def test_a_chart_with_data_elsewhere_is_refused() -> None:
    """A chart that would load something cannot be drawn, and the message names it."""
    with pytest.raises(InputError, match="figure bars cannot be drawn"):
        page(shown(output(figure_data(chart=spec(data={"url": "https://example.org/a.json"})))))


def test_a_chart_that_says_nothing_of_itself_is_shown() -> None:
    """A chart of any notebook is a figure with a number, its own title and its own description."""
    chart = spec(title="Own title")
    html, files = page(shown(output({"application/vnd.vegalite.v5+json": chart}), output(figure_data())))
    assert (2, "Own title") in headings(html)
    assert 'alt="Bars of growing length."' in html
    assert "figures/figure-1.svg" in files
    assert "figures/figure-1.csv" not in files


def test_a_large_drawing_is_shown_as_a_picture() -> None:
    """Above the limit a page carries a PNG, the notebook's own where it has one."""
    chart = spec([f"bar {number}" for number in range(900)])
    html, files = page(shown(output(figure_data(chart=chart) | {"image/png": "AAAA\n"})))
    assert len(files["figures/bars.svg"]) > SVG_ON_PAGE
    assert 'src="data:image/png;base64,AAAA"' in html
    html, _ = page(shown(output(figure_data(chart=chart))))
    assert 'src="data:image/png;base64,iVBOR' in html


def test_long_data_are_cut_on_the_page_only() -> None:
    """A page shows the first rows and says so; the CSV holds all."""
    data = figure_data()
    data["application/vnd.medgauge.table+json"]["rows"] = [
        [number, "x"] for number in range(ROWS_ON_PAGE + 7)
    ]
    html, files = page(shown(output(data)))
    assert f"The first {ROWS_ON_PAGE} of {ROWS_ON_PAGE + 7} rows" in html
    assert files["figures/bars.csv"].count(b"\n") == ROWS_ON_PAGE + 8


def test_outputs_of_every_kind_become_a_piece_of_the_page() -> None:
    """Printed text, errors, tables and pictures are shown, without the colours of a terminal."""
    cell = shown(
        nbformat.v4.new_output("stream", text="\x1b[31mred\x1b[0m\x07 <b>\n"),
        nbformat.v4.new_output("error", ename="E", evalue="bad", traceback=[]),
        output({"text/html": "<table><tr><td>1</td></tr></table>", "text/plain": "poorer form"}),
        output({"image/svg+xml": "<svg/>", "text/plain": "A drawing"}),
        output({"image/jpeg": "AAAA"}),
        output({"text/latex": "$x$"}),
        output({"application/x-unknown+json": {}}),
    )
    html, _ = page(MARKDOWN("# T"), cell)
    for piece in (
        "red\ufffd &lt;b&gt;",
        "E: bad",
        "<td>1</td>",
        "data:image/svg+xml;base64,",
        'alt="A drawing"',
        "data:image/jpeg",
        "$x$",
    ):
        assert piece in html
    assert "poorer form" not in html
    assert "\x1b" not in html


def test_long_prints_are_cut_on_the_page() -> None:
    """A page shows the beginning of a long print and says how much more there is."""
    html, _ = page(shown(nbformat.v4.new_output("stream", text="x" * (TEXT_ON_PAGE + 5))))
    assert "x\n… 5 more characters in the notebook" in html


def test_code_is_closed_and_parameters_are_those_of_the_run() -> None:
    """Code of neighbouring cells is one closed block; the defaults a run replaced are not shown."""
    html, _ = page(
        MARKDOWN("# T"), CODE("import a"), CODE("seed = 'default'", metadata={"tags": ["parameters"]}),
        CODE("seed = 'given'", metadata={"tags": ["injected-parameters"]}), MARKDOWN("text"), CODE("b"),
    )  # fmt: skip
    blocks = [(attrs, around) for tag, attrs, _, around in Elements(html).all("details")]
    assert [attrs for attrs, _ in blocks] == [{"class": "code"}, {"class": "code"}]
    assert [text for _, _, text, _ in Elements(html).all("summary")] == [
        "Code and parameters of this run",
        "Code",
    ]
    assert "given" in html
    assert "default&#39;" not in html


def test_the_same_notebook_gives_the_same_page() -> None:
    """Drawings are numbered by figure, not by how many were drawn before."""
    clipped = spec(mark={"type": "bar", "clip": True})
    first = page(shown(output(figure_data(chart=clipped))))
    assert page(shown(output(figure_data(chart=clipped)))) == first
    assert numbered_svg('<clipPath id="clip12"/><g clip-path="url(#clip12)"/>', "a") == (
        '<clipPath id="a-1"/><g clip-path="url(#a-1)"/>'
    )


def test_the_exporter_is_found_by_nbconvert() -> None:
    """``jupyter nbconvert --to medgauge`` uses this exporter."""
    from nbconvert.exporters import get_exporter

    assert get_exporter("medgauge") is PageExporter
    notebook = nbformat.v4.new_notebook(cells=[MARKDOWN("# T"), shown(output(figure_data()))])
    html, resources = PageExporter().from_notebook_node(notebook, {"metadata": {"name": "made"}})
    assert (html, resources["outputs"]) == page(*notebook.cells)
