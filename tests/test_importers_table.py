"""Tables of runs: columns, mapping, messages with line and column, hostile cells."""

from __future__ import annotations

import io
import json
import os

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet
from test_importers_boards import marks, only, records

from medgauge_lib.cli import main
from medgauge_lib.errors import InputError
from medgauge_lib.importers.facts import Given, read_given
from medgauge_lib.importers.importing import import_runs
from medgauge_lib.importers.reading import natural

FACTS = {"benchmark": "bm-t", "model": "m-1", "harness": "hx-t", "created_at": "2026-01-31T12:00:00+02:00"}


def table(tmp_path, text, name="runs.csv", **facts):
    """Import a table, given as text or bytes, and return the folder written."""
    source = tmp_path / name
    source.write_bytes(text if isinstance(text, bytes) else text.encode())
    import_runs("table", source, tmp_path / "out", given=Given(options=FACTS | facts))
    return tmp_path / "out"


def refused(tmp_path, text, name="runs.csv", **facts):
    """Return the message with which a table is refused."""
    with pytest.raises(InputError) as error:
        table(tmp_path, text, name, **facts)
    assert not (tmp_path / "out").exists()
    assert len(str(error.value).splitlines()) <= 2
    assert [path.name for path in tmp_path.iterdir()] == [name]
    return str(error.value)


ROWS = [
    {"task": "a", "run": 2, "pass": False, "checkpoints_passed": 1, "checkpoints_total": 2, "tokens_in": 5},
    {"task": "a", "run": 1, "pass": True, "checkpoints_passed": 2, "checkpoints_total": 2, "tokens_in": 7},
    {"task": "a", "run": 3, "pass": True, "checkpoints_total": 2, "error": "503", "wall_clock_sec": 0.5},
    {"task": "a", "run": 4, "pass": True, "checkpoints_passed": 2, "checkpoints_total": 2},
]
"""The same rows in every layout; cells that are not there are empty."""


@pytest.mark.parametrize("name", ["runs.csv", "runs.jsonl", "runs.ndjson", "runs.parquet"])
def test_layouts_give_the_same_runs(tmp_path, name):
    """CSV, JSON Lines and Parquet of the same rows give the same record; runs are ordered by number."""
    frame = pd.DataFrame(ROWS).convert_dtypes()
    match name.rpartition(".")[2]:
        case "csv":
            data = frame.to_csv(index=False).encode()
        case "parquet":
            data = frame.to_parquet(index=False)
        case _:
            data = "\n".join(map(json.dumps, ROWS)).encode()
    runs = only(table(tmp_path, data, name))["by_name"]["a"]
    assert marks(runs) == [(True, 2, 2, None), (False, 1, 2, None), (False, 2, 2, ("provider", "server"))]
    assert [run.get("tokens_in") for run in runs] == [7, 5, None]
    assert [run.get("wall_clock_sec") for run in runs] == [None, None, 0.5]


def test_byte_order_mark_quotes_and_line_ends_are_read(tmp_path):
    """A table of a spreadsheet program is read: byte order mark, CRLF, a comma and a newline in quotes."""
    text = '\ufefftask,pass\r\n"a, b\nc",1\r\n"a, b\nc",0\r\n"a, b\nc",yes\r\n'
    runs = only(table(tmp_path, text))["by_name"]
    assert {name: [run["pass"] for run in found] for name, found in runs.items()} == {
        "a, b\nc": [True, False, True]
    }


