"""Params files are read as they are written, and everything wrong with one is said in two lines."""

from __future__ import annotations

import os
from pathlib import Path

import make_reports
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medgauge_lib.errors import InputError
from medgauge_lib.findings.demo import write_demo
from medgauge_lib.loading import load_findings, locate
from medgauge_lib.report.execute import parameters_of, read_notebook
from medgauge_lib.report.params import (
    FindingsParams,
    Params,
    PlanningParams,
    kind_of,
    read_params,
)

ROOT = Path(__file__).parents[1]
PROJECT_PARAMS = sorted((ROOT / "params").glob("*.yaml"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder ``params`` beside a folder ``records``."""
    for name in ("params", "records"):
        (tmp_path / name).mkdir()
    return tmp_path / "params"


def refused(file: Path) -> str:
    """Read a params file that cannot be used and return the message."""
    with pytest.raises(InputError) as raised:
        read_params(file)
    message = str(raised.value)
    assert len(message.splitlines()) <= 2
    assert message.startswith(str(file))
    return message


def test_values_are_typed_and_defaults_filled_in(folder: Path) -> None:
    """A params file gives typed values; what it leaves out has its default."""
    (folder / "labels.json").write_text("{}")
    written = {
        "seed": "7",
        "subset": "dev",
        "labels": "labels.json",
        "title": '"A: title"',
        "publish": "internal",
    }
    full = read_params(make_reports.params(folder / "a.yaml", **written))
    assert (full.seed, full.subset, full.labels, full.title, full.publish) == (
        7, "dev", "labels.json", "A: title", "internal",
    )  # fmt: skip
    least = read_params(make_reports.params(folder / "b.yaml"))
    assert least == Params(
        folder / "b.yaml", "bm-made", "1.0.0", "../records", "holdout", 20260101, None, None, "public"
    )


@pytest.mark.parametrize(
    "version", ["1.10", "1.0", "007", "1e3", "2026-01-01", "0x10", "1_000", "true", "null", "12:30:45"]
)
@pytest.mark.parametrize("quote", ["", '"', "'"])
def test_a_version_stays_the_text_it_is(folder: Path, version: str, quote: str) -> None:
    """A version is the text in the file, whatever YAML would make of it, quoted or not."""
    file = make_reports.params(
        folder / "a.yaml", benchmark_version=f"{quote}{version}{quote}".replace(":", "-")
    )
    assert read_params(file).benchmark_version == version.replace(":", "-")


@pytest.mark.parametrize("word", ["null", "~", "", "Null"])
def test_an_empty_optional_value_is_none(folder: Path, word: str) -> None:
    """Labels and title may be written as nothing; a quoted null is a title."""
    assert read_params(make_reports.params(folder / "a.yaml", title=word, labels=word)).title is None
    assert read_params(make_reports.params(folder / "a.yaml", title='"null"')).title == "null"


def test_a_notebook_gets_the_paths_as_written(folder: Path) -> None:
    """The values for a notebook hold every key, typed, and no path of the machine."""
    values = read_params(make_reports.params(folder / "a.yaml", seed=5)).values()
    assert tuple(values) == Params.keys
    assert values["records"] == "../records"
    assert values["seed"] == 5
    assert str(folder) not in repr(values)


@pytest.mark.parametrize(
    ("changes", "pointer", "words"),
    [
        ({"seed": "-1"}, "/seed", "-1"),
        ({"seed": str(2**64)}, "/seed", "2**64 - 1"),
        ({"seed": "1.5"}, "/seed", "1.5"),
        ({"seed": "seven"}, "/seed", "digits only"),
        ({"seed": "[1]"}, "/seed", "a list"),
        ({"title": "{a: b}"}, "/title", "a mapping"),
        ({"title": '"a\\nb"'}, "/title", "one line"),
        ({"title": '"\\u202e"'}, "/title", "one line"),
        ({"subset": "test"}, "/subset", "dev, holdout, calib"),
        ({"publish": "secret"}, "/publish", "public, internal"),
        ({"benchmark": "../up"}, "/benchmark", "name a folder"),
        ({"benchmark_version": "1/0"}, "/benchmark_version", "name a folder"),
        ({"benchmark": ".hidden"}, "/benchmark", "name a folder"),
        ({"benchmark": ""}, "/benchmark", "name a folder"),
        ({"records": "../nowhere"}, "/records", "nowhere does not exist"),
        ({"records": "a.yaml"}, "/records", "is a file, not a folder"),
        ({"labels": "none.json"}, "/labels", "none.json is not a file"),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_used_is_named(
    folder: Path, changes: dict[str, str], pointer: str, words: str
) -> None:
    """A wrong value is refused with its key and what would be right."""
    message = refused(make_reports.params(folder / "a.yaml", **changes))
    assert f": {pointer}: " in message
    assert words in message


def test_a_missing_folder_names_the_path_looked_at(folder: Path) -> None:
    """The folder that was looked for is named in full."""
    message = refused(make_reports.params(folder / "a.yaml", records="../nowhere"))
    assert str(folder.parent / "nowhere") in message


@pytest.mark.parametrize(
    ("key", "near"), [("record", "records"), ("Seed", "seed"), ("benchmark-version", "benchmark_version")]
)
def test_an_unknown_key_names_the_near_one(folder: Path, key: str, near: str) -> None:
    """A misspelt key is an error that names the key it resembles."""
    message = refused(make_reports.params(folder / "a.yaml", **{key: "x"}))
    assert f"unknown key '{key}'" in message
    assert f"did you mean '{near}'?" in message


def test_an_unknown_key_like_none_lists_the_keys(folder: Path) -> None:
    """A key that resembles none is answered with the list of keys."""
    assert ", ".join(Params.keys) in refused(make_reports.params(folder / "a.yaml", zzz="x"))


@pytest.mark.parametrize("key", ["benchmark", "benchmark_version", "records"])
def test_a_missing_key_is_named(folder: Path, key: str) -> None:
    """Each key without a default is required."""
    file = make_reports.params(folder / "a.yaml")
    file.write_text(
        "".join(line for line in file.read_text().splitlines(True) if not line.startswith(f"{key}:"))
    )
    assert f"/{key}: {key} is missing" in refused(file)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"# only a comment\n", "is empty"),
        (b"- a\n- b\n", "is not a mapping"),
        (b"just words\n", "is not a mapping"),
        (b"benchmark: a\nbenchmark: b\n", "line 2: the key 'benchmark' occurs twice"),
        (b"a:\n\tb: c\n", "indent with spaces"),
        (b"a: [1\n", "not YAML"),
        (b"a: b: c\n", "line 1: not YAML"),
        (b"a: *nothing\n", "line 1: holds an alias"),
        (b"--- \na: 1\n--- \nb: 2\n", "not YAML"),
        (b"? [a]\n: b\n", "line 1: a list or a block stands where a name belongs"),
        (b"\xef\xbb\xbfbenchmark: a\n", "byte order mark"),
        ("benchmark: a\n".encode("utf-16"), "byte order mark"),
        (b"title: \xff\n", "is not UTF-8 at byte 7"),
        (b"title: a\x00b\n", "control character U+0000"),
        (b"[" * 5000 + b"]" * 5000, "line 1: is nested too deeply"),
        (b"[" * 65_000, "line 1: is nested too deeply"),
        (b"- " * 5000, "line 1: is nested too deeply"),
        (b"title: " + b"a" * 70_000, "larger than 65536 bytes"),
        (b"&a [*a]: 1\n", "line 1"),
        (b"title: !!python/object/apply:os.system ['true']\n", "/title: a list"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_params_file_is_refused(folder: Path, content: bytes, words: str) -> None:
    """Whatever else the file is, one clear message says so, and nothing in it is run."""
    file = folder / "a.yaml"
    file.write_bytes(
        content
        if b"title" not in content
        else b"benchmark: b\nbenchmark_version: 1\nrecords: ../records\n" + content
    )
    if b"\xff\n" in content:
        words = words.replace("7", str(len(file.read_bytes()) - 2))
    assert words in refused(file)


def test_a_folder_and_a_missing_file_are_refused(folder: Path) -> None:
    """A path that is no file is told apart from one that is not there."""
    assert "is a folder" in refused(folder)
    assert "no such file" in refused(folder / "none.yaml")


def test_a_pipe_is_refused_and_not_waited_for(folder: Path) -> None:
    """A pipe that nobody writes to is no params file."""
    os.mkfifo(folder / "pipe.yaml")
    assert "is not a regular file" in refused(folder / "pipe.yaml")
    assert "is not a regular file" in refused(Path("/dev/null"))


@given(st.binary(max_size=200))
def test_any_bytes_give_params_or_one_message(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    """No content of a file leads to anything but params or a message of at most two lines."""
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_bytes(content)
    refused(file)


def test_locate_looks_from_here_and_from_params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path of a params file is found from its own folder and from the project's, and stays relative."""
    for name in ("params", "data/set"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "params")
    assert locate("../data/set") == Path("../data/set")
    monkeypatch.chdir(tmp_path)
    assert locate("../data/set") == Path("params/../data/set")
    assert locate(tmp_path / "data") == tmp_path / "data"
    (tmp_path / "params").rmdir()
    assert locate("../data/set") == Path("data/set")


def test_locate_names_both_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path found in neither place is refused with both."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as raised:
        locate("../set")
    assert str(tmp_path.parent / "set") in str(raised.value)
    assert str(tmp_path / "set") in str(raised.value)


@pytest.mark.parametrize("file", PROJECT_PARAMS, ids=lambda file: file.name)
def test_each_notebook_knows_every_key_of_the_projects_params(file: Path) -> None:
    """The parameters cell of every notebook of a report assigns every key of its params file."""
    import yaml

    values = yaml.safe_load(file.read_text(encoding="utf-8"))
    for name in kind_of(values).pages:
        notebook = ROOT / "notebooks" / f"{name}.ipynb"
        if notebook.is_file():
            assert values.keys() <= set(parameters_of(read_notebook(notebook))), name


FINDINGS = {
    "system": "findings",
    "benchmark_version": "test-1",
    "data": "../data",
    "submissions": "../submissions",
    "reviews": "../reviews",
    "date": "2026-06-30",
}


@pytest.fixture
def findings_folder(folder: Path) -> Path:
    """A folder ``params`` beside the folders of a findings benchmark."""
    for name in ("data", "submissions", "reviews"):
        (folder.parent / name).mkdir()
    return folder


def findings_params(file: Path, **values: str) -> Path:
    """Write a params file of finding quality."""
    known = {"benchmark": "bm-made", **FINDINGS} | values
    file.write_text("".join(f"{key}: {value}\n" for key, value in known.items()), encoding="utf-8")
    return file


def test_a_params_file_of_findings_says_so(findings_folder: Path) -> None:
    """With `system: findings` a params file has keys of its own, typed, with their defaults."""
    read = read_params(findings_params(findings_folder / "f.yaml"))
    assert isinstance(read, FindingsParams)
    assert read.values() == {
        **FINDINGS, "benchmark": "bm-made", "seed": 20260101, "title": None, "publish": "public",
    }  # fmt: skip
    assert tuple(read.values()) == FindingsParams.keys
    assert read.source_folders()["data"] == findings_folder / "../data"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"system": "board"}, "'board' is not one of findings, methodology, planning"),
        ({"records": "../records"}, "unknown key 'records'"),
        ({"submission": "x"}, "did you mean 'submissions'?"),
        ({"date": "30.6.2026"}, "'30.6.2026' is not a date"),
        ({"date": "2026-02-29"}, "write a day as YYYY-MM-DD"),
        ({"reviews": "../nowhere"}, "write the folder of the reviews, relative to this file"),
    ],
)
def test_a_params_file_of_findings_is_held_to_its_keys(
    findings_folder: Path, values: dict[str, str], words: str
) -> None:
    """What is wrong with a params file of findings is said as of any other."""
    assert words in refused(findings_params(findings_folder / "f.yaml", **values))


