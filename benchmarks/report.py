"""Building a report, against as many notebooks that only import the same and are executed and converted.

The library loads much of what it needs late, so what the empty notebooks import is what the kernels of the
report hold at their end.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat

from benchmarks.ratios import Ratio, in_turn
from medgauge_lib import demo
from medgauge_lib.report.build import build
from medgauge_lib.report.execute import CellFailed, Job, read_notebook, run_all
from medgauge_lib.report.params import ReportParams, read_params
from medgauge_lib.report.plan import notebook_files

ROOT = Path(__file__).parents[1]
PARAMS = "demo-ward-1.1.0.yaml"

BEFORE = "import sys\nbefore = set(sys.modules)"
AFTER = "import json, sys\nprint(json.dumps([name for name in sys.modules if name not in before]))"
IMPORTS = """from contextlib import suppress
from importlib import import_module

for name in {names}:
    with suppress(ImportError):
        import_module(name)
"""


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
        for path, names in _imported(read_params(params), notebooks, folder).items():
            nbformat.write(_imports_alone(read_notebook(path), names), empty / path.name)

        def report() -> None:
            build([params], out=folder / "reports", force=True, progress=False)

        def nothing() -> None:
            build([params], out=folder / "nothing", force=True, progress=False, notebooks=empty)

        size = f"report of {len(notebooks)} notebooks, against as many that only import the same"
        yield Ratio(size, *in_turn(report, nothing, repeats=6), at_most=1.5)

        def again() -> None:
            build([params], out=folder / "reports", progress=False)

        yield Ratio(
            "the same report with nothing to do, against building it",
            *in_turn(again, report, repeats=2),
            at_most=0.1,
        )


def _imported(params: ReportParams, notebooks: list[Path], folder: Path) -> dict[Path, list[str]]:
    """Modules that each notebook of the report has loaded when it ends, in the order they were loaded."""
    jobs = []
    for path in notebooks:
        watched = read_notebook(path)
        watched.cells.insert(0, nbformat.v4.new_code_cell(BEFORE))
        watched.cells.append(nbformat.v4.new_code_cell(AFTER))
        nbformat.write(watched, folder / path.name)
        jobs.append(Job("report", folder / path.name, params.values(), params.folder, None))
    found = {}
    for path, ran in zip(notebooks, run_all(jobs), strict=True):
        if isinstance(ran, CellFailed):
            raise ran
        (printed,) = nbformat.reads(ran.text, as_version=4).cells[-1].outputs
        found[path] = json.loads(printed.text)
    return found


def _imports_alone(notebook: nbformat.NotebookNode, names: list[str]) -> nbformat.NotebookNode:
    """Keep the parameters cell, since it is filled in, and import these modules in another."""
    tagged = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", ())]
    title = nbformat.v4.new_markdown_cell("# Empty", id="title")
    notebook.cells = [title, *tagged, nbformat.v4.new_code_cell(IMPORTS.format(names=names), id="imports")]
    return notebook
