"""Small findings benchmarks for tests: rows in, folders with a valid submission and review out."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import findings_by_definition

FIELDS = ["entity_id", "rating", "report_year", "team", "timestamp"]
KIND = {"group": "group_difference", "time": "temporal_change", "association": "compound_association"}
COMPARISON = {
    "group_difference": {"field": "team", "groups": [["a"], ["b"]]},
    "temporal_change": {"field": "timestamp", "cutoff": "2024-01-01"},
    "compound_association": None,
}
ASSESSMENT = {
    "support": "supported",
    "task_fulfilled": True,
    "statistical_validity": 0.8,
    "evidence_entailment": 0.9,
    "analytical_depth": 0.75,
    "calibration": 0.8,
    "duplicate_of": None,
    "reference_match": None,
    "rationale": "Read the packet.",
}


def rows(number: int = 24) -> list[dict[str, Any]]:
    """Return documents whose condition c1 (and c2) is told by the text; every kind of task can be built."""
    made = []
    for place in range(number):
        first = ("yes", "no")[place % 2]
        second = ("yes", "yes", "no")[place % 3]
        made.append(
            {
                "doc_id": f"d{place:02d}",
                "text": f"Doc {place}: c1 {first}, c2 {second}.",
                "timestamp": f"202{3 + (place // 2) % 2}-05-0{1 + place % 9}T10:00:00Z",
                "entity_id": f"e{place % 2}",
                "rating": 1 + place % 5,
                "team": ("a", "b")[(place // 2) % 2],
            }
        )
    return made


def label(row: Mapping[str, Any], condition: str) -> str:
    """Return a document's state under a condition, from its text."""
    if f"{condition} yes" in row["text"]:
        return "positive"
    return "negative" if f"{condition} no" in row["text"] else "unknown"


def task(kind: str = KIND["group"], **over: Any) -> dict[str, Any]:
    """Return a task; corpus_path, corpus_sha256 and n_documents are filled in by `write`."""
    return {
        "task_id": "t1",
        "source": "s1",
        "kind": kind,
        "question": "What differs?",
        "difficulty": "discovery",
        "discovery_mode": "agent_selected",
        "max_findings": 3,
        "allowed_metadata_fields": FIELDS,
        "min_population_n": 1,
        "min_group_n": 1,
        "n_documents": 0,
        "corpus_path": "corpora/t1.jsonl",
        "corpus_sha256": "0" * 64,
        "robustness_protocol": {"axes": ["entity_id", "rating", "report_year"], "min_known_per_arm": 5},
    } | over


def finding(
    documents: Sequence[Mapping[str, Any]],
    kind: str = KIND["group"],
    *,
    finding_id: str = "f1",
    filters: Sequence[Mapping[str, Any]] = (),
    **over: Any,
) -> dict[str, Any]:
    """Return a valid finding on these documents; its statistics come from the second implementation."""
    conditions = ["c1", "c2"] if kind == KIND["association"] else ["c1"]
    made: dict[str, Any] = {
        "finding_id": finding_id,
        "claim": "c1 differs.",
        "kind": kind,
        "scope": "This corpus.",
        "population": {"filters": list(filters)},
        "comparison": COMPARISON[kind],
        "definitions": [{"condition_id": name, "inclusion": "yes", "exclusion": "no"} for name in conditions],
        "limitations": ["Made for tests."],
    } | over
    chosen = findings_by_definition.population(made, documents)
    made["assignments"] = [
        {
            "condition_id": name,
            **{
                f"{state}_doc_ids": [row["doc_id"] for row in chosen if label(row, name) == state]
                for state in ("positive", "negative", "unknown")
            },
        }
        for name in conditions
    ]
    made["statistics"] = numbers(findings_by_definition.statistics(made, documents))
    made["evidence"] = evidence(chosen, conditions)
    return made


def numbers(statistics: Mapping[str, Any]) -> dict[str, Any]:
    """Return statistics as JSON numbers."""
    return {k: float(v) if isinstance(v, Fraction) else v for k, v in statistics.items()}


