"""From the runs of a source to record drafts: the rules that every format shares.

- A task needs three runs of every subject of the board; what has fewer is refused with the list, what has
  more gives its first three, never its best.
- A task has as many checkpoints as the most that were seen for it in the whole source. A run that the source
  calls passed passed all of them; one whose checkpoints could not be read passed none.
- A run with an error or a veto fails, whatever else it did.
- Names of tasks become opaque keys.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from medgauge_lib._version import __version__
from medgauge_lib.checks import METHODOLOGY
from medgauge_lib.errors import InputError, printable
from medgauge_lib.importers.facts import ASSUMED, FACTS, NOT_RECORDED, OF_THE_BOARD, Given
from medgauge_lib.importers.reading import Source, Subject, Trial, counted, moment, stamp
from medgauge_lib.outcomes import N_RUNS
from medgauge_lib.schema import quoted, schema

_KEY_DIGITS = 24
_SLUG = 80
_MILLION = 1_000_000

Tasks = Mapping[str, Sequence[Trial]]


@dataclass(frozen=True)
class Draft:
    """The records of one board before their figures, and what stays on the closed side.

    Attributes
    ----------
    benchmark, benchmark_version : str
    records : tuple of dict
        Record drafts, ascending by id; their scores are placeholders.
    names : mapping
        Task key to the task's name in the source, ascending by key. Closed.
    classes : mapping
        Task key to difficulty class, where the source has classes. Closed.
    assumed : tuple of str
        What was assumed, in sentences.
    left_out : int
        Runs after the first three.
    """

    benchmark: str
    benchmark_version: str
    records: tuple[dict[str, Any], ...]
    names: Mapping[str, str]
    classes: Mapping[str, int]
    assumed: tuple[str, ...]
    left_out: int


def task_key(benchmark: str, benchmark_version: str, task: str) -> str:
    r"""Return the opaque key of a task in one benchmark version.

    The first 24 hexadecimal digits of the SHA-256 of benchmark, version and name, each on a line of its own
    and without a newline at the end. Whoever guesses a name can test it; the key hides only what cannot be
    guessed.

    Examples
    --------
    >>> task_key("bm-a", "1.0.0", "fix-permissions")
    'tk-f71c67cd70890993f65fe2ef'
    """
    text = "\n".join((benchmark, benchmark_version, task))
    # A JSON file may hold half of a surrogate pair, which UTF-8 has no bytes for.
    return "tk-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_KEY_DIGITS]


def assemble(source: Source, given: Given, *, kind: str, file: Path) -> Draft:
    """Make the record drafts of one board.

    Parameters
    ----------
    source : Source
        From a format.
    given : Given
        What the user states.
    kind : str
        Name of the format, for the records' note.
    file : Path
        The source, for messages.

    Returns
    -------
    Draft

    Raises
    ------
    InputError
        Where runs are missing or contradict themselves, or a fact that every record needs is stated nowhere.
    """
    assumed: dict[str, str] = {}
    board = {name: _fact(name, "", source.facts, given, assumed, file) for name in OF_THE_BOARD}
    _form(board, file)
    grouped = {subject.name: _by_task(subject) for subject in source.subjects}
    _enough(grouped, file)
    totals = _totals(grouped)
    names = _names(totals, board, file)
    slugs = _slugs([subject.name for subject in source.subjects])
    records = []
    for subject in source.subjects:
        facts = {**source.facts, **subject.facts}
        own = {
            name: _fact(name, subject.name, facts, given, assumed, file)
            for name in FACTS
            if name not in OF_THE_BOARD
        }
        outcomes = _outcomes(grouped[subject.name], totals, names, board, file)
        _amounts(outcomes, subject.name, given, own, assumed, file=file)
        records.append(_record(subject, slugs[subject.name], board, own, outcomes, kind, file))
    left = sum(max(len(runs) - N_RUNS, 0) for tasks in grouped.values() for runs in tasks.values())
    return Draft(
        benchmark=str(board["benchmark"]),
        benchmark_version=str(board["benchmark_version"]),
        records=tuple(sorted(records, key=lambda record: record["id"].encode())),
        names={key: name for name, key in sorted(names.items(), key=lambda item: item[1])},
        classes={key: source.classes[name] for name, key in sorted(names.items(), key=lambda i: i[1])
                 if name in source.classes},
        assumed=tuple(assumed.values()),
        left_out=left,
    )  # fmt: skip


def _fact(
    name: str, subject: str, source: Mapping[str, str], given: Given, assumed: dict[str, str], file: Path
) -> str | None:
    """Return a fact; note what had to be assumed, ask for what cannot be."""
    found = given.fact(name, subject, source)
    if found is not None:
        return found
    if name in NOT_RECORDED:
        stands = NOT_RECORDED[name]
        assumed[name] = f"{name} is nowhere stated: not recorded" + ("" if " " in stands else f" ({stands})")
        return NOT_RECORDED[name]
    if name in ASSUMED:
        assumed[name] = f"{name} is nowhere stated: taken as {ASSUMED[name]!r}"
        return ASSUMED[name]
    if name == "model_snapshot":
        assumed[name] = "model_snapshot is nowhere stated: the name of the model"
        return _fact("model", subject, source, given, assumed, file)
    if name in ("benchmark", "model", "harness", "created_at"):
        whose = f" of {quoted(subject)}" if subject else ""
        raise InputError(
            f"nothing states the {name}{whose}",
            f"give --{name.replace('_', '-')}, the {FACTS[name]}",
            file=file,
        )
    return None


def _form(board: Mapping[str, str | None], file: Path) -> None:
    """Hold the facts that name folders to their form before anything is named after them."""
    properties = schema()["properties"]
    for name in ("benchmark", "benchmark_version", "task_version"):
        pattern = properties["benchmark_version" if name == "task_version" else name]["pattern"]
        value = str(board[name])
        if not re.fullmatch(pattern.strip("^$"), value, re.ASCII):
            raise InputError(
                f"{quoted(value)} is no {name}",
                f"give --{name.replace('_', '-')}, a text of the form {pattern}",
                file=file,
            )
    known = properties["scores"]["properties"]["by_subset"]["properties"]
    if board["subset"] not in known:
        raise InputError(
            f"{quoted(board['subset'])} is no subset",
            f"give --subset, one of {', '.join(known)}",
            file=file,
        )


def _by_task(subject: Subject) -> dict[str, list[Trial]]:
    tasks: dict[str, list[Trial]] = {}
    for trial in subject.trials:
        tasks.setdefault(trial.task, []).append(trial)
    return tasks


def _enough(grouped: Mapping[str, Tasks], file: Path) -> None:
    """Refuse a source in which a subject has fewer than three runs of a task of the board."""
    every = sorted({task for tasks in grouped.values() for task in tasks})
    if not every:
        raise InputError("holds no run", "give a source with runs", file=file)
    few = [
        f"{printable(task)[:80]} of {printable(name)[:80]} ({n})"
        for name, tasks in sorted(grouped.items())
        for task in every
        if (n := len(tasks.get(task, ()))) < N_RUNS
    ]
    if few:
        tasks = f"{len(few)} task{'s have' if len(few) > 1 else ' has'} fewer than three runs"
        raise InputError(
            f"{tasks}: {counted(few)}",
            "run every task three times for every subject, or leave the task or the subject out",
            file=file,
        )


def _totals(grouped: Mapping[str, Tasks]) -> dict[str, int]:
    """Return each task's number of checkpoints: the most seen in any run of any subject, at least one."""
    totals: dict[str, int] = {}
    for tasks in grouped.values():
        for task, trials in tasks.items():
            seen = max((trial.tests[1] for trial in trials if trial.tests is not None), default=1)
            totals[task] = max(totals.get(task, 1), seen)
    return totals


