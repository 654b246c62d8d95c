"""Figures of a page: what an output says of itself, its drawing, its data, and the files it leaves."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from markupsafe import Markup

from medgauge_lib.charts import drawing
from medgauge_lib.charts.figure import FIGURE, TABLE
from medgauge_lib.errors import InputError
from medgauge_lib.export.formats import csv_bytes
from medgauge_lib.report.markup import data_uri, numbered_svg, sanitized, script_json
from medgauge_lib.schema import quoted

_ANY_VEGA_LITE = re.compile(r"application/vnd\.vegalite\.v[56]\+json")

ROWS_ON_PAGE = 500
"""How many rows of a figure's data a page shows; the CSV file holds them all."""

SVG_ON_PAGE = 100_000
"""The largest drawing, in bytes, that a page carries as SVG; above it the page carries a PNG."""

_ID = re.compile(r"[a-z][a-z0-9_-]*")
_STYLE = re.compile(r"\s*<style>(.*?)</style>", re.DOTALL)
_KINDS = {
    "csv": ("CSV", "text/csv"),
    "vl.json": ("Vega-Lite", "application/json"),
    "svg": ("SVG", "image/svg+xml"),
}
_LANDMARK, _GROUP = (Markup(f'<div class="mg-scroll" role="{role}"') for role in ("region", "group"))
"""A document may show one table twice, and the names of landmarks are unique in it."""

_PROVENANCE = {
    "recomputed": "Recomputed from the runs",
    "as published": "As published in the records",
    "mixed": "Partly recomputed from the runs, partly as published",
    "recomputed from corpora": "Recomputed from the corpora and submissions",
    "recomputed from reviews": "Recomputed from the submissions and their reviews",
    "as recorded": "As recorded by the judge",
    "simulated": "Simulated",
    "computed": "Computed for a plan, from no data",
    "counted": "Counted from the labels of the tasks",
}


@dataclass(frozen=True)
class PageFigure:
    """One figure as the template needs it.

    Attributes
    ----------
    id, title, caption, alt, provenance : str
        What the figure says of itself; `provenance` in words for readers.
    level : int
        Level of its heading.
    columns, rows : tuple
        Its data as text and numbers, the first `ROWS_ON_PAGE` rows of them.
    n_rows : int
        How many rows the data has.
    html : Markup or None
        Its table where it is one.
    spec : Markup or None
        Its Vega-Lite spec as JSON where it is a chart.
    image : str
        Source of its still image where it is a chart.
    width, height : int
        Size of the drawing in pixels; 0 where it is a table.
    themed : bool
        Whether its chart keeps to the colours of `charts.theme`, which have twins on a dark page.
    style : str
        Style sheet that came with its table.
    anchor : str
        Id of its element.
    files : mapping
        What it leaves beside the page: path and content.
    downloads : tuple of (str, str, str)
        Label, address and file name of each of them, in the order of a reader's interest.
    """

    id: str
    title: str
    caption: str
    alt: str
    provenance: str
    level: int
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    n_rows: int = 0
    html: Markup | None = None
    spec: Markup | None = None
    image: str = ""
    width: int = 0
    height: int = 0
    themed: bool = False
    style: str = ""
    anchor: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    downloads: tuple[tuple[str, str, str], ...] = ()


def is_figure(data: Mapping[str, Any]) -> bool:
    """Tell whether an output is a figure: it says so, or it is a Vega-Lite chart."""
    return FIGURE in data or spec_in(data) is not None


def page_figure(data: Mapping[str, Any], *, number: int, level: int, within: str = "") -> PageFigure:
    """Make a figure from the data of one output.

    Parameters
    ----------
    data : mapping
        Media type to content.
    number : int
        Its number on the page, from 1; names a chart that does not name itself.
    level : int
        Level of its heading.
    within : str
        Name of the page where it is one of several in a document: the figure's anchor then begins with it,
        and its files are within their links.

    Returns
    -------
    PageFigure
        With its files.

    Raises
    ------
    InputError
        For an id that is no word, or a chart that cannot be drawn without the network.
    """
    spec = spec_in(data)
    about = _about(data, spec, number)
    if not _ID.fullmatch(about["id"]):
        raise InputError(
            f"figure id {quoted(about['id'])} is no word of a-z, 0-9, _ and -",
            'call it something like "forest"',
        )
    table = data.get(TABLE) or {"columns": [], "rows": []}
    columns, rows = tuple(map(str, table["columns"])), table["rows"]
    figure = PageFigure(
        id=about["id"],
        title=about["title"],
        caption=about["caption"],
        alt=about["alt"],
        provenance=about["provenance"],
        level=level,
        columns=columns,
        rows=tuple(tuple(_cell(value) for value in row) for row in rows[:ROWS_ON_PAGE]),
        n_rows=len(rows),
        anchor=f"{within}-{about['id']}" if within else about["id"],
        files={f"figures/{about['id']}.csv": csv_bytes(columns, rows)} if columns else {},
    )
    if spec is None:
        style, html = _style_apart(str(data.get("text/html", "")))
        figure = replace(figure, html=Markup(sanitized(html).replace(_LANDMARK, _GROUP)), style=style)
    else:
        figure = _chart(figure, spec, data)
    return replace(figure, downloads=tuple(_downloads(figure, inline=bool(within))))


