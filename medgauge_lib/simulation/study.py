"""What a simulation study hands on: its lines, what it assumed, and how many replications it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import pandas as pd

from medgauge_lib.results import Tabular
from medgauge_lib.simulation.blocks import Block, Replications, Tally, replicate

if TYPE_CHECKING:
    from medgauge_lib.parallel import Workers
    from medgauge_lib.progress import Progress

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


@dataclass(frozen=True, repr=False)
class Study(Tabular, Generic[L]):
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


@dataclass(frozen=True)
class Design(Generic[S, L]):
    """What makes a study besides its settings.

    Attributes
    ----------
    name : str
        Of the study.
    block : callable
        A function of a module, which gives the tally of a block.
    lines : callable
        Gives the lines of one setting from what was counted in it.
    assumptions : tuple of str
        What holds in the simulated world, a sentence each.
    """

    name: str
    block: Callable[[Block[S]], Tally]
    lines: Callable[[Replications[S]], Iterable[L]]
    assumptions: tuple[str, ...]

    def run(
        self,
        settings: Sequence[S],
        n_replications: int,
        *,
        seed: int,
        workers: Workers | None,
        progress: Progress | None,
    ) -> Study[L]:
        """Simulate every setting, and make the result from what was counted."""
        found = replicate(
            self.block,
            settings,
            study=self.name,
            n_replications=n_replications,
            seed=seed,
            workers=workers,
            progress=progress,
        )
        lines = tuple(line for one in found for line in self.lines(one))
        fewest = min((one.n for one in found), default=n_replications)
        return Study(self.name, self.assumptions, seed, n_replications, fewest, lines)
