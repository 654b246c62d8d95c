"""The command line: a thin skin over the library.

Exit codes everywhere: 0 clean, 1 findings or a difference, 2 input that cannot be used. What a user can
cause is one or two lines on standard error, never a traceback.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from medgauge_lib._version import __version__
from medgauge_lib.errors import InputError

if TYPE_CHECKING:
    from medgauge_lib.board import Board
    from medgauge_lib.checks import Finding, Rule

UNUSABLE = 2
"""Exit code for input that cannot be used."""

SEED_RANGE = click.IntRange(0, 2**64 - 1)
SOURCES = click.argument("records", nargs=-1, required=True, type=click.Path(path_type=Path))
SUBSET = click.option(
    "--subset",
    type=click.Choice(["holdout", "dev", "calib"]),
    default="holdout",
    show_default=True,
    help="Subset of tasks; subsets are never pooled.",
)


class Commands(click.Group):
    """Commands whose errors are one or two lines."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; say what is wrong with the input and leave with exit code 2."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            message = str(error)
        except BrokenPipeError:
            raise  # click ends quietly when a reader such as head closes the pipe
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            message = where + (error.strerror or str(error)).lower()
        click.echo(f"medgauge: {message}", err=True)
        return ctx.exit(UNUSABLE)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="medgauge")
def main() -> None:
    """Turn the result records of one benchmark version into numbers and a report.

    Exit codes: 0 clean, 1 findings, 2 input that cannot be used.
    """


@main.command("board")
@SOURCES
@SUBSET
@click.option("--seed", type=SEED_RANGE, help="Seed of the resamples.  [default: 20260101]")
@click.option(
    "--format",
    "shape",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="How to print the board.",
)
def board_command(records: Sequence[Path], subset: str, seed: int | None, shape: str) -> None:
    """Print the board of RECORDS, a folder of result records or the files themselves."""
    from medgauge_lib.board import board
    from medgauge_lib.intervals import SEED
    from medgauge_lib.records import read_records

    found = board(read_records(_one_or_many(records)), subset, seed=SEED if seed is None else seed)
    match shape:
        case "json":
            _print_json(found.to_json())
        case "csv":
            click.echo(found.to_frame().to_csv(index=False), nl=False)
        case _:
            click.echo(board_text(found))


def board_text(found: Board) -> str:
    """Lay a board out for a terminal.

    Parameters
    ----------
    found : Board

    Returns
    -------
    str
        A heading, the rows in board order, unranked rows, and the notes a reader needs.
    """
    from medgauge_lib.charts import display
    from medgauge_lib.charts.words import board_sentences, resolution_words

    lines = [
        f"{found.benchmark} {found.benchmark_version}, subset {found.subset}: "
        f"{display.count(found.n_tasks, 'task')}, {display.count(len(found.rows), 'row')}, "
        f"as of {found.as_of}, seed {found.seed}",
        "",
        _columns(found.rows),
    ]
    if found.unranked:
        lines += ["", "Community records, not verified and not ranked:", _columns(found.unranked)]
    words = (*board_sentences(found).paragraphs, *resolution_words(found).paragraphs)
    return "\n".join([*lines, "", *words])


def _columns(rows: Sequence[Any]) -> str:
    import pandas as pd

    from medgauge_lib.charts import display

    frame = pd.DataFrame(
        {
            "rank": [display.rank(row) for row in rows],
            "subject": [display.text(row.label, 60) for row in rows],
            "letters": [" ".join(row.letters) for row in rows],
            "pass^3": [display.percent(row.pass_pow_3.value) for row in rows],
            "95 % interval": [display.interval(row.pass_pow_3.interval) for row in rows],
            "pass@3": [display.percent(row.pass_at_3.value) for row in rows],
            "pass rate": [display.percent(row.task_pass_rate.value) for row in rows],
            "score": [display.percent(row.continuous_score.value) for row in rows],
            "cost per success": [display.cost(row) for row in rows],
            "errors": [display.percent(row.tallies.error_rate) for row in rows],
            "vetoes": [display.number(row.tallies.n_vetoed) for row in rows],
            "exam": [row.exam.outcome.replace("_", " ") for row in rows],
        }
    )
    left = {name: f"{{:<{frame[name].str.len().max()}}}".format for name in ("subject", "letters")}
    return str(frame.to_string(index=False, formatters=left)).replace(display.NBSP, " ")


