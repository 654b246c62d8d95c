"""Statistics of findings: hand-computed values, a second implementation, and how they are compared."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import findings_by_definition
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from make_findings import COMPARISON, KIND, finding, rows, submission, task

from medgauge_lib.findings import Corpus, Task, check_submission

GROUP_FIELDS = [
    *(
        f"group{arm}_{name}"
        for arm in (0, 1)
        for name in ("total_n", "known_n", "positive_n", "unknown_n", "rate_known")
    ),
    "excluded_metadata_n",
    "delta_known_pp",
    "delta_identification_lower_pp",
    "delta_identification_upper_pp",
]
ASSOCIATION_FIELDS = [
    "known_joint_n",
    "unknown_joint_n",
    "n11",
    "n10",
    "n01",
    "n00",
    "p_b_given_a",
    "p_b_given_not_a",
    "conditional_difference_pp",
    "lift",
]
AXIS_FIELDS = [
    "strata_n",
    "missing_metadata_n",
    "eligible_strata_n",
    "covered_known_n",
    "excluded_known_n",
    "standardized_delta_pp",
    "covered_crude_delta_pp",
    "min_stratum_delta_pp",
    "max_stratum_delta_pp",
    "drop_largest_n",
    "drop_largest_arm0_n",
    "drop_largest_arm1_n",
    "drop_largest_delta_pp",
    "max_support_share",
    "support_missing_metadata_n",
]
GENERAL_FIELDS = [
    "corpus_total_n",
    "population_total_n",
    "population_coverage",
    "robustness_known_arm0_n",
    "robustness_known_arm1_n",
    *(f"robustness_{axis}_{name}" for axis in ("entity_id", "rating", "report_year") for name in AXIS_FIELDS),
]


def recomputed(documents: list[dict[str, Any]], made: dict[str, Any], **over: Any) -> dict[str, Any]:
    """Return what the library recomputes for one finding, whatever gates it fails."""
    asked = Task.from_document(task(made["kind"], **over))
    return check_submission(submission(made), asked, Corpus(tuple(documents)))[1][made["finding_id"]]


def document(number: int, c1: str = "yes", c2: str = "yes", **metadata: Any) -> dict[str, Any]:
    """Return one document with its labels in the text; "?" leaves a label unknown."""
    words = ", ".join(f"{name} {word}" for name, word in (("c1", c1), ("c2", c2)) if word != "?")
    return {"doc_id": f"d{number}", "text": f"Doc {words}", "timestamp": None} | metadata


def reversal() -> list[dict[str, Any]]:
    """Entity easy: a 9 of 10, b 72 of 90; hard: a 18 of 90, b 1 of 10."""
    cells = [("easy", "a", 9, 10), ("easy", "b", 72, 90), ("hard", "a", 18, 90), ("hard", "b", 1, 10)]
    flat = [(e, t, place < p) for e, t, p, n in cells for place in range(n)]
    return [
        document(number, "yes" if positive else "no", entity_id=entity, team=team)
        for number, (entity, team, positive) in enumerate(flat)
    ]


def test_reversal_has_the_values_of_the_specification():
    """Crude +46, standardized −10, without the largest stratum −10; all ratings missing gives null."""
    found = recomputed(reversal(), finding(reversal()))
    assert found["delta_known_pp"] == 46
    assert found["robustness_entity_id_standardized_delta_pp"] == -10
    assert found["robustness_entity_id_drop_largest_delta_pp"] == -10
    # Both strata hold 100 documents; "easy" is first as text.
    assert found["robustness_entity_id_drop_largest_arm0_n"] == 90
    assert found["robustness_entity_id_drop_largest_arm1_n"] == 10
    assert found["robustness_entity_id_covered_crude_delta_pp"] == 46
    assert found["robustness_entity_id_max_support_share"] == Fraction(81, 100)
    assert found["robustness_rating_missing_metadata_n"] == 200
    for name in ("standardized", "covered_crude", "min_stratum", "max_stratum", "drop_largest"):
        assert found[f"robustness_rating_{name}_delta_pp"] is None
    assert found["robustness_rating_max_support_share"] is None
    assert found["robustness_rating_support_missing_metadata_n"] == 100


@pytest.mark.parametrize(
    ("kind", "fields"),
    [(KIND["group"], GROUP_FIELDS), (KIND["time"], GROUP_FIELDS), (KIND["association"], ASSOCIATION_FIELDS)],
)
def test_fields_are_those_of_the_specification(kind, fields):
    """A finding holds exactly the documented fields of its kind, in their order."""
    assert list(recomputed(rows(), finding(rows(), kind))) == [*fields, *GENERAL_FIELDS]


def test_unknowns_give_identification_bounds():
    """Group a 1+/1−/2?, group b 3+/0−/1?: rates ½ and 1, bounds 100(3/4 − 3/4) and 100(4/4 − 1/4)."""
    labels = [
        ("a", "yes"),
        ("a", "no"),
        ("a", "?"),
        ("a", "?"),
        ("b", "yes"),
        ("b", "yes"),
        ("b", "yes"),
        ("b", "?"),
    ]
    documents = [document(number, word, team=team) for number, (team, word) in enumerate(labels)]
    documents.append(document(8, "yes", team="c"))
    documents.append(document(9, "no"))
    found = recomputed(documents, finding(documents))
    assert (found["group0_total_n"], found["group0_known_n"], found["group0_unknown_n"]) == (4, 2, 2)
    assert (found["group0_rate_known"], found["group1_rate_known"]) == (Fraction(1, 2), 1)
    assert found["delta_known_pp"] == 50
    assert found["delta_identification_lower_pp"] == 0
    assert found["delta_identification_upper_pp"] == 75
    assert found["excluded_metadata_n"] == 2  # one of another team, one without a team


def test_association_table_by_hand():
    """n11 4, n10 1, n01 2, n00 3, one unknown each: lift 4·10/(5·6), difference 100(4/5 − 2/5)."""
    labels = [
        *[("yes", "yes")] * 4,
        ("yes", "no"),
        *[("no", "yes")] * 2,
        *[("no", "no")] * 3,
        ("?", "yes"),
        ("yes", "?"),
    ]
    documents = [document(number, *words) for number, words in enumerate(labels)]
    found = recomputed(documents, finding(documents, KIND["association"]))
    assert (found["n11"], found["n10"], found["n01"], found["n00"]) == (4, 1, 2, 3)
    assert (found["known_joint_n"], found["unknown_joint_n"]) == (10, 2)
    assert (found["p_b_given_a"], found["p_b_given_not_a"]) == (Fraction(4, 5), Fraction(2, 5))
    assert found["conditional_difference_pp"] == 40
    assert found["lift"] == Fraction(4, 3)
    assert (found["robustness_known_arm0_n"], found["robustness_known_arm1_n"]) == (5, 5)


def test_zero_denominators_give_null():
    """Without a positive A there is no P(B|A), no difference and no lift."""
    documents = [document(number, "no", "yes") for number in range(4)]
    found = recomputed(documents, finding(documents, KIND["association"]))
    assert [found[name] for name in ("p_b_given_a", "conditional_difference_pp", "lift")] == [None] * 3
    assert found["p_b_given_not_a"] == 1


def test_arm_of_unknowns_has_no_rate_but_bounds():
    """A group of unknowns alone has no known rate, while the bounds span all it could be."""
    documents = [document(0, "?", team="a"), document(1, "yes", team="b"), document(2, "no", team="b")]
    found = recomputed(documents, finding(documents))
    assert found["group0_rate_known"] is None
    assert found["delta_known_pp"] is None
    assert (found["delta_identification_lower_pp"], found["delta_identification_upper_pp"]) == (-50, 50)


def test_empty_arm_has_no_bounds_where_the_task_allows_it():
    """With min_group_n 0 an arm may be empty; its rates and the bounds do not exist."""
    documents = [document(0, "yes", team="b")]
    found = recomputed(documents, finding(documents), min_group_n=0)
    names = (
        "group0_rate_known",
        "delta_known_pp",
        "delta_identification_lower_pp",
        "delta_identification_upper_pp",
    )
    assert [found[name] for name in names] == [None] * 4


@pytest.mark.parametrize(
    "timestamp",
    [
        None,
        "",
        "2024",
        "2024-02-30",
        "2024-W09-4",
        "20240229T1",
        "last spring",
        20240229,
        "２０２４-01-01",
        "2024/01/01",
    ],
)
def test_bad_dates_are_in_neither_arm(timestamp):
    """Only the first ten signs as YYYY-MM-DD are a date; anything else is missing."""
    documents = [
        document(0, timestamp="2023-12-31T23:59:59Z"),
        document(1, timestamp="2024-01-01 is fine"),
        document(2, timestamp=timestamp),
    ]
    found = recomputed(documents, finding(documents, KIND["time"]))
    assert (found["group0_total_n"], found["group1_total_n"], found["excluded_metadata_n"]) == (1, 1, 1)
    assert found["robustness_report_year_strata_n"] == 2
    assert found["robustness_report_year_missing_metadata_n"] == 1


def test_strata_are_named_by_text():
    """4 and 4.0 are two strata and "4" is that of 4; blank text and null are missing."""
    values = [4, 4.0, "4", "", "  ", None, "x"]
    documents = [document(n, team="ab"[n % 2], rating=v) for n, v in enumerate(values)]
    found = recomputed(documents, finding(documents))
    assert found["robustness_rating_strata_n"] == 3
    assert found["robustness_rating_missing_metadata_n"] == 3
    assert found["robustness_rating_drop_largest_n"] == 2


def test_largest_stratum_falls_to_the_first_as_text():
    """Of two strata of one size "10" is dropped before "9"."""
    documents = [
        document(number, "yes" if rating == 9 and team == "b" else "no", team=team, rating=rating)
        for number, (rating, team) in enumerate((r, t) for r in (9, 10) for t in "ab" for _ in range(5))
    ]
    found = recomputed(documents, finding(documents))
    assert found["robustness_rating_drop_largest_delta_pp"] == 100  # rating 9 is left


def test_largest_stratum_counts_every_document():
    """The largest stratum is that of most documents, also where most of them are unknown or in no arm."""
    documents = [document(n, "yes", team="ab"[n % 2], entity_id="small") for n in range(10)]
    documents += [document(10 + n, "?", team="c", entity_id="large") for n in range(11)]
    found = recomputed(documents, finding(documents))
    assert found["robustness_entity_id_drop_largest_n"] == 11
    assert found["robustness_entity_id_drop_largest_arm0_n"] == 5
    assert found["robustness_entity_id_drop_largest_delta_pp"] == 0


def test_stratum_of_four_is_not_eligible():
    """A stratum needs five known documents in each arm; its known documents count as excluded."""
    documents = [document(n, "yes", team="a", entity_id="e") for n in range(4)]
    documents += [document(4 + n, "yes", team="b", entity_id="e") for n in range(5)]
    found = recomputed(documents, finding(documents))
    assert found["robustness_entity_id_eligible_strata_n"] == 0
    assert found["robustness_entity_id_excluded_known_n"] == 9
    documents.append(document(9, "no", team="a", entity_id="e"))
    found = recomputed(documents, finding(documents))
    assert found["robustness_entity_id_eligible_strata_n"] == 1
    assert found["robustness_entity_id_standardized_delta_pp"] == 20


def failed_fields(made: dict[str, Any]) -> list[str]:
    """Return the statistics that a submission is told to correct."""
    failures, _ = check_submission(
        submission(made), Task.from_document(task(made["kind"])), Corpus(tuple(rows()))
    )
    assert {failure.gate for failure in failures} <= {"statistics"}
    return [failure.pointer.rsplit("/", 1)[1] for failure in failures]


@pytest.mark.parametrize(
    ("change", "agrees"), [(1e-6, True), (-1e-6, True), (1.1e-6, False), (-1.1e-6, False), (1, False)]
)
def test_statistics_agree_within_a_millionth(change, agrees):
    """A count of 24 may be off by 0.000001, as the decimal it is written as, and no more."""
    made = finding(rows())
    made["statistics"]["corpus_total_n"] = round(24 + change, 9)
    assert failed_fields(made) == ([] if agrees else ["corpus_total_n"])


@pytest.mark.parametrize("value", [None, True, "24", [24]])
def test_only_a_number_is_a_number(value):
    """Null, true, text and lists are no count."""
    made = finding(rows())
    made["statistics"]["corpus_total_n"] = value
    assert failed_fields(made) == ["corpus_total_n"]


def test_null_is_not_zero():
    """Where the recomputed value is null a zero is wrong, and null is right."""
    documents = rows()
    made = finding(documents)
    assert made["statistics"]["robustness_rating_standardized_delta_pp"] is None
    made["statistics"]["robustness_rating_standardized_delta_pp"] = 0
    assert failed_fields(made) == ["robustness_rating_standardized_delta_pp"]


def test_fields_must_be_exactly_those_expected():
    """A missing and a surplus field are one failure each, by name."""
    made = finding(rows())
    made["statistics"]["p_value"] = 0.01
    del made["statistics"]["corpus_total_n"]
    failures, _ = check_submission(submission(made), Task.from_document(task()), Corpus(tuple(rows())))
    place = "t1: f1: statistics: /findings/0/statistics"
    assert [str(failure) for failure in failures] == [
        f"{place}/p_value: found a field that is not asked for; right: no such field",
        f"{place}: found no member 'corpus_total_n'; right: corpus_total_n 24",
    ]


METADATA = {
    "team": st.sampled_from(["a", "b", "c", None, 1, True]),
    "entity_id": st.sampled_from(["x", "y", "10", "9", "", None]),
    "rating": st.sampled_from([1, 1.0, 2, "2", 2.5, None, "", True, False]),
    "timestamp": st.sampled_from(
        ["2023-06-01", "2024-01-01T00:00", "2023-12-31", "2024-02-30", "x", None, "2025-03-01", 2024]
    ),
}
FILTERS = st.one_of(
    st.fixed_dictionaries(
        {
            "field": st.sampled_from(["rating", "report_year", "team", "entity_id", "timestamp"]),
            "op": st.sampled_from(["eq", "gte", "lte"]),
            "value": st.sampled_from([1, 2.0, 2024, "a", "2", "2024-01-01", "9", 0.5]),
        }
    ),
    st.fixed_dictionaries(
        {
            "field": st.sampled_from(["rating", "report_year", "team"]),
            "op": st.just("in"),
            "value": st.lists(st.sampled_from([1, 1.0, "1", 2, "a", 2023, "b"]), min_size=1, max_size=4),
        }
    ),
)


@st.composite
def corpora(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw documents with awkward metadata and labels of all three states."""
    words = st.sampled_from(["yes", "yes", "no", "no", "?"])
    drawn = draw(st.lists(st.tuples(words, words, st.fixed_dictionaries(METADATA)), min_size=1, max_size=60))
    return [document(n, c1, c2, **metadata) for n, (c1, c2, metadata) in enumerate(drawn)]


