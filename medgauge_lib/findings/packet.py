"""The audit packet: the documents a reviewer reads, drawn so that seed and submission fix them.

Every quoted document is in it, then documents of each cell (finding × condition × state), then a remainder of
the whole corpus. Within a cell documents are ranked by SHA-256 of seed, cell and document id. The packet is a
bounded audit of submitted labels: it gives no estimate of their accuracy.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from medgauge_lib.errors import InputError
from medgauge_lib.files import new_folder, write_file
from medgauge_lib.findings.contract import (
    JUDGE_CONFIG,
    SCORING_VERSION,
    Benchmark,
    Task,
    canonical_json,
    read_benchmark,
    read_json,
    require,
)
from medgauge_lib.findings.corpus import Corpus
from medgauge_lib.findings.gates import STATES, Failure
from medgauge_lib.findings.statistics import Checked, check_task, stray_failures, submission_path
from medgauge_lib.progress import steps
from medgauge_lib.results import Tabular
from medgauge_lib.schema import quoted

DOCUMENTS, FEWEST, MOST = 160, 60, 2000
"""Documents of a packet: by default, at least, at most."""

STATEMENT = (
    "A bounded audit of submitted labels: counts and partitions were checked over all selected documents, "
    "labels only on the documents of this packet. It gives no estimate of label accuracy."
)
"""What a packet and a report say about the audit."""


@dataclass(frozen=True, repr=False)
class Packet(Tabular):
    """The documents of one audit.

    Attributes
    ----------
    task_id : str
        The task.
    document_ids : tuple of str
        In the order of the corpus.
    quoted : frozenset of str
        Those that the submission quotes.
    corpus_documents : int
        Size of the corpus.
    """

    task_id: str
    document_ids: tuple[str, ...]
    quoted: frozenset[str]
    corpus_documents: int

    def to_frame(self) -> pd.DataFrame:
        """Return one row a document: ``task_id, doc_id, quoted``."""
        ids = list(self.document_ids)
        return pd.DataFrame(
            {"task_id": self.task_id, "doc_id": ids, "quoted": [doc_id in self.quoted for doc_id in ids]}
        )


def rank(seed: str, cell: str, doc_id: str) -> bytes:
    r"""Return what documents of a cell are sorted by: SHA-256 of seed, cell and id with zero bytes between.

    Examples
    --------
    >>> rank("00", "f1/c/positive", "d1") == hashlib.sha256(b"00\0f1/c/positive\0d1").digest()
    True
    """
    return hashlib.sha256(f"{seed}\0{cell}\0{doc_id}".encode()).digest()


def cells(submission: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Return the cells that hold documents: name and document ids, in the order of the submission.

    Examples
    --------
    >>> assignment = {"positive_doc_ids": ["a"], "negative_doc_ids": [], "unknown_doc_ids": ["b"]}
    >>> cells({"findings": [{"finding_id": "f", "assignments": [{"condition_id": "c", **assignment}]}]})
    [('f/c/positive', ['a']), ('f/c/unknown', ['b'])]
    """
    found = [
        (
            f"{finding['finding_id']}/{assignment['condition_id']}/{state}",
            list(assignment[f"{state}_doc_ids"]),
        )
        for finding in submission["findings"]
        for assignment in finding["assignments"]
        for state in STATES
    ]
    return [(name, ids) for name, ids in found if ids]


