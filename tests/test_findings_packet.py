"""Audit packets: fixed by seed and submission, bounded, and drawn after the submission."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from make_findings import KIND, finding, label, rows, span, submission, task, write, write_json

from medgauge_lib.cli.findings import findings
from medgauge_lib.errors import InputError
from medgauge_lib.findings import Corpus, Task, draw, write_packets


def by_definition(answer: Any, documents: Any, task_id: str, seed: str, budget: int) -> list[str]:
    """Draw a packet once more, as the specification says it."""

    def first(ids: Any, cell: str, number: int) -> list[str]:
        def key(doc_id: str) -> str:
            return hashlib.sha256(seed.encode() + b"\0" + cell.encode() + b"\0" + doc_id.encode()).hexdigest()

        return sorted(ids, key=key)[:number]

    quoted = {one["doc_id"] for made in answer["findings"] for one in made["evidence"]}
    filled = []
    for made in answer["findings"]:
        for assignment in made["assignments"]:
            for state in ("positive", "negative", "unknown"):
                ids = assignment[state + "_doc_ids"]
                if ids:
                    filled.append((f"{made['finding_id']}/{assignment['condition_id']}/{state}", ids))
    chosen = set(quoted)
    for cell, ids in filled:
        chosen |= set(first(ids, cell, max(1, (budget - len(quoted)) // (2 * len(filled)))))
    rest = [row["doc_id"] for row in documents if row["doc_id"] not in chosen]
    chosen |= set(first(rest, task_id, budget - len(chosen)))
    return [row["doc_id"] for row in documents if row["doc_id"] in chosen]


@given(
    st.sampled_from(sorted(KIND.values())),
    st.integers(4, 300),
    st.integers(60, 130),
    st.text("0123456789abcdef", min_size=1, max_size=8),
)
@settings(max_examples=60, deadline=None)
def test_packets_equal_a_second_implementation(kind, number, budget, seed):
    """Packets hold what the definition draws, in corpus order, up to the budget or the whole corpus."""
    documents = rows(number)
    answer = submission(finding(documents, kind), finding(documents, kind, finding_id="f2"))
    drawn = draw(
        answer, Task.from_document(task(kind)), Corpus(tuple(documents)), seed=seed, documents=budget
    )
    assert list(drawn.document_ids) == by_definition(answer, documents, "t1", seed, budget)
    assert len(drawn.document_ids) == min(budget, number)
    assert drawn.quoted <= set(drawn.document_ids)


def test_the_seed_is_text_and_changes_the_packet():
    """The same seed gives the same packet; 0A and 0a are two seeds."""
    documents = rows(200)
    answer, corpus, asked = (
        submission(finding(documents)),
        Corpus(tuple(documents)),
        Task.from_document(task()),
    )
    one, again, other = (draw(answer, asked, corpus, seed=seed) for seed in ("0a", "0a", "0A"))
    assert one == again
    assert one.document_ids != other.document_ids
    assert one.to_frame().columns.tolist() == ["task_id", "doc_id", "quoted"]


@pytest.mark.parametrize("budget", [59, 2001, 0])
def test_budgets_are_bounded(budget):
    """A packet has 60 to 2,000 documents."""
    with pytest.raises(ValueError, match=rf"documents must lie in 60\.\.2000, but got {budget}"):
        draw(submission(), Task.from_document(task()), Corpus(()), seed="0", documents=budget)


def quoting(number: int, *, documents: int = 100) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a submission that quotes so many documents, and its corpus."""
    made_rows = rows(documents)
    made = finding(made_rows)
    positive = [row for row in made_rows if label(row, "c1") == "positive"]
    made["evidence"] = [span(row, "Doc", "supporting") for row in positive[:number]]
    return submission(made), made_rows


