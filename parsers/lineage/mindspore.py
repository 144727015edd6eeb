"""Decodes MindSpore's lineage events: messages TrainLineage, EvaluationLineage and UserDefinedInfo of its lineage.proto.

Make them with `SummaryCollector(dir, custom_lineage_data={"seed": 1})` in the callbacks of `model.train` and `model.eval`.
Names of settings are MindInsight's. A field that is not in the message is no setting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from struct import Struct
from typing import Any

import numpy as np

from parsers.errors import FormatError
from parsers.events.wire import DELIMITED, FIXED32, FIXED64, VARINT
from parsers.lineage.values import DEEPEST, Setting, flat, load_json, not_finite
from parsers.payloads.messages import fields, whole

_f32, _f64 = Struct("<f").unpack, Struct("<d").unpack
Read = Callable[[memoryview], Setting]


def text(content: memoryview) -> str:
    r"""A string; bytes that are no UTF-8 become \xNN."""
    return bytes(content).decode("utf-8", "backslashreplace")


def int32(content: memoryview) -> int:
    """An int32, cut to its width as protobuf does."""
    return (whole(content) + (1 << 31)) % (1 << 32) - (1 << 31)


def double(content: memoryview) -> float:
    """A double."""
    return float(_f64(content)[0])


def single(content: memoryview) -> float:
    """A float, widened without change."""
    return float(_f32(content)[0])


def shortest(content: memoryview) -> float:
    """A float as the shortest decimal that is the same float32: somebody typed 0.1, not 0.10000000149011612."""
    return float(str(np.float32(single(content))))


class _LineagePart(dict[int, "tuple[str, int, Read] | _LineagePart"]):
    """A message: number -> (setting, wire type, what reads it), or a message within."""


_TRAIN = _LineagePart({
    1: _LineagePart({
        1: ("optimizer", DELIMITED, text),
        2: ("learning_rate", FIXED32, shortest),
        3: ("loss_function", DELIMITED, text),
        4: ("epoch", VARINT, int32),
        5: ("parallel_mode", DELIMITED, text),
        6: ("device_num", VARINT, int32),
        8: ("batch_size", VARINT, int32),
    }),
    2: _LineagePart({1: ("train_dataset_path", DELIMITED, text), 2: ("train_dataset_count", VARINT, int32)}),
    3: _LineagePart({1: ("network", DELIMITED, text), 2: ("loss", FIXED32, single)}),
    4: _LineagePart({3: ("model_path", DELIMITED, text), 4: ("model_size", VARINT, whole)}),
})  # fmt: skip
_EVALUATION = _LineagePart({
    2: ("metric", DELIMITED, text),
    3: _LineagePart({1: ("test_dataset_path", DELIMITED, text), 2: ("test_dataset_count", VARINT, int32)}),
})  # fmt: skip


def train_lineage(data: memoryview) -> dict[str, Setting]:
    """Hyper-parameters, data set, algorithm and model."""
    found = dict(_settings(data, _TRAIN))
    path = found.pop("model_path", None)
    if isinstance(path, str):
        path = _checkpoint(path)
        if path is not None:
            found["model_path"] = path
    return found


def _checkpoint(path: str) -> str | None:
    """Return the path in MindSpore's JSON text, None if that holds none; any other text is the path itself."""
    if path.startswith("{"):
        try:
            found = load_json(path)
        except FormatError:
            return path
        if isinstance(found, dict) and set(found) == {"ckpt"} and (found["ckpt"] is None or isinstance(found["ckpt"], str)):
            return found["ckpt"]
    return path


def evaluation_lineage(data: memoryview) -> dict[str, Setting]:
    """Decode the data set of an evaluation, and its metrics as JSON text under the name "metric"."""
    return dict(_settings(data, _EVALUATION))


def metrics(written: str) -> dict[str, Setting]:
    """Return metrics by name; texts such as "NaN" become numbers. FormatError unless the text is a JSON object."""
    found = load_json(written)
    if not isinstance(found, dict):
        raise FormatError(f"expected a JSON object of metrics, found {type(found).__name__}")
    values: dict[str, Setting] = {}
    for name, value in flat(found):
        number = not_finite(value) if isinstance(value, str) else None
        values[name] = value if number is None else number
    return values


def _settings(data: memoryview, part: _LineagePart) -> list[tuple[str, Setting]]:
    found: list[tuple[str, Setting]] = []
    for key, content in fields(data):
        known = part.get(key >> 3)
        if isinstance(known, _LineagePart) and key & 7 == DELIMITED:
            found += _settings(content, known)
        elif isinstance(known, tuple) and key & 7 == known[1]:
            found.append((known[0], known[2](content)))
    return found


# Maps --------------------------------------------------------------------------------------------------------------


def entry(content: memoryview) -> tuple[str, int, memoryview]:
    """Return key, wire type and content of one entry of a map with text keys; wire type -1 without a value."""
    name, kind, value = "", -1, memoryview(b"")
    for key, part in fields(content):
        if key == 1 << 3 | DELIMITED:
            name = text(part)
        elif key >> 3 == 2:
            kind, value = key & 7, part
    return name, kind, value


_VALUES: Mapping[int, tuple[int, Callable[[memoryview], Any], Setting]] = {
    3: (VARINT, int32, 0),
    4: (DELIMITED, text, ""),
    5: (FIXED64, double, 0.0),
}
_INFO, _MAP_DICT = 1, 2


def user_defined(data: memoryview, depth: int = 0) -> dict[str, Setting]:
    """Return custom lineage data by name; the later value of a repeated name wins. Nested maps are flattened."""
    if depth > DEEPEST:
        raise FormatError(f"expected at most {DEEPEST} levels, found more")
    found: dict[str, Setting] = {}
    for key, content in fields(data):
        number, kind = key >> 3, key & 7
        if kind != DELIMITED:
            continue
        if number == _INFO:
            found |= user_defined(content, depth + 1)
        elif number == _MAP_DICT:
            found |= user_defined(entry(content)[2], depth + 1)
        elif number in _VALUES:
            wanted, read, default = _VALUES[number]
            name, kind, value = entry(content)
            found[name] = read(value) if kind == wanted else default
    return found
