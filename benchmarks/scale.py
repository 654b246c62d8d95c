"""What grows how, and what workers change: ``python -m benchmarks.scale``.

Seconds are of one machine; how they grow, and that results stay the same, travel.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import resource
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.boards import growth
from benchmarks.ratios import print_table
from medgauge_lib import demo
from medgauge_lib.parallel import Workers
from medgauge_lib.report.build import build
from medgauge_lib.simulation.coverage import Sample, coverage
from medgauge_lib.simulation.worlds import agreeing

SETTINGS = [Sample(n_tasks, agreeing(0.8, 0.5)) for n_tasks in (20, 50, 100, 200)]
REPLICATIONS = (1_000, 2_000, 4_000, 8_000)
MANY = 20_000
VERSIONS = (1, 2, 4)
LAB = "bm-demo-lab"


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    made = work()
    return time.perf_counter() - start, made


def _digest(study: Any) -> str:
    return hashlib.sha256(study.to_frame().to_csv(index=False).encode()).hexdigest()[:12]


def replications() -> Iterator[tuple[str, ...]]:
    """Time a study of four settings in this process over the number of replications."""
    yield ("coverage of 4 settings, one process", "seconds", "a thousand data sets")
    for n in REPLICATIONS:
        seconds, _ = _timed(partial(coverage, SETTINGS, n_replications=n, workers=Workers(jobs=1)))
        yield (f"{n:,} replications of each", f"{seconds:.2f}", f"{seconds * 1000 / (n * len(SETTINGS)):.3f}")


def workers() -> Iterator[tuple[str, ...]]:
    """Run one study on one process, two and four, and on a cluster whose worker is killed midway."""
    study = partial(coverage, SETTINGS, n_replications=MANY)
    yield (f"coverage of 4 settings, {MANY:,} replications of each", "seconds", "digest of the result")
    for jobs in (1, 2, 4):
        seconds, made = _timed(partial(study, workers=Workers(jobs=jobs)))
        yield (f"{jobs} processes" if jobs > 1 else "1 process", f"{seconds:.1f}", _digest(made))
    for words, kill in (("Dask, 2 workers", False), ("Dask, 2 workers, one killed midway", True)):
        with _cluster() as cluster:
            told = _Killer(cluster if kill else None)
            seconds, made = _timed(
                partial(study, workers=Workers(dask=cluster.scheduler_address), progress=told)
            )
        yield (words, f"{seconds:.1f}", _digest(made))


def _cluster() -> Any:
    from distributed import LocalCluster

    # A worker that is killed on purpose is nothing to warn of.
    return LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
    )


class _Killer:
    """Stands in for a progress: kills the first worker of a cluster at the tenth result."""

    def __init__(self, cluster: Any) -> None:
        self.cluster, self.n = cluster, 0

    def ended(self) -> None:
        """Count a result."""
        self.n += 1
        if self.n == 10 and self.cluster is not None:
            os.kill(self.cluster.workers[0].process.pid, signal.SIGKILL)


def versions() -> Iterator[tuple[str, ...]]:
    """Build the reports of several versions of the demo's smaller benchmark, and again with nothing to do."""
    yield ("versions: 20 tasks, 5 rows", "build, s", "nothing to do, s", "disk, MiB", "memory a process, MiB")
    with TemporaryDirectory() as name:
        folder = Path(name)
        demo.write(folder / "demo")
        for number in VERSIONS:
            params = [_version(folder, one) for one in range(number)]
            out = folder / f"reports-{number}"
            first, again = (_timed(partial(build, params, out=out, progress=False))[0] for _ in range(2))
            size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file()) / 2**20
            memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024  # KiB on Linux
            yield (f"{number}", f"{first:.1f}", f"{again:.2f}", f"{size:.1f}", f"{memory:.0f}")


def _version(folder: Path, number: int) -> Path:
    """Make a version of its own from the demo's records, with its params file."""
    version = f"0.{number}.0"
    records = folder / "versions" / version
    if not records.exists():
        shutil.copytree(folder / "demo" / LAB / "0.1.0", records)
        for file in records.glob("*.json"):
            record = json.loads(file.read_bytes())
            file.write_text(json.dumps(record | {"benchmark_version": version}), encoding="utf-8")
    params = folder / f"{version}.yaml"
    params.write_text(
        f'benchmark: {LAB}\nbenchmark_version: "{version}"\nrecords: {records}\n', encoding="utf-8"
    )
    return params


def main() -> None:
    """Print how boards, studies and reports grow, and what workers change."""
    # Versions first: what a child held at its peak is never told below what its parent held when it started.
    for table in (versions, growth, replications, workers):
        print_table(list(table()))
        print(flush=True)


if __name__ == "__main__":
    main()
