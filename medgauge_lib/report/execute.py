"""Running notebooks: several at a time, with this interpreter, and success only where every cell succeeded.

papermill puts the parameters in and drives the cells; a kernel manager of our own starts the kernels. A
kernel runs the interpreter that runs this program, whatever the notebook names, in the folder of its params
file, with a fixed hash seed, time zone and locale, and one thread for linear algebra: notebooks run side by
side, and threads that wait for each other cost more than these small products. Its sockets lie in a folder
that is gone at the end.
"""

from __future__ import annotations

import ast
import asyncio
import fcntl
import json
import logging
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import nbformat

from medgauge_lib.errors import InputError
from medgauge_lib.files import write_file
from medgauge_lib.reading import file_bytes
from medgauge_lib.report.normal import normalised
from medgauge_lib.schema import pointer

CELL_SECONDS = 600
"""How long one cell may run before its notebook is given up, in seconds."""

START_SECONDS = 60
"""How long a kernel may take to start, in seconds."""

_PREFIX = "medgauge-kernels-"

_SETTINGS = ("--log-level=CRITICAL", "--Session.packer=medgauge_lib.report.packer.pack")
"""A kernel whose build ended without it is silent, on the terminal of whoever ended it; none loses a text."""

_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "en",
    "COLUMNS": "80",
    "NO_COLOR": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}


@dataclass(frozen=True)
class Job:
    """One notebook to run.

    Attributes
    ----------
    report : str
        The report it belongs to; a failure stops the other notebooks of that report only.
    notebook : Path
        The notebook file, without outputs.
    values : mapping
        Typed parameters; each must be assigned in the notebook's parameters cell.
    folder : Path
        Working folder of its kernel.
    aside : Path or None
        Where the notebook is kept, as far as it came, when it fails; None keeps it nowhere.
    """

    report: str
    notebook: Path
    values: Mapping[str, str | int | float | None]
    folder: Path
    aside: Path | None

    @property
    def name(self) -> str:
        """Name of the notebook without its ending."""
        return self.notebook.stem


@dataclass(frozen=True)
class Executed:
    """An executed notebook.

    Attributes
    ----------
    job : Job
        What was executed.
    text : str
        The notebook as canonical text, which holds no time.
    times : mapping
        The times of its run.
    """

    job: Job
    text: str
    times: Mapping[str, Any] = field(repr=False)


class CellFailed(InputError):  # noqa: N818 - what happened, and the word the report uses for it
    """A notebook did not run to its end.

    Attributes
    ----------
    job : Job
        The notebook.
    cell : int
        Number of the cell in the notebook file, from 1; 0 where no cell had started.
    error : str
        What happened, on one line.
    """

    def __init__(self, job: Job, cell: int, error: str, message: str | None = None) -> None:
        self.job, self.cell, self.error = job, cell, error
        place = f"cell {cell}: " if cell else ""
        remedy = f"read {job.aside or job.notebook}, correct the notebook or what it reads, and build again"
        super().__init__(f"{place}{error}", remedy, file=job.notebook)
        if message is not None:
            self.args = (message,)


def run_all(
    jobs: list[Job],
    *,
    workers: int | None = None,
    cell_seconds: int = CELL_SECONDS,
    done: Callable[[Executed | CellFailed], None] = lambda result: None,
) -> list[Executed | CellFailed]:
    """Run notebooks, several at a time.

    Parameters
    ----------
    jobs : list of Job
        What to run; they start in this order.
    workers : int, optional
        How many at a time; the number of processors and one more where not given, and twice the number of
        processors at most.
    cell_seconds : int
        Time limit of one cell.
    done : callable, optional
        Called in this thread with each result as it comes.

    Returns
    -------
    list
        In the order of `jobs`: an `Executed`, or the `CellFailed` of a report's first failure. Notebooks of a
        report that failed are stopped and left out.
    """
    cores = os.cpu_count() or 1
    workers = min(workers or cores + 1, 2 * cores)
    results: dict[int, Executed | CellFailed] = {}
    failed: set[str] = set()
    with _kernels() as kernels, ThreadPoolExecutor(max_workers=workers) as pool:
        futures: dict[Future[Executed | CellFailed], int] = {
            pool.submit(_run, job, kernels, cell_seconds): number for number, job in enumerate(jobs)
        }
        try:
            while futures:
                finished, _ = wait(futures, return_when=FIRST_COMPLETED)
                for future in sorted(finished, key=futures.__getitem__):
                    number = futures.pop(future)
                    if future.cancelled() or jobs[number].report in failed:
                        continue
                    result = results[number] = future.result()
                    done(result)
                    if isinstance(result, CellFailed):
                        failed.add(result.job.report)
                        _stop(result.job.report, futures, jobs, kernels)
        except BaseException:
            for report in {job.report for job in jobs}:
                _stop(report, futures, jobs, kernels)
            raise
    return [results[number] for number in sorted(results)]


