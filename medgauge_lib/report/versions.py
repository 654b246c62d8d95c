"""Versions built by other processes, or by a Dask cluster: one version is one piece of work.

All machines share a file system, on which the records, notebooks and reports have the same paths. Whoever
builds a version publishes it, whole or not at all, with the same bytes as here.
"""

from __future__ import annotations

import platform
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medgauge_lib.errors import InputError
from medgauge_lib.files import require_writable
from medgauge_lib.parallel import Workers, run
from medgauge_lib.progress import Progress
from medgauge_lib.report.plan import Report, plan

_ONE_AT_A_TIME = threading.Lock()
"""The libraries that make pages are made for one thread; a worker with several has them wait here."""


@dataclass(frozen=True)
class Version:
    """What a worker needs to know to build one version.

    Attributes
    ----------
    params_file, root, notebooks, mark : Path
        Absolute: the params file, the folders of all reports and of the notebooks, and a file that only who
        shares the file system can see.
    inputs : dict
        What this machine makes it from.
    only : tuple of str
        Notebooks to run; all where none is named.
    force : bool
        Keep nothing.
    forms : frozenset of str
        Its other forms: names of files.
    jobs, cell_seconds : int or None
        As `medgauge_lib.report.build.build` has them.
    """

    params_file: Path
    root: Path
    notebooks: Path
    mark: Path
    inputs: dict[str, Any]
    only: tuple[str, ...]
    force: bool
    forms: frozenset[str]
    jobs: int | None
    cell_seconds: int | None


def build_versions(
    reports: Sequence[Report],
    *,
    root: Path,
    notebooks: Path,
    only: Sequence[str],
    force: bool,
    jobs: int | None,
    cell_seconds: int | None,
    workers: Workers,
    told: Progress,
) -> dict[str, InputError]:
    """Have workers build reports, and give the failures.

    Parameters
    ----------
    reports : sequence of Report
        What is planned and not unchanged.
    root, notebooks : Path
        Folders of all reports and of the notebooks.
    only, force, jobs, cell_seconds
        As `medgauge_lib.report.build.build` has them; one notebook at a time where `jobs` is not given, since
        there are as many versions at a time as workers.
    workers : Workers
        Who builds.
    told : Progress
        Where to tell how it goes.

    Returns
    -------
    dict
        Name of each report that failed to its first failure.
    """
    require_writable(root)
    failures: dict[str, InputError] = {}
    with _marked(root.resolve()) as mark:
        versions = [
            Version(
                params_file=report.params.file.resolve(),
                root=root.resolve(),
                notebooks=notebooks.resolve(),
                mark=mark,
                inputs=report.inputs,
                only=tuple(only),
                force=force,
                forms=report.forms,
                jobs=jobs or 1,
                cell_seconds=cell_seconds,
            )
            for report in reports
        ]
        for index, outcome in run(build_version, versions, workers=workers):
            report = reports[index]
            if isinstance(outcome, InputError):
                failures[report.name] = outcome
                told.ended(f"{report.name} failed")
            else:
                report.notices += outcome
                report.published = True
                told.ended(report.name)
    return {report.name: failures[report.name] for report in reports if report.name in failures}


@contextmanager
def _marked(root: Path) -> Iterator[Path]:
    """Put a file with a name nobody knows in a folder, so that whoever sees it sees this folder."""
    mark = root / f".shared-{secrets.token_hex(8)}"
    mark.touch()
    try:
        yield mark
    finally:
        mark.unlink(missing_ok=True)


def build_version(version: Version) -> list[str] | InputError:
    """Build and publish one version; this is what a worker does.

    Parameters
    ----------
    version : Version

    Returns
    -------
    list of str or InputError
        The notices of its pages; or why it could not be built, as a value, so that other versions go on.
    """
    try:
        with _ONE_AT_A_TIME:
            return _built(version)
    except InputError as error:
        return error


def _built(version: Version) -> list[str] | InputError:
    from medgauge_lib.report.make import make

    here = platform.node()
    shared = {version.mark: version.root, version.params_file: version.params_file}
    for seen, path in (shared | {version.notebooks: version.notebooks}).items():
        if not seen.exists():
            raise InputError(
                f"the worker on {here} does not see {path}",
                "put records, params, notebooks and reports where all machines see them under the same path",
            )
    (report,) = plan(
        [version.params_file],
        root=version.root,
        notebooks=version.notebooks,
        only=version.only,
        force=version.force,
        forms=version.forms,
    )
    if report.inputs != version.inputs:
        raise InputError(
            f"the worker on {here} reads other files than this machine",
            "wait until every machine sees the files as they are, and build again",
            file=version.params_file,
        )
    failures = make(
        [report],
        root=version.root,
        jobs=version.jobs,
        cell_seconds=version.cell_seconds,
        told=Progress(0, unit="notebook", enabled=False),
    )
    return failures.get(report.name) or report.notices
