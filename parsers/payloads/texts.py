"""Decodes texts: TensorBoard's tensors of strings. A text is never treated as markup."""

from __future__ import annotations

import math

from parsers.errors import FormatError
from parsers.events.wire import DELIMITED
from parsers.payloads.messages import fields
from parsers.payloads.tensors import STRINGS, tensorboard_shape
from parsers.payloads.values import TextValue

MOST_TEXTS = 100_000


def text(data: memoryview) -> TextValue:
    """Decode a TensorProto of strings."""
    shapes: list[memoryview] = []
    texts: list[str] = []
    for key, content in fields(data):
        if key == 2 << 3 | DELIMITED:
            shapes.append(content)
        elif key == STRINGS << 3 | DELIMITED:
            texts.append(bytes(content).decode("utf-8", "backslashreplace"))
            if len(texts) > MOST_TEXTS:
                raise FormatError(f"expected at most {MOST_TEXTS:,} strings, found more")
    shape = tensorboard_shape(shapes)
    if math.prod(shape) == len(texts):
        return TextValue(tuple(texts), shape)
    problem = f"Its shape {shape} does not fit {len(texts):,} strings; they are shown as a list."
    return TextValue(tuple(texts), (len(texts),), problem)
