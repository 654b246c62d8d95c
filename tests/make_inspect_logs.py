"""Real Inspect logs by its mock model, without a network: ``python make_inspect_logs.py FOLDER``.

Task ``tiny`` in version 2 with four epochs, once as ``.eval`` and once as ``.json``, each in a folder of its
own. Sample ``right`` is always right, ``wrong`` never, ``parts`` has the second part of its score right in
epoch 1 only, ``breaks`` ends in an error in epoch 2, ``slow`` meets its time limit in epoch 3.
"""

from __future__ import annotations

import sys
from pathlib import Path

from inspect_ai import Task, eval  # noqa: A004 - the library's own name
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, accuracy, match, scorer
from inspect_ai.solver import solver


@solver
def flaky():
    """Answer, break in one epoch, run out of time in another."""

    async def solve(state, generate):
        from anyio import sleep
        from inspect_ai.util import LimitExceededError

        if (state.sample_id, state.epoch) == ("breaks", 2):
            raise RuntimeError("Max turns (100) exceeded")
        state = await generate(state)
        if (state.sample_id, state.epoch) == ("slow", 3):
            await sleep(0)
            raise LimitExceededError("time", value=3.0, limit=2.0)
        return state

    return solve


@scorer(metrics={"*": [accuracy()]})
def parts():
    """Score two parts, of which the second is right in the first epoch or for every other sample."""

    async def score(state, target):
        second = state.sample_id != "parts" or state.epoch == 1
        return Score(value={"first": "C", "second": 1 if second else 0.5})

    return score


def answer(*_):
    """Answer every question alike, with usage, since counting it would ask for a file from the network."""
    output = ModelOutput.from_content(model="mock-2026-01-01", content="yes")
    output.usage = ModelUsage(input_tokens=5, output_tokens=2, total_tokens=10, input_tokens_cache_read=3)
    return output


def main(folder: Path) -> None:
    """Write the logs."""
    task = Task(
        dataset=[
            Sample(id=name, input="?", target="no" if name == "wrong" else "yes")
            for name in ("right", "wrong", "parts", "breaks", "slow")
        ],
        solver=flaky(),
        scorer=[match(location="any"), parts()],
        name="tiny",
        version=2,
        epochs=4,
        fail_on_error=False,
    )
    for layout in ("eval", "json"):
        model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
        eval(task, model=model, log_dir=str(folder / layout), log_format=layout, display="none")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
