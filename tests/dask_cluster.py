"""A real Dask scheduler and its workers on the loopback interface, started by a test and stopped by it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

HERE = "127.0.0.1"


@dataclass
class Cluster:
    """Processes of a cluster.

    Attributes
    ----------
    address : str
        Of the scheduler.
    scheduler : Popen
        The scheduler.
    workers : list of Popen
        The workers, one thread each, without a nanny: one that is killed stays dead.
    """

    folder: Path
    scheduler: subprocess.Popen[str]
    address: str
    workers: list[subprocess.Popen[str]] = field(default_factory=list)

    def start_workers(self, number: int) -> None:
        """Start some workers and wait until they are there."""
        started = [self._worker(len(self.workers) + one) for one in range(number)]
        self.workers += started
        for worker in started:
            said(worker, "Starting established connection")

    def _worker(self, number: int) -> subprocess.Popen[str]:
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", HERE]
        return _started(["worker", self.address, *options], self.folder / f"worker-{number}")


def said(process: subprocess.Popen[str], words: str) -> str:
    """Wait for a line of a process on standard error that has these words."""
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            return line
    raise AssertionError(f"ended without saying {words!r}")


@contextmanager
def cluster(folder: Path, n_workers: int, **settings: str) -> Iterator[Cluster]:
    """Start a scheduler, with settings of its own, and its workers; all are gone at the end."""
    with ExitStack() as stack:
        options = ["--host", HERE, "--port", "0", "--no-dashboard", "--dashboard-address", f"{HERE}:0"]
        scheduler = _started(["scheduler", *options], folder / "scheduler", **settings)
        stack.callback(_stop, [scheduler])
        held = Cluster(folder, scheduler, said(scheduler, "Scheduler at:").split()[-1])
        stack.callback(_stop, held.workers)
        held.start_workers(n_workers)
        yield held


def _started(words: list[str], folder: Path, **settings: str) -> subprocess.Popen[str]:
    """Start a part of the cluster that can import what stands beside the tests."""
    folder.mkdir(parents=True)
    own = {"PYTHONPATH": str(Path(__file__).parent), "DASK_TEMPORARY_DIRECTORY": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *words],
        cwd=folder,
        env=os.environ | own | settings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _stop(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        process.kill()
        process.communicate()
