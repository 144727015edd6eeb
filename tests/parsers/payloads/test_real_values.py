"""Every large value of real runs, against protobuf and against the .npy files beside them."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsers import frames
from parsers.payloads.values import HistogramValue, ImageValue, LandscapeValue, TensorValue, TextValue
from parsers.runs import Run
from tests.parsers.payloads.reference import messages, runs, same

EXACT_IN_FLOAT32 = {1: "bool", 2: "int8", 3: "int16", 6: "uint8", 7: "uint16", 10: "float16", 11: "float32"}
NARROWED = {4: "int32", 5: "int64", 8: "uint32", 9: "uint64", 12: "float64"}


@pytest.fixture(scope="module")
def summary(real_data: Path) -> list[Run]:
    return list(runs(real_data / "summary"))


@pytest.fixture(scope="module")
def tensorboard(real_data: Path) -> list[Run]:
    return list(runs(real_data / "tensorboard"))


def check(run: Run) -> Counter[str]:
    """Compare all values of a run with protobuf's; how many there were of each kind."""
    count: Counter[str] = Counter()
    expected = messages(run)
    kinds = ("histogram", "image", "tensor", "landscape", "text")
    assert {(kind, tag) for kind in kinds for tag in run.tags(kind)} == set(expected)
    for (kind, tag), written in expected.items():
        items = run.payload_series(kind, tag)
        assert items.step.tolist() == [step for step, _ in written]
        for place, (_, message) in enumerate(written):
            value: Any = run.value(kind, tag, place)
            assert value.problem == "", (run.name, tag, place)
            CHECKS[kind](value, message)
            count[kind] += 1
    return count


def check_histogram(value: HistogramValue, message: Any) -> None:
    if hasattr(message, "bucket_limit"):
        return check_tensorboard_histogram(value, message)
    assert same(value.left, [bucket.left for bucket in message.buckets])
    assert same(value.width, [bucket.width for bucket in message.buckets])
    assert same(value.count, [bucket.count for bucket in message.buckets])
    assert (value.total, value.nan) == (message.count, message.nan_count)
    assert (value.pos_inf, value.neg_inf, value.sum) == (message.pos_inf_count, message.neg_inf_count, message.sum)
    if value.finite:
        assert (value.min, value.max) == (message.min, message.max)
    assert value.count.sum() == value.finite
    return None


def check_tensorboard_histogram(value: HistogramValue, message: Any) -> None:
    assert (value.min, value.max, value.sum) == (message.min, message.max, message.sum)
    assert value.total == message.num
    assert value.count.sum() == sum(message.bucket)
    expected, left = [], message.min
    for limit, count in zip(message.bucket_limit, message.bucket, strict=True):
        right = min(max(limit, message.min), message.max)
        expected += [(left, right - left, count)] if count else []
        left = right
    held = value.count > 0
    assert list(zip(value.left[held], value.width[held], value.count[held], strict=True)) == expected


def check_image(value: ImageValue, message: Any) -> None:
    encoded = message.encoded_image if hasattr(message, "encoded_image") else message.encoded_image_string
    assert value.data == encoded
    assert value.media == "image/png"
    assert (value.width, value.height) == struct.unpack(">II", encoded[16:24]) == (message.width, message.height)
    assert (value.claimed_width, value.claimed_height, value.colorspace) == (message.width, message.height, message.colorspace)


def check_tensor(value: TensorValue, message: Any) -> None:
    assert value.shape == tuple(message.dims)
    stored = np.array(message.float_data, np.float32).reshape(tuple(message.dims))
    number = message.data_type
    if number in EXACT_IN_FLOAT32:
        assert (value.dtype, value.stored_as, value.data.dtype.name) == (EXACT_IN_FLOAT32[number], "", EXACT_IN_FLOAT32[number])
    else:
        assert (value.dtype, value.stored_as, value.data.dtype) == (NARROWED[number], "float32", np.float32)
    assert same(value.data.astype(np.float32), stored)


def check_landscape(value: LandscapeValue, message: Any) -> None:
    grid = message.landscape
    for axis, tensor in zip((value.x, value.y, value.z), (grid.x, grid.y, grid.z), strict=True):
        assert same(axis.ravel(), tensor.float_data)
        assert axis.shape == tuple(tensor.dims)
    assert value.intervals.tolist() == list(message.loss_path.intervals)
    points = message.loss_path.points
    for axis, tensor in zip((value.path_x, value.path_y, value.path_z), (points.x, points.y, points.z), strict=True):
        assert same(axis, tensor.float_data)
    metadata = message.metadata
    assert (value.decomposition, value.unit) == (metadata.decomposition, metadata.unit)
    assert value.step_per_epoch == metadata.step_per_epoch
    end = message.convergence_point
    assert value.convergence == ((end.x.float_data[0], end.y.float_data[0], end.z.float_data[0]) if end.z.float_data else None)


def check_text(value: TextValue, message: Any) -> None:
    assert value.texts == tuple(text.decode() for text in message.string_val)
    assert value.shape == tuple(dim.size for dim in message.tensor_shape.dim)


CHECKS: dict[str, Any] = {
    "histogram": check_histogram, "image": check_image, "tensor": check_tensor, "landscape": check_landscape,
    "text": check_text,
}  # fmt: skip


@pytest.mark.long
def test_every_value_of_the_summary_runs(summary: list[Run]) -> None:
    count: Counter[str] = Counter()
    for run in summary:
        count += check(run)
    assert count == {"histogram": 4382, "image": 1141, "tensor": 464, "landscape": 3}


def test_every_value_of_the_tensorboard_runs(tensorboard: list[Run]) -> None:
    count: Counter[str] = Counter()
    for run in tensorboard:
        count += check(run)
    assert count == {"histogram": 151, "image": 12, "text": 12}


def test_index_frames_have_their_schemas(summary: list[Run], tensorboard: list[Run]) -> None:
    count: Counter[str] = Counter()
    for run in (*summary, *tensorboard):
        for name in ("histograms", "images", "tensors", "landscapes", "texts"):
            frame = getattr(frames, name.upper()).check(getattr(run, name))
            count[name] += len(frame)
            for tag, part in frame.groupby("tag", observed=True):
                assert part["step"].tolist() == run.payload_series(name[:-1], str(tag)).step.tolist()
    assert count == {"histograms": 4533, "images": 1153, "tensors": 464, "landscapes": 3, "texts": 12}


def test_tensors_equal_their_exported_files(summary: list[Run]) -> None:
    run = next(run for run in summary if run.name == "lenet_export_npy")
    folder = next(Path(run.path).glob("export_*/tensor"))
    compared = 0
    for file in folder.glob("*.npy"):
        tag, step = file.stem.rsplit("_", 1)
        value = run.tensor("logits/auto" if "logits/auto" in run.tags("tensor") else tag, run.find("tensor", tag, int(step)))
        assert same(value.data, np.load(file))
        compared += 1
    assert compared >= 5
