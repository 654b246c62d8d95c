"""Simulation studies in sentences: what came out, with its Monte Carlo error, and what it rests on."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from medgauge_lib.charts import display
from medgauge_lib.charts.simulation.figures import MERGED, METHOD_NAMES, PROCEDURE_NAMES
from medgauge_lib.charts.simulation.series import agreement, error_words
from medgauge_lib.charts.tables import QUANTITY_NAMES
from medgauge_lib.charts.words import Sentences
from medgauge_lib.pairs import FAMILY_ALPHA
from medgauge_lib.results import Absent
from medgauge_lib.simulation.overlap import spread_at

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from fractions import Fraction

    from medgauge_lib.simulation import Coverage, Familywise, Flips, Overlap, Power, Sample, Study, Widths
    from medgauge_lib.simulation.montecarlo import Mean, Ratio, Share


def assumption_sentences(study: Study[Any]) -> Sentences:
    """What a study rests on: replications, seed, and what holds in its world.

    Parameters
    ----------
    study : Study
        Any.

    Returns
    -------
    Sentences
    """
    number = display.count(study.n_replications, "replication")
    if study.complete:
        rests = f"{number} of each setting, seed {study.seed}."
    else:
        rests = (
            f"Stopped early: at least {number} of each setting out of {study.asked:,} that were asked for, "
            f"seed {study.seed}. The figures are those of a shorter study."
        )
    return Sentences((rests, f"What is assumed: {' '.join(study.assumptions)}"))


def _shown(figure: Share | Mean | Ratio, *, ratio: bool = False) -> str:
    """A simulated figure with its standard error."""
    if isinstance(figure.value, Absent):
        return display.absent(figure.value)
    value = display.number(figure.value, 2) if ratio else display.percent(figure.value)
    return f"{value} ({error_words(figure, ratio=ratio)})"


def _least(lines: Iterable[Coverage]) -> Coverage | None:
    """The line with the lowest coverage, the first of equal ones."""
    known = [line for line in lines if line.covered.n]
    return min(known, key=lambda line: line.covered.count / line.covered.n) if known else None


def coverage_sentences(study: Study[Coverage]) -> Sentences:
    """Where each kind of interval covers worst, how far kinds lie apart, and how many data sets have none.

    Parameters
    ----------
    study : Study of Coverage
        From `medgauge_lib.simulation.coverage`.

    Returns
    -------
    Sentences
    """
    said = []
    for method, name in METHOD_NAMES.items():
        worst = _least(line for line in study.lines if line.method == method)
        if worst is not None:
            said.append(
                f"{name} {_shown(worst.covered)} with {display.count(worst.sample.n_tasks, 'task')} at a "
                f"mean rate of {display.percent(worst.sample.rates.mean)}"
            )
    n_settings = len({line.sample for line in study.lines})
    without = [line for line in study.lines if line.method == "bca_half" and line.undefined.n]
    worst_without = max(without, key=lambda line: line.undefined.count / line.undefined.n)
    return Sentences(
        (
            f"Lowest coverage of {display.count(n_settings, 'setting')}, with its Monte Carlo error: "
            f"{'; '.join(said)}. The lowest of many simulated shares is by chance lower than its true value.",
            f"Coverage of the kinds of resampled interval differs at most by {_apart(study)}.",
            f"Up to {_shown(worst_without.undefined)} of the data sets have no resampled interval "
            f"({display.count(worst_without.sample.n_tasks, 'task')}, mean rate "
            f"{display.percent(worst_without.sample.rates.mean)}); coverage is among the others.",
        )
    )


def _apart(study: Study[Coverage]) -> str:
    """Largest difference in coverage between kinds of resampled interval, for each number of tasks."""
    of_sample: dict[Sample, list[Fraction]] = {}
    for line in study.lines:
        if line.exact is None and not isinstance(line.covered.value, Absent):
            of_sample.setdefault(line.sample, []).append(line.covered.value)
    said = []
    for n_tasks in sorted({sample.n_tasks for sample in of_sample}):
        gaps = {
            sample: max(values) - min(values)
            for sample, values in of_sample.items()
            if sample.n_tasks == n_tasks
        }
        widest = max(gaps, key=lambda sample: gaps[sample])
        said.append(
            f"{display.points(gaps[widest]).lstrip('+')} with {display.count(n_tasks, 'task')} "
            f"(mean rate {display.percent(widest.rates.mean)})"
        )
    return display.listed(said)


def families_sentences(study: Study[Familywise]) -> Sentences:
    """What each procedure does on the largest board of alike rows, and what it finds on two levels.

    Parameters
    ----------
    study : Study of Familywise
        From `medgauge_lib.simulation.families`.

    Returns
    -------
    Sentences
    """
    alike = [line for line in study.lines if line.family.first == line.family.rest]
    levels = [line for line in study.lines if line.family.first != line.family.rest]
    said = [_largest(lines, what) for lines, what in ((alike, "error"), (levels, "found")) if lines]
    return Sentences((*said, *_above(alike), *_ahead(levels), *_two_rows(levels)))


def _above(alike: list[Familywise]) -> list[str]:
    """On which of the boards tried overlap errs more often than Holm may."""
    errors = _of_boards(alike, "overlap", "error")
    said = _boards({size for size, error in errors.items() if error > FAMILY_ALPHA}, errors)
    return [f"Overlap has a simulated family-wise error above 5 % {said}."] if said else []


def _ahead(levels: list[Familywise]) -> list[str]:
    """On which of the boards tried Holm finds more than overlap does."""
    holm, overlap = (_of_boards(levels, procedure, "found") for procedure in ("holm", "overlap"))
    said = _boards({size for size in holm if holm[size] > overlap[size]}, holm)
    return [f"Holm finds more of the real differences than overlap {said}."] if said else []


def _of_boards(
    lines: list[Familywise], procedure: str, what: Literal["error", "found"]
) -> dict[tuple[int, int], Fraction]:
    """A simulated figure of one procedure by numbers of tasks and rows, where there is one."""
    return {
        (line.family.n_tasks, line.family.n_rows): value
        for line in lines
        if line.procedure == procedure and not isinstance(value := getattr(line, what).value, Absent)
    }


def _boards(chosen: Collection[tuple[int, int]], tried: Iterable[tuple[int, int]]) -> str:
    """Every number of rows that is chosen, by number of tasks: a rule beyond the boards tried is not said."""
    said = []
    for n_tasks in sorted({tasks for tasks, _ in tried}):
        numbers = [f"{n_rows}" for tasks, n_rows in sorted(chosen) if tasks == n_tasks]
        rows = f"{display.listed(numbers)} rows" if numbers else "no number of rows tried"
        said.append(f"with {rows} on {display.count(n_tasks, 'task')}")
    return display.listed(said) if said else ""


def _two_rows(levels: list[Familywise]) -> list[str]:
    """Exact beside simulated, where two rows differ."""
    said = [
        f"{display.percent(line.exact)} by {PROCEDURE_NAMES[line.procedure]} on "
        f"{display.count(line.family.n_tasks, 'task')} (simulated {_shown(line.found)})"
        for line in levels
        if line.exact is not None and line.procedure != "unadjusted"
    ]
    return (
        [
            f"Two rows that differ are told apart with a known probability: {'; '.join(said)}. By chance one "
            "simulated figure in twenty is off by more than two Monte Carlo errors; the exact one holds."
        ]
        if said
        else []
    )


def _largest(lines: list[Familywise], what: str) -> str:
    size = max((line.family.n_rows, line.family.n_tasks) for line in lines)
    chosen = [line for line in lines if (line.family.n_rows, line.family.n_tasks) == size]
    figures = "; ".join(
        f"{_shown(line.error if what == 'error' else line.found)} by {PROCEDURE_NAMES[line.procedure]}"
        for line in chosen
    )
    board = f"{display.count(size[0], 'row')} on {display.count(size[1], 'task')}"
    if what == "error":
        return (
            f"{board}, all alike: the share of boards on which at least one pair is told apart is {figures}."
        )
    return f"{board}, on two levels: the share told apart of the pairs that really differ is {figures}."


def overlap_sentences(study: Study[Overlap]) -> Sentences:
    """At which spread overlap merges the rows 84 % of the time, what pairing does, and what that covers.

    Parameters
    ----------
    study : Study of Overlap
        From `medgauge_lib.simulation.overlap`.

    Returns
    -------
    Sentences
    """
    said = []
    for correlation in dict.fromkeys(line.duel.correlation for line in study.lines):
        at = spread_at(study, MERGED, correlation=correlation)
        words = (
            "at no spread of the study"
            if isinstance(at, Absent)
            else f"near a spread of {display.number(at, 3)}"
        )
        said.append(f"{words} where the rank correlation of the rows is {display.number(correlation, 1)}")
    closest = min(study.lines, key=lambda line: abs(line.duel.ahead.spread - 0.13))
    spread = closest.duel.ahead.spread
    pairs = "; ".join(
        f"{_shown(line.merged)} against {_shown(line.paired)} at a correlation of "
        f"{display.number(line.duel.correlation, 1)}"
        for line in study.lines
        if line.duel.ahead.spread == spread
    )
    covered = "; ".join(
        f"{_shown(line.covered)} at a correlation of {display.number(line.duel.correlation, 1)}"
        for line in study.lines
        if line.duel.ahead.spread == spread
    )
    return Sentences(
        (
            f"Overlap merges the two rows 84 % of the time {display.listed(said)}.",
            f"At a spread of {display.number(spread, 2)}, overlapping intervals against a paired interval "
            f"that holds 0: {pairs}.",
            f"The paired interval holds the true difference (nominally 95 % of the time) in {covered}.",
        )
    )


def widths_sentences(study: Study[Widths]) -> Sentences:
    """Between which pass rates the ratio crosses 1, for each binary rate.

    Parameters
    ----------
    study : Study of Widths
        From `medgauge_lib.simulation.widths`.

    Returns
    -------
    Sentences
    """
    said = []
    for against in dict.fromkeys(line.against for line in study.lines):
        lines = sorted(
            (line for line in study.lines if line.against == against and line.ratio.below.total),
            key=lambda line: line.checked.pass_rate,
        )
        ends = [
            f"{_shown(line.ratio, ratio=True)} at a pass rate of {display.percent(line.checked.pass_rate)}"
            for line in (lines[0], lines[-1])
        ]
        said.append(
            f"Against {QUANTITY_NAMES[against]} the ratio goes from {ends[0]} to {ends[1]}; "
            f"{_crossing(lines)}."
        )
    return Sentences((" ".join(said),))


def _crossing(lines: list[Widths]) -> str:
    """Between which pass rates of the study the ratio crosses 1; `lines` ascend in pass rate."""
    crossed = [
        f"{display.percent(low.checked.pass_rate)} and {display.percent(high.checked.pass_rate)}"
        for low, high in pairwise(lines)
        if (float(low.ratio) > 1) != (float(high.ratio) > 1)
    ]
    return f"it crosses 1 between {' and between '.join(crossed)}" if crossed else "it does not cross 1"


def flips_sentences(study: Study[Flips]) -> Sentences:
    """What exact and resampled p-values show on the largest board.

    Parameters
    ----------
    study : Study of Flips
        From `medgauge_lib.simulation.flips`.

    Returns
    -------
    Sentences
    """
    line = max(study.lines, key=lambda line: line.ladder.n_pairs)
    n_pairs = line.ladder.n_pairs
    floor = f"{n_pairs:,} / 10,001 = {display.number(line.floor, 4)}"
    verdict = "above 0.05: they never show any pair to differ" if not line.possible else "at most 0.05"
    return Sentences(
        (
            f"With {display.count(n_pairs, 'pair')} the smallest adjusted p that 10,000 random flips allow "
            f"is {floor}, {verdict}. On the same boards exact p-values show {_shown(line.exact)} of the "
            f"pairs to differ, random flips {_shown(line.resampled) if line.possible else 'none'}.",
        )
    )


def power_sentences(study: Study[Power]) -> Sentences:
    """How many of the tried numbers of tasks give a power of 80 %, for each number of pairs.

    Parameters
    ----------
    study : Study of Power
        From `medgauge_lib.simulation.power`.

    Returns
    -------
    Sentences
    """
    said = []
    for alpha in dict.fromkeys(line.contest.alpha for line in study.lines):
        enough = [line for line in study.lines if line.contest.alpha == alpha and line.exact >= 0.8]
        pairs = display.count(round(FAMILY_ALPHA / alpha), "pair")
        if enough:
            first = min(enough, key=lambda line: line.contest.n_tasks)
            said.append(
                f"{display.count(first.contest.n_tasks, 'task')} for {pairs} (exact "
                f"{display.percent(first.exact)}, simulated {_shown(first.shown)})"
            )
        else:
            said.append(f"more than were tried for {pairs}")
    return Sentences(
        (
            f"The fewest tasks tried that give a power of 80 %: {'; '.join(said)}.",
            f"Simulated against exact: {agreement((line.shown, line.exact) for line in study.lines)}",
        )
    )
