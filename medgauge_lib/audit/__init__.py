"""Every published figure held against its recomputation, at the precision it was published with.

What runs decide is recomputed from them; a figure that follows from other published figures is held against
those; what only the closed side can recompute is listed as such. An interval by a quantile rule that is not
implemented here is told apart from a mismatch. Nothing is printed and no record is changed.

References
----------
.. [1] Methodology 0.1.0, "Recomputation" and decisions 9 to 12.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, Literal, NamedTuple, cast, get_args

import pandas as pd

from medgauge_lib.audit.agreement import Agreement, agreement, plain
from medgauge_lib.audit.consistency import CONSISTENCY, Case, breaks, dates_of
from medgauge_lib.audit.published import (
    BLOCKS,
    STATED,
    Digits,
    FigurePair,
    closed,
    numbers,
    pairs_of,
)
from medgauge_lib.audit.recomputed import Bound, Tree, Undecided, recomputed
from medgauge_lib.checks import Break, Finding, Rule, Severity, unusable
from medgauge_lib.estimators import Quantity
from medgauge_lib.intervals import QUANTILE_RULE
from medgauge_lib.labels import Labels
from medgauge_lib.progress import steps
from medgauge_lib.records import Place, Published, RecordSet
from medgauge_lib.results import Absent, Tabular
from medgauge_lib.schema import pointer, quoted

Outcome = Literal["agrees", "differs", "not implemented", "closed", "undecided"]
"""What came of one published figure; ``undecided`` where some run lacks the field that it is made from, or
the runs of a community record cannot be trusted."""

_SENTENCES: tuple[tuple[str, Severity, str], ...] = (
    ("n_tasks_total", "error", "The number of tasks is that of the runs, void task versions out."),
    ("n", "error", "The number of tasks of a subset is that of its runs, void task versions out."),
    ("n_runs", "error", "The number of runs of a subset is three a task."),
    ("exam", "error", "The exam is passed exactly when every task passes in all three runs."),
    ("claimable_lower_bound", "error", "The claimable bound of a passed exam is 0.05^(1/n)."),
    ("pass_at_3", "error", "pass@3 is the share of tasks that pass in at least one run."),
    ("pass_pow_3", "error", "pass^3 is the share of tasks that pass in all three runs."),
    ("instability", "error", "Instability is pass@3 less pass^3."),
    ("task_pass_rate", "error", "The task pass rate is the share of passing runs, averaged over tasks."),
    ("continuous_score", "error", "The continuous score is the share of checkpoints, averaged over tasks."),
    ("pass_at_3_ci", "error", "The interval of pass@3 is Clopper and Pearson's."),
    ("pass_pow_3_ci", "error", "The interval of pass^3 is Clopper and Pearson's."),
    ("task_pass_rate_ci", "error", "The interval of the task pass rate is BCa, by its own seed."),
    ("continuous_score_ci", "error", "The interval of the continuous score is BCa, by its own seed."),
    ("errors", "error", "Errors are counted by attribution over the runs of the subset."),
    ("error_rate_subject", "error", "The error rate is the share of runs with a subject-side error."),
    ("veto_rate", "error", "The veto rate is the share of runs that hit a gate."),
    ("veto_by_category", "error", "Vetoes are counted by category over the runs of the subset."),
    ("any_veto", "error", "A veto is said exactly where a run of the subset hit one."),
    ("by_difficulty_class", "error", "Strata are those of the runs and the labels of the tasks."),
    ("m3_efficiency", "error", "Medians and cost per success are those of the holdout runs."),
    ("m10_robustness", "error", "The p-value of M10 is the exact McNemar p of its b and c."),
    ("board", "error", "Only a row of the board has a board block, and its comparison is the published one."),
    ("letters", "error", "The letters of a row are those of the board's maximal groups."),
    ("n_rows", "error", "The number of rows is that of the board."),
    ("cost", "error", "Totals and medians of the cost are over all runs that count."),
)  # fmt: skip
_NOTES: tuple[tuple[str, Severity, str], ...] = (
    ("quantile_rule", "note", f"An interval is recomputed where its rule is {QUANTILE_RULE}."),
    ("last_digits", "note", "A bound through a beta quantile or a power is compared to 12 decimals."),
)
PREFIX = "published."
"""What the code of every rule of this room begins with."""

RULES: tuple[Rule, ...] = tuple(
    Rule(PREFIX + code, severity, sentence)
    for code, severity, sentence in (*_SENTENCES, *CONSISTENCY, *_NOTES)
)
"""Every rule of this room, in the order in which findings are told."""

_SEVERITIES = {rule.code: rule.severity for rule in RULES}


class Compared(NamedTuple):
    """One published figure and what came of it.

    Attributes
    ----------
    id : str
        Record.
    path : tuple
        Place in the record.
    code : str
        Rule it is held against; empty where only the closed side can recompute it.
    published : object
        What the record says.
    recomputed : object
        The exact value, or why there is none to hold it against.
    outcome : str
        An `Outcome`.
    """

    id: str
    path: Place
    code: str
    published: Any
    recomputed: Any
    outcome: Outcome

    @property
    def pointer(self) -> str:
        """Place in the record as a JSON pointer."""
        return pointer(self.path)

    @property
    def reason(self) -> str:
        """Why the figure is not held against anything; empty where it is."""
        match self.outcome:
            case "closed":
                return str(self.recomputed)
            case "undecided":
                return str(self.recomputed.reason)
            case "not implemented":
                return f"the interval is by another rule than {QUANTILE_RULE}"
            case _:
                return ""


@dataclass(frozen=True, repr=False)
class Audit(Tabular):
    """Every published figure of a record set, and every rule with its findings.

    Attributes
    ----------
    figures : tuple of Compared
        Every published figure, by record and place.
    checked : tuple of (Rule, tuple of Finding)
        Every rule with its findings, clean ones too, in the shape of `checks.checked`.
    """

    figures: tuple[Compared, ...] = field(repr=False)
    checked: tuple[tuple[Rule, tuple[Finding, ...]], ...] = field(repr=False)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings by file name, then by rule."""
        found = (finding for _, findings in self.checked for finding in findings)
        return tuple(sorted(found, key=lambda finding: finding.file))

    def count(self, *outcomes: Outcome) -> int:
        """Figures with one of these outcomes."""
        return sum(figure.outcome in outcomes for figure in self.figures)

    def counts(self) -> dict[str, int]:
        """Figures by outcome."""
        return {outcome.replace(" ", "_"): self.count(outcome) for outcome in get_args(Outcome)}

    def closed(self) -> dict[str, int]:
        """Figures that only the closed side can recompute, by the reason, in the order of the reasons."""
        reasons = Counter(figure.reason for figure in self.figures if figure.outcome == "closed")
        return dict(sorted(reasons.items()))

    def to_frame(self) -> pd.DataFrame:
        """One line a figure: ``id, pointer, code, published, recomputed, outcome``; fractions as floats."""
        lines = [
            (one.id, one.pointer, one.code, one.published, plain(one.recomputed), one.outcome)
            for one in self.figures
        ]
        names = ["id", "pointer", "code", "published", "recomputed", "outcome"]
        return pd.DataFrame(lines, columns=names, dtype=object)


