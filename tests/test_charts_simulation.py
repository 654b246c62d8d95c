"""Simulation studies drawn and said: every point with its error, and words that say what came out."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from medgauge_lib import simulation
from medgauge_lib.charts import simulation as charts
from medgauge_lib.charts.display import NBSP
from medgauge_lib.charts.simulation.series import error_words, known, measured
from medgauge_lib.intervals import clopper_pearson
from medgauge_lib.parallel import Workers
from medgauge_lib.simulation import Mean, Ratio, Share

ONE = Workers(jobs=1)
ALIKE, LOWER = simulation.Rates(0.8, 0.25), simulation.Rates(0.4, 0.25)
OPTIONS = {"n_replications": 20, "workers": ONE}


@pytest.fixture(scope="module")
def studies():
    """One small study of each kind."""
    samples = [simulation.Sample(n, rates) for n in (5, 20) for rates in (ALIKE, simulation.Rates(0.97, 0.1))]
    boards = [simulation.Family(n, 20, ALIKE, rest) for rest in (ALIKE, LOWER) for n in (2, 5)]
    duels = [
        simulation.Duel(
            simulation.Rates(0.75, spread), simulation.Rates(0.66, spread), correlation=correlation
        )
        for correlation in (0.0, 0.8)
        for spread in (0.08, 0.13)
    ]
    checked = [simulation.Checked(simulation.agreeing(mean, 0.15), n_tasks=12) for mean in (0.5, 0.9)]
    alphas = [simulation.first_step(n_rows) for n_rows in (2, 10)]
    return {
        "coverage": simulation.coverage(samples, **OPTIONS),
        "families": simulation.families(boards, **OPTIONS),
        "overlap": simulation.overlap(duels, **OPTIONS),
        "widths": simulation.widths(checked, **OPTIONS),
        "flips": simulation.flips([simulation.Ladder(n, 40) for n in (5, 38)], **OPTIONS),
        "power": simulation.power(ALIKE, LOWER, n_tasks=(10, 30), alpha=alphas, **OPTIONS),
    }


FIGURES = [
    ("coverage", charts.coverage_figure, 16),
    ("coverage", charts.undefined_figure, 4),
    ("coverage", charts.exact_figure, 8),
    ("families", charts.families_figure, 9),  # two rows on two levels have no pair that is alike
    ("families", charts.found_figure, 6),
    ("overlap", charts.overlap_figure, 8),
    ("widths", charts.widths_figure, 4),
    ("flips", charts.flips_figure, 4),
    ("power", charts.power_figure, 8),
]


drawn_figures = pytest.mark.parametrize(
    ("study", "draw", "n_points"), FIGURES, ids=[draw.__name__ for _, draw, _ in FIGURES]
)


def points(figure):
    """The data that the points of a figure are drawn from."""
    return [row for rows in figure.spec["datasets"].values() for row in rows if "series" in row]


@drawn_figures
def test_every_point_is_drawn_with_its_error(studies, study, draw, n_points):
    """A figure has a point a setting and series, inside its bar, and says that it is simulated."""
    figure = draw(studies[study])
    drawn = points(figure)
    assert len(drawn) == n_points
    for one in drawn:
        assert one["low"] <= one["value"] <= one["high"]
        assert one["shown"]
        assert one["shown_error"]
    assert figure.provenance == "simulated"
    assert "The world is simulated" in figure.caption
    assert "Bars are" in figure.caption
    assert figure.n_marks >= 2 * n_points
    assert len(figure.table)


@drawn_figures
def test_the_words_of_a_figure_name_its_ends(studies, study, draw, n_points):
    """The alternative text names every series of every panel with its first and last value."""
    figure = draw(studies[study])
    ordered = sorted(points(figure), key=lambda one: one["at"])
    assert len(ordered) == n_points
    for panel, series in {(one["panel"], one["series"]) for one in ordered}:
        shown = [one["shown"] for one in ordered if (one["panel"], one["series"]) == (panel, series)]
        _, _, said = figure.alt.partition(f"{panel}, {series}: ")
        assert said.startswith(f"{shown[0]} at ")
        assert len(shown) == 1 or f" to {shown[-1]} at " in said.partition(";")[0]


def test_points_of_the_coverage_are_those_of_the_study(studies):
    """A point's value and bar are the share of covered data sets and its exact interval."""
    lines = [line for line in studies["coverage"].lines if line.exact is None]
    drawn = points(charts.coverage_figure(studies["coverage"]))
    found = sorted((one["n_tasks"], one["value"], one["low"], one["high"]) for one in drawn)
    assert found == sorted(
        (
            line.sample.n_tasks,
            float(line.covered),
            line.covered.interval.low,
            line.covered.interval.high,
        )
        for line in lines
    )


