"""One import: read a source, assemble its boards, publish the records, say what became of the source."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from medgauge_lib.errors import InputError, printable
from medgauge_lib.files import require_new
from medgauge_lib.importers import FORMATS
from medgauge_lib.importers.assemble import Draft, assemble
from medgauge_lib.importers.boards import RECORDS, write_boards
from medgauge_lib.importers.facts import Given
from medgauge_lib.importers.reading import Reading, require_source
from medgauge_lib.outcomes import N_RUNS
from medgauge_lib.schema import near, quoted

_ALWAYS = (
    "the internet was not allowed (a record knows nothing else)",
    "the runs were submitted (run_mode submitted_run_regrading), and the submitter is not verified",
)
_UNVERIFIED = (
    "no review is stated: the records are community records, listed apart and not ranked; "
    "--review-record states one"
)


@dataclass(frozen=True)
class ImportSummary:
    """What an import made, and what became of the source.

    Attributes
    ----------
    kind, source : str
        Name of the format, and of the file or folder.
    boards : tuple of dict
        For each board ``benchmark, benchmark_version, records`` (folder, relative)``, n_records, n_tasks,
        n_runs, runs_left_out``.
    mapped, dropped, assumed : tuple of str
        Sentences.
    """

    kind: str
    source: str
    boards: tuple[dict[str, Any], ...]
    mapped: tuple[str, ...]
    dropped: tuple[str, ...]
    assumed: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the summary as JSON can hold it."""
        return {
            "format": self.kind,
            "source": self.source,
            "boards": list(self.boards),
            "mapped": list(self.mapped),
            "dropped": list(self.dropped),
            "assumed": list(self.assumed),
        }


def import_runs(
    kind: str,
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    given: Given | None = None,
) -> ImportSummary:
    r"""Make result records of the runs of another program.

    Parameters
    ----------
    kind : str
        One of `FORMATS`.
    source : path
        File or folder of runs.
    out : path
        A folder that is new or empty. The records come to lie in ``records/<benchmark>/<version>/``;
        what must stay on the closed side (task names, difficulty classes, the summary) in ``closed/``.
    given : Given, optional
        What the user states beside the runs, from `medgauge_lib.importers.facts.read_given`.

    Returns
    -------
    ImportSummary

    Raises
    ------
    InputError
        Where the source cannot be used. Nothing is then written.
    ValueError
        If `kind` is no format.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     runs = Path(folder, "runs.csv")
    ...     _ = runs.write_text("task,pass\nfix,true\nfix,true\nfix,false\n")
    ...     facts = {"benchmark": "bm-a", "model": "m-1", "harness": "hx-a", "created_at": "2026-01-31"}
    ...     summary = import_runs("table", runs, Path(folder, "out"), given=Given(options=facts))
    >>> summary.boards[0]["n_tasks"], summary.boards[0]["n_runs"]
    (1, 3)
    """
    if kind not in FORMATS:
        raise ValueError(
            f"kind must be one of {', '.join(FORMATS)}, but got {quoted(kind)}; {near(kind, FORMATS)}"
        )
    path, target = require_source(source), Path(os.path.abspath(out))
    require_new(target)
    stated = given or Given()
    module = import_module(f"medgauge_lib.importers.{FORMATS[kind]}")
    reading = cast(Reading, module.read(path, stated))
    _subjects_known(reading, stated, path)
    if len(reading.sources) > 1 and stated.fact("benchmark", "", {}) is not None:
        raise InputError(
            f"makes {len(reading.sources)} boards, which cannot have one benchmark id",
            "leave the benchmark out, or give a source of one board",
            file=path,
        )
    drafts = [assemble(one, stated, kind=kind, file=path) for one in reading.sources]
    summary = _summary(kind, path, reading, drafts)
    write_boards(drafts, summary.to_json(), target, source=path)
    return summary


def _summary(kind: str, source: Path, reading: Reading, drafts: Sequence[Draft]) -> ImportSummary:
    """Say what the boards hold, and what became of the source."""
    verified = all(record["verified_by_site"] for draft in drafts for record in draft.records)
    return ImportSummary(
        kind=kind,
        source=printable(source.resolve().name),
        boards=tuple(
            {
                "benchmark": draft.benchmark,
                "benchmark_version": draft.benchmark_version,
                "records": f"{RECORDS}/{draft.benchmark}/{draft.benchmark_version}",
                "n_records": len(draft.records),
                "n_tasks": len(draft.names),
                "n_runs": N_RUNS * len(draft.names) * len(draft.records),
                "runs_left_out": draft.left_out,
            }
            for draft in drafts
        ),
        mapped=reading.mapped,
        dropped=reading.dropped,
        assumed=(
            *reading.assumed,
            *dict.fromkeys(sentence for draft in drafts for sentence in draft.assumed),
            *_ALWAYS,
            *(() if verified else (_UNVERIFIED,)),
        ),
    )


def _subjects_known(reading: Reading, given: Given, path: Path) -> None:
    """Refuse facts and prices of subjects that the source does not have: a slip would go unseen."""
    names = sorted({subject.name for source in reading.sources for subject in source.subjects})
    for name in (*given.subjects, *given.prices):
        if name not in names:
            raise InputError(
                f"has no subject {quoted(name)}, for which something is stated",
                near(name, names[:40]),
                file=path,
            )
