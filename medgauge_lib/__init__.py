"""Results of medical-agent benchmarks: from result records to numbers a third party recomputes.

Names stand in the order of the pipeline: records, outcomes, estimators, intervals, pairs, letters, board.
Charts are in `medgauge_lib.charts`, which is imported on its own since it brings the drawing libraries.
"""

from medgauge_lib._version import __version__
from medgauge_lib.errors import InputError
from medgauge_lib.results import Absent, Estimate, Interval
from medgauge_lib.records import RecordSet, read_records
from medgauge_lib.outcomes import Outcomes, outcomes
from medgauge_lib.estimators import Values, values
from medgauge_lib.intervals import bca, clopper_pearson, estimate
from medgauge_lib.pairs import Pairs, compare
from medgauge_lib.board import Board, board
from medgauge_lib.report.params import load

__all__ = [
    "Absent",
    "Board",
    "Estimate",
    "InputError",
    "Interval",
    "Outcomes",
    "Pairs",
    "RecordSet",
    "Values",
    "__version__",
    "bca",
    "board",
    "clopper_pearson",
    "compare",
    "estimate",
    "load",
    "outcomes",
    "read_records",
    "values",
]
