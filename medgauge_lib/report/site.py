"""The list of all reports: one section a benchmark, its versions newest first and never compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from medgauge_lib.report.exporter import render, style_sheet
from medgauge_lib.report.manifest import read_manifest
from medgauge_lib.report.markup import csp_hash


@dataclass(frozen=True)
class Listed:
    """One report in the list: its address, title, version, subset and number of records."""

    href: str
    title: str
    version: str
    subset: str
    records: int


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
    css = style_sheet()
    return render(
        "site.html.j2",
        benchmarks=_benchmarks(out),
        css=Markup(css),
        css_hash=Markup(csp_hash(css)),
    )


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
        href = quote(f"{folder.parent.name}/{folder.name}/index.html")
        listed = Listed(href, title, version, values["subset"], len(inputs["records"]))
        found.setdefault(values["benchmark"], []).append(listed)
    return {
        benchmark: sorted(found[benchmark], key=lambda listed: version_key(listed.version), reverse=True)
        for benchmark in sorted(found)
    }
