"""Replications in blocks of fixed size, each with a stream of its own.

The stream of a block depends on the seed, the study, the setting and the number of the block, never on the
worker that draws it or on what else is simulated. Tallies are integers, which add up to the same in any
order. So the result is the same to the digit however many workers there are, and in whatever order they end;
a setting gives the same figures in whatever grid it stands; and more replications begin with the same ones.

References
----------
.. [1] Salmon et al. (2011), "Parallel random numbers: as easy as 1, 2, 3" (Philox4x64-10).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from medgauge_lib.parallel import Workers, run

if TYPE_CHECKING:
    from medgauge_lib.progress import Progress

BLOCK = 250
"""Replications of a block; the last one of a setting may have fewer."""

Setting = TypeVar("Setting")

Tally = Mapping[Any, int]
"""What a block counted: integers, which are added over blocks."""


class Stream:
    """Random words of one block: Philox4x64-10 [1]_ with key (seed, study and setting), from block · 2^192.

    Parameters
    ----------
    seed : int
        0 ≤ seed < 2^64.
    study : str
        Name of the study.
    setting : object
        Shown by `repr` with every value it has.
    number : int
        Of the block.

    Examples
    --------
    >>> Stream(1, "coverage", (10, 0.5), 0).words(2, 3).shape
    (2, 3)
    """

    def __init__(self, seed: int, study: str, setting: object, number: int) -> None:
        if not 0 <= seed < 2**64:
            raise ValueError(f"seed must lie in 0..2^64 - 1, but got {seed}")
        digest = hashlib.sha256(f"{study} {setting!r}".encode()).digest()
        # The resamples of intervals have key (seed, 0): a digest of 0 would draw them again.
        apart = int.from_bytes(digest[:8], "little") or 1
        self._philox = np.random.Philox(
            key=np.array([seed, apart], np.uint64), counter=np.array([0, 0, 0, number], np.uint64)
        )

    def words(self, *shape: int) -> npt.NDArray[np.int64]:
        """Next words, the high 32 bits of each: integers in 0..2^32 − 1, in rows first order."""
        words = self._philox.random_raw(int(np.prod(shape)))
        words >>= np.uint64(32)
        return words.view(np.int64).reshape(shape)


@dataclass(frozen=True)
class Block(Generic[Setting]):
    """One piece of work: so many replications of one setting.

    Attributes
    ----------
    study : str
        Name of the study.
    setting : object
        What is simulated.
    seed : int
        Of the study.
    number : int
        Of the block in its setting, 0-based.
    size : int
        Replications.
    """

    study: str
    setting: Setting
    seed: int
    number: int
    size: int

    def stream(self) -> Stream:
        """The block's own stream, from its beginning."""
        return Stream(self.seed, self.study, self.setting, self.number)


@dataclass(frozen=True)
class Replications(Generic[Setting]):
    """What was counted in one setting.

    Attributes
    ----------
    setting : object
        What was simulated.
    n : int
        Replications that ended.
    tally : mapping
        Their counts; what was never counted is 0.
    """

    setting: Setting
    n: int
    tally: Counter[Any]


def replicate(
    function: Callable[[Block[Setting]], Tally],
    settings: Sequence[Setting],
    *,
    study: str,
    n_replications: int,
    seed: int,
    workers: Workers | None,
    progress: Progress | None = None,
) -> tuple[Replications[Setting], ...]:
    """Run a study: every setting, in blocks, on the workers.

    Blocks are handed out a layer at a time, the first of every setting before the second of any, so that
    where someone stops it (Ctrl-C) every setting rests on about as many replications.

    Parameters
    ----------
    function : callable
        A function of a module, which gives the tally of a block.
    settings : sequence
        Different from one another.
    study : str
        Name of the study.
    n_replications : int
        Of every setting, at least 1.
    seed : int
        0 ≤ seed < 2^64.
    workers : Workers or None
        Who does the work; where not given every core of this machine, and this process alone for one block.
    progress : Progress, optional
        Told of each block of replications that ends.

    Returns
    -------
    tuple of Replications
        In the order of the settings; with fewer replications than asked for where it was stopped.
    """
    if n_replications < 1:
        raise ValueError(f"n_replications must be at least 1, but got {n_replications}")
    starts = range(0, n_replications, BLOCK)
    blocks = [
        Block(study, setting, seed, number, min(BLOCK, n_replications - start))
        for number, start in enumerate(starts)
        for setting in settings
    ]
    if workers is None:
        workers = Workers(jobs=1) if len(blocks) == 1 else Workers()
    tallies: list[Counter[Any]] = [Counter() for _ in settings]
    done = [0] * len(settings)
    try:
        for index, tally in run(function, blocks, workers=workers, progress=progress):
            place = index % len(settings)
            tallies[place].update(tally)
            done[place] += blocks[index].size
    except KeyboardInterrupt:
        if not any(done):
            raise
    return tuple(map(Replications, settings, done, tallies))
