"""Texts of the runs page."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "runs.title": ("Runs", "训练列表"),
}
