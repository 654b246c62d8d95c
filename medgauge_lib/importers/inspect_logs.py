"""Inspect AI logs (``.eval`` and ``.json``), read by ``inspect-ai``'s own reader (extra ``inspect``).

A log is one subject on one task of Inspect; an Inspect task is a benchmark, its samples are the tasks, and
its epochs the runs: three are needed. Each score of a sample, and each part of a score that has parts, is a
checkpoint, which passes with "C", true or 1 and with nothing less. A sample that ended in an error, or at a
limit of time, failed.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from datetime import UTC
from io import BytesIO
from pathlib import Path
from typing import Any

from medgauge_lib.errors import InputError, printable
from medgauge_lib.importers.assemble import slug
from medgauge_lib.importers.facts import Given
from medgauge_lib.importers.messages import attribute
from medgauge_lib.importers.reading import (
    Error,
    Reading,
    Source,
    Subject,
    Trial,
    moment,
    none_found,
    sha256_of,
    source_bytes,
    source_files,
    stamp,
)
from medgauge_lib.progress import steps
from medgauge_lib.schema import quoted

MAPPED = (
    "task → benchmark (bm-<task>) and its version, model and solver → subject, sample id → task key",
    "epoch → order of the runs; each score or part of one → checkpoint, passed with C, true or 1",
    "error → error; limit of time or working time → agent, timeout (a run with one fails)",
    "model_usage of the subject's own model → tokens (cached ones included) and amount",
    "total_time → wall clock",
    "completed_at → created_at, inspect_ai's version → harness_version, reasoning_effort",
)
DROPPED = (
    "messages, events, answers and explanations (closed-side detail)",
    "usage of other models, such as graders",
    "metrics and reduced scores: they are over another number of runs",
)
ASSUMED = (
    "a limit of messages, turns or tokens is no error: the run counts as it was scored",
    "what an error message means, from its words",
)

_TIME_LIMITS = ("time", "working")
_PASSES = ("c", "true", "yes", "1", "1.0")
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")


def read(source: Path, given: Given) -> Reading:
    """Read Inspect logs.

    Parameters
    ----------
    source : Path
        A log file, or a folder of them.
    given : Given
        Rules for error messages are used.

    Returns
    -------
    Reading
        One board for each task of Inspect, ascending.

    Raises
    ------
    InputError
        Where ``inspect-ai`` is not installed, or a log cannot be used.
    """
    files = [source]
    if source.is_dir():
        files = [path for path in source_files(source, "*") if path.suffix in (".eval", ".json")]
    if not files:
        raise none_found(source, "log (*.eval, *.json)", "an Inspect log, or a folder of them")
    found: dict[str, dict[str, Subject]] = {}
    versions: dict[str, set[str]] = {}
    for path in steps(files, unit="log"):
        data = source_bytes(path)
        log = _log(path, data)
        subject = _subject(path, data, log, given)
        subjects = found.setdefault(log.eval.task, {})
        if subject.name in subjects:
            raise InputError(
                f"is another log of {quoted(subject.name)} on {quoted(log.eval.task)}",
                "keep one of the two; the runs of a subject are the epochs of one log",
                file=path,
            )
        subjects[subject.name] = subject
        versions.setdefault(log.eval.task, set()).add(_task_version(log.eval.task_version))
    return Reading(
        tuple(_source(task, subjects, versions[task], source) for task, subjects in sorted(found.items())),
        MAPPED,
        DROPPED,
        ASSUMED,
    )


def _log(path: Path, data: bytes) -> Any:
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        raise InputError(
            "Inspect logs need inspect-ai, which is not installed", "install medgauge[inspect]"
        ) from None
    try:
        # Old logs are read with warnings about fields that have moved; they are no concern of the user.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            log = read_eval_log(BytesIO(data), format="json" if path.suffix == ".json" else "eval")
    except Exception as error:  # the reader lets through whatever its parsers raise
        reason = printable(next(iter(str(error).splitlines()), "") or type(error).__name__)[:120]
        raise InputError(
            f"is no Inspect log: {reason}", "give the file as Inspect wrote it", file=path
        ) from None
    if not log.samples:
        raise InputError(
            f"holds no samples; its status is {log.status}",
            "give a log of a finished evaluation",
            file=path,
        )
    return log


def _source(task: str, subjects: Mapping[str, Subject], versions: set[str], source: Path) -> Source:
    if len(versions) > 1:
        raise InputError(
            f"holds logs of {quoted(task)} in versions {', '.join(sorted(versions))}",
            "import each version from a folder of its own",
            file=source,
        )
    facts = {}
    if slug(task):
        facts["benchmark"] = f"bm-{slug(task).replace('.', '-')}"
    if any(versions):
        facts["benchmark_version"] = min(versions)
    return Source(tuple(subject for _, subject in sorted(subjects.items())), facts)


def _task_version(version: int | str) -> str:
    """Return a version of three numbers; 0 is what Inspect writes where none is stated."""
    if isinstance(version, int):
        return f"{version}.0.0" if version > 0 else ""
    return version if _VERSION.fullmatch(version) else ""


def _subject(path: Path, data: bytes, log: Any, given: Given) -> Subject:
    spec = log.eval
    epochs: dict[tuple[str, int], Trial] = {}
    for sample in log.samples:
        trial = _trial(path, sample, spec.model, given)
        if epochs.setdefault((trial.task, sample.epoch), trial) is not trial:
            raise InputError(
                f"sample {quoted(trial.task)} has epoch {sample.epoch} twice",
                "give the log as Inspect wrote it",
                file=path,
            )
    created = log.stats.completed_at or spec.created
    facts = {
        "model": spec.model,
        "harness": "-".join(["hx-inspect", *filter(None, [slug(spec.solver or "").replace(".", "-")])]),
        "created_at": stamp(moment(created, file=path, place="/stats/completed_at")),
    }
    version = spec.packages.get("inspect_ai", "")
    if _VERSION.fullmatch(version):
        facts["harness_version"] = version
    if spec.model_generate_config.reasoning_effort:
        facts["reasoning_effort"] = str(spec.model_generate_config.reasoning_effort)
    clean = (sample for sample in log.samples if sample.error is None)
    answered = {sample.output.model for sample in clean if sample.output and sample.output.model}
    if len(answered) == 1:
        facts["model_snapshot"] = answered.pop()
    if any("amount" in trial.usage for trial in epochs.values()):
        facts["currency"] = "USD"
    return Subject(
        name=" ".join(filter(None, [spec.model, spec.solver])),
        trials=tuple(epochs[key] for key in sorted(epochs, key=lambda key: key[1])),
        sha256=sha256_of([(path.name, data)]),
        facts=facts,
        window=_window(path, log),
    )


def _window(path: Path, log: Any) -> tuple[str, str] | None:
    texts = (log.stats.started_at, log.stats.completed_at)
    if not all(texts):
        return None
    first, last = (f"{moment(text, file=path, place='/stats').astimezone(UTC):%Y-%m-%d}" for text in texts)
    return first, last


def _trial(path: Path, sample: Any, model: str, given: Given) -> Trial:
    place = f"{path.name}: sample {quoted(str(sample.id))}, epoch {sample.epoch}"
    error = _error(sample, given)
    scores = list(_values(score.value for score in (sample.scores or {}).values()))
    if not scores and error is None:
        raise InputError(
            f"{place} has neither a score nor an error",
            "score the log first",
            file=path,
        )
    usage: dict[str, Any] = {}
    own = (sample.model_usage or {}).get(model)
    if own is not None:
        cached = (own.input_tokens_cache_write or 0) + (own.input_tokens_cache_read or 0)
        usage |= {"tokens_in": own.input_tokens + cached, "tokens_out": own.output_tokens}
        if own.total_cost is not None:
            usage["amount"] = own.total_cost
    if sample.total_time is not None:
        usage["wall_clock_sec"] = sample.total_time
    return Trial(
        task=str(sample.id),
        place=place,
        tests=(sum(map(_passes, scores)), len(scores)) if scores else None,
        error=error,
        usage=usage,
    )


def _error(sample: Any, given: Given) -> Error | None:
    if sample.error is not None:
        return attribute(sample.error.message, given.errors)
    if sample.limit is not None and sample.limit.type in _TIME_LIMITS:
        return "agent", "timeout"
    return None


def _values(scores: Any) -> Iterator[Any]:
    """Every single value of scores, some of which have parts."""
    for value in scores:
        if isinstance(value, Mapping):
            yield from _values(value[name] for name in sorted(value))
        elif isinstance(value, list | tuple):
            yield from _values(value)
        else:
            yield value


def _passes(value: Any) -> bool:
    return str(value).lower() in _PASSES
