"""The files of the finding-quality system, read and held to their contracts.

A benchmark is a folder with ``tasks.json``, ``release.json`` and the corpora; an agent's answer is one file a
task, and so is its review. Everything read here is untrusted: messages show values short and printable.
The contracts are the JSON Schema files of `schema/`; what is right at a place is said by their descriptions.
Hashes are SHA-256 over canonical JSON: sorted keys, no spaces, UTF-8 without escapes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema_rs

from medgauge_lib.errors import InputError
from medgauge_lib.reading import file_bytes, strict_json
from medgauge_lib.results import Absent
from medgauge_lib.schema import pointer, quoted

SCORING_VERSION = "finding-quality-discovery"
"""Name of the scoring rules that reviews are bound to."""

GROUP, TIME, ASSOCIATION = KINDS = ("group_difference", "temporal_change", "compound_association")
"""Kinds of tasks."""

JUDGE_CONFIG = "judge_config.json"
"""File of the judge's configuration, beside the reviews."""

NOT_TASKS = (JUDGE_CONFIG, "run.json")
"""JSON files that may lie among submissions or reviews without being one."""

_LONGEST_NAME = 255


def canonical_json(value: Any) -> bytes:
    """Return a value as canonical JSON: sorted keys, no spaces, UTF-8 without escapes.

    Parameters
    ----------
    value : object
        What a JSON parser returned.

    Raises
    ------
    ValueError
        On a number that JSON cannot hold.

    Examples
    --------
    >>> canonical_json({"b": "é", "a": [1, 1.0, None]}).decode()
    '{"a":[1,1.0,null],"b":"é"}'
    """
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    ).encode()


def canonical_sha256(value: Any) -> str:
    """Return the SHA-256 of a value's canonical JSON in hexadecimal.

    Examples
    --------
    >>> canonical_sha256({})[:8]  # SHA-256 of the two bytes {}
    '44136fa3'
    """
    return hashlib.sha256(canonical_json(value)).hexdigest()


class Document(NamedTuple):
    """A JSON file.

    Attributes
    ----------
    value : object
        What the file holds.
    file_sha256 : str
        SHA-256 of its bytes, in hexadecimal digits.
    sha256 : str
        SHA-256 of its canonical JSON.
    """

    value: Any
    file_sha256: str
    sha256: str


def read_json(path: Path) -> Document:
    """Read one JSON file, strictly: no NaN, no key twice, no byte order mark.

    Raises
    ------
    InputError
        Where the file cannot be read or is no such JSON; it names the place.

    Examples
    --------
    >>> read_json(Path("nowhere.json"))
    Traceback (most recent call last):
        ...
    medgauge_lib.errors.InputError: nowhere.json: there is no such file or folder
      correct the path, or mend the link
    """
    data = file_bytes(path, what="a JSON file")
    value = strict_json(data, file=path, right="write one JSON document")
    try:
        return Document(value, hashlib.sha256(data).hexdigest(), canonical_sha256(value))
    except ValueError:
        wrong = "holds a number beyond the range of 64-bit floating point"
        raise InputError(wrong, "write a finite number, or null", file=path) from None


class ContractFault(NamedTuple):
    """A place where a document breaks its contract.

    Attributes
    ----------
    path : tuple
        The place: names and indices from the top.
    found, right : str
        What stands there, and what would be right.
    more : int
        Further places near by that break the same rule.
    """

    path: tuple[str | int, ...]
    found: str
    right: str
    more: int

    @property
    def pointer(self) -> str:
        """The place as a JSON pointer."""
        return pointer(self.path)


