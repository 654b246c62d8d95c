"""The manifest of a report: what went in, what came out, each with its SHA-256.

It says nothing of when and where a report was made, so that the same inputs give the same manifest.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import medgauge_lib
from medgauge_lib._version import __version__
from medgauge_lib.errors import InputError
from medgauge_lib.records import record_files
from medgauge_lib.report.params import Params

NAME = "manifest.json"

_NAME_OF = re.compile(r"[^A-Za-z0-9._-]")


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


def inputs(params: Params, notebooks: Iterable[Path]) -> dict[str, Any]:
    """Describe everything a report is made from.

    Parameters
    ----------
    params : Params
        The report.
    notebooks : iterable of Path
        The notebooks it runs.

    Returns
    -------
    dict
        Parameters, files with their SHA-256, and the versions of the libraries. The file of task labels of a
        public report is named without its hash: from the hash of a short file the labels could be guessed.

    Raises
    ------
    InputError
        Where a file cannot be read.
    """
    labels = params.labels_file
    described: dict[str, Any] = {
        "params": {"file": params.file.name, "sha256": _file(params.file), "values": params.values()},
        "records": {path.name: _file(path) for path in record_files(params.records_folder)},
        "notebooks": {path.stem: _file(path) for path in notebooks},
        "library": {"medgauge": __version__, "sha256": _library(), "uses": _dependencies()},
    }
    if labels is not None:
        hidden = params.publish == "public"
        described["labels"] = (
            {"file": labels.name} if hidden else {"file": labels.name, "sha256": _file(labels)}
        )
    return described


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a report.

    Parameters
    ----------
    folder : Path
        Folder of a report, there or not.

    Returns
    -------
    dict
        The manifest; empty where there is none or it cannot be read.
    """
    try:
        found = json.loads((folder / NAME).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def same_but_notebooks(old: Mapping[str, Any], inputs: Mapping[str, Any]) -> bool:
    """Tell whether a report was made from the same inputs, notebooks aside.

    Parameters
    ----------
    old : mapping
        Manifest of the report.
    inputs : mapping
        The inputs now.

    Returns
    -------
    bool
        False as well where there is no report.
    """
    before = old.get("inputs", {})
    return {**before, "notebooks": None} == {**inputs, "notebooks": None}


def is_same(old: Mapping[str, Any], inputs: Mapping[str, Any], name: str, executed: Path) -> bool:
    """Tell whether an executed notebook of a report is still what it was, and made from the same source.

    Parameters
    ----------
    old : mapping
        Manifest of the report.
    inputs : mapping
        The inputs now.
    name : str
        Name of the notebook.
    executed : Path
        The executed notebook in the report.

    Returns
    -------
    bool
        False where it is missing or was changed.
    """
    if old["inputs"]["notebooks"].get(name) != inputs["notebooks"][name] or not executed.is_file():
        return False
    return bool(old["outputs"].get(f"notebooks/{name}.ipynb") == _file(executed))


def is_whole(folder: Path, old: Mapping[str, Any]) -> bool:
    """Tell whether every file of a report is there, as it was written.

    Parameters
    ----------
    folder : Path
        Folder of the report.
    old : mapping
        Its manifest.

    Returns
    -------
    bool
        The run record aside, which may differ.
    """
    written: Mapping[str, str] = old.get("outputs", {})
    return all((folder / path).is_file() and _file(folder / path) == known for path, known in written.items())


def canonical_json(value: Any) -> bytes:
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
    >>> canonical_json({"b": 1, "a": []})
    b'{\n "a": [],\n "b": 1\n}\n'
    """
    return (json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def outputs(files: Mapping[str, bytes]) -> dict[str, str]:
    """Describe every file of a report.

    Parameters
    ----------
    files : mapping
        Path in the report to content.

    Returns
    -------
    dict
        Path to SHA-256, by path.
    """
    return {path: sha256(files[path]) for path in sorted(files)}


def _file(path: Path) -> str:
    """Hash a file."""
    try:
        return sha256(path.read_bytes())
    except OSError as error:
        reason = (error.strerror or "unreadable").lower()
        raise InputError(
            f"cannot be read: {reason}", "correct its permissions or remove it", file=path
        ) from None


@functools.cache
def _library() -> str:
    """Hash every file of this library, so that a changed line of it makes a report anew."""
    root = Path(medgauge_lib.__file__).parent
    files = sorted(path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(root).as_posix()} {_file(path)}\n".encode())
    return digest.hexdigest()


@functools.cache
def _dependencies() -> dict[str, str]:
    """Give the installed version of each library a report depends on."""
    wanted = (line for line in metadata.requires("medgauge") or () if "extra ==" not in line)
    return {name: metadata.version(name) for name in sorted({_NAME_OF.split(line)[0] for line in wanted})}
