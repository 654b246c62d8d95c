"""Scores of findings: the formula, bindings of reviews, aggregates beside their counts."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from make_findings import KIND, finding, review, rows, submission, task, write, write_json, write_judge
from scipy.stats import bootstrap

from medgauge_lib.cli import main
from medgauge_lib.cli.findings import findings
from medgauge_lib.errors import InputError
from medgauge_lib.findings import finding_quality, score_findings, statistics
from medgauge_lib.findings.aggregates import STATUSES, TaskQuality, summary
from medgauge_lib.findings.contract import canonical_json
from medgauge_lib.findings.quality import STATEMENTS
from medgauge_lib.findings.review import SUPPORT, WEIGHTS
from medgauge_lib.intervals import SEED, resample_indices
from medgauge_lib.results import Absent, Estimate

DIMENSIONS = dict(zip(WEIGHTS, map(Fraction, ("0.8", "0.9", "0.75", "0.8")), strict=True))


@pytest.mark.parametrize(
    ("support", "quality"),
    [("supported", Fraction("83.5")), ("partial", Fraction("41.75")), ("unsupported", 0)],
)
def test_quality_of_the_specification(support, quality):
    """S .8, E .9, D .75, C .8: supported 15 + 20 + 18 + 22.5 + 8 = 83.5, partial half of it."""
    assert finding_quality(support, DIMENSIONS) == quality


@pytest.mark.parametrize("support", sorted(SUPPORT))
def test_an_unfulfilled_task_and_a_duplicate_are_worth_nothing(support):
    """Either gives 0 whatever the rest says, an uncertain duplicate too."""
    assert finding_quality(support, DIMENSIONS, task_fulfilled=False) == 0
    assert finding_quality(support, DIMENSIONS, duplicate=True) == 0


def test_uncertain_stays_open():
    """An uncertain finding has no quality, which is not 0."""
    assert isinstance(finding_quality("uncertain", DIMENSIONS), Absent)


UNIT = st.fractions(0, 1, max_denominator=1000)


@given(st.tuples(UNIT, UNIT, UNIT, UNIT), st.sampled_from(["supported", "partial", "unsupported"]))
def test_quality_lies_between_0_and_100(values, support):
    """No judgement leaves 0 to 100 points, and partial support is half of full support."""
    dimensions = dict(zip(WEIGHTS, values, strict=True))
    assert 0 <= finding_quality(support, dimensions) <= 100
    assert 2 * finding_quality("partial", dimensions) == finding_quality("supported", dimensions)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with three tasks of two sources, all submitted, reviewed and judged."""
    tasks = [
        (task(), rows()),
        (task(KIND["time"], task_id="t2", source="s2"), rows()),
        (task(KIND["association"], task_id="t3"), rows()),
    ]
    data = write(tmp_path, tasks)
    for document, documents in tasks:
        answer = submission(finding(documents, document["kind"]), task_id=document["task_id"])
        write_json(tmp_path / f"submissions/{document['task_id']}.json", answer)
        write_json(tmp_path / f"reviews/{document['task_id']}.json", review(data, answer))
    write_judge(tmp_path / "reviews")
    return tmp_path


def report(place: Path) -> Any:
    """Score."""
    return score_findings(place / "data", place / "submissions", place / "reviews")


def score(place: Path) -> Result:
    """Run the command."""
    arguments = [place / "data", place / "submissions", place / "reviews", "--out", place / "out/scores.json"]
    return CliRunner().invoke(findings, ["score", *map(str, arguments)])


def edit(path: Path, change: Any) -> None:
    """Change a JSON file in place."""
    value = json.loads(path.read_text())
    write_json(path, change(value) or value)


def assess(place: Path, name: str, **over: Any) -> None:
    """Change the first assessment of a review."""
    edit(place / f"reviews/{name}.json", lambda value: value["findings"][0].update(over))


def test_all_scored(place):
    """Where every task has a score the mean is that of all, and equals the conditional one."""
    assess(place, "t2", support="partial")
    overall = report(place).overall
    assert (overall.tasks, overall.scored_tasks, overall.pending) == (3, 3, 0)
    assert overall.quality_mean == (Fraction("83.5") * 2 + Fraction("41.75")) / 3
    assert overall.conditional_quality_mean.value == overall.quality_mean
    assert (overall.abstention_rate, overall.valid_submission_rate) == (0, 1)


