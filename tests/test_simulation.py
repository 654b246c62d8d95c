"""The simulation room: streams, worlds, many intervals at once, tests decided on integers, error figures."""

from __future__ import annotations

import math
import random
import statistics
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from dask_cluster import cluster
from scipy import stats

from medgauge_lib.estimators import Values
from medgauge_lib.intervals import SEED, bca, clopper_pearson, resampled_sums
from medgauge_lib.pairs import compare, holm, mcnemar_p
from medgauge_lib.parallel import Workers
from medgauge_lib.results import Absent
from medgauge_lib.simulation import blocks, worlds
from medgauge_lib.simulation.blocks import Block, Stream, replicate
from medgauge_lib.simulation.coverage import Sample, coverage, exact_coverage
from medgauge_lib.simulation.families import Family, families, judged, told_apart
from medgauge_lib.simulation.flips import FLIPS, Ladder, far_flips, flips, holm_on_flips
from medgauge_lib.simulation.montecarlo import Mean, Ratio, Share, columns
from medgauge_lib.simulation.overlap import Duel, Overlap, overlap, overlap_block, spread_at
from medgauge_lib.simulation.power import Contest, exact_power, power
from medgauge_lib.simulation.rejection import McNemar, critical_counts
from medgauge_lib.simulation.resampling import METHODS, MICRO, Bounds, bounds
from medgauge_lib.simulation.study import Study
from medgauge_lib.simulation.widths import AGAINST, Checked, widths, widths_block
from medgauge_lib.simulation.worlds import (
    LEVELS,
    UNIT,
    Rates,
    agreeing,
    discordant,
    draw_levels,
    draw_passes,
    reaching,
)

ONE = Workers(jobs=1)
ALIKE = Rates(0.8, 0.25)


