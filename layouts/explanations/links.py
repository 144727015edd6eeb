"""Addresses of pages about explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from parsers.explanations.snapshot import RECORDED_FROM

from layouts.kit.links import page_link


def address(
    page: str, run: str, *, threshold: float = RECORDED_FROM, text: str = "", **state: int | str | Sequence[int | str]
) -> Mapping[str, Any]:
    """Return the attributes of a link to a page about explanations: of a run, threshold, text, and further state.

    run is the key of the row.
    """
    told: list[tuple[str, str]] = []
    if threshold != RECORDED_FROM:
        told.append(("t", f"{threshold:g}"))
    if text:
        told.append(("q", text))
    for key, value in state.items():
        values = [value] if isinstance(value, (int, str)) else value
        told += [(key, str(one)) for one in values]
    return page_link(page, run, told)
