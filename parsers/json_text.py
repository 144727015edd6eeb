"""Parses JSON whose texts can be encoded again.

JSON has escapes for unpaired surrogates, which UTF-8 has not: neither a page nor a frame nor a file can hold such a text.
"""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str) -> Any:
    r"""Parse JSON text, NaN and Infinity included; unpaired surrogates become \udNNN.

    ValueError for anything else and for numbers of thousands of digits, RecursionError for too many levels.
    """
    found = json.loads(text)
    return all_encodable(found) if "\\ud" in text or "\\uD" in text else found


def all_encodable(value: Any) -> Any:
    """Return what JSON was decoded to with all texts and keys `encodable`; RecursionError for too many levels."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, list):
        return [all_encodable(one) for one in value]
    if isinstance(value, dict):
        return {encodable(name): all_encodable(one) for name, one in value.items()}
    return value


def encodable(text: str) -> str:
    r"""Escape unpaired surrogates, which escapes in JSON or YAML can produce, as \udNNN."""
    return text.encode("utf-8", "backslashreplace").decode()
