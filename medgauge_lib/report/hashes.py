"""The bytes that a report is told by: JSON written one way, and SHA-256 of contents and files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from medgauge_lib.errors import InputError


def sha256(content: bytes) -> str:
    """Give the SHA-256 of some bytes in hexadecimal.

    Parameters
    ----------
    content : bytes
        Any.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> sha256(b"")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(content).hexdigest()


def file_sha256(path: Path) -> str:
    """Hash a file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        Its SHA-256 in hexadecimal.

    Raises
    ------
    InputError
        Where it cannot be read.
    """
    try:
        # Opening a pipe would wait for whoever writes to it.
        if path.exists() and not path.is_file():
            raise InputError("is not a file", "remove it, or put the file in its place", file=path)
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        reason = (error.strerror or "unreadable").lower()
        raise InputError(
            f"cannot be read: {reason}", "correct its permissions or remove it", file=path
        ) from None


def sorted_json(value: Any) -> bytes:
    r"""Write JSON the same way every time.

    Parameters
    ----------
    value : Any
        Anything JSON can hold.

    Returns
    -------
    bytes
        UTF-8 with sorted keys, indented by one space, with a line feed at the end.

    Examples
    --------
    >>> sorted_json({"b": 1, "a": []})
    b'{\n "a": [],\n "b": 1\n}\n'
    """
    return (json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
