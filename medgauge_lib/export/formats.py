"""A table as the bytes of a file: CSV, JSON and Parquet for programs, LaTeX and Markdown for people.

Programs get every digit, and nothing where a figure is absent; people get words. The texts of a table are
untrusted: no format lets one of them become markup, a command, a link or a formula. The same table gives the
same bytes.

References
----------
.. [1] RFC 4180 (CSV), with line feeds.
.. [2] CommonMark 0.31, section 2.4 (backslash escapes) and 2.5 (character references); GitHub Flavored
   Markdown, tables and autolinks.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from medgauge_lib.charts import display
from medgauge_lib.charts.figure import table_json
from medgauge_lib.errors import InputError
from medgauge_lib.schema import quoted

SUFFIXES = {"csv": ".csv", "json": ".json", "parquet": ".parquet", "latex": ".tex", "markdown": ".md"}
"""The formats, each with the suffix of its files."""

FORMATS = tuple(SUFFIXES)

PARQUET_ABOUT = b"medgauge"
"""Key of the metadata of a Parquet file under which what the table is of stands as JSON."""

LONGEST = 40
"""Lines of a LaTeX ``tabular`` at most; a longer table is a ``longtable``, which breaks over pages."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
"""What a spreadsheet takes a cell for a formula by; and the sign that keeps it from doing so."""

_QUOTED = re.compile('[",\r\n]')

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "[": r"{[}",  # after the end of a line these two would be its arguments
    "*": r"{*}",
    display.NBSP: "~",
    display.MINUS: r"\ensuremath{-}",
    "–": r"\textendash{}",
    "…": r"\ldots{}",
    "·": r"\textperiodcentered{}",
    "�": r"\ensuremath{\diamond}",
}
_LIGATURE = re.compile("(?<=-)-|(?<=,),")
"""What would melt into one sign with what stands before it."""

_MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_{}[]|~^=$"}) | {
    ord(sign): f"&#{ord(sign)};" for sign in "<>&@#"
}
"""Backslashes for marks; character references for what makes HTML, mentions and numbers of issues."""
_ADDRESS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
"""The sign without which an address is no link."""


def format_of(out: Path | None, given: str | None = None) -> str:
    """Say which format a table is wanted in.

    Parameters
    ----------
    out : Path or None
        The file it goes to; None for a terminal or a pipe.
    given : str, optional
        A format by name; it decides where it is given.

    Returns
    -------
    str
        One of `FORMATS`; CSV where nothing says another one.

    Raises
    ------
    InputError
        Where the file's suffix names no format.

    Examples
    --------
    >>> format_of(Path("board.tex")), format_of(Path("board.txt"), "markdown"), format_of(None)
    ('latex', 'markdown', 'csv')
    """
    if given is not None or out is None:
        return given or "csv"
    for name, suffix in SUFFIXES.items():
        if out.suffix.lower() == suffix:
            return name
    known = ", ".join(SUFFIXES.values())
    raise InputError(
        f"names no format by its suffix {quoted(out.suffix)}", f"use one of {known}, or --format", file=out
    )