def _stop(report: str, futures: dict[Future[Any], int], jobs: list[Job], kernels: _Kernels) -> None:
    """Stop every notebook of one report, started or not."""
    for future, number in futures.items():
        if jobs[number].report == report:
            future.cancel()
    kernels.kill(report)


@contextmanager
def _event_loop() -> Iterator[None]:
    """Give this thread an event loop for one notebook, and end what a failed cell leaves waiting in it."""
    from jupyter_core.utils import ensure_event_loop

    loop = ensure_event_loop()
    try:
        yield
    finally:
        waiting = asyncio.all_tasks(loop)
        for task in waiting:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*waiting, return_exceptions=True))
        asyncio.set_event_loop(None)
        loop.close()


def _run(job: Job, kernels: _Kernels, cell_seconds: int) -> Executed | CellFailed:
    """Run one notebook in this thread."""
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    notebook = read_notebook(job.notebook)
    _require_parameters(job, notebook)
    watch = _Watch(notebook)
    try:
        with _event_loop():
            executed = _papermill(job, notebook, kernels, cell_seconds, watch)
    except PapermillExecutionError as error:
        watch.cell_index = error.cell_index
        message = error.evalue if error.ename == InputError.__name__ else None
        return _failure(job, watch, _one_line(f"{error.ename}: {error.evalue}"), kernels, message)
    except CellTimeoutError:
        return _failure(job, watch, f"still running after {cell_seconds} s", kernels)
    except DeadKernelError:
        return _failure(job, watch, "its Python process died (out of memory, or killed)", kernels)
    except nbformat.ValidationError as error:
        return _failure(job, watch, _one_line(f"no notebook can hold its output: {error.message}"), kernels)
    except (RuntimeError, OSError) as error:
        return _failure(job, watch, _one_line(f"its Python process did not start: {error}"), kernels)
    unfinished = _first_unfinished(executed, watch)
    if unfinished is not None:
        watch.cell_index = unfinished
        return _failure(job, watch, "did not run to its end", kernels)
    text, times = normalised(executed, (job.folder, Path.cwd(), kernels.folder))
    return Executed(job, text, times)


def read_notebook(file: Path) -> nbformat.NotebookNode:
    """Read a notebook of format 4.

    Parameters
    ----------
    file : Path
        The notebook.

    Returns
    -------
    NotebookNode
        Of format 4; papermill brings it to the newest minor version.

    Raises
    ------
    InputError
        Where it cannot be read or is not a notebook.
    """
    data = file_bytes(file, what="a notebook")
    try:
        # Format 3 comes as nodes of another class.
        notebook: nbformat.NotebookNode = nbformat.from_dict(
            nbformat.convert(nbformat.reader.reads(data.decode()), 4)
        )
    except Exception as error:
        raise _no_notebook(error, file) from None
    require_formed(notebook, file)
    return notebook


def require_formed(notebook: nbformat.NotebookNode, file: str | os.PathLike[str]) -> None:
    """Require a notebook to have the form of format 4; its cells get new ids, which nothing reads.

    Parameters
    ----------
    notebook : NotebookNode
        Of format 4.
    file : path
        Named by messages.

    Raises
    ------
    InputError
        Where a part is missing or has another form, or a text is none that a page can hold.

    Examples
    --------
    >>> notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_raw_cell()])
    >>> del notebook.cells[0]["source"]
    >>> require_formed(notebook, "a.ipynb")
    Traceback (most recent call last):
        ...
    medgauge_lib.errors.InputError: a.ipynb: /cells/0: is not a notebook: 'source' is a required property
      save it from Jupyter
    """
    try:
        for number, cell in enumerate(notebook.get("cells", [])):
            cell.pop("id", None)
            if notebook.nbformat_minor >= 5:
                cell["id"] = f"c{number:03d}"
        nbformat.validate(notebook)
        # JSON can spell half a surrogate pair, which no page can hold.
        json.dumps(notebook, ensure_ascii=False).encode()
    except nbformat.ValidationError as error:
        raise _no_notebook(error.message, file, pointer(error.absolute_path)) from None
    except Exception as error:
        raise _no_notebook(error, file) from None