@main.command("check")
@SOURCES
@click.option(
    "--format", "shape", type=click.Choice(["text", "json"]), default="text", show_default=True,
    help="How to print the findings.",
)  # fmt: skip
@click.pass_context
def check_command(ctx: click.Context, records: Sequence[Path], shape: str) -> None:
    """Hold RECORDS against the schema and every rule; exit 0 clean, 1 findings, 2 unusable input."""
    from medgauge_lib.checks import checked
    from medgauge_lib.records import read_records

    found = read_records(_one_or_many(records))
    outcome = checked(found)
    if shape == "json":
        _print_json(_check_json(outcome))
    else:
        for _, findings in outcome:
            for finding in findings:
                click.echo(
                    f"{finding.severity} {finding.code} {finding.file}: {finding.pointer}: {finding.message}"
                )
        click.echo(
            f"{len(found.subjects)} records of {found.benchmark} {found.benchmark_version}, "
            f"{len(outcome)} rules: {_totals(outcome)}"
        )
    broken = any(finding.severity != "note" for _, findings in outcome for finding in findings)
    ctx.exit(1 if broken else 0)


def _totals(outcome: Sequence[tuple[Rule, Sequence[Finding]]]) -> str:
    found = [finding.severity for _, findings in outcome for finding in findings]
    n_notes = found.count("note")
    n_broken = len(found) - n_notes
    notes = f", {n_notes} note{'s' * (n_notes != 1)}" if n_notes else ""
    return (f"{n_broken} finding{'s' * (n_broken != 1)}" if n_broken else "all kept") + notes


def _check_json(outcome: Sequence[tuple[Rule, Sequence[Finding]]]) -> dict[str, Any]:
    return {
        "rules": [
            {"code": rule.code, "severity": rule.severity, "rule": rule.sentence, "n_findings": len(findings)}
            for rule, findings in outcome
        ],
        "findings": [
            {
                "code": finding.code,
                "severity": finding.severity,
                "file": finding.file,
                "pointer": finding.pointer,
                "published": finding.published,
                "expected": finding.expected,
                "message": finding.message,
            }
            for _, findings in outcome
            for finding in findings
        ],
    }


@main.command("demo")
@click.argument("folder", type=click.Path(path_type=Path))
def demo_command(folder: Path) -> None:
    """Write the synthetic demo record set into FOLDER; the same bytes every time."""
    from medgauge_lib import demo

    files = demo.write(folder)
    click.echo(f"{len(files)} files of the synthetic demo set in {folder}")


@main.command("report")
@click.argument("params", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default="reports",
    show_default=True,
    help="Folder that holds all reports.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Run this notebook only; may be repeated.")
@click.option("--jobs", type=click.IntRange(1), help="Notebooks that run at a time.  [default: cores + 1]")
@click.option("--force", is_flag=True, help="Build even where no input has changed.")
def report_command(
    params: Sequence[Path], out: Path, only: Sequence[str], jobs: int | None, force: bool
) -> None:
    """Build the reports of the params files PARAMS, or of every file in params/ where none is named."""
    from medgauge_lib.report.build import build

    for built in build(params or _every_params_file(), out=out, only=only, jobs=jobs, force=force):
        click.echo(f"{built.folder / 'index.html'}: {built.status}")


def _every_params_file() -> list[Path]:
    found = sorted(Path("params").glob("*.yaml"))
    if not found:
        raise InputError("there is no params file", "name one, or run where params/*.yaml is", file="params")
    return found


def _one_or_many(records: Sequence[Path]) -> Path | Sequence[Path]:
    """A single folder or file, or several files."""
    return records[0] if len(records) == 1 else records


def _print_json(value: Any) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


if __name__ == "__main__":
    main()
