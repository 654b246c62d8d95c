"""Results of medical-agent benchmarks: from result records to numbers a third party recomputes."""

from medgauge_lib._version import __version__

__all__ = ["__version__"]
