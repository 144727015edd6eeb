"""Why a tensor cannot be read, in words for the user."""

from __future__ import annotations

from parsers.dumps.listing import unreadable_text
from parsers.dumps.values import TensorPlace
from parsers.model import Problem


def refused(place: TensorPlace, error: Exception) -> Problem:
    """Return the problem of a tensor whose reading raised FormatError, OSError or MemoryError."""
    if isinstance(error, OSError):
        kind, text = "unreadable", unreadable_text(error)
    elif isinstance(error, MemoryError):
        kind, text = "bad_dump", "The tensor does not fit in memory."
    else:
        kind, text = "bad_dump", f"The tensor is not shown: {error}."
    return Problem(place.path, max(place.offset, 0), place.size, kind, text)
