"""What every format hands over: subjects and their runs in order, as the source tells them.

A format reads; it decides nothing that all formats share. Which runs count, how many checkpoints a task has,
keys, records and figures are the work of `medgauge_lib.importers.assemble`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from medgauge_lib.errors import InputError
from medgauge_lib.reading import file_bytes, natural, strict_json, unreadable
from medgauge_lib.schema import pointer, quoted

Error = tuple[str, str]
"""Attribution and kind of a run's error."""


@dataclass(frozen=True)
class Trial:
    """One run of one subject on one task, as the source tells it.

    Attributes
    ----------
    task : str
        The task's name in the source; it goes into no record.
    place : str
        Where the run was read, for messages.
    passed : bool or None
        What the source says of the whole run; None where it follows from the checkpoints.
    tests : tuple of int, or None
        Checkpoints passed and checkpoints seen; None where they could not be read.
    error : tuple of str, or None
        Attribution and kind.
    vetoes : tuple of str
        Categories of the hard gates the run hit.
    usage : mapping
        Of ``actions, tool_calls, tokens_in, tokens_out, wall_clock_sec, amount`` those the source has.
    task_version, subset : str or None
        Of the task, where the source states them.
    """

    task: str
    place: str
    passed: bool | None = None
    tests: tuple[int, int] | None = None
    error: Error | None = None
    vetoes: tuple[str, ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)
    task_version: str | None = None
    subset: str | None = None


@dataclass(frozen=True)
class Subject:
    """A model in a harness with its runs, those of a task in the order in which they were made.

    Attributes
    ----------
    name : str
        What the source calls it.
    trials : tuple of Trial
    sha256 : str
        Of the files the runs were read from.
    facts : mapping
        Facts of the record that the source states, by the names of `medgauge_lib.importers.facts.FACTS`.
    window : tuple of str, or None
        First and last day of the runs.
    """

    name: str
    trials: tuple[Trial, ...]
    sha256: str
    facts: Mapping[str, str] = field(default_factory=dict)
    window: tuple[str, str] | None = None


