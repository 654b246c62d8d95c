"""The schema file against the contract, and the words a document's fault is told in."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from beside import SHARED, needs_shared

from medgauge_lib.errors import printable
from medgauge_lib.schema import fault, near, pointer, quoted, schema
from tests.make_records import community, record

CONTRACT = SHARED / "spec" / "result.constraints.json"
NAMED = ("properties", "$defs")
"""Keywords whose value maps names of the record, which are no keywords, to schemas."""


def constraints(part: Any) -> Any:
    """Return a schema without its `title` and `description` keywords; properties of that name stay."""
    if isinstance(part, list):
        return [constraints(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        key: {name: constraints(value) for name, value in value.items()}
        if key in NAMED
        else constraints(value)
        for key, value in part.items()
        if key not in ("title", "description")
    }


def described(part: Any, place: str = "") -> list[str]:
    """Return the places of properties and definitions that have no description."""
    if isinstance(part, list):
        return [lacking for index, item in enumerate(part) for lacking in described(item, f"{place}/{index}")]
    if not isinstance(part, dict):
        return []
    lacking = []
    for key, value in part.items():
        for name, inner in value.items() if key in NAMED else ():
            if "if" not in place.split("/") and not inner.get("description"):
                lacking.append(f"{place}/{key}/{name}")
            lacking += described(inner, f"{place}/{key}/{name}")
        if key not in NAMED:
            lacking += described(value, f"{place}/{key}")
    return lacking


@needs_shared
def test_schema_without_titles_and_descriptions_is_the_contract():
    """The project's schema equals the contract once every title and description is taken out."""
    assert constraints(schema()) == json.loads(CONTRACT.read_text("utf-8"))


def test_taking_out_annotations_leaves_properties_of_that_name():
    """A property called title or description is no annotation and stays."""
    part = {
        "title": "A",
        "properties": {"title": {"type": "string", "description": "B"}},
        "required": ["title"],
    }
    assert constraints(part) == {"properties": {"title": {"type": "string"}}, "required": ["title"]}


def test_every_property_is_described():
    """Each property and definition has a description, the document and each definition a title."""
    assert described(schema()) == []
    assert all(part["title"] for part in (schema(), *schema()["$defs"].values()))


def test_schema_is_valid_draft_2020_12():
    """The schema file is itself valid under the draft it names."""
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("made", [record(), community()], ids=["verified", "community"])
def test_valid_records_have_no_fault(made):
    """Both validators find nothing in a record made for tests."""
    assert fault(made) is None
    assert list(jsonschema.Draft202012Validator(schema()).iter_errors(made)) == []


def run(made: dict[str, Any]) -> dict[str, Any]:
    """Return the first run."""
    return made["run_outcomes"][0]["runs"][0]


def holdout(made: dict[str, Any]) -> dict[str, Any]:
    """Return the scores of the holdout subset."""
    return made["scores"]["by_subset"]["holdout"]


