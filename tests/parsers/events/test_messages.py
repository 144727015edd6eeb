"""Messages made at random, encoded by protobuf, read back: by columns, by the walk, through our writer."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parsers.events.messages import message_class
from parsers.events.mindspore import FORM as MINDSPORE_FORM
from parsers.events.mindspore import MINDSPORE
from parsers.events.tensorboard import FORM as TENSORBOARD_FORM
from parsers.events.tensorboard import TENSORBOARD
from parsers.events.walk import EventMessage, walk
from parsers.events.wire import WireError
from parsers.model import Batch
from parsers.recording import EventWriter, Histogram, Image, Tensor, Text
from parsers.recording.histograms import bin_count
from parsers.recording.wire import delimited, float64, number
from tests.amounts import examples
from tests.parsers.events.event_reference import event, framed, points, read_points, records, widened

READER = {"mindspore": MINDSPORE, "tensorboard": TENSORBOARD}
FORMS = {"mindspore": MINDSPORE_FORM, "tensorboard": TENSORBOARD_FORM}
VERSION = {"mindspore": b"MindSpore.Event:1", "tensorboard": b"brain.Event:2"}
FIELD = {"mindspore": 3, "tensorboard": 2}
quick = settings(deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])

floats32 = st.floats(width=32, allow_nan=True, allow_infinity=True)
steps = st.one_of(st.integers(0, 300), st.integers(-(2**63), 2**63 - 1), st.sampled_from([127, 128, 16383, 16384, -1]))
walls = st.one_of(st.floats(1e9, 2e9), st.floats(allow_nan=True))
tags = st.one_of(st.sampled_from(["loss", "acc", "lr", "a", "b", "损失", ""]), st.text(max_size=8))
values_by_tag = st.lists(st.tuples(tags, floats32), max_size=3)
layouts = st.sampled_from(["mindspore", "tensorboard"])
garbling = st.tuples(st.integers(0, 60), st.integers(0, 255))


def read(path: Path, layout: str, messages: list[bytes]) -> tuple[Batch, bytes]:
    content = b"".join(map(framed, [float64(1, 1e9) + delimited(3, VERSION[layout]), *messages]))
    path.write_bytes(content)
    return READER[layout].read(str(path)), content


@quick
@given(layouts, st.lists(st.tuples(walls, steps, values_by_tag), max_size=8), st.integers(1, 40))
def test_scalars_of_any_kind(tmp_path: Path, layout: str, events: list[tuple[float, int, Any]], repeat: int) -> None:
    """Repeated, so that both the columns and the walk of single records see them."""
    encoded = []
    for number_, (wall, step, values) in enumerate(events * repeat):
        message = message_class("mindspore.Event" if layout == "mindspore" else "tensorflow.Event")()
        message.wall_time, message.step = wall, max(step - number_, -(2**63))
        for tag, value in values:
            added = message.summary.value.add(tag=tag)
            setattr(added, "scalar_value" if layout == "mindspore" else "simple_value", value)
        encoded.append(message.SerializeToString())
    batch, content = read(tmp_path / "file", layout, encoded)
    assert not batch.problems
    assert sorted(read_points(batch)) == sorted(points(layout, content))


def mutate(message: bytes, at: int, byte: int) -> bytes:
    return message[: at % len(message)] + bytes((byte,)) + message[at % len(message) + 1 :]


@settings(deadline=None, max_examples=examples(500))
@given(layouts, st.lists(garbling, min_size=1, max_size=3))
def test_garbled_messages_are_read_as_protobuf_reads_them(layout: str, places: list[tuple[int, int]]) -> None:
    """A message whose CRC was made after it was garbled: what protobuf refuses is a Problem, all else has its values."""
    value = delimited(1, b"loss") + struct.pack("<Bf", FIELD[layout] << 3 | 5, 0.5)
    message = float64(1, 1e9) + number(2, 300) + delimited(5, delimited(1, value))
    garbled = message
    for at, byte in places:
        garbled = mutate(garbled, at, byte)
    try:
        parsed = event(layout, garbled)
    except DecodeError:
        parsed = None
    try:
        walked: EventMessage | None = walk(garbled, len(garbled), FORMS[layout])
    except WireError:
        walked = None
    if parsed is None:
        return  # protobuf also looks into the large values, which are only located here
    assert walked is not None
    assert walked.step == parsed.step
    assert widened(walked.wall_time) == widened(parsed.wall_time)
    field = "scalar_value" if layout == "mindspore" else "simple_value"
    assert [widened(scalar.value) for scalar in walked.scalars if scalar.dtype == "<f4"] == [
        widened(getattr(value, field)) for value in parsed.summary.value if value.HasField(field)
    ]


@quick
@given(st.binary(max_size=60), layouts)
def test_any_bytes_give_an_event_or_a_wire_error(data: bytes, layout: str) -> None:
    try:
        walk(data, len(data), FORMS[layout])
    except WireError:
        pass


def scalar(layout: str, tag: bytes, value: float) -> bytes:
    return delimited(1, delimited(1, tag) + struct.pack("<Bf", FIELD[layout] << 3 | 5, value))


@pytest.mark.parametrize("layout", ["mindspore", "tensorboard"])
@pytest.mark.parametrize("count", [1, 100])
def test_odd_but_valid_messages(tmp_path: Path, layout: str, count: int) -> None:
    wall, loss = float64(1, 1e9), scalar(layout, b"loss", 0.5)
    odd = {
        "no step": (wall + delimited(5, loss), [("loss", 0, 0.5)]),
        "step last": (wall + delimited(5, loss) + number(2, 7), [("loss", 7, 0.5)]),
        "two steps": (wall + number(2, 1) + number(2, 9) + delimited(5, loss), [("loss", 9, 0.5)]),
        "negative step": (wall + number(2, -5) + delimited(5, loss), [("loss", -5, 0.5)]),
        "unknown fields": (wall + delimited(99, b"x") + number(98, 3) + delimited(5, loss + number(9, 1)), [("loss", 0, 0.5)]),
        "two summaries": (wall + delimited(5, loss) + delimited(5, scalar(layout, b"b", 2)), [("loss", 0, 0.5), ("b", 0, 2.0)]),
        "summary then version": (wall + delimited(5, loss) + delimited(3, b"v"), []),
        "value without a number": (wall + delimited(5, delimited(1, delimited(1, b"loss"))), []),
        "a tag twice": (wall + delimited(5, loss + scalar(layout, b"loss", 4)), [("loss", 0, 0.5), ("loss", 0, 4.0)]),
        "not UTF-8": (wall + delimited(5, scalar(layout, b"a\xff", 1)), [("a\\xff", 0, 1.0)]),
        "signalling NaN": (
            wall + delimited(5, delimited(1, delimited(1, b"n") + bytes((FIELD[layout] << 3 | 5,)) + b"\x01\0\x80\x7f")),
            [("n", 0, math.nan)],
        ),
        "a group": (wall + bytes((0x9B, 0x06, 0x08, 0x01, 0x9C, 0x06)) + delimited(5, loss), [("loss", 0, 0.5)]),
    }
    for name, (message, expected) in odd.items():
        batch, _ = read(tmp_path / "file", layout, [message] * count)
        got = [(tag, step, value) for _, tag, step, _, value in read_points(batch)]
        assert sorted(got) == sorted([(tag, step, widened(value)) for tag, step, value in expected] * count), name
        assert not batch.problems, name


def test_scalars_as_tensors(tmp_path: Path) -> None:
    tensor = message_class("tensorflow.TensorProto")
    half = int(np.array(0.5, np.float16).view(np.uint16))
    forms = {
        0.25: [
            tensor(dtype=1, float_val=[0.25]), tensor(dtype=1, tensor_content=struct.pack("<f", 0.25)),
            tensor(dtype=2, double_val=[0.25]), tensor(dtype=2, tensor_content=struct.pack("<d", 0.25)),
        ],
        0.5: [tensor(dtype=19, half_val=[half]), tensor(dtype=19, tensor_content=struct.pack("<e", 0.5)),
              tensor(dtype=14, half_val=[0x3F00]), tensor(dtype=14, tensor_content=b"\0\x3f")],
        -3.0: [tensor(dtype=3, int_val=[-3]), tensor(dtype=9, int64_val=[-3]),
               tensor(dtype=9, tensor_content=struct.pack("<q", -3)), tensor(dtype=6, int_val=[-3]),
               tensor(dtype=5, tensor_content=struct.pack("<h", -3))],
        7.0: [tensor(dtype=4, int_val=[7]), tensor(dtype=22, uint32_val=[7]), tensor(dtype=17, int_val=[7])],
        float(2**63 + 2048): [tensor(dtype=23, uint64_val=[2**63 + 2048])],
        1.0: [tensor(dtype=10, bool_val=[True])],
        0.0: [tensor(dtype=1), tensor(dtype=10, bool_val=[False])],
    }  # fmt: skip
    for expected, protos in forms.items():
        for proto in protos:
            proto.tensor_shape.SetInParent()
            for count in (1, 60):
                for metadata in (b"", delimited(9, delimited(1, delimited(1, b"scalars")))):
                    value = delimited(1, b"t") + metadata + delimited(8, proto.SerializeToString())
                    message = float64(1, 1e9) + delimited(5, delimited(1, value))
                    batch, _ = read(tmp_path / "file", "tensorboard", [message] * count)
                    assert [widened(expected)] * count == [point[-1] for point in read_points(batch)], (expected, proto)


def test_tensors_that_are_no_scalars_are_located(tmp_path: Path) -> None:
    tensor, dim = message_class("tensorflow.TensorProto"), message_class("tensorflow.Dim")
    plugin = delimited(9, delimited(1, delimited(1, b"images")))
    cases = [
        (tensor(dtype=1, float_val=[1, 2], tensor_shape={"dim": [dim(size=2)]}), b"", "tensor"),
        (tensor(dtype=7, string_val=[b"x"]), b"", "tensor"),
        (tensor(dtype=7, string_val=[b"1", b"1", b"png"]), plugin, "image"),
        (tensor(dtype=1, tensor_content=b"abc"), b"", "tensor"),
    ]
    for proto, metadata, kind in cases:
        encoded = proto.SerializeToString()
        value = delimited(1, b"t") + metadata + delimited(8, encoded)
        batch, content = read(tmp_path / "file", "tensorboard", [float64(1, 1e9) + delimited(5, delimited(1, value))])
        (block,) = batch.payloads
        assert block.kind == kind
        assert content[block.offset[0] : block.offset[0] + block.length[0]] == encoded


def test_a_tensor_of_rank_0_is_a_scalar_for_any_plugin(tmp_path: Path) -> None:
    """Later events do not name the plugin, so it must not decide."""
    proto = message_class("tensorflow.TensorProto")(dtype=1, float_val=[2.0]).SerializeToString()
    metadata = delimited(9, delimited(1, delimited(1, b"custom")))
    values = [delimited(1, b"t") + each + delimited(8, proto) for each in (metadata, b"")]
    batch, _ = read(tmp_path / "file", "tensorboard", [float64(1, 1e9) + delimited(5, delimited(1, v)) for v in values])
    assert [point[-1] for point in read_points(batch)] == [widened(2.0)] * 2


def test_the_plugin_of_a_tag_survives_a_resumed_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with EventWriter(str(path), "tensorboard") as writer:
        writer.add(1, {"note": Text("one")})
        writer.flush()
        first = TENSORBOARD.read(str(path))
        writer.add(2, {"note": Text("two")})
    second = TENSORBOARD.read(str(path), first.cursor)
    assert [(block.kind, block.plugin) for block in (*first.payloads, *second.payloads)] == [("text", "text")] * 2


@quick
@given(st.lists(st.floats(width=32, allow_infinity=True, allow_nan=True), max_size=40))
def test_histograms_written_are_histograms_to_protobuf(tmp_path: Path, values: list[float]) -> None:
    finite = [value for value in values if math.isfinite(value)]
    for layout, field in (("mindspore", "histogram"), ("tensorboard", "histo")):
        path = tmp_path / layout
        path.unlink(missing_ok=True)
        with EventWriter(str(path), layout) as writer:
            writer.add(1, {"w": Histogram(values)})
        (_, (_, data)) = records(path.read_bytes())
        histogram = getattr(event(layout, data).summary.value[0], field)
        if layout == "mindspore":
            assert histogram.count == len(values)
            assert sum(bucket.count for bucket in histogram.buckets) == len(finite)
            assert len(histogram.buckets) <= bin_count(len(finite))
            assert bool(histogram.buckets) == bool(finite)
        else:
            assert sum(histogram.bucket) == len(finite) == histogram.num


@pytest.mark.parametrize("layout", ["mindspore", "tensorboard"])
def test_all_that_the_writer_writes_is_what_protobuf_reads(tmp_path: Path, layout: str) -> None:
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    with EventWriter(str(tmp_path / "file"), layout, wall_time=5.0) as writer:
        writer.add_graph(b"graph", wall_time=6.0)
        writer.add(-3, {"loss": 1e300, "t": Tensor(array), "i": Image(b"png", 2, 3)}, wall_time=7.0)
    _, graph, *others = [event(layout, data) for _, data in records((tmp_path / "file").read_bytes())]
    assert (graph.graph_def, graph.wall_time) == (b"graph", 6.0)
    values = {value.tag: value for message in others for value in message.summary.value}
    assert {message.step for message in others} == {-3}
    assert len(others) == (1 if layout == "mindspore" else 3)
    assert (values["i"].image.height, values["i"].image.width, values["i"].image.colorspace) == (2, 3, 3)
    if layout == "mindspore":
        assert values["loss"].scalar_value == math.inf
        tensor = values["t"].tensor
        assert (list(tensor.dims), tensor.data_type, list(tensor.float_data)) == ([2, 3], 3, [0, 1, 2, 3, 4, 5])
    else:
        tensor = values["t"].tensor
        assert np.array_equal(np.frombuffer(tensor.tensor_content, "<i2").reshape(2, 3), array)
        assert [dim.size for dim in tensor.tensor_shape.dim] == [2, 3]
    batch = READER[layout].read(str(tmp_path / "file"))
    assert {block.kind for block in batch.payloads} == {"graph", "image", "tensor"}
    assert batch.started == 5.0
