"""Params files: what one report is about, typed and checked before anything runs.

A params file is about a board, or, where it says so under ``system``, about the quality of findings, the
method itself, or a benchmark that is planned. It is a YAML mapping of single values. A scalar is read as the
text that stands in the file and then converted by the type its key declares, so that the version ``1.10``
stays ``1.10``, quoted or not. Paths are relative to the params file, and a notebook receives them as they
were written: the same params file gives the same executed notebook on every machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from medgauge_lib.errors import InputError
from medgauge_lib.intervals import SEED
from medgauge_lib.labels import Publish
from medgauge_lib.outcomes import SUBSETS
from medgauge_lib.reading import strict_yaml
from medgauge_lib.schema import near, quoted

if TYPE_CHECKING:
    import yaml

PUBLISH = get_args(Publish)
"""Who a report is for: a public one never shows the label of a single task."""

MAX_BYTES = 65536
"""A params file is a dozen lines; anything larger is some other file."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class ReportParams:
    """What every report has: the params file, and what it is published as.

    Attributes
    ----------
    file : Path
        The params file; relative paths in it start at its folder.
    benchmark, benchmark_version : str
        What the report is about; also the two folders it is published under.
    """

    system: ClassVar[str]
    """Which scoring system the report shows."""
    keys: ClassVar[tuple[str, ...]]
    """The keys of its params file, in the order a notebook receives them."""
    sources: ClassVar[tuple[str, ...]] = ()
    """The keys that name folders."""
    counted: ClassVar[tuple[str, ...]] = ()
    """The folders whose files a page counts."""
    numbers: ClassVar[tuple[str, ...]] = ()
    """The keys that hold numbers which a page tells."""
    pages: ClassVar[tuple[str, ...]]
    """Its notebooks in the order of its pages; those that are there are run."""

    file: Path
    benchmark: str
    benchmark_version: str

    @property
    def folder(self) -> Path:
        """Folder of the params file, where its notebooks run."""
        return self.file.parent

    def values(self) -> dict[str, str | int | float | None]:
        """Give the values a notebook receives, by the names of its parameters cell.

        Returns
        -------
        dict
            Every key of a params file with its typed value; paths as written.

        Examples
        --------
        >>> Params(Path("params/x.yaml"), "bm-x", "1.10.0", "../x").values()["benchmark_version"]
        '1.10.0'
        """
        return {name: getattr(self, name) for name in self.keys}

    @property
    def labels_file(self) -> Path | None:
        """File of task labels as seen from here, or None."""
        return None

    def source_folders(self) -> dict[str, Path]:
        """Give the folders the report is made from as seen from here, by their keys."""
        return {key: self.folder / getattr(self, key) for key in self.sources}


@dataclass(frozen=True)
class Params(ReportParams):
    """The report of a board: which records, which figures, for whom.

    Attributes
    ----------
    records : str
        Folder of the result records, as written in the file.
    subset : str
        ``dev``, ``holdout`` or ``calib``.
    seed : int
        Seed of every resampled interval, in [0, 2**64).
    labels : str or None
        File of task labels, as written in the file.
    title : str or None
        Heading of the report; None where the benchmark and its version will do.
    publish : str
        ``public`` or ``internal``.
    """

    system: ClassVar[str] = "board"
    sources: ClassVar[tuple[str, ...]] = ("records",)
    counted: ClassVar[tuple[str, ...]] = ("records",)
    pages: ClassVar[tuple[str, ...]] = (
        "summary",
        "groups",
        "intervals",
        "dimensions",
        "difficulty",
        "failure_attribution",
        "integrity",
    )

    records: str
    subset: Literal["dev", "holdout", "calib"] = "holdout"
    seed: int = SEED
    labels: str | None = None
    title: str | None = None
    publish: Publish = "public"

    @property
    def labels_file(self) -> Path | None:
        """File of task labels as seen from here, or None."""
        return None if self.labels is None else self.folder / self.labels