RUN = "/run_outcomes/0/runs/0"
INTERVAL = {
    "method": "bca_task_bootstrap",
    "level": 0.95,
    "resamples": 10000,
    "seed": 1,
    "quantile_rule": "HF7",
    "lower": 0.1,
    "upper": 0.2,
}
FAULTS: dict[str, tuple[Callable[[dict[str, Any]], Any], str, str, str]] = {
    "wrong type": (lambda r: r.update(model=3), "/model", "3 has the wrong type", "a text that is not empty"),
    "text for number": (
        lambda r: run(r).update(s="1"),
        f"{RUN}/s",
        "'1' has the wrong type",
        "a number from 0 to 1",
    ),
    "boolean for integer": (
        lambda r: run(r).update(actions=True),
        f"{RUN}/actions",
        "true has",
        "an integer from 0",
    ),
    "fraction for integer": (
        lambda r: run(r).update(actions=1.5),
        f"{RUN}/actions",
        "1.5 has",
        "an integer from 0",
    ),
    "negative": (lambda r: run(r).update(actions=-1), f"{RUN}/actions", "-1 is too small", "from 0 to"),
    "above one": (lambda r: run(r).update(s=1.5), f"{RUN}/s", "1.5 is too large", "from 0 to 1"),
    "huge integer": (
        lambda r: run(r).update(tokens_in=10**400),
        f"{RUN}/tokens_in",
        "1000000000",
        "an integer from 0 to 9223372036854775807",
    ),
    "integer over 64 bits": (
        lambda r: run(r).update(tokens_in=2**63),
        f"{RUN}/tokens_in",
        "is too large",
        "to 922",
    ),
    "huge integer for number": (
        lambda r: run(r).update(amount=10**400),
        f"{RUN}/amount",
        "is too large",
        "to 922",
    ),
    "number over floating point": (
        lambda r: run(r).update(amount=float("inf")),
        f"{RUN}/amount",
        "a number beyond 64-bit floating point is too large",
        "a number from 0",
    ),
    "seed over 64 bits": (
        lambda r: holdout(r).update(task_pass_rate_ci=INTERVAL | {"seed": 2**64}),
        "/scores/by_subset/holdout/task_pass_rate_ci/seed",
        "18446744073709551616 is too large",
        "to 18446744073709551615",
    ),
    "far below zero": (
        lambda r: holdout(r).update(task_pass_rate_ci=INTERVAL | {"lower": -(10**400)}),
        "/scores/by_subset/holdout/task_pass_rate_ci/lower",
        "is too small",
        "from -9223372036854775807",
    ),
    "unknown field, near": (
        lambda r: r.update(modle="m"),
        "/modle",
        "unknown field",
        "did you mean 'model'?",
    ),
    "unknown field, far": (
        lambda r: r["submitted_by"].update(zzz=1),
        "/submitted_by/zzz",
        "unknown field",
        "remove it; known are org, contact, verified",
    ),
    "misspelt field": (
        lambda r: r.update(harnes=r.pop("harness")),
        "/harnes",
        "unknown field",
        "did you mean 'harness'?",
    ),
    "unknown name": (
        lambda r: holdout(r).update(veto_by_category={"unsafe_advise": 1}),
        "/scores/by_subset/holdout/veto_by_category/unsafe_advise",
        "unknown name",
        "did you mean 'unsafe_advice'?",
    ),
    "missing field": (lambda r: r.pop("run_mode"), "", "'run_mode' is missing", "one of site_run, submitted"),
    "missing by reference": (
        lambda r: holdout(r).pop("exam"),
        "/scores/by_subset/holdout",
        "'exam'",
        "an object with",
    ),
    "unknown value": (
        lambda r: r.update(verification_state="site-verified"),
        "/verification_state",
        "'site-verified' is not known",
        "did you mean 'site_verified'?",
    ),
    "constant": (
        lambda r: r["run_conditions"].update(allow_internet=True),
        "/run_conditions/allow_internet",
        "true",
        "false",
    ),
    "form": (
        lambda r: r.update(benchmark_version="1.0"),
        "/benchmark_version",
        "'1.0' does not have",
        r"^\d+\.\d+\.\d+$",
    ),
    "line break after form": (
        lambda r: r.update(harness_version="1.0.0\n"),
        "/harness_version",
        r"'1.0.0\n'",
        "form",
    ),
    "other digits": (
        lambda r: r.update(harness_version="١.٠.٠"),
        "/harness_version",
        "does not have",
        "form",
    ),
    "no such day": (
        lambda r: r["run_window"].update({"from": "2026-02-29"}),
        "/run_window/from",
        "'2026-02-29'",
        "2026-01-31",
    ),
    "time without zone": (
        lambda r: r.update(created_at="2026-01-01T00:00:00"),
        "/created_at",
        "'2026",
        "with its zone",
    ),
    "empty text": (lambda r: r.update(model=""), "/model", "the text is empty", "not empty"),
    "two runs": (
        lambda r: r["run_outcomes"][0]["runs"].pop(),
        "/run_outcomes/0/runs",
        "2 entries",
        "exactly 3 entries",
    ),
    "no task": (lambda r: r.update(run_outcomes=[]), "/run_outcomes", "0 entries", "at least 1 entry"),
    "no subset": (
        lambda r: r["scores"].update(by_subset={}),
        "/scores/by_subset",
        "0 entries",
        "calib, dev, holdout",
    ),
    "veto twice": (
        lambda r: run(r).update(veto_categories=["unsafe_advice"] * 2),
        f"{RUN}/veto_categories",
        "an entry occurs twice",
        "no entry occurs twice",
    ),
    "error, unknown attribution": (
        lambda r: run(r).update(error={"attribution": "modle", "kind": "other"}),
        f"{RUN}/error/attribution",
        "'modle' is not known",
        "did you mean 'model'?",
    ),
    "error, unknown field": (
        lambda r: run(r).update(error={"attribution": "model", "kind": "other", "note": ""}),
        f"{RUN}/error/note",
        "unknown field",
        "known are attribution, kind",
    ),
    "error, text": (
        lambda r: run(r).update(error="x"),
        f"{RUN}/error",
        "'x'",
        "null or an object with attribution, kind",
    ),
    "cost per success": (
        lambda r: r["scores"].update(
            dimensions={"m3_efficiency": {"action_definition": "a", "cost_per_success": "n/a"}}
        ),
        "/scores/dimensions/m3_efficiency/cost_per_success",
        "'n/a' is not allowed",
        "or 'not_available'",
    ),
    "cost per success below zero": (
        lambda r: r["scores"].update(
            dimensions={"m3_efficiency": {"action_definition": "a", "cost_per_success": -1}}
        ),
        "/scores/dimensions/m3_efficiency/cost_per_success",
        "-1 is too small",
        "from 0",
    ),
    "cost without currency": (
        lambda r: r.update(cost={"amount_applicable": True, "amount": 1, "price_table_version": "1"}),
        "/cost",
        "'currency' is missing, which amount_applicable: true demands",
        "add amount, currency, price_table_version, or set amount_applicable to false",
    ),
    "amount where not applicable": (
        lambda r: r.update(cost={"amount_applicable": False, "amount": 1}),
        "/cost",
        "amount_applicable is not true, but an amount or a price table is given",
        "leave amount and price_table_version out",
    ),
    "cost switch of wrong type": (
        lambda r: r.update(cost={"amount_applicable": 1, "amount": 1}),
        "/cost/amount_applicable",
        "1 has the wrong type",
        "true or false",
    ),
    "verified without review": (
        lambda r: r.pop("review_record"),
        "",
        "'review_record' is missing, which verified_by_site: true demands",
        "add review_record, verification_note, or set verified_by_site to false",
    ),
}


