"""The last gate: every statistic of a finding, recomputed exactly and held against what was submitted.

Counts are integers and everything else is an exact fraction; a zero denominator gives None, never NaN. Rates
are fractions in [0, 1]; names that end in ``_pp`` are percentage points, group 1 minus group 0 (for an
association: given A minus given not A). The identification bounds say what unknowns could be; they are no
confidence interval. The robustness figures are sensitivity checks within the same corpus,
no causal adjustment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from medgauge_lib.errors import InputError, printable
from medgauge_lib.findings.contract import ASSOCIATION, Benchmark, Task, read_json, strays
from medgauge_lib.findings.corpus import Corpus, Strata, read_corpus
from medgauge_lib.findings.gates import (
    NEGATIVE,
    POSITIVE,
    UNKNOWN,
    Failure,
    Gate,
    Scope,
    contract_failures,
    resolve,
)
from medgauge_lib.results import as_written
from medgauge_lib.schema import quoted

TOLERANCE = Fraction(1, 10**6)
"""A submitted statistic agrees when it is at most this far from the recomputed one."""

Statistic = int | Fraction | None
Submitted = Literal["missing", "invalid", "abstained", "valid"]

_Mask = npt.NDArray[np.bool_]


def ratio(numerator: int, denominator: int) -> Fraction | None:
    """Return a fraction, None where the denominator is zero.

    Examples
    --------
    >>> ratio(1, 3), ratio(1, 0)
    (Fraction(1, 3), None)
    """
    return Fraction(numerator, denominator) if denominator else None


def points(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    """Return second minus first in percentage points, None where one of them does not exist.

    Examples
    --------
    >>> points(Fraction(1, 4), Fraction(1, 2))
    Fraction(25, 1)
    """
    return None if first is None or second is None else 100 * (second - first)


def expected(scope: Scope, task: Task, corpus: Corpus) -> dict[str, Statistic]:
    """Recompute the statistics of a finding.

    Parameters
    ----------
    scope : Scope
        Population, arms and states of the finding.
    task : Task
        Gives kind, axes, and how many known documents each arm of an eligible stratum needs.
    corpus : Corpus
        Gives the metadata of the axes.

    Returns
    -------
    dict
        Exactly the fields a submission holds, in the order of the specification.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from medgauge_lib.findings import read_benchmark
    >>> from medgauge_lib.findings.demo import write_demo
    >>> with TemporaryDirectory() as place:
    ...     demo = write_demo(Path(place))
    ...     benchmark = read_benchmark(demo.data)
    ...     checked = check_task(benchmark, benchmark.tasks[1], demo.submissions)
    >>> finding, task = checked.submission["findings"][0], checked.task
    >>> gate = Gate(task.task_id, finding["finding_id"], ("findings", 0))
    >>> scope = resolve(finding, task, checked.corpus, gate)
    >>> expected(scope, task, checked.corpus) == checked.statistics[finding["finding_id"]]
    True
    """
    known_arms, positive = _outcomes(scope, task.kind)
    kind = _association(scope) if task.kind == ASSOCIATION else _difference(scope)
    population = int(scope.population.sum())
    general: dict[str, Statistic] = {
        "corpus_total_n": len(corpus),
        "population_total_n": population,
        "population_coverage": ratio(population, len(corpus)),
        "robustness_known_arm0_n": _count(known_arms == 0),
        "robustness_known_arm1_n": _count(known_arms == 1),
    }
    inside = np.flatnonzero(scope.population)
    for axis in task.axes:
        strata = corpus.strata(axis)
        within = Strata(strata.names, strata.codes[inside])
        fields = _robustness(within, known_arms[inside], positive[inside], task.min_known_per_arm)
        general |= {f"robustness_{axis}_{name}": value for name, value in fields.items()}
    return kind | general


def _count(mask: _Mask) -> int:
    return int(np.count_nonzero(mask))


def _outcomes(scope: Scope, kind: str) -> tuple[npt.NDArray[np.int8], _Mask]:
    """Return the arm of each document that is known (else −1), and whether its outcome is positive.

    Arms are the declared groups without unknowns; for an association not-A and A among known B.
    """
    if kind != ASSOCIATION:
        (state,) = scope.states
        return np.where(state == UNKNOWN, np.int8(-1), scope.arms), state == POSITIVE
    first, second = scope.states
    known = (second == POSITIVE) | (second == NEGATIVE)
    arms = np.full(len(first), -1, dtype=np.int8)
    arms[known & (first == NEGATIVE)] = 0
    arms[known & (first == POSITIVE)] = 1
    return arms, second == POSITIVE


def _difference(scope: Scope) -> dict[str, Statistic]:
    (state,) = scope.states
    fields: dict[str, Statistic] = {}
    rates, lows, highs = [], [], []
    for arm in (0, 1):
        members = scope.arms == arm
        total = _count(members)
        positive, unknown = _count(members & (state == POSITIVE)), _count(members & (state == UNKNOWN))
        rates.append(ratio(positive, total - unknown))
        lows.append(ratio(positive, total))
        highs.append(ratio(positive + unknown, total))
        fields |= {
            f"group{arm}_total_n": total,
            f"group{arm}_known_n": total - unknown,
            f"group{arm}_positive_n": positive,
            f"group{arm}_unknown_n": unknown,
            f"group{arm}_rate_known": rates[arm],
        }
    return fields | {
        "excluded_metadata_n": _count(scope.population & (scope.arms < 0)),
        "delta_known_pp": points(rates[0], rates[1]),
        "delta_identification_lower_pp": points(highs[0], lows[1]),
        "delta_identification_upper_pp": points(lows[0], highs[1]),
    }


def _association(scope: Scope) -> dict[str, Statistic]:
    first, second = scope.states
    n11, n10, n01, n00 = (
        _count((first == a) & (second == b)) for a in (POSITIVE, NEGATIVE) for b in (POSITIVE, NEGATIVE)
    )
    known = n11 + n10 + n01 + n00
    given_a, given_not_a = ratio(n11, n11 + n10), ratio(n01, n01 + n00)
    return {
        "known_joint_n": known,
        "unknown_joint_n": _count(scope.population) - known,
        "n11": n11,
        "n10": n10,
        "n01": n01,
        "n00": n00,
        "p_b_given_a": given_a,
        "p_b_given_not_a": given_not_a,
        "conditional_difference_pp": points(given_not_a, given_a),
        "lift": ratio(n11 * known, (n11 + n10) * (n11 + n01)),
    }


def _robustness(
    strata: Strata, arms: npt.NDArray[np.int8], positive: _Mask, least: int
) -> dict[str, Statistic]:
    """Return the fields of one axis; all arrays are over the selected population."""
    codes, size = strata.codes, len(strata.names)
    present = codes >= 0

    def by_stratum(mask: _Mask) -> npt.NDArray[np.int64]:
        return np.bincount(codes[mask & present], minlength=size)

    sizes = by_stratum(present)
    n0, n1 = by_stratum(arms == 0), by_stratum(arms == 1)
    p0, p1 = by_stratum((arms == 0) & positive), by_stratum((arms == 1) & positive)
    eligible = (n0 >= least) & (n1 >= least)
    covered = int((n0 + n1)[eligible].sum())
    support = p0 + p1
    return {
        "strata_n": _count(sizes > 0),
        "missing_metadata_n": _count(~present),
        "eligible_strata_n": _count(eligible),
        "covered_known_n": covered,
        "excluded_known_n": _count(arms >= 0) - covered,
        **_stratified(n0[eligible], n1[eligible], p0[eligible], p1[eligible]),
        **_without_largest(sizes, codes, arms, positive, least),
        "max_support_share": ratio(int(support.max(initial=0)), int(support.sum())),
        "support_missing_metadata_n": _count(positive & (arms >= 0) & ~present),
    }


def _stratified(
    n0: npt.NDArray[np.int64],
    n1: npt.NDArray[np.int64],
    p0: npt.NDArray[np.int64],
    p1: npt.NDArray[np.int64],
) -> dict[str, Statistic]:
    """Return effects over the eligible strata, weighted by their known counts, and the crude one beside.

    Strata of one size share a denominator, so their numerators are added first: few fractions remain.
    """
    numerators: dict[tuple[int, int], int] = {}
    effects = set()
    for m0, m1, q0, q1 in zip(*(a.tolist() for a in (n0, n1, p0, p1)), strict=True):
        effect = q1 * m0 - q0 * m1
        numerators[m0, m1] = numerators.get((m0, m1), 0) + (m0 + m1) * effect
        effects.add((effect, m0 * m1))
    deltas = [100 * Fraction(*effect) for effect in effects]
    weighted = sum((Fraction(total, m0 * m1) for (m0, m1), total in numerators.items()), Fraction())
    covered = int((n0 + n1).sum())
    return {
        "standardized_delta_pp": 100 * weighted / covered if covered else None,
        "covered_crude_delta_pp": points(
            ratio(int(p0.sum()), int(n0.sum())), ratio(int(p1.sum()), int(n1.sum()))
        ),
        "min_stratum_delta_pp": min(deltas, default=None),
        "max_stratum_delta_pp": max(deltas, default=None),
    }


def _without_largest(
    sizes: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int64],
    arms: npt.NDArray[np.int8],
    positive: _Mask,
    least: int,
) -> dict[str, Statistic]:
    """Return the effect without the largest stratum and without documents that lack the metadata."""
    # Names ascend, and argmax takes the first of equals: ties fall to the name that is first as text.
    largest = int(sizes.argmax()) if sizes.any() else -1
    kept = (codes >= 0) & (codes != largest)
    counts = [_count(kept & (arms == arm)) for arm in (0, 1)]
    rates = [ratio(_count(kept & positive & (arms == arm)), counts[arm]) for arm in (0, 1)]
    return {
        "drop_largest_n": int(sizes[largest]) if largest >= 0 else 0,
        "drop_largest_arm0_n": counts[0],
        "drop_largest_arm1_n": counts[1],
        "drop_largest_delta_pp": points(*rates) if min(counts) >= least else None,
    }


def written(value: Statistic) -> str:
    """Return a statistic as a submission would hold it.

    Examples
    --------
    >>> written(Fraction(1, 3)), written(7), written(None)
    ('0.3333333333333333', '7', 'null')
    """
    return "null" if value is None else repr(float(value)) if isinstance(value, Fraction) else str(value)


def _statistics_gate(submitted: Mapping[str, Any], recomputed: Mapping[str, Statistic], gate: Gate) -> None:
    for name in sorted(submitted.keys() - recomputed.keys()):
        gate.fail("statistics", ("statistics", name), "a field that is not asked for", "no such field")
    for name, value in recomputed.items():
        if name not in submitted:
            gate.fail("statistics", ("statistics",), f"no member {quoted(name)}", f"{name} {written(value)}")
        elif not _agrees(submitted[name], value):
            gate.fail("statistics", ("statistics", name), quoted(submitted[name]), written(value))


def _agrees(submitted: Any, value: Statistic) -> bool:
    if value is None or type(submitted) not in (int, float):
        return value is None and submitted is None
    return abs(as_written(submitted) - value) <= TOLERANCE


def check_submission(
    submission: Any, task: Task, corpus: Corpus
) -> tuple[tuple[Failure, ...], dict[str, dict[str, Statistic]]]:
    """Hold a submission against its corpus: every gate, every failure.

    Parameters
    ----------
    submission : object
        The parsed file.
    task, corpus
        What it answers.

    Returns
    -------
    failures : tuple of Failure
        Empty for a valid submission. A finding of the wrong form is not looked into any further; where a
        finding's population, comparison or partitions fail, its statistics cannot be recomputed.
    statistics : dict
        Recomputed statistics by finding id, for the findings whose statistics could be recomputed.

    Examples
    --------
    >>> task = Task.from_document({"task_id": "t", "source": "s", "kind": "group_difference", "question": "?",
    ...     "max_findings": 3, "allowed_metadata_fields": [], "min_population_n": 1, "min_group_n": 1,
    ...     "n_documents": 0, "corpus_path": "c", "corpus_sha256": "", "robustness_protocol":
    ...     {"axes": [], "min_known_per_arm": 5}})
    >>> submission = {"task_id": "t", "findings": [], "abstention_reason": ""}
    >>> print(check_submission(submission, task, Corpus(()))[0][0])
    t: whole file: contract: /abstention_reason: found ''; right: a reason, since there are no findings
    """
    failures, whole = contract_failures(submission, task)
    found = list(failures)
    statistics = {}
    for place in whole:
        finding = submission["findings"][place]
        gate = Gate(task.task_id, finding["finding_id"], ("findings", place))
        scope = resolve(finding, task, corpus, gate)
        if scope is not None:
            recomputed = expected(scope, task, corpus)
            _statistics_gate(finding["statistics"], recomputed, gate)
            statistics[finding["finding_id"]] = recomputed
        found.extend(gate.failures)
    return tuple(found), statistics


@dataclass(frozen=True, eq=False)
class Checked:
    """One task with its submission, held against its corpus.

    Attributes
    ----------
    task : Task
        The task.
    status : str
        ``missing``, ``invalid``, ``abstained`` or ``valid``.
    failures : tuple of Failure
        Why it is invalid.
    submission, sha256 : object, str
        The submission as it came and the hash of its canonical JSON; None and "" where there is none to read.
    corpus : Corpus or None
        Its corpus; None where there was nothing to hold against it.
    statistics : mapping
        Finding id to its recomputed statistics, as `expected` returns them.
    """

    task: Task
    status: Submitted
    failures: tuple[Failure, ...] = ()
    submission: Any = None
    sha256: str = ""
    corpus: Corpus | None = None
    statistics: Mapping[str, Mapping[str, Statistic]] = field(default_factory=dict)


def submission_path(folder: Path, task: Task) -> Path:
    """Return where the submission of a task lies."""
    return folder / f"{task.task_id}.json"


def check_task(benchmark: Benchmark, task: Task, submissions: Path) -> Checked:
    """Read one submission and hold it against its corpus.

    Parameters
    ----------
    benchmark : Benchmark
        Gives the data folder.
    task : Task
        The task.
    submissions : Path
        Folder of the submissions.

    Returns
    -------
    Checked
        A submission that cannot be read is invalid; it does not keep others from being checked.

    Raises
    ------
    InputError
        On trouble with the corpus, which no submission is to blame for.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from medgauge_lib.findings import read_benchmark
    >>> from medgauge_lib.findings.demo import write_demo
    >>> with TemporaryDirectory() as place:
    ...     demo = write_demo(Path(place))
    ...     benchmark = read_benchmark(demo.data)
    ...     checked = check_task(benchmark, benchmark.tasks[0], demo.submissions)
    >>> checked.status, checked.failures
    ('valid', ())
    """
    path = submission_path(submissions, task)
    if not path.exists() and not path.is_symlink():
        return Checked(task, "missing")
    try:
        submission = read_json(path)
    except InputError as error:
        right = error.remedy
        return Checked(
            task, "invalid", (Failure(task.task_id, "", "contract", "", f"a file that {error.wrong}", right),)
        )
    corpus = read_corpus(benchmark.folder, task)
    failures, statistics = check_submission(submission.value, task, corpus)
    status: Submitted = "invalid" if failures else "valid" if submission.value["findings"] else "abstained"
    return Checked(task, status, failures, submission.value, submission.sha256, corpus, statistics)


def stray_failures(benchmark: Benchmark, folder: Path, what: str) -> Iterator[Failure]:
    """Yield a failure for each JSON file of a folder that belongs to no task: nothing is passed over.

    Parameters
    ----------
    benchmark : Benchmark
        The tasks.
    folder : Path
        Of submissions or of reviews.
    what : str
        ``submission`` or ``review``.
    """
    for path in strays(folder, benchmark.tasks):
        found = f"the {what} {quoted(path.name)}"
        yield Failure(
            printable(path.stem), "", "contract", "", found, "a file named after a task of tasks.json"
        )
