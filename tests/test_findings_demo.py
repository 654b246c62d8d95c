"""The demo of finding quality: synthetic, the same everywhere, and showing every outcome."""

from __future__ import annotations

import gzip
import hashlib
import json
import weakref
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from medgauge_lib.cli import main
from medgauge_lib.findings import QualityReport, score_findings, statistics
from medgauge_lib.findings.aggregates import STATUSES
from medgauge_lib.findings.demo import Demo, write_demo


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Write the demo once."""
    return write_demo(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def scored(demo: Demo) -> QualityReport:
    """Score it once."""
    return score_findings(demo.data, demo.submissions, demo.reviews)


def test_every_status_kind_and_source_occurs(scored):
    """Three sources, three kinds and six statuses occur."""
    assert {one.status for one in scored.tasks} == set(STATUSES)
    assert len({one.kind for one in scored.tasks}) == 3
    assert len({one.source for one in scored.tasks}) == 3


def test_failures_and_the_stale_review_are_those_planned(scored):
    """A normalised quotation, a wrong count and a stale review are told, and nothing else."""
    assert Counter(one.gate for one in scored.remarks) == {"evidence": 1, "statistics": 1, "stale review": 1}


def test_the_reversal_is_that_of_the_specification(demo):
    """The submitted statistics hold +46, −10 and −10."""
    answer = json.loads((demo.submissions / "synthetic-clinic-reversal.json").read_text(encoding="utf-8"))
    statistics = answer["findings"][0]["statistics"]
    assert statistics["delta_known_pp"] == 46
    assert statistics["robustness_entity_id_standardized_delta_pp"] == -10
    assert statistics["robustness_entity_id_drop_largest_delta_pp"] == -10


def test_the_reversal_is_seen_in_the_effects(scored):
    """The effects of the reversal stand side by side for a report: +46 crude, −10 in every other way."""
    effects = scored.effects_frame().set_index(["task_id", "axis"])
    found = effects.loc[("synthetic-clinic-reversal", "entity_id")].tolist()
    assert found == ["finding-1", 46, 46, -10, -10, -10, -10, True]
    assert effects["reversal"].sum() == 1


def test_scores_by_hand(scored):
    """83.5 supported, 41.75 partial, 0 unfulfilled; a duplicate halves 15 + 17.5 + 16 + 18 + 9 = 75.5."""
    quality = {one.task_id: one.quality for one in scored.tasks if one.status == "scored"}
    assert quality["synthetic-clinic-reversal"] == 83.5
    assert quality["synthetic-pharmacy-contrast"] == 41.75
    assert quality["synthetic-device-trend"] == 0
    assert quality["synthetic-clinic-contrast"] == 37.75


def test_the_demo_has_the_same_bytes_every_time(demo, tmp_path):
    """A second demo is the same, byte by byte."""
    again = write_demo(tmp_path)

    def files(one: Demo) -> dict[str, str]:
        root = one.data.parent
        return {
            str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }

    assert files(demo) == files(again)


def test_compressed_corpora_are_gzip(demo):
    """The stored blocks are a gzip file that the standard library reads, with a checksum that holds."""
    packed = sorted((demo.data / "corpora").glob("*.gz"))
    assert len(packed) == 2
    assert all(gzip.decompress(path.read_bytes()).startswith(b'{"doc_id"') for path in packed)


def test_everything_says_that_it_is_synthetic(demo):
    """Each task, document, claim, rationale and the judge's configuration say so."""
    tasks = json.loads((demo.data / "tasks.json").read_text(encoding="utf-8"))
    assert all("Synthetic" in one["question"] and one["source"].startswith("synthetic") for one in tasks)
    for folder in (demo.submissions, demo.reviews):
        for path in folder.iterdir():
            assert "ynthetic" in path.read_text(encoding="utf-8")
    corpus = Path(demo.data / "corpora/synthetic-clinic-contrast.jsonl").read_text(encoding="utf-8")
    assert all(json.loads(line)["synthetic"] is True for line in corpus.splitlines())


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("check", []),
        ("packet", ["--out", "packets", "--seed", "00ff"]),
        ("score", ["REVIEWS", "--out", "scores"]),
    ],
)
def test_corpora_are_let_go_one_after_the_other(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, more: list[str]
) -> None:
    """While one corpus is read no earlier one is held, so memory does not grow with the number of tasks."""
    read, held = statistics.read_corpus, []
    alive: list[int] = []

    def counted(*given: Any) -> Any:
        alive.append(sum(one() is not None for one in held))
        corpus = read(*given)
        held.append(weakref.ref(corpus))
        return corpus

    monkeypatch.setattr(statistics, "read_corpus", counted)
    monkeypatch.chdir(tmp_path)
    more = [str(demo.reviews) if word == "REVIEWS" else word for word in more]
    done = CliRunner().invoke(main, ["findings", command, str(demo.data), str(demo.submissions), *more])
    assert (done.exit_code, len(alive), max(alive)) == (1, 14, 0)
