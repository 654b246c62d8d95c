"""A synthetic record set that shows everything a record set can hold; no real subject took part.

Two invented benchmarks, one of them with two versions, and a small benchmark of findings beside them. Every
record says that it is synthetic, in its organisation and in its note. Every machine makes the same bytes.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from medgauge_lib.demo.plan import VERSIONS, Version
from medgauge_lib.demo.published import draft
from medgauge_lib.errors import InputError
from medgauge_lib.files import replace_folder, writing
from medgauge_lib.findings.demo import write_demo
from medgauge_lib.progress import steps
from medgauge_lib.records import RecordSet, read_records
from medgauge_lib.scoring import record_json, score

MARKER = "SYNTHETIC.txt"
"""File that says what a demo set is, and by which a folder is recognised as one."""

STATEMENT = b"""\
This folder holds the demonstration records of medgauge.

They are synthetic: no real model, harness, organisation, patient or person took part, and every figure is
invented. The folder can be made again with `medgauge demo`, byte for byte; what is changed here is lost then.
Its files, so that another version of medgauge can replace them and nothing else:

"""


def benchmarks() -> tuple[tuple[str, str], ...]:
    """Return benchmark and version of every board of the demo.

    Examples
    --------
    >>> benchmarks()
    (('bm-demo-ward', '1.1.0'), ('bm-demo-ward', '1.0.0'), ('bm-demo-lab', '0.1.0'))
    """
    return tuple((version.benchmark, version.version) for version in VERSIONS)


def record_set(benchmark: str, version: str) -> RecordSet:
    """Return one board of the demo as it is read from its files.

    Parameters
    ----------
    benchmark, version : str
        One of `benchmarks`.

    Returns
    -------
    RecordSet
        Its `paths` name files that are no longer there; `write` makes files that stay.

    Raises
    ------
    ValueError
        If the demo has no such board.

    Examples
    --------
    >>> record_set("bm-demo-lab", "0.1.0").subjects["organisation"].unique().tolist()
    ['Synthetic demonstration data (no real subject)']
    """
    for known in VERSIONS:
        if (known.benchmark, known.version) == (benchmark, version):
            return _read(_files(known))
    raise ValueError(f"benchmark and version must be one of {benchmarks()}, but got {(benchmark, version)!r}")


def write(folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write the whole demo set, all or nothing.

    Parameters
    ----------
    folder : path
        New, empty, or an earlier demo set. It then holds ``<benchmark>/<version>/<id>.json``, the task labels
        of each version beside its folder as ``<version>.labels.json``, the benchmark of findings in
        ``findings/``, and a file that says it is synthetic.

    Returns
    -------
    tuple of Path
        Every file, sorted.

    Raises
    ------
    InputError
        If the folder holds something that is no part of a demo set, or cannot be written.

    Examples
    --------
    >>> with TemporaryDirectory() as folder:
    ...     paths = write(folder)
    ...     sorted({path.relative_to(folder).parts[0] for path in paths})
    ['SYNTHETIC.txt', 'bm-demo-lab', 'bm-demo-ward', 'findings']
    """
    target = Path(os.path.realpath(folder))
    files = _all_files()
    with writing(target):
        if _present(target, files) != files:
            replace_folder(target, files, root=target.parent)
    return tuple(Path(folder) / name for name in sorted(files))


def _present(target: Path, files: dict[str, bytes]) -> dict[str, bytes]:
    """Return what the target holds, if it may be replaced: nothing, or a demo set and nothing else."""
    if not target.exists():
        return {}
    if not target.is_dir():
        raise InputError("is a file, where a folder is expected", "give another path", file=target)
    entries = (path for path in target.rglob("*") if path.is_symlink() or not path.is_dir())
    found = {path.relative_to(target).as_posix(): path for path in entries}
    listed = _listed(found.get(MARKER))
    ours = listed | set(files) if listed else set()
    strange = sorted(name for name, path in found.items() if name not in ours or not _plain(path))
    if strange:
        raise InputError(
            f"the folder holds {strange[0]!r}, which is no part of a demo set",
            "give a folder that is new, empty, or an earlier demo set",
            file=target,
        )
    return {name: path.read_bytes() for name, path in found.items()}


def _plain(path: Path) -> bool:
    """Tell whether a path is a file of bytes, and no link to one; a pipe would be waited for."""
    return path.is_file() and not path.is_symlink()


def _listed(marker: Path | None) -> set[str]:
    """Return the files that a demo set says it is made of; none where it is not one of ours."""
    said = marker.read_bytes() if marker is not None and _plain(marker) else b""
    if not said.startswith(STATEMENT):
        return set()
    return set(said[len(STATEMENT) :].decode("utf-8", "replace").split("\n"))


def _all_files() -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for version in steps(VERSIONS, unit="benchmark version"):
        place = f"{version.benchmark}/{version.version}"
        files |= {f"{place}/{name}": data for name, data in _files(version).items()}
        files[f"{place}.labels.json"] = _labels(version)
    files |= _findings()
    listed = "".join(f"{name}\n" for name in sorted([MARKER, *files]))
    return {MARKER: STATEMENT + listed.encode()} | files


@cache
def _findings() -> dict[str, bytes]:
    """Files of the findings benchmark; reviews last, since a seed must not be older than a submission."""
    with TemporaryDirectory() as folder:
        made = write_demo(Path(folder))
        return {
            f"findings/{path.relative_to(folder).as_posix()}": path.read_bytes()
            for part in (made.data, made.submissions, made.reviews)
            for path in sorted(part.rglob("*"))
            if path.is_file()
        }


@cache
def _files(version: Version) -> dict[str, bytes]:
    """Files of one benchmark version: drafts, read and scored like anybody's records."""
    drafts = [draft(version, subject) for subject in version.subjects]
    with TemporaryDirectory() as folder:
        for record in drafts:
            (Path(folder) / f"{record['id']}.json").write_bytes(record_json(record))
        scored = score(read_records(folder))
    return {f"{record}.json": record_json(made) for record, made in scored.items()}


def _read(files: dict[str, bytes]) -> RecordSet:
    with TemporaryDirectory() as folder:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        return read_records(folder)


def _labels(version: Version) -> bytes:
    """Labels of the closed side: the class alone, or with further labels."""
    labels: dict[str, Any] = {
        task.key: {"difficulty": task.difficulty} | task.labels if task.labels else task.difficulty
        for place, task in enumerate(version.tasks())
        if place not in version.unlabelled
    }
    return orjson.dumps(labels, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SORT_KEYS)
