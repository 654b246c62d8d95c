"""Finding quality as sentences, tables and figures; nothing of it is ever mixed with a board.

A mean over scored tasks never stands without its counts. Claims, rationales, quotations and every other text
come from an agent, a judge or a corpus: they are shown as text.
"""

from medgauge_lib.charts.findings.figures import distribution_figure, effects_figure
from medgauge_lib.charts.findings.tables import (
    assessments_table,
    evidence_table,
    judge_table,
    remarks_table,
    summaries_table,
    tasks_table,
)
from medgauge_lib.charts.findings.words import judge_sentences, quality_sentences

__all__ = [
    "assessments_table",
    "distribution_figure",
    "effects_figure",
    "evidence_table",
    "judge_sentences",
    "judge_table",
    "quality_sentences",
    "remarks_table",
    "summaries_table",
    "tasks_table",
]