def draw(
    submission: Mapping[str, Any], task: Task, corpus: Corpus, *, seed: str, documents: int = DOCUMENTS
) -> Packet:
    """Draw the packet of a valid submission.

    Parameters
    ----------
    submission : mapping
        A submission that passed every gate and holds findings.
    task : Task
    corpus : Corpus
        What it answers.
    seed : str
        Used as text; made after the submission.
    documents : int
        Budget, 60 to 2,000.

    Returns
    -------
    Packet
        As many documents as the budget, or the whole corpus where that is smaller.

    Raises
    ------
    ValueError
        Where `documents` is out of range.
    InputError
        Where quoted documents take more than half the budget, or the cells do not fit into the rest.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from medgauge_lib.findings import read_benchmark, check_task
    >>> from medgauge_lib.findings.demo import write_demo
    >>> with TemporaryDirectory() as place:
    ...     demo = write_demo(Path(place))
    ...     benchmark = read_benchmark(demo.data)
    ...     checked = check_task(benchmark, benchmark.tasks[1], demo.submissions)
    >>> packet = draw(checked.submission, checked.task, checked.corpus, seed="00ff", documents=60)
    >>> len(packet.document_ids), packet.quoted <= set(packet.document_ids)
    (60, True)
    """
    if not FEWEST <= documents <= MOST:
        raise ValueError(f"documents must lie in {FEWEST}..{MOST}, but got {documents}")
    cited = {span["doc_id"] for finding in submission["findings"] for span in finding["evidence"]}
    filled = cells(submission)
    if 2 * len(cited) > documents:
        wrong = f"{len(cited)} quoted documents are more than half of {documents} audit documents"
        raise _too_small(task, wrong, 2 * len(cited))
    if len(cited) + len(filled) > documents:
        wrong = f"{len(cited)} quoted documents and {len(filled)} cells do not fit into {documents} documents"
        raise _too_small(task, wrong, len(cited) + len(filled))
    chosen = set(cited)
    share = max(1, (documents - len(cited)) // (2 * max(1, len(filled))))
    for cell, ids in filled:
        # The first ones, chosen already or not: the sample of a cell must not depend on the other cells.
        chosen.update(_first(ids, share, seed, cell))
    rest = [document["doc_id"] for document in corpus.documents if document["doc_id"] not in chosen]
    chosen.update(_first(rest, documents - len(chosen), seed, task.task_id))
    drawn = tuple(document["doc_id"] for document in corpus.documents if document["doc_id"] in chosen)
    return Packet(task.task_id, drawn, frozenset(cited), len(corpus))


def _too_small(task: Task, wrong: str, needed: int) -> InputError:
    remedy = f"give --documents {needed} or more" if needed <= MOST else f"quote fewer; {MOST} is the most"
    return InputError(f"the submission to {task.task_id}: {wrong}", remedy)


def _first(ids: Iterable[str], number: int, seed: str, cell: str) -> list[str]:
    return sorted(ids, key=lambda doc_id: rank(seed, cell, doc_id))[: max(0, number)]


def packet_document(
    checked: Checked, packet: Packet, *, seed: str, documents: int, reference_sha256: str
) -> dict[str, Any]:
    """Return a packet as the document a reviewer is given.

    Parameters
    ----------
    checked : Checked
        The valid submission with its corpus.
    packet : Packet
        Drawn from it.
    seed, documents, reference_sha256
        Recorded, so that the review can be bound to them.

    Returns
    -------
    dict
        ``task``, ``submission`` (findings without their lists of ids, which `documents` carries as labels),
        ``documents`` in corpus order, ``review`` (what the review file must repeat) and ``statement``.
    """
    if checked.corpus is None:
        raise ValueError(f"checked must carry its corpus, but {checked.task.task_id} is {checked.status}")
    findings = checked.submission["findings"]
    labels = _labels(findings)
    return {
        "task": checked.task.document,
        "submission": {**checked.submission, "findings": [_without_ids(finding) for finding in findings]},
        "documents": [
            {
                "doc_id": doc_id,
                "document": checked.corpus.documents[checked.corpus.index[doc_id]],
                "quoted": doc_id in packet.quoted,
                "labels": {
                    finding_id: {
                        name: states.get(doc_id, "outside_population") for name, states in of.items()
                    }
                    for finding_id, of in labels.items()
                },
            }
            for doc_id in packet.document_ids
        ],
        "review": {
            **binding(checked, reference_sha256),
            "semantic_audit": {
                "audit_seed": seed,
                "audit_documents": documents,
                "corpus_documents": packet.corpus_documents,
                "document_ids": list(packet.document_ids),
            },
        },
        "statement": STATEMENT,
    }


def _labels(findings: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, dict[str, str]]]:
    """Return the submitted state of each document by finding and condition."""
    return {
        finding["finding_id"]: {
            assignment["condition_id"]: {
                doc_id: state for state in STATES for doc_id in assignment[f"{state}_doc_ids"]
            }
            for assignment in finding["assignments"]
        }
        for finding in findings
    }


def _without_ids(finding: Mapping[str, Any]) -> dict[str, Any]:
    counts = {
        assignment["condition_id"]: {state: len(assignment[f"{state}_doc_ids"]) for state in STATES}
        for assignment in finding["assignments"]
    }
    return {**{name: value for name, value in finding.items() if name != "assignments"}, "counts": counts}


def binding(checked: Checked, reference_sha256: str) -> dict[str, str]:
    """Return what a review of this submission must repeat: hashes and the scoring version.

    Parameters
    ----------
    checked : Checked
        The submission.
    reference_sha256 : str
        From `Benchmark.reference_sha256`.
    """
    return {
        "task_id": checked.task.task_id,
        "task_sha256": checked.task.sha256,
        "corpus_sha256": checked.task.corpus_sha256,
        "submission_sha256": checked.sha256,
        "reference_sha256": reference_sha256,
        "scoring_version": SCORING_VERSION,
    }


@dataclass(frozen=True)
class Audit:
    """What fixes the packets of one judge, beside the submissions.

    Attributes
    ----------
    seed : str
        Hexadecimal digits, used as text.
    documents : int
        Budget of a packet.
    stored : bool
        Whether both were read from the folder of the packets.
    """

    seed: str
    documents: int
    stored: bool


def audit(out: Path, *, seed: str | None = None, documents: int | None = None) -> Audit:
    """Return seed and budget of the packets in a folder: as stored there, as given, or new.

    Parameters
    ----------
    out : Path
        Folder of the packets; its ``judge_config.json`` keeps both.
    seed : str, optional
        Hexadecimal digits; without one and with none stored, a new one is made.
    documents : int, optional
        Budget; 160 unless stored or given.

    Raises
    ------
    InputError
        Where what is stored differs from what is given.
    """
    path = out / JUDGE_CONFIG
    if not path.exists():
        return Audit(seed or secrets.token_hex(32), documents or DOCUMENTS, stored=False)
    config = read_json(path).value
    require(config, "audit", path)
    for name, given in (("audit_seed", seed), ("audit_documents", documents)):
        if given is not None and given != config[name]:
            wrong = f"it keeps {quoted(config[name])}, but {quoted(given)} is given"
            raise InputError(wrong, "draw into another folder", file=path, pointer=f"/{name}")
    return Audit(config["audit_seed"], int(config["audit_documents"]), stored=True)