def test_too_many_quoted_documents_are_an_error():
    """Half the budget may be quoted; one document more is an error that says what would do."""
    asked = Task.from_document(task())
    answer, documents = quoting(30)
    assert len(draw(answer, asked, Corpus(tuple(documents)), seed="0", documents=60).document_ids) == 60
    answer, documents = quoting(31)
    with pytest.raises(InputError, match="31 quoted documents are more than half of 60") as caught:
        draw(answer, asked, Corpus(tuple(documents)), seed="0", documents=60)
    assert caught.value.remedy == "give --documents 62 or more"


def test_cells_that_do_not_fit_are_an_error():
    """A packet never grows beyond its budget: more cells than places is an error."""
    documents = rows(60)
    many = submission(*(finding(documents, finding_id=f"f{n}") for n in range(31)))
    with pytest.raises(InputError, match="4 quoted documents and 62 cells do not fit into 60 documents"):
        draw(many, Task.from_document(task()), Corpus(tuple(documents)), seed="0", documents=60)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with two tasks, one valid submission and one that fails a gate."""
    write(tmp_path, [(task(), rows(100)), (task(task_id="t2"), rows(100)), (task(task_id="t3"), rows())])
    write_json(tmp_path / "submissions/t1.json", submission(finding(rows(100))))
    bad = submission(finding(rows(100)), task_id="t2")
    bad["findings"][0]["statistics"]["corpus_total_n"] = 1
    write_json(tmp_path / "submissions/t2.json", bad)
    write_json(tmp_path / "submissions/t3.json", submission(task_id="t3", reason="Nothing."))
    return tmp_path


def packet(place: Path, *options: str, out: str = "out") -> Result:
    """Run the command."""
    arguments = ["packet", place / "data", place / "submissions", "--out", place / out, *options]
    return CliRunner().invoke(findings, [str(argument) for argument in arguments])


def written(place: Path, out: str = "out") -> dict[str, bytes]:
    """Return the files of the packets' folder."""
    return {path.name: path.read_bytes() for path in sorted((place / out).iterdir())}


def test_packets_are_written_for_valid_submissions_alone(place):
    """A valid submission gets a packet, an abstention none, an invalid one a line and exit 1."""
    result = packet(place, "--seed", "00ff")
    assert result.exit_code == 1
    assert result.stderr == (
        "t2: f1: statistics: /findings/0/statistics/corpus_total_n: found 1; right: 100\n"
    )
    assert list(written(place)) == ["judge_config.json", "t1.json"]
    assert json.loads(written(place)["judge_config.json"]) == {"audit_documents": 160, "audit_seed": "00ff"}


def test_a_packet_holds_documents_labels_and_what_binds_the_review(place):
    """A reviewer gets the documents with their submitted labels, and hashes and ids to repeat."""
    packet(place, "--seed", "00ff", "--documents", "60")
    document = json.loads(written(place)["t1.json"])
    ids = document["review"]["semantic_audit"]["document_ids"]
    answer = json.loads((place / "submissions/t1.json").read_text())
    assert ids == by_definition(answer, rows(100), "t1", "00ff", 60)
    assert [one["document"]["doc_id"] for one in document["documents"]] == ids
    for one in document["documents"]:
        assert one["labels"] == {"f1": {"c1": label(one["document"], "c1")}}
    assert sum(one["quoted"] for one in document["documents"]) == 4
    assert "assignments" not in document["submission"]["findings"][0]
    assert "no estimate of label accuracy" in document["statement"]
    assert set(document["review"]) == {
        "task_id",
        "task_sha256",
        "corpus_sha256",
        "submission_sha256",
        "reference_sha256",
        "scoring_version",
        "semantic_audit",
    }


def test_labels_outside_the_population_say_so(tmp_path):
    """A document that the filters leave out carries no label of the submission."""
    write(tmp_path, [(task(), rows(70))])
    made = finding(rows(70), filters=[{"field": "rating", "op": "gte", "value": 3}])
    write_json(tmp_path / "submissions/t1.json", submission(made))
    packet(tmp_path, "--seed", "1")
    document = json.loads(written(tmp_path)["t1.json"])
    outside = [one for one in document["documents"] if one["document"]["rating"] < 3]
    assert outside
    assert all(one["labels"] == {"f1": {"c1": "outside_population"}} for one in outside)


