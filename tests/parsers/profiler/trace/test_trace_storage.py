"""Stored traces are what was stored, or do not open."""

from __future__ import annotations

import struct
from dataclasses import fields, replace
from pathlib import Path

import google_crc32c
import msgspec
import numpy as np
import pytest

from parsers.errors import FormatError
from parsers.model import Problem
from parsers.profiler.trace import sources, storage
from parsers.profiler.trace.columns import Trace
from tests.parsers.profiler.trace.test_chrome import KINETO


def same(one: Trace, other: Trace) -> None:
    for group in ("slices", "flows", "counters"):
        for column in fields(getattr(one, group)):
            first, second = (getattr(getattr(trace, group), column.name) for trace in (one, other))
            assert first.dtype == second.dtype
            assert first.tolist() == second.tolist()
    assert list(one.names) == list(other.names)
    for name in ("path", "origin_ns", "clock", "tracks", "categories", "series", "flow_kinds", "problems"):
        assert getattr(one, name) == getattr(other, name)


def test_a_trace_comes_back_and_is_mapped(tmp_path: Path) -> None:
    trace = sources.read(str(KINETO))
    problem = Problem(trace.path, 5, 2, "bad_trace", "text")
    trace = replace(trace, problems=(problem,), names=[*trace.names, "", "操作", "\udcff"])
    storage.write(trace, str(tmp_path / "a"))
    again = storage.open(str(tmp_path / "a"))
    same(replace(trace, names=[*trace.names[:-1], "\\udcff"]), again)
    assert not again.slices.start.flags.writeable
    assert again.names[-2] == "操作"
    assert again.names[0:2] == trace.names[0:2]
    with pytest.raises(IndexError):
        again.names[len(again.names)]
    assert again.end == trace.end
    storage.write(again, str(tmp_path / "b"))
    same(again, storage.open(str(tmp_path / "b")))
    assert sources.arguments(again, 0) == sources.arguments(trace, 0)


def test_an_empty_trace_can_be_stored(tmp_path: Path) -> None:
    storage.write(sources.empty("nothing"), str(tmp_path))
    same(storage.open(str(tmp_path)), storage.open(str(tmp_path)))
    assert len(storage.open(str(tmp_path)).slices) == 0


def test_every_damaged_byte_and_every_cut_is_noticed(tmp_path: Path) -> None:
    storage.write(sources.read(str(KINETO)), str(tmp_path))
    whole = storage.open(str(tmp_path))
    for name in (storage.HEADER, storage.COLUMNS):
        path = tmp_path / name
        data = path.read_bytes()
        for at in range(0, len(data), 7):
            path.write_bytes(data[:at] + bytes((data[at] ^ 0x41,)) + data[at + 1 :])
            try:
                opened = storage.open(str(tmp_path))
            except FormatError:
                pass
            else:
                same(opened, whole)  # what lies between the columns
            path.write_bytes(data[:at])
            with pytest.raises(FormatError):
                storage.open(str(tmp_path))
        path.write_bytes(data)
    (tmp_path / storage.HEADER).unlink()
    with pytest.raises(FileNotFoundError):
        storage.open(str(tmp_path))


def test_a_header_that_lies_with_a_right_checksum_is_refused(tmp_path: Path) -> None:
    storage.write(sources.read(str(KINETO)), str(tmp_path))
    path = tmp_path / storage.HEADER
    data = path.read_bytes()
    header = msgspec.msgpack.decode(data[24:])
    for column, value in ((1, "int64"), (1, "object"), (2, 10**12), (2, -1), (3, 64), (3, 10**15), (3, -64), (4, 7), (2, 1)):
        changed = msgspec.msgpack.decode(data[24:])
        changed["columns"][0][column] = value
        assert changed != header
        raw = msgspec.msgpack.encode(changed)
        path.write_bytes(struct.pack("<7sBQQ", storage.MAGIC, storage.VERSION, len(raw), google_crc32c.value(raw)) + raw)
        with pytest.raises(FormatError):
            storage.open(str(tmp_path))


def test_an_interrupted_write_does_not_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = sources.read(str(KINETO))
    storage.write(trace, str(tmp_path))

    class Full(Exception):
        pass

    def fail(_size: int) -> None:
        raise Full

    monkeypatch.setattr(storage, "report_read", fail)
    with pytest.raises(Full):
        storage.write(trace, str(tmp_path))
    with pytest.raises(FileNotFoundError):
        storage.open(str(tmp_path))


def test_keys_change_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"1")
    first = storage.key_of(str(path))
    path.write_bytes(b"12")
    assert storage.key_of(str(path)) != first
    (tmp_path / "b").write_bytes(b"12")
    assert len({storage.key_of(str(tmp_path / name)) for name in "ab"}) == 2
    assert np.all([len(first) == 40])
