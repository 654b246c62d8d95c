"""Notebooks run with this interpreter in their own folder; only one that ran to its end succeeds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import make_reports
import nbformat
import pytest

from medgauge_lib.errors import InputError
from medgauge_lib.report.execute import CellFailed, Executed, Job, parameters_of, read_notebook, run_all
from medgauge_lib.report.normal import normalised


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty temporary folder for kernels, its name short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="mg-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


def job(folder: Path, name: str, *cells: str, report: str = "", kernel: str = "no-such-kernel") -> Job:
    """Write a notebook that names a kernel nobody has, and make its job."""
    made = make_reports.notebook(*cells, parameters="word = None\nnumber = 0")
    made.metadata["kernelspec"] = {"name": kernel, "display_name": kernel, "language": "python"}
    file = folder / f"{name}.ipynb"
    nbformat.write(made, file)
    values = {"word": "1.10", "number": 7}
    return Job(report or name, file, values, folder, folder / "failed" / f"{name}.ipynb")


def printed(result: Executed | CellFailed) -> str:
    """Return what the last cell of an executed notebook printed."""
    assert isinstance(result, Executed), str(result)
    cells = nbformat.reads(result.text, as_version=4).cells
    return str(cells[-1].outputs[0].text)


def failure(folder: Path, *cells: str, seconds: int = 60) -> CellFailed:
    """Run one notebook that fails and return its failure."""
    (result,) = run_all([job(folder, "page", *cells)], cell_seconds=seconds)
    assert isinstance(result, CellFailed)
    assert len(str(result).splitlines()) <= 2
    assert result.job.aside.is_file()
    return result


def test_a_notebook_runs_here_with_this_interpreter_and_typed_values(tmp_path: Path) -> None:
    """A kernel is this interpreter, whatever the notebook names, in its folder and with fixed settings."""
    cell = (
        "import json, locale, os, sys, time\nseen = [sys.executable, os.getcwd(), word, number]\n"
        "print(json.dumps([*seen, hash('a'), time.tzname[0], locale.getlocale()]))"
    )
    (result,) = run_all([job(tmp_path, "page", cell)])
    executable, folder, *values = json.loads(printed(result))
    assert executable.replace("<python>", sys.prefix) == sys.executable
    assert folder == "<folder>"
    hashed = subprocess.run(
        [sys.executable, "-c", "print(hash('a'))"],
        env={"PYTHONHASHSEED": "0"},
        capture_output=True,
        check=True,
    )
    assert values == ["1.10", 7, int(hashed.stdout), "UTC", ["en_US", "UTF-8"]]


def test_half_a_surrogate_pair_is_shown_as_its_escape(tmp_path: Path) -> None:
    """No file can hold half a surrogate pair: it is written as Python writes it, and nothing is lost."""
    cell = (
        "import sys\nfrom IPython.display import Markdown\nhalf = chr(0xD800)\n"
        "print(f'é{half}b')\nprint(f'{half}c', chr(0xDCFF), file=sys.stderr)\nMarkdown(f'd{half}')"
    )
    (result,) = run_all([job(tmp_path, "page", cell)])
    assert isinstance(result, Executed), str(result)
    out, err, shown = nbformat.reads(result.text, as_version=4).cells[-1].outputs
    assert (out.text, err.text) == ("é\\ud800b\n", "\\ud800c \\udcff\n")
    assert shown.data["text/markdown"] == "d\\ud800"


def test_an_error_with_half_a_surrogate_pair_is_told(tmp_path: Path) -> None:
    """The words of an error come through whole."""
    assert failure(tmp_path, "raise ValueError('a\\ud800b')").error == "ValueError: a\\ud800b"


def test_linear_algebra_takes_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Notebooks run side by side, so the products of one do not start a thread for every processor."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "5")
    cell = (
        "import os\nbefore = len(os.listdir('/proc/self/task'))\n"
        "import numpy as np\nsquare = np.ones((600, 600))\nsquare @ square\n"
        "print(len(os.listdir('/proc/self/task')) - before)"
    )
    (result,) = run_all([job(tmp_path, "page", cell)])
    assert printed(result) == "0\n"


def test_several_notebooks_run_at_once_and_leave_nothing(tmp_path: Path, scratch: Path) -> None:
    """Results come in the order of the jobs, and no socket, file or process stays behind."""
    jobs = [job(tmp_path, f"page{number}", f"import os; print({number}, os.getpid())") for number in range(4)]
    told: list[Executed | CellFailed] = []
    results = run_all(jobs, workers=4, done=told.append)
    words = [printed(result).split() for result in results]
    assert [int(number) for number, _ in words] == [0, 1, 2, 3]
    assert sorted(result.job.name for result in told) == [f"page{number}" for number in range(4)]
    assert list(scratch.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"page{number}.ipynb" for number in range(4)]
    for _, pid in words:
        assert not Path(f"/proc/{pid}").exists()


def test_a_cell_that_raises_is_named(tmp_path: Path) -> None:
    """The message holds notebook, number of the cell in the file, the error, and what to do."""
    failed = failure(tmp_path, "1", "1 / 0", "2")
    assert failed.cell == 4
    first, second = str(failed).splitlines()
    assert first == f"{tmp_path / 'page.ipynb'}: cell 4: ZeroDivisionError: division by zero"
    assert str(failed.job.aside) in second
    kept = nbformat.read(failed.job.aside, as_version=4)
    assert any(output.output_type == "error" for cell in kept.cells for output in cell.get("outputs", []))


def test_an_input_error_in_a_cell_is_shown_alone(tmp_path: Path) -> None:
    """Trouble with the input is told in the words of the library, without the cell it came up in."""
    error = (
        "from medgauge_lib.errors import InputError\nraise InputError('bad', 'do', file='x', pointer='/a')"
    )
    failed = failure(tmp_path, error)
    assert str(failed) == "x: /a: bad\n  do"
    assert failed.cell == 3


def test_a_dying_kernel_is_a_failure(tmp_path: Path) -> None:
    """A process that is killed in a cell is named as such, though its notebook looks clean."""
    failed = failure(tmp_path, "1", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert (failed.cell, failed.error) == (4, "its Python process died (out of memory, or killed)")


def test_a_cell_that_never_ends_is_a_failure(tmp_path: Path) -> None:
    """A cell over its time limit is named."""
    failed = failure(tmp_path, "import time; time.sleep(60)", seconds=1)
    assert (failed.cell, failed.error) == (3, "still running after 1 s")


def test_a_notebook_that_exits_early_is_a_failure(tmp_path: Path) -> None:
    """Leaving the interpreter in a cell is no success, although papermill takes it for one."""
    assert failure(tmp_path, "import sys; sys.exit(0)", "print(1)").cell == 3


def test_an_invalid_output_is_a_failure(tmp_path: Path) -> None:
    """An output that no notebook can hold fails its notebook with one message."""
    cell = "from IPython.display import display\ndisplay({'application/x.json': {'a': 1}}, raw=True)"
    assert "cell 3" in str(failure(tmp_path, cell))


def test_an_error_of_many_lines_is_cut_to_one(tmp_path: Path) -> None:
    """The error in a message is one printable line."""
    failed = failure(tmp_path, r"raise ValueError('first\x1b[31m' + 'x' * 9999 + '\nsecond')")
    assert failed.error.isprintable()
    assert failed.error.startswith("ValueError: first")
    assert len(failed.error) == 300


def test_a_missing_interpreter_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that cannot start is named before any cell."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    failed = failure(tmp_path, "1")
    assert failed.cell == 0
    assert "did not start" in failed.error


def test_a_failure_stops_its_own_report_only(tmp_path: Path) -> None:
    """The first failure of a report ends its other notebooks, and no other report's."""
    jobs = [
        job(tmp_path, "slow", "import time; time.sleep(120)", report="a"),
        job(tmp_path, "bad", "1 / 0", report="a"),
        job(tmp_path, "good", "import time; time.sleep(1); print(1)", report="b"),
        job(tmp_path, "late", "print(2)", report="a"),
    ]
    start = time.monotonic()
    results = run_all(jobs, workers=3)
    assert time.monotonic() - start < 60
    assert [result.job.name for result in results] == ["bad", "good"]
    assert [path.name for path in (tmp_path / "failed").iterdir()] == ["bad.ipynb"]


