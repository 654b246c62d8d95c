"""Notebooks: committed as sources, and run as they are in Jupyter and with the stock papermill command."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml

from medgauge_lib import demo
from medgauge_lib.charts.figure import FIGURE, TABLE
from medgauge_lib.report.params import SYSTEMS

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FIGURES = {
    "summary": ["board", "community"],
    "groups": ["forest", "differences", "sensitivity", "cost"],
    "intervals": ["quantities", "bca", "exam-bound", "passes"],
    "dimensions": [
        "m1-effectiveness",
        "m2-reliability",
        "m3-efficiency",
        "m3-actions",
        "m4-difficulty",
        "m5-optimality",
        "m5-redundancy",
        "m6-clinical-compliance",
        "m7-quality-control",
        "m7-defect-classes",
        "m8-exploration",
        "m9-auditability",
        "m10-robustness",
    ],
    "difficulty": [
        "strata-pass-pow-3",
        "difficulty-rises",
        "strata-task-pass-rate",
        "class-counts",
        "labels",
    ],
    "failure_attribution": [
        "failure-reasons",
        "run-errors",
        "vetoes",
        "constraint-hits",
        "runs-by-subset",
    ],
    "integrity": [
        "findings",
        "checks",
        "published-by-record",
        "published-by-figure",
        "closed-figures",
        "void",
        "exam-conditions",
        "community-integrity",
        "board-dev",
        "board-calib",
        "inputs",
    ],
    "finding_quality": [
        "judge",
        "summaries",
        "distribution",
        "tasks",
        "assessments",
        "effects",
        "evidence",
        "remarks",
    ],
    "methodology": [
        "coverage",
        "undefined",
        "exact-coverage",
        "family-wise-error",
        "differences-found",
        "overlap",
        "widths",
        "resampled-p",
        "power",
    ],
    "planning": [
        "planned-bound",
        "planned-bounds",
        "planned-resolution",
        "planned-power",
        "planned-difference",
    ],
}
OR_WORDS = {
    *("community", "community-integrity", "difficulty-rises", "constraint-hits"),
    *("findings", "void", "board-dev", "board-calib", "labels"),
}
"""Figures whose place a sentence takes where there is nothing to show; the ward demo has them all."""


def test_every_figure_has_an_id_of_its_own():
    """No two figures of a report share an id, so that a file and a command name one figure."""
    ids = [name for notebook, names in FIGURES.items() if notebook != "finding_quality" for name in names]
    assert len(ids) == len(set(ids))


def test_no_notebook_brings_the_labels_or_the_title_of_another_board():
    """A params file without labels or title means none, as in a report: the parameters cells name none."""
    for path in NOTEBOOKS:
        cell = next(c for c in nbformat.read(path, 4).cells if "parameters" in c.metadata.get("tags", []))
        given = dict(line.split(" = ") for line in cell.source.splitlines())
        assert given["title"] == "None"
        assert given.get("labels", "None") == "None"


def code(notebook):
    """Return the code cells of a notebook."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(notebook):
    """Return every output of an executed notebook."""
    return [output for cell in code(notebook) for output in cell.outputs]


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def committed(request):
    """Return the path and content of each committed notebook."""
    return request.param, nbformat.read(request.param, as_version=nbformat.NO_CONVERT)


def test_committed_notebooks_have_no_outputs(committed):
    """A committed notebook was never run: no output, no count, no state of a run in its metadata."""
    _, notebook = committed
    assert not outputs(notebook)
    assert all(cell.execution_count is None for cell in code(notebook))
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert all(set(cell.metadata) <= {"tags"} for cell in notebook.cells)


def test_committed_notebooks_are_written_one_way(committed):
    """A notebook is valid 4.5, for kernel python3, as nbformat writes it, with cell ids from its name."""
    path, notebook = committed
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec.name == "python3"
    assert path.read_text(encoding="utf-8") == nbformat.writes(notebook) + "\n"
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert all(name.startswith(f"{path.stem}-") for name in ids)


def kind_of_notebook(name):
    """Kind of params file whose report has a notebook."""
    (kind,) = [kind for kind in SYSTEMS.values() if name in kind.pages]
    return kind


