"""What the figures of an executed notebook show, and the hashes that a manifest has of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import nbformat

from medgauge_lib.charts.figure import FIGURE, TABLE
from medgauge_lib.charts.words import NOTICE
from medgauge_lib.errors import InputError, printable
from medgauge_lib.report.figures import is_figure, spec_in
from medgauge_lib.report.hashes import sha256, sorted_json

_BROKEN = (AttributeError, KeyError, TypeError, ValueError, RecursionError)


@dataclass(frozen=True)
class Shown:
    """What one figure of an executed notebook shows.

    Attributes
    ----------
    id, title : str
        Its name and heading.
    notebook : str
        The notebook that shows it.
    table : mapping
        Its data: ``columns`` and ``rows``.
    spec : mapping or None
        Its Vega-Lite spec where it is a chart.
    html : str
        Its markup where it is a table.
    """

    id: str
    title: str
    notebook: str
    table: Mapping[str, Any] = field(repr=False)
    spec: Mapping[str, Any] | None = field(repr=False)
    html: str = field(repr=False)

    def hashes(self) -> dict[str, str]:
        """Hash what it shows.

        Returns
        -------
        dict
            ``data``, and ``spec`` of a chart or ``markup`` of a table: SHA-256 of the canonical JSON of data
            and spec, and of the markup in UTF-8.
        """
        known = {"data": sha256(sorted_json(self.table))}
        if self.spec is None:
            return known | {"markup": sha256(self.html.encode())}
        return known | {"spec": sha256(sorted_json(self.spec))}


def read_executed(name: str, text: str) -> nbformat.NotebookNode:
    """Read an executed notebook.

    Parameters
    ----------
    name : str
        Name of the notebook.
    text : str
        The executed notebook.

    Returns
    -------
    NotebookNode
        Of format 4.

    Raises
    ------
    InputError
        Where it is no notebook.
    """
    with _readable(name):
        notebook: nbformat.NotebookNode = nbformat.reads(text, as_version=4)
        return notebook


def figures(name: str, notebook: nbformat.NotebookNode) -> dict[str, Shown]:
    """Find the figures of an executed notebook.

    Parameters
    ----------
    name : str
        Name of the notebook.
    notebook : NotebookNode
        The executed notebook.

    Returns
    -------
    dict
        Id to figure, in the order of the page; a chart that does not name itself is named by its number.

    Raises
    ------
    InputError
        Where an output has another form.
    """
    with _readable(name):
        drawn = enumerate(filter(is_figure, _outputs(notebook)), 1)
        return {shown.id: shown for shown in (_shown(name, number, data) for number, data in drawn)}


def notices(notebook: nbformat.NotebookNode) -> list[str]:
    """Find what an executed notebook says before anything else.

    Parameters
    ----------
    notebook : NotebookNode
        The executed notebook.

    Returns
    -------
    list of str
        The first paragraph of each notice, in order.
    """
    told = (data[NOTICE] for data in _outputs(notebook) if NOTICE in data)
    return [printable(str(notice["paragraphs"][0])) for notice in told]


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Say of a notebook that is not as a build writes it that it cannot be read."""
    try:
        yield
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, *_BROKEN) as error:
        wrong = f"notebook {name} of the report cannot be read: {type(error).__name__}"
        raise InputError(wrong, "build the report anew") from None


def _outputs(notebook: nbformat.NotebookNode) -> Iterator[Mapping[str, Any]]:
    """Give the data of every output of a notebook, in order."""
    return (output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))


def _shown(name: str, number: int, data: Mapping[str, Any]) -> Shown:
    """Read what one output shows, the figure of this number in its notebook."""
    told = data.get(FIGURE, {})
    table = data.get(TABLE) or {"columns": [], "rows": []}
    if not all(isinstance(row, list) for row in (table["columns"], table["rows"], *table["rows"])):
        raise TypeError("a table is not made of lists")
    spec = spec_in(data)
    html = "" if spec is not None else str(data.get("text/html", ""))
    # What JSON can spell and no hash can be of, such as half a surrogate pair or NaN, fails here.
    json.dumps((told, table, spec, html), ensure_ascii=False, allow_nan=False).encode()
    return Shown(
        id=str(told.get("id") or f"figure-{number}"),
        title=str(told.get("title") or f"Figure {number}"),
        notebook=name,
        table=table,
        spec=spec,
        html=html,
    )
