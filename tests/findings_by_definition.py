"""The statistics of a finding once more, slowly and by definition: sets of ids and exact fractions."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]


def day(row: Row) -> dt.date | None:
    """Read the first ten signs of a timestamp as YYYY-MM-DD."""
    text = row.get("timestamp")
    if not isinstance(text, str) or len(text) < 10:
        return None
    year, month, number = text[:4], text[5:7], text[8:10]
    digits = year + month + number
    if text[4] + text[7] != "--" or any(sign not in "0123456789" for sign in digits):
        return None
    try:
        return dt.date(int(year), int(month), int(number))
    except ValueError:
        return None


def value(row: Row, field: str) -> Any:
    """Return a metadata value; report_year is the year of the timestamp."""
    if field == "report_year":
        return None if day(row) is None else day(row).year
    return row.get(field)


def comparable(one: Any, other: Any) -> bool:
    """Text compares with text, numbers with numbers, nothing else with anything."""
    for kind in (str, (int, float)):
        if isinstance(one, kind) and isinstance(other, kind) and bool not in (type(one), type(other)):
            return True
    return False


def matches(row: Row, rule: Mapping[str, Any]) -> bool:
    """Return whether a row passes one filter."""
    found = value(row, rule["field"])
    if rule["op"] == "in":
        return any(comparable(found, target) and found == target for target in rule["value"])
    if not comparable(found, rule["value"]):
        return False
    return {"eq": found == rule["value"], "gte": found >= rule["value"], "lte": found <= rule["value"]}[
        rule["op"]
    ]


def population(finding: Mapping[str, Any], rows: Sequence[Row]) -> list[Row]:
    """Return the rows that pass every filter."""
    return [row for row in rows if all(matches(row, rule) for rule in finding["population"]["filters"])]


def divide(part: int, whole: int) -> Fraction | None:
    """Return a share, or None."""
    return Fraction(part, whole) if whole else None


def effect(group0: set[str], group1: set[str], positive: set[str]) -> Fraction | None:
    """Return the difference of rates in percentage points."""
    if not group0 or not group1:
        return None
    rates = [Fraction(len(group & positive), len(group)) for group in (group0, group1)]
    return 100 * (rates[1] - rates[0])


def stratum(row: Row, axis: str) -> str | None:
    """Return the text that names a row's stratum."""
    found = value(row, axis)
    if found is None or (isinstance(found, str) and not found.strip()):
        return None
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, sort_keys=True)


def statistics(finding: Mapping[str, Any], rows: Sequence[Row]) -> dict[str, Any]:
    """Return every statistic of a finding."""
    selected = population(finding, rows)
    states = {
        assignment["condition_id"]: {
            name: set(assignment[f"{name}_doc_ids"]) for name in ("positive", "negative", "unknown")
        }
        for assignment in finding["assignments"]
    }
    conditions = [states[definition["condition_id"]] for definition in finding["definitions"]]
    compute = association if finding["kind"] == "compound_association" else difference
    fields, arms, positive = compute(finding, selected, conditions)
    fields |= {
        "corpus_total_n": len(rows),
        "population_total_n": len(selected),
        "population_coverage": divide(len(selected), len(rows)),
        "robustness_known_arm0_n": len(arms[0]),
        "robustness_known_arm1_n": len(arms[1]),
    }
    for axis in ("entity_id", "rating", "report_year"):
        for name, found in robustness(selected, axis, arms, positive).items():
            fields[f"robustness_{axis}_{name}"] = found
    return fields


