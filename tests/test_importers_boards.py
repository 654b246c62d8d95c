"""MCPMark, τ-bench and Terminal-Bench: what becomes a run, and agreement with boards converted before."""

from __future__ import annotations

import hashlib
import json
import re
from fractions import Fraction

import pytest
from beside import RECORDS, SHARED, needs_shared
from click.testing import CliRunner

from medgauge_lib.cli import main
from medgauge_lib.errors import InputError
from medgauge_lib.importers.facts import Given, Price, Rule
from medgauge_lib.importers.importing import import_runs
from medgauge_lib.importers.messages import attribute
from medgauge_lib.records import read_records
from medgauge_lib.scoring import score

RAW = SHARED / "data" / "raw"
REVIEWED = {"review_record": "test"}


def put(path, content):
    """Write a JSON file, its folders made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def records(out):
    """Every record under an import's folder, each with its runs by task name."""
    found = {}
    for path in sorted(out.glob("records/*/*/*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        version = path.parent.name
        closed = json.loads((out / f"closed/{record['benchmark']}/{version}.tasks.json").read_text("utf-8"))
        found[record["id"]] = record | {
            "by_name": {closed["tasks"][task["task_key"]]: task["runs"] for task in record["run_outcomes"]}
        }
    return found


def only(out):
    """The one record of an import."""
    (record,) = records(out).values()
    return record


def marks(runs):
    """Pass, checkpoints and error of each run."""
    return [
        (
            run["pass"],
            run["checkpoints_passed"],
            run["checkpoints_total"],
            run["error"] and (run["error"]["attribution"], run["error"]["kind"]),
        )
        for run in runs
    ]


def mcpmark(folder, runs, *, model="m-1", service="filesystem", task="cat__one", meta=True):
    """Write a small MCPMark folder; each run is (success, error message)."""
    entries = {
        f"run-{number}": {
            "success": success,
            "error_message": message,
            "execution_time": 1.5,
            "token_usage": {"input_tokens": 1000, "output_tokens": 10, "total_tokens": 1010},
            "turn_count": 4,
        }
        for number, (success, message) in enumerate(runs, 1)
    }
    put(
        folder / f"model_results/{model}/{task}.json",
        {"model": model, "service": service, "task": task, "runs": entries},
    )
    if meta:
        put(
            folder / "summary.json",
            {"generated_at": "2025-12-15T06:36:08.1", "overall": {model: {"actual_model_name": "m-1-x"}}},
        )
        rows = [{"category_id": "cat", "task_id": "one", "difficulty": "L3"}]
        put(folder / "task_meta.json", {"data": rows})
    return folder


def test_mcpmark_maps_runs_usage_date_snapshot_and_difficulty(tmp_path):
    """Each field of a run and of the files beside it lands where the summary says."""
    source = mcpmark(tmp_path / "in", [(True, None)] * 3)
    import_runs("mcpmark", source, tmp_path / "out")
    record = only(tmp_path / "out")
    (runs,) = record["by_name"].values()
    assert list(record["by_name"]) == ["cat__one"]
    assert [run | {"run": 0} for run in runs] == [
        {
            "run": 0, "pass": True, "checkpoints_passed": 1, "checkpoints_total": 1, "s": 1.0,
            "veto_categories": [], "error": None, "tokens_in": 1000, "tokens_out": 10, "actions": 4,
            "wall_clock_sec": 1.5,
        }
    ] * 3  # fmt: skip
    assert record["benchmark"] == "bm-mcpmark-filesystem"
    assert (record["model"], record["model_snapshot"]) == ("m-1", "m-1-x")
    assert record["created_at"] == "2025-12-15T06:36:08Z"
    assert record["scores"]["dimensions"]["m3_efficiency"]["action_definition"] == "one model turn"
    labels = json.loads((tmp_path / "out/closed/bm-mcpmark-filesystem/0.0.0.labels.json").read_text("utf-8"))
    assert labels == {record["run_outcomes"][0]["task_key"]: 3}


def test_mcpmark_run_with_an_error_fails_even_where_it_succeeded(tmp_path):
    """A run with an error message is failed; its checkpoint stays as it was."""
    runs = [(True, "Max turns (100) exceeded"), (False, None), (True, None)]
    import_runs("mcpmark", mcpmark(tmp_path / "in", runs), tmp_path / "out")
    assert marks(only(tmp_path / "out")["by_name"]["cat__one"]) == [
        (False, 1, 1, ("agent", "other")),
        (False, 0, 1, None),
        (True, 1, 1, None),
    ]


def test_mcpmark_takes_the_first_three_runs_by_number(tmp_path):
    """Run 10 comes after run 2, and later runs are left out even where they are better."""
    runs = [(number in (2, 10), None) for number in range(1, 11)]
    summary = import_runs("mcpmark", mcpmark(tmp_path / "in", runs), tmp_path / "out")
    assert [run["pass"] for run in only(tmp_path / "out")["by_name"]["cat__one"]] == [False, True, False]
    assert summary.boards[0]["runs_left_out"] == 7


def test_mcpmark_makes_a_board_of_each_service(tmp_path):
    """Services are families, which are never pooled."""
    for service in ("github", "filesystem"):
        mcpmark(tmp_path / "in", [(True, None)] * 3, service=service, task=f"{service}__one")
    summary = import_runs("mcpmark", tmp_path / "in", tmp_path / "out")
    assert [board["benchmark"] for board in summary.boards] == ["bm-mcpmark-filesystem", "bm-mcpmark-github"]


def test_prices_give_the_exact_amount_of_each_run(tmp_path):
    """1000 tokens at 1.25 and 10 at 10 a million cost 0.00135."""
    given = Given(
        options={"currency": "USD", "price_table_version": "p-1"},
        prices={"m-1": Price(Fraction("1.25"), Fraction(10))},
    )
    import_runs("mcpmark", mcpmark(tmp_path / "in", [(True, None)] * 3), tmp_path / "out", given=given)
    record = only(tmp_path / "out")
    assert {run["amount"] for run in record["by_name"]["cat__one"]} == {0.00135}
    assert record["cost"]["amount"] == 0.00405
    assert (record["cost"]["currency"], record["cost"]["price_table_version"]) == ("USD", "p-1")


def test_tokens_that_cost_more_than_a_number_holds_are_an_error(tmp_path):
    """An amount that no double can hold names the subject instead of ending in a traceback."""
    source = mcpmark(tmp_path / "in", [(True, None)] * 3)
    path = source / "model_results/m-1/cat__one.json"
    path.write_text(path.read_text("utf-8").replace("1000,", f"{10**400},"), encoding="utf-8")
    given = Given(
        options={"currency": "USD", "price_table_version": "p-1"},
        prices={"m-1": Price(Fraction(1), Fraction(1))},
    )
    with pytest.raises(InputError, match="m-1: the tokens of a run cost more than a number can hold"):
        import_runs("mcpmark", source, tmp_path / "out", given=given)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"runs": {"run-1": {"success": "yes", "error_message": None}}}, "/runs/run-1/success"),
        ({"runs": {"run-1": {"success": True}}}, "the field 'error_message' is missing"),
        *(
            (
                {"runs": {"run-1": {"success": True, "error_message": None, "token_usage": usage}}},
                "/runs/run-1/token_usage",
            )
            for usage in (0, "", False, [], 7)
        ),
        ({"runs": []}, "/runs"),
        ({"model": 3}, "/model"),
    ],
)
def test_mcpmark_names_file_and_place_of_what_is_wrong(tmp_path, change, wrong):
    """A wrong type or a missing field is named with its file and place."""
    path = tmp_path / "in/model_results/m-1/cat__one.json"
    put(path, {"model": "m-1", "service": "s", "task": "t", "runs": {}} | change)
    with pytest.raises(InputError) as error:
        import_runs("mcpmark", tmp_path / "in", tmp_path / "out")
    assert wrong in str(error.value)
    assert not (tmp_path / "out").exists()


