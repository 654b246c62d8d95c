"""Reproducing a report: its notebooks run again over the records, and each figure is held against the report.

The notebooks that run are those in the report: they are what its pages show, and whoever has the report has
them. Everything the report was made from is held against its manifest before anything runs.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeGuard

import nbformat

from medgauge_lib.charts.display import count, text
from medgauge_lib.errors import InputError
from medgauge_lib.library import other_than_here
from medgauge_lib.loading import locate
from medgauge_lib.progress import Progress, is_shown
from medgauge_lib.reading import file_bytes
from medgauge_lib.report import hashes, manifest
from medgauge_lib.report.compare import LINES, Difference, differences
from medgauge_lib.report.execute import CELL_SECONDS, CellFailed, Job, read_notebook, run_all
from medgauge_lib.report.params import Params, ReportParams, kind_of, read_params
from medgauge_lib.report.plan import notebooks_folder
from medgauge_lib.report.shown import Shown, read_executed
from medgauge_lib.report.shown import figures as shown_in
from medgauge_lib.schema import near, quoted

Verdict = Literal["match", "differs", "failed"]

_CHANGES = 3

_NOTEBOOK = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class ReproducedFigure:
    """What became of one figure.

    Attributes
    ----------
    figure, notebook : str
        Its id, and the notebook that shows it.
    outcome : str
        ``match``: data and spec are the same to the byte; ``differs``; ``failed``: its notebook did not run.
    differences : tuple of Difference
        Where it differs.
    reason : str
        Why its notebook did not run, or what differs where it is not the figure.
    """

    figure: str
    notebook: str
    outcome: Verdict
    differences: tuple[Difference, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Reproduced:
    """What became of a report.

    Attributes
    ----------
    name : str
        Benchmark and version.
    figures : tuple of ReproducedFigure
        One for each figure, in the order of the report's manifest.
    remarks : tuple of str
        What is not the same as when the report was made and need not change a figure: versions, notebooks.
    """

    name: str
    figures: tuple[ReproducedFigure, ...]
    remarks: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """0 where every figure matches, 1 where one differs, 2 where a notebook did not run."""
        outcomes = {figure.outcome for figure in self.figures}
        return 2 if "failed" in outcomes else int("differs" in outcomes)

    @property
    def not_run(self) -> tuple[str, ...]:
        """The notebooks that did not run, in the order of the report."""
        return tuple(dict.fromkeys(one.notebook for one in self.figures if one.outcome == "failed"))

    def to_json(self) -> dict[str, Any]:
        """Give everything as plain values.

        Returns
        -------
        dict
            ``report, remarks, figures``; every difference of every figure.
        """
        figures = [
            {
                "figure": one.figure,
                "notebook": one.notebook,
                "outcome": one.outcome,
                "differences": [difference.to_json() for difference in one.differences],
                "reason": one.reason or None,
            }
            for one in self.figures
        ]
        return {"report": self.name, "remarks": list(self.remarks), "figures": figures}

    def to_text(self) -> str:
        """Lay it out for a terminal.

        Returns
        -------
        str
            One line a figure, the first `LINES` differences of each below it, and a line that counts.
        """
        lines = [f"{text(self.name)}: inputs as in the manifest"]
        lines += [f"note: {text(remark)}" for remark in self.remarks]
        for one in self.figures:
            place = f"{text(one.figure, 60)} ({text(one.notebook)}): "
            if one.outcome == "failed":
                lines.append(place + "not made: " + text(one.reason))
                continue
            lines.append(place + ": ".join(filter(None, (one.outcome, one.reason))))
            lines += [f"  {difference}" for difference in one.differences[:LINES]]
            if (more := len(one.differences) - LINES) > 0:
                lines.append(f"  and {count(more, 'more difference')}; --format json lists them all")
        tally = Counter(figure.outcome for figure in self.figures)
        counted = ", ".join(
            f"{tally[outcome]} {words[tally[outcome] != 1]}"
            for outcome, words in _OUTCOMES.items()
            if tally[outcome]
        )
        lines.append(f"{count(len(self.figures), 'figure')}: {counted or 'nothing to compare'}")
        return "\n".join(lines)


_OUTCOMES: Mapping[Verdict, tuple[str, str]] = {
    "match": ("matches", "match"),
    "differs": ("differs", "differ"),
    "failed": ("not made", "not made"),
}


def reproduce(
    report: str | os.PathLike[str],
    *,
    figures: Sequence[str] = (),
    records: str | os.PathLike[str] | None = None,
    params: str | os.PathLike[str] | None = None,
    labels: str | os.PathLike[str] | None = None,
    cell_seconds: int = CELL_SECONDS,
) -> Reproduced:
    """Run the notebooks of a report again and compare its figures.

    Parameters
    ----------
    report : path
        Folder of a report, as it was built.
    figures : sequence of str
        Ids of the figures to reproduce; all where none is named. Only their notebooks run.
    records : path, optional
        Folder of the records; where not given, the one the params file names.
    params : path, optional
        The params file; where neither it nor `records` is given, the one of the same name in ``params``, if
        it is there. Without a params file the values in the manifest are used.
    labels : path, optional
        File of task labels; where not given, the one the params file names. Without it the
        notebooks that read it do not run.
    cell_seconds : int
        Time limit of one cell.

    Returns
    -------
    Reproduced
        Each figure with its outcome.

    Raises
    ------
    InputError
        Where the folder holds no whole report, a figure is not in it, or an input is not the one that the
        report was made from; nothing runs then.
    """
    folder = Path(report)
    known = _read(folder)
    wanted = _wanted(known, figures, folder)
    sources = _sources(known, records, params, labels)
    _require_same(folder, known, sources)
    names = list(dict.fromkeys(known["figures"][figure]["notebook"] for figure in wanted))
    notebooks = {name: folder / "notebooks" / f"{name}.ipynb" for name in names}
    published = {name: _published(name, path) for name, path in notebooks.items()}
    for figure in wanted:
        name = known["figures"][figure]["notebook"]
        if figure not in published[name]:
            wrong = f"shows no figure {quoted(figure)}, which the manifest names"
            raise InputError(wrong, "build the report anew", file=notebooks[name])
    made = _run(notebooks, sources, cell_seconds)
    return Reproduced(
        name=sources.name,
        figures=tuple(_compared(figure, known["figures"][figure], published, made) for figure in wanted),
        remarks=(
            *_missing_labels(sources),
            *(f"made with {words}" for words in other_than_here(known["inputs"]["library"])),
            *_other_notebooks(notebooks),
        ),
    )


def built_figure(report: str | os.PathLike[str], figure: str) -> tuple[Shown, dict[str, Any]]:
    """Find one figure of a report as it was built; nothing runs.

    Parameters
    ----------
    report : path
        Folder of a report, as it was built.
    figure : str
        Id of the figure.

    Returns
    -------
    shown : Shown
        What it shows.
    about : dict
        What it is of: figure, benchmark, version, and the seed and subset where the report has them.

    Raises
    ------
    InputError
        Where the folder holds no whole report, the figure is not in it, or its data are not as built.
    """
    folder = Path(report)
    known = _read(folder)
    _wanted(known, [figure], folder)
    told = known["figures"][figure]
    file = folder / "notebooks" / f"{told['notebook']}.ipynb"
    shown = _published(told["notebook"], file).get(figure)
    if shown is None or shown.hashes()["data"] != told.get("data"):
        raise InputError(
            f"does not hold the data of {quoted(figure)} as built", "build the report anew", file=file
        )
    values = known["inputs"]["params"]["values"]
    keys = ("benchmark", "benchmark_version", "subset", "seed")
    return shown, {"figure": figure} | {key: values[key] for key in keys if values.get(key) is not None}


@dataclass(frozen=True)
class _Sources:
    """Where the inputs of a report lie on this machine."""

    name: str
    params: ReportParams | None
    folders: Mapping[str, Path]
    labels: Path | None
    values: Mapping[str, str | int | float | None]


def _read(folder: Path) -> dict[str, Any]:
    """Read the manifest of a report folder."""
    known = manifest.read_manifest(folder)
    if not {"inputs", "figures", "outputs"} <= known.keys():
        wrong = "holds no report: its manifest.json is missing or cannot be read"
        raise InputError(wrong, "name a folder such as reports/<benchmark>/<version>", file=folder)
    if not known["figures"]:
        raise InputError("names no figure", "build the report anew", file=folder / manifest.NAME)
    for pointer, wrong in (*_wrong_inputs(known["inputs"]), *_wrong_outputs(known, folder)):
        raise InputError(wrong, "build the report anew", file=folder / manifest.NAME, pointer=pointer)
    return known


def _wrong_inputs(inputs: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Tell where the inputs of a manifest are not as a build writes them."""
    params = inputs.get("params", {})
    values = params.get("values", {})
    kind = kind_of(values)
    if kind is None:
        yield "/inputs/params/values/system", "is a system that this medgauge does not know"
        kind = Params
    for key in ("benchmark", "benchmark_version", *kind.sources):
        if not isinstance(values.get(key), str):
            yield f"/inputs/params/values/{key}", "is not a text"
    file = params.get("file")
    if not manifest.is_hashes({file: ""} if isinstance(file, str) else None) or Path(file).name != file:
        yield "/inputs/params/file", "is not the name of a file"
    if {*values}.intersection(inputs) - {"labels"} != {*kind.sources}:
        yield "/inputs", f"does not have exactly the source folders {', '.join(kind.sources)}"
    for key in kind.sources:
        if not manifest.is_hashes(inputs.get(key)):
            yield f"/inputs/{key}", "is not files of this folder with their SHA-256"
    if not isinstance(values.get("labels"), (str, type(None))):
        yield "/inputs/params/values/labels", "is not a text"
    if not _is_words(inputs.get("labels", {})):
        yield "/inputs/labels", "is not a file with its SHA-256"
    library: Any = inputs.get("library")
    versions = isinstance(library, dict) and _is_words(library.get("uses"))
    if not versions or not all(isinstance(library.get(key), str) for key in ("medgauge", "sha256")):
        yield "/inputs/library", "is not the versions of libraries"


