"""The one place where text that came from elsewhere becomes markup.

Every string of a record, a notebook or an output is untrusted. Markdown and HTML pass the allow-list of
``template/allowed.json``; a chart's drawing becomes the source of an image, where nothing in it can run; JSON
is escaped for a script element. Everything else is escaped by the template.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from html import unescape
from typing import TYPE_CHECKING, Any

import nbformat
from markupsafe import Markup

from medgauge_lib.report.assets import template_text

if TYPE_CHECKING:
    from nh3 import Cleaner

_IMAGE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+")
_IMAGE_TAG = re.compile(r'<img((?: [^ =]+="[^"]*")*)>')
_ATTRIBUTE = re.compile(r' ([^ =]+)="([^"]*)"')
_SKIPPED = re.compile(r"[\x00-\x20]+")  # what a browser skips before and within the scheme of an address
_PAINT_SERVER = re.compile(r"url|\\", re.IGNORECASE)
_DEFINITION = re.compile(r'<(clipPath|linearGradient|radialGradient) id="([^"]+)"')


@functools.cache
def _cleaner() -> Cleaner:
    """Make the sanitizer once: elements, attributes and style properties of the allow-list, and no others."""
    from nh3 import Cleaner

    allowed = {kind: set(names) for kind, names in json.loads(template_text("allowed.json")).items()}
    return Cleaner(
        tags=allowed["elements"],
        clean_content_tags={"script", "style"},
        attributes={"*": allowed["attributes"], "a": {"href"}, "img": {"src", "alt"}},
        attribute_filter=_address_kept,
        url_schemes={"http", "https", "mailto", "data"},
        filter_style_properties=allowed["style"],
        link_rel=None,
    )


def _address_kept(tag: str, name: str, value: str) -> str | None:
    """Keep an address unless it is data to go to, or an image or a paint that is not a value by itself."""
    refused = (
        (name == "href" and _SKIPPED.sub("", value).lower().startswith("data:"))
        or (name == "src" and not _IMAGE.fullmatch(value))
        or (name in ("fill", "stroke") and _PAINT_SERVER.search(value))
    )
    return None if refused else value


def _with_words(image: re.Match[str]) -> str:
    """Show the words of an image whose source was not allowed, and give every other one some words."""
    attributes = dict(_ATTRIBUTE.findall(image[1]))
    if "src" not in attributes:
        return Markup.escape(unescape(attributes.get("alt", "")))
    return image[0] if "alt" in attributes else f'<img{image[1]} alt="">'


def sanitized(html: str) -> Markup:
    """Keep of foreign HTML what can only be read.

    Parameters
    ----------
    html : str
        Any text.

    Returns
    -------
    Markup
        Elements, attributes, style properties and link schemes of the allow-list. Style sheets, scripts and
        MathML are left out whole; of every other element its content stays.

    Examples
    --------
    >>> sanitized('<b onclick="x()">1</b><script>x()</script><form>2</form>')
    Markup('<b>1</b>2')
    """
    return Markup(_IMAGE_TAG.sub(_with_words, _cleaner().clean(html)))


class Headings:
    """Keeps the headings of one page in order: a single h1, and no level left out.

    Parameters
    ----------
    first_is_title : bool
        Whether the first heading of the notebook is the title of the page; it then stays an h1.
    within : str
        Name of the page where it is one of several in a document: its title is then an h2, and its anchors
        begin with the name.

    Attributes
    ----------
    level : int
        Level of the latest heading.
    top : int
        Level of the title of the page.
    sections : list of (str, str)
        Words and anchor of each heading one below the title, in order.
    """

    def __init__(self, *, first_is_title: bool, within: str = "") -> None:
        self._title_to_come = first_is_title
        self._ids: dict[str, int] = {}
        self._prefix = f"{within}-" if within else ""
        self.top = self.level = 2 if within else 1
        self.sections: list[tuple[str, str]] = []

    def next(self, level: int) -> int:
        """Give the level the next heading gets on the page, from the level it was written with."""
        if self._title_to_come:
            self._title_to_come = False
            return self.top
        self.level = min(max(level, 2) + self.top - 1, self.level + 1, 6)
        return self.level

    def note(self, level: int, words: str, anchor: str) -> None:
        """Keep a heading in the list of sections where it is one."""
        if level == self.top + 1:
            self.sections.append((words, anchor))

    def below(self) -> int:
        """Give the level of a heading one below the latest."""
        return min(self.level + 1, 6)

    def anchor(self, text: str) -> str:
        """Make an id from a heading's text, unique on the page."""
        slug = (
            re.sub(r"[^a-z0-9]+", "-", re.sub(r"<[^>]*>|&[a-z0-9#]+;", "", text.lower())).strip("-")
            or "section"
        )
        self._ids[slug] = self._ids.get(slug, 0) + 1
        number = f"-{self._ids[slug]}" if self._ids[slug] > 1 else ""
        return f"{self._prefix}section-{slug}{number}"