@pytest.fixture
def running(tmp_path: Path, scratch: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that runs a notebook which never ends and has started its cell."""
    mark = tmp_path / "started"
    made = job(
        tmp_path,
        "page",
        f"import os, pathlib, time\npathlib.Path({str(mark)!r}).write_text(str(os.getpid()))",
        "time.sleep(600)",
    )
    program = (
        "from pathlib import Path\nfrom medgauge_lib.report.execute import Job, run_all\n"
        f"notebook = Path({str(made.notebook)!r})\n"
        f"run_all([Job('r', notebook, {dict(made.values)!r}, notebook.parent, notebook.parent / 'aside')])"
    )
    environment = os.environ | {"TMPDIR": str(scratch)}
    process = subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stderr=subprocess.PIPE, text=True
    )
    while not (mark.is_file() and mark.read_text()):
        assert process.poll() is None
        time.sleep(0.05)
    yield process
    process.kill()
    process.communicate()


def test_an_interrupt_stops_every_kernel(
    tmp_path: Path, scratch: Path, running: subprocess.Popen[str]
) -> None:
    """Control-C ends the kernels at once and leaves no sockets."""
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=30)
    kernel = int((tmp_path / "started").read_text())
    assert not Path(f"/proc/{kernel}").exists()
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert "never awaited" not in errors
    assert "Task was destroyed" not in errors
    assert not (tmp_path / "aside").exists()
    assert list(scratch.iterdir()) == []


def test_a_killed_build_leaves_no_kernel(tmp_path: Path, running: subprocess.Popen[str]) -> None:
    """When this program is killed, its kernels end by themselves."""
    running.kill()
    kernel = int((tmp_path / "started").read_text())
    deadline = time.monotonic() + 20
    while Path(f"/proc/{kernel}").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not Path(f"/proc/{kernel}").exists()


@pytest.mark.parametrize(
    ("parameters", "missing"),
    [("word = None", "number"), ("number: int = 0", "word"), ("if", "word, number")],
)
def test_a_parameter_the_notebook_does_not_know_is_refused(
    tmp_path: Path, parameters: str, missing: str
) -> None:
    """A value without an assignment in the parameters cell is an error before anything runs."""
    made = job(tmp_path, "page")
    nbformat.write(make_reports.notebook("1", parameters=parameters), made.notebook)
    with pytest.raises(InputError, match=f"does not assign {missing}"):
        run_all([made])


def test_a_notebook_without_a_parameters_cell_is_refused(tmp_path: Path) -> None:
    """A notebook that takes no parameters cannot be part of a report."""
    made = job(tmp_path, "page")
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]), made.notebook)
    with pytest.raises(InputError, match="does not assign word, number"):
        run_all([made])


@pytest.mark.parametrize("content", ["", "[]", "{", '{"nbformat": 4, "nbformat_minor": 5}'])
def test_a_file_that_is_no_notebook_is_refused(tmp_path: Path, content: str) -> None:
    """A damaged notebook is named in one message."""
    file = tmp_path / "page.ipynb"
    file.write_text(content)
    with pytest.raises(InputError, match=r"page\.ipynb: is not a notebook"):
        read_notebook(file)


@pytest.mark.parametrize(
    ("part", "place"),
    [
        ({"source": None}, "/cells/0/source"),
        ({"outputs": [{"output_type": "stream", "name": "stdout"}]}, "/cells/0/outputs/0"),
        ({"metadata": {"tags": None}}, "/cells/0/metadata/tags"),
        ({"cell_type": "heading"}, "/cells/0"),
    ],
)
def test_a_cell_of_another_form_is_refused(tmp_path: Path, part: dict[str, object], place: str) -> None:
    """A notebook whose parts are missing or of another form is refused with the place, before it runs."""
    file = tmp_path / "page.ipynb"
    cell = {"cell_type": "code", "metadata": {}, "source": "1", "outputs": [], "execution_count": None}
    made = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell | {"id": "not an id"}]}
    file.write_text(json.dumps(made))
    assert read_notebook(file).cells[0].source == "1"
    file.write_text(json.dumps(made | {"cells": [cell | part]}))
    with pytest.raises(InputError, match=rf"page\.ipynb: {place}: is not a notebook"):
        read_notebook(file)


def test_a_pipe_is_no_notebook(tmp_path: Path) -> None:
    """A pipe where a notebook should be is refused, not waited for."""
    os.mkfifo(tmp_path / "page.ipynb")
    with pytest.raises(InputError, match="is not a regular file"):
        read_notebook(tmp_path / "page.ipynb")


def test_a_notebook_with_half_a_character_is_refused(tmp_path: Path) -> None:
    """JSON can spell half a surrogate pair, which no page can hold."""
    file = tmp_path / "page.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("half")]), file)
    assert read_notebook(file).cells[0].source == "half"
    file.write_text(file.read_text().replace('"half"', '"\\ud800"'))
    with pytest.raises(InputError, match=r"page\.ipynb: is not a notebook"):
        read_notebook(file)


def test_a_missing_notebook_is_refused(tmp_path: Path) -> None:
    """A notebook that is not there is named."""
    with pytest.raises(InputError, match="no such file"):
        read_notebook(tmp_path / "page.ipynb")


def test_parameters_of_a_notebook_are_the_names_it_assigns() -> None:
    """Plain, annotated and multiple assignments count; other statements do not."""
    made = make_reports.notebook(parameters="a = b = 1\nc: int = 2\nimport os\nd[0] = 1")
    assert parameters_of(made) == ("a", "b", "c")


def test_executed_notebooks_are_the_same_bytes(tmp_path: Path) -> None:
    """Two runs in two folders give the same text: no time, path, address or random id is in it."""
    noisy = (
        "import os, sys, warnings, tempfile\n"
        "print(object(), os.getcwd(), sys.prefix, tempfile.gettempdir())\n"
        "print(os.path.expanduser('~/x'), {'b', 'a', 'c'})\nwarnings.warn('careful')\nobject()"
    )
    texts = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        (result,) = run_all([job(folder, "page", noisy)])
        assert isinstance(result, Executed)
        texts.append(result.text)
        assert set(result.times) == {"start", "end", "duration", "cells"}
        assert result.times["duration"] > 0
    assert texts[0] == texts[1]
    for trace in (
        str(tmp_path),
        "ipykernel_",
        sys.prefix,
        'papermill"',
        "start_time",
        os.path.expanduser("~"),
    ):
        assert trace not in texts[0]


def test_a_line_of_megabytes_is_scrubbed_at_once() -> None:
    """The file of a cell leaves a line of megabytes; what is no part of its path stays."""
    made = make_reports.notebook("x")
    long = "y" * 5_000_000
    text = f"{long}'/tmp/ipykernel_12/3456.py' {long}"
    made.cells[-1].outputs = [nbformat.v4.new_output("stream", name="stdout", text=text)]
    (output,) = json.loads(normalised(made)[0])["cells"][-1]["outputs"]
    assert "".join(output["text"]) == f"{long}'<cell>' {long}"


def test_streams_are_joined_as_a_terminal_shows_them() -> None:
    """Pieces of a stream become one, output before errors; a line that is written over shows its end."""
    made = make_reports.notebook("x")
    long = "c" * 5_000_000
    pieces = [("stderr", "10 %\r"), ("stdout", "a\r\nb"), ("stderr", "20 %\r100 %\r\n"), ("stdout", long)]
    made.cells[-1].outputs = [nbformat.v4.new_output("stream", name=name, text=text) for name, text in pieces]
    outputs = json.loads(normalised(made)[0])["cells"][-1]["outputs"]
    assert [(output["name"], "".join(output["text"])) for output in outputs] == [
        ("stdout", "a\r\nb" + long),
        ("stderr", "100 %\r\n"),
    ]


def test_the_canonical_form_says_what_the_notebook_says() -> None:
    """Sources, tags and outputs stay; images are untouched; writing again changes nothing."""
    made = make_reports.notebook("x")
    image = {"image/png": "0x1234567890", "text/plain": "<a at 0x7f0012345678>"}
    made.cells[-1].outputs = [make_reports.output(image)]
    text, _ = normalised(made)
    again = nbformat.reads(text, as_version=4)
    nbformat.validate(again)
    assert [cell.source for cell in again.cells] == [cell.source for cell in made.cells]
    assert again.cells[1].metadata.tags == ["parameters"]
    assert again.cells[-1].outputs[0].data == {"image/png": "0x1234567890", "text/plain": "<a at 0x…>"}
    assert normalised(again)[0] == text


def test_nothing_of_a_threads_event_loop_is_left(tmp_path: Path) -> None:
    """Running notebooks leaves no thread behind."""
    before = set(threading.enumerate())
    run_all([job(tmp_path, "page", "1")])
    assert set(threading.enumerate()) <= before
