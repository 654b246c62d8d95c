"""What published strata tell about the classes of single tasks, whoever asks.

Of each row and class a record publishes n and two rates. Each is a sum over the tasks of the class, and what
each task adds is public: over several rows these are equations whose unknowns are the classes of the tasks.
Where they have one solution the records tell every class, and a report that shows more tells nothing new.

References
----------
.. [1] Dinur & Nissim (2003), "Revealing information while preserving privacy", PODS '03: 202-210.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from medgauge_lib.outcomes import N_RUNS, Outcomes

MAX_TERMS = 200_000
"""Terms of the equations up to which they are solved; beyond, they are taken to have several solutions."""

MAX_NODES = 10_000
"""Nodes of the search after which a second solution is taken to exist: a count, so that no clock decides."""

_INFEASIBLE = 2
"""What the solver says where nothing fits."""


class PublishedStratum(NamedTuple):
    """What one row publishes of one class: n, and the least and most that its other sums may be.

    Attributes
    ----------
    row, difficulty : int
        Column of the row in the outcomes, and the class.
    n_tasks : int
        Tasks of the class.
    successes : tuple of int, or None
        Least and most tasks passed in all three runs; None where the record does not say.
    passes : tuple of int, or None
        Least and most passing runs.
    """

    row: int
    difficulty: int
    n_tasks: int
    successes: tuple[int, int] | None
    passes: tuple[int, int] | None


def tells_every_class(
    taken: Outcomes, strata: Sequence[PublishedStratum], classes: Mapping[str, int], *, of: Sequence[int]
) -> bool:
    """Return whether published strata leave but one class, or none, for every task.

    Parameters
    ----------
    taken : Outcomes
        Runs of the rows, as everyone can read them.
    strata : sequence of PublishedStratum
        What these rows publish.
    classes : mapping of str to int
        Task key to its class, of those tasks that have one.
    of : sequence of int
        The classes there are.

    Returns
    -------
    bool
        False too where `classes` do not fit the strata, and where deciding it would take too long.

    Examples
    --------
    >>> taken = Outcomes("holdout", ("tk-a", "tk-b"), ("1", "1"), ("r",), np.array([[3], [0]]),
    ...                  np.array([[3], [0]]), np.array([1, 1]), None)
    >>> easy = [PublishedStratum(0, 1, 1, (1, 1), None), PublishedStratum(0, 2, 1, (0, 0), None)]
    >>> tells_every_class(taken, easy, {"tk-a": 1, "tk-b": 2}, of=(1, 2))
    True
    >>> tells_every_class(taken, easy[:1], {"tk-a": 1, "tk-b": 2}, of=(1, 2))  # tk-b may have no class
    False
    """
    known = np.array([[classes.get(task) == number for number in of] for task in taken.tasks], dtype=np.int64)
    weights, low, high = _equations(taken, strata, of)
    if not 0 < weights.size <= MAX_TERMS:
        return False
    sums = weights @ known.ravel()
    if ((sums < low) | (sums > high)).any():
        return False
    return not _another(known, weights, low, high)


def _equations(
    taken: Outcomes, strata: Sequence[PublishedStratum], of: Sequence[int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Weights of each (task, class) in every sum, and the least and most that the sum may be."""
    terms: list[tuple[Any, int, tuple[int, int]]] = []
    for one in strata:
        passes = taken.passes[:, one.row]
        terms.append((np.ones_like(passes), one.difficulty, (one.n_tasks, one.n_tasks)))
        if one.successes is not None:
            terms.append(((passes == N_RUNS).astype(np.int64), one.difficulty, one.successes))
        if one.passes is not None:
            terms.append((passes, one.difficulty, one.passes))
    weights = np.zeros((len(terms), taken.n_tasks, len(of)), dtype=np.int64)
    for line, (added, number, _) in zip(weights, terms, strict=True):
        line[:, of.index(number)] = added
    bounds = np.array([bound for *_, bound in terms], dtype=np.int64).reshape(-1, 2)
    return weights.reshape(len(terms), taken.n_tasks * len(of)), bounds[:, 0], bounds[:, 1]


def _another(
    known: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int64],
    low: npt.NDArray[np.int64],
    high: npt.NDArray[np.int64],
) -> bool:
    """Whether a second assignment fits: each task in at most one class, and not all as they are known."""
    # Loaded here: most boards come without labels, and loading it takes a good part of a second.
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    n_tasks, n_classes = known.shape
    once = np.repeat(np.eye(n_tasks, dtype=np.int64), n_classes, axis=1)
    # A task as it is known adds 1: its class is chosen, or, where it has none, no class is.
    n_labels = known.sum(axis=1, keepdims=True)
    agreeing = np.where(n_labels > 0, known, np.int64(-1)).reshape(1, -1)
    most = int(n_labels.sum()) - 1
    found = milp(
        np.zeros(known.size),
        integrality=np.ones(known.size, dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(csr_array(once), 0, 1),
            LinearConstraint(csr_array(agreeing), -np.inf, most),
            LinearConstraint(csr_array(weights), low, high),
        ],
        options={"node_limit": MAX_NODES},
    )
    return int(found.status) != _INFEASIBLE
