"""What every import shares: which runs count, keys, facts nobody states, closed files, all or nothing."""

from __future__ import annotations

import hashlib
import json
import stat
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from test_importers_boards import marks, only, records

from medgauge_lib.cli import main
from medgauge_lib.errors import InputError
from medgauge_lib.importers.assemble import slug, task_key
from medgauge_lib.importers.facts import FACTS as FACTS_KNOWN
from medgauge_lib.importers.facts import Given
from medgauge_lib.importers.importing import import_runs
from medgauge_lib.importers.table import COLUMNS
from medgauge_lib.importers.terminal_bench import FAILURES
from medgauge_lib.records import read_records

FACTS = {"benchmark": "bm-t", "model": "m-1", "harness": "hx-t", "created_at": "2026-01-31"}
THREE = "task,pass\n" + "a,1\n" * 3


def run(tmp_path, text, **facts):
    """Import a CSV table and return its summary."""
    (tmp_path / "runs.csv").write_text(text, encoding="utf-8")
    given = Given(options={k: v for k, v in (FACTS | facts).items() if v is not None})
    return import_runs("table", tmp_path / "runs.csv", tmp_path / "out", given=given)


def test_fewer_than_three_runs_are_refused_with_the_list(tmp_path):
    """Every subject and task with fewer than three runs is listed, one without any run too."""
    text = "subject,task,pass\n" + "x,a,1\n" * 3 + "x,b,1\n" * 2 + "y,a,1\n" * 3
    with pytest.raises(InputError, match=r"2 tasks have fewer than three runs: b of x \(2\), b of y \(0\)"):
        run(tmp_path, text, model=None)
    assert not (tmp_path / "out").exists()


def test_first_three_runs_count_never_the_best(tmp_path):
    """Of five runs the first three count, although the later two passed; the summary says so."""
    summary = run(tmp_path, "task,pass\n" + "a,0\n" * 3 + "a,1\n" * 2)
    assert [mark[0] for mark in marks(only(tmp_path / "out")["by_name"]["a"])] == [False] * 3
    assert summary.boards[0]["runs_left_out"] == 2


def test_task_key_is_the_hash_of_benchmark_version_and_name():
    """The key is SHA-256 over three lines, and another version has another key."""
    expected = hashlib.sha256(b"bm-a\n1.0.0\nfix").hexdigest()[:24]
    assert task_key("bm-a", "1.0.0", "fix") == f"tk-{expected}"
    assert task_key("bm-a", "1.0.1", "fix") != task_key("bm-a", "1.0.0", "fix")


def test_task_names_stay_on_the_closed_side(tmp_path):
    """No public file holds a task's name; the closed map does, readable by its owner alone."""
    run(tmp_path, THREE.replace("a,", "secret-name,"))
    public = b"".join(path.read_bytes() for path in (tmp_path / "out/records").rglob("*.json"))
    assert b"secret-name" not in public
    closed = tmp_path / "out/closed/bm-t/0.0.0.tasks.json"
    assert list(json.loads(closed.read_text("utf-8"))["tasks"].values()) == ["secret-name"]
    assert stat.S_IMODE(closed.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "out/closed").stat().st_mode) == 0o700


def test_what_nobody_states_is_absent_or_said_to_be_not_recorded(tmp_path):
    """No fact is made up: optional fields are absent, those a record must have are listed as assumed."""
    summary = run(tmp_path, THREE)
    record = only(tmp_path / "out")
    del record["by_name"]
    for absent in ("failure_attribution", "board", "run_window", "review_record", "trajectories_archived"):
        assert absent not in record
    assert record["cost"] == {"amount_applicable": False}
    assert record["harness_version"] == "0.0.0"
    assert record["run_conditions"]["service_fingerprint"] == "not recorded"
    assert record["submitted_by"] == {"org": "not recorded", "verified": False}
    for name in ("harness_version", "task_version", "benchmark_version", "organisation", "tool_permissions"):
        assert sum(sentence.startswith(name) for sentence in summary.assumed) == 1


def test_records_are_community_records_unless_a_review_is_stated(tmp_path):
    """An import verifies nothing; --review-record states a review, and then rows are ranked."""
    run(tmp_path, THREE)
    (tmp_path / "reviewed").mkdir()
    run(tmp_path / "reviewed", THREE, review_record="protocol 7")
    before, after = only(tmp_path / "out"), only(tmp_path / "reviewed/out")
    assert (before["verified_by_site"], before["verification_state"]) == (False, "community_unverified")
    assert (after["verified_by_site"], after["review_record"]) == (True, "protocol 7")
    assert "board" not in before
    assert after["board"]["letters"] == ["a"]


def test_amounts_of_a_subject_are_left_out_where_a_run_has_none(tmp_path):
    """A total that lacks a run would be too small: no amount of the subject is kept, and that is said."""
    summary = run(tmp_path, "task,pass,amount\na,1,1\na,1,1\na,1,\n", currency="EUR", price_table_version="p")
    record = only(tmp_path / "out")
    assert record["cost"] == {"amount_applicable": False}
    assert all("amount" not in one for one in record["by_name"]["a"])
    assert any("1 of 3 runs have none" in sentence for sentence in summary.assumed)


