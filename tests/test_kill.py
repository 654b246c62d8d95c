"""Whatever happens while a report is built, the old report stays or the new one is there, whole."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from beside import needs_mounts
from make_records import record
from make_reports import notebook, project

from medgauge_lib.report.build import build
from medgauge_lib.report.hashes import sha256

KILLS = 30
SEED = 20260101
BUILD = """\
import sys
from pathlib import Path
from medgauge_lib.errors import InputError
from medgauge_lib.report.build import build
root = Path(sys.argv[1])
def make():
    try:
        build([root / "params/made.yaml"], out=root / "reports", notebooks=root / "notebooks", progress=False)
    except InputError as error:
        print(error)
"""
READS = """\
import hashlib, pathlib
print([hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(pathlib.Path(records).iterdir())])
"""
REPORT = Path("reports", "bm-made", "1.0.0")
LIST = Path("reports", "index.html")
STATES = ("old", "new")


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a report but its run record, having held each against the manifest."""
    found = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "run.json"
    }
    assert json.loads(found["manifest.json"])["outputs"] == {
        path: sha256(content) for path, content in found.items() if path != "manifest.json"
    }
    return found


def put(root: Path, state: str) -> None:
    """Give the project the records of one state."""
    name = {"old": "a", "new": "b"}[state]
    project(root, {}, records=[record(f"res-2026-01-01-{name}")])
    (root / "records" / f"res-2026-01-01-{'ba'[name == 'b']}.json").unlink(missing_ok=True)


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty temporary folder for this process and those it starts."""
    with tempfile.TemporaryDirectory(prefix="mg-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project whose notebooks show which records they read, with its old report built."""
    project(tmp_path, {"summary": notebook(READS), "groups": notebook("1")})
    put(tmp_path, "old")
    made(tmp_path)
    return tmp_path


def made(root: Path, out: str = "reports") -> dict[str, bytes]:
    """Build the report in this process and return it."""
    build([root / "params" / "made.yaml"], out=root / out, notebooks=root / "notebooks", progress=False)
    return contents(root / out / "bm-made" / "1.0.0")


