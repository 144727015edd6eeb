"""Values of tensors, read without trusting their files."""

from __future__ import annotations

import io
import math
import pickle
import re
import tracemalloc
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from parsers.dumps.formats import reordered
from parsers.dumps.npy import parse_header
from parsers.dumps.statistics import PIECE, Sums, statistics_of, sums_of
from parsers.dumps.values import StoredTensor, TensorPlace, chunks, read_tensor, read_tensor_header
from parsers.errors import FormatError
from tests.writers.dumps import npy, torch_file, torch_pickle


class Bomb:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (exec, ("raise SystemExit('unpickled')",))


def written(folder: Path, data: bytes, name: str = "a.npy") -> TensorPlace:
    path = folder / name
    path.write_bytes(data)
    return TensorPlace(str(path))


def saved(values: Any, **more: Any) -> bytes:
    made = io.BytesIO()
    np.save(made, values, **more)
    return made.getvalue()


PLAIN = st.sampled_from(["<f4", "<f8", "<f2", ">f4", "|b1", "<i8", "|u1", "<u2", ">i4", "<c8"])


@given(
    PLAIN.flatmap(lambda kind: arrays.arrays(np.dtype(kind), arrays.array_shapes(min_dims=0, min_side=0, max_dims=4))),
    st.booleans(),
)
def test_any_array_that_numpy_saves_is_read(tmp_path_factory: pytest.TempPathFactory, values: Any, fortran: bool) -> None:
    values = np.asfortranarray(values) if fortran else values
    place = written(tmp_path_factory.mktemp("npy"), saved(values))
    assert read_tensor(place).tobytes() == values.astype(values.dtype.newbyteorder("=")).tobytes()
    header = read_tensor_header(place)
    assert (header.shape, header.dtype) == (values.shape, values.dtype.newbyteorder("=").name)
    pieces = [piece.copy() for piece in chunks(place, size_bytes=16)]
    whole = np.concatenate(pieces) if pieces else np.empty(0)
    assert whole.tobytes() == values.astype(values.dtype.newbyteorder("=")).tobytes("A" if fortran else "C")


def test_headers_of_mindspore_are_read(tmp_path: Path) -> None:
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    data = npy(values)
    assert b"(2,3,4,)" in data
    assert len(data) == 128 + values.nbytes
    assert np.array_equal(read_tensor(written(tmp_path, data)), values)
    assert parse_header("{'descr': '<f4', 'fortran_order': False, 'shape': (8,4,8,8,,), }", 128).shape == (8, 4, 8, 8)


def test_objects_are_refused_and_never_unpickled(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="never unpickled"):
        read_tensor(written(tmp_path, saved(np.array([Bomb()], object), allow_pickle=True)))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"\x93NUMP", "npy"),
        (b"GIF89a" + bytes(200), "npy"),
        (npy(np.zeros(4, np.float32))[:100], "truncated"),
        (npy(np.zeros(4, np.float32))[:-1], "truncated"),
        (npy(np.zeros(4, np.float32)) + b"\0", "does not match the bytes"),
        (b"\x93NUMPY\x09\x00" + bytes(200), "version"),
        (saved(np.zeros(2, [("a", "<f4"), ("b", "<i4")])), "structure"),
        (b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + b"__import__('os')".ljust(118), "wrong header"),
        (b"\x93NUMPY\x02\x00" + (1 << 31).to_bytes(4, "little") + b"{" * 100, "header of at most"),
    ],
)
def test_damage_is_refused_with_a_reason(tmp_path: Path, data: bytes, why: str) -> None:
    for read in (read_tensor, read_tensor_header, lambda place: list(chunks(place))):
        with pytest.raises(FormatError, match=why):
            read(written(tmp_path, data))


@given(st.text(max_size=80))
def test_no_header_raises_anything_else(text: str) -> None:
    for one in (text, "{" + text + "}", f"{{'descr': '{text}', 'fortran_order': False, 'shape': (1,), }}"):
        try:
            assert parse_header(one, 0).dtype.itemsize
        except FormatError:
            pass


