"""The statistics against figures published elsewhere: R and its packages, SciPy's tests, a textbook.

Scripts that make the stored figures, with the versions they ran under, lie beside them in evidence/.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from medgauge_lib.intervals import bca, clopper_pearson, resampled_sums
from medgauge_lib.letters import groups
from medgauge_lib.pairs import holm, mcnemar_p

EVIDENCE = Path(__file__).parent / "evidence"
SEED = 20260101

AIRCONDIT = [3, 5, 7, 18, 43, 85, 91, 98, 100, 130, 230, 487]
SIXTEEN = [100, 120, 125, 125, 139, 150, 210, 220, 230, 340, 500, 810, 890, 1210, 1340, 2130]
SPATIAL = [
    48,
    36,
    20,
    29,
    42,
    42,
    20,
    42,
    22,
    41,
    45,
    14,
    6,
    0,
    33,
    28,
    34,
    4,
    32,
    24,
    47,
    41,
    24,
    26,
    30,
    41,
]


def lines_of(name: str) -> list[str]:
    """Lines of a stored output; the first one, which states the versions, is left out."""
    text = (EVIDENCE / name).read_text(encoding="utf-8")
    versions, *lines = text.splitlines()
    assert versions.startswith("# R version ")
    return lines


def binomial(kind: str) -> list[list[str]]:
    """Fields of all lines of one kind in binomial.txt."""
    found = [fields[1:] for fields in csv.reader(lines_of("binomial.txt")) if fields[0] == kind]
    assert found
    return found


def boot(name: str) -> dict[str, float]:
    """Figures of one data set in boot.txt."""
    rows = {row.pop("name"): row for row in csv.DictReader(lines_of("boot.txt"))}
    return {figure: float(value) for figure, value in rows[name].items()}


def mean_interval(x, denominator, seed):
    """BCa interval of a mean."""
    x = np.array(x)
    return bca(x, resampled_sums(x[:, np.newaxis], seed=seed)[0], denominator, seed=seed)


def variance_interval(x, seed, level):
    """BCa interval of the plug-in variance, over the same resamples.

    With S the sum and Q the sum of squares, n² times the variance is nQ − S², in integers; a task's influence
    is its squared distance from the mean.
    """
    x = np.array(x)
    n = len(x)
    sums, squares = resampled_sums(np.stack([x, x * x], axis=1), seed=seed)
    influence = (n * x - x.sum()) ** 2
    return bca(influence, n * (n * squares - sums * sums), n * n, seed=seed, level=level)


@pytest.mark.parametrize(
    ("name", "x", "denominator"), [("aircondit", AIRCONDIT, 1), ("sixteen", SIXTEEN, 10)]
)
def test_acceleration_of_a_mean_equals_r(name, x, denominator):
    """The closed form is the jackknife acceleration by R's boot::empinf, to all stored digits."""
    assert mean_interval(x, denominator, SEED).acceleration == pytest.approx(boot(name)["a"], abs=1e-10)


@pytest.mark.parametrize(
    ("name", "x", "denominator"), [("aircondit", AIRCONDIT, 1), ("sixteen", SIXTEEN, 10)]
)
def test_interval_of_a_mean_equals_r_within_monte_carlo_error(name, x, denominator):
    """Bounds lie within three standard deviations of R's boot.ci, for one seed and for the mean of 25.

    The deviation is that of a bound from 10,000 resamples, which boot.R measured; R's own bounds come from a
    million resamples and add a tenth of it. Its strict ties and its interpolation stay below that here.
    """
    expected = boot(name)
    found = np.array([(i.low, i.high) for i in (mean_interval(x, denominator, SEED + k) for k in range(25))])
    for column, bound in enumerate(("low", "high")):
        deviation = expected[f"sd_{bound}"]
        assert found[0, column] == pytest.approx(expected[bound], abs=3 * deviation)
        assert found[:, column].mean() == pytest.approx(expected[bound], abs=3 * deviation * (1 / 5 + 1 / 10))


def test_interval_of_a_mean_equals_the_one_in_scipys_tests():
    """scipy/stats/tests/test_resampling.py, test_bootstrap_against_R: boot.ci printed (32.31, 91.43).

    That interval has a million resamples; ours may be off by three deviations of a bound of 10,000.
    """
    interval = mean_interval(SIXTEEN, 10, SEED)
    assert interval.low == pytest.approx(32.31, abs=3 * boot("sixteen")["sd_low"])
    assert interval.high == pytest.approx(91.43, abs=3 * boot("sixteen")["sd_high"])


