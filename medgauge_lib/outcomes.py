"""A record set and a subset → exact integer matrices, tasks × rows, void task versions out.

Everything statistical starts here. The unit of resampling is the task: a task's three runs stay together.
Tasks and rows stand in ascending byte order of their keys, whatever order the files had.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from medgauge_lib.checks import require_usable
from medgauge_lib.errors import InputError
from medgauge_lib.records import RecordSet
from medgauge_lib.results import Tabular

N_RUNS = 3
"""Runs of every task for every subject (methodology 0.1.0, "Who is measured")."""

SUBSETS = ("dev", "holdout", "calib")
"""The subsets of a benchmark version; the board is the holdout subset."""


@dataclass(frozen=True, repr=False)
class Outcomes(Tabular):
    """What happened, as integers: ``n_tasks`` tasks down, ``n_rows`` rows across.

    Attributes
    ----------
    subset : str
        The subset these tasks belong to; subsets are never pooled.
    tasks, versions : tuple of str, length n_tasks
        Task keys in ascending byte order, and the version of each task.
    rows : tuple of str, length n_rows
        Record ids in ascending byte order.
    passes : array of int, shape (n_tasks, n_rows)
        Passing runs of the three, 0 to 3.
    points : array of int, shape (n_tasks, n_rows)
        Checkpoints passed over the three runs; a run that hit a veto counts 0.
    checkpoints : array of int, shape (n_tasks,)
        Checkpoints of one run of the task, the same for every row.
    runs : DataFrame
        The runs behind the matrices, one a line, for tallies of errors, vetoes and amounts.
    """

    subset: str
    tasks: tuple[str, ...]
    versions: tuple[str, ...]
    rows: tuple[str, ...]
    passes: npt.NDArray[np.int64]
    points: npt.NDArray[Any]
    checkpoints: npt.NDArray[np.int64]
    runs: pd.DataFrame = field(repr=False, compare=False)

    @property
    def n_tasks(self) -> int:
        """Tasks that count, void ones out."""
        return len(self.tasks)

    @property
    def n_rows(self) -> int:
        """Rows that are compared."""
        return len(self.rows)

    def to_frame(self) -> pd.DataFrame:
        """One line per task and row: ``task_key, id, passes, points, checkpoints``."""
        n_tasks, n_rows = self.passes.shape
        return pd.DataFrame(
            {
                "task_key": np.repeat(self.tasks, n_rows),
                "id": np.tile(self.rows, n_tasks),
                "passes": self.passes.ravel(),
                "points": self.points.ravel(),
                "checkpoints": np.repeat(N_RUNS * self.checkpoints, n_rows),
            }
        )


def outcomes(records: RecordSet, subset: str = "holdout", *, rows: Collection[str] | None = None) -> Outcomes:
    """Take the runs of one subset as matrices, with the board's void task versions out of every row.

    Parameters
    ----------
    records : RecordSet
        One benchmark version.
    subset : {"dev", "holdout", "calib"}
        The subset to take.
    rows : collection of str, optional
        Record ids to take; by default the rows of the board, which are the records the site verified.
        Community records are taken one at a time, since they need not hold the same tasks.

    Returns
    -------
    Outcomes

    Raises
    ------
    InputError
        If no row or no task is left, or the runs break a rule without which figures mean nothing.
    ValueError
        If `subset` or one of `rows` is unknown.

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> taken = outcomes(demo.record_set("bm-demo-ward", "1.0.0"))
    >>> taken.passes.shape == (taken.n_tasks, taken.n_rows)
    True
    """
    if subset not in SUBSETS:
        raise ValueError(f"subset must be one of {', '.join(SUBSETS)}, but got {subset!r}")
    ids = _rows(records, rows)
    require_usable(records, ids)
    return usable_outcomes(records, subset, ids)


def usable_outcomes(records: RecordSet, subset: str, rows: tuple[str, ...]) -> Outcomes:
    """Like `outcomes`, for records that are known to be usable: who takes many one at a time asks once.

    Parameters
    ----------
    records : RecordSet
        One benchmark version.
    subset : {"dev", "holdout", "calib"}
        The subset to take.
    rows : tuple of str
        Record ids in ascending order, one at least, none of them with a finding of `checks.unusable`.

    Returns
    -------
    Outcomes

    Raises
    ------
    InputError
        If no task is left.

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> records = demo.record_set("bm-demo-ward", "1.0.0")
    >>> usable_outcomes(records, "holdout", outcomes(records).rows[:1]).n_rows
    1
    """
    return _matrices(_of_subset(records, subset, rows), subset, rows)


def _rows(records: RecordSet, wanted: Collection[str] | None) -> tuple[str, ...]:
    """Ids to take, in ascending byte order."""
    subjects = records.subjects
    if wanted is None:
        ids = tuple(subjects.loc[subjects["verified"], "id"])
        if not ids:
            raise InputError(
                "none of the records is verified by the site",
                "only verified records are ranked; medgauge import --review-record states a review",
            )
        return ids
    unknown = sorted(set(wanted) - set(subjects["id"]))
    if unknown or not wanted:
        raise ValueError(f"rows must name records of this set, but got {unknown[:1] or 'none'}")
    return tuple(record for record in subjects["id"] if record in set(wanted))


def live_runs(records: RecordSet) -> pd.DataFrame:
    """Runs of every record and subset whose task version is not void for the board (decision 10).

    Parameters
    ----------
    records : RecordSet
        One benchmark version.

    Returns
    -------
    DataFrame
        The lines of ``records.runs`` that count, in their order.

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> records = demo.record_set("bm-demo-ward", "1.0.0")  # has no void task version
    >>> len(live_runs(records)) == len(records.runs)
    True
    """
    return records.runs[_live(records)]


def _live(records: RecordSet) -> npt.NDArray[np.bool_]:
    """Which runs count for the board."""
    runs, void = records.runs, records.void_versions
    if not void:
        return np.ones(len(runs), bool)
    versions = zip(runs["task_key"], runs["task_version"], strict=True)
    return np.fromiter((version not in void for version in versions), bool, len(runs))


def _of_subset(records: RecordSet, subset: str, rows: tuple[str, ...]) -> pd.DataFrame:
    """Live runs of the subset and rows, by task, row and run."""
    runs = records.runs
    of_rows = runs["id"].isin(rows)
    present = set(runs.loc[of_rows, "subset"])
    if subset not in present:
        names = ", ".join(name for name in SUBSETS if name in present)
        raise InputError(f"no task of subset {subset}", f"the records hold: {names}")
    live = runs[of_rows & (runs["subset"] == subset) & _live(records)]
    if live.empty:
        raise InputError(f"every task version of subset {subset} is void", "there is nothing left to count")
    # Stable, and the runs are in the order of id, task and run.
    return live.sort_values("task_key", kind="stable", ignore_index=True)


def _matrices(runs: pd.DataFrame, subset: str, rows: tuple[str, ...]) -> Outcomes:
    """Fold the sorted runs into tasks × rows × runs and add over the runs."""
    shape = (-1, len(rows), N_RUNS)
    tasks = runs["task_key"].to_numpy()[:: len(rows) * N_RUNS]
    versions = runs["task_version"].to_numpy()[:: len(rows) * N_RUNS]
    vetoed = runs["veto_categories"].map(len).to_numpy(dtype=np.int64) > 0
    points = np.where(vetoed, 0, runs["checkpoints_passed"].to_numpy(dtype=np.int64))
    if points.max() >= 2**63 // N_RUNS:
        points = points.astype(object)  # Python integers, which three runs cannot overflow
    passes = runs["passed"].to_numpy(dtype=np.int64)
    return Outcomes(
        subset=subset,
        tasks=tuple(map(str, tasks)),
        versions=tuple(map(str, versions)),
        rows=rows,
        passes=_frozen(passes.reshape(shape).sum(axis=2)),
        points=_frozen(points.reshape(shape).sum(axis=2)),
        checkpoints=_frozen(runs["checkpoints_total"].to_numpy(dtype=np.int64).reshape(shape)[:, 0, 0]),
        runs=runs,
    )


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.flags.writeable = False
    return array
