"""From runs to published records: every figure, interval and letter that the runs decide is computed here.

What runs cannot decide (strata, compliance, closed-side dimensions, reasons of failures) stays as it came, in
key order and in the digits of each number: zeros at the end say how precise a figure is. Figures that are
exact rationals are written as the nearest double. A bound that passes through a beta quantile or a power is
written with 12 decimals, a BCa bound with 6: the last digits of such functions differ between libraries, and
a record must have the same bytes everywhere.

References
----------
.. [1] Methodology 0.1.0, "The ten dimensions" and decisions 4, 7, 10, 11 and 12.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from medgauge_lib.audit.agreement import plain
from medgauge_lib.audit.recomputed import Undecided, recomputed
from medgauge_lib.errors import InputError
from medgauge_lib.files import new_folder
from medgauge_lib.intervals import SEED
from medgauge_lib.records import RecordSet
from medgauge_lib.results import Absent
from medgauge_lib.schema import LARGEST

_CLOSED = ("compliance_rate", "by_difficulty_class")


def score(records: RecordSet, *, seed: int = SEED, as_of: str | None = None) -> dict[str, dict[str, Any]]:
    """Compute every published figure that the runs decide, and put it into copies of the records.

    Void task versions are out of everything, in the records of the board and in community records alike. A
    figure over runs of which one does not carry what is needed stays as it came, since the runs cannot
    decide it. Every ranked record lists every void task version of the board. Community records carry no
    board block.

    Parameters
    ----------
    records : RecordSet
        One benchmark version, read from files that are still there.
    seed : int
        Seed of every BCa interval, 0 ≤ seed < 2^64; it is stated beside each.
    as_of : str, optional
        Date of the board, not before the latest creation date among the records, which it is where not given.

    Returns
    -------
    dict of str to dict
        Record id to the complete record, in ascending order of id.

    Raises
    ------
    InputError
        If the runs break a rule without which figures mean nothing, if no task of a record is left, if the
        board has more than 26 groups, if a total of tokens is beyond 2^63 - 1, if a record was created after
        `as_of`, or if a file changed since it was read.
    ValueError
        If `as_of` is no date.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from medgauge_lib import demo
    >>> from medgauge_lib.records import read_records
    >>> with TemporaryDirectory() as folder:
    ...     _ = demo.write(folder + "/demo")
    ...     scored = score(read_records(folder + "/demo/bm-demo-lab/0.1.0"))
    >>> scored["res-2026-05-20-aster-round"]["scores"]["by_subset"]["holdout"]["n"]
    20
    """
    trees = recomputed(records, seeds=lambda *_: seed, as_of=as_of)
    _lettered(trees)
    void: list[Any] = records.void[["task_key", "task_version", "attribution"]].to_dict("records")
    verified = dict(zip(records.subjects["id"], records.subjects["verified"], strict=True))
    made = {}
    for record, tree in trees.items():
        if not tree["scores"]["by_subset"]:
            raise InputError(
                "every task version of the record is void",
                "there is nothing left to publish; run the corrected tasks",
                file=records.paths[record],
                pointer="/run_outcomes",
            )
        blocks: dict[str, Any] = {"voided_tasks": void} if void and verified[record] else {}
        if isinstance(tree["board"], dict):
            blocks["board"] = _plain(tree["board"])
        made[record] = _complete(_document(records, record), tree, blocks)
        _fitting(made[record]["cost"], records.paths[record])
    return made


def _lettered(trees: Mapping[str, Any]) -> None:
    """Refuse a board with more groups than a record has letters for (decision 4)."""
    for tree in trees.values():
        if isinstance(tree["board"], dict) and isinstance(tree["board"]["letters"], Absent):
            raise InputError(
                tree["board"]["letters"].reason,
                "score fewer records together; the board itself goes on with aa",
            )


def _fitting(cost: Mapping[str, Any], file: Path) -> None:
    """Refuse totals beyond what a record can hold; each run's count fits, their sum need not."""
    for name in ("tokens_in", "tokens_out"):
        if cost.get(name, 0) > LARGEST:
            raise InputError(
                f"the runs sum to {cost[name]}, which is more than a record can hold ({LARGEST})",
                f"correct {name} of the runs",
                file=file,
                pointer=f"/cost/{name}",
            )


