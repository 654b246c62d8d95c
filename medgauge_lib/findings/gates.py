"""The local gates before the statistics: what a finding declares, held against its corpus.

A gate is passed or failed; a failure says what was found and what would be right. Offsets count Unicode code
points, and quotations are compared sign by sign, without any normalisation. Text and numbers never compare;
numbers compare by value (4 = 4.0), text by code points; true and false are neither.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from medgauge_lib.errors import printable
from medgauge_lib.findings.contract import ASSOCIATION, GROUP, KINDS, ContractFault, Task, faults
from medgauge_lib.findings.corpus import Corpus, is_date
from medgauge_lib.schema import pointer, quoted

MOST_FILTERS, MOST_VALUES, MOST_SPANS, LEAST_SUPPORTING = 3, 20, 15, 3

OUTSIDE, POSITIVE, NEGATIVE, UNKNOWN = range(4)
"""States of a document under a condition; outside is not in the selected population."""

STATES = {"positive": POSITIVE, "negative": NEGATIVE, "unknown": UNKNOWN}

_SCALARS = frozenset({str, int, float})
_SHOWN = 3


@dataclass(frozen=True)
class Failure:
    """A gate that was not passed, or a review that was refused.

    Attributes
    ----------
    task_id, finding_id : str
        Where; `finding_id` is empty for the file as a whole.
    gate : str
        ``contract, population, comparison, partition, evidence, statistics``; for a review ``review,
        stale review`` or ``audit packet``.
    pointer : str
        The place in the file as a JSON pointer.
    found, right : str
        What stands there, and what would be right.

    Examples
    --------
    >>> print(Failure("t", "f", "statistics", "/findings/0/statistics/n11", "3", "4"))
    t: f: statistics: /findings/0/statistics/n11: found 3; right: 4
    """

    task_id: str
    finding_id: str
    gate: str
    pointer: str
    found: str
    right: str

    def __str__(self) -> str:
        place = f"{self.pointer}: " if self.pointer else ""
        who = printable(self.finding_id) or "whole file"
        return (
            f"{printable(self.task_id)}: {who}: {self.gate}: {place}found {self.found}; right: {self.right}"
        )


@dataclass(frozen=True)
class Scope:
    """What a finding declares, as one value a document of the corpus.

    Attributes
    ----------
    population : array of bool, shape (n_documents,)
        The documents its filters select.
    arms : array of int, shape (n_documents,)
        Group 0 or 1 of the comparison, −1 for neither; all −1 for an association.
    states : tuple of arrays of int, shape (n_documents,)
        For each definition in order: `POSITIVE`, `NEGATIVE`, `UNKNOWN`, or `OUTSIDE` the population.
    """

    population: npt.NDArray[np.bool_]
    arms: npt.NDArray[np.int8]
    states: tuple[npt.NDArray[np.int8], ...]


class Gate:
    """Collects the failures of one finding.

    Parameters
    ----------
    task_id, finding_id : str
        Whom the failures are about.
    path : sequence
        Place of the finding in its file.
    """

    def __init__(self, task_id: str, finding_id: str, path: Sequence[str | int]) -> None:
        self.task_id, self.finding_id, self.path = task_id, finding_id, tuple(path)
        self.failures: list[Failure] = []

    def fail(self, gate: str, place: Iterable[str | int], found: str, right: str) -> None:
        """Note one failure."""
        where = pointer((*self.path, *place))
        self.failures.append(Failure(self.task_id, self.finding_id, gate, where, found, right))


def contract_failures(submission: Any, task: Task) -> tuple[tuple[Failure, ...], tuple[int, ...]]:
    """Return where a submission is not of the form that can be checked at all.

    Parameters
    ----------
    submission : object
        The parsed file.
    task : Task
        The task that the name of the file says.

    Returns
    -------
    failures : tuple of Failure
        All under the gate ``contract``: members, types, the task's id, the number of findings, ids that
        occur twice, a reason for abstaining just where there is no finding.
    whole : tuple of int
        Places of the findings whose form is right, so that they can be looked into.

    Examples
    --------
    See `medgauge_lib.findings.statistics.check_submission`, which calls it first.
    """
    found = faults(submission, "submission")
    if found:
        broken = {fault.path[1] if len(fault.path) > 1 else None for fault in found}
        failures = tuple(_contract_failure(fault, submission, task) for fault in found)
        # A fault above the findings leaves nothing that could be relied on.
        places = () if None in broken else range(len(submission["findings"]))
        return failures, tuple(place for place in places if place not in broken)
    gate = Gate(task.task_id, "", ())
    if submission["task_id"] != task.task_id:
        gate.fail(
            "contract",
            ("task_id",),
            quoted(submission["task_id"]),
            f"{quoted(task.task_id)}, as the file's name",
        )
    findings, reason = submission["findings"], submission["abstention_reason"]
    if len(findings) > task.max_findings:
        gate.fail("contract", ("findings",), f"{len(findings)} findings", f"at most {task.max_findings}")
    if findings and reason:
        gate.fail(
            "contract", ("abstention_reason",), quoted(reason), "an empty text, since there are findings"
        )
    if not findings and not reason.strip():
        gate.fail("contract", ("abstention_reason",), quoted(reason), "a reason, since there are no findings")
    ids = [finding["finding_id"] for finding in findings]
    for place, finding_id in enumerate(ids):
        if finding_id in ids[:place]:
            right = f"an id of its own; /findings/{ids.index(finding_id)} has it"
            gate.fail("contract", ("findings", place, "finding_id"), quoted(finding_id), right)
    return tuple(gate.failures), tuple(range(len(findings)))


def _contract_failure(fault: ContractFault, submission: Any, task: Task) -> Failure:
    more = f" (and at {fault.more} more places)" if fault.more else ""
    finding_id = _finding_at(submission, fault.path)
    return Failure(task.task_id, finding_id, "contract", fault.pointer, fault.found + more, fault.right)


def _finding_at(submission: Any, path: Sequence[str | int]) -> str:
    """Return the id of the finding that a path leads into, empty where it has none."""
    if len(path) < 2 or path[0] != "findings":
        return ""
    finding = submission["findings"][path[1]]
    name = finding.get("finding_id") if isinstance(finding, dict) else None
    return name if isinstance(name, str) else ""


def resolve(finding: Mapping[str, Any], task: Task, corpus: Corpus, gate: Gate) -> Scope | None:
    """Hold a finding against its corpus up to the evidence.

    Parameters
    ----------
    finding : mapping
        Of the form that the contract asks for.
    task, corpus
        What it is about.
    gate : Gate
        Takes the failures.

    Returns
    -------
    Scope or None
        What it declares; None where population, comparison or partitions fail, since nothing can be counted
        then.
    """
    conditions = _conditions(finding, task, gate)
    population = _population(finding, task, corpus, gate)
    arms = _arms(finding, task, corpus, gate, population)
    states = _partitions(finding, conditions, corpus, gate, population)
    _quotations(finding, corpus, gate)
    if population is None or arms is None or states is None:
        return None
    _roles(finding, corpus, gate, states)
    return Scope(population, arms, states)


def _conditions(finding: Mapping[str, Any], task: Task, gate: Gate) -> list[str] | None:
    """Return the ids of the conditions, None where definitions and assignments do not fit each other."""
    before = len(gate.failures)
    if finding["kind"] != task.kind:
        known = " (a kind of another task)" if finding["kind"] in KINDS else ""
        gate.fail("contract", ("kind",), quoted(finding["kind"]) + known, quoted(task.kind))
    wanted = 2 if task.kind == ASSOCIATION else 1
    defined = [definition["condition_id"] for definition in finding["definitions"]]
    assigned = [assignment["condition_id"] for assignment in finding["assignments"]]
    if len(defined) != wanted:
        gate.fail("contract", ("definitions",), f"{len(defined)} definitions", f"{wanted} for {task.kind}")
    elif len(set(defined)) != len(defined):
        gate.fail("contract", ("definitions",), f"the condition {quoted(defined[0])} twice", "two conditions")
    elif sorted(assigned) != sorted(defined):
        gate.fail(
            "contract",
            ("assignments",),
            f"assignments of {', '.join(map(quoted, assigned)) or 'no condition'}",
            f"one of each condition: {', '.join(map(quoted, defined))}",
        )
    return defined if len(gate.failures) == before else None


def _population(
    finding: Mapping[str, Any], task: Task, corpus: Corpus, gate: Gate
) -> npt.NDArray[np.bool_] | None:
    rules = finding["population"]["filters"]
    place = ("population", "filters")
    before = len(gate.failures)
    if len(rules) > MOST_FILTERS:
        gate.fail("population", place, f"{len(rules)} filters", f"at most {MOST_FILTERS}")
    for number, rule in enumerate(rules):
        if rule["field"] not in task.fields:
            gate.fail("population", (*place, number, "field"), quoted(rule["field"]), _one_of(task.fields))
        wrong = _target_fault(rule)
        if wrong:
            gate.fail("population", (*place, number, "value"), *wrong)
    if len(gate.failures) > before:
        return None
    selected = select(corpus, rules)
    size = int(selected.sum())
    if size < task.min_population_n:
        gate.fail("population", place, f"{size} documents", f"at least {task.min_population_n}")
        return None
    return selected


def select(corpus: Corpus, filters: Iterable[Mapping[str, Any]]) -> npt.NDArray[np.bool_]:
    """Return which documents the filters of a population select together.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    filters : iterable of mapping
        Each with ``field``, ``op`` and a ``value`` that fits it.

    Examples
    --------
    >>> number, text = ({"doc_id": f"{rating!r}", "text": "", "rating": rating} for rating in (4.0, "4"))
    >>> corpus = Corpus((number, text))
    >>> select(corpus, [{"field": "rating", "op": "eq", "value": 4}]).tolist()
    [True, False]
    """
    selected = np.ones(len(corpus), dtype=bool)
    for rule in filters:
        selected &= _matches(corpus.column(rule["field"]), rule["op"], rule["value"])
    return selected


def _one_of(names: Collection[str]) -> str:
    return f"one of {', '.join(map(printable, names))}" if names else "no filter; the task allows no field"


def _target_fault(rule: Mapping[str, Any]) -> tuple[str, str] | None:
    value = rule["value"]
    if rule["op"] != "in":
        return None if type(value) in _SCALARS else (quoted(value), "one text or number")
    if not isinstance(value, list):
        return quoted(value), f"a list of 1 to {MOST_VALUES} texts or numbers"
    return _list_fault(value)


def _list_fault(values: list[Any]) -> tuple[str, str] | None:
    right = f"a list of 1 to {MOST_VALUES} texts or numbers"
    if not 1 <= len(values) <= MOST_VALUES:
        return f"a list of {len(values)}", right
    odd = next((value for value in values if type(value) not in _SCALARS), None)
    if odd is not None or None in values:
        return f"a list with {quoted(odd)}", right
    return None


def _matches(column: Sequence[Any], op: str, target: Any) -> npt.NDArray[np.bool_]:
    """Return which values of a column a filter selects; a missing value matches nothing."""
    if op in ("eq", "in"):
        targets = set(target if op == "in" else [target])
        # A set finds 4 by 4.0 and never by "4"; true equals 1 there, so the type is asked for first.
        hits = [type(value) in _SCALARS and value in targets for value in column]
    else:
        kind: Any = str if isinstance(target, str) else (int, float)
        comparable = [isinstance(value, kind) and not isinstance(value, bool) for value in column]
        if op == "gte":
            hits = [ok and value >= target for ok, value in zip(comparable, column, strict=True)]
        else:
            hits = [ok and value <= target for ok, value in zip(comparable, column, strict=True)]
    return np.array(hits, dtype=bool)


def _arms(
    finding: Mapping[str, Any],
    task: Task,
    corpus: Corpus,
    gate: Gate,
    population: npt.NDArray[np.bool_] | None,
) -> npt.NDArray[np.int8] | None:
    comparison = finding["comparison"]
    if task.kind == ASSOCIATION:
        if comparison is not None:
            gate.fail("comparison", ("comparison",), quoted(comparison), "null for an association")
            return None
        return np.full(len(corpus), -1, dtype=np.int8)
    fault = (_groups_fault if task.kind == GROUP else _cutoff_fault)(comparison, task)
    if fault:
        gate.fail("comparison", ("comparison", *fault[0]), *fault[1:])
        return None
    if population is None:
        return None
    if task.kind == GROUP:
        group = {value: arm for arm, values in enumerate(comparison["groups"]) for value in values}
        column = corpus.column(comparison["field"])
        sides = [group.get(value, -1) if type(value) in _SCALARS else -1 for value in column]
    else:
        cutoff = comparison["cutoff"]
        sides = [-1 if day is None else int(day >= cutoff) for day in corpus.dates]
    arms: npt.NDArray[np.int8] = np.array(sides, dtype=np.int8)
    arms[~population] = -1
    sizes = [int((arms == arm).sum()) for arm in (0, 1)]
    for arm, size in enumerate(sizes):
        if size < task.min_group_n:
            found = f"{size} documents in group {arm}"
            gate.fail("comparison", ("comparison",), found, f"at least {task.min_group_n} in each group")
    return arms if min(sizes) >= task.min_group_n else None


_ComparisonFault = tuple[tuple[str | int, ...], str, str]


def _members_fault(comparison: Any, members: set[str]) -> _ComparisonFault | None:
    right = f"an object with exactly the members {' and '.join(sorted(members))}"
    if not isinstance(comparison, dict):
        return (), quoted(comparison), right
    if set(comparison) != members:
        return (), f"the members {', '.join(map(quoted, comparison)) or 'none'}", right
    return None


def _groups_fault(comparison: Any, task: Task) -> _ComparisonFault | None:
    fault = _members_fault(comparison, {"field", "groups"})
    if fault:
        return fault
    fields = [name for name in task.fields if name != "timestamp"]
    if comparison["field"] not in fields:
        return ("field",), quoted(comparison["field"]), _one_of(fields)
    groups = comparison["groups"]
    if not isinstance(groups, list) or len(groups) != 2 or not all(isinstance(g, list) for g in groups):
        return ("groups",), quoted(groups), "two lists of values"
    for number, group in enumerate(groups):
        wrong = _list_fault(group)
        if wrong:
            return (("groups", number), *wrong)
    values = [value for group in groups for value in group]
    for place, value in enumerate(values):
        if value in values[:place]:
            return ("groups",), f"the value {quoted(value)} twice", "disjoint groups, no value twice"
    return None


def _cutoff_fault(comparison: Any, task: Task) -> _ComparisonFault | None:
    fault = _members_fault(comparison, {"field", "cutoff"})
    if fault:
        return fault
    if comparison["field"] != "timestamp":
        return ("field",), quoted(comparison["field"]), "'timestamp'"
    cutoff = comparison["cutoff"]
    if not isinstance(cutoff, str) or not is_date(cutoff):
        return ("cutoff",), quoted(cutoff), "a date of the calendar as YYYY-MM-DD"
    return None


def _partitions(
    finding: Mapping[str, Any],
    conditions: list[str] | None,
    corpus: Corpus,
    gate: Gate,
    population: npt.NDArray[np.bool_] | None,
) -> tuple[npt.NDArray[np.int8], ...] | None:
    """Return the state of every document under each condition, in the order of the definitions."""
    by_condition: dict[str, npt.NDArray[np.int8]] = {}
    for place, assignment in enumerate(finding["assignments"]):
        states = _states(assignment, ("assignments", place), corpus, gate, population)
        if states is not None:
            by_condition[assignment["condition_id"]] = states
    if conditions is None or len(by_condition) != len(conditions):
        return None
    return tuple(by_condition[condition] for condition in conditions)


def _states(
    assignment: Mapping[str, Any],
    place: tuple[str | int, ...],
    corpus: Corpus,
    gate: Gate,
    population: npt.NDArray[np.bool_] | None,
) -> npt.NDArray[np.int8] | None:
    before = len(gate.failures)
    states = np.zeros(len(corpus), dtype=np.int8)
    counts = np.zeros(len(corpus), dtype=np.int64)
    get = corpus.index.get
    for name, state in STATES.items():
        ids = assignment[f"{name}_doc_ids"]
        places = np.array([get(doc_id, -1) for doc_id in ids], dtype=np.int64)
        known = places[places >= 0]
        if len(known) < len(ids):
            strange = [doc_id for doc_id in ids if doc_id not in corpus.index]
            gate.fail(
                "partition", (*place, f"{name}_doc_ids"), _ids(strange), "ids of documents of the corpus"
            )
        counts += np.bincount(known, minlength=len(corpus))
        states[known] = state
    wrongs = [(counts > 1, "more than once", "each document exactly once")]
    if population is not None:
        wrongs.append((population & (counts == 0), "missing", "every document of the selected population"))
        wrongs.append(
            (~population & (counts > 0), "outside the population", "only documents that the filters select")
        )
    for mask, wrong, right in wrongs:
        if mask.any():
            ids = [corpus.documents[number]["doc_id"] for number in np.flatnonzero(mask)]
            gate.fail("partition", place, f"{_ids(ids)} {wrong}", right)
    return states if len(gate.failures) == before else None


def _ids(ids: Sequence[str]) -> str:
    more = ", …" if len(ids) > _SHOWN else ""
    noun = "document" if len(ids) == 1 else "documents"
    return f"{len(ids)} {noun} ({', '.join(map(quoted, ids[:_SHOWN]))}{more})"


def _quotations(finding: Mapping[str, Any], corpus: Corpus, gate: Gate) -> None:
    spans: dict[tuple[str, Any, Any], int] = {}
    if len(finding["evidence"]) > MOST_SPANS:
        gate.fail("evidence", ("evidence",), f"{len(finding['evidence'])} spans", f"at most {MOST_SPANS}")
    for place, span in enumerate(finding["evidence"]):
        key = (span["doc_id"], span["start"], span["end"])
        if key in spans:
            found = f"the span of /evidence/{spans[key]} again"
            gate.fail("evidence", ("evidence", place), found, "each span once")
        spans.setdefault(key, place)
        if span["doc_id"] not in corpus.index:
            gate.fail(
                "evidence", ("evidence", place, "doc_id"), quoted(span["doc_id"]), "a document of the corpus"
            )
            continue
        wrong = quotation_fault(corpus.documents[corpus.index[span["doc_id"]]]["text"], span)
        if wrong:
            gate.fail("evidence", ("evidence", place), *wrong)


def quotation_fault(text: str, span: Mapping[str, Any]) -> tuple[str, str] | None:
    r"""Return what is wrong with a quotation, and what would be right; None where it is exact.

    Parameters
    ----------
    text : str
        The document.
    span : mapping
        ``start``, ``end`` (code points, end excluded) and ``quote``.

    Examples
    --------
    >>> quotation_fault("👍 so", {"start": 2, "end": 4, "quote": "so"})
    >>> quotation_fault("👍 so", {"start": 3, "end": 5, "quote": "so"})
    ("'o' at 3 to 5 (the text ends at 4)", "'so', or 2 to 4: these offsets count UTF-16 units")
    """
    start, end, quote = span["start"], span["end"], span["quote"]
    if type(start) is not int or type(end) is not int:
        return f"the offsets {quoted(start)} and {quoted(end)}", "integers written without a point"
    if 0 <= start < end <= len(text) and text[start:end] == quote:
        return None
    inside = 0 <= start < end
    found = f"{quoted(text[start:end])} at {start} to {end}" if inside else f"the offsets {start} to {end}"
    if inside and end > len(text):
        found += f" (the text ends at {len(text)})"
    place = text.find(quote)
    if place >= 0:
        why = _units(text, start, end, quote)
        return found, f"{quoted(quote)}, or {place} to {place + len(quote)}{why}"
    if _folded(quote) in _folded(text):
        return found, f"the signs of the text; the quote {quoted(quote)} is a normalised form of them"
    return found, f"the text as it stands; {quoted(quote)} does not occur in the document"


def _units(text: str, start: int, end: int, quote: str) -> str:
    """Return a hint where the offsets would fit in another unit."""
    for encoding, size, unit in (("utf-16-le", 2, "UTF-16 units"), ("utf-8", 1, "bytes")):
        if text.encode(encoding)[start * size : end * size] == quote.encode(encoding) and start >= 0:
            return f": these offsets count {unit}"
    return ""


def _folded(text: str) -> str:
    """Return a text as normalisers leave it: compatibility forms, line ends and spaces made alike."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _roles(
    finding: Mapping[str, Any], corpus: Corpus, gate: Gate, states: Sequence[npt.NDArray[np.int8]]
) -> None:
    support = np.logical_and.reduce([state == POSITIVE for state in states])
    if len(states) == 1:
        against = states[0] == NEGATIVE
        kind = "a known negative document"
    else:
        first, second = states
        against = ((first == POSITIVE) & (second == NEGATIVE)) | ((first == NEGATIVE) & (second == POSITIVE))
        kind = "a known discordant document"
    pools = {
        "supporting": (support, "a positive document" if len(states) == 1 else "a jointly positive document"),
        "counterexample": (against, kind),
        "context": (states[0] != OUTSIDE, "a document of the selected population"),
    }
    cited: dict[str, set[str]] = {role: set() for role in pools}
    for place, span in enumerate(finding["evidence"]):
        number = corpus.index.get(span["doc_id"])
        if number is None:
            continue
        cited[span["role"]].add(span["doc_id"])
        pool, right = pools[span["role"]]
        if not pool[number]:
            found = f"{quoted(span['doc_id'])} as {span['role']} ({_named(states, number)})"
            gate.fail("evidence", ("evidence", place), found, right)
    if len(cited["supporting"]) < LEAST_SUPPORTING:
        found = f"{len(cited['supporting'])} supporting documents"
        gate.fail("evidence", ("evidence",), found, f"at least {LEAST_SUPPORTING} distinct ones")
    if against.any() and not cited["counterexample"]:
        right = f"at least one: {kind} such as {quoted(corpus.documents[int(against.argmax())]['doc_id'])}"
        gate.fail("evidence", ("evidence",), "no counterexample", right)


def _named(states: Sequence[npt.NDArray[np.int8]], number: int) -> str:
    names = ("outside the population", *STATES)
    return ", ".join(names[state[number]] for state in states)
