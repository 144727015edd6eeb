"""Texts of the shell: menu, header, run picker, data health."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "shell.runs": ("Runs", "训练"),
}