@dataclass(frozen=True)
class FindingsParams(ReportParams):
    """The report of finding quality: which tasks, submissions and reviews.

    Attributes
    ----------
    data, submissions, reviews : str
        Folders as `medgauge_lib.findings.score_findings` takes them, as written in the file.
    date : str
        Day that the report is dated, as YYYY-MM-DD; nothing that it is made from carries one.
    seed : int
        Seed of the resampled intervals, in [0, 2**64).
    title : str or None
        Heading of the report; None where the benchmark and its version will do.
    publish : str
        ``public`` or ``internal``: who the report is for. It quotes its corpora either way.
    """

    system: ClassVar[str] = "findings"
    sources: ClassVar[tuple[str, ...]] = ("data", "submissions", "reviews")
    counted: ClassVar[tuple[str, ...]] = ("submissions",)
    pages: ClassVar[tuple[str, ...]] = ("finding_quality",)

    data: str
    submissions: str
    reviews: str
    date: str
    seed: int = SEED
    title: str | None = None
    publish: Publish = "public"


@dataclass(frozen=True)
class MethodologyParams(ReportParams):
    """The report of the method itself: simulations, made from nothing but a seed.

    Attributes
    ----------
    date : str
        Day that the report is dated, as YYYY-MM-DD; nothing that it is made from carries one.
    replications : int
        Of every setting of every study, at least 1.
    seed : int
        Seed of the simulations, in [0, 2**64).
    title : str or None
        Heading of the report; None where the benchmark and its version will do.
    publish : str
        ``public`` or ``internal``: who the report is for.
    """

    system: ClassVar[str] = "methodology"
    numbers: ClassVar[tuple[str, ...]] = ("replications",)
    pages: ClassVar[tuple[str, ...]] = ("methodology",)

    date: str
    replications: int = 1000
    seed: int = SEED
    title: str | None = None
    publish: Publish = "public"


@dataclass(frozen=True)
class PlanningParams(ReportParams):
    """The report of a plan: what a benchmark that is not built yet could show. Nothing of it is a result.

    Attributes
    ----------
    date : str
        Day that the report is dated, as YYYY-MM-DD; nothing that it is made from carries one.
    rows, tasks : int
        Size of the board that is planned, at least 2 rows and 1 task.
    ahead, behind : float
        True pass^3 of two rows that it should tell apart, in [0, 1].
    spread : float
        Standard deviation between tasks of the rate at which runs pass, in [0, 0.5).
    correlation : float
        Rank correlation of the rates of the two rows over tasks, in [0, 1].
    power : float
        Wanted chance to show them to differ, in (0, 1).
    replications : int
        Simulated boards of every number of tasks, at least 1.
    seed : int
        Seed of the simulations, in [0, 2**64).
    title : str or None
        Heading of the report; None where the benchmark and its version will do.
    publish : str
        ``public`` or ``internal``: who the report is for.
    """

    system: ClassVar[str] = "planning"
    numbers: ClassVar[tuple[str, ...]] = ("rows", "tasks")
    pages: ClassVar[tuple[str, ...]] = ("planning",)

    date: str
    rows: int
    tasks: int
    ahead: float
    behind: float
    spread: float = 0.3
    correlation: float = 0.5
    power: float = 0.8
    replications: int = 2000
    seed: int = SEED
    title: str | None = None
    publish: Publish = "public"


AnyParams = Params | FindingsParams | MethodologyParams | PlanningParams

SYSTEMS: Mapping[str, type[AnyParams]] = {
    kind.system: kind for kind in (Params, FindingsParams, MethodologyParams, PlanningParams)
}
"""Kinds of params files, by the scoring system they are about."""

for _kind in SYSTEMS.values():
    # A board's file does not say that it is one.
    _said = () if _kind is Params else ("system",)
    _kind.keys = (*_said, *(field.name for field in fields(_kind) if field.name != "file"))


def kind_of(values: Mapping[str, object]) -> type[AnyParams] | None:
    """Say which kind of params file has these values.

    Parameters
    ----------
    values : mapping
        As `ReportParams.values` gives them.

    Returns
    -------
    type or None
        None where they name a system that is not known here.

    Examples
    --------
    >>> kind_of({"system": "findings"}).__name__, kind_of({"records": "x"}).__name__
    ('FindingsParams', 'Params')
    """
    return SYSTEMS.get(str(values.get("system", Params.system)))


