"""What a simulation study hands on: its lines, what it assumed, and how many replications it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import pandas as pd

from medgauge_lib.simulation.blocks import Replications

ASSUMPTIONS = (
    "Tasks are drawn at random and without end from one population, each independently of the others.",
    "Over tasks the rate, at which runs pass, follows a Beta distribution with the stated mean and spread.",
    "The three runs of a task are independent of each other, given the task's rate.",
    "No task is void, and nothing changes between runs.",
)
"""What every study assumes where runs arise; each adds its own."""


class Line(Protocol):
    """One line of a study: a setting and what came of it."""

    def record(self) -> dict[str, Any]:
        """Names and values of the columns of a table."""
        ...


L = TypeVar("L", bound=Line)
S = TypeVar("S")


@dataclass(frozen=True)
class Study(Generic[L]):
    """Result of a simulation study.

    Attributes
    ----------
    name : str
        Of the study; part of what its random streams depend on.
    assumptions : tuple of str
        What holds in the simulated world, a sentence each.
    seed : int
        Of every stream and of the resamples.
    asked, n_replications : int
        Replications of every setting that were asked for, and the fewest that any setting has.
    lines : tuple of Line
        In the order of the settings.
    """

    name: str
    assumptions: tuple[str, ...]
    seed: int
    asked: int
    n_replications: int
    lines: tuple[L, ...] = field(repr=False)

    @property
    def complete(self) -> bool:
        """Whether every setting has the replications that were asked for."""
        return self.n_replications == self.asked

    def to_frame(self) -> pd.DataFrame:
        """One line a setting and method; each simulated column has its Monte Carlo error beside it."""
        return pd.DataFrame([line.record() for line in self.lines])


def concluded(
    name: str,
    assumptions: tuple[str, ...],
    found: tuple[Replications[S], ...],
    lines: Callable[[Replications[S]], Iterable[L]],
    *,
    seed: int,
    asked: int,
) -> Study[L]:
    """Make the result of a study from what was counted.

    Parameters
    ----------
    name, assumptions
        As in `Study`.
    found : tuple of Replications
        One a setting.
    lines : callable
        Gives the lines of one setting.
    seed, asked : int
        As in `Study`.

    Returns
    -------
    Study
    """
    fewest = min((one.n for one in found), default=asked)
    return Study(name, assumptions, seed, asked, fewest, tuple(line for one in found for line in lines(one)))