def audit(records: RecordSet, *, labels: Labels | None = None) -> Audit:
    """Hold every published figure against its recomputation.

    Parameters
    ----------
    records : RecordSet
        One benchmark version.
    labels : Labels, optional
        Labels of the closed side; with them strata are recomputed too.

    Returns
    -------
    Audit

    Raises
    ------
    InputError
        If the runs of a verified record break a rule without which figures mean nothing. The figures of a
        community record that does are undecided.

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> found = audit(demo.record_set("bm-demo-lab", "0.1.0"))
    >>> found.count("differs"), found.findings
    (0, ())
    """
    apart = set(records.subjects.loc[~records.subjects["verified"], "id"])
    broken = {record: found[0] for record, found in unusable(records).items() if record in apart}
    trees: dict[str, Tree | Undecided] = dict(
        recomputed(records, seeds=partial(seed_of, records), labels=labels, without=broken)
    )
    trees |= {
        record: Undecided(f"the runs cannot be trusted: {found.pointer}: {found.message}")
        for record, found in broken.items()
    }
    return against(records, trees)


def against(records: RecordSet, trees: Mapping[str, Tree | Undecided]) -> Audit:
    """Hold published figures against figures that are recomputed already.

    Parameters
    ----------
    records : RecordSet
        One benchmark version.
    trees : mapping of str to Tree or Undecided
        Record id to its recomputed figures, from `recomputed`, or why there are none.

    Returns
    -------
    Audit
    """
    figures: list[Compared] = []
    found: dict[str, list[Finding]] = {rule.code: [] for rule in RULES}
    dates = dates_of(records)
    for record, published in steps(records.published.items(), unit="record"):
        tree = trees[record]
        if isinstance(tree, Undecided):
            figures += _undecided(record, published, tree)
            continue
        digits = digits_of(records, record)
        compared, unequal, rounds = _compared(record, published, tree, digits)
        inconsistent = list(breaks(Case(published, tree, digits, rounds, dates)))
        figures += [*compared, *_others(record, published, compared, inconsistent)]
        for rule, one in (*unequal, *inconsistent):
            code = PREFIX + rule
            found[code].append(one.as_finding(code, _SEVERITIES[code], records.paths[record].name))
    ordered = {code: tuple(sorted(rows, key=lambda finding: finding.file)) for code, rows in found.items()}
    return Audit(tuple(figures), tuple((rule, ordered[rule.code]) for rule in RULES))