def _wrong_outputs(known: Mapping[str, Any], folder: Path) -> Iterable[tuple[str, str]]:
    """Tell where figures and files of a manifest are not those of its own folder."""
    for path in known["outputs"]:
        try:
            inside = (folder / path).resolve().is_relative_to(folder.resolve())
        except (OSError, RuntimeError):
            inside = False
        if not inside:
            yield "/outputs", f"{quoted(path)} leads out of the folder"
    for figure, told in known["figures"].items():
        if not _is_words(told) or not _NOTEBOOK.fullmatch(told.get("notebook", "")):
            yield "/figures", f"{quoted(figure)} names no notebook"
        elif f"notebooks/{told['notebook']}.ipynb" not in known["outputs"]:
            yield "/figures", f"{quoted(figure)} is of a notebook that is not among the outputs"


def _is_words(found: object) -> TypeGuard[dict[str, str]]:
    """Tell whether something is a mapping of texts to texts."""
    return isinstance(found, dict) and all(isinstance(value, str) for value in found.values())


def _published(name: str, path: Path) -> dict[str, Shown]:
    """Find the figures of a notebook of the report."""
    content = file_bytes(path, what="the report as it was built")
    try:
        return shown_in(name, read_executed(name, content.decode()))
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 at byte {error.start}", "build the report anew", file=path) from None


