"""Checking one findings task against reading its corpus: time and memory.

One task of real size: 10,000 documents in gzip JSON Lines, three findings that assign every document under
each condition, all statistics, quotations. The yardstick is reading the corpus with `orjson` alone.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import tracemalloc
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jiter
import numpy as np
import orjson

from benchmarks.ratios import Ratio, in_turn
from medgauge_lib.findings.contract import Benchmark, read_benchmark
from medgauge_lib.findings.corpus import read_corpus
from medgauge_lib.findings.gates import Gate, resolve
from medgauge_lib.findings.statistics import check_task, expected

DOCUMENTS, FINDINGS, REPEATS = 10_000, 3, 15
KINDS = ("group_difference", "compound_association")
_STATES = ("negative", "positive", "unknown")


def ratios() -> Iterator[Ratio]:
    """Compare checking a task, which ends in all its statistics, with reading its corpus alone."""
    for kind in KINDS:
        with TemporaryDirectory() as place:
            benchmark = _write(Path(place), kind)
            path = benchmark.folder / benchmark.tasks[0].corpus_path
            check, read = partial(_check, benchmark), partial(_read, path)
            name = f"checking {FINDINGS} findings on {DOCUMENTS:,} documents ({kind}), against "
            yield Ratio(name + "reading them with orjson", *in_turn(check, read, repeats=REPEATS), at_most=3)
            peak, held = _memory(benchmark, path)
            yield Ratio(name + "their size in memory", peak, held, at_most=3, unit="MiB")


def _read(path: Path) -> list[Any]:
    with gzip.open(path, "rb") as lines:
        return [orjson.loads(line) for line in lines]


def _check(benchmark: Benchmark) -> None:
    checked = check_task(benchmark, benchmark.tasks[0], benchmark.folder / "submissions")
    if checked.status != "valid":
        raise RuntimeError(str(checked.failures[0]))


def _memory(benchmark: Benchmark, path: Path) -> tuple[float, float]:
    """Return the peak while a task is checked, and the size of its parsed corpus, in MiB."""
    jiter.cache_clear()  # what earlier rounds left there would not be counted
    tracemalloc.start()
    documents = _read(path)
    held = tracemalloc.get_traced_memory()[0]
    del documents
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    _check(benchmark)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return peak / 2**20, held / 2**20


def _write(folder: Path, kind: str) -> Benchmark:
    """Write one task with its corpus and a valid submission."""
    draw = np.random.default_rng(1)
    words = np.array(["".join(draw.choice(list("abcdefghij"), draw.integers(2, 10))) for _ in range(4000)])
    corpus = [
        {
            "doc_id": f"synthetic:{number:06d}",
            "text": " ".join(draw.choice(words, draw.integers(30, 110))),
            "timestamp": f"{draw.integers(2015, 2025)}-0{draw.integers(1, 10)}-15T08:00:00Z",
            "entity_id": f"entity-{draw.integers(0, 400)}",
            "rating": float(draw.integers(1, 6)),
            "store": None,
        }
        for number in range(DOCUMENTS)
    ]
    lines = b"".join(orjson.dumps(document) + b"\n" for document in corpus)
    content = gzip.compress(lines, mtime=0)
    (folder / "corpus.jsonl.gz").write_bytes(content)
    task = {
        "task_id": "task",
        "source": "synthetic",
        "kind": kind,
        "question": "Synthetic.",
        "difficulty": "discovery",
        "discovery_mode": "agent_selected",
        "max_findings": FINDINGS,
        "allowed_metadata_fields": ["entity_id", "rating", "report_year", "timestamp"],
        "min_population_n": DOCUMENTS // 10,
        "min_group_n": DOCUMENTS // 100,
        "n_documents": DOCUMENTS,
        "corpus_path": "corpus.jsonl.gz",
        "corpus_sha256": hashlib.sha256(content).hexdigest(),
        "robustness_protocol": {"axes": ["entity_id", "rating", "report_year"], "min_known_per_arm": 5},
    }
    (folder / "tasks.json").write_text(json.dumps([task]))
    benchmark = read_benchmark(folder)
    findings = [_finding(benchmark, corpus, draw, number) for number in range(FINDINGS)]
    (folder / "submissions").mkdir()
    answer = {"task_id": "task", "findings": findings, "abstention_reason": ""}
    (folder / "submissions" / "task.json").write_text(json.dumps(answer))
    return benchmark


def _finding(
    benchmark: Benchmark, documents: list[dict[str, Any]], draw: np.random.Generator, number: int
) -> dict[str, Any]:
    task = benchmark.tasks[0]
    conditions = ["a", "b"] if task.kind == "compound_association" else ["a"]
    states = {name: draw.choice(3, len(documents), p=[0.6, 0.3, 0.1]) for name in conditions}
    ids = [document["doc_id"] for document in documents]
    both = np.array(list(states.values()))
    support = np.flatnonzero((both == 1).all(axis=0))[:3]
    against = np.flatnonzero((both[0] == 0) & (both[-1] == (len(conditions) - 1)))[:1]
    finding: dict[str, Any] = {
        "finding_id": f"finding-{number}",
        "claim": "Synthetic.",
        "kind": task.kind,
        "scope": "Synthetic.",
        "population": {"filters": []},
        "comparison": None if len(conditions) == 2 else {"field": "rating", "groups": [[1, 2], [4, 5]]},
        "definitions": [{"condition_id": name, "inclusion": "-", "exclusion": "-"} for name in conditions],
        "assignments": [
            {
                "condition_id": name,
                **{
                    f"{state}_doc_ids": [ids[place] for place in np.flatnonzero(states[name] == code)]
                    for code, state in enumerate(_STATES)
                },
            }
            for name in conditions
        ],
        "evidence": [
            {"doc_id": ids[place], "start": 0, "end": 9, "quote": documents[place]["text"][:9], "role": role}
            for role, places in (("supporting", support), ("counterexample", against))
            for place in places.tolist()
        ],
        "limitations": ["Synthetic."],
    }
    corpus = read_corpus(benchmark.folder, task)
    scope = resolve(finding, task, corpus, Gate("", "", ()))
    if scope is None:
        raise RuntimeError("the synthetic finding must pass its gates")
    fields = expected(scope, task, corpus)
    finding["statistics"] = {name: None if v is None else float(v) for name, v in fields.items()}
    return finding
