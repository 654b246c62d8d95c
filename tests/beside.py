"""What some tests need and no fresh machine can bring: public data beside the checkout, mounts, another user.

The data are other people's and are published elsewhere, and whether a user may mount file systems or appear
under another number is for the system to say. What is tested on the data is tested on made data as well.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared"
RECORDS = SHARED / "data" / "records"

needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="public data of others, which no part of the project can fetch"
)


def boards(*, labelled: bool = False) -> list[pytest.param]:
    """One parameter a board of public runs, its folder; those alone whose labels of tasks are there too."""
    folders = sorted(path for path in RECORDS.glob("*/*") if path.is_dir())
    return [
        pytest.param(folder, marks=needs_shared, id=folder.parent.name)
        for folder in folders or [RECORDS]
        if not labelled or not folders or labels_of(folder).exists()
    ]


def labels_of(folder: Path) -> Path:
    """The file of the labels of a board's tasks."""
    return folder.with_name(f"{folder.name}.labels.json")


ANOTHER_USER = ("unshare", "--user", "--map-user=4711", "--map-group=4711")
"""Before a command: it sees itself as another user and group, and may touch the files it may touch now."""


def _may(*command: str) -> bool:
    return (
        shutil.which(command[0]) is not None
        and subprocess.run([*command, "true"], capture_output=True).returncode == 0
    )


MAY_BE_ANOTHER = _may(*ANOTHER_USER)

needs_mounts = pytest.mark.skipif(
    not _may("unshare", "-rm"), reason="this user may not mount file systems of its own"
)
