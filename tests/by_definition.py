"""A second implementation of the published method, slow and by definition, from record dictionaries.

It shares no code with the library: plain loops over runs, `statistics.NormalDist` for the normal functions,
bisection for the beta quantile, and enumeration or plain sums where the library uses a closed form.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise, product
from statistics import NormalDist
from typing import Any

NORMAL = NormalDist()
RESAMPLES = 10_000
MASK = 2**64 - 1
BLOCKS = {
    "M3": "m3_efficiency",
    "M5": "m5_optimality",
    "M7": "m7_quality_control",
    "M8": "m8_exploration",
    "M9": "m9_auditability",
    "M10": "m10_robustness",
}
"""Members of a record that hold the published figures of a dimension."""


def philox(seed: int, n_words: int) -> list[int]:
    """First words of Philox4x64-10 under key (seed, 0), written from the published round function."""
    words: list[int] = []
    counter = 1
    while len(words) < n_words:
        block = [counter, 0, 0, 0]
        key = [seed, 0]
        for _ in range(10):
            first = block[0] * 0xD2E7470EE14C6C93
            second = block[2] * 0xCA5A826395121157
            block = [
                (second >> 64) ^ block[1] ^ key[0],
                second & MASK,
                (first >> 64) ^ block[3] ^ key[1],
                first & MASK,
            ]
            key = [(key[0] + 0x9E3779B97F4A7C15) & MASK, (key[1] + 0xBB67AE8584CAA73B) & MASK]
        words.extend(block)
        counter += 1
    return words[:n_words]


def void_tasks(records: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Task versions that a list or an initiative-side error makes void."""
    void = set()
    for record in records:
        for entry in record.get("voided_tasks", []):
            void.add((entry["task_key"], entry["task_version"]))
        for task in record["run_outcomes"]:
            for run in task["runs"]:
                if run["error"] and run["error"]["attribution"] in ("task", "environment"):
                    void.add((task["task_key"], task["task_version"]))
    return void


def tasks_of(record: dict[str, Any], subset: str, void: set[tuple[str, str]]) -> list[dict[str, Any]]:
    """Live tasks of one subset in ascending byte order of their keys."""
    live = [
        task
        for task in record["run_outcomes"]
        if task["subset"] == subset and (task["task_key"], task["task_version"]) not in void
    ]
    return sorted(live, key=lambda task: task["task_key"].encode())


def task_value(task: dict[str, Any], quantity: str) -> Fraction:
    """Value of one task, by definition."""
    passed = [run["pass"] for run in task["runs"]]
    if quantity == "pass_pow_3":
        return Fraction(all(passed))
    if quantity == "pass_at_3":
        return Fraction(any(passed))
    if quantity == "task_pass_rate":
        return Fraction(sum(passed), 3)
    shares = [
        Fraction(0)
        if run["veto_categories"]
        else Fraction(run["checkpoints_passed"], run["checkpoints_total"])
        for run in task["runs"]
    ]
    return sum(shares, Fraction(0)) / 3


def mean(numbers: list[Fraction]) -> Fraction:
    """Arithmetic mean."""
    return sum(numbers, Fraction(0)) / len(numbers)


def bca_inputs(numbers: list[Fraction], words: list[int]) -> tuple[float, float, list[int], int]:
    """Bias, acceleration, sorted sums of the resamples, and what a sum is divided by."""
    n = len(numbers)
    scale = math.lcm(*(number.denominator for number in numbers))
    x = [int(number * scale) for number in numbers]
    total = sum(x)
    sums = [sum(x[((words[b * n + j] >> 32) * n) >> 32] for j in range(n)) for b in range(RESAMPLES)]
    below = sum(s < total for s in sums)
    equal = sum(s == total for s in sums)
    z0 = NORMAL.inv_cdf((below + equal / 2) / RESAMPLES)
    centre = Fraction(total, n)
    cubes = sum((value - centre) ** 3 for value in x)
    squares = sum((value - centre) ** 2 for value in x)
    a = float(cubes) / (6 * float(squares) ** 1.5)
    return z0, a, sorted(sums), n * scale


def bca(numbers: list[Fraction], words: list[int], level: float = 0.95) -> tuple[float, float] | None:
    """BCa interval of a mean over tasks from the stream of words, resample by resample."""
    if len(numbers) == 1 or len(set(numbers)) == 1:
        return None
    z0, a, sums, divisor = bca_inputs(numbers, words)
    bounds = []
    for side in (NORMAL.inv_cdf((1 - level) / 2), NORMAL.inv_cdf(1 - (1 - level) / 2)):
        alpha = NORMAL.cdf(z0 + (z0 + side) / (1 - a * (z0 + side)))
        h = (RESAMPLES - 1) * alpha
        k = math.floor(h)
        upper = sums[min(k + 1, RESAMPLES - 1)]
        bounds.append(round((sums[k] + (h - k) * (upper - sums[k])) / divisor, 6))
    return bounds[0], bounds[1]


