"""Snapshots of decoded graphs: equal to what decoding gives, refused when damaged, made of large graphs only."""

from __future__ import annotations

import dataclasses
import struct
import sys
from collections.abc import Sequence

import google_crc32c
import msgspec
import numpy as np
import pytest

from benchmarks.graphs_data import transformer
from parsers.deferred import pandas as pd
from parsers.errors import FormatError
from parsers.frames import NODES
from parsers.graphs import formats, snapshot
from parsers.graphs.anf_ir import FORMAT, read_graph
from parsers.graphs.formats import decoded, format_named
from parsers.graphs.graph import Graph, Origin

ORIGIN = Origin("made.pb", 7, 3.5, "optimize")
SMALL = transformer(2)


class Kept:
    """Snapshots in memory."""

    def __init__(self) -> None:
        self.found: dict[str, bytes] = {}
        self.asked: list[str] = []

    def read(self, key: str) -> bytes | None:
        self.asked.append(key)
        return self.found.get(key)

    def write(self, key: str, parts: Sequence[bytes | memoryview]) -> None:
        self.found[key] = b"".join(parts)


def assert_same(one: Graph, other: Graph) -> None:
    pd.testing.assert_frame_equal(one.nodes, other.nodes)
    pd.testing.assert_frame_equal(one.edges, other.edges)
    assert (one.title, one.path, one.offset, one.wall_time, one.stage, one.format) == (
        other.title, other.path, other.offset, other.wall_time, other.stage, other.format
    )  # fmt: skip
    assert (one.outputs, one.problems, one.notes, one.nbytes) == (other.outputs, other.problems, other.notes, other.nbytes)
    for row in range(len(one.nodes)):
        assert one.attributes(row) == other.attributes(row)
        assert one.source_lines(row) == other.source_lines(row)
        assert one.raw(row) == other.raw(row)


@pytest.mark.parametrize("data", [b"", SMALL], ids=["empty", "transformer"])
def test_a_graph_is_the_same_after_a_round_trip(data: bytes) -> None:
    graph = read_graph(data, ORIGIN)
    parts = snapshot.dump(graph)
    assert parts is not None
    assert_same(snapshot.load(b"".join(parts), data, ORIGIN), graph)


@pytest.fixture(params=["pyarrow", "plain"])
def texts_by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read columns of texts with and without pyarrow, which is optional."""
    if request.param == "plain":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    else:
        pytest.importorskip("pyarrow")


@pytest.mark.usefixtures("texts_by")
def test_texts_keep_every_character() -> None:
    graph = read_graph(SMALL, ORIGIN)
    names = [("", "层/注意力", "a\0b", "\U0001f600")[row % 4] for row in range(len(graph.nodes))]
    graph = dataclasses.replace(graph, nodes=graph.nodes.assign(name=pd.array(names, dtype="str")))
    parts = snapshot.dump(graph)
    assert parts is not None
    found = snapshot.load(b"".join(parts), SMALL, ORIGIN)
    assert found.nodes["name"].tolist() == names
    pd.testing.assert_frame_equal(found.nodes, graph.nodes)


@pytest.mark.usefixtures("texts_by")
@pytest.mark.parametrize(
    ("starts", "data", "why"),
    [
        ([0, 2, 1], b"ab", "do not follow"), ([1, 1, 2], b"ab", "do not follow"), ([0, 9, 9], b"ab", "expected 9 bytes"),
        ([0, 1, 2], b"\xff\xfe", "UTF8|utf-8"),
    ],
)  # fmt: skip
def test_texts_that_overlap_end_too_late_or_are_no_utf8_are_refused(starts: list[int], data: bytes, why: str) -> None:
    body = np.array(starts, np.int64).tobytes() + data + bytes(-len(data) % 8)
    with pytest.raises(FormatError, match=why):
        snapshot._SnapshotReading(np.frombuffer(body, np.uint8)).frame(NODES, 2, [snapshot._GraphColumn("name", "", None)])


def test_damaged_graphs_are_not_stored() -> None:
    graph = read_graph(SMALL[: len(SMALL) // 2], ORIGIN)
    assert graph.problems
    assert snapshot.dump(graph) is None


def test_a_damaged_snapshot_is_refused_wherever_the_damage_is() -> None:
    parts = snapshot.dump(read_graph(SMALL, ORIGIN))
    assert parts is not None
    stored = bytearray(b"".join(parts))
    for place in range(0, len(stored), max(1, len(stored) // 300)):
        damaged = bytearray(stored)
        damaged[place] ^= 0x41
        try:
            found = snapshot.load(bytes(damaged), SMALL, ORIGIN)
        except FormatError:
            continue
        assert_same(found, read_graph(SMALL, ORIGIN))  # padding between header and columns
    for size in (0, 8, 100, len(stored) - 8):
        with pytest.raises(FormatError):
            snapshot.load(bytes(stored[:size]), SMALL, ORIGIN)


@pytest.mark.parametrize(("column", "value"), [("codes", 120), ("source", 2**31 - 1), ("spans", 2**32 - 1)])
def test_a_snapshot_with_right_checksums_is_not_trusted_either(column: str, value: int) -> None:
    parts = snapshot.dump(read_graph(SMALL, ORIGIN))
    assert parts is not None
    columns = [np.frombuffer(bytearray(part), np.uint8) for part in parts[3:]]
    # Each column is followed by its padding; seven of the nodes hold numbers.
    place = {"codes": 0, "source": 14, "spans": len(columns) - 2}
    target = columns[place[column]]
    if column == "codes":
        target[:1] = value
    else:
        target[:4] = np.frombuffer(struct.pack("<I", value), np.uint8)
    body = b"".join(one.tobytes() for one in columns)
    header, _ = snapshot.FORMAT.header(b"".join(parts), snapshot._GraphHeader)
    header.crc = google_crc32c.value(body)
    encoded = msgspec.msgpack.encode(header)
    stored = snapshot.FORMAT.prefix(encoded) + encoded + bytes(-len(encoded) % 8) + body
    with pytest.raises(FormatError):
        snapshot.load(stored, SMALL, ORIGIN)


def test_other_bytes_have_another_key() -> None:
    assert snapshot.key_of(SMALL) == snapshot.key_of(bytes(SMALL))
    assert snapshot.key_of(SMALL) != snapshot.key_of(SMALL + b"\0")


def test_a_large_graph_is_decoded_once_and_again_if_its_snapshot_is_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "LEAST_BYTES", 1_000)
    form, kept, times = format_named(FORMAT), Kept(), []

    def counting(data: bytes, origin: Origin) -> Graph:
        times.append(len(data))
        return read_graph(data, origin)

    form = formats.GraphFormat(form.name, form.sniff, form.pattern, counting, form.longest)
    first = decoded(form, SMALL, ORIGIN, kept)
    assert_same(decoded(form, SMALL, ORIGIN, kept), first)
    assert len(times) == 1
    [key] = kept.found
    kept.found[key] = kept.found[key][:-9] + b"damaged!!"
    assert_same(decoded(form, SMALL, ORIGIN, kept), first)
    assert len(times) == 2
    assert_same(decoded(form, SMALL, ORIGIN, kept), first)
    assert len(times) == 2
    decoded(form, SMALL[:500], ORIGIN, kept)  # a small one is never stored
    assert list(kept.found) == [key]
    assert len(kept.asked) == 4
