"""The cost of logs of other programs: CPU seconds until a million rows of metrics.csv and of mlflow.db, and 100,000 rows of
five values of a .wandb file, are series. That of the process that reads the database is included.

`python -m benchmarks.loggers` prints one measurement.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.measure import Figure, in_fresh_process

ROWS = 1_000_000
RECORDS = 100_000
_BOUNDS = {"metrics.csv": 1.0, "mlflow.db": 1.5, "run-a.wandb": 1.2}


def figures(times: int) -> list[Figure]:
    """Measure each format."""
    found = in_fresh_process("benchmarks.loggers", times=times)
    return [
        Figure(f"{name} into series", "CPU s", bound, tuple(each[name] for each in found)) for name, bound in _BOUNDS.items()
    ]


def one() -> dict[str, float]:
    """CPU seconds by name of a file."""
    from parsers.mlflow.database import MLFLOW_RUN
    from parsers.profiler.database_processes import PROCESSES
    from parsers.tables.csv_tables import CSV_TABLES
    from parsers.wandb.reader import WANDB
    from tests.writers.mlflow import write_database
    from tests.writers.wandb import history, wandb_file

    def from_database() -> None:
        MLFLOW_RUN.read(str(folder / "mlflow.db" / "a1"))
        PROCESSES.close()

    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        lines = (f"{row // 1000},{value},{row}\n" for row, value in enumerate(random.random(ROWS).tolist()))
        (folder / "metrics.csv").write_text("epoch,loss,step\n" + "".join(lines))
        write_database(folder / "mlflow.db", {"a1": 0.5}, ROWS)
        values = random.random((RECORDS, 5)).tolist()
        rows = ({"_step": row, **{f"m{place}": one for place, one in enumerate(found)}} for row, found in enumerate(values))
        (folder / "run-a.wandb").write_bytes(wandb_file(map(history, rows)))
        return {
            "metrics.csv": _cpu(lambda: CSV_TABLES.read(str(folder / "metrics.csv"))),
            "mlflow.db": _cpu(from_database),
            "run-a.wandb": _cpu(lambda: WANDB.read(str(folder / "run-a.wandb"))),
        }


def _cpu(work: Callable[[], object]) -> float:
    """CPU seconds of a piece of work and of the processes that end in it."""
    begun = os.times()
    work()
    return sum(os.times()[:4]) - sum(begun[:4])


if __name__ == "__main__":
    print(json.dumps(one()))
