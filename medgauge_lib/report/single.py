"""A report as one file: every page in one document, with its data and the script that draws its charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import nbformat

from medgauge_lib.report import assets
from medgauge_lib.report.page import (
    PageContext,
    page_label,
    page_script,
    read_page,
    render,
    sealed,
    style_sheet,
)


def single_page(context: PageContext, notebooks: Sequence[tuple[str, nbformat.NotebookNode]]) -> str:
    """Make one document of all pages of a report.

    Parameters
    ----------
    context : PageContext
        As of any page of the report; its addresses are not used, since nothing lies beside the file.
    notebooks : sequence of (str, NotebookNode)
        Name and executed notebook of each page, in order.

    Returns
    -------
    str
        An HTML document that needs no other file: the files of each figure are within their links.

    Raises
    ------
    InputError
        For two figures of one id on a page, or a figure that cannot be drawn.
    """
    pages = tuple(read_page(notebook, name, alone=False) for name, notebook in notebooks)
    figures = tuple(figure for page in pages for figure in page.figures.values())
    scripts = [page_script()]
    if any(figure.spec for figure in figures):
        scripts.insert(0, assets.vega_bundle()[1].decode())
    return render(
        "single.html.j2",
        pages=pages,
        context=replace(
            context,
            pages=tuple((page_label(page.name), f"#{page.name}") for page in pages),
            current="",
            home="",
            links=(),
        ),
        **sealed(style_sheet(figures), *scripts),
    )
