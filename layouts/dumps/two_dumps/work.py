"""The comparison of two dumps, done in the background; what the page asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from parsers.analysis.dumps.two_dumps import Side, compare_pairs, first_iteration, pairs
from parsers.deferred import pandas as pd

from layouts.dumps.dump_choice import DumpChoice, read_against, read_choice
from layouts.dumps.open_dump import DumpReport, DumpView, DumpWork
from layouts.kit.i18n import LANGUAGES
from layouts.kit.state import number, text

TOLERANCE = 1e-3
"""Difference that is still the same unless another one is chosen."""
SHOWN = ("outputs", "differing", "all")


@dataclass(frozen=True, slots=True)
class TwoDumpsRequest:
    """Which dumps are compared, and how that is shown.

    tolerance is the greatest difference that is still the same. shown is one of SHOWN: outputs and parameters, those of them
    that differ, or inputs too. find is a part of the name or type of operators.
    """

    one: DumpChoice
    other: DumpChoice
    tolerance: float
    shown: str
    find: str
    language: str
    dark: bool


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Which tensors go together (DUMP_PAIRS), and how they differ (DUMP_DIFFERENCES): so far, or all of them."""

    pairs: pd.DataFrame
    differences: pd.DataFrame


@dataclass(frozen=True, slots=True)
class Earliest:
    """The first iteration in which an output differs (None for none), and in how many before it none does."""

    step: int | None
    alike: int


def read_ask(data: Any) -> TwoDumpsRequest | None:
    """Return what is asked for; None without two dumps and iterations. BadInput for malformed values."""
    one, other = read_choice(data), read_against(data)
    if one is None or other is None or one.step is None or other.step is None:
        return None
    return TwoDumpsRequest(
        one, other, number(data, "tol", TOLERANCE, 0.0, 1e12), text(data, "show", SHOWN[0], choices=SHOWN),
        text(data, "find", limit=200).strip(), text(data, "lang", "en", choices=LANGUAGES),
        text(data, "theme", "light", choices=("light", "dark")) == "dark",
    )  # fmt: skip


def comparison(ask: TwoDumpsRequest, other: DumpView) -> DumpWork:
    """Return the comparison with another dump; its result is Compared, also of the pairs compared so far."""
    one, two = ask.one, ask.other

    def compare(dump: DumpView, report: DumpReport) -> Compared:
        this, that = Side(dump, one.rank, one.step or 0), Side(other, two.rank, two.step or 0)
        paired = pairs(this, that)

        def tell(done: int, total: int, found: pd.DataFrame | None) -> None:
            report(done, total, None if found is None else Compared(paired, found))

        return Compared(paired, compare_pairs(this, that, paired, tell))

    return DumpWork("two_dumps", (one.rank, one.step, two.run, two.mark, two.rank, two.step), compare)


def earliest(one: DumpChoice, two: DumpChoice, other: DumpView, tolerance: float) -> DumpWork:
    """Return the search for the first iteration that differs from the same one of another dump; its result is Earliest."""

    def search(dump: DumpView, report: DumpReport) -> Earliest:
        return Earliest(*first_iteration(dump, one.rank, other, two.rank, tolerance, report))

    return DumpWork("two_dumps.earliest", (one.rank, two.run, two.mark, two.rank, tolerance), search)
