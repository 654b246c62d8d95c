"""The rules a record set keeps beyond the schema, as far as they need no published figure.

Each rule has a stable code, a sentence and a severity: *unusable* where figures could not be trusted, so that
board and report refuse the records; *error* where a rule is broken; *note* where something is worth knowing.
Checks return findings and never print. A run of a void task version leaves every figure, so nothing about it
makes records unusable; it stays an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from medgauge_lib.errors import InputError
from medgauge_lib.records import INITIATIVE, RecordSet, task_difference
from medgauge_lib.results import as_written
from medgauge_lib.schema import pointer, quoted

METHODOLOGY = "0.1.0"
"""Version of the published method that the figures are computed by."""

Severity = Literal["unusable", "error", "note"]


@dataclass(frozen=True)
class Finding:
    """One place where a rule is not kept.

    Attributes
    ----------
    code : str
        The rule's stable code.
    severity : {"unusable", "error", "note"}
        What it means for the records.
    file : str
        Name of the file.
    pointer : str
        Place in the file as a JSON pointer (RFC 6901).
    published, expected : object
        What the record says, and what it would have to say.
    message : str
        The finding in one printable line.

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> [finding.code for finding in check(demo.record_set("bm-demo-ward", "1.0.0"))]
    []
    """

    code: str
    severity: Severity
    file: str
    pointer: str
    published: Any
    expected: Any
    message: str


@dataclass(frozen=True)
class Rule:
    """What a record set is held to.

    Attributes
    ----------
    code : str
        The stable code, which its findings carry.
    severity : {"unusable", "error", "note"}
        What a finding means for the records; a single finding may be milder.
    sentence : str
        What has to hold.
    """

    code: str
    severity: Severity
    sentence: str


@dataclass(frozen=True)
class Check(Rule):
    """A rule of this room, with the function that finds where it is not kept.

    Attributes
    ----------
    code, severity, sentence
        As for a `Rule`.
    find : callable
        Record set to record ids and their findings, in the order of ids and of places in the file.

    Examples
    --------
    >>> RULES[0].code, RULES[0].sentence
    ('run.numbering', 'The runs of a task are numbered 1, 2 and 3, once each.')
    """

    find: Callable[[RecordSet], Iterator[tuple[str, Finding]]]


RULES: list[Check] = []
"""Every rule, in the order in which a file's findings are told."""


def checked(records: RecordSet) -> tuple[tuple[Rule, tuple[Finding, ...]], ...]:
    """Return every rule with its findings, clean ones too.

    Parameters
    ----------
    records : RecordSet

    Returns
    -------
    tuple of (Rule, tuple of Finding)
        In the order of the rules; findings in the order of file names, then of places in the file.

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> rule, findings = checked(demo.record_set("bm-demo-ward", "1.0.0"))[0]
    >>> rule.code, rule.severity, len(findings)
    ('run.numbering', 'unusable', 0)
    """
    return tuple(
        (rule, tuple(sorted((finding for _, finding in rule.find(records)), key=lambda one: one.file)))
        for rule in RULES
    )


def check(records: RecordSet) -> tuple[Finding, ...]:
    """Return what breaks the rules, by file name; nothing where all are kept.

    Parameters
    ----------
    records : RecordSet

    Returns
    -------
    tuple of Finding
        By file name, in a file by rule, then by place.

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> check(demo.record_set("bm-demo-ward", "1.0.0"))
    ()
    """
    found = (finding for _, findings in checked(records) for finding in findings)
    return tuple(sorted(found, key=lambda finding: finding.file))


def findings_frame(findings: Iterable[Finding]) -> pd.DataFrame:
    """Return findings as rows of a table.

    Parameters
    ----------
    findings : iterable of Finding
        Of `check`, or of an audit.

    Returns
    -------
    DataFrame
        One line a finding, in the order given: ``file, pointer, rule, severity, published, expected,
        message``.

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> findings_frame(check(demo.record_set("bm-demo-ward", "1.0.0"))).empty
    True
    """
    lines = [
        (one.file, one.pointer, one.code, one.severity, one.published, one.expected, one.message)
        for one in findings
    ]
    columns = ["file", "pointer", "rule", "severity", "published", "expected", "message"]
    return pd.DataFrame(lines, columns=columns)


