"""The blocks of a demo record that runs do not decide: who, how, and what the closed side counted."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
import orjson

from medgauge_lib.checks import METHODOLOGY
from medgauge_lib.demo.plan import EUR, Entrant, Version
from medgauge_lib.demo.runs import GATES, REFERENCE_GATES, Draws, Ran, runs
from medgauge_lib.intervals import QUANTILE_RULE, RESAMPLES, SEED, bca, resampled_sums
from medgauge_lib.results import LEVEL, Absent, as_written

ORGANISATION = "Synthetic demonstration data (no real subject)"
NOTE = "Synthetic demonstration record: no real model, harness or person took part; every figure is invented."

_CONTEXT = Context(prec=50)
_DEFECTS = ("unit-mismatch", "duplicate-order", "missed-allergy", "wrong-patient-side")
_ACTIONS = {
    "hx-demo-chart": "one read or write in the chart, searches included",
    "hx-demo-plain": "one command sent to the sandbox",
    "hx-demo-round": "one tool call, several reads of one page counted once",
}


def draft(version: Version, subject: Entrant) -> dict[str, Any]:
    """Make a record whose figures that runs decide are still to be scored.

    Parameters
    ----------
    version : Version
        One benchmark version of the demo.
    subject : Entrant
        One of its subjects.

    Returns
    -------
    dict
        A record that fits the schema; `scoring.score` replaces the zeros in it.
    """
    draws = Draws(f"{version.benchmark} {version.version} {subject.id} {subject.salt}")
    by_task = runs(version, subject, draws)
    void = {task.key for _, task in version.void_tasks()}
    live = [ran for ran in chain.from_iterable(by_task) if ran.task.key not in void]
    outcomes = _run_outcomes(by_task)
    record: dict[str, Any] = {"id": subject.id, "run_outcomes": outcomes, "methodology_version": METHODOLOGY}
    record |= {"benchmark": version.benchmark, "benchmark_version": version.version}
    record |= _identity(subject)
    record["scores"] = _scores(live, subject, draws)
    record["cost"] = _cost(subject)
    voided = _voided(version)
    if voided and subject.verified:
        record["voided_tasks"] = voided
    reasons = Counter(ran.reason for ran in live if ran.reason)
    record["failure_attribution"] = dict(sorted(reasons.items()))
    return record | _review(version, subject, outcomes)


def _run_outcomes(by_task: Iterable[tuple[Ran, ...]]) -> list[dict[str, Any]]:
    outcomes = [
        {
            "task_key": ran[0].task.key,
            "task_version": ran[0].task.version,
            "subset": ran[0].task.subset,
            "runs": [one.run for one in ran],
        }
        for ran in by_task
    ]
    return sorted(outcomes, key=lambda outcome: str(outcome["task_key"]))


def _identity(subject: Entrant) -> dict[str, Any]:
    conditions: dict[str, Any] = {"reasoning_effort": subject.effort} if subject.effort else {}
    conditions |= {
        "max_steps": 60,
        "max_steps_note": "a step is one action of the harness",
        "budget_tokens": 400_000,
        "container_image_digest": _sha256(subject.harness + subject.harness_version),
        "tool_permissions": {"hx-demo-chart": "workspace_write", "hx-demo-plain": "full"}.get(
            subject.harness, "readonly"
        ),
        "allow_internet": False,
        "service_fingerprint": f"synthetic-{subject.snapshot}",
        "max_output_tokens": 8192,
        "temperature": 0.2,
        "command_timeout_sec": 120,
        "wall_clock_sec": 1800,
        "tools": ["read_chart", "search_chart", "write_note"],
        "target_runs_per_task": 3,
    }
    return {
        "model": subject.model,
        "model_snapshot": subject.snapshot,
        "harness": subject.harness,
        "harness_version": subject.harness_version,
        "run_conditions": conditions,
    }


def _scores(live: Sequence[Ran], subject: Entrant, draws: Draws) -> dict[str, Any]:
    hits = Counter(chain.from_iterable(ran.constraints for ran in live))
    subsets = sorted({ran.task.subset for ran in live})
    scores: dict[str, Any] = {
        "n_tasks_total": 1,
        "veto_hits": {name: hits[name] for _, name in GATES if name not in REFERENCE_GATES and hits[name]},
        "assertion_veto_hits": {name: hits[name] for name in REFERENCE_GATES if hits[name]},
        "by_subset": {
            subset: _subset([ran for ran in live if ran.task.subset == subset], subject, draws)
            for subset in subsets
        },
    }
    holdout = [ran for ran in live if ran.task.subset == "holdout"]
    made = {name: _DIMENSIONS[name](holdout, subject, draws) for name in subject.dimensions}
    if made:
        scores["dimensions"] = {_NAMES[name]: block for name, block in made.items()}
    return scores


def _subset(live: Sequence[Ran], subject: Entrant, draws: Draws) -> dict[str, Any]:
    """Zeros for what is to be scored, and what the closed side counted."""
    zeros: dict[str, Any] = dict.fromkeys(
        ("n", "n_runs", "pass_at_3", "pass_pow_3", "instability", "task_pass_rate", "continuous_score"), 0
    )
    zeros |= {"exam": {"outcome": "not_passed", "n_tasks": 0}, "errors": {}, "veto_rate": 0}
    points = sum(draws.below(2) for _ in live) + len(live)
    kept = sum(not draws.happens(3 * subject.vetoes + 10) for _ in range(points))
    classes = sorted({ran.task.difficulty for ran in live})
    return zeros | {
        "compliance_rate": kept / points,
        "by_difficulty_class": {
            str(difficulty): _stratum([ran for ran in live if ran.task.difficulty == difficulty])
            for difficulty in classes
        },
    }


def _stratum(live: Sequence[Ran]) -> dict[str, Any]:
    passes = Counter(ran.task.key for ran in live if ran.run["pass"])
    n = len(live) // 3
    return {
        "n": n,
        "task_pass_rate": sum(passes.values()) / len(live),
        "pass_pow_3": sum(count == 3 for count in passes.values()) / n,
    }


def _efficiency(holdout: Sequence[Ran], subject: Entrant, draws: Draws) -> dict[str, Any]:
    block: dict[str, Any] = {"action_definition": _ACTIONS[subject.harness]}
    actions: dict[str, list[Fraction]] = {}
    amounts: dict[str, list[Fraction]] = {}
    for ran in holdout:
        if ran.run["pass"] and "actions" in ran.run:
            actions.setdefault(ran.task.key, []).append(Fraction(ran.run["actions"], ran.task.actions))
        if ran.run["pass"] and "amount" in ran.run:
            reference = Fraction(ran.task.actions * 8, 1000)
            amounts.setdefault(ran.task.key, []).append(as_written(ran.run["amount"]) / reference)
    for name, ratios in (("action_ratio", actions), ("amount_ratio", amounts)):
        if ratios:
            block[name] = _dispersion([sum(ratio, Fraction(0)) / len(ratio) for ratio in ratios.values()])
    return block


def _dispersion(ratios: Sequence[Fraction]) -> dict[str, float]:
    """Geometric mean, median and quartiles over tasks, to 4 decimals."""
    ordered = sorted(ratios)
    logs = [
        _CONTEXT.ln(_CONTEXT.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)))
        for ratio in ordered
    ]
    mean = _CONTEXT.exp(_CONTEXT.divide(sum(logs, Decimal(0)), Decimal(len(logs))))
    return {
        "geometric_mean": round(float(mean), 4),
        "median": _quantile(ordered, Fraction(1, 2)),
        "q1": _quantile(ordered, Fraction(1, 4)),
        "q3": _quantile(ordered, Fraction(3, 4)),
    }


def _quantile(ordered: Sequence[Fraction], p: Fraction) -> float:
    place = (len(ordered) - 1) * p
    floor = int(place)
    following = ordered[min(floor + 1, len(ordered) - 1)]
    return float(round(ordered[floor] + (place - floor) * (following - ordered[floor]), 4))


def _optimality(holdout: Sequence[Ran], subject: Entrant, draws: Draws) -> dict[str, Any]:
    return {
        "redundancy_rate": (subject.waste * 6 + draws.below(60)) / 1000,
        "order_violations": draws.below(12) / 10,
        "tool_deviations": draws.below(30) / 10,
        "n_tasks": len({ran.task.key for ran in holdout if ran.run["pass"]}),
    }


def _quality_control(holdout: Sequence[Ran], subject: Entrant, draws: Draws) -> dict[str, Any]:
    """F1 is worked out from precision and recall as they are published."""
    skill = 300 + 30 * min(max(subject.ability, 0), 20)
    recall, precision = (Fraction(skill + draws.below(100), 1000) for _ in range(2))
    f1 = 2 * precision * recall / (precision + recall)
    return {
        "defect_recall": float(recall),
        "defect_precision": float(precision),
        "defect_f1": float(f1),
        "defect_f1_task_equal": (skill + draws.below(100)) / 1000,
        "self_check_rate": (500 + draws.below(480)) / 1000,
        "traceability_rate": (700 + draws.below(300)) / 1000,
        "evidence_error_rate": draws.below(120) / 1000,
        "by_defect_class_recall": {name: (skill + draws.below(100)) / 1000 for name in _DEFECTS},
    }


def _exploration(holdout: Sequence[Ran], subject: Entrant, draws: Draws) -> dict[str, Any]:
    """Confidence, and with it the Brier score, exists where the harness asks for it."""
    block = {
        "appropriate_abstention_rate": (550 + draws.below(400)) / 1000,
        "over_abstention_rate": draws.below(200) / 1000,
        "overreach_rate": draws.below(150) / 1000,
        "n_undecidable_points": 18 + draws.below(6),
        "n_decidable_points": 90 + draws.below(20),
    }
    if subject.harness != "hx-demo-plain":
        block["brier"] = (80 + draws.below(170)) / 1000
    return block


def _auditability(holdout: Sequence[Ran], subject: Entrant, draws: Draws) -> dict[str, Any]:
    delta = Fraction(draws.below(61) - 30, 1000)
    return {
        "regrade_agreement": 1,
        "trajectory_completeness": (960 + draws.below(41)) / 1000,
        "env_delta": {"signed": float(delta), "absolute": float(abs(delta))},
    }


def _robustness(holdout: Sequence[Ran], subject: Entrant, draws: Draws) -> dict[str, Any]:
    """Original against a reworded variant: pass^3 of every third task, in the order of the tasks."""
    stable = Counter(ran.task.key for ran in holdout if ran.run["pass"])
    keys = sorted({ran.task.key for ran in holdout})[::3]
    original = np.array([[int(stable[key] == 3)] for key in keys])
    flipped = np.array([[int(draws.happens(160))] for _ in keys])
    variant = original ^ flipped
    b, c = int((original > variant).sum()), int((original < variant).sum())
    block: dict[str, Any] = {
        "robustness_gap": {"signed": (b - c) / len(keys), "absolute": abs(b - c) / len(keys)},
        "flip_rate": (b + c) / len(keys),
        "mcnemar": {"b": b, "c": c, "p_value": 1},
        "n_pairs": len(keys),
    }
    sums = resampled_sums(original, seed=SEED) - resampled_sums(variant, seed=SEED)
    interval = bca((original - variant)[:, 0], sums[0], 1, seed=SEED)
    if not isinstance(interval, Absent):
        block["paired_bootstrap"] = {
            "method": "bca_task_bootstrap",
            "level": LEVEL,
            "resamples": RESAMPLES,
            "seed": SEED,
            "quantile_rule": QUANTILE_RULE,
            "lower": interval.low,
            "upper": interval.high,
        }
    return block


_DIMENSIONS: Mapping[str, Callable[[Sequence[Ran], Entrant, Draws], dict[str, Any]]] = {
    "m3": _efficiency,
    "m5": _optimality,
    "m7": _quality_control,
    "m8": _exploration,
    "m9": _auditability,
    "m10": _robustness,
}
_NAMES = {
    "m3": "m3_efficiency",
    "m5": "m5_optimality",
    "m7": "m7_quality_control",
    "m8": "m8_exploration",
    "m9": "m9_auditability",
    "m10": "m10_robustness",
}


def _cost(subject: Entrant) -> dict[str, Any]:
    if not subject.price:
        return {"amount_applicable": False}
    currency, table = subject.prices
    return {"amount_applicable": True, "amount": 0, "currency": currency, "price_table_version": table}


def _voided(version: Version) -> list[dict[str, Any]]:
    listed = [(void, task) for void, task in version.void_tasks() if void.listed]
    return [
        {"task_key": task.key, "task_version": task.version, "attribution": void.attribution}
        for void, task in sorted(listed, key=lambda entry: entry[1].key)
    ]


def _review(version: Version, subject: Entrant, outcomes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    day = subject.id[4:14]
    n_checkpoints = sum(outcome["runs"][0]["checkpoints_total"] for outcome in outcomes)
    made: dict[str, Any] = {
        "run_records_hash": _sha256(orjson.dumps(outcomes).decode()),
        "trajectories_archived": subject.verified,
        "closed_checkpoint_detail": {
            "stored_in": "closed",
            "sha256": _sha256(f"{version.benchmark} {version.version} {subject.id} checkpoints"),
            "n_checkpoints": n_checkpoints,
            "reference_set_version": "demo-references-3",
            "n_reference_linked": n_checkpoints * 2 // 3,
        },
        "submitted_by": {"org": ORGANISATION, "contact": "none: synthetic", "verified": subject.verified},
        "verified_by_site": subject.verified,
        "verification_state": "site_verified" if subject.verified else "community_unverified",
        "verification_note": NOTE,
        "created_at": f"{day}T09:30:00Z",
        "run_window": {"from": f"{day[:8]}01", "to": day},
        "run_mode": "site_run" if subject.verified and subject.prices == EUR else "submitted_run_regrading",
    }
    if subject.verified:
        made["review_record"] = "synthetic: no review took place"
    return made


def _sha256(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
