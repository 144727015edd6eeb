"""The sentence about a first step that means leave out."""

from __future__ import annotations

from typing import Any

from parsers.analysis.jobs.warm_up import WarmUp

from layouts.kit import units as fmt
from layouts.kit.i18n import t


def warm_up_said(found: WarmUp | None, key: str) -> list[Any]:
    """Say with the text `key` which step is left out and why, behind other sentences; nothing if all steps count."""
    if found is None:
        return []
    times = {"time": fmt.duration(found.total_ns / 1e9), "others": fmt.duration(found.others_ns / 1e9)}
    return [" ", t(key, step=fmt.count(found.step), **times)]
