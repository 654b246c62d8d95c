"""Results → Altair charts and tables people read; nothing statistical is computed here.

A chart function takes a board and returns an Altair chart, its `_frame` twin the data behind it; `figure`
makes them a figure of a report. Tables and sentences show themselves in a notebook.
"""

from medgauge_lib.charts.cost import cost, cost_caption, cost_frame
from medgauge_lib.charts.exam import exam, exam_frame
from medgauge_lib.charts.figure import Figure, figure
from medgauge_lib.charts.forest import forest, forest_frame
from medgauge_lib.charts.matrix import differences, differences_caption, differences_frame
from medgauge_lib.charts.passes import passes, passes_caption, passes_frame
from medgauge_lib.charts.quantities import quantities, quantities_frame
from medgauge_lib.charts.tables import Table, bca_table, board_table, community_table, sensitivity_table
from medgauge_lib.charts.words import Sentences, board_sentences, resolution_words

__all__ = [
    "Figure",
    "Sentences",
    "Table",
    "bca_table",
    "board_sentences",
    "board_table",
    "community_table",
    "cost",
    "cost_caption",
    "cost_frame",
    "differences",
    "differences_caption",
    "differences_frame",
    "exam",
    "exam_frame",
    "figure",
    "forest",
    "forest_frame",
    "passes",
    "passes_caption",
    "passes_frame",
    "quantities",
    "quantities_frame",
    "resolution_words",
    "sensitivity_table",
]