def test_every_column_lands_in_the_record(tmp_path):
    """Facts, task's version, subset and class, vetoes, error and usage come from their columns."""
    header = (
        "subject,model,model_snapshot,harness,harness_version,reasoning_effort,task,task_version,subset,difficulty,"
        "run,pass,veto_categories,error_attribution,error_kind,actions,tool_calls,tokens_in,tokens_out,"
        "wall_clock_sec,amount"
    )
    rows = [
        f"s,m-9,m-9-x,hx-q,2.1.0,high,t,1.1.0,dev,4,{run},{passed},{veto},{error},3,2,10,20,1.5,0.25"
        for run, passed, veto, error in (
            (1, "true", "", ","),
            (2, "false", "altered_input; unsafe_advice", ","),
            (3, "false", "", "model,empty_response"),
        )
    ]
    facts = {"currency": "EUR", "price_table_version": "p", "action_definition": "a call"}
    out = table(tmp_path, "\n".join([header, *rows]), **facts)
    record = only(out)
    assert record["run_outcomes"][0]["task_version"] == "1.1.0"
    assert record["run_outcomes"][0]["subset"] == "dev"
    assert record["run_conditions"]["reasoning_effort"] == "high"
    runs = record["by_name"]["t"]
    assert [run["veto_categories"] for run in runs] == [[], ["altered_input", "unsafe_advice"], []]
    assert runs[2]["error"] == {"attribution": "model", "kind": "empty_response"}
    usage = {"actions": 3, "tool_calls": 2, "tokens_in": 10, "tokens_out": 20, "wall_clock_sec": 1.5,
             "amount": 0.25}  # fmt: skip
    assert [{name: run[name] for name in usage} for run in runs] == [usage] * 3
    assert record["cost"]["amount"] == 0.75
    labels = json.loads((out / "closed/bm-t/0.0.0.labels.json").read_text("utf-8"))
    assert list(labels.values()) == [4]


def test_options_stand_over_columns_and_mapping(tmp_path):
    """The subject's block comes first, then the command line, the mapping's record block, the source."""
    mapping = tmp_path / "map.yaml"
    mapping.write_text(
        "record: {model: from-record, harness: hx-record, created_at: 2026-01-31, "
        "benchmark_version: 1.10.0}\n"
        "subjects: {one: {model: from-subject}}\n"
        "columns: {task: question, pass: ok}\n",
        encoding="utf-8",
    )
    (tmp_path / "r.csv").write_text(
        "subject,model,question,ok\n" + "one,m,q,1\n" * 3 + "two,m,q,1\n" * 3, encoding="utf-8"
    )
    given = read_given(mapping, {"benchmark": "bm-t", "harness": "hx-option"})
    import_runs("table", tmp_path / "r.csv", tmp_path / "out", given=given)
    found = records(tmp_path / "out").values()
    assert [(r["model"], r["harness"], r["benchmark_version"]) for r in found] == [
        ("from-subject", "hx-option", "1.10.0"),
        ("from-record", "hx-option", "1.10.0"),
    ]


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        (",1,1,1,1,,,", "line 3, column task: is empty"),
        ("a,2,maybe,1,1,,,", "line 3, column pass: 'maybe' is neither true nor false"),
        ("a,2,1,x,1,,,", "line 3, column checkpoints_passed: 'x' is no count"),
        ("a,2,,2,1,,,", "line 3, column checkpoints_passed: 2 of 1"),
        ("a,2,1,0,1,,,", "line 3, column pass: is true, but 0 of 1"),
        ("a,2,,,,,,", "line 3, column pass: is empty"),
        ("a,2,1,2.0,1,,,", "line 3, column checkpoints_passed: '2.0' is no count"),
        ("a,2,,1,2,,,", "line 3, column checkpoints_total: 2, but 1 on line 2"),
        ("a,1,1,1,1,,,", "line 3, column run: line 2 has run 1"),
        ("a,,1,1,1,,,", "line 3, column run: is empty"),
        ("a,2,1,1,1,NaN,,", "line 3, column amount: 'NaN' is no amount"),
        ("a,2,1,1,1,1e999,,", "line 3, column amount: '1e999' is no amount"),
        ("a,2,1,1,1,-1,,", "line 3, column amount: '-1' is no amount"),
        ("a,2,1,1,1,,99999999999999999999,", "line 3, column tokens_in"),
        ("a,2,1,1,1,,1.5,", "line 3, column tokens_in: '1.5' is no count"),
        ("a,2,1,1,1,,,nobody", "line 3, column error_attribution: 'nobody' is not known"),
        ("a,2,1", "line 3 has 3 cells, but the header has 8"),
        ('a,2,"1,1,1,,,', "is no CSV"),
    ],
)
def test_messages_name_line_and_column(tmp_path, row, wrong):
    """Each cell that cannot be used is named with line and column, and nothing is written."""
    header = "task,run,pass,checkpoints_passed,checkpoints_total,amount,tokens_in,error_attribution"
    assert wrong in refused(tmp_path, f"{header}\na,1,1,1,1,,,\n{row}\na,3,1,1,1,,,\n")


