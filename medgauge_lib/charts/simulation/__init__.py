"""Simulation studies as figures and sentences; every figure says how far chance may have moved it."""

from medgauge_lib.charts.simulation.figures import (
    coverage_figure,
    exact_figure,
    families_figure,
    flips_figure,
    found_figure,
    overlap_figure,
    power_figure,
    undefined_figure,
    widths_figure,
)
from medgauge_lib.charts.simulation.words import (
    assumption_sentences,
    coverage_sentences,
    families_sentences,
    flips_sentences,
    overlap_sentences,
    power_sentences,
    widths_sentences,
)

__all__ = [
    "assumption_sentences",
    "coverage_figure",
    "coverage_sentences",
    "exact_figure",
    "families_figure",
    "families_sentences",
    "flips_figure",
    "flips_sentences",
    "found_figure",
    "overlap_figure",
    "overlap_sentences",
    "power_figure",
    "power_sentences",
    "undefined_figure",
    "widths_figure",
    "widths_sentences",
]
