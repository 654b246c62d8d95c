"""Whatever is written is there whole or not at all, whoever is killed and whatever the disk does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from beside import needs_mounts
from make_reports import files_of

from medgauge_lib import demo
from medgauge_lib import files as writers
from medgauge_lib.errors import InputError
from medgauge_lib.files import clear, new_folder, replace_folder, write_file

KILLS = 30
SEED = 20260101


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo set, and a table of the runs of 8 tasks beside it."""
    folder = tmp_path_factory.mktemp("demo")
    demo.write(folder)
    rows = "".join(f"t{n},{n % 2}\n" * 3 for n in range(8))
    (folder / "runs.csv").write_text(f"task,pass\n{rows}", encoding="utf-8")
    return folder


def test_a_new_folder_appears_when_it_is_whole(tmp_path: Path) -> None:
    """Until the block ends nothing has the name; if it fails there is nothing at all."""
    with new_folder(tmp_path / "deep" / "a") as made:
        (made / "x").write_bytes(b"1")
        assert not (tmp_path / "deep" / "a").exists()
    assert files_of(tmp_path) == {"deep/a/x": b"1"}

    def fail() -> None:
        with new_folder(tmp_path / "deep" / "b") as made:
            (made / "x").write_bytes(b"1")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert files_of(tmp_path) == {"deep/a/x": b"1"}


def test_a_folder_that_was_filled_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    """What somebody puts there while the new folder is being filled stays."""

    def meet() -> None:
        with new_folder(tmp_path / "a"):
            (tmp_path / "a").mkdir()
            (tmp_path / "a" / "mine").write_bytes(b"1")

    with pytest.raises(InputError, match="cannot be written: directory not empty"):
        meet()
    assert files_of(tmp_path) == {"a/mine": b"1"}


def test_a_device_or_pipe_is_not_written_over(tmp_path: Path) -> None:
    """A place that is neither a file nor free is refused, and stays what it is."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is no file that can be written over"):
        write_file(tmp_path / "pipe", b"1")
    assert (tmp_path / "pipe").is_fifo()


def test_the_next_to_write_removes_what_a_killed_writer_left(tmp_path: Path) -> None:
    """Files and folders half written under the same name go; those of other names belong to others."""
    for name in (".a.building-1", ".b.building-1", ".c.building-1"):
        (tmp_path / name).write_bytes(b"half")
    write_file(tmp_path / "a", b"1")
    with new_folder(tmp_path / "b"):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == [".c.building-1", "a", "b"]


def test_a_folder_is_replaced_whole(tmp_path: Path) -> None:
    """The new files are all there, the old ones are gone, and nothing else is left."""
    target = tmp_path / "a" / "b"
    for files in ({"x": b"1", "d/y": b"2"}, {"x": b"3"}):
        replace_folder(target, files, root=tmp_path)
        assert files_of(target) == files
    assert list(target.parent.iterdir()) == [target]


def test_a_folder_is_replaced_where_names_cannot_be_exchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an exchange of names two renames do."""
    monkeypatch.setattr(writers.ctypes, "CDLL", lambda *_, **__: object())
    test_a_folder_is_replaced_whole(tmp_path)