def data_sets(n_tasks, denominator, n_sets=40):
    """Data sets of whole numbers, some of few values and some of one value alone."""
    rng = np.random.default_rng(n_tasks)
    x = rng.integers(0, denominator + 1, (n_tasks, n_sets))
    x[:, : n_sets // 4] = denominator * (rng.random((n_tasks, n_sets // 4)) < 0.9)
    x[:, 0] = denominator
    return x


# Streams and blocks


def test_stream_is_philox_advanced_to_its_block():
    """Block b reads the stream of its study and setting from word 4 · b · 2^192 on."""
    first, third = (Stream(7, "study", ("setting", 1), number) for number in (0, 2))
    key = first._philox.state["state"]["key"]
    for stream, number in ((first, 0), (third, 2)):
        plain = np.random.Philox(key=key)
        plain.advance(number * 2**192)
        assert stream.words(5).tolist() == (plain.random_raw(5) >> np.uint64(32)).tolist()


def test_streams_differ_by_seed_study_setting_and_block():
    """No two of them draw the same words, and none those of the resamples of intervals."""
    streams = [
        Stream(seed, study, setting, number)
        for seed, study, setting, number in product((1, 2), ("a", "b"), (Rates(0.5, 0.1), "x"), (0, 1))
    ]
    words = {tuple(stream.words(3).tolist()) for stream in streams}
    assert len(words) == len(streams)
    assert tuple((np.random.Philox(key=1).random_raw(3) >> np.uint64(32)).tolist()) not in words


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seed_outside_64_bits_is_refused(seed):
    """A seed that is no 64-bit word is a ValueError that names the range."""
    with pytest.raises(ValueError, match=r"seed must lie in 0\.\.2\^64 - 1, but got"):
        Stream(seed, "a", None, 0)


def test_no_replication_is_refused():
    """A study of no replications is a ValueError."""
    with pytest.raises(ValueError, match="n_replications must be at least 1, but got 0"):
        coverage(n_replications=0)


SAMPLES = [Sample(8, Rates(0.5, 0.2)), Sample(9, ALIKE)]


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 20 replications."""
    monkeypatch.setattr(blocks, "BLOCK", 20)


@pytest.mark.usefixtures("small_blocks")
def test_workers_change_nothing():
    """One, two and four workers give the same study to the digit."""
    one, two, four = (coverage(SAMPLES, n_replications=70, workers=Workers(jobs=n)) for n in (1, 2, 4))
    assert one == two == four
    assert one.lines == two.lines == four.lines
    assert one.n_replications == 70
    assert one.complete


class Killing:
    """Stands in for a progress, and kills a process at the third result."""

    def __init__(self, process):
        self.process, self.n_ended = process, 0

    def ended(self):
        """Count one result."""
        self.n_ended += 1
        if self.n_ended == 3:
            self.process.kill()


@pytest.mark.usefixtures("small_blocks")
def test_a_cluster_that_loses_one_of_two_workers_changes_nothing(tmp_path):
    """A study on two workers of a cluster, one killed midway, is that of this process to the digit."""
    alone = coverage(SAMPLES, n_replications=400, workers=ONE)
    with cluster(tmp_path, 2) as running:
        killing = Killing(running.workers[0])
        workers = Workers(dask=running.address)
        found = coverage(SAMPLES, n_replications=400, workers=workers, progress=killing)
        assert killing.process.wait() != 0
    assert killing.n_ended == 40
    assert found.lines == alone.lines


@pytest.mark.usefixtures("small_blocks")
def test_order_changes_nothing(monkeypatch):
    """Results that come in any order are put together the same."""
    plain = coverage(SAMPLES, n_replications=70, workers=ONE)

    def shuffled(function, items, *, workers, progress=None):
        order = list(enumerate(items))
        random.Random(3).shuffle(order)
        return ((index, function(item)) for index, item in order)

    monkeypatch.setattr(blocks, "run", shuffled)
    assert coverage(SAMPLES, n_replications=70, workers=ONE).lines == plain.lines


def test_a_setting_is_the_same_in_any_grid():
    """What else is simulated does not move a setting's figures."""
    alone = coverage(SAMPLES[1:], n_replications=30, workers=ONE)
    assert coverage(SAMPLES, n_replications=30, workers=ONE).lines[5:] == alone.lines


@pytest.mark.usefixtures("small_blocks")
def test_stopped_study_keeps_what_ended(monkeypatch):
    """Ctrl-C leaves the replications that ended, the same as a shorter study has, and says how many."""

    def stopped(function, items, *, workers, progress=None):
        for index, item in enumerate(items):
            if index == 5:
                raise KeyboardInterrupt
            yield index, function(item)

    shorter = coverage(SAMPLES, n_replications=40, workers=ONE)
    monkeypatch.setattr(blocks, "run", stopped)
    found = coverage(SAMPLES, n_replications=100, workers=ONE)
    assert (found.n_replications, found.asked, found.complete) == (40, 100, False)
    assert found.lines[5:] == shorter.lines[5:]  # the second setting, whose third block never began
    assert found.to_frame()["n_replications"].tolist() == [60] * 5 + [40] * 5


@pytest.mark.usefixtures("small_blocks")
def test_study_stopped_at_once_is_stopped(monkeypatch):
    """Ctrl-C before anything ended goes on to the caller."""

    def stopped(function, items, *, workers, progress=None):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(blocks, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        coverage(SAMPLES, n_replications=40, workers=ONE)


@pytest.mark.usefixtures("small_blocks")
def test_settings_that_never_began_have_no_figures(monkeypatch):
    """A setting of which no block ended has absent figures, in a table missing values."""

    def stopped(function, items, *, workers, progress=None):
        yield 0, function(items[0])
        raise KeyboardInterrupt

    monkeypatch.setattr(blocks, "run", stopped)
    found = coverage(SAMPLES, n_replications=40, workers=ONE)
    assert found.n_replications == 0
    assert isinstance(found.lines[5].covered.value, Absent)
    assert found.to_frame().loc[5:, ["coverage", "coverage_se", "width"]].isna().all(axis=None)


# Worlds


@pytest.mark.parametrize(("mean", "spread"), [(0.5, 0.2), (0.9, 0.1), (0.3, 0.3), (0.75, 0.4)])
def test_levels_are_quantiles_of_the_beta_distribution(mean, spread):
    """Levels are SciPy's Beta quantiles at the middles, and keep mean and spread to a thousandth."""
    rates = Rates(mean, spread)
    both = mean * (1 - mean) / spread**2 - 1
    shares = rates.levels / UNIT
    for k in (0, 17, 512, 1023):
        reference = stats.beta.ppf((k + 0.5) / LEVELS, mean * both, (1 - mean) * both)
        assert shares[k] == pytest.approx(reference, abs=2 / UNIT)
    assert float(rates.power(1)) == pytest.approx(mean, abs=1e-3)
    assert statistics.pstdev(shares.tolist()) == pytest.approx(spread, abs=1e-3)


@pytest.mark.parametrize("mean", [1e-6, 0.1, 0.5, 1 - 1e-6])
@pytest.mark.parametrize("part", [0.0, 0.5, 1 - 1e-9])
def test_every_allowed_spread_has_levels(mean, part):
    """From the least spread to just below the largest, levels are finite and lie in 0..1."""
    largest = math.sqrt(mean * (1 - mean))
    levels = Rates(mean, 1e-4 + part * (largest - 1e-4)).levels / UNIT
    assert 0 <= levels.min() <= levels.max() <= 1


def test_rates_without_quantiles_are_refused(monkeypatch):
    """Where the quantiles of a distribution cannot be computed its rates are refused, never made of NaN."""
    monkeypatch.setattr(worlds, "betaincinv", lambda a, b, p: np.full(len(p), np.nan))
    with pytest.raises(ValueError, match=r"mean of 0\.123 and a spread of 0\.0456 have no finite quantiles"):
        Rates(0.123, 0.0456)


def test_power_of_rates_is_a_moment():
    """The third power is the mean of the cubes of the levels, exact."""
    levels = [Fraction(level, UNIT) for level in Rates(0.6, 0.2).levels.tolist()]
    assert Rates(0.6, 0.2).power(3) == sum(level**3 for level in levels) / LEVELS


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Rates(95, 0.1), "mean must lie in 0..1, but got 95; write 0.95 for 95 %"),
        (lambda: Rates(0.5, 0.5), r"below sqrt\(mean \(1 - mean\)\) = 0.5 for a mean of 0.5, but got 0.5"),
        (lambda: Rates(0.5, -0.1), "spread must be 0, or at least 0.0001 and below"),
        (lambda: Rates(0.5, 1e-9), r"spread must be 0, or at least 0.0001 and below .* but got 1e-09"),
        (lambda: Rates(0.5, 1e-300), r"spread must be 0, or at least 0.0001 and below .* but got 1e-300"),
        (lambda: Rates(0.5, math.nan), r"spread must be 0, or at least 0.0001 and below .* but got nan"),
        (lambda: reaching(0.5, 1e-9), "spread must be 0, or at least 0.0001 and below 0.5, but got 1e-09"),
        (lambda: reaching(0.999, 0.3), "pass_pow_3 must lie in .* for a spread of 0.3, but got 0.999"),
        (lambda: reaching(0.5, 0.7), "spread must be 0, or at least 0.0001 and below 0.5, but got 0.7"),
        (lambda: agreeing(0.5, 1.5), "agreement must lie in 0..1, but got 1.5"),
        (lambda: Contest(ALIKE, ALIKE, 0), "n_tasks must lie in 1..2,000, but got 0"),
        (lambda: Contest(ALIKE, ALIKE, 9, Fraction(2)), "alpha must lie strictly between 0 and 1, but got 2"),
        (lambda: discordant(ALIKE, ALIKE, correlation=2), "correlation must lie in 0..1, but got 2"),
        (lambda: Family(1, 9, ALIKE, ALIKE), "n_rows must be at least 2"),
        (lambda: Ladder(1), "n_rows must be at least 2"),
        (lambda: McNemar(0), "n_tasks must be at least 1, but got 0"),
    ],
)
def test_impossible_worlds_are_refused(make, message):
    """An argument outside its range is a ValueError that names it, the rule and the value."""
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(("target", "spread"), [(0.5, 0.2), (0.9, 0.1), (0.2, 0.0)])
def test_reaching_gives_the_asked_pass_pow_3(target, spread):
    """The mean is found whose pass^3 is the one asked for."""
    assert float(reaching(target, spread).power(3)) == pytest.approx(target, abs=1e-6)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 1.0])
