"""A server's search for garbage, which runs seldom while it starts."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from app.commands.serving import no_garbage


@pytest.fixture
def usual_thresholds() -> Iterator[tuple[int, int, int]]:
    """Python's own thresholds of the search for garbage; those of the tests are back afterwards."""
    before, usual = gc.get_threshold(), (700, 10, 10)
    gc.set_threshold(*usual)
    yield usual
    gc.unfreeze()
    gc.set_threshold(*before)


def test_a_server_looks_for_garbage_seldom_until_all_runs_are_read(usual_thresholds: tuple[int, int, int]) -> None:
    waiting: list[Callable[[], None]] = []
    with no_garbage() as enough:
        assert not gc.isenabled()
        enough(SimpleNamespace(when_read=waiting.append))
        assert gc.isenabled()
        assert gc.get_threshold()[0] > 10 * usual_thresholds[0]
        waiting[0]()
        assert gc.get_threshold() == usual_thresholds
