"""How a kernel puts what it says into bytes: half a surrogate pair, which has none in UTF-8, as its escape.

Without this, what a cell prints is lost with it, and the words of an error too.
"""

from __future__ import annotations

from typing import Any

import orjson
from jupyter_client.jsonutil import json_default
from jupyter_client.session import orjson_packer

_TIMES = orjson.OPT_NAIVE_UTC | orjson.OPT_UTC_Z


def pack(message: Any) -> bytes:
    r"""Put a message, or a part of one, into bytes.

    Parameters
    ----------
    message : object
        What JSON can hold, and texts that it cannot.

    Returns
    -------
    bytes
        JSON in UTF-8. Half a surrogate pair is written as Python's own standard error writes it.

    Examples
    --------
    >>> pack({"text": "a\ud800b"})
    b'{"text":"a\\\\ud800b"}'
    """
    try:
        return orjson.dumps(message, default=json_default, option=_TIMES)
    except (
        TypeError
    ):  # as for every text without bytes, which is rare: looking for them takes longer than writing
        return bytes(orjson_packer(_encodable(message)))


def _encodable(value: Any) -> Any:
    """Escape what has no bytes in every text of a message."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value
