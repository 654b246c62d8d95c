"""Finding quality as tables and charts: every number from the raw files, and text that stays text."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import findings_by_definition
import pytest
from demo_pages import tables, tags
from hypothesis import given
from hypothesis import strategies as st
from make_findings import finding, review, rows, sha, submission, task, write, write_json, write_judge
from make_reports import HOSTILE

from medgauge_lib.charts import findings as charts
from medgauge_lib.charts.figure import Figure
from medgauge_lib.charts.findings.figures import EFFECTS
from medgauge_lib.charts.findings.tables import QUOTATIONS, _lines
from medgauge_lib.charts.tables import Table
from medgauge_lib.charts.words import Sentences
from medgauge_lib.findings import QualityReport, score_findings
from medgauge_lib.findings.demo import Demo, write_demo

POINTS = {"supported": Fraction(1), "partial": Fraction(1, 2), "unsupported": Fraction(0), "uncertain": None}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The demo benchmark on disk."""
    return write_demo(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def scored(demo: Demo) -> QualityReport:
    """The demo benchmark, scored."""
    return score_findings(demo.data, demo.submissions, demo.reviews)


def read(path: Path) -> Any:
    """Read a JSON file, None where there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def corpus(demo: Demo, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Read a corpus."""
    content = (demo.data / document["corpus_path"]).read_bytes()
    content = gzip.decompress(content) if document["corpus_path"].endswith(".gz") else content
    return [json.loads(line) for line in content.splitlines()]


def worth(assessment: Mapping[str, Any]) -> Fraction | None:
    """Quality of a finding by the formula of the specification."""
    if assessment["duplicate_of"] is not None or not assessment["task_fulfilled"]:
        return Fraction(0)
    names = ("statistical_validity", "evidence_entailment", "analytical_depth", "calibration")
    s, e, d, c = (Fraction(str(assessment[name])) for name in names)
    support = POINTS[assessment["support"]]
    return None if support is None else support * (15 + 25 * s + 20 * e + 30 * d + 10 * c)


def is_valid(answer: Mapping[str, Any], documents: list[dict[str, Any]]) -> bool:
    """Whether quotations are exact and statistics are those by definition: what the demo breaks."""
    texts = {document["doc_id"]: document["text"] for document in documents}
    for one in answer["findings"]:
        if any(
            texts[span["doc_id"]][span["start"] : span["end"]] != span["quote"] for span in one["evidence"]
        ):
            return False
        for name, value in findings_by_definition.statistics(one, documents).items():
            submitted = one["statistics"][name]
            if (value is None) != (submitted is None) or abs(float(value or 0) - (submitted or 0)) > 1e-6:
                return False
    return True


def by_definition(demo: Demo) -> dict[str, tuple[str, Fraction | None]]:
    """Status and quality of every task of the demo, from its files alone."""
    found: dict[str, tuple[str, Fraction | None]] = {}
    for document in read(demo.data / "tasks.json"):
        name = document["task_id"]
        answer, judged = read(demo.submissions / f"{name}.json"), read(demo.reviews / f"{name}.json")
        if answer is None:
            found[name] = ("missing", None)
        elif not answer["findings"]:
            found[name] = ("abstained", None)
        elif not is_valid(answer, corpus(demo, document)):
            found[name] = ("invalid", None)
        elif judged is None or judged["submission_sha256"] != sha(answer):
            found[name] = ("pending_review", None)
        else:
            qualities = [worth(one) for one in judged["findings"]]
            known = [one for one in qualities if one is not None]
            complete = len(known) == len(qualities)
            found[name] = ("scored", sum(known) / len(known)) if complete else ("unresolved", None)
    return found


def test_tasks_have_the_status_and_quality_of_their_files(demo, scored):
    """Each task's status and points are those that its submission, corpus and review give by definition."""
    expected = by_definition(demo)
    made = charts.tasks_table(scored)
    shown = {row["task_id"]: (row["status"], row["quality"]) for row in made.table.to_dict("records")}
    assert shown == {
        name: (status, None if quality is None else float(quality))
        for name, (status, quality) in expected.items()
    }
    assert {status for status, _ in expected.values()} == {
        "missing", "invalid", "abstained", "pending_review", "unresolved", "scored",
    }  # fmt: skip
    (table,) = tables(made.html)
    for row in table[1:]:
        status, quality = expected[row[0].text]
        assert row[3].text == status.replace("_", " ")
        if quality is None:
            assert row[5].text == "no score"
            assert not row[5].shapes
            assert row[6].text
        else:
            assert abs(Fraction(row[5].text) - quality) <= Fraction(1, 20)
            (point,) = row[5].drawn("circle", "mg-value")
            assert float(point["cx"]) == pytest.approx(12 + float(quality), abs=0.01)


def test_summaries_hold_means_beside_counts(demo, scored):
    """Every mean is over the scored tasks of its row, and counts and rates over all stand in that row."""
    expected = by_definition(demo)
    documents = {one["task_id"]: one for one in read(demo.data / "tasks.json")}
    made = charts.summaries_table(scored)
    (table,) = tables(made.html)
    lines = {row[0].text: [cell.text for cell in row] for row in table[1:] if len(row) > 1}
    groups = {"All tasks": list(expected)}
    for axis in ("source", "kind"):
        for name, document in documents.items():
            groups.setdefault(document[axis], []).append(name)
    assert set(lines) == set(groups)
    for name, members in groups.items():
        statuses = [expected[task_id][0] for task_id in members]
        known = [quality for task_id in members if (quality := expected[task_id][1]) is not None]
        mean, scored_n, n, missing, invalid, pending, abstention, valid, whole = lines[name][1:]
        assert abs(Fraction(mean.split()[0]) - sum(known) / len(known)) <= Fraction(1, 20)
        assert [int(scored_n), int(n)] == [len(known), len(members)]
        assert int(missing) == statuses.count("missing")
        assert int(invalid) == statuses.count("invalid")
        assert int(pending) == statuses.count("pending_review") + statuses.count("unresolved")
        assert abstention == f"{100 * statuses.count('abstained') / len(members):.1f} %"
        assert valid == f"{100 - 100 * (int(missing) + int(invalid)) / len(members):.1f} %"
        assert whole == f"absent {len(members) - len(known)} of {len(members)} tasks have no score"


def test_sentences_say_the_mean_with_its_counts(scored):
    """The words name the scored tasks, the interval as over them only, and why there is no quality mean."""
    words = str(charts.quality_sentences(scored)).replace("\u00a0", " ")
    assert "8 of 15 tasks have a score." in words
    assert "Over the 8 scored tasks only, the conditional mean is 54.9 of 100 points" in words
    assert "95 % interval 31.9 to 75.6, BCa over these tasks" in words
    assert "There is no quality mean: 7 of 15 tasks have no score." in words
    assert (
        "1 review was refused, and its task waits for another: synthetic-pharmacy-trend (stale review)."
        in words
    )


def test_the_judge_is_named_with_what_he_cannot_tell(demo, scored):
    """Every setting of the judge is shown, with the words on evaluator error and on the bounded audit."""
    words = str(charts.judge_sentences(scored))
    assert "Scores given by a model carry evaluator error." in words
    assert "It gives no estimate of label accuracy." in words
    assert "synthetic review for demonstration" in words
    assert "no reference coverage" in words
    (table,) = tables(charts.judge_table(scored).html)
    shown = {row[0].text: row[1].text for row in table[1:]}
    assert shown == {name: str(value) for name, value in read(demo.reviews / "judge_config.json").items()}


def test_the_distribution_counts_every_task_once(demo, scored):
    """Scored tasks fall into their ten points, and all tasks into their status."""
    expected = by_definition(demo)
    made = charts.distribution_figure(scored)
    lines = made.table.to_dict("records")
    for line in lines[:10]:
        inside = [
            quality
            for _, quality in expected.values()
            if quality is not None
            and (line["low"] <= quality < line["high"] or quality == line["high"] == 100)
        ]
        assert line["tasks"] == len(inside)
    statuses = {line["status"]: line["tasks"] for line in lines[10:]}
    assert statuses["pending review"] == 2
    assert sum(statuses.values()) == len(expected) == 15
    assert "8 scored" in made.alt


def test_effects_are_those_by_definition(demo, scored):
    """Crude, standardized and remaining effects equal the second implementation on the raw corpora."""
    made = charts.effects_figure(scored)
    documents = {one["task_id"]: one for one in read(demo.data / "tasks.json")}
    names = {
        "covered": "covered_crude_delta_pp",
        "standardized": "standardized_delta_pp",
        "lowest": "min_stratum_delta_pp",
        "highest": "max_stratum_delta_pp",
        "without_largest": "drop_largest_delta_pp",
    }
    assert len(made.table) == 36
    for line in made.table.to_dict("records"):
        (one,) = [
            one
            for one in read(demo.submissions / f"{line['task_id']}.json")["findings"]
            if one["finding_id"] == line["finding_id"]
        ]
        statistics = findings_by_definition.statistics(one, corpus(demo, documents[line["task_id"]]))
        crude = "conditional_difference_pp" if "n11" in statistics else "delta_known_pp"
        expected = {name: statistics[f"robustness_{line['axis']}_{field}"] for name, field in names.items()}
        expected["crude"] = statistics[crude]
        assert {name: line[name] for name in expected} == {
            name: None if value is None else float(value) for name, value in expected.items()
        }


def test_the_reversal_stands_first_and_says_so(scored):
    """The one reversal of the demo is the first row drawn, marked in words, and in the alternative text."""
    made = charts.effects_figure(scored)
    words = (
        "1 reversal of sign. synthetic-clinic-reversal · finding-1 · entity id: crude +46.0 pp, standardized "
        "−10.0 pp, without the largest stratum −10.0 pp"
    )
    assert words in made.alt.replace("\u00a0", " ")
    rows_drawn = [row for data in made.spec["datasets"].values() for row in data if "mark" in row]
    (first,) = {(row["place"], row["mark"], row["name"]) for row in rows_drawn if row.get("mark")}
    assert first == (1, "reversal", "synthetic-clinic-reversal · finding-1 · entity id")
    assert ">reversal</text>" in made.svg


def test_evidence_is_the_text_of_the_corpus(demo, scored):
    """Each quotation stands in its document, with up to 120 signs on either side, and is marked."""
    made = charts.evidence_table(scored)
    documents = {
        (one["task_id"], row["doc_id"]): row["text"]
        for one in read(demo.data / "tasks.json")
        for row in corpus(demo, one)
    }
    for line in made.table.to_dict("records"):
        text = documents[line["task_id"], line["doc_id"]]
        assert line["before"] + line["quote"] + line["after"] in text
        assert len(line["before"]) <= 120
        assert len(line["after"]) <= 120
    assert made.html.count("<mark>") == len(made.table) == 60
    assert "👍🏽" in made.html
    assert "Cafe\u0301" in made.html
    assert "كُتبت" in made.html
    assert 'dir="auto"' in made.html


def test_remarks_name_what_was_refused(scored):
    """A failed gate and a stale review stand with place, what was found, and what would be right."""
    (table,) = tables(charts.remarks_table(scored).html)
    lines = [" | ".join(cell.text for cell in row) for row in table[1:]]
    assert len(lines) == 3
    assert lines[1].startswith(
        "synthetic-device-pairing finding-1 | statistics /findings/0/statistics/n11 | "
    )
    assert lines[2].startswith("synthetic-pharmacy-trend whole file | stale review /submission_sha256 | ")
    assert "the submission changed since" in lines[2]


def hostile(place: Path) -> QualityReport:
    """Score a benchmark with hostile text wherever an agent, a judge or a corpus writes freely."""
    documents = [row | {"text": f"Doc {HOSTILE}\r\n{row['text']}"} for row in rows()]
    tasks = [(task(source=HOSTILE), documents), (task(task_id="t2", source=HOSTILE), documents)]
    data = write(place, tasks)
    one = finding(documents, claim=HOSTILE)
    for number, span in enumerate(one["evidence"]):
        end = len("Doc ") + len(HOSTILE)
        text = next(row["text"] for row in documents if row["doc_id"] == span["doc_id"])
        one["evidence"][number] = span | {"start": 0, "end": end, "quote": text[:end]}
    answer = submission(one)
    write_json(place / "submissions/t1.json", answer)
    write_json(place / "submissions/t2.json", submission(task_id="t2", reason=HOSTILE))
    write_json(
        place / "reviews/t1.json", review(data, answer, {"rationale": HOSTILE}, reviewer_method=HOSTILE)
    )
    write_json(place / f"submissions/{'x' * 9}<b>.json", answer)
    write_judge(place / "reviews", model=HOSTILE, note={"<i>": HOSTILE})
    return score_findings(data, place / "submissions", place / "reviews")


def everything(report: QualityReport) -> list[Figure | Table | Sentences]:
    """Everything the notebook shows."""
    return [getattr(charts, name)(report) for name in charts.__all__]


def test_hostile_text_stays_text(tmp_path):
    """No claim, quotation, rationale, reason, source or setting becomes markup or turns a line around."""
    shown = everything(hostile(tmp_path))
    markup = [bundle["text/html"] for one in shown if "text/html" in (bundle := one._repr_mimebundle_())]
    assert len(markup) == 8
    for html in markup:
        assert not tags(html) & {"script", "img", "b", "i"}
        assert "\u202e" not in html
        assert "\u2028" not in html
    evidence = next(html for html in markup if "<mark>" in html)
    assert "<mark>Doc &lt;/script&gt;&lt;script&gt;window.hit=1" in evidence
    assert any("agent abstained: “&lt;/script&gt;" in html for html in markup)


def test_line_breaks_of_a_document_are_kept():
    """A line break of any system stays one; what turns a line around is shown as a sign of its own."""
    assert _lines("a\r\nb\nc\u202ed\te") == "a\nb\nc\ufffdd\ufffde"


@given(st.text(max_size=30))
def test_no_sign_of_a_passage_is_lost(words):
    """A passage keeps its length but for line breaks of two signs, and every sign that can stand."""
    shown = _lines(words)
    assert len(shown) == len(words) - words.count("\r\n")
    assert all(
        drawn in (sign, "\ufffd") for sign, drawn in zip(words.replace("\r\n", "\n"), shown, strict=True)
    )


def test_nothing_reviewed_is_said_in_words(tmp_path):
    """Without reviews there are sentences with the reason in place of tables, and no mean."""
    documents = rows()
    data = write(tmp_path, [(task(), documents)])
    write_json(tmp_path / "submissions/t1.json", submission(finding(documents)))
    (tmp_path / "reviews").mkdir()
    report = score_findings(data, tmp_path / "submissions", tmp_path / "reviews")
    assert "There is no mean: no task has a score." in str(charts.quality_sentences(report))
    assert str(charts.judge_table(report)) == "There is no configuration of a judge: there are no reviews."
    assert str(charts.judge_sentences(report)).startswith(
        "There is no reviewer method: no review was accepted."
    )
    assert isinstance(charts.assessments_table(report), Sentences)
    assert isinstance(charts.remarks_table(report), Sentences)
    assert "no task has a score" in charts.distribution_figure(report).svg
    (table,) = tables(charts.summaries_table(report).html)
    assert table[1][1].text == "absent no task has a score"


def test_nothing_valid_is_said_in_words(tmp_path):
    """Without a valid finding there is neither evidence nor an effect to draw."""
    data = write(tmp_path, [(task(), rows())])
    for name in ("submissions", "reviews"):
        (tmp_path / name).mkdir()
    report = score_findings(data, tmp_path / "submissions", tmp_path / "reviews")
    assert "no submission with findings is valid" in str(charts.evidence_table(report))
    assert "No effect can be standardized" in str(charts.effects_figure(report))


def test_every_task_scored_gives_a_quality_mean(tmp_path):
    """Where all tasks have a score the quality mean is there, and one task alone has no interval."""
    documents = rows()
    data = write(tmp_path, [(task(), documents)])
    answer = submission(finding(documents))
    write_json(tmp_path / "submissions/t1.json", answer)
    write_json(tmp_path / "reviews/t1.json", review(data, answer))
    write_judge(tmp_path / "reviews")
    report = score_findings(data, tmp_path / "submissions", tmp_path / "reviews")
    words = str(charts.quality_sentences(report)).replace("\u00a0", " ")
    assert "Over the one scored task only, the conditional mean is 83.5 of 100 points (interval not" in words
    assert "Every task has a score, so this is the quality mean: 83.5." in words
    (table,) = tables(charts.summaries_table(report).html)
    assert table[1][9].text == "83.5"


def test_large_reports_draw_and_quote_a_part(tmp_path):
    """Of many tasks the page shows the first quotations and the largest changes; the data hold all."""
    documents = rows()
    names = [f"t{number:03d}" for number in range(140)]
    data = write(tmp_path, [(task(task_id=name), documents) for name in names])
    for name in names:
        write_json(tmp_path / f"submissions/{name}.json", submission(finding(documents), task_id=name))
    (tmp_path / "reviews").mkdir()
    report = score_findings(data, tmp_path / "submissions", tmp_path / "reviews")
    evidence = charts.evidence_table(report)
    assert evidence.html.count("<mark>") == QUOTATIONS < len(evidence.table) == 560
    assert evidence.caption.endswith("The data hold all 560.")
    effects = charts.effects_figure(report)
    assert len(effects.table) == 420
    assert f"Effects of {EFFECTS} findings and axes" in effects.alt
    assert "with smaller differences" in effects.caption
