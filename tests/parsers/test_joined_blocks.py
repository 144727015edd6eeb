"""Joining what several reads found: the same as joining all at once, what was returned stays, and rows are copied few times."""

from __future__ import annotations

from collections.abc import Sequence
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import joined_blocks
from parsers.joined_blocks import LEAST, MOST_ROOM, JoinedBlocks
from parsers.model import Rounds, ScalarBlock, SeriesBlock, TagBlock

room_for_few = mock.patch.object(joined_blocks, "LEAST", 1)
TAGS = ("loss", "accuracy")
COLUMNS = ("step", "wall_time", "order", "value")


def block(first: int, rows: int, *, wide: bool = False) -> ScalarBlock:
    order = np.arange(first, first + rows)
    value = np.random.default_rng(first).normal(size=(len(TAGS), rows)).astype(np.float64 if wide else np.float32)
    return ScalarBlock(TAGS, order * 3, order / 7, order, value)


def rounds(first: int, rows: int) -> Rounds:
    order = np.arange(first, first + rows)
    within = np.tile(np.array([[0], [300 if first % 2 else 40]], np.uint16 if first % 2 else np.uint8), (1, rows))
    return Rounds(TAGS, order * 3, np.tile(order / 7, (2, 1)), order, within, np.tile(np.float32(order), (2, 1)))


@given(st.lists(st.tuples(st.integers(0, 40), st.booleans()), min_size=1, max_size=12), st.floats(0.1, 100), st.booleans())
def test_joining_read_by_read_is_joining_all_at_once(
    reads: Sequence[tuple[int, bool]], expected: float, backwards: bool
) -> None:
    joining, parts, seen = JoinedBlocks(), list[ScalarBlock](), list[tuple[SeriesBlock, list[bytes]]]()
    joined: SeriesBlock | None = None
    for number, (rows, wide) in enumerate(reads):
        parts.append(block((100 - number if backwards else number) * 1000, rows, wide=wide))
        with room_for_few:
            joined = joining.scalars([parts[-1]] if joined is None else [joined, parts[-1]], expected)
        seen.append((joined, [getattr(joined, name).tobytes() for name in COLUMNS]))
    assert joined is not None
    assert joined.tags == TAGS
    by_place = np.argsort(np.concatenate([part.order for part in parts]), kind="stable")
    for name in COLUMNS:
        whole = np.concatenate([getattr(part, name) for part in parts], axis=-1)[..., by_place]
        found = getattr(joined, name)
        assert (found.dtype, found.tobytes()) == (whole.dtype, whole.tobytes())
    for made, bytes_then in seen:
        assert [getattr(made, name).tobytes() for name in COLUMNS] == bytes_then, "what was returned before is as it was"


@given(st.lists(st.integers(1, 30), min_size=2, max_size=8))
def test_rounds_are_joined_read_by_read(reads: Sequence[int]) -> None:
    joining = JoinedBlocks()
    parts = [rounds(number * 1001, rows) for number, rows in enumerate(reads)]
    joined = parts[0]
    for part in parts[1:]:
        with room_for_few:
            found = joining.rounds([[TagBlock(joined, row), TagBlock(part, row)] for row in range(2)])
        assert found is not None
        joined = found
    for name in ("step", "wall_time", "begin", "within", "value"):
        whole = np.concatenate([getattr(part, name) for part in parts], axis=-1)
        assert getattr(joined, name).dtype == whole.dtype
        np.testing.assert_array_equal(getattr(joined, name), whole)


@pytest.mark.parametrize("expected", [1.0, 4.0, 1000.0])
def test_rows_are_copied_a_few_times_not_once_for_each_read(expected: float) -> None:
    joining = JoinedBlocks()
    joined: SeriesBlock = block(0, LEAST)
    places = set()
    for number in range(1, 200):
        joined = joining.scalars([joined, block(number * LEAST, LEAST)], expected)
        places.add(joined.value.__array_interface__["data"][0])
        assert joined.value.base is not None
        assert joined.value.base.shape[1] <= max(MOST_ROOM, 1) * len(joined.step)
    assert len(joined.step) == 200 * LEAST
    assert len(places) <= 14, "each larger by half"


def test_a_block_of_others_is_not_taken_for_what_was_joined_last() -> None:
    joining = JoinedBlocks()
    first = joining.scalars([block(0, 5), block(1000, 5)])
    other = joining.scalars([block(0, 7), block(1000, 7)])
    third = joining.scalars([first, block(2000, 5)])
    assert [len(one.step) for one in (first, other, third)] == [10, 14, 15]
    np.testing.assert_array_equal(third.order, np.r_[0:5, 1000:1005, 2000:2005])
    np.testing.assert_array_equal(other.order, np.r_[0:7, 1000:1007])
