"""Result records in, one table of subjects and one of runs out: the only room that reads records.

A record is one row of a board: a subject (a model in a harness, each with its version) on one benchmark
version, three runs a task. A record set holds the records of one benchmark version. Published figures are
kept as they came and never used to compute. Only records that the site verified are ranked; the others are
read too, listed apart, and can neither void a task for the board nor spoil its task set.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import jiter
import numpy as np
import pandas as pd

from medgauge_lib.errors import InputError, printable
from medgauge_lib.progress import steps
from medgauge_lib.reading import file_bytes, strict_json, unreadable
from medgauge_lib.schema import fault, near, quoted

INITIATIVE = ("task", "environment")
"""Error attributions that make a task version void for every subject."""

Published = Mapping[str, Any]
Place = tuple[str | int, ...]
TaskVersion = tuple[str, str, str]

_FIRST_SHOWN = 3
_TASK = ("task_key", "task_version", "subset")
_RUN = ("run", "pass", "checkpoints_passed", "checkpoints_total", "s", "veto_categories", "error")
_COUNTS = ("actions", "tool_calls", "tokens_in", "tokens_out")
_MEASURES = ("wall_clock_sec", "amount")


@dataclass(frozen=True, eq=False, repr=False)
class RecordSet:
    """The records of one benchmark version.

    Attributes
    ----------
    benchmark, benchmark_version : str
        The one board all records belong to.
    subjects : DataFrame
        One row a record, ascending by `id`: ``id, label, model, model_snapshot, harness, harness_version,
        reasoning_effort`` (None where not stated)``, verified, organisation, amount_applicable, currency,
        price_table_version`` (None where not stated)``, created_at, file`` (name)``, sha256`` (of the file).
    runs : DataFrame
        One row a run, ascending by `id`, `task_key`, `run`: ``id, task_key, task_version, subset, run,
        passed, checkpoints_passed, checkpoints_total, s, veto_categories`` (tuple)``, error_attribution,
        error_kind`` (None without an error)``, actions, tool_calls, tokens_in, tokens_out, wall_clock_sec,
        amount`` (NA where not recorded)``, task_index, run_index`` (the run's place in ``run_outcomes`` of
        its file).
    published : mapping
        Record id to the record as it came, without its ``run_outcomes``.
    paths : mapping
        Record id to the file it was read from.
    decimals : mapping
        Record id to place and decimals of each published number that its file writes with zeros at the end,
        as in ``0.50``; a place not in it has the decimals of the number's shortest form.

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> records = demo.record_set("bm-demo-ward", "1.0.0")
    >>> records.benchmark, len(records.runs) % 3
    ('bm-demo-ward', 0)
    """

    benchmark: str
    benchmark_version: str
    subjects: pd.DataFrame
    runs: pd.DataFrame
    published: Mapping[str, Published]
    paths: Mapping[str, Path]
    decimals: Mapping[str, Mapping[Place, int]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"RecordSet of {self.benchmark} {self.benchmark_version}: {len(self.subjects):,} subjects, "
            f"{len(self.runs):,} runs"
        )

    @cached_property
    def void(self) -> pd.DataFrame:
        """Task versions void for every row of the board, ascending by key and version.

        One row a task version: ``task_key, task_version, attribution`` (``task`` or ``environment``)``,
        listed_by`` (ids of the records that list it)``, shown_by`` (ids of the records in which a run has an
        initiative-side error). Only verified records count. Where records disagree on the attribution, the
        first that lists it, else the first that shows it, in the order of ids, decides.
        """
        return _void(self)

    @cached_property
    def void_versions(self) -> frozenset[tuple[str, str]]:
        """Key and version of every task version that is void for the board."""
        return frozenset(zip(self.void["task_key"], self.void["task_version"], strict=True))

    def without(self, *ids: str) -> RecordSet:
        """Return the records as they would be read with the files of some of them left out.

        Parameters
        ----------
        *ids : str
            Record ids.

        Returns
        -------
        RecordSet
            Without these records. What only they made void counts again, and labels say no more than sets the
            remaining rows apart.

        Raises
        ------
        ValueError
            If an id is not of this set, or no record would be left.

        Examples
        --------
        >>> from medgauge_lib import demo
        >>> records = demo.record_set("bm-demo-ward", "1.0.0")
        >>> first = records.subjects["id"][0]
        >>> len(records.subjects), len(records.without(first).subjects)
        (8, 7)
        """
        unknown = sorted(set(ids) - set(self.published))
        if unknown:
            way = near(unknown[0], self.published)
            raise ValueError(f"ids must name records of this set, but got {unknown[0]!r}; {way}")
        kept = [record for record in self.published if record not in ids]
        if not kept:
            raise ValueError("ids must leave a record, but they name all of this set")
        published = {record: self.published[record] for record in kept}
        subjects = self.subjects[self.subjects["id"].isin(kept)].reset_index(drop=True)
        return RecordSet(
            benchmark=self.benchmark,
            benchmark_version=self.benchmark_version,
            subjects=subjects.assign(label=_objects(row_labels(list(published.values())))),
            runs=self.runs[self.runs["id"].isin(kept)].reset_index(drop=True),
            published=published,
            paths={record: self.paths[record] for record in kept},
            decimals={record: self.decimals[record] for record in kept if record in self.decimals},
        )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep Python's collector of garbage still: what is read all stays, and is searched over and over."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@_uncollected()
def read_records(source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> RecordSet:
    """Read the result records of one benchmark version.

    Parameters
    ----------
    source : path or iterable of paths
        A folder, of which every ``*.json`` directly inside is read (hidden files and ``*.labels.json`` are
        not); one file; or several files.

    Returns
    -------
    RecordSet
        Rows in ascending order of id, whatever the order or the names of the files.

    Raises
    ------
    InputError
        Where a file cannot be read, is not a record by the schema, or the records do not make one board:
        several benchmark versions, an id or a subject twice under the same run conditions, task sets of
        verified records that differ (methodology 0.1.0, decisions 2 and 3). The first file in order is named.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     read_records(folder)
    Traceback (most recent call last):
        ...
    medgauge_lib.errors.InputError: ...: the folder holds no record (*.json)
      put one JSON file a record directly into it
    """
    parts = [_read(path) for path in steps(_files(source), unit="record")]
    _one_board(parts)
    _ids_once(parts)
    _subjects_once(parts)
    by_file = list(parts)
    parts.sort(key=lambda part: part.id)
    records = RecordSet(
        benchmark=parts[0].published["benchmark"],
        benchmark_version=parts[0].published["benchmark_version"],
        subjects=_subjects(parts),
        runs=_runs(parts),
        published={part.id: part.published for part in parts},
        paths={part.id: part.path for part in parts},
        decimals={part.id: part.decimals for part in parts},
    )
    _same_tasks(by_file, records)
    return records


class _Part(NamedTuple):
    """One record, read: its published blocks, and its runs as columns."""

    path: Path
    sha256: str
    published: dict[str, Any]
    tasks: frozenset[TaskVersion]
    columns: dict[str, list[Any]]
    decimals: dict[Place, int]

    @property
    def id(self) -> str:
        return str(self.published["id"])

    @property
    def verified(self) -> bool:
        return is_verified(self.published)


def is_verified(published: Published) -> bool:
    """Return whether the site verified a record: only then it is ranked.

    Examples
    --------
    >>> is_verified({"verified_by_site": True, "verification_state": "community_unverified"})
    False
    """
    return (
        bool(published["verified_by_site"]) and published.get("verification_state") != "community_unverified"
    )


def _files(source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[Path]:
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        files = record_files(path) if path.is_dir() else [path]
    elif isinstance(source, Iterable):
        files = [Path(path) for path in source]
    else:
        raise TypeError(f"source must be a path or files, but got {type(source).__name__}; give a folder")
    if not files:
        raise InputError("no record file was given", "give at least one file, or a folder")
    for path in files:
        if not path.name.isprintable() or "\0" in str(path):
            raise InputError(f"the file name {quoted(str(path))} cannot be printed", "rename the file")
    return sorted(files, key=lambda path: (path.name, str(path)))


def record_files(folder: Path) -> list[Path]:
    """List the record files of a folder: those that `read_records` reads.

    Parameters
    ----------
    folder : Path
        Folder of the records.

    Returns
    -------
    list of Path
        Its files that end in ``.json``, by name; hidden ones and those of task labels are none.

    Raises
    ------
    InputError
        Where the folder cannot be read or holds no record.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("b.json", "a.json", "1.0.0.labels.json"):
    ...         (Path(folder) / name).touch()
    ...     [path.name for path in record_files(Path(folder))]
    ['a.json', 'b.json']
    """
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise unreadable(folder, error, what="a folder of records") from None
    records = [folder / name for name in names if _may_be_record(name)]
    if not records:
        raise InputError("the folder holds no record (*.json)", _where_records_are(folder), file=folder)
    return records


def _may_be_record(name: str) -> bool:
    return name.endswith(".json") and not name.endswith(".labels.json") and not name.startswith(".")


def _where_records_are(folder: Path) -> str:
    """Name a folder below that has records, as deep as imports put them."""
    found = (path for depth in (1, 2, 3) for path in sorted(folder.glob("*/" * depth + "*.json")))
    below = next((path.parent for path in found if _may_be_record(path.name) and _holds_runs(path)), None)
    return (
        f"give a folder that does, such as {below}"
        if below
        else "put one JSON file a record directly into it"
    )


def _holds_runs(path: Path) -> bool:
    """Whether a file has what a record has, and neither a report nor the closed side of an import."""
    try:
        return b'"run_outcomes"' in file_bytes(path, what="a record")
    except InputError:
        return False


def _read(path: Path) -> _Part:
    data = file_bytes(path, what="a record file")
    document = strict_json(data, file=path, right="a record is one JSON object")
    found = fault(document)
    if found is not None:
        more = f" (and {found.more} more in this file)" if found.more else ""
        raise InputError(found.wrong + more, found.remedy, file=path, pointer=found.pointer)
    outcomes = document.pop("run_outcomes")
    tasks = frozenset(map(itemgetter(*_TASK), outcomes))
    sha256 = hashlib.sha256(data).hexdigest()
    return _Part(path, sha256, document, tasks, _columns(outcomes), _decimals(data))


_END_ZERO = re.compile(rb"\.\d+0[\s,}\]]")


def _decimals(data: bytes) -> dict[Place, int]:
    """Decimals of the published numbers that are written with zeros at their end; few files have any."""
    if not _END_ZERO.search(data):
        return {}
    document = jiter.from_json(data, float_mode="lossless-float")
    document.pop("run_outcomes")
    texts = ((place, str(number)) for place, number in _lossless(document))
    return {place: len(text.partition(".")[2]) for place, text in texts if re.search(r"\.\d+0$", text)}


def _lossless(value: Any, place: Place = ()) -> Iterator[tuple[Place, jiter.LosslessFloat]]:
    """Fractional numbers of a document as their file writes them."""
    if isinstance(value, jiter.LosslessFloat):
        yield place, value
    elif isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _lossless(inner, (*place, step))


def _columns(outcomes: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return a record's runs as columns, by task key and run; equal keys stay in the order of the file.

    The columns of `_TASK` and ``task_index`` hold one value a task, the others one a run; the schema sees to
    it that a task has three runs.
    """
    order = sorted(range(len(outcomes)), key=[task["task_key"] for task in outcomes].__getitem__)
    tasks = [outcomes[index] for index in order]
    runs = list(chain.from_iterable(map(itemgetter("runs"), tasks)))
    run_index = [0, 1, 2] * len(tasks)
    numbers = list(map(itemgetter("run"), runs))
    if numbers != [1, 2, 3] * len(tasks):
        places = sorted(range(len(runs)), key=lambda place: (place // 3, numbers[place]))
        runs = [runs[place] for place in places]
        run_index = [place % 3 for place in places]
    columns = {field: list(map(itemgetter(field), tasks)) for field in _TASK}
    columns |= {field: list(map(itemgetter(field), runs)) for field in _RUN}
    columns |= {field: [run.get(field) for run in runs] for field in _COUNTS + _MEASURES}
    return columns | {"task_index": order, "run_index": run_index}


def _runs(parts: Sequence[_Part]) -> pd.DataFrame:
    columns = {
        name: list(chain.from_iterable(part.columns[name] for part in parts)) for name in parts[0].columns
    }
    ids = [part.id for part in parts]
    errors = columns["error"]
    return pd.DataFrame(
        {
            "id": _objects(ids, [len(part.columns["run"]) for part in parts]),
            **{name: _objects(columns[name], 3) for name in _TASK},
            "run": _integers(columns["run"]),
            "passed": np.array(columns["pass"], dtype=bool),
            "checkpoints_passed": _integers(columns["checkpoints_passed"]),
            "checkpoints_total": _integers(columns["checkpoints_total"]),
            "s": _floats(columns["s"]),
            "veto_categories": _objects(list(map(tuple, columns["veto_categories"]))),
            "error_attribution": _objects([error and error["attribution"] for error in errors]),
            "error_kind": _objects([error and error["kind"] for error in errors]),
            **{name: _masked(columns[name], _integers, pd.arrays.IntegerArray) for name in _COUNTS},
            **{name: _masked(columns[name], _floats, pd.arrays.FloatingArray) for name in _MEASURES},
            "task_index": _integers(columns["task_index"]).repeat(3),
            "run_index": _integers(columns["run_index"]),
        }
    )


def _objects(values: list[Any], repeats: int | list[int] = 1) -> Any:
    """Return a column of Python objects, in which None stays None; the fill keeps tuples whole."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return pd.Series(column.repeat(repeats), dtype=object)


def _integers(values: list[Any]) -> Any:
    column = np.array(values)
    # By JSON Schema 1.0 is an integer; mixed lists become floats, which would round large integers.
    return column if column.dtype == np.int64 else np.array(list(map(int, values)), dtype=np.int64)


def _floats(values: list[Any]) -> Any:
    return np.array(values, dtype=np.float64)


def _masked(values: list[Any], of: Callable[[list[Any]], Any], array: Callable[[Any, Any], Any]) -> Any:
    absent = values.count(None)
    if absent:
        filled = [0 if value is None else value for value in values]
        return array(of(filled), np.array([value is None for value in values], dtype=bool))
    return array(of(values), np.zeros(len(values), dtype=bool))


def _subjects(parts: Sequence[_Part]) -> pd.DataFrame:
    published = [part.published for part in parts]
    costs = [record["cost"] for record in published]
    columns = {
        "id": [part.id for part in parts],
        "label": row_labels(published),
        **{
            field: [record[field] for record in published]
            for field in ("model", "model_snapshot", "harness", "harness_version")
        },
        "reasoning_effort": [record["run_conditions"].get("reasoning_effort") for record in published],
        "verified": [part.verified for part in parts],
        "organisation": [record["submitted_by"]["org"] for record in published],
        "amount_applicable": [cost["amount_applicable"] for cost in costs],
        "currency": [cost.get("currency") for cost in costs],
        "price_table_version": [cost.get("price_table_version") for cost in costs],
        "created_at": [record["created_at"] for record in published],
        "file": [part.path.name for part in parts],
        "sha256": [part.sha256 for part in parts],
    }
    return pd.DataFrame(columns, dtype=object).astype({"verified": bool, "amount_applicable": bool})


def row_labels(published: Sequence[Published]) -> list[str]:
    """Return a label for each record: model and harness with versions, and what sets rows apart.

    Parameters
    ----------
    published : sequence of mapping
        The records, in any order; a label depends on the others only through what rows have in common.

    Returns
    -------
    list of str
        Distinct, printable labels. Where rows would read alike, reasoning effort, snapshot, each run
        condition, and at last the id are added in this order, as far as they differ (decision 2).

    Examples
    --------
    >>> row = {"model": "m-1", "model_snapshot": "s", "harness": "hx-a", "harness_version": "1.0.0"}
    >>> row_labels([row | {"id": f"res-{effort}", "verified_by_site": True,
    ...     "run_conditions": {"reasoning_effort": effort}} for effort in ("high", "low")])
    ['m-1 · hx-a 1.0.0 (effort high)', 'm-1 · hx-a 1.0.0 (effort low)']
    """
    bases = [printable(f"{row['model']} · {row['harness']} {row['harness_version']}") for row in published]
    additions: list[list[str]] = [[] for _ in published]

    def written(index: int) -> str:
        return bases[index] + (f" ({', '.join(additions[index])})" if additions[index] else "")

    conditions = sorted({name for row in published for name in row["run_conditions"]} - {"reasoning_effort"})
    steps: list[Callable[[Published], str]] = [
        lambda row: _stated("effort", row["run_conditions"].get("reasoning_effort")),
        lambda row: str(row["model_snapshot"]),
        *(lambda row, name=name: _stated(name, row["run_conditions"].get(name)) for name in conditions),
        lambda row: "" if is_verified(row) else "not verified",
        lambda row: str(row["id"]),
    ]
    for step in steps:
        alike: dict[str, list[int]] = {}
        for index in range(len(published)):
            alike.setdefault(written(index), []).append(index)
        for group in alike.values():
            parts = {index: printable(step(published[index])) for index in group}
            if len(set(parts.values())) > 1:
                for index, part in parts.items():
                    additions[index] += [part] if part else []
    made = [written(index) for index in range(len(published))]
    # A text of a record may imitate another row's addition; the ids of all rows end every doubt.
    if len(set(made)) < len(made):
        return [f"{label} [{row['id']}]" for label, row in zip(made, published, strict=True)]
    return made


def _stated(name: str, value: object) -> str:
    if value is None:
        return ""
    return f"{name} {', '.join(sorted(map(str, value))) if isinstance(value, list) else value}"


def _one_board(parts: Sequence[_Part]) -> None:
    first = parts[0]
    for part in parts[1:]:
        for name in ("benchmark", "benchmark_version"):
            here, there = part.published[name], first.published[name]
            if here != there:
                raise InputError(
                    f"is {here}, but {first.path.name} is {there}",
                    "keep the records of each benchmark version in a folder of their own",
                    file=part.path,
                    pointer=f"/{name}",
                )


def _ids_once(parts: Sequence[_Part]) -> None:
    seen: dict[str, _Part] = {}
    for part in parts:
        other = seen.setdefault(part.id, part)
        if other is not part:
            raise InputError(
                f"{part.id} is also the id of {other.path.name}",
                "give each record an id of its own, or leave one of the two out",
                file=part.path,
                pointer="/id",
            )


def _subjects_once(parts: Sequence[_Part]) -> None:
    seen: dict[object, _Part] = {}
    for part in parts:
        if not part.verified:
            continue
        row = part.published
        conditions = frozenset(
            (name, frozenset(value) if isinstance(value, list) else value)
            for name, value in row["run_conditions"].items()
        )
        names = ("model", "model_snapshot", "harness", "harness_version")
        other = seen.setdefault((*(row[name] for name in names), conditions), part)
        if other is not part:
            raise InputError(
                f"is the same subject under the same run conditions as {other.path.name}: "
                f"{quoted(row['model'])} in {row['harness']} {row['harness_version']}",
                "keep one of the two, or state the run condition in which they differ",
                file=part.path,
                pointer="/run_conditions",
            )


def _void(records: RecordSet) -> pd.DataFrame:
    ranked = set(records.subjects.loc[records.subjects["verified"], "id"])
    found: dict[tuple[str, str], tuple[str, list[str], list[str]]] = {}
    for row_id in sorted(ranked):
        for task in records.published[row_id].get("voided_tasks", ()):
            key = (task["task_key"], task["task_version"])
            found.setdefault(key, (task["attribution"], [], []))[1].append(row_id)
    shown = records.runs[records.runs["error_attribution"].isin(INITIATIVE)]
    fields = ["id", "task_key", "task_version", "error_attribution"]
    for row_id, task_key, version, attribution in shown[fields].itertuples(index=False):
        if row_id in ranked:
            found.setdefault((task_key, version), (attribution, [], []))[2].append(row_id)
    rows = [
        (*key, attribution, tuple(dict.fromkeys(listed)), tuple(dict.fromkeys(by_run)))
        for key, (attribution, listed, by_run) in sorted(found.items())
    ]
    names = ("task_key", "task_version", "attribution", "listed_by", "shown_by")
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return pd.DataFrame({name: _objects(list(column)) for name, column in zip(names, columns, strict=True)})


def _same_tasks(parts: Sequence[_Part], records: RecordSet) -> None:
    """Hold every verified record to the tasks of the first in order of file, void versions aside."""
    ranked = [part for part in parts if part.verified]
    for part in ranked[1:]:
        first = ranked[0]
        if part.tasks == first.tasks:
            continue
        here, there = (
            {task for task in tasks if task[:2] not in records.void_versions}
            for tasks in (part.tasks, first.tasks)
        )
        if here != there:
            raise InputError(
                f"does not hold the same tasks as {first.path.name}: {task_difference(here, there)}",
                "all records of a board hold the same tasks, versions and subsets; list void ones as voided",
                file=part.path,
                pointer="/run_outcomes",
            )


def task_difference(here: Set[TaskVersion], there: Set[TaskVersion]) -> str:
    """Return in words which tasks only one of two sets holds, the first few of each.

    Examples
    --------
    >>> task_difference({("tk-1", "1.0.0", "dev")}, set())
    '1 only here (first tk-1 1.0.0 dev)'
    """
    sides = (("only here", sorted(here - there)), ("only there", sorted(there - here)))
    return ", ".join(
        f"{len(tasks)} {side} (first {'; '.join(' '.join(task) for task in tasks[:_FIRST_SHOWN])})"
        for side, tasks in sides
        if tasks
    )
