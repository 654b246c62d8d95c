"""The nbconvert exporter: ``jupyter nbconvert --to medgauge NOTEBOOK`` makes the page of one notebook."""

from __future__ import annotations

from typing import Any

import nbformat
from nbconvert.exporters.exporter import Exporter
from traitlets import List

from medgauge_lib.report.execute import require_formed
from medgauge_lib.report.page import PageContext, page_label, page_of


class PageExporter(Exporter):
    """Turns an executed notebook into a page that stands alone.

    Beside the page, ``resources["outputs"]`` holds every file it needs or links to, by its path relative to
    the page.
    """

    output_mimetype = "text/html"
    export_from_notebook = "medgauge page"
    default_preprocessors: Any = List([])

    def _file_extension_default(self) -> str:
        return ".html"

    def from_notebook_node(  # type: ignore[override]
        self, nb: nbformat.NotebookNode, resources: Any = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        """Convert one notebook.

        Parameters
        ----------
        nb : NotebookNode
            Of format 4, executed.
        resources : mapping, optional
            As nbconvert makes them.
        **kw
            Ignored, as by every exporter.

        Returns
        -------
        html : str
            The page.
        resources : dict
            With the page's files in ``outputs``.

        Raises
        ------
        InputError
            For a notebook of another form, two figures of one id, or a figure that cannot be drawn.
        """
        notebook, resources = super().from_notebook_node(nb, resources, **kw)
        name = str(resources.get("metadata", {}).get("name") or "notebook")
        require_formed(notebook, f"{name}.ipynb")
        html, files = page_of(notebook, name, PageContext(title=page_label(name)))
        resources["outputs"] = {**resources.get("outputs", {}), **files}
        return html, resources
