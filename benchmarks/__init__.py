"""Speed and memory as ratios within one run: ``python -m benchmarks``; docs/benchmarks.md explains it.

Linear algebra is held to one thread, on both sides alike: two threads on a busy machine measure the machine.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
