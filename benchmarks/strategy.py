"""The parallel strategy page with a graph of 10,000 operators: `python -m benchmarks.strategy`."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

from benchmarks.measure import Figure, anonymous_rss, in_fresh_process

OPERATORS, LAYERS = 10_000, 40
FIGURES = (
    ("strategy file of 10,000 operators (31 MB): bytes to frame", "read", "CPU s", 0.7),
    ("its first picture, from the file to the answer", "first", "CPU s", 1.0),
    ("another part shown, a box opened (slower of both)", "shown", "CPU ms", 150.0),
    ("an operator with its strategy in the panel", "panel", "CPU ms", 50.0),
    ("stages of 64 ranks, from such files", "stages", "CPU s", 1.5),
    ("memory of all this, beyond the libraries", "rss", "MB", 300.0),
)


def figures(times: int) -> list[Figure]:
    """Measure each figure against its bound."""
    results = in_fresh_process("benchmarks.strategy", times=times)
    return [Figure(what, unit, bound, tuple(r[name] for r in results)) for what, name, unit, bound in FIGURES]


def content(operators: int = OPERATORS) -> bytes:
    """A file as MindSpore writes it: layers forward, computed again, and backward; every other operator has a strategy."""
    kinds = ("MatMul", "Add", "LayerNorm", "AllReduce", "Reshape", "Transpose", "Softmax", "BatchMatMul", "Mul", "Cast")
    scopes = ("Default/net/{}-Block", "recompute_Default/net/{}-Block", "Gradients/Default/net/{}-Block")
    nodes: list[Any] = []
    parameters: list[Any] = []
    for number in range(operators):
        kind, layer = kinds[number % 10], number // 20
        scope = f"{scopes[layer // LAYERS % 3].format(layer % LAYERS)}/{'mlp' if number // 10 % 2 else 'attention'}"
        taken = [{"name": str(number), "type": "DATA_EDGE"}] if number else []
        if kind == "MatMul":
            parameters.append({"name": f"w{number}", "type": _tensor(1024, 4096)})
            taken.append({"name": f"w{number}", "type": "DATA_EDGE"})
        told = {"stride": [[1, 1], [2, 2]], "pad": [0, 0, 1, 1], "index": [number]}
        if number % 2 == 0:
            told["gen_strategy"] = [[2, 1], [1, 4]]
        inserted = "grad_mirror_w" if scope.startswith("Gradients") else "redistribution_op"
        nodes.append({
            "input": taken, "name": str(number + 1), "opType": kind, "scope": scope,
            "fullName": f"{scope}/{kind}-op{number + 1}",
            "instanceName": inserted if kind == "AllReduce" else "", "outputType": _tensor(4096, 1024),
            "attribute": [{"name": name, "value": _tuple(value)} for name, value in told.items()],
        })  # fmt: skip
    config = {"rankId": 0, "stageId": 0, "parallelType": "auto_parallel", "stageDevices": [
        {"dim": [{"size": str(rank)} for rank in range(first, first + 32)]} for first in (0, 32)
    ]}  # fmt: skip
    return json.dumps({"config": config, "graph": {"node": nodes, "parameters": parameters}}, indent=2).encode()


def _tensor(*shape: int) -> Any:
    dims = {"dim": [{"size": str(size)} for size in shape]}
    return {"dataType": "DT_TENSOR", "tensorType": {"elemType": "DT_FLOAT32", "shape": dims}}


def _tuple(values: Any) -> Any:
    if isinstance(values, int):
        return {"dtype": "DT_INT64", "intVal": str(values)}
    return {"dtype": "DT_TUPLE", "values": [_tuple(one) for one in values]}


def one() -> dict[str, float]:
    """Measure all figures once, in CPU time of this process."""
    from layouts.jobs.strategy.asks import read_graph
    from layouts.jobs.strategy.drawing import Strategies, drawing
    from layouts.jobs.strategy.panel import panel
    from layouts.profiles.frames import ProfileFrame
    from parsers import open_run

    class Source:
        """What the page asks of a source, for one job."""

        def __init__(self, folder: str) -> None:
            self.profiles = open_run(folder).profile
            (self.job_,) = self.profiles.jobs

        def profile_frame(self, _run: str, session: str, rank: int, name: str) -> ProfileFrame:
            frame = self.job_.stages if name == "stages" else self.profiles[session, rank].frame(name)
            return ProfileFrame("ready", frame)

        def members(self, run: str, _session: str, _rank: int) -> list[tuple[str, str, int]]:
            return [(run, member.session, member.rank) for member in self.job_.files.members]

    spent: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        profiler = os.path.join(folder, "profiler")
        os.mkdir(profiler)
        first = os.path.join(profiler, "parallel_strategy_0.json")
        with open(first, "wb") as file:
            file.write(content())
        for rank in range(1, 64):
            os.link(first, os.path.join(profiler, f"parallel_strategy_{rank}.json"))
        small = anonymous_rss()
        source: Any = Source(folder)
        spent["stages"] = _seconds(lambda: source.job_.stages)
        session = next(iter(source.profiles.rows))[0]
        spent["read"] = _seconds(lambda: source.profiles.rows[session, 0].strategies)
        kept = Strategies()
        answers: list[Any] = []

        def ask(**more: Any) -> Any:
            return read_graph({"run": ["a"], "session": [session], "rank": ["0"], **more})

        def draw(**more: Any) -> None:
            answers.append(drawing(source, kept, ask(**more)))

        spent["first"] = spent["read"] + _seconds(draw)
        opened = answers[-1]["meta"]["opened"] + ["s:Gradients", "s:Gradients/Default", "s:Gradients/Default/net"]
        shown = ({"without": ["backward"]}, {"open": opened})
        spent["shown"] = max(1000 * _seconds(lambda more=more: draw(**more)) for more in shown)  # type: ignore[misc]
        (strategy,) = kept._kept.values()
        view = strategy.view(frozenset())[1]
        spent["panel"] = 1000 * _seconds(lambda: panel(strategy, view, "n5000"))
        spent["rss"] = anonymous_rss() - small
    return spent


def _seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


if __name__ == "__main__":
    print(json.dumps(one()))
