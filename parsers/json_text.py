"""Parses JSON whose texts can be encoded again.

JSON has escapes for unpaired surrogates, which UTF-8 has not: neither a page nor a frame nor a file can hold such a text.
As objects of Python, a record of two bytes per value takes thirty times its size: `require_few_values` bounds a record, and
`parse_json` refuses a text in which arrays and objects are closer together than programs write them.
"""

from __future__ import annotations

import json
from typing import Any

MOST_CONTAINERS = 250_000
"""Arrays and objects of a record; the smallest with a value takes 190 bytes."""
MOST_VALUES = 1_000_000
"""Values of a record, as its commas; a short text takes 60 bytes."""


FEWEST_BYTES = 16
"""Characters per array or object that a long text has on average; programs write fifty. One takes 64 bytes of memory or
more."""


class ManyValuesError(ValueError):
    """A record has more values than are read; its text is what was found, after "found"."""


def require_few_values(record: bytes) -> None:
    """Raise ManyValuesError for JSON of more containers or values than are read at once. Brackets in texts count as well."""
    if len(record) <= MOST_CONTAINERS:
        return
    require_few_containers(record, MOST_CONTAINERS)
    number = record.count(b",")
    if number > MOST_VALUES:
        raise ManyValuesError(f"{number:,} values where at most {MOST_VALUES:,} are read")


def require_few_containers(data: bytes, most: int) -> None:
    """Raise ManyValuesError for JSON of more arrays and objects."""
    _require_at_most(data.count(b"[") + data.count(b"{"), most)


def _require_at_most(number: int, most: int) -> None:
    if number > most:
        raise ManyValuesError(f"{number:,} arrays and objects where at most {most:,} are read")


def parse_json(text: str) -> Any:
    r"""Parse JSON text, NaN and Infinity included; unpaired surrogates become \udNNN.

    ValueError for anything else, for numbers of thousands of digits and for too many arrays and objects (FEWEST_BYTES),
    RecursionError for too many levels.
    """
    if len(text) > MOST_CONTAINERS:
        _require_at_most(text.count("[") + text.count("{"), max(MOST_CONTAINERS, len(text) // FEWEST_BYTES))
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
