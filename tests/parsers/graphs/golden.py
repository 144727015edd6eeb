"""Golden frames of the saved graph under tests/data, taken from it by protobuf.

    python -m tests.parsers.graphs.golden     writes them anew; read the difference before committing it
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.parsers.graphs.reference import graph_of

SAMPLE = Path(__file__).parents[2] / "data/mindspore/2.10/ms_output_optimize.pb"
GOLDEN = SAMPLE.with_name(SAMPLE.name + ".golden")
TYPES = {1: "Bool", 4: "Int32", 5: "Int64", 11: "Float32", 13: "String", 31: "Tuple", 32: "List", 49: "Slice"}


def text(rows: Iterable[tuple[object, ...]]) -> str:
    """Rows as lines of columns with tabs between."""
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def rows(data: bytes) -> list[tuple[object, ...]]:
    """Name, full name, scope, type, kind, output type, shape, instance of nodes; source, target, input, kind of edges."""
    graph = graph_of(data)
    found: list[tuple[object, ...]] = [
        (one.name, one.full_name, one.scope, one.op_type, "operator", *_output(one.output_type), one.instance_name)
        for one in graph.node
    ]
    found += [(one.name, one.name, "", "Parameter", "parameter", *_output(one.type), "") for one in graph.parameters]
    found += [(one.key, one.key, "", "Const", "constant", *_constant(one.value), "") for one in graph.const_vals]
    ids = {row[0]: place for place, row in enumerate(found)}
    edges = [
        (ids[one.name], ids[node.name], place, "control" if one.type else "data")
        for node in graph.node
        for place, one in enumerate(node.input)
    ]
    return [*found, *edges]


def _output(about: Any) -> tuple[str, str]:
    if about.HasField("tensor_type"):
        return f"Tensor[{TYPES[about.tensor_type.elem_type]}]", _shape(about.tensor_type)
    if about.HasField("sequence_type"):
        names = [_output(part)[0] for part in about.sequence_type.elem_types]
        same = len(names) >= 4 and len(set(names)) == 1
        return f"{TYPES[about.data_type]}[{f'{len(names)} * {names[0]}' if same else ', '.join(names)}]", ""
    return TYPES.get(about.data_type, ""), ""


def _shape(tensor: Any) -> str:
    return "x".join(str(dim.size) for dim in tensor.shape.dim) or "[]"


def _constant(value: Any) -> tuple[str, str]:
    if value.tensor_val:
        return "Tensor[Int32]", "1"  # the one tensor of the sample is the 1 that counts global_step up
    return TYPES.get(value.dtype, ""), ""


def main() -> None:
    """Write the golden file."""
    GOLDEN.write_text(text(rows(SAMPLE.read_bytes())), encoding="utf-8")


if __name__ == "__main__":
    main()