def test_shapes_beyond_memory_are_refused_without_allocating(tmp_path: Path) -> None:
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({10**17}, {10**17}), }}".ljust(117).encode() + b"\n"
    data = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + head
    with pytest.raises(FormatError, match="truncated"):
        read_tensor(written(tmp_path, data))


def with_header(text: str, length: int = 0, values: int = 4) -> bytes:
    """Return a file of version 2 whose header is a text, padded to a length, and some bytes of values."""
    head = text.encode().ljust(length)
    return b"\x93NUMPY\x02\x00" + len(head).to_bytes(4, "little") + head + bytes(values)


def described(descr: str = "<f4", shape: str = "1,", more: str = "") -> str:
    return f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), {more}}}"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (with_header(described(), (1 << 16) + 1), "header of at most 65,536 bytes, found 65,537"),
        (with_header(described(shape="1," * 65)), "up to 64 dimensions"),
        (with_header(described(shape="9" * 19 + ",")), "dimensions"),
        (with_header(described(shape="9" * 5000 + ",")), "dimensions"),
        (with_header(described("<U0"), values=0), "a type of numbers, found '<U0'"),
        (with_header(described("<i4,<f4"), values=8), "a type of numbers, found '<i4,<f4'"),
        (with_header(described("<M8[s]"), values=8), "a type of numbers"),
        (with_header(described("V4")), "a type of numbers"),
        (with_header(described(more="'shape': (2,), "), values=8), "wrong header"),
        (with_header(described(), 100)[:40], "truncated: expected a header of 100 bytes, found 28"),
    ],
)
def test_each_limit_of_a_header_is_named(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(FormatError, match=re.escape(why)):
        read_tensor(written(tmp_path, data))


def test_headers_at_their_limits_are_read(tmp_path: Path) -> None:
    assert read_tensor(written(tmp_path, with_header(described(), 1 << 16))).tolist() == [0.0]
    assert read_tensor(written(tmp_path, with_header(described(shape="1," * 64)))).ndim == 64
    assert read_tensor(written(tmp_path, with_header(described(shape=f"0,{10**18 - 1}"), values=0))).shape == (0, 10**18 - 1)


# Files of torch -------------------------------------------------------------------------------------------------------------


def test_a_torch_file_is_read_without_torch(tmp_path: Path) -> None:
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    data = torch_file(torch_pickle("FloatStorage", (3, 4), (4, 1), 0, 12), values.tobytes())
    place = written(tmp_path, data, "a.pt")
    assert np.array_equal(read_tensor(place), values)
    assert read_tensor_header(place).dtype == "float32"
    assert np.array_equal(np.concatenate([piece.copy() for piece in chunks(place, size_bytes=8)]), values.ravel())


def test_views_of_torch_storages_are_read(tmp_path: Path) -> None:
    values = np.arange(12, dtype=np.int64)
    data = torch_file(torch_pickle("LongStorage", (2, 3), (1, 4), 1, 12), values.tobytes())
    wanted = np.lib.stride_tricks.as_strided(values[1:], (2, 3), (8, 32))
    place = written(tmp_path, data, "a.pt")
    assert np.array_equal(read_tensor(place), wanted)
    assert np.array_equal(np.concatenate(list(chunks(place))), wanted.ravel())


def test_bfloat16_is_the_upper_half_of_float32(tmp_path: Path) -> None:
    values = np.array([1.0, -2.5, np.inf, 3.1415927], np.float32)
    upper = (values.view(np.uint32) >> 16).astype("<u2")
    found = read_tensor(
        written(tmp_path, torch_file(torch_pickle("BFloat16Storage", (4,), (1,), 0, 4), upper.tobytes()), "a.pt")
    )
    assert found.dtype == np.float32
    assert np.array_equal(found.view(np.uint32), upper.astype(np.uint32) << 16)


LONG = 1 << 2000
"""Ten times as many digits are more than Python writes."""


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (pickle.dumps(Bomb(), 2), "nothing in a file is run"),
        (pickle.dumps([1, 2], 2), "opcode"),
        (b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R.", "nothing in a file is run"),
        (b"\x80\x02", "pickle|no end"),
        (b"\x80\x02N.", "something else"),
        (torch_pickle("FloatStorage", (5,), (1,), 0, 4), "does not match the bytes"),
        (torch_pickle("FloatStorage", (4,), (1,), -1, 4), "from 0"),
        (torch_pickle("FloatStorage", (1 << 20, 1 << 20), (0, 0), 0, 4), "at most 64 times"),
        (torch_pickle("FloatStorage", (2,), (1,), 0, 40), "does not match the bytes"),
        (torch_pickle("FloatStorage", (LONG,) * 10, (0,) * 10, 0, 4), "arguments of a tensor"),
        (torch_pickle("FloatStorage", (2,), (1,), -LONG, 4), "arguments of a tensor"),
        (torch_pickle("FloatStorage", (2,), (1,), 0, LONG), "size of a storage"),
    ],
)
def test_other_pickles_are_refused(tmp_path: Path, record: bytes, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        read_tensor(written(tmp_path, torch_file(record, bytes(16)), "a.pt"))


def test_damaged_archives_are_refused(tmp_path: Path) -> None:
    data = torch_file(torch_pickle("FloatStorage", (4,), (1,), 0, 4), bytes(16))
    for at in range(0, len(data), 7):
        for damaged in (data[:at], data[:at] + bytes((data[at] ^ 0xFF,)) + data[at + 1 :]):
            try:
                assert read_tensor(written(tmp_path, damaged, "a.pt")).size <= 256
            except FormatError:
                pass
    packed = torch_file(torch_pickle("FloatStorage", (4,), (1,), 0, 4), bytes(16), method=zipfile.ZIP_DEFLATED)
    with pytest.raises(FormatError):
        read_tensor(written(tmp_path, packed, "a.pt"))


# Layouts of devices ---------------------------------------------------------------------------------------------------------


def test_channels_in_blocks_become_those_of_the_host() -> None:
    host = np.arange(2 * 20 * 3 * 5, dtype=np.float32).reshape(2, 20, 3, 5)
    padded = np.zeros((2, 32, 3, 5), np.float32)
    padded[:, :20] = host
    on_device = padded.reshape(2, 2, 16, 3, 5).transpose(0, 1, 3, 4, 2)
    assert np.array_equal(reordered(on_device, "NC1HWC0", host.shape), host)


def test_fractal_matrices_become_those_of_the_host() -> None:
    host = np.arange(3 * 20 * 30, dtype=np.float32).reshape(3, 20, 30)
    padded = np.zeros((3, 32, 32), np.float32)
    padded[:, :20, :30] = host
    on_device = padded.reshape(3, 2, 16, 2, 16).transpose(0, 3, 1, 2, 4)
    assert np.array_equal(reordered(on_device, "FRACTAL_NZ", host.shape), host)


@pytest.mark.parametrize("name", ["FRACTAL_Z", "format 99", "NC1HWC0_C04"])
def test_private_layouts_are_refused_by_name(name: str) -> None:
    with pytest.raises(FormatError, match=name):
        reordered(np.zeros((1, 1, 2, 2, 16), np.float32), name, (1, 3, 2, 2))


# Statistics -----------------------------------------------------------------------------------------------------------------


def reference(values: Any) -> dict[str, float]:
    """The statistics by plain numpy, of the finite part."""
    wide = np.asarray(values, np.float64).ravel()
    finite = wide[np.isfinite(wide)]
    counts = {
        "count": wide.size, "zero": int((wide == 0).sum()), "negative": int((wide < 0).sum()),
        "positive": int((wide > 0).sum()), "nan": int(np.isnan(wide).sum()), "positive_inf": int((wide == np.inf).sum()),
        "negative_inf": int((wide == -np.inf).sum()),
    }  # fmt: skip
    if not finite.size:
        return counts
    moments = {"max": finite.max(), "min": finite.min(), "mean": finite.mean(), "std": finite.std()}
    return counts | moments | {"l2": np.sqrt((finite**2).sum()), "abs_mean": np.abs(finite).mean()}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int64", "uint8", "uint64", "bool"])
@pytest.mark.parametrize("bad", ["", "nan", "all", "inf"])
def test_statistics_are_those_of_numpy(dtype: str, bad: str) -> None:
    rng = np.random.default_rng(3)
    values = (rng.normal(2.0, 30.0, 3 * PIECE + 17)).astype(dtype)
    values[5:90] = 0
    if bad and values.dtype.kind == "f":
        values[:: {"nan": 7, "all": 1, "inf": 11}[bad]] = np.nan if bad != "inf" else np.inf
        values[100] = -np.inf if bad == "inf" else values[100]
    found = statistics_of(np.array_split(values, 5))
    for name, wanted in reference(values).items():
        assert getattr(found, name) == pytest.approx(wanted, rel=1e-9, abs=1e-9), name


def test_a_large_mean_does_not_swallow_the_deviation() -> None:
    values = 1e8 + np.random.default_rng(1).normal(0.0, 1e-3, 500_000)
    assert statistics_of([values]).std == pytest.approx(values.std(), rel=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
@pytest.mark.parametrize("centre", [0.0, 0.5, 0.99, 1.01, 3.0, -1e3, 2e4])
def test_the_deviation_is_exact_however_large_the_mean_is(centre: float, dtype: type) -> None:
    scale = 100 if dtype is np.int32 else 1
    values = ((np.random.default_rng(7).standard_normal(3 * PIECE + 8193) + centre) * scale).astype(dtype)
    exact = values.astype(np.float64).tolist()
    mean = math.fsum(exact) / len(exact)
    std = math.sqrt(math.fsum((one - mean) ** 2 for one in exact) / len(exact))
    found = statistics_of([values[:5], values[5:]])
    assert found.std == pytest.approx(std, rel=1e-13)
    assert found.mean == pytest.approx(mean, rel=1e-13, abs=1e-14 * std)
    assert found.l2 == pytest.approx(math.sqrt(math.fsum(one * one for one in exact)), rel=1e-13)
    assert found.abs_mean == pytest.approx(math.fsum(map(abs, exact)) / len(exact), rel=1e-13)


@pytest.mark.parametrize(("value", "count"), [(1e200, 4), (-1e200, 4), (3.0, 9000), (0.0, 70_000)])
def test_equal_values_have_no_deviation_even_if_their_squares_exceed_float64(value: float, count: int) -> None:
    found = statistics_of([np.full(count, value)])
    assert (found.std, found.mean, found.abs_mean) == (0.0, value, abs(value))


def test_empty_and_scalar_tensors_have_statistics() -> None:
    assert statistics_of([]).count == statistics_of([np.empty(0, np.float32)]).count == 0
    assert statistics_of([np.asarray(np.float32(3.0))]).l2 == 3.0
    assert statistics_of([np.array(["a"])]).count == -1
    assert statistics_of([np.array([3 + 4j])]).max == 5.0


@pytest.mark.long
def test_a_large_file_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.npy"
    count = 64 << 20
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({count},), }}".ljust(117).encode() + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + head)
        file.truncate(128 + 4 * count)
    tracemalloc.start()
    found = statistics_of(chunks(TensorPlace(str(path))))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.count == found.zero == count
    assert peak < 8 << 20