def tau(path, rewards, **info):
    """Write τ-bench results of one task, a trial for each reward."""
    rows = [
        {"task_id": 0, "reward": reward, "info": info, "traj": [], "trial": trial}
        for trial, reward in enumerate(rewards)
    ]
    return put(path, rows)


def test_tau_bench_maps_rewards_in_the_order_of_trials(tmp_path):
    """A reward of 1 passes, 0.5 does not, and the first three trials count wherever they stand."""
    source = tau(tmp_path / "gpt.json", [1.0, 0.5, 0.0, 1.0])
    source.write_text(json.dumps(json.loads(source.read_text("utf-8"))[::-1]), encoding="utf-8")
    given = Given(options={"created_at": "2024-06-01"})
    import_runs("tau-bench", source, tmp_path / "out", given=given)
    record = only(tmp_path / "out")
    assert [run["pass"] for run in record["by_name"]["0"]] == [True, False, False]
    assert record["id"] == "res-2024-06-01-gpt-tau-bench"
    assert record["cost"] == {"amount_applicable": False}


def test_tau_bench_error_fails_the_run(tmp_path):
    """A run whose info tells an error stays, as a failed run."""
    source = tau(tmp_path / "gpt.json", [0.0] * 3, error="Rate limit reached")
    import_runs("tau-bench", source, tmp_path / "out", given=Given(options={"created_at": "2024-06-01"}))
    assert {mark[3] for mark in marks(only(tmp_path / "out")["by_name"]["0"])} == {("provider", "other")}


