"""Overflow records of devices that were written by hand, byte by byte."""

from __future__ import annotations

import struct

import pytest

from parsers.dumps.overflow import MAGIC, OverflowRecord, parse_binary


def record(kind: int, words: list[int]) -> bytes:
    """The new form: the magic number, a header per unit (valid, kind, version, bytes), and its words of 64 bits."""
    return struct.pack(f"<6I{len(words)}Q", MAGIC, 0, 1, kind, 0, 8 * len(words), *words)


def test_a_record_names_task_stream_and_status() -> None:
    words = [0, 7, 9, 0, 0, 0, 0, 0, 0, 0, 3]
    assert parse_binary(record(1, words)) == [OverflowRecord("AIV", 9, 7, 3)]


@pytest.mark.parametrize(
    ("stream", "task", "told"), [(1 << 63, 9, (9, -1)), (7, (1 << 64) - 1, (-1, 7)), (1 << 32, 9, (9, -1))]
)
def test_ids_that_cannot_be_are_unknown_and_the_overflow_is_shown(stream: int, task: int, told: tuple[int, int]) -> None:
    words = [0, stream, task, 0, 0, 0, 0, 0, 0, 0, (1 << 64) - 1]
    assert parse_binary(record(0, words)) == [OverflowRecord("AIC", *told, (1 << 63) - 1)]
