"""Work on several processes of this machine, or on a Dask cluster; the one place that knows joblib and Dask.

The caller cuts the work into items, and what an item gives depends on the item alone. So neither the number
of workers, nor the order in which they end, nor a worker that dies changes a result. Items are worth at least
some tenths of a second each: one item is one call.
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import re
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from medgauge_lib.errors import InputError
from medgauge_lib.library import library, other_than_here

if TYPE_CHECKING:
    from distributed import Client

    from medgauge_lib.progress import Progress

T = TypeVar("T")
R = TypeVar("R")

CONNECT_SECONDS = 5
"""How long to wait for a scheduler to answer, and for a first worker."""

DEATHS = 4
"""How often in a row workers may die with nothing done before the work is to blame; Dask's own number."""

_ADDRESS = re.compile(r"(?:(?:tcp|tls)://)?(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.%]+\]):[0-9]{1,5}")

_IDLE_SECONDS = 10
"""After how long a worker without work ends by itself, as it must where this process was killed."""


@dataclass(frozen=True)
class Workers:
    """Who does the work.

    Attributes
    ----------
    jobs : int or None
        Processes of this machine at most, at least 1; every core where not given. No more are started than
        have a core and an item. A cluster has as many as it has.
    dask : str or None
        Address of the scheduler of an existing Dask cluster, such as ``tcp://10.0.0.5:8786``.

    Raises
    ------
    TypeError, ValueError
        For `jobs` that is no integer of at least 1, or for `jobs` together with `dask`.

    Examples
    --------
    >>> Workers(jobs=0)
    Traceback (most recent call last):
        ...
    ValueError: jobs must be at least 1, but got 0
    """

    jobs: int | None = None
    dask: str | None = None

    def __post_init__(self) -> None:
        if self.jobs is not None and (not isinstance(self.jobs, int) or isinstance(self.jobs, bool)):
            raise TypeError(f"jobs must be an integer, but got {self.jobs!r}")
        if self.jobs is not None and self.jobs < 1:
            raise ValueError(f"jobs must be at least 1, but got {self.jobs}")
        if self.jobs is not None and self.dask is not None:
            raise ValueError("jobs counts processes of this machine; leave it out where dask is given")


def run(
    function: Callable[[T], R],
    items: Sequence[T],
    *,
    workers: Workers = Workers(),
    progress: Progress | None = None,
) -> Iterator[tuple[int, R]]:
    """Call a function on each item, and give each result as soon as it is there.

    A worker that dies has its items run again by another. Ctrl-C, or closing the iterator, ends the workers
    of this machine; what was given before stays with the caller.

    Parameters
    ----------
    function : callable
        Takes one item. It stands in a module that workers can import, and depends on nothing but the item.
    items : sequence
        What it is called on; anything that can be pickled.
    workers : Workers
        Who does it; every core of this machine where not given.
    progress : Progress, optional
        Told of each result.

    Yields
    ------
    tuple of int and object
        Place of the item in `items`, and what the function returned; rely on no order.

    Raises
    ------
    InputError
        Where the cluster cannot be used or is lost, where a worker has another medgauge, or where workers
        die again and again over the same items. Whatever the function raises comes as it is.

    Examples
    --------
    >>> sorted(run(abs, [-3, 2], workers=Workers(jobs=1)))
    [(0, 3), (1, 2)]
    """
    if not callable(function):
        raise TypeError(f"function must be callable, but got {function!r}")
    numbered = dict(enumerate(items))
    if workers.dask is None:
        found = _here(function, numbered, workers.jobs)
    else:
        found = _on_cluster(function, numbered, workers.dask)
    return found if progress is None else _told(found, progress)


def _told(found: Generator[tuple[int, R]], progress: Progress) -> Iterator[tuple[int, R]]:
    with closing(found):
        for one in found:
            progress.ended()
            yield one


def _here(function: Callable[[T], R], items: dict[int, T], jobs: int | None) -> Generator[tuple[int, R]]:
    """Run on processes of this machine; where one dies, what has not ended is run again."""
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    left, in_vain = dict(items), 0
    while left:
        before = len(left)
        # Beside this error joblib 1.6 may, rarely, end early and say nothing; what is left tells.
        with (
            suppress(TerminatedWorkerError),
            closing(_joblib(function, left, _processes(jobs, before))) as found,
        ):
            for index, result in found:
                del left[index]
                yield index, result
        in_vain = in_vain + 1 if len(left) == before else 0
        if in_vain == DEATHS:
            raise InputError(
                f"workers died {DEATHS} times over the same work, most likely for want of memory",
                "use fewer workers, or a machine with more memory",
            )


def _processes(jobs: int | None, n_items: int) -> int:
    """Say how many processes to start: no more than have a core and an item.

    Where several were asked for there are two at least, since one would be this process, which an item that
    kills its worker would end.
    """
    from joblib import cpu_count

    cores: int = cpu_count()
    return min(jobs or cores, max(2, min(cores, n_items)))


def _called(function: Callable[[T], R], numbered: tuple[int, T]) -> tuple[int, R]:
    """Call the function where the work is done, and say which item it was."""
    index, item = numbered
    return index, function(item)


