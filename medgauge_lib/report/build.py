"""Building reports: one folder a benchmark version, whole or not at all.

Whatever fails, the old report stays. Unchanged inputs are not built again, and an executed notebook is used
again while its inputs stay the same.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import nbformat

import medgauge_lib
from medgauge_lib._version import __version__
from medgauge_lib.errors import InputError
from medgauge_lib.report import manifest
from medgauge_lib.report.crate import crate_json
from medgauge_lib.report.execute import CELL_SECONDS, CellFailed, Executed, Job, run_all
from medgauge_lib.report.exporter import PageContext, PageExporter, page_label
from medgauge_lib.report.folder import clear, locked, replace_file, replace_folder, require_writable
from medgauge_lib.report.manifest import RUN, Shown
from medgauge_lib.report.paper import PAPER, printed, require_browser
from medgauge_lib.report.params import FindingsParams, Params, load, read_params, require_version
from medgauge_lib.report.progress import Progress
from medgauge_lib.report.single import SINGLE, single_page
from medgauge_lib.report.site import site_page

PAGES = ("summary", "groups", "intervals", "dimensions", "difficulty", "failure_attribution", "integrity")
"""The notebooks of a board's report in the order of its pages; those that are there are run."""

FINDINGS_PAGES = ("finding_quality",)
"""The notebooks of a report of finding quality."""


@dataclass(frozen=True)
class Built:
    """What became of one report.

    Attributes
    ----------
    params : Params or FindingsParams
        What it is about.
    folder : Path
        Where it lies.
    status : str
        ``built``, or ``unchanged`` where nothing had to be done.
    """

    params: Params | FindingsParams
    folder: Path
    status: Literal["built", "unchanged"]


