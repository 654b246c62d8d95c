"""Local gates: what a submission must keep, and the words a failure is told in."""

from __future__ import annotations

import copy
import unicodedata
from typing import Any

import pytest
from make_findings import KIND, finding, rows, span, submission, task

from medgauge_lib.findings import Corpus, Task, check_submission
from medgauge_lib.findings.gates import quotation_fault, select


def told(answer: Any, kind: str = KIND["group"], documents: Any = None, **over: Any) -> list[str]:
    """Return the failures of a submission as lines."""
    corpus = Corpus(tuple(rows() if documents is None else documents))
    return [str(one) for one in check_submission(answer, Task.from_document(task(kind, **over)), corpus)[0]]


def broken(change: Any, kind: str = KIND["group"], **over: Any) -> list[str]:
    """Return the failures of a valid finding after a change in place."""
    made = copy.deepcopy(finding(rows(), kind))
    change(made)
    return told(submission(made), kind, **over)


@pytest.mark.parametrize("kind", sorted(KIND.values()))
def test_valid_findings_pass_every_gate(kind):
    """A finding of each kind that keeps every rule has no failure."""
    assert told(submission(finding(rows(), kind)), kind) == []


def test_abstention_needs_a_reason_and_only_an_abstention_has_one():
    """An empty list with a reason passes; without one, or with findings beside it, it does not."""
    assert told(submission(reason="Nothing held up.")) == []
    place = "t1: whole file: contract: /abstention_reason"
    assert told(submission(reason="  ")) == [
        f"{place}: found '  '; right: a reason, since there are no findings"
    ]
    assert told(submission(finding(rows()), reason="but")) == [
        f"{place}: found 'but'; right: an empty text, since there are findings"
    ]


CONTRACT = [
    (
        lambda f: f.pop("claim"),
        "/findings/0: found no member 'claim'; right: a finding with exactly the members",
    ),
    (lambda f: f.update(extra=1), "/findings/0: found the unknown member 'extra'"),
    (lambda f: f.update(claim=" "), "/findings/0/claim: found ' '; right: a text that is not empty"),
    (
        lambda f: f.update(kind="temporal_change"),
        "/findings/0/kind: found 'temporal_change' (a kind of another task)",
    ),
    (
        lambda f: f.update(comparison=[]),
        "/findings/0/comparison: found an empty list; right: two groups, a cutoff",
    ),
    (
        lambda f: f["evidence"][0].update(role="proof"),
        "/findings/0/evidence/0/role: found 'proof'; right: supporting",
    ),
    (lambda f: f["evidence"][0].update(start=True), "/findings/0/evidence/0/start: found true"),
    (
        lambda f: f["definitions"].append(f["definitions"][0]),
        "/findings/0/definitions: found 2 definitions; right: 1",
    ),
    (
        lambda f: f["assignments"][0].update(condition_id="c9"),
        "/findings/0/assignments: found assignments of 'c9'; right: one of each condition: 'c1'",
    ),
    (lambda f: f.update(limitations=[]), "/findings/0/limitations: found an empty list; right: a list"),
    (lambda f: f.update(limitations=["a", "a"]), "/findings/0/limitations: found an array; right: a list"),
    (
        lambda f: f["assignments"][0].update(unknown_doc_ids=[1, 2, 3]),
        "/findings/0/assignments/0/unknown_doc_ids/0: found 1 (and at 2 more places)",
    ),
]


@pytest.mark.parametrize(("change", "words"), CONTRACT)
def test_contract_failures_name_place_and_right_form(change, words):
    """A finding of the wrong form is one line with place, what stands there and what would be right."""
    lines = broken(change)
    assert len(lines) == 1
    assert lines[0].startswith(f"t1: f1: contract: {words}")


@pytest.mark.parametrize("answer", [None, [], {}, 3, {"task_id": "t1"}])
def test_no_submission_at_all_is_told(answer):
    """Whatever JSON a file holds, it fails with a line and nothing breaks."""
    assert all(line.startswith("t1: whole file: contract: ") for line in told(answer))
    assert told(answer)


def test_findings_are_counted_and_their_ids_differ():
    """More findings than allowed, or an id twice, is a failure of the contract."""
    made, place = finding(rows()), "t1: whole file: contract: /findings"
    assert told(submission(made, made), max_findings=1) == [
        f"{place}: found 2 findings; right: at most 1",
        f"{place}/1/finding_id: found 'f1'; right: an id of its own; /findings/0 has it",
    ]


