"""Messages cut, changed and mistaken for others: a value or a FormatError, never anything else."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers import FormatError
from parsers.events.messages import message_class
from parsers.payloads.decoding import DECODERS, decode
from tests.amounts import examples, long_after
from tests.parsers.payloads.test_images import gif, jpeg, lossy, png


def samples() -> Iterator[tuple[str, str, bytes]]:
    """A message of each kind and form."""

    def message(name: str, **fields: object) -> bytes:
        return bytes(message_class(name)(**fields).SerializeToString())

    axis = {"dims": [3], "data_type": 11, "float_data": [1, 2, 3]}
    grid = {"dims": [3, 3], "data_type": 12, "float_data": range(9)}
    point = {"x": axis, "y": axis, "z": axis}
    landscape = {
        "landscape": {"x": axis, "y": axis, "z": grid}, "loss_path": {"intervals": [1, 2, 3], "points": point},
        "metadata": {"decomposition": "PCA", "unit": "step", "step_per_epoch": 4}, "convergence_point": point,
    }  # fmt: skip
    bucket = {"left": -1, "width": 0.5, "count": 300}
    table = {"tensor_shape": {"dim": [{"size": 2}, {"size": 3}]}, "double_val": range(6), "dtype": 2}
    histo = {"min": -1, "max": 2, "num": 6, "sum": 1, "bucket_limit": [-1, 0, 2], "bucket": [1, 2, 3]}
    pair = {"dim": [{"size": 2}]}
    strings = {"dtype": 7, "tensor_shape": {"dim": [{"size": 3}]}}
    yield "events", "landscape", message("mindspore.LossLandscape", **landscape)
    yield "events", "histogram", message("mindspore.Histogram", buckets=[bucket] * 4, nan_count=2, count=1202, sum=-3)
    yield "events", "tensor", message("mindspore.TensorProto", **grid)
    yield "events", "tensor", message("mindspore.TensorProto", dims=[2, 2], data_type=5, int64_data=[-1, 2**60, 3, 4])
    yield "events", "tensor", message("mindspore.TensorProto", dims=[2], data_type=46, raw_data=b"1234")
    for encoded in (png(3, 2), jpeg(3, 2), gif(3, 2), lossy(3, 2)):
        yield "events", "image", message("mindspore.Image", height=2, width=3, colorspace=3, encoded_image=encoded)
    yield "tensorboard", "histogram", message("tensorflow.HistogramProto", **histo)
    yield "tensorboard", "histogram", message("tensorflow.TensorProto", **table)
    yield "tensorboard", "tensor", message("tensorflow.TensorProto", **table)
    yield "tensorboard", "tensor", message("tensorflow.TensorProto", dtype=19, half_val=[1, 2**15], tensor_shape=pair)
    yield "tensorboard", "text", message("tensorflow.TensorProto", string_val=[b"a", b"\xff", b"c"], **strings)
    yield "tensorboard", "image", message("tensorflow.TensorProto", string_val=[b"3", b"2", png(3, 2)], **strings)


SAMPLES = tuple(samples())


def read(reader: str, kind: str, data: bytes) -> bool:
    """Whether the bytes gave a value; anything but a value or a FormatError fails the test, warnings included."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            value = decode(reader, kind, memoryview(data))
        except FormatError:
            return False
    assert value.nbytes < 10 * len(data) + (1 << 28)
    return True


@pytest.mark.parametrize(("reader", "kind", "data"), SAMPLES)
def test_whole_and_cut_at_every_byte(reader: str, kind: str, data: bytes) -> None:
    assert read(reader, kind, data)
    for size in range(len(data)):
        read(reader, kind, data[:size])


@pytest.mark.parametrize(("reader", "kind", "data"), SAMPLES)
def test_every_byte_changed(reader: str, kind: str, data: bytes) -> None:
    rng = np.random.default_rng(0)
    for place in range(len(data)):
        for value in {0, 0x7F, 0x80, 0xFF, data[place] ^ 1, int(rng.integers(256))}:
            read(reader, kind, data[:place] + bytes((value,)) + data[place + 1 :])


@settings(max_examples=examples(150), deadline=None)
@given(st.sampled_from(sorted(DECODERS)), st.sampled_from(SAMPLES), st.data())
def test_another_kind_and_changed(where: tuple[str, str], sample: tuple[str, str, bytes], data: st.DataObject) -> None:
    content = bytearray(sample[2])
    for _ in range(data.draw(st.integers(0, 4))):
        begin = data.draw(st.integers(0, len(content)))
        content[begin : begin + data.draw(st.integers(0, 5))] = data.draw(st.binary(max_size=5))
    read(*where, bytes(content))


@given(st.sampled_from(sorted(DECODERS)), st.binary(max_size=60))
def test_any_bytes(where: tuple[str, str], content: bytes) -> None:
    read(*where, content)


@pytest.mark.long
@pytest.mark.parametrize(
    ("reader", "kind", "piece"),
    long_after(1, [
        ("events", "tensor", b"\x08\x01"), ("tensorboard", "image", b"\x42\x00"), ("events", "histogram", b"\x18\x01"),
        ("tensorboard", "text", b"\x12\x00"),
    ]),
)  # fmt: skip
def test_millions_of_tiny_fields_are_refused_early(reader: str, kind: str, piece: bytes) -> None:
    begun = time.process_time()
    assert not read(reader, kind, piece * 5_000_000)
    assert time.process_time() - begun < 10
