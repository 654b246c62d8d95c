"""Labels of tasks from the closed side: a task key to its difficulty class, or to several labels.

The file stays closed. Whatever leaves this room towards a page is a count or a figure over several tasks;
a representation of `Labels` therefore shows how many tasks it labels and nothing else. Classes 1 to 4 are
ordered, 1 the easiest by the structure of the task; results never change them.

References
----------
.. [1] Methodology 0.1.0, "The ten dimensions" (M4) and "Recomputation".
"""

from __future__ import annotations

import difflib
import math
import os
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from medgauge_lib.errors import InputError
from medgauge_lib.reading import file_bytes, strict_json
from medgauge_lib.records import RecordSet
from medgauge_lib.schema import pointer, quoted

CLASSES = (1, 2, 3, 4)
"""Structural classes of difficulty, the easiest first."""

DIFFICULTY = "difficulty"
"""The family that every labelled task has."""

Publish = Literal["public", "internal"]
"""Who a page is for: a public one never shows the label of a single task."""

Label = str | int | float | bool

_KEY = re.compile(r"tk-[0-9a-f]{12,64}")
_KINDS = {str: "a text", bool: "true or false", int: "a number", float: "a number"}


@dataclass(frozen=True)
class Labels:
    """Labels of the tasks of one benchmark version.

    Attributes
    ----------
    n_tasks : int
        Tasks that carry a label.
    families : tuple of str
        Names of the label families: ``difficulty`` first, then the others in byte order.
    by_task : mapping of str to mapping
        Task key to its labels by family. It is not part of the representation.
    """

    n_tasks: int
    families: tuple[str, ...]
    by_task: Mapping[str, Mapping[str, Label]] = field(repr=False)

    def of(self, task_key: str, family: str = DIFFICULTY) -> Label | None:
        """Label of one task, None where it has none; for computing, never for showing."""
        return self.by_task.get(task_key, {}).get(family)

    def counts(self, family: str = DIFFICULTY, tasks: Collection[str] | None = None) -> dict[Label, int]:
        """Tasks by label of one family, labels ascending; tasks without one are not among them.

        Parameters
        ----------
        family : str
            One of `families`.
        tasks : collection of str, optional
            Task keys to count; every labelled task where not given.

        Returns
        -------
        dict
            Label to the number of tasks that carry it. No task key is in it.

        Raises
        ------
        ValueError
            If there is no such family.

        Examples
        --------
        >>> labels = Labels(2, ("difficulty",), {"tk-a": {"difficulty": 3}, "tk-b": {"difficulty": 3}})
        >>> labels.counts(), labels
        ({3: 2}, Labels(n_tasks=2, families=('difficulty',)))
        """
        if family not in self.families:
            raise ValueError(f"family must be one of {', '.join(self.families)}, but got {family!r}")
        chosen = self.by_task if tasks is None else tasks
        found = Counter(label for task in chosen if (label := self.of(task, family)) is not None)
        return dict(sorted(found.items()))

    def to_frame(self) -> pd.DataFrame:
        """One line a family and label: ``family, label, n_tasks``; counts alone, no task key is in it."""
        lines = [(family, label, n) for family in self.families for label, n in self.counts(family).items()]
        return pd.DataFrame(lines, columns=["family", "label", "n_tasks"])

    def notes(self, records: RecordSet, tasks: Collection[str]) -> tuple[str, ...]:
        """What a reader must know about tasks without labels and labels without tasks, in counts.

        Parameters
        ----------
        records : RecordSet
            The records beside the labels.
        tasks : collection of str
            Keys of the tasks that are shown.

        Returns
        -------
        tuple of str
            A sentence each; empty where every task has its label and every label its task.
        """
        without = len(set(tasks) - set(self.by_task))
        unused = len(set(self.by_task) - set(records.runs["task_key"]))
        notes = []
        if without:
            notes.append(f"Tasks without a label: {without} of {len(tasks)}; they are in no class.")
        if unused:
            notes.append(f"Labels of tasks that no record holds: {unused}; they count nowhere.")
        return tuple(notes)


