"""Run results of other programs → result records: one small module a format, one way for all of them.

A format module has ``read(source, given) -> Reading``; what it read is assembled, scored, checked and written
the same way whatever the format (`medgauge_lib.importers.importing`).
"""

from collections.abc import Mapping

__all__ = ["FORMATS"]

FORMATS: Mapping[str, str] = {
    "table": "table",
    "inspect": "inspect_logs",
    "mcpmark": "mcpmark",
    "tau-bench": "tau_bench",
    "terminal-bench": "terminal_bench",
}
"""Formats by name, and the module of each; a module is imported when it is asked for."""