def csv_bytes(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    r"""Write a table as CSV [1]_: exact values, absent ones empty, UTF-8.

    A text that a spreadsheet would run, since it begins with ``= + - @``, a tab or a carriage return, gets an
    apostrophe before it, and so does a text that begins with one: without the first apostrophe every text is
    as it was. Numbers are written as they are.

    Examples
    --------
    >>> csv_bytes(["who", "gap"], [["=1+1", -0.5], [None, 0.1]])
    b"who,gap\n'=1+1,-0.5\n,0.1\n"
    """
    # The csv module leaves a carriage return bare in some versions of Python and quotes it in others.
    lines = [",".join(map(_csv_cell, line)) or '""' for line in (columns, *rows)]
    return ("\n".join(lines) + "\n").encode()


def _csv_cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else str(value)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def json_bytes(frame: pd.DataFrame, about: Mapping[str, Any]) -> bytes:
    """Write a table as JSON: ``about`` and ``rows``, one object a line of the table, null where absent.

    Examples
    --------
    >>> json.loads(json_bytes(pd.DataFrame({"p": [0.1, None]}), {"table": "pairs"}))
    {'about': {'table': 'pairs'}, 'rows': [{'p': 0.1}, {'p': None}]}
    """
    found = table_json(frame)
    lines = [
        json.dumps(dict(zip(found["columns"], line, strict=True)), ensure_ascii=False, allow_nan=False)
        for line in found["rows"]
    ]
    head = json.dumps({"about": dict(about)}, indent=1, ensure_ascii=False, allow_nan=False)[:-2]
    body = ",\n".join(f"  {line}" for line in lines)
    return f'{head},\n "rows": [\n{body}\n ]\n}}\n'.encode()


def parquet_bytes(frame: pd.DataFrame, about: Mapping[str, Any]) -> bytes:
    """Write a table as Parquet, with `about` as JSON under the key ``medgauge`` of the file's metadata.

    A column that holds both numbers and texts is a column of texts, and so is one of numbers that need more
    than 64 bits.

    Raises
    ------
    InputError
        Where the extra ``parquet`` is not installed.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            "Parquet needs the library pyarrow, which is not installed",
            'pip install "medgauge[parquet]", or take another format',
        ) from None
    mixed = [str(name) for name in frame if frame[name].dtype == object]
    uniform = frame.assign(**{name: _uniform(frame[name]) for name in mixed})
    table = pa.Table.from_pandas(uniform, preserve_index=False)
    told = json.dumps(dict(about), ensure_ascii=False, sort_keys=True).encode()
    stream = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({**table.schema.metadata, PARQUET_ABOUT: told}), stream)
    return stream.getvalue()


def _uniform(column: pd.Series[Any]) -> pd.Series[Any]:
    """Make texts of a column with values of several kinds, or beyond 64 bits; numbers are one kind."""
    present = column[column.notna()]
    kinds = {float if type(cell) is int and abs(cell) < 2**63 else type(cell) for cell in present}
    if kinds <= {str} or (len(kinds) == 1 and int not in kinds):
        return column
    return present.map(str).reindex(column.index)


def latex_text(words: str) -> str:
    r"""Write a text so that LaTeX shows it as it is.

    Signs of other scripts stay as they are: LuaLaTeX and XeLaTeX know them all, given a font.

    Examples
    --------
    >>> latex_text(r"50 % of \input{x}")
    '50 \\% of \\textbackslash{}input\\{x\\}'
    """
    escaped = "".join(_LATEX.get(sign, sign) for sign in display.text(words))
    return _LIGATURE.sub(r"{}\g<0>", escaped)


def latex_bytes(worded: pd.DataFrame, notes: Sequence[str]) -> bytes:
    """Write a table of words as a LaTeX table with the rules of ``booktabs``.

    Parameters
    ----------
    worded : DataFrame
        Every cell a text.
    notes : sequence of str
        What the table is of, written as comments.
    """
    long = len(worded) > LONGEST
    packages = "booktabs, longtable" if long else "booktabs"
    head = "".join(f"% {display.text(note)}\n" for note in (*notes, f"packages: {packages}, textcomp"))
    escaped = worded.map(latex_text).rename(columns=latex_text)
    body = escaped.to_latex(index=False, escape=False, longtable=long, column_format="l" * worded.shape[1])
    return (head + body).encode()


def markdown_text(words: str) -> str:
    r"""Write a text so that Markdown shows it as it is, with no markup, HTML or link.

    Examples
    --------
    >>> markdown_text("a|b <i>"), markdown_text("www.x.org")
    ('a\\|b &#60;i&#62;', 'www&#46;x.org')
    """
    escaped = display.text(words).translate(_MARKDOWN)
    return _ADDRESS.sub(lambda found: f"&#{ord(found[0])};", escaped)


def markdown_bytes(worded: pd.DataFrame, notes: Sequence[str]) -> bytes:
    """Write a table of words as a Markdown table [2]_, the notes as paragraphs below it."""
    lines = [list(worded.columns), *worded.to_numpy().tolist()]
    rows = [f"| {' | '.join(map(markdown_text, line))} |" for line in lines]
    rows.insert(1, f"|{' --- |' * worded.shape[1]}")
    return "\n".join([*rows, *(f"\n{markdown_text(note)}" for note in notes), ""]).encode()