def test_interval_of_a_variance_equals_efron_and_tibshirani_1993():
    """Their table 14.2 gives the 90 % BCa interval (115.8, 259.6) of spatial test data A.

    Efron & Tibshirani (1993), "An introduction to the bootstrap". The book drew 2,000
    resamples, so its bounds have √5 times the deviation of ours; the difference may be three times the two
    together.
    """
    interval = variance_interval(SPATIAL, SEED, 0.90)
    spread = 3 * math.sqrt(1 + 5)
    assert interval.low == pytest.approx(115.8, abs=spread * boot("spatial")["sd_low"])
    assert interval.high == pytest.approx(259.6, abs=spread * boot("spatial")["sd_high"])


def test_interval_of_a_variance_equals_r_within_monte_carlo_error():
    """The mean bounds over 25 seeds lie within Monte Carlo error of R's, up to what the influences differ by.

    R takes the acceleration from the jackknife, 0.064, where the influence function gives 0.061; that alone
    moves the bounds by 0.24 and 0.30 deviations of a bound of 10,000 resamples, so a third is allowed for it.
    """
    expected = boot("spatial")
    found = [variance_interval(SPATIAL, SEED + k, 0.90) for k in range(25)]
    for bound in ("low", "high"):
        mean = np.mean([getattr(interval, bound) for interval in found])
        tolerance = expected[f"sd_{bound}"] * (3 * (1 / 5 + 1 / 10) + 1 / 3)
        assert mean == pytest.approx(expected[bound], abs=tolerance)


def test_clopper_pearson_equals_r():
    """Two-sided and one-sided bounds are those of R's binom.test on the whole grid."""
    for x, n, low, high, one_sided in binomial("interval"):
        interval = clopper_pearson(int(x), int(n))
        found = (interval.low, interval.high, interval.one_sided_low)
        assert found == pytest.approx((float(low), float(high), float(one_sided)), rel=1e-11, abs=1e-15)


def test_mcnemar_equals_r():
    """The exact p is that of R's binom.test of b against c, two-sided."""
    for b, c, p in binomial("mcnemar"):
        assert float(mcnemar_p(int(b), int(c))) == pytest.approx(float(p), rel=1e-11)


def test_holm_equals_r():
    """Adjusted p-values are those of R's p.adjust; the p-values are dyadic, so nothing is rounded."""
    families = defaultdict(list)
    for family, p, adjusted in binomial("holm"):
        families[family].append((Fraction(float(p)), Fraction(float(adjusted))))
    assert len(families) == 6
    for pairs in families.values():
        assert holm([p for p, _ in pairs]) == tuple(adjusted for _, adjusted in pairs)


def displays() -> dict[str, tuple[dict[str, str], set[frozenset[str]]]]:
    """Rows with their letters, and pairs that differ, of every example in letters.txt."""
    found: dict[str, tuple[dict[str, str], set[frozenset[str]]]] = {}
    for line in lines_of("letters.txt"):
        word, *rest = line.split()
        if word == "example":
            rows, apart = found.setdefault(rest[0], ({}, set()))
        elif word == "row":
            rows[rest[0]] = rest[1]
        else:
            apart.add(frozenset(rest))
    return found


@pytest.mark.parametrize("name", sorted(displays()))
def test_groups_are_those_of_r(name):
    """Rows that R puts under one letter form a group, and no others, on documented and on random examples.

    The packages are multcompView (multcompLetters) and multcomp (cld), which both follow
    Piepho (2004), Journal of Computational and Graphical Statistics 13:456-466.
    """
    rows, apart = displays()[name]
    by_letter = defaultdict(set)
    for row, letters in rows.items():
        for letter in letters:
            by_letter[letter].add(row)
    expected = {frozenset(members) for members in by_letter.values()}
    assert set(map(frozenset, groups(tuple(rows), apart))) == expected


def test_examples_of_letters_differ_in_size():
    """The stored displays hold three to 43 rows, the largest under 24 letters."""
    sizes = {name: (len(rows), len(set("".join(rows.values())))) for name, (rows, _) in displays().items()}
    assert sizes["judges"] == (43, 24)
    assert min(rows for rows, _ in sizes.values()) == 3
