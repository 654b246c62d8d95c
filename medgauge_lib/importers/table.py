"""A table with one row a run: CSV, JSON Lines, or Parquet (extra ``parquet``).

`COLUMNS` lists what a table can have; only `task` and either `pass` or both checkpoint columns are needed. A
mapping file can give each its name in the table. An empty cell is absent, never 0. Messages name line and
column (Parquet: row and column).
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medgauge_lib.errors import InputError, printable
from medgauge_lib.estimators import VETO_CATEGORIES
from medgauge_lib.failures import ATTRIBUTIONS, KINDS
from medgauge_lib.importers.facts import Given
from medgauge_lib.importers.messages import attribute
from medgauge_lib.importers.reading import (
    Error,
    Reading,
    Source,
    Subject,
    Trial,
    counted,
    sha256_of,
    source_bytes,
)
from medgauge_lib.reading import strict_json
from medgauge_lib.schema import LARGEST, near, quoted

COLUMNS: Mapping[str, str] = {
    "subject": "name of the subject; without it, model, harness and effort tell subjects apart",
    "model": "name of the model",
    "model_snapshot": "dated name of the model",
    "harness": "id of the harness, hx-…",
    "harness_version": "version of the harness",
    "reasoning_effort": "reasoning effort",
    "task": "name of the task; becomes an opaque key",
    "task_version": "version of the task, such as 1.0.0",
    "subset": "holdout, dev or calib",
    "difficulty": "class of the task, 1 to 4; goes into the labels file",
    "run": "number of the run, which orders the runs of a task; without it the lines do",
    "pass": "true or false (1, 0, yes, no)",
    "checkpoints_passed": "checkpoints passed",
    "checkpoints_total": "checkpoints of the task, the same in each of its runs",
    "veto_categories": "categories of the hard gates that were hit, joined by semicolons",
    "error": "error message; its words tell attribution and kind where these are empty",
    "error_attribution": "model, agent, harness, application, provider, task or environment",
    "error_kind": "kind of the error, such as timeout; other where empty",
    "actions": "actions",
    "tool_calls": "tool calls",
    "tokens_in": "tokens in",
    "tokens_out": "tokens out",
    "wall_clock_sec": "seconds",
    "amount": "cost of the run, in the stated currency",
}
"""Columns of a table, and what each holds."""

_FACTS = ("model", "model_snapshot", "harness", "harness_version", "reasoning_effort")
_COUNTS = ("actions", "tool_calls", "tokens_in", "tokens_out")
_MEASURES = ("wall_clock_sec", "amount")
_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_NUMBER = re.compile(r"\+?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_LONGEST = 10_000


@dataclass(frozen=True)
class _Row:
    """One row under standard names, with empty cells left out."""

    file: Path
    place: str
    cells: Mapping[str, Any]
    names: Mapping[str, str]

    def wrong(self, column: str, wrong: str, remedy: str) -> InputError:
        """Return the error of one cell."""
        name = printable(self.names.get(column, column))
        return InputError(f"{self.place}, column {name}: {wrong}", remedy, file=self.file)

    def task(self) -> str:
        """Return the name of the task."""
        task = self.text("task")
        if task is None:
            raise self.wrong("task", "is empty", "name the task of the run")
        return task

    def subject(self) -> str:
        """Return what sets the subject apart from the others of the table."""
        stated = self.text("subject")
        parts = (self.text(name) for name in _FACTS)
        return stated or " ".join(part for part in parts if part) or self.file.stem

    def text(self, column: str) -> str | None:
        """Return a cell as text."""
        value = self.cells.get(column)
        if value is None:
            return None
        if isinstance(value, bool | float) or not isinstance(value, str | int):
            raise self.wrong(column, f"{quoted(value)} is no text", "write a text")
        if len(str(value)) > _LONGEST:
            raise self.wrong(column, f"the text is longer than {_LONGEST} characters", "shorten it")
        return str(value)

    def one_of(self, column: str, known: Sequence[str]) -> str | None:
        """Return a cell that holds one of a few words."""
        value = self.text(column)
        if value is not None and value not in known:
            raise self.wrong(column, f"{quoted(value)} is not known", near(value, known))
        return value

    def flag(self, column: str) -> bool | None:
        """Return a cell that is true or false."""
        value = self.cells.get(column)
        if value is None or isinstance(value, bool):
            return value
        found = _FLAGS.get(str(value).strip().lower()) if isinstance(value, str | int) else None
        if found is None:
            raise self.wrong(column, f"{quoted(value)} is neither true nor false", "write true or false")
        return found

    def count(self, column: str) -> int | None:
        """Return a cell that is an integer from 0 on."""
        value = self.cells.get(column)
        if value is None:
            return None
        # float() of a long text is slow, int() of one is refused; neither is a count.
        text = str(value).strip()[:40] if isinstance(value, str) else value
        whole = text.isascii() and text.isdigit() if isinstance(text, str) else _is_whole(text)
        if not whole or not 0 <= int(text) <= LARGEST:
            raise self.wrong(column, f"{quoted(value)} is no count", "write an integer from 0 on")
        return int(text)

    def measure(self, column: str) -> float | int | None:
        """Return a cell that is a number from 0 on."""
        value = self.cells.get(column)
        if value is None:
            return None
        # float() would also take 1_000, and the digits of every script.
        text = str(value).strip() if isinstance(value, str | int | float) else ""
        number = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not math.isfinite(number) or not 0 <= number <= LARGEST:
            raise self.wrong(
                column, f"{quoted(value)} is no amount", "write a number from 0 on, such as 1.25"
            )
        return number


def _is_whole(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and value == value // 1


def read(source: Path, given: Given) -> Reading:
    """Read a table of runs.

    Parameters
    ----------
    source : Path
        A file that ends in ``.csv``, ``.jsonl``, ``.ndjson`` or ``.parquet``.
    given : Given
        Names of columns, facts and rules for error messages.

    Returns
    -------
    Reading
        One board.

    Raises
    ------
    InputError
        Where the file is no table, a column is missing, or a cell cannot be used; line and column are named.
    """
    data = source_bytes(source)
    header, lines = _open(source, data)
    names = _names(header, given.columns, source)
    standard = {column: name for name, column in names.items()}
    rows = [
        _Row(
            source, place, {standard[name]: value for name, value in cells.items() if name in standard}, names
        )
        for place, cells in lines
    ]
    facts = _steady(rows, lambda row: row.subject(), _FACTS, "a subject")
    of_tasks = _steady(rows, lambda row: row.task(), ("checkpoints_total", "difficulty"), "a task")
    for row in rows:
        if row.count("difficulty") not in (None, 1, 2, 3, 4):
            raise row.wrong("difficulty", f"{row.count('difficulty')} is no class", "write 1, 2, 3 or 4")
    sha256 = sha256_of([(source.name, data)])
    subjects = tuple(
        Subject(name, trials, sha256, {fact: value for (of, fact), value in facts.items() if of == name})
        for name, trials in sorted(_trials(rows, given).items())
    )
    classes = {task: value for (task, column), value in of_tasks.items() if column == "difficulty"}
    return Reading((Source(subjects, {}, classes),), *_words(header, names))


def _steady(
    rows: Iterable[_Row], key: Callable[[_Row], str], columns: Sequence[str], whose: str
) -> dict[tuple[str, str], Any]:
    """Return the values of columns that hold for all rows of a subject or a task; empty cells say nothing."""
    known: dict[tuple[str, str], tuple[Any, str]] = {}
    for row in rows:
        for column in columns:
            value = row.text(column) if column in _FACTS else row.count(column)
            if value is not None:
                first, place = known.setdefault((key(row), column), (value, row.place))
                if value != first:
                    raise row.wrong(
                        column,
                        f"{quoted(value)}, but {quoted(first)} on {place}",
                        f"{whose} has one {column}",
                    )
    return {place: value for place, (value, _) in known.items()}


def _trials(rows: Sequence[_Row], given: Given) -> dict[str, tuple[Trial, ...]]:
    """Return the runs of each subject in their order."""
    ordered: dict[str, dict[tuple[int, str], tuple[_Row, Trial]]] = {}
    for index, row in enumerate(rows):
        number = index
        if "run" in row.names:
            stated = row.count("run")
            if stated is None:
                raise row.wrong("run", "is empty", "number every run, or leave the column out")
            number = stated
        runs = ordered.setdefault(row.subject(), {})
        first, _ = runs.setdefault((number, row.task()), (row, _trial(row, given)))
        if first is not row:
            raise row.wrong(
                "run",
                f"{first.place} has run {number} of this task too",
                "number the runs of a task once each",
            )
    return {
        subject: tuple(runs[key][1] for key in sorted(runs, key=lambda key: key[0]))
        for subject, runs in ordered.items()
    }


def _trial(row: _Row, given: Given) -> Trial:
    passed, (done, total) = (
        row.flag("pass"),
        (row.count(f"checkpoints_{name}") for name in ("passed", "total")),
    )
    error = _error(row, given)
    vetoes = _vetoes(row)
    if done is not None and total is None:
        raise row.wrong("checkpoints_total", "is empty", "give both counts of checkpoints, or neither")
    if total == 0:
        raise row.wrong("checkpoints_total", "is 0", "a task has at least one checkpoint")
    if done is not None and total is not None and done > total:
        raise row.wrong("checkpoints_passed", f"{done} of {total}", "no more can pass than there are")
    if passed is None and done is None and error is None:
        raise row.wrong("pass", "is empty", "give pass, or both counts of checkpoints, or an error")
    if passed and done is not None and done != total:
        raise row.wrong(
            "pass", f"is true, but {done} of {total} checkpoints passed", "correct one of the two"
        )
    tests = None
    if total is not None:
        tests = (total if passed and done is None else done or 0, total)
    elif passed is not None:
        tests = (int(passed), 1)
    usage: dict[str, Any] = {name: row.count(name) for name in _COUNTS}
    usage |= {name: row.measure(name) for name in _MEASURES}
    return Trial(
        task=row.task(),
        place=row.place,
        passed=passed,
        tests=tests,
        error=error,
        vetoes=vetoes,
        usage={name: value for name, value in usage.items() if value is not None},
        task_version=row.text("task_version"),
        subset=row.one_of("subset", ("dev", "holdout", "calib")),
    )


def _error(row: _Row, given: Given) -> Error | None:
    attribution = row.one_of("error_attribution", ATTRIBUTIONS)
    kind = row.one_of("error_kind", KINDS)
    message = row.text("error")
    if attribution is None and message is not None:
        found = attribute(message, given.errors)
        return found[0], kind or found[1]
    if attribution is None and kind is not None:
        raise row.wrong(
            "error_attribution", "is empty, but the run has a kind of error", "say whose error it is"
        )
    return None if attribution is None else (attribution, kind or "other")


def _vetoes(row: _Row) -> tuple[str, ...]:
    value = row.cells.get("veto_categories")
    parts = value if isinstance(value, list) else (row.text("veto_categories") or "").split(";")
    vetoes = {str(part).strip() for part in parts} - {""}
    for veto in sorted(vetoes):
        if veto not in VETO_CATEGORIES:
            raise row.wrong("veto_categories", f"{quoted(veto)} is not known", near(veto, VETO_CATEGORIES))
    return tuple(sorted(vetoes))


def _names(header: Sequence[str], columns: Mapping[str, str], source: Path) -> dict[str, str]:
    """Return each standard column that the table has, and its name there."""
    for name, column in columns.items():
        if name not in COLUMNS:
            raise InputError(f"columns: {quoted(name)} is no standard column", near(name, COLUMNS))
        if column not in header:
            raise InputError(
                f"there is no column {quoted(column)}, which stands for {name}",
                near(column, header[:40]),
                file=source,
            )
    renamed = set(columns.values())
    names = {name: name for name in COLUMNS if name in header and name not in renamed} | dict(columns)
    doubled = next((n for n in names if list(names.values()).count(names[n]) > 1), None)
    if doubled:
        raise InputError(f"columns: {quoted(names[doubled])} stands for two columns", "name each once")
    sides = {"checkpoints_passed", "checkpoints_total"}
    missing = [] if "task" in names else ["task"]
    missing += [] if "pass" in names or sides <= names.keys() else ["pass"]
    if missing:
        unparted = len(header) == 1 and not {";", "\t"}.isdisjoint(header[0])
        name_it = "name it so, or state in a mapping file which column it is"
        raise InputError(
            f"line 1: there is no column {missing[0]}; the table has {printable(counted(header))[:300]}",
            "part the columns by commas" if unparted else name_it,
            file=source,
        )
    return names


def _words(header: Sequence[str], names: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """Return what was mapped, dropped and assumed, in sentences."""
    mapped = tuple(f"{printable(column)} → {name}" for name, column in names.items())
    used = set(names.values())
    dropped = tuple(f"column {printable(column)}" for column in header if column not in used)
    assumed = []
    if "run" not in names:
        assumed.append("the runs of a task were made in the order of the lines")
    if "error" in names:
        assumed.append("what an error message means, from its words, where its attribution is empty")
    return mapped, dropped, tuple(assumed)


def _open(source: Path, data: bytes) -> tuple[list[str], Iterator[tuple[str, dict[str, Any]]]]:
    """Return the names of the columns, and each row with its place; empty cells are left out."""
    readers = {".csv": _csv, ".jsonl": _json_lines, ".ndjson": _json_lines, ".parquet": _parquet}
    reader = readers.get(source.suffix.lower())
    if reader is None:
        raise InputError(
            f"{quoted(source.suffix)} is no known kind of table",
            f"give a file that ends in {', '.join(readers)}",
            file=source,
        )
    return reader(source, data)


def _csv(source: Path, data: bytes) -> tuple[list[str], Iterator[tuple[str, dict[str, Any]]]]:
    try:
        # Spreadsheet programs put a byte order mark in front.
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(f"line {line} is not UTF-8", "save the table as UTF-8", file=source) from None
    lines = _csv_lines(source, text)
    _, header = next(lines, (1, []))
    twice = next((name for name, n in Counter(header).items() if n > 1), None)
    if not any(header) or twice is not None:
        wrong = (
            "line 1 names no columns" if twice is None else f"line 1 names the column {quoted(twice)} twice"
        )
        raise InputError(wrong, "give each column a name in the first line", file=source)

    return header, _csv_cells(source, header, lines)


def _csv_lines(source: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Give the cells of each row with the number of its first line."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    start = 1
    try:
        for row in reader:
            yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"line {start}: is no CSV: {error}", "write commas between cells and quotes around text",
            file=source,
        ) from None  # fmt: skip


def _csv_cells(
    source: Path, header: list[str], lines: Iterable[tuple[int, list[str]]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    for line, row in lines:
        if not row:
            continue
        if len(row) != len(header):
            raise InputError(
                f"line {line} has {len(row)} cells, but the header has {len(header)}",
                "write a cell for every column, and quotes around text with commas",
                file=source,
            )
        yield f"line {line}", {n: value for n, value in zip(header, row, strict=True) if value.strip()}


def _json_lines(source: Path, data: bytes) -> tuple[list[str], Iterator[tuple[str, dict[str, Any]]]]:
    rows: list[tuple[str, dict[str, Any]]] = []
    header: dict[str, None] = {}
    for number, line in enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        if not line.strip():
            continue
        row = strict_json(line, file=source, right="write one JSON object a line", first_line=number)
        if not isinstance(row, dict):
            raise InputError(
                f"line {number}: {quoted(row)} is not an object",
                "write one JSON object a line",
                file=source,
            )
        header |= dict.fromkeys(row)
        rows.append((f"line {number}", _present(row)))
    return list(header), iter(rows)


def _parquet(source: Path, data: bytes) -> tuple[list[str], Iterator[tuple[str, dict[str, Any]]]]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            "Parquet needs pyarrow, which is not installed", "install medgauge[parquet], or give CSV"
        ) from None
    try:
        table = parquet.read_table(pa.BufferReader(data))
        names = table.column_names
    except (pa.ArrowException, OSError, ValueError) as error:
        wrong, remedy = f"is no Parquet file: {_reason(error)}", "give the file as it was written"
        raise InputError(wrong, remedy, file=source) from None
    columns = {}
    for name in names:
        try:
            columns[name] = table[name].to_pylist()
        except (pa.ArrowException, OverflowError, ValueError) as error:
            wrong = f"column {printable(name)} cannot be read: {_reason(error)}"
            raise InputError(wrong, "leave the column out, or write it as text", file=source) from None
    rows = (dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True))
    return list(columns), ((f"row {number}", _present(row)) for number, row in enumerate(rows, 1))


def _reason(error: Exception) -> str:
    """Return the first line of what another library says."""
    return printable(next(iter(str(error).splitlines()), "") or type(error).__name__)[:120]


def _present(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None and value != ""}
