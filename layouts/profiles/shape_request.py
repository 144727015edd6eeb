"""What the dynamic shapes page and its plain routes are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from parsers.analysis.profiles.shape_tables import UNITS, ShapeTables, Unit
from parsers.deferred import pandas as pd

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.profiles.profile_choice import ProfileChoice, profile
from layouts.sources import ProfileSources

MOST_TYPES = 10
"""Maximum number of types drawn at once."""
_LONGEST = 4_000
_UNKNOWN: Mapping[str, str | None] = {"": None, "-": ""}
"""What stands for no shape and for the unknown one in an address."""


@dataclass(frozen=True, slots=True)
class ShapeRequest(Request):
    """A request: a profile; operators or kernels on GPU; total or mean time of types; scale of times, linear or log.

    types are those drawn, () for the longest of those whose operators have several shapes, and then the others.

    operator "" is the one with the most shapes. shape is the one that is highlighted, None for none ("" is the unknown one).
    query: part of the names of operators listed.
    """

    choice: ProfileChoice = profile()
    unit: Unit = asked.one_of("unit", UNITS)
    by: str = asked.one_of("by", ("total", "mean"))
    scale: str = asked.one_of("scale", ("linear", "log"))
    types: tuple[str, ...] = asked.words("type", most=MOST_TYPES, limit=_LONGEST)
    operator: str = asked.word("op", limit=_LONGEST)
    shape: str | None = asked.parsed("shape", lambda shape: _UNKNOWN.get(shape, shape), limit=_LONGEST)
    query: str = asked.word("q", limit=400)
    language: str = asked.language()
    dark: bool = asked.dark()


class ProfileShapeTables(ShapeTables):
    """The tables of the profile that a request names. frame returns a frame by its name; by default the source is asked."""

    def __init__(
        self, source: ProfileSources, ask: ShapeRequest, frame: Callable[[str], pd.DataFrame | None] | None = None
    ) -> None:
        super().__init__(
            frame or (lambda name: ask.choice.frame(source, name)), unit=ask.unit, types=ask.types, operator=ask.operator,
            query=ask.query,
        )  # fmt: skip
        self.ask = ask