def test_files_pass_check_and_are_the_same_every_time(tmp_path):
    """What is written passes every rule, and a second import writes the same bytes."""
    rows = [f"{m},t{t},{(t + r) % 2}" for m in "xy" for t in range(6) for r in range(3)]
    text = "\n".join(["model,task,pass", *rows])
    (tmp_path / "runs.csv").write_text(text, encoding="utf-8")
    given = Given(options={k: v for k, v in FACTS.items() if k != "model"} | {"review_record": "r"})
    for name in ("a", "b"):
        import_runs("table", tmp_path / "runs.csv", tmp_path / name, given=given)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.json"))
    assert len(files) == 4
    assert [(tmp_path / "a" / f).read_bytes() for f in files] == [
        (tmp_path / "b" / f).read_bytes() for f in files
    ]
    result = CliRunner().invoke(main, ["check", str(tmp_path / "a/records/bm-t/0.0.0")])
    assert result.exit_code == 0, result.output
    assert len(read_records(tmp_path / "a/records/bm-t/0.0.0").subjects) == 2


@pytest.mark.parametrize(
    ("facts", "wrong"),
    [
        ({"benchmark": "../../etc"}, "is no benchmark"),
        ({"benchmark_version": "1/../.."}, "is no benchmark_version"),
        ({"benchmark_version": "١.0.0"}, "is no benchmark_version"),
        ({"harness": "droid"}, "/harness: 'droid' does not have the right form"),
        ({"harness_version": "v1"}, "/harness_version: 'v1'"),
        ({"subset": "test"}, "'test' is no subset"),
        ({"tool_permissions": "all"}, "/run_conditions/tool_permissions"),
        ({"created_at": "yesterday"}, "is no date and time"),
        ({"created_at": "0001-01-01T00:00:00+14:00"}, "outside the calendar"),
        ({"model": None}, "nothing states the model"),
        ({"benchmark": None}, "give --benchmark"),
        ({"model": "\ud800"}, "cannot be written"),
    ],
)
def test_facts_are_held_to_the_record_format(tmp_path, facts, wrong):
    """A fact that no record can hold is refused in two lines, and nothing is left behind."""
    with pytest.raises(InputError) as error:
        run(tmp_path, THREE, **facts)
    assert wrong in str(error.value)
    assert len(str(error.value).splitlines()) <= 2
    assert [path.name for path in tmp_path.iterdir()] == ["runs.csv"]


@pytest.mark.parametrize("there", ["file", "full", "link"])
def test_only_a_new_or_empty_folder_is_written(tmp_path, there):
    """A folder with something in it, a file and a link are left as they are."""
    out = tmp_path / "out"
    if there == "file":
        out.write_text("mine", encoding="utf-8")
    elif there == "full":
        out.mkdir()
        (out / "mine").touch()
    else:
        out.symlink_to(tmp_path)
    with pytest.raises(InputError, match="is no folder that is new or empty"):
        run(tmp_path, THREE)
    out.unlink() if there != "full" else (out / "mine").unlink()
    if there != "full":
        out.mkdir()
    run(tmp_path, THREE)
    assert (out / "records").is_dir()


def test_names_of_subjects_make_safe_distinct_ids(tmp_path):
    """Names that read alike as file names, or not at all, give ids of their own; none leaves the folder."""
    names = ["../../x", "X", "x", "模型", "é"]
    text = "subject,task,pass\n" + "".join(f"{name},a,1\n" * 3 for name in names)
    run(tmp_path, text)
    made = records(tmp_path / "out")
    assert len(made) == len(names)
    assert len(list(tmp_path.rglob("*.json"))) == len(names) + 2


@drawn(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_slugs_hold_only_signs_that_an_id_may_have(text):
    """Whatever a source calls a subject, its part of an id is safe as a file name."""
    made = slug(text)
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-")
    assert len(made) <= 80
    assert made[:1] not in (".", "-")


def test_summary_is_printed_as_text_or_json_and_kept(tmp_path):
    """The summary names what was mapped, dropped and assumed; JSON is what the closed side keeps."""
    (tmp_path / "runs.csv").write_text("task,pass,colour\n" + "a,1,red\n" * 4, encoding="utf-8")
    options = [f"--{name.replace('_', '-')}={value}" for name, value in FACTS.items()]
    command = ["import", "table", str(tmp_path / "runs.csv"), *options, "--out"]
    text = CliRunner().invoke(main, [*command, str(tmp_path / "one")])
    assert text.exit_code == 0, text.output
    for words in ("mapped:", "dropped:\n  column colour", "assumed:", "1 later ones left out"):
        assert words in text.output
    made = CliRunner().invoke(main, [*command, str(tmp_path / "two"), "--format", "json"])
    assert json.loads(made.output) == json.loads((tmp_path / "two/closed/import.json").read_text("utf-8"))


def test_nothing_is_left_where_writing_fails(tmp_path, monkeypatch):
    """A disk that fails at the last step leaves neither the folder nor a half of it."""

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.rename", full)
    with pytest.raises(InputError, match="cannot be written: no space left on device"):
        run(tmp_path, THREE)
    assert [path.name for path in tmp_path.iterdir()] == ["runs.csv"]


def test_documentation_lists_every_fact_column_and_sentence():
    """docs/import.md names each fact, each column and failure mode, and what each format maps and drops."""
    page = (Path(__file__).parents[1] / "docs/import.md").read_text("utf-8").replace("&lt;", "<")
    for names in (FACTS_KNOWN, COLUMNS, FAILURES):
        assert [name for name in names if f"| `{name}` |" not in page] == []
    for name in ("inspect_logs", "mcpmark", "tau_bench", "terminal_bench"):
        module = import_module(f"medgauge_lib.importers.{name}")
        for sentence in (*module.MAPPED, *module.DROPPED, *module.ASSUMED):
            assert f" | {sentence} |" in page
