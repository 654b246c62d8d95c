"""What several commands share: their options, the records they are given, values as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import orjson

from medgauge_lib.errors import InputError
from medgauge_lib.intervals import SEED


class Number(click.FloatRange):
    """A range of numbers; click lets NaN, which is no number, through any range.

    Examples
    --------
    >>> Number(0, 1).convert("nan", None, None)
    Traceback (most recent call last):
        ...
    click.exceptions.BadParameter: nan is not in the range 0<=x<=1.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number that a text says, where it lies in the range."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"nan is not in the range {self._describe_range()}.", param, ctx)
        return number


PATH = click.Path(path_type=Path)
SEED_RANGE = click.IntRange(0, 2**64 - 1)
SEED_OPTION = click.option(
    "--seed", type=SEED_RANGE, default=SEED, show_default=True, help="Seed of all that is drawn."
)
SUBSET = click.option(
    "--subset",
    type=click.Choice(["holdout", "dev", "calib"]),
    default="holdout",
    show_default=True,
    help="Subset of tasks; subsets are never pooled.",
)
DASK = click.option(
    "--dask",
    metavar="ADDRESS",
    help="Scheduler of an existing Dask cluster to work on, such as tcp://10.0.0.5:8786.",
)
SOURCES = click.argument("records", nargs=-1, required=True, type=PATH)


def format_option(what: str, *forms: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command ``--format``: text or JSON, or one of the formats named, the usual one first."""
    known = forms or ("text", "json")
    return click.option(
        "--format",
        "form",
        type=click.Choice(known),
        default=known[0],
        show_default=True,
        help=f"How to print {what}.",
    )


def one_or_many(records: Sequence[Path]) -> Path | Sequence[Path]:
    """Return the one folder or file that was named, or the several files.

    Parameters
    ----------
    records : sequence of Path

    Returns
    -------
    Path or sequence of Path

    Examples
    --------
    >>> one_or_many([Path("demo")]).name
    'demo'
    """
    return records[0] if len(records) == 1 else records


def require_apart(out: Path) -> None:
    """Require that the file which the running command is to write is none of those it reads.

    Parameters
    ----------
    out : Path
        The file to be written.

    Raises
    ------
    InputError
        Where the file is there, is JSON or packed, and is or lies in a path that the command was given.
    """
    given = click.get_current_context().params
    words = [word for name, value in given.items() if name != "out" for word in _listed(value)]
    inside = any(out.resolve().is_relative_to(word.resolve()) for word in words if isinstance(word, Path))
    if inside and out.is_file() and out.suffix in (".json", ".jsonl", ".gz"):
        raise InputError("it is among the files that are read", "write to another place", file=out)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, tuple) else (value,)


def as_json(value: Any) -> bytes:
    r"""Return a value as JSON, indented by two.

    Parameters
    ----------
    value : object
        Of dicts, lists, strings, numbers, booleans and None.

    Returns
    -------
    bytes
        UTF-8, with a last line feed. Whole numbers may need more than 64 bits, as a sum of runs does.

    Examples
    --------
    >>> as_json({"n": 2**64})
    b'{\n  "n": 18446744073709551616\n}\n'
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # orjson refuses what needs more than 64 bits
        return (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