def published(row: Any) -> dict[str, Any]:
    """Return a document with the columns of the public corpora; metadata that a source lacks is null."""
    common = {name: row[name] for name in ("doc_id", "text", "entity_id", "timestamp")}
    lacking = {"title": None, "entity_name": None, "category": None}
    more = {"source": "s1", "timestamp_kind": "review_date", "rating": float(row["rating"])}
    return common | lacking | more | ({"store": "north"} if row["team"] == "a" else {})


def test_folders_of_the_public_form_are_read_as_they_are(tmp_path):
    """Columns of null, a run's settings, and further members of release, judge and review are no trouble."""
    documents = [published(row) for row in rows(60)]
    fields = ["entity_id", "rating", "category", "store", "timestamp", "report_year"]
    data = write(tmp_path, [(task(allowed_metadata_fields=fields), documents)], zipped=True)
    version = {"version": "test-1", "tasks": 1, "scoring_version": "finding-quality-discovery"}
    write_json(data / "release.json", version | {"learning_by_source": {"s1": 0}})
    write_json(data / "manifest.json", {"files": {}})
    answer = submission(finding(documents, comparison={"field": "rating", "groups": [[1, 2], [4, 5]]}))
    write_json(tmp_path / "submissions/t1.json", answer)
    write_json(tmp_path / "submissions/run.json", {"difficulty": "discovery", "track": "task_only"})
    audit = {"method": "m", "sample_documents": 60, "document_ids": [row["doc_id"] for row in documents]}
    receipts = [{"model": "m", "usage": None}]
    made = review(data, answer, semantic_audit=audit, provider_receipts=receipts)
    write_json(tmp_path / "reviews/t1.json", made)
    write_judge(tmp_path / "reviews", base_url="https://judge.invalid/v1", difficulty="discovery")
    scored = report(tmp_path)
    assert scored.remarks == ()
    assert scored.overall.quality_mean == Fraction("83.5")


def test_numbers_are_the_decimals_they_are_written_as(place):
    """0.1 + 0.2 in a review are three tenths, and an integer is itself."""
    assess(place, "t1", statistical_validity=0.1, evidence_entailment=0.2, analytical_depth=1, calibration=0)
    assert report(place).tasks[0].quality == Fraction("51.5")  # 15 + 2.5 + 4 + 30 + 0


def test_every_status(place):
    """Missing, invalid, abstained, pending, unresolved and scored tasks are told apart and counted."""
    listed = [task(task_id=f"t{n}", source="ab"[n % 2]) for n in range(6)]
    data = write(place, [(one, rows()) for one in listed])
    answer = {n: submission(finding(rows()), task_id=f"t{n}") for n in range(6)}
    answer[1]["findings"][0]["claim"] = ""
    answer[2] = submission(task_id="t2", reason="Nothing.")
    for folder in ("submissions", "reviews"):
        for old in (place / folder).glob("t*.json"):
            old.unlink()
    for n in range(1, 6):
        write_json(place / f"submissions/t{n}.json", answer[n])
    write_json(place / "reviews/t4.json", review(data, answer[4], {"support": "uncertain"}))
    write_json(place / "reviews/t5.json", review(data, answer[5]))
    scored = report(place)
    assert tuple(one.status for one in scored.tasks) == STATUSES
    overall = scored.overall
    assert (overall.missing, overall.invalid, overall.pending, overall.scored_tasks) == (1, 1, 2, 1)
    assert overall.abstention_rate == Fraction(1, 6)
    assert overall.valid_submission_rate == Fraction(4, 6)
    assert str(overall.quality_mean) == "5 of 6 tasks have no score"
    assert overall.conditional_quality_mean.value == Fraction("83.5")
    assert str(overall.conditional_quality_mean.interval) == "one task has no bootstrap interval"
    assert scored.by_source["a"].scored_tasks == 0
    assert str(scored.by_source["a"].conditional_quality_mean) == "no task has a score"
    assert scored.by_kind.keys() == {KIND["group"]}


