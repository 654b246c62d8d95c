"""Putting a folder of files in place of another: whole or not at all.

A folder is written beside the one it replaces, under a name that begins with a dot, and the two change names
in one step. Whoever is killed in between leaves the old folder or the new one, and a dotted folder that the
next build removes.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from medgauge_lib.errors import InputError

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_MARK = ".building-"
_OLD = "-old"


def replace_folder(folder: Path, files: Mapping[str, bytes], *, root: Path) -> None:
    """Make a folder that holds exactly these files.

    Parameters
    ----------
    folder : Path
        The folder, there already or not.
    files : mapping
        Path in the folder to content.
    root : Path
        A folder above it, which is locked meanwhile: two builds take turns.

    Raises
    ------
    InputError
        Where it cannot be written; the folder is then as it was.
    """
    with writing(root), locked(root):
        folder.parent.mkdir(parents=True, exist_ok=True)
        clear(folder.parent)
        beside = folder.parent / f".{folder.name}{_MARK}{secrets.token_hex(6)}"
        try:
            for path, content in files.items():
                file = beside / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            _swap(beside, folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def replace_file(file: Path, content: bytes) -> None:
    """Write a file whole or not at all.

    Parameters
    ----------
    file : Path
        The file, there already or not.
    content : bytes
        What it will hold; where it holds that already nothing is written.

    Raises
    ------
    InputError
        Where it cannot be written; the file is then as it was.
    """
    beside = file.parent / f".{file.name}{_MARK}{secrets.token_hex(6)}"
    with writing(file):
        if file.is_file() and file.read_bytes() == content:
            return
        try:
            beside.write_bytes(content)
            beside.replace(file)
        finally:
            beside.unlink(missing_ok=True)


def require_writable(folder: Path) -> None:
    """Make a folder, or require that it may be written to, before any work is spent on what goes into it.

    Parameters
    ----------
    folder : Path
        The folder, there already or not.

    Raises
    ------
    InputError
        Where it cannot be made or written to.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        # Asking for permissions would tell nothing of a file system that is mounted read-only, or full.
        handle, file = tempfile.mkstemp(prefix=f".{_MARK}", dir=folder)
        os.close(handle)
        Path(file).unlink(missing_ok=True)


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Say where and why something cannot be written.

    Parameters
    ----------
    place : Path
        Named where the system names no file.

    Raises
    ------
    InputError
        For every error of the file system in the block.
    """
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(
            f"cannot be written: {reason}",
            "name a folder with room that you may write to",
            file=error.filename or place,
        ) from None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder against other builds; the system lets go of it when this process ends.

    Parameters
    ----------
    folder : Path
        The folder; made where it is not there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def clear(folder: Path) -> None:
    """Remove what builds that were killed left in a folder and in the folders in it.

    Parameters
    ----------
    folder : Path
        A folder that is `locked`, or inside one: what lies there then belongs to nobody.
    """
    for left in sorted([*folder.glob(f".*{_MARK}*"), *folder.glob(f"*/.*{_MARK}*")]):
        aside = left.name.endswith(_OLD)
        replaced = left.with_name(left.name[1:].partition(_MARK)[0])
        if aside and not replaced.exists():
            left.rename(replaced)
        elif left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _swap(beside: Path, folder: Path) -> None:
    """Let the new folder take the name of the old one; the old one is left under the new one's name."""
    if not folder.exists():
        beside.rename(folder)
        return
    libc = ctypes.CDLL(None, use_errno=True)
    exchange = getattr(libc, "renameat2", None)
    if exchange is not None:
        done = exchange(_AT_FDCWD, os.fsencode(beside), _AT_FDCWD, os.fsencode(folder), _RENAME_EXCHANGE)
        if done == 0:
            return
        if ctypes.get_errno() not in (errno.EINVAL, errno.ENOSYS):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(folder))
    # File systems and systems that cannot exchange two names: two renames. Whoever is killed in between
    # leaves the old folder under its third name, and the next build gives it its own again.
    old = folder.parent / f"{beside.name}{_OLD}"
    folder.rename(old)
    beside.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
