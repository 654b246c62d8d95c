"""Drafts to scored, checked records in a folder, whole or not at all.

Under the folder lie ``records/<benchmark>/<version>/<id>.json``, which may be published, and ``closed/``,
which may not: the map from task keys to task names, the difficulty classes, and the summary.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import orjson

from medgauge_lib.audit import audit
from medgauge_lib.checks import check
from medgauge_lib.errors import InputError
from medgauge_lib.files import new_folder
from medgauge_lib.importers.assemble import Draft
from medgauge_lib.records import read_records
from medgauge_lib.scoring import record_json, score, write

RECORDS = "records"
CLOSED = "closed"


def write_boards(drafts: Sequence[Draft], summary: object, out: Path, *, source: Path) -> None:
    """Score and check the drafts and write them with their closed files.

    Parameters
    ----------
    drafts : sequence of Draft
        One a board.
    summary : object
        What JSON can hold.
    out : Path
        A folder that is new or empty.
    source : Path
        For messages.

    Raises
    ------
    InputError
        Where a draft is no record, a check finds something, or the folder is not empty or cannot be written.
        The folder is then as it was.
    """
    with new_folder(out) as made:
        (made / CLOSED).mkdir(mode=0o700)
        for draft in drafts:
            _records(draft, made, source)
            _closed(draft, made / CLOSED / draft.benchmark)
        _file(made / CLOSED / "import.json", summary)
        shutil.rmtree(made / "drafts")


def _records(draft: Draft, made: Path, source: Path) -> None:
    """Write the drafts, read them as anyone would, score them, and hold the result against every rule."""
    drafts = made / "drafts" / draft.benchmark / draft.benchmark_version
    folder = made / RECORDS / draft.benchmark / draft.benchmark_version
    drafts.mkdir(parents=True, exist_ok=True)
    try:
        for record in draft.records:
            (drafts / f"{record['id']}.json").write_bytes(record_json(record))
        write(score(read_records(drafts)), folder)
        scored = read_records(folder)
        findings = list(check(scored))
        if all(one.severity != "unusable" for one in findings):
            findings += [one for _, found in audit(scored).checked for one in found]
    except InputError as error:
        name = Path(error.file).stem if error.file else ""
        raise InputError(
            ": ".join(part for part in (name, error.pointer, error.wrong) if part),
            error.remedy,
            file=source,
        ) from None
    except (TypeError, ValueError) as error:
        # Half of a surrogate pair, or an integer beyond 64 bits, in the text of the source.
        raise InputError(
            f"a record of it cannot be written: {error}",
            "correct the runs it came from",
            file=source,
        ) from None
    for one in findings:
        if one.severity != "note":
            raise InputError(
                f"{Path(one.file).stem}: {one.pointer}: {one.message}",
                "correct the runs, or what was stated beside them",
                file=source,
            )


def _closed(draft: Draft, folder: Path) -> None:
    tasks = {
        "benchmark": draft.benchmark,
        "benchmark_version": draft.benchmark_version,
        "key": "tk- and 24 digits of SHA-256 over benchmark, version and name, joined by newlines",
        "tasks": draft.names,
    }
    _file(folder / f"{draft.benchmark_version}.tasks.json", tasks)
    if draft.classes:
        _file(folder / f"{draft.benchmark_version}.labels.json", draft.classes)


def _file(path: Path, content: object) -> None:
    """Write a closed file, for its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
