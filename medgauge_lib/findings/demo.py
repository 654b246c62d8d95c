"""A small synthetic findings benchmark: three sources, all kinds, every status, a stale review, a reversal.

Everything in it is invented and says so. The same bytes come out on every machine: texts and labels follow
from SHA-256 of the task and the document's number, and compressed corpora hold stored blocks, which no
version of a compression library changes.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medgauge_lib.findings.contract import (
    ASSOCIATION,
    GROUP,
    TIME,
    Task,
    canonical_json,
    canonical_sha256,
    read_benchmark,
)
from medgauge_lib.findings.corpus import Corpus, read_corpus
from medgauge_lib.findings.gates import Gate, resolve, select
from medgauge_lib.findings.packet import FEWEST, binding, draw
from medgauge_lib.findings.statistics import Checked, Statistic, expected

NOTE = "Synthetic data for demonstration: invented documents, findings and reviews."

_DOCUMENTS = 240
_CUTOFF = "2024-01-01"
_FIELDS = ["entity_id", "rating", "report_year", "team", "timestamp"]
_PHRASES = {
    "long_wait": "The visitor waited longer than announced.",
    "second_visit": "A second visit became necessary.",
}
_UNCLEAR = "It is unclear from the note whether this happened: {}."
_ENDINGS = (
    "Thanks 👍🏽 to the team.",
    "Cafe\u0301 nearby was closed.\r\nNothing else to report.",
    "كُتبت هذه الملاحظة للعرض.",
    "Nothing else to report.",
)


@dataclass(frozen=True)
class Demo:
    """Where the demo lies.

    Attributes
    ----------
    data, submissions, reviews : Path
        The folders that the commands take.
    """

    data: Path
    submissions: Path
    reviews: Path


@dataclass(frozen=True)
class _Plan:
    """One task of the demo and what becomes of it.

    `ending` is ``scored, unresolved, stale, pending, abstained, missing, quote`` (a normalised quotation) or
    ``sum`` (a statistic that is off); `assessments` has one tuple a finding: support, the four dimensions,
    and what else an assessment says.
    """

    source: str
    name: str
    kind: str
    ending: str
    assessments: tuple[tuple[str, tuple[float, float, float, float], Mapping[str, Any]], ...] = ()
    filters: tuple[Mapping[str, Any], ...] = ()
    zipped: bool = False

    @property
    def task_id(self) -> str:
        return f"synthetic-{self.source}-{self.name}"


_GOOD = (0.8, 0.9, 0.75, 0.8)
_PLANS = (
    _Plan("clinic", "reversal", GROUP, "scored", (("supported", _GOOD, {}),), zipped=True),
    _Plan("clinic", "association", ASSOCIATION, "scored", (("supported", (0.9, 1, 0.85, 0.7), {}),)),
    _Plan("clinic", "change", TIME, "quote"),
    _Plan(
        "clinic",
        "contrast",
        GROUP,
        "scored",
        (("supported", (0.7, 0.8, 0.6, 0.9), {}), ("supported", _GOOD, {"duplicate_of": "finding-1"})),
        filters=({"field": "rating", "op": "gte", "value": 2},),
    ),
    _Plan("clinic", "trend", TIME, "abstained"),
    _Plan("pharmacy", "contrast", GROUP, "scored", (("partial", _GOOD, {}),), zipped=True),
    _Plan("pharmacy", "change", TIME, "scored", (("supported", (0.6, 0.7, 0.5, 0.6), {}),)),
    _Plan("pharmacy", "association", ASSOCIATION, "unresolved", (("uncertain", _GOOD, {}),)),
    _Plan("pharmacy", "pairing", ASSOCIATION, "missing"),
    _Plan("pharmacy", "trend", TIME, "stale", (("supported", _GOOD, {}),)),
    _Plan("device", "contrast", GROUP, "pending"),
    _Plan("device", "change", TIME, "scored", (("partial", (0.5, 0.5, 0.25, 0.75), {}),)),
    _Plan(
        "device",
        "association",
        ASSOCIATION,
        "scored",
        (("supported", (1, 0.9, 0.9, 1), {}),),
        filters=({"field": "report_year", "op": "in", "value": [2023, 2024]},),
    ),
    _Plan("device", "trend", TIME, "scored", (("supported", _GOOD, {"task_fulfilled": False}),)),
    _Plan("device", "pairing", ASSOCIATION, "sum"),
)


def write_demo(folder: Path) -> Demo:
    """Write the demo benchmark with its submissions and reviews.

    Parameters
    ----------
    folder : Path
        Gets the folders ``data``, ``submissions`` and ``reviews``; files of the same names are written over.

    Returns
    -------
    Demo
        The three folders.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     sorted(path.name for path in write_demo(Path(place)).data.iterdir())
    ['corpora', 'release.json', 'tasks.json']
    """
    demo = Demo(folder / "data", folder / "submissions", folder / "reviews")
    for place in (demo.data / "corpora", demo.submissions, demo.reviews):
        place.mkdir(parents=True, exist_ok=True)
    tasks = [_write_task(plan, demo.data) for plan in _PLANS]
    _write(demo.data / "tasks.json", tasks)
    _write(demo.data / "release.json", {"version": "synthetic-1.0", "tasks": len(tasks), "note": NOTE})
    benchmark = read_benchmark(demo.data)
    by_id = {task.task_id: task for task in benchmark.tasks}
    submissions: dict[str, Any] = {}
    for plan in _PLANS:
        task = by_id[plan.task_id]
        if plan.ending != "missing":
            submissions[plan.task_id] = _submission(plan, task, read_corpus(demo.data, task))
            _write(demo.submissions / f"{plan.task_id}.json", submissions[plan.task_id])
    # Follows from the submissions, so no submission could have been written with it in view.
    judge: dict[str, Any] = {
        "model": "synthetic-judge",
        "max_input_chars": 400_000,
        "audit_documents": FEWEST,
        "audit_seed": canonical_sha256(submissions),
        "note": NOTE,
    }
    _write(demo.reviews / "judge_config.json", judge)
    for plan in _PLANS:
        if plan.assessments:
            task, submission = by_id[plan.task_id], submissions[plan.task_id]
            checked = Checked(
                task, "valid", (), submission, canonical_sha256(submission), read_corpus(demo.data, task)
            )
            review = _review(plan, checked, benchmark.reference_sha256(), judge["audit_seed"])
            _write(demo.reviews / f"{plan.task_id}.json", review)
    return demo


def _write(path: Path, document: Any) -> None:
    path.write_bytes(json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n")


def _chance(*parts: object) -> int:
    """Return a number from 0 to 99 that depends on the parts alone."""
    text = "/".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) % 100


def _write_task(plan: _Plan, data: Path) -> dict[str, Any]:
    rows = list(_reversal() if plan.name == "reversal" else _documents(plan))
    content = b"".join(canonical_json(row) + b"\n" for row in rows)
    name = f"{plan.task_id}.jsonl" + (".gz" if plan.zipped else "")
    content = _stored_gzip(content) if plan.zipped else content
    (data / "corpora" / name).write_bytes(content)
    return {
        "task_id": plan.task_id,
        "source": f"synthetic-{plan.source}",
        "kind": plan.kind,
        "question": f"{NOTE} Where do the notes report waits or second visits more often?",
        "difficulty": "discovery",
        "discovery_mode": "agent_selected",
        "max_findings": 3,
        "allowed_metadata_fields": _FIELDS,
        "min_population_n": 60,
        "min_group_n": 10,
        "n_documents": len(rows),
        "corpus_path": f"corpora/{name}",
        "corpus_sha256": hashlib.sha256(content).hexdigest(),
        "robustness_protocol": {"axes": ["entity_id", "rating", "report_year"], "min_known_per_arm": 5},
    }


def _stored_gzip(content: bytes) -> bytes:
    """Return a gzip file of stored blocks (RFC 1951, section 3.2.4), the same on every machine."""
    size = 2**16 - 1
    blocks = [content[start : start + size] for start in range(0, len(content), size)] or [b""]
    stored = b"".join(
        struct.pack("<BHH", place == len(blocks) - 1, len(block), len(block) ^ 0xFFFF) + block
        for place, block in enumerate(blocks)
    )
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    return head + stored + struct.pack("<II", zlib.crc32(content), len(content) % 2**32)


def _document(number: int, entity: str, team: str, states: Mapping[str, str]) -> dict[str, Any]:
    sentences = [f"Synthetic note {number}."]
    for condition, state in states.items():
        if state == "positive":
            sentences.append(_PHRASES[condition])
        elif state == "unknown":
            sentences.append(_UNCLEAR.format(condition.replace("_", " ")))
    sentences.append(_ENDINGS[number % len(_ENDINGS)])
    return {
        "doc_id": f"note-{number:03d}",
        "text": " ".join(sentences),
        "entity_id": entity,
        "team": team,
        "rating": None,
        "timestamp": None,
        "synthetic": True,
    }


def _reversal() -> Iterator[dict[str, Any]]:
    """Yield the reversal: south ahead by 46 points in all, behind by 10 among easy and among hard notes."""
    number = 0
    for entity, team, positive, total in (
        ("easy", "north", 9, 10),
        ("easy", "south", 72, 90),
        ("hard", "north", 18, 90),
        ("hard", "south", 1, 10),
    ):
        for place in range(total):
            state = "positive" if place < positive else "negative"
            yield _document(number, entity, team, {"long_wait": state, "second_visit": "negative"})
            number += 1


def _documents(plan: _Plan) -> Iterator[dict[str, Any]]:
    for number in range(_DOCUMENTS):
        key = (plan.task_id, number)
        team = ("north", "south", "visiting")[min(_chance(*key, "team") // 45, 2)]
        entity = f"ward-{_chance(*key, 'entity') // 30 + 8}"
        year, month = 2022 + _chance(*key, "year") % 3, 1 + _chance(*key, "month") % 12
        likely = 25 + 20 * (team == "south") + 15 * (year == 2024)
        first = _state(likely, *key, "first")
        second = _state(60 if first == "positive" else 20, *key, "second")
        row = _document(number, entity, team, {"long_wait": first, "second_visit": second})
        rating = 1 + _chance(*key, "rating") % 5
        # Ratings of both number types and missing ones, dates with a time, impossible and missing ones.
        form = 1 if rating == 3 else min(_chance(*key, "form") // 8, 2)
        row["rating"] = (None, rating, float(rating))[form]
        day = 1 + _chance(*key, "day") % 28
        row["timestamp"] = f"{year}-{month:02d}-{day:02d}T09:30:00Z"
        if _chance(*key, "date") < 6:
            row["timestamp"] = (None, "2024-02-30", "last spring")[number % 3]
        yield row


def _state(likely: int, *key: object) -> str:
    return "unknown" if _chance(*key, "unclear") < 6 else "positive" if _chance(*key) < likely else "negative"


def _label(document: Mapping[str, Any], condition: str) -> str:
    if _PHRASES[condition] in document["text"]:
        return "positive"
    return "unknown" if _UNCLEAR.format(condition.replace("_", " ")) in document["text"] else "negative"


def _submission(plan: _Plan, task: Task, corpus: Corpus) -> dict[str, Any]:
    if plan.ending == "abstained":
        return {
            "task_id": task.task_id,
            "findings": [],
            "abstention_reason": "Synthetic: no change stood out against the differences between wards.",
        }
    conditions = [["long_wait", "second_visit"]] if task.kind == ASSOCIATION else [["long_wait"]]
    if len(plan.assessments) == 2:
        conditions.append(["second_visit"])
    findings = [
        _finding(plan, task, corpus, number, names) for number, names in enumerate(conditions, start=1)
    ]
    if plan.ending == "quote":
        _normalise_a_quotation(findings[0], corpus)
    if plan.ending == "sum":
        findings[0]["statistics"]["n11"] += 1
    return {"task_id": task.task_id, "findings": findings, "abstention_reason": ""}


def _finding(
    plan: _Plan, task: Task, corpus: Corpus, number: int, conditions: Sequence[str]
) -> dict[str, Any]:
    comparison = {
        GROUP: {"field": "team", "groups": [["north"], ["south"]]},
        TIME: {"field": "timestamp", "cutoff": _CUTOFF},
        ASSOCIATION: None,
    }[task.kind]
    selected = select(corpus, plan.filters)
    chosen = [document for document, ok in zip(corpus.documents, selected, strict=True) if ok]
    finding: dict[str, Any] = {
        "finding_id": f"finding-{number}",
        "claim": f"Synthetic claim: reports of {' and '.join(conditions).replace('_', ' ')} differ.",
        "kind": task.kind,
        "scope": "The selected synthetic notes of this corpus.",
        "population": {"filters": [dict(rule) for rule in plan.filters]},
        "comparison": comparison,
        "definitions": [
            {
                "condition_id": name,
                "inclusion": f"The note says: {_PHRASES[name]}",
                "exclusion": "A mention without this sentence.",
            }
            for name in conditions
        ],
        "assignments": [_assignment(chosen, name) for name in conditions],
        "statistics": {},
        "evidence": _evidence(chosen, conditions),
        "limitations": ["Synthetic documents.", "A difference in reports is no difference in events."],
    }
    scope = resolve(finding, task, corpus, Gate(task.task_id, "", ()))
    if scope is None:
        raise ValueError(f"the plan of {task.task_id} must pass its own gates")
    finding["statistics"] = {
        name: _json_number(value) for name, value in expected(scope, task, corpus).items()
    }
    return finding


def _json_number(value: Statistic) -> float | None:
    return value if value is None or isinstance(value, int) else float(value)


def _assignment(chosen: Sequence[Mapping[str, Any]], condition: str) -> dict[str, Any]:
    ids: dict[str, list[str]] = {"positive": [], "negative": [], "unknown": []}
    for document in chosen:
        ids[_label(document, condition)].append(document["doc_id"])
    return {"condition_id": condition, **{f"{state}_doc_ids": ids[state] for state in ids}}


def _evidence(chosen: Sequence[Mapping[str, Any]], conditions: Sequence[str]) -> list[dict[str, Any]]:
    labels = [[_label(document, name) for name in conditions] for document in chosen]
    support = [d for d, states in zip(chosen, labels, strict=True) if set(states) == {"positive"}]
    wanted = {"positive", "negative"} if len(conditions) == 2 else {"negative"}
    against = next(d for d, states in zip(chosen, labels, strict=True) if set(states) == wanted)
    spans = [_span(document, _PHRASES[conditions[0]], "supporting") for document in support[:3]]
    spans.append(_span(against, against["text"].split(".")[0] + ".", "counterexample"))
    spans.append(_span(support[3], support[3]["text"][-12:], "context"))
    return spans


def _span(document: Mapping[str, Any], quote: str, role: str) -> dict[str, Any]:
    start = document["text"].index(quote)
    end = start + len(quote)
    return {"doc_id": document["doc_id"], "start": start, "end": end, "quote": quote, "role": role}


def _normalise_a_quotation(finding: dict[str, Any], corpus: Corpus) -> None:
    """Add a quotation whose accent was composed: it reads alike and is not what the document says."""
    document = next(document for document in corpus.documents if "Cafe\u0301" in document["text"])
    span = _span(document, "Cafe\u0301 nearby", "context")
    finding["evidence"].append(span | {"quote": "Caf\u00e9 nearby"})


def _review(plan: _Plan, checked: Checked, reference_sha256: str, seed: str) -> dict[str, Any]:
    if checked.corpus is None:
        raise ValueError(f"the plan of {checked.task.task_id} must carry its corpus")
    bound = binding(checked, reference_sha256)
    if plan.ending == "stale":
        first = checked.submission | {"abstention_reason": "Synthetic: an earlier version of this answer."}
        bound["submission_sha256"] = canonical_sha256(first)
    packet = draw(checked.submission, checked.task, checked.corpus, seed=seed, documents=FEWEST)
    names = ("statistical_validity", "evidence_entailment", "analytical_depth", "calibration")
    return {
        **bound,
        "reviewer_method": "synthetic review for demonstration",
        "findings": [
            {
                "finding_id": finding["finding_id"],
                "support": support,
                "task_fulfilled": True,
                **dict(zip(names, dimensions, strict=True)),
                "duplicate_of": None,
                "reference_match": None,
                "rationale": "Synthetic rationale: written to show every outcome.",
                **more,
            }
            for finding, (support, dimensions, more) in zip(
                checked.submission["findings"], plan.assessments, strict=True
            )
        ],
        "semantic_audit": {"document_ids": list(packet.document_ids)},
    }
