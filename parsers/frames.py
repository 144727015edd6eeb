"""The schemas of all frames that leave this package."""

from __future__ import annotations

from parsers.schema import Column, Schema

SCALARS = Schema(
    "scalars",
    "Every scalar value a run recorded, in the order it was written: by tag, then file, then place in the file.",
    (
        Column("tag", "category", "", "name the value was recorded under"),
        Column("step", "int64", "step", "training step as written"),
        Column("wall_time", "float64", "s", "seconds since 1970-01-01 UTC as written"),
        Column("value", "float64", "", "the value; float32 in the file is widened without change"),
        Column("file", "int32", "", "index into run.files of the file the value is in"),
        Column("order", "int64", "B", "byte offset of the value's record in that file"),
    ),
)

SCALARS_VIEW = Schema(
    "scalars_view",
    "Scalars with the restarts of each tag numbered.",
    (*SCALARS.columns, Column("session", "int32", "", "restarts of the tag before this value; grows where step goes back")),
)


def _index(name: str, what: str) -> Schema:
    """The schema of an index of large values, which are decoded when they are asked for."""
    return Schema(
        name,
        f"Where every {what} of a run is, in the order it was written; none of them has been decoded.",
        (
            Column("tag", "category", "", "name the value was recorded under"),
            Column("step", "int64", "step", "training step as written"),
            Column("wall_time", "float64", "s", "seconds since 1970-01-01 UTC as written"),
            Column("file", "int32", "", "index into run.files of the file the value is in"),
            Column("order", "int64", "B", "byte offset of the value's record in that file"),
            Column("offset", "int64", "B", "byte offset of the value's own message"),
            Column("length", "int64", "B", "bytes of the value's own message"),
        ),
    )


HISTOGRAMS = _index("histograms", "histogram")
IMAGES = _index("images", "image")
TENSORS = _index("tensors", "tensor")
LANDSCAPES = _index("landscapes", "loss landscape")
TEXTS = _index("texts", "text")

NODES = Schema(
    "nodes",
    "The nodes of one graph, in the order of the file; the row number is a node's id.",
    (
        Column("name", "str", "", "name as in the file; parameters and constants included"),
        Column("full_name", "str", "", "name with its scopes, parts separated by /; the name where the file has no other"),
        Column("scope", "category", "", "scopes the node is in, separated by /; empty at the top"),
        Column("type", "category", "", "operator type; Parameter and Const for what is no operator, unless the file says more"),
        Column("kind", "category", "", "operator, parameter or constant"),
        Column("output_type", "category", "", "type of the output, such as Tensor[Float32] or Tuple[...]; empty for unknown"),
        Column("shape", "category", "", "shape of the output, such as 32x3x224x224; [] for a scalar, empty for unknown"),
        Column("instance", "str", "", "instance name as in the file; empty for none"),
        Column("order", "int64", "B", "byte offset of the node's own message, or of its line, in the file"),
        Column("subgraph", "category", "", "function the node is in, where the file has several; else empty"),
    ),
)

EDGES = Schema(
    "edges",
    "The edges of one graph, in the order of the consumers and of their inputs.",
    (
        Column("source", "int32", "", "row in nodes of what makes the value"),
        Column("target", "int32", "", "row in nodes of what takes it"),
        Column("output", "int32", "", "which output of the source; 0 where it has one"),
        Column("input", "int32", "", "which input of the target, counted from 0; -1 for the result of the function it calls"),
        Column("kind", "category", "", "data, control, or call: between a function and the node that calls it"),
        Column("type", "category", "", "type of the value, as in nodes.output_type"),
        Column("shape", "category", "", "shape of the value, as in nodes.shape"),
    ),
)
