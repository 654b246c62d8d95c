"""The command line: what it prints, its exit codes, and that no user ever sees a traceback."""

from __future__ import annotations

import ast
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from make_records import ONE_TASK, record, task, write

from medgauge_lib import __version__, board, read_records
from medgauge_lib.cli import main

PASS, FAIL = [(1, 1)] * 3, [(0, 1)] * 3


def run(*arguments):
    """Run the command in this process."""
    return CliRunner().invoke(main, [str(part) for part in arguments], catch_exceptions=False)


@pytest.fixture
def folder(tmp_path):
    """Two rows of which one passes everything, and a community record."""
    return write(
        tmp_path / "set",
        record("res-2026-01-01-a", dict.fromkeys(range(6), PASS), model="aster"),
        record("res-2026-01-01-b", dict.fromkeys(range(6), FAIL), model="birch"),
        record(
            "res-2026-01-01-c", {1: PASS}, model="clover", verified_by_site=False,
            verification_state="community_unverified",
        ),
    )  # fmt: skip


def test_board_prints_a_table_people_read(folder):
    """Rank, subject, letters, exact interval, exam, and in words who leads and what stays hidden."""
    done = run("board", folder)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("bm-made 1.0.0, subset holdout: 6 tasks, 2 rows, as of ")
    (first,) = (line for line in lines if "aster" in line and line.lstrip().startswith("1 "))
    assert "100.0 %" in first
    assert "54.0 to 100.0 %" in first
    assert first.rstrip().endswith("passed")
    assert "Community records, not verified and not ranked:" in lines
    assert (
        "With 2 rows (1 pair) 6 tasks that all go one way are always enough to show a difference"
        in done.stdout
    )
    assert "nan" not in done.stdout.lower()


def test_board_json_is_the_librarys_board(folder):
    """JSON holds what the library's board states, with the seed that was asked for."""
    done = run("board", folder, "--format", "json", "--seed", 7)
    assert json.loads(done.stdout) == json.loads(json.dumps(board(read_records(folder), seed=7).to_json()))


def test_board_csv_has_a_line_a_row(folder):
    """CSV holds every row once, in board order, community records last."""
    lines = list(csv.DictReader(io.StringIO(run("board", folder, "--format", "csv").stdout)))
    assert [line["id"][-1] for line in lines] == ["a", "b", "c"]
    assert [line["letters"] for line in lines] == ["a", "b", ""]
    assert float(lines[0]["claimable_lower_bound"]) == pytest.approx(0.05 ** (1 / 6))


def test_board_with_labels_shows_the_classes(folder, tmp_path):
    """With the closed labels, table and JSON hold each row's figures by class; a CSV cannot."""
    labels = tmp_path / "labels.json"
    labels.write_text(json.dumps({f"tk-{k:012x}": 1 + k % 2 for k in range(6)}))
    shown = run("board", folder, "--labels", labels).stdout
    assert "By class of difficulty; classes are ordered, never averaged:" in shown
    assert "100.0 % (29.2 to 100.0 %)" in shown
    assert "tk-" not in shown
    strata = json.loads(run("board", folder, "--labels", labels, "--format", "json").stdout)["strata"]
    first = next(line for line in strata if line["id"].endswith("a") and line["difficulty"] == 2)
    assert (first["n_tasks"], first["n_successes"], first["provenance"]) == (3, 3, "recomputed")
    assert first["task_pass_rate_low"] is None
    refused = run("board", folder, "--labels", labels, "--format", "csv")
    assert (refused.exit_code, refused.stdout) == (2, "")


def test_a_board_none_of_whose_tasks_is_labelled_says_so(tmp_path):
    """Where the labelled tasks are all of another subset the board stands, and says that it has no class."""
    tasks = [task(1, ONE_TASK[1]), task(2, ONE_TASK[1], subset="dev")]
    labels = tmp_path / "labels.json"
    labels.write_text(json.dumps({tasks[1]["task_key"]: 2}))
    done = run("board", write(tmp_path / "set", record(tasks=tasks)), "--labels", labels)
    assert done.exit_code == 0, done.stderr
    assert "By class of difficulty: no task of this board has a label." in done.stdout


