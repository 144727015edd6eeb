"""Clients of an application that keeps notes: one for each test, and one for all tests of a module that change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.store.store import Store


@contextmanager
def noting_in(folder: Path) -> Iterator[FlaskClient]:
    (folder / "runs/one").mkdir(parents=True)
    (folder / "runs/one/x.summary.1.host").write_bytes(b"")
    (folder / "notes").mkdir(mode=0o700)
    store = Store([folder / "runs"], interval=0, notes_directory=str(folder / "notes")).start()
    assert store.wait(30)
    yield create_app(store, token="t" * 43).server.test_client()
    store.stop()


@pytest.fixture
def noting(tmp_path: Path) -> Iterator[FlaskClient]:
    with noting_in(tmp_path) as client:
        yield client


@pytest.fixture(scope="module")
def refusing_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("refusing")


@pytest.fixture(scope="module")
def _refusing(refusing_folder: Path) -> Iterator[FlaskClient]:
    with noting_in(refusing_folder) as client:
        yield client


@pytest.fixture
def refusing(_refusing: FlaskClient, refusing_folder: Path) -> Iterator[FlaskClient]:
    """A client for requests that are refused; none has saved anything when the test ends."""
    yield _refusing
    assert not (refusing_folder / "notes" / "notes.jsonl").exists()
