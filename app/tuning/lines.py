"""Lines of text about trials, for a terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from app.commands.terminal import printable
from parsers.tuning.description import Target

LONGEST = 60


def settings_text(settings: Mapping[str, Any]) -> str:
    """Return settings as name=value, in their order."""
    return " ".join(f"{name}={_value(value)}" for name, value in settings.items())


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return printable(text if len(text) <= LONGEST else text[:LONGEST] + "...")


def values_text(targets: Sequence[Target], values: Sequence[float]) -> str:
    """Return the targets with their values."""
    return ", ".join(f"{printable(one.name)} {value:.6g}" for one, value in zip(targets, values, strict=False))


def duration_text(seconds: float) -> str:
    """Return a duration: 3.2 s, 4 min 10 s, 2 h 5 min."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count:,} {noun}" + "s" * (count != 1)
