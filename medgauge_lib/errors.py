"""The one error for input that cannot be used: it names the place and the way out in one or two lines."""

from __future__ import annotations

import os


class InputError(ValueError):
    """Input that cannot be used, said in at most two lines.

    Parameters
    ----------
    wrong : str
        What is wrong, with the value that was found.
    remedy : str, optional
        What would be right, or what to do.
    file : path, optional
        The file it was found in.
    pointer : str, optional
        The place in the file as a JSON pointer (RFC 6901); "" is the whole document.

    Examples
    --------
    >>> print(InputError("3 is not a version", "write 1.0.3", file="a.json", pointer="/benchmark_version"))
    a.json: /benchmark_version: 3 is not a version
      write 1.0.3
    """

    def __init__(
        self,
        wrong: str,
        remedy: str = "",
        *,
        file: str | os.PathLike[str] | None = None,
        pointer: str = "",
    ) -> None:
        self.wrong = wrong
        self.remedy = remedy
        self.file = None if file is None else os.fspath(file)
        self.pointer = pointer
        place = ": ".join(part for part in (self.file, pointer, wrong) if part)
        super().__init__(place + (f"\n  {remedy}" if remedy else ""))
