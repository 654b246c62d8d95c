"""A small project for tests of the report: records, params files, and notebooks with every kind of output."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
from make_records import record

HOSTILE = (
    "</script><script>window.hit=1</script><img src=x onerror=window.hit=1><!-- \"' \u2028\u202e"
    "javascript:window.hit=1 ${hit} {{ hit }} &lt;b&gt;"
)
"""What a record's text could hold to become markup, code or a request."""

PARAMETERS = """\
benchmark = "bm-made"
benchmark_version = "1.0.0"
records = "../records"
subset = "holdout"
seed = 20260101
labels = None
title = None
publish = "public"
"""


def notebook(
    *cells: str, title: str | None = "A page", parameters: str = PARAMETERS
) -> nbformat.NotebookNode:
    """Return a notebook: a title, the parameters cell, and the given code cells."""
    made = [nbformat.v4.new_markdown_cell(f"# {title}")] if title else []
    made.append(nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]}))
    return nbformat.v4.new_notebook(cells=made + [nbformat.v4.new_code_cell(cell) for cell in cells])


def spec(texts: Sequence[str] = ("a", "b", "c"), **changes: Any) -> dict[str, Any]:
    """Return the spec of a bar chart with one bar a text."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "description": "Bars of growing length.",
        "width": 500,
        "data": {"values": [{"n": number, "text": text} for number, text in enumerate(texts, 1)]},
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {
            "x": {"field": "n", "type": "quantitative"},
            "y": {"field": "text", "type": "nominal", "sort": None},
        },
    } | changes


def figure_data(
    id: str = "bars",  # noqa: A002 - the figure's own field name
    text: str = "text",
    *,
    chart: Mapping[str, Any] | None = None,
    html: str = "",
    **about: Any,
) -> dict[str, Any]:
    """Return the data of one output that is a figure: a chart, or a table where `html` is given."""
    words = {"id": id, "title": f"Title {text}", "caption": f"Caption {text}", "alt": f"Alternative {text}"}
    data: dict[str, Any] = {
        "application/vnd.medgauge.figure+json": words | {"provenance": "recomputed"} | about,
        "application/vnd.medgauge.table+json": {
            "columns": ["n", f"Column {text}"],
            "rows": [[0.1, text], [None, "b"]],
        },
        "text/plain": words["alt"],
    }
    if html:
        data["text/html"] = html
    else:
        data["application/vnd.vegalite.v6+json"] = dict(chart or spec())
    return data


def output(data: Mapping[str, Any]) -> nbformat.NotebookNode:
    """Return an output that shows `data`."""
    return nbformat.v4.new_output("display_data", nbformat.from_dict(dict(data)))


def showing(*outputs: Mapping[str, Any]) -> str:
    """Return the source of a code cell that displays each of `outputs`."""
    lines = "\n".join(f"display(json.loads({json.dumps(json.dumps(data))}), raw=True)" for data in outputs)
    return f"import json\nfrom IPython.display import display\n{lines}"


def project(
    folder: Path,
    notebooks: Mapping[str, nbformat.NotebookNode],
    *,
    records: Sequence[Mapping[str, Any]] = (),
    **values: Any,
) -> Path:
    """Write a project and return its params file."""
    for name in ("records", "params", "notebooks"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for made in records or [
        record("res-2026-01-01-a"),
        record("res-2026-01-01-b", {1: [(0, 1), (1, 1), (1, 1)]}),
    ]:
        (folder / "records" / f"{made['id']}.json").write_text(json.dumps(made), encoding="utf-8")
    for name, node in notebooks.items():
        nbformat.write(node, folder / "notebooks" / f"{name}.ipynb")
    return params(folder / "params" / "made.yaml", **values)


def params(file: Path, **values: Any) -> Path:
    """Write a params file about the project's records and return it."""
    known = {"benchmark": "bm-made", "benchmark_version": "1.0.0", "records": "../records"} | values
    file.write_text("".join(f"{key}: {value}\n" for key, value in known.items()), encoding="utf-8")
    return file


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its path in it."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
