"""The manifest of a report: what went in, what came out, each with its SHA-256.

It says nothing of when and where a report was made, so that the same inputs give the same manifest.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import nbformat

import medgauge_lib
from medgauge_lib._version import __version__
from medgauge_lib.errors import InputError
from medgauge_lib.records import record_files
from medgauge_lib.report.figures import FIGURE, TABLE, VEGA_LITE, is_figure
from medgauge_lib.report.params import Params

NAME = "manifest.json"

CRATE = "ro-crate-metadata.json"
"""The metadata of a report as an RO-Crate."""

RUN = "run.json"
"""The one file of a report that tells when it was made."""

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
        Parameters, files with their SHA-256, seed and algorithm, and the versions of the libraries. The file
        of task labels of a public report is named without its hash: from the hash of a short file the labels
        could be guessed.

    Raises
    ------
    InputError
        Where a file cannot be read.
    """
    labels = params.labels_file
    described: dict[str, Any] = {
        "params": {"file": params.file.name, "sha256": file_sha256(params.file), "values": params.values()},
        "records": {path.name: file_sha256(path) for path in record_files(params.records_folder)},
        "notebooks": {path.stem: file_sha256(path) for path in notebooks},
        "method": _method(params),
        "library": {"medgauge": __version__, "sha256": _library(), "uses": _dependencies()},
    }
    if labels is not None:
        hidden = params.publish == "public"
        described["labels"] = (
            {"file": labels.name} if hidden else {"file": labels.name, "sha256": file_sha256(labels)}
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
    return bool(old["outputs"].get(f"notebooks/{name}.ipynb") == file_sha256(executed))


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
    return not altered(folder, written)


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


@dataclass(frozen=True)
class Shown:
    """What one figure of an executed notebook shows.

    Attributes
    ----------
    id, title : str
        Its name and heading.
    notebook : str
        The notebook that shows it.
    table : mapping
        Its data: ``columns`` and ``rows``.
    spec : mapping or None
        Its Vega-Lite spec where it is a chart.
    html : str
        Its markup where it is a table.
    """

    id: str
    title: str
    notebook: str
    table: Mapping[str, Any] = field(repr=False)
    spec: Mapping[str, Any] | None = field(repr=False)
    html: str = field(repr=False)

    def hashes(self) -> dict[str, str]:
        """Hash what it shows.

        Returns
        -------
        dict
            ``data``, and ``spec`` of a chart or ``markup`` of a table: SHA-256 of the canonical JSON of data
            and spec, and of the markup in UTF-8.
        """
        known = {"data": sha256(canonical_json(self.table))}
        if self.spec is None:
            return known | {"markup": sha256(self.html.encode())}
        return known | {"spec": sha256(canonical_json(self.spec))}


def figures(name: str, text: str) -> dict[str, Shown]:
    """Find the figures of an executed notebook.

    Parameters
    ----------
    name : str
        Name of the notebook.
    text : str
        The executed notebook.

    Returns
    -------
    dict
        Id to figure, in the order of the page; a chart that does not name itself is named by its number.
    """
    cells = nbformat.reads(text, as_version=4).cells
    outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    found: dict[str, Shown] = {}
    for number, data in enumerate(filter(is_figure, outputs), 1):
        told = data.get(FIGURE, {})
        spec = next((value for kind, value in sorted(data.items()) if VEGA_LITE.fullmatch(kind)), None)
        shown = Shown(
            id=str(told.get("id") or f"figure-{number}"),
            title=str(told.get("title") or f"Figure {number}"),
            notebook=name,
            table=data.get(TABLE) or {"columns": [], "rows": []},
            spec=spec,
            html="" if spec is not None else str(data.get("text/html", "")),
        )
        found[shown.id] = shown
    return found


def _method(params: Params) -> dict[str, Any]:
    """Say what decides the digits of an interval besides the data."""
    from medgauge_lib.intervals import QUANTILE_RULE, RESAMPLES
    from medgauge_lib.results import LEVEL

    return {"algorithm": QUANTILE_RULE, "level": LEVEL, "resamples": RESAMPLES, "seed": params.seed}


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
        digest.update(f"{path.relative_to(root).as_posix()} {file_sha256(path)}\n".encode())
    return digest.hexdigest()


@functools.cache
def _dependencies() -> dict[str, str]:
    """Give the installed version of each library a report depends on."""
    wanted = (line for line in metadata.requires("medgauge") or () if "extra ==" not in line)
    return {name: metadata.version(name) for name in sorted({_NAME_OF.split(line)[0] for line in wanted})}