def test_a_task_is_the_mean_of_its_findings(place):
    """A duplicate counts 0 in the mean; one uncertain finding leaves the task unresolved."""
    answer = submission(finding(rows()), finding(rows(), finding_id="f2"))
    write_json(place / "submissions/t1.json", answer)
    assessments = [{}, {"duplicate_of": "f1", "support": "uncertain"}]
    write_json(place / "reviews/t1.json", review(place / "data", answer, *assessments))
    assert report(place).tasks[0].quality == Fraction("41.75")
    write_json(place / "reviews/t1.json", review(place / "data", answer, {}, {"support": "uncertain"}))
    unresolved = report(place).tasks[0]
    assert unresolved.status == "unresolved"
    assert str(unresolved.quality) == "unresolved findings: 1 of 2"


BINDINGS = {
    "task_id": "the task",
    "task_sha256": "the task's text",
    "corpus_sha256": "the corpus",
    "submission_sha256": "the submission",
    "reference_sha256": "the reference configuration",
    "scoring_version": "the scoring version",
}


@pytest.mark.parametrize(("name", "words"), sorted(BINDINGS.items()))
def test_a_stale_review_is_refused_with_what_changed(place, name, words):
    """Any difference in what a review is bound to refuses it, names it, and leaves the task waiting."""
    edit(place / "reviews/t1.json", lambda value: value.update({name: "other"}))
    scored = report(place).tasks[0]
    assert (scored.status, str(scored.quality)) == ("pending_review", "its review was refused")
    (refusal,) = scored.refusals
    assert (refusal.gate, refusal.pointer) == ("stale review", f"/{name}")
    assert refusal.found == f"'other': {words} changed since, or the review is of another one"


def test_a_changed_submission_makes_its_review_stale(place):
    """A claim edited after the review refuses the review, and the others stay scored."""
    edit(place / "submissions/t1.json", lambda value: value["findings"][0].update(claim="More."))
    result = score(place)
    assert result.exit_code == 1
    assert "t1: whole file: stale review: /submission_sha256: found " in result.stderr
    assert result.stdout == (
        "3 tasks: 0 missing, 0 invalid, 0 abstained, 1 pending_review, 0 unresolved, 2 scored\n"
    )


def test_a_changed_task_file_makes_every_review_stale(place):
    """Even a space in tasks.json changes the reference configuration."""
    path = place / "data/tasks.json"
    path.write_text(path.read_text() + " ")
    assert {refusal.pointer for one in report(place).tasks for refusal in one.refusals} == {
        "/reference_sha256"
    }


def test_a_review_of_another_submission_is_refused(place):
    """The review of t1 in the place of that of t2 names every difference."""
    (place / "reviews/t2.json").write_bytes((place / "reviews/t1.json").read_bytes())
    places = [refusal.pointer for refusal in report(place).tasks[1].refusals]
    assert places == ["/task_id", "/task_sha256", "/submission_sha256"]  # both corpora hold the same bytes


ASSESSMENTS = [
    (
        lambda r: r["findings"].append(r["findings"][0]),
        "f1: review: /findings/2: found a second assessment of it",
    ),
    (lambda r: r["findings"].pop(), "f2: review: /findings: found no assessment of it; right: exactly one"),
    (
        lambda r: r["findings"][1].update(finding_id="f9"),
        "f9: review: /findings/1: found no submitted finding",
    ),
    (
        lambda r: r["findings"][0].update(duplicate_of="f2"),
        "f1: review: /findings/0/duplicate_of: found duplicate_of 'f2', a later finding; right: null",
    ),
    (
        lambda r: r["findings"][1].update(duplicate_of="f2"),
        "f2: review: /findings/1/duplicate_of: found duplicate_of 'f2', the finding itself",
    ),
    (
        lambda r: r["findings"][1].update(duplicate_of="f0"),
        "f2: review: /findings/1/duplicate_of: found duplicate_of 'f0', which was not submitted",
    ),
    (
        lambda r: r["findings"][0].update(calibration=1.01),
        "/findings/0/calibration: found 1.01; right: a number from 0",
    ),
    (lambda r: r["findings"][0].update(calibration=-0.01), "/findings/0/calibration: found -0.01"),
    (lambda r: r["findings"][0].update(calibration=True), "/findings/0/calibration: found true"),
    (lambda r: r["findings"][0].update(calibration="1"), "/findings/0/calibration: found '1'"),
    (lambda r: r["findings"][0].update(calibration=None), "/findings/0/calibration: found null"),
    (
        lambda r: r["findings"][0].update(support="maybe"),
        "/findings/0/support: found 'maybe'; right: supported",
    ),
    (
        lambda r: r["findings"][0].update(task_fulfilled=1),
        "/findings/0/task_fulfilled: found 1; right: true or",
    ),
    (
        lambda r: r["findings"][0].update(reference_match="r"),
        "/findings/0/reference_match: found 'r'; right: null",
    ),
    (lambda r: r["findings"][0].update(rationale=" "), "/findings/0/rationale: found ' '"),
    (lambda r: r["findings"][0].update(score=83.5), "/findings/0: found the unknown member 'score'"),
    (lambda r: r["findings"][0].pop("rationale"), "/findings/0: found no member 'rationale'"),
    (lambda r: r.pop("task_sha256"), "review: found no member 'task_sha256'"),
    (lambda r: r.update(reviewer_method=" "), "/reviewer_method: found ' '"),
    (lambda r: r["semantic_audit"].pop("document_ids"), "/semantic_audit: found no member 'document_ids'"),
]