def test_another_tasks_submission_is_told():
    """The task id inside must be that of the file's name."""
    answer = submission(finding(rows()), task_id="t2")
    assert told(answer) == ["t1: whole file: contract: /task_id: found 't2'; right: 't1', as the file's name"]


def test_one_broken_finding_does_not_hide_another():
    """The finding beside one of the wrong form is looked into all the same."""
    other = finding(rows(), finding_id="f2")
    other["statistics"]["corpus_total_n"] = 1
    lines = told(submission(finding(rows()) | {"claim": 7}, other))
    assert [line.split(": ")[1:3] for line in lines] == [["f1", "contract"], ["f2", "statistics"]]


SCOPE = [
    (
        [{"field": "text", "op": "eq", "value": "x"}],
        "filters/0/field: found 'text'; right: one of entity_id, rating",
    ),
    ([{"field": "doc_id", "op": "eq", "value": "x"}], "filters/0/field: found 'doc_id'"),
    ([{"field": "label", "op": "eq", "value": "x"}], "filters/0/field: found 'label'"),
    (
        [{"field": "rating", "op": "eq", "value": None}],
        "filters/0/value: found null; right: one text or number",
    ),
    ([{"field": "rating", "op": "eq", "value": True}], "filters/0/value: found true"),
    ([{"field": "rating", "op": "eq", "value": [1]}], "filters/0/value: found an array"),
    ([{"field": "rating", "op": "in", "value": 1}], "filters/0/value: found 1; right: a list of 1 to 20"),
    ([{"field": "rating", "op": "in", "value": []}], "filters/0/value: found a list of 0"),
    ([{"field": "rating", "op": "in", "value": [1] * 21}], "filters/0/value: found a list of 21"),
    ([{"field": "rating", "op": "in", "value": [1, None]}], "filters/0/value: found a list with null"),
    ([{"field": "rating", "op": "gte", "value": 0}] * 4, "filters: found 4 filters; right: at most 3"),
    ([{"field": "rating", "op": "eq", "value": 99}], "filters: found 0 documents; right: at least 1"),
]


@pytest.mark.parametrize(("filters", "words"), SCOPE)
def test_population_must_be_permitted(filters, words):
    """Filters use allowed metadata, scalars and few values, and select enough documents."""
    allowed = ["entity_id", "rating", "text", "doc_id"]
    lines = broken(lambda f: f["population"].update(filters=filters), allowed_metadata_fields=allowed)
    assert lines[0].startswith(f"t1: f1: population: /findings/0/population/{words}")


def test_small_population_is_told():
    """A population below the task's minimum fails, with both numbers."""
    lines = told(submission(finding(rows())), min_population_n=25)
    assert lines == [
        "t1: f1: population: /findings/0/population/filters: found 24 documents; right: at least 25"
    ]


ROWS = [4, 4.0, "4", True, 1, "", None, 5, "a", [4]]


@pytest.mark.parametrize(
    ("op", "value", "hits"),
    [
        ("eq", 4, [0, 1]),
        ("eq", 4.0, [0, 1]),
        ("eq", "4", [2]),
        ("eq", 1, [4]),
        ("eq", "", [5]),
        ("in", [4, "a"], [0, 1, 8]),
        ("in", [1.0], [4]),
        ("gte", 4, [0, 1, 7]),
        ("lte", 4, [0, 1, 4]),
        ("gte", "4", [2, 8]),
        ("lte", "4", [2, 5]),
    ],
)
def test_text_and_numbers_never_compare(op, value, hits):
    """Numbers match by value and text by signs; true, null and lists match nothing, not even 1."""
    corpus = Corpus(tuple({"doc_id": str(n), "text": "", "rating": rating} for n, rating in enumerate(ROWS)))
    selected = select(corpus, [{"field": "rating", "op": op, "value": value}])
    assert [n for n, hit in enumerate(selected) if hit] == hits