def faults(value: Any, contract: str) -> tuple[ContractFault, ...]:
    """Return where a parsed document breaks a contract.

    A rule that is broken many times within one entry of the document's lists makes one fault: a list of ten
    thousand numbers where ids are asked for is one mistake.

    Parameters
    ----------
    value : object
        What a JSON parser returned.
    contract : str
        Name of a schema file of this package, such as ``submission``.

    Examples
    --------
    >>> [(fault.pointer, fault.found, fault.right) for fault in faults({"version": 1}, "release")]
    [('/version', '1', 'a text that is not empty')]
    """
    schema, validator = _contract(contract)
    if validator.is_valid(value):
        return ()
    by_rule: dict[tuple[object, ...], list[jsonschema_rs.ValidationError]] = {}
    for error in validator.iter_errors(value):
        entry, member = tuple(error.instance_path[:2]), error.kind.as_dict().get("property")
        by_rule.setdefault((entry, tuple(error.schema_path), member), []).append(error)
    found = []
    for errors in by_rule.values():
        path = tuple(errors[0].instance_path)
        right = _description(schema, errors[0].schema_path)
        found.append(ContractFault(path, _found(errors[0], value), right, len(errors) - 1))
    return tuple(found)


@cache
def _contract(name: str) -> tuple[Any, jsonschema_rs.Draft202012Validator]:
    text = files("medgauge_lib.findings").joinpath("schema", f"{name}.schema.json").read_text("utf-8")
    schema = json.loads(text)
    return schema, jsonschema_rs.Draft202012Validator(schema)


def _description(schema: Any, path: Iterable[str | int]) -> str:
    """Return the description nearest above a rule: what would be right there."""
    right = schema["description"]
    for step in path:
        schema = schema[step]
        right = schema.get("description", right) if isinstance(schema, dict) else right
    return str(right)


def _found(error: jsonschema_rs.ValidationError, value: Any) -> str:
    kind = error.kind.as_dict()
    if error.kind.name == "required":
        return f"no member {quoted(kind['property'])}"
    if error.kind.name == "additionalProperties":
        return f"the unknown member {quoted(kind['unexpected'][0])}"
    for step in error.instance_path:
        value = value[step]
    return "an empty list" if value == [] else quoted(value)


def require(value: Any, contract: str, file: Path) -> None:
    """Raise InputError on the first fault of a document the user is responsible for."""
    for fault in faults(value, contract):
        more = f" (and at {fault.more} more places)" if fault.more else ""
        raise InputError(
            f"found {fault.found}{more}", f"write {fault.right}", file=file, pointer=fault.pointer
        )


@dataclass(frozen=True)
class Task:
    """One task: a question on one corpus.

    Attributes
    ----------
    task_id, source, kind, question : str
        `kind` is one of `KINDS`.
    max_findings : int
        Most findings a submission may hold.
    fields : tuple of str
        Metadata fields that may filter or group: the allowed ones but ``text`` and ``doc_id``.
    min_population_n, min_group_n, n_documents : int
        Least sizes of a population and of an arm, and the size of the corpus; in documents.
    corpus_path, corpus_sha256 : str
        The corpus file, relative to the data folder, and its hash.
    axes : tuple of str
        Axes of the robustness figures.
    min_known_per_arm : int
        Known documents that each arm of an eligible stratum has at least.
    sha256 : str
        Of the task's canonical JSON, to which reviews are bound.
    document : mapping
        The task as it came.
    """

    task_id: str
    source: str
    kind: str
    question: str
    max_findings: int
    fields: tuple[str, ...]
    min_population_n: int
    min_group_n: int
    n_documents: int
    corpus_path: str
    corpus_sha256: str
    axes: tuple[str, ...]
    min_known_per_arm: int
    sha256: str
    document: Mapping[str, Any]

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Task:
        """Make a task from a document that keeps the contract ``tasks``."""
        protocol = document["robustness_protocol"]
        return cls(
            task_id=document["task_id"],
            source=document["source"],
            kind=document["kind"],
            question=document["question"],
            # By JSON Schema 3.0 is an integer too.
            max_findings=int(document["max_findings"]),
            min_population_n=int(document["min_population_n"]),
            min_group_n=int(document["min_group_n"]),
            n_documents=int(document["n_documents"]),
            corpus_path=document["corpus_path"],
            corpus_sha256=document["corpus_sha256"],
            # Text and ids cannot filter, whatever a task allows: they would select what is to be found.
            fields=tuple(f for f in document["allowed_metadata_fields"] if f not in ("text", "doc_id")),
            axes=tuple(protocol["axes"]),
            min_known_per_arm=int(protocol["min_known_per_arm"]),
            sha256=canonical_sha256(document),
            document=document,
        )


