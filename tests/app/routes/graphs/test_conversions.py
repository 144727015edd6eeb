"""Frames of model conversions as CSV."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path

import pytest

from app import create_app
from app.store.store import Store
from tests.converted import CONVERSION, REPORT


@pytest.fixture
def client(tmp_path: Path):
    shutil.copytree(CONVERSION, tmp_path / "runs" / "digits")
    store = Store([tmp_path / "runs"], interval=0).start()
    assert store.wait(30)
    yield create_app(store).server.test_client()
    store.stop()


@pytest.mark.parametrize(("name", "rows"), [("nodes", 14), ("values", 9), ("weights", 8)])
def test_all_rows_are_in_the_file(client, name: str, rows: int) -> None:
    answer = client.get(f"/api/conversion/{name}.csv?run=digits&model={REPORT}")
    assert answer.status_code == 200
    assert len(list(csv.DictReader(io.StringIO(answer.text)))) == rows
    assert f"digits-conversion-{name}.csv" in answer.headers["Content-Disposition"]


@pytest.mark.parametrize(
    ("query", "status"),
    [("run=digits&model=../x", 404), ("run=other&model=conversion_of_digits.json", 404), ("run=digits&path=x", 400), ("", 404)],
)
def test_what_is_not_known_is_refused(client, query: str, status: int) -> None:
    assert client.get(f"/api/conversion/nodes.csv?{query}").status_code == status