@pytest.mark.parametrize(
    ("op", "value", "hits"),
    [("eq", 2024, [0]), ("eq", "2024", []), ("lte", 2023, [1]), ("in", [2023, 2024], [0, 1])],
)
def test_report_year_is_a_number_from_the_timestamp(op, value, hits):
    """report_year is the year of the date; a bad date has none and text never matches it."""
    stamps = ["2024-05-01T10:00", "2023-12-31", "2023-02-29", None]
    corpus = Corpus(tuple({"doc_id": str(n), "text": "", "timestamp": s} for n, s in enumerate(stamps)))
    selected = select(corpus, [{"field": "report_year", "op": op, "value": value}])
    assert [n for n, hit in enumerate(selected) if hit] == hits


GROUPS = [
    (None, ": found null; right: an object with exactly the members field and groups"),
    ({"field": "team"}, ": found the members 'field'"),
    ({"field": "timestamp", "groups": [["a"], ["b"]]}, "/field: found 'timestamp'; right: one of entity_id"),
    ({"field": "text", "groups": [["a"], ["b"]]}, "/field: found 'text'"),
    ({"field": "team", "groups": [["a"]]}, "/groups: found an array; right: two lists of values"),
    ({"field": "team", "groups": ["a", "b"]}, "/groups: found an array; right: two lists of values"),
    ({"field": "team", "groups": [["a"], []]}, "/groups/1: found a list of 0"),
    ({"field": "team", "groups": [["a"], [None]]}, "/groups/1: found a list with null"),
    ({"field": "team", "groups": [["a", "b"], ["b"]]}, "/groups: found the value 'b' twice; right: disjoint"),
    ({"field": "rating", "groups": [[4], [4.0]]}, "/groups: found the value 4.0 twice"),
    (
        {"field": "team", "groups": [["a"], ["z"]]},
        ": found 0 documents in group 1; right: at least 1 in each group",
    ),
]


@pytest.mark.parametrize(("comparison", "words"), GROUPS)
def test_groups_must_be_two_disjoint_lists(comparison, words):
    """A comparison of groups names one allowed field and disjoint values, and each arm holds documents."""
    lines = broken(lambda f: f.update(comparison=comparison))
    assert lines[0].startswith(f"t1: f1: comparison: /findings/0/comparison{words}")


TIMES = [
    ({"field": "rating", "cutoff": "2024-01-01"}, "/field: found 'rating'; right: 'timestamp'"),
    (
        {"field": "timestamp", "cutoff": "2024-02-30"},
        "/cutoff: found '2024-02-30'; right: a date of the calendar",
    ),
    ({"field": "timestamp", "cutoff": "20240101"}, "/cutoff: found '20240101'"),
    ({"field": "timestamp", "cutoff": "2024-W01-1"}, "/cutoff: found '2024-W01-1'"),
    ({"field": "timestamp", "cutoff": 2024}, "/cutoff: found 2024"),
    ({"field": "timestamp", "cutoff": "2030-01-01"}, ": found 0 documents in group 1"),
]


@pytest.mark.parametrize(("comparison", "words"), TIMES)
def test_cutoff_must_be_a_date(comparison, words):
    """A comparison of times has a date of the calendar, and documents on both sides."""
    lines = broken(lambda f: f.update(comparison=comparison), KIND["time"])
    assert lines[0].startswith(f"t1: f1: comparison: /findings/0/comparison{words}")


def test_an_association_compares_nothing():
    """An association's comparison is null."""
    lines = broken(lambda f: f.update(comparison={"field": "team", "groups": [[], []]}), KIND["association"])
    assert lines == [
        "t1: f1: comparison: /findings/0/comparison: found an object; right: null for an association"
    ]


def test_arms_count_unknowns_too():
    """An arm's size is that of all its documents: unknown ones keep it above the minimum."""
    documents = [*rows(), {"doc_id": "u", "text": "Doc", "team": "a", "timestamp": None}]
    assert told(submission(finding(documents)), documents=documents, min_group_n=12) == []
    place = "t1: f1: comparison: /findings/0/comparison"
    assert told(submission(finding(rows())), min_group_n=13) == [
        f"{place}: found 12 documents in group {arm}; right: at least 13 in each group" for arm in (0, 1)
    ]


def assigned(finding_made: Any) -> Any:
    """Return the lists of ids of the first condition."""
    return finding_made["assignments"][0]


