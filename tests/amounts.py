"""How much a test tries: a share in `make test`, all of it in `make test-long`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

ALL_EXAMPLES = 40
"""Examples of a property that asks for no number of its own, in `make test-long`."""
EXAMPLES = int(os.environ.get("MINDSCOPE_EXAMPLES", str(ALL_EXAMPLES // 4)))
"""Examples of such a property in this run: a quarter unless MINDSCOPE_EXAMPLES says otherwise."""


def examples(number: int) -> int:
    """Return this run's share of a number of examples, for `settings(max_examples=...)`."""
    return max(3, number * EXAMPLES // ALL_EXAMPLES)


def long_after(number: int, cases: Iterable[Any]) -> list[Any]:
    """Return cases for `parametrize`, of which all after the first `number` run in `make test-long` only."""
    return [case if at < number else _long(case) for at, case in enumerate(cases)]


def _long(case: Any) -> Any:
    if isinstance(case, type(pytest.param())):
        return pytest.param(*case.values, marks=[*case.marks, pytest.mark.long], id=case.id)
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)


def each_once(firsts: Iterable[Any], seconds: Iterable[Any]) -> list[Any]:
    """Return all pairs for `parametrize`, of which `make test` runs as many as have each first and each second one."""
    firsts, seconds = list(firsts), list(seconds)
    fewer = min(len(firsts), len(seconds))
    return [
        (first, second) if row % fewer == column % fewer else _long((first, second))
        for row, first in enumerate(firsts) for column, second in enumerate(seconds)
    ]  # fmt: skip


some_or_every = pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "every"])
"""Runs a test with `every` False, for a few seeds or places, and, in `make test-long`, True, for all."""