def _no_notebook(why: object, file: str | os.PathLike[str], place: str = "") -> InputError:
    wrong = _one_line(f"is not a notebook: {str(why) or type(why).__name__}")
    return InputError(wrong, "save it from Jupyter", file=file, pointer=place)


def parameters_of(notebook: nbformat.NotebookNode) -> tuple[str, ...]:
    r"""Give the names that a notebook's parameters cell assigns.

    Parameters
    ----------
    notebook : NotebookNode
        The first code cell tagged ``parameters`` counts; a cell that is not Python assigns nothing.

    Returns
    -------
    tuple of str
        In the order of the cell.

    Examples
    --------
    >>> cell = nbformat.v4.new_code_cell("seed = 1\ntitle = None", metadata={"tags": ["parameters"]})
    >>> parameters_of(nbformat.v4.new_notebook(cells=[cell]))
    ('seed', 'title')
    """
    for cell in notebook.cells:
        if cell.cell_type == "code" and "parameters" in cell.metadata.get("tags", []):
            try:
                statements = ast.parse(cell.source).body
            except SyntaxError:
                return ()
            return tuple(
                target.id
                for statement in statements
                for target in getattr(statement, "targets", [getattr(statement, "target", None)])
                if isinstance(target, ast.Name)
            )
    return ()


def _require_parameters(job: Job, notebook: nbformat.NotebookNode) -> None:
    """Require the parameters cell to assign every value it will be given."""
    known = parameters_of(notebook)
    missing = [name for name in job.values if name not in known]
    if missing:
        raise InputError(
            f"its parameters cell does not assign {', '.join(missing)}",
            'tag one cell "parameters" and assign every key of a params file in it',
            file=job.notebook,
        )


class _Watch:
    """What is known of a notebook while it runs: the cell it is in, and the node papermill works on."""

    def __init__(self, source: nbformat.NotebookNode) -> None:
        self.source = source
        self.cell_index: int | None = None
        self.finished: set[int] = set()
        self.notebook: nbformat.NotebookNode | None = None

    def cell_number(self) -> int:
        """Number of the current cell in the source, from 1; papermill added one below the parameters."""
        if self.cell_index is None:
            return 0
        tags = [cell.metadata.get("tags", []) for cell in self.source.cells]
        if any("injected-parameters" in names for names in tags):
            return self.cell_index + 1
        parameters = next(index for index, names in enumerate(tags) if "parameters" in names)
        return self.cell_index + (self.cell_index <= parameters)

    def started(self, notebook: nbformat.NotebookNode) -> None:
        self.notebook = notebook

    def cell_started(self, cell: nbformat.NotebookNode, cell_index: int) -> None:
        self.cell_index = cell_index

    def cell_executed(
        self, cell: nbformat.NotebookNode, cell_index: int, execute_reply: Mapping[str, Any]
    ) -> None:
        if execute_reply["content"]["status"] == "ok":
            self.finished.add(cell_index)


def _papermill(
    job: Job, notebook: nbformat.NotebookNode, kernels: _Kernels, cell_seconds: int, watch: _Watch
) -> nbformat.NotebookNode:
    """Hand one notebook to papermill; nothing is written to disk."""
    import papermill

    executed: nbformat.NotebookNode = papermill.execute_notebook(
        notebook,
        None,
        parameters=dict(job.values),
        kernel_name="python3",
        language="python",
        progress_bar=False,
        request_save_on_cell_execute=False,
        autosave_cell_every=0,
        start_timeout=START_SECONDS,
        execution_timeout=cell_seconds,
        record_timing=False,
        kernel_manager_class=kernels.manager_class(job.report),
        resources={"metadata": {"path": str(job.folder.resolve())}},
        shutdown_kernel="immediate",
        on_notebook_start=watch.started,
        on_cell_start=watch.cell_started,
        on_cell_executed=watch.cell_executed,
    )
    return executed