SMALL = arrays.array_shapes(min_dims=0, min_side=0, max_dims=4, max_side=5)


@given(PLAIN.flatmap(lambda kind: arrays.arrays(np.dtype(kind), SMALL)), st.booleans(), st.data())
def test_parts_of_a_file_are_those_of_the_array(
    tmp_path_factory: pytest.TempPathFactory, values: Any, fortran: bool, data: st.DataObject
) -> None:
    values = np.asfortranarray(values) if fortran else values
    found = StoredTensor(written(tmp_path_factory.mktemp("npy"), saved(values)))
    assert (found.shape, found.size, found.ndim) == (values.shape, values.size, values.ndim)
    assert found.dtype == values.dtype.newbyteorder("=")
    index = []
    for size in values.shape:
        start, stop = data.draw(st.integers(0, size)), data.draw(st.integers(0, size))
        whole = data.draw(st.sampled_from(["all", "part", "one"])) if size else "all"
        index.append({"all": slice(None), "part": slice(start, stop), "one": min(start, size - 1)}[whole])
    wanted = np.asarray(values[tuple(index)]).astype(found.dtype)
    got = found[tuple(index)]
    assert (got.shape, got.tobytes()) == (wanted.shape, wanted.tobytes())
    begin, count = data.draw(st.integers(0, values.size)), data.draw(st.integers(1, 7))
    pieces = [piece.copy() for piece in found.pieces(begin, count)]
    assert [len(piece) for piece in pieces[:-1]] == [count] * (len(pieces) - 1)
    rows = values.astype(found.dtype).reshape(-1)
    assert b"".join(piece.tobytes() for piece in pieces) == rows[begin:].tobytes()


