"""The opcodes of pickles: what the standard library reads, and files that no pickler writes."""

from __future__ import annotations

import pickle
import pickletools
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.memory_snapshots import machine, memo, read_memory_snapshot
from parsers.memory_snapshots.columns import SnapshotColumns
from parsers.memory_snapshots.machine import Machine
from parsers.memory_snapshots.objects import Ended
from parsers.memory_snapshots.opcodes import ARGUMENTS, READ, name_of
from parsers.memory_snapshots.window import Window
from tests.writers.memory_snapshots import SnapshotWriter, steady_entries, text


class Held:
    """A file in memory."""

    def __init__(self, data: bytes) -> None:
        self.data, self.size = data, len(data)

    def read(self, offset: int, length: int) -> bytes:
        return self.data[offset : offset + length]


def read(data: bytes) -> tuple[Any, Ended | None]:
    return Machine(Window(Held(data)), SnapshotColumns()).run()  # type: ignore[arg-type]


def ended(data: bytes) -> Ended:
    found = read(data)[1]
    assert found is not None
    return found


TEXTS = st.text(st.characters(blacklist_categories=("Cs",)), max_size=300)
KEYS = st.text("abcdefgh", max_size=4)
LEAVES = st.none() | st.booleans() | st.integers(-(1 << 80), 1 << 80) | st.floats(allow_nan=False) | TEXTS
OBJECTS = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5) | st.tuples(inner)
    | st.tuples(inner, inner) | st.tuples(inner, inner, inner) | st.tuples(inner, inner, inner, inner) | st.just(()),
    max_leaves=30,
)  # fmt: skip


@given(OBJECTS, st.integers(2, 5))
def test_objects_are_those_of_the_standard_library(value: Any, protocol: int) -> None:
    data = pickle.dumps([value, value], protocol)
    found, end = read(data)
    assert end is None
    assert found == pickle.loads(data) == [value, value]