def require_usable(
    records: RecordSet,
    ids: Collection[str] | None = None,
    *,
    broken: Mapping[str, tuple[Finding, ...]] | None = None,
) -> None:
    """Refuse records whose figures could not be trusted.

    Parameters
    ----------
    records : RecordSet
        One benchmark version.
    ids : collection of str, optional
        The records that are asked about; all of them by default. A community record thus spoils no board.
    broken : mapping of str to tuple of Finding, optional
        What `unusable` found, where the caller has asked already.

    Raises
    ------
    InputError
        On the first *unusable* finding, naming file, place, what is wrong and what would be right.

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> require_usable(demo.record_set("bm-demo-ward", "1.0.0"))
    """
    broken = unusable(records) if broken is None else broken
    asked = [
        (finding, records.paths[record])
        for record in (records.paths if ids is None else ids)
        for finding in broken.get(record, ())
    ]
    if asked:
        first, path = min(asked, key=lambda pair: (pair[0].file, str(pair[1])))
        more = f" (and {len(asked) - 1} more such findings)" if asked[1:] else ""
        raise InputError(
            first.message + more,
            f"should be {quoted(first.expected) if not isinstance(first.expected, str) else first.expected}",
            file=path,
            pointer=first.pointer,
        )


def unusable(records: RecordSet) -> dict[str, tuple[Finding, ...]]:
    """Return the records whose figures could not be trusted, each with what makes it so.

    Parameters
    ----------
    records : RecordSet

    Returns
    -------
    dict of str to tuple of Finding
        Record id to its *unusable* findings, by rule, then by place; two files may have the same name.

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> unusable(demo.record_set("bm-demo-ward", "1.0.0"))
    {}
    """
    found: dict[str, list[Finding]] = {}
    for rule in RULES:
        for record, finding in rule.find(records) if rule.severity == "unusable" else ():
            if finding.severity == "unusable":
                found.setdefault(record, []).append(finding)
    return {record: tuple(findings) for record, findings in found.items()}


def agrees(published: float, exact: Fraction, *, decimals: int | None = None) -> bool:
    """Return whether a published number is the exact one at the precision it was published with.

    Parameters
    ----------
    published : float or int
        The number of the record.
    exact : Fraction
        The recomputed value.
    decimals : int, optional
        Decimals it was published with; those its shortest decimal form shows where not given.

    Notes
    -----
    Methodology 0.1.0, decision 9. A tie of the rounding may go either way, and the double nearest to the
    exact value always agrees: 2/3 is written 0.6666666666666666, whose last digit is not the rounded one.

    Examples
    --------
    >>> agrees(0.67, Fraction(2, 3)), agrees(0.66, Fraction(2, 3)), agrees(2 / 3, Fraction(2, 3))
    (True, False, True)
    """
    if published == exact.numerator / exact.denominator:
        return True
    shown = decimals_of(published) if decimals is None else decimals
    return bool(abs(as_written(published) - exact) * 2 * 10**shown <= 1)


def decimals_of(published: float) -> int:
    """Return how many decimals the shortest decimal form of a number shows.

    Examples
    --------
    >>> [decimals_of(number) for number in (0.25, 1e-7, 3, 3.0)]
    [2, 7, 0, 1]
    """
    exponent = Decimal(repr(published)).as_tuple().exponent
    return max(0, -int(exponent))


class Break(NamedTuple):
    """One place where a rule is not kept.

    Attributes
    ----------
    path : sequence
        Place in the record.
    published, expected : object
        What the record says, and what it would have to say.
    message : str
        The break in one printable line.
    severity : Severity or None
        Where it is another than the rule's.
    """

    path: Sequence[str | int]
    published: Any
    expected: Any
    message: str
    severity: Severity | None = None

    def as_finding(self, code: str, severity: Severity, file: str) -> Finding:
        """Return it as a finding of a rule, whose severity it has unless it is milder."""
        place = pointer(self.path)
        return Finding(
            code, self.severity or severity, file, place, self.published, self.expected, self.message
        )