@pytest.mark.parametrize(("change", "words"), ASSESSMENTS)
def test_a_review_that_contradicts_itself_is_refused(place, change, words):
    """Each fault of a review has its own line, its task waits, and the other tasks keep their scores."""
    answer = submission(finding(rows()), finding(rows(), finding_id="f2"))
    write_json(place / "submissions/t1.json", answer)
    bad = copy.deepcopy(review(place / "data", answer))
    change(bad)
    write_json(place / "reviews/t1.json", bad)
    scored = report(place)
    assert words in str(scored.tasks[0].refusals[0])
    assert [one.status for one in scored.tasks] == ["pending_review", "scored", "scored"]
    assert not scored.tasks[0].findings


@pytest.mark.parametrize("content", [b"", b'{"calibration": NaN}', b'{"a": 1, "a": 2}', b"[]", b"{"])
def test_an_unreadable_review_is_refused(place, content):
    """A review that is no JSON object is refused by a line and stops nothing."""
    (place / "reviews/t1.json").write_bytes(content)
    scored = report(place)
    assert scored.tasks[0].refusals
    assert scored.overall.scored_tasks == 2


def test_an_invalid_submission_never_gets_a_score(place):
    """A submission that fails a gate has no score, though a review is there; both are told."""

    def wrong(value: Any) -> None:
        value["findings"][0]["statistics"]["corpus_total_n"] = 1

    edit(place / "submissions/t1.json", wrong)
    answer = json.loads((place / "submissions/t1.json").read_text())
    write_json(place / "reviews/t1.json", review(place / "data", answer))
    scored = report(place).tasks[0]
    assert (scored.status, scored.findings) == ("invalid", ())
    assert [failure.gate for failure in scored.failures] == ["statistics"]
    assert scored.notes[0].found == "a review, though the submission failed a gate"


def test_methods_are_never_mixed(place):
    """Reviews of two methods are refused together, with both named."""
    edit(place / "reviews/t3.json", lambda value: value.update(reviewer_method="a model"))
    with pytest.raises(InputError) as caught:
        report(place)
    assert caught.value.wrong == "its reviewer method is 'a person', but t3.json has 'a model'"


def test_a_refused_review_does_not_count_as_a_method(place):
    """A stale review of another method is no mixture."""
    edit(
        place / "reviews/t3.json",
        lambda value: value.update(reviewer_method="a model", scoring_version="old"),
    )
    assert report(place).reviewer_method == "a person"


def test_reviews_need_the_judges_configuration(place):
    """Without judge_config.json, or with an incomplete one, nothing is scored."""
    edit(place / "reviews/judge_config.json", lambda value: value.pop("model") and value)
    with pytest.raises(InputError, match=r"judge_config\.json: found no member 'model'"):
        report(place)
    (place / "reviews/judge_config.json").unlink()
    with pytest.raises(InputError, match="the judge's configuration is missing"):
        report(place)


def test_without_reviews_every_task_waits(place):
    """An empty folder of reviews needs no configuration; nothing is scored and nothing is wrong."""
    for path in (place / "reviews").iterdir():
        path.unlink()
    scored = report(place)
    assert [one.status for one in scored.tasks] == ["pending_review"] * 3
    assert str(scored.judge) == "there are no reviews"
    assert scored.remarks == ()


