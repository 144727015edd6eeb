"""How much memory values take that pages share: frames, arrays, and what is made of them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from parsers.deferred import pandas as pd

_DEEPEST = 6
_TEXT = 80


def size_of(value: Any, depth: int = 0) -> int:
    """Estimate the bytes of frames, arrays and containers of them. Texts of a frame count 80 bytes each: measuring them takes
    longer than making some results."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if depth > _DEEPEST:
        return sys.getsizeof(value)
    if "pandas" in sys.modules:
        if isinstance(value, pd.DataFrame):
            return sum(_of_column(value[name].array) for name in value.columns)
        if isinstance(value, pd.Series):
            return _of_column(value.array)
    if is_dataclass(value) and not isinstance(value, type):
        return 64 + sum(size_of(getattr(value, field.name), depth + 1) for field in fields(value))
    if isinstance(value, Mapping):
        return 64 + sum(size_of(key, depth + 1) + size_of(one, depth + 1) + 64 for key, one in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return 64 + sum(size_of(one, depth + 1) + 8 for one in value)
    return sys.getsizeof(value)


def _of_column(values: Any) -> int:
    if isinstance(values, pd.Categorical):
        return int(values.codes.nbytes) + _TEXT * len(values.categories)
    return int(values.nbytes)
