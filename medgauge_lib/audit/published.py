"""The published figures of a record, one by one, each beside what was recomputed for it.

A figure is a number, a word, a list of letters or a whole interval under ``scores``, ``board``, ``cost``,
``failure_attribution`` or ``closed_checkpoint_detail``. Nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from medgauge_lib.audit.recomputed import NO_TASK, Tree, Value
from medgauge_lib.checks import decimals_of
from medgauge_lib.records import Place, Published

BLOCKS = ("scores", "board", "cost", "failure_attribution", "closed_checkpoint_detail")
"""Blocks of a record that hold published figures."""

CLOSED: tuple[tuple[str, str, str], ...] = (
    ("scores/veto_hits/*", "hits by constraint are counted per checkpoint", ""),
    ("scores/assertion_veto_hits/*", "hits by constraint are counted per checkpoint", ""),
    ("scores/by_subset/*/compliance_rate", "which checkpoints are about compliance is closed", ""),
    (
        "scores/by_subset/*/by_difficulty_class/*/*",
        "the class of a task is closed; recomputed where labels are given",
        "classes add up to the subset, counts are whole",
    ),
    ("scores/dimensions/m3_efficiency/action_ratio/*", "the reference solutions are closed", ""),
    ("scores/dimensions/m3_efficiency/amount_ratio/*", "the reference solutions are closed", ""),
    ("scores/dimensions/m5_optimality/*", "the order of actions is closed", ""),
    (
        "scores/dimensions/m7_quality_control/defect_recall",
        "defects are counted per checkpoint",
        "F1 follows from precision and recall",
    ),
    (
        "scores/dimensions/m7_quality_control/defect_precision",
        "defects are counted per checkpoint",
        "F1 follows from precision and recall",
    ),
    (
        "scores/dimensions/m7_quality_control/defect_f1_task_equal",
        "defects are counted per checkpoint",
        "",
    ),
    ("scores/dimensions/m7_quality_control/self_check_rate", "trajectories are closed", ""),
    ("scores/dimensions/m7_quality_control/traceability_rate", "trajectories are closed", ""),
    ("scores/dimensions/m7_quality_control/evidence_error_rate", "trajectories are closed", ""),
    ("scores/dimensions/m7_quality_control/by_defect_class_recall/*", "defect classes are closed", ""),
    ("scores/dimensions/m8_exploration/*", "which points can be decided is closed", ""),
    (
        "scores/dimensions/m9_auditability/regrade_agreement",
        "grading again is the closed side's",
        "it must be 1",
    ),
    ("scores/dimensions/m9_auditability/trajectory_completeness", "trajectories are closed", ""),
    (
        "scores/dimensions/m9_auditability/env_delta/signed",
        "runs in the other environment are not in the record",
        "its size is published beside it",
    ),
    (
        "scores/dimensions/m10_robustness/robustness_gap/signed",
        "runs of the variants are not in the record",
        "its size is published beside it",
    ),
    ("scores/dimensions/m10_robustness/flip_rate", "runs of the variants are not in the record", ""),
    ("scores/dimensions/m10_robustness/n_pairs", "runs of the variants are not in the record", ""),
    ("scores/dimensions/m10_robustness/mcnemar/b", "runs of the variants are not in the record", ""),
    ("scores/dimensions/m10_robustness/mcnemar/c", "runs of the variants are not in the record", ""),
    ("scores/dimensions/m10_robustness/paired_bootstrap/*", "runs of the variants are not in the record", ""),
    (
        "failure_attribution/*",
        "the reason is the verifier's",
        "reasons add up to the failed runs",
    ),
    ("closed_checkpoint_detail/*", "it describes the closed detail", ""),
)
"""Figures that only the closed side can recompute: a path, why, and what holds them nonetheless.

``*`` stands for one step; the first pattern that fits counts.
"""

STATED = ("seed", "level", "resamples")
"""Fields of an interval that say how it was made; the interval is recomputed with them."""


class FigurePair(NamedTuple):
    """One published figure, and what was recomputed for it.

    Attributes
    ----------
    path : tuple
        Place in the record.
    published : object
        What the record says.
    exact : Value
        The exact value, or why there is none.
    """

    path: Place
    published: Any
    exact: Value


def pairs_of(tree: Tree, published: Published) -> Iterator[FigurePair]:
    """Published figures that have a recomputed counterpart, in the order of the tree.

    A count that the record leaves out is published as 0 where its block is there. The date of the board is
    no figure: it may be given.
    """
    scores: Any = tree["scores"]
    without = {
        subset: {name: NO_TASK for name in block if closed(("scores", "by_subset", subset, name)) is None}
        | {"n": 0, "n_runs": 0}
        for subset, block in published["scores"]["by_subset"].items()
        if subset not in scores["by_subset"]
    }
    subsets = scores["by_subset"] | without
    yield from _together(tree | {"scores": scores | {"by_subset": subsets}}, published, ())


def _together(tree: Mapping[str, Any], published: Mapping[str, Any], path: Place) -> Iterator[FigurePair]:
    for name, exact in tree.items():
        here = (*path, name)
        if here == ("board", "as_of"):
            continue
        if name not in published:
            if path and path[-1] in ("errors", "veto_by_category") and exact:
                yield FigurePair(here, 0, exact)
        elif isinstance(exact, Mapping):
            yield from _together(exact, published[name], here)
        else:
            yield FigurePair(here, published[name], exact)


def numbers(value: Any, path: Place = ()) -> Iterator[tuple[Place, float | int]]:
    """Numbers inside a value with their paths, in the order of the file."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from numbers(inner, (*path, name))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from numbers(inner, (*path, place))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


@lru_cache(maxsize=4096)
def closed(path: Place) -> tuple[str, str] | None:
    """Why only the closed side can recompute a figure, and what holds it nonetheless; None where runs do.

    Examples
    --------
    >>> closed(("failure_attribution", "missed"))
    ("the reason is the verifier's", 'reasons add up to the failed runs')
    >>> closed(("scores", "n_tasks_total"))
    """
    for pattern, why, held in CLOSED:
        steps = pattern.split("/")
        if len(steps) == len(path) and all(
            step in ("*", part) for step, part in zip(steps, path, strict=True)
        ):
            return why, held
    return None


class Digits:
    """Decimals of the published numbers of one record, as they stand in its file.

    Parameters
    ----------
    texts : mapping of path to int
        Decimals of the numbers that the file writes with zeros at their end.
    shares : iterable of float
        Published shares; the finest of them says how many decimals a share of 0 or 1 has.
    """

    def __init__(self, texts: Mapping[Place, int], shares: Mapping[Place, float]) -> None:
        self._texts = texts
        self._bare = {path for path, share in shares.items() if share in (0, 1) and path not in texts}
        fine = [self.shown(path, share) for path, share in shares.items() if path not in self._bare]
        self._finest = max(fine, default=0)

    def shown(self, path: Place, number: float) -> int:
        """Decimals of a number by its text."""
        return self._texts.get(path, decimals_of(number))

    def of(self, path: Place, number: float) -> int:
        """Decimals of a number; 0 and 1 say none of their own, since a writer drops zeros."""
        return max(self._finest, self.shown(path, number)) if path in self._bare else self.shown(path, number)
