"""Building reports: one folder a benchmark version, whole or not at all.

Whatever fails, the old report stays. Unchanged inputs are not built again, and an executed notebook is used
again while its inputs stay the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from medgauge_lib.errors import InputError
from medgauge_lib.files import clear, locked, replace_file, require_writable, writing
from medgauge_lib.library import library
from medgauge_lib.parallel import Workers
from medgauge_lib.progress import Progress
from medgauge_lib.report import hashes, manifest
from medgauge_lib.report.manifest import SINGLE
from medgauge_lib.report.paper import PAPER
from medgauge_lib.report.params import AnyParams
from medgauge_lib.report.plan import Report, notebooks_folder, plan
from medgauge_lib.report.versions import build_versions

INDEX = "index.html"
"""The list of all reports, in the folder that holds them."""

_OURS = re.compile(rb"<!-- [0-9a-f]{64} -->\n\Z")


@dataclass(frozen=True)
class Built:
    """What became of one report.

    Attributes
    ----------
    params : AnyParams
        What it is about.
    folder : Path
        Where it lies.
    status : str
        ``built``, or ``unchanged`` where nothing had to be done.
    notices : tuple of str
        What a reader of the built pages must know before anything else, such as records that publish wrong
        figures.
    """

    params: AnyParams
    folder: Path
    status: Literal["built", "unchanged"]
    notices: tuple[str, ...] = ()


def build(
    params_files: Iterable[str | os.PathLike[str]],
    *,
    out: str | os.PathLike[str] = "reports",
    only: Sequence[str] = (),
    jobs: int | None = None,
    cell_seconds: int | None = None,
    force: bool = False,
    single_file: bool = False,
    pdf: bool = False,
    progress: bool = True,
    notebooks: str | os.PathLike[str] | None = None,
    workers: Workers | None = None,
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
        How many notebooks run at a time; the number of processors and one more where not given, and one for
        each of several `workers`.
    cell_seconds : int, optional
        Time limit of one cell; ten minutes where not given.
    force : bool
        Build even where no input changed.
    single_file, pdf : bool
        Beside the pages, write the whole report as one file, ``report.html``, or on paper, ``report.pdf``. A
        report that has one keeps it as long as its inputs stay the same.
    progress : bool
        Show a bar on a terminal and plain lines elsewhere, on standard error.
    notebooks : path, optional
        Folder of the notebooks; the project's where not given.
    workers : Workers, optional
        Who builds, one version each at a time: other processes, or a cluster whose machines share the file
        system. This process where not given, which is quickest on one machine of few cores. The bytes are
        the same.

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
    folder = notebooks_folder() if notebooks is None else Path(notebooks)
    forms = frozenset([SINGLE] * single_file + [PAPER] * pdf)
    _require_ours(root / INDEX)
    reports = plan(params_files, root=root, notebooks=folder, only=only, force=force, forms=forms)
    todo = [report for report in reports if not report.unchanged]
    make: Callable[..., dict[str, InputError]]
    if workers is None:
        make, unit, total = _make, "notebook", sum(len(report.pages) - len(report.kept) for report in todo)
    else:
        make = partial(build_versions, notebooks=folder, only=only, force=force, workers=workers)
        unit, total = "report", len(todo)
    with Progress(total, unit=unit, enabled=progress) as told, _listed(root):
        for report in reports:
            if report.unchanged:
                told.say(f"{report.name}: unchanged")
        try:
            failures = make(todo, root=root, jobs=jobs, cell_seconds=cell_seconds, told=told) if todo else {}
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_how_far(todo)) from None
    if failures:
        raise next(iter(failures.values()))
    return [
        Built(
            report.params, report.folder, "unchanged" if report.unchanged else "built", tuple(report.notices)
        )
        for report in reports
    ]


def _how_far(todo: list[Report]) -> str:
    """Say what an interrupt leaves behind.

    The charts are heavy, and unchanged reports do not wait for them.
    """
    from medgauge_lib.charts.display import count

    n_built = sum(report.published for report in todo)
    return f"{n_built} of {count(len(todo), 'report')} built, the rest as before"


def _make(reports: list[Report], *, root: Path, **how: Any) -> dict[str, InputError]:
    """Make reports in this process, and give the failures."""
    from medgauge_lib.report.make import make

    require_writable(root)
    return make(reports, root=root, **how)


@contextmanager
def _listed(root: Path) -> Iterator[None]:
    """List all reports at the end, also where not all came to be: what was built before stays."""
    try:
        yield
    finally:
        if root.is_dir():
            with locked(root):
                clear(root)
                _list_reports(root)


def _require_ours(index: Path) -> None:
    """Require the place of the list of reports to be free, or to hold such a list: its last line tells."""
    with writing(index):
        if not (index.exists() or index.is_symlink()):
            return
        if not index.is_file() or not _OURS.search(index.read_bytes()):
            raise InputError(
                "is no list of reports, and stays as it is", "name another folder with --out", file=index
            )


def _list_reports(root: Path) -> None:
    """Write the list of all reports, unless it is the list of these reports already."""
    listed = [library()["sha256"]]
    for file in sorted(root.glob(f"[!.]*/[!.]*/{manifest.NAME}")):
        names = sorted(path.name for path in file.parent.iterdir())
        listed.append(f"{file.relative_to(root).as_posix()} {hashes.file_sha256(file)} {names}")
    mark = f"<!-- {hashes.sha256(repr(listed).encode())} -->\n"
    index = root / INDEX
    _require_ours(index)
    if len(listed) == 1 and not index.exists():
        return  # nothing was built, and nothing was listed before
    if index.is_file() and index.read_bytes().endswith(mark.encode()):
        return
    from medgauge_lib.report.site import site_page

    replace_file(index, (site_page(root) + mark).encode())