def seed_of(records: RecordSet, record: str, subset: str, quantity: Quantity) -> int | None:
    """Seed of a published BCa interval by the rule implemented here, None where there is none."""
    block = records.published[record]["scores"]["by_subset"].get(subset, {}).get(f"{quantity}_ci")
    return int(block["seed"]) if block and block.get("quantile_rule") == QUANTILE_RULE else None


def _compared(
    record: str, published: Published, tree: Tree, digits: Digits
) -> tuple[list[Compared], list[tuple[str, Break]], bool]:
    """Figures of one record with their outcomes, what is unequal, and whether the record rounds."""
    pairs = list(pairs_of(tree, published))
    found = [_agreement(figure, digits) for figure in pairs]
    rounds = "rounded" in found
    compared: list[Compared] = []
    unequal: list[tuple[str, Break]] = []
    for figure, how in zip(pairs, found, strict=True):
        differs = how == "differs" or (how == "one off" and not rounds)
        outcome = _outcome(figure, published, differs=differs)
        code = code_of(figure.path)
        compared.append(Compared(record, figure.path, PREFIX + code, figure.published, figure.exact, outcome))
        if outcome == "differs":
            unequal.append((code, _unequal(figure)))
        elif outcome == "not implemented":
            unequal.append(("quantile_rule", _not_implemented(figure)))
        elif how == "other digits":
            unequal.append(("last_digits", _other_digits(figure)))
    return compared, unequal, rounds


def digits_of(records: RecordSet, record: str) -> Digits:
    """Decimals of the published numbers of one record."""
    subsets = records.published[record]["scores"]["by_subset"]
    shares = {
        path: number
        for path, number in numbers(subsets, ("scores", "by_subset"))
        if path[-1] in _SHARES or path[-2:-1] == ("by_difficulty_class",)
    }
    return Digits(records.decimals.get(record, {}), shares)


_SHARES = (
    "pass_at_3",
    "pass_pow_3",
    "instability",
    "task_pass_rate",
    "continuous_score",
    "error_rate_subject",
    "veto_rate",
)


def _agreement(figure: FigurePair, digits: Digits) -> Agreement:
    published, exact = figure.published, figure.exact
    if isinstance(exact, Undecided):
        return "same"
    number = isinstance(published, int | float) and not isinstance(published, bool)
    if isinstance(exact, Fraction | int | Bound) and not isinstance(exact, bool) and number:
        return agreement(published, exact, decimals=digits.of(figure.path, published))
    return "same" if published == plain(exact) and not isinstance(exact, Absent) else "differs"


def _outcome(figure: FigurePair, published: Published, *, differs: bool) -> Outcome:
    if isinstance(figure.exact, Undecided):
        block = figure.published
        other = isinstance(block, Mapping) and block.get("quantile_rule", QUANTILE_RULE) != QUANTILE_RULE
        return "not implemented" if other else "undecided"
    return "differs" if differs else "agrees"