def clopper_pearson(x: int, n: int, alpha: float) -> tuple[float, float]:
    """Exact bounds by bisection on the binomial tails, two-sided at 1 − alpha."""

    def tail_from(k: int, p: Fraction) -> float:
        return math.fsum(math.comb(n, i) * float(p) ** i * (1 - float(p)) ** (n - i) for i in range(k, n + 1))

    def solve(k: int, target: float) -> float:
        low, high = 0.0, 1.0
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if tail_from(k, middle) < target else (low, middle)
        return (low + high) / 2

    lower = solve(x, alpha / 2) if x else 0.0
    upper = solve(x + 1, 1 - alpha / 2) if x < n else 1.0
    return lower, upper


def sign_flip_p(differences: list[Fraction]) -> Fraction:
    """Two-sided p by writing out every assignment of signs."""
    observed = abs(sum(differences, Fraction(0)))
    signs = list(product((-1, 1), repeat=len(differences)))
    hits = sum(abs(sum(s * d for s, d in zip(row, differences, strict=True))) >= observed for row in signs)
    return Fraction(hits, len(signs))


def convolved_sign_flip_p(differences: list[Fraction]) -> Fraction:
    """Two-sided p by counting the ways to each sum, for more differences than can be written out."""
    ways = {Fraction(0): 1}
    for difference in differences:
        added: dict[Fraction, int] = {}
        for total, n in ways.items():
            for signed in (total - difference, total + difference):
                added[signed] = added.get(signed, 0) + n
        ways = added
    observed = abs(sum(differences, Fraction(0)))
    return Fraction(sum(n for total, n in ways.items() if abs(total) >= observed), 2 ** len(differences))


def mcnemar_p(b: int, c: int) -> Fraction:
    """Two-sided exact p as twice the smaller binomial tail."""
    n = b + c
    if not n:
        return Fraction(1)
    return min(Fraction(1), 2 * sum(Fraction(math.comb(n, k), 2**n) for k in range(min(b, c) + 1)))


def holm(p_values: list[Fraction]) -> list[Fraction]:
    """Adjusted p-values, each as the maximum over all at most as large."""
    m = len(p_values)
    order = sorted(range(m), key=lambda k: p_values[k])
    stepped = [min(Fraction(1), (m - j) * p_values[k]) for j, k in enumerate(order)]
    adjusted = [Fraction(0)] * m
    for j, k in enumerate(order):
        adjusted[k] = max(stepped[: j + 1])
    return adjusted


def maximal_groups(rows: list[str], apart: set[frozenset[str]]) -> set[frozenset[str]]:
    """All maximal sets without a pair that differs, by trying every subset."""
    fitting = [
        frozenset(chosen)
        for size in range(1, len(rows) + 1)
        for chosen in combinations(rows, size)
        if not any(frozenset(pair) in apart for pair in combinations(chosen, 2))
    ]
    return {one for one in fitting if not any(one < other for other in fitting)}


def cost_per_success(tasks: list[dict[str, Any]]) -> Fraction | None:
    """Amount over three runs per passing run, averaged over tasks with a success."""
    costs = []
    for task in tasks:
        passed = sum(run["pass"] for run in task["runs"])
        if passed:
            costs.append(sum(Fraction(str(run["amount"])) for run in task["runs"]) / passed)
    return mean(costs) if costs else None


def order(
    ids: list[str],
    score: dict[str, Fraction],
    letters: dict[str, tuple[str, ...]],
    cost: dict[str, Fraction | None],
) -> list[str]:
    """Board order: pass^3, then the cost rule, one swap of neighbours in a class at a time."""
    ranked = sorted(ids, key=lambda i: (-score[i], i))
    placed = list(ranked)
    start = 0
    while start < len(placed):
        stop = start
        while stop < len(placed) and letters[placed[stop]] == letters[placed[start]]:
            stop += 1
        held = [k for k in range(start, stop) if cost[placed[k]] is not None]
        for _ in held:
            for left, right in pairwise(held):
                if cost[placed[left]] > cost[placed[right]]:
                    placed[left], placed[right] = placed[right], placed[left]
        start = stop
    return placed