def test_committed_notebooks_have_one_parameters_cell(committed):
    """One cell is tagged `parameters`, and it sets each parameter of a params file and nothing else."""
    path, notebook = committed
    (cell,) = [cell for cell in code(notebook) if "parameters" in cell.metadata.get("tags", [])]
    names = tuple(statement.targets[0].id for statement in ast.parse(cell.source).body)
    kind = kind_of_notebook(path.stem)
    assert names == kind.keys
    for file in sorted((ROOT / "params").glob("*.yaml")):
        values = yaml.safe_load(file.read_text(encoding="utf-8"))
        assert values.get("system", "board") != kind.system or values.keys() <= set(names), file.name


def test_committed_notebooks_define_nothing(committed):
    """A notebook reads the library: no function, class or lambda of its own."""
    _, notebook = committed
    for cell in code(notebook):
        for node in ast.walk(ast.parse(cell.source)):
            assert not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda)


def test_committed_notebooks_ask_one_question(committed):
    """A notebook begins with its title and question, and ends with what to try next."""
    _, notebook = committed
    first, last = notebook.cells[0], notebook.cells[-1]
    assert first.source.startswith("# ")
    assert "?" in first.source
    assert last.source.startswith("## What to try next")
    assert last.metadata.get("tags") == ["notebook-only"]  # a page is read, not run
    assert sum(cell.source.startswith("# ") for cell in notebook.cells if cell.cell_type == "markdown") == 1


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """Return a project folder with the demo set, the params files and the notebooks."""
    folder = tmp_path_factory.mktemp("project")
    demo.write(folder / "demo")
    shutil.copytree(ROOT / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns(".*"))
    shutil.copytree(ROOT / "params", folder / "params")
    # What is simulated, and not how often, makes the notebook run.
    simulated = folder / "params/methodology.yaml"
    simulated.write_text(simulated.read_text().replace("replications: 1000", "replications: 40"))
    cells = folder / "notebooks/methodology.ipynb"
    cells.write_text(cells.read_text("utf-8").replace("replications = 1000", "replications = 40"), "utf-8")
    return folder


def run(*command, cwd):
    """Run a command of this environment's Jupyter."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=cwd, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]


def assert_figures(executed, name):
    """Hold the figures of an executed notebook against those it must have."""
    assert not [output for output in outputs(executed) if output.output_type in {"error", "stream"}]
    bundles = [output.data for output in outputs(executed) if "data" in output]
    figures = [bundle for bundle in bundles if FIGURE in bundle]
    ids = [bundle[FIGURE]["id"] for bundle in figures]
    assert ids == [figure for figure in FIGURES[name] if figure not in OR_WORDS or figure in ids]
    for bundle in figures:
        assert all(bundle[FIGURE][word] for word in ("title", "caption", "alt", "provenance"))
        assert bundle[TABLE]["rows"]
        assert "image/png" in bundle or "text/html" in bundle


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_notebook_runs_as_it_is_in_jupyter(name, project):
    """In its own folder and with nothing set, a notebook shows all figures that need no labels."""
    run("jupyter", "execute", f"{name}.ipynb", f"--output={name}.jupyter.ipynb", cwd=project / "notebooks")
    executed = nbformat.read(project / "notebooks" / f"{name}.jupyter.ipynb", as_version=4)
    assert_figures(executed, name)
    assert [figure for figure in FIGURES[name] if figure != "labels"] == [
        output.data[FIGURE]["id"] for output in outputs(executed) if FIGURE in output.get("data", {})
    ]


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_notebook_runs_with_the_stock_papermill_command(name, project):
    """With a params file and the project as working folder, a notebook shows all its figures."""
    wanted = {
        "board": "*lab*",
        "findings": "*findings*",
        "methodology": "methodology*",
        "planning": "planning*",
    }
    (params,) = sorted((project / "params").glob(wanted[kind_of_notebook(name).system]))
    out = project / f"{name}.papermill.ipynb"
    run("papermill", f"notebooks/{name}.ipynb", str(out), "-f", str(params), cwd=project)
    assert_figures(nbformat.read(out, as_version=4), name)
