"""The commands ``medgauge plan bound``, ``resolution``, ``power`` and ``difference``.

Thin: each makes one table of a plan and prints it. Exit codes: 0 done, 2 arguments that cannot be used, 130
interrupted, after the replications that ended are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from medgauge_lib.cli.options import DASK, SEED_OPTION, Number, as_json, format_option
from medgauge_lib.errors import InputError

if TYPE_CHECKING:
    from medgauge_lib.export.tables import Exported
    from medgauge_lib.planning import PowerPlan

_MAX_TASKS = 2_000
_SHARE = Number(0, 1)
_OPEN_SHARE = Number(0, 1, min_open=True, max_open=True)
_TASKS = click.IntRange(1, _MAX_TASKS)
_FORM = format_option("the plan", "text", "json", "csv", "latex", "markdown")


def _contest(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command what power depends on besides the rows' pass^3."""
    for option in (
        click.option(
            "--rows", "n_rows", type=click.IntRange(2, 10_000), default=2, show_default=True,
            help="Rows of the board; its pairs share the error by Holm, of which this is the first step.",
        ),
        click.option(
            "--correlation", type=_SHARE, default=0.5, show_default=True,
            help="Rank correlation of the rows over tasks: what is hard for one is hard for the other.",
        ),
        click.option(
            "--spread", type=Number(0, 0.5, max_open=True), default=0.3, show_default=True,
            help="Standard deviation between tasks of the rate at which runs pass.",
        ),
        click.option(
            "--power", type=_OPEN_SHARE, default=0.8, show_default=True, help="Power that is wanted."
        ),
    ):  # fmt: skip
        command = option(command)
    return command


@click.group()
def plan() -> None:
    """Plan a benchmark: what a claim, a comparison or a difference needs. Nothing of it is a result."""


@plan.command("bound")
@click.option(
    "--bound", "bounds", type=Number(0, 0.9999, min_open=True), multiple=True,
    help="Bound to be claimed; may be repeated.  [default: 0.8, 0.9, 0.95, 0.99]",
)  # fmt: skip
@click.option(
    "--tasks", "n_tasks", type=click.IntRange(1, 1_000_000), multiple=True,
    help="Number of tasks; may be repeated.  [default: a table of them]",
)  # fmt: skip
@_FORM
def bound_command(bounds: Sequence[float], n_tasks: Sequence[int], form: str) -> None:
    """Tasks that a claimable bound needs, and the bound that a passed exam of so many tasks may claim."""
    from medgauge_lib.export.tables import exam_plan_table
    from medgauge_lib.planning import NUMBERS, THRESHOLDS, exam_plan

    asked = bounds or n_tasks
    found = exam_plan(bounds if asked else THRESHOLDS, n_tasks if asked else NUMBERS)
    _show(exam_plan_table(found), form)


@plan.command("resolution")
@click.option("--rows", "n_rows", type=click.IntRange(1, 10_000), required=True, help="Rows of the board.")
@click.option("--tasks", "n_tasks", type=click.IntRange(1), required=True, help="Tasks of the board.")
@format_option("it")
def resolution_command(n_rows: int, n_tasks: int, form: str) -> None:
    """Fewest tasks, all won by one row, that a board of so many rows and tasks shows as a difference."""
    from medgauge_lib.board import resolution_json
    from medgauge_lib.charts import display
    from medgauge_lib.charts.words import resolution_sentences
    from medgauge_lib.pairs import resolution

    found = resolution(n_rows, n_tasks)
    if form == "json":
        click.echo(as_json({"n_rows": n_rows, "n_tasks": n_tasks, **resolution_json(found)}), nl=False)
    else:
        click.echo(str(resolution_sentences(found)).replace(display.NBSP, " "))


@plan.command("power")
@click.option("--a", "of_a", type=_SHARE, required=True, help="True pass^3 of the row ahead.")
@click.option("--b", "of_b", type=_SHARE, required=True, help="True pass^3 of the row behind.")
@click.option("--tasks", "n_tasks", type=_TASKS, multiple=True, required=True, help="May be repeated.")
@_contest
@click.option(
    "--replications", type=click.IntRange(1, 10_000_000), default=2_000, show_default=True,
    help="Simulated boards for each number of tasks.",
)  # fmt: skip
@SEED_OPTION
@click.option("--jobs", type=click.IntRange(1), help="Processes at most.  [default: one for each core]")
@DASK
@_FORM
def power_command(form: str, **asked: Any) -> None:
    """How often two rows with a given difference are shown to differ, and the tasks that a power needs."""
    from medgauge_lib.export.tables import power_plan_table

    found = _power(**asked)
    _show(power_plan_table(found), form)
    if not found.study.complete:
        raise KeyboardInterrupt(f"{found.study.n_replications:,} of {found.study.asked:,} replications ended")


@plan.command("difference")
@click.option("--b", "of_b", type=_SHARE, required=True, help="True pass^3 of the row behind.")
@click.option("--tasks", "n_tasks", type=_TASKS, multiple=True, required=True, help="May be repeated.")
@_contest
@_FORM
def difference_command(
    of_b: float,
    n_tasks: Sequence[int],
    power: float,
    spread: float,
    correlation: float,
    n_rows: int,
    form: str,
) -> None:
    """Least difference in pass^3 from row b that so many tasks show with the power that is wanted."""
    from medgauge_lib.export.tables import difference_plan_table
    from medgauge_lib.planning import difference_plan
    from medgauge_lib.simulation import first_step, reaching

    with _refusing():
        behind = reaching(of_b, spread)
    found = difference_plan(behind, n_tasks, power=power, alpha=first_step(n_rows), correlation=correlation)
    _show(difference_plan_table(found), form)


def _power(
    *,
    of_a: float,
    of_b: float,
    n_tasks: Sequence[int],
    power: float,
    spread: float,
    correlation: float,
    n_rows: int,
    replications: int,
    seed: int,
    jobs: int | None,
    dask: str | None,
) -> PowerPlan:
    from medgauge_lib.parallel import Workers
    from medgauge_lib.planning import power_plan
    from medgauge_lib.progress import Progress
    from medgauge_lib.simulation import first_step, reaching
    from medgauge_lib.simulation.blocks import BLOCK

    if of_a < of_b:
        raise InputError(f"row a is to be ahead, but --a is {of_a} and --b {of_b}", "swap the two")
    with _refusing():
        ahead, behind, workers = reaching(of_a, spread), reaching(of_b, spread), Workers(jobs, dask)
    # The tasks that the power needs are one number more than was asked for.
    n_blocks = -(-replications // BLOCK) * (len({*n_tasks}) + 1)
    with Progress(n_blocks, unit="block") as told:
        return power_plan(
            ahead,
            behind,
            n_tasks,
            power=power,
            alpha=first_step(n_rows),
            correlation=correlation,
            n_replications=replications,
            seed=seed,
            workers=workers,
            progress=told,
        )


@contextmanager
def _refusing() -> Iterator[None]:
    """Say what is wrong with values that do not go together, as of any other input."""
    try:
        yield
    except ValueError as error:
        wrong, _, remedy = str(error).partition("; ")
        raise InputError(wrong, remedy) from None


def _show(table: Exported, form: str) -> None:
    from medgauge_lib.charts import display

    if form != "text":
        click.echo(table.to_bytes(form), nl=False)
        return
    lines = [table.worded.to_string(index=False), "", *table.notes]
    click.echo("\n".join(lines).replace(display.NBSP, " "))
