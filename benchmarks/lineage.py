"""The server's cost of a thousand runs with thirty columns on the lineage pages: tables, axes, importance and shares."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

from benchmarks.measure import Figure, in_fresh_process

RUNS, COLUMNS = 1_000, 30
BOUND_MS = 300.0
REFITS = 40
_PARAMETERS = 30


def figures(times: int) -> list[Figure]:
    """Table and figure, from the rows in memory to the text that is sent."""
    results = in_fresh_process("benchmarks.lineage", times=times)
    note = f"{RUNS:,} runs, {COLUMNS} columns"
    explained = in_fresh_process("benchmarks.lineage", "target", times=times)
    return [
        Figure("model lineage: table and axes, the first time", "CPU ms", BOUND_MS, tuple(r["both"] for r in results), note),
        Figure("model lineage: axes again, another colour", "CPU ms", BOUND_MS, tuple(r["again"] for r in results)),
        Figure(
            "data lineage: pipelines aligned, table and axes", "CPU ms", BOUND_MS, tuple(r["pipelines"] for r in results),
            f"{RUNS:,} runs, all pipelines different, {_PARAMETERS} columns or more",
        ),
        Figure("optimisation: |r| and Spearman with intervals", "CPU ms", 500.0, tuple(r["strengths"] for r in explained)),
        Figure("optimisation: the page's answer, all of it", "CPU ms", 1_000.0, tuple(r["sheet"] for r in explained)),
        Figure("optimisation: chart and pairs of a setting", "CPU ms", 300.0, tuple(r["chart"] for r in explained)),
        Figure("optimisation: shares", "CPU s", 15.0, tuple(r["shares"] for r in explained), f"{REFITS} refits"),
    ]


def measure() -> dict[str, float]:
    """CPU milliseconds of the first table and figure, and of a second figure."""
    import msgspec

    from layouts.lineage.asks import AxesRequest
    from layouts.lineage.drawing import drawing, sheet
    from layouts.lineage.model_columns import COLUMNS as ABOUT
    from layouts.lineage.table import LineageTable
    from parsers import lineage_frame

    rows = _rows()
    begun = time.process_time()
    table = LineageTable(rows, lineage_frame(rows), ABOUT)
    sent = sheet(table)
    names = [column["name"] for column in sent["columns"] if column["axis"]][:COLUMNS]
    drawn = drawing(table, AxesRequest.read({"col": names, "log": ["learning_rate"], "colour": ["metric/accuracy"]}), {})
    msgspec.json.encode([sent, drawn])
    both = (time.process_time() - begun) * 1e3
    begun = time.process_time()
    msgspec.json.encode(drawing(table, AxesRequest.read({"col": names, "colour": ["optimizer"]}), {}))
    if len(sent["columns"]) != COLUMNS:
        raise RuntimeError(f"wanted {COLUMNS} columns, got {len(sent['columns'])}")
    again = (time.process_time() - begun) * 1e3
    return {"both": both, "again": again, "pipelines": _pipelines()}


def _pipelines() -> float:
    """CPU milliseconds from a thousand pipelines in memory to the text that is sent."""
    import msgspec

    from layouts.lineage.asks import AxesRequest
    from layouts.lineage.drawing import drawing, sheet
    from layouts.lineage.pipeline_columns import Pipelines, side_by_side
    from parsers import DatasetGraph

    random = np.random.default_rng(2)
    graphs = [DatasetGraph(_pipeline(random, number)) for number in range(RUNS)]
    found = Pipelines({graph.mark: graph for graph in graphs}, [(f"run{n}", graph.mark) for n, graph in enumerate(graphs)])
    begun = time.process_time()
    table = side_by_side(found, ())
    sent = sheet(table)
    names = [column["name"] for column in sent["columns"] if column["axis"]]
    if len(found.graphs) != RUNS or len(names) < _PARAMETERS:
        raise RuntimeError(f"wanted {RUNS} pipelines and {_PARAMETERS} columns, got {len(found.graphs)} and {len(names)}")
    msgspec.json.encode([sent, drawing(table, AxesRequest.read({"col": names[:_PARAMETERS]}), {})])
    return (time.process_time() - begun) * 1e3


def _pipeline(random: Any, number: int) -> Any:
    """A pipeline of images, of which some have an operation or a branch more than others."""
    from parsers import DatasetNode, DatasetOperation

    def node(name: str, kind: str, *children: Any, operations: Any = (), sampler: Any = None, **told: Any) -> Any:
        return DatasetNode(name, name, kind, told, operations, sampler, children)

    operations = [
        DatasetOperation("Resize", {"size": [32, 32], "interpolation": int(random.integers(3))}),
        DatasetOperation("Rescale", {"rescale": float(random.random()), "shift": 0.0}), DatasetOperation("HWC2CHW", {}),
    ]  # fmt: skip
    sampler = DatasetOperation("RandomSampler", {"num_samples": int(random.integers(10_000)), "replacement": False})
    data = node("MnistDataset", "create", usage="train", num_shards=8, shard_id=number % 8, sampler=sampler)
    data = node("Map", "map", data, operations=tuple(operations[: 1 + number % 3]), input_columns=['"image"'],
                num_parallel_workers=int(random.integers(8)))  # fmt: skip
    if number % 4 == 0:
        data = node("Skip", "operator", data, count=number % 9)
    data = node("Shuffle", "shuffle", data, buffer_size=int(random.integers(10_000)))
    if number % 5 == 0:
        data = node("Zip", "operator", data, node("NumpySlicesDataset", "create", num_samples=number))
    data = node("Batch", "batch", data, batch_size=2 ** int(random.integers(3, 9)), drop_remainder=bool(number % 2),
                num_parallel_workers=int(random.integers(8)))  # fmt: skip
    return node("Repeat", "repeat", data, count=int(random.integers(5)))


def measure_target() -> dict[str, float]:
    """CPU time of strengths, of the page's first answer, of a chart, and of shares with all its refits."""
    import msgspec

    from app.store.store import Store
    from layouts.lineage.model_columns import COLUMNS as ABOUT
    from layouts.lineage.optimisation.asks import ExplanationRequest
    from layouts.lineage.optimisation.drawing import over_setting
    from layouts.lineage.optimisation.explained import choose, pairs, sheet
    from layouts.lineage.table import LineageTable
    from parsers import lineage_frame
    from parsers.analysis import importance, variance_shares

    rows = _rows()
    table = LineageTable(rows, lineage_frame(rows), ABOUT)
    chosen = choose(Store(), table, ExplanationRequest("metric/accuracy", "", "", ""))
    begun = time.process_time()
    importance(chosen.frame, chosen.target)
    strengths = (time.process_time() - begun) * 1e3
    begun = time.process_time()
    msgspec.json.encode(sheet(chosen, [], len(chosen.rows)))
    whole = (time.process_time() - begun) * 1e3
    begun = time.process_time()
    setting = "learning_rate"
    figure = over_setting(chosen.rows, chosen.frame, setting, chosen.target, {}, log=None)
    msgspec.json.encode([figure, pairs(chosen, setting)])
    chart = (time.process_time() - begun) * 1e3
    begun = time.process_time()
    *_, last = variance_shares(chosen.frame, chosen.target)
    shares = time.process_time() - begun
    if last.refits != REFITS:
        raise RuntimeError(f"wanted {REFITS} refits, got {last.refits}")
    return {"strengths": strengths, "sheet": whole, "chart": chart, "shares": shares}


def _rows() -> tuple[Any, ...]:
    from parsers import LineageRow

    random = np.random.default_rng(1)
    rows = []
    for number in range(RUNS):
        settings: dict[str, Any] = {
            "optimizer": ("Adam", "SGD", "Momentum")[number % 3], "learning_rate": float(10 ** random.uniform(-5, 0)),
            "epoch": int(random.integers(1, 100)), "batch_size": 2 ** int(random.integers(3, 9)),
            "loss": float(random.random()), "metric/accuracy": float(random.random()), "network": f"net{number % 7}",
        }  # fmt: skip
        settings |= {f"user_defined/float{n}": float(random.random()) for n in range(11)}
        settings |= {f"user_defined/text{n}": f"choice {random.integers(0, 20)}" for n in range(11)}
        if number % 10 == 0:
            del settings["user_defined/text1"], settings["user_defined/float1"]
        rows.append(LineageRow(f"group{number % 20}/run{number}", f"/runs/{number}", settings, {}))
    return tuple(rows)


if __name__ == "__main__":
    json.dump(measure_target() if "target" in sys.argv else measure(), sys.stdout)
