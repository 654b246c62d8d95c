"""Record sets of any size, made from one record of the demo set: the same bytes every time.

Only what reading and the board need is made anew: who the subject is, and its runs. The figures that the demo
record publishes stay as they are and no longer fit; nothing here looks at them.
"""

from __future__ import annotations

from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import orjson

from medgauge_lib import demo

CHECKPOINTS = (3, 4, 5, 6, 8, 9, 10, 12)


def write_set(folder: Path, *, n_rows: int, n_tasks: int) -> Path:
    """Write `n_rows` records of `n_tasks` holdout tasks, three runs each, and return the folder."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(20260101)
    model = _model()
    usage = [task["runs"] for task in model["run_outcomes"]]
    difficulty = rng.normal(size=n_tasks)
    for row, ability in enumerate(np.linspace(2, -2, n_rows)):
        chance = 1 / (1 + np.exp(difficulty - ability))
        missed = rng.binomial(3, 1 - chance, size=(3, n_tasks))
        record = model | {
            "id": f"res-2026-01-01-row-{row:04d}",
            "model": f"model-{row:04d}",
            "voided_tasks": [],
            "run_outcomes": [
                _task(k, missed[:, k], runs) for k, runs in enumerate(islice(cycle(usage), n_tasks))
            ],
        }
        (folder / f"{record['id']}.json").write_bytes(orjson.dumps(record))
    return folder


def _model() -> dict[str, Any]:
    """First verified record of the demo set whose runs carry amounts."""
    with TemporaryDirectory() as folder:
        for path in demo.write(folder):
            record = orjson.loads(path.read_bytes()) if path.name.startswith("res-") else {}
            if record.get("verified_by_site") and record["cost"]["amount_applicable"]:
                return record
    raise LookupError("the demo set has no verified record with amounts")


def _task(number: int, missed: np.ndarray, usage: list[dict[str, Any]]) -> dict[str, Any]:
    total = CHECKPOINTS[number % len(CHECKPOINTS)]
    return {
        "task_key": f"tk-{number:024x}",
        "task_version": "1.0.0",
        "subset": "holdout",
        "runs": [_run(total - int(lost), total, used) for lost, used in zip(missed, usage, strict=True)],
    }


def _run(passed: int, total: int, used: dict[str, Any]) -> dict[str, Any]:
    return used | {
        "pass": passed == total,
        "checkpoints_passed": passed,
        "checkpoints_total": total,
        "s": passed / total,
        "veto_categories": [],
        "error": None,
    }
