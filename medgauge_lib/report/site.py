"""The list of all reports: one section a benchmark, its versions newest first and never compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from medgauge_lib.report.exporter import render, sealed, style_sheet
from medgauge_lib.report.manifest import read_manifest
from medgauge_lib.report.paper import PAPER
from medgauge_lib.report.single import SINGLE


@dataclass(frozen=True)
class Listed:
    """One report in the list.

    Attributes
    ----------
    href : str
        Address of its first page.
    title, version, subset : str
        What its params file says.
    records : int
        How many records went in.
    internal : bool
        Whether its params file keeps it from the public.
    forms : tuple of (str, str)
        Label and address of its other forms: one file, paper.
    """

    href: str
    title: str
    version: str
    subset: str
    records: int
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
    return render("site.html.j2", benchmarks=_benchmarks(out), **sealed(style_sheet()))


def version_key(version: str) -> tuple[tuple[int, str], ...]:
    """Order versions as their authors count: 1.10 comes after 1.9.

    Parameters
    ----------
    version : str
        Numbers and words, divided by anything.

    Returns
    -------
    tuple
        To sort by.

    Examples
    --------
    >>> sorted(["1.10.0", "1.9.1", "1.9.0"], key=version_key)
    ['1.9.0', '1.9.1', '1.10.0']
    """
    parts = re.findall(r"\d+|[A-Za-z]+", version)
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in parts)


def _benchmarks(out: Path) -> dict[str, list[Listed]]:
    """Find the reports below a folder: benchmark to versions, newest first."""
    found: dict[str, list[Listed]] = {}
    for folder in sorted(out.glob("[!.]*/[!.]*")):
        inputs = read_manifest(folder).get("inputs")
        if not inputs:
            continue
        values = inputs["params"]["values"]
        version = values["benchmark_version"]
        title = values["title"] or f"{values['benchmark']} {version}"
        address = quote(f"{folder.parent.name}/{folder.name}/")
        listed = Listed(
            href=f"{address}index.html",
            title=title,
            version=version,
            subset=values["subset"],
            records=len(inputs["records"]),
            internal=values["publish"] == "internal",
            forms=tuple(
                (label, address + name)
                for label, name in (("one file", SINGLE), ("PDF", PAPER))
                if (folder / name).is_file()
            ),
        )
        found.setdefault(values["benchmark"], []).append(listed)
    return {
        benchmark: sorted(found[benchmark], key=lambda listed: version_key(listed.version), reverse=True)
        for benchmark in sorted(found)
    }
