"""The list of all reports: a part for each scoring system, a section a benchmark, versions newest first.

Systems are never mixed, and versions never compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from medgauge_lib.charts.display import count
from medgauge_lib.reading import natural
from medgauge_lib.report.manifest import SINGLE, is_hashes, read_manifest
from medgauge_lib.report.page import render, sealed, style_sheet
from medgauge_lib.report.paper import PAPER
from medgauge_lib.report.params import SYSTEMS, ReportParams, kind_of

_LONGEST = 255
"""The longest name of a folder, which benchmark and version are."""


@dataclass(frozen=True)
class Listed:
    """One report in the list.

    Attributes
    ----------
    href : str
        Address of its first page.
    title, version : str
        What its params file says.
    facts : tuple of str
        What else tells it apart: subset, and how much went in.
    internal : bool
        Whether its params file keeps it from the public.
    forms : tuple of (str, str)
        Label and address of its other forms: one file, paper.
    """

    href: str
    title: str
    version: str
    facts: tuple[str, ...]
    internal: bool
    forms: tuple[tuple[str, str], ...]


def site_page(out: Path) -> str:
    """Make the page that lists every report below a folder.

    Parameters
    ----------
    out : Path
        The folder reports are built in; every ``<benchmark>/<version>`` with a manifest is one.

    Returns
    -------
    str
        An HTML page.
    """
    found = _benchmarks(out)
    return render("site.html.j2", found=found, **sealed(style_sheet()))


def _benchmarks(out: Path) -> dict[str, dict[str, list[Listed]]]:
    """Find the reports below a folder: system to benchmark to versions, newest first."""
    found: dict[str, dict[str, list[Listed]]] = {system: {} for system in SYSTEMS}
    for folder in sorted(out.glob("[!.]*/[!.]*")):
        inputs = read_manifest(folder).get("inputs", {})
        values = inputs.get("params", {}).get("values", {})
        kind = kind_of(values)
        if kind is None or not _can_be_listed(kind, values, inputs):
            continue
        version = values["benchmark_version"]
        address = quote(f"{folder.parent.name}/{folder.name}/")
        listed = Listed(
            href=f"{address}index.html",
            title=values["title"] or f"{values['benchmark']} {version}",
            version=version,
            facts=_facts(kind, values, inputs),
            internal=values["publish"] == "internal",
            forms=tuple(
                (label, address + name)
                for label, name in (("one file", SINGLE), ("PDF", PAPER))
                if (folder / name).is_file()
            ),
        )
        found[kind.system].setdefault(values["benchmark"], []).append(listed)
    return {
        system: {
            benchmark: sorted(listed, key=lambda one: natural(one.version), reverse=True)
            for benchmark, listed in sorted(benchmarks.items())
        }
        for system, benchmarks in found.items()
    }


def _can_be_listed(kind: type[ReportParams], values: Mapping[str, Any], inputs: Mapping[str, Any]) -> bool:
    """Tell whether a manifest says of its report what the list shows; any folder may hold some other file."""
    told = ("benchmark", "benchmark_version", "publish", "subset", "date")
    words = [values.get(key) for key in told if key in kind.keys]
    title = values.get("title", 0)
    return (
        all(isinstance(word, str) and len(word) <= _LONGEST for word in words)
        and (title is None or isinstance(title, str))
        and all(type(values.get(key)) is int for key in kind.numbers)
        and all(is_hashes(inputs.get(key)) for key in kind.counted)
    )


def _facts(kind: type[ReportParams], values: Mapping[str, Any], inputs: Mapping[str, Any]) -> tuple[str, ...]:
    """Tell of one report which subset it is of, how much went in, and its day where its data carry none."""
    facts = [f"subset {values['subset']}"] if "subset" in kind.keys else []
    facts += [count(len(inputs[key]), key.removesuffix("s")) for key in kind.counted]
    facts += [count(values[key], key.removesuffix("s")) for key in kind.numbers]
    facts += [f"dated {values['date']}"] if "date" in kind.keys else []
    return tuple(facts)
