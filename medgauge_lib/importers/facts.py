"""What the user states beside the runs: facts of the records, names of columns, prices, kinds of errors.

A record needs facts that sources of runs seldom carry. A fact is taken from the first of these that has it:
the mapping file's block for that subject, the command line, the mapping file's block for every record, the
source. What nobody states is absent from the record; where the record format demands it, it is written as
not recorded (versions as 0.0.0) and listed as assumed, or, where no such value exists, asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from medgauge_lib.errors import InputError
from medgauge_lib.failures import ATTRIBUTIONS, KINDS
from medgauge_lib.reading import strict_yaml, yaml_texts
from medgauge_lib.schema import near, pointer, quoted

FACTS: Mapping[str, str] = {
    "benchmark": "id of the benchmark, bm-…",
    "benchmark_version": "version of the benchmark, such as 1.0.0",
    "task_version": "version of every task, such as 1.0.0",
    "subset": "subset of every task: holdout, dev or calib",
    "model": "name of the model",
    "model_snapshot": "dated name of the model",
    "harness": "id of the harness, hx-…",
    "harness_version": "version of the harness, such as 1.0.0",
    "reasoning_effort": "reasoning effort of the runs",
    "tool_permissions": "what tools could do: readonly, workspace_write or full",
    "service_fingerprint": "fingerprint of the model's service",
    "organisation": "who made the runs",
    "created_at": "date and time of the record, such as 2026-01-31T12:00:00Z",
    "action_definition": "what the source counts as one action",
    "currency": "currency of the amounts, such as EUR",
    "price_table_version": "price table of the amounts",
    "review_record": "where the site's review is recorded; makes the records verified, and so ranked",
}
"""Facts that can be stated, and what each is."""

OF_THE_BOARD = ("benchmark", "benchmark_version", "task_version", "subset")
"""Facts that no subject has of its own."""

NOT_RECORDED: Mapping[str, str] = {
    "benchmark_version": "0.0.0",
    "task_version": "0.0.0",
    "harness_version": "0.0.0",
    "service_fingerprint": "not recorded",
    "organisation": "not recorded",
}
"""What stands in a record for a fact that it must have and nobody states."""

ASSUMED: Mapping[str, str] = {"subset": "holdout", "tool_permissions": "full"}
"""Facts that must be one of a few values; taken so where nobody states them."""


@dataclass(frozen=True)
class Rule:
    """A piece of an error message and what it means.

    Attributes
    ----------
    contains : str
        The piece.
    attribution, kind : str
        As a record says them.
    """

    contains: str
    attribution: str
    kind: str


@dataclass(frozen=True)
class Price:
    """Price of a million tokens.

    Attributes
    ----------
    tokens_in, tokens_out : Fraction
    """

    tokens_in: Fraction
    tokens_out: Fraction


@dataclass(frozen=True)
class Given:
    """Everything the user states.

    Attributes
    ----------
    options : mapping
        Facts from the command line.
    record : mapping
        Facts of every record, from the mapping file.
    subjects : mapping
        Subject's name in the source to facts of its own.
    columns : mapping
        Standard column of a table to the column of the source.
    errors : tuple of Rule
        What pieces of error messages mean.
    prices : mapping
        Subject's name to its price.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    record: Mapping[str, str] = field(default_factory=dict)
    subjects: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    errors: tuple[Rule, ...] = ()
    prices: Mapping[str, Price] = field(default_factory=dict)

    def fact(self, name: str, subject: str, source: Mapping[str, str]) -> str | None:
        """Return a fact of a subject, None where nobody states it.

        Examples
        --------
        >>> given = Given(options={"model": "m-2"}, subjects={"a": {"model": "m-1"}})
        >>> given.fact("model", "a", {}), given.fact("model", "b", {}), given.fact("harness", "a", {})
        ('m-1', 'm-2', None)
        """
        for facts in (self.subjects.get(subject, {}), self.options, self.record, source):
            if name in facts:
                return facts[name]
        return None


