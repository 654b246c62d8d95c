"""Published figures held against each other, where runs alone do not decide them.

References
----------
.. [1] Methodology 0.1.0, "The ten dimensions", "Failures", decisions 10 to 12.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from medgauge_lib.audit.agreement import agreement
from medgauge_lib.audit.published import Digits
from medgauge_lib.board import latest
from medgauge_lib.checks import Break, Severity
from medgauge_lib.outcomes import N_RUNS
from medgauge_lib.records import Place, Published, RecordSet
from medgauge_lib.results import as_written

CONSISTENCY: tuple[tuple[str, Severity, str], ...] = (
    ("strata", "error", "Classes of difficulty add up to their subset: tasks, and what passed of them."),
    ("f1", "error", "F1 is 2PR/(P + R) of the published precision P and recall R."),
    ("absolute", "error", "An absolute figure is the size of the signed one."),
    ("n_pairs", "error", "There are at least as many pairs as discordant ones, b + c."),
    ("failure_attribution", "error", "Failures by reason add up to the failed runs."),
    ("veto_hits", "error", "Hits of gates by constraint are published exactly where runs hit a gate."),
    ("as_of", "error", "The board is as of its latest record, or of one later date in all its rows."),
)
"""Code without prefix, severity and sentence of every rule of this kind."""

Breaks = Iterator[tuple[str, Break]]
"""Codes of rules without prefix, each with one break."""


class Dates(NamedTuple):
    """Dates that the records of a board state.

    Attributes
    ----------
    as_of : Counter
        Dates that its rows are as of, with the number of rows.
    ranked, newest : str
        Latest creation date among the ranked records, empty without one, and among all.
    first : str or None
        Id of the first ranked record.
    """

    as_of: Counter[str]
    ranked: str
    newest: str
    first: str | None


def dates_of(records: RecordSet) -> Dates:
    """Collect the dates of one benchmark version, which its records are held to.

    Parameters
    ----------
    records : RecordSet

    Returns
    -------
    Dates
    """
    ranked = records.subjects.loc[records.subjects["verified"], ["id", "created_at"]]
    blocks = (records.published[row].get("board") for row in ranked["id"])
    return Dates(
        as_of=Counter(block["as_of"] for block in blocks if block),
        ranked=str(max(ranked["created_at"].str[:10], default="")),
        newest=latest(records),
        first=next(iter(ranked["id"]), None),
    )


class Case(NamedTuple):
    """One record with what a rule of this kind may look at.

    Attributes
    ----------
    published : mapping
        The record as it came, without its runs.
    tree : Tree
        Its recomputed figures.
    digits : Digits
        Decimals of its published numbers.
    rounds : bool
        Whether it publishes a figure rounded; if not, a count must be the exact one.
    dates : Dates
        Of all records.
    """

    published: Published
    tree: Any
    digits: Digits
    rounds: bool
    dates: Dates


def breaks(case: Case) -> Breaks:
    """Breaks of every rule of this kind in one record.

    Parameters
    ----------
    case : Case

    Yields
    ------
    tuple of (str, Break)
        Code of the rule without prefix, and where it is not kept.
    """
    for rule in (_strata, _f1, _absolute, _n_pairs, _failures, _veto_hits, _as_of):
        yield from rule(case)


def _strata(case: Case) -> Breaks:
    for subset, scored in case.tree["scores"]["by_subset"].items():
        block = case.published["scores"]["by_subset"].get(subset, {}).get("by_difficulty_class")
        if not block:
            continue
        path = ("scores", "by_subset", subset, "by_difficulty_class")
        n = sum(int(stratum["n"]) for stratum in block.values())
        if n != scored["n"]:
            message = f"the classes have {n} tasks, the subset {scored['n']}"
            yield "strata", Break(path, n, scored["n"], message)
            continue
        for name, runs in (("pass_pow_3", 1), ("task_pass_rate", N_RUNS)):
            yield from _counts(case, path, block, name, runs, int(scored[name] * n * runs))


def _counts(case: Case, path: Place, block: Mapping[str, Any], name: str, runs: int, passed: int) -> Breaks:
    """Hold the counts that the rates of the classes stand for to that of the subset."""
    ranges = []
    for number, stratum in block.items():
        of = int(stratum["n"]) * runs
        if not of:
            continue
        if name not in stratum:
            return
        counts = _whole(case, (*path, number, name), stratum[name], of)
        if not counts:
            what = "tasks" if runs == 1 else "runs"
            message = (
                f"{name} of class {number} is {stratum[name]!r}, which is no whole number of {of} {what}"
            )
            nearest = round(as_written(stratum[name]) * of) / of
            yield "strata", Break((*path, number, name), stratum[name], nearest, message)
            return
        ranges.append(counts)
    low, high = sum(min(counts) for counts in ranges), sum(max(counts) for counts in ranges)
    if not low <= passed <= high:
        told = str(low) if low == high else f"{low} to {high}"
        message = f"by {name} the classes have {told} successes together, the subset {passed}"
        yield "strata", Break(path, told, passed, message)


def _whole(case: Case, path: Place, rate: float, of: int) -> list[int]:
    """Counts that a rate of so many tasks or runs may stand for; the exact one where there is one."""
    decimals = case.digits.of(path, rate)
    middle, slack = as_written(rate) * of, Fraction(of, 2 * 10**decimals)
    counts = range(math.floor(middle - slack), math.ceil(middle + slack) + 1)
    how = {
        count: agreement(rate, Fraction(count, of), decimals=decimals) for count in counts if 0 <= count <= of
    }
    exact = [count for count, found in how.items() if found == "same"]
    return (
        exact if exact and not case.rounds else [count for count, found in how.items() if found != "differs"]
    )


def _f1(case: Case) -> Breaks:
    block = _dimension(case, "m7_quality_control")
    if not {"defect_f1", "defect_precision", "defect_recall"} <= set(block):
        return
    path: Place = ("scores", "dimensions", "m7_quality_control")
    f1, precision, recall = (block[f"defect_{name}"] for name in ("f1", "precision", "recall"))
    p, r = as_written(precision), as_written(recall)
    if not p + r:
        if f1:
            message = f"defect_f1 is {f1!r}, but precision and recall are 0"
            yield "f1", Break((*path, "defect_f1"), f1, 0, message)
        return
    exact = 2 * p * r / (p + r)
    shown = case.digits.shown((*path, "defect_f1"), f1)
    how = agreement(f1, exact, decimals=shown)
    if how in ("same", "rounded") or (how == "one off" and case.rounds):
        return
    decimals = [
        case.digits.shown((*path, f"defect_{name}"), block[f"defect_{name}"])
        for name in ("precision", "recall")
    ]
    message = f"defect_f1 is {f1!r}, but 2PR/(P + R) of precision and recall as published is {float(exact)!r}"
    rounding = shown <= max(decimals) and _explained(f1, shown, (p, r), decimals)
    severity: Severity | None = "note" if rounding else None
    told = message + (", which the rounding of precision and recall explains" if rounding else "")
    yield "f1", Break((*path, "defect_f1"), f1, float(exact), told, severity)


def _explained(f1: float, shown: int, parts: tuple[Fraction, Fraction], decimals: list[int]) -> bool:
    """Whether some P and R that round to the published ones have an F1 that rounds to the published one."""

    def at(side: int) -> Fraction:
        p, r = (
            max(part + side * Fraction(1, 2 * 10**d), Fraction(0))
            for part, d in zip(parts, decimals, strict=True)
        )
        return 2 * p * r / (p + r) if p + r else Fraction(0)

    half = Fraction(1, 2 * 10**shown)
    return at(-1) - half <= as_written(f1) <= at(1) + half


def _absolute(case: Case) -> Breaks:
    for dimension, name in (("m9_auditability", "env_delta"), ("m10_robustness", "robustness_gap")):
        block = _dimension(case, dimension).get(name)
        if block is None:
            continue
        path: Place = ("scores", "dimensions", dimension, name)
        signed, absolute = abs(block["signed"]), block["absolute"]
        fine, coarse = (case.digits.shown((*path, part), block[part]) for part in ("signed", "absolute"))
        # The one with fewer decimals is the rounding of the other.
        one, other, decimals = (absolute, signed, coarse) if coarse <= fine else (signed, absolute, fine)
        how = agreement(one, as_written(other), decimals=decimals)
        if how == "differs" or (how == "one off" and not case.rounds):
            message = f"absolute is {absolute!r}, but signed is {block['signed']!r}"
            yield "absolute", Break((*path, "absolute"), absolute, signed, message)


def _n_pairs(case: Case) -> Breaks:
    block = _dimension(case, "m10_robustness")
    if "mcnemar" in block and "n_pairs" in block:
        discordant = int(block["mcnemar"]["b"]) + int(block["mcnemar"]["c"])
        if block["n_pairs"] < discordant:
            message = f"n_pairs is {block['n_pairs']}, but b + c is {discordant}"
            path = ("scores", "dimensions", "m10_robustness", "n_pairs")
            yield "n_pairs", Break(path, block["n_pairs"], f"at least {discordant}", message)


def _dimension(case: Case, name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = case.published["scores"].get("dimensions", {}).get(name, {})
    return found


def _failures(case: Case) -> Breaks:
    if "failure_attribution" not in case.published:
        return
    told = sum(map(int, case.published["failure_attribution"].values()))
    subsets = case.tree["scores"]["by_subset"].values()
    failed = int(sum(scored["n_runs"] * (1 - scored["task_pass_rate"]) for scored in subsets))
    if told != failed:
        message = f"the reasons add up to {told}, the failed runs to {failed}"
        yield "failure_attribution", Break(("failure_attribution",), told, failed, message)


def _veto_hits(case: Case) -> Breaks:
    scores = case.published["scores"]
    told = sum(sum(map(int, scores.get(name, {}).values())) for name in ("veto_hits", "assertion_veto_hits"))
    subsets = case.tree["scores"]["by_subset"].values()
    vetoed = int(sum(scored["n_runs"] * scored["veto_rate"] for scored in subsets))
    if told and not vetoed:
        message = f"the hits of gates add up to {told}, and no run hit one"
        yield "veto_hits", Break(("scores", "veto_hits"), told, 0, message)
    elif told < vetoed:
        # Whether hits are counted over every subset is not laid down, so this is no fault.
        message = f"the hits of gates by constraint add up to {told}, the runs that hit one to {vetoed}"
        yield "veto_hits", Break(("scores", "veto_hits"), told, f"at least {vetoed}", message, "note")


def _as_of(case: Case) -> Breaks:
    if "board" not in case.published or not case.tree["board"]:
        return
    stated, (as_of, ranked, newest, first) = case.published["board"]["as_of"], case.dates
    often = max(as_of.values())
    usual = {date for date, times in as_of.items() if times == often}
    common = newest if newest in usual else max(usual)
    path = ("board", "as_of")
    if stated < ranked:
        message = f"the board is as of {stated}, but its latest record was created on {ranked}"
        yield "as_of", Break(path, stated, newest, message)
    elif stated != common:
        message = f"the board is as of {stated} here, but as of {common} in other rows"
        yield "as_of", Break(path, stated, common, message)
    elif stated != newest and case.published["id"] == first:
        message = f"the board is as of {stated}, the latest record of {newest}, so the date was given"
        yield "as_of", Break(path, stated, newest, message, "note")
