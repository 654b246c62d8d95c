"""Charts are drawn with the engine's own fonts: the same picture whatever fonts a machine has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from medgauge_lib.charts import drawing

DRAWN = """\
import hashlib, json, os, sys
if "ours" in sys.argv: from medgauge_lib.charts import drawing
import vl_convert
text = '<text x="9" y="30" font-size="20" font-family="Liberation Sans">{}</text>'
frame = '<svg xmlns="http://www.w3.org/2000/svg" width="99" height="40"><g fill="red">{}</g></svg>'
pictures = [vl_convert.svg_to_png(frame.format(text.format(words))) for words in ("&#xf005;", "Ward α Ж", "")]
told = [hashlib.sha256(picture).hexdigest() for picture in pictures], list(map(len, pictures))
print(json.dumps([*told, os.environ.get("FONTCONFIG_FILE")]))
"""
"""Draws a character that no font of text has, words in three scripts, and nothing."""


@pytest.fixture
def with_fonts(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine with a font of icons, which comes with JupyterLab."""
    fonts = Path(sysconfig.get_path("data"), "share/jupyter/lab/static")
    assert list(fonts.glob("*.ttf"))
    return fontconfig(tmp_path / "fonts.conf", fonts)


def fontconfig(file: Path, folder: Path) -> dict[str, str]:
    """The environment of a machine whose fonts all lie in one folder."""
    file.write_text(f'<?xml version="1.0"?><fontconfig><dir>{folder}</dir></fontconfig>')
    return os.environ | {"FONTCONFIG_FILE": str(file)}


def drawn(environment: dict[str, str], *how: str) -> tuple[list[str], list[int], str | None]:
    """Hashes and sizes of the pictures that are drawn in an environment, and its setting afterwards."""
    command = [sys.executable, "-c", DRAWN, *how]
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    hashes, sizes, setting = json.loads(done.stdout)
    return hashes, sizes, setting


def test_fonts_of_the_machine_draw_nothing(tmp_path: Path, with_fonts: dict[str, str]) -> None:
    """A font that the engine finds by itself changes a picture; drawn our way it does not.

    Words in Latin, Greek and Cyrillic are drawn where a machine has no font at all, and what a process starts
    later, a browser for one, finds the fonts of the machine as before.
    """
    without = fontconfig(tmp_path / "none.conf", tmp_path / "none")
    bare, sizes, _ = drawn(without)
    assert drawn(with_fonts)[0][0] != bare[0]
    for environment in (with_fonts, without):
        assert drawn(environment, "ours") == (bare, sizes, environment["FONTCONFIG_FILE"])
    assert sizes[1] > 2 * sizes[2]


def test_a_setting_that_was_not_there_is_not_there_afterwards() -> None:
    """Fonts are found where the system looks by itself."""
    bare = {name: value for name, value in os.environ.items() if name != "FONTCONFIG_FILE"}
    assert drawn(bare, "ours")[2] is None


def test_a_picture_keeps_the_background_of_its_drawing() -> None:
    """A drawing without a background gets that of a light page, another one keeps its own."""
    drawing_of = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{}</svg>'.format
    black = drawing.png(drawing_of('<rect width="9" height="9"/><g />'))
    assert black != drawing.png(drawing_of("<g />")) == drawing.png(drawing_of('<rect/><g fill="red"/>'))
    assert drawing.png(drawing_of('<rect width="9" height="9"/>')) == black
