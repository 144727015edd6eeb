"""Every point of a card by HTTP: none is left out, and what is no request is refused."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from flask.testing import FlaskClient

from app import create_app
from parsers import Series
from tests.sources import MemorySource

POINTS = 30_000


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    step = np.arange(POINTS)
    value = np.random.default_rng(3).normal(size=POINTS)
    curve = Series(step, 1.7e9 + step * 0.5, value, np.zeros(POINTS, np.int32), step * 60)
    return create_app(MemorySource({"run": {"scalar": {"loss": curve}}})).server.test_client()


def test_no_point_is_left_out(client: FlaskClient) -> None:
    ask = {"tag": ["loss"], "run": ["run"], "columns": ["300"], "view": ["10,20,,"]}
    answer = client.post("/api/scalars-points", json={"ask": ask})
    assert answer.status_code == 200
    line = next(trace for trace in answer.json["data"] if "key" in trace.get("meta", {}))
    values = np.frombuffer(base64.b64decode(line["y"]["bdata"]), line["y"]["dtype"])
    assert values.size == POINTS
    assert values == pytest.approx(np.random.default_rng(3).normal(size=POINTS), rel=1e-6)


@pytest.mark.parametrize("body", [{}, {"ask": 1}, {"ask": {"tag": ["loss"], "x": ["up"]}}, {"ask": {}, "more": 1}])
def test_what_is_no_card_is_refused(client: FlaskClient, body: object) -> None:
    assert client.post("/api/scalars-points", json=body).status_code == 400
