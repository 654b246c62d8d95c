"""One look for every chart: colours, fonts and sizes, stated once.

The palette is told apart with every common kind of colour blindness and holds 3:1 against the page, text
4.5:1. Charts have no background of their own. `DARK` gives each colour its twin on a dark page; every
chart draws in these colours alone, so a page may swap them one for one (`stylesheet` does, for SVG).

Fonts are those that `drawing` draws with, and their equals in width on other systems, so that text measured
here fits there.
"""

from __future__ import annotations

from typing import Any

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"

INK = "#1b1f24"
"""Text that carries figures."""
MUTED = "#57606a"
"""Axis text and titles."""
LINE = "#c9d0d8"
"""Axes and the lines of a grid."""
VALUE = "#1f4e79"
"""Estimates and intervals."""
GAP = "#b9cbdd"
"""What lies between two quantities of one row."""
GROUP = "#b3541e"
"""Groups that hold the first row."""
GROUP_REST = "#d9a07c"
"""The other groups."""
PAGE = "#ffffff"
"""Inside of hollow marks."""

STEPS = ("#f3ead9", "#a9cfc9", "#4a90a8", "#173f5f")
"""None, one, two and three passes."""

DIVERGING = ("#8c510a", "#c98f4a", "#ecd4a8", "#dde1e5", "#b5d9d5", "#5aa8a0", "#01665e")
"""Differences from clearly behind to clearly ahead."""

DARK = {
    INK: "#e6edf3",
    MUTED: "#9da7b3",
    LINE: "#3d444d",
    VALUE: "#79b8ff",
    GAP: "#2d4a68",
    GROUP: "#f0965a",
    GROUP_REST: "#8f5a3a",
    PAGE: "#0d1117",
    STEPS[0]: "#2a2620",
    STEPS[1]: "#285a5c",
    STEPS[2]: "#4fa3b8",
    STEPS[3]: "#c4ecf5",
    DIVERGING[0]: "#f0b060",
    DIVERGING[1]: "#b07a35",
    DIVERGING[2]: "#5d4628",
    DIVERGING[3]: "#2b3036",
    DIVERGING[4]: "#24504d",
    DIVERGING[5]: "#3d938b",
    DIVERGING[6]: "#80dccf",
}
"""Colour on a light page → colour on a dark page."""


def config() -> dict[str, Any]:
    """Vega-Lite configuration of every chart, on a light page."""
    axis = {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "titleFontWeight": "normal",
        "domainColor": LINE,
        "tickColor": LINE,
        "gridColor": LINE,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titlePadding": 8,
    }
    legend = {"labelColor": INK, "titleColor": MUTED, "titleFontWeight": "normal", "labelFontSize": 11}
    title = {"color": MUTED, "fontSize": 12, "fontWeight": "normal", "anchor": "start", "offset": 10}
    return {
        "background": None,
        "font": FONT,
        "axis": axis,
        "legend": legend,
        "title": title,
        "header": {"labelColor": MUTED, "labelFontSize": 12, "labelAnchor": "start", "titleColor": MUTED},
        "text": {"color": INK, "fontSize": 11},
        "view": {"stroke": None},
    }


def stylesheet(scope: str) -> str:
    """CSS rules that give the SVG charts under a selector their dark colours.

    Parameters
    ----------
    scope : str
        CSS selector of the element that holds an SVG, for example ``"figure svg"``.

    Returns
    -------
    str
        Rules to put under ``@media screen and (prefers-color-scheme: dark)`` or a class of the page.

    Examples
    --------
    >>> stylesheet("figure svg").splitlines()[0]
    'figure svg [fill="#1b1f24"] { fill: #e6edf3; }'
    """
    return "\n".join(
        f'{scope} [{part}="{light}"] {{ {part}: {dark}; }}'
        for light, dark in DARK.items()
        for part in ("fill", "stroke")
    )
