"""Files into bytes, and bytes into strict JSON: every JSON file that a user gives is read here.

Strict means: UTF-8 without a byte order mark, no NaN, no key twice in one object. What keeps a file from
being so is said in the same words everywhere, as what the file is or has, with line and column.
"""

from __future__ import annotations

import codecs
import os
import re
from pathlib import Path
from typing import Any

import jiter

from medgauge_lib.errors import InputError, printable
from medgauge_lib.schema import quoted

_MARKS = (
    (codecs.BOM_UTF8, "UTF-8"),
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_FAULTS = (
    ("EOF while parsing", "is cut off", "write the whole file anew"),
    ("invalid unicode code point", "is not UTF-8", "save it as UTF-8"),
    (
        "hex escape",
        "has half a surrogate pair as \\u escape",
        "write the character itself, or both halves",
    ),
    ("number out of range", "has a number with too many digits", "write a number that fits 64 bits"),
    ("recursion limit", "is nested too deeply", "about ten levels are enough"),
    ("control character", "has a control character inside a text", "write it as an escape such as \\n"),
)
_PLACE = re.compile(r" at line (\d+) column (\d+)$")
_TWICE = re.compile(r'Detected duplicate key "(.*)"', re.DOTALL)
_NO_NUMBER = re.compile(rb"-?(NaN|Infinity)")


def file_bytes(path: Path, *, what: str) -> bytes:
    """Read a whole regular file.

    Parameters
    ----------
    path : Path
    what : str
        The file that is expected, for messages, such as ``a record file``.

    Raises
    ------
    InputError
        Where there is no such file, it is a folder or no regular file, or it cannot be read.

    Examples
    --------
    >>> file_bytes(Path("no-such-file.json"), what="a record file")
    Traceback (most recent call last):
        ...
    medgauge_lib.errors.InputError: no-such-file.json: there is no such file or folder
      correct the path, or mend the link
    """
    try:
        # A pipe or a device would block or never end.
        if path.exists() and not path.is_file() and not path.is_dir():
            raise InputError("is not a regular file", f"give {what}", file=path)
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error, what=what) from None


def unreadable(path: str | os.PathLike[str], error: OSError, *, what: str) -> InputError:
    """Return the error for a file or folder that the system does not let be read.

    Examples
    --------
    >>> print(unreadable("a.json", IsADirectoryError(21, "Is a directory"), what="a record file"))
    a.json: is a folder, where a record file is expected
      move it away, or give the path of the file
    """
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        wrong, remedy = "there is no such file or folder", "correct the path, or mend the link"
    elif isinstance(error, IsADirectoryError):
        wrong, remedy = f"is a folder, where {what} is expected", "move it away, or give the path of the file"
    elif isinstance(error, PermissionError):
        wrong, remedy = "may not be read", "give yourself read permission"
    else:
        wrong, remedy = f"cannot be read: {error.strerror or type(error).__name__}", "make it readable"
    return InputError(wrong, remedy, file=printable(os.fspath(path)))


def strict_json(data: bytes, *, file: str | os.PathLike[str], right: str, first_line: int = 1) -> Any:
    """Parse JSON strictly.

    Parameters
    ----------
    data : bytes
        A whole file, or one line of a file of JSON Lines.
    file : path
        Named by messages.
    right : str
        What would be right where the bytes are no JSON, such as ``a record is one JSON object``.
    first_line : int
        1-based number of the line of the file with which `data` starts.

    Raises
    ------
    InputError
        Where the bytes are not such JSON; line and column are named. Numbers beyond the range of 64-bit
        floating point are no fault here: they come as infinities.

    Examples
    --------
    >>> strict_json(b'{"s": NaN}', file="a.json", right="a record is one JSON object")
    Traceback (most recent call last):
        ...
    medgauge_lib.errors.InputError: a.json: has NaN, which is no JSON number, at line 1 column 7
      write a number, or leave the field out; null only where the format has it
    """
    try:
        return jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        wrong, remedy = _not_json(data, str(error), right, first_line)
        raise InputError(wrong, remedy, file=printable(os.fspath(file))) from None


def _not_json(data: bytes, message: str, right: str, first_line: int) -> tuple[str, str]:
    """Return what keeps bytes from being JSON, and what would be right, from the parser's message."""
    for mark, encoding in _MARKS:
        if first_line == 1 and data.startswith(mark):
            return f"starts with a {encoding} byte order mark", "save it as UTF-8 without a byte order mark"
    if not data.strip():
        return "is empty", right
    place = _PLACE.search(message)
    line, column = (int(place[1]), int(place[2])) if place else (1, 0)
    where = f"at line {first_line + line - 1} column {column}"
    reason = message[: place.start()] if place else message
    twice = _TWICE.match(reason)
    if twice:
        return f"has the key {quoted(twice[1])} twice in one object, {where}", "keep one of the two"
    for words, wrong, remedy in _FAULTS:
        if words in reason:
            return f"{wrong}, {where}", remedy
    text = data.split(b"\n")[line - 1]
    number = _NO_NUMBER.match(text, max(column - 2, 0)) or _NO_NUMBER.match(text, max(column - 1, 0))
    if number:
        return (
            f"has {number[0].decode()}, which is no JSON number, {where}",
            "write a number, or leave the field out; null only where the format has it",
        )
    return f"is not JSON: {printable(reason)}, {where}", f"{right} in UTF-8"
