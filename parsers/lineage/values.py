"""Single settings: what they may be, and nested ones under names of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from parsers.errors import FormatError

Setting: TypeAlias = bool | int | float | str
MOST = 2_000
"""Settings of one kind that are taken from one record or file."""
DEEPEST = 50
_NOT_FINITE = re.compile(r"\s*([+-]?)(nan|inf|infinity)\s*", re.IGNORECASE)


def not_finite(text: str) -> float | None:
    """The number that a text such as "NaN", "nan" or "-Infinity" stands for, None for any other text."""
    found = _NOT_FINITE.fullmatch(text)
    return float(found[1] + found[2]) if found else None


def flat(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, Setting]]:
    """The settings in nested mappings, their names joined by dots; a list is one setting, its text JSON.

    What is null is no setting. FormatError beyond DEEPEST levels.
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


def encodable(text: str) -> str:
    r"""The text with halves of surrogate pairs, which an escape in JSON or YAML can make, as \udNNN."""
    return text.encode("utf-8", "backslashreplace").decode()


def load_json(text: str) -> Any:
    """The value in JSON text, NaN and Infinity allowed as Python writes them; FormatError for anything else."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: also for a number of thousands of digits
        raise FormatError(f"expected JSON, found {excerpt(text)} ({error})") from error


def excerpt(text: str) -> str:
    """A text, quoted, short enough for a sentence."""
    return repr(text if len(text) <= 60 else text[:60] + "...")