PARTITIONS = [
    (
        lambda f: assigned(f)["positive_doc_ids"].pop(0),
        "0: found 1 document ('d00') missing; right: every document",
    ),
    (
        lambda f: assigned(f)["unknown_doc_ids"].append("d00"),
        "0: found 1 document ('d00') more than once; right: each document exactly once",
    ),
    (
        lambda f: assigned(f)["positive_doc_ids"].append("d00"),
        "0: found 1 document ('d00') more than once; right: each document exactly once",
    ),
    (
        lambda f: assigned(f)["unknown_doc_ids"].append("dx"),
        "0/unknown_doc_ids: found 1 document ('dx'); right: ids of documents of the corpus",
    ),
]


@pytest.mark.parametrize(("change", "words"), PARTITIONS)
def test_partitions_must_be_complete(change, words):
    """An id twice, missing or unknown is named; statistics are not compared then."""
    lines = broken(change)
    assert len(lines) == 1
    assert lines[0].startswith(f"t1: f1: partition: /findings/0/assignments/{words}")


def test_documents_outside_the_population_must_not_be_assigned():
    """A partition of the whole corpus is wrong where filters select a part of it."""
    made = finding(rows())
    made["population"]["filters"] = [{"field": "rating", "op": "gte", "value": 2}]
    lines = told(submission(made))
    words = "found 5 documents ('d00', 'd05', 'd10', …) outside the population"
    right = "right: only documents that the filters select"
    assert lines == [f"t1: f1: partition: /findings/0/assignments/0: {words}; {right}"]


TEXTS = [
    "Plain text with a quote.",
    "👍🏽 emoji before a quote, 👩‍👩‍👧 inside",
    "e\u0301 combining before a quote",
    "line\r\nends\r\nbefore a quote",
    "نص عربي قبل a quote و بعده",
    "\U0001d54f beyond the first plane a quote",
]


@pytest.mark.parametrize("text", TEXTS)
def test_offsets_count_code_points(text):
    """A quotation is text[start:end] in Unicode code points whatever the text holds before it."""
    start = text.index("a quote")
    assert quotation_fault(text, {"start": start, "end": start + 7, "quote": "a quote"}) is None
    assert quotation_fault(text, {"start": 0, "end": len(text), "quote": text}) is None


@pytest.mark.parametrize(
    ("text", "unit"),
    [(TEXTS[1], "UTF-16 units"), (TEXTS[5], "UTF-16 units"), (TEXTS[4], "bytes"), (TEXTS[2], "bytes")],
)
def test_offsets_in_other_units_are_recognised(text, unit):
    """Offsets in UTF-16 units or bytes fail, and the failure says which unit they count."""
    before = text[: text.index("a quote")]
    start = len(before.encode("utf-16-le")) // 2 if unit == "UTF-16 units" else len(before.encode())
    _, right = quotation_fault(text, {"start": start, "end": start + 7, "quote": "a quote"})
    assert right.endswith(f"or {len(before)} to {len(before) + 7}: these offsets count {unit}")


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("a cafe\u0301 there", unicodedata.normalize("NFC", "cafe\u0301")),
        ("a caf\u00e9 there", unicodedata.normalize("NFD", "caf\u00e9")),
        ("one\r\ntwo", "one\ntwo"),
        ("non\u00a0breaking", "non breaking"),
        ("ﬁne", "fine"),
    ],
)
def test_normalised_quotations_fail_and_are_recognised(text, quote):
    """A quotation that reads alike but was normalised is not the text, and the failure says so."""
    start = 2 if text.startswith("a ") else 0
    _, right = quotation_fault(text, {"start": start, "end": start + len(quote), "quote": quote})
    assert right == f"the signs of the text; the quote {quote!r} is a normalised form of them"


@pytest.mark.parametrize(
    ("start", "end"), [(-3, 2), (2, 2), (3, 2), (0, 99), (10**30, 10**30 + 1), (0.0, 3), (90, 95)]
)
def test_offsets_out_of_the_text_fail(start, end):
    """Offsets must be integers with 0 ≤ start < end ≤ length."""
    assert quotation_fault("a quote here", {"start": start, "end": end, "quote": "a q"}) is not None


def test_negative_offsets_do_not_count_from_the_end():
    """text[-4:-1] is no quotation even where it equals the quote."""
    assert quotation_fault("a quote", {"start": -4, "end": -1, "quote": "uot"}) is not None


def evidence_of(made: Any) -> list[Any]:
    """Return the spans of a finding."""
    return made["evidence"]