def test_correlation_is_the_rank_correlation(correlation):
    """Levels of two rows have the rank correlation asked for, within four standard errors."""
    levels = draw_levels(
        Stream(1, "x", correlation, 0), n_tasks=4000, n_rows=2, n_sets=1, correlation=correlation
    )
    found = stats.spearmanr(levels[0, :, 0], levels[0, :, 1]).statistic
    assert abs(found - correlation) <= 4 / math.sqrt(4000) * (1 - correlation)


def test_drawn_passes_have_the_moments_of_their_rates():
    """Shares of tasks passed three times, and of passing runs, lie within four standard errors."""
    passes = draw_passes(Stream(1, "x", None, 0), (ALIKE,), n_tasks=5000, n_sets=1)
    for found, k in (((passes == 3).mean(), 3), (passes.mean() / 3, 1)):
        true = float(ALIKE.power(k))
        assert abs(found - true) <= 4 * math.sqrt(true * (1 - true) / 5000)


# Intervals of many data sets


@pytest.mark.parametrize(("n_tasks", "denominator"), [(2, 3), (5, 1), (13, 60), (50, 3)])
def test_many_bounds_are_those_of_bca_to_the_digit(n_tasks, denominator):
    """Each simulated BCa interval is the one a board has for the same data set, or is absent like it."""
    x = data_sets(n_tasks, denominator)
    sums = resampled_sums(x, seed=SEED)
    found = bounds(x, denominator, seed=SEED)["bca_half"]
    for k in range(x.shape[1]):
        board = bca(x[:, k], sums[k], denominator, seed=SEED)
        assert bool(found.defined[k]) == bool(board)
        if board:
            assert (found.low[k] / MICRO, found.high[k] / MICRO) == (board.low, board.high)


def test_many_bounds_are_those_of_scipy():
    """SciPy's BCa, given the same resampled sums, has the same bounds."""
    x = data_sets(20, 3, 12)
    sums = resampled_sums(x, seed=SEED)
    found = bounds(x, 3, seed=SEED)["bca_half"]
    assert found.defined.sum() > 8
    for k in np.flatnonzero(found.defined):
        column = x[:, k].astype(float)
        given = stats.bootstrap((column,), np.sum, n_resamples=9, method="percentile")
        given.bootstrap_distribution = sums[k].astype(float)
        reference = stats.bootstrap(
            (column,), np.sum, n_resamples=0, method="BCa", bootstrap_result=given
        ).confidence_interval
        assert found.low[k] / MICRO == round(reference.low / 60, 6)
        assert found.high[k] / MICRO == round(reference.high / 60, 6)


