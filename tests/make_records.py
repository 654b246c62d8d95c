"""Small valid result records for tests: runs are given, the published figures are worked out from them.

>>> row = record("res-2026-01-02-a", {1: [(1, 1), (0, 1), (1, 1)]}, model="m-1")
>>> row["run_outcomes"][0]["task_key"], row["scores"]["by_subset"]["holdout"]["pass_at_3"]
('tk-000000000001', 1.0)
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

ONE_TASK = {1: [(1, 1), (1, 1), (1, 1)]}
INITIATIVE = {"task", "environment"}


def task_key(task: int | str) -> str:
    """Return a number's task key (numbers sort as their keys do); a key stays as it is."""
    return f"tk-{task:012x}" if isinstance(task, int) else task


def run(number: int, passed: int, total: int = 1, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return one run; `extra` holds ``veto_categories``, ``error`` (attribution, kind), usage, overrides."""
    extra = dict(extra or {})
    vetoes = list(extra.pop("veto_categories", ()))
    error = extra.pop("error", None)
    if isinstance(error, tuple):
        error = dict(zip(("attribution", "kind"), error, strict=True))
    return {
        "run": number,
        "pass": passed == total and not vetoes and error is None,
        "checkpoints_passed": passed,
        "checkpoints_total": total,
        "s": 0 if vetoes else passed / total,
        "veto_categories": vetoes,
        "error": error,
    } | extra


def task(
    key: int | str, runs: Iterable[Sequence[Any]], *, subset: str = "holdout", version: str = "1.0.0"
) -> dict[str, Any]:
    """Return one task's outcome; each run is ``(passed, total)`` or ``(passed, total, extra)``."""
    return {
        "task_key": task_key(key),
        "task_version": version,
        "subset": subset,
        "runs": [run(number, *spec) for number, spec in enumerate(runs, 1)],
    }


def record(
    id: str = "res-2026-01-01-a",  # noqa: A002 - the record's own field name
    tasks: Mapping[int | str, Iterable[Sequence[Any]]] | Sequence[Mapping[str, Any]] = ONE_TASK,
    *,
    subset: str = "holdout",
    **changes: Any,
) -> dict[str, Any]:
    """Return a valid, verified record whose published figures fit its runs.

    Parameters
    ----------
    id : str
        Record id; the model is named after it unless `changes` says otherwise, so that rows differ.
    tasks : mapping or sequence
        Task (number or key) to its three runs, all in `subset`; or outcomes made by `task`.
    **changes
        Fields to set; a mapping is merged into the field it names, anything else replaces it.
    """
    outcomes = (
        [task(key, runs, subset=subset) for key, runs in tasks.items()]
        if isinstance(tasks, Mapping)
        else [dict(outcome) for outcome in tasks]
    )
    listed = {(void["task_key"], void["task_version"]) for void in changes.get("voided_tasks", ())}
    live = [outcome for outcome in outcomes if not _is_void(outcome, listed)]
    made = {
        "id": id,
        "run_outcomes": outcomes,
        "methodology_version": "0.1.0",
        "benchmark": "bm-made",
        "benchmark_version": "1.0.0",
        "model": id.removeprefix("res-"),
        "model_snapshot": "snapshot-1",
        "harness": "hx-made",
        "harness_version": "1.0.0",
        "run_conditions": {
            "tool_permissions": "full",
            "allow_internet": False,
            "target_runs_per_task": 3,
            "service_fingerprint": "synthetic",
        },
        "scores": {
            "n_tasks_total": max(len(live), 1),
            "veto_hits": {},
            "by_subset": _by_subset(live or outcomes),
        },
        "cost": _cost(live),
        "failure_attribution": _failures(live),
        "run_records_hash": "sha256:" + "0" * 64,
        "submitted_by": {"org": "Synthetic test data", "verified": False},
        "verified_by_site": True,
        "review_record": "synthetic",
        "verification_note": "synthetic record for tests",
        "verification_state": "site_verified",
        "created_at": "2026-01-01T00:00:00Z",
        "run_window": {"from": "2026-01-01", "to": "2026-01-01"},
        "run_mode": "site_run",
    }
    return _merged(made, changes)


def community(id: str = "res-2026-01-01-z", *args: Any, **changes: Any) -> dict[str, Any]:  # noqa: A002
    """Return a valid record that the site has not verified."""
    state = {"verified_by_site": False, "verification_state": "community_unverified"}
    return record(id, *args, **(state | changes))


def write(folder: Path, *records: Mapping[str, Any]) -> Path:
    """Write each record to ``<id>.json`` in `folder`, made where missing, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for row in records:
        (folder / f"{row['id']}.json").write_text(json.dumps(row), encoding="utf-8")
    return folder


def _merged(made: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(made)
    for name, value in changes.items():
        old = merged.get(name)
        merged[name] = _merged(old, value) if isinstance(old, dict) and isinstance(value, Mapping) else value
    return merged


def _is_void(outcome: Mapping[str, Any], listed: set[tuple[str, str]]) -> bool:
    return (outcome["task_key"], outcome["task_version"]) in listed or any(
        run["error"] and run["error"]["attribution"] in INITIATIVE for run in outcome["runs"]
    )


def _by_subset(outcomes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    subsets = sorted({outcome["subset"] for outcome in outcomes})
    return {
        subset: _scores([outcome["runs"] for outcome in outcomes if outcome["subset"] == subset])
        for subset in subsets
    }


def _scores(tasks: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """Work out one subset's scores by their definition."""
    n = len(tasks)
    runs = [run for task in tasks for run in task]
    at_3 = Fraction(sum(any(run["pass"] for run in task) for task in tasks), n)
    pow_3 = Fraction(sum(all(run["pass"] for run in task) for task in tasks), n)
    share = [
        0 if r["veto_categories"] else Fraction(r["checkpoints_passed"], r["checkpoints_total"]) for r in runs
    ]
    errors = Counter(run["error"]["attribution"] for run in runs if run["error"])
    vetoes = Counter(category for run in runs for category in run["veto_categories"])
    vetoed = sum(bool(run["veto_categories"]) for run in runs)
    exam = {"outcome": "passed" if pow_3 == 1 else "not_passed", "n_tasks": n}
    if pow_3 == 1:
        exam["claimable_lower_bound"] = 0.05 ** (1 / n)
    return {
        "n": n,
        "n_runs": len(runs),
        "exam": exam,
        "pass_at_3": float(at_3),
        "pass_pow_3": float(pow_3),
        "instability": float(at_3 - pow_3),
        "task_pass_rate": float(Fraction(sum(run["pass"] for run in runs), len(runs))),
        "continuous_score": min(1.0, float(Fraction(sum(share), len(runs)))),
        "errors": dict(sorted(errors.items())),
        "error_rate_subject": float(
            Fraction(sum(count for source, count in errors.items() if source not in INITIATIVE), len(runs))
        ),
        "veto_rate": float(Fraction(vetoed, len(runs))),
        "veto_by_category": dict(sorted(vetoes.items())),
        "any_veto": vetoed > 0,
    }


def _cost(outcomes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    runs = [run for outcome in outcomes for run in outcome["runs"]]
    cost: dict[str, Any] = {"amount_applicable": any("amount" in run for run in runs)}
    for field in ("tokens_in", "tokens_out"):
        if runs and all(field in run for run in runs):
            cost[field] = sum(run[field] for run in runs)
    if cost["amount_applicable"]:
        amount = float(sum(Fraction(str(run.get("amount", 0))) for run in runs))
        cost |= {"amount": amount, "currency": "EUR", "price_table_version": "synthetic-1"}
    return cost


def _failures(outcomes: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Count a failed run with an error as `other` and every other failed run as `missed`."""
    failed = [run for outcome in outcomes for run in outcome["runs"] if not run["pass"]]
    return dict(sorted(Counter("other" if run["error"] else "missed" for run in failed).items()))
