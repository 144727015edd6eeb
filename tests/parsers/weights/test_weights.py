"""Weights in checkpoints of every format: written by independent writers, read by name, and damaged."""

from __future__ import annotations

import contextlib
import json
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from parsers.errors import FormatError
from parsers.recording.wire import delimited, number
from parsers.weights import opened
from parsers.weights.safetensors import header_size
from tests.writers.dumps import torch_file, torch_pickle

TORCH = Path(__file__).parents[2] / "data/torch/2.13"
TYPES = {"Float32": "<f4", "Float64": "<f8", "Float16": "<f2", "Int32": "<i4", "Bool": "?"}
NAMES = st.text("ab.0_", min_size=1, max_size=12)
TENSORS = st.dictionaries(
    NAMES,
    st.sampled_from(("<f4", "<f8", "<f2", "<i4")).flatmap(
        lambda kind: arrays.arrays(np.dtype(kind), arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    ),
    max_size=4,
)


def mindspore_value(tag: str, kind: str, dims: tuple[int, ...], content: bytes) -> bytes:
    tensor = b"".join(number(1, size) for size in dims) + delimited(2, kind.encode()) + delimited(3, content)
    return delimited(1, delimited(1, tag.encode()) + delimited(2, tensor))


def mindspore(tensors: Mapping[str, np.ndarray]) -> bytes:
    kinds = {np.dtype(text): kind for kind, text in TYPES.items()}
    return b"".join(mindspore_value(name, kinds[one.dtype], one.shape, one.tobytes()) for name, one in tensors.items())


def safetensors(tensors: Mapping[str, np.ndarray]) -> bytes:
    kinds = {"<f4": "F32", "<f8": "F64", "<f2": "F16", "<i4": "I32"}
    header, content = {}, b""
    for name, one in tensors.items():
        place = [len(content), len(content) + one.nbytes]
        header[name] = {"dtype": kinds[one.dtype.str], "shape": list(one.shape), "data_offsets": place}
        content += one.tobytes()
    text = json.dumps({"__metadata__": {"format": "np"}, **header}).encode()
    return struct.pack("<Q", len(text)) + text + content


def described(**others: Any) -> bytes:
    """Return a file of safetensors whose one tensor has other numbers."""
    header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} | others}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(8)


def torch(shape: tuple[int, ...] = (2,), stride: tuple[int, ...] = (1,), first: int = 0, count: int = 2) -> bytes:
    """Return a checkpoint of torch with one tensor."""
    record = torch_pickle("FloatStorage", shape, stride, first, count)
    return torch_file(b"\x80\x02}X\x01\x00\x00\x00w" + record[2:-1] + b"s.", bytes(8))


def read(path: Path) -> dict[str, np.ndarray]:
    with opened(str(path)) as weights:
        found = {name: weights.read(name) for name in weights.tensors}
        for name, one in found.items():
            pieces = list(weights.blocks(name, 3))
            assert np.array_equal(np.concatenate(pieces) if pieces else one.ravel(), one.ravel(), equal_nan=True)
    return found


def expect(found: Mapping[str, np.ndarray], tensors: Mapping[str, np.ndarray]) -> None:
    assert list(found) == list(tensors)
    for name, one in tensors.items():
        wanted = one.astype(np.float32) if one.dtype == np.float16 else one
        assert (found[name].dtype, found[name].shape) == (wanted.dtype, wanted.shape)
        assert np.array_equal(found[name], wanted, equal_nan=True)


@pytest.mark.parametrize("form", ["mindspore", "safetensors", "numpy"])
@given(tensors=TENSORS)
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, form: str, tensors: dict[str, np.ndarray]) -> None:
    path = tmp_path_factory.mktemp("weights") / "any.name"
    if form == "numpy":
        with path.open("wb") as stream:
            np.savez(stream, **tensors)
    else:
        path.write_bytes((mindspore if form == "mindspore" else safetensors)(tensors))
    if not tensors:
        if form == "safetensors":
            assert read(path) == {}
        return
    expect(read(path), tensors)


def test_arrays_of_numpy_whose_first_index_runs_fastest(tmp_path: Path) -> None:
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    np.savez(tmp_path / "a.npz", w=array)
    assert np.array_equal(read(tmp_path / "a.npz")["w"], array)


def test_a_large_tensor_of_mindspore_is_several_values_of_one_tag(tmp_path: Path) -> None:
    array = np.arange(10, dtype="<f4").reshape(2, 5)
    content = b"".join(mindspore_value("w", "Float32", (2, 5), array.tobytes()[at : at + 16]) for at in range(0, 40, 16))
    scalar = mindspore_value("step", "Int32", (), np.int32(7).tobytes()) + mindspore_value("name", "str", (), b"adam")
    (tmp_path / "a.ckpt").write_bytes(content + scalar + b"crc_num" + bytes(10))
    found = read(tmp_path / "a.ckpt")
    assert np.array_equal(found["w"], array)
    assert (found["step"].shape, int(found["step"]), "name" in found) == ((), 7, False)