def test_every_key_of_findings_without_a_default_is_needed(findings_folder: Path) -> None:
    """Each key that nothing can stand in for is named when it is missing."""
    lines = findings_params(findings_folder / "f.yaml").read_text(encoding="utf-8").splitlines()
    for line in lines:
        key = line.partition(":")[0]
        rest = [other for other in lines if other != line]
        (findings_folder / "g.yaml").write_text("\n".join(rest), encoding="utf-8")
        message = refused(findings_folder / "g.yaml")
        assert ("is no key of a board" if key == "system" else f"{key} is missing") in message


def test_keys_of_findings_in_a_board_name_the_way_out(folder: Path) -> None:
    """A key of findings in a params file of a board says how to ask for a report of findings."""
    assert "write system: findings" in refused(make_reports.params(folder / "a.yaml", data="../data"))


def test_data_of_another_version_are_refused(tmp_path: Path) -> None:
    """Findings are scored only under the version that their release file says."""
    demo = write_demo(tmp_path)
    found = load_findings(demo.data, demo.submissions, demo.reviews, benchmark_version="synthetic-1.0")
    assert found.overall.scored_tasks == 8
    with pytest.raises(InputError, match=r"is version 'synthetic-1\.0', not 1\.0"):
        load_findings(demo.data, demo.submissions, demo.reviews, benchmark_version="1.0")
    (demo.data / "release.json").unlink()
    with pytest.raises(InputError, match="the file that names the benchmark's version is missing"):
        load_findings(demo.data, demo.submissions, demo.reviews, benchmark_version="1.0")