def test_bars_of_a_share_are_exact_and_of_a_mean_two_errors():
    """Where a share has an exact interval the bar is that, and otherwise two standard errors each way."""
    share, mean = measured(Share(3, 20)), measured(Mean(6, 14, 3, 10))
    exact = clopper_pearson(3, 20)
    assert (share["low"], share["high"]) == (exact.low, exact.high)
    assert mean["high"] - mean["value"] == pytest.approx(2 * Mean(6, 14, 3, 10).standard_error)
    assert measured(Share(0, 0))["value"] is None
    assert known(0.5)["shown_error"] == "none, it is exact"


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (Share(50, 100), "±_5.0_pp"),
        (Share(1, 10**9), "±_0.1_pp"),
        (Share(7, 7), "95_% interval 59.0_to_100.0_%"),
        (Share(0, 1000), "95_% interval 0.0_to_0.4_%"),
        (Mean(0, 0, 7), "the same in all 7 replications"),
        (Ratio(Mean(6, 12, 3), Mean(3, 3, 3), 6), "the same in all 3 replications"),
        (Mean(1, 1, 1), "not estimable: one replication has no Monte Carlo error"),
    ],
)
def test_errors_are_rounded_up(figure, words):
    """An error that is there never looks like none, and none is never written as "± 0"."""
    assert error_words(figure).replace(NBSP, "_").replace(" ", "_") == words.replace(" ", "_")


def test_the_error_of_a_ratio_is_a_plain_number():
    """A ratio and its error are no percentages."""
    ratio = Ratio(Mean(6, 14, 3), Mean(3, 3, 3), products=6)
    assert measured(ratio, ratio=True)["shown"] == "2.00"
    assert error_words(ratio, ratio=True) == f"±{NBSP}0.5774"


def test_assumptions_and_replications_are_said(studies):
    """What a study rests on is said; one that was stopped says how far it came."""
    for study in studies.values():
        said = str(charts.assumption_sentences(study))
        assert "20 replications of each setting, seed 20260101." in said
        assert all(assumption in said for assumption in study.assumptions)
    stopped = replace(studies["overlap"], asked=500, n_replications=20)
    said = str(charts.assumption_sentences(stopped))
    assert said.startswith("Stopped early: at least 20 replications of each setting out of 500")


def test_overlap_says_where_84_percent_are_merged(studies):
    """The spread at which 84 % are merged is read off the study, or said not to be in it."""
    lines = []
    for line in studies["overlap"].lines:
        merged = {0.08: 8, 0.13: 10}[line.duel.ahead.spread] if line.duel.correlation else 1
        lines.append(replace(line, merged=Share(merged, 10)))
    said = str(charts.overlap_sentences(replace(studies["overlap"], lines=tuple(lines))))
    assert "at no spread of the study where the rank correlation of the rows is 0.0" in said
    assert (
        "near a spread of 0.090 where the rank correlation of the rows is 0.8" in said
    )  # a fifth of the way


