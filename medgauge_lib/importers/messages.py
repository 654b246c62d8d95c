"""From the error message of a run to its attribution and kind.

Programs that run agents write what went wrong as free text. The table is read from top to bottom and the
first line that fits decides; rules that the user gives come before it. What fits no line is the program's
own error: it ended the run and says nothing about the model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from medgauge_lib.importers.facts import Rule
from medgauge_lib.importers.reading import Error

_TABLE: tuple[tuple[str, Error], ...] = (
    (r"max(imum)?( number of)? (turns|steps|iterations)|(turn|step|message) limit", ("agent", "other")),
    (r"execution timed out|time limit|working limit", ("harness", "timeout")),
    (r"(tool|mcp|server) .*tim(ed |e)?out", ("application", "timeout")),
    (r"input length|input tokens|context.?(length|window|limit)|too many tokens|prompt is too long",
     ("model", "other")),
    (r"rate.?limit|quota|too many requests|\b429\b", ("provider", "other")),
    (r"internal.?server.?error|service.?unavailable|overloaded|bad gateway|\b50[0234]\b",
     ("provider", "server")),
    (r"connection|network|\bdns\b|name resolution|\bssl\b", ("provider", "network")),
    (r"tim(ed |e)?out", ("harness", "timeout")),
    (r"empty (response|answer|output|completion)", ("model", "empty_response")),
    (r"json ?decode|invalid json|malformed|cannot parse|could not parse|failed to parse",
     ("model", "output_error")),
    (r"badrequest|authentication|permission ?denied|api ?error", ("provider", "other")),
)  # fmt: skip
_OTHERWISE: Error = ("harness", "other")


def attribute(message: str, rules: Sequence[Rule] = ()) -> Error:
    """Return attribution and kind of an error message.

    Parameters
    ----------
    message : str
        Free text; letters of either case count alike.
    rules : sequence of Rule
        The user's own, which come first.

    Returns
    -------
    tuple of str
        Attribution, kind.

    Examples
    --------
    >>> attribute("Max turns (100) exceeded")
    ('agent', 'other')
    >>> attribute("KeyError: 'x'")
    ('harness', 'other')
    """
    lowered = message.lower()
    for rule in rules:
        if rule.contains.lower() in lowered:
            return rule.attribution, rule.kind
    # The sign of a message is near its start; a pasted trajectory behind it would slow the search.
    start = lowered[:2000]
    return next((error for pattern, error in _TABLE if re.search(pattern, start)), _OTHERWISE)