def test_tau_bench_asks_for_the_date_it_does_not_have(tmp_path):
    """No date is made up: without --created-at the import is refused and nothing is written."""
    source = tau(tmp_path / "gpt.json", [1.0] * 3)
    result = CliRunner().invoke(main, ["import", "tau-bench", str(source), "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert "created_at" in result.output
    assert "--created-at" in result.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        ({}, "not a list"),
        ([{"task_id": 0, "reward": 1.0}], "'trial' is missing"),
        ([{"task_id": 0, "reward": 7, "trial": 0}], "is no reward"),
        ([{"task_id": 0, "reward": 1, "trial": 0}] * 2, "has trial 0 twice"),
        ([3], "is not an object"),
        ([], "holds no run"),
    ],
)
def test_tau_bench_refuses_what_is_no_result(tmp_path, rows, wrong):
    """What is not a list of results with rewards from 0 to 1 is refused in two lines."""
    source = put(tmp_path / "a.json", rows)
    with pytest.raises(InputError, match=wrong) as error:
        import_runs("tau-bench", source, tmp_path / "out", given=Given(options={"created_at": "2024-06-01"}))
    assert len(str(error.value).splitlines()) <= 2


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('[{"reward": NaN}]', "has NaN, which is no JSON number, at line 1 column 13"),
        ("", "is empty"),
        ("[", "is cut off, at line 1 column 1"),
        ('[{"a": 1, "a": 2}]', "has the key 'a' twice in one object, at line 1"),
        ("\x00", "is not JSON: expected value, at line 1 column 1"),
    ],
)
def test_broken_json_is_refused(tmp_path, text, wrong):
    """NaN, an empty file, a cut one and a key twice are refused, naming the file."""
    source = tmp_path / "a.json"
    source.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"a\.json: {re.escape(wrong)}"):
        import_runs("tau-bench", source, tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "target", "wrong"),
    [
        ("model_results/m-1/cat__two.json", "nowhere", "no such file or folder"),
        ("model_results/m-2", "m-1", "is a link to a folder"),
        ("summary.json", "nowhere", "no such file or folder"),
        ("task_meta.json", "task_meta.json", "symbolic links"),
    ],
)
def test_a_link_that_cannot_be_used_is_never_left_out(tmp_path, name, target, wrong):
    """A broken link or a linked folder in a source is refused by name, since half a source is no source."""
    source = mcpmark(tmp_path / "source", [(True, None)] * 3)
    place = tmp_path / "source" / name
    place.unlink(missing_ok=True)
    place.symlink_to(target)
    with pytest.raises(InputError, match=wrong) as caught:
        import_runs("mcpmark", source, tmp_path / "out")
    assert caught.value.file == str(place)
    assert not (tmp_path / "out").exists()