@given(corpora(), st.sampled_from(sorted(KIND.values())), st.lists(FILTERS, max_size=2))
@settings(max_examples=300, deadline=None)
def test_statistics_equal_a_second_implementation(documents, kind, filters):
    """Every field equals the definition by sets, exactly, on any corpus, population and partition."""
    made = finding(documents, kind, filters=filters)
    over = {"min_population_n": 0, "min_group_n": 0}
    assert recomputed(documents, made, **over) == findings_by_definition.statistics(made, documents)


@given(corpora(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_order_changes_nothing(documents, random):
    """Neither the order of the corpus nor that of the lists of ids changes a statistic."""
    made = finding(documents)
    shuffled = copy.deepcopy(made)
    others = list(documents)
    random.shuffle(others)
    for name in ("positive", "negative", "unknown"):
        random.shuffle(shuffled["assignments"][0][f"{name}_doc_ids"])
    over = {"min_population_n": 0, "min_group_n": 0}
    assert recomputed(documents, made, **over) == recomputed(others, shuffled, **over)


@given(corpora())
@settings(max_examples=60, deadline=None)
def test_swapping_the_groups_flips_the_signs(documents):
    """Effects change their sign and bounds change places when group 0 and group 1 are swapped."""
    over = {"min_population_n": 0, "min_group_n": 0}
    swapped = COMPARISON[KIND["group"]] | {"groups": [["b"], ["a"]]}
    one = recomputed(documents, finding(documents), **over)
    other = recomputed(documents, finding(documents, comparison=swapped), **over)

    def minus(value: Fraction | None) -> Fraction | None:
        return None if value is None else -value

    for name in (
        "delta_known_pp",
        "robustness_entity_id_standardized_delta_pp",
        "robustness_rating_drop_largest_delta_pp",
    ):
        assert one[name] == minus(other[name])
    assert one["delta_identification_lower_pp"] == minus(other["delta_identification_upper_pp"])
    assert one["robustness_rating_min_stratum_delta_pp"] == minus(
        other["robustness_rating_max_stratum_delta_pp"]
    )
