"""Building a report, against as many notebooks that only import the same and are executed and converted.

A notebook names few modules; the library imports the drawing ones when the first figure is made, so the empty
notebooks import these by name.
"""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat

from benchmarks.ratios import Ratio, in_turn
from medgauge_lib import demo
from medgauge_lib.report.build import build
from medgauge_lib.report.execute import read_notebook
from medgauge_lib.report.plan import notebook_files

ROOT = Path(__file__).parents[1]
PARAMS = "demo-ward-1.1.0.yaml"
DRAWING = "import altair, vl_convert"


def ratios() -> Iterator[Ratio]:
    """Compare a report of the demo set with empty notebooks run through the same engine and exporter."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        demo.write(folder / "demo")
        (folder / "params").mkdir()
        params = Path(shutil.copy(ROOT / "params" / PARAMS, folder / "params"))
        notebooks = notebook_files(ROOT / "notebooks")
        empty = folder / "empty"
        empty.mkdir()
        for path in notebooks:
            nbformat.write(_imports_alone(read_notebook(path)), empty / path.name)

        def report() -> None:
            build([params], out=folder / "reports", force=True, progress=False)

        def nothing() -> None:
            build([params], out=folder / "nothing", force=True, progress=False, notebooks=empty)

        size = f"report of {len(notebooks)} notebooks, against as many that only import the same"
        yield Ratio(size, *in_turn(report, nothing, repeats=2), at_most=1.5)


def _imports_alone(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Keep the parameters cell, since it is filled in, and of every other cell its imports."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    draws = any("charts.figure(" in cell.source for cell in code)
    for cell in code:
        if "parameters" not in cell.metadata.get("tags", ()):
            nodes = ast.walk(ast.parse(cell.source))
            imports = [ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
            cell.source = "\n".join([*imports, *([DRAWING] if imports and draws else [])])
    title = nbformat.v4.new_markdown_cell("# Empty", id="title")
    notebook.cells = [title, *(cell for cell in code if cell.source)]
    return notebook