def markdown(text: str, headings: Headings, *, escape: bool, attachments: Any = None) -> Markup:
    """Render markdown.

    Parameters
    ----------
    text : str
        Markdown; mathematics stays as it is written.
    headings : Headings
        The headings of the page so far.
    escape : bool
        Whether HTML in the text stays text; a cell's author may write some, an output may not.
    attachments : mapping, optional
        Images attached to the cell.

    Returns
    -------
    Markup
        Sanitized HTML.

    Examples
    --------
    >>> markdown("# A *b*", Headings(first_is_title=True), escape=True)
    Markup('<h1>A <em>b</em></h1>')
    """
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    pieces: list[tuple[int, str]] = []

    class Renderer(IPythonRenderer):
        """Gives headings the level of their place on the page."""

        def heading(self, text: str, level: int, **attrs: Any) -> str:
            placed = headings.next(level)
            pieces.append((placed, headings.anchor(text)))
            headings.note(placed, _words(text), pieces[-1][1])
            return f"<h{placed}>{text}</h{placed}>\n"

    renderer = Renderer(escape=escape, allow_harmful_protocols=False, attachments=attachments or {})
    html = str(sanitized(MarkdownWithMath(renderer=renderer).render(text))).strip()
    for level, anchor in pieces:
        if level > 1:
            html = html.replace(f"<h{level}>", f'<h{level} id="{anchor}">', 1)
    return Markup(html)


def _words(html: str) -> str:
    """Give the words of a heading without its markup."""
    return unescape(re.sub(r"<[^>]*>", "", html)).strip()


def first_heading(notebook: nbformat.NotebookNode) -> tuple[int, str] | None:
    r"""Give level and plain text of the first markdown heading, or None.

    Parameters
    ----------
    notebook : NotebookNode
        Any notebook.

    Returns
    -------
    tuple of int and str, or None
        Headings written with number signs count.

    Examples
    --------
    >>> cell = nbformat.v4.new_markdown_cell("# The *board*\n\nText")
    >>> first_heading(nbformat.v4.new_notebook(cells=[cell]))
    (1, 'The board')
    """
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            found = re.search(r"^(#{1,6})\s+(.+?)\s*#*$", cell.source, re.MULTILINE)
            if found:
                return len(found[1]), re.sub(r"[*_`]", "", found[2])
    return None


def script_json(value: Any) -> Markup:
    r"""Write JSON that can stand in a script element.

    Parameters
    ----------
    value : Any
        Anything JSON can hold; NaN and infinities are refused.

    Returns
    -------
    Markup
        ASCII JSON without ``<``, ``>`` and ``&``.

    Examples
    --------
    >>> script_json({"a": "</script>"})
    Markup('{"a":"\\u003c/script\\u003e"}')
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)


def numbered_svg(svg: str, figure: str) -> str:
    """Name the definitions of a drawing after its figure, so that they are the same in every build.

    Parameters
    ----------
    svg : str
        A drawing; Vega numbers its clip paths and gradients per process.
    figure : str
        Id of the figure.

    Returns
    -------
    str
        The drawing with ids such as ``forest-1``.

    Examples
    --------
    >>> numbered_svg('<clipPath id="clip7"/><g clip-path="url(#clip7)"/>', "forest")
    '<clipPath id="forest-1"/><g clip-path="url(#forest-1)"/>'
    """
    names: dict[str, str] = {}
    for _, name in _DEFINITION.findall(svg):
        names.setdefault(name, f"{figure}-{len(names) + 1}")
    for name in sorted(names, key=len, reverse=True):
        svg = svg.replace(f' id="{name}"', f' id="{names[name]}"').replace(
            f"url(#{name})", f"url(#{names[name]})"
        )
    return svg


def data_uri(content: bytes, kind: str) -> str:
    """Write the source of an image.

    Parameters
    ----------
    content : bytes
        The image.
    kind : str
        Its media type.

    Returns
    -------
    str
        A data URI.

    Examples
    --------
    >>> data_uri(b"GIF89a", "image/gif")
    'data:image/gif;base64,R0lGODlh'
    """
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def csp_hash(text: str) -> str:
    """Give the source expression that lets exactly this inline script or style sheet act.

    Parameters
    ----------
    text : str
        Content of the element, to the byte.

    Returns
    -------
    str
        For a content security policy (CSP level 3, section 2.3.1).

    Examples
    --------
    >>> csp_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"