def _names(tasks: Iterable[str], board: Mapping[str, str | None], file: Path) -> dict[str, str]:
    """Return the key of each task name."""
    keys: dict[str, str] = {}
    for task in sorted(tasks):
        key = task_key(str(board["benchmark"]), str(board["benchmark_version"]), task)
        other = keys.setdefault(key, task)
        if other != task:
            raise InputError(f"{quoted(task)} and {quoted(other)} have one key", "rename one", file=file)
    return {task: key for key, task in keys.items()}


def _outcomes(
    tasks: Tasks,
    totals: Mapping[str, int],
    names: Mapping[str, str],
    board: Mapping[str, str | None],
    file: Path,
) -> list[dict[str, Any]]:
    outcomes = []
    for task, trials in tasks.items():
        first = trials[0]
        for trial in trials:
            if (trial.task_version, trial.subset) != (first.task_version, first.subset):
                raise InputError(
                    f"{trial.place} has another version or subset of {quoted(task)} than {first.place}",
                    "one benchmark version holds one version of a task, in one subset",
                    file=file,
                )
        runs = [_run(number, trial, totals[task], file) for number, trial in enumerate(trials[:N_RUNS], 1)]
        outcomes.append(
            {
                "task_key": names[task],
                "task_version": first.task_version or board["task_version"],
                "subset": first.subset or board["subset"],
                "runs": runs,
            }
        )
    return sorted(outcomes, key=lambda outcome: outcome["task_key"])