@pytest.mark.parametrize("method", ["bca_strict", "bca_uncorrected", "percentile"])
def test_other_rules_by_definition(method):
    """The rules that the method does not use are what their names say, worked out for each data set."""
    normal = statistics.NormalDist()
    x = data_sets(11, 3, 16)
    sums = resampled_sums(x, seed=SEED)
    found = bounds(x, 3, seed=SEED)[method]
    for k in range(x.shape[1]):
        below = int((sums[k] < x[:, k].sum()).sum())
        if len(set(x[:, k])) == 1 or (method == "bca_strict" and not below):
            assert not found.defined[k]
            continue
        shares = (0.025, 0.975)
        if method != "percentile":
            z0 = normal.inv_cdf(below / 10_000) if method == "bca_strict" else 0.0
            d = x[:, k] - x[:, k].mean()
            a = (d**3).sum() / (6 * (d**2).sum() ** 1.5)
            shares = [normal.cdf(z0 + (z0 + z) / (1 - a * (z0 + z))) for z in (-1.959964, 1.959964)]
        expected = np.quantile(sums[k], shares) / 33
        assert [found.low[k] / MICRO, found.high[k] / MICRO] == pytest.approx(expected, abs=2e-6)


def test_chunks_change_nothing(monkeypatch):
    """How many data sets are counted at a time does not move a bound."""
    x = data_sets(7, 3)
    whole = bounds(x, 3, seed=1)
    monkeypatch.setattr("medgauge_lib.simulation.resampling._CHUNK", 30_000)
    parts = bounds(x, 3, seed=1)
    for method in METHODS:
        assert parts[method].low.tolist() == whole[method].low.tolist()
        assert parts[method].high.tolist() == whole[method].high.tolist()


def test_coverage_is_decided_on_integers():
    """A bound that equals the true value covers it; one a millionth beside it does not."""
    low = np.array([333_333, 333_334, 0, 0, 0])
    high = np.array([500_000, 500_000, 333_333, 333_334, 0])
    defined = np.array([True, True, True, True, False])
    expected = {"covered": 2, "too_low": 1, "too_high": 1, "undefined": 1}
    assert Bounds(low, high, defined).coverage(Fraction(1, 3)) == expected
    exactly = Bounds(np.array([250_000]), np.array([250_000]), np.array([True]))
    assert exactly.coverage(Fraction(1, 4))["covered"] == 1


# Tests decided on integers


