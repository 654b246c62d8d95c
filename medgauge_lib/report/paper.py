"""A report on paper: Chromium prints its one file as a tagged PDF.

Chromium writes times and names of its own into a PDF, so that two builds give the same pages and not the same
bytes; a manifest therefore does not list it.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from medgauge_lib.errors import InputError

PAPER = "report.pdf"
"""Name of the PDF in the folder of its report."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Programs that can print a report, in the order they are looked for."""

SECONDS = 300
"""How long printing may take."""

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-sync",
    "--no-first-run",
    "--proxy-server=127.0.0.1:9",
    "--no-pdf-header-footer",
    "--generate-pdf-document-outline",
    "--virtual-time-budget=60000",
)


def require_browser() -> str:
    """Find the program that prints.

    Returns
    -------
    str
        Its path.

    Raises
    ------
    InputError
        Where none of `BROWSERS` is on the path.
    """
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    raise InputError(
        "a PDF needs Chromium, and there is none on the path", "install chromium, or leave out --pdf"
    )


def printed(html: str) -> bytes:
    """Print a document that needs no other file.

    Parameters
    ----------
    html : str
        The document.

    Returns
    -------
    bytes
        A tagged PDF with an outline; nothing is asked of a network.

    Raises
    ------
    InputError
        Where there is no browser, or it does not print.
    """
    browser = require_browser()
    with tempfile.TemporaryDirectory(prefix="medgauge-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        source, made = folder / "report.html", folder / "report.pdf"
        source.write_text(html, encoding="utf-8")
        command = [browser, *_FLAGS, f"--user-data-dir={folder / 'profile'}"]
        try:
            subprocess.run(
                [*command, f"--print-to-pdf={made}", source.as_uri()],
                capture_output=True,
                check=True,
                timeout=SECONDS,
            )
            return made.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            reason = type(error).__name__
            if isinstance(error, subprocess.CalledProcessError):
                reason = f"it ended with exit code {error.returncode}"
            elif isinstance(error, subprocess.TimeoutExpired):
                reason = f"it took more than {SECONDS} s"
            elif isinstance(error, FileNotFoundError):
                reason = "it wrote nothing"
            raise InputError(
                f"{browser} printed no PDF: {reason}", "leave out --pdf, or print the page yourself"
            ) from None
