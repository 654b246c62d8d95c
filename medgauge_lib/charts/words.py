"""What a board says, in sentences: who leads, who is not shown to differ, and what the board cannot tell.

"Not shown to differ" is never "equal": it says that these tasks do not settle the question.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from medgauge_lib.charts import display
from medgauge_lib.results import Absent

if TYPE_CHECKING:
    from medgauge_lib.board import Board, Row
    from medgauge_lib.pairs import Resolution


@dataclass(frozen=True)
class Sentences:
    """Paragraphs of plain text; whatever a record wrote in them is shown as text.

    Attributes
    ----------
    paragraphs : tuple of str
    """

    paragraphs: tuple[str, ...]

    def __str__(self) -> str:
        return "\n\n".join(self.paragraphs)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {
            "text/html": "\n".join(f"<p>{html.escape(words)}</p>" for words in self.paragraphs),
            "text/plain": str(self),
        }


NOTICE = "application/vnd.medgauge.notice+json"
"""Media type of a notice: its text, and the page of the report that says more."""


@dataclass(frozen=True)
class Notice(Sentences):
    """What a reader must know before anything else; a page sets it apart, and building a report prints it.

    Attributes
    ----------
    paragraphs : tuple of str
        The first says it; the others say more.
    page : str
        Name of the notebook whose page has the details.
    """

    page: str

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        first, *others = (html.escape(words) for words in self.paragraphs)
        shown = (f"<strong>{first}</strong>", *others)
        return {
            NOTICE: {"paragraphs": list(self.paragraphs), "page": self.page},
            "text/html": "\n".join(f"<p>{words}</p>" for words in shown),
            "text/plain": str(self),
        }


def board_sentences(board: Board) -> Sentences:
    """Who leads and how sure that is, what the board can tell apart, and notes on its order.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    Sentences
    """
    notes = [display.text(note) for note in board.notes]
    return Sentences((leader_words(board), apart_words(board), *notes, *_void_words(board)))


def leader_words(board: Board) -> str:
    """Which row has the highest pass^3, and how many rows are not shown to differ from it."""
    best = [row for row in board.rows if row.rank == 1]
    names = [display.text(row.label) for row in best]
    figure = display.estimate(best[0].pass_pow_3)
    if len(board.rows) == 1:
        return f"{names[0]} is the only row: it passes {figure} of the tasks in all three runs."
    if len(best) == len(board.rows):
        return f"All {len(best)} rows have the same pass^3, {figure}: none leads."
    if len(best) > 1:
        listed = display.listed(names) if len(best) <= 4 else f"{len(best)} rows"
        return f"{listed} share the highest pass^3, {figure}."
    return f"{names[0]} has the highest pass^3, {figure}. {_rivals(board, best[0])}"


def _rivals(board: Board, first: Row) -> str:
    near = [row for row in board.rows if row.id != first.id and set(row.letters) & set(first.letters)]
    others = len(board.rows) - 1
    if not near:
        return "Every other row is shown to differ from it."
    if len(near) == others:
        return "No other row is shown to differ from it: these tasks do not settle who is best."
    listed = f": {display.listed([display.text(row.label) for row in near])}" if len(near) <= 4 else ""
    verb = "is" if len(near) == 1 else "are"
    return f"{len(near)} of the {others} other rows {verb} not shown to differ from it{listed}."


def apart_words(board: Board) -> str:
    """How many pairs are shown to differ, and how many groups that leaves."""
    n_pairs = len(board.pairs.pairs)
    if not n_pairs:
        return "With one row there is nothing to compare."
    shown = len(board.pairs.differing)
    test = "exact McNemar test on the same tasks, Holm-adjusted p ≤ 0.05"
    if shown == n_pairs:
        first = f"Every pair of rows is shown to differ ({test})."
    elif not shown:
        first = f"No pair of rows is shown to differ ({test}), which does not mean equal."
    else:
        first = (
            f"{shown:,} of {n_pairs:,} pairs of rows {'are' if shown > 1 else 'is'} shown to differ "
            f"({test}); the rest are not shown to differ, which does not mean equal."
        )
    overlap = ", which overlap" if sum(map(len, board.groups)) > len(board.rows) else ""
    return f"{first} Rows fall into {display.count(len(board.groups), 'group')}{overlap}."


def resolution_words(board: Board) -> Sentences:
    """What a board of this size can tell apart at all.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    Sentences
    """
    return resolution_sentences(board.resolution)


def resolution_sentences(found: Resolution | Absent) -> Sentences:
    """What a board of some size can tell apart at all, whether it is planned or there.

    Parameters
    ----------
    found : Resolution or Absent
        As `medgauge_lib.pairs.resolution` gives it.

    Returns
    -------
    Sentences
    """
    if isinstance(found, Absent):
        return Sentences((f"Resolution does not apply: {found}.",))
    size = f"With {display.count(found.n_rows, 'row')} ({display.count(found.n_pairs, 'pair')})"
    need = display.count(found.n_discordant, "task")
    if not found.possible:
        return Sentences(
            (
                f"{size} it takes {need}, all one way, to show the first difference. This board has "
                f"{display.count(found.n_tasks, 'task')}: it cannot show any two rows to differ, however far "
                "apart they are.",
            )
        )
    share = display.points(found.n_discordant / found.n_tasks).lstrip("+")
    later = "; once some are, the others need less" if found.n_pairs > 1 else ""
    return Sentences(
        (
            f"{size} {need} that all go one way are always enough to show a difference, and where no pair "
            f"has that much evidence none is shown{later}. On the {display.count(found.n_tasks, 'task')} of "
            f"this board that is a difference in pass^3 of {share}; smaller true differences may stay "
            "hidden. Tasks that go the other way raise the number.",
        )
    )


def _void_words(board: Board) -> tuple[str, ...]:
    if board.void.empty:
        return ()
    return (
        f"{display.count(len(board.void), 'task version')} of this benchmark version "
        f"{'is' if len(board.void) == 1 else 'are'} void for every row and left out of every figure.",
    )
