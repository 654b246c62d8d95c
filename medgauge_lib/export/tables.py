"""Results as tables: exact for programs, in words for people, each saying what it is of.

`Exported.frame` is the result's own ``to_frame()``, not rounded. `Exported.worded` holds the same lines as a
reader wants them: percent, percentage points, intervals rounded outward, and words where a figure is absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from medgauge_lib._version import __version__
from medgauge_lib.charts import display
from medgauge_lib.charts.figure import table_json
from medgauge_lib.charts.plans import difference_words, plan_words
from medgauge_lib.dimensions import NO_INTERVAL
from medgauge_lib.errors import InputError
from medgauge_lib.estimators import exam_bound
from medgauge_lib.export import formats
from medgauge_lib.failures import REASONS
from medgauge_lib.intervals import QUANTILE_RULE
from medgauge_lib.outcomes import N_RUNS
from medgauge_lib.planning import NO_BOUND_WITH_FAILURES
from medgauge_lib.results import Absent
from medgauge_lib.schema import quoted
from medgauge_lib.simulation.study import ASSUMPTIONS

if TYPE_CHECKING:
    from medgauge_lib.board import Board, Row
    from medgauge_lib.difficulty import Difficulty, Strata, Stratum
    from medgauge_lib.dimensions import DimensionFigure, Dimensions, RowDimensions
    from medgauge_lib.failures import Failures, RowFailures
    from medgauge_lib.planning import DifferencePlan, ExamPlan, PowerPlan
    from medgauge_lib.simulation.power import Power

NOT_RANKED = "Lines without a rank are community records, which the site has not verified."


@dataclass(frozen=True)
class Exported:
    """One result as a table.

    Attributes
    ----------
    frame : DataFrame
        For programs: exact, absent figures missing.
    worded : DataFrame
        For people: the same lines as texts.
    about : mapping
        What it is of: table, benchmark, version, subset, seed, algorithm and this library's version.
    notes : tuple of str
        What a reader must know beside it, a sentence each.
    """

    frame: pd.DataFrame = field(repr=False)
    worded: pd.DataFrame = field(repr=False)
    about: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    def to_bytes(self, form: str) -> bytes:
        """Write the table in one of `FORMATS`.

        Raises
        ------
        InputError
            Where two columns have one name, or Parquet is wanted and its extra is not installed.
        ValueError
            For another format.
        """
        twice = [str(name) for name in self.frame.columns[self.frame.columns.duplicated()]]
        if twice:
            raise InputError(
                f"the table has the column {quoted(twice[0])} twice", "give columns different names"
            )
        match form:
            case "csv":
                found = table_json(self.frame)
                return formats.csv_bytes(found["columns"], found["rows"])
            case "json":
                return formats.json_bytes(self.frame, self.about)
            case "parquet":
                return formats.parquet_bytes(self.frame, self.about)
            case "latex":
                return formats.latex_bytes(self.worded, self._said())
            case "markdown":
                return formats.markdown_bytes(self.worded, self._said())
        raise ValueError(f"form must be one of {', '.join(formats.FORMATS)}, but got {form!r}")

    def _said(self) -> Sequence[str]:
        told = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in self.about.items())
        return (f"{told}.", *self.notes)


def _about(table: str, found: Any, board: Board | None = None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "table": table,
        "benchmark": found.benchmark,
        "benchmark_version": found.benchmark_version,
    }
    if board is not None:
        told |= {"subset": board.subset, "as_of": board.as_of, "seed": board.seed, "algorithm": QUANTILE_RULE}
    return told | {"medgauge": __version__}


def board_table(board: Board) -> Exported:
    """The board: rows in board order, unranked rows last.

    Parameters
    ----------
    board : Board

    Returns
    -------
    Exported

    Examples
    --------
    >>> from medgauge_lib import board, demo
    >>> found = board_table(board(demo.record_set("bm-demo-ward", "1.1.0")))
    >>> found.to_bytes("csv").decode().splitlines()[1].split(",")[:4]
    ['1', 'res-2026-06-10-aster-round', 'demo-model-aster · hx-demo-round 2.1.0', 'a']
    """
    rows = (*board.rows, *board.unranked)
    notes = (NOT_RANKED,) if board.unranked else ()
    return Exported(board.to_frame(), board_words(rows), _about("board", board, board), notes)


def board_words(rows: Iterable[Row]) -> pd.DataFrame:
    """Rows of a board in words, a line a row; what a terminal, LaTeX and Markdown show."""
    return pd.DataFrame(
        {
            "rank": display.rank(row),
            "subject": display.text(row.label),
            "letters": " ".join(row.letters),
            "pass^3": display.percent(row.pass_pow_3.value),
            "95 % interval": display.interval(row.pass_pow_3.interval),
            "pass@3": display.percent(row.pass_at_3.value),
            "pass rate": display.percent(row.task_pass_rate.value),
            "score": display.percent(row.continuous_score.value),
            "cost per success": display.cost(row),
            "errors": display.percent(row.tallies.error_rate),
            "vetoes": display.number(row.tallies.n_vetoed),
            "exam": row.exam.outcome.replace("_", " "),
        }
        for row in rows
    )


def pairs_table(board: Board) -> Exported:
    """Every two rows of a board compared on pass^3, in board order.

    Parameters
    ----------
    board : Board

    Returns
    -------
    Exported

    Examples
    --------
    >>> from medgauge_lib import board, demo
    >>> records = demo.record_set("bm-demo-lab", "0.1.0")
    >>> found = board(records)
    >>> pairs_table(found).to_bytes("csv").decode().split(",")[:3]
    ['a', 'b', 'b_count']
    """
    names = {row.id: display.text(row.label) for row in board.rows}
    lines = [
        (
            names[pair.a],
            names[pair.b],
            display.number(pair.b_count),
            display.number(pair.c_count),
            display.points(pair.difference),
            display.interval(pair.interval, difference=True),
            display.p_value(pair.p),
            display.p_value(pair.holm),
            "yes" if pair.differs else "no",
        )
        for pair in board.pairs.pairs
    ]
    columns = ["row a", "row b", "b", "c", "a − b", "95 % interval", "p", "p (Holm)", "shown to differ"]
    note = (
        "b counts tasks that only row a passed in all three runs, c those that only row b did; "
        f"{board.pairs.method}, adjusted by Holm over all pairs; the interval is of each pair alone."
    )
    worded = pd.DataFrame(lines, columns=columns)
    return Exported(board.pairs.to_frame(), worded, _about("pairs", board, board), (note,))


def dimensions_table(found: Dimensions, board: Board) -> Exported:
    """The figures of M1 to M10, a line a row and figure.

    Parameters
    ----------
    found : Dimensions
    board : Board
        The one that `found` was made of.

    Returns
    -------
    Exported

    Examples
    --------
    >>> from medgauge_lib import board, demo, dimensions
    >>> records = demo.record_set("bm-demo-lab", "0.1.0")
    >>> found = board(records)
    >>> dimensions_table(dimensions(records, found), found).to_bytes("csv").decode().split(",")[:3]
    ['id', 'label', 'ranked']
    """
    lines = [_dimension_words(row, figure) for row in found.rows for figure in row.figures]
    columns = ["subject", "dimension", "figure", "part", "value", "95 % interval", "provenance", "remark"]
    return Exported(
        found.to_frame(), pd.DataFrame(lines, columns=columns), _about("dimensions", found, board)
    )


def _dimension_words(row: RowDimensions, figure: DimensionFigure) -> tuple[str, ...]:
    return (
        display.text(row.label),
        figure.dimension,
        figure.name.replace("_", " "),
        display.text(figure.part.replace("_", " ")),
        _dimension_value(figure),
        "" if figure.interval == NO_INTERVAL else display.interval(figure.interval),
        figure.provenance,
        display.text(figure.remark),
    )


def _dimension_value(figure: DimensionFigure) -> str:
    if isinstance(figure.value, Absent | str):
        return display.text(str(figure.value))
    if figure.name == "paired_bootstrap":  # the two ends of an interval
        return display.points(figure.value, toward="down" if figure.part == "lower" else "up")
    return display.in_unit(figure.value, figure.unit)


def difficulty_table(found: Difficulty, board: Board) -> Exported:
    """Task pass rate and pass^3 by class of difficulty, a line a row and class.

    Parameters
    ----------
    found : Difficulty
    board : Board
        The one that `found` was made of.

    Returns
    -------
    Exported

    Examples
    --------
    >>> from medgauge_lib import board, demo, difficulty
    >>> records = demo.record_set("bm-demo-lab", "0.1.0")
    >>> found = board(records)
    >>> difficulty_table(difficulty(records, found), found).to_bytes("csv").decode().split(",")[:3]
    ['id', 'label', 'difficulty']
    """
    lines = [_stratum_words(row, stratum) for row in found.rows for stratum in row.strata]
    columns = ["subject", "class", "tasks", "pass^3", "pass rate", "provenance", "remark"]
    about = _about("difficulty", found, board) | {"publish": found.publish}
    return Exported(found.to_frame(), pd.DataFrame(lines, columns=columns), about, found.notes)


def _stratum_words(row: Strata, stratum: Stratum) -> tuple[str, ...]:
    return (
        display.text(row.label),
        str(stratum.difficulty),
        str(stratum.n_tasks) if isinstance(stratum.n_tasks, Absent) else display.number(stratum.n_tasks),
        display.estimate(stratum.pass_pow_3),
        display.estimate(stratum.task_pass_rate),
        stratum.provenance,
        display.text(stratum.remark),
    )


def failures_table(found: Failures) -> Exported:
    """Failed runs by the reason the verifier recorded, a line a row and reason.

    Parameters
    ----------
    found : Failures

    Returns
    -------
    Exported

    Examples
    --------
    >>> from medgauge_lib import board, demo, failures
    >>> records = demo.record_set("bm-demo-lab", "0.1.0")
    >>> found = board(records)
    >>> failures_table(failures(records, found)).to_bytes("csv").decode().split(",")[:3]
    ['id', 'label', 'reason']
    """
    lines = [line for row in found.rows for line in _reason_words(row)]
    worded = pd.DataFrame(lines, columns=["subject", "reason", "runs", "share of failed runs", "provenance"])
    return Exported(found.reasons_frame(), worded, _about("failures", found))


def _reason_words(row: RowFailures) -> Iterator[tuple[str, ...]]:
    label, source = display.text(row.label), "as published"
    if isinstance(row.reasons, Absent):
        why = display.text(str(row.reasons))
        yield from ((label, name.replace("_", " "), why, why, source) for name in REASONS)
        return
    for reason in row.reasons:
        share = reason.share
        shown = display.text(str(share)) if isinstance(share, Absent) else display.percent(share)
        yield label, reason.name.replace("_", " "), display.number(reason.n_runs), shown, source


def exam_plan_table(found: ExamPlan) -> Exported:
    """Bounds that exams of several sizes may claim: those asked for, then the numbers of tasks asked for."""
    asked = [
        (f"{float(bound)}", display.number(n), display.bound(exam_bound(n), asked=bound))
        for bound, n in found.thresholds
    ]
    worded = pd.DataFrame(
        [*asked, *(("", display.number(n), display.bound(bound)) for n, bound in found.bounds)],
        columns=["bound asked for", "tasks, all passed", "claimable 95 % lower bound"],
        dtype="str",
    )
    about = {"table": "plan bound", "level": found.level, "medgauge": __version__}
    return Exported(found.to_frame(), worded, about, (NO_BOUND_WITH_FAILURES,))


def power_plan_table(found: PowerPlan) -> Exported:
    """Power for two rows on several numbers of tasks: exact, and simulated with its Monte Carlo error."""
    study = found.study
    worded = pd.DataFrame(
        [_power_words(line, needed=line.contest.n_tasks == found.needed) for line in study.lines],
        columns=["tasks", "power", "simulated", "Monte Carlo error", "95 % interval", ""],
        dtype="str",
    )
    about = {
        "table": "plan power",
        "seed": study.seed,
        "replications": study.n_replications,
        "replications_asked": study.asked,
        "medgauge": __version__,
    }
    return Exported(found.to_frame(), worded, about, (*plan_words(found), *study.assumptions))


def _power_words(line: Power, *, needed: bool) -> tuple[str, ...]:
    error = line.shown.standard_error
    return (
        display.number(line.contest.n_tasks),
        display.percent(line.exact),
        "none" if isinstance(line.shown.value, Absent) else display.percent(line.shown.value),
        str(error) if isinstance(error, Absent) else f"{display.number(100 * error, 2)}{display.NBSP}pp",
        display.interval(line.shown.interval),
        "fewest with the power wanted" if needed else "",
    )


def difference_plan_table(found: DifferencePlan) -> Exported:
    """Minimum detectable differences in pass^3, a line a number of tasks."""
    lines = [
        (
            display.number(line.n_tasks),
            str(line.a)
            if isinstance(line.difference, Absent)
            else display.points(line.difference, toward="up"),
            "" if isinstance(line.a, Absent) else display.percent(line.a.power(N_RUNS)),
        )
        for line in found.lines
    ]
    columns = ["tasks", "least difference in pass^3", "pass^3 of the row ahead"]
    about = {"table": "plan difference", "medgauge": __version__}
    notes = (*difference_words(found), *ASSUMPTIONS)
    return Exported(found.to_frame(), pd.DataFrame(lines, columns=columns, dtype="str"), about, notes)


def figure_table(table: Mapping[str, Any], about: Mapping[str, Any]) -> Exported:
    """The data behind a figure of a report.

    Parameters
    ----------
    table : mapping
        ``columns`` and ``rows``, as the report's notebook has them.
    about : mapping
        What it is of.

    Returns
    -------
    Exported
        In words, numbers have four decimals or three digits; columns called ``low``, ``lower`` and ``bound``
        (and those whose names end so) are rounded down, ``high`` and ``upper`` up.

    Examples
    --------
    >>> data = {"columns": ["row", "low"], "rows": [["a", 0.12345]]}
    >>> figure_table(data, {"figure": "rates"}).to_bytes("csv").decode().splitlines()
    ['row,low', 'a,0.12345']
    """
    columns = list(map(str, table["columns"]))
    frame = pd.DataFrame(table["rows"], columns=columns, dtype=object).apply(_typed)
    lines = [
        [_cell_words(name, cell) for name, cell in zip(columns, line, strict=True)] for line in table["rows"]
    ]
    worded = pd.DataFrame(lines, columns=[name.replace("_", " ") for name in columns], dtype="str")
    return Exported(frame, worded, {**about, "medgauge": __version__})


def _typed(column: pd.Series[Any]) -> pd.Series[Any]:
    """Give a column the type of its values; whole numbers stay whole beside absent ones."""
    present = column[column.notna()]
    if len(present) and all(type(cell) is int and abs(cell) < 2**63 for cell in present):
        return column.astype("Int64")
    return column.infer_objects()


_ROUNDED: dict[str, display.Toward] = {
    "low": "down", "lower": "down", "bound": "down", "high": "up", "upper": "up",
}  # fmt: skip


def _cell_words(column: str, cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int | float):
        return display.decimal(cell, _ROUNDED.get(column.rpartition("_")[2], "nearest"))
    return display.text(str(cell))