def read_params(file: str | os.PathLike[str]) -> AnyParams:
    """Read and check one params file.

    Parameters
    ----------
    file : path
        A YAML file.

    Returns
    -------
    Params, FindingsParams, MethodologyParams or PlanningParams
        Its values, by the system that it names; the folders exist.

    Raises
    ------
    InputError
        For the first thing wrong with the file, naming the key.
    """
    path = Path(file)
    nodes = _mapping(path)
    kind = SYSTEMS[str(_value(path, "system", nodes["system"]))] if "system" in nodes else Params
    for key in nodes:
        if key not in kind.keys:
            raise _unknown_key(path, key, kind)
    for key in _required(kind):
        if key not in nodes:
            raise InputError(f"{key} is missing", f"write {key}: and its value", file=path, pointer=f"/{key}")
    values = {key: _value(path, key, node) for key, node in nodes.items()}
    values.pop("system", None)
    params = kind(file=path, **values)  # type: ignore[arg-type]
    _require_sources(params)
    if isinstance(params, PlanningParams):
        _require_possible(params)
    return params


def _required(kind: type[ReportParams]) -> tuple[str, ...]:
    """The keys that a params file must have."""
    return tuple(field.name for field in fields(kind) if field.default is MISSING and field.name in kind.keys)


def _mapping(path: Path) -> dict[str, yaml.Node]:
    """Read a params file into its top-level keys and the nodes they hold."""
    import yaml

    root = strict_yaml(path, what="a params file such as params/demo.yaml", most=MAX_BYTES)
    if root is None:
        raise InputError("is empty", f"it needs {', '.join(_required(Params))}", file=path)
    if not isinstance(root, yaml.MappingNode):
        raise InputError("is not a mapping", "write one key: value on each line", file=path)
    return {key.value: node for key, node in root.value}


def _unknown_key(path: Path, key: str, kind: type[ReportParams]) -> InputError:
    """Name an unknown key together with the known one it resembles, or the system it belongs to."""
    others = [other.system for other in SYSTEMS.values() if key in other.keys]
    if others and kind is Params:
        known = " or ".join(f"system: {name}" for name in others)
        return InputError(f"{key} is no key of a board", f"write {known} for a report of that", file=path)
    remedy = near(key.lower(), kind.keys, "the keys are")
    return InputError(f"unknown key {quoted(key)}", remedy, file=path)


def _value(path: Path, key: str, node: yaml.Node) -> str | int | float | None:
    """Convert one node by the type its key declares."""
    import yaml

    if not isinstance(node, yaml.ScalarNode):
        kind = "a list" if isinstance(node, yaml.SequenceNode) else "a mapping"
        raise InputError(
            f"{kind} where one value belongs", f"write {key}: value", file=path, pointer=f"/{key}"
        )
    if node.tag == "tag:yaml.org,2002:null" and key in ("labels", "title"):
        return None
    try:
        return _CONVERT[key](str(node.value))
    except ValueError as error:
        raise InputError(
            f"{quoted(str(node.value))} {error}", _REMEDY.get(key, ""), file=path, pointer=f"/{key}"
        ) from None


def _name(text: str) -> str:
    """Accept what can name a folder on every system."""
    if not _NAME.fullmatch(text):
        raise ValueError("cannot name a folder")
    return text


def _seed(text: str) -> int:
    """Accept an unsigned 64-bit integer in plain digits."""
    if not re.fullmatch(r"[0-9]{1,20}", text) or int(text) >= 2**64:
        raise ValueError("is not an integer from 0 to 2**64 - 1")
    return int(text)


