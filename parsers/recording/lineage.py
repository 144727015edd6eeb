"""Encodes settings and results as MindSpore's lineage events (`LineageEvent` of its lineage.proto)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Union

import numpy as np

from .errors import RecordingError
from .layouts import MindSporeLayout
from .masking import is_secret, masked_setting
from .values import number_of
from .wire import delimited, float32, float64, number, record, text

Setting = Union[int, float, str]
_INT32 = 1 << 31
_DEEPEST = 8
_MAPS = {int: 3, str: 4, float: 5}
# Name -> (message within TrainLineage, field, type): hyper-parameters, data set, algorithm.
_TRAIN = {
    "optimizer": (1, 1, str), "learning_rate": (1, 2, float), "loss_function": (1, 3, str), "epoch": (1, 4, int),
    "parallel_mode": (1, 5, str), "device_num": (1, 6, int), "batch_size": (1, 8, int),
    "train_dataset_path": (2, 1, str), "train_dataset_count": (2, 2, int), "network": (3, 1, str), "loss": (3, 2, float),
}  # fmt: skip


class LineageLayout(MindSporeLayout):
    """Events of a lineage file."""

    def settings(self, wall_time: float, values: Mapping[str, Setting]) -> bytes:
        """Return the records of all settings by name; the last ones of a file count.

        What MindSpore has a field for, and that field holds exactly, is written as training lineage, the rest as user-defined.
        """
        parts: dict[int, bytes] = {}
        maps = b""
        for name, value in values.items():
            message, field, kind = _TRAIN.get(name, (0, 0, None))
            if kind is type(value) and (kind is not float or float(str(np.float32(value))) == value):
                encoded = float32(field, value) if isinstance(value, float) else _encoded(value, field)
                parts[message] = parts.get(message, b"") + encoded
            else:
                maps += delimited(_MAPS[type(value)], text(1, name) + _encoded(value))
        train = b"".join(delimited(message, content) for message, content in sorted(parts.items()))
        head = float64(1, wall_time)
        custom = record(head + delimited(10, delimited(1, maps))) if maps else b""
        return record(head + delimited(6, train)) + custom

    def pipeline(self, wall_time: float, graph: bytes) -> bytes:
        """Return the record of a data pipeline: a serialised `DatasetGraph` of lineage.proto."""
        return record(float64(1, wall_time) + delimited(9, graph))

    def metrics(self, wall_time: float, values: Mapping[str, float]) -> bytes:
        """Return the record of all results by name; the last one of a file counts."""
        return record(float64(1, wall_time) + delimited(7, text(2, json.dumps(dict(values)))))


def _encoded(value: Setting, field: int = 2) -> bytes:
    if isinstance(value, str):
        return text(field, value)
    return number(field, value) if isinstance(value, int) else float64(field, value)


def flat_settings(values: object, above: str = "", depth: int = 0) -> dict[str, Setting]:
    """Return settings by name: those inside others are joined by "/"; lists, None and objects become texts.
    Values whose names look like secrets are masked.

    values: a mapping, a namespace of argparse or another object with attributes. Whole numbers beyond 32 bits, which the format
    lacks, become floats where these are exact, else texts.
    """
    found: dict[str, Setting] = {}
    for name, value in _items(values):
        path = f"{above}/{name}" if above else str(name)
        if isinstance(value, Mapping) and value and depth < _DEEPEST and not is_secret(str(name)):
            found.update(flat_settings(value, path, depth + 1))
        else:
            found[path] = _setting(masked_setting(str(name), value))
    return found


def _items(values: object) -> list[tuple[str, Any]]:
    if isinstance(values, Mapping):
        return [(str(name), value) for name, value in values.items()]
    if hasattr(values, "__dict__"):
        return [(name, value) for name, value in vars(values).items() if not name.startswith("_")]
    raise RecordingError(f"settings: expected a mapping or an object with attributes, found {type(values).__name__}")


def _setting(value: object) -> Setting:
    if isinstance(value, (bool, str)) or value is None:
        return str(value)
    if isinstance(value, int):
        if -_INT32 <= value < _INT32:
            return int(value)
        return float(value) if abs(value) < 1 << 1000 and int(float(value)) == value else str(value)
    if isinstance(value, float):
        return float(value)
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        try:
            item = value.item()  # type: ignore[attr-defined]  # a number of numpy or of a framework
        except (AttributeError, RuntimeError, ValueError):
            return str(value)
        return _setting(item) if isinstance(item, (bool, int, float, str)) else str(item)
    return str(value)


def flat_metrics(values: Mapping[str, object]) -> dict[str, float]:
    """Return results by name as numbers; RecordingError for one that is none."""
    found = {}
    for name, value in values.items():
        try:
            found[str(name)] = number_of(value)
        except RecordingError as error:
            raise RecordingError(f"metrics: {name}: {error}") from None
    return found