def _downloads(figure: PageFigure, *, inline: bool) -> Iterator[tuple[str, str, str]]:
    """Give label, address and file name of each file of a figure."""
    for path, content in figure.files.items():
        name = path.rpartition("/")[2]
        label, kind = _KINDS[name.partition(".")[2]]
        yield label, data_uri(content, kind) if inline else path, name


def _chart(figure: PageFigure, spec: dict[str, Any], data: Mapping[str, Any]) -> PageFigure:
    """Add spec, drawing and still image to a figure."""
    svg, width, height = _drawing(spec, figure.id, data)
    text = json.dumps(spec, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    return replace(
        figure,
        spec=script_json(spec),
        image=_image(svg, data),
        width=width,
        height=height,
        themed="medgauge" in spec.get("usermeta", {}),
        files={
            **figure.files,
            f"figures/{figure.id}.vl.json": text.encode(),
            f"figures/{figure.id}.svg": svg,
        },
    )


def spec_in(data: Mapping[str, Any]) -> dict[str, Any] | None:
    """Find the Vega-Lite spec of an output.

    Parameters
    ----------
    data : mapping
        Media type to content.

    Returns
    -------
    dict or None
        None where the output is no chart.

    Examples
    --------
    >>> spec_in({"text/plain": "x"}), spec_in({"application/vnd.vegalite.v6+json": {"mark": "bar"}})
    (None, {'mark': 'bar'})
    """
    return next((spec for kind, spec in sorted(data.items()) if _ANY_VEGA_LITE.fullmatch(kind)), None)


def _about(data: Mapping[str, Any], spec: Mapping[str, Any] | None, number: int) -> dict[str, str]:
    """Give what a figure says of itself; a chart that says nothing is named by its number."""
    told = data.get(FIGURE, {})
    title = (spec or {}).get("title")
    if isinstance(title, dict):
        title = title.get("text")
    name = str(told.get("title") or (title if isinstance(title, str) else "") or f"Figure {number}")
    alt = str(told.get("alt") or (spec or {}).get("description") or name)
    provenance = str(told.get("provenance", ""))
    return {
        "id": str(told.get("id") or f"figure-{number}"),
        "title": name,
        "caption": str(told.get("caption", "")),
        "alt": alt,
        "provenance": _PROVENANCE.get(provenance, provenance),
    }


def _cell(value: Any) -> Any:
    """Show one value of a figure's data; what is absent is an empty cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, int | float) else str(value)


def _style_apart(html: str) -> tuple[str, str]:
    """Part the style sheet a table begins with from its markup; one that could end its element is dropped."""
    found = _STYLE.match(html)
    if found is None:
        return "", html
    return ("" if "<" in found[1] else found[1].strip()), html[found.end() :]


def _drawing(spec: dict[str, Any], figure: str, data: Mapping[str, Any]) -> tuple[bytes, int, int]:
    """Give a chart as SVG, drawn without the network; gives its size in pixels besides."""
    svg = data.get("image/svg+xml")
    if svg is None:
        try:
            svg = drawing.svg(spec)
        except ValueError as error:
            reason = next(iter(str(error).splitlines()), "")[:200]
            remedy = "keep its data in the notebook; nothing is loaded"
            raise InputError(f"figure {figure} cannot be drawn: {reason}", remedy) from None
    svg = numbered_svg(str(svg), figure)
    size = re.match(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"', svg)
    width, height = (round(float(part)) for part in size.groups()) if size else (0, 0)
    return svg.encode(), width, height


def _image(svg: bytes, data: Mapping[str, Any]) -> str:
    """Give the still image a page shows before and without its script."""
    if len(svg) < SVG_ON_PAGE:
        return data_uri(svg, "image/svg+xml")
    if "image/png" in data:
        return "data:image/png;base64," + re.sub(r"[^A-Za-z0-9+/=]", "", str(data["image/png"]))
    return data_uri(drawing.png(svg.decode()), "image/png")
