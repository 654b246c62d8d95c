"""The manifest of a report: what went in, what came out, each with its SHA-256.

It says nothing of when and where a report was made, so that the same inputs give the same manifest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, TypeGuard

from medgauge_lib.intervals import QUANTILE_RULE, RESAMPLES
from medgauge_lib.library import library
from medgauge_lib.records import record_files
from medgauge_lib.report.hashes import file_sha256, sha256, sorted_json
from medgauge_lib.report.params import AnyParams
from medgauge_lib.results import LEVEL

if TYPE_CHECKING:
    from medgauge_lib.report.shown import Shown

NAME = "manifest.json"

CRATE = "ro-crate-metadata.json"
"""The metadata of a report as an RO-Crate."""

SINGLE = "report.html"
"""The whole report as one file."""

RUN = "run.json"
"""The one file of a report that tells when it was made."""

MAX_BYTES = 2**26
"""A manifest has a line for each file; anything larger is some other file."""


def inputs(params: AnyParams, notebooks: Iterable[Path]) -> dict[str, Any]:
    """Describe everything a report is made from.

    Parameters
    ----------
    params : AnyParams
        The report.
    notebooks : iterable of Path
        The notebooks it runs.

    Returns
    -------
    dict
        Parameters, files with their SHA-256 (each source folder under the key that names it, such as
        ``records``), seed and algorithm, and the versions of the libraries. The file of task labels of a
        public report is named without its hash: from the hash of a short file the labels could be guessed.

    Raises
    ------
    InputError
        Where a file cannot be read.
    """
    described: dict[str, Any] = {
        "params": {"file": params.file.name, "sha256": file_sha256(params.file), "values": params.values()},
        **{
            key: {name: file_sha256(path) for name, path in source_files(key, folder).items()}
            for key, folder in params.source_folders().items()
        },
        "notebooks": {path.stem: file_sha256(path) for path in notebooks},
        "method": _method(params),
        "library": library(),
    }
    if params.labels_file is not None:
        described["labels"] = {"file": params.labels_file.name}
        if params.publish == "internal":
            described["labels"]["sha256"] = file_sha256(params.labels_file)
    return described


def source_files(key: str, folder: Path) -> dict[str, Path]:
    """List the files of a source folder.

    Parameters
    ----------
    key : str
        The key of the params file that names the folder.
    folder : Path
        The folder.

    Returns
    -------
    dict
        Path in the folder to file, in byte order: the record files of ``records``, and of any other folder
        every file that is not hidden. Of ``submissions`` no file that may lie among them without being one.

    Raises
    ------
    InputError
        Where the folder cannot be read or holds no record.
    """
    if key == "records":
        return {path.name: path for path in record_files(folder)}
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    if key == "submissions":
        from medgauge_lib.findings.contract import NOT_TASKS

        found = {name: path for name, path in found.items() if name not in NOT_TASKS}
    return {name: found[name] for name in sorted(found) if not re.search(r"(^|/)\.", name)}


def sources(inputs: Mapping[str, Any]) -> dict[str, Mapping[str, str]]:
    """Find the source folders among the inputs of a report.

    Parameters
    ----------
    inputs : mapping
        As `inputs` gives them.

    Returns
    -------
    dict
        Key of the params file to the files of that folder, each with its SHA-256.
    """
    return {key: inputs[key] for key in inputs["params"]["values"] if key in inputs and key != "labels"}


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a report.

    Parameters
    ----------
    folder : Path
        Folder of a report, there or not.

    Returns
    -------
    dict
        The manifest; empty where there is none, it cannot be read, or a part of it has another form.
    """
    found = read_object(folder / NAME)
    return found if _is_formed(found) else {}


def read_object(file: Path) -> dict[str, Any]:
    """Read a JSON file of a report that holds one object.

    Parameters
    ----------
    file : Path
        The file, there or not.

    Returns
    -------
    dict
        The object; empty where there is none or it cannot be read.
    """
    try:
        if not file.is_file() or file.stat().st_size > MAX_BYTES:
            return {}
        found = json.loads(file.read_bytes())
        # What JSON can spell and a page cannot hold, such as half a surrogate pair, fails here.
        sorted_json(found)
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_formed(known: Mapping[str, Any]) -> bool:
    """Tell whether the parts that are there have the form in which `manifest` writes them."""
    inputs = known.get("inputs", {})
    if not isinstance(inputs, dict) or not isinstance(known.get("figures", {}), dict):
        return False
    params = inputs.get("params", {"values": {}})
    if not isinstance(params, dict) or not isinstance(params.get("values"), dict):
        return False
    if any(isinstance(value, (dict, list)) for value in params["values"].values()):
        return False
    return is_hashes(inputs.get("notebooks", {})) and is_hashes(known.get("outputs", {}))


def is_hashes(found: object) -> TypeGuard[dict[str, str]]:
    """Tell whether something is a mapping of paths that stay in their folder to hashes.

    Parameters
    ----------
    found : object
        Any value of JSON.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_hashes({"a/b.json": "0"}), is_hashes({"../b.json": "0"}), is_hashes(["b.json"])
    (True, False, False)
    """
    return isinstance(found, dict) and all(
        _stays(path) and isinstance(known, str) for path, known in found.items()
    )


def _stays(path: str) -> bool:
    """Tell whether a path is relative, never goes up, and can be one of a file."""
    parts = PurePosixPath(path).parts
    return (
        bool(parts)
        and not path.startswith("/")
        and ".." not in parts
        and "\0" not in path
        and len(path.encode()) <= 1024
        and all(len(part.encode()) <= 255 for part in parts)
    )


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
    if old["inputs"].get("notebooks", {}).get(name) != inputs["notebooks"][name] or not executed.is_file():
        return False
    return bool(old.get("outputs", {}).get(f"notebooks/{name}.ipynb") == file_sha256(executed))


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
    return bool(written) and not altered(folder, written)


def altered(folder: Path, written: Mapping[str, str]) -> list[str]:
    """Find the files of a folder that are not what they were.

    Parameters
    ----------
    folder : Path
        The folder.
    written : mapping
        Path in it to SHA-256.

    Returns
    -------
    list of str
        Paths of those missing or changed, in byte order.
    """
    return sorted(
        path
        for path, known in written.items()
        if not (folder / path).is_file() or file_sha256(folder / path) != known
    )


def manifest(inputs: Mapping[str, Any], shown: Iterable[Shown], files: Mapping[str, bytes]) -> dict[str, Any]:
    """Describe a report.

    Parameters
    ----------
    inputs : mapping
        What it is made from.
    shown : iterable of Shown
        Its figures.
    files : mapping
        Path in the report to content of every file the manifest vouches for.

    Returns
    -------
    dict
        ``inputs``, ``figures`` (id to notebook and hashes), ``outputs`` (path to SHA-256).
    """
    return {
        "inputs": dict(inputs),
        "figures": {one.id: {"notebook": one.notebook} | one.hashes() for one in shown},
        "outputs": {path: sha256(content) for path, content in files.items()},
    }


def _method(params: AnyParams) -> dict[str, Any]:
    """Say what decides the digits of an interval besides the data."""
    return {
        "algorithm": QUANTILE_RULE,
        "level": LEVEL,
        "resamples": RESAMPLES,
        "seed": params.values()["seed"],
    }
