"""Which library this is: its version, its code, and the libraries it stands on."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from medgauge_lib._version import __version__

_NAME_OF = re.compile(r"[^A-Za-z0-9._-]")


def library() -> dict[str, Any]:
    """Describe this library.

    Returns
    -------
    dict
        ``medgauge`` (version), ``sha256`` (of all its code), ``uses`` (version of each library it stands on).
    """
    return {"medgauge": __version__, "sha256": _code(), "uses": _dependencies()}


def other_than_here(described: Mapping[str, Any]) -> Iterator[str]:
    """Say where a library described elsewhere is not this one.

    Parameters
    ----------
    described : mapping
        As `library` gave it there.

    Yields
    ------
    str
        First the library itself, then what it stands on; nothing where both are the same.

    Examples
    --------
    >>> list(other_than_here(library()))
    []
    >>> [words[:20] for words in other_than_here(library() | {"medgauge": "0.0.9"})]
    ['medgauge 0.0.9; this']
    """
    here = library()
    if here["medgauge"] != described["medgauge"]:
        yield f"medgauge {described['medgauge']}; this is {here['medgauge']}"
    elif here["sha256"] != described["sha256"]:
        yield f"other code of medgauge {described['medgauge']}"
    there, own = described["uses"], here["uses"]
    others = [
        f"{name} {there.get(name, 'missing')} (here {own.get(name, 'missing')})"
        for name in sorted({*there, *own})
        if there.get(name) != own.get(name)
    ]
    if others:
        yield ", ".join(others)


@functools.cache
def _code() -> str:
    """Hash every file of this library, so that a changed line of it is seen."""
    root = Path(__file__).parent
    # Notebooks are inputs of reports with hashes of their own, and no part of the library in a checkout.
    others = {"__pycache__", "notebooks"}
    files = sorted(
        path
        for path in root.rglob("*")
        if path.is_file() and not others.intersection(path.relative_to(root).parts)
    )
    digest = hashlib.sha256()
    for path in files:
        hashed = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(root).as_posix()} {hashed}\n".encode())
    return digest.hexdigest()


@functools.cache
def _dependencies() -> dict[str, str]:
    """Give the installed version of each library this one depends on."""
    wanted = (line for line in metadata.requires("medgauge") or () if "extra ==" not in line)
    return {name: metadata.version(name) for name in sorted({_NAME_OF.split(line)[0] for line in wanted})}