def start(root: Path, last: str = "make()") -> subprocess.Popen[str]:
    """Begin a build in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", BUILD + last, root],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def took(root: Path) -> float:
    """Return how many seconds a build takes that is left alone."""
    begun = time.monotonic()
    assert start(root).communicate()[0] == ""
    return time.monotonic() - begun


def kernels(scratch: Path) -> list[str]:
    """Return the processes whose command names the temporary folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(scratch).encode() in (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


def gone(what: Callable[[], object], seconds: float = 20) -> bool:
    """Wait until there is no more of something."""
    deadline = time.monotonic() + seconds
    while what() and time.monotonic() < deadline:
        time.sleep(0.1)
    return not what()


def test_a_build_killed_at_any_moment_leaves_a_whole_report(root: Path, scratch: Path) -> None:
    """Killed at 30 random moments, a build leaves old or new report and list, and the next clears up."""
    whole, lists = {"old": contents(root / REPORT)}, {(root / LIST).read_bytes()}
    put(root, "new")
    whole["new"] = made(root, "other")
    lists.add((root / "other" / LIST.name).read_bytes())
    assert whole["old"] != whole["new"]
    assert len(lists) == 2
    moments = random.Random(SEED)
    seconds, killed = took(root), 0
    for number in range(3 * KILLS):
        put(root, STATES[number % 2])
        begun = time.monotonic()
        process = start(root)
        try:
            process.wait(moments.uniform(0.02, 1) * seconds)
            # It ended before the moment came, which was no kill: builds are faster than was thought.
            seconds = time.monotonic() - begun
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            killed += 1
        assert "IPKernelApp" not in process.communicate()[0]
        assert contents(root / REPORT) in whole.values()
        assert (root / LIST).read_bytes() in lists
        if killed == KILLS:
            break
    assert killed == KILLS
    assert gone(lambda: kernels(scratch))
    for folder in scratch.iterdir():
        os.utime(folder, (0, 0))
    put(root, "old")
    assert made(root) == whole["old"]
    assert list(root.rglob(".*")) == []
    assert list(scratch.iterdir()) == []


def test_two_builds_at_once_both_end_well(root: Path) -> None:
    """Two processes that build into one folder leave one whole report, listed."""
    put(root, "new")
    processes = [start(root) for _ in range(2)]
    assert [process.communicate(timeout=120)[0] for process in processes] == ["", ""]
    assert contents(root / REPORT) == made(root, "other")
    assert "bm-made/1.0.0/index.html" in (root / "reports" / "index.html").read_text()
    assert list(root.rglob(".*")) == []


MOUNTED = """\
import json, os, subprocess
out = root / "reports"
out.mkdir(exist_ok=True)
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", out], check=True)
def contents():
    return {str(p): p.read_bytes() for p in out.rglob("*") if p.is_file() and p.name != "filler"}
make()
before = contents()
for file in (root / "records").iterdir():
    file.write_text(file.read_text() + "\\n")
if sys.argv[2] != "read-only":
    left = 0 if sys.argv[2] == "full" else sum(map(len, before.values())) // 2
    with open(out / "filler", "wb", 0) as filler:
        while (space := os.statvfs(out)).f_bavail * space.f_frsize > left:
            filler.write(bytes(4096))
else:
    subprocess.run(["mount", "-o", "remount,ro", out], check=True)
make()
assert before and contents() == before, sorted(contents())
"""


@needs_mounts
@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("full", "no space left on device"),
        ("full midway", "no space left on device"),
        ("read-only", "read-only file system"),
    ],
)
def test_a_disk_that_takes_no_report_leaves_the_old_one(tmp_path: Path, how: str, reason: str) -> None:
    """On a disk that is full, fills up midway or is read-only the old report stays; one message says why."""
    project(tmp_path, {"summary": notebook("1")})
    command = ["unshare", "-rm", sys.executable, "-c", BUILD + MOUNTED, tmp_path, how]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 2
    assert f"cannot be written: {reason}" in done.stdout
    assert list((tmp_path / "reports").iterdir()) == []


FAILURES = {
    "raises": ("1 / 0", "ZeroDivisionError: division by zero"),
    "never ends": ("import time; time.sleep(60)", "still running after 2 s"),
    "dies": ("import os; os.kill(os.getpid(), 9)", "its Python process died (out of memory, or killed)"),
}


@pytest.mark.parametrize("how", FAILURES)
def test_a_notebook_that_fails_leaves_the_old_report(root: Path, how: str) -> None:
    """The message names notebook, cell and error; the notebook is kept aside; the old report stays."""
    before = contents(root / REPORT)
    source, error = FAILURES[how]
    nbformat.write(notebook("1", source), root / "notebooks" / "groups.ipynb")
    aside = root / "reports" / "failed" / "bm-made-1.0.0-groups.ipynb"
    call = (
        "try:\n    build([root / 'params/made.yaml'], out=root / 'reports', notebooks=root / 'notebooks',"
        " progress=False, cell_seconds=2)\nexcept InputError as error:\n    print(error)"
    )
    told, _ = start(root, call).communicate(timeout=60)
    first, second = told.splitlines()
    assert first == f"{root / 'notebooks' / 'groups.ipynb'}: cell 4: {error}"
    assert str(aside) in second
    assert nbformat.read(aside, as_version=4).cells
    assert contents(root / REPORT) == before


def test_a_missing_kernel_leaves_the_old_report(root: Path) -> None:
    """Where no Python process starts, the message says so and the old report stays."""
    before = contents(root / REPORT)
    put(root, "new")
    told, _ = start(root, "sys.executable = '/no/python'\nmake()").communicate(timeout=60)
    assert "its Python process did not start" in told
    assert len(told.splitlines()) == 2
    assert contents(root / REPORT) == before
