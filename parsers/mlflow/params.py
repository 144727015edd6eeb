"""Settings of MLflow, which keeps all of them as texts."""

from __future__ import annotations

MOST_DIGITS = 300


def parsed(text: str) -> bool | int | float | str:
    """Return what a setting was before it was written."""
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text) if len(text) < MOST_DIGITS and "_" not in text else text
        except ValueError:
            continue
    return text
