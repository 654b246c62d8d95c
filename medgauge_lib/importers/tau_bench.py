"""τ-bench: a JSON list with one entry for each task and trial, its reward, and no usage of the agent.

A reward of 1 is a pass, anything else is not; a task has one checkpoint. Trials are in the order of their
numbers. A file is a subject; a folder of files makes one board of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from medgauge_lib.errors import InputError
from medgauge_lib.importers.facts import Given
from medgauge_lib.importers.messages import attribute
from medgauge_lib.importers.reading import (
    Reading,
    Source,
    Subject,
    Trial,
    entry,
    json_document,
    none_found,
    sha256_of,
    source_bytes,
    source_files,
)
from medgauge_lib.schema import quoted

MAPPED = (
    "file name → subject and model, task_id → task key, trial → order of the runs",
    "reward 1 → pass and one checkpoint; any other reward → failed",
    "info.error → error (a run with one fails)",
)
DROPPED = (
    "info.user_cost (the simulated user's, not the subject's)",
    "info.source, info.reward_info and traj (closed-side detail)",
)
ASSUMED = (
    "the benchmark is bm-tau-bench and the harness hx-tau-bench, where no others are given",
    "what an error message means, from its words",
)
_NEAR_ONE = 1e-6


def read(source: Path, given: Given) -> Reading:
    """Read τ-bench results.

    Parameters
    ----------
    source : Path
        A result file, or a folder of them.
    given : Given
        Rules for error messages are used.

    Returns
    -------
    Reading
        One board; the source states no date.

    Raises
    ------
    InputError
        Where a file cannot be used.
    """
    files = source_files(source, "*.json") if source.is_dir() else [source]
    if not files:
        raise none_found(source, "result file (*.json)", "a τ-bench result file, or a folder of them")
    subjects = []
    for path in files:
        data = source_bytes(path)
        subjects.append(_subject(path, json_document(path, data), data, given))
        if subjects[-1].name in [subject.name for subject in subjects[:-1]]:
            raise InputError("another file has the same name", "rename one of the two", file=path)
    return Reading(
        (Source(tuple(subjects), {"benchmark": "bm-tau-bench", "harness": "hx-tau-bench"}),),
        MAPPED,
        DROPPED,
        ASSUMED,
    )


def _subject(path: Path, rows: Any, data: bytes, given: Given) -> Subject:
    if not isinstance(rows, list):
        raise InputError(
            f"is {quoted(rows)}, not a list of runs",
            "give the file as τ-bench wrote it",
            file=path,
        )
    trials: dict[tuple[str, int], Trial] = {}
    for index, row in enumerate(rows):
        number = entry(row, "trial", int, "an integer", file=path, place=f"/{index}")
        trial = _trial(path, index, row, given)
        if trials.setdefault((trial.task, number), trial) is not trial:
            raise InputError(
                f"task {quoted(trial.task)} has trial {number} twice",
                "keep one of the two",
                file=path,
                pointer=f"/{index}",
            )
    return Subject(
        name=path.stem,
        trials=tuple(trials[key] for key in sorted(trials, key=lambda key: key[1])),
        sha256=sha256_of([(path.name, data)]),
        facts={"model": path.stem},
    )


def _trial(path: Path, index: int, row: Any, given: Given) -> Trial:
    place = f"/{index}"
    task = entry(row, "task_id", (int, str), "the task's number or name", file=path, place=place)
    reward = entry(row, "reward", (int, float), "a number from 0 to 1", file=path, place=place)
    if not 0 <= reward <= 1 + _NEAR_ONE:
        raise InputError(
            f"{quoted(reward)} is no reward",
            "a reward lies between 0 and 1",
            file=path,
            pointer=f"{place}/reward",
        )
    info = row.get("info")
    message = info.get("error") if isinstance(info, dict) else None
    passed = abs(reward - 1) <= _NEAR_ONE
    return Trial(
        task=str(task),
        place=f"{path.name}: {place}",
        passed=passed,
        tests=(int(passed), 1),
        error=None if message is None else attribute(str(message), given.errors),
    )