def test_bfloat16_becomes_float32(tmp_path: Path) -> None:
    (tmp_path / "a.ckpt").write_bytes(mindspore_value("w", "BFloat16", (2,), struct.pack("<HH", 0x3FC0, 0xC000)))
    assert read(tmp_path / "a.ckpt")["w"].tolist() == [1.5, -2.0]


@pytest.mark.parametrize("name", ["state_dict.pt", "nested.pt"])
def test_checkpoints_of_torch(name: str) -> None:
    """Their values are beside them, as torch printed them (README.md there)."""
    wanted = json.loads((TORCH / "state_dict.json").read_text())
    found = read(TORCH / name)
    assert {key: one.astype(float).tolist() for key, one in found.items()} == wanted


def test_views_of_torch_are_read_in_the_order_of_their_shape() -> None:
    found = read(TORCH / "views.pt")
    assert found["transposed"].tolist() == np.arange(12.0).reshape(3, 4).T.tolist()
    assert found["half"].tolist() == [1.5, 1.5, 1.5]
    assert found["part"].tolist() == [4.0, 5.0, 6.0, 7.0]


def test_what_mindspore_wrote(real_data: Path) -> None:
    path = next((real_data / "tuner/summaries").glob("*/ckpt_dir/*_1_step.ckpt"))
    found = read(path)
    assert {name: one.shape for name, one in found.items()} == {
        "0.weight": (16, 8), "0.bias": (16,), "2.weight": (3, 16), "2.bias": (3,),
    }  # fmt: skip


@pytest.mark.parametrize(("content", "expected"), [
    (b"", "found other bytes"),
    (b"anything else", "found other bytes"),
    (b"\x80\x02}q\x00.", "found one: save it again"),
    (mindspore({"w": np.arange(4, dtype="<f4")})[:-3], "the file was cut"),
    (mindspore_value("w", "Float32", (3,), bytes(8)), "expected 12 bytes by its shape, found 8"),
    (mindspore({"w": np.arange(4, dtype="<f4")}) + b"\x99\x01rest of an encrypted file", "damaged or encrypted"),
    (safetensors({"w": np.arange(4, dtype="<f4")})[:-3], "the file was cut"),
    (struct.pack("<Q", 4) + b"{1}x", "expected a header"),
    (struct.pack("<Q", 60) + b'{"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}' + bytes(8), "expected a header"),
    (struct.pack("<Q", 66) + b'{"w": {"dtype": "F32", "shape": [-2, -1], "data_offsets": [0, 8]}}' + bytes(8), "sizes from 0"),
    (described(shape=[10**4000] * 2), "expected a header"),
    (described(data_offsets=[0, 10**4000]), "expected a header"),
    (described(shape=[2**63 - 1] * 32), "expected"),
    (torch(shape=(10**5000,)), "arguments of a tensor"),
    (torch(stride=(10**5000,)), "arguments of a tensor"),
    (torch(first=-(10**5000)), "arguments of a tensor"),
    (torch(count=10**5000), "size of a storage"),
])  # fmt: skip
def test_damage_is_said_with_its_file(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "bad.ckpt"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=expected) as caught:
        read(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(("length", "size", "found"), [
    (100_000_000, 1 << 40, 100_000_000), (100_000_001, 1 << 40, 0), (1 << 63, 1 << 40, 0), (92, 100, 92),
    (93, 100, 0), (1, 100, 0),
])  # fmt: skip
def test_headers_of_safetensors_are_limited(length: int, size: int, found: int) -> None:
    assert header_size(struct.pack("<Q", length) + b"{", size) == found


def test_every_cut_and_every_changed_byte_is_refused_or_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    whole = {path.name: path.read_bytes() for path in TORCH.glob("*.pt")}
    whole |= {"m": mindspore({"w": np.ones((2, 2), "<f4")}), "s": safetensors({"w": np.ones((2, 2), "<f4")})}
    for content in whole.values():
        step = max(len(content) // 150, 1)
        for at in range(0, len(content), step):
            for changed in (content[:at], content[:at] + bytes([content[at] ^ 0x41]) + content[at + 1 :]):
                path.write_bytes(changed)
                with contextlib.suppress(FormatError):
                    read(path)


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_compressed_archives_are_refused(tmp_path: Path, compression: int) -> None:
    np.savez(tmp_path / "a.npz", w=np.zeros(1000))
    with zipfile.ZipFile(tmp_path / "a.npz") as archive, zipfile.ZipFile(tmp_path / "b.npz", "w", compression) as other:
        other.writestr("w.npy", archive.read("w.npy"))
    with pytest.raises(FormatError, match="found a compressed one"):
        read(tmp_path / "b.npz")


def test_arrays_of_objects_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", w=np.array([{}], dtype=object))
    with pytest.raises(FormatError, match="never unpickled"):
        read(tmp_path / "a.npz")
