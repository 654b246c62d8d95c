"""MCPMark: ``model_results/<model>/<task>.json`` with one entry a run, and what lies beside it.

Each service (filesystem, github, …) is a benchmark of its own: services are families, which are never
pooled. A run is all or nothing, so a task has one checkpoint. A run with an error message failed, whatever
its ``success`` says. ``summary.json`` gives the date and the dated names of the models, ``task_meta.json``
the difficulty of the tasks; both may be missing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from medgauge_lib.errors import InputError, printable
from medgauge_lib.importers.assemble import slug
from medgauge_lib.importers.facts import Given
from medgauge_lib.importers.messages import attribute
from medgauge_lib.importers.reading import (
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
    source_files,
    stamp,
)
from medgauge_lib.progress import steps
from medgauge_lib.reading import natural
from medgauge_lib.schema import pointer, quoted

MAPPED = (
    "service → benchmark (bm-mcpmark-<service>), model → subject, task → task key",
    "success → pass and one checkpoint, error_message → error (a run with one fails)",
    "turn_count → actions, token_usage.input_tokens and output_tokens → tokens, execution_time → wall clock",
    "summary.json: generated_at → created_at, actual_model_name → model_snapshot",
    "task_meta.json: difficulty L1–L4 → difficulty class 1–4, in the labels file",
)
DROPPED = (
    "reasoning_tokens and total_tokens (parts and sums of the others)",
    "published costs, which are totals over runs; prices can be given in a mapping file",
    "published rates: they are over another number of runs",
)
ASSUMED = (
    "a date without a zone is in UTC",
    "the harness is MCPMark's own agent (hx-mcpmark-agent), where no other is given",
    "what an error message means, from its words",
)

_NUMBERS = (int, float)


def read(source: Path, given: Given) -> Reading:
    """Read a folder of MCPMark results.

    Parameters
    ----------
    source : Path
        The folder that holds ``model_results``.
    given : Given
        Rules for error messages are used.

    Returns
    -------
    Reading
        One board a service, ascending.

    Raises
    ------
    InputError
        Where the folder is none, or a file of it cannot be used.
    """
    results = source / "model_results"
    files = source_files(results, "*.json") if results.is_dir() else []
    if not files:
        raise none_found(source, "model_results/<model>/<task>.json", "the folder that holds model_results")
    found: dict[str, dict[str, list[tuple[str, bytes, list[Trial]]]]] = {}
    for path in steps(files, unit="file"):
        data = source_bytes(path)
        service, model, trials = _task(path, json_document(path, data), given)
        kept = found.setdefault(service, {}).setdefault(model, [])
        if any(trials[0].task == other[0].task for _, _, other in kept if other):
            raise InputError(
                f"holds {quoted(trials[0].task)} of {quoted(model)}, which another file holds too",
                "keep one of the two",
                file=path,
            )
        kept.append((path.relative_to(source).as_posix(), data, trials))
    created, snapshots = _summary(source)
    classes = _classes(source)
    return Reading(
        tuple(
            _source(service, models, created, snapshots, classes) for service, models in sorted(found.items())
        ),
        MAPPED,
        DROPPED,
        ASSUMED,
    )


def _source(
    service: str,
    models: Mapping[str, Sequence[tuple[str, bytes, list[Trial]]]],
    created: Mapping[str, str],
    snapshots: Mapping[str, str],
    classes: Mapping[str, int],
) -> Source:
    subjects = tuple(
        Subject(
            name=model,
            trials=tuple(trial for _, _, trials in files for trial in trials),
            sha256=sha256_of((name, data) for name, data, _ in files),
            facts={"model": model} | ({"model_snapshot": snapshots[model]} if model in snapshots else {}),
        )
        for model, files in sorted(models.items())
    )
    facts = {
        "benchmark": f"bm-mcpmark-{slug(service).replace('.', '-')}",
        "harness": "hx-mcpmark-agent",
        "action_definition": "one model turn",
    }
    return Source(subjects, {**facts, **created}, classes)


def _task(path: Path, document: Any, given: Given) -> tuple[str, str, list[Trial]]:
    """Return service, model and runs of one file."""
    service, model, task = (
        entry(document, name, str, "a text", file=path, place="") for name in ("service", "model", "task")
    )
    if not (slug(service) and model and task):
        raise InputError("service, model or task is empty", "give the file as written", file=path)
    runs = entry(document, "runs", dict, "an object of runs", file=path, place="")
    if not runs:
        raise InputError("holds no run", "leave the file out", file=path, pointer="/runs")
    return service, model, [_trial(path, task, name, runs[name], given) for name in sorted(runs, key=natural)]


def _trial(path: Path, task: str, name: str, run: Any, given: Given) -> Trial:
    place = pointer(["runs", name])
    success = entry(run, "success", bool, "true or false", file=path, place=place)
    message = entry(run, "error_message", (str, type(None)), "a text or null", file=path, place=place)
    usage: dict[str, Any] = {}
    tokens = run.get("token_usage")
    if tokens is not None:
        for field, name_here in (("tokens_in", "input_tokens"), ("tokens_out", "output_tokens")):
            if isinstance(tokens, dict) and tokens.get(name_here) is None:
                continue
            usage[field] = entry(
                tokens, name_here, int, "an integer", file=path, place=place + "/token_usage"
            )
    for field, name_here, kind in (
        ("actions", "turn_count", int),
        ("wall_clock_sec", "execution_time", _NUMBERS),
    ):
        if run.get(name_here) is not None:
            usage[field] = entry(run, name_here, kind, "a number", file=path, place=place)
    return Trial(
        task=task,
        place=f"{printable(path.name)}: {place}",
        passed=success,
        tests=(int(success), 1),
        error=None if message is None else attribute(message, given.errors),
        usage=usage,
    )


def _summary(source: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the date of the results and the dated names of the models, as far as they are recorded."""
    path = source / "summary.json"
    if not os.path.lexists(path):
        return {}, {}
    summary = json_document(path, source_bytes(path))
    date = entry(summary, "generated_at", str, "a date and time", file=path, place="")
    overall = entry(summary, "overall", dict, "an object", file=path, place="")
    snapshots = {
        model: block["actual_model_name"]
        for model, block in overall.items()
        if isinstance(block, dict) and isinstance(block.get("actual_model_name"), str)
    }
    return {"created_at": stamp(moment(date, file=path, place="/generated_at"))}, {
        model: name for model, name in snapshots.items() if name
    }


def _classes(source: Path) -> dict[str, int]:
    """Return the difficulty class of each task that has one of L1 to L4."""
    path = source / "task_meta.json"
    if not os.path.lexists(path):
        return {}
    rows = entry(
        json_document(path, source_bytes(path)), "data", list, "a list of tasks", file=path, place=""
    )
    classes = {}
    for index, row in enumerate(rows):
        place = pointer(["data", index])
        names = [
            entry(row, name, str, "a text", file=path, place=place) for name in ("category_id", "task_id")
        ]
        level = row.get("difficulty")
        if isinstance(level, str) and re.fullmatch("L[1-4]", level):
            classes["__".join(names)] = int(level[1])
    return classes
