"""Change one published number at a time by one unit in its last digit, and see whether the audit finds it.

A changed number that is the exact figure rounded is still right and need not be found; these are counted
apart. Run it for the table of every number of the demo set and of the folders that are named:

    python tests/mutations.py [RECORDS…]
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

from make_records import record

from medgauge_lib import demo
from medgauge_lib.audit import against, seed_of
from medgauge_lib.audit.published import BLOCKS, STATED, closed, numbers
from medgauge_lib.audit.recomputed import recomputed
from medgauge_lib.pairs import mcnemar_p
from medgauge_lib.records import RecordSet, read_records
from medgauge_lib.schema import fault

RUNS = record()["run_outcomes"]

Path = tuple[str, ...]
Row = TypeVar("Row")


@dataclass
class Table:
    """Numbers changed and changes found, by kind of number; and what was missed."""

    changed: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    missed: list[tuple[str, str, Any, Any]] = field(default_factory=list)

    def enter(self, kind: str, what: tuple[str, str, Any, Any], *, found: bool) -> None:
        """Count one change."""
        self.changed[kind] += 1
        self.found[kind] += found
        if not found and kind in ("recomputable", "held together"):
            self.missed.append(what)

    def lines(self) -> Iterator[str]:
        """One line a kind."""
        for kind in sorted(self.changed):
            yield f"{kind:16} changed {self.changed[kind]:6} found {self.found[kind]:6}"


def one_unit(number: float, sign: int) -> float:
    """Return a number one unit of its last digit off; the next double where that reads as the same one."""
    if isinstance(number, int):
        return number + sign
    text = Decimal(repr(number))
    moved = float(text + sign * Decimal(1).scaleb(int(text.as_tuple().exponent)))
    return moved if moved != number else math.nextafter(number, sign * math.inf)


def kind_of(path: Path, old: float, new: float) -> str:
    """Say what is known of a changed number: closed, still right, recomputed, or held with others."""
    reason = closed(path)
    if reason is not None and not reason[1]:
        return "closed"
    if still_right(old, new):
        return "still right"
    return "recomputable" if reason is None else "held together"


def points_at(pointer: str, path: Path, kind: str) -> bool:
    """Whether a finding names the number; of those held together, their block or a figure beside them too."""
    steps = tuple(pointer.split("/")[1:])
    if kind != "held together":
        return steps == path
    # A sum points at its block, and what follows from two figures at the one that follows.
    return steps[:-1] == path[:-1] or steps in (path[:-1], path[:-2])


def still_right(old: float, new: float) -> bool:
    """Whether a changed number is the same fraction rounded to its decimals: 0.6666666666666667 for 2/3."""
    if isinstance(new, int):
        return False
    simple = Fraction(old).limit_denominator(10**8)
    exact = simple if float(simple) == old else Fraction(old)
    text = Decimal(repr(new))
    unit = Fraction(Decimal(1).scaleb(int(text.as_tuple().exponent)))
    return any(abs(Fraction(text) - value) * 2 <= unit for value in (exact, Fraction(old)))


def at(document: Any, path: Path) -> Any:
    """Value at a path."""
    for step in path:
        document = document[step]
    return document


def with_number(document: Mapping[str, Any], path: Path, number: float) -> dict[str, Any]:
    """Copy of a document with one number changed."""
    name, *rest = path
    inner = with_number(document[name], tuple(rest), number) if rest else number
    return {**document, name: inner}


def leaves(published: Mapping[str, Any]) -> list[Path]:
    """Paths of the published numbers of a record that are changed here."""
    return [
        path
        for block in BLOCKS
        for path, _ in numbers(published.get(block, {}), (block,))
        if path[-1] not in STATED
    ]


def each_once(
    published: Mapping[Row, Mapping[str, Any]], like: Callable[[Path], Hashable] = lambda path: path
) -> dict[Row, list[Path]]:
    """Choose one number of each path, or of those alike, from the record that has the fewest so far."""
    having: dict[Hashable, dict[Row, Path]] = {}
    for row, document in published.items():
        for path in leaves(document):
            having.setdefault(like(path), {}).setdefault(row, path)
    chosen: dict[Row, list[Path]] = {row: [] for row in published}
    for rows in having.values():
        row = min(rows, key=lambda one: len(chosen[one]))
        chosen[row].append(rows[row])
    return chosen


def in_turn(chosen: Mapping[Row, list[Path]]) -> Iterator[dict[Row, Path]]:
    """One number of each record at a time."""
    for k in range(max(map(len, chosen.values()))):
        yield {row: paths[k] for row, paths in chosen.items() if k < len(paths)}


def mutations(records: RecordSet, chosen: Mapping[str, list[Path]] | None = None) -> Table:
    """Change each published number, or each that is chosen, up and down."""
    trees = recomputed(records, seeds=partial(seed_of, records))
    table = Table()
    for tried in in_turn(chosen or {row: leaves(one) for row, one in records.published.items()}):
        for sign in (1, -1):
            _try(records, trees, tried, sign, table)
    return table


def _try(
    records: RecordSet, trees: Mapping[str, Any], chosen: Mapping[str, Any], sign: int, table: Table
) -> None:
    published, with_p = dict(records.published), dict(trees)
    tried = {}
    for row, path in chosen.items():
        old = at(published[row], path)
        new = one_unit(old, sign)
        kind, what = kind_of(path, old, new), (row, "/" + "/".join(path), old, new)
        document = with_number(published[row], path, new)
        refused = fault(document | {"run_outcomes": RUNS})
        if refused is not None:
            table.enter(kind, what, found=points_at(refused.pointer, path, "recomputable"))
            continue
        published[row], tried[row] = document, (kind, path, what)
        with_p[row] = _with_p(trees[row], document)
    changed = replace(records, published=published, decimals={})
    files = {records.paths[row].name: row for row in tried}
    places: dict[str, list[str]] = {row: [] for row in tried}
    for finding in against(changed, with_p).findings:
        if finding.severity == "error" and finding.file in files:
            places[files[finding.file]].append(finding.pointer)
    for row, (kind, path, what) in tried.items():
        table.enter(kind, what, found=any(points_at(place, path, kind) for place in places[row]))


def _with_p(tree: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Recomputed figures with the p-value of the b and c that the document publishes."""
    counts = document["scores"].get("dimensions", {}).get("m10_robustness", {}).get("mcnemar")
    if counts is None:
        return tree
    return with_number(
        tree,
        ("scores", "dimensions", "m10_robustness", "mcnemar", "p_value"),
        mcnemar_p(counts["b"], counts["c"]),  # type: ignore[arg-type]
    )


def main() -> None:
    """Print the table of the demo set and of the folders named."""
    sets = [demo.record_set(*board) for board in demo.benchmarks()]
    for records in [*sets, *map(read_records, sys.argv[1:])]:
        table = mutations(records)
        print(f"{records.benchmark} {records.benchmark_version}")
        print(*(f"  {line}" for line in table.lines()), sep="\n")
        print(*(f"  missed {what}" for what in table.missed), sep="\n")


if __name__ == "__main__":
    main()