_Breaks = Iterator[tuple[str, Break]]
"""Record ids, each with one break."""

_Hit = tuple[int, str, Any, Any, str]
"""A row of the runs table, the field, published, expected, message."""

_OF_TASK = ("runs", "task_key")


def _rule(
    code: str, severity: Severity, sentence: str
) -> Callable[[Callable[[RecordSet], _Breaks]], Callable[[RecordSet], _Breaks]]:
    """Enter a function among the rules; what it yields becomes findings."""

    def enter(function: Callable[[RecordSet], _Breaks]) -> Callable[[RecordSet], _Breaks]:
        def find(records: RecordSet) -> Iterator[tuple[str, Finding]]:
            for row_id, found in function(records):
                yield row_id, found.as_finding(code, severity, records.paths[row_id].name)

        RULES.append(Check(code, severity, sentence, find))
        return function

    return enter


def _by_run(function: Callable[[RecordSet], Iterator[_Hit]]) -> Callable[[RecordSet], _Breaks]:
    """Make a rule's function of one that yields rows of the runs table."""

    def breaks(records: RecordSet) -> _Breaks:
        return _in_runs(records, function(records))

    return breaks


def _in_runs(records: RecordSet, hits: Iterable[_Hit]) -> _Breaks:
    """Give each hit its place in the file, in the order of the file; void task versions only err."""
    hits = list(hits)
    if not hits:
        return  # as nearly always, and taking no rows of a wide table is not free
    rows = records.runs.iloc[[row for row, *_ in hits]]
    names = ("id", "task_index", "run_index", "task_key", "task_version")
    places = zip(*(rows[name] for name in names), strict=True)
    for (row_id, task, run, *version), hit in sorted(
        zip(places, hits, strict=True), key=lambda pair: pair[0]
    ):
        _, field, published, expected, message = hit
        steps = [field] if field in _OF_TASK else ["runs", run, field]
        severity: Severity | None = "error" if tuple(version) in records.void_versions else None
        yield row_id, Break(["run_outcomes", task, *steps], published, expected, message, severity)


def _told(number: float) -> str:
    """Return a published number as the record writes it, whole ones without a decimal."""
    return repr(number).removesuffix(".0")


def _rows(frame: pd.DataFrame) -> Iterable[Any]:
    return frame.itertuples()


def _ids(records: RecordSet, *, verified: bool) -> list[str]:
    subjects = zip(records.subjects["id"], records.subjects["verified"], strict=True)
    return [record for record, here in subjects if here == verified]


@_rule("run.numbering", "unusable", "The runs of a task are numbered 1, 2 and 3, once each.")
@_by_run
def _numbering(records: RecordSet) -> Iterator[_Hit]:
    numbers = records.runs["run"].to_numpy().reshape(-1, 3)
    for task in np.flatnonzero((numbers != [1, 2, 3]).any(axis=1)):
        told = ", ".join(map(str, numbers[task]))
        yield 3 * int(task), "runs", told, "1, 2, 3", f"the runs are numbered {told}"


@_rule("task.once", "unusable", "A task key occurs once in a record.")
def _once(records: RecordSet) -> _Breaks:
    tasks = records.runs.iloc[::3]
    live = {
        (row_id, key)
        for row_id, key, version in zip(tasks["id"], tasks["task_key"], tasks["task_version"], strict=True)
        if (key, version) not in records.void_versions
    }
    for row_id, found in _in_runs(records, _again(records)):
        # Void or not is asked of every task of this key, since any of them may stand first in the file.
        yield row_id, found._replace(severity=None if (row_id, found.published) in live else "error")


def _again(records: RecordSet) -> Iterator[_Hit]:
    ids, keys = (records.runs[name].to_numpy()[::3] for name in ("id", "task_key"))
    for before in np.flatnonzero((ids[1:] == ids[:-1]) & (keys[1:] == keys[:-1])):
        key = keys[before]
        yield 3 * int(before) + 3, "task_key", key, "another task key", f"{key} occurs twice in the record"


