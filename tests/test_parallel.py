"""Work on several processes, and on a real Dask cluster of the loopback interface."""

from __future__ import annotations

import os
import pickle
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import worked
from dask_cluster import Cluster, cluster
from distributed.comm.core import CommClosedError

from medgauge_lib import library, parallel
from medgauge_lib.errors import InputError
from medgauge_lib.parallel import Workers, run

NUMBERS = tuple(range(12))
SQUARES = {0: 0, 1: 1, 2: 4, 3: 9, 4: 16, 5: 25, 6: 36, 7: 49, 8: 64, 9: 81, 10: 100, 11: 121}


@pytest.mark.parametrize("jobs", [1, 4])
def test_any_number_of_processes_gives_the_same_results(jobs: int) -> None:
    """One process and four give each item its result, once."""
    found = list(run(worked.square, NUMBERS, workers=Workers(jobs=jobs)))
    assert len(found) == len(NUMBERS)
    assert dict(found) == SQUARES


def test_no_more_processes_are_started_than_have_a_core_and_an_item(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 500 processes two start for two items, and as many as cores for many; the results are the same."""
    asked = []
    joined = parallel._joblib
    monkeypatch.setattr(parallel, "_joblib", lambda *given: asked.append(given[2]) or joined(*given))
    processes = {result for _, result in run(worked.process, [1, 2], workers=Workers(jobs=500))}
    assert (asked, len(processes) <= 2, os.getpid() in processes) == ([2], True, False)
    monkeypatch.setattr("joblib.cpu_count", lambda: 3)
    assert dict(run(worked.square, NUMBERS, workers=Workers(jobs=500))) == SQUARES
    assert asked == [2, 3]


def test_the_order_of_items_is_of_no_account() -> None:
    """Items in another order give the same result each."""
    shuffled = random.Random(3).sample(NUMBERS, len(NUMBERS))
    found = {shuffled[index]: result for index, result in run(worked.square, shuffled)}
    assert found == SQUARES


def test_no_items_are_no_results() -> None:
    """Nothing to do is done at once."""
    assert list(run(worked.square, [])) == []


def test_processes_keep_to_one_thread_of_linear_algebra_each() -> None:
    """As many processes as cores do not ask for more threads than there are cores."""
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]
    assert {result for _, result in run(worked.environment, names, workers=Workers(jobs=2))} == {"1"}


def test_a_killed_process_has_its_items_run_again(tmp_path: Path) -> None:
    """One worker is killed midway; the results are those of undisturbed work."""
    items = [(number, tmp_path / "mark") for number in NUMBERS]
    assert dict(run(worked.deadly_once, items, workers=Workers(jobs=2))) == SQUARES
    assert (tmp_path / "mark").exists()


def test_items_that_kill_every_process_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that kills whoever takes it ends with the likely reason."""
    monkeypatch.setattr(parallel, "DEATHS", 2)
    with pytest.raises(InputError, match="workers died 2 times over the same work, most likely for want of"):
        list(run(worked.deadly, [1, 2], workers=Workers(jobs=2)))


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_the_function_raises_comes_as_it_is(jobs: int) -> None:
    """An error of two lines on a worker is the same two lines here."""
    with pytest.raises(InputError) as caught:
        list(run(worked.refusing, NUMBERS, workers=Workers(jobs=jobs)))
    assert str(caught.value) == "some.json: /3: 3 is not wanted\n  leave it out"
    assert caught.value.remedy == "leave it out"


def test_a_pickled_error_says_the_same() -> None:
    """Lines stay lines, and signs that do not print stay escaped, through a pickle."""
    error = InputError("a\tb", "c", file="d", pointer="/e")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_results_that_nobody_asks_for_are_not_waited_for() -> None:
    """Closing the iterator early ends the workers without a warning."""
    found = run(worked.slow, range(1000), workers=Workers(jobs=2))
    next(found)
    found.close()


INTERRUPTED = """
import sys
import worked
from medgauge_lib.parallel import Workers, run
kept = []
try:
    for index, result in run(worked.slow, range(1000), workers=Workers(jobs=2)):
        kept.append((index, result))
        print("one", flush=True)
except KeyboardInterrupt:
    print(all(result == index * index for index, result in kept), len(kept) > 0, flush=True)
"""


def test_an_interrupt_ends_the_workers_and_keeps_what_was_given() -> None:
    """Ctrl-C, which a terminal sends to every process, ends all of them in silence; results stay."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "one\n"
    os.killpg(process.pid, signal.SIGINT)
    said, errors = process.communicate(timeout=60)  # ends only when no worker holds the pipes any more
    assert (said.splitlines()[-1], errors, process.returncode) == ("True True", "", 0)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"jobs": 0}, ValueError, "jobs must be at least 1, but got 0"),
        ({"jobs": "2"}, TypeError, "jobs must be an integer, but got '2'"),
        ({"jobs": True}, TypeError, "jobs must be an integer, but got True"),
        ({"jobs": 2, "dask": "a:1"}, ValueError, "leave it out where dask is given"),
    ],
)
def test_workers_that_cannot_be(wrong: dict[str, Any], error: type[Exception], words: str) -> None:
    """What no workers can be is named with its value."""
    with pytest.raises(error, match=words):
        Workers(**wrong)


def test_a_function_is_called_for() -> None:
    """What cannot be called is named before any worker starts."""
    with pytest.raises(TypeError, match="function must be callable, but got 3"):
        run(3, [1])  # type: ignore[arg-type]


# ------------------------------------------------------------------ on a cluster


def test_a_cluster_gives_the_same_results(dask: Cluster) -> None:
    """Two workers of a cluster give what processes of this machine give."""
    found = list(run(worked.square, NUMBERS, workers=Workers(dask=dask.address)))
    assert len(found) == len(NUMBERS)
    assert dict(found) == SQUARES


def test_an_error_on_a_cluster_comes_as_it_is(dask: Cluster) -> None:
    """An error of two lines on a worker of a cluster is the same two lines here."""
    with pytest.raises(InputError) as caught:
        list(run(worked.refusing, NUMBERS, workers=Workers(dask=dask.address)))
    assert str(caught.value) == "some.json: /3: 3 is not wanted\n  leave it out"


def test_a_cluster_is_left_early_in_silence(dask: Cluster, capfd: pytest.CaptureFixture[str]) -> None:
    """Closing the iterator leaves the cluster to others, with nothing in any log."""
    found = run(worked.slow, range(1000), workers=Workers(dask=dask.address))
    next(found)
    found.close()
    assert dict(run(worked.square, NUMBERS, workers=Workers(dask=dask.address))) == SQUARES
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("place", ["scheduler", "worker"])
def test_another_library_on_the_cluster_is_refused(
    dask: Cluster, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Code that differs on a worker or the scheduler is an error before any work is done."""
    here = library.library()
    other = here | {"uses": here["uses"] | {"numpy": "1.0"}}
    monkeypatch.setattr(library, "_dependencies", lambda: other["uses"])
    if place == "worker":  # the scheduler passes for the same
        monkeypatch.setattr("distributed.Client.run_on_scheduler", lambda *_: other)
    with pytest.raises(InputError, match=rf"--dask: the {place}|{place} tcp.* has numpy .* \(here 1\.0\)"):
        list(run(worked.square, NUMBERS, workers=Workers(dask=dask.address)))


def test_a_worker_that_joins_late_with_another_library_is_found() -> None:
    """Work carries what it was asked by, and a worker with anything else refuses it."""
    asked = library.library() | {"medgauge": "0.0.1"}
    with pytest.raises(InputError, match="a Dask worker has another library: this machine has medgauge"):
        parallel._called_there(worked.square, asked, (0, 3))


def test_a_cluster_that_is_killed_part_by_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Work goes on where one worker is killed; without any worker or scheduler one error says so."""
    monkeypatch.setattr(parallel, "CONNECT_SECONDS", 2)
    with cluster(tmp_path, 0, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1") as running:
        workers = Workers(dask=running.address)
        with pytest.raises(InputError, match="has no workers"):
            list(run(worked.square, NUMBERS, workers=workers))

        running.start_workers(4)
        monkeypatch.setattr(parallel, "CONNECT_SECONDS", 30)
        found = run(worked.slow, NUMBERS, workers=workers)
        first = next(found)
        running.workers[0].kill()
        assert dict([first, *found]) == SQUARES

        with pytest.raises(InputError, match="2 Dask workers died over the same work"):
            list(run(worked.deadly, [1], workers=workers))

        found = run(worked.slow, range(1000), workers=workers)
        next(found)
        running.scheduler.kill()
        with pytest.raises(InputError, match=r"scheduler at tcp.* was lost before the work had ended"):
            list(found)
    assert capfd.readouterr() == ("", "")


def test_a_scheduler_lost_while_a_result_is_on_its_way_is_said(
    dask: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that breaks under a result is the same error as a scheduler lost between two."""

    def broken(_: object) -> None:
        raise CommClosedError("in <TCP (closed)>: ConnectionResetError")

    monkeypatch.setattr("distributed.Future.result", broken)
    with pytest.raises(InputError, match=r"scheduler at tcp.* was lost before the work had ended"):
        list(run(worked.square, NUMBERS, workers=Workers(dask=dask.address)))


@pytest.mark.parametrize(
    "address", ["", "hello", "tcp://", "tcp://127.0.0.1", "http://127.0.0.1:80", "127.0.0.1:abc", "a b:1"]
)
def test_what_is_no_address_is_said(address: str) -> None:
    """Text that names no scheduler is an error that shows what would."""
    with pytest.raises(InputError, match=r"is not the address of a Dask scheduler\n  write host:port"):
        list(run(worked.square, NUMBERS, workers=Workers(dask=address)))


def test_nobody_at_the_address_is_said(dask: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address where nothing listens, and one where a worker does, are errors of two lines."""
    monkeypatch.setattr(parallel, "CONNECT_SECONDS", 1)
    with pytest.raises(InputError, match=r"no Dask scheduler answers at 127\.0\.0\.1:1\n"):
        list(run(worked.square, NUMBERS, workers=Workers(dask="127.0.0.1:1")))
    from distributed import Client

    with Client(dask.address, set_as_default=False) as client:
        worker = next(iter(client.scheduler_info()["workers"]))
    with pytest.raises(InputError, match="but a worker"):
        list(run(worked.square, NUMBERS, workers=Workers(dask=worker)))


def test_without_the_extra_its_name_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Dask is not installed, the error says how to get it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'medgauge\[distributed\]'"):
        list(run(worked.square, NUMBERS, workers=Workers(dask="127.0.0.1:1")))