@dataclass
class _Report:
    """One report while it is built: what it needs, what it keeps, and what it has so far."""

    params: Params | FindingsParams
    folder: Path
    inputs: dict[str, Any]
    unchanged: bool
    kept: dict[str, str]
    pages: list[Path]
    forms: frozenset[str]
    paper: dict[str, bytes]
    date: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    figures: dict[str, Shown] = field(default_factory=dict)
    times: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Benchmark and version, as messages say them."""
        return f"{self.params.benchmark} {self.params.benchmark_version}"


def build(
    params_files: Iterable[str | os.PathLike[str]],
    *,
    out: str | os.PathLike[str] = "reports",
    only: Sequence[str] = (),
    jobs: int | None = None,
    cell_seconds: int = CELL_SECONDS,
    force: bool = False,
    single_file: bool = False,
    pdf: bool = False,
    progress: bool = True,
    notebooks: str | os.PathLike[str] | None = None,
) -> list[Built]:
    """Build reports.

    Parameters
    ----------
    params_files : iterable of path
        One params file a report.
    out : path
        Folder of all reports; it and ``index.html`` in it are made.
    only : sequence of str
        Run these notebooks only. Pages of the others are kept where they were made from the same inputs, and
        left out otherwise. A report without any of these notebooks is left as it is.
    jobs : int, optional
        How many notebooks run at a time; the number of processors and one more where not given.
    cell_seconds : int
        Time limit of one cell.
    force : bool
        Build even where no input changed.
    single_file, pdf : bool
        Beside the pages, write the whole report as one file, ``report.html``, or on paper, ``report.pdf``. A
        report that has one keeps it as long as its inputs stay the same.
    progress : bool
        Show a bar on a terminal and plain lines elsewhere, on standard error.
    notebooks : path, optional
        Folder of the notebooks; the project's where not given.

    Returns
    -------
    list of Built
        One for each params file with a notebook to run, in their order.

    Raises
    ------
    InputError
        For input that cannot be used; a notebook that fails is a `CellFailed`. Reports that did not fail are
        built, the others stay as they were.
    """
    root = Path(out)
    folder = (
        Path(notebooks) if notebooks is not None else Path(medgauge_lib.__file__).parents[1] / "notebooks"
    )
    forms = frozenset([SINGLE] * single_file + [PAPER] * pdf)
    reports = _plan(params_files, root, folder, only, force, forms)
    todo = [report for report in reports if not report.unchanged]
    if todo:
        require_writable(root)
    with Progress(sum(len(report.pages) - len(report.kept) for report in todo), enabled=progress) as told:
        for report in reports:
            if report.unchanged:
                told.say(f"{report.name}: unchanged")
        failures = _run(todo, root, jobs, cell_seconds, told)
        for report in todo:
            if report.name not in failures:
                _publish(report, root)
                told.say(f"{report.name}: {report.folder / 'index.html'}")
    if root.is_dir():
        with locked(root):
            clear(root)
            replace_file(root / "index.html", site_page(root).encode())
    if failures:
        raise next(iter(failures.values()))
    return [
        Built(report.params, report.folder, "unchanged" if report.unchanged else "built")
        for report in reports
    ]


def notebook_files(folder: Path, pages: Sequence[str] = PAGES) -> list[Path]:
    """List the notebooks of a report in the order of its pages.

    Parameters
    ----------
    folder : Path
        Folder of the notebooks.
    pages : sequence of str
        Their names in this order.

    Returns
    -------
    list of Path
        Those that are there.

    Raises
    ------
    InputError
        Where there is none.
    """
    found = [path for path in (folder / f"{name}.ipynb" for name in pages) if path.is_file()]
    if not found:
        remedy = f"use medgauge from its checkout, whose notebooks/ holds {pages[0]}.ipynb"
        raise InputError("holds no notebook of a report", remedy, file=folder)
    return found


def _plan(
    params_files: Iterable[str | os.PathLike[str]],
    root: Path,
    folder: Path,
    only: Sequence[str],
    force: bool,
    forms: frozenset[str],
) -> list[_Report]:
    """Read every params file and find out what each report needs, before anything runs."""
    if PAPER in forms:
        require_browser()
    read = [read_params(file) for file in params_files]
    pages = {Params.system: PAGES, FindingsParams.system: FINDINGS_PAGES}
    notebooks = {name: notebook_files(folder, pages[name]) for name in sorted({one.system for one in read})}
    _require_known(only, [path.stem for paths in notebooks.values() for path in paths])
    reports: dict[str, _Report] = {}
    for params in read:
        paths = notebooks[params.system]
        if only and not {path.stem for path in paths}.intersection(only):
            continue
        report = _planned(params, root, paths, only, force, forms)
        if report.name in reports:
            wrong = f"is about {report.name}, and so is {reports[report.name].params.file}"
            raise InputError(wrong, "give each benchmark version one params file", file=params.file)
        reports[report.name] = report
    for report in reports.values():
        if not report.unchanged:
            report.date = _date(report.params)
    return list(reports.values())


def _require_known(only: Sequence[str], names: Sequence[str]) -> None:
    """Require the named notebooks to be those of a report."""
    for name in only:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            remedy = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
            raise InputError(f"there is no notebook {name!a}", remedy)


def _planned(
    params: Params | FindingsParams,
    root: Path,
    notebooks: list[Path],
    only: Sequence[str],
    force: bool,
    forms: frozenset[str],
) -> _Report:
    """Find out what of one report has to be made."""
    folder = root / params.benchmark / params.benchmark_version
    inputs, old = manifest.inputs(params, notebooks), manifest.read_manifest(folder)
    known = not force and _read_run(folder).get("labels_modified") == _labels_modified(params)
    kept: dict[str, str] = {}
    if known and manifest.same_but_notebooks(old, inputs):
        for path in notebooks:
            executed = folder / "notebooks" / path.name
            if path.stem not in only and manifest.is_same(old, inputs, path.stem, executed):
                kept[path.stem] = executed.read_text(encoding="utf-8")
    same = known and not only and old.get("inputs") == inputs and manifest.is_whole(folder, old)
    present = frozenset(name for name in (SINGLE, PAPER) if same and (folder / name).is_file())
    return _Report(
        params=params,
        folder=folder,
        inputs=inputs,
        unchanged=same and forms <= present,
        kept=kept,
        pages=[path for path in notebooks if not only or path.stem in only or path.stem in kept],
        forms=forms | present,
        paper={PAPER: (folder / PAPER).read_bytes()} if PAPER in present else {},
    )


def _labels_modified(params: Params | FindingsParams) -> int | None:
    """Say when the task labels were last written, in nanoseconds; a public report holds no hash of them."""
    return None if params.labels_file is None else params.labels_file.stat().st_mtime_ns


def _read_run(folder: Path) -> dict[str, Any]:
    """Read the run record of a report; empty where there is none or it cannot be read."""
    try:
        found = json.loads((folder / RUN).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _date(params: Params | FindingsParams) -> str:
    """Require the data to be usable and of the version the params file names; give the date of the report.

    A board has the latest date of its records. Corpora of findings are read by the notebook alone.
    """
    if isinstance(params, FindingsParams):
        require_version(params.source_folders()["data"], params.benchmark_version)
        return params.date
    from medgauge_lib.board import latest
    from medgauge_lib.checks import require_usable

    records = load(
        params.records_folder, benchmark=params.benchmark, benchmark_version=params.benchmark_version
    )
    require_usable(records)
    return latest(records)


def _run(
    reports: list[_Report], root: Path, jobs: int | None, cell_seconds: int, told: Progress
) -> dict[str, InputError]:
    """Run what has to run, and make each page as soon as its notebook is executed; give the failures."""
    by_name = {report.name: report for report in reports}
    failures: dict[str, InputError] = {}

    def done(result: Executed | CellFailed) -> None:
        report = by_name[result.job.report]
        failure = result if isinstance(result, CellFailed) else _paged(report, result, root)
        if failure is not None:
            failures.setdefault(report.name, failure)
        told.ended(f"{report.name}: {result.job.name}" + (" failed" if failure else ""))

    waiting = [
        Job(report.name, path, report.params.values(), report.params.folder, _aside(report, path, root))
        for report in reports
        for path in report.pages
        if path.stem not in report.kept
    ]
    run_all(waiting, workers=jobs, cell_seconds=cell_seconds, done=done)
    for report in reports:
        if report.name not in failures:
            for name, text in report.kept.items():
                _make_page(report, name, text)
    return failures


def _aside(report: _Report, notebook: Path, root: Path) -> Path:
    """Say where a notebook is kept when it fails."""
    params = report.params
    return root / "failed" / f"{params.benchmark}-{params.benchmark_version}-{notebook.name}"


def _paged(report: _Report, result: Executed, root: Path) -> InputError | None:
    """Make the page of an executed notebook; where it cannot be made, keep the notebook and say why."""
    report.times[result.job.name] = dict(result.times)
    aside = _aside(report, result.job.notebook, root)
    try:
        _make_page(report, result.job.name, result.text)
    except InputError as error:
        with suppress(OSError):
            aside.parent.mkdir(parents=True, exist_ok=True)
            aside.write_text(result.text, encoding="utf-8")
        return InputError(error.wrong, error.remedy, file=result.job.notebook)
    aside.unlink(missing_ok=True)
    return None


def _make_page(report: _Report, name: str, text: str) -> None:
    """Make one page and the files it needs from an executed notebook."""
    context = _context(report, name)
    notebook = nbformat.reads(text, as_version=4)
    exporter = PageExporter()
    html, resources = exporter.from_notebook_node(notebook, {"metadata": {"name": name}, "medgauge": context})
    for path, content in resources["outputs"].items():
        if report.files.setdefault(path, content) != content:
            raise InputError(
                f"another page has a figure {Path(path).name.split('.')[0]} too", "rename one of the two"
            )
    report.files[context.current] = html.encode()
    report.figures |= manifest.figures(name, text)
    report.files[f"notebooks/{name}.ipynb"] = text.encode()


def _context(report: _Report, name: str) -> PageContext:
    """Say where a page stands in its report."""
    addresses = {path.stem: f"{path.stem}.html" for path in report.pages}
    addresses[report.pages[0].stem] = "index.html"
    params = report.params
    return PageContext(
        title=params.title or report.name,
        benchmark=params.benchmark,
        version=params.benchmark_version,
        subset=params.subset if isinstance(params, Params) else "",
        pages=tuple((page_label(page), href) for page, href in addresses.items()),
        current=addresses[name],
        home="../../index.html",
        command=f"medgauge reproduce reports/{params.benchmark}/{params.benchmark_version}",
        facts=(
            ("Seed", str(params.seed)),
            *((key.capitalize(), str(len(report.inputs[key]))) for key in params.counted),
            ("Made by", f"medgauge {__version__}"),
        ),
        links=(
            ("Executed notebook", f"notebooks/{name}.ipynb"),
            ("Manifest", manifest.NAME),
            ("RO-Crate", manifest.CRATE),
        ),
    )


def _whole(report: _Report) -> str:
    """Make the whole report one document, from its executed notebooks."""
    names = [path.stem for path in report.pages]
    texts = [report.files[f"notebooks/{name}.ipynb"].decode() for name in names]
    notebooks = [nbformat.reads(text, as_version=4) for text in texts]
    return single_page(_context(report, names[0]), list(zip(names, notebooks, strict=True)))


def _publish(report: _Report, root: Path) -> None:
    """Write the report in place of the old one; on paper it is no output that a manifest vouches for."""
    if report.forms:
        whole = _whole(report)
        if SINGLE in report.forms:
            report.files[SINGLE] = whole.encode()
        if PAPER in report.forms and not report.paper:
            report.paper[PAPER] = printed(whole)
    report.files[manifest.CRATE] = crate_json(
        inputs=report.inputs, figures=report.figures, files=report.files, date=report.date
    )
    described = manifest.manifest(report.inputs, report.figures.values(), report.files)
    files = {
        **report.files,
        **report.paper,
        manifest.NAME: manifest.canonical_json(described),
        RUN: manifest.canonical_json(
            {"pages": report.times, "labels_modified": _labels_modified(report.params)}
        ),
    }
    replace_folder(report.folder, files, root=root)
