"""The commands ``medgauge findings check``, ``packet`` and ``score``; thin, each is one library call.

Exit codes: 0 clean, 1 with findings (a gate failed, a review refused), 2 where the input cannot be used, 130
interrupted, after what was checked is shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import click

from medgauge_lib.cli.options import PATH, SEED_RANGE, format_option, require_apart
from medgauge_lib.errors import InputError
from medgauge_lib.files import write_file
from medgauge_lib.findings.aggregates import STATUSES
from medgauge_lib.findings.contract import Benchmark, canonical_json, read_benchmark
from medgauge_lib.findings.gates import Failure
from medgauge_lib.findings.packet import DOCUMENTS, FEWEST, MOST, write_packets
from medgauge_lib.findings.quality import score_findings
from medgauge_lib.findings.statistics import Checked, check_task, stray_failures
from medgauge_lib.intervals import SEED
from medgauge_lib.progress import steps


@click.group()
def findings() -> None:
    """Finding quality: check submissions, draw audit packets, score reviews."""


@findings.command()
@click.argument("data", type=PATH)
@click.argument("submissions", type=PATH)
@format_option("what failed")
@click.pass_context
def check(context: click.Context, data: Path, submissions: Path, form: str) -> None:
    """Hold every submission against its corpus.

    DATA holds tasks.json and the corpora, SUBMISSIONS one <task_id>.json a task. Prints each failed gate as a
    line: task, finding, gate, place, what was found, what would be right.
    """
    benchmark = read_benchmark(data)
    strays = tuple(stray_failures(benchmark, submissions, "submission"))
    checked, unusable = _checked(benchmark, submissions)
    n_left = len(benchmark.tasks) - len(checked) - len(unusable)
    failures = [*(failure for one in checked for failure in one.failures), *strays]
    counts = Counter[str](one.status for one in checked)
    if form == "json":
        apart = {"unusable": len(unusable), "not_reached": n_left}
        document = {
            "counts": dict(counts) | {name: n for name, n in apart.items() if n},
            "failures": [vars(failure) for failure in failures],
            "tasks": [{"task_id": one.task.task_id, "status": one.status} for one in checked],
        }
        click.echo(canonical_json(document).decode())
    else:
        _print(failures)
        told = [f"{counts[name]} {name}" for name in ("valid", "abstained", "invalid", "missing")]
        if unusable or n_left:
            told.append(f"{len(unusable) + n_left} not checked")
        click.echo(f"{_tasks(len(benchmark.tasks))}: {', '.join(told)}")
    for error in unusable:
        click.echo(f"medgauge: {error}", err=True)
    if n_left:
        raise KeyboardInterrupt(f"{len(checked) + len(unusable)} of {len(benchmark.tasks)} tasks checked")
    context.exit(2 if unusable else 1 if failures else 0)


def _checked(benchmark: Benchmark, submissions: Path) -> tuple[list[Checked], list[InputError]]:
    """Check every task until an interrupt; trouble with one corpus does not hide the others."""
    checked: list[Checked] = []
    unusable: list[InputError] = []
    with suppress(KeyboardInterrupt):
        for task in steps(benchmark.tasks, unit="task"):
            try:
                # Without its documents: one corpus at a time is in memory.
                checked.append(
                    replace(check_task(benchmark, task, submissions), corpus=None, submission=None)
                )
            except InputError as error:
                unusable.append(error)
    return checked, unusable


def _tasks(n: int) -> str:
    # Loaded where it is used: the help waits for no drawing library.
    from medgauge_lib.charts import display

    return display.count(n, "task")


def _print(failures: Iterable[Failure], *, err: bool = False) -> None:
    for failure in failures:
        click.echo(str(failure), err=err)


def _hexadecimal(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not re.fullmatch("[0-9a-fA-F]+", value):
        raise click.BadParameter("write hexadecimal digits, such as 00ff", context, parameter)
    return value


@findings.command()
@click.argument("data", type=PATH)
@click.argument("submissions", type=PATH)
@click.option("--out", type=PATH, required=True, help="Folder for the packets, with seed and budget.")
@click.option(
    "--documents",
    type=click.IntRange(FEWEST, MOST),
    help=f"Documents of a packet at most. [default: {DOCUMENTS}]",
)
@click.option(
    "--seed",
    metavar="HEX",
    callback=_hexadecimal,
    help="Seed, made after the submissions; new by default.",
)
@click.pass_context
def packet(
    context: click.Context, data: Path, submissions: Path, out: Path, documents: int | None, seed: str | None
) -> None:
    """Draw the audit packet of every valid submission.

    The same seed and submission give the same packet. A seed kept in the folder is used again, and refused if
    its file is older than a submission.
    """
    written = write_packets(data, submissions, out, seed=seed, documents=documents)
    _print(written.failures, err=True)
    click.echo(f"packets written: {len(written.packets)}, to {out}, seed {written.audit.seed}")
    context.exit(1 if written.failures else 0)


@findings.command()
@click.argument("data", type=PATH)
@click.argument("submissions", type=PATH)
@click.argument("reviews", type=PATH)
@click.option("--out", type=PATH, required=True, help="File for the scores, as canonical JSON.")
@click.option(
    "--seed",
    type=SEED_RANGE,
    default=SEED,
    show_default=True,
    help="Seed of the intervals' resamples.",
)
@click.pass_context
def score(context: click.Context, data: Path, submissions: Path, reviews: Path, out: Path, seed: int) -> None:
    """Score the reviewed findings.

    REVIEWS holds one <task_id>.json a task and judge_config.json. A stale review is refused and named with
    what changed; its task waits for another. The conditional mean is over scored tasks only.
    """
    require_apart(out)
    report = score_findings(data, submissions, reviews, seed=seed)
    write_file(out, canonical_json(report.to_document()))
    _print(report.remarks, err=True)
    counts = Counter(task.status for task in report.tasks)
    told = ", ".join(f"{counts[name]} {name}" for name in STATUSES)
    click.echo(f"{_tasks(len(report.tasks))}: {told}")
    context.exit(1 if report.remarks else 0)
