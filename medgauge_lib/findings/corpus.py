"""The corpus of a task: JSON Lines, plain or gzip, bound to its hash, and its metadata as columns.

A document is ``doc_id``, ``text``, ``timestamp`` and further metadata; a metadata value that is null or not
there is missing. Documents keep the order of the file. Reading is bounded: it stops at the first document too
many and at a line that is too long, so that a small compressed file cannot fill the memory.
"""

from __future__ import annotations

import datetime as dt
import gzip
import hashlib
import io
import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from medgauge_lib.errors import InputError
from medgauge_lib.findings.contract import Task
from medgauge_lib.reading import strict_json
from medgauge_lib.schema import quoted

LONGEST_LINE = 2**24
"""Bytes of the longest line that is read as a document."""

_GZIP = b"\x1f\x8b"
_PROBED = 2**30
_BLOCK = 2**20
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True)
class Strata:
    """One axis of the corpus: which stratum each document is in.

    Attributes
    ----------
    names : tuple of str
        Ascending as text, so "10" stands before "9".
    codes : array of int, shape (n_documents,)
        Index into `names`, −1 where the value is missing.
    """

    names: tuple[str, ...]
    codes: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Corpus:
    """The documents of one task.

    Attributes
    ----------
    documents : tuple of mapping
        In the order of the file.

    Examples
    --------
    >>> corpus = Corpus(({"doc_id": "a", "text": "x", "timestamp": "2024-02-30"}, {"doc_id": "b", "text": "y",
    ...     "timestamp": "2024-02-03T10:00", "rating": 4.0}))
    >>> corpus.column("report_year"), corpus.column("rating"), corpus.strata("rating").names
    ([None, 2024], [None, 4.0], ('4.0',))
    """

    documents: tuple[Mapping[str, Any], ...]
    _strata: dict[str, Strata] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Document id to its place in the file, 0-based."""
        return {document["doc_id"]: place for place, document in enumerate(self.documents)}

    @cached_property
    def dates(self) -> list[str | None]:
        """Date of each document: the first ten signs of its timestamp if they are YYYY-MM-DD, else None.

        Dates of this form compare as text in the order of the calendar.
        """
        known: dict[str, str | None] = {}
        column: list[str | None] = []
        for document in self.documents:
            value = document.get("timestamp")
            day = value[:10] if isinstance(value, str) else ""
            if day not in known:
                known[day] = day if is_date(day) else None
            column.append(known[day])
        return column

    def column(self, name: str) -> list[Any]:
        """Return a metadata field of every document; ``report_year`` is the year of its date, as a number."""
        if name == "report_year":
            return [None if day is None else int(day[:4]) for day in self.dates]
        return [document.get(name) for document in self.documents]

    def strata(self, axis: str) -> Strata:
        """Return the strata of an axis: named by the value's text, blank text is missing.

        Text is its own name; another value is named as JSON writes it, so ``4`` and ``4.0`` are two strata.
        """
        if axis not in self._strata:
            column = [_stratum(value) for value in self.column(axis)]
            names = sorted({name for name in column if name is not None})
            codes: dict[str | None, int] = {name: code for code, name in enumerate(names)}
            codes[None] = -1
            self._strata[axis] = Strata(tuple(names), np.array([codes[name] for name in column], np.int64))
        return self._strata[axis]


def is_date(text: str) -> bool:
    """Return whether a text is a date of the calendar written YYYY-MM-DD.

    Examples
    --------
    >>> is_date("2024-02-29"), is_date("2023-02-29"), is_date("2024-W09-1"), is_date("20240229")
    (True, False, False, False)
    """
    # The pattern first: Python also reads week dates and dates without hyphens.
    if not _DATE.fullmatch(text):
        return False
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _stratum(value: Any) -> str | None:
    if isinstance(value, str):
        return value if value.strip() else None
    if type(value) in (int, float):
        return repr(value)  # as JSON writes it, and several times faster
    return None if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)


def read_corpus(folder: Path, task: Task) -> Corpus:
    """Read the corpus of a task.

    Parameters
    ----------
    folder : Path
        The data folder, which the corpus must not leave.
    task : Task
        Names the file, its hash and its number of documents.

    Returns
    -------
    Corpus

    Raises
    ------
    InputError
        Where the path leaves the folder (also through a link), the file cannot be read, is cut off, has
        another hash or another number of documents, or a line is no document or repeats an id.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from medgauge_lib.findings import read_benchmark
    >>> from medgauge_lib.findings.demo import write_demo
    >>> with TemporaryDirectory() as place:
    ...     demo = write_demo(Path(place))
    ...     benchmark = read_benchmark(demo.data)
    ...     corpus = read_corpus(demo.data, benchmark.tasks[0])
    >>> len(corpus) == benchmark.tasks[0].n_documents
    True
    """
    path = _inside(folder, task.corpus_path)
    try:
        with path.open("rb") as raw:
            return _read(raw, path, task)
    except EOFError:
        raise InputError("the gzip file is cut off", "fetch the whole file again", file=path) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"the gzip file is damaged: {error}", "fetch the file again", file=path) from None
    except OSError as error:
        wrong = f"cannot be read: {error.strerror or type(error).__name__}"
        raise InputError(wrong, "make the corpus file readable", file=path) from None


def _inside(folder: Path, relative: str) -> Path:
    """Return where the corpus lies, its links followed."""
    remedy = "keep the corpus inside the data folder and give its path relative to it"
    file = folder / "tasks.json"
    if PurePosixPath(relative).is_absolute():
        raise InputError(f"the corpus path {quoted(relative)} is absolute", remedy, file=file)
    try:
        path = (folder / relative).resolve()
        outside = not path.is_relative_to(folder.resolve())
        strange = path.exists() and not path.is_file()
    except (OSError, RuntimeError):
        wrong = f"the corpus path {quoted(relative)} is too long, or a link that leads nowhere"
        raise InputError(wrong, remedy, file=file) from None
    if outside and ".." in PurePosixPath(relative).parts:
        raise InputError(f"the corpus path {quoted(relative)} leaves the data folder", remedy, file=file)
    if outside:
        wrong = f"the corpus path {quoted(relative)} is a link that leads out of the data folder"
        raise InputError(wrong, remedy, file=file)
    if strange:
        raise InputError(f"the corpus path {quoted(relative)} is no regular file", remedy, file=file)
    return folder / relative


def _read(raw: io.BufferedReader, path: Path, task: Task) -> Corpus:
    zipped = raw.read(2) == _GZIP
    if path.suffix == ".gz" and not zipped:
        raise InputError("is named as a gzip file but is none", "fetch the file again", file=path)
    raw.seek(0)
    found = hashlib.file_digest(raw, "sha256").hexdigest()
    raw.seek(0)
    stream = gzip.GzipFile(fileobj=raw) if zipped else raw
    if found != task.corpus_sha256:
        # A file cut off on its way has another hash too; saying so is the more useful message.
        _probe(stream)
        raise InputError(
            f"its SHA-256 is {found}, but the task {quoted(task.task_id)} names {task.corpus_sha256}",
            "put the corpus of this task there, or correct corpus_sha256",
            file=path,
        )
    documents: list[dict[str, Any]] = []
    seen: set[str] = set()
    for place, line in _lines(stream, path):
        document = _document(line, path, place)
        if len(documents) == task.n_documents:
            wrong = f"holds more than the {task.n_documents} documents that the task names"
            raise InputError(wrong, "correct n_documents, or the file", file=path)
        if document["doc_id"] in seen:
            wrong = f"line {place}: the document id {quoted(document['doc_id'])} occurs twice"
            raise InputError(wrong, "give each document an id of its own", file=path)
        seen.add(document["doc_id"])
        documents.append(document)
    if len(documents) != task.n_documents:
        wrong = f"holds {len(documents)} documents, but the task names {task.n_documents}"
        raise InputError(wrong, "correct n_documents, or the file", file=path)
    return Corpus(tuple(documents))


def _probe(stream: io.BufferedReader | gzip.GzipFile) -> None:
    """Read on to the end, within bounds, for the errors of a damaged file."""
    left = _PROBED
    while left > 0 and (block := stream.read(_BLOCK)):
        left -= len(block)


def _lines(stream: io.BufferedReader | gzip.GzipFile, path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their 1-based numbers."""
    for place, line in enumerate(iter(lambda: stream.readline(LONGEST_LINE + 1), b""), start=1):
        if len(line) > LONGEST_LINE:
            wrong = f"line {place} is longer than {LONGEST_LINE} bytes"
            raise InputError(wrong, "write one document a line", file=path)
        if not line.isspace():
            yield place, line


def _document(line: bytes, path: Path, place: int) -> dict[str, Any]:
    document = strict_json(line, file=path, right="write one JSON object a line", first_line=place)
    if not isinstance(document, dict):
        raise InputError(f"line {place} is {quoted(document)}", "write one JSON object a line", file=path)
    doc_id = document.get("doc_id")
    if not isinstance(doc_id, str) or not doc_id or not isinstance(document.get("text"), str):
        name = "text" if isinstance(doc_id, str) and doc_id else "doc_id"
        found = quoted(document[name]) if name in document else "missing"
        raise InputError(f"line {place}: {name} is {found}", f"write {name} as text", file=path)
    if math.inf in document.values() or -math.inf in document.values():
        wrong = f"line {place} holds a number beyond the range of 64-bit floating point"
        raise InputError(wrong, "write a finite number, or null", file=path)
    return document