@given(st.integers(900, 2100), st.integers(1, 1 << 70), st.integers(2, 5))
def test_lists_of_several_batches(length: int, step: int, protocol: int) -> None:
    value = [number * step for number in range(-length // 2, length - length // 2)]
    assert read(pickle.dumps(value, protocol)) == (value, None)


def test_names_and_arguments_are_those_of_the_standard_library() -> None:
    for known in pickletools.opcodes:
        code = ord(known.code)
        assert name_of(code) == known.name
        size = known.arg.n if code in READ and known.arg is not None else 0
        wanted = {pickletools.TAKEN_FROM_ARGUMENT1: 1, pickletools.TAKEN_FROM_ARGUMENT4: 4,
                  pickletools.TAKEN_FROM_ARGUMENT4U: 4, pickletools.TAKEN_FROM_ARGUMENT8U: 8}.get(size, size)  # fmt: skip
        assert ARGUMENTS[code] == wanted, known.name


REFUSED = [known for known in pickletools.opcodes if ord(known.code) not in READ]


def test_what_imports_or_calls_is_among_those_that_are_refused() -> None:
    calls = {"GLOBAL", "STACK_GLOBAL", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "REDUCE", "BUILD", "EXT1", "EXT2", "EXT4"}
    assert calls | {"PERSID", "BINPERSID"} <= {known.name for known in REFUSED}


@pytest.mark.parametrize("known", REFUSED, ids=[known.name for known in REFUSED])
def test_any_other_opcode_ends_reading_with_its_name_and_place(known: pickletools.OpcodeInfo, tmp_path: Path) -> None:
    start = b"\x80\x04}\x94(" + text("segments") + b"\x94]\x94"
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(start + known.code.encode("latin-1") + b"\x01" * 20)
    (problem,) = read_memory_snapshot(str(path)).problems
    assert problem.offset == len(start)
    assert f"found {known.name};" in problem.text
    assert f"Byte {len(start)}" in problem.text


class Runs:
    """What a pickle may not do."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path(__file__).with_name("was_run"),))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_nothing_is_called(protocol: int, tmp_path: Path) -> None:
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps({"segments": [], "device_traces": [Runs()]}, protocol))
    found = read_memory_snapshot(str(path))
    assert not Path(__file__).with_name("was_run").exists()
    assert len(found.problems) == 1
    assert any(name in found.problems[0].text for name in ("GLOBAL", "STACK_GLOBAL"))


# What a file can ask for ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [1, 255, 1 << 20, (1 << 32) - 1])
def test_a_huge_place_in_the_memo(index: int) -> None:
    found = ended(b"\x80\x02]r" + struct.pack("<I", index) + b".")
    assert (found.offset, found.kind) == (3, "bad_message")
    assert f"{index:,}" in found.text


def test_a_reference_to_nothing() -> None:
    assert "found number 7" in ended(b"\x80\x04]\x94h\x07a.").text
    assert "expected one of 1 remembered objects, found number 1" in ended(b"\x80\x04]\x94h\x01a.").text


def test_a_memo_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo, "MOST_PLACES", 1000)
    assert ended(b"\x80\x04N" + b"\x94" * 2000).offset == 3 + 1000


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x80\x04]\x94h\x00a.", id="a list in itself"),
        pytest.param(b"\x80\x04]\x94(h\x00h\x00e.", id="twice"),
        pytest.param(b"\x80\x04]\x94]\x94h\x00aa.", id="one between"),
        pytest.param(b"\x80\x04]\x94h\x00\x85\x94a.", id="a tuple between"),
        pytest.param(b"\x80\x04}\x94\x8c\x01ah\x00s.", id="a dict in itself"),
    ],
)
def test_lists_within_themselves(data: bytes) -> None:
    assert "within itself" in ended(data).text


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"\x80\x04X\xff\xff\xff\x7fabc", 7), (b"\x80\x04\x8d" + b"\xff" * 8 + b"abc", 11),
        (b"\x80\x04\x8b\xff\xff\xff\x7fabc", 7), (b"\x80\x04\x8c\x09abc", 4), (b"\x80\x04\x8a\x09abc", 4),
    ],
)  # fmt: skip
def test_lengths_beyond_the_file(data: bytes, offset: int) -> None:
    found = ended(data)
    assert (found.offset, found.kind) == (offset, "bad_length")


def test_a_frame_beyond_the_file() -> None:
    found, end = read(b"\x80\x04\x95" + struct.pack("<Q", 1 << 40) + b"]\x94.")
    assert found == []
    assert end is not None
    assert end.kind == "bad_length"


def test_long_texts_and_numbers_are_refused() -> None:
    size = machine.LONGEST_TEXT + 1
    assert ended(b"\x80\x04X" + struct.pack("<I", size) + bytes(size) + b".").kind == "bad_message"
    assert ended(b"\x80\x04\x8b" + struct.pack("<I", 300) + bytes(300) + b".").kind == "bad_message"


def test_depth_and_width_are_bounded() -> None:
    assert ended(b"\x80\x04" + b"](" * 1000).text.startswith("expected at most 64 lists")
    assert "values in a row" in ended(b"\x80\x04(" + b"N" * 100_000).text
    assert "keys of a dict" in ended(pickle.dumps({str(key): key for key in range(5000)})).text
    assert "as the keys" in ended(pickle.dumps({1: 2})).text


def test_lists_of_other_things_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "MOST_HELD", 5000)
    assert "besides entries" in ended(pickle.dumps(list(range(10_000)))).text


def test_texts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo, "MOST_TEXTS", 100)
    assert "texts" in ended(pickle.dumps([str(one) for one in range(1000)])).text


@pytest.mark.parametrize("rest", [b"", b"e", b"a", b"Na.", b"\x86.", b"s.", b"(Nu.", b"]", b"NN.", b"\x94.", b"\x80\x01."])
def test_opcodes_without_what_they_need(rest: bytes) -> None:
    ended(b"\x80\x04" + rest)


# Cut files -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [2, 4])
def test_a_file_cut_anywhere_shows_what_was_read(protocol: int, tmp_path: Path) -> None:
    entries = [*steady_entries(1, depth=3, stacks=5)]
    whole = b"".join(SnapshotWriter(protocol=protocol).write([entries[:40], entries[40:90]]))
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(whole)
    full = read_memory_snapshot(str(path))
    assert not full.problems
    events = full["snapshot_events"]
    assert events["device"].tolist() == [0] * 40 + [1] * 50
    before = -1
    for cut in range(len(whole) - 1, 0, -67):
        path.write_bytes(whole[:cut])
        found = read_memory_snapshot(str(path))
        some = found["snapshot_events"]
        assert found.problems
        assert before < 0 or len(some) <= before
        for name in ("action", "address", "size_bytes", "time_ns", "device"):
            assert some[name].tolist() == events[name].tolist()[: len(some)], (cut, name)
        before = len(some)
    assert before == 0


def test_pieces_of_any_size_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(b"".join(SnapshotWriter().write([steady_entries(30)])))
    whole = read_memory_snapshot(str(path))["snapshot_events"]
    for piece, margin in ((100, 64), (5000, 300), (1 << 17, 1 << 10)):
        monkeypatch.setattr("parsers.memory_snapshots.window.PIECE", piece)
        monkeypatch.setattr("parsers.memory_snapshots.window.MARGIN", margin)
        assert read_memory_snapshot(str(path))["snapshot_events"].equals(whole)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_the_expression_reads_what_single_opcodes_do(protocol: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(b"".join(SnapshotWriter(protocol=protocol).write([steady_entries(5), [], steady_entries(3)])))
    found = read_memory_snapshot(str(path))
    monkeypatch.setattr(machine, "_LEARN", 1 << 30)
    slow = read_memory_snapshot(str(path))
    assert found.problems == slow.problems == ()
    for name, frame in found.frames.items():
        assert frame.equals(slow[name]), name
    sizes = found["snapshot_frames"].groupby("stack").size().reindex(range(-1, 500), fill_value=0)
    entries = [one["frames"] for one in steady_entries(5)]
    wanted = [len(frames[1] if frames[:1] == ("again",) else frames) for frames in entries]
    assert sizes[found["snapshot_events"]["stack"]].tolist()[: len(wanted)] == wanted
