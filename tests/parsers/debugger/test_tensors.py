"""Which tensors a graph has, compared with what MindSpore dumped of the same network."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

from parsers import open_run
from parsers.debugger.tensors import GraphTensors, tensors_of
from parsers.dump_frames import DUMP_TENSORS
from parsers.graphs.anf_ir import read_graph
from parsers.graphs.graph import Origin
from tests.writers.dumps import text

DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "")) / "dump"


def frame(found: GraphTensors):
    every = np.arange(len(found))
    return DUMP_TENSORS.check(found.frame(every, np.zeros(len(every), np.int64), np.zeros(len(every), np.int64)))


@pytest.mark.skipif(not os.environ.get("MINDSCOPE_TEST_DATA"), reason="real files")
@pytest.mark.parametrize("name", ["out_tensor", "out_nan"])
def test_a_graph_has_the_tensors_that_are_dumped_of_it(name: str) -> None:
    dump = open_run(DATA / name).dump
    table = frame(tensors_of({0: dump.graphs[0, 0]}))
    dumped = dump.tensors[dump.tensors["iteration"] == 0]

    def keys(rows) -> set[tuple[str, str, int]]:
        names = (re.sub(r"-op\d+$", "", str(one)) for one in rows["name"])
        return set(zip(names, rows["io"], rows["slot"], strict=True))

    assert keys(dumped) <= keys(table)
    assert len(keys(table) - keys(dumped)) <= 0.05 * len(keys(table))
    shared = table[table["io"] == "parameter"].set_index("name")["size_bytes"]
    files = dumped[dumped["io"] == "parameter"].set_index("name")["size_bytes"]
    both = [one for one in files.index if one in shared.index]
    assert len(both) > 5
    for one in both:
        assert files[one] - shared[one] == 128, "a header of npy"


def test_no_graph() -> None:
    assert frame(GraphTensors({})).empty
    assert frame(tensors_of({})).empty


def node(number: str, kind: str, inputs: list[str], output: bytes = b"") -> bytes:
    given = b"".join(text(1, text(1, one)) for one in inputs)
    made = text(6, output) if output else b""
    return text(1, given + text(2, number) + text(3, kind) + made + text(8, f"D/{kind}-op{number}"))


FLOAT = b"\x08\x0e\x12\x08\x08\x0b\x12\x04\x0a\x02\x08\x03"  # Tensor[Float32] of shape 3


def test_values_that_are_passed_on_and_parts_of_tuples() -> None:
    pair = b"\x08\x1f\x1a" + bytes((2 * (len(FLOAT) + 2),)) + 2 * (b"\x0a" + bytes((len(FLOAT),)) + FLOAT)
    constant = text(5, text(1, "one") + text(2, b"\x08\x05\x18\x01"))
    graph = read_graph(
        node("1", "Split", ["w"], pair) + node("2", "TupleGetItem", ["1", "one"], FLOAT) + node("3", "Load", ["2"], FLOAT)
        + node("4", "ReLU", ["3", "one"], FLOAT) + text(2, "g") + text(3, text(1, "w") + text(2, FLOAT)) + constant,
        Origin("live:1"),
    )  # fmt: skip
    found = tensors_of({0: graph})
    table = frame(found)
    assert list(zip(table["name"], table["io"], table["slot"], table["file"], table["shape"], strict=True)) == [
        ("D/Split-op1", "input", 0, "w:0", "3"), ("D/Split-op1", "output", 0, "D/Split-op1:0", "3"),
        ("D/Split-op1", "output", 1, "D/Split-op1:1", "3"), ("D/ReLU-op4", "input", 0, "D/Split-op1:1", "3"),
        ("D/ReLU-op4", "input", 1, "", "[]"), ("D/ReLU-op4", "output", 0, "D/ReLU-op4:0", "3"),
        ("w", "parameter", 0, "w:0", "3"),
    ]  # fmt: skip
    assert found.wire.tolist() == [0, 1, 2, 2, -1, 3, 0]
    assert found.shape_of(2) == ("float32", 12)
    assert found.parameters.tolist() == [False] * 6 + [True]
