"""The status that is answered before Flask is the one that Flask answers."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient
from werkzeug.test import Client

from app import create_app
from app.web.status_first import StatusFirst
from tests.sources import MemorySource, series


@pytest.mark.parametrize("prefix", ["/", "/some/place/"])
def test_the_answer_is_that_of_flask(prefix: str) -> None:
    app = create_app(MemorySource({"a": {"scalar": {"loss": series(100, 1)}}}), prefix=prefix)
    flask: FlaskClient = app.server.test_client()
    first = Client(StatusFirst(app))
    address = f"{prefix}api/status.json"
    asked, found = flask.get(address), first.get(address)
    assert (found.status_code, found.get_data()) == (200, asked.get_data())
    assert found.get_json()["total"] == 1
    varied = {"Date", "Vary"}  # compression of longer answers may depend on what the browser accepts
    assert {k: v for k, v in found.headers if k not in varied} == {k: v for k, v in asked.headers if k not in varied}


@pytest.mark.parametrize(("method", "path", "status"), [
    ("POST", "/api/status.json", 405), ("GET", "/api/health", 200), ("GET", "/api/status.json/", 404), ("GET", "/scalars", 200),
])  # fmt: skip
def test_all_else_is_passed_on(method: str, path: str, status: int) -> None:
    app = create_app(MemorySource({}))
    assert Client(StatusFirst(app)).open(path, method=method).status_code == status
