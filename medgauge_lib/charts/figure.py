"""A chart with everything a reader needs to use it: title, caption, alternative text, data, provenance.

A figure that would mislead is refused when it is made: without words, without marks, with a field its data
do not have, with data from elsewhere, or with more rows than a page should draw.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args
from xml.etree import ElementTree as ET

import altair as alt
import numpy as np
import pandas as pd

from medgauge_lib.charts import drawing, theme
from medgauge_lib.schema import near, quoted

Provenance = Literal[
    "recomputed",
    "as published",
    "mixed",
    "recomputed from corpora",
    "recomputed from reviews",
    "as recorded",
    "simulated",
    "computed",
    "counted",
]
"""Where numbers come from: a board, then finding quality, simulations of the method, plans, and labels."""

MAX_ROWS = 10_000
"""Rows of data a figure may draw."""

VEGA_LITE = "application/vnd.vegalite.v6+json"
TABLE = "application/vnd.medgauge.table+json"
FIGURE = "application/vnd.medgauge.figure+json"

_REMOTE = {"url", "href"}


def metadata(*, id: str, title: str, caption: str, alt: str, provenance: Provenance) -> dict[str, str]:  # noqa: A002
    """Check the words of a figure or table and return them.

    Raises
    ------
    ValueError
        If `id` is no slug, a text is empty, or `provenance` is unknown.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", id):
        raise ValueError(
            f"id must be lower-case words joined by hyphens, such as 'exam-bound', but got {id!r}"
        )
    for name, words in (("title", title), ("caption", caption), ("alternative text", alt)):
        if not words.strip():
            raise ValueError(f"figure {id}: {name} is missing")
    if provenance not in get_args(Provenance):
        known = ", ".join(get_args(Provenance))
        raise ValueError(f"figure {id}: provenance must be one of {known}, but got {provenance!r}")
    return {"id": id, "title": title, "caption": caption, "alt": alt, "provenance": provenance}


def table_json(table: pd.DataFrame) -> dict[str, list[Any]]:
    """Columns and rows of a table as plain values; what is missing is null.

    Examples
    --------
    >>> table_json(pd.DataFrame({"row": ["r", "s"], "value": [1.5, None]}))
    {'columns': ['row', 'value'], 'rows': [['r', 1.5], ['s', None]]}
    """
    lines = table.astype(object).itertuples(index=False)
    return {"columns": list(map(str, table.columns)), "rows": [list(map(_plain, line)) for line in lines]}


def _plain(value: Any) -> Any:
    """A value of a table as JSON has it: never NaN, every digit kept."""
    if pd.isna(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True)
class Figure:
    """A chart ready to be shown, exported and reproduced.

    Attributes
    ----------
    id, title, caption, alt : str
        Slug, heading, how to read it, and what it shows in words.
    spec : dict
        Vega-Lite specification with its data, in the colours of a light page and with no background.
    table : DataFrame
        The data behind the marks, not rounded.
    provenance : Provenance
        Whether the numbers come from runs or from what a record publishes.
    """

    id: str
    title: str
    caption: str
    alt: str
    spec: dict[str, Any] = field(repr=False)
    table: pd.DataFrame = field(repr=False, compare=False)
    provenance: Provenance = "recomputed"

    @cached_property
    def svg(self) -> str:
        """The chart as SVG."""
        return drawing.svg(self.spec)

    @property
    def n_marks(self) -> int:
        """Marks drawn from data, axes and legends aside."""
        return sum(len(group) for group in ET.fromstring(self.svg).iter() if _is_mark(group))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {
            VEGA_LITE: self.spec,
            TABLE: table_json(self.table),
            FIGURE: self.spec["usermeta"]["medgauge"],
            "image/svg+xml": self.svg,
            "image/png": base64.b64encode(drawing.png(self.svg)).decode("ascii"),
            "text/plain": self.alt,
        }


def _is_mark(group: ET.Element) -> bool:
    names = group.get("class", "").split()
    return "role-mark" in names and "mark-group" not in names


def figure(
    chart: alt.TopLevelMixin,
    *,
    id: str,  # noqa: A002 - the name a report uses
    title: str,
    caption: str,
    table: pd.DataFrame,
    provenance: Provenance = "recomputed",
) -> Figure:
    """Make a chart a figure of a report.

    Parameters
    ----------
    chart : Altair chart
        Its `description` is the alternative text.
    id : str
        Lower-case words joined by hyphens; unique in a report.
    title, caption : str
        What the figure shows, and how to read it.
    table : DataFrame
        The data behind the marks, not rounded.
    provenance : Provenance
        Where the numbers come from.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If words are missing, nothing is drawn, a field does not exist, data come from elsewhere, or there
        are more than 10,000 rows of data.

    Examples
    --------
    >>> data = pd.DataFrame({"n": [1, 2], "share": [0.5, 0.25]})
    >>> chart = alt.Chart(data, description="Share falls from 0.5 to 0.25.").mark_point()
    >>> made = figure(chart.encode(x="n:Q", y="share:Q"), id="share", title="Share",
    ...               caption="One point a value of n.", table=data)
    >>> made.n_marks, made.alt
    (2, 'Share falls from 0.5 to 0.25.')
    """
    spec, words = _specification(chart, id=id, title=title, caption=caption, provenance=provenance)
    made = Figure(id, title, caption, words["alt"], spec, table, provenance)
    if not made.n_marks:
        raise ValueError(f"figure {id}: nothing is drawn; check that the data are not empty")
    return made