def _deaf() -> None:
    """Leave Ctrl-C to the process that was asked for the work; it ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class _Left(BaseException):
    """Nobody asks for the results that are still to come."""


def _joblib(function: Callable[[T], R], items: dict[int, T], jobs: int) -> Generator[tuple[int, R]]:
    """Hand items to joblib's processes, and give what it returns."""
    from joblib import Parallel, delayed
    from joblib.parallel import LokyBackend

    # One thread of linear algebra each: as many processes as cores fill the machine.
    backend = LokyBackend(inner_max_num_threads=1, initializer=_deaf, idle_worker_timeout=_IDLE_SECONDS)
    parallel = Parallel(jobs, backend, return_as="generator_unordered", batch_size=1, max_nbytes=None)
    found = parallel([delayed(_called)(function, numbered) for numbered in items.items()])
    try:
        yield from map(tuple, found)
    except GeneratorExit:
        # Closing joblib's iterator early would warn of work that nobody needs; an error ends it the same way.
        with suppress(_Left):
            found.throw(_Left())
        raise


def _on_cluster(function: Callable[[T], R], items: dict[int, T], address: str) -> Generator[tuple[int, R]]:
    """Run on a Dask cluster, which itself runs again what a lost worker had."""
    call = partial(_called_there, function, library())
    with _client(address) as client:
        from distributed import as_completed

        for future in as_completed(client.map(call, list(items.items()), pure=False), loop=client.loop):
            yield future.result()


def _called_there(
    function: Callable[[T], R], asked: dict[str, Any], numbered: tuple[int, T]
) -> tuple[int, R]:
    """Call the function on a worker that has the same library; workers may join at any time."""
    others = list(other_than_here(asked))
    if others:
        raise InputError(
            f"a Dask worker has another library: this machine has {'; '.join(others)}", _SAME_EVERYWHERE
        )
    return _called(function, numbered)


_SAME_EVERYWHERE = "install the same medgauge, with the same requirements.lock, on every machine"


@contextmanager
def _client(address: str) -> Iterator[Client]:
    """Connect to a scheduler that answers and has workers; say what became of them where they are lost."""
    if importlib.util.find_spec("distributed") is None:
        raise InputError("--dask needs the extra 'distributed'", "pip install 'medgauge[distributed]'")
    _require_scheduler(address)
    from distributed import CancelledError, Client, KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        with (
            _unheard("distributed.client"),
            Client(address, timeout=CONNECT_SECONDS, set_as_default=False) as client,
        ):
            _require_same_library(client, address)
            yield client
    except (CancelledError, CommClosedError):  # lost between two results, or while one was on its way
        raise InputError(
            f"the Dask scheduler at {address} was lost before the work had ended",
            "start it and its workers again, and give the same command again",
        ) from None
    except KilledWorker as error:
        raise InputError(
            f"{error.allowed_failures + 1} Dask workers died over the same work, most likely for want of "
            "memory",
            "give each worker more memory; their logs say why they died",
        ) from None


@contextmanager
def _unheard(name: str) -> Iterator[None]:
    """Let a logger be silent: what the client has to say of lost workers and schedulers is said here."""
    logger = logging.getLogger(name)
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _require_scheduler(address: str) -> None:
    """Ask who answers at the address; a client would wait long, and end noisily where no scheduler does."""
    if not _ADDRESS.fullmatch(address):
        raise InputError(
            f"--dask: {address!r} is not the address of a Dask scheduler",
            "write host:port or tcp://host:port, as the scheduler prints it when it starts",
        )
    # In a thread of its own: a notebook has an event loop running already.
    with ThreadPoolExecutor(1) as thread:
        kind = thread.submit(asyncio.run, _kind_of_server(address)).result()
    if kind != "Scheduler":
        raise InputError(
            f"--dask: no Dask scheduler answers at {address}" + (f", but a {kind.lower()}" if kind else ""),
            "start one with dask scheduler, or correct the address",
        )


async def _kind_of_server(address: str) -> str:
    """Say what kind of Dask server stands at an address; nothing where none does."""
    from distributed import Security, rpc

    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            remote = rpc(address, connection_args=Security().get_connection_args("client"))
            try:
                return str((await remote.identity())["type"])
            finally:
                await remote.close_rpc()
    except Exception:  # another program's answer, read as Dask's, can fail in any way
        return ""


def _require_same_library(client: Client, address: str) -> None:
    """Hold every worker's library against this one before any work is handed out."""
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        raise InputError(
            f"--dask: the scheduler at {address} has no workers", f"start some with dask worker {address}"
        ) from None
    for place, found in (
        ("the scheduler", client.run_on_scheduler(library)),
        *((f"worker {worker}", found) for worker, found in client.run(library, on_error="return").items()),
    ):
        if isinstance(found, Exception):
            raise InputError(f"--dask: {place} has no medgauge that runs", _SAME_EVERYWHERE)
        others = list(other_than_here(found))
        if others:
            raise InputError(f"--dask: {place} has {'; '.join(others)}", _SAME_EVERYWHERE)
