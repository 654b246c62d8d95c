"""Writing files and folders: whole or not at all.

What is written lies beside its place, under a name that begins with a dot, and takes its name in one step.
Whoever is killed in between leaves what was there before or what was to come, and a dotted file or folder
that the next one to write there removes.
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


def require_new(folder: str | os.PathLike[str]) -> Path:
    """Require a folder that is new or empty, so that nothing is written over, least of all the input.

    Parameters
    ----------
    folder : path

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    InputError
        If something else is there, or the path has no name, as ``.`` has none.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     require_new(folder) == Path(folder)
    True
    """
    target = Path(folder)
    try:
        there = target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir())))
    except (OSError, ValueError):
        there = True
    if there or not target.name:
        raise InputError("is no folder that is new or empty", "name another folder", file=target)
    return target


def require_replaceable(folder: Path) -> None:
    """Require a place to be free or a folder, and no link: what stands there otherwise is not ours.

    Parameters
    ----------
    folder : Path
        The folder that will be replaced.

    Raises
    ------
    InputError
        If a file, a link or anything else is there.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     require_replaceable(Path(place, "out"))
    """
    with writing(folder):
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise InputError("is no folder that can be written anew", "move it away", file=folder)


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

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     require_writable(Path(folder, "reports"))
    ...     os.listdir(folder)
    ['reports']
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        # Asking for permissions would tell nothing of a file system that is mounted read-only, or full.
        handle, file = tempfile.mkstemp(prefix=f".{_MARK}", dir=folder)
        os.close(handle)
        Path(file).unlink(missing_ok=True)


@contextmanager
def new_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Fill a folder that is new or empty; it appears when the block ends, and not at all if it fails.

    Parameters
    ----------
    folder : path
        The folder; those above it are made.

    Yields
    ------
    Path
        The folder to fill, which takes the name at the end.

    Raises
    ------
    InputError
        Where the folder is neither new nor empty, or something cannot be written.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with new_folder(Path(place, "out")) as made:
    ...         _ = Path(made, "a").write_bytes(b"1")
    ...         before = Path(place, "out").exists()
    ...     before, os.listdir(Path(place, "out"))
    (False, ['a'])
    """
    target = Path(os.path.abspath(require_new(folder)))
    with writing(target), locked(target.parent):
        _clear(target.parent, target.name)
        with _beside(target) as made:
            made.mkdir()
            yield made
            # Takes the place of an empty folder as well, and of no other.
            made.rename(target)


def replace_folder(folder: Path, files: Mapping[str, bytes], *, root: Path) -> None:
    """Make a folder that holds exactly these files.

    Parameters
    ----------
    folder : Path
        The folder, there already or not.
    files : mapping
        Path in the folder to content.
    root : Path
        A folder above it, which is locked meanwhile: two writers take turns.

    Raises
    ------
    InputError
        Where it cannot be written; the folder is then as it was.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     for files in ({"a": b"1"}, {"b": b"2"}):
    ...         replace_folder(Path(place, "out"), files, root=Path(place))
    ...     os.listdir(Path(place, "out"))
    ['b']
    """
    with writing(folder), locked(root):
        require_replaceable(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        _clear(folder.parent, folder.name)
        with _beside(folder) as made:
            for path, content in files.items():
                file = made / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            _swap(made, folder)


def write_file(file: str | os.PathLike[str], content: bytes) -> None:
    """Write a file whole or not at all, over an old one too.

    Parameters
    ----------
    file : path
        The file; folders above it are made.
    content : bytes
        What it will hold.

    Raises
    ------
    InputError
        Where it cannot be written; the file is then as it was.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_file(Path(place, "a"), b"1")
    ...     Path(place, "a").read_bytes()
    b'1'
    """
    target = Path(file)
    with writing(target), locked(target.parent):
        _clear(target.parent, target.name)
        replace_file(target, content)


def replace_file(file: Path, content: bytes) -> None:
    """Write a file like `write_file`, for one who holds its folder `locked`.

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

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place, locked(Path(place)):
    ...     replace_file(Path(place, "a"), b"1")
    ...     os.listdir(place)
    ['a']
    """
    with writing(file):
        if file.is_dir() or not file.name:
            raise InputError("is a folder, where a file is to be written", "name a file in it", file=file)
        if file.exists() and not file.is_file():
            raise InputError("is no file that can be written over", "name another", file=file)
        if file.is_file() and file.read_bytes() == content:
            return
        with _beside(file) as made:
            made.write_bytes(content)
            made.replace(file)


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
            file=error.filename if error.filename and _MARK not in str(error.filename) else place,
        ) from None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder against other writers; the system lets go of it when this process ends.

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
    """Remove what writers that were killed left in a folder and in the folders in it.

    Parameters
    ----------
    folder : Path
        A folder that is `locked`: what lies there under a dotted name then belongs to nobody.
    """
    for place in [folder, *(path for path in folder.glob("[!.]*") if path.is_dir())]:
        _clear(place, "")


def _clear(folder: Path, name: str) -> None:
    """Remove what was left in a folder of a place of this name, or of any place where it is empty."""
    for left in sorted(folder.glob(f".*{_MARK}*")):
        of, _, rest = left.name[1:].rpartition(_MARK)
        if name not in ("", of):
            continue
        if rest.endswith(_OLD) and not (folder / of).exists():
            left.rename(folder / of)
        elif left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


@contextmanager
def _beside(place: Path) -> Iterator[Path]:
    """Give a name beside a place, under which nothing is left in the end."""
    made = place.parent / f".{place.name}{_MARK}{secrets.token_hex(6)}"
    try:
        yield made
    finally:
        if made.is_dir():
            shutil.rmtree(made, ignore_errors=True)
        else:
            made.unlink(missing_ok=True)


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
    # leaves the old folder under its third name, and the next writer gives it its own again.
    old = folder.parent / f"{beside.name}{_OLD}"
    folder.rename(old)
    try:
        beside.rename(folder)
    except BaseException:
        old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)
