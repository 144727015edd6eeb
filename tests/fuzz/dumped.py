"""What is fuzzed of dumps: one file of a small dump is mutated, and everything is asked of the dump around it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from parsers.analysis.dumps.watchpoints import recommended
from parsers.dumps.access import RunDump
from parsers.dumps.names import NPY, entry_name, tensor_name
from parsers.errors import PayloadError
from parsers.model import Problem
from tests.fuzz.promises import DERIVED_OF, is_chosen
from tests.writers.dumps import BEGIN_US, async_file, file_name, npy, torch_file, torch_pickle

DATA = Path(__file__).resolve().parents[1] / "data" / "dumps"
_VALUES = np.array([[1.5, np.nan, 0.0], [-np.inf, 2.0, -3.0]], np.float32)
_LEAF = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 3], "Max": 1.0, "Min": 0.0, "Mean": 0.5, "Norm": 2.0}
_JSON = {
    "task": "tensor", "level": "mix", "framework": "pytorch", "dump_data_dir": None,
    "data": {
        "Torch.log.0.forward": {"input_args": [_LEAF, {"type": "int", "value": 1}], "output": [_LEAF | {"data_name": "a.pt"}]},
        "Module.a.0.Linear.forward.0": {"input_kwargs": {"x": [_LEAF]}, "parameters": {"weight": _LEAF}, "output": [_LEAF]},
        "Module.a.0.Linear.parameters_grad.0": {"weight": [_LEAF | {"Max": float("nan")}]},
    },
}  # fmt: skip
_OPERATOR = "20261122040000/0/Net/1/0/Mul.Default_Mul-op2.4.7.1795320000124555"
_TENSOR = "rank_0/Net/0/1/" + file_name("MatMul", "Default/a-op0", BEGIN_US, "output", 0, "float32")
_RANK = "rank_0/.dump_metadata/config.json"
_FRAMES = {
    "overflow": ("overflows",), "overflow.json": ("overflows",), "statistic.csv": ("statistics",), "dump.json": ("statistics",),
    "order.csv": ("executions",), "runs.csv": ("executions",),
}  # fmt: skip
"""File of a dump -> frames that are made from it, besides that of the tensors."""
_ALL_OF = 4
"""Of this many dumps one is asked for frames that other files make, which take a third of the time."""
Run = Callable[[bytes, str], None]


def targets(
    files: Callable[[str], list[bytes]], check: Callable[[tuple[Problem, ...]], None]
) -> Iterator[tuple[str, str, list[bytes], Run]]:
    """Yield name, form, corpus and function of each target. files finds those of the corpus by a pattern of their names."""
    torch = torch_file(torch_pickle("FloatStorage", (2, 3), (3, 1), 0, 6), _VALUES.tobytes())
    binary = [async_file([("input", _VALUES, 1, 2, (2, 3)), ("output", _VALUES.astype(np.float16), 2, 3, (2, 3))], buffers=5)]
    step = {"step0/rank0/dump.json": json.dumps(_JSON).encode(), "step0/rank0/dump_tensor_data/a.pt": torch}
    rank = {_RANK: b"{}", _TENSOR: npy(_VALUES)}
    device = {_OPERATOR: binary[0]}
    graphs = [path.read_bytes() for path in sorted(DATA.rglob("*.pb"))]
    places: dict[str, tuple[str, str, list[bytes], dict[str, bytes]]] = {
        "npy": ("npy", _TENSOR, [npy(_VALUES), *files(r".*\.npy")], rank),
        "pt": ("plain", "step0/rank0/dump_tensor_data/a.pt", [torch], step),
        "binary": ("plain", _OPERATOR, [*binary, *files(r"[A-Z][A-Za-z0-9]*\.Default.*\.\d{16}")], {}),
        "overflow": (
            "plain", f"{os.path.dirname(_OPERATOR)}/Opdebug.Node_OpDebug.0.7.1795320000300000.4.1.0.0",
            files(r"Opdebug.*\d"), device,
        ),
        "overflow.json": (
            "tree", f"{os.path.dirname(_OPERATOR)}/Opdebug.Node_OpDebug.4.7.1795320000200000.output.0.json",
            files(r"Opdebug.*\.json"), device,
        ),
        "statistic.csv": ("table", "rank_0/Net/0/1/statistic.csv", files(r"statistic\.csv"), rank),
        "mapping.csv": ("text", "rank_0/Net/0/1/mapping.csv", files(r"mapping\.csv"), rank),
        "order.csv": ("text", "rank_0/execution_order/ms_execution_order_graph_0.csv", files(r"ms_execution_order.*"), rank),
        "runs.csv": ("text", "rank_0/execution_order/ms_global_execution_order_graph_0.csv", files(r"ms_global.*"), rank),
        "graph": ("message", "rank_0/graphs/ms_output_trace_code_graph_0.pb", graphs, rank),
        "dump.json": ("tree", "step0/rank0/dump.json", [step["step0/rank0/dump.json"], *files(r"dump\.json")], step),
        "debug.json": ("tree", "step0/rank0/debug.json", files(r"debug\.json"), step),
        "construct.json": ("tree", "step0/rank0/construct.json", files(r"construct\.json"), step),
        "stack.json": ("tree", "step0/rank0/stack.json", files(r"stack\.json"), step),
    }  # fmt: skip
    for name, (form, place, seeds, beside) in places.items():
        yield f"dump-{name}", form, seeds, partial(_read, place, beside, _FRAMES.get(name, ()), check)
    yield "dump-names", "text", [_TENSOR.encode(), *(name.encode() for name in _JSON["data"])], _read_name  # type: ignore[attr-defined]


def _read(
    place: str,
    beside: dict[str, bytes],
    frames: tuple[str, ...],
    check: Callable[[tuple[Problem, ...]], None],
    data: bytes,
    folder: str,
) -> None:
    """Ask a dump with this file for all that the file is read for, and some dumps for everything."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in (beside | {place: data}).items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    roots = [os.path.join(folder, name) for name in ("rank_0", "20261122040000") if os.path.isdir(os.path.join(folder, name))]
    dump = RunDump(folder, roots or [folder])
    rows = range(min(len(dump.tensors), 8))
    for name in ("executions", "overflows", "statistics") if is_chosen(data, _ALL_OF) else frames:
        getattr(dump, name)
    if is_chosen(data, DERIVED_OF):
        dump.first_cause()
        dump.check(recommended())
    for row in rows:
        dump.stack(row)
        dump.previous(row)
        for ask in (dump.tensor, dump.header, lambda row: list(dump.pieces(row))):
            try:
                ask(row)
            except PayloadError as error:
                if isinstance(error.__cause__, MemoryError):
                    raise MemoryError(str(error)) from error
    check(dump.problems)


def _read_name(data: bytes, _folder: str) -> None:
    name = os.fsdecode(data)
    entry_name(name)
    match = NPY.fullmatch(name)
    if match is not None:
        tensor_name(match[1], match[3])
