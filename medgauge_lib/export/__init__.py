"""Results as files for programs and for papers: one table, five formats.

`tables` makes a table of each result; `formats` writes it.
"""

from medgauge_lib.export.formats import FORMATS, format_of
from medgauge_lib.export.tables import (
    Exported,
    board_table,
    difficulty_table,
    dimensions_table,
    failures_table,
    figure_table,
    pairs_table,
)

__all__ = [
    "FORMATS",
    "Exported",
    "board_table",
    "difficulty_table",
    "dimensions_table",
    "failures_table",
    "figure_table",
    "format_of",
    "pairs_table",
]