@_rule("run.checkpoints", "unusable", "A run passes no more checkpoints than the task has.")
@_by_run
def _checkpoints(records: RecordSet) -> Iterator[_Hit]:
    passed, total = (records.runs[f"checkpoints_{name}"].to_numpy() for name in ("passed", "total"))
    for row in np.flatnonzero(passed > total):
        published, limit = int(passed[row]), int(total[row])
        message = f"{published} of {limit} checkpoints passed"
        yield int(row), "checkpoints_passed", published, f"at most {limit}", message


@_rule("task.total", "unusable", "The number of checkpoints is the same in all runs of a task.")
@_by_run
def _total(records: RecordSet) -> Iterator[_Hit]:
    totals = records.runs["checkpoints_total"].to_numpy()
    first = totals[::3].repeat(3)
    for row in np.flatnonzero(totals != first):
        message = f"the task has {totals[row]} checkpoints here and {first[row]} in its first run"
        yield int(row), "checkpoints_total", int(totals[row]), int(first[row]), message


@_rule(
    "task.total_across", "unusable", "The number of checkpoints of a task version is the same in all records."
)
def _total_across(records: RecordSet) -> _Breaks:
    apart = set(_ids(records, verified=False))
    for row_id, found in _in_runs(records, _other_totals(records)):
        # A record the site did not verify is compared with none, so its own totals do for its figures.
        yield row_id, found._replace(severity="error") if row_id in apart else found


def _other_totals(records: RecordSet) -> Iterator[_Hit]:
    names = ("id", "task_key", "task_version", "checkpoints_total")
    tasks = enumerate(zip(*(records.runs[name].to_numpy()[::3] for name in names), strict=True))
    ranked = frozenset(_ids(records, verified=True))
    firsts: dict[tuple[str, str], tuple[int, str]] = {}
    # The board's records come first, so that none the site did not verify sets the number for them.
    for task, (row_id, key, version, total) in sorted(tasks, key=lambda task: task[1][0] not in ranked):
        first, first_id = firsts.setdefault((key, version), (total, row_id))
        if total != first:
            other = records.paths[first_id].name
            message = f"{key} {version} has {total} checkpoints here, {first} in {other}"
            yield 3 * task, "checkpoints_total", int(total), int(first), message


@_rule(
    "run.pass",
    "unusable",
    "A run passes exactly when all checkpoints passed, no veto was hit and no error occurred.",
)
@_by_run
def _pass(records: RecordSet) -> Iterator[_Hit]:
    runs = records.runs
    whole = runs["checkpoints_passed"].to_numpy() == runs["checkpoints_total"].to_numpy()
    vetoed = np.array([bool(categories) for categories in runs["veto_categories"]], dtype=bool)
    failed = runs["error_attribution"].notna().to_numpy()
    passed = runs["passed"].to_numpy()
    for row in np.flatnonzero(passed != (whole & ~vetoed & ~failed)):
        reasons = [
            "all checkpoints passed" if whole[row] else "not all checkpoints passed",
            *(["a veto was hit"] if vetoed[row] else []),
            *(["an error occurred"] if failed[row] else []),
        ]
        published = bool(passed[row])
        message = f"pass is {quoted(published)}, but {' and '.join(reasons)}"
        yield int(row), "pass", published, not published, message


@_rule("run.share", "error", "The continuous score is the share of passed checkpoints, 0 on a veto.")
@_by_run
def _share(records: RecordSet) -> Iterator[_Hit]:
    runs = records.runs
    passed, total = (runs[f"checkpoints_{name}"].to_numpy() for name in ("passed", "total"))
    vetoed = np.array([bool(categories) for categories in runs["veto_categories"]], dtype=bool)
    published = runs["s"].to_numpy()
    counted = np.where(vetoed, 0, passed)
    rows = np.flatnonzero(published != counted / total)
    finest = _finest(runs) if rows.size else {}
    for row in map(int, rows):
        share = Fraction(int(counted[row]), int(total[row]))
        shown = float(published[row])
        # A writer drops the zeros after 0 and 1, so these say no precision of their own.
        decimals = finest[runs["id"].iloc[row]] if shown in (0, 1) else None
        if not agrees(shown, share, decimals=decimals):
            why = "a veto was hit" if vetoed[row] else f"{passed[row]} of {total[row]} checkpoints passed"
            yield row, "s", shown, float(share), f"s is {_told(shown)}, but {why}"