def test_flips_say_their_floor(studies):
    """On 703 pairs the sentence names the floor of resampled p-values, and that nothing is shown."""
    said = str(charts.flips_sentences(studies["flips"])).replace(NBSP, " ")
    assert "703 / 10,001 = 0.0703, above 0.05: they never show any pair to differ" in said
    assert said.endswith("random flips none.")


def test_power_names_the_fewest_tasks(studies):
    """The fewest tasks tried that reach 80 % are named for each number of pairs, or that none did."""
    enough = {(30, Fraction(1, 20)): 0.81}
    lines = tuple(
        replace(line, exact=enough.get((line.contest.n_tasks, line.contest.alpha), 0.2))
        for line in studies["power"].lines
    )
    said = str(charts.power_sentences(replace(studies["power"], lines=lines))).replace(NBSP, " ")
    assert "30 tasks for 1 pair (exact 81.0 %" in said
    assert "more than were tried for 45 pairs" in said


def test_coverage_names_the_worst_setting(studies):
    """The lowest coverage of each kind of interval is named with its setting."""
    study = studies["coverage"]
    said = str(charts.coverage_sentences(study)).replace(NBSP, " ")
    worst = min(
        (line for line in study.lines if line.method == "percentile"), key=lambda line: float(line.covered)
    )
    percent = f"{100 * float(worst.covered):.1f} %"
    assert f"percentile {percent}" in said
    assert "of the data sets have no resampled interval (5 tasks, mean rate 97.0 %)" in said


def test_kinds_of_interval_are_held_apart_by_their_own_figures(studies):
    """For each number of tasks the largest gap between kinds is that of the lines, with its rate."""
    study = studies["coverage"]
    lines = [
        replace(line, covered=Share(10 + 5 * (line.method == "percentile"), 20))
        if (line.sample.n_tasks, line.sample.rates) == (20, ALIKE) and line.exact is None
        else replace(line, covered=Share(20, 20))
        for line in study.lines
    ]
    said = str(charts.coverage_sentences(replace(study, lines=tuple(lines)))).replace(NBSP, " ")
    assert "differs at most by 0.0 pp with 5 tasks (mean rate 80.0 %) and 25.0 pp with 20 tasks (mean" in said
    assert "Lowest coverage of 4 settings" in said


def boards_of(studies, **shares):
    """The study of families with shares of ten boards by procedure and number of rows."""
    lines = tuple(
        replace(
            line,
            error=Share(shares[line.procedure][line.family.n_rows], 10),
            found=Mean(*[shares[line.procedure][line.family.n_rows]] * 2, 10) if line.found.n else line.found,
        )
        for line in studies["families"].lines
    )
    return str(charts.families_sentences(replace(studies["families"], lines=lines))).replace(NBSP, " ")


def test_families_say_where_overlap_errs_and_finds_less(studies):
    """On which boards overlap errs above 5 %, and where Holm finds more, is read off the figures."""
    said = boards_of(studies, holm={2: 3, 5: 1}, unadjusted={2: 3, 5: 3}, overlap={2: 0, 5: 2})
    assert "Overlap has a simulated family-wise error above 5 % with 5 rows on 20 tasks." in said
    assert "Holm finds more of the real differences than overlap with 2 rows on 20 tasks." in said
    turned = boards_of(studies, holm={2: 0, 5: 1}, unadjusted={2: 3, 5: 3}, overlap={2: 0, 5: 0})
    assert "above 5 % with no number of rows tried on 20 tasks." in turned
    assert "than overlap with 5 rows on 20 tasks." in turned


