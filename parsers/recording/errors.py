"""The exception of recording."""

from __future__ import annotations


class RecordingError(ValueError):
    """A value or an option cannot be recorded; the message says where, what was expected and what was found."""