def _finest(runs: pd.DataFrame) -> Mapping[str, int]:
    """Return the most decimals with which each record publishes a continuous score."""
    return {
        row_id: max(decimals_of(float(value)) for value in set(values))
        for row_id, values in runs["s"].groupby(runs["id"], sort=False)
    }


@_rule("verification.agrees", "error", "The fields verification_state and verified_by_site agree.")
def _verification(records: RecordSet) -> _Breaks:
    for row_id, row in records.published.items():
        state = row.get("verification_state")
        expected = "site_verified" if row["verified_by_site"] else "community_unverified"
        if state not in (None, expected):
            message = (
                f"verified_by_site is {quoted(row['verified_by_site'])}, but verification_state is {state}"
            )
            yield row_id, Break(["verification_state"], state, expected, message)


@_rule("window.order", "error", "The run window does not end before it begins.")
def _window(records: RecordSet) -> _Breaks:
    for row_id, row in records.published.items():
        window = row.get("run_window", {"from": "", "to": ""})
        if window["to"] < window["from"]:
            message = f"the run window ends on {window['to']}, before it begins on {window['from']}"
            yield row_id, Break(["run_window", "to"], window["to"], f"{window['from']} or later", message)


@_rule("void.once", "error", "A record lists a void task version once.")
def _void_once(records: RecordSet) -> _Breaks:
    for row_id, row in records.published.items():
        seen: set[tuple[str, str]] = set()
        for index, task in enumerate(row.get("voided_tasks", ())):
            version = (task["task_key"], task["task_version"])
            if version in seen:
                told = " ".join(version)
                message = f"{told} is listed twice"
                yield row_id, Break(["voided_tasks", index], told, "listed once", message)
            seen.add(version)


@_rule("void.listed", "error", "A task version that one record of the board lists as void, all list.")
def _void_listed(records: RecordSet) -> _Breaks:
    for task in _rows(records.void):
        for row_id in _ids(records, verified=True) if task.listed_by else ():
            if row_id not in task.listed_by:
                version = f"{task.task_key} {task.task_version}"
                elsewhere = records.paths[task.listed_by[0]].name
                message = f"{version} is not listed as void, but {elsewhere} lists it"
                expected = f"{version} listed, attributed to {task.attribution}"
                yield row_id, Break(["voided_tasks"], "not listed", expected, message)


@_rule("void.shown", "error", "A task version of which a run has an initiative-side error is listed as void.")
@_by_run
def _void_shown(records: RecordSet) -> Iterator[_Hit]:
    unlisted = {(task.task_key, task.task_version) for task in _rows(records.void) if not task.listed_by}
    ranked = set(_ids(records, verified=True))
    for run in _rows(records.runs[records.runs["error_attribution"].isin(INITIATIVE)]):
        if run.id in ranked and (run.task_key, run.task_version) in unlisted:
            version = f"{run.task_key} {run.task_version}"
            message = (
                f"no record lists {version} as void, but this run has an error of the {run.error_attribution}"
            )
            yield run.Index, "error", "not listed", f"{version} in voided_tasks of every record", message


@_rule("void.attribution", "error", "All records name the same cause for a void task version.")
def _void_attribution(records: RecordSet) -> _Breaks:
    causes = {(task.task_key, task.task_version): task.attribution for task in _rows(records.void)}
    for row_id in _ids(records, verified=True):
        for index, task in enumerate(records.published[row_id].get("voided_tasks", ())):
            published, expected = task["attribution"], causes[task["task_key"], task["task_version"]]
            if published != expected:
                version = f"{task['task_key']} {task['task_version']}"
                message = f"{version} is void by {published} here, by {expected} in another record"
                path: list[str | int] = ["voided_tasks", index, "attribution"]
                yield row_id, Break(path, published, expected, message)


