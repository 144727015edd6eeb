"""Runs with dumps, and stores over them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.store.store import Store
from tests.app.store.dumps.dump_stores import WAIT, Opener
from tests.writers.dumps import Injection, write_dump


@pytest.fixture
def opener(tmp_path: Path) -> Iterator[Opener]:
    made: list[Store] = []

    def new(*bases: Path, interval: float = 0.0, index: bool = False) -> Store:
        directory = str(tmp_path / "index") if index else None
        store = Store(bases or [tmp_path / "runs"], interval=interval, index_directory=directory).start()
        made.append(store)
        assert store.wait(WAIT)
        return store

    yield new
    for store in made:
        store.stop()


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs; the second one has NaN from iteration 1 on."""
    write_dump(tmp_path / "runs/a", iterations=3)
    write_dump(tmp_path / "runs/b", iterations=3, seed=1, injection=Injection(1, 2, "nan"))
    return tmp_path / "runs"
