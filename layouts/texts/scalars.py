"""Texts of the scalars page."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "scalars.title": ("Scalars", "标量"),
}
