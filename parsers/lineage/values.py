"""Single settings: their type, and how nested ones are named."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from parsers.errors import FormatError
from parsers.json_text import encodable, parse_json

Setting: TypeAlias = bool | int | float | str
MOST = 2_000
"""Maximum settings taken from one record or file."""
DEEPEST = 50
_NOT_FINITE = re.compile(r"\s*([+-]?)(nan|inf|infinity)\s*", re.IGNORECASE)


def not_finite(text: str) -> float | None:
    """Return the number of a text such as "NaN", "nan" or "-Infinity", None for any other text."""
    found = _NOT_FINITE.fullmatch(text)
    return float(found[1] + found[2]) if found else None


def flat(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, Setting]]:
    """Yield the settings in nested mappings, with names joined by dots; a list is one setting, as JSON text.

    null is skipped. FormatError for more than DEEPEST levels.
    """
    if depth > DEEPEST:
        raise FormatError(f"expected at most {DEEPEST} levels, found more")
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from flat(part, f"{name}.{key}" if name else str(key), depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield encodable(name), encodable(json.dumps(value, ensure_ascii=False))
    elif value is not None:
        yield encodable(name), encodable(value) if isinstance(value, str) else value


def load_json(text: str) -> Any:
    """Parse JSON text, with NaN and Infinity as Python writes them; FormatError for anything else."""
    try:
        return parse_json(text)
    except (ValueError, RecursionError) as error:  # ValueError: also for a number of thousands of digits
        raise FormatError(f"expected JSON, found {excerpt(text)} ({error})") from error


def excerpt(text: str) -> str:
    """Return a text quoted and shortened for a message."""
    return repr(text if len(text) <= 60 else text[:60] + "...")
