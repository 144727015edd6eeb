"""Views against a count of every slice, with and without a pyramid."""

from __future__ import annotations

import json
import os
import struct
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.errors import FormatError
from parsers.profiler.trace import lanes, pyramid, sources, views
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.views import TraceView
from tests.writers.traces import trace, traces

Big = tuple[int, int]
Small = dict[tuple[int, int], tuple[int, int, int]]


@pytest.fixture(autouse=True)
def levels_for_few_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small traces get levels, and are written in several groups, as large ones are."""
    monkeypatch.setattr(pyramid, "_FEW", 1)
    monkeypatch.setattr(pyramid, "_ENOUGH", 0)
    monkeypatch.setattr(pyramid, "_ROWS", 30)


def counted(made: Trace, chosen: list[int], k: int, b0: int, n: int) -> tuple[list[Big], Small]:
    """(lane, row) of slices of a bucket or more, and (starts, busy ns, longest row) of buckets by (lane, bucket)."""
    first, size, slices = lanes.numbering(made).tolist(), 1 << k, made.slices
    big: list[Big] = []
    runs: dict[tuple[int, int], list[tuple[int, int, int, int]]] = {}
    for place, number in enumerate(chosen):
        for row in range(len(slices)):
            if first[slices.track[row]] + slices.depth[row] != number:
                continue
            start, duration = int(slices.start[row]), int(slices.duration[row])
            if duration >= size:
                if start < (b0 + n) * size and start + duration > b0 * size:
                    big.append((place, row))
                continue
            touched = {start // size} | {ns // size for ns in range(start, start + duration)}
            for bucket in touched & set(range(b0, b0 + n)):
                inside = sum(1 for ns in range(start, start + duration) if ns // size == bucket)
                runs.setdefault((place, bucket - b0), []).append((duration, -row, inside, int(start // size == bucket)))
    cells = {
        cell: (sum(run[3] for run in them), sum(run[2] for run in them), -max(them)[1]) for cell, them in sorted(runs.items())
    }
    return big, cells


def found(view: TraceView) -> tuple[list[Big], Small]:
    cells = zip(view.small_lane, view.bucket, view.count, view.busy, view.longest, strict=True)
    return (
        list(zip(view.lane.tolist(), view.row.tolist(), strict=True)),
        {(int(lane), int(bucket)): (int(count), int(busy), int(row)) for lane, bucket, count, busy, row in cells},
    )


def built(made: Trace, folder: str) -> pyramid.Pyramid:
    pyramid.build(made, folder)
    return pyramid.open(folder)


@given(
    made=traces(), k=st.integers(0, 9), b0=st.integers(-3, 60), n=st.integers(0, 50),
    shuffled=st.randoms(use_true_random=False), some=st.integers(0, 12),
)  # fmt: skip
def test_against_brute_force(made: Trace, k: int, b0: int, n: int, shuffled: object, some: int) -> None:
    chosen = list(range(int(lanes.numbering(made)[-1]) + 1))
    shuffled.shuffle(chosen)  # type: ignore[attr-defined]
    chosen = chosen[: max(some, 1)]
    expected = counted(made, chosen, k, b0, n)
    assert found(views.view(made, None, chosen, k, b0, n)) == expected
    with tempfile.TemporaryDirectory() as folder:
        assert found(views.view(made, built(made, folder), chosen, k, b0, n)) == expected


def test_levels_are_made_and_used() -> None:
    # the property above compares little if no level is ever stored
    made = trace({"t": [(start, 3, "x") for start in range(0, 4000, 5)]})
    with tempfile.TemporaryDirectory() as folder:
        levels = built(made, folder)
        assert len(levels.level_key) >= 5
        assert len(levels.level_row) < 2 * len(made.slices)
        shown = views.view(made, levels, [0], 7, 0, 32)
        assert shown.count.sum() == 800
        assert shown.busy.sum() == 2400
        assert found(shown) == counted(made, [0], 7, 0, 32)


def test_an_empty_trace() -> None:
    made = trace({})
    with tempfile.TemporaryDirectory() as folder:
        for levels in (None, built(made, folder)):
            assert views.view(made, levels, [0, 1], 3, 0, 100).packed() == bytes(8) + b"\x01\x01\x01\0"
            assert views.view(made, levels, [], 3, 0, 100).packed() == bytes(8) + b"\x01\x01\x01\0"


def test_a_slice_one_year_long_and_one_of_the_largest_class() -> None:
    year = 365 * 86_400 * 10**9
    made = trace({"t": [(0, year, "x"), (year, 2**60 - 1, "y"), (2**60 + year, 2**60, "z")]})
    with tempfile.TemporaryDirectory() as folder:
        levels = built(made, folder)
        assert views.view(made, levels, [0], 60, 0, 2).row.tolist() == [2]
        assert views.view(made, levels, [0], 60, 0, 2).count.tolist() == [2, 0]
        assert views.view(made, levels, [0], 59, 0, 4).row.tolist() == [1, 2]
        shown = views.view(made, levels, [0], 0, year - 100, 200)
        assert shown.row.tolist() == [0, 1]
        x = struct.unpack_from("<4f", shown.packed(), 12)
        assert x == (-200.0, 100.0, 300.0, 300.0)  # cut n buckets from the window, so that the ends are exact


def test_packed() -> None:
    made = trace({"a": [(0, 64, "long"), (8, 4, "short"), (14, 4, "short")], "b": [(40, 8, "long")]})
    data = views.view(made, None, [2, 1, 0], 3, 1, 7).packed()
    assert struct.unpack_from("<2I4B", data) == (2, 2, 1, 1, 1, 0)
    at = 12
    fields = {}
    for name, form, count in [
        ("x", "f", 2), ("width", "f", 2), ("name", "I", 2), ("row", "I", 2), ("lane", "H", 2), ("category", "B", 2),
        ("bucket", "B", 2), ("count", "B", 2), ("longest", "I", 2), ("small_lane", "B", 2), ("busy", "B", 2),
    ]:  # fmt: skip
        fields[name] = struct.unpack_from(f"<{count}{form}", data, at)
        at += -(-struct.calcsize(f"<{count}{form}") // 4) * 4
    assert at == len(data)
    assert fields["x"] == (4.0, -1.0)
    assert fields["width"] == (1.0, 8.0)
    assert [made.names[name] for name in fields["name"]] == ["long", "long"]
    assert (fields["row"], fields["lane"]) == ((3, 0), (0, 2))
    assert fields["bucket"] == (0, 1)
    assert fields["count"] == (2, 0)
    assert fields["longest"] == (1, 2)
    assert fields["small_lane"] == (1, 1)
    assert fields["busy"] == (191, 64)  # 6 and 2 of 8 ns


@pytest.mark.parametrize(("most", "width"), [(0, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4), (2**32 - 1, 4)])
@pytest.mark.parametrize("wide", ["bucket", "count", "small_lane"])
def test_buckets_counts_and_lanes_are_packed_as_narrow_as_they_fit(wide: str, most: int, width: int) -> None:
    none, one = np.empty(0, np.int64), np.array([3, 7, 7])
    shown = TraceView(3, 0, 100, none, none, none, none, none, none, one, one, one, one, one)
    data = replace(shown, **{wide: np.array([0, most, 1])}).packed()
    names = ("bucket", "count", "small_lane")
    assert struct.unpack_from("<2I4B", data) == (0, 3, *(width if name == wide else 1 for name in names), 0)
    at = 12
    for name in ("bucket", "count", "longest", "small_lane", "busy"):
        form = {1: "u1", 2: "<u2", 4: "<u4"}[width if name == wide else 4 if name == "longest" else 1]
        found = np.frombuffer(data, form, 3, at).tolist()
        assert name == "busy" or found == ([0, most, 1] if name == wide else one.tolist())
        at += -(-3 * np.dtype(form).itemsize // 4) * 4
    assert at == len(data)


@pytest.mark.parametrize(
    ("k", "b0", "n"), [(-1, 0, 1), (61, 0, 1), (0, 0, -1), (0, 0, 2**21), (40, 2**40, 1), (0, -(2**62), 1)]
)
def test_windows_that_cannot_be(k: int, b0: int, n: int) -> None:
    with pytest.raises(ValueError, match="expected a window"):
        views.view(trace({}), None, [0], k, b0, n)


def test_more_lanes_than_two_bytes_count() -> None:
    with pytest.raises(ValueError, match="65536 lanes"):
        views.view(trace({}), None, range(65_537), 0, 0, 1)


@pytest.mark.parametrize("name", ["class_row", "class_first", "class_key", "level_row", "level_first", "level_key"])
def test_lists_that_do_not_fit(tmp_path: Path, name: str) -> None:
    pyramid.build(trace({"t": [(start, 3, "x") for start in range(0, 4000, 5)]}), str(tmp_path))
    path = tmp_path / f"{name}.bin"
    path.write_bytes(b"\xff" * path.stat().st_size)
    with pytest.raises(FormatError, match="do not fit"):
        pyramid.open(str(tmp_path))


@pytest.fixture
def written(tmp_path: Path) -> Path:
    pyramid.build(trace({"t": [(0, 9, "x"), (10, 3, "y")]}), str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("header", ["", "[]", "{}", '{"version": 1}', "\x00", '{"version": 9, "lengths": {}, "numbers": []}'])
def test_a_damaged_header(written: Path, header: str) -> None:
    (written / "pyramid.json").write_text(header)
    with pytest.raises(FormatError):
        pyramid.open(str(written))


def test_another_version(written: Path) -> None:
    header = json.loads((written / "pyramid.json").read_text())
    (written / "pyramid.json").write_text(json.dumps(header | {"version": 99}))
    with pytest.raises(FormatError, match="expected version"):
        pyramid.open(str(written))


def test_a_file_that_was_cut(written: Path) -> None:
    for name in os.listdir(written):
        if (size := (written / name).stat().st_size) and name.endswith(".bin"):
            content = (written / name).read_bytes()
            (written / name).write_bytes(content[: size - 1])
            with pytest.raises(FormatError, match="bytes"):
                pyramid.open(str(written))
            (written / name).write_bytes(content)
    assert len(pyramid.open(str(written)).class_row) == 2


def test_a_pyramid_being_built_cannot_be_opened(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cancel(done: int, all_: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        pyramid.build(trace({"t": [(0, 9, "x")]}), str(written), progress=cancel)
    with pytest.raises(FileNotFoundError):
        pyramid.open(str(written))


@pytest.mark.parametrize("duration", [0, 1, 2, 3, 4, 2**53 - 1, 2**53, 2**60 - 1, 2**60, 2**62])
def test_classes_are_exact(duration: int) -> None:
    assert pyramid.classes(np.array([duration])).tolist() == [duration.bit_length() - 1]


def test_views_of_a_real_trace(real_data: Path, tmp_path: Path) -> None:
    path = real_data / "profiler_new/torch_npu_text_level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"
    made = sources.read(str(path))
    levels = built(made, str(tmp_path))
    slices, numbers = made.slices, lanes.numbering(made)
    number = numbers[slices.track] + slices.depth
    end = slices.start + slices.duration
    rng = np.random.default_rng(5)
    for k in range(28):
        size, n = 1 << k, 1500
        b0 = int(rng.integers(-n // 2, max(made.end >> k, 1)))
        shown = views.view(made, levels, range(int(numbers[-1])), k, b0, n)
        long = slices.duration >= size
        seen = np.flatnonzero(long & (slices.start < (b0 + n) * size) & (end > b0 * size))
        assert sorted(shown.row.tolist()) == seen.tolist()
        assert shown.lane.tolist() == number[shown.row].tolist()
        starts = slices.start[~long] // size - b0
        inside = (starts >= 0) & (starts < n)
        expected = np.zeros((int(numbers[-1]), n), np.int64)
        np.add.at(expected, (number[~long][inside], starts[inside]), 1)
        counts = np.zeros_like(expected)
        counts[shown.small_lane, shown.bucket] = shown.count
        assert np.array_equal(counts, expected)
        busy = np.zeros_like(expected)
        for lane, start, stop in zip(number[~long].tolist(), slices.start[~long].tolist(), end[~long].tolist(), strict=True):
            for bucket in {start // size, (stop - 1) // size if stop > start else start // size}:
                if b0 <= bucket < b0 + n:
                    busy[lane, bucket - b0] += min(stop, (bucket + 1) * size) - max(start, bucket * size)
        drawn = np.zeros_like(expected)
        drawn[shown.small_lane, shown.bucket] = shown.busy
        assert np.array_equal(drawn, busy)