def _wanted(known: Mapping[str, Any], figures: Sequence[str], folder: Path) -> list[str]:
    """Give the figures to reproduce, in the order of the manifest."""
    for figure in figures:
        if figure not in known["figures"]:
            remedy = near(figure, known["figures"], "there are")
            raise InputError(f"has no figure {quoted(figure)}", remedy, file=folder)
    return [figure for figure in known["figures"] if not figures or figure in figures]


def _sources(
    known: Mapping[str, Any],
    records: str | os.PathLike[str] | None,
    params: str | os.PathLike[str] | None,
    labels: str | os.PathLike[str] | None,
) -> _Sources:
    """Find the inputs of a report on this machine."""
    values: Mapping[str, Any] = known["inputs"]["params"]["values"]
    usual = Path("params") / known["inputs"]["params"]["file"]
    file = params if params is not None else usual if records is None and usual.is_file() else None
    found = None if file is None else read_params(file)
    folders = {} if found is None else found.source_folders()
    if records is not None:
        folders["records"] = Path(records)
    return _Sources(
        name=f"{values['benchmark']} {values['benchmark_version']}",
        params=found,
        folders={
            key: folders[key] if key in folders else _located(values[key])
            for key in manifest.sources(known["inputs"])
        },
        labels=_labels(labels, values, found),
        values=values,
    )


def _located(folder: str) -> Path:
    """Find a source folder where the manifest has it."""
    try:
        return locate(folder)
    except InputError as error:
        remedy = "name the folder of the records with --records, or a params file with --params"
        raise InputError(error.wrong, remedy) from None


def _labels(
    given: str | os.PathLike[str] | None, values: Mapping[str, Any], params: ReportParams | None
) -> Path | None:
    """Find the task labels; whoever only has what is public has none."""
    if given is not None:
        if not Path(given).is_file():
            raise InputError("is not a file", "name the file of task labels", file=given)
        return Path(given)
    if params is not None:
        return params.labels_file
    with suppress(InputError):
        return locate(values["labels"]) if values.get("labels") is not None else None
    return None


