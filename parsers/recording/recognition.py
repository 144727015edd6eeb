"""Recognises what can be recorded: numbers, texts, pictures and arrays of Python, numpy, PIL and any framework."""

from __future__ import annotations

import numpy as np

from .pictures import image_of
from .values import VALUES, Tensor, Text, Value, array_of, is_picture, real_of


def recognised(value: object) -> Value:
    """Return a value as one that can be recorded.

    Texts become `Text`, pictures of PIL `Image`, single numbers floats, other arrays `Tensor`. RecordingError for what holds no
    real numbers.
    """
    if isinstance(value, VALUES):
        return value
    if isinstance(value, str):
        return Text(value)
    if isinstance(value, (bool, int, float)):
        return real_of(value)
    if isinstance(value, (np.floating, np.integer, np.bool_)):
        return float(value)
    if is_picture(value):
        return image_of(value)
    found = array_of(value)
    return real_of(found.reshape(()).item()) if found.size == 1 else Tensor(found)
