"""Drawing charts without the network, and with the fonts that the drawing engine brings.

The engine measures and draws text with the machine's fonts where it finds any, even where its own go by the
same name, and two machines then draw two pictures of one chart. It looks for them once in a process, at its
first drawing, which is why that is made here, with no folder to find any in. A process that has drawn with it
before this room was loaded goes on with the fonts it found.
"""

from __future__ import annotations

import os
import re
from importlib import resources
from typing import Any

import vl_convert

from medgauge_lib.charts import theme

_PNG_SCALE = 1.5
_BACKDROP = f'<rect width="100%" height="100%" fill="{theme.PAGE}"/>'
"""A picture cannot follow the colours of the page it lands on."""
_OPENING = re.compile(r"<svg[^>]*>")


def svg(spec: dict[str, Any]) -> str:
    """Draw a chart.

    Parameters
    ----------
    spec : dict
        Vega-Lite specification with its data.

    Returns
    -------
    str
        SVG, with no background of its own.

    Raises
    ------
    ValueError
        If it is no chart, or asks for data from elsewhere.

    Examples
    --------
    >>> svg({"data": {"values": [{"n": 1}]}, "mark": "point"})[:4]
    '<svg'
    """
    return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))


def png(drawn: str) -> bytes:
    """Turn a drawing into a picture, on the background of a light page where it has none of its own.

    Parameters
    ----------
    drawn : str
        SVG.

    Returns
    -------
    bytes
        PNG, of one and a half pixels to a unit of the drawing. Characters beyond Latin, Greek, Cyrillic and
        Hebrew are boxes: the engine's own fonts have no others.

    Examples
    --------
    >>> png('<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2"><g /></svg>')[1:4]
    b'PNG'
    """
    backed = _OPENING.sub(lambda opening: opening[0] + _BACKDROP, drawn, count=1)
    return bytes(vl_convert.svg_to_png(backed, scale=_PNG_SCALE))


def script(using: str) -> bytes:
    """Bundle what draws charts in a browser.

    Parameters
    ----------
    using : str
        JavaScript that uses ``vega``, ``vegaLite`` or ``vegaEmbed``.

    Returns
    -------
    bytes
        A script that holds all it needs and loads nothing; making it takes a second or two.

    Examples
    --------
    >>> b"vega" in script("window.vegaEmbed = vegaEmbed;")
    True
    """
    return str(vl_convert.javascript_bundle(using)).encode()


def _start_without_fonts_of_the_machine() -> None:
    """Let the engine look for fonts while its search is set to a folder that is none."""
    before = os.environ.get("FONTCONFIG_FILE")
    with resources.as_file(resources.files("medgauge_lib.charts") / "fonts.conf") as file:
        os.environ["FONTCONFIG_FILE"] = str(file)
        try:
            png('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>')
        finally:
            if before is None:
                del os.environ["FONTCONFIG_FILE"]
            else:
                os.environ["FONTCONFIG_FILE"] = before


_start_without_fonts_of_the_machine()
