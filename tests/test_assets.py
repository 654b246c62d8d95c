"""The script that draws charts: made once for each version of its maker, and kept where it can be kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from medgauge_lib.report import assets
from medgauge_lib.report.hashes import sha256


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, for a process that has made no bundle yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assets.vega_bundle.cache_clear()
    yield tmp_path / "cache" / "medgauge"
    assets.vega_bundle.cache_clear()


def again(monkeypatch: pytest.MonkeyPatch, made: Callable[[], bytes]) -> tuple[str, bytes]:
    """Ask for the bundle as a new process does, with another maker."""
    assets.vega_bundle.cache_clear()
    monkeypatch.setattr(assets.drawing, "script", lambda using: made())
    return assets.vega_bundle()


def unneeded() -> bytes:
    """Stand for a maker that nobody should ask."""
    pytest.fail("the bundle was made again")


def test_a_later_process_finds_the_bundle(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one process made another one uses, to the byte, and its name is its hash."""
    href, content = assets.vega_bundle()
    assert b"vegaEmbed" in content
    assert href == f"assets/vega-{sha256(content)[:12]}.js"
    (kept,) = [path for path in cache.iterdir() if not path.name.startswith(".")]
    assert kept.read_bytes() == sha256(content).encode() + b"\n" + content
    assert again(monkeypatch, unneeded) == (href, content)


@pytest.mark.parametrize("left", [b"", b"\n", b"0" * 64 + b"\nx", b"\xff\xfe"])
def test_a_bundle_that_is_not_whole_is_made_again(
    cache: Path, monkeypatch: pytest.MonkeyPatch, left: bytes
) -> None:
    """A file that was cut off or changed is replaced."""
    again(monkeypatch, lambda: b"first")
    (kept,) = [path for path in cache.iterdir() if not path.name.startswith(".")]
    kept.write_bytes(left)
    assert again(monkeypatch, lambda: b"second")[1] == b"second"
    assert again(monkeypatch, unneeded)[1] == b"second"


def _looping(place: Path) -> None:
    place.symlink_to(place.name)


def _dangling(place: Path) -> None:
    place.symlink_to("nowhere")


@pytest.mark.parametrize("made", [os.mkfifo, Path.mkdir, _looping, _dangling])
def test_what_is_no_file_is_as_if_not_there(
    cache: Path, monkeypatch: pytest.MonkeyPatch, made: Callable[[Path], None]
) -> None:
    """A pipe, a folder or a broken link where the bundle is kept neither stops a build nor changes it."""
    again(monkeypatch, lambda: b"first")
    (kept,) = [path for path in cache.iterdir() if not path.name.startswith(".")]
    kept.unlink()
    made(kept)
    assert again(monkeypatch, lambda: b"second")[1] == b"second"


def test_another_version_makes_its_own_bundle(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bundle of one version of its maker is never taken for that of another."""
    again(monkeypatch, lambda: b"old")
    monkeypatch.setattr(assets, "version", lambda name: f"{name} of tomorrow")
    assert again(monkeypatch, lambda: b"new")[1] == b"new"


def test_a_cache_that_cannot_be_written_is_no_trouble(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file is in the way, or there is no home, the bundle is made and kept nowhere."""
    cache.parent.write_text("in the way")
    assert again(monkeypatch, lambda: b"made")[1] == b"made"
    monkeypatch.setattr(assets, "user_cache_path", lambda name: Path("~", ".cache", name))
    monkeypatch.chdir(cache.parents[1])
    assert again(monkeypatch, lambda: b"homeless")[1] == b"homeless"
    assert not Path("~").exists()


def test_a_folder_that_looks_like_a_cache_is_none(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a home no script is taken from the folder that someone happens to stand in."""
    again(monkeypatch, lambda: b"foreign")
    monkeypatch.chdir(cache.parent)
    monkeypatch.setattr(assets, "user_cache_path", Path)
    assert again(monkeypatch, lambda: b"made")[1] == b"made"