def test_documents_that_were_not_drawn_are_noted(place):
    """A review of other documents than the seed fixes is scored, and noted."""
    edit(place / "reviews/t1.json", lambda value: value["semantic_audit"].update(document_ids=["d00", "dx"]))
    scored = report(place)
    assert scored.tasks[0].status == "scored"
    (note,) = scored.remarks
    assert (note.gate, note.found) == ("audit packet", "2 documents, 24 of them not as drawn")


def test_strays_among_reviews_are_told(place):
    """A review of no task is not lost in silence."""
    write_json(place / "reviews/t9.json", {})
    assert str(report(place).strays[0]).startswith("t9: whole file: contract: found the review 't9.json'")


def test_the_file_is_canonical_json_and_complete(place):
    """The scores are written as canonical JSON with counts beside every conditional mean."""
    assess(place, "t2", support="uncertain")
    result = score(place)
    assert (result.exit_code, result.stderr) == (0, "")
    content = (place / "out/scores.json").read_bytes()
    document = json.loads(content)
    assert canonical_json(document) == content
    for part in (document, *document["by_source"].values(), *document["by_kind"].values()):
        counts = {"tasks", "scored_tasks", "missing", "invalid", "pending", "abstention_rate"}
        assert counts | {"valid_submission_rate", "quality_mean", "conditional_quality_mean"} <= set(part)
    assert (document["quality_mean"], document["quality_mean_reason"]) == (None, "1 of 3 tasks have no score")
    assert document["conditional_quality_mean"] == 83.5
    assert document["reference_coverage"] is None
    assert document["statements"] == list(STATEMENTS)
    assert document["judge"]["model"] == "m"
    assert document["task_scores"][1]["findings"][0]["quality"] is None


def test_nothing_is_written_where_the_data_cannot_be_used(place):
    """A corpus that does not match leaves an old file of scores as it was."""
    score(place)
    before = (place / "out/scores.json").read_bytes()
    (place / "data/corpora/t2.jsonl").write_bytes(b"")
    assert isinstance(score(place).exception, InputError)
    assert (place / "out/scores.json").read_bytes() == before


def test_frames_hold_what_a_report_shows(place):
    """Each section of a report is one table; absent figures are None with their reason."""
    assess(place, "t2", support="uncertain")
    scored = report(place)
    frame = scored.to_frame()
    assert frame["quality"].tolist() == [83.5, None, 83.5]
    assert frame["reason"].tolist() == ["", "unresolved findings: 1 of 1", ""]
    assert scored.findings_frame()["analytical_depth"].tolist() == [0.75] * 3
    evidence = scored.evidence_frame()
    assert evidence.loc[0, ["before", "quote", "after"]].tolist() == ["", "Doc", " 0: c1 yes, c2 yes."]
    assert scored.summary_frame()["by"].tolist() == ["all", "source", "source", "kind", "kind", "kind"]
    assert scored.distribution_frame()["tasks"].tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 2, 0]
    assert scored.remarks_frame().empty
    effects = scored.effects_frame()
    assert effects["axis"].tolist() == ["entity_id", "rating", "report_year"] * 3
    assert effects.loc[1, "standardized"] is None
    settings = scored.judge_frame()
    assert settings["setting"].tolist() == ["audit_documents", "audit_seed", "max_input_chars", "model"]
    assert settings["value"].tolist() == ["60", "00ff", "1000", "m"]


def tasks_of(values: list[Fraction]) -> list[TaskQuality]:
    """Return scored tasks of these qualities."""
    return [TaskQuality(f"t{n:03d}", "s", "k", "scored", value) for n, value in enumerate(values)]


def test_the_interval_is_scipys_bca_on_the_same_resamples():
    """The BCa interval over tasks equals SciPy's fed with the published resamples of these tasks."""
    values = [
        Fraction("83.5"),
        Fraction("41.75"),
        Fraction(0),
        Fraction("61"),
        Fraction("70.25"),
        Fraction("90"),
    ]
    found = summary(tasks_of(values)).conditional_quality_mean
    drawn = resample_indices(SEED, len(values), start=0, stop=10_000)
    data = np.array([float(value) for value in values])
    fed = type("Fed", (), {"bootstrap_distribution": data[drawn].mean(axis=1)})()
    peer = bootstrap((data,), np.mean, n_resamples=0, bootstrap_result=fed, method="BCa").confidence_interval
    assert (found.interval.low, found.interval.high) == pytest.approx((peer.low, peer.high), abs=1e-6)


