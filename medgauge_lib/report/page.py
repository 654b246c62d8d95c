"""Pages: an executed notebook becomes one HTML document that needs nothing from a network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import nbformat
from markupsafe import Markup

from medgauge_lib.charts import theme
from medgauge_lib.charts.tables import templates
from medgauge_lib.charts.words import NOTICE
from medgauge_lib.errors import InputError
from medgauge_lib.report import assets
from medgauge_lib.report.figures import PageFigure, is_figure, page_figure
from medgauge_lib.report.markup import Headings, csp_hash, data_uri, first_heading, markdown, sanitized

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

TEXT_ON_PAGE = 20_000
"""How many characters of one printed output a page shows; the notebook holds them all."""


@dataclass(frozen=True)
class PageContext:
    """Where a page stands in its report.

    Attributes
    ----------
    title, benchmark, version, subset : str
        Heading of every page.
    pages : tuple of (str, str)
        Label and address of each page of the report, in order.
    current : str
        Address of this page.
    home : str
        Address of the list of all reports; "" where there is none.
    command : str
        What reproduces a figure of this page, but for the figure's id; "" where it is not known.
    facts : tuple of (str, str)
        What the footer says: name and value.
    links : tuple of (str, str)
        Files the footer links to: label and address.
    """

    title: str
    benchmark: str = ""
    version: str = ""
    subset: str = ""
    pages: tuple[tuple[str, str], ...] = ()
    current: str = ""
    home: str = ""
    command: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()

    @property
    def neighbours(self) -> tuple[tuple[str, str] | None, tuple[str, str] | None]:
        """Label and address of the page before this one and of the one after it, None where there is none."""
        addresses = [href for _, href in self.pages]
        if self.current not in addresses:
            return None, None
        place = addresses.index(self.current)
        return (
            self.pages[place - 1] if place else None,
            self.pages[place + 1] if place + 1 < len(self.pages) else None,
        )


NOTEBOOK_ONLY = "notebook-only"
"""Tag of a cell for those who run the notebook: it stands on no page."""

INTERPRETS = "interprets"
"""Tag of a text that reads the figures right before it: where none is drawn, there is nothing to read."""


@dataclass(frozen=True)
class Block:
    """One piece of a page.

    Attributes
    ----------
    kind : str
        Name of the macro that shows it.
    markup : Markup or None
        Safe HTML, where the piece is one.
    text : str
        What was printed, or the image as a data URL.
    texts : tuple of str
        Code of neighbouring cells, or the paragraphs of a notice.
    label : str
        What sets the piece apart from others of its kind, such as ``error``, the words for an image, or the
        page that says more.
    figure : PageFigure or None
        The figure, where the piece is one.
    """

    kind: str
    markup: Markup | None = None
    text: str = ""
    texts: tuple[str, ...] = ()
    label: str = ""
    figure: PageFigure | None = None


@dataclass
class Content:
    """The pieces of one page, read from a notebook.

    Attributes
    ----------
    name : str
        Name of the notebook.
    title : str
        Title of the page.
    titled : bool
        Whether the first heading of the notebook is that title.
    headings : Headings
        Its headings so far, and the sections they begin.
    within : str
        `name` where the page is one of several in a document, "" where it stands alone.
    blocks : list of Block
        What it shows, in order.
    figures : dict of PageFigure
        Its figures by id.
    drawn : bool
        Whether a figure stands between the latest text and what comes next.
    """

    name: str
    title: str
    titled: bool
    headings: Headings
    within: str = ""
    blocks: list[Block] = field(default_factory=list)
    figures: dict[str, PageFigure] = field(default_factory=dict)
    drawn: bool = False


def page_of(notebook: nbformat.NotebookNode, name: str, context: PageContext) -> tuple[str, dict[str, bytes]]:
    """Make the page of an executed notebook.

    Parameters
    ----------
    notebook : NotebookNode
        Of format 4, executed.
    name : str
        Its name.
    context : PageContext
        Where the page stands in its report.

    Returns
    -------
    html : str
        The page.
    files : dict
        Every file the page needs or links to, by its path relative to the page.

    Raises
    ------
    InputError
        For two figures of one id, or a figure that cannot be drawn.
    """
    content = read_page(notebook, name)
    figures = tuple(content.figures.values())
    files = {path: written for figure in figures for path, written in figure.files.items()}
    bundle = ""
    if any(figure.spec for figure in figures):
        bundle, script = assets.vega_bundle()
        files[bundle] = script
    html = render(
        "page.html.j2",
        page=content,
        context=context,
        bundle=bundle,
        **sealed(style_sheet(figures), page_script(), elsewhere=True),
    )
    return html, files


def read_page(notebook: nbformat.NotebookNode, name: str, *, alone: bool = True) -> Content:
    """Read what a page shows from its notebook.

    Parameters
    ----------
    notebook : NotebookNode
        Of format 4, executed.
    name : str
        Its name.
    alone : bool
        False where the page is one of several in a document.

    Returns
    -------
    Content
        Its pieces in order.

    Raises
    ------
    InputError
        For two figures of one id, or a figure that cannot be drawn.
    """
    heading = first_heading(notebook)
    titled = heading is not None and heading[0] == 1
    title = heading[1] if heading and titled else page_label(name)
    within = "" if alone else name
    page = Content(name, title, titled, Headings(first_is_title=titled, within=within), within)
    # Where a run put parameters in, the defaults say nothing about the page.
    given = any("injected-parameters" in cell.metadata.get("tags", []) for cell in notebook.cells)
    for cell in notebook.cells:
        _read_cell(page, cell, hide_defaults=given)
    return page


def page_label(name: str) -> str:
    """Give the words for a page from the name of its notebook.

    Parameters
    ----------
    name : str
        Such as ``failure_attribution``.

    Returns
    -------
    str
        Such as ``Failure attribution``.

    Examples
    --------
    >>> page_label("failure_attribution")
    'Failure attribution'
    """
    words = name.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]


def _read_cell(page: Content, cell: nbformat.NotebookNode, *, hide_defaults: bool) -> None:
    """Append the pieces of one cell to the page."""
    tags = cell.metadata.get("tags", [])
    if not cell.source.strip() and not cell.get("outputs"):
        return
    if NOTEBOOK_ONLY in tags or (INTERPRETS in tags and not page.drawn):
        return
    if cell.cell_type == "markdown":
        page.drawn = False
        rendered = markdown(cell.source, page.headings, escape=False, attachments=cell.get("attachments"))
        page.blocks.append(Block("markup", markup=rendered))
    elif cell.cell_type == "raw":
        page.blocks.append(Block("printed", text=_printable(cell.source)))
    elif not (hide_defaults and "parameters" in tags):
        for output in cell.outputs:
            page.blocks.extend(_read_output(page, output))
            page.drawn |= page.blocks[-1].kind == "figure"
        label = "Code and parameters of this run" if "injected-parameters" in tags else "Code"
        _append_code(page, label, _printable(cell.source))


def _append_code(page: Content, label: str, text: str) -> None:
    """Append the code of a cell; cells with nothing between them share one block."""
    earlier: tuple[str, ...] = ()
    if page.blocks and page.blocks[-1].kind == "code":
        block = page.blocks.pop()
        label, earlier = max(label, block.label, key=len), block.texts
    page.blocks.append(Block("code", texts=(*earlier, text), label=label))


def _read_output(page: Content, output: nbformat.NotebookNode) -> Iterator[Block]:
    """Turn one output into pieces of the page, the richest form of it first."""
    if output.output_type == "stream":
        yield Block("printed", text=_printable(output.text))
        return
    if output.output_type == "error":
        yield Block("printed", text=_printable(f"{output.ename}: {output.evalue}"), label="error")
        return
    data = output.data
    if is_figure(data):
        number = len(page.figures) + 1
        figure = page_figure(data, number=number, level=page.headings.below(), within=page.within)
        if figure.id in page.figures:
            raise InputError(f"two figures are called {figure.id}", "give each figure its own id")
        page.figures[figure.id] = figure
        page.headings.note(figure.level, figure.title, figure.anchor)
        yield Block("figure", figure=figure)
    elif NOTICE in data:
        told = data[NOTICE]
        words = tuple(_printable(str(one)) for one in told["paragraphs"])
        yield Block("notice", texts=words, label=page_label(str(told["page"])))
    elif "text/html" in data:
        yield Block("markup", markup=sanitized(data["text/html"]), label="scroll")
    elif "text/markdown" in data:
        yield Block("markup", markup=markdown(data["text/markdown"], page.headings, escape=True))
    elif image := _image(data):
        yield Block("image", text=image, label=_printable(str(data.get("text/plain", "Image"))))
    elif "text/plain" in data or "text/latex" in data:
        yield Block("printed", text=_printable(data.get("text/plain") or data["text/latex"]))


def _image(data: Any) -> str:
    """Give the source of an output that is an image, "" where it is none."""
    if "image/svg+xml" in data:
        return data_uri(str(data["image/svg+xml"]).encode(), "image/svg+xml")
    for kind in ("image/png", "image/jpeg"):
        if kind in data:
            return f"data:{kind};base64," + re.sub(r"[^A-Za-z0-9+/=]", "", str(data[kind]))
    return ""


def _printable(text: str) -> str:
    """Take colours and control characters out of printed text, and cut it to what a page shows."""
    plain = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", _ANSI.sub("", text))
    if len(plain) > TEXT_ON_PAGE:
        plain = plain[:TEXT_ON_PAGE] + f"\n… {len(plain) - TEXT_ON_PAGE} more characters in the notebook"
    return plain


def render(template: str, **values: Any) -> str:
    """Render a template of this room.

    Parameters
    ----------
    template : str
        Its file name.
    **values
        What it shows; text is escaped.

    Returns
    -------
    str
        The document.
    """
    return str(templates("medgauge_lib.report", "template").get_template(template).render(**values))


def style_sheet(figures: tuple[PageFigure, ...] = ()) -> str:
    """Give the style sheet of one page: colours, the common rules, and those of its figures.

    Parameters
    ----------
    figures : tuple of PageFigure
        The figures of the page.

    Returns
    -------
    str
        CSS, to stand in a style element.
    """
    names = ("INK", "MUTED", "LINE", "VALUE", "GAP", "GROUP", "GROUP_REST", "PAGE")
    light = {f"--mg-{name.lower().replace('_', '-')}": getattr(theme, name) for name in names}
    dark = {name: theme.DARK[colour] for name, colour in light.items()}
    rules = [
        f":root {{ {_declarations(light)} }}",
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {_declarations(dark)} }}",
        f"{theme.stylesheet('.themed svg')} }}" if any(figure.themed for figure in figures) else "}",
        assets.template_text("page.css"),
        *dict.fromkeys(figure.style for figure in figures if figure.style),
        *(f"#{figure.anchor} {{ --natural: {figure.width}px; }}" for figure in figures if figure.width),
    ]
    return "\n".join(rules) + "\n"


def _declarations(values: dict[str, str]) -> str:
    """Write CSS declarations."""
    return " ".join(f"{name}: {value};" for name, value in values.items())


def page_script() -> str:
    """Give the one script of every page: drawing, tables, the subject that is highlighted, and sections.

    Returns
    -------
    str
        JavaScript, to stand in a script element.
    """
    return "".join(map(assets.template_text, ("charts.js", "tables.js", "subjects.js", "folds.js")))


def sealed(css: str, *scripts: str, elsewhere: bool = False) -> dict[str, Any]:
    """Give style sheet, scripts, and the content security policy under which nothing else acts.

    Parameters
    ----------
    css : str
        The style sheet of a document.
    *scripts : str
        Its inline scripts.
    elsewhere : bool
        Whether a script of its own folder may run besides.

    Returns
    -------
    dict
        ``css``, ``scripts`` and ``policy``, for a template.
    """
    sources = [csp_hash(script) for script in scripts] + ["'self' file:"] * elsewhere
    policy = "; ".join(
        (
            "default-src 'none'",
            *([f"script-src {' '.join(sources)}"] if sources else []),
            f"style-src {csp_hash(css)}",
            "style-src-attr 'unsafe-inline'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return {"css": Markup(css), "scripts": [Markup(script) for script in scripts], "policy": Markup(policy)}
