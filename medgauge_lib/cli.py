"""The command line: a thin skin over the library.

Exit codes everywhere: 0 clean, 1 findings or a difference, 2 input that cannot be used; 130
interrupted, 143 terminated. What a user can cause is one or two lines on standard error, never a traceback.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from medgauge_lib._version import __version__
from medgauge_lib.errors import InputError
from medgauge_lib.findings.commands import findings
from medgauge_lib.importers.commands import import_command

if TYPE_CHECKING:
    from datetime import datetime

    from medgauge_lib.audit import Audit
    from medgauge_lib.board import Board
    from medgauge_lib.checks import Finding, Rule
    from medgauge_lib.difficulty import Difficulty
    from medgauge_lib.records import RecordSet

UNUSABLE = 2
"""Exit code for input that cannot be used."""

INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM
"""Exit codes after Ctrl-C and after SIGTERM, as shells have them."""

SEED_RANGE = click.IntRange(0, 2**64 - 1)
SOURCES = click.argument("records", nargs=-1, required=True, type=click.Path(path_type=Path))
SUBSET = click.option(
    "--subset",
    type=click.Choice(["holdout", "dev", "calib"]),
    default="holdout",
    show_default=True,
    help="Subset of tasks; subsets are never pooled.",
)


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM unwind the command, so that it clears away what it has half written."""

    def leave(*_: object) -> None:
        raise SystemExit(TERMINATED)

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set a handler
        return
    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class Commands(click.Group):
    """Commands whose errors are one or two lines."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; say what is wrong with the input and leave with exit code 2.

        An interrupt leaves with 130 and a termination with 143, after whatever was half written is gone.
        """
        try:
            with _terminable():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("medgauge: interrupted", err=True)
            return ctx.exit(INTERRUPTED)
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
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    help="Closed file of task labels; adds the figures by class of difficulty, which then are not public.",
)
def board_command(
    records: Sequence[Path], subset: str, seed: int | None, shape: str, labels: Path | None
) -> None:
    """Print the board of RECORDS, a folder of result records or the files themselves."""
    from medgauge_lib.board import board
    from medgauge_lib.difficulty import difficulty
    from medgauge_lib.intervals import SEED
    from medgauge_lib.labels import read_labels
    from medgauge_lib.records import read_records

    if labels and shape == "csv":
        raise click.UsageError("--labels goes with --format table or json; a CSV holds one line a row")
    held = read_records(_one_or_many(records))
    found = board(held, subset, seed=SEED if seed is None else seed)
    strata = difficulty(held, found, read_labels(labels), publish="internal") if labels else None
    match shape:
        case "json":
            _print_json(found.to_json() | ({"strata": _strata_json(strata)} if strata else {}))
        case "csv":
            click.echo(found.to_frame().to_csv(index=False), nl=False)
        case _:
            click.echo(board_text(found) + (f"\n\n{_strata_text(strata)}" if strata else ""))


def _strata_json(strata: Difficulty) -> Sequence[Any]:
    frame = strata.to_frame().astype(object)
    return frame.where(frame.notna(), None).to_dict("records")