@given(st.lists(st.fractions(0, 100, max_denominator=10**9), min_size=2, max_size=12))
@settings(deadline=None)
def test_the_conditional_mean_is_exact(values):
    """Mean and interval come from exact fractions, whatever their denominators, in any order of the tasks."""
    one = summary(tasks_of(values)).conditional_quality_mean
    assert isinstance(one, Estimate)
    assert one.value == sum(values) / len(values)
    assert one == summary(tasks_of(values)[::-1]).conditional_quality_mean
    if len(set(values)) == 1:
        assert str(one.interval) == "all tasks have the same value"


def test_check_tells_failures_and_counts(place):
    """The command prints a line a failure and the counts; its JSON holds the same."""
    edit(place / "submissions/t1.json", lambda value: value["findings"][0].update(claim=""))
    (place / "submissions/t2.json").unlink()
    arguments = ["check", str(place / "data"), str(place / "submissions")]
    result = CliRunner().invoke(findings, arguments)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "t1: f1: contract: /findings/0/claim: found ''; right: a text that is not empty",
        "3 tasks: 1 valid, 0 abstained, 1 invalid, 1 missing",
    ]
    document = json.loads(CliRunner().invoke(findings, [*arguments, "--format", "json"]).stdout)
    assert document["counts"] == {"invalid": 1, "missing": 1, "valid": 1}
    assert document["failures"][0]["right"] == "a text that is not empty"


def test_check_tells_unusable_data_beside_failures(place):
    """One unusable corpus gives exit code 2 and does not hide what the other submissions failed."""
    edit(place / "submissions/t1.json", lambda value: value["findings"][0].update(claim=""))
    (place / "data/corpora/t2.jsonl").write_bytes(b"")
    result = CliRunner().invoke(findings, ["check", str(place / "data"), str(place / "submissions")])
    assert result.exit_code == 2
    assert "t1: f1: contract" in result.stdout
    assert result.stdout.endswith("3 tasks: 1 valid, 0 abstained, 1 invalid, 0 missing, 1 not checked\n")
    assert "t2.jsonl: its SHA-256 is" in result.stderr


def test_scores_are_not_written_over_what_is_scored(place):
    """A review that is read is never the file that is written."""
    review_file = place / "reviews/t1.json"
    before = review_file.read_bytes()
    folders = [str(place / name) for name in ("data", "submissions", "reviews")]
    result = CliRunner().invoke(main, ["findings", "score", *folders, "--out", str(review_file)])
    assert (result.exit_code, review_file.read_bytes()) == (2, before)
    assert f"{review_file}: it is among the files that are read\n  write to another place\n" in result.stderr


def test_an_interrupted_check_shows_what_it_checked(place, monkeypatch):
    """Ctrl-C in the second of three tasks leaves the failures of the first, and says how far it came."""
    edit(place / "submissions/t1.json", lambda value: value["findings"][0].update(claim=""))
    read = statistics.read_corpus

    def interrupted(folder, task):
        if task.task_id == "t2":
            raise KeyboardInterrupt
        return read(folder, task)

    monkeypatch.setattr(statistics, "read_corpus", interrupted)
    arguments = ["findings", "check", str(place / "data"), str(place / "submissions")]
    result = CliRunner().invoke(main, arguments)
    assert "t1: f1: contract" in result.stdout
    assert result.stdout.endswith("3 tasks: 0 valid, 0 abstained, 1 invalid, 0 missing, 2 not checked\n")
    assert (result.exit_code, result.stderr) == (130, "medgauge: interrupted: 1 of 3 tasks checked\n")
    document = json.loads(CliRunner().invoke(main, [*arguments, "--format", "json"]).stdout)
    assert document["counts"] == {"invalid": 1, "not_reached": 2}


def test_check_is_clean_on_valid_submissions(place):
    """Valid submissions give exit code 0."""
    result = CliRunner().invoke(findings, ["check", str(place / "data"), str(place / "submissions")])
    assert (result.exit_code, result.stdout) == (0, "3 tasks: 3 valid, 0 abstained, 0 invalid, 0 missing\n")