def _first_unfinished(notebook: nbformat.NotebookNode, watch: _Watch) -> int | None:
    """Give the first code cell that the kernel did not report as done, or None."""
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" and cell.source.strip() and index not in watch.finished:
            return index
    return None


def _failure(
    job: Job, watch: _Watch, error: str, kernels: _Kernels, message: str | None = None
) -> CellFailed:
    """Keep a failed notebook aside, as far as it came, and say what happened."""
    text, _ = normalised(watch.notebook or watch.source, (job.folder, Path.cwd(), kernels.folder))
    # What failed must be said even where nothing can be written; a notebook that was stopped did not fail.
    if job.aside is not None and not kernels.stopped(job.report):
        with suppress(InputError):
            write_file(job.aside, text.encode())
    return CellFailed(job, watch.cell_number(), error, message)


def _one_line(text: str) -> str:
    """Give the first line of a message, printable and at most 300 characters long."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    shown = "".join(char if char.isprintable() else " " for char in first)
    return shown if len(shown) <= 300 else shown[:299] + "…"


class _Kernels:
    """The kernels of one build: where their sockets lie, and which are alive."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._alive: dict[int, tuple[str, Any]] = {}
        self._stopped: set[str] = set()
        self._lock = threading.Lock()
        self._number = count(1)

    def manager_class(self, report: str) -> type:
        """Make the kernel manager class for the notebooks of one report."""
        from jupyter_client.kernelspec import KernelSpec
        from jupyter_client.manager import AsyncKernelManager

        kernels = self

        class InterpreterKernel(AsyncKernelManager):
            """Starts this interpreter, whatever kernelspec a notebook names and whichever are installed."""

            def __init__(self, **traits: Any) -> None:
                super().__init__(**traits)
                self.number = next(kernels._number)
                self.transport = "ipc"
                self.connection_file = str(kernels.folder / f"k{self.number}.json")
                self._kernel_spec = KernelSpec(
                    argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", *_SETTINGS],
                    display_name="Python 3",
                    language="python",
                    name="python3",
                    env=_ENVIRONMENT | {"IPYTHONDIR": str(kernels.folder / "ipython")},
                )

            async def _async_start_kernel(self, **arguments: Any) -> None:
                await super()._async_start_kernel(**arguments)
                kernels.add(self.number, report, self.provisioner)

            start_kernel = _async_start_kernel

            async def _async_cleanup_resources(self, restart: bool = False) -> None:
                kernels.remove(self.number)
                await super()._async_cleanup_resources(restart=restart)

            cleanup_resources = _async_cleanup_resources

        return InterpreterKernel

    def add(self, number: int, report: str, provisioner: Any) -> None:
        """Remember a kernel that started; one of a report already stopped is killed at once."""
        with self._lock:
            self._alive[number] = (report, provisioner)
            stopped = report in self._stopped
        if stopped:
            provisioner.process.kill()

    def remove(self, number: int) -> None:
        """Forget a kernel that ended."""
        with self._lock:
            self._alive.pop(number, None)

    def stopped(self, report: str) -> bool:
        """Tell whether the kernels of a report were killed."""
        with self._lock:
            return report in self._stopped

    def kill(self, report: str) -> None:
        """Kill the kernels of one report; their notebooks end with a dead kernel."""
        with self._lock:
            self._stopped.add(report)
            processes = [
                provisioner.process for owner, provisioner in self._alive.values() if owner == report
            ]
        for process in processes:
            if process is not None:
                process.kill()


@contextmanager
def _kernels() -> Iterator[_Kernels]:
    """Keep sockets, connection files and the kernels' profile in one folder, gone at the end."""
    logging.getLogger("papermill").setLevel(logging.CRITICAL)
    _remove_abandoned()
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
        handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            (Path(folder) / "ipython" / "profile_default").mkdir(parents=True)
            yield _Kernels(Path(folder))
        finally:
            os.close(handle)


def _remove_abandoned() -> None:
    """Remove the folders of builds that were killed: nobody holds them any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            # A folder this young may belong to a build that is about to hold it.
            if time.time() - folder.stat().st_mtime < START_SECONDS:
                continue
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(handle)
