"""Files of the finding-quality system: what cannot be used is told, nothing outside the folder is read."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from make_findings import KIND, finding, rows, sha, submission, task, write, write_json

from medgauge_lib.errors import InputError
from medgauge_lib.findings import check_task, read_benchmark, read_corpus
from medgauge_lib.findings.contract import canonical_json, canonical_sha256, read_json


def corpus_error(data: Path) -> str:
    """Return the words in which the first task's corpus is refused."""
    benchmark = read_benchmark(data)
    with pytest.raises(InputError) as caught:
        read_corpus(benchmark.folder, benchmark.tasks[0])
    words = str(caught.value)
    assert words.count("\n") <= 1
    return words.replace(str(data), "DATA")


def edit_task(data: Path, **over: Any) -> None:
    """Change the first task of tasks.json."""
    tasks = json.loads((data / "tasks.json").read_text())
    write_json(data / "tasks.json", [tasks[0] | over, *tasks[1:]])


def put_corpus(data: Path, content: bytes, name: str = "corpora/t1.jsonl", **over: Any) -> None:
    """Put other bytes in the place of the corpus, with their hash in the task."""
    (data / name).write_bytes(content)
    edit_task(data, corpus_path=name, corpus_sha256=hashlib.sha256(content).hexdigest(), **over)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data folder with one task of 24 documents."""
    return write(tmp_path, [(task(), rows())])


@pytest.mark.parametrize("zipped", [False, True])
def test_plain_and_gzip_corpora_are_read(tmp_path, zipped):
    """A corpus is read as it is, in the order of the file, plain or gzip."""
    folder = write(tmp_path, [(task(), rows())], zipped=zipped)
    benchmark = read_benchmark(folder)
    assert list(read_corpus(folder, benchmark.tasks[0]).documents) == rows()


def test_blank_lines_and_carriage_returns_are_no_documents(data):
    """Blank lines are passed over and a line may end in CRLF; text keeps its own line ends."""
    documents = [{"doc_id": "a", "text": "x\r\ny\u2028z"}, {"doc_id": "b", "text": ""}]
    content = "\r\n\r\n".join(json.dumps(row, ensure_ascii=False) for row in documents).encode()
    put_corpus(data, content, n_documents=2)
    benchmark = read_benchmark(data)
    assert list(read_corpus(data, benchmark.tasks[0]).documents) == documents


def test_paths_out_of_the_folder_are_refused(data, tmp_path):
    """Neither .. nor an absolute path leads out of the data folder."""
    (tmp_path / "secret.jsonl").write_bytes((data / "corpora/t1.jsonl").read_bytes())
    edit_task(data, corpus_path="../secret.jsonl")
    assert "DATA/tasks.json: the corpus path '../secret.jsonl' leaves the data folder\n" in corpus_error(data)
    edit_task(data, corpus_path=str(tmp_path / "secret.jsonl"))
    assert "is absolute" in corpus_error(data)
    edit_task(data, corpus_path=str(data / "corpora" / "t1.jsonl"))
    assert "is absolute" in corpus_error(data)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_links_out_of_the_folder_are_refused(data, tmp_path, what):
    """A link to a file, or through a folder, outside the data folder is refused; one inside is followed."""
    outside = tmp_path / "outside"
    (data / "corpora").rename(outside)
    if what == "folder":
        (data / "corpora").symlink_to(outside)
    else:
        (data / "corpora").mkdir()
        (data / "corpora/t1.jsonl").symlink_to(outside / "t1.jsonl")
    words = corpus_error(data)
    assert "the corpus path 'corpora/t1.jsonl' is a link that leads out of the data folder" in words


def test_links_inside_the_folder_are_followed(data):
    """A link that stays inside is as good as the file."""
    (data / "corpora/t1.jsonl").rename(data / "real.jsonl")
    (data / "corpora/t1.jsonl").symlink_to(data / "real.jsonl")
    benchmark = read_benchmark(data)
    assert len(read_corpus(data, benchmark.tasks[0])) == 24


def test_a_loop_of_links_is_refused(data):
    """A link to itself is told and not followed for ever."""
    (data / "corpora/t1.jsonl").unlink()
    (data / "corpora/t1.jsonl").symlink_to(data / "corpora/t1.jsonl")
    assert "or a link that leads nowhere" in corpus_error(data)


def test_a_missing_corpus_and_a_folder_are_told(data):
    """A corpus that is not there, or is a folder, is told by its path."""
    edit_task(data, corpus_path="corpora/t9.jsonl")
    assert "DATA/corpora/t9.jsonl: cannot be read: No such file or directory" in corpus_error(data)
    edit_task(data, corpus_path="corpora")
    assert "the corpus path 'corpora' is no regular file" in corpus_error(data)


def test_a_pipe_is_not_waited_for(data):
    """A named pipe in the place of a corpus is refused at once."""
    os.mkfifo(data / "corpora/pipe.jsonl")
    edit_task(data, corpus_path="corpora/pipe.jsonl")
    assert "is no regular file" in corpus_error(data)


def test_a_wrong_hash_is_told_with_both(data):
    """A corpus of another hash is refused with the hash found and the one named."""
    good = hashlib.sha256((data / "corpora/t1.jsonl").read_bytes()).hexdigest()
    edit_task(data, corpus_sha256="ab" * 32)
    assert f"its SHA-256 is {good}, but the task 't1' names {'ab' * 32}" in corpus_error(data)


@pytest.mark.parametrize("kept", [1, 10, 60, -1])
@pytest.mark.parametrize("hashed", ["whole", "rest"])
def test_a_truncated_gzip_is_told_as_such(tmp_path, kept, hashed):
    """A gzip file that was cut off is named so, whether the task has the hash of the whole or of the rest."""
    folder = write(tmp_path, [(task(), rows())], zipped=True)
    path = folder / "corpora/t1.jsonl.gz"
    rest = path.read_bytes()[:kept]
    path.write_bytes(rest)
    if hashed == "rest":
        edit_task(folder, corpus_sha256=hashlib.sha256(rest).hexdigest())
    words = "is named as a gzip file but is none" if kept == 1 else "the gzip file is cut off"
    assert words in corpus_error(folder)


def test_a_damaged_gzip_is_told_as_such(tmp_path):
    """A gzip file whose inside was changed is called damaged."""
    folder = write(tmp_path, [(task(), rows())], zipped=True)
    content = bytearray((folder / "corpora/t1.jsonl.gz").read_bytes())
    content[-6] ^= 0xFF
    put_corpus(folder, bytes(content), "corpora/t1.jsonl.gz")
    assert "the gzip file is damaged" in corpus_error(folder)


def test_a_gzip_bomb_is_not_unpacked(data):
    """Reading stops at a line that is too long and at the first document too many."""
    put_corpus(data, gzip.compress(b" " * 2**26 + b"\n"), "corpora/t1.jsonl.gz")
    assert "line 1 is longer than 16777216 bytes" in corpus_error(data)
    lines = b"".join(b'{"doc_id": "%d", "text": ""}\n' % n for n in range(50))
    put_corpus(data, lines, n_documents=24)
    assert "holds more than the 24 documents that the task names" in corpus_error(data)


LINES = [
    ('{"doc_id": "d00", "text": "again"}', "line 2: the document id 'd00' occurs twice"),
    ('{"doc_id": "x"}', "line 2: text is missing"),
    ('{"doc_id": 7, "text": ""}', "line 2: doc_id is 7"),
    ('{"doc_id": "", "text": ""}', "line 2: doc_id is ''"),
    ('{"doc_id": "x", "text": null}', "line 2: text is null"),
    ('["x"]', "line 2 is an array"),
    ('{"doc_id": "x", "text": "", "rating": NaN}', "has NaN, which is no JSON number, at line 2 column 39"),
    ('{"doc_id": "x", "text": "", "rating": 1e999}', "line 2 holds a number beyond the range"),
    ('{"doc_id": "x", "doc_id": "y", "text": ""}', "has the key 'doc_id' twice in one object, at line 2"),
    ('{"doc_id": "x", "text": "cut', "is cut off, at line 2"),
    ('{"doc_id": "x", "text": "\\ud800"}', "has half a surrogate pair as \\u escape, at line 2"),
]


@pytest.mark.parametrize(("line", "words"), LINES)
def test_a_line_that_is_no_document_is_told_by_number(data, line, words):
    """A bad line is named by its number, with what is wrong with it."""
    put_corpus(data, ('{"doc_id": "d00", "text": ""}\n' + line).encode(), n_documents=2)
    assert f"DATA/corpora/t1.jsonl: {words}" in corpus_error(data)


def test_bytes_that_are_not_utf_8_are_told(data):
    """Latin-1 in a corpus is no JSON."""
    put_corpus(data, b'{"doc_id": "x", "text": "caf\xe9"}', n_documents=1)
    assert "is not UTF-8, at line 1 column" in corpus_error(data)


@pytest.mark.parametrize("n", [23, 25])
def test_another_number_of_documents_is_told(data, n):
    """The number of documents is that of the task."""
    edit_task(data, n_documents=n)
    words = "holds more than the 23 documents" if n == 23 else "holds 24 documents, but the task names 25"
    assert words in corpus_error(data)


TASKS = [
    ({"kind": "trend"}, "/0/kind: found 'trend'\n  write group_difference, temporal_change or"),
    ({"difficulty": "hard"}, "/0/difficulty: found 'hard'\n  write discovery"),
    ({"task_id": "../x"}, "/0/task_id: found '../x'\n  write a name that can name a file"),
    ({"task_id": "judge_config"}, "/0/task_id: found 'judge_config'"),
    ({"corpus_sha256": "xyz"}, "/0/corpus_sha256: found 'xyz'"),
    ({"corpus_path": "a\0b"}, "/0/corpus_path: found 'a\\x00b'"),
    ({"max_findings": 0}, "/0/max_findings: found 0\n  write an integer of at least 1"),
    ({"n_documents": -1}, "/0/n_documents: found -1"),
    ({"n_documents": True}, "/0/n_documents: found true"),
    (
        {"robustness_protocol": {"axes": ["store"], "min_known_per_arm": 5}},
        "/0/robustness_protocol/axes/0: found 'store'",
    ),
]


@pytest.mark.parametrize(("over", "words"), TASKS)
def test_a_task_that_breaks_its_contract_is_told(data, over, words):
    """A task of the wrong form is told with its place, and no path is made from it."""
    edit_task(data, **over)
    with pytest.raises(InputError) as caught:
        read_benchmark(data)
    assert words in str(caught.value)


def test_names_that_no_file_can_have_are_told(data):
    """A corpus path or a task id that is too long for a file is told before it is looked for."""
    edit_task(data, corpus_path="x" * 5000)
    assert "is too long" in corpus_error(data)
    edit_task(data, task_id="ü" * 150)
    with pytest.raises(InputError, match="is too long to name a file"):
        read_benchmark(data)
    edit_task(data, task_id="t\u202e1")
    with pytest.raises(InputError, match=r"'t\\u202e1' is too long to name a file, or cannot be printed"):
        read_benchmark(data)


def test_tasks_are_not_listed_twice_nor_mixed(tmp_path):
    """A task id stands once, and tasks of different protocols are never in one benchmark."""
    data = write(tmp_path, [(task(), rows()), (task(), rows())])
    with pytest.raises(InputError, match="/1/task_id: the task 't1' stands at /0 too"):
        read_benchmark(data)
    other = task(task_id="t2", robustness_protocol={"axes": ["rating"], "min_known_per_arm": 5})
    data = write(tmp_path, [(task(), rows()), (other, rows())])
    with pytest.raises(InputError, match="/1/robustness_protocol: the protocol differs"):
        read_benchmark(data)


def test_the_protocol_of_the_task_is_used(tmp_path):
    """Axes and the least number of known documents are those that the task names."""
    protocol = {"axes": ["rating"], "min_known_per_arm": 2}
    data = write(tmp_path, [(task(robustness_protocol=protocol), rows())])
    made = finding(rows())
    for axis in ("entity_id", "report_year"):
        for name in [name for name in made["statistics"] if f"_{axis}_" in name]:
            del made["statistics"][name]
    write_json(tmp_path / "submissions/t1.json", submission(made))
    benchmark = read_benchmark(data)
    (failure, *_) = check_task(benchmark, benchmark.tasks[0], tmp_path / "submissions").failures
    assert failure.pointer.endswith("/robustness_rating_eligible_strata_n")
    assert (failure.found, failure.right) == ("0", "5")


BAD_JSON = [
    (b"", "is empty"),
    (b"\xef\xbb\xbf{}", "starts with a UTF-8 byte order mark"),
    (b'{"a": NaN}', "has NaN, which is no JSON number"),
    (b'{"a": -Infinity}', "has -Infinity, which is no JSON number"),
    (b'{"a": 1e400}', "holds a number beyond the range"),
    (b'{"a": 1, "a": 2}', "has the key 'a' twice in one object"),
    (b'{"a": ', "is cut off, at line 1"),
    (b"[" * 5000 + b"]" * 5000, "is nested too deeply"),
    (b"{} {}", "is not JSON: trailing characters, at line 1"),
    (b'"\xff"', "is not UTF-8, at line 1"),
]


@pytest.mark.parametrize(("content", "words"), BAD_JSON)
def test_what_is_not_json_is_told(tmp_path, content, words):
    """NaN, keys that stand twice, cut off files and the like are told in two lines with the file."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_json(path)
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("content", [content for content, _ in BAD_JSON])
def test_an_unreadable_submission_is_invalid_and_stops_nothing(tmp_path, content):
    """A file that is no JSON makes its submission invalid; the next one is checked all the same."""
    data = write(tmp_path, [(task(), rows()), (task(task_id="t2"), rows())])
    folder = tmp_path / "submissions"
    write_json(folder / "t2.json", submission(finding(rows()), task_id="t2"))
    (folder / "t1.json").write_bytes(content)
    benchmark = read_benchmark(data)
    checked = [check_task(benchmark, one, folder) for one in benchmark.tasks]
    assert [one.status for one in checked] == ["invalid", "valid"]
    assert str(checked[0].failures[0]).startswith("t1: whole file: contract: found a file that ")


