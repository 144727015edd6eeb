"""A tensor of 10 million values as the tensors page asks for it: the first rectangle of its table, its statistics."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Figure, anonymous_rss, in_fresh_process

SHAPE = (10_000, 1_000)
ASK = "run=large&tag=weights"


def figures(times: int) -> list[Figure]:
    """Measure the response times of the test client; only the decoded tensor is cached."""
    runs = in_fresh_process("benchmarks.tables", "measure", times=times)
    note = f"{runs[0]['mb']:,.0f} MB of RSS at the end"
    return [
        Figure("tensor of 10M values: facts and first rectangle, decoding included", "CPU ms", 50.0, _of(runs, "first")),
        Figure("tensor of 10M values: any rectangle of its table", "CPU ms", 50.0, _of(runs, "rectangle")),
        Figure("tensor of 10M values: statistics", "CPU ms", 300.0, _of(runs, "statistics"), note),
        Figure("difference of two of 10M values: any rectangle", "CPU ms", 50.0, _of(runs, "compared")),
        Figure("difference of two of 10M values: statistics", "CPU ms", 300.0, _of(runs, "difference")),
        Figure("tensor of 10M values: the last value is the next NaN", "CPU ms", 100.0, _of(runs, "bad")),
    ]


def _of(runs: list[dict[str, float]], name: str) -> tuple[float, ...]:
    return tuple(run[name] for run in runs)


def measure() -> dict[str, float]:
    """Median CPU milliseconds of each request in this process."""
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder) / "large")
        client = _client(folder)
        first = _ms(client, f"tensor-about?{ASK}", 1) + _ms(client, f"tensor?{ASK}&rows=0:128&cols=0:64", 1)
        return {
            "first": first,
            "rectangle": _ms(client, f"tensor?{ASK}&rows=8960:9088&cols=448:512", 9),
            "statistics": _ms(client, f"tensor-statistics?{ASK}", 5),
            "compared": _ms(client, f"tensor?{ASK}&rows=8960:9088&cols=448:512&minus_step=1", 5),
            "bad": _ms(client, f"tensor-bad?{ASK}", 5),
            "difference": _ms(client, f"tensor-statistics?{ASK}&minus_step=1", 3),
            "mb": anonymous_rss(),
        }


def _write(folder: Path) -> None:
    from parsers.recording import EventWriter, Tensor

    folder.mkdir()
    values = np.random.default_rng(1).standard_normal(SHAPE, np.float32)
    with EventWriter(str(folder / "events.out.events.summary.1700000000.0.host_MS"), "mindspore") as writer:
        writer.add(1, {"weights": Tensor(values)})
        values[-1, -1] = np.nan
        writer.add(2, {"weights": Tensor(values)})


def _client(folder: str) -> Any:
    from app import create_app
    from app.store.store import Store

    store = Store([folder], interval=0).start()
    store.wait(60)
    return create_app(store).server.test_client()


def _ms(client: Any, path: str, times: int) -> float:
    spent = []
    for _ in range(times):
        begun = time.process_time()
        answer = client.get(f"/api/{path}")
        spent.append((time.process_time() - begun) * 1e3)
        if answer.status_code != 200 or (answer.is_json and answer.json.get("problem")):
            raise RuntimeError(f"{path}: {answer.status} {answer.text[:200]}")
    return statistics.median(spent)


if __name__ == "__main__":
    print(json.dumps({"measure": measure}[sys.argv[1]]()))