def read_labels(path: str | os.PathLike[str], records: RecordSet | None = None) -> Labels:
    """Read the labels of the tasks of one benchmark version.

    Parameters
    ----------
    path : path
        A JSON object of task keys: each to its class, an integer from 1 to 4, or to an object with
        ``difficulty`` and further labels. A further label is a text, a finite number, or true or false, and
        of one kind throughout its family. A task may lack it.
    records : RecordSet, optional
        The records beside the labels, which must hold one of the labelled tasks at least.

    Returns
    -------
    Labels

    Raises
    ------
    InputError
        If the file cannot be read, is not of that form (the place is named), or labels other tasks alone.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "1.0.0.labels.json"
    ...     _ = file.write_text('{"tk-00000000000a": 2, "tk-00000000000b": {"difficulty": 4, "ward": "b"}}')
    ...     read_labels(file)
    Labels(n_tasks=2, families=('difficulty', 'ward'))
    """
    file = Path(path)
    document = _document(file)
    by_task = {key: _task(file, key, entry) for key, entry in document.items()}
    further = sorted({family for labels in by_task.values() for family in labels} - {DIFFICULTY})
    for family in further:
        _one_kind(file, family, by_task)
    if records is not None and by_task.keys().isdisjoint(records.runs["task_key"]):
        raise InputError(
            f"labels no task of {records.benchmark} {records.benchmark_version}",
            "give the labels of that benchmark and version",
            file=file,
        )
    return Labels(len(by_task), (DIFFICULTY, *further), dict(sorted(by_task.items())))


def _document(file: Path) -> dict[str, Any]:
    data = file_bytes(file, what="a file of labels")
    document = strict_json(data, file=file, right="labels are one JSON object")
    if not isinstance(document, dict) or not document:
        raise InputError(
            f"is {quoted(document) if document != {} else 'an empty object'}, where labels are expected",
            'labels are a JSON object such as {"tk-0123456789ab": 2}',
            file=file,
        )
    return document


def _task(file: Path, key: str, entry: object) -> dict[str, Label]:
    """Labels of one task, held to the form."""
    if not _KEY.fullmatch(key):
        raise InputError(
            f"{quoted(key)} is no task key",
            "a task key is tk- and 12 to 64 of the signs 0-9 and a-f",
            file=file,
            pointer=pointer([key]),
        )
    if not isinstance(entry, dict):
        return {DIFFICULTY: _class(file, [key], entry)}
    if DIFFICULTY not in entry:
        near = difflib.get_close_matches(DIFFICULTY, map(str.lower, entry), 1)
        named = next((name for name in entry if name.lower() == near[0]), "") if near else ""
        raise InputError(
            "the class is missing",
            f"did you mean {DIFFICULTY} where {quoted(named)} stands?" if named else "add difficulty, 1 to 4",
            file=file,
            pointer=pointer([key]),
        )
    return {
        family: _class(file, [key, family], label)
        if family == DIFFICULTY
        else _further(file, [key, family], label)
        for family, label in entry.items()
    }


def _class(file: Path, path: list[str], value: object) -> int:
    if type(value) is not int or value not in CLASSES:
        raise InputError(
            f"{quoted(value)} is no class", "write 1, 2, 3 or 4", file=file, pointer=pointer(path)
        )
    return value


def _further(file: Path, path: list[str], value: object) -> Label:
    if not path[-1].strip() or not path[-1].isprintable():
        raise InputError(
            f"{quoted(path[-1])} is no name of a family of labels",
            "name it with signs that print",
            file=file,
            pointer=pointer(path),
        )
    if isinstance(value, str) and value.strip() and value.isprintable():
        return value
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise InputError(
        f"{quoted(value)} is no label",
        "write a text that prints, a number, or true or false; leave out what is not known",
        file=file,
        pointer=pointer(path),
    )


def _one_kind(file: Path, family: str, by_task: Mapping[str, Mapping[str, Label]]) -> None:
    """Hold a family to one kind of label: a 1 and a true would be counted as one."""
    first = ""
    for key, labels in by_task.items():
        if family not in labels:
            continue
        kind = _KINDS[type(labels[family])]
        first = first or kind
        if kind != first:
            raise InputError(
                f"{quoted(labels[family])} is {kind}, where the family before has {first}",
                "use one kind of label throughout a family",
                file=file,
                pointer=pointer([key, family]),
            )