def _require_same(folder: Path, known: Mapping[str, Any], sources: _Sources) -> None:
    """Require the report to be whole, and every input to be the one it was made from."""
    inputs = known["inputs"]
    changes = [f"{folder / path} is not as built" for path in manifest.altered(folder, known["outputs"])]
    changes += _changed_params(inputs["params"]["values"], sources.params)
    for key, files in manifest.sources(inputs).items():
        changes += _changed_files(key, files, sources.folders[key])
    expected = inputs.get("labels", {}).get("sha256")
    if sources.labels is not None and expected not in (None, hashes.file_sha256(sources.labels)):
        changes.append(f"{sources.labels} changed")
    if changes:
        more = len(changes) - _CHANGES
        told = "; ".join(changes[:_CHANGES]) + (f"; and {count(more, 'more change')}" if more > 0 else "")
        remedy = "give the inputs the report was made from, or build it anew"
        raise InputError(f"not what {sources.name} was made from: {text(told)}", remedy)


def _changed_params(values: Mapping[str, Any], params: ReportParams | None) -> Iterable[str]:
    """Name the values of a params file that are not those of the report; where its files lie is no matter."""
    if params is None:
        return
    now = params.values()
    for key in sorted({*values, *now} - {*params.sources, "labels"}):
        if values.get(key) != now.get(key):
            yield f"{params.file}: {key} is {quoted(now.get(key))}, and was {quoted(values.get(key))}"


def _changed_files(key: str, known: Mapping[str, str], folder: Path) -> Iterable[str]:
    """Name the files of a source folder that changed, are missing or are new."""
    found = manifest.source_files(key, folder)
    for name in sorted({*known, *found}):
        path = folder / name
        if name not in found:
            yield f"{path} is missing"
        elif name not in known:
            yield f"{path} is new"
        elif hashes.file_sha256(path) != known[name]:
            yield f"{path} changed"


def _run(
    notebooks: Mapping[str, Path], sources: _Sources, cell_seconds: int
) -> dict[str, Mapping[str, Shown] | str]:
    """Run notebooks; give the figures of each, or why it did not run."""
    values = dict(sources.values) | {key: str(path.resolve()) for key, path in sources.folders.items()}
    if sources.labels is not None:
        values["labels"] = str(sources.labels.resolve())
    folder = Path() if sources.params is None else sources.params.folder
    jobs = [Job(name, path, values, folder, None) for name, path in notebooks.items()]
    made: dict[str, Mapping[str, Shown] | str] = {}
    with Progress(len(jobs), unit="notebook", enabled=is_shown()) as told:
        ran = run_all(jobs, cell_seconds=cell_seconds, done=lambda _: told.ended())
    for result in ran:
        name = result.job.name
        made[name] = (
            " ".join(str(result).splitlines()[0].split())
            if isinstance(result, CellFailed)
            else shown_in(name, read_executed(name, result.text))
        )
    return made


def _compared(
    figure: str,
    known: Mapping[str, str],
    published: Mapping[str, Mapping[str, Shown]],
    made: Mapping[str, Mapping[str, Shown] | str],
) -> ReproducedFigure:
    """Hold one figure against the hashes of the manifest; where they differ, say how."""
    name = known["notebook"]
    found = made[name]
    if isinstance(found, str):
        return ReproducedFigure(figure, name, "failed", reason=found)
    now = found.get(figure)
    if now is not None and {"notebook": name} | now.hashes() == known:
        return ReproducedFigure(figure, name, "match")
    found_differences = differences(published[name][figure], now)
    reason = (
        "" if found_differences else "it is made as the report shows it, but the manifest has other hashes"
    )
    return ReproducedFigure(figure, name, "differs", found_differences, reason)


def _missing_labels(sources: _Sources) -> Iterable[str]:
    """Tell that the task labels, which may be closed, are not here."""
    if sources.values.get("labels") is not None and sources.labels is None:
        yield "without the task labels, which are not here; notebooks that read them do not run"


def _other_notebooks(notebooks: Mapping[str, Path]) -> Iterable[str]:
    """Tell which notebooks of the report are not those of this library, where it has any."""
    own = notebooks_folder()
    for name, path in notebooks.items():
        source = own / path.name
        if source.is_file() and _cells(source) != _cells(path):
            yield f"the report's notebook {name} is not the one of this medgauge; the report's was run"


def _cells(path: Path) -> list[tuple[str, str]]:
    """Give what stands in a notebook, without the cell that a run puts in."""
    notebook: nbformat.NotebookNode = read_notebook(path)
    return [
        (cell.cell_type, cell.source)
        for cell in notebook.cells
        if "injected-parameters" not in cell.metadata.get("tags", [])
    ]