@dataclass(frozen=True)
class Source:
    """One board's worth of subjects.

    Attributes
    ----------
    subjects : tuple of Subject
    facts : mapping
        Facts that hold for all of them.
    classes : mapping
        Task name to difficulty class 1–4, where the source has classes.
    """

    subjects: tuple[Subject, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    classes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """What a format read, and in words what became of the fields of the source.

    Attributes
    ----------
    sources : tuple of Source
        One for each board.
    mapped, dropped, assumed : tuple of str
        Sentences for the summary.
    """

    sources: tuple[Source, ...]
    mapped: tuple[str, ...]
    dropped: tuple[str, ...]
    assumed: tuple[str, ...] = ()


def source_bytes(path: Path) -> bytes:
    """Read a whole file of a source.

    Raises
    ------
    InputError
        Where it is no regular file or cannot be read.
    """
    return file_bytes(path, what="a file of runs")


def json_document(path: Path, data: bytes) -> Any:
    """Parse a JSON file of a source, strictly.

    Raises
    ------
    InputError
        Where the bytes are not JSON; line and column are named.

    Examples
    --------
    >>> json_document(Path("a.json"), b"[1,]")
    Traceback (most recent call last):
        ...
    medgauge_lib.errors.InputError: a.json: is not JSON: trailing comma, at line 1 column 4
      give the file as the other program wrote it in UTF-8
    """
    return strict_json(data, file=path, right="give the file as the other program wrote it")


def source_files(folder: Path, pattern: str) -> list[Path]:
    """Return what lies below a folder under names that match, hidden ones left out, in natural order.

    Natural order puts ``run-2`` before ``run-10``. Broken links and pipes are among them: reading them says
    so, where leaving them out would use half of a source.
    """
    found = [
        above / name
        for above, _, names in source_folders(folder)
        for name in names
        if fnmatchcase(name, pattern) and name[0] != "."
    ]
    return sorted(found, key=lambda path: [natural(part) for part in path.relative_to(folder).parts])


def source_folders(folder: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Walk through a folder and those below it as `os.walk` does, hidden ones left out.

    Raises
    ------
    InputError
        Where a folder cannot be read, or is a link, which might lead round in a circle.
    """

    def refuse(error: OSError) -> None:
        raise unreadable(error.filename, error, what="a folder of runs")

    for above, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = sorted((name for name in folders if name[0] != "."), key=natural)
        yield Path(above), folders, names
        for path in (Path(above, name) for name in folders):
            if path.is_symlink():
                raise InputError("is a link to a folder", "put the folder itself there", file=path)


def sha256_of(contents: Iterable[tuple[str, bytes]]) -> str:
    """Return one SHA-256 for several files: over a line of SHA-256 and name for each, in the order given.

    Examples
    --------
    >>> sha256_of([("a.json", b"{}")])[:12]
    'e544388c3f60'
    """
    lines = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in contents)
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def entry(row: Any, name: str, kind: type | tuple[type, ...], words: str, *, file: Path, place: str) -> Any:
    """Return one field of an object of the source, held to its type.

    Parameters
    ----------
    row : object
        What should be an object.
    name : str
        The field.
    kind : type or tuple of type
        What its value may be; a bool is no number.
    words : str
        What the value should be, for the message.
    file : Path
    place : str
        JSON pointer of the object.

    Raises
    ------
    InputError
        Where the object, the field or its type is wrong.
    """
    if not isinstance(row, dict):
        raise InputError(
            f"{quoted(row)} is not an object",
            "give the file as written",
            file=file,
            pointer=place,
        )
    if name not in row:
        raise InputError(
            f"the field {quoted(name)} is missing",
            f"it should be {words}",
            file=file,
            pointer=place,
        )
    value = row[name]
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise InputError(
            f"{quoted(value)} has the wrong type",
            f"should be {words}",
            file=file,
            pointer=place + pointer([name]),
        )
    return value


def moment(text: str, *, file: Path, place: str) -> datetime:
    """Return a date and time of the source in UTC; one without a zone is taken as UTC.

    Examples
    --------
    >>> moment("2025-12-15T06:36:08.1", file=Path("a"), place="").isoformat()
    '2025-12-15T06:36:08.100000+00:00'
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            f"{quoted(text)} is no date and time",
            "write it like 2026-01-31T12:00:00Z",
            file=file,
            pointer=place,
        ) from None
    try:
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except OverflowError:
        raise InputError(
            f"{quoted(text)} lies outside the calendar",
            "correct it",
            file=file,
            pointer=place,
        ) from None


def stamp(when: datetime) -> str:
    """Return a moment in UTC as a record writes it, to the second.

    Examples
    --------
    >>> stamp(datetime(2026, 1, 31, 12, tzinfo=UTC))
    '2026-01-31T12:00:00Z'
    """
    return when.replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def require_source(path: str | os.PathLike[str]) -> Path:
    """Return the path of a source that is there.

    Raises
    ------
    InputError
        Where there is nothing.
    """
    source = Path(path)
    if "\0" in str(source) or not source.exists():
        raise InputError("there is no such file or folder", "correct the path of the source", file=source)
    return source


def none_found(source: Path, what: str, where: str) -> InputError:
    """Return the error of a source in which a format finds nothing of its own."""
    return InputError(f"holds no {what}", f"give {where}", file=source)


def counted(numbers: Sequence[str]) -> str:
    """Return names in words, the first few of many.

    Examples
    --------
    >>> counted(["a", "b"]), counted([str(n) for n in range(40)])[-12:]
    ('a, b', ' and 10 more')
    """
    shown = ", ".join(numbers[:30])
    return shown if len(numbers) <= 30 else f"{shown} and {len(numbers) - 30} more"