@dataclass(frozen=True, repr=False)
class Packets(Tabular):
    """The packets that were written, and the submissions that got none.

    Attributes
    ----------
    audit : Audit
        Seed and budget.
    packets : tuple of Packet
        In ascending order of task.
    failures : tuple of Failure
        Gates that submissions failed, and files that belong to no task.
    """

    audit: Audit
    packets: tuple[Packet, ...]
    failures: tuple[Failure, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return one row a document of every packet: ``task_id, doc_id, quoted``."""
        empty = pd.DataFrame(columns=["task_id", "doc_id", "quoted"])
        return pd.concat([empty, *(packet.to_frame() for packet in self.packets)], ignore_index=True)


def write_packets(
    data: str | os.PathLike[str],
    submissions: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    seed: str | None = None,
    documents: int | None = None,
) -> Packets:
    """Draw the packets of all valid submissions and write them, with seed and budget beside them.

    Parameters
    ----------
    data, submissions : path
        Folders of the benchmark and of the submissions.
    out : path
        Folder for ``<task_id>.json`` and ``judge_config.json``; the judge adds its model and input budget.
    seed, documents
        As for `audit`.

    Returns
    -------
    Packets
        An abstention needs no packet, an invalid submission gets none.

    Raises
    ------
    InputError
        On unusable data, a packet that does not hold its quotations, a stored seed that is older than a
        submission, or a folder of other files, such as reviews. Nothing is written then.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from medgauge_lib.findings.demo import write_demo
    >>> with TemporaryDirectory() as place:
    ...     demo = write_demo(Path(place))
    ...     written = write_packets(demo.data, demo.submissions, Path(place, "packets"), seed="00ff")
    ...     sorted(path.name for path in Path(place, "packets").iterdir())[:2]
    ['judge_config.json', 'synthetic-clinic-association.json']
    """
    benchmark, folder, target = read_benchmark(data), Path(submissions), Path(out)
    reference = benchmark.reference_sha256()
    _require_packets(target, benchmark)
    settings = audit(target, seed=seed, documents=documents)
    failures = list(stray_failures(benchmark, folder, "submission"))
    packets: list[Packet] = []
    contents: dict[str, bytes] = {}
    for task in steps(benchmark.tasks, unit="task"):
        failed, drawn = _task_packet(check_task(benchmark, task, folder), settings, reference)
        failures.extend(failed)
        if drawn is None:
            continue
        if settings.stored:
            _made_after(target / JUDGE_CONFIG, submission_path(folder, task))
        packets.append(drawn[0])
        contents[f"{task.task_id}.json"] = drawn[1]
    if not settings.stored:
        config = {"audit_documents": settings.documents, "audit_seed": settings.seed}
        contents = {JUDGE_CONFIG: canonical_json(config)} | contents
    _write(target, contents)
    return Packets(settings, tuple(packets), tuple(failures))


def _require_packets(folder: Path, benchmark: Benchmark) -> None:
    """Refuse a folder with submissions or reviews, whose files have the names of packets."""
    for path in (folder / f"{task.task_id}.json" for task in benchmark.tasks):
        if path.exists() and not _is_packet(read_json(path).value):
            raise InputError(
                "it is no audit packet, and one would be written over it",
                "draw into another folder",
                file=path,
            )


def _is_packet(document: Any) -> bool:
    return isinstance(document, dict) and document.keys() >= {"documents", "review", "statement"}


def _write(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write the files: the whole folder where there is none, else each file whole, the seed first."""
    if folder.is_dir() and any(folder.iterdir()):
        for name, content in contents.items():
            write_file(folder / name, content)
        return
    with new_folder(folder) as made:
        for name, content in contents.items():
            (made / name).write_bytes(content)


def _task_packet(
    checked: Checked, settings: Audit, reference_sha256: str
) -> tuple[tuple[Failure, ...], tuple[Packet, bytes] | None]:
    """Return the failures of a submission, and its packet with the bytes of its file if it gets one."""
    if checked.status != "valid" or checked.corpus is None:
        return checked.failures, None
    seed, documents = settings.seed, settings.documents
    packet = draw(checked.submission, checked.task, checked.corpus, seed=seed, documents=documents)
    document = packet_document(
        checked, packet, seed=seed, documents=documents, reference_sha256=reference_sha256
    )
    return (), (packet, canonical_json(document))


def _made_after(seed: Path, submission: Path) -> None:
    """Refuse a seed that an agent could have known: its file must not be older than the submission."""
    if seed.stat().st_mtime_ns < submission.stat().st_mtime_ns:
        raise InputError(
            f"the seed is older than the submission {submission.name}",
            "draw into another folder, with a seed made after the submission",
            file=seed,
        )
