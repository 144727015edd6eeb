"""Columns that several schemas share are written once, and a name ends in its unit."""

from __future__ import annotations

import pytest

from parsers import cluster_frames, dump_frames, explanation_frames, frames, profile_frames, tuning_frames
from parsers.schema import Column, Schema

MODULES = [cluster_frames, dump_frames, explanation_frames, frames, profile_frames, tuning_frames]
SHARED = ("tag", "step", "wall_time", "rank", "device", "file", "sample", "label")
UNITS = {
    "ns": "ns", "ns2": "ns2", "us": "us", "ms": "ms", "bytes": "B", "kib": "KiB", "mib": "MiB", "hz": "1/s", "per_s": "1/s",
    "percent": "%", "s": "s",
}  # fmt: skip
"""The end of a column's name -> its unit."""
SAID_BY_THE_NAME = ("ns", "ns2", "us", "ms")
"""Units that stand in the name of every column that has them."""


def columns_of(module: object) -> list[tuple[str, Column]]:
    schemas = [schema for schema in vars(module).values() if isinstance(schema, Schema)]
    return [(f"{schema.name}.{column.name}", column) for schema in schemas for column in (*schema.columns, *schema.further)]


def ending(name: str) -> str:
    """The longest end of a name that stands for a unit, "" for none."""
    return max((end for end in UNITS if name == end or name.endswith(f"_{end}")), key=len, default="")


@pytest.mark.parametrize("module", MODULES)
def test_a_column_that_identifies_a_row_is_written_once(module: object) -> None:
    known: dict[Column, Column] = {}
    for place, column in columns_of(module):
        if column.name in SHARED:
            assert known.setdefault(column, column) is column, place


@pytest.mark.parametrize("module", MODULES)
def test_the_end_of_a_name_is_its_unit(module: object) -> None:
    for place, column in columns_of(module):
        if end := ending(column.name):
            assert column.unit == UNITS[end], place
        if column.unit in SAID_BY_THE_NAME:
            assert end == column.unit, place


@pytest.mark.parametrize(("name", "end"), [("own_bytes", "bytes"), ("flops_per_s", "per_s"), ("steps", ""), ("ns", "ns")])
def test_ends_are_whole_words(name: str, end: str) -> None:
    assert ending(name) == end