def _others(
    record: str, published: Published, compared: list[Compared], inconsistent: list[tuple[str, Break]]
) -> Iterator[Compared]:
    """Published numbers that no run decides: what follows from other figures, and what is closed."""
    known = {one.path for one in compared}
    wrong = {one.path: one for _, one in inconsistent if one.severity != "note"}
    for block in BLOCKS:
        for path, number in numbers(published.get(block, {}), (block,)):
            if path[-1] in STATED or known & {path[:length] for length in range(1, len(path) + 1)}:
                continue
            reason = closed(path)
            if reason is not None:
                yield Compared(record, path, "", number, reason[0], "closed")
            elif path[-1] in _FOLLOWS:
                code = PREFIX + _FOLLOWS[str(path[-1])]
                found = wrong.get(path)
                exact = number if found is None else found.expected
                yield Compared(record, path, code, number, exact, "agrees" if found is None else "differs")


def _undecided(record: str, published: Published, why: Undecided) -> Iterator[Compared]:
    """Published numbers of a record whose runs decide nothing."""
    for block in BLOCKS:
        for path, number in numbers(published.get(block, {}), (block,)):
            reason = closed(path)
            if reason is not None:
                yield Compared(record, path, "", number, reason[0], "closed")
            elif path[-1] not in STATED:
                code = PREFIX + _FOLLOWS.get(str(path[-1]), code_of(path))
                yield Compared(record, path, code, number, why, "undecided")


_FOLLOWS = {"defect_f1": "f1", "absolute": "absolute"}
"""Figures that follow from other published ones, and the rule of each."""


def code_of(path: Place) -> str:
    """Return the code of the rule that a figure is held against, without its prefix.

    Examples
    --------
    >>> code_of(("scores", "by_subset", "dev", "exam", "outcome")), code_of(("cost", "amount"))
    ('exam', 'cost')
    """
    steps = [str(step) for step in path]
    match steps:
        case ["scores", "by_subset", _, "exam", "claimable_lower_bound"]:
            return "claimable_lower_bound"
        case ["scores", "by_subset", _, name, *_] | ["scores", "dimensions", name, *_]:
            return name
        case ["board", ("letters" | "n_rows") as name] | ["scores", name]:
            return name
        case _:
            return steps[0]


def _unequal(figure: FigurePair) -> Break:
    name = _named(figure.path)
    if isinstance(figure.exact, Absent):
        shown = "published" if isinstance(figure.published, Mapping) else quoted(figure.published)
        message = f"{name} is {shown}, but there is none: {figure.exact.reason}"
    else:
        message = f"{name} is {_shown(figure.published)}, but {_source(figure.path)} {_shown(figure.exact)}"
    return Break(figure.path, _bare(figure.published), plain(figure.exact), message)


def _named(path: Place) -> str:
    """Name of a figure: its own, with the block's where it would not be told apart."""
    return " ".join(map(str, path[-1:] if path[-2:-1] in (("holdout",), ("dev",), ("calib",)) else path[-2:]))


def _source(path: Place) -> str:
    return "b and c give" if "m10_robustness" in path else "the runs give"


def _shown(value: Any) -> str:
    """Return a figure for a message: a fraction with its double, a list as a list."""
    if isinstance(value, Fraction):
        double = repr(float(value))
        return double if value.denominator == 1 else f"{value} = {double}"
    bare = plain(value)
    return " ".join(map(str, bare)) if isinstance(bare, list) else quoted(bare)


def _bare(value: Any) -> Any:
    """Return a published figure for a finding; of an interval, its bounds."""
    return [value["lower"], value["upper"]] if isinstance(value, Mapping) and "lower" in value else value


def _not_implemented(figure: FigurePair) -> Break:
    rule = figure.published["quantile_rule"]
    message = f"rule not implemented here, so the interval is not recomputed: {quoted(rule)}"
    return Break((*figure.path, "quantile_rule"), rule, QUANTILE_RULE, message)


def _other_digits(figure: FigurePair) -> Break:
    name, value = _named(figure.path), cast(Bound, figure.exact).value
    message = (
        f"{name} is {figure.published!r}, here {value!r}: equal to 12 decimals, as far as programs agree"
    )
    return Break(figure.path, figure.published, value, message)
