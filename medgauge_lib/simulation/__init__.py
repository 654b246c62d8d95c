"""Simulation studies of the method: what its intervals and comparisons do in worlds where the truth is known.

Rooms in the order the data flows: `blocks` (replications and their streams), `worlds` (how runs arise),
`resampling` and `rejection` (intervals and tests of many data sets at once), `montecarlo` and `study`
(results with their error), and one module a study. Nothing here looks at a record.
"""

from medgauge_lib.simulation.coverage import Coverage, Sample, coverage, exact_coverage
from medgauge_lib.simulation.families import Family, Familywise, families
from medgauge_lib.simulation.flips import Flips, Ladder, flips
from medgauge_lib.simulation.montecarlo import Mean, Ratio, Share
from medgauge_lib.simulation.overlap import Duel, Overlap, overlap, spread_at
from medgauge_lib.simulation.power import Contest, Power, exact_power, first_step, power
from medgauge_lib.simulation.study import Study
from medgauge_lib.simulation.widths import Checked, Widths, widths
from medgauge_lib.simulation.worlds import Rates, agreeing, reaching

__all__ = [
    "Checked",
    "Contest",
    "Coverage",
    "Duel",
    "Family",
    "Familywise",
    "Flips",
    "Ladder",
    "Mean",
    "Overlap",
    "Power",
    "Rates",
    "Ratio",
    "Sample",
    "Share",
    "Study",
    "Widths",
    "agreeing",
    "coverage",
    "exact_coverage",
    "exact_power",
    "families",
    "first_step",
    "flips",
    "overlap",
    "power",
    "reaching",
    "spread_at",
    "widths",
]
