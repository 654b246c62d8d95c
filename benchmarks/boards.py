"""Boards of growing size, and the time and memory of a large one in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.made import write_set
from benchmarks.ratios import Ratio, best
from medgauge_lib.board import board
from medgauge_lib.records import read_records

LARGE = (100, 1_000)
LIMIT_MIB = 2048
ROWS = (25, 50, 100)
TASKS = (100, 200, 400)


def ratios() -> Iterator[Ratio]:
    """Hold the peak memory of reading and computing a large board against the limit."""
    with TemporaryDirectory() as folder:
        records = write_set(Path(folder) / "set", n_rows=LARGE[0], n_tasks=LARGE[1])
        run = subprocess.run(
            [sys.executable, "-m", "benchmarks.boards", records], capture_output=True, text=True, check=True
        )
    taken = json.loads(run.stdout)
    size = f"{LARGE[0]} × {LARGE[1]:,}"
    yield Ratio(
        f"peak memory of a board of {size}, against 2 GiB", taken["mib"], LIMIT_MIB, at_most=1, unit="MiB"
    )
    yield Ratio(f"board of {size}, against reading its records", taken["board"], taken["read"])


def growth() -> Iterator[tuple[str, ...]]:
    """Time the board alone over rows and tasks, as lines of a table."""
    yield ("board, seconds (times the one above)", *(f"{n_tasks} tasks" for n_tasks in TASKS))
    above: list[float] = []
    for n_rows in ROWS:
        seconds = [_board_seconds(n_rows, n_tasks) for n_tasks in TASKS]
        factors = [f" (× {s / a:.1f})" for s, a in zip(seconds, above, strict=True)] if above else [""] * 3
        yield (f"{n_rows} rows", *(f"{s:.2f}{factor}" for s, factor in zip(seconds, factors, strict=True)))
        above = seconds


def _board_seconds(n_rows: int, n_tasks: int) -> float:
    with TemporaryDirectory() as folder:
        records = read_records(write_set(Path(folder) / "set", n_rows=n_rows, n_tasks=n_tasks))
    return best(lambda: board(records), repeats=2)


def measure(records: Path) -> dict[str, float]:
    """Read and compute one board in this process, and state what it took at most."""
    start = time.perf_counter()
    found = read_records(records)
    read = time.perf_counter()
    board(found)
    done = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB on Linux
    return {"read": read - start, "board": done - read, "mib": peak / 1024}


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
