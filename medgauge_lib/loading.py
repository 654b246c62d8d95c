"""Data that a notebook's parameters name: found from here or from params/, and of what they say."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from medgauge_lib.errors import InputError
from medgauge_lib.intervals import SEED
from medgauge_lib.records import RecordSet, read_records
from medgauge_lib.schema import quoted

if TYPE_CHECKING:
    from medgauge_lib.findings.quality import QualityReport


def locate(path: str | os.PathLike[str]) -> Path:
    """Find a path of a params file from wherever a notebook runs.

    In a report a notebook runs in the folder of its params file. Under stock papermill it runs in the
    project's folder; then the path is looked for from the ``params`` folder as well.

    Parameters
    ----------
    path : path
        Relative to a params file, or absolute.

    Returns
    -------
    Path
        The first that exists of the path from the working folder and from its ``params`` folder; as relative
        as it came, so that showing it shows nothing of the machine.

    Raises
    ------
    InputError
        Where neither exists; it names both.

    Examples
    --------
    >>> locate(".")
    PosixPath('.')
    """
    wanted = Path(path)
    looked_at = (wanted, Path("params") / wanted)
    # "params/../demo" leads nowhere without a params folder, though demo is there: so it is for a reader who
    # has the records and the report alone.
    for candidate in (*looked_at, *(Path(os.path.normpath(place)) for place in looked_at)):
        if candidate.exists():
            return candidate
    places = " and ".join(
        str(Path(os.path.normpath(Path.cwd() / place))) for place in dict.fromkeys(looked_at)
    )
    raise InputError(
        f"{wanted} does not exist; looked at {places}", "correct the path in the params file or cell"
    )


def load(records: str | os.PathLike[str], *, benchmark: str, benchmark_version: str) -> RecordSet:
    """Read the records a notebook's parameters name, and hold them against the benchmark they say.

    Parameters
    ----------
    records : path
        Folder of result records, found as `locate` finds it.
    benchmark, benchmark_version : str
        What the records must be of.

    Returns
    -------
    RecordSet

    Raises
    ------
    InputError
        If the folder cannot be used, or holds another benchmark or version.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from medgauge_lib import demo
    >>> with TemporaryDirectory() as place:
    ...     _ = demo.write(place)
    ...     found = load(f"{place}/bm-demo-lab/0.1.0", benchmark="bm-demo-lab", benchmark_version="0.1.0")
    >>> found.benchmark
    'bm-demo-lab'
    """
    folder = locate(records)
    found = read_records(folder)
    if (found.benchmark, found.benchmark_version) != (benchmark, benchmark_version):
        raise InputError(
            f"holds {found.benchmark} {found.benchmark_version}, not {benchmark} {benchmark_version}",
            "correct benchmark and benchmark_version, or the folder of the records",
            file=folder,
        )
    return found


def load_findings(
    data: str | os.PathLike[str],
    submissions: str | os.PathLike[str],
    reviews: str | os.PathLike[str],
    *,
    benchmark_version: str,
    seed: int = SEED,
) -> QualityReport:
    """Score the findings a notebook's parameters name, and hold the data against the version they say.

    Parameters
    ----------
    data, submissions, reviews : path
        Folders as `medgauge_lib.findings.score_findings` takes them, found as `locate` finds them.
    benchmark_version : str
        What the data must be of.
    seed : int
        Of the resamples of the intervals.

    Returns
    -------
    QualityReport

    Raises
    ------
    InputError
        If a folder cannot be used, or the data are of another version.
    """
    from medgauge_lib.findings.quality import score_findings

    folder = locate(data)
    require_version(folder, benchmark_version)
    return score_findings(folder, locate(submissions), locate(reviews), seed=seed)


def require_version(data: Path, benchmark_version: str) -> None:
    """Require a data folder of finding quality to be of the version that a params file says.

    Parameters
    ----------
    data : Path
        With ``tasks.json`` and ``release.json``.
    benchmark_version : str
        What ``release.json`` must say.

    Raises
    ------
    InputError
        If the folder cannot be used, or says another version.
    """
    from medgauge_lib.findings.contract import read_benchmark

    found = read_benchmark(data).version
    if found != benchmark_version:
        raise InputError(
            f"is version {quoted(str(found))}, not {benchmark_version}"
            if isinstance(found, str)
            else found.reason,
            "correct benchmark_version, or the folder of the data",
            file=data / "release.json",
        )
