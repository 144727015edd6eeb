"""Addresses of pages about dumps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from layouts.kit.links import page_link


def address(
    page: str, run: str, *, rank: int | None = None, step: int | None = None, node: str = "", io: str = "", **state: str | int
) -> Mapping[str, Any]:
    """Return the attributes of a link to a page about a dump: of a run, rank, iteration, operator, and input or output.

    run is the key of the row. io is "output.0".
    """
    told: dict[str, str | int | None] = {"rank": rank, "step": step, "node": node or None, "io": io or None, **state}
    return page_link(page, run, ((key, value) for key, value in told.items() if value is not None))


def iteration_of(step: int, first_step: int) -> int:
    """Return the iteration of a dump that belongs to a step of a curve that begins at a step.

    MindSpore counts steps from 1 and iterations of a dump from 0: a curve that begins at step 1 or later is one ahead.
    """
    return step - (first_step > 0)