def read_given(mapping: str | os.PathLike[str] | None, options: Mapping[str, str | None]) -> Given:
    """Return what the user states on the command line and in a mapping file.

    Parameters
    ----------
    mapping : path or None
        A YAML file with any of the blocks ``record, subjects, columns, errors, prices``. Every value is read
        as the text it is written as: a version stays a version.
    options : mapping
        Facts from the command line; None where one is not given.

    Returns
    -------
    Given

    Raises
    ------
    InputError
        Where the file cannot be read, or a name or a value in it is not known.

    Examples
    --------
    >>> read_given(None, {"model": "m-1", "harness": None}).options
    {'model': 'm-1'}
    """
    stated = {name: value for name, value in options.items() if value is not None}
    _known(stated, FACTS, None, "")
    if mapping is None:
        return Given(options=stated)
    path = Path(mapping)
    found = yaml_texts(strict_yaml(path, what="a mapping file", most=_LARGEST))
    blocks = _object({} if found is None else found, path, "")
    _known(blocks, ("record", "subjects", "columns", "errors", "prices"), path, "")
    record = _texts(blocks.get("record", {}), FACTS, path, "/record")
    of_subject = [name for name in FACTS if name not in OF_THE_BOARD]
    subjects = {
        name: _texts(facts, of_subject, path, pointer(["subjects", name]))
        for name, facts in _object(blocks.get("subjects", {}), path, "/subjects").items()
    }
    prices, of_prices = _prices(blocks.get("prices"), path)
    return Given(
        options=stated,
        record=of_prices | record,
        subjects=subjects,
        columns=_texts(blocks.get("columns", {}), None, path, "/columns"),
        errors=_rules(blocks.get("errors", []), path),
        prices=prices,
    )


_LARGEST = 2**20
"""Bytes of a mapping file; what people write by hand is far smaller."""


def _object(value: Any, path: Path, place: str) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise InputError(
            f"{quoted(value)} is not a block of names and values",
            "write one name: value on each line",
            file=path,
            pointer=place,
        )
    return value


def _known(names: Iterable[str], known: Iterable[str], path: Path | None, place: str) -> None:
    known = list(known)
    for name in names:
        if name not in known:
            raise InputError(f"{quoted(name)} is not known", near(name, known), file=path, pointer=place)


def _texts(block: Any, known: Iterable[str] | None, path: Path, place: str) -> dict[str, str]:
    found = _object(block, path, place)
    if known is not None:
        _known(found, known, path, place)
    for name, value in found.items():
        if not isinstance(value, str) or not value:
            raise InputError(
                f"{quoted(value)} is no text",
                "write name: value",
                file=path,
                pointer=place + pointer([name]),
            )
    return found


def _rules(block: Any, path: Path) -> tuple[Rule, ...]:
    if not isinstance(block, list):
        raise InputError(
            "is not a list",
            "write - {contains: …, attribution: …, kind: …}",
            file=path,
            pointer="/errors",
        )
    allowed = {"attribution": ATTRIBUTIONS, "kind": KINDS}
    rules = []
    for index, entry in enumerate(block):
        place = pointer(["errors", index])
        texts = _texts(entry, ("contains", "attribution", "kind"), path, place)
        for name in ("contains", "attribution", "kind"):
            if name not in texts:
                raise InputError(f"the field {name!r} is missing", "add it", file=path, pointer=place)
        for name, values in allowed.items():
            if texts[name] not in values:
                raise InputError(
                    f"{quoted(texts[name])} is not known",
                    near(texts[name], values),
                    file=path,
                    pointer=place + pointer([name]),
                )
        rules.append(Rule(**texts))
    return tuple(rules)


def _prices(block: Any, path: Path) -> tuple[dict[str, Price], dict[str, str]]:
    """Return prices by subject, and the currency and price table that come with them."""
    if block is None:
        return {}, {}
    block = _object(block, path, "/prices")
    names = ("currency", "price_table_version", "per_million_tokens")
    _known(block, names, path, "/prices")
    for name in names:
        if name not in block:
            raise InputError(f"the field {name!r} is missing", "add it", file=path, pointer="/prices")
    prices = {}
    for subject, pair in _object(block[names[2]], path, pointer(["prices", names[2]])).items():
        place = pointer(["prices", names[2], subject])
        texts = _texts(pair, ("in", "out"), path, place)
        prices[subject] = Price(
            *(_price(texts.get(side), path, place + pointer([side])) for side in ("in", "out"))
        )
    return prices, _texts({name: block[name] for name in names[:2]}, names, path, "/prices")


def _price(text: str | None, path: Path, place: str) -> Fraction:
    try:
        price = Decimal(text or "")
    except InvalidOperation:
        price = Decimal("NaN")
    # An exponent of a thousand digits would be expanded by the fraction.
    if not price.is_finite() or price < 0 or abs(price.adjusted()) > 30:
        raise InputError(
            f"{quoted(text)} is no price",
            "write a number such as 1.25",
            file=path,
            pointer=place,
        )
    return Fraction(price)
