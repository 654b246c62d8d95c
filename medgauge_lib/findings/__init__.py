"""The second scoring system: the quality of findings that an agent drew from a corpus.

Rooms in the order the data flows: `contract` and `corpus` (files), `gates` and `statistics` (a submission
held against its corpus), `packet` (the bounded audit), `review`, `aggregates` and `quality` (reviews to
scores). Nothing here calls a model, and nothing is ever mixed with a board.
"""

from medgauge_lib.findings.aggregates import Summary, TaskQuality
from medgauge_lib.findings.contract import Benchmark, Task, read_benchmark
from medgauge_lib.findings.corpus import Corpus, read_corpus
from medgauge_lib.findings.gates import Failure, Scope
from medgauge_lib.findings.packet import Packet, draw, write_packets
from medgauge_lib.findings.quality import QualityReport, score_findings
from medgauge_lib.findings.review import FindingScore, finding_quality
from medgauge_lib.findings.statistics import Checked, check_submission, check_task, expected

__all__ = [
    "Benchmark",
    "Checked",
    "Corpus",
    "Failure",
    "FindingScore",
    "Packet",
    "QualityReport",
    "Scope",
    "Summary",
    "Task",
    "TaskQuality",
    "check_submission",
    "check_task",
    "draw",
    "expected",
    "finding_quality",
    "read_benchmark",
    "read_corpus",
    "score_findings",
    "write_packets",
]
