"""Converting models: 1 GB of external data against copying its bytes, 10,000 nodes, DenseNet-121 of the package `onnx`.

`python -m benchmarks.conversion large|plain|many|densenet DIR` does one of them.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import Figure, in_fresh_process

TENSORS, ROWS = 16, 4096
LARGEST_MB = ROWS * ROWS * 4 / 1e6


def figures(times: int) -> list[Figure]:
    """CPU seconds, the ratio in turns, and the memory beyond what importing takes and the largest tensor."""
    with tempfile.TemporaryDirectory() as place:
        _write_large(Path(place))
        _write_many(Path(place))
        ratios, memory = [], []
        for _ in range(times):
            (plain,) = in_fresh_process("benchmarks.conversion", "plain", place, times=1)
            (large,) = in_fresh_process("benchmarks.conversion", "large", place, times=1)
            ratios.append(large["cpu_s"] / plain["cpu_s"])
            memory.append(large["mb"] - LARGEST_MB)
        many, dense = (in_fresh_process("benchmarks.conversion", what, place, times=times) for what in ("many", "densenet"))
    return [
        Figure("converting 1 GB of external data / reading and writing its bytes", "x", 2.5, tuple(ratios)),
        Figure("the same: memory beyond the largest tensor", "MB", 300, tuple(memory)),
        Figure("converting 10,000 nodes", "CPU s", 8, tuple(one["cpu_s"] for one in many)),
        Figure("converting DenseNet-121 with 1,746 nodes", "CPU s", 2, tuple(one["cpu_s"] for one in dense)),
    ]


def _write_large(place: Path) -> None:
    import numpy as np
    from onnx import TensorProto, helper

    weights, nodes, size = [], [], ROWS * ROWS * 4
    draw = np.random.default_rng(0)
    with open(place / "large.data", "wb") as file:
        for number in range(TENSORS):
            file.write(draw.normal(size=(ROWS, ROWS)).astype("<f4").tobytes())
            tensor = TensorProto(name=f"w{number}", dims=[ROWS, ROWS], data_type=1, data_location=TensorProto.EXTERNAL)
            for key, text in (("location", "large.data"), ("offset", str(number * size)), ("length", str(size))):
                tensor.external_data.add(key=key, value=text)
            weights.append(tensor)
            nodes.append(helper.make_node("Gemm", [f"x{number}", tensor.name], [f"x{number + 1}"], transB=number % 2))
    _save(place / "large.onnx", nodes, f"x{TENSORS}", ROWS, weights)


def _write_many(place: Path) -> None:
    from onnx import helper

    kinds = ("Relu", "Neg", "Sigmoid", "Tanh", "Abs")
    nodes = [helper.make_node(kinds[place * place % 5], [f"x{place}"], [f"x{place + 1}"]) for place in range(10_000)]
    _save(place / "many.onnx", nodes, "x10000", 3, [])


def _save(path: Path, nodes: list[object], output: str, width: int, weights: list[object]) -> None:
    from onnx import helper, save

    first, last = (helper.make_tensor_value_info(name, 1, [2, width]) for name in ("x0", output))
    graph = helper.make_graph(nodes, "g", [first], [last], weights)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def _convert(path: Path, out: str) -> None:
    from app.conversion import convert
    from app.conversion.output import report_files, script_files, weight_files, write_files

    found = convert(path)
    write_files(out, {**script_files(found), **weight_files(found), **report_files(found, None)})


def main(what: str, place: str) -> None:
    """Do one of them and print its CPU seconds and most memory."""
    if what != "plain":
        import onnx

        import app.conversion.converting  # noqa: F401  imports are not counted

    source = Path(place) / f"{what}.onnx"
    if what == "densenet":
        source = Path(os.path.dirname(onnx.__file__)) / "backend" / "test" / "data" / "light" / "light_densenet121.onnx"
    start = time.process_time()
    with tempfile.TemporaryDirectory(dir=place) as out:
        if what == "plain":
            with open(f"{place}/large.data", "rb") as read, open(f"{out}/copy", "wb") as write:
                shutil.copyfileobj(read, write, 1 << 20)
        else:
            _convert(source, out)
    used = time.process_time() - start
    print(json.dumps({"cpu_s": used, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6}))


if __name__ == "__main__":
    main(*sys.argv[1:])
