"""What each report needs, before anything runs: what changed, what is kept, which notebooks run.

Where nothing changed this is all that happens, so none of the libraries that run notebooks and make pages is
imported here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medgauge_lib.board import latest
from medgauge_lib.checks import METHODOLOGY, require_usable
from medgauge_lib.errors import InputError
from medgauge_lib.files import require_replaceable
from medgauge_lib.loading import load, require_version
from medgauge_lib.report import manifest
from medgauge_lib.report.manifest import RUN, SINGLE
from medgauge_lib.report.paper import PAPER, require_browser
from medgauge_lib.report.params import (
    SYSTEMS,
    AnyParams,
    FindingsParams,
    MethodologyParams,
    Params,
    read_params,
)
from medgauge_lib.schema import near, quoted

if TYPE_CHECKING:
    from medgauge_lib.report.shown import Shown


@dataclass
class Report:
    """One report while it is built: what it needs, what it keeps, and what it has so far.

    Attributes
    ----------
    params : AnyParams
        What it is about.
    folder : Path
        Where it will lie.
    inputs : dict
        What it is made from, as its manifest tells.
    unchanged : bool
        Whether there is nothing to do.
    kept : dict
        Notebooks of the old report that are used again: name to executed text.
    pages : list of Path
        The notebooks of its pages, in order.
    forms : frozenset of str
        Its other forms: names of files.
    paper : dict
        Its PDF where it has one: name and content.
    date : str
        Its date, from its data.
    files : dict
        Path to content of what is made so far.
    figures : dict
        Id to figure of what is made so far.
    notices : list of str
        What its pages say before anything else.
    times : dict
        Name of notebook to the times of its run.
    published : bool
        Whether it is whole and in place.
    """

    params: AnyParams
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
    notices: list[str] = field(default_factory=list)
    times: dict[str, Any] = field(default_factory=dict)
    published: bool = False

    @property
    def name(self) -> str:
        """Benchmark and version, as messages say them."""
        return f"{self.params.benchmark} {self.params.benchmark_version}"


def plan(
    params_files: Iterable[str | os.PathLike[str]],
    *,
    root: Path,
    notebooks: Path,
    only: Sequence[str] = (),
    force: bool = False,
    forms: frozenset[str] = frozenset(),
) -> list[Report]:
    """Read every params file and find out what each report needs, before anything runs.

    Parameters
    ----------
    params_files : iterable of path
        One params file a report.
    root : Path
        Folder of all reports.
    notebooks : Path
        Folder of the notebooks.
    only : sequence of str
        Notebooks to run; all where none is named.
    force : bool
        Keep nothing.
    forms : frozenset of str
        Names of the other forms to make.

    Returns
    -------
    list of Report
        One for each params file with a notebook to run, in their order.

    Raises
    ------
    InputError
        For input that cannot be used.
    """
    if PAPER in forms:
        require_browser()
    read = [read_params(file) for file in params_files]
    systems = sorted({one.system for one in read})
    found = {name: notebook_files(notebooks, SYSTEMS[name].pages) for name in systems}
    _require_known(only, [path.stem for paths in found.values() for path in paths])
    reports: dict[str, Report] = {}
    for params in read:
        paths = found[params.system]
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


def notebooks_folder() -> Path:
    """Find the project's notebooks: installed with the library, or beside it in a checkout.

    Returns
    -------
    Path

    Examples
    --------
    >>> (notebooks_folder() / "summary.ipynb").is_file()
    True
    """
    library = Path(__file__).parents[1]
    installed = library / "notebooks"
    return installed if installed.is_dir() else library.parent / "notebooks"


def notebook_files(folder: Path, pages: Sequence[str] = Params.pages) -> list[Path]:
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
        remedy = f"name the folder that holds {pages[0]}.ipynb"
        raise InputError("holds no notebook of a report", remedy, file=folder)
    return found


def _require_known(only: Sequence[str], names: Sequence[str]) -> None:
    """Require the named notebooks to be those of a report."""
    for name in only:
        if name not in names:
            raise InputError(f"there is no notebook {quoted(name)}", near(name, names, "there are"))


def _planned(
    params: AnyParams,
    root: Path,
    notebooks: list[Path],
    only: Sequence[str],
    force: bool,
    forms: frozenset[str],
) -> Report:
    """Find out what of one report has to be made."""
    folder = root / params.benchmark / params.benchmark_version
    _require_report(folder)
    inputs, old = manifest.inputs(params, notebooks), manifest.read_manifest(folder)
    known = not force and manifest.read_object(folder / RUN).get("labels_modified") == labels_modified(params)
    kept: dict[str, str] = {}
    if known and manifest.same_but_notebooks(old, inputs):
        for path in notebooks:
            executed = folder / "notebooks" / path.name
            if path.stem not in only and manifest.is_same(old, inputs, path.stem, executed):
                with suppress(UnicodeDecodeError):
                    kept[path.stem] = executed.read_bytes().decode()
    same = (
        known
        and not only
        and old.get("inputs") == inputs
        and kept.keys() == inputs["notebooks"].keys()
        and manifest.is_whole(folder, old)
    )
    present = frozenset(name for name in (SINGLE, PAPER) if same and (folder / name).is_file())
    return Report(
        params=params,
        folder=folder,
        inputs=inputs,
        unchanged=same and forms <= present,
        kept=kept,
        pages=[path for path in notebooks if not only or path.stem in only or path.stem in kept],
        forms=forms | present,
        paper={PAPER: (folder / PAPER).read_bytes()} if PAPER in present else {},
    )


def _require_report(folder: Path) -> None:
    """Require the place of a report to be free, or to hold one, whole or not: it is written anew."""
    if folder.parent.exists() and not folder.parent.is_dir():
        raise InputError("is a file, where a folder is expected", "move it away", file=folder.parent)
    require_replaceable(folder)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / manifest.NAME).exists():
        raise InputError(
            "holds something, and is no report", "name another folder with --out, or move it", file=folder
        )


def labels_modified(params: AnyParams) -> int | None:
    """Say when the task labels were last written; a public report holds no hash of them.

    Parameters
    ----------
    params : AnyParams
        The report.

    Returns
    -------
    int or None
        In nanoseconds; None where there are no labels.
    """
    return None if params.labels_file is None else params.labels_file.stat().st_mtime_ns


def _date(params: AnyParams) -> str:
    """Require the data to be usable and of the version the params file names; give the date of the report.

    A board has the latest date of its records. Corpora of findings are read by the notebook alone.
    """
    if isinstance(params, FindingsParams):
        require_version(params.source_folders()["data"], params.benchmark_version)
    if isinstance(params, MethodologyParams):
        _require_methodology(params)
    if not isinstance(params, Params):
        return params.date
    records = load(
        params.folder / params.records,
        benchmark=params.benchmark,
        benchmark_version=params.benchmark_version,
    )
    require_usable(records, records.subjects.loc[records.subjects["verified"], "id"])
    return latest(records)


def _require_methodology(params: MethodologyParams) -> None:
    """Require the version to be that of the method which is here to be simulated."""
    if params.benchmark_version != METHODOLOGY:
        raise InputError(
            f"{quoted(params.benchmark_version)} is not the methodology implemented here",
            f"write {METHODOLOGY}",
            file=params.file,
            pointer="/benchmark_version",
        )
