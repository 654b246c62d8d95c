"""The one error for input that cannot be used: it names the place and the way out in one or two lines."""

from __future__ import annotations

import os
from typing import Any

LONGEST = 300
"""The most characters in which a message says what is wrong, and what would be right."""


def printable(text: str) -> str:
    r"""Return a text with every sign that does not print written as an escape.

    Examples
    --------
    >>> printable("a\nb")
    'a\\nb'
    """
    return text if text.isprintable() else "".join(map(_escaped, text))


def _shortened(text: str, most: int) -> str:
    """Return a text for a message: what prints, cut where a value of megabytes would fill the screen."""
    shown = printable(text[: most + 1])
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def _escaped(sign: str) -> str:
    return sign if sign.isprintable() else repr(sign)[1:-1]


class InputError(ValueError):
    """Input that cannot be used, said in at most two lines.

    Signs that do not print are escaped, and what is longer than a message can be is cut, with an ellipsis.

    Parameters
    ----------
    wrong : str
        What is wrong, with the value that was found.
    remedy : str, optional
        What would be right, or what to do.
    file : path, optional
        The file it was found in.
    pointer : str, optional
        The place in the file as a JSON pointer (RFC 6901); "" is the whole document.

    Examples
    --------
    >>> print(InputError("3 is not a version", "write 1.0.3", file="a.json", pointer="/benchmark_version"))
    a.json: /benchmark_version: 3 is not a version
      write 1.0.3
    """

    def __init__(
        self,
        wrong: str,
        remedy: str = "",
        *,
        file: str | os.PathLike[str] | None = None,
        pointer: str = "",
    ) -> None:
        self.wrong = _shortened(wrong, LONGEST)
        self.remedy = _shortened(remedy, LONGEST)
        self.file = None if file is None else printable(os.fspath(file))
        self.pointer = _shortened(pointer, LONGEST // 2)
        place = ": ".join(part for part in (self.file, self.pointer, self.wrong) if part)
        super().__init__(place + (f"\n  {self.remedy}" if remedy else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what is said as it is said, since a worker's error is told here."""
        return _said_again, (type(self), self.args, self.__dict__)


def _said_again(kind: type[InputError], args: tuple[str, ...], state: dict[str, Any]) -> InputError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error