def _strata_text(strata: Difficulty) -> str:
    import pandas as pd

    from medgauge_lib.charts import display
    from medgauge_lib.results import Absent

    lines = [
        {
            "subject": display.text(row.label, 60),
            "class": stratum.difficulty,
            "tasks": stratum.n_tasks,
            **{
                name: display.absent(figure) if isinstance(figure, Absent) else display.estimate(figure)
                for name, figure in (("pass^3", stratum.pass_pow_3), ("pass rate", stratum.task_pass_rate))
            },
        }
        for row in strata.rows
        for stratum in row.strata
        if stratum.n_tasks
    ]
    frame = pd.DataFrame(lines)
    left = {"subject": f"{{:<{frame['subject'].str.len().max()}}}".format}
    heading = "By class of difficulty; classes are ordered, never averaged:"
    return f"{heading}\n{frame.to_string(index=False, formatters=left)}".replace(display.NBSP, " ")


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
@click.option("--labels", type=click.Path(path_type=Path), help="Task labels of the closed side, for strata.")
@click.option(
    "--format", "shape", type=click.Choice(["text", "json"]), default="text", show_default=True,
    help="How to print the findings.",
)  # fmt: skip
@click.pass_context
def check_command(ctx: click.Context, records: Sequence[Path], labels: Path | None, shape: str) -> None:
    """Hold RECORDS against the schema, every rule, and every published figure against its recomputation.

    Exit codes: 0 clean, 1 findings, 2 input that cannot be read.
    """
    from medgauge_lib.audit import audit
    from medgauge_lib.checks import checked, unusable
    from medgauge_lib.labels import read_labels
    from medgauge_lib.records import read_records

    found = read_records(_one_or_many(records))
    known = None if labels is None else read_labels(labels)
    outcome = checked(found)
    ranked = set(found.subjects.loc[found.subjects["verified"], "id"])
    held = None if ranked & set(unusable(found)) else audit(found, labels=known)
    outcome += () if held is None else held.checked
    if shape == "json":
        _print_json(_check_json(found, outcome, held))
    else:
        click.echo(_check_text(found, outcome, held))
    broken = any(finding.severity != "note" for _, findings in outcome for finding in findings)
    ctx.exit(1 if broken else 0)


def _check_text(
    found: RecordSet, outcome: Sequence[tuple[Rule, Sequence[Finding]]], held: Audit | None
) -> str:
    from medgauge_lib.charts import display

    lines = [
        f"{one.severity} {one.code} {one.file}: {one.pointer}: {one.message}"
        for _, findings in outcome
        for one in findings
    ]
    if held is None:
        figures = "published figures not compared, since the runs cannot be trusted"
    else:
        differ = held.count("differs")
        figures = f"{display.count(held.count('agrees', 'differs'), 'published figure')} recomputed, " + (
            f"{differ} of them otherwise" if differ else "all as published"
        )
        lines += [
            f"{display.count(n, noun)} {words}"
            for n, noun, words in (
                (held.count("closed"), "figure", "that only the closed side can recompute; JSON lists them"),
                (
                    held.count("undecided"),
                    "figure",
                    "from fields that some runs do not carry; JSON lists them",
                ),
                (held.count("not implemented"), "interval", "by a rule that is not implemented here"),
            )
            if n
        ]
    lines.append(
        f"{display.count(len(found.subjects), 'record')} of {found.benchmark} {found.benchmark_version}, "
        f"{display.count(len(outcome), 'rule')}: {_totals(outcome)}; {figures}"
    )
    return "\n".join(lines).replace(display.NBSP, " ")


def _totals(outcome: Sequence[tuple[Rule, Sequence[Finding]]]) -> str:
    found = [finding.severity for _, findings in outcome for finding in findings]
    n_notes = found.count("note")
    n_broken = len(found) - n_notes
    notes = f", {n_notes} note{'s' * (n_notes != 1)}" if n_notes else ""
    return (f"{n_broken} finding{'s' * (n_broken != 1)}" if n_broken else "all kept") + notes


def _check_json(
    found: RecordSet, outcome: Sequence[tuple[Rule, Sequence[Finding]]], held: Audit | None
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "rules": [
            {"code": rule.code, "severity": rule.severity, "rule": rule.sentence, "n_findings": len(findings)}
            for rule, findings in outcome
        ],
        "findings": [_finding_json(one) for _, findings in outcome for one in findings],
    }
    if held is None:
        return made | {"figures": None}
    return made | {
        "figures": held.counts(),
        "not_recomputed": [
            {
                "file": found.paths[one.id].name,
                "pointer": one.pointer,
                "outcome": one.outcome,
                "reason": str(one.reason),
            }
            for one in held.figures
            if one.reason
        ],
    }


def _finding_json(finding: Finding) -> dict[str, Any]:
    made = {
        "code": finding.code,
        "severity": finding.severity,
        "file": finding.file,
        "pointer": finding.pointer,
        "published": finding.published,
        "expected": finding.expected,
        "message": finding.message,
    }
    return made | ({"recomputed": finding.expected} if finding.code.startswith("published.") else {})


