"""Executed notebooks as the same bytes on every machine.

Times, process ids, object addresses, random cell ids and the folders of the machine leave the notebook; the
times go to the run record beside the report.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat

from medgauge_lib.charts.figure import FIGURE
from medgauge_lib.report.hashes import sha256

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
# Starting where a word does, since trying every sign of a line of megabytes takes hours.
_CELL_FILE = re.compile(r"(?<![^\s\"'<>(])[^\s\"'<>(]*ipykernel_\d+[/\\]\d+\.py")
_BINARY = ("image/png", "image/jpeg", "application/pdf")


def normalised(notebook: nbformat.NotebookNode, folders: Iterable[Path] = ()) -> tuple[str, dict[str, Any]]:
    """Separate what an executed notebook shows from when and where it ran.

    Parameters
    ----------
    notebook : NotebookNode
        An executed notebook; it is left as it is.
    folders : iterable of Path
        Folders of this machine to take out besides those of Python, the user and temporary files.

    Returns
    -------
    text : str
        The notebook as JSON; equal for equal sources, parameters and results.
    run : dict
        When it ran and how long its cells took, in seconds.

    Examples
    --------
    >>> cell = nbformat.v4.new_code_cell("1 + 1", metadata={"execution": {"iopub.status.busy": "2026-01-01"}})
    >>> first, second = (normalised(nbformat.v4.new_notebook(cells=[cell]))[0] for _ in range(2))
    >>> first == second, "2026" in first
    (True, False)
    """
    clean: Any = nbformat.from_dict(notebook)
    run = dict(clean.metadata.pop("papermill", {}))
    cells = [cell.metadata.get("papermill", {}) for cell in clean.cells]
    scrub = _Scrubber(folders)
    clean.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    for number, cell in enumerate(clean.cells):
        cell["id"] = f"c{number:03d}-{sha256(cell.source.encode())[:8]}"
        for key in ("papermill", "execution", "trusted", "collapsed"):
            cell.metadata.pop(key, None)
        if cell.cell_type == "code":
            cell["outputs"] = [scrub.output(output) for output in _joined(cell.outputs)]
    clean.nbformat, clean.nbformat_minor = 4, 5
    times = {
        "start": run.get("start_time"),
        "end": run.get("end_time"),
        "duration": run.get("duration"),
        "cells": [cell.get("duration") for cell in cells],
    }
    return str(nbformat.writes(clean, version=4)) + "\n", times


def _joined(outputs: Iterable[Any]) -> list[Any]:
    """Join what a stream said in pieces, whose number is chance; of a line stays what a terminal shows."""
    streams: dict[str, list[str]] = {}
    joined = []
    for output in outputs:
        if output.output_type == "stream":
            pieces = streams.setdefault(output.name, [])
            pieces.append(output.text)
            if len(pieces) > 1:
                continue
        joined.append(output)
    for number, output in enumerate(joined):
        if output.output_type == "stream":
            lines = "".join(streams[output.name]).split("\n")
            text = "\n".join(line[line.rfind("\r", 0, -1) + 1 :] for line in lines)
            joined[number] = nbformat.v4.new_output("stream", name=output.name, text=text)
    for number, (one, next_) in enumerate(pairwise(joined)):
        # Which of two streams comes first is chance.
        if (one.get("name"), next_.get("name")) == ("stderr", "stdout"):
            joined[number : number + 2] = [next_, one]
    return joined


class _Scrubber:
    """Takes the marks of one machine and one process out of outputs."""

    def __init__(self, folders: Iterable[Path]) -> None:
        named = [(str(Path(folder).resolve()), "<folder>") for folder in folders]
        named += [(sys.prefix, "<python>"), (sys.base_prefix, "<python>")]
        named += [(tempfile.gettempdir(), "<tmp>"), (os.path.expanduser("~"), "<home>")]
        longest_first = sorted(
            {pair for pair in named if len(pair[0]) > 1}, key=lambda pair: (-len(pair[0]), pair)
        )
        self._folders = [
            (re.compile(re.escape(folder) + r"(?=[/\\\s\"':,)]|$)"), name) for folder, name in longest_first
        ]

    def output(self, output: Any) -> Any:
        """Scrub one output; images are bytes and stay, and so does what a figure shows of the records."""
        if FIGURE in output.get("data", {}):
            return output
        scrubbed = {
            key: self._value(value) for key, value in output.items() if key not in ("data", "metadata")
        }
        if "data" in output:
            scrubbed["data"] = {
                kind: value if kind in _BINARY else self._value(value) for kind, value in output.data.items()
            }
            scrubbed["metadata"] = dict(output.get("metadata", {}))
        return nbformat.from_dict(scrubbed)

    def _value(self, value: Any) -> Any:
        """Scrub every string of a JSON value."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, dict):
            return {key: self._value(item) for key, item in value.items()}
        return value

    def _text(self, text: str) -> str:
        """Scrub one string."""
        if "ipykernel_" in text:
            text = _CELL_FILE.sub("<cell>", text)
        if "0x" in text:
            text = _ADDRESS.sub("0x…", text)
        for folder, name in self._folders:
            text = folder.sub(name, text)
        return text