@pytest.mark.parametrize(("change", "place", "wrong", "remedy"), FAULTS.values(), ids=FAULTS)
def test_fault_names_place_wrong_and_right(change, place, wrong, remedy):
    """Each way to leave the schema is told with its pointer, what is wrong and what would be right."""
    made = copy.deepcopy(record())
    change(made)
    found = fault(made)
    assert found is not None
    assert found.pointer == place
    assert wrong in found.wrong
    assert remedy in found.remedy
    assert (found.wrong + found.remedy).isprintable()


@pytest.mark.parametrize("document", [None, [], 3, "text", True, 1.5, {}])
def test_other_documents_are_told_by_their_type(document):
    """JSON that is no record at all has a fault at the root."""
    found = fault(document)
    assert found is not None
    assert found.pointer == ""


def test_an_unknown_field_is_told_before_other_faults():
    """A misspelt name explains other faults and comes first, what a field demands of another last."""
    made = record(model=3)
    made["submitted_by"]["zzz"] = 1
    del made["run_mode"], made["review_record"]
    told = []
    for repair in (
        lambda: made["submitted_by"].pop("zzz"),
        lambda: made.update(model="m"),
        lambda: made.update(run_mode="site_run"),
    ):
        found = fault(made)
        assert found is not None
        told.append((found.pointer, found.more))
        repair()
    assert told == [("/submitted_by/zzz", 3), ("/model", 2), ("", 1)]
    last = fault(made)
    assert last is not None
    assert "'review_record' is missing" in last.wrong


def test_fault_counts_the_others():
    """The fault that is named comes with the number of the others."""
    found = fault(record(model=3, harness=4, run_mode="x"))
    assert found is not None
    assert (found.pointer, found.more) == ("/harness", 2)


@pytest.mark.parametrize(
    "value", ["a" * 10_000, "line\nbreak\x00\x1b[31m\u202e", 10**4000, {"a": 1}, [1], float("inf"), "\ud800"]
)
def test_untrusted_values_are_quoted_short_and_printable(value):
    """Whatever a value holds, its quotation is one short printable line."""
    assert quoted(value).isprintable()
    assert len(quoted(value)) <= 130


def test_pointer_escapes_and_cuts():
    """A pointer escapes ~ and / as RFC 6901 says, and signs that do not print."""
    assert pointer(["a~b", "c/d", 0, "\n"]) == "/a~0b/c~1d/0/\\n"
    assert len(pointer(["x" * 10_000])) < 70
    assert printable("déjà\u2028") == "déjà\\u2028"


def test_near_names_are_printable():
    """Neither the name that is near nor the list of all brings a control character into a message."""
    assert near("figure", ["figures", "x"]) == "did you mean 'figures'?"
    assert near("figure", ["figure\x07"]) == "did you mean 'figure\\x07'?"
    assert near("zzz", ["a\n", 4], "there are") == "there are a\\n, 4"
    assert len(near("x" * 100_000, ["x" * 59])) < 100
