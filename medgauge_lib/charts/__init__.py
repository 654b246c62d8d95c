"""Results → Altair charts and tables people read; nothing statistical is computed here."""

from medgauge_lib.charts.figure import Figure, figure
from medgauge_lib.charts.forest import forest, forest_frame

__all__ = ["Figure", "figure", "forest", "forest_frame"]