PLANNING = {
    "system": "planning",
    "benchmark": "bm-planned",
    "benchmark_version": "1.10",
    "date": "2026-06-30",
    "rows": "8",
    "tasks": "100",
    "ahead": "0.75",
    "behind": ".6",
}


def planning_params(file: Path, **values: str) -> Path:
    """Write a params file of a plan."""
    file.write_text(
        "".join(f"{key}: {value}\n" for key, value in (PLANNING | values).items()), encoding="utf-8"
    )
    return file


def test_a_params_file_of_a_plan_is_typed(tmp_path: Path) -> None:
    """Numbers of things are integers, shares are decimal numbers, and what is left out has a default."""
    read = read_params(planning_params(tmp_path / "p.yaml"))
    assert isinstance(read, PlanningParams)
    assert read.values() == PLANNING | {
        "rows": 8, "tasks": 100, "ahead": 0.75, "behind": 0.6, "spread": 0.3, "correlation": 0.5,
        "power": 0.8, "replications": 2000, "seed": 20260101, "title": None, "publish": "public",
    }  # fmt: skip
    assert tuple(read.values()) == PlanningParams.keys


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"rows": "1"}, "/rows: '1' is not an integer from 2 to 10,000"),
        ({"tasks": "2001"}, "/tasks: '2001' is not an integer from 1 to 2,000"),
        (
            {"ahead": "75"},
            "/ahead: '75' is not a decimal number from 0 to 1\n  write a decimal number such as",
        ),
        ({"behind": "1e-1"}, "/behind: '1e-1' is not a decimal number from 0 to 1"),
        ({"power": "1"}, "/power: '1' is not a decimal number between 0 and 1"),
        ({"ahead": "0.999"}, "/ahead: pass_pow_3 must lie in 0.0996..0.9 for a spread of 0.3"),
        ({"behind": "0.76"}, "/ahead: 0.75 is less than the 0.76 of the row behind\n  swap ahead and behind"),
        ({"spread": "0.5"}, "/spread: '0.5' is neither 0 nor a decimal number from 0.0001 to below 0.5"),
        ({"records": "../records"}, "unknown key 'records'"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_before_anything_runs(
    tmp_path: Path, values: dict[str, str], words: str
) -> None:
    """Numbers out of range are named with it, and so are a pass^3 and a spread that do not go together."""
    assert words in refused(planning_params(tmp_path / "p.yaml", **values))
