"""Telling how work goes: what is told, when, and where nothing is."""

from __future__ import annotations

from itertools import count

import pytest

from medgauge_lib import progress
from medgauge_lib.progress import Progress, is_shown, shown, steps

SECONDS = progress.QUIET_SECONDS


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that every look at moves on by a second."""
    monkeypatch.setattr(progress, "QUIET_SECONDS", SECONDS)
    ticks = count()
    monkeypatch.setattr(progress, "monotonic", lambda: float(next(ticks)))


@pytest.mark.usefixtures("seconds")
def test_the_library_by_itself_tells_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Steps are given and nothing is printed until somebody asks for it."""
    assert list(steps(range(40), unit="task")) == list(range(40))
    assert not is_shown()
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("seconds")
def test_plain_lines_say_how_far_and_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal a line a tenth of the work tells how many have ended and how long the rest takes."""
    with shown():
        assert list(steps(range(40), unit="task")) == list(range(40))
    said = capsys.readouterr()
    assert said.out == ""
    # One look at the clock when the command begins, one when the loop does, and one after each step.
    assert said.err.splitlines()[:3] == [
        "task 4 of 40, about 00:36 left",
        "task 8 of 40, about 00:32 left",
        "task 12 of 40, about 00:28 left",
    ]
    assert len(said.err.splitlines()) == 9  # the end is not a step to wait for


@pytest.mark.usefixtures("seconds")
def test_named_steps_say_what_is_left_too(capsys: pytest.CaptureFixture[str]) -> None:
    """Each named step has a line; once two seconds have gone it says how long the rest will take."""
    with Progress(4, unit="notebook") as told:
        for name in "abcd":
            told.ended(name)
    assert capsys.readouterr().err.splitlines() == [
        "a (1 of 4)",
        "b (2 of 4, about 00:03 left)",
        "c (3 of 4, about 00:01 left)",
        "d (4 of 4)",
    ]


def test_what_is_over_at_once_is_not_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that takes less than two seconds is silent."""
    monkeypatch.setattr(progress, "QUIET_SECONDS", SECONDS)
    monkeypatch.setattr(progress, "monotonic", lambda: 1.0)
    with shown():
        assert sum(steps(range(100), unit="task")) == 4950
    assert capsys.readouterr() == ("", "")


def test_what_is_nearly_over_is_not_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where less than a second is left nobody is told to wait, however long the command took to begin."""
    clock = iter([0.0, 3.0, *(3.1 + step / 10 for step in range(5))])
    monkeypatch.setattr(progress, "QUIET_SECONDS", SECONDS)
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    with shown():
        assert list(steps(range(5), unit="record")) == list(range(5))
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("seconds")
def test_long_steps_are_told_before_a_tenth_is_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a tenth of the work takes long, patience ends first."""
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 5.0)
    with shown():
        next_step = steps(range(1000), unit="block")
        for _ in range(10):
            next(next_step)
        next_step.close()
    assert capsys.readouterr().err.startswith("block 5 of 1000, about 16:35 left\n")


@pytest.mark.usefixtures("seconds")
def test_steps_within_a_step_are_not_told_of(capsys: pytest.CaptureFixture[str]) -> None:
    """The outer loop tells, the inner ones are silent."""
    with shown():
        for _ in steps(range(10), unit="board"):
            list(steps(range(10), unit="row"))
    said = capsys.readouterr().err
    assert "board 5 of 10" in said
    assert "row" not in said


@pytest.mark.usefixtures("seconds")
def test_a_loop_that_broke_leaves_room_for_the_next(capsys: pytest.CaptureFixture[str]) -> None:
    """After an error in one loop the next one tells, and outside nothing does."""
    with shown():
        with pytest.raises(ZeroDivisionError):
            _ = [1 / (3 - number) for number in steps(range(10), unit="first")]
        list(steps(range(10), unit="second"))
    list(steps(range(10), unit="third"))
    said = capsys.readouterr().err
    assert "second 5 of 10" in said
    assert "third" not in said


def test_a_terminal_has_a_bar_that_is_gone_at_the_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal a bar with count and time left moves on standard error, and leaves no line behind."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    with Progress(2, unit="task") as told:
        told.ended("first")
        told.say("a line of its own")
        told.ended("second")
    said = capsys.readouterr()
    assert said.out == ""
    assert "first: " in said.err
    assert "1/2 [" in said.err
    assert "a line of its own\n" in said.err
    assert "second" not in said.err.rpartition("\r")[2]