def test_parts_of_a_file_that_was_cut_are_refused(tmp_path: Path) -> None:
    place = written(tmp_path, saved(np.arange(1000, dtype=np.float32)))
    found = StoredTensor(place)
    Path(place.path).write_bytes(saved(np.arange(1000, dtype=np.float32))[:2000])
    assert found[(slice(0, 10),)].tolist() == list(range(10))
    with pytest.raises(FormatError, match="cut"):
        found[(slice(0, 1000),)]


def test_parts_of_bfloat16_and_of_strided_tensors(tmp_path: Path) -> None:
    raw = np.arange(12, dtype=np.uint16) + 0x3F80
    record = torch_pickle("BFloat16Storage", (3, 4), (1, 3), 0, 12)
    place = written(tmp_path, torch_file(record, raw.tobytes()), "a.pt")
    found = StoredTensor(place)
    assert np.array_equal(found[(slice(1, 3), 2)], read_tensor(place)[1:3, 2])
    assert found.dtype == np.float32


@pytest.mark.parametrize("spread", [0, 1, 30, 1 << 40])
@pytest.mark.parametrize(("dtype", "centre"), [
    (np.int64, 1 << 62), (np.int64, -(1 << 62)), (np.uint64, (1 << 63) + (1 << 62)), (np.int64, 1 << 38), (np.int64, 0),
])  # fmt: skip
def test_64_bit_integers_keep_a_small_spread(dtype: type, centre: int, spread: int) -> None:
    rng = np.random.default_rng(spread % 1000)
    integers = [max(centre + round(float(one) * spread), 0 if dtype is np.uint64 else -(1 << 63))
                for one in rng.uniform(-1.7, 1.7, PIECE // 4)]  # fmt: skip
    values = np.array([min(one, np.iinfo(dtype).max) for one in integers], dtype)
    exact = [int(one) for one in values.tolist()]
    total = sum(exact)
    squares = sum(one * one for one in exact)
    variance = Fraction(squares, len(exact)) - Fraction(total, len(exact)) ** 2
    for pieces in ([values], [values[:1], values[1:9000], values[9000:]]):
        joined = Sums()
        for piece in pieces:
            joined.join(sums_of([piece]))
        for found in (statistics_of(pieces), joined.found()):
            assert found.std == pytest.approx(math.sqrt(variance), rel=1e-9)
            assert found.mean == pytest.approx(total / len(exact), rel=1e-12, abs=1e-9 * math.sqrt(variance))
            assert found.l2 == pytest.approx(math.sqrt(squares), rel=1e-9)
            assert (found.min, found.max) == (float(min(exact)), float(max(exact)))


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1, max_size=30), st.booleans(), st.integers(1, 30))
def test_64_bit_integers_of_the_whole_range_do_not_overflow(whole: list[int], unsigned: bool, first: int) -> None:
    exact = [one + (1 << 63) for one in whole] if unsigned else whole
    values = np.array(exact, np.uint64 if unsigned else np.int64)
    found = statistics_of([values[:first], values[first:]])
    mean = Fraction(sum(exact), len(exact))
    variance = sum((one - mean) ** 2 for one in exact) / len(exact)
    extent = max(exact) - min(exact)
    assert found.std == pytest.approx(math.sqrt(variance), rel=1e-9)
    assert found.mean == pytest.approx(float(mean), rel=1e-12, abs=1e-9 * extent + 1e-9)