def _run(number: int, trial: Trial, total: int, file: Path) -> dict[str, Any]:
    """Return one run of a record; a run that the source calls passed passed every checkpoint."""
    passed = total if trial.passed else 0 if trial.tests is None else trial.tests[0]
    clean = trial.error is None and not trial.vetoes
    if clean and trial.passed is False and passed == total:
        raise InputError(
            f"{trial.place}: is failed, but all of its {total} checkpoints passed and it has no error",
            "correct the run; a run without error or veto passes when its checkpoints do",
            file=file,
        )
    error = None if trial.error is None else dict(zip(("attribution", "kind"), trial.error, strict=True))
    return {
        "run": number,
        "pass": clean and passed == total,
        "checkpoints_passed": passed,
        "checkpoints_total": total,
        "s": 0.0 if trial.vetoes else passed / total,
        "veto_categories": sorted(trial.vetoes),
        "error": error,
        **trial.usage,
    }


def _amounts(
    outcomes: Sequence[Mapping[str, Any]],
    subject: str,
    given: Given,
    own: Mapping[str, str | None],
    assumed: dict[str, str],
    *,
    file: Path,
) -> None:
    """Price the tokens where prices are given; leave all amounts of a subject out where one run has none."""
    runs: list[dict[str, Any]] = [run for outcome in outcomes for run in outcome["runs"]]
    price = given.prices.get(subject)
    for run in runs:
        if price is not None and {"tokens_in", "tokens_out"} <= run.keys():
            cost = run["tokens_in"] * price.tokens_in + run["tokens_out"] * price.tokens_out
            try:
                run["amount"] = float(Fraction(cost) / _MILLION)
            except OverflowError:
                raise InputError(
                    f"{printable(subject)}: the tokens of a run cost more than a number can hold",
                    "correct the tokens of the runs, or the prices",
                    file=file,
                ) from None
    without = sum("amount" not in run for run in runs)
    unnamed = [name for name in ("currency", "price_table_version") if own[name] is None]
    if without == len(runs) or not (without or unnamed):
        return
    for run in runs:
        run.pop("amount", None)
    why = f"{without} of {len(runs)} runs have none" if without else f"nothing states the {unnamed[0]}"
    assumed[f"amount {subject}"] = f"amounts of {printable(subject)} are left out: {why}"


