"""Reading and validating a record set, against the standard library with jsonschema, and orjson alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import jsonschema
import orjson

from benchmarks.made import write_set
from benchmarks.ratios import Ratio, best, in_turn
from medgauge_lib.records import read_records
from medgauge_lib.schema import schema

N_ROWS, N_TASKS = 38, 127
N_SLOW = 2


def ratios() -> Iterator[Ratio]:
    """Compare a whole read, which ends in the two tables, with parsing and validating alone."""
    with TemporaryDirectory() as folder:
        files = sorted(write_set(Path(folder) / "set", n_rows=N_ROWS, n_tasks=N_TASKS).iterdir())
        size = sum(file.stat().st_size for file in files) / 2**20
        validator = jsonschema.Draft202012Validator(
            schema(), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
        )

        def ours() -> None:
            read_records(files)

        def parsed() -> list[object]:
            return [orjson.loads(file.read_bytes()) for file in files]

        def validated() -> None:
            for file in files[:N_SLOW]:
                validator.validate(json.loads(file.read_bytes()))

        name = f"reading {N_ROWS} × {N_TASKS} ({size:.1f} MiB), against "
        whole, parsing = in_turn(ours, parsed, repeats=25)
        slow = best(validated, repeats=1) * N_ROWS / N_SLOW
        yield Ratio(name + f"json and jsonschema (on {N_SLOW} of the files)", whole, slow, at_least=20)
        yield Ratio(name + "orjson.loads alone", whole, parsing, at_most=4)