def _specification(
    chart: alt.TopLevelMixin,
    *,
    id: str,  # noqa: A002
    title: str,
    caption: str,
    provenance: Provenance,
) -> tuple[dict[str, Any], dict[str, str]]:
    """The chart as JSON in the look of the theme, once it is found to be in order, and its words."""
    with _data_once():
        spec = chart.to_dict(validate=False)
        drawn = {name: part for name, part in spec.items() if name != "datasets"}
        try:
            # Once and as a whole, where Altair checks every part on its way up, and without the rows of
            # data, which have any form they like.
            chart.validate(drawn)  # type: ignore[attr-defined]  # every chart has it, the mixin does not say so
        except Exception:
            chart.to_dict()  # says what is wrong in Altair's words
            raise
    words = metadata(
        id=id, title=title, caption=caption, alt=spec.get("description") or "", provenance=provenance
    )
    _refuse_remote(spec, id)
    _refuse_many_rows(spec, id)
    _refuse_unknown_fields(spec, spec.get("datasets", {}), id)
    spec["config"] = theme.config() | {
        name: value for name, value in spec.get("config", {}).items() if not _altair_default(name, value)
    }
    spec["usermeta"] = {"medgauge": words}
    return spec, words


@contextmanager
def _data_once() -> Iterator[None]:
    """Have each table written once, however many layers of a chart show it, and of any length."""
    written: dict[int, tuple[Any, Any]] = {}  # the table besides: an id may be given again once it is gone

    def values(data: Any) -> Any:
        if id(data) not in written:
            written[id(data)] = data, alt.to_values(data)
        return written[id(data)][1]

    alt.data_transformers.register("once", values)
    try:
        with alt.data_transformers.enable("once", consolidate_datasets=True):
            yield
    finally:
        alt.data_transformers.register("once", None)  # else Altair keeps the tables of the last chart


def _altair_default(name: str, value: Any) -> bool:
    """Whether a setting is one that Altair adds to every chart of its own accord."""
    return name == "view" and value == {"continuousWidth": 300, "continuousHeight": 300}


def _walk(part: Any) -> Iterator[Mapping[str, Any]]:
    """Every object of a specification, its inline data left out."""
    if isinstance(part, Mapping):
        yield part
        for name, inner in part.items():
            if name not in {"datasets", "values", "usermeta"}:
                yield from _walk(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _walk(inner)


def _refuse_remote(spec: Mapping[str, Any], id: str) -> None:  # noqa: A002
    for part in _walk(spec):
        if found := sorted(_REMOTE & part.keys()):
            raise ValueError(
                f"figure {id}: {found[0]} refers to something outside the page; give the data themselves"
            )


def _refuse_many_rows(spec: Mapping[str, Any], id: str) -> None:  # noqa: A002
    inline = (part["values"] for part in _walk(spec) if isinstance(part.get("values"), list))
    n_rows = sum(map(len, (*spec.get("datasets", {}).values(), *inline)))
    if n_rows > MAX_ROWS:
        raise ValueError(
            f"figure {id}: {n_rows:,} rows of data are more than the {MAX_ROWS:,} a page should draw; "
            "aggregate them first"
        )


def _refuse_unknown_fields(
    part: Mapping[str, Any],
    datasets: Mapping[str, list[dict[str, Any]]],
    id: str,  # noqa: A002
    rows: list[dict[str, Any]] | None = None,
) -> None:
    """Refuse an encoding whose field its data do not have: Vega would silently draw no mark.

    A chart of its own inside another one may bring its data; fields that a transform makes are not known.
    """
    if "data" in part:
        rows = part["data"].get("values") or datasets.get(part["data"].get("name", ""))
    if any("filter" not in step for step in part.get("transform", ())):
        rows = None
    columns = {name for row in rows or () if isinstance(row, Mapping) for name in row}
    for name in _fields([part.get("encoding", {}), part.get("facet", {})]) if columns else ():
        if name not in columns:
            hint = near(name, sorted(columns))
            raise ValueError(f"figure {id}: the data have no field {quoted(name)}; {hint}")
    for inner in _parts(part):
        _refuse_unknown_fields(inner, datasets, id, rows)


def _parts(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Charts that a chart is made of."""
    for composition in ("layer", "hconcat", "vconcat", "concat"):
        yield from part.get(composition, [])
    if "spec" in part:
        yield part["spec"]


def _fields(encoding: Any) -> Iterator[str]:
    for channel in _walk(encoding):
        if isinstance(channel.get("field"), str):
            yield channel["field"]
