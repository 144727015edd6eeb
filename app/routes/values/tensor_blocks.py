"""Responses with values of a tensor: a rectangle, and the next value that is not finite."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
from flask import Response
from numpy.typing import NDArray

from app.routes.refusals import Unusable
from layouts.values.tensor_asks import chosen, extent, rectangle
from parsers.analysis import Tensor, next_bad, row_number

MOST_VALUES = 100_000
"""Maximum number of values in a rectangle."""
_SPAN = re.compile(r"([0-9]{1,15}):([0-9]{1,15})")


def respond_block(tensor: Tensor, dims: str, rows: str, columns: str) -> Response:
    """Respond with a rectangle of the slice that dims selects, row by row as little-endian numbers.

    The header Mindscope-Block describes it. Unusable for invalid or too many rows and columns, FormatError for invalid dims.
    """
    picked = chosen(dims, tensor)
    height, width = extent(picked)
    wanted, across = _span("rows", rows, height), _span("cols", columns, width)
    count = (wanted.stop - wanted.start) * (across.stop - across.start)
    if count > MOST_VALUES:
        raise Unusable(f"expected at most {MOST_VALUES:,} values, found {count:,}; request fewer rows or cols")
    values = _sendable(rectangle(tensor, picked, wanted, across))
    answer = Response(values.tobytes(), mimetype="application/octet-stream")
    about = {"dtype": values.dtype.str[1:], "rows": [wanted.start, wanted.stop], "cols": [across.start, across.stop]}
    answer.headers["Mindscope-Block"] = json.dumps(about)
    answer.cache_control.no_store = True
    return answer


def respond_bad(tensor: Tensor, after: str) -> Response:
    """Respond with the index of the next non-finite value in row order; after the last one it starts over."""
    begin = _after(tensor, after)
    index = next_bad(tensor, begin)
    if index is None and begin:
        index = next_bad(tensor)
    return respond_json({"index": index})


def respond_json(content: Any) -> Response:
    """Respond with JSON that is not cached."""
    answer = Response(msgspec.json.encode(content), mimetype="application/json")
    answer.cache_control.no_store = True
    return answer


def _span(name: str, text: str, size: int) -> slice:
    """Parse a range of rows or columns, clipped to size."""
    if not text:
        return slice(0, size)
    found = _SPAN.fullmatch(text)
    if not found or int(found[1]) > int(found[2]):
        raise Unusable(f"{name}: expected a range such as 0:128, found {text[:80]!r}")
    return slice(min(int(found[1]), size), min(int(found[2]), size))


def _after(tensor: Tensor, text: str) -> int:
    """Return the position in row order after an index; 0 for no index."""
    if not text or not tensor.size:
        return 0
    index = [int(number) if number.isdecimal() else -1 for number in text[:2000].split(",")]
    if len(index) != len(tensor.shape) or any(not 0 <= i < size for i, size in zip(index, tensor.shape, strict=True)):
        raise Unusable(f"after: expected an index within {list(tensor.shape)}, found {text[:80]!r}")
    return row_number(index, tensor.shape) + 1


def _sendable(values: NDArray[Any]) -> NDArray[Any]:
    """Convert values without loss to a dtype for which browsers have a typed array."""
    target = {"?": "u1", "e": "<f4"}.get(values.dtype.char)
    if target is None:
        target = values.dtype.newbyteorder("<").str
    return values.astype(target)