EVIDENCE = [
    (lambda f: evidence_of(f).append(dict(evidence_of(f)[0])), "/4: found the span of /evidence/0 again"),
    (
        lambda f: evidence_of(f)[0].update(doc_id="dx"),
        "/0/doc_id: found 'dx'; right: a document of the corpus",
    ),
    (lambda f: evidence_of(f).pop(0), ": found 2 supporting documents; right: at least 3 distinct ones"),
    (
        lambda f: evidence_of(f).pop(3),
        ": found no counterexample; right: at least one: a known negative document such as 'd01'",
    ),
    (
        lambda f: evidence_of(f)[3].update(doc_id="d00", end=4, quote="Doc "),
        "/3: found 'd00' as counterexample (positive); right: a known negative document",
    ),
    (
        lambda f: evidence_of(f)[0].update(doc_id="d01", end=4, quote="Doc "),
        "/0: found 'd01' as supporting (negative); right: a positive document",
    ),
    (
        lambda f: evidence_of(f).extend(
            {"doc_id": "d02", "start": n, "end": n + 1, "quote": "Doc 2: c1 yes"[n], "role": "context"}
            for n in range(12)
        ),
        ": found 16 spans; right: at most 15",
    ),
]


@pytest.mark.parametrize(("change", "words"), EVIDENCE)
def test_evidence_rules(change, words):
    """Spans are exact, few and each once; three positive documents support, a known negative counters."""
    lines = broken(change)
    assert lines[0].startswith(f"t1: f1: evidence: /findings/0/evidence{words}")


def test_context_is_quoted_from_the_selected_population():
    """A finding quotes only documents that its filters select, in every role."""
    made = finding(rows(), filters=[{"field": "rating", "op": "gte", "value": 2}])
    made["evidence"].append(span(rows()[1], "Doc 1", "context"))
    assert told(submission(made)) == []
    made["evidence"].append(span(rows()[0], "Doc", "context"))
    place = f"t1: f1: evidence: /findings/0/evidence/{len(made['evidence']) - 1}"
    words = "found 'd00' as context (outside the population); right: a document of the selected population"
    assert told(submission(made)) == [f"{place}: {words}"]


def test_limits_themselves_are_allowed():
    """Fifteen spans, three filters, twenty values and as many findings as the task allows pass."""
    values = [1, 2, 3, 4, 5, *(f"no such {n}" for n in range(15))]
    filters = [{"field": "rating", "op": "in", "value": values}] * 3
    made = finding(rows(), filters=filters)
    row = rows()[7]
    made["evidence"] += [span(row, row["text"][: n + 1], "context") for n in range(11)]
    assert len(made["evidence"]) == 15
    assert told(submission(made), max_findings=1) == []


def test_no_counterexample_is_asked_for_where_there_is_none():
    """Without a known negative document a finding needs no counterexample."""
    documents = [row | {"text": f"Doc {n}: c1 yes"} for n, row in enumerate(rows())]
    assert told(submission(finding(documents)), documents=documents) == []


def test_three_quotations_of_one_document_are_not_three_documents():
    """Supporting documents must be distinct."""

    def same_document(made: Any) -> None:
        for n in (1, 2):
            evidence_of(made)[n].update(doc_id="d00", start=n, end=3, quote="Doc"[n:])

    assert broken(same_document)[0].endswith("found 1 supporting documents; right: at least 3 distinct ones")


def test_an_association_is_supported_jointly_and_countered_by_discordance():
    """Support must be positive under both conditions; the counterexample under exactly one of known two."""
    documents = rows()
    made = finding(documents, KIND["association"])
    made["evidence"][0] = span(documents[2], "Doc 2", "supporting")  # c1 yes, c2 no
    made["evidence"][3] = span(documents[5], "Doc 5", "counterexample")  # c1 no, c2 no
    place = "t1: f1: evidence: /findings/0/evidence"
    lines = told(submission(made), KIND["association"])
    assert lines[:2] == [
        f"{place}/0: found 'd02' as supporting (positive, negative); right: a jointly positive document",
        f"{place}/3: found 'd05' as counterexample (negative, negative); right: a known discordant document",
    ]


def test_hostile_text_stays_on_one_printable_line():
    """Ids and values from a submission reach a terminal only as printable signs, cut where they are long."""
    made = finding(rows()) | {"finding_id": "f\x1b[2J\n‮", "kind": "x" * 10_000}
    (line,) = told(submission(made))
    assert line.isprintable()
    assert len(line) < 300
