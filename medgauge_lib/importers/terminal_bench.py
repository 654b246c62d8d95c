"""Terminal-Bench: ``results.json`` files, each with one trial or more of every task of one subject.

A leaderboard's folder has one folder a subject, ``<date>_<agent>_<model>``, with one file for each round of
trials. Tests are checkpoints: a task has as many as the most tests seen for it in the source, a resolved
trial passed all of them, and one whose tests could not be read passed none. A failure mode other than none is
an error, and fails the run even where its tests passed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from medgauge_lib.errors import InputError, printable
from medgauge_lib.importers.assemble import slug
from medgauge_lib.importers.facts import Given
from medgauge_lib.importers.reading import (
    Error,
    Reading,
    Source,
    Subject,
    Trial,
    entry,
    json_document,
    moment,
    none_found,
    sha256_of,
    source_bytes,
    source_folders,
    stamp,
)
from medgauge_lib.progress import steps
from medgauge_lib.reading import natural
from medgauge_lib.schema import pointer, quoted

MAPPED = (
    "folder <date>_<agent>_<model> → subject, harness (hx-<agent>) and model, task_id → task key",
    "is_resolved → pass, parser_results → checkpoints",
    "failure_mode → error (a run with one fails)",
    "total_input_tokens and total_output_tokens → tokens, agent_started_at to agent_ended_at → wall clock",
    "trial_started_at → order of the runs and run window, last trial_ended_at → created_at",
)
DROPPED = (
    "names of single tests (closed-side detail)",
    "times of set-up and tests",
    "accuracy and pass_at_k: they are over another number of runs",
)
ASSUMED = (
    "0 tokens in and out stand for an agent that does not count them: absent",
    "the benchmark is bm-terminal-bench, where no other is given",
)

FAILURES: dict[str, Error | None] = {
    "unset": None,
    "none": None,
    "agent_timeout": ("agent", "timeout"),
    "unknown_agent_error": ("agent", "other"),
    "parse_error": ("application", "output_error"),
    "test_timeout": ("application", "timeout"),
    "agent_installation_failed": ("harness", "other"),
    "fatal_llm_parse_error": ("model", "output_error"),
    "context_length_exceeded": ("model", "other"),
    "output_length_exceeded": ("model", "other"),
    "unknown": ("harness", "other"),
}
"""Failure modes, and the error that each is."""

_FOLDER = re.compile(r"[0-9]{8}_(?P<agent>[^_]+)_(?P<model>.+)")
_TIMES = ("trial_started_at", "trial_ended_at", "agent_started_at", "agent_ended_at")
_NONE = type(None)
_Timed = tuple[dict[str, datetime | None], Trial]


def read(source: Path, given: Given) -> Reading:
    """Read Terminal-Bench results.

    Parameters
    ----------
    source : Path
        A folder of subjects' folders, a subject's folder, or one ``results.json``.
    given : Given
        Rules for failure modes are used.

    Returns
    -------
    Reading
        One board.

    Raises
    ------
    InputError
        Where nothing is found or a file cannot be used.
    """
    files = list(_result_files(source)) if source.is_dir() else [source]
    if not files:
        raise none_found(source, "results.json", "a folder of subjects, each with its results.json files")
    by_folder: dict[Path, list[Path]] = {}
    for path in files:
        by_folder.setdefault(_subject_folder(source, path), []).append(path)
    subjects = tuple(_subject(folder, paths, given) for folder, paths in sorted(by_folder.items()))
    return Reading((Source(subjects, {"benchmark": "bm-terminal-bench"}),), MAPPED, DROPPED, ASSUMED)


def _result_files(source: Path) -> Iterator[Path]:
    """Result files in natural order; below one lie only single trials and logs."""
    for folder, folders, names in source_folders(source):
        found = [name for name in names if name == "results.json" or name.endswith("__results.json")]
        yield from (folder / name for name in sorted(found, key=natural) if name[0] != ".")
        if found:
            folders.clear()


def _subject_folder(source: Path, path: Path) -> Path:
    """Return the folder that names the subject of a file: else all files are of one subject."""
    base = source if source.is_dir() else source.parent
    inside = [base, *(base / part for part in list(path.relative_to(base).parents)[::-1][1:])]
    return next((folder for folder in inside if _FOLDER.fullmatch(folder.resolve().name)), base)


def _subject(folder: Path, paths: list[Path], given: Given) -> Subject:
    contents = [(path.relative_to(folder).as_posix(), source_bytes(path)) for path in paths]
    timed: list[_Timed] = []
    for path, (_, data) in steps(list(zip(paths, contents, strict=True)), unit="file"):
        rows = entry(json_document(path, data), "results", list, "a list of trials", file=path, place="")
        timed += [_trial(path, index, row, given) for index, row in enumerate(rows)]
    starts = [times["trial_started_at"] for times, _ in timed]
    known = [start for start in starts if start is not None]
    if len(known) == len(timed):
        timed = [pair for _, pair in sorted(zip(known, timed, strict=True), key=lambda item: item[0])]
    ends = [end for times, _ in timed if (end := times["trial_ended_at"]) is not None]
    name = folder.resolve().name
    parts = _FOLDER.fullmatch(name)
    facts = {} if parts is None else _named(parts)
    return Subject(
        name=name,
        trials=tuple(trial for _, trial in timed),
        sha256=sha256_of(contents),
        facts=facts | ({"created_at": stamp(max(ends))} if ends else {}),
        window=(f"{min(known):%Y-%m-%d}", f"{max(known):%Y-%m-%d}") if known else None,
    )


def _named(parts: re.Match[str]) -> dict[str, str]:
    agent = slug(parts["agent"]).replace(".", "-")
    return {"model": parts["model"]} | ({"harness": f"hx-{agent}"} if agent else {})


def _trial(path: Path, index: int, row: Any, given: Given) -> _Timed:
    place = pointer(["results", index])
    task = entry(row, "task_id", str, "a text", file=path, place=place)
    resolved = entry(row, "is_resolved", (bool, _NONE), "true, false or null", file=path, place=place)
    tests = entry(row, "parser_results", (dict, _NONE), "an object or null", file=path, place=place)
    for name, result in (tests or {}).items():
        if not isinstance(result, str):
            raise InputError(
                f"{quoted(result)} is no test result",
                "should be passed or failed",
                file=path,
                pointer=place + pointer(["parser_results", name]),
            )
    times = {name: _time(path, place, row, name) for name in _TIMES}
    return times, Trial(
        task=task,
        place=f"{printable(path.name)}: {place}",
        passed=bool(resolved),
        tests=None if not tests else (sum(result == "passed" for result in tests.values()), len(tests)),
        error=_error(path, place, row, given),
        usage=_usage(path, place, row, times),
    )


def _error(path: Path, place: str, row: Any, given: Given) -> Error | None:
    mode = entry(row, "failure_mode", str, "a text", file=path, place=place)
    for rule in given.errors:
        if rule.contains == mode:
            return rule.attribution, rule.kind
    if mode not in FAILURES:
        contains = printable(mode[:40])
        raise InputError(
            f"{quoted(mode)} is no known failure mode",
            f"say in a mapping file what it is: errors: [{{contains: {contains}, attribution: …, kind: …}}]",
            file=path,
            pointer=place + "/failure_mode",
        )
    return FAILURES[mode]


def _usage(path: Path, place: str, row: Any, times: dict[str, datetime | None]) -> dict[str, Any]:
    usage: dict[str, Any] = {}
    tokens = [
        entry(row, name, int, "an integer", file=path, place=place) if row.get(name) is not None else 0
        for name in ("total_input_tokens", "total_output_tokens")
    ]
    if any(tokens):
        usage |= dict(zip(("tokens_in", "tokens_out"), tokens, strict=True))
    start, end = times["agent_started_at"], times["agent_ended_at"]
    if start is not None and end is not None:
        usage["wall_clock_sec"] = (end - start).total_seconds()
    return usage


def _time(path: Path, place: str, row: Any, name: str) -> datetime | None:
    if row.get(name) is None:
        return None
    text = entry(row, name, str, "a date and time", file=path, place=place)
    return moment(text, file=path, place=place + pointer([name]))
