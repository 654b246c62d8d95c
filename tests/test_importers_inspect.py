"""Inspect logs, made by Inspect itself with its mock model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from test_importers_boards import marks, only

from medgauge_lib.errors import InputError
from medgauge_lib.importers.importing import import_runs


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Folder of the logs; Inspect runs in a process of its own, where its warnings are its own."""
    folder = tmp_path_factory.mktemp("logs")
    script = Path(__file__).with_name("make_inspect_logs.py")
    subprocess.run([sys.executable, script, folder], check=True, cwd=folder, capture_output=True, timeout=120)
    return folder


@pytest.fixture(scope="module", params=["eval", "json"])
def record(request, logs, tmp_path_factory):
    """The record of the log in each of Inspect's two layouts."""
    out = tmp_path_factory.mktemp("imported") / "out"
    import_runs("inspect", logs / request.param, out)
    return only(out)


def test_epochs_are_runs_and_scores_are_checkpoints(record):
    """Every part of a score is a checkpoint that only a full mark passes; the first three epochs count."""
    assert {name: [mark[:3] for mark in marks(runs)] for name, runs in record["by_name"].items()} == {
        "right": [(True, 3, 3)] * 3,
        "wrong": [(False, 2, 3)] * 3,
        "parts": [(True, 3, 3), (False, 2, 3), (False, 2, 3)],
        "breaks": [(True, 3, 3), (False, 0, 3), (True, 3, 3)],
        "slow": [(True, 3, 3), (True, 3, 3), (False, 3, 3)],
    }


def test_errors_and_time_limits_are_failed_runs(record):
    """A sample that broke and one that ran out of time stay, failed and attributed."""
    errors = {name: [mark[3] for mark in marks(runs)] for name, runs in record["by_name"].items()}
    assert errors["breaks"] == [None, ("agent", "other"), None]
    assert errors["slow"] == [None, None, ("agent", "timeout")]
    assert errors["right"] == [None] * 3


def test_usage_holds_cached_tokens_and_is_absent_where_there_is_none(record):
    """Input tokens are those charged and those cached; a run that broke before any call has none."""
    run = record["by_name"]["right"][0]
    assert (run["tokens_in"], run["tokens_out"]) == (8, 2)
    assert "tokens_in" not in record["by_name"]["breaks"][1]


def test_identity_comes_from_the_log(record):
    """Benchmark and version are the task's, the model is the log's, the harness Inspect."""
    assert (record["benchmark"], record["benchmark_version"]) == ("bm-tiny", "2.0.0")
    assert (record["model"], record["model_snapshot"]) == ("mockllm/model", "mock-2026-01-01")
    assert record["harness"] == "hx-inspect"


def test_both_layouts_together_are_refused(logs, tmp_path):
    """Two logs of one subject on one task are two sets of runs; which counts is not decided here."""
    with pytest.raises(InputError, match="is another log of 'mockllm/model' on 'tiny'"):
        import_runs("inspect", logs, tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "data"), [("a.eval", b"PK\x03\x04 no zip"), ("a.json", b"{}"), ("a.json", b""), ("a.eval", b"")]
)
def test_what_is_no_log_is_refused(tmp_path, name, data):
    """Whatever the reader stumbles over becomes two lines that name the file."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=r"is no Inspect log") as error:
        import_runs("inspect", tmp_path / name, tmp_path / "out")
    assert len(str(error.value).splitlines()) <= 2
