"""Why a model, or one node of it, cannot be converted."""

from __future__ import annotations

from parsers.errors import MindscopeError


class ConversionError(MindscopeError):
    """The model cannot be converted at all; one message with file and node."""


class NotCovered(Exception):
    """A node has no mapping, or an attribute, type or input that its mapping does not cover; becomes a marked Cell."""
