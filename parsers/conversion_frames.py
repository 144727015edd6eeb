"""The schemas of the frames of a model conversion (`parsers.graphs.conversion`)."""

from __future__ import annotations

from parsers.schema import Column, Schema

CONVERSION_NODES = Schema(
    "conversion_nodes",
    "The nodes of a converted ONNX model, in the order of the file.",
    (
        Column("node", "int64", "", "position in the model"),
        Column("name", "str", "", "name as in the model; may be empty"),
        Column("operator", "category", "", "operator type"),
        Column("domain", "category", "", "domain of the operator; empty for ONNX itself"),
        Column("state", "category", "", "converted, folded (computed at conversion), marked (no code but an error), or other"),
        Column("message", "str", "", "why the node is marked; else empty"),
        Column("first_line", "int64", "line", "first line of its code in the script, from 1; 0 for none"),
        Column("last_line", "int64", "line", "last line of its code; 0 for none"),
        Column("inputs", "str", "", "names of its inputs as a JSON list"),
        Column("outputs", "str", "", "names of its outputs as a JSON list"),
        Column("shape", "str", "", "shape of its first output, such as 1x3xheight; [] for a scalar, empty for unknown"),
        Column("dtype", "category", "", "type of its first output; empty for unknown"),
    ),
)
CONVERSION_VALUES = Schema(
    "conversion_values",
    "What the check compared, in the order of execution.",
    (
        Column("order", "int64", "", "position in the order of execution"),
        Column("node", "int64", "", "node that makes the value; -1 for none of the model"),
        Column("value", "str", "", "name of the value in the model"),
        Column("largest", "float64", "", "largest absolute difference; NaN where it is none"),
        Column("relative", "float64", "", "largest relative difference; NaN where it is none"),
        Column("beyond", "bool", "", "whether it is beyond tolerance"),
        Column("text", "str", "", "what else differs, such as the shape; else empty"),
    ),
)
CONVERSION_WEIGHTS = Schema(
    "conversion_weights",
    "The tensors of the checkpoint, with what they were in the model.",
    (
        Column("parameter", "str", "", "name in the checkpoint"),
        Column("shape", "str", "", "its shape"),
        Column("dtype", "category", "", "its type"),
        Column("source", "str", "", "name in the model; empty for what was computed at conversion"),
        Column("source_shape", "str", "", "shape in the model"),
        Column("source_dtype", "category", "", "type in the model"),
        Column("change", "str", "", "what was done to its numbers; empty for nothing"),
    ),
)
CONVERSION_FRAMES = {"nodes": CONVERSION_NODES, "values": CONVERSION_VALUES, "weights": CONVERSION_WEIGHTS}
"""Schema by the name of a frame."""
