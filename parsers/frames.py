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