def test_a_folder_in_the_place_of_a_submission_is_invalid(data, tmp_path):
    """A folder named like a submission is no submission."""
    (tmp_path / "submissions/t1.json").mkdir(parents=True)
    benchmark = read_benchmark(data)
    checked = check_task(benchmark, benchmark.tasks[0], tmp_path / "submissions")
    assert checked.failures[0].found == "a file that is a folder, where a JSON file is expected"


def test_canonical_json_by_hand():
    """Keys sorted by code point, no spaces, UTF-8 unescaped, numbers as they came."""
    value = {"b": [1, 1.0, 1e-7, None, True], "a": "é👍\n", "B": {}}
    text = '{"B":{},"a":"é👍\\n","b":[1,1.0,1e-07,null,true]}'
    assert canonical_json(value) == text.encode()
    assert canonical_sha256(value) == hashlib.sha256(text.encode()).hexdigest()


def test_the_reference_configuration_by_hand(tmp_path):
    """Without references it names version, the tasks file's hash and each task in the order of the file."""
    data = write(tmp_path, [(task(task_id="b"), rows()), (task(task_id="a", kind=KIND["time"]), rows())])
    listed = hashlib.sha256((data / "tasks.json").read_bytes()).hexdigest()
    configuration = {
        "benchmark_version": "test-1",
        "tasks_sha256": listed,
        "reference_policy": "none",
        "tasks": [{"task_id": "b", "reference_id": None}, {"task_id": "a", "reference_id": None}],
    }
    assert read_benchmark(data).reference_sha256() == sha(configuration)


def test_a_missing_release_is_told_only_where_it_is_needed(data):
    """Checking needs no version; the reference configuration does."""
    (data / "release.json").unlink()
    benchmark = read_benchmark(data)
    with pytest.raises(
        InputError, match=r"release\.json: the file that names the benchmark's version is missing"
    ):
        benchmark.reference_sha256()
