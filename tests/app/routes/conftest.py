"""A client of an application that keeps notes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.store.store import Store


@pytest.fixture
def noting(tmp_path: Path) -> Iterator[FlaskClient]:
    (tmp_path / "runs/one").mkdir(parents=True)
    (tmp_path / "runs/one/x.summary.1.host").write_bytes(b"")
    (tmp_path / "notes").mkdir(mode=0o700)
    store = Store([tmp_path / "runs"], interval=0, notes_directory=str(tmp_path / "notes")).start()
    assert store.wait(30)
    yield create_app(store, token="t" * 43).server.test_client()
    store.stop()