@main.command("score")
@SOURCES
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Folder for the records, new or empty."
)
@click.option("--seed", type=SEED_RANGE, help="Seed of the resamples.  [default: 20260101]")
@click.option(
    "--as-of",
    type=click.DateTime(formats=["%Y-%m-%d"]),
    help="Date of the board.  [default: latest creation date among the records]",
)
def score_command(records: Sequence[Path], out: Path, seed: int | None, as_of: datetime | None) -> None:
    """Write RECORDS with their figures, intervals and board block computed from their runs."""
    from medgauge_lib.intervals import SEED
    from medgauge_lib.records import read_records
    from medgauge_lib.scoring import require_new, score, write

    require_new(out)  # before any work is spent
    made = score(
        read_records(_one_or_many(records)),
        seed=SEED if seed is None else seed,
        as_of=None if as_of is None else as_of.date().isoformat(),
    )
    paths = write(made, out)
    click.echo(f"{len(paths)} scored record{'s' * (len(paths) != 1)} in {out}")


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
@click.option("--cell-seconds", type=click.IntRange(1), help="Time limit of one cell.  [default: 600]")
@click.option("--single-file", is_flag=True, help="Write report.html besides: the whole report in one file.")
@click.option("--pdf", is_flag=True, help="Write report.pdf besides, printed by Chromium.")
@click.option("--force", is_flag=True, help="Build even where no input has changed.")
def report_command(
    params: Sequence[Path],
    out: Path,
    only: Sequence[str],
    jobs: int | None,
    cell_seconds: int | None,
    single_file: bool,
    pdf: bool,
    force: bool,
) -> None:
    """Build the reports of the params files PARAMS, or of every file in params/ where none is named."""
    from medgauge_lib.report.build import build

    made = build(
        params or _every_params_file(),
        out=out,
        only=only,
        jobs=jobs,
        cell_seconds=cell_seconds,
        force=force,
        single_file=single_file,
        pdf=pdf,
    )
    for built in made:
        click.echo(f"{built.folder / 'index.html'}: {built.status}")


@main.command("reproduce")
@click.argument("report_dir", type=click.Path(path_type=Path))
@click.option("--figure", "figures", multiple=True, metavar="ID", help="This figure only; may be repeated.")
@click.option("--records", type=click.Path(path_type=Path), help="Folder of the records on this machine.")
@click.option("--params", type=click.Path(path_type=Path), help="Params file on this machine.")
@click.option("--labels", type=click.Path(path_type=Path), help="Task labels on this machine.")
@click.option(
    "--format", "shape", type=click.Choice(["text", "json"]), default="text", show_default=True,
    help="How to print the differences.",
)  # fmt: skip
@click.pass_context
def reproduce_command(
    ctx: click.Context,
    report_dir: Path,
    figures: Sequence[str],
    records: Path | None,
    params: Path | None,
    labels: Path | None,
    shape: str,
) -> None:
    """Run the notebooks of the report in REPORT_DIR again and compare its figures with what they give.

    Exit codes: 0 every figure matches, 1 a figure differs, 2 an input changed or a notebook does not run.
    The notebooks are programs: reproduce only what comes from someone you trust, or read them first.
    """
    from medgauge_lib.report.reproduce import reproduce

    made = reproduce(report_dir, figures=figures, records=records, params=params, labels=labels)
    if shape == "json":
        _print_json(made.to_json())
    else:
        click.echo(made.to_text())
    ctx.exit(made.exit_code)


def _every_params_file() -> list[Path]:
    found = sorted(Path("params").glob("*.yaml"))
    if not found:
        raise InputError("there is no params file", "name one, or run where params/*.yaml is", file="params")
    return found


def _one_or_many(records: Sequence[Path]) -> Path | Sequence[Path]:
    """A single folder or file, or several files."""
    return records[0] if len(records) == 1 else records


def _print_json(value: Any) -> None:
    try:
        data = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        # A sum of runs may need more than 64 bits, which orjson refuses.
        data = (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


main.add_command(findings)
main.add_command(import_command)

if __name__ == "__main__":
    main()