def _record(
    subject: Subject,
    slug: str,
    board: Mapping[str, str | None],
    own: Mapping[str, str | None],
    outcomes: list[dict[str, Any]],
    kind: str,
    file: Path,
) -> dict[str, Any]:
    """Return a record whose figures are placeholders: scoring replaces every one of them."""
    created = stamp(moment(str(own["created_at"]), file=file, place="created_at"))
    runs = [run for outcome in outcomes for run in outcome["runs"]]
    conditions = {
        "service_fingerprint": own["service_fingerprint"],
        "tool_permissions": own["tool_permissions"],
        "allow_internet": False,
        "target_runs_per_task": N_RUNS,
    }
    if own["reasoning_effort"] is not None:
        conditions["reasoning_effort"] = own["reasoning_effort"]
    record: dict[str, Any] = {
        "id": f"res-{created[:10]}-{slug}-{str(board['benchmark']).removeprefix('bm-')}",
        "run_outcomes": outcomes,
        "methodology_version": METHODOLOGY,
        "benchmark": board["benchmark"],
        "benchmark_version": board["benchmark_version"],
        **{name: own[name] for name in ("model", "model_snapshot", "harness", "harness_version")},
        "run_conditions": conditions,
        "scores": _placeholders(outcomes, own["action_definition"]),
        "cost": _cost(runs, own),
        "run_records_hash": f"sha256:{subject.sha256}",
        "submitted_by": {"org": own["organisation"], "verified": False},
        **_verification(kind, own),
        "created_at": created,
    }
    if subject.window is not None:
        record["run_window"] = dict(zip(("from", "to"), subject.window, strict=True))
    return record | {"run_mode": "submitted_run_regrading"}


def _placeholders(outcomes: Sequence[Mapping[str, Any]], actions: str | None) -> dict[str, Any]:
    block = {
        "n": 0, "n_runs": 0, "exam": {"outcome": "not_passed", "n_tasks": 0}, "pass_at_3": 0,
        "pass_pow_3": 0, "instability": 0, "task_pass_rate": 0, "continuous_score": 0, "errors": {},
        "veto_rate": 0,
    }  # fmt: skip
    subsets = Counter(str(outcome["subset"]) for outcome in outcomes)
    scores: dict[str, Any] = {
        "n_tasks_total": len(outcomes),
        "veto_hits": {},
        "by_subset": dict.fromkeys(sorted(subsets), block),
    }
    if actions is not None:
        scores["dimensions"] = {"m3_efficiency": {"action_definition": actions}}
    return scores


def _cost(runs: Sequence[Mapping[str, Any]], own: Mapping[str, str | None]) -> dict[str, Any]:
    if "amount" not in runs[0]:
        return {"amount_applicable": False}
    return {
        "amount_applicable": True,
        "amount": 0,
        "currency": own["currency"],
        "price_table_version": own["price_table_version"],
    }


def _verification(kind: str, own: Mapping[str, str | None]) -> dict[str, Any]:
    note = f"imported from {kind} by medgauge {__version__}: first three runs of each task, errors failed"
    review = own["review_record"]
    if review is None:
        return {
            "verified_by_site": False,
            "verification_state": "community_unverified",
            "verification_note": note,
        }
    return {
        "verified_by_site": True,
        "verification_state": "site_verified",
        "review_record": review,
        "verification_note": note,
    }


def slug(text: str) -> str:
    """Return a text with the signs that an id may have: small letters, digits, points and hyphens.

    Examples
    --------
    >>> slug("../Org/Model 4.1"), slug("模型")
    ('org-model-4.1', '')
    """
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:_SLUG].rstrip("-.")


def _slugs(names: Sequence[str]) -> dict[str, str]:
    """Return the part of the id that each name gives; names that give the same one get a piece of a hash."""
    count = Counter(slug(name) for name in names)
    return {
        name: slug(name)
        if slug(name) and count[slug(name)] == 1
        else (slug(name) + "-").lstrip("-")
        + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        for name in names
    }
