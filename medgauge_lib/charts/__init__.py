"""Results → Altair charts and tables people read; nothing statistical is computed here."""

from medgauge_lib.charts.figure import Figure, figure
from medgauge_lib.charts.forest import forest, forest_frame
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
    "figure",
    "forest",
    "forest_frame",
    "resolution_words",
    "sensitivity_table",
]
