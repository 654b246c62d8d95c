"""Results of medical-agent benchmarks: from result records to numbers a third party recomputes.

Names stand in the order of the pipeline: records, outcomes, estimators, intervals, pairs, letters, board, and
beside the board its dimensions, difficulty, failures and audit.
Charts are in `medgauge_lib.charts`, which is imported on its own since it brings the drawing libraries.
"""

from medgauge_lib._version import __version__
from medgauge_lib.errors import InputError
from medgauge_lib.results import Absent, Estimate, Interval
from medgauge_lib.records import RecordSet, read_records
from medgauge_lib.checks import check
from medgauge_lib.outcomes import Outcomes, outcomes
from medgauge_lib.estimators import Values, values
from medgauge_lib.intervals import bca, clopper_pearson, estimate
from medgauge_lib.pairs import Pairs, compare
from medgauge_lib.board import Board, board
from medgauge_lib.labels import Labels, read_labels
from medgauge_lib.dimensions import Dimensions, dimensions
from medgauge_lib.difficulty import Difficulty, difficulty
from medgauge_lib.failures import Failures, failures
from medgauge_lib.audit import Audit, audit
from medgauge_lib.loading import load

__all__ = [
    "Absent",
    "Audit",
    "Board",
    "Difficulty",
    "Dimensions",
    "Estimate",
    "Failures",
    "InputError",
    "Interval",
    "Labels",
    "Outcomes",
    "Pairs",
    "RecordSet",
    "Values",
    "__version__",
    "audit",
    "bca",
    "board",
    "check",
    "clopper_pearson",
    "compare",
    "difficulty",
    "dimensions",
    "estimate",
    "failures",
    "load",
    "outcomes",
    "read_labels",
    "read_records",
    "values",
]