def _document(records: RecordSet, record: str) -> dict[str, Any]:
    """Return a record with its runs, in the key order of its file."""
    path = records.paths[record]
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot be read any more: {error.strerror}", "read the records anew", file=path
        ) from None
    read = records.subjects.loc[records.subjects["id"] == record, "sha256"].item()
    if hashlib.sha256(data).hexdigest() != read:
        raise InputError("changed since it was read", "read the records anew", file=path)
    document: dict[str, Any] = json.loads(data, parse_float=_as_written)
    return document


class _Written(float):
    """A number whose file has other digits than its shortest ones, such as 1.50."""

    text: str


def _as_written(text: str) -> float:
    number = float(text)
    if orjson.dumps(number) == text.encode():
        return number
    written = _Written(number)
    written.text = text
    return written


def _complete(
    document: Mapping[str, Any], tree: Mapping[str, Any], blocks: Mapping[str, Any]
) -> dict[str, Any]:
    """Put the figures into a copy of the record; a block that is new goes where a reader looks for it."""
    made: dict[str, Any] = {}
    for name, value in document.items():
        if name == "scores":
            made[name] = _scores(value, tree["scores"])
        elif name == "cost":
            made[name] = _merged(value, tree["cost"])
        elif name in blocks:
            made[name] = value if name == "voided_tasks" and _same(value, blocks[name]) else blocks[name]
        elif name != "board":
            made[name] = value
        follower = _FOLLOWERS.get(name, "")
        if follower in blocks and follower not in document:
            made[follower] = blocks[follower]
    return made


_FOLLOWERS = {"scores": "board", "cost": "voided_tasks"}


def _same(one: Iterable[Mapping[str, Any]], other: Iterable[Mapping[str, Any]]) -> bool:
    """Whether two lists of void task versions say the same, in whatever order."""
    first, second = (sorted(tuple(sorted(void.items())) for void in voids) for voids in (one, other))
    return first == second


def _scores(old: Mapping[str, Any], tree: Mapping[str, Any]) -> dict[str, Any]:
    subsets = {
        subset: _plain(block)
        | {name: value for name, value in old["by_subset"].get(subset, {}).items() if name in _CLOSED}
        for subset, block in tree["by_subset"].items()
    }
    made = dict(old) | {"n_tasks_total": tree["n_tasks_total"], "by_subset": subsets}
    if "dimensions" in old:
        made["dimensions"] = dict(old["dimensions"]) | {
            name: _merged(old["dimensions"][name], block)
            for name, block in tree["dimensions"].items()
            if name in old["dimensions"]
        }
    return made


def _merged(old: Mapping[str, Any], tree: Mapping[str, Any]) -> dict[str, Any]:
    """Set what runs decide, take out what does not exist, leave what they do not decide as it came."""
    made = dict(old)
    for name, value in tree.items():
        if isinstance(value, dict):
            made[name] = _merged(old.get(name, {}), value)
        elif isinstance(value, Absent):
            made.pop(name, None)
        elif not isinstance(value, Undecided):
            made[name] = plain(value)
    return made


def _plain(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return a block anew; an interval that does not exist is left out, never of no width (decision 7)."""
    return _merged({}, tree)


def record_json(record: Mapping[str, Any]) -> bytes:
    r"""Return a record as the bytes of its file: UTF-8, no white space, keys in their order, a final newline.

    A number is written with its shortest digits; one that `score` left as it came, with those it came with.

    Parameters
    ----------
    record : mapping
        A complete record.

    Returns
    -------
    bytes

    Examples
    --------
    >>> record_json({"n": 1, "rate": 0.5})
    b'{"n":1,"rate":0.5}\n'
    """
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE, default=_digits)


def _digits(number: object) -> orjson.Fragment:
    if not isinstance(number, _Written):
        raise TypeError(f"a record holds values of JSON, not {type(number).__name__}")
    return orjson.Fragment(number.text)


def write(records: Mapping[str, Mapping[str, Any]], folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write each record to ``<id>.json`` in a folder, all of them or none.

    Parameters
    ----------
    records : mapping of str to mapping
        Record id to record, from `score`.
    folder : path
        New or empty. It appears when every file is whole.

    Returns
    -------
    tuple of Path
        The files, in the order of `records`.

    Raises
    ------
    InputError
        If the folder holds something, or cannot be written. It is then as it was.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in write({"res-2026-01-01-a": {}}, folder)]
    ['res-2026-01-01-a.json']
    """
    with new_folder(folder) as made:
        for record, content in records.items():
            (made / f"{record}.json").write_bytes(record_json(content))
    return tuple(Path(folder) / f"{record}.json" for record in records)