def test_names_of_runs_and_tests_are_escaped_in_pointers(tmp_path):
    """Pointers escape / and ~ of runs and tests; no control character reaches a terminal."""
    source = mcpmark(tmp_path / "in\x07", [(True, None)] * 3)
    path = source / "model_results/m-1/cat__one.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    put(path, document | {"runs": {"a/b~\x07": {"success": 1}}})
    with pytest.raises(InputError) as caught:
        import_runs("mcpmark", source, tmp_path / "out")
    assert caught.value.pointer == "/runs/a~1b~0\\x07/success"
    trial = {"task_id": "a", "is_resolved": True, "parser_results": {"org/t~\x07": 1}}
    source = put(tmp_path / "in\x07/results.json", {"results": [trial]})
    with pytest.raises(InputError) as told:
        import_runs("terminal-bench", source, tmp_path / "out")
    assert told.value.pointer == "/results/0/parser_results/org~1t~0\\x07"
    assert all(str(error.value).replace("\n", "").isprintable() for error in (caught, told))


def terminal(folder, rounds, name="20250924_droid_gpt-5"):
    """Write Terminal-Bench rounds; each trial is (task, resolved, failure mode, test results or None)."""
    for number, trials in enumerate(rounds, 1):
        results = [
            {
                "task_id": task,
                "trial_name": f"{task}.1-of-1",
                "is_resolved": resolved,
                "failure_mode": mode,
                "parser_results": None if tests is None else {f"t{i}": r for i, r in enumerate(tests)},
                "total_input_tokens": 0,
                "total_output_tokens": 0,
                "trial_started_at": f"2025-09-2{number}T00:00:00+00:00",
                "trial_ended_at": f"2025-09-2{number}T01:00:00+00:00",
                "agent_started_at": f"2025-09-2{number}T00:10:00+00:00",
                "agent_ended_at": f"2025-09-2{number}T00:10:02.500000+00:00",
            }
            for task, resolved, mode, tests in trials
        ]
        put(folder / name / f"round_{number}/results.json", {"id": "x", "results": results})
    return folder


P, F = "passed", "failed"


def test_terminal_bench_tests_are_checkpoints(tmp_path):
    """The most tests seen are the checkpoints; resolved passes all of them, unread tests pass none."""
    rounds = [
        [("a", False, "unset", [P, F])],
        [("a", True, "unset", [P, P])],
        [("a", None, "parse_error", None)],
        [("a", False, "unset", [F, F, P, F])],
    ]
    import_runs("terminal-bench", terminal(tmp_path / "in", rounds), tmp_path / "out")
    record = only(tmp_path / "out")
    assert marks(record["by_name"]["a"]) == [
        (False, 1, 4, None),
        (True, 4, 4, None),
        (False, 0, 4, ("application", "output_error")),
    ]
    assert (record["model"], record["harness"]) == ("gpt-5", "hx-droid")
    assert record["run_window"] == {"from": "2025-09-21", "to": "2025-09-24"}
    assert record["created_at"] == "2025-09-24T01:00:00Z"
    assert [run["wall_clock_sec"] for run in record["by_name"]["a"]] == [2.5] * 3
    assert "tokens_in" not in record["by_name"]["a"][0]


@pytest.mark.parametrize(
    ("mode", "error"),
    [
        ("agent_timeout", ("agent", "timeout")),
        ("unknown_agent_error", ("agent", "other")),
        ("parse_error", ("application", "output_error")),
        ("test_timeout", ("application", "timeout")),
        ("agent_installation_failed", ("harness", "other")),
    ],
)
def test_terminal_bench_failure_modes_fail_the_run(tmp_path, mode, error):
    """Each failure mode is an error with its attribution, and the run fails though its tests passed."""
    source = terminal(tmp_path / "in", [[("a", True, mode, [P, P])]] * 3)
    import_runs("terminal-bench", source, tmp_path / "out")
    assert marks(only(tmp_path / "out")["by_name"]["a"]) == [(False, 2, 2, error)] * 3


