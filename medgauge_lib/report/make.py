"""Making a report: its notebooks run, its pages are made, and all of it is put in place of the old one."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path

from medgauge_lib._version import __version__
from medgauge_lib.charts.display import number
from medgauge_lib.errors import InputError
from medgauge_lib.files import replace_folder, write_file
from medgauge_lib.progress import Progress
from medgauge_lib.report import hashes, manifest
from medgauge_lib.report.crate import crate_json
from medgauge_lib.report.execute import CELL_SECONDS, CellFailed, Executed, Job, run_all
from medgauge_lib.report.manifest import RUN, SINGLE
from medgauge_lib.report.page import PageContext, page_label, page_of
from medgauge_lib.report.paper import PAPER, printed
from medgauge_lib.report.params import Params
from medgauge_lib.report.plan import Report, labels_modified
from medgauge_lib.report.shown import figures, notices, read_executed
from medgauge_lib.report.single import single_page


def make(
    reports: list[Report], *, root: Path, jobs: int | None, cell_seconds: int | None, told: Progress
) -> dict[str, InputError]:
    """Run what has to run, make a page once its notebook is executed, publish a report once it is whole.

    Parameters
    ----------
    reports : list of Report
        What is planned; files, figures and times are added to each.
    root : Path
        Folder of all reports.
    jobs : int or None
        How many notebooks run at a time.
    cell_seconds : int or None
        Time limit of one cell.
    told : Progress
        Where to tell how it goes.

    Returns
    -------
    dict
        Name of each report that failed to its first failure, in the order of `reports`.
    """
    by_name = {report.name: report for report in reports}
    failures: dict[str, InputError] = {}
    waiting = [
        Job(report.name, path, report.params.values(), report.params.folder, _aside(report, path, root))
        for report in reports
        for path in _longest_first(report)
        if path.stem not in report.kept
    ]
    left = Counter(job.report for job in waiting)

    def whole(report: Report) -> None:
        failure = _published(report, root)
        if failure is not None:
            failures.setdefault(report.name, failure)
        else:
            told.say(f"{report.name}: {report.folder / 'index.html'}")

    def done(result: Executed | CellFailed) -> None:
        report = by_name[result.job.report]
        failure = result if isinstance(result, CellFailed) else _paged(report, result, root)
        if failure is not None:
            failures.setdefault(report.name, failure)
        told.ended(f"{report.name}: {result.job.name}" + (" failed" if failure else ""))
        left[report.name] -= 1
        if left[report.name] == 0 and report.name not in failures:
            whole(report)

    for report in reports:
        if not left[report.name]:
            whole(report)
    run_all(waiting, workers=jobs, cell_seconds=cell_seconds or CELL_SECONDS, done=done)
    return {name: failures[name] for name in by_name if name in failures}


def _longest_first(report: Report) -> list[Path]:
    """Order the pages of a report by how long each ran before: a long one that starts last ends alone."""
    pages = manifest.read_object(report.folder / RUN).get("pages")
    before = pages if isinstance(pages, dict) else {}

    def seconds(path: Path) -> float:
        times = before.get(path.stem)
        took = times.get("duration") if isinstance(times, dict) else None
        return took if isinstance(took, int | float) else 0

    return sorted(report.pages, key=seconds, reverse=True)


def _published(report: Report, root: Path) -> InputError | None:
    """Publish a report whose notebooks are executed; where that cannot be, say why."""
    try:
        for name, text in report.kept.items():
            _make_page(report, name, text)
        put_in_place(report, root)
    except InputError as error:
        return error
    report.published = True
    return None


def _aside(report: Report, notebook: Path, root: Path) -> Path:
    """Say where a notebook is kept when it fails."""
    params = report.params
    return root / "failed" / f"{params.benchmark}-{params.benchmark_version}-{notebook.name}"


def _paged(report: Report, result: Executed, root: Path) -> InputError | None:
    """Make the page of an executed notebook; where it cannot be made, keep the notebook and say why."""
    report.times[result.job.name] = dict(result.times)
    aside = _aside(report, result.job.notebook, root)
    try:
        _make_page(report, result.job.name, result.text)
    except InputError as error:
        with suppress(InputError):
            write_file(aside, result.text.encode())
        return InputError(error.wrong, error.remedy, file=result.job.notebook)
    aside.unlink(missing_ok=True)
    return None


def _make_page(report: Report, name: str, text: str) -> None:
    """Make one page and the files it needs from an executed notebook."""
    context = _context(report, name)
    notebook = read_executed(name, text)
    html, files = page_of(notebook, name, context)
    for path, content in files.items():
        if report.files.setdefault(path, content) != content:
            raise InputError(
                f"another page has a figure {Path(path).name.split('.')[0]} too", "rename one of the two"
            )
    report.files[context.current] = html.encode()
    report.figures |= figures(name, notebook)
    report.notices += notices(notebook)
    report.files[f"notebooks/{name}.ipynb"] = text.encode()


def _context(report: Report, name: str) -> PageContext:
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
            *((key.capitalize(), number(getattr(params, key))) for key in params.numbers),
            ("Made by", f"medgauge {__version__}"),
        ),
        links=(
            ("Executed notebook", f"notebooks/{name}.ipynb"),
            ("Manifest", manifest.NAME),
            ("RO-Crate", manifest.CRATE),
        ),
    )


def _whole(report: Report) -> str:
    """Make the whole report one document, from its executed notebooks."""
    names = [path.stem for path in report.pages]
    notebooks = [read_executed(name, report.files[f"notebooks/{name}.ipynb"].decode()) for name in names]
    return single_page(_context(report, names[0]), list(zip(names, notebooks, strict=True)))


def put_in_place(report: Report, root: Path) -> None:
    """Write a report in place of the old one; on paper it is no output that a manifest vouches for.

    Parameters
    ----------
    report : Report
        With all its pages made.
    root : Path
        Folder of all reports.

    Raises
    ------
    InputError
        Where it cannot be written or printed; the old report is then as it was.
    """
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
        manifest.NAME: hashes.sorted_json(described),
        RUN: hashes.sorted_json({"pages": report.times, "labels_modified": labels_modified(report.params)}),
    }
    replace_folder(report.folder, files, root=root)