def evidence(chosen: Sequence[Mapping[str, Any]], conditions: Sequence[str]) -> list[dict[str, Any]]:
    """Quote three supporting documents and one against."""
    labels = {row["doc_id"]: [label(row, name) for name in conditions] for row in chosen}
    support = [row for row in chosen if set(labels[row["doc_id"]]) == {"positive"}][:3]
    wanted = {"negative"} if len(conditions) == 1 else {"positive", "negative"}
    against = [row for row in chosen if set(labels[row["doc_id"]]) == wanted][:1]
    return [span(row, "Doc", "supporting") for row in support] + [
        span(row, "Doc", "counterexample") for row in against
    ]


def span(row: Mapping[str, Any], quote: str, role: str) -> dict[str, Any]:
    """Return a quotation at the first place where it stands."""
    start = row["text"].index(quote)
    return {"doc_id": row["doc_id"], "start": start, "end": start + len(quote), "quote": quote, "role": role}


def submission(*findings: Mapping[str, Any], task_id: str = "t1", reason: str = "") -> dict[str, Any]:
    """Return a submission."""
    return {"task_id": task_id, "findings": list(findings), "abstention_reason": reason}


def write_json(path: Path, value: Any) -> Path:
    """Write a JSON file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def write(
    folder: Path, tasks: Sequence[tuple[dict[str, Any], Sequence[Mapping[str, Any]]]], *, zipped: bool = False
) -> Path:
    """Write a data folder of tasks and their documents; return it."""
    listed = []
    for document, documents in tasks:
        name = f"corpora/{document['task_id']}.jsonl" + (".gz" if zipped else "")
        content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in documents).encode()
        content = gzip.compress(content, mtime=0) if zipped else content
        path = folder / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        sha256 = hashlib.sha256(content).hexdigest()
        listed.append(
            document | {"n_documents": len(documents), "corpus_path": name, "corpus_sha256": sha256}
        )
    write_json(folder / "data" / "tasks.json", listed)
    write_json(folder / "data" / "release.json", {"version": "test-1"})
    return folder / "data"


def sha(value: Any) -> str:
    """Return the SHA-256 of canonical JSON, written out once more."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def review(
    data: Path, answer: Mapping[str, Any], *assessments: Mapping[str, Any], **over: Any
) -> dict[str, Any]:
    """Return a review bound to a submission: one assessment a finding, default values unless given."""
    raw = (data / "tasks.json").read_bytes()
    tasks = json.loads(raw)
    document = next(one for one in tasks if one["task_id"] == answer["task_id"])
    reference = {
        "benchmark_version": "test-1",
        "tasks_sha256": hashlib.sha256(raw).hexdigest(),
        "reference_policy": "none",
        "tasks": [{"task_id": one["task_id"], "reference_id": None} for one in tasks],
    }
    given = list(assessments) or [{} for _ in answer["findings"]]
    return {
        "task_id": answer["task_id"],
        "submission_sha256": sha(answer),
        "corpus_sha256": document["corpus_sha256"],
        "reference_sha256": sha(reference),
        "task_sha256": sha(document),
        "scoring_version": "finding-quality-discovery",
        "reviewer_method": "a person",
        "findings": [
            {"finding_id": one["finding_id"], **ASSESSMENT, **extra}
            for one, extra in zip(answer["findings"], given, strict=False)
        ],
        "semantic_audit": {"document_ids": [row["doc_id"] for row in documents(data, document)]},
    } | over


def documents(data: Path, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Read a corpus back."""
    content = (data / document["corpus_path"]).read_bytes()
    content = gzip.decompress(content) if document["corpus_path"].endswith(".gz") else content
    return [json.loads(line) for line in content.splitlines()]


def write_judge(reviews: Path, **over: Any) -> Path:
    """Write the judge's configuration; a corpus below sixty documents is its own packet."""
    config = {"model": "m", "max_input_chars": 1000, "audit_documents": 60, "audit_seed": "00ff"}
    return write_json(reviews / "judge_config.json", config | over)