def test_terminal_bench_unknown_failure_mode_is_asked_for(tmp_path):
    """A mode that is not known is refused, and a rule of the user says what it is."""
    source = terminal(tmp_path / "in", [[("a", False, "moon_phase", [F])]] * 3)
    with pytest.raises(InputError, match="'moon_phase' is no known failure mode"):
        import_runs("terminal-bench", source, tmp_path / "out")
    given = Given(errors=(Rule("moon_phase", "provider", "network"),))
    import_runs("terminal-bench", source, tmp_path / "out", given=given)
    assert marks(only(tmp_path / "out")["by_name"]["a"])[0][3] == ("provider", "network")


def test_terminal_bench_orders_trials_by_their_start(tmp_path):
    """The first three trials are those that started first, whatever their files are called."""
    source = terminal(tmp_path / "in", [[("a", number == 1, "unset", [P if number == 1 else F])]
                                        for number in range(1, 5)])  # fmt: skip
    folder = source / "20250924_droid_gpt-5"
    (folder / "round_1").rename(folder / "zz_9")
    import_runs("terminal-bench", source, tmp_path / "out")
    assert [run["pass"] for run in only(tmp_path / "out")["by_name"]["a"]] == [True, False, False]


def test_terminal_bench_refuses_a_trial_that_contradicts_itself(tmp_path):
    """A trial that is not resolved though every test passed and nothing went wrong is refused."""
    source = terminal(tmp_path / "in", [[("a", False, "unset", [P])]] * 3)
    with pytest.raises(InputError, match="is failed, but all of its 1 checkpoints passed"):
        import_runs("terminal-bench", source, tmp_path / "out")


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("Execution timed out after 3600 seconds", ("harness", "timeout")),
        ("litellm.BadRequestError: Range of input length should be [1, 258048]", ("model", "other")),
        ("MCP tool call timed out", ("application", "timeout")),
        ("503 Service Unavailable", ("provider", "server")),
        ("Connection reset by peer", ("provider", "network")),
        ("Failed to parse tool arguments", ("model", "output_error")),
        ("ZeroDivisionError: division by zero", ("harness", "other")),
    ],
)
def test_error_messages_tell_their_attribution(message, error):
    """Known words decide, from the most telling down; what is left is the program's own error."""
    assert attribute(message) == error


def old_key(name):
    """Task key of the boards converted before, which hold no version."""
    return "tk-" + hashlib.sha256(name.encode()).hexdigest()[:24]


FIGURES = (
    *("n", "n_runs", "exam", "pass_at_3", "pass_pow_3", "instability", "task_pass_rate", "continuous_score"),
    *("pass_at_3_ci", "pass_pow_3_ci", "task_pass_rate_ci", "continuous_score_ci"),
    *("errors", "error_rate_subject", "veto_rate"),
)


@needs_shared
@pytest.mark.parametrize("service", ["filesystem", "github"])
def test_mcpmark_agrees_with_the_converted_boards(tmp_path, service):
    """Runs, errors, usage, rates and intervals of the three models equal those of the converted board."""
    given = Given(options=REVIEWED | {"benchmark_version": "1.0.0"})
    import_runs("mcpmark", RAW / "mcpmark", tmp_path / "out", given=given)
    made = {r["model"]: r for r in records(tmp_path / "out").values() if r["benchmark"].endswith(service)}
    assert sorted(made) == ["gpt-5-high", "grok-4-fast", "qwen-3-max"]
    paths = [RECORDS / f"bm-mcpmark-{service}/1.0.0/res-2025-12-15-{m}-{service}.json" for m in sorted(made)]
    scored = score(read_records(paths))
    for model, path in zip(sorted(made), paths, strict=True):
        old = scored[path.stem]
        runs = {task["task_key"]: task["runs"] for task in old["run_outcomes"]}
        assert {old_key(f"{service}/{name}") for name in made[model]["by_name"]} == set(runs)
        for name, new in made[model]["by_name"].items():
            before = runs[old_key(f"{service}/{name}")]
            assert marks(new) == marks(before)
            for mine, theirs in zip(new, before, strict=True):
                assert [mine[f] for f in ("actions", "tokens_in", "tokens_out")] == [
                    theirs[f] for f in ("actions", "tokens_in", "tokens_out")
                ]
                # Written with three decimals before.
                assert mine["wall_clock_sec"] == pytest.approx(theirs["wall_clock_sec"], abs=5.001e-4)
        assert holdout(rekeyed(tmp_path, made[model], old, f"{service}/")) == holdout(old)