def test_a_broken_community_record_hides_no_comparison(folder):
    """Its own findings are told, and the figures of the others are compared all the same."""
    path = folder / "res-2026-01-01-c.json"
    raw = json.loads(path.read_bytes())
    raw["run_outcomes"][0]["runs"][1]["pass"] = False
    path.write_text(json.dumps(raw))
    done = run("check", folder, "--format", "json")
    found = json.loads(done.stdout)
    assert done.exit_code == 1
    assert "run.pass" in {one["code"] for one in found["findings"]}
    assert "published.pass_at_3" in {rule["code"] for rule in found["rules"]}


def test_board_takes_files_too(folder):
    """Single files make the same board as their folder."""
    files = sorted(folder.glob("*.json"))
    assert run("board", *files, "--format", "json").stdout == run("board", folder, "--format", "json").stdout


def test_check_of_clean_records_exits_0(folder):
    """Clean records: one line, exit 0."""
    done = run("check", folder)
    assert done.exit_code == 0
    assert "3 records of bm-made 1.0.0" in done.stdout


def broken(folder):
    """Change the outcome of one run, so that it contradicts its checkpoints."""
    path = sorted(folder.glob("*.json"))[0]
    raw = json.loads(path.read_bytes())
    raw["run_outcomes"][2]["runs"][1]["pass"] = False
    path.write_text(json.dumps(raw))
    return path


def test_check_names_the_place_of_a_finding_and_exits_1(folder):
    """A run whose pass contradicts its checkpoints: code, file and JSON pointer, as text and as JSON."""
    path = broken(folder)
    done = run("check", folder)
    assert done.exit_code == 1
    assert f"unusable run.pass {path.name}: /run_outcomes/2/runs/1/pass: " in done.stdout
    found = json.loads(run("check", folder, "--format", "json").stdout)
    (finding,) = (one for one in found["findings"] if one["severity"] != "note")
    assert (finding["code"], finding["pointer"]) == ("run.pass", "/run_outcomes/2/runs/1/pass")
    assert (finding["published"], finding["expected"]) == (False, True)
    assert {rule["code"]: rule["n_findings"] for rule in found["rules"]}["run.pass"] == 1
    assert len(found["rules"]) > 10


def test_check_counts_figures_and_ends_with_a_summary(folder):
    """The last line says how many figures were recomputed; what only the closed side can is one line."""
    done = run("check", folder)
    assert done.exit_code == 0
    *others, last = done.stdout.splitlines()
    assert others[-1] == "1 figure that only the closed side can recompute; JSON lists them"
    assert re.fullmatch(
        r"3 records of bm-made 1\.0\.0, \d+ rules: all kept, 1 note; \d+ published figures recomputed, "
        r"all as published",
        last,
    )


def test_check_finds_a_published_figure_that_the_runs_do_not_give(folder):
    """A wrong last digit: code, place, both values, exit 1, as text and as JSON."""
    path = folder / "res-2026-01-01-b.json"
    raw = json.loads(path.read_bytes())
    raw["scores"]["by_subset"]["holdout"]["pass_at_3"] = 0.1
    path.write_text(json.dumps(raw))
    done = run("check", folder)
    assert done.exit_code == 1
    place = "/scores/by_subset/holdout/pass_at_3"
    line = f"error published.pass_at_3 {path.name}: {place}: pass_at_3 is 0.1, but the runs give 0.0"
    assert line in done.stdout.splitlines()
    assert done.stdout.splitlines()[-1].endswith("1 of them otherwise")
    found = json.loads(run("check", folder, "--format", "json").stdout)
    (one,) = (one for one in found["findings"] if one["severity"] == "error")
    assert (one["code"], one["pointer"], one["file"]) == ("published.pass_at_3", place, path.name)
    assert (one["published"], one["recomputed"], one["expected"]) == (0.1, 0, 0)
    assert found["figures"]["differs"] == 1
    assert {rule["code"]: rule["n_findings"] for rule in found["rules"]}["published.pass_at_3"] == 1


