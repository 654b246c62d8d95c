"""The files every page needs: style sheet, page script, and the one bundle that draws the charts."""

from __future__ import annotations

import functools
import hashlib
from importlib import resources


def template_text(name: str) -> str:
    """Read a file of the template folder.

    Parameters
    ----------
    name : str
        Its name.

    Returns
    -------
    str
        Its text.

    Examples
    --------
    >>> "@media print" in template_text("page.css")
    True
    """
    return (resources.files("medgauge_lib.report") / "template" / name).read_text(encoding="utf-8")


@functools.cache
def vega_bundle() -> tuple[str, bytes]:
    """Make the script that draws charts: Vega, Vega-Lite, the embedder and their interpreter in one file.

    Returns
    -------
    href : str
        Where a report keeps it; the name carries the hash of its content.
    content : bytes
        The script; it sets ``window.vegaEmbed`` and loads nothing. Making it takes a second or two, once per
        process.
    """
    import vl_convert

    content = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").encode()
    return f"assets/vega-{hashlib.sha256(content).hexdigest()[:12]}.js", content
