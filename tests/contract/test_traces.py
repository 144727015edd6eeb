"""What every trace promises, tried on a sample of each kind of file that holds one."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers import open_run
from parsers.profiler.registry import FILE_KINDS
from parsers.profiler.trace import sources
from parsers.profiler.trace.files import SOURCES, TRACE_FILES
from parsers.profiler.trace.frames import COUNTERS, FLOWS, SLICES, TRACKS
from tests.contract.samples import PROFILE_SAMPLES
from tests.parsers.profiler.trace.test_chrome import check

DAMAGED = 40
"""Positions of a sample that are damaged or cut, at most."""
every_kind = pytest.mark.parametrize("kind", [kind.name for kind in TRACE_FILES])


def sample_of(kind: str) -> Path:
    assert kind in PROFILE_SAMPLES, f"put a sample of {kind} under tests/data/<producer>/<version>/"
    return PROFILE_SAMPLES[kind][0]


def test_every_kind_is_registered() -> None:
    assert set(SOURCES) <= set(FILE_KINDS)
    assert {kind.name for kind in TRACE_FILES} <= set(SOURCES)


def test_schemas_say_what_columns_are_and_in_which_unit() -> None:
    for schema in (SLICES, TRACKS, FLOWS, COUNTERS):
        assert schema.doc
        for column in schema.columns:
            assert column.doc, (schema.name, column.name)
            assert (column.unit == "ns") == column.name.endswith("_ns")


@every_kind
def test_its_sample_opens_as_a_run(kind: str, tmp_path: Path) -> None:
    sample = sample_of(kind)
    (tmp_path / sample.name).write_bytes(sample.read_bytes())
    for place in (tmp_path, tmp_path / sample.name):
        (profile,) = open_run(place).profile.values()
        frames = profile.trace
        check(frames.columns)
        assert len(SLICES.check(frames.slices))
        assert len(TRACKS.check(frames.tracks))
        FLOWS.check(frames.flows)
        COUNTERS.check(frames.counters)
        assert profile.trace is frames
        assert len(frames.window(0, frames.columns.end + 1)) == len(frames.slices)
        assert not len(frames.window(-5, 0))
        for row in range(len(frames.slices)):
            assert isinstance(frames.arguments(row), dict)


@every_kind
def test_neither_a_flipped_byte_nor_a_cut_raises(kind: str, tmp_path: Path) -> None:
    data = sample_of(kind).read_bytes()
    path = tmp_path / "trace.json"
    for at in range(0, len(data), max(1, len(data) // DAMAGED)):
        for damaged in (data[:at], data[:at] + bytes((data[at] ^ 0xFF,)) + data[at + 1 :]):
            path.write_bytes(damaged)
            trace = sources.read(str(path))
            check(trace)
            if damaged == data[:at]:
                assert trace.problems


def test_a_missing_file_gives_nothing_and_says_so(tmp_path: Path) -> None:
    for path in (tmp_path / "trace.json", tmp_path):
        trace = sources.read(str(path))
        check(trace)
        assert [problem.kind for problem in trace.problems] == ["unreadable"]