def test_an_error_while_writing_leaves_the_old_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever cannot be written, the folder is as it was and the message says why."""
    replace_folder(tmp_path / "a", {"x": b"1"}, root=tmp_path)
    with pytest.raises(InputError, match="cannot be written: file exists"):
        replace_folder(tmp_path / "a", {"x": b"2", "x/y": b"3"}, root=tmp_path)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device", "a")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match="cannot be written: no space left on device"):
        replace_folder(tmp_path / "a", {"x": b"2"}, root=tmp_path)
    assert files_of(tmp_path) == {"a/x": b"1"}


def test_what_a_killed_build_left_is_removed(tmp_path: Path) -> None:
    """The next build removes a half-written folder."""
    (tmp_path / ".a.building-0").mkdir()
    (tmp_path / ".a.building-0" / "x").write_text("half")
    replace_folder(tmp_path / "a", {"x": b"1"}, root=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_reader_sees_the_old_folder_or_the_new_one(tmp_path: Path) -> None:
    """While two writers take turns, a reader finds a whole folder at every moment."""
    files = {name: {str(number): name.encode() for number in range(20)} for name in ("old", "new")}
    replace_folder(tmp_path / "a", files["old"], root=tmp_path)
    stop = threading.Event()

    def write(name: str) -> None:
        while not stop.is_set():
            replace_folder(tmp_path / "a", files[name], root=tmp_path)

    writers = [threading.Thread(target=write, args=(name,)) for name in files]
    for writer in writers:
        writer.start()
    try:
        for _ in range(300):
            handle = os.open(tmp_path / "a", os.O_RDONLY)
            try:
                assert len(os.listdir(handle)) in (0, 20) or not (tmp_path / "a").samefile(
                    f"/proc/self/fd/{handle}"
                )
            finally:
                os.close(handle)
            assert (tmp_path / "a").is_dir()
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert files_of(tmp_path / "a") in files.values()


def test_an_old_folder_gets_its_name_back(tmp_path: Path) -> None:
    """Where a writer was killed between two renames, the old folder is found again and is not removed."""
    replace_folder(tmp_path / "a", {"x": b"1"}, root=tmp_path)
    (tmp_path / "a").rename(tmp_path / ".a.building-0-old")
    (tmp_path / ".a.building-0").mkdir()
    (tmp_path / ".index.html.building-1").write_text("half")
    clear(tmp_path)
    assert files_of(tmp_path) == {"a/x": b"1"}
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


WRITE = """\
import os, random, signal, sys, time
from pathlib import Path
from medgauge_lib import files
if sys.argv[2] == "renames":
    files.ctypes.CDLL = lambda *_, **__: object()
root, moments = Path(sys.argv[1]), random.Random(int(sys.argv[4]))
contents = {state: {f"d{n}/{n}": state.encode() * 1000 for n in range(20)} for state in ("old", "new")}
files.replace_folder(root / "r", contents["old"], root=root)
for _ in range(int(sys.argv[3])):
    child = os.fork()
    while child == 0:
        for state in contents.values():
            files.replace_folder(root / "r", state, root=root)
    time.sleep(moments.uniform(0.01, 0.05))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if sys.argv[2] == "renames":
        files.clear(root)
    found = {str(p.relative_to(root / "r")): p.read_bytes() for p in (root / "r").rglob("*") if p.is_file()}
    print(found in contents.values(), flush=True)
"""


@pytest.mark.parametrize("way", ["exchange", "renames"])
def test_a_folder_is_whole_when_its_writer_is_killed(tmp_path: Path, way: str) -> None:
    """Killed while it does nothing but write, a writer leaves the old folder or the new one, whole.

    Where two names cannot be exchanged, the next build may first have to give the old folder its name again.
    """
    done = subprocess.run(
        [sys.executable, "-c", WRITE, tmp_path, way, str(KILLS), str(SEED)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["True"] * KILLS
    clear(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_a_folder_that_may_not_be_written_to_is_named() -> None:
    """Without permission nothing is written, and the message names the folder; root tries as nobody."""
    user = os.geteuid()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        replace_folder(root / "r", {"x": b"1"}, root=root)
        root.chmod(0o555)
        try:
            if user == 0:
                os.seteuid(65534)
            with pytest.raises(ValueError, match="cannot be written: permission denied"):
                replace_folder(root / "r", {"x": b"2"}, root=root)
        finally:
            os.seteuid(user)
            root.chmod(0o755)
        assert (root / "r" / "x").read_bytes() == b"1"


@pytest.mark.parametrize("name", [".", "/", "there"])
def test_a_file_is_never_written_over_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A place that is a folder, or has no name, is an error that says so."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    with pytest.raises(InputError, match="is a folder, where a file is to be written"):
        write_file(Path(name), b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


COMMANDS = {
    "demo": ("demo", "{out}"),
    "packet": (
        "findings", "packet", "{demo}/findings/data", "{demo}/findings/submissions", "--out", "{out}",
        "--seed", "00ff",
    ),
    "score": ("score", "{demo}/bm-demo-lab/0.1.0", "--out", "{out}"),
    "import": (
        "import", "table", "{demo}/runs.csv", "--out", "{out}", "--benchmark", "bm-a", "--model", "m-1",
        "--harness", "hx-a", "--created-at", "2026-01-31",
    ),
}  # fmt: skip
"""Each command that writes something, but `report`, whose kills tests/test_kill.py has."""

KILLED = """\
import json, os, random, shutil, signal, sys
from hashlib import sha256
from pathlib import Path
from click.testing import CliRunner
from medgauge_lib.cli import main
place, kills, moments, command = Path(sys.argv[1]), int(sys.argv[2]), random.Random(sys.argv[3]), sys.argv[4:]
out, steps = place / "out", place.with_name("steps")
def run(step=0, sent=0):
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        handle, begun, taken = os.open(steps, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), False, 0
        # Moments are counted, since a clock would hit whatever a busy machine is at. They lie between the
        # steps of writing, from the first file or folder that is made to the last that takes its name.
        def hook(event, arguments):
            nonlocal begun, taken
            begun |= "building-" in str(arguments[:1])
            if begun and event in EVENTS and str(place) in str(arguments[0]):
                taken += 1
                os.write(handle, b".")
                if taken == step:
                    os.kill(os.getpid(), sent)
        sys.addaudithook(hook)
        main(command)
    return os.waitpid(child, 0)[1]
