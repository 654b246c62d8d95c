"""The result record's schema, and the first fault of a document in words.

`result.schema.json` is the project's own schema file (JSON Schema 2020-12). Reading holds a document to one
thing more: numbers that fit the machine's 64-bit types, so that no later step can overflow on a record.
Values of a document are untrusted text: `quoted` and `pointer` keep them on one line, printable and short.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable, Mapping, Sequence, Sized
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, cast

import jsonschema_rs

from medgauge_lib.errors import printable

LARGEST = 2**63 - 1
LARGEST_SEED = 2**64 - 1
_SHOWN = 60
_NAMED = 4
_TYPES = {
    "object": "an object",
    "array": "an array",
    "string": "a text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_FORMATS = {
    "date": "a date of the calendar such as 2026-01-31",
    "date-time": "a date and time with its zone such as 2026-01-31T12:00:00Z",
}


class Fault(NamedTuple):
    """The fault of a document that is named first.

    Attributes
    ----------
    pointer : str
        Place in the document as a JSON pointer (RFC 6901).
    wrong, remedy : str
        What is wrong, and what would be right.
    more : int
        How many more faults there are.
    """

    pointer: str
    wrong: str
    remedy: str
    more: int


def schema() -> dict[str, Any]:
    """Return the project's schema of a result record.

    Examples
    --------
    >>> schema()["properties"]["model"]["type"]
    'string'
    """
    return cast(
        dict[str, Any], json.loads(files(__package__).joinpath("result.schema.json").read_text("utf-8"))
    )


def fault(document: object) -> Fault | None:
    """Return the most telling fault of a parsed document, None where it fits the schema.

    Parameters
    ----------
    document : object
        What a JSON parser returned.

    Notes
    -----
    Unknown fields come first, since a misspelt name also makes a field missing; then wrong values, missing
    fields, and last what one field demands of another. Within a kind the order is that of the pointers.

    Examples
    --------
    >>> found = fault({"modle": "m-1"})
    >>> found.pointer, found.wrong, found.remedy
    ('/modle', 'unknown field', "did you mean 'model'?")
    """
    if _validator().is_valid(document):
        return None
    faults = sorted(_validator().iter_errors(document), key=_rank)
    place, wrong, remedy = _in_words(faults[0], document)
    return Fault(pointer(place), wrong, remedy, len(faults) - 1)


def pointer(path: Iterable[str | int]) -> str:
    r"""Return the JSON pointer (RFC 6901) of a path, each step printable and cut where it is long.

    Examples
    --------
    >>> pointer(["cost", "a/b\n", 0])
    '/cost/a~1b\\n/0'
    """
    return "".join("/" + _short(printable(str(step).replace("~", "~0").replace("/", "~1"))) for step in path)


def quoted(value: object) -> str:
    r"""Return a document's value for a message: one line, printable, at most some 60 characters.

    Examples
    --------
    >>> quoted("a\nb"), quoted(True), quoted(None), quoted(1.5), quoted([1])
    ("'a\\nb'", 'true', 'null', '1.5', 'an array')
    """
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "an array"
    if isinstance(value, float) and not math.isfinite(value):
        return "a number beyond 64-bit floating point"
    if isinstance(value, str):
        # Cut before repr, so that a long text costs no more than a short one.
        return repr(value) if len(value) <= _SHOWN else repr(value[:_SHOWN])[:-1] + "…'"
    return _short(repr(value))


def near(name: object, known: Iterable[object], otherwise: str = "known are") -> str:
    """Return the way out for a name that is not known: the one that looks like it, or all of them.

    Parameters
    ----------
    name : object
        What was found.
    known : iterable
        What it could have been.
    otherwise : str
        Words before the list of all, where nothing looks like it.

    Examples
    --------
    >>> near("modle", ["model", "harness"]), near("x", ["model", "harness"])
    ("did you mean 'model'?", 'known are model, harness')
    """
    names = [str(option) for option in known]
    close = difflib.get_close_matches(str(name)[:_SHOWN], names, n=1)
    return f"did you mean {quoted(close[0])}?" if close else f"{otherwise} {', '.join(map(printable, names))}"


@cache
def _validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(_fitting_schema(), validate_formats=True)


@cache
def _fitting_schema() -> Any:
    return _fitting(schema())


def _fitting(part: Any, name: str = "") -> Any:
    """Return the schema with the largest number that is read as bound wherever a number has none.

    An integer as bound of fractions too: the validator compares it ten times faster than a large double.
    """
    if isinstance(part, list):
        return [_fitting(item, name) for item in part]
    if not isinstance(part, dict):
        return part
    fitting = {key: _fitting(value, key) for key, value in part.items()}
    if part.get("type") in ("integer", "number"):
        fitting.setdefault("maximum", LARGEST_SEED if name == "seed" else LARGEST)
        fitting.setdefault("minimum", -LARGEST)
    return fitting


def _rank(error: jsonschema_rs.ValidationError) -> tuple[int, list[str]]:
    conditional = "allOf" in error.schema_path
    rank = {"additionalProperties": 0, "propertyNames": 0, "required": 2}.get(error.kind.name, 1)
    # Array positions are padded so that they sort as numbers.
    path = [f"{step:09d}" if isinstance(step, int) else step for step in error.instance_path]
    return 3 if conditional else rank, path


def _in_words(error: jsonschema_rs.ValidationError, document: object) -> tuple[Sequence[str | int], str, str]:
    """Return where, what is wrong and what would be right."""
    path = list(error.instance_path)
    value = _at(document, path)
    rule = _at(_fitting_schema(), list(error.schema_path)[:-1])
    kind, details = error.kind.name, error.kind.as_dict()
    if kind == "additionalProperties":
        name = details["unexpected"][0]
        return [*path, name], "unknown field", near(name, rule["properties"], "remove it; known are")
    if kind == "propertyNames":
        options = details["error"].kind.as_dict()["options"]
        name = next(key for key in value if key not in options)
        return [*path, name], "unknown name", near(name, options, "should be one of")
    if kind == "oneOf":
        inner = _telling(error)
        if inner is not None:
            return _in_words(inner, document)
    if kind == "required":
        return path, *_missing(error, rule)
    if kind == "not":
        return path, *_AMOUNT_NOT_APPLICABLE
    if kind == "enum":
        return path, f"{quoted(value)} is not known", near(value, rule["enum"], "should be one of")
    beyond = isinstance(value, float) and not math.isfinite(value)
    wrong = _WRONG.get("maximum" if beyond else kind, "{value} is not allowed")
    return path, wrong.format(value=quoted(value), n=_length(value)), f"should be {_expected(rule)}"


_AMOUNT_NOT_APPLICABLE = (
    "amount_applicable is not true, but an amount or a price table is given",
    "set amount_applicable to true, or leave amount and price_table_version out",
)


def _missing(error: jsonschema_rs.ValidationError, rule: Mapping[str, Any]) -> tuple[str, str]:
    name = error.kind.as_dict()["property"]
    if "then" not in error.schema_path:
        return f"the field {name!r} is missing", f"add it; it should be {_expected(rule['properties'][name])}"
    condition = "amount_applicable" if "cost" in error.schema_path else "verified_by_site"
    return (
        f"the field {name!r} is missing, which {condition}: true demands",
        f"add {', '.join(rule['required'])}, or set {condition} to false",
    )


def _telling(error: jsonschema_rs.ValidationError) -> jsonschema_rs.ValidationError | None:
    """Return the fault of the alternative that was meant: the one whose type the value has."""
    alternatives: list[list[jsonschema_rs.ValidationError]] = error.kind.as_dict()["context"]
    for alternative in alternatives:
        first = sorted(alternative, key=_rank)[0]
        if len(first.instance_path) > len(error.instance_path) or first.kind.name not in ("type", "const"):
            return first
    return None


_WRONG = {
    "type": "{value} has the wrong type",
    "pattern": "{value} does not have the right form",
    "format": "{value} does not exist or does not have the right form",
    "maximum": "{value} is too large",
    "minimum": "{value} is too small",
    "minLength": "the text is empty",
    "minItems": "has {n} entries",
    "maxItems": "has {n} entries",
    "minProperties": "has {n} entries",
    "uniqueItems": "an entry occurs twice",
}


def _length(value: object) -> int:
    return len(value) if isinstance(value, Sized) else 0


def _expected(rule: Mapping[str, Any]) -> str:
    """Return in words what a part of the schema asks for."""
    if "$ref" in rule:
        return _expected(_at(_fitting_schema(), rule["$ref"].split("/")[1:]))
    if "const" in rule:
        return quoted(rule["const"])
    if "enum" in rule:
        return "one of " + ", ".join(str(option) for option in rule["enum"])
    if "oneOf" in rule:
        return " or ".join(_expected(option) for option in rule["oneOf"])
    if "pattern" in rule:
        return f"a text of the form {rule['pattern']}"
    if "format" in rule:
        return _FORMATS[rule["format"]]
    return _TYPES[rule["type"]] + _bounds(rule)


def _bounds(rule: Mapping[str, Any]) -> str:
    if rule["type"] in ("integer", "number"):
        return f" from {rule['minimum']} to {rule['maximum']}"
    if "minItems" in rule:
        exactly = rule.get("maxItems") == rule["minItems"]
        entries = "entry" if rule["minItems"] == 1 else "entries"
        return f" of {'exactly' if exactly else 'at least'} {rule['minItems']} {entries}"
    if rule.get("uniqueItems"):
        return " in which no entry occurs twice"
    if "minLength" in rule:
        return " that is not empty"
    if "minProperties" in rule:
        return " with at least one of " + ", ".join(rule["properties"])
    if "required" in rule:
        rest = ", …" if len(rule["required"]) > _NAMED else ""
        return " with " + ", ".join(rule["required"][:_NAMED]) + rest
    return ""


def _at(document: Any, path: Iterable[str | int]) -> Any:
    for step in path:
        # The validator tells a key that looks like a number, such as a class of difficulty, as a number.
        document = document[str(step)] if isinstance(document, Mapping) else document[step]
    return document


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