@pytest.mark.parametrize(
    ("text", "name", "wrong"),
    [
        (b"", "runs.csv", "line 1 names no columns"),
        (b"task;pass\na;1\n", "runs.csv", "there is no column task"),
        (b"task;pass\na;1\n", "runs.csv", "part the columns by commas"),
        (b"tsk,pass\na;b,1\n", "runs.csv", "name it so, or state in a mapping file which column it is"),
        (b"task,task,pass\n", "runs.csv", "names the column 'task' twice"),
        (b"task,pass\n\xff,1\n", "runs.csv", "line 2 is not UTF-8"),
        (b"task,pass\n", "runs.csv", "holds no run"),
        (b"task,pass\n" + b"a" * 200_000 + b",1\n", "runs.csv", "line 2: is no CSV: field larger"),
        (b"task,pass\n" + b"a" * 20_000 + b",1\n", "runs.csv", "longer than 10000 characters"),
        (b'{"task": "a", "pass": NaN}\n', "runs.jsonl", "has NaN, which is no JSON number, at line 1 column"),
        (b'\n[1]\n', "runs.jsonl", "line 2: an array is not an object"),
        (b'{"task": "\\ud800", "pass": true}\n' * 3, "runs.jsonl", "has half a surrogate pair"),
        (b'{"task": "a", "pass": true}\n\n{"task": "a", ', "runs.jsonl", "is cut off, at line 3 column 14"),
        (b'{"task": ["a"], "pass": true}\n', "runs.jsonl", "line 1, column task: an array is no text"),
        (b"PAR1", "runs.parquet", "is no Parquet file"),
        (b"x", "runs.xlsx", "is no known kind of table"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused(tmp_path, text, name, wrong):
    """Broken files are refused in two lines that say where, and nothing is written."""
    assert wrong in refused(tmp_path, text, name)


@pytest.mark.parametrize(
    "amount", ["1_000", "1,000.50", "1.000,50", "\u0661\u0662", "-1", "-0.0", "1e400", "0x10", "nan"]
)
def test_what_only_looks_like_an_amount_is_refused(tmp_path, amount):
    """An amount is written with the digits 0 to 9 and one point; nothing else is guessed at."""
    assert f"line 2, column amount: '{amount}' is no amount" in refused(
        tmp_path, "task,pass,amount\n" + f'a,1,"{amount}"\n' * 3
    )


def test_a_parquet_column_whose_name_is_no_text_is_refused(tmp_path):
    """A name that is not UTF-8 makes a table unreadable, whatever its columns hold."""
    content = io.BytesIO()
    table = pa.table({"task": ["a"] * 3, "zzmarker": ["x"] * 3})
    parquet.write_table(table, content, compression="none", store_schema=False)
    damaged = content.getvalue().replace(b"zzmarker", b"zzm\xaarker")
    assert "runs.parquet: is no Parquet file: " in refused(tmp_path, damaged, "runs.parquet")


@pytest.mark.parametrize(
    ("kind", "said"), [(("us", None), "date value out of range"), (("ns", "Europe/Nowhere"), "zoneinfo")]
)
def test_a_parquet_column_that_python_cannot_hold_is_named(tmp_path, kind, said):
    """A day beyond the calendar or an unknown time zone is told with its column."""
    content = io.BytesIO()
    when = pa.array([2**62] * 3, pa.timestamp(*kind))
    parquet.write_table(pa.table({"task": ["a"] * 3, "pass": [True] * 3, "when": when}), content)
    message = refused(tmp_path, content.getvalue(), "runs.parquet")
    assert "runs.parquet: column when cannot be read: " in message
    assert said in message


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("records: {}", "did you mean 'record'?"),
        ("record: {modle: m}", "did you mean 'model'?"),
        ("columns: {task: nope}", "there is no column 'nope'"),
        ("columns: {tsk: task}", "'tsk' is no standard column"),
        ("columns: {run: task, task: task}", "stands for two columns"),
        ("subjects: {nobody: {model: m}}", "has no subject 'nobody'"),
        ("subjects: {m-1: {benchmark: bm-x}}", "'benchmark' is not known"),
        ("errors: [{contains: x, attribution: moon, kind: other}]", "'moon' is not known"),
        ("errors: {}", "is not a list"),
        ("prices: {currency: EUR}", "'price_table_version' is missing"),
        (
            "prices: {currency: EUR, price_table_version: p, per_million_tokens: {runs: {in: a, out: 1}}}",
            "'a' is no price",
        ),
        ("record: {model: a, model: b}", "occurs twice"),
        ("a: &a [x]\nb: *a", "holds an alias"),
        ("record: [", "not YAML"),
        ("? [a]\n: b", "line 1: a list or a block stands where a name belongs"),
        ("record:\n  ? {a: b}\n  : c", "line 2: a list or a block stands where a name belongs"),
        ("#" * (2**20 + 1), "is larger than 1048576 bytes"),
        ("- x", "is not a block of names and values"),
        ("record: {model: ''}", "is no text"),
    ],
)
def test_mapping_files_are_held_to_their_form(tmp_path, text, wrong):
    """A name or value that is not known is named, with the near match."""
    (tmp_path / "map.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "runs.csv").write_text("task,pass\n" + "a,1\n" * 3, encoding="utf-8")
    options = ["--mapping", "map.yaml", *(f"--{n.replace('_', '-')}={v}" for n, v in FACTS.items())]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        result = CliRunner().invoke(main, ["import", "table", "runs.csv", "--out", "out", *options])
    assert result.exit_code == 2
    assert wrong in result.output
    assert len(result.output.splitlines()) <= 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("subjects: {org/model-a: {modle: m}}", "/subjects/org~1model-a"),
        ("subjects: {org/model-a: {model: ''}}", "/subjects/org~1model-a/model"),
        (r'subjects: {"a~b\a": x}', r"/subjects/a~0b\x07"),
        (r'columns: {"a/b\a": ""}', r"/columns/a~1b\x07"),
        (r'errors: [{"\e[2J/": x}]', "/errors/0"),
        (
            "prices: {currency: E, price_table_version: p, per_million_tokens: {org/a: {in: x, out: 1}}}",
            "/prices/per_million_tokens/org~1a/in",
        ),
        (
            r'prices: {currency: E, price_table_version: p, per_million_tokens: {"a\a": {inn: 1}}}',
            r"/prices/per_million_tokens/a\x07",
        ),
    ],
)
def test_names_of_a_mapping_file_are_escaped_in_pointers(tmp_path, text, pointer):
    """A pointer escapes / and ~ of a name as RFC 6901 says, and no control character reaches a terminal."""
    (tmp_path / "map.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_given(tmp_path / "map.yaml", {})
    assert caught.value.pointer == pointer
    assert str(caught.value).replace("\n", "").isprintable()


def test_the_name_of_a_column_is_printed_escaped(tmp_path):
    """A message on a cell or a missing column shows the column's name without its control character."""
    given = Given(options=FACTS, columns={"task": "a/b\x07"})
    for line, shown in (
        ({"a/b\x07": [1], "pass": True}, "line 1, column a/b\\x07: an array is no text"),
        ({"a": "x", "pass": True}, "there is no column 'a/b\\x07'"),
    ):
        (tmp_path / "runs.jsonl").write_text(json.dumps(line), encoding="utf-8")
        with pytest.raises(InputError) as caught:
            import_runs("table", tmp_path / "runs.jsonl", tmp_path / "out", given=given)
        assert shown in str(caught.value)


def test_a_mapping_that_never_ends_is_refused(tmp_path):
    """A pipe is no mapping file; reading it would wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is not a regular file"):
        read_given(tmp_path / "pipe", {})


def test_numbers_in_names_may_have_any_number_of_digits():
    """Beyond the digits that an integer takes, numbers inside names still count as numbers."""
    names = [f"run-{'9' * 5000}", "run-10", "run-2", f"run-1{'0' * 5000}", "run-0003", "run"]
    ordered = ["run", "run-2", "run-0003", "run-10", names[0], names[3]]
    assert sorted(names, key=natural) == ordered