def test_boards_above_five_percent_are_those_of_the_figure(studies):
    """Exactly the boards whose drawn error is above 5 % are named, also where more rows err less often."""
    line = next(line for line in studies["families"].lines if line.procedure == "overlap" and line.error.n)
    drawn = {(50, 38): 0, (50, 5): 51, (50, 20): 50, (50, 10): 300, (127, 20): 49, (127, 2): 0, (9, 3): 60}
    lines = tuple(
        replace(line, family=replace(line.family, n_tasks=n_tasks, n_rows=n_rows), error=Share(count, 1_000))
        for (n_tasks, n_rows), count in drawn.items()
    )
    study = replace(studies["families"], lines=lines)
    said = str(charts.families_sentences(study)).replace(NBSP, " ")
    (above,) = re.findall(r"above 5 % (.*?)\.", said)
    named = {
        (int(n_tasks), int(n_rows))
        for rows, n_tasks in re.findall(r"with ([\d, and]+) rows on (\d+) tasks", above)
        for n_rows in re.findall(r"\d+", rows)
    }
    figure = charts.families_figure(study).table
    over = figure[figure["error"] > 0.05]
    assert named == set(zip(over["n_tasks"], over["n_rows"], strict=True))
    assert above == (
        "with 3 rows on 9 tasks, with 5 and 10 rows on 50 tasks and with no number of rows tried on 127 tasks"
    )


def test_families_say_the_exact_value_of_two_rows(studies):
    """The probability that two rows are told apart stands beside the simulated share."""
    line = next(
        line
        for line in studies["families"].lines
        if line.procedure == "overlap" and line.exact is not None and line.found.n
    )
    said = str(charts.families_sentences(studies["families"])).replace(NBSP, " ")
    assert f"{100 * line.exact:.1f} % by intervals that do not overlap on 20 tasks (simulated " in said


def test_overlap_says_what_the_paired_interval_covers(studies):
    """The coverage of the paired interval is told for each correlation, as the study found it."""
    study = studies["overlap"]
    lines = tuple(replace(line, covered=Share(17, 20)) for line in study.lines)
    said = str(charts.overlap_sentences(replace(study, lines=lines))).replace(NBSP, " ")
    assert "holds the true difference (nominally 95 % of the time) in 85.0 % (± 8.0 pp) at a corr" in said
    assert {"covered", "covered_se"} <= set(charts.overlap_figure(study).table.columns)


def test_widths_say_where_the_ratio_crosses_one(studies):
    """The pass rates on either side of a ratio of 1 are named, or that it stays on one side."""
    study = studies["widths"]

    def said(*ratios):
        lines = [
            replace(line, ratio=replace(line.ratio, above=Mean(r, r * r, 1), below=Mean(10, 100, 1)))
            for line, r in zip(study.lines, [r for r in ratios for _ in range(2)], strict=True)
        ]
        return str(charts.widths_sentences(replace(study, lines=tuple(lines)))).replace(NBSP, " ")

    rates = [f"{100 * float(study.lines[k].checked.pass_rate):.1f} %" for k in (0, 2)]
    assert said(12, 8).count(f"; it crosses 1 between {rates[0]} and {rates[1]}.") == 2
    assert said(12, 11).count("; it does not cross 1.") == 2


def test_agreement_counts_the_intervals_that_hold(studies):
    """A caption counts how many intervals hold the exact value, whatever the seed gave."""
    study = studies["power"]
    lines = (replace(study.lines[0], shown=Share(0, 1000), exact=0.5), *study.lines[1:])
    lines = (lines[0], *(replace(line, exact=float(line.shown)) for line in lines[1:]))
    said = str(charts.power_sentences(replace(study, lines=lines)))
    assert "3 of 4 intervals hold the exact value; of 95 % intervals one in twenty misses" in said
    assert "intervals hold" in charts.exact_figure(studies["coverage"]).caption


def test_families_tell_error_and_findings_of_the_largest_board(studies):
    """The sentences are about the largest board of either kind."""
    said = charts.families_sentences(studies["families"]).paragraphs
    assert said[0].startswith("5 rows on 20 tasks, all alike: ")
    assert said[1].startswith("5 rows on 20 tasks, on two levels: ")


def test_widths_tell_both_ends(studies):
    """Ratios at the lowest and the highest pass rate are told for each binary rate."""
    said = str(charts.widths_sentences(studies["widths"]))
    assert "Against task pass rate the ratio goes from " in said
    assert "Against pass^3 the ratio goes from " in said