def rekeyed(folder, record, old, prefix):
    """Score an imported record anew under the task keys of the converted one.

    Resamples follow the order of the keys, so that only then intervals can be equal to the digit.
    """
    runs = {old_key(prefix + name): runs for name, runs in record["by_name"].items()}
    outcomes = [task | {"runs": runs[task["task_key"]]} for task in old["run_outcomes"]]
    made = {name: value for name, value in record.items() if name != "by_name"} | {"run_outcomes": outcomes}
    path = put(folder / "rekeyed" / f"{made['id']}.json", made)
    return score(read_records(path))[made["id"]]


def holdout(record):
    """Published figures of the holdout subset that runs decide."""
    block = record["scores"]["by_subset"]["holdout"]
    return {name: block[name] for name in FIGURES if name in block}


@needs_shared
def test_terminal_bench_agrees_with_the_converted_board(tmp_path):
    """Runs and errors equal those of the converted board, with checkpoints as far as two agents show them."""
    given = Given(options=REVIEWED | {"benchmark": "bm-terminal-bench-core", "benchmark_version": "0.1.1"})
    import_runs("terminal-bench", RAW / "terminal-bench", tmp_path / "out", given=given)
    files = {"goose": "goose-claude-sonnet-4", "droid": "droid-gpt-5"}
    for record in records(tmp_path / "out").values():
        name = files[record["harness"].removeprefix("hx-")]
        path = RECORDS / f"bm-terminal-bench-core/0.1.1/res-2025-09-25-{name}.json"
        old = score(read_records(path))[path.stem]
        runs = {task["task_key"]: task["runs"] for task in old["run_outcomes"]}
        fewer = 0
        for task, new in record["by_name"].items():
            before = runs[old_key(f"terminal-bench-core/{task}")]
            assert [(mark[0], mark[3]) for mark in marks(new)] == [
                (mark[0], mark[3]) for mark in marks(before)
            ]
            for mine, theirs in zip(new, before, strict=True):
                assert mine.get("tokens_in") == theirs.get("tokens_in")
                assert mine["wall_clock_sec"] == pytest.approx(theirs["wall_clock_sec"], abs=5.001e-4)
            if new[0]["checkpoints_total"] == before[0]["checkpoints_total"]:
                assert marks(new) == marks(before)
            else:
                # The converted board saw thirteen agents, some of which ran more tests.
                assert new[0]["checkpoints_total"] < before[0]["checkpoints_total"]
                fewer += 1
        assert fewer <= 5
        again, then = holdout(rekeyed(tmp_path, record, old, "terminal-bench-core/")), holdout(old)
        # The score is over checkpoints, of which the converted board saw more.
        for name in ("continuous_score", "continuous_score_ci"):
            mine, theirs = again.pop(name), then.pop(name)
        assert again == then
        assert [mine[side] for side in ("lower", "upper")] == pytest.approx(
            [theirs[side] for side in ("lower", "upper")], abs=0.01
        )


@needs_shared
def test_tau_bench_holds_the_first_three_trials(tmp_path):
    """Task by task the first three of four trials pass as their rewards say, and pass^3 is their share.

    The published rates are over four trials; `test_estimators` holds them against the same file.
    """
    rows = json.loads((RAW / "tau-bench/gpt-4o-airline.json").read_text("utf-8"))
    given = Given(options={"created_at": "2024-06-20"})
    import_runs("tau-bench", RAW / "tau-bench", tmp_path / "out", given=given)
    record = only(tmp_path / "out")
    first = {str(row["task_id"]): [None] * 3 for row in rows}
    for row in rows:
        if row["trial"] < 3:
            first[str(row["task_id"])][row["trial"]] = row["reward"] == 1
    assert {name: [run["pass"] for run in runs] for name, runs in record["by_name"].items()} == first
    block = record["scores"]["by_subset"]["holdout"]
    assert block["pass_pow_3"] == float(Fraction(sum(all(runs) for runs in first.values()), 50))
