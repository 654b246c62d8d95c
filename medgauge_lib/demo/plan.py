"""What the demo set holds: two invented benchmarks, their tasks, and the invented subjects that took them.

Everything here is synthetic: models are named after plants, and no subject was run. Chances are whole per
mille and every draw is an integer, so that the set has the same bytes everywhere.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace

EUR = ("EUR", "demo-prices-2026-05")
USD = ("USD", "demo-prices-usd-2026-05")

EVERY_DIMENSION = ("m3", "m5", "m7", "m8", "m9", "m10")


@dataclass(frozen=True)
class Entrant:
    """One invented subject on one benchmark version.

    Attributes
    ----------
    id : str
        Record id.
    model, snapshot, harness, harness_version : str
        Who it is said to be.
    ability : int
        Points above an average task; see `runs.CHANCES`.
    salt : int
        Chosen so that the board shows what a demo must show; part of the key of the random stream.
    spread : int
        Points by which single tasks lie nearer or farther for this subject; little spread, stable tasks.
    lost : int
        Most checkpoints a failing run loses.
    errors, vetoes : int
        Runs in a thousand that end in an error, and that hit a gate.
    waste : int
        Actions in a hundred beyond the reference.
    price : tuple of int or None
        Millionths of the currency for a thousand tokens in, and out; None without amounts.
    prices : tuple of str
        Currency and price table.
    effort : str or None
        Reasoning effort.
    inverted : bool
        Whether hard tasks are the easy ones for this subject.
    usage : bool
        Whether runs carry what they used.
    dimensions : tuple of str
        Dimensions that the record carries.
    verified : bool
        Whether the site verified the record; the others are community records.
    left_out : tuple of int
        Places of tasks that were not run; only a community record may lack some.
    """

    id: str
    model: str
    snapshot: str
    harness: str
    harness_version: str
    ability: int
    salt: int = 0
    spread: int = 4
    lost: int = 3
    errors: int = 20
    vetoes: int = 8
    waste: int = 30
    price: tuple[int, int] | None = None
    prices: tuple[str, str] = EUR
    effort: str | None = None
    inverted: bool = False
    usage: bool = True
    dimensions: tuple[str, ...] = EVERY_DIMENSION
    verified: bool = True
    left_out: tuple[int, ...] = ()


@dataclass(frozen=True)
class Task:
    """One invented task.

    Attributes
    ----------
    key, version, subset : str
        As in a record.
    difficulty : int
        Structural class, 1 to 4.
    hardness : int
        Points to overcome.
    checkpoints : int
        Checkpoints of one run.
    actions : int
        Actions of the reference solution.
    labels : mapping
        Further labels of the closed side; empty where the file gives the class alone.
    """

    key: str
    version: str
    subset: str
    difficulty: int
    hardness: int
    checkpoints: int
    actions: int
    labels: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Void:
    """A task version void for every subject.

    Attributes
    ----------
    task : int
        Place of the task in its benchmark version.
    attribution : str
        ``task`` or ``environment``.
    listed : bool
        Whether the records list it.
    shown_by : str or None
        Record in which a run has an error on the initiative's side.
    """

    task: int
    attribution: str
    listed: bool
    shown_by: str | None


@dataclass(frozen=True, eq=False)
class Version:
    """One benchmark version: how many tasks of each subset and class, which are void, who took them.

    Attributes
    ----------
    benchmark, version : str
        Identity of the benchmark version.
    classes : dict
        Subset to its number of tasks in classes 1, 2, 3 and 4.
    checkpoints : tuple of int
        Fewest and most checkpoints of a task.
    subjects : tuple of Entrant
        Who took it, one record each.
    voids : tuple of Void
        Task versions that count for nobody.
    unlabelled : tuple of int
        Places of the tasks that carry no label.
    """

    benchmark: str
    version: str
    classes: dict[str, tuple[int, int, int, int]]
    checkpoints: tuple[int, int]
    subjects: tuple[Entrant, ...]
    voids: tuple[Void, ...] = ()
    unlabelled: tuple[int, ...] = ()

    def tasks(self) -> tuple[Task, ...]:
        """Tasks in a fixed order: by subset, then by class."""
        slots = [
            (subset, difficulty)
            for subset, counts in self.classes.items()
            for difficulty, count in enumerate(counts, 1)
            for _ in range(count)
        ]
        return tuple(self._task(k, *slot) for k, slot in enumerate(slots))

    def void_tasks(self) -> tuple[tuple[Void, Task], ...]:
        """Void task versions, each with how it became void."""
        tasks = self.tasks()
        return tuple((void, tasks[void.task]) for void in self.voids)

    def _task(self, k: int, subset: str, difficulty: int) -> Task:
        """Make a task from the hash of its place, so that neither key nor order tells its class."""
        digest = hashlib.sha256(f"{self.benchmark} {self.version} task {k}".encode()).digest()
        fewest, most = self.checkpoints
        labels = {
            "setting": SETTINGS[digest[12] % len(SETTINGS)],
            "source": SOURCES[digest[13] % len(SOURCES)],
        }
        return Task(
            key=f"tk-{digest[:12].hex()}",
            version=f"1.{digest[14] % 3}.0",
            subset=subset,
            difficulty=difficulty,
            hardness=(0, 3, 6, 9)[difficulty - 1] + digest[15] % 4,
            checkpoints=fewest + digest[16] % (most - fewest + 1),
            actions=4 + 3 * difficulty + digest[17] % 6,
            labels=labels if digest[18] % 3 == 0 else {},
        )


SETTINGS = ("admission", "ward round", "discharge")
SOURCES = ("chart", "laboratory", "medication list")

ASTER = Entrant("", "demo-model-aster", "2026-05-04", "hx-demo-round", "2.1.0", 14, price=(2500, 12000))
BORAGE = Entrant("", "demo-model-borage", "2026-04-20", "hx-demo-chart", "1.4.2", 10, price=(900, 4500))
CEDAR = Entrant("", "demo-model-cedar", "2026-02-11", "hx-demo-round", "2.1.0", 9, price=(600, 2400))
DILL = Entrant("", "demo-model-dill", "open-weights-3", "hx-demo-plain", "0.9.0", 6, spread=7)
ELDER = Entrant("", "demo-model-elder", "open-weights-1", "hx-demo-plain", "0.9.0", 7, inverted=True)
FENNEL = Entrant(
    "", "demo-model-fennel", "2026-03-30", "hx-demo-chart", "1.4.2", 7, price=(300, 1500), prices=USD
)
GORSE = Entrant("", "demo-model-gorse", "2025-12-01", "hx-demo-plain", "0.9.0", 3, dimensions=(), usage=False)
HAZEL = Entrant(
    "",
    "demo-model-hazel",
    "2025-10-15",
    "hx-demo-plain",
    "0.9.0",
    -99,
    price=(100, 400),
    dimensions=("m3", "m8", "m9"),
)
IRIS = Entrant("", "demo-model-iris", "open-weights-2", "hx-demo-round", "2.1.0", 8, verified=False)

WARD_1_1 = Version(
    "bm-demo-ward",
    "1.1.0",
    {"holdout": (22, 21, 18, 1), "dev": (4, 4, 3, 2), "calib": (3, 2, 1, 0)},
    (3, 9),
    (
        replace(ASTER, id="res-2026-06-10-aster-round", salt=22, ability=99, errors=0, vetoes=0, waste=8),
        replace(
            ASTER,
            id="res-2026-06-10-aster-chart",
            salt=7,
            ability=13,
            harness="hx-demo-chart",
            harness_version="1.4.2",
        ),
        replace(BORAGE, id="res-2026-06-11-borage-chart-high", salt=27, effort="high", waste=45),
        replace(BORAGE, id="res-2026-06-11-borage-chart-low", salt=21, effort="low", ability=7, waste=12),
        replace(CEDAR, id="res-2026-06-12-cedar-round-february"),
        replace(CEDAR, id="res-2026-06-12-cedar-round-june", salt=27, snapshot="2026-06-02", ability=10),
        replace(DILL, id="res-2026-06-13-dill-plain", salt=28),
        replace(ELDER, id="res-2026-06-13-elder-plain", salt=27, vetoes=60),
        replace(FENNEL, id="res-2026-06-14-fennel-chart", salt=19),
        replace(
            FENNEL,
            id="res-2026-06-14-fennel-plain",
            salt=12,
            harness="hx-demo-plain",
            harness_version="0.9.0",
        ),
        replace(GORSE, id="res-2026-06-15-gorse-plain", salt=10, errors=60, lost=2),
        replace(HAZEL, id="res-2026-06-15-hazel-plain", salt=29, errors=150, vetoes=20),
        replace(IRIS, id="res-2026-06-12-iris-round"),
        replace(
            IRIS,
            id="res-2026-06-16-juniper-round",
            model="demo-model-juniper",
            ability=4,
            left_out=(0, 7, 40, 70),
        ),
    ),
    voids=(
        Void(5, "task", True, "res-2026-06-14-fennel-plain"),
        Void(30, "environment", False, "res-2026-06-13-dill-plain"),
        Void(64, "environment", True, None),
    ),
)

WARD_1_0 = Version(
    "bm-demo-ward",
    "1.0.0",
    {"holdout": (14, 12, 8, 6)},
    (3, 7),
    (
        replace(ASTER, id="res-2026-03-05-aster-round", snapshot="2026-01-15", harness_version="2.0.0"),
        replace(BORAGE, id="res-2026-03-05-borage-chart", snapshot="2026-01-08", harness_version="1.3.0"),
        replace(CEDAR, id="res-2026-03-06-cedar-round", harness_version="2.0.0"),
        replace(DILL, id="res-2026-03-06-dill-plain", harness_version="0.8.0"),
        replace(ELDER, id="res-2026-03-07-elder-plain", harness_version="0.8.0"),
        replace(FENNEL, id="res-2026-03-07-fennel-chart", harness_version="1.3.0", prices=EUR),
        replace(GORSE, id="res-2026-03-08-gorse-plain", harness_version="0.8.0", usage=True),
        replace(HAZEL, id="res-2026-03-08-hazel-plain", harness_version="0.8.0", ability=2),
    ),
)

LAB_0_1 = Version(
    "bm-demo-lab",
    "0.1.0",
    {"holdout": (8, 7, 5, 0)},
    (1, 4),
    (
        replace(ASTER, id="res-2026-05-20-aster-round"),
        replace(BORAGE, id="res-2026-05-21-borage-chart", effort="high"),
        replace(CEDAR, id="res-2026-05-22-cedar-round"),
        replace(DILL, id="res-2026-05-23-dill-plain"),
        replace(FENNEL, id="res-2026-05-24-fennel-chart", dimensions=("m3", "m5", "m8")),
    ),
    unlabelled=(3,),
)

VERSIONS = (WARD_1_1, WARD_1_0, LAB_0_1)
"""Boards of the demo, newest first within a benchmark."""