@dataclass(frozen=True)
class Benchmark:
    """The tasks of one data folder.

    Attributes
    ----------
    folder : Path
        The data folder.
    version : str or Absent
        From ``release.json``.
    tasks_sha256 : str
        Of the file ``tasks.json``.
    tasks : tuple of Task
        In ascending order of id.
    listed : tuple of str
        Task ids in the order of the file.
    """

    folder: Path
    version: str | Absent
    tasks_sha256: str
    tasks: tuple[Task, ...]
    listed: tuple[str, ...]

    def reference_sha256(self) -> str:
        """Return the hash of the reference configuration without references.

        Raises
        ------
        InputError
            Where ``release.json`` is missing, which names the version.
        """
        if isinstance(self.version, Absent):
            raise InputError(
                self.version.reason, 'add it with {"version": "…"}', file=self.folder / "release.json"
            )
        return canonical_sha256(
            {
                "benchmark_version": self.version,
                "tasks_sha256": self.tasks_sha256,
                "reference_policy": "none",
                "tasks": [{"task_id": task_id, "reference_id": None} for task_id in self.listed],
            }
        )


def read_benchmark(folder: str | os.PathLike[str]) -> Benchmark:
    """Read the tasks of a data folder.

    Parameters
    ----------
    folder : path
        Holds ``tasks.json``, ``release.json`` and the corpora, which are read one at a time later.

    Returns
    -------
    Benchmark

    Raises
    ------
    InputError
        Where ``tasks.json`` is missing, breaks its contract, names a task twice, or holds tasks of different
        protocols, which are never mixed in one report.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from medgauge_lib.findings.demo import write_demo
    >>> with TemporaryDirectory() as place:
    ...     benchmark = read_benchmark(write_demo(Path(place)).data)
    >>> benchmark.version, len(benchmark.tasks)
    ('synthetic-1.0', 15)
    """
    folder = Path(folder)
    path = folder / "tasks.json"
    listed = read_json(path)
    require(listed.value, "tasks", path)
    tasks = [Task.from_document(document) for document in listed.value]
    first: dict[str, int] = {}
    for place, task in enumerate(tasks):
        if task.task_id in first:
            wrong = f"the task {quoted(task.task_id)} stands at /{first[task.task_id]} too"
            raise InputError(wrong, "give each task an id of its own", file=path, pointer=f"/{place}/task_id")
        first[task.task_id] = place
        if len(f".{task.task_id}.json.part".encode()) > _LONGEST_NAME or not task.task_id.isprintable():
            wrong = f"the task id {quoted(task.task_id)} is too long to name a file, or cannot be printed"
            raise InputError(wrong, "give a short, plain one", file=path, pointer=f"/{place}/task_id")
        if (task.axes, task.min_known_per_arm) != (tasks[0].axes, tasks[0].min_known_per_arm):
            raise InputError(
                "the protocol differs from that of the first task",
                "keep tasks of different protocols in folders of their own; they are never mixed",
                file=path,
                pointer=f"/{place}/robustness_protocol",
            )
    return Benchmark(
        folder,
        _version(folder / "release.json"),
        listed.file_sha256,
        tuple(sorted(tasks, key=lambda task: task.task_id)),
        tuple(task.task_id for task in tasks),
    )


def _version(path: Path) -> str | Absent:
    if not path.exists():
        return Absent("the file that names the benchmark's version is missing")
    release = read_json(path).value
    require(release, "release", path)
    return str(release["version"])


def strays(folder: Path, tasks: Iterable[Task]) -> Iterator[Path]:
    """Yield the JSON files of a folder that belong to no task, in ascending order of name.

    Raises
    ------
    InputError
        Where the folder cannot be read.
    """
    known = {f"{task.task_id}.json" for task in tasks}.union(NOT_TASKS)
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        wrong = f"cannot be read: {error.strerror or type(error).__name__}"
        raise InputError(wrong, "give a folder with one JSON file a task", file=folder) from None
    yield from (folder / name for name in names if name.endswith(".json") and name not in known)