def _whole(least: int, most: int) -> Callable[[str], int]:
    """Make the conversion of a key that holds a number of things in plain digits."""

    def convert(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", text) or not least <= int(text) <= most:
            raise ValueError(f"is not an integer from {least} to {most:,}")
        return int(text)

    return convert


def _share(text: str) -> float:
    """Accept a share as a decimal number."""
    if not re.fullmatch(r"0|0?\.[0-9]{1,15}|1(\.0{1,15})?", text):
        raise ValueError("is not a decimal number from 0 to 1")
    return float(text)


def _power(text: str) -> float:
    """Accept a share that is neither nothing nor everything."""
    if not 0 < (share := _share(text)) < 1:
        raise ValueError("is not a decimal number between 0 and 1")
    return share


def _spread(text: str) -> float:
    """Accept a spread that some rates have: none, or enough to have quantiles."""
    from medgauge_lib.simulation.worlds import LEAST_SPREAD

    spread = _share(text)
    if spread != 0 and not LEAST_SPREAD <= spread < 0.5:
        raise ValueError(f"is neither 0 nor a decimal number from {LEAST_SPREAD} to below 0.5")
    return spread


def _line(text: str) -> str:
    """Accept one printable line."""
    if not text.strip() or not text.isprintable():
        raise ValueError("is not one line of printable text")
    return text


def _date(text: str) -> str:
    """Accept a day of the calendar."""
    from medgauge_lib.findings.corpus import is_date

    if not is_date(text):
        raise ValueError("is not a date")
    return text


def _one_of(allowed: tuple[str, ...]) -> Callable[[str], str]:
    """Make the conversion of a key that allows a few words."""

    def convert(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"is not one of {', '.join(allowed)}")
        return text

    return convert


_CONVERT: Mapping[str, Callable[[str], str | int | float]] = {
    "system": _one_of(tuple(name for name in SYSTEMS if name != Params.system)),
    "benchmark": _name,
    "benchmark_version": _name,
    "records": _line,
    "data": _line,
    "submissions": _line,
    "reviews": _line,
    "subset": _one_of(SUBSETS),
    "seed": _seed,
    "labels": _line,
    "title": _line,
    "date": _date,
    "replications": _whole(1, 999_999_999),
    "rows": _whole(2, 10_000),
    "tasks": _whole(1, 2_000),
    "ahead": _share,
    "behind": _share,
    "spread": _spread,
    "correlation": _share,
    "power": _power,
    "publish": _one_of(PUBLISH),
}

_REMEDY: Mapping[str, str] = {
    "benchmark": "write letters, digits, hyphens, dots or underscores, beginning with a letter or digit",
    "benchmark_version": "write the version as the records have it, such as 1.0.3",
    "system": "write system: findings, methodology or planning, or leave it out for a board",
    **{
        key: f"write the folder of the {key}, relative to this file"
        for kind in SYSTEMS.values()
        for key in kind.sources
    },
    **dict.fromkeys(("replications", "rows", "tasks"), "write digits only, such as 1000"),
    **dict.fromkeys(
        ("ahead", "behind", "spread", "correlation", "power"), "write a decimal number such as 0.75"
    ),
    "date": "write a day as YYYY-MM-DD, such as 2026-06-30",
    "seed": "write digits only, such as 20260101",
}


def _require_sources(params: ReportParams) -> None:
    """Require the folders and the labels file to be there."""
    for key, folder in params.source_folders().items():
        if not folder.is_dir():
            looked_at = os.path.normpath(Path.cwd() / folder)
            wrong = "is a file, not a folder" if folder.exists() else "does not exist"
            raise InputError(f"{looked_at} {wrong}", _REMEDY[key], file=params.file, pointer=f"/{key}")
    if params.labels_file is not None and not params.labels_file.is_file():
        looked_at = os.path.normpath(Path.cwd() / params.labels_file)
        raise InputError(
            f"{looked_at} is not a file",
            "write the file of task labels, relative to this file",
            file=params.file,
            pointer="/labels",
        )


def _require_possible(params: PlanningParams) -> None:
    """Require a plan's row ahead to be ahead, and its spread to go with the pass^3 of both rows."""
    from medgauge_lib.simulation.worlds import reaching

    if params.ahead < params.behind:
        raise InputError(
            f"{params.ahead} is less than the {params.behind} of the row behind",
            "swap ahead and behind",
            file=params.file,
            pointer="/ahead",
        )
    for key in ("ahead", "behind"):
        try:
            reaching(getattr(params, key), params.spread)
        except ValueError as error:
            wrong, _, remedy = str(error).partition("; ")
            raise InputError(wrong, remedy, file=params.file, pointer=f"/{key}") from None
