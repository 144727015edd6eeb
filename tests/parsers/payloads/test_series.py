"""The values of a tag, joined from the blocks of its files."""

from __future__ import annotations

import numpy as np

from parsers.model import PayloadBlock
from parsers.payloads.series import PayloadSeries, join


def block(*offsets: int) -> PayloadBlock:
    offset = np.array(offsets, np.int64)
    ones = np.ones(len(offsets), np.int64)
    return PayloadBlock("image", "picture", offset + 5, ones / 2, offset - 1, offset, ones, ones.astype(bool), "")


def test_the_columns_of_one_block_are_shared() -> None:
    one = block(10, 20, 30)
    found = join([(7, one)])
    assert found.offset is one.offset
    assert (found.file.tolist(), found.step.tolist()) == ([7, 7, 7], [15, 25, 35])


def rows(found: PayloadSeries) -> list[tuple[int, int, int]]:
    return list(zip(found.file.tolist(), found.offset.tolist(), found.order.tolist(), strict=True))


def test_rows_come_by_file_and_offset() -> None:
    assert rows(join([(7, block(30, 10))])) == [(7, 10, 9), (7, 30, 29)]
    assert rows(join([(7, block(30)), (2, block(5)), (7, block(10))])) == [(7, 10, 9), (7, 30, 29), (2, 5, 4)]
    assert rows(join([])) == []