def test_check_lists_what_only_the_closed_side_can_recompute(folder):
    """JSON names each such figure by file and place, with the reason."""
    found = json.loads(run("check", folder, "--format", "json").stdout)
    (first, *_) = (one for one in found["not_recomputed"] if one["file"] == "res-2026-01-01-b.json")
    assert first == {
        "file": "res-2026-01-01-b.json",
        "pointer": "/failure_attribution/missed",
        "outcome": "closed",
        "reason": "the reason is the verifier's",
    }
    assert found["figures"]["closed"] == len(found["not_recomputed"])


def test_check_takes_labels(folder, tmp_path):
    """With labels, strata are recomputed; a labels file that is none is told in two lines."""
    path = folder / "res-2026-01-01-b.json"
    raw = json.loads(path.read_bytes())
    strata = {"1": {"n": 4, "pass_pow_3": 0}, "2": {"n": 2, "pass_pow_3": 0}}
    raw["scores"]["by_subset"]["holdout"]["by_difficulty_class"] = strata
    path.write_text(json.dumps(raw))
    labels = tmp_path / "x.labels.json"
    labels.write_text(json.dumps({f"tk-{k:012x}": 1 if k < 4 else 2 for k in range(6)}))
    assert run("check", folder, "--labels", labels).exit_code == 0
    labels.write_text(json.dumps({f"tk-{k:012x}": 1 if k < 3 else 2 for k in range(6)}))
    done = run("check", folder, "--labels", labels)
    assert done.exit_code == 1
    assert "error published.by_difficulty_class" in done.stdout
    assert run("check", folder).exit_code == 0
    labels.write_text("[]")
    done = run("check", folder, "--labels", labels)
    assert (done.exit_code, done.stdout, done.stderr.count("\n") <= 2) == (2, "", True)


def test_check_does_not_compare_figures_of_runs_that_contradict_themselves(folder):
    """Where runs cannot be trusted their rules are told, and that nothing was compared."""
    broken(folder)
    assert "published figures not compared" in run("check", folder).stdout
    assert json.loads(run("check", folder, "--format", "json").stdout)["figures"] is None


