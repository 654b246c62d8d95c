"""The files every page needs: style sheet, page script, and the one bundle that draws the charts."""

from __future__ import annotations

import functools
from contextlib import suppress
from importlib import resources
from importlib.metadata import version
from pathlib import Path

from platformdirs import user_cache_path

from medgauge_lib.charts import drawing
from medgauge_lib.errors import InputError
from medgauge_lib.files import write_file
from medgauge_lib.reading import file_bytes
from medgauge_lib.report.hashes import sha256

_DRAWS = "window.vegaEmbed = vegaEmbed;"
_MOST = 20_000_000


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
        The script; it sets ``window.vegaEmbed`` and loads nothing. Making it takes a second or two; the
        user's cache keeps it for later processes, where there is one that can be written.
    """
    place = _place()
    keeps = place.is_absolute()  # a user without a home has no cache either
    content = _kept(place) if keeps else b""
    if not content:
        content = drawing.script(_DRAWS)
        if keeps:
            with suppress(InputError):
                write_file(place, sha256(content).encode() + b"\n" + content)
    return f"assets/vega-{sha256(content)[:12]}.js", content


def _place() -> Path:
    """Say where the cache keeps the bundle that this version of its maker makes of this text."""
    made_of = f"{version('vl-convert-python')}\n{_DRAWS}"
    return user_cache_path("medgauge") / f"vega-{sha256(made_of.encode())[:12]}"


def _kept(place: Path) -> bytes:
    """Give the bundle that the cache keeps below its hash; what is not whole is as if not there."""
    try:
        digest, _, content = file_bytes(place, what="a script", most=_MOST).partition(b"\n")
    except InputError:
        return b""
    return content if digest == sha256(content).encode() else b""
