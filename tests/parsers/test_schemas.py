"""Columns that several schemas share are written once."""

from __future__ import annotations

import pytest

from parsers import cluster_frames, dump_frames, explanation_frames, frames, profile_frames, tuning_frames
from parsers.schema import Column, Schema

SHARED = ("tag", "step", "wall_time", "rank", "device", "file", "sample", "label")


@pytest.mark.parametrize("module", [cluster_frames, dump_frames, explanation_frames, frames, profile_frames, tuning_frames])
def test_a_column_that_identifies_a_row_is_written_once(module: object) -> None:
    known: dict[Column, Column] = {}
    for schema in vars(module).values():
        for column in schema.columns if isinstance(schema, Schema) else ():
            if column.name in SHARED:
                assert known.setdefault(column, column) is column, f"{schema.name}.{column.name}"
