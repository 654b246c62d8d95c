"""Intervals recomputed without the library, by the two programs that docs/recompute/ publishes."""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from medgauge_lib.estimators import Values
from medgauge_lib.intervals import bca, resampled_sums
from medgauge_lib.pairs import compare
from medgauge_lib.results import Absent

STORED = Path(__file__).parent / "evidence" / "recompute"
PROGRAMS = Path(__file__).parents[1] / "docs" / "recompute"
CASES = [
    ("few", 3, 20260101),
    ("rates", 3, 20260101),
    ("scores", 83160, 7),
    ("differences", 3, 2**64 - 1),
    ("equal", 3, 20260101),
    ("halves", 1, 20260101),  # 128 tasks: the bounds are 5/128 and 17/128, halves of the sixth decimal
    ("huge", 3 * math.lcm(*range(1, 271)), 20260101),  # 117 digits; their cubes are beyond doubles
]


def numerators(name: str) -> np.ndarray:
    """Numerators of a stored case in ascending order of the task keys."""
    lines = (STORED / f"{name}.csv").read_text(encoding="utf-8").splitlines()[1:]
    return np.array([int(line.split(",")[1]) for line in sorted(lines)])


def printed(name: str) -> str:
    """What both programs printed for a case when it was stored."""
    return (STORED / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "denominator", "seed"), CASES)
def test_library_agrees_with_what_the_programs_printed(name, denominator, seed):
    """Estimate, z0, a and both bounds are those that R and Node printed, to the last of 6 decimals."""
    x = numerators(name)
    if name == "differences":  # a paired difference, whose sums the board takes from two rows
        ahead, behind = np.maximum(x, 0), np.maximum(-x, 0)
        values = Values("task_pass_rate", ("a", "b"), np.stack([ahead, behind], axis=1), denominator)
        interval = compare(values, seed=seed).pairs[0].interval
    else:
        interval = bca(x, resampled_sums(x[:, np.newaxis], seed=seed)[0], denominator, seed=seed)
    lines = [f"tasks {len(x)}"]
    if isinstance(interval, Absent):
        lines += ["no interval: one task, or all tasks have the same value"]
    else:
        figures = {
            "estimate": x.sum() / (len(x) * denominator),
            "z0": interval.bias,
            "a": interval.acceleration,
            "lower": interval.low,
            "upper": interval.high,
        }
        lines += [f"{figure} {value:.6f}" for figure, value in figures.items()]
    assert printed(name).splitlines() == lines


@pytest.mark.parametrize(
    ("interpreter", "program", "name", "denominator", "seed"),
    [
        (interpreter, program, *case)
        for interpreter, program in (("node", "bca1.js"), ("Rscript", "bca1.R"))
        for case in CASES
        if (program, case[0]) != ("bca1.R", "huge")  # in R the program is exact while sums stay below 2^53
    ],
)
def test_programs_print_what_is_stored(interpreter, program, name, denominator, seed):
    """A published program prints the stored figures in its own language."""
    assert shutil.which(interpreter), f"needs {interpreter} on the path; on Debian .ci/run installs it"
    command = [interpreter, PROGRAMS / program, STORED / f"{name}.csv", str(denominator), str(seed)]
    run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)
    assert (run.returncode, run.stdout) == (0, printed(name)), run.stderr


def test_page_names_the_programs():
    """The page that explains the programs shows how to run each of them on a case that is there."""
    page = (PROGRAMS.parent / "reproduce.md").read_text(encoding="utf-8")
    for line in ("node docs/recompute/bca1.js", "Rscript docs/recompute/bca1.R"):
        assert f"{line} tests/evidence/recompute/rates.csv 3 20260101" in page
    assert (STORED / "rates.csv").is_file()
