"""Charts are drawn with the engine's own fonts: the same picture whatever fonts a machine has."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ENGINE = "import sys, vl_convert\n"
OURS = ENGINE + "from medgauge_lib.charts import drawing\n"
PICTURE = """
text = '<text x="9" y="30" font-size="20" font-family="Liberation Sans">{text}</text>'
sys.stdout.buffer.write(vl_convert.svg_to_png(
    '<svg xmlns="http://www.w3.org/2000/svg" width="99" height="40"><g fill="red">' + text + "</g></svg>"
))
"""
STAR = PICTURE.format(text="&#xf005;")
"""A character that no font of text has."""
WORDS = PICTURE.format(text="Ward α Ж")


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


def printed(program: str, environment: dict[str, str]) -> bytes:
    """What a program writes in an environment."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, capture_output=True, check=True).stdout


def test_fonts_of_the_machine_draw_nothing(tmp_path: Path, with_fonts: dict[str, str]) -> None:
    """A font that the engine finds by itself changes a picture; drawn our way it does not."""
    without = fontconfig(tmp_path / "none.conf", tmp_path / "none")
    assert printed(ENGINE + STAR, with_fonts) != printed(ENGINE + STAR, without)
    assert (
        printed(OURS + STAR, with_fonts) == printed(OURS + STAR, without) == printed(ENGINE + STAR, without)
    )


def test_the_font_of_the_theme_comes_with_the_engine(tmp_path: Path) -> None:
    """Words in Latin, Greek and Cyrillic are drawn where a machine has no font at all."""
    nothing = printed(OURS + PICTURE.format(text=""), dict(os.environ))
    words = printed(OURS + WORDS, dict(os.environ))
    assert words == printed(ENGINE + WORDS, fontconfig(tmp_path / "none.conf", tmp_path / "none"))
    assert len(words) > 2 * len(nothing)


@pytest.mark.parametrize("before", [None, "/somewhere/fonts.conf"])
def test_the_setting_for_fonts_is_left_as_it_was(before: str | None) -> None:
    """What a process starts later, a browser for one, finds the fonts of the machine."""
    environment = {name: value for name, value in os.environ.items() if name != "FONTCONFIG_FILE"}
    environment |= {"FONTCONFIG_FILE": before} if before else {}
    program = OURS + "import os; print(os.environ.get('FONTCONFIG_FILE'), end='')"
    assert printed(program, environment).decode() == str(before)
