"""Columns of texts from their codes, and texts from the JSON that arguments hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.json_text import encodable
from parsers.profiler.frame_parts import categorical


def coded(codes: NDArray[Any], texts: Sequence[Any], change: Callable[[Any], str] = str) -> pd.Categorical:
    """Return the texts of codes, of which only those in use become categories; `change` is called once for each.

    A negative code is an empty text.
    """
    used, place = np.unique(codes, return_inverse=True)
    made = categorical([change(texts[code]) if code >= 0 else "" for code in used.tolist()])
    if not len(used):
        return made
    return pd.Categorical.from_codes(made.codes[place.reshape(-1)], categories=made.categories)


def plain(text: bytes) -> str:
    """Return an argument as text: of a JSON text what it says, of anything else its JSON."""
    found = _decoded(text)
    return encodable(found) if isinstance(found, str) else text.decode("utf-8", "replace")


def lines_of(text: bytes) -> str:
    """`Call stack`, whose lines have `;` between them, as lines."""
    return "\n".join(line for line in plain(text).split(";") if line)


def shapes(text: bytes) -> str:
    """`Input Dims` as shapes are written in frames: [[64,3],[]] is 64,3; and of a list of tensors 2,3+4,5."""
    found = _decoded(text)
    return ";".join(map(_shape, found)) if isinstance(found, list) else ""


def _shape(dims: Any) -> str:
    if not isinstance(dims, list):
        return ""
    if any(isinstance(one, list) for one in dims):
        return "+".join(map(_shape, dims))
    return ",".join(map(str, dims))


def listed(text: bytes, between: str) -> str:
    """Return a JSON list as text, with `between` between its items."""
    found = _decoded(text)
    return between.join(encodable(str(one)) for one in found) if isinstance(found, list) else plain(text)


def _decoded(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