def test_sums_beyond_64_bits_are_printed_and_not_scored(tmp_path):
    """Runs that each fit may sum to more: check prints the exact sum, score names where it does not fit."""
    most = 2**63 - 1
    runs = [(1, 1, {"tokens_in": most, "tokens_out": 1})] * 3
    folder = write(tmp_path / "set", record("res-2026-01-01-a", {1: runs}, cost={"tokens_in": most}))
    done = run("check", folder, "--format", "json")
    assert done.exit_code == 1
    assert 3 * most in [one["expected"] for one in json.loads(done.stdout)["findings"]]
    assert done.stdout.startswith('{\n  "rules": [\n    {\n')
    done = run("score", folder, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert f"res-2026-01-01-a.json: /cost/tokens_in: the runs sum to {3 * most}," in done.stderr
    assert not (tmp_path / "out").exists()


def test_score_writes_records_that_check_finds_clean(folder, tmp_path):
    """Records with intervals and a board block, of the seed and date that were asked for."""
    done = run("score", folder, "--out", tmp_path / "out", "--seed", 7, "--as-of", "2026-02-03")
    assert (done.exit_code, done.stdout) == (0, f"3 scored records in {tmp_path / 'out'}\n")
    made = json.loads((tmp_path / "out" / "res-2026-01-01-a.json").read_bytes())
    assert made["board"]["as_of"] == "2026-02-03"
    assert made["scores"]["by_subset"]["holdout"]["pass_pow_3_ci"]["upper"] == 1
    checked = run("check", tmp_path / "out")
    assert checked.exit_code == 0
    assert "all as published" in checked.stdout


def test_score_never_rewrites_its_own_input(folder):
    """Neither the folder of the records nor one around it is written to."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for out in (folder, folder.parent):
        done = run("score", folder, "--out", out)
        assert done.exit_code == 2
        assert "is no folder that is new or empty" in done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert list(folder.parent.iterdir()) == [folder]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("2025-12-31", "was created on 2026-01-01, after the board's date 2025-12-31"),
        ("today", "'today' does not match"),
    ],
)
def test_score_refuses_a_date_that_cannot_be(folder, tmp_path, given, message):
    """A date before a record of the board, or none at all: exit 2, and nothing is written."""
    done = run("score", folder, "--out", tmp_path / "out", "--as-of", given)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_score_says_how_many_groups_are_too_many(tmp_path):
    """A ladder of 46 rows: the number of groups in one message, exit 2, and nothing is written."""
    rows = [
        record(f"res-2026-01-01-{passed:02d}", {k: (PASS if k <= passed else FAIL) for k in range(1, 47)})
        for passed in range(46)
    ]
    done = run("score", write(tmp_path / "in", *rows), "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert re.match(r"medgauge: the board has \d\d groups, but a record has letters for a to z", done.stderr)
    assert not (tmp_path / "out").exists()


def test_board_refuses_records_whose_figures_mean_nothing(folder):
    """The same records make no board: two lines on standard error, exit 2, nothing on standard output."""
    path = broken(folder)
    done = run("board", folder)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert path.name in done.stderr
    assert "/run_outcomes/2/runs/1/pass" in done.stderr
    assert done.stderr.count("\n") <= 2


@pytest.mark.parametrize("command", ["board", "check"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "x.json"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b'{"id": NaN}', "x.json"),
        (b"[]", "x.json"),
        (b"", "x.json"),
        (b"[" * 100_000, "x.json"),
    ],
)
def test_unusable_input_is_two_lines_and_exit_2(tmp_path, command, content, message):
    """Whatever is wrong with a file: at most two lines on standard error that name it, exit 2."""
    (tmp_path / "x.json").write_bytes(content)
    done = run(command, tmp_path)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") <= 2
    assert done.stdout == ""


def test_file_trouble_names_the_file(tmp_path, monkeypatch):
    """An error of the operating system is one line with the file, not a traceback."""

    def refuse(*_, **__):
        raise OSError(28, "No space left on device", str(tmp_path / "demo"))

    monkeypatch.setattr("medgauge_lib.demo.write", refuse)
    done = run("demo", tmp_path / "demo")
    assert done.exit_code == 2
    assert done.stderr == f"medgauge: {tmp_path / 'demo'}: no space left on device\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("board",),
        ("board", "x", "--seed", "-1"),
        ("board", "x", "--subset", "all"),
        ("frobnicate",),
        ("--x",),
    ],
)
def test_wrong_use_is_two_lines_and_exit_2(arguments):
    """A wrong call exits 2, says what is wrong and which help says what is right."""
    done = run(*arguments)
    wrong, remedy = done.stderr.splitlines()
    assert (done.exit_code, done.stdout) == (2, "")
    assert wrong.startswith("medgauge: ")
    assert re.fullmatch(r"  medgauge( board)? --help shows what is right", remedy)


def test_the_command_has_one_name_however_it_is_started(tmp_path):
    """As a module of Python it is called medgauge too."""
    started = [sys.executable, "-m", "medgauge", "frobnicate"]
    done = subprocess.run(started, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == "medgauge: No such command 'frobnicate'.\n  medgauge --help shows what is right\n"


def test_version_and_help():
    """--version prints the version, --help names every command."""
    assert run("--version").stdout == f"medgauge, version {__version__}\n"
    shown = run("--help").stdout
    assert all(name in shown for name in ("board", "check", "demo", "report", "score"))


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_help_waits_for_no_library_it_does_not_use(option):
    """No drawing or notebook library, no SciPy and no networkx is loaded to print a few lines."""
    program = (
        f"import sys; sys.argv = ['medgauge', {option!r}]\n"
        "try:\n    import medgauge; medgauge.main()\n"
        "finally:\n    print(sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = ast.literal_eval(done.stderr)
    assert "click" in loaded
    assert not {"altair", "networkx", "nbconvert", "papermill", "scipy", "vl_convert"} & set(loaded)


def test_a_python_without_docstrings_is_told():
    """Altair does not load without docstrings, so the command says how to run it."""
    command = [sys.executable, "-OO", "-m", "medgauge", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = "medgauge: Python leaves docstrings out\n  run it without -OO or PYTHONOPTIMIZE\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_an_interrupt_while_the_library_loads_is_one_line(tmp_path):
    """Ctrl-C before the command has begun: one line and exit code 130, as later."""
    (tmp_path / "pandas.py").write_text("import os, signal, time; os.kill(os.getpid(), signal.SIGINT)\n")
    done = subprocess.run(
        [sys.executable, "-m", "medgauge", "--help"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "medgauge: interrupted\n")


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGINT, 130, "medgauge: interrupted\n"), (signal.SIGTERM, 143, "")],
)
def test_a_signal_ends_a_command_through_its_clean_up(tmp_path, monkeypatch, number, code, said):
    """Ctrl-C and SIGTERM have exit codes of their own, never that of findings, and let clean-up run."""
    cleared = []

    def slow(_):
        try:
            os.kill(os.getpid(), number)
            time.sleep(10)
        finally:
            cleared.append(True)

    monkeypatch.setattr("medgauge_lib.demo.write", slow)
    before = signal.getsignal(signal.SIGTERM)
    done = run("demo", tmp_path / "demo")
    assert (done.exit_code, done.stderr, cleared) == (code, said, [True])
    assert signal.getsignal(signal.SIGTERM) == before


def test_installed_command_survives_a_closed_pipe(folder):
    """A reader that stops early gets no traceback."""
    command = Path(sys.executable).with_name("medgauge")
    reading = subprocess.Popen(
        [command, "board", folder, "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    reading.stdout.close()
    stderr = reading.stderr.read()
    reading.stderr.close()
    assert (reading.wait(), b"Traceback" in stderr, b"Exception" in stderr) == (141, False, False)


@pytest.mark.parametrize(
    ("closed", "said"),
    [
        (">&-", "medgauge: standard output is closed\n  send it to a file, a pipe or /dev/null\n"),
        (">/dev/full", "medgauge: standard output: no space left on device\n"),
        (">&- 2>&-", ""),
    ],
)
def test_output_that_nobody_can_read_is_no_success(closed, said):
    """Where what is printed is lost it is said, once and with exit code 2, as far as anything can be said."""
    command = f"{Path(sys.executable).with_name('medgauge')} --help {closed}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_a_closed_standard_error_is_no_matter(folder):
    """What is printed comes whole where nobody listens to standard error."""
    command = f"{Path(sys.executable).with_name('medgauge')} board {folder} --format json 2>&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, run("board", folder, "--format", "json").stdout)


def test_output_does_not_depend_on_locale_or_time_zone(folder):
    """Under another locale, time zone and hash seed the bytes are the same."""
    command = Path(sys.executable).with_name("medgauge")
    outputs = {
        subprocess.run(
            [command, "board", folder], capture_output=True, check=True, env=os.environ | settings
        ).stdout
        for settings in (
            {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0"},
            {"LC_ALL": "POSIX", "TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "1"},
        )
    }
    assert len(outputs) == 1


PLACES = {
    "board": ("board", "{odd}"),
    "board --labels": ("board", "{set}", "--labels", "{odd}"),
    "check --labels": ("check", "{set}", "--labels", "{odd}"),
    "score": ("score", "{odd}", "--out", "{out}"),
    "score --out": ("score", "{set}", "--out", "{odd}"),
    "demo": ("demo", "{odd}"),
    "report": ("report", "{odd}", "--out", "{out}"),
    "reproduce": ("reproduce", "{odd}"),
    "import": ("import", "table", "{odd}", "--out", "{out}"),
    "import --mapping": ("import", "table", "{set}/x.csv", "--mapping", "{odd}", "--out", "{out}"),
    "findings check": ("findings", "check", "{odd}", "{set}"),
}


@pytest.fixture
def impatient():
    """Whoever waits for longer than a minute fails."""

    def give_up(*_):
        raise AssertionError("the command waits for something that never comes")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("kind", ["pipe", "device", "loop"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.usefixtures("impatient")
def test_what_is_no_file_is_told_and_not_waited_for(folder, tmp_path, place, kind):
    """A pipe, an endless device or a link to itself is an error of two lines wherever a path is given."""
    odd = {"pipe": tmp_path / "pipe", "device": Path("/dev/zero"), "loop": tmp_path / "loop"}[kind]
    if kind == "pipe":
        os.mkfifo(odd)
    elif kind == "loop":
        odd.symlink_to("loop")
    done = run(*(part.format(odd=odd, set=folder, out=tmp_path / "out") for part in PLACES[place]))
    assert done.exit_code == 2
    assert done.stderr.startswith("medgauge: ")
    assert done.stderr.count("\n") <= 2
    assert odd.is_symlink() or odd.is_fifo() or odd.is_char_device()
    assert not (tmp_path / "out").exists()


def test_a_value_of_a_megabyte_makes_no_message_of_a_megabyte(folder):
    """Keys and values of any length are cut, with an ellipsis; the place and what is wrong stay."""
    path = folder / "res-2026-01-01-b.json"
    raw = json.loads(path.read_bytes())
    long = "k" * 2**20
    changes = (
        {"methodology_version": long},
        {long: 1},
        {"scores": raw["scores"] | {"veto_hits": {long: "x"}}},
    )
    for change in changes:
        path.write_text(json.dumps(raw | change))
        done = run("check", folder)
        assert done.exit_code == 2
        assert done.stderr.startswith(f"medgauge: {path}: ")
        assert "…" in done.stderr
        assert max(map(len, done.stderr.splitlines())) < len(str(path)) + 500


@pytest.mark.parametrize("listed", [True, False])
def test_a_set_of_which_every_task_is_void_is_said_so(tmp_path, listed):
    """No task is left: board, score and report say so in two lines, check finds every published figure."""
    void = [(0, 1, {"error": ("environment", "network")}), (1, 1), (1, 1)]
    entries = [
        {"task_key": f"tk-{k:012x}", "task_version": "1.0.0", "attribution": "environment"} for k in (1, 2)
    ]
    rows = [
        record(f"res-2026-01-01-{name}", {1: void, 2: void}, **({"voided_tasks": entries} if listed else {}))
        for name in "ab"
    ]
    for row in rows:
        row["scores"]["by_subset"]["holdout"]["compliance_rate"] = 0.5
    folder = write(tmp_path / "set", *rows)
    params = tmp_path / "void.yaml"
    params.write_text("benchmark: bm-made\nbenchmark_version: 1.0.0\nrecords: set\n")
    for command, message in (
        (("board", folder), "every task version of subset holdout is void"),
        (("score", folder, "--out", tmp_path / "scored"), "every task version of the record is void"),
        (("report", params, "--only", "groups", "--out", tmp_path / "out"), "subset holdout is void"),
    ):
        done = run(*command)
        assert done.exit_code == 2
        last = done.stderr[done.stderr.index("medgauge: ") :]
        assert message in last
        assert last.count("\n") == 2
    checked = run("check", folder)
    assert checked.exit_code == 1
    assert "pass_at_3 is 1.0, but there is none: no task of this subset is left" in checked.stdout
