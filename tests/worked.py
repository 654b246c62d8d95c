"""Functions that tests hand to workers; in a module of their own, since workers import them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from medgauge_lib.errors import InputError


def square(number: int) -> int:
    """Give the square after a while that differs from item to item."""
    time.sleep(0.01 * (number * 7 % 5))
    return number * number


def slow(number: int) -> int:
    """Give the square after a while that is long enough to be interrupted."""
    time.sleep(0.2)
    return number * number


def deadly(number: int) -> None:
    """End the worker as a system without memory does."""
    os.kill(os.getpid(), signal.SIGKILL)


def deadly_once(item: tuple[int, Path]) -> int:
    """End the worker the first time the fifth item is worked on."""
    number, mark = item
    if number == 5 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return square(number)


def refusing(number: int) -> int:
    """Refuse one item with two lines."""
    if number == 3:
        raise InputError("3 is not wanted", "leave it out", file="some.json", pointer="/3")
    return number


def process(_: object) -> int:
    """Name the process that does the work."""
    time.sleep(0.05)
    return os.getpid()


def environment(name: str) -> str | None:
    """Give a variable of the worker's environment."""
    return os.environ.get(name)