def difference(finding: Mapping[str, Any], selected: Sequence[Row], conditions: list[dict[str, set[str]]]):
    """Return fields, arms and positive documents of a group or time finding."""
    comparison, state = finding["comparison"], conditions[0]
    if finding["kind"] == "temporal_change":
        cutoff = dt.date.fromisoformat(comparison["cutoff"])
        dated = [(row["doc_id"], day(row)) for row in selected if day(row) is not None]
        groups = [{i for i, d in dated if d < cutoff}, {i for i, d in dated if d >= cutoff}]
    else:
        groups = [
            {
                row["doc_id"]
                for row in selected
                if matches(row, {"field": comparison["field"], "op": "in", "value": values})
            }
            for values in comparison["groups"]
        ]
    fields: dict[str, Any] = {}
    for number, group in enumerate(groups):
        known = group - state["unknown"]
        fields |= {
            f"group{number}_total_n": len(group),
            f"group{number}_known_n": len(known),
            f"group{number}_positive_n": len(group & state["positive"]),
            f"group{number}_unknown_n": len(group & state["unknown"]),
            f"group{number}_rate_known": divide(len(known & state["positive"]), len(known)),
        }
    fields["excluded_metadata_n"] = len(selected) - len(groups[0]) - len(groups[1])
    known = [group - state["unknown"] for group in groups]
    fields["delta_known_pp"] = effect(known[0], known[1], state["positive"])
    could_be = state["positive"] | state["unknown"]
    bounds = (None, None)
    if all(groups):
        least = [Fraction(len(group & state["positive"]), len(group)) for group in groups]
        most = [Fraction(len(group & could_be), len(group)) for group in groups]
        bounds = (100 * (least[1] - most[0]), 100 * (most[1] - least[0]))
    fields["delta_identification_lower_pp"], fields["delta_identification_upper_pp"] = bounds
    return fields, known, state["positive"]


def association(finding: Mapping[str, Any], selected: Sequence[Row], conditions: list[dict[str, set[str]]]):
    """Return fields, arms and positive documents of an association."""
    a, b = conditions
    n11 = len(a["positive"] & b["positive"])
    n10 = len(a["positive"] & b["negative"])
    n01 = len(a["negative"] & b["positive"])
    n00 = len(a["negative"] & b["negative"])
    n = n11 + n10 + n01 + n00
    known_b = b["positive"] | b["negative"]
    arms = [a["negative"] & known_b, a["positive"] & known_b]
    fields = {
        "known_joint_n": n,
        "unknown_joint_n": len(selected) - n,
        "n11": n11,
        "n10": n10,
        "n01": n01,
        "n00": n00,
        "p_b_given_a": divide(n11, n11 + n10),
        "p_b_given_not_a": divide(n01, n01 + n00),
        "conditional_difference_pp": effect(arms[0], arms[1], b["positive"]),
        "lift": divide(n11 * n, (n11 + n10) * (n11 + n01)),
    }
    return fields, arms, b["positive"]


def robustness(
    selected: Sequence[Row], axis: str, arms: list[set[str]], positive: set[str]
) -> dict[str, Any]:
    """Return the fields of one axis."""
    strata: dict[str, set[str]] = {}
    missing = set()
    for row in selected:
        name = stratum(row, axis)
        (missing if name is None else strata.setdefault(name, set())).add(row["doc_id"])
    eligible = [ids for ids in strata.values() if all(len(arm & ids) >= 5 for arm in arms)]
    effects = [effect(arms[0] & ids, arms[1] & ids, positive) for ids in eligible]
    weights = [len((arms[0] | arms[1]) & ids) for ids in eligible]
    covered = set().union(*eligible) & (arms[0] | arms[1])
    largest = sorted(strata, key=lambda name: (-len(strata[name]), name))[:1]
    dropped = strata[largest[0]] if largest else set()
    kept = [arm - dropped - missing for arm in arms]
    outcomes = positive & (arms[0] | arms[1])
    shares = [
        Fraction(len(outcomes & ids), len(outcomes - missing))
        for ids in strata.values()
        if outcomes - missing
    ]
    return {
        "strata_n": len(strata),
        "missing_metadata_n": len(missing),
        "eligible_strata_n": len(eligible),
        "covered_known_n": len(covered),
        "excluded_known_n": len(arms[0] | arms[1]) - len(covered),
        "standardized_delta_pp": sum(w * e for w, e in zip(weights, effects, strict=True)) / sum(weights)
        if weights
        else None,
        "covered_crude_delta_pp": effect(arms[0] & covered, arms[1] & covered, positive),
        "min_stratum_delta_pp": min(effects, default=None),
        "max_stratum_delta_pp": max(effects, default=None),
        "drop_largest_n": len(dropped),
        "drop_largest_arm0_n": len(kept[0]),
        "drop_largest_arm1_n": len(kept[1]),
        "drop_largest_delta_pp": effect(kept[0], kept[1], positive) if min(map(len, kept)) >= 5 else None,
        "max_support_share": max(shares, default=None),
        "support_missing_metadata_n": len(outcomes & missing),
    }