def test_the_same_seed_gives_the_same_bytes(place):
    """Two folders drawn with one seed hold the same bytes."""
    for out in ("out", "second"):
        packet(place, "--seed", "00ff", out=out)
    assert len(written(place)) == 2
    assert written(place) == written(place, "second")


def test_a_seed_is_made_and_stored_where_none_is_given(place):
    """Without a seed one of 64 hexadecimal digits is made, stored, and used again in the same folder."""
    packet(place)
    first = written(place)
    assert re.fullmatch("[0-9a-f]{64}", json.loads(first["judge_config.json"])["audit_seed"])
    packet(place)
    assert written(place) == first


def test_a_seed_older_than_a_submission_is_refused(place):
    """A stored seed that an agent could have known is refused, and nothing is written."""
    packet(place)
    before = written(place)
    seed = place / "out/judge_config.json"
    at = (place / "submissions/t1.json").stat().st_mtime_ns
    os.utime(seed, ns=(at - 1, at - 1))
    result = packet(place)
    assert isinstance(result.exception, InputError)
    assert "the seed is older than the submission t1.json" in str(result.exception)
    assert written(place) == before
    os.utime(seed, ns=(at, at))
    assert packet(place).stdout.startswith("packets written: 1, ")


@pytest.mark.parametrize("options", [("--seed", "01"), ("--documents", "61")])
def test_another_seed_or_budget_needs_another_folder(place, options):
    """A folder keeps one seed and one budget."""
    packet(place, "--seed", "00", "--documents", "60")
    result = packet(place, *options)
    assert isinstance(result.exception, InputError)
    assert result.exception.remedy == "draw into another folder"


@pytest.mark.parametrize(
    "options", [("--seed", "xyz"), ("--seed", ""), ("--documents", "59"), ("--documents", "2001")]
)
def test_seeds_are_hexadecimal_and_budgets_bounded(place, options):
    """The command line refuses another seed or budget with exit code 2, and writes nothing."""
    assert packet(place, *options).exit_code == 2
    assert not (place / "out").exists()


def test_nothing_is_written_where_a_packet_is_impossible(place):
    """One submission that quotes too much leaves no packet and no seed behind."""
    made = [finding(rows(100), finding_id=f"f{n}") for n in range(3)]
    positive = [row for row in rows(100) if label(row, "c1") == "positive"]
    for n, one in enumerate(made):
        one["evidence"] = [span(row, "Doc", "supporting") for row in positive[14 * n : 14 * n + 14]] + one[
            "evidence"
        ][3:]
    write_json(place / "submissions/t2.json", submission(*made, task_id="t2"))
    result = packet(place, "--documents", "60")
    assert isinstance(result.exception, InputError)
    assert "the submission to t2" in str(result.exception)
    assert not (place / "out").exists()


def test_strays_are_named(place):
    """A file that belongs to no task is not passed over in silence."""
    write_json(place / "submissions/t9.json", {})
    write_json(place / "submissions/run.json", {})
    failures = write_packets(place / "data", place / "submissions", place / "out", seed="0").failures
    assert "t9: whole file: contract: found the submission 't9.json'" in str(failures[0])
    assert len(failures) == 2  # and the gate that t2 fails


@pytest.mark.parametrize("other", ["submissions", "reviews"])
def test_submissions_and_reviews_are_not_written_over(place, other):
    """A folder whose files have the names of packets and are none is refused, and stays as it is."""
    (place / "reviews").mkdir()
    (place / "reviews/t1.json").write_text('{"task_id": "t1", "findings": []}')
    before = {path.name: path.read_bytes() for path in (place / other).iterdir()}
    wrong = r"t1\.json: it is no audit packet, and one would be written over it\n  draw into another folder"
    with pytest.raises(InputError, match=wrong):
        write_packets(place / "data", place / "submissions", place / other)
    assert {path.name: path.read_bytes() for path in (place / other).iterdir()} == before