@pytest.mark.parametrize("alpha", [Fraction(1, 20), Fraction(1, 20) / 703, Fraction(3, 4)])
def test_critical_counts_by_definition(alpha):
    """The table holds the largest count whose exact p is at most alpha, for every number of tasks."""
    for m, found in enumerate(critical_counts(60, alpha).tolist()):
        rejected = [k for k in range(m // 2 + 1) if mcnemar_p(k, m - k) <= alpha]
        assert found == max(rejected, default=-1)


def test_ranks_are_in_the_order_of_p():
    """Ranks of the exact p-values sort as they do, equal p having equal rank, and the limit cuts at alpha."""
    test = McNemar(25)
    counts = [(k, m - k) for m in range(26) for k in range(m // 2 + 1)]
    ranks = test.ranks(*np.array(counts).T)
    p_values = [mcnemar_p(*pair) for pair in counts]
    order = sorted(set(p_values) - {Fraction(1)})
    for p, rank in zip(p_values, ranks.tolist(), strict=True):
        assert (rank < test.limit(Fraction(1, 20))) == (p <= Fraction(1, 20))
        if p < 1:
            assert order.index(p) == rank


def test_holm_is_that_of_a_board():
    """Holm on ranks rejects what Holm on exact fractions rejects."""
    rng = np.random.default_rng(5)
    n_tasks, n_pairs = 40, 15
    b = rng.binomial(20, rng.random((30, n_pairs)))
    c = rng.binomial(20, rng.random((30, n_pairs)) / 3)
    test = McNemar(n_tasks)
    found = test.holm(test.ranks(b, c))
    for k in range(30):
        adjusted = holm([mcnemar_p(int(x), int(y)) for x, y in zip(b[k], c[k], strict=True)])
        assert found[k].tolist() == [p <= Fraction(1, 20) for p in adjusted]
    assert 0 < found.sum() < found.size


def test_judged_pairs_are_those_of_a_board():
    """Holm's verdicts are those of `compare`, and overlap is that of the board's intervals."""
    family = Family(5, 30, ALIKE, Rates(0.4, 0.2))
    passed = draw_passes(Stream(3, "x", family, 0), family.rows, n_tasks=30, n_sets=4, correlation=0.5) == 3
    verdicts = judged(passed)
    pairs = list(combinations(range(5), 2))
    for k, board in enumerate(passed):
        names = tuple("vwxyz")
        differing = compare(Values("pass_pow_3", names, board.astype(int), 1)).differing
        intervals = [clopper_pearson(int(x), 30) for x in board.sum(axis=0)]
        for pair, (i, j) in enumerate(pairs):
            assert verdicts["holm"][k, pair] == (frozenset((names[i], names[j])) in differing)
            one, other = intervals[i], intervals[j]
            assert verdicts["overlap"][k, pair] == (one.low > other.high or other.low > one.high)
    assert verdicts["holm"].any()


def test_holm_on_flips_is_holm():
    """Holm on counts of flips rejects what Holm on their fractions rejects."""
    rng = np.random.default_rng(2)
    far = np.minimum(rng.geometric(0.01, (40, 12)) - 1, 501)
    found = holm_on_flips(far)
    for k in range(40):
        adjusted = holm([Fraction(1 + int(count), 1 + FLIPS) for count in far[k]])
        assert found[k].tolist() == [p <= Fraction(1, 20) for p in adjusted]
    assert 0 < found.sum() < found.size


def test_far_flips_are_binomial_draws():
    """The number of flips is SciPy's binomial quantile of the word, cut above 500."""
    rng = np.random.default_rng(9)
    b, c = rng.integers(0, 15, (3, 50)), rng.integers(0, 15, (3, 50))
    words = rng.integers(0, 2**32, (3, 50))
    found = far_flips(McNemar(30).ranks(b, c), words, n_tasks=30)
    for place in np.ndindex(3, 50):
        p = float(mcnemar_p(int(b[place]), int(c[place])))
        quantile = stats.binom.ppf((words[place] + 0.5) / 2**32, FLIPS, p)
        assert found[place] == min(quantile, 501)


# Monte Carlo error


def test_mean_has_the_error_of_the_sample():
    """Mean and standard error from sums are those of the statistics module."""
    values = [3, 1, 4, 1, 5, 9, 2, 6]
    mean = Mean(sum(values), sum(v * v for v in values), len(values), denominator=10)
    assert float(mean) == pytest.approx(statistics.mean(values) / 10)
    assert mean.standard_error == pytest.approx(statistics.stdev(values) / math.sqrt(8) / 10)


def test_ratio_has_the_error_of_its_residuals():
    """The error of a ratio is that of the mean residual a − r b, over the mean of b."""
    a, b = [3, 1, 4, 1, 5], [2, 7, 1, 8, 2]

    def mean(values):
        return Mean(sum(values), sum(v * v for v in values), 5)

    ratio = Ratio(mean(a), mean(b), sum(x * y for x, y in zip(a, b, strict=True)))
    r = 14 / 20
    residuals = [x - r * y for x, y in zip(a, b, strict=True)]
    assert float(ratio) == r
    assert ratio.standard_error == pytest.approx(statistics.stdev(residuals) / math.sqrt(5) / 4)


def test_share_never_looks_certain():
    """A share of all replications has no standard error, and an exact interval that says so."""
    found = columns("x", Share(20, 20))
    assert (found["x"], found["x_se"], found["x_high"]) == (1, 0, 1)
    assert found["x_low"] == pytest.approx(0.025 ** (1 / 20))


@pytest.mark.parametrize("figure", [Share(0, 0), Mean(0, 0, 0), Ratio(Mean(0, 0, 0), Mean(0, 0, 0), 0)])
def test_figure_of_no_replication_is_absent(figure):
    """Without replications there is neither a value nor an error."""
    assert isinstance(figure.value, Absent)
    assert isinstance(figure.standard_error, Absent)
    assert set(columns("x", figure).values()) == {None}


def test_one_replication_has_no_error():
    """The error of a mean needs two replications."""
    assert isinstance(Mean(1, 1, 1).standard_error, Absent)
    assert isinstance(Ratio(Mean(1, 1, 1), Mean(1, 1, 1), 1).standard_error, Absent)


# Studies against exact values


@pytest.mark.parametrize(("n", "p"), [(5, 0.3), (20, 0.7), (13, 0.95)])
def test_exact_coverage_by_fractions(n, p):
    """Coverage of Clopper–Pearson is the sum of the probabilities of the numbers whose interval holds p."""
    share = Fraction(p)
    total = Fraction(0)
    for x in range(n + 1):
        interval = stats.binomtest(x, n).proportion_ci(0.95, "exact")
        if interval.low <= p <= interval.high:
            total += math.comb(n, x) * share**x * (1 - share) ** (n - x)
    assert exact_coverage(n, p) == pytest.approx(float(total), abs=1e-12)
    assert exact_coverage(n, p) >= 0.95


def test_simulated_coverage_is_the_exact_one():
    """Simulated coverage of Clopper–Pearson lies within four standard errors of the exact one."""
    samples = [Sample(n, agreeing(mean, 0.3)) for n, mean in product((10, 40), (0.6, 0.9))]
    for line in coverage(samples, n_replications=750, workers=ONE).lines[4::5]:
        assert line.method == "clopper_pearson"
        assert abs(float(line.covered) - line.exact) <= 4 * math.sqrt(line.exact * (1 - line.exact) / 750)


def test_coverage_counts_every_data_set_once():
    """Covered, too low, too high and undefined add up to the replications, for every method."""
    for line in coverage([Sample(5, Rates(0.9, 0.2))], n_replications=300, workers=ONE).lines:
        assert line.covered.count + line.too_low + line.too_high + line.undefined.count == 300
        assert line.undefined.n == 300
        assert line.covered.n == 300 - line.undefined.count
        assert (line.undefined.count > 0) == (line.method != "clopper_pearson")


def test_more_replications_begin_with_the_same():
    """A longer study counts at least what a shorter one of whole blocks counts."""
    short, long = (coverage(SAMPLES[:1], n_replications=n, workers=ONE) for n in (250, 400))
    for one, other in zip(short.lines, long.lines, strict=True):
        assert 0 <= other.covered.count - one.covered.count <= 150


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_exact_power_by_enumeration(correlation):
    """Power is the sum over all pairs of counts whose exact p is at most alpha of their probability."""
    a, b = Rates(0.9, 0.2), Rates(0.6, 0.3)
    for_a, for_b = discordant(a, b, correlation=correlation)
    alpha, n = Fraction(1, 20), 12
    total = sum(
        math.comb(n, x) * math.comb(n - x, y) * for_a**x * for_b**y * (1 - for_a - for_b) ** (n - x - y)
        for x in range(n + 1)
        for y in range(n + 1 - x)
        if mcnemar_p(x, y) <= alpha
    )
    assert exact_power(Contest(a, b, n, alpha, correlation)) == pytest.approx(float(total), abs=1e-12)


def test_simulated_power_is_the_exact_one():
    """Simulated power lies within four standard errors of the exact one, with and without correlation."""
    a, b = reaching(0.7, 0.2), reaching(0.45, 0.2)
    for correlation, alpha in ((0.0, 0.05), (0.7, Fraction(1, 20) / 45)):
        study = power(
            *(a, b), n_tasks=(20, 60), alpha=alpha, correlation=correlation, n_replications=750, workers=ONE
        )
        for line in study.lines:
            assert line.pass_pow_3[0] == a.power(3)
            error = math.sqrt(line.exact * (1 - line.exact) / 750)
            assert abs(float(line.shown) - line.exact) <= 4 * error


def test_rows_that_never_differ_have_no_power():
    """Two rows that pass everything have no discordant task."""
    sure = Rates(1.0, 0.0)
    assert exact_power(Contest(sure, sure, 50)) == 0
    assert float(power(sure, sure, n_tasks=50, n_replications=20, workers=ONE).lines[0].shown) == 0


def test_family_of_two_alike_errs_as_often_as_the_exact_test():
    """With two rows the family-wise error of Holm is the size of the exact test, known by enumeration."""
    found = families([Family(2, 40, ALIKE, ALIKE, 0.5)], n_replications=1500, workers=ONE)
    exact = exact_power(Contest(ALIKE, ALIKE, 40, correlation=0.5))
    by_name = {line.procedure: line for line in found.lines}
    assert by_name["holm"].error == by_name["unadjusted"].error
    assert abs(float(by_name["holm"].error) - exact) <= 4 * math.sqrt(exact * (1 - exact) / 1500)
    assert isinstance(by_name["holm"].found.value, Absent)


def test_the_odd_row_of_two_levels_is_on_the_first():
    """Five rows on two levels are three and two, as the assumption of the study says."""
    lower = Rates(0.2, 0.1)
    assert Family(5, 9, ALIKE, lower).rows == (ALIKE, ALIKE, ALIKE, lower, lower)
    study = families([Family(2, 9, ALIKE, lower)], n_replications=20, workers=ONE)
    assert "half of its rows each, the odd one on the first." in study.assumptions[-1]


def test_two_rows_that_differ_have_no_family_wise_error():
    """With no two rows alike the error is absent, with its reason in the table, and never 0."""
    found = families([Family(2, 9, ALIKE, Rates(0.2, 0.1))], n_replications=20, workers=ONE)
    frame = found.to_frame()
    for line in found.lines:
        assert line.error == Share(0, 0)
        assert isinstance(line.error.value, Absent)
        assert line.found.n == line.n_replications == 20
    assert frame[["error", "error_se", "error_low"]].isna().all(axis=None)
    assert set(frame["error_reason"]) == {"no two rows are alike"}
    assert set(frame["n_replications"]) == {20}
    alike = families([Family(2, 9, ALIKE, ALIKE)], n_replications=20, workers=ONE).to_frame()
    assert set(alike["error_reason"]) == {""}
    assert set(alike["found_reason"]) == {"no two rows differ"}


@pytest.mark.parametrize("correlation", [0.0, 0.5])
@pytest.mark.parametrize(("first", "rest"), [(ALIKE, Rates(0.4, 0.2)), (Rates(1.0, 0.0), Rates(0.3, 0.0))])
def test_two_rows_are_told_apart_as_often_as_all_their_tables_say(first, rest, correlation):
    """The exact value of overlap is the sum over all tables of two rows whose intervals are disjoint."""
    family = Family(2, 12, first, rest, correlation)
    a, b = discordant(first, rest, correlation=correlation)
    both = first.power(3) - a
    neither = 1 - both - a - b
    total = Fraction(0)
    for x, y, z in product(range(13), repeat=3):
        if x + y + z <= 12:
            one, other = clopper_pearson(x + y, 12), clopper_pearson(x + z, 12)
            if one.low > other.high or other.low > one.high:
                ways = math.comb(12, x) * math.comb(12 - x, y) * math.comb(12 - x - y, z)
                total += ways * both**x * a**y * b**z * neither ** (12 - x - y - z)
    assert told_apart(family, "overlap") == pytest.approx(float(total), abs=1e-12)
    assert total > 0


def test_two_simulated_rows_are_told_apart_as_often_as_is_exact():
    """Each procedure tells two rows apart as often as its exact value says, within four standard errors."""
    boards = [Family(2, 50, Rates(0.8, 0.25), rest) for rest in (Rates(0.6, 0.3), Rates(0.8, 0.25))]
    for line in families(boards, n_replications=1000, workers=ONE).lines:
        figure = line.found if line.found.n else line.error
        assert abs(float(figure) - line.exact) <= 4 * math.sqrt(line.exact * (1 - line.exact) / 1000)
    assert families([Family(3, 9, ALIKE, ALIKE)], n_replications=9, workers=ONE).lines[0].exact is None


def test_two_levels_find_what_the_exact_test_finds():
    """Without adjustment the share of real differences found is the exact power of one pair."""
    first, rest = Rates(0.9, 0.2), Rates(0.6, 0.3)
    found = families([Family(4, 40, first, rest, 0.5)], n_replications=500, workers=ONE)
    unadjusted = found.lines[1]
    exact = exact_power(Contest(first, rest, 40, correlation=0.5))
    assert abs(float(unadjusted.found) - exact) <= 4 * unadjusted.found.standard_error
    assert found.lines[0].found.value < unadjusted.found.value


def test_overlap_is_counted_on_the_intervals_of_a_board():
    """Each data set of a block has the verdict that `bca` of its scores gives."""
    duel = Duel(Rates(0.75, 0.13), Rates(0.66, 0.13), correlation=0.4)
    block = Block("overlap", duel, SEED, 0, 25)
    levels = draw_levels(block.stream(), n_tasks=13, n_rows=2, n_sets=25, correlation=0.4)
    merged = held = covered = 0
    for one in levels:
        scores = [
            np.array([round(Fraction(int(row.levels[level]) * 60, UNIT)) for level in one[:, k]])
            for k, row in enumerate((duel.ahead, duel.behind))
        ]
        sums = resampled_sums(np.stack(scores, axis=1), seed=SEED)
        first, second = (bca(x, total, 60, seed=SEED) for x, total in zip(scores, sums, strict=True))
        merged += first.low <= second.high and second.low <= first.high
        paired = bca(scores[0] - scores[1], sums[0] - sums[1], 60, seed=SEED)
        held += paired.low <= 0 <= paired.high
        covered += paired.low <= float(duel.difference) <= paired.high
    tally = {"both": 25, "merged": merged, "compared": 25, "held": held, "covered": covered}
    assert overlap_block(block) == tally
    assert 0 < held < merged < 25
    assert held < covered < 25


def test_rows_that_find_tasks_alike_are_merged_more_near_84_percent_and_less_at_a_small_spread():
    """Correlation makes overlap merge more at a spread of 0.15, less at 0.05; pairing merges less at both."""
    duels = [
        Duel(Rates(0.75, spread), Rates(0.66, spread), correlation=correlation)
        for spread in (0.05, 0.15)
        for correlation in (0.0, 0.8)
    ]
    lines = overlap(duels, n_replications=200, workers=ONE).lines
    small, small_alike, large, large_alike = (float(line.merged) for line in lines)
    assert small > small_alike
    assert large < large_alike
    small, small_alike, large, large_alike = (float(line.paired) for line in lines)
    assert small > small_alike
    assert large > large_alike


def test_overlap_merges_84_percent_near_a_spread_of_0_13():
    """13 tasks and 0.09: overlap merges 84 % near the spread of 0.13 where the rows are somewhat alike."""
    rows = [(Rates(0.75, spread), Rates(0.66, spread)) for spread in (0.11, 0.15)]
    study = overlap([Duel(*pair, correlation=0.4) for pair in rows], n_replications=500, workers=ONE)
    assert abs(float(study.lines[0].duel.difference) - 0.09) < 1e-3
    assert 0.11 < spread_at(study, 0.84, correlation=0.4) < 0.15


def test_spread_is_read_off_the_straight_line():
    """Between 0.1 with half merged and 0.2 with all merged, three quarters are merged at 0.15."""
    lines = tuple(
        Overlap(Duel(Rates(0.7, spread), Rates(0.6, spread)), Share(count, 10), *[Share(0, 10)] * 2)
        for spread, count in ((0.2, 10), (0.1, 5))
    )
    study = Study("overlap", (), 1, 10, 10, lines)
    assert spread_at(study, 0.75) == pytest.approx(0.15)
    assert isinstance(spread_at(study, 0.25), Absent)
    assert isinstance(spread_at(study, 0.75, correlation=0.5), Absent)


def test_widths_are_those_of_the_intervals_of_a_board():
    """Sums of widths over a block are those of `bca` and `clopper_pearson` on the same data sets."""
    checked = Checked(Rates(0.8, 0.15), n_tasks=12, n_checkpoints=3)
    block = Block("widths", checked, SEED, 0, 15)
    stream = block.stream()
    rates = checked.rates.levels[stream.words(15, 12, 1) >> 22]
    points = np.stack([(stream.words(15, 12, 3) < rates).sum(axis=2) for _ in range(3)])
    total = {name: [0, 0] for name in AGAINST}
    for k in range(15):
        score, passes = points[:, k].sum(axis=0), (points[:, k] == 3).sum(axis=0)
        wide = bca(score, resampled_sums(score[:, None], seed=SEED)[0], 9, seed=SEED)
        rate = bca(passes, resampled_sums(passes[:, None], seed=SEED)[0], 3, seed=SEED)
        exact = clopper_pearson(int((passes == 3).sum()), 12)
        for name, narrow in (("task_pass_rate", rate), ("pass_pow_3", exact)):
            total[name][0] += wide.high - wide.low
            total[name][1] += narrow.high - narrow.low
    tally = widths_block(block)
    for name in AGAINST:
        assert tally[name, "n"] == 15
        sums = [tally[name, key] / MICRO for key in ("above", "below")]
        assert sums == pytest.approx(total[name], abs=15e-6)


def test_width_ratio_reverses():
    """At a low pass rate the continuous score has the wider interval, at a high one the narrower."""
    low, high = Checked(agreeing(0.5, 0.15), n_tasks=30), Checked(agreeing(0.9, 0.15), n_tasks=30)
    lines = widths([low, high], n_replications=60, workers=ONE).lines
    assert float(low.pass_rate) < 0.1 < 0.5 < float(high.pass_rate)
    for line in lines[:2]:
        assert float(line.ratio) - 4 * line.ratio.standard_error > 1
    for line in lines[2:]:
        assert float(line.ratio) + 4 * line.ratio.standard_error < 1


def test_flips_show_nothing_beyond_500_pairs():
    """32 rows have 496 pairs and can be told apart by 10,000 flips, 33 rows have 528 and cannot."""
    low, high = flips([Ladder(32), Ladder(33)], n_replications=10, workers=ONE).lines
    assert (low.floor, high.floor) == (Fraction(496, 10_001), Fraction(528, 10_001))
    assert (low.possible, high.possible) == (True, False)
    assert low.resampled.total > 0
    assert (high.resampled.total, high.silent.count) == (0, 10)
    assert high.exact.total > 0


@pytest.mark.parametrize(
    ("study", "figures"),
    [
        (lambda n: coverage(SAMPLES, n_replications=n, workers=ONE), ("coverage", "undefined", "width")),
        (
            lambda n: families([Family(3, 9, ALIKE, Rates(0.2, 0.1))], n_replications=n, workers=ONE),
            ("error", "found"),
        ),
        (
            lambda n: overlap([Duel(ALIKE, ALIKE)], n_replications=n, workers=ONE),
            ("merged", "paired", "covered"),
        ),
        (lambda n: widths([Checked(ALIKE, 9)], n_replications=n, workers=ONE), ("ratio",)),
        (lambda n: flips([Ladder(3, 20)], n_replications=n, workers=ONE), ("exact", "resampled", "silent")),
        (lambda n: power(ALIKE, ALIKE, n_tasks=9, n_replications=n, workers=ONE), ("power",)),
    ],
)
def test_every_figure_has_its_error(study, figures):
    """A study has assumptions, and a table where each simulated column stands beside its error."""
    found = study(20)
    frame = found.to_frame()
    assert found.assumptions
    assert found.complete
    assert len(frame) == len(found.lines)
    for name in figures:
        assert frame[name].notna().all()
        assert frame[f"{name}_se"].notna().all()


def test_blocks_are_dealt_a_layer_at_a_time():
    """Each setting gets its first block before any gets its second."""
    dealt = replicate(_size, ["a", "b"], study="x", n_replications=blocks.BLOCK + 1, seed=1, workers=ONE)
    assert [(one.setting, one.n, dict(one.tally)) for one in dealt] == [
        ("a", blocks.BLOCK + 1, {("a", 0): blocks.BLOCK, ("a", 1): 1}),
        ("b", blocks.BLOCK + 1, {("b", 0): blocks.BLOCK, ("b", 1): 1}),
    ]


def _size(block):
    return {(block.setting, block.number): block.size}
