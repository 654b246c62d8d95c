"""Run every comparison and print it: ``python -m benchmarks``."""

from __future__ import annotations

from benchmarks import boards, findings, intervals, reading, report, simulation
from benchmarks.ratios import print_ratios, print_table

# Memory comes first: a child's peak is never told below what this process held when it started the child.
SUBJECTS = (boards, intervals, simulation, reading, findings, report)


def main() -> None:
    """Print one table of ratios, how a board's time grows, and which targets were missed."""
    ratios = [ratio for subject in SUBJECTS for ratio in subject.ratios()]
    print_ratios(ratios)
    print()
    print_table(list(boards.growth()))
    print()
    targets = [ratio for ratio in ratios if ratio.met is not None]
    missed = [ratio.name for ratio in targets if not ratio.met]
    print(f"{len(targets) - len(missed)} of {len(targets)} targets met", *missed, sep="\n  missed: ")


if __name__ == "__main__":
    main()