EVENTS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree"}
def found():
    files = [path for path in out.rglob("*") if path.is_file()]
    shown = {str(path.relative_to(out)): sha256(path.read_bytes()).hexdigest() for path in files}
    shutil.rmtree(out, ignore_errors=True)  # a folder that is there already would be refused
    return shown
# What is killed is the writing, neither loading the library nor making what is made once.
assert CliRunner().invoke(main, command).exit_code in (0, 1)
shutil.rmtree(out)
assert os.WEXITSTATUS(run()) in (0, 1)
whole, left, ends = found(), [], {signal.SIGKILL: 9, signal.SIGTERM: 143 << 8, signal.SIGINT: 130 << 8}
taken = steps.stat().st_size
chosen = sorted(moments.sample(range(1, taken + 1), min(kills, taken)))
for number, step in enumerate(chosen):
    sent = list(ends)[number % 3]
    assert run(step, sent) == ends[sent], (step, sent)
    left.append(found() in ({}, whole))
assert os.WEXITSTATUS(run()) in (0, 1)
assert found() == whole and whole, sorted(whole)
print(json.dumps([left, [path.name for path in place.iterdir()]]))
"""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_killed_leaves_its_folder_whole_or_not_at_all(
    tmp_path: Path, demonstration: Path, name: str
) -> None:
    """Killed, terminated or interrupted between steps of its writing; the next run clears what is left."""
    place = tmp_path / "place"
    place.mkdir()
    command = [part.format(demo=demonstration, out=place / "out") for part in COMMANDS[name]]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, place, "6", str(SEED), *command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    left, beside = json.loads(done.stdout)
    assert all(left)
    assert beside == []


FULL = """\
import os, subprocess, sys
from contextlib import suppress
from pathlib import Path
from click.testing import CliRunner
from medgauge_lib.cli import main
place = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], check=True)
with open(place / "filler", "wb", 0) as filler:
    with suppress(OSError):
        while True:
            filler.write(bytes(4096))
    filler.truncate(filler.tell() - 4096)
done = CliRunner().invoke(main, sys.argv[2:])
print(done.exit_code, done.stderr.count("cannot be written: no space left on device"), os.listdir(place))
"""


@needs_mounts
@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_leaves_nothing_of_a_command(tmp_path: Path, demonstration: Path, name: str) -> None:
    """Where the disk fills up while files are written, one message says so and nothing of them stays."""
    command = [part.format(demo=demonstration, out=tmp_path / "out") for part in COMMANDS[name]]
    done = subprocess.run(
        ["unshare", "-rm", sys.executable, "-c", FULL, tmp_path, *command],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "2 1 ['filler']\n"