@_rule("void.apart", "note", "A record that the site did not verify makes no task void for the board.")
def _void_apart(records: RecordSet) -> _Breaks:
    errors = records.runs[records.runs["error_attribution"].isin(INITIATIVE)]
    for row_id in _ids(records, verified=False):
        shown = errors[errors["id"] == row_id]
        versions = set(zip(shown["task_key"], shown["task_version"], strict=True))
        for task in records.published[row_id].get("voided_tasks", ()):
            versions.add((task["task_key"], task["task_version"]))
        for version in sorted(versions - records.void_versions):
            message = f"{' '.join(version)} is void here, but in no record that the site verified"
            yield row_id, Break(["voided_tasks"], "void", "not void", message)


@_rule("detail.linked", "error", "No more checkpoints are linked to a grading reference than there are.")
def _linked(records: RecordSet) -> _Breaks:
    for row_id, row in records.published.items():
        detail = row.get("closed_checkpoint_detail", {})
        linked, there = detail.get("n_reference_linked", 0), detail.get("n_checkpoints", 0)
        if linked > there:
            message = f"{linked} of {there} checkpoints are linked to a grading reference"
            path = ["closed_checkpoint_detail", "n_reference_linked"]
            yield row_id, Break(path, linked, f"at most {there}", message)


@_rule("amount.not_applicable", "error", "Where no amount is applicable, no run has one.")
@_by_run
def _amount_not_applicable(records: RecordSet) -> Iterator[_Hit]:
    without = set(records.subjects.loc[~records.subjects["amount_applicable"], "id"])
    amounts = records.runs["amount"]
    for row in np.flatnonzero(amounts.notna().to_numpy() & records.runs["id"].isin(without).to_numpy()):
        amount = float(amounts.iloc[row])
        yield (
            int(row),
            "amount",
            amount,
            "no amount",
            f"the run has an amount of {_told(amount)}, but none is applicable",
        )


@_rule("amount.partial", "note", "Where an amount is applicable, every run has one.")
def _amount_partial(records: RecordSet) -> _Breaks:
    missing = records.runs["amount"].isna().groupby(records.runs["id"]).agg(["sum", "size"])
    for row_id in records.subjects.loc[records.subjects["amount_applicable"], "id"]:
        without, runs = (int(count) for count in missing.loc[row_id])
        if without:
            message = f"{without} of {runs} runs have no amount, so the cost is not recomputed from runs"
            yield row_id, Break(["run_outcomes"], without, 0, message)


@_rule("tasks.same", "unusable", "All records of a board hold the same tasks, versions and subsets.")
def _same_tasks(records: RecordSet) -> _Breaks:
    void = records.void_versions
    sets: dict[str, set[tuple[str, str, str]]] = {row_id: set() for row_id in records.subjects["id"]}
    tasks = records.runs.iloc[::3]
    names = ("task_key", "task_version", "subset")
    for row_id, task in zip(tasks["id"], zip(*(tasks[name] for name in names), strict=True), strict=True):
        if task[:2] not in void:
            sets[row_id].add(task)
    ranked, apart = _ids(records, verified=True), _ids(records, verified=False)
    first, *others = ranked + apart
    for row_id in others:
        here, there = sets[row_id], sets[first]
        if here != there:
            name = records.paths[first].name
            message = f"does not hold the same tasks as {name}: {task_difference(here, there)}"
            # A record the site did not verify is listed apart and may hold other tasks.
            severity: Severity | None = "note" if row_id in apart else None
            expected = f"the {len(there)} tasks of {name}"
            yield row_id, Break(["run_outcomes"], f"{len(here)} tasks", expected, message, severity)


@_rule(
    "methodology.version",
    "note",
    f"The record follows methodology {METHODOLOGY}, by which figures are computed.",
)
def _methodology(records: RecordSet) -> _Breaks:
    for row_id, row in records.published.items():
        version = row["methodology_version"]
        if version != METHODOLOGY:
            message = f"the record follows methodology {version}, figures here follow {METHODOLOGY}"
            yield row_id, Break(["methodology_version"], version, METHODOLOGY, message)
