"""The comparison of two dumps, done in the background; what the page asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from parsers.analysis.dumps.two_dumps import TOLERANCE, Side, compare_pairs, first_iteration, pairs, shared
from parsers.deferred import pandas as pd

from layouts.dumps.dump_choice import DumpChoice, read_against, read_choice
from layouts.dumps.open_dump import DumpReport, DumpView, DumpWork
from layouts.kit import parameters as asked
from layouts.kit.parameters import Request

SHOWN = ("outputs", "differing", "all")


def _side(data: Any, read: Callable[[Any], DumpChoice | None]) -> DumpChoice | None:
    found = read(data)
    return found if found is not None and found.step is not None else None


@dataclass(frozen=True, slots=True)
class TwoDumpsRequest(Request):
    """Which dumps are compared, and how that is shown.

    tolerance is the greatest difference that is still the same. shown is one of SHOWN: outputs and parameters, those of them
    that differ, or inputs too. find is a part of the name or type of operators.
    """

    one: DumpChoice = asked.subject(partial(_side, read=read_choice), named=("of", "rank", "step"))
    other: DumpChoice = asked.subject(partial(_side, read=read_against), named=("with", "with_rank", "with_step"))
    tolerance: float = asked.real("tol", TOLERANCE, 0.0, 1e12)
    shown: str = asked.one_of("show", SHOWN)
    find: str = asked.parsed("find", str.strip, default="", limit=200)
    language: str = asked.language()
    dark: bool = asked.dark()


@dataclass(frozen=True, slots=True, eq=False)
class ComparedDumps:
    """Which tensors go together (DUMP_PAIRS), and how they differ (DUMP_DIFFERENCES): so far, or all of them."""

    pairs: pd.DataFrame
    differences: pd.DataFrame


@dataclass(frozen=True, slots=True)
class Earliest:
    """The first iteration in which an output differs (None for none), in how many before it none does, how many both have."""

    step: int | None
    alike: int
    shared: int


def comparison(ask: TwoDumpsRequest, other: DumpView) -> DumpWork:
    """Return the comparison with another dump; its result is ComparedDumps, also of the pairs compared so far."""
    one, two = ask.one, ask.other

    def compare(dump: DumpView, report: DumpReport) -> ComparedDumps:
        this, that = Side(dump, one.rank, one.step or 0), Side(other, two.rank, two.step or 0)
        paired = pairs(this, that)

        def tell(done: int, total: int, found: pd.DataFrame | None) -> None:
            report(done, total, None if found is None else ComparedDumps(paired, found))

        return ComparedDumps(paired, compare_pairs(this, that, paired, tell))

    return DumpWork("two_dumps", (one.rank, one.step, two.run, two.mark, two.rank, two.step), compare)


def closest(one: DumpView, others: Mapping[str, DumpView]) -> str:
    """Return the key of the dump that shares most operators times iterations with one: of equal ones the first, "" for none."""

    def size(key: str) -> tuple[int, int]:
        steps, operators = shared(one, others[key])
        return steps * operators, operators

    return max(others, key=size, default="")


def earliest(one: DumpChoice, two: DumpChoice, other: DumpView, tolerance: float) -> DumpWork:
    """Return the search for the first iteration that differs from the same one of another dump; its result is Earliest."""

    def search(dump: DumpView, report: DumpReport) -> Earliest:
        return Earliest(*first_iteration(dump, one.rank, other, two.rank, tolerance, report))

    return DumpWork("two_dumps.earliest", (one.rank, two.run, two.mark, two.rank, tolerance), search)
