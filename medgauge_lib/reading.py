"""Files into bytes, and bytes into strict JSON or YAML: every such file that a user gives is read here.

Strict means: UTF-8 without a byte order mark, no NaN, no key twice in one object, no alias. What keeps a file
from being so is said in the same words everywhere, as what the file is or has, with its line.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jiter

from medgauge_lib.errors import InputError
from medgauge_lib.schema import quoted

if TYPE_CHECKING:
    import yaml

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


def file_bytes(path: Path, *, what: str, most: int | None = None) -> bytes:
    """Read a whole regular file.

    Parameters
    ----------
    path : Path
    what : str
        The file that is expected, for messages, such as ``a record file``.
    most : int, optional
        The most bytes such a file may have; any number where not given.

    Returns
    -------
    bytes

    Raises
    ------
    InputError
        Where there is no such file, it is a folder, no regular file or too large, or it cannot be read.

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
        if most is not None and path.is_file() and path.stat().st_size > most:
            raise InputError(f"is larger than {most} bytes", f"give {what}", file=path)
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
    return InputError(wrong, remedy, file=path)


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
        raise InputError(wrong, remedy, file=file) from None


def _marked(data: bytes) -> tuple[str, str] | None:
    """Return what is wrong with bytes that start with a byte order mark, and what would be right."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return f"starts with a {encoding} byte order mark", "save it as UTF-8 without a byte order mark"
    return None


def _not_json(data: bytes, message: str, right: str, first_line: int) -> tuple[str, str]:
    """Return what keeps bytes from being JSON, and what would be right, from the parser's message."""
    marked = _marked(data) if first_line == 1 else None
    if marked is not None:
        return marked
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
    return f"is not JSON: {reason}, {where}", f"{right} in UTF-8"


def strict_yaml(path: Path, *, what: str, most: int) -> yaml.Node | None:
    """Read a YAML file into its nodes, whose scalars are still the text that stands in the file.

    Parameters
    ----------
    path : Path
    what : str
        The file that is expected, for messages, such as ``a params file``.
    most : int
        The most bytes such a file may have.

    Returns
    -------
    yaml.Node or None
        None where the file holds nothing.

    Raises
    ------
    InputError
        Where there is no such file, or it is not such YAML; the line is named.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "a.yaml")
    ...     _ = file.write_text("version: 1.10")
    ...     yaml_texts(strict_yaml(file, what="a params file", most=100))
    {'version': '1.10'}
    """
    import yaml  # here, since most commands read none

    data = file_bytes(path, what=what, most=most)
    marked = _marked(data)
    if marked is not None:
        raise InputError(*marked, file=path)
    try:
        text = data.decode()
        depth = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            line = 0 if event.start_mark is None else event.start_mark.line + 1
            # An alias would let a small file stand for an enormous one.
            if isinstance(event, yaml.AliasEvent):
                raise InputError(f"line {line}: holds an alias (*name)", "write it out", file=path)
            # The parser takes minutes over brackets that thousands of brackets hold.
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                raise InputError(f"line {line}: is nested too deeply", _YAML, file=path)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        for line, wrong in _wrong_names(node):
            raise InputError(f"line {line}: {wrong}", _YAML, file=path)
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 at byte {error.start}", "save it as UTF-8", file=path) from None
    except yaml.MarkedYAMLError as error:
        line = 0 if error.problem_mark is None else error.problem_mark.line + 1
        tab = "\\t" in (error.problem or "")
        remedy = "indent with spaces; YAML allows no tab there" if tab else _YAML
        wrong = f"line {line}: not YAML: {error.problem or error.context}"
        raise InputError(wrong, remedy, file=path) from None
    except yaml.reader.ReaderError as error:
        wrong = f"holds the control character U+{int(error.character):04X}"
        raise InputError(wrong, _YAML, file=path) from None
    return node


_DEEPEST = 20
"""Lists and blocks of YAML that may stand in one another; files of params or of a mapping need four."""

_YAML = "write one name: value on each line"


def _wrong_names(node: yaml.Node | None) -> Iterator[tuple[int, str]]:
    """Find names that are none, or that stand twice in one block, with their lines."""
    import yaml

    if isinstance(node, yaml.SequenceNode):
        for inner in node.value:
            yield from _wrong_names(inner)
    elif isinstance(node, yaml.MappingNode):
        seen = set()
        for name, inner in node.value:
            if not isinstance(name, yaml.ScalarNode):
                yield name.start_mark.line + 1, "a list or a block stands where a name belongs"
                return
            if name.value in seen:
                yield name.start_mark.line + 1, f"the key {quoted(name.value)} occurs twice"
            seen.add(name.value)
            yield from _wrong_names(inner)


def yaml_texts(node: yaml.Node | None) -> Any:
    """Return the nodes of `strict_yaml` as dicts, lists and texts; None where there is none.

    Parameters
    ----------
    node : yaml.Node or None

    Returns
    -------
    dict, list, str or None
        Every scalar as the text it is written as: a version stays a version.

    Examples
    --------
    >>> import yaml
    >>> yaml_texts(yaml.compose("{a: [1.10, null]}", Loader=yaml.SafeLoader))
    {'a': ['1.10', 'null']}
    """
    import yaml

    if isinstance(node, yaml.MappingNode):
        return {name.value: yaml_texts(inner) for name, inner in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [yaml_texts(inner) for inner in node.value]
    return None if node is None else node.value


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key under which numbers inside names count as numbers, of however many digits.

    Parameters
    ----------
    name : str
        Of a file, or a version.

    Returns
    -------
    tuple
        To sort by.

    Examples
    --------
    >>> sorted(["run-10", "run-2"], key=natural)
    ['run-2', 'run-10']
    """
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return tuple(_natural(part) for part in parts)


def _natural(part: str) -> tuple[int, int, str]:
    """Order numbers by their digits, since an integer takes no more than 4,300 of them."""
    if not (part.isascii() and part.isdigit()):
        return (1, 0, part)
    digits = part.lstrip("0")
    return (0, len(digits), digits)
