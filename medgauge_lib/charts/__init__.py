"""Results → Altair charts and tables people read; nothing statistical is computed here.

A chart function takes a board and returns an Altair chart, its `_frame` twin the data behind it; `figure`
makes them a figure of a report. Tables and sentences show themselves in a notebook.
"""

from medgauge_lib.charts.cost import cost, cost_caption, cost_frame
from medgauge_lib.charts.difficulty import (
    class_counts_table,
    difficulty_sentences,
    labels_table,
    rises_table,
    strata_table,
)
from medgauge_lib.charts.dimensions import dimension_frame, dimension_table
from medgauge_lib.charts.exam import exam, exam_frame, planned_exam, planned_exam_frame
from medgauge_lib.charts.failures import (
    constraints_table,
    errors_table,
    failure_sentences,
    reasons_table,
    subsets_table,
    vetoes_table,
)
from medgauge_lib.charts.figure import Figure, figure
from medgauge_lib.charts.forest import forest, forest_frame
from medgauge_lib.charts.integrity import (
    audit_figures_table,
    audit_table,
    checks_table,
    closed_table,
    conditions_table,
    findings_table,
    inputs_table,
    integrity_notice,
    integrity_sentences,
    no_subset,
    void_table,
)
from medgauge_lib.charts.matrix import differences, differences_caption, differences_frame
from medgauge_lib.charts.passes import passes, passes_caption, passes_frame
from medgauge_lib.charts.quantities import quantities, quantities_frame
from medgauge_lib.charts.tables import Table, bca_table, board_table, community_table, sensitivity_table
from medgauge_lib.charts.words import Sentences, board_sentences, resolution_sentences, resolution_words

__all__ = [
    "Figure",
    "Sentences",
    "Table",
    "audit_figures_table",
    "audit_table",
    "bca_table",
    "board_sentences",
    "board_table",
    "checks_table",
    "class_counts_table",
    "closed_table",
    "community_table",
    "conditions_table",
    "constraints_table",
    "cost",
    "cost_caption",
    "cost_frame",
    "differences",
    "differences_caption",
    "differences_frame",
    "difficulty_sentences",
    "dimension_frame",
    "dimension_table",
    "errors_table",
    "exam",
    "exam_frame",
    "failure_sentences",
    "figure",
    "findings_table",
    "forest",
    "forest_frame",
    "inputs_table",
    "integrity_notice",
    "integrity_sentences",
    "labels_table",
    "no_subset",
    "passes",
    "passes_caption",
    "passes_frame",
    "planned_exam",
    "planned_exam_frame",
    "quantities",
    "quantities_frame",
    "reasons_table",
    "resolution_sentences",
    "resolution_words",
    "rises_table",
    "sensitivity_table",
    "strata_table",
    "subsets_table",
    "vetoes_table",
    "void_table",
]
