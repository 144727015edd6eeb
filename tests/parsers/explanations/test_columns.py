"""Fields of many messages at once are those of protobuf's own reader, however the messages are made or damaged."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from parsers.events.wire import DELIMITED, FIXED32, VARINT, WireError, skip, varint
from parsers.explanations.columns import fields, floats, texts
from parsers.recording.wire import delimited, float32, float64, number

numbers = st.integers(1, 2_000)
field = st.one_of(
    st.tuples(st.just("int"), numbers, st.integers(-(2**63), 2**63 - 1)),
    st.tuples(st.just("float"), numbers, st.floats(width=32, allow_nan=False)),
    st.tuples(st.just("double"), numbers, st.floats(allow_nan=False)),
    st.tuples(st.just("bytes"), numbers, st.binary(max_size=30)),
)
messages = st.lists(st.lists(field, max_size=6), max_size=12)


def encoded(parts: list[tuple[str, int, Any]]) -> bytes:
    made: dict[str, Callable[[int, Any], bytes]] = {"int": number, "float": float32, "double": float64, "bytes": delimited}
    return b"".join(made[kind](at, value) for kind, at, value in parts)


def placed(bodies: list[bytes], times: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The messages again and again with bytes between them, so that enough are there to be walked together."""
    data, start, end = bytearray(b"\xff" * 3), [], []
    for body in bodies * times:
        start.append(len(data))
        data += body
        end.append(len(data))
        data += b"\x80\xff"
    return np.frombuffer(bytes(data), np.uint8), np.array(start, np.int64), np.array(end, np.int64)


@given(messages, st.sampled_from([1, 80]))
def test_fields_are_those_written(content: list[list[tuple[str, int, Any]]], times: int) -> None:
    data, start, end = placed([encoded(parts) for parts in content], times)
    found = fields(data, start, end)
    assert not found.damaged.any()
    expected = [(row, at) for row, parts in enumerate(content * times) for _, at, _ in parts]
    assert list(zip(found.row.tolist(), found.number.tolist(), strict=True)) == expected
    flat = [part for parts in content * times for part in parts]
    for place, (kind, _, value) in enumerate(flat):
        first, stop = int(found.first[place]), int(found.end[place])
        if kind == "int":
            assert first == value
        elif kind == "bytes":
            assert data[first:stop].tobytes() == value
        else:
            assert struct.unpack("<f" if kind == "float" else "<d", data[first:stop].tobytes())[0] == value


def readable(body: bytes) -> bool:
    position = 0
    try:
        while position < len(body):
            key, at = varint(body, position)
            if key & 7 in (3, 4):  # groups, which no message of this format has
                return False
            position = skip(body, at, len(body), key)
        return position == len(body)
    except (WireError, IndexError):
        return False


@given(st.lists(st.binary(max_size=24), max_size=12), st.sampled_from([1, 80]))
def test_any_bytes_are_read_or_said_to_be_damaged(bodies: list[bytes], times: int) -> None:
    data, start, end = placed(bodies, times)
    found = fields(data, start, end)
    assert found.damaged.tolist() == [not readable(body) for body in bodies * times]
    bounded = found.kind != VARINT
    assert (found.first[bounded] >= start[found.row[bounded]]).all()
    assert (found.end <= end[found.row]).all()


def test_the_last_of_several_counts_and_values_are_read_in_place() -> None:
    body = number(1, 5) + number(1, 7) + float32(3, 0.25) + float32(3, 0.5) + delimited(2, "第一".encode())
    data, start, end = placed([body, b""], 100)
    found = fields(data, start, end)
    row, first, _ = found.last(1, VARINT)
    assert row.tolist() == list(range(0, 200, 2))
    assert set(first.tolist()) == {7}
    _, first, _ = found.where(3, FIXED32)
    assert floats(data, first).tolist() == [0.25, 0.5] * 100
    _, first, stop = found.where(2, DELIMITED)
    assert set(texts(data, first, stop)) == {"第一"}
