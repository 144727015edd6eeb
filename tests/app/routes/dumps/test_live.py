"""The routes of live training: its sessions, and orders for it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from app.web import server
from layouts.dumps.live_sessions import LiveSession, LiveStatus, Order, UnfitOrder
from tests.sources import MemorySource

ORDER = {"session": "live:1", "order": "continue", "steps": 3}


@pytest.fixture
def source() -> MemorySource:
    found = MemorySource()
    found.training = LiveStatus("listening", "127.0.0.1", 50051, (LiveSession("live:1", "waiting", step=4),))
    return found


@pytest.fixture
def client(source: MemorySource) -> FlaskClient:
    return server.create_app(source, token="t" * 20).server.test_client()


@pytest.fixture
def post(client: FlaskClient) -> Callable[..., tuple[int, dict]]:
    def send(content: object = ORDER, **headers: str) -> tuple[int, dict]:
        given = {"Host": "localhost", "Authorization": f"Bearer {'t' * 20}", "Content-Type": "application/json"} | headers
        answer = client.post("/api/live", data=json.dumps(content), headers={key: text for key, text in given.items() if text})
        return answer.status_code, answer.get_json(silent=True) or {}

    return send


def test_sessions(client: FlaskClient, source: MemorySource) -> None:
    headers = {"Host": "localhost", "Authorization": f"Bearer {'t' * 20}"}
    told = client.get("/api/live.json", headers=headers).get_json()
    assert (told["state"], told["port"], told["turned_away"]) == ("listening", 50051, 0)
    assert [(one["key"], one["state"], one["step"]) for one in told["sessions"]] == [("live:1", "waiting", 4)]
    source.training = MemorySource().training
    assert client.get("/api/live.json", headers=headers).get_json()["state"] == "off"


def test_an_order(post, source: MemorySource) -> None:
    status, told = post()
    assert (status, told["key"]) == (200, "live:1")
    assert source.orders == [("live:1", Order("continue", 3))]


def test_orders_need_what_remarks_need(post, client: FlaskClient, source: MemorySource) -> None:
    """Token, a known host, the same origin, and JSON: a page of another site has none of them."""
    for headers, status in (
        ({"Authorization": ""}, 401), ({"Authorization": f"Bearer {'x' * 20}"}, 401), ({"Host": "evil.example"}, 403),
        ({"Origin": "http://evil.example"}, 403), ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Content-Type": "text/plain"}, 415), ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
    ):  # fmt: skip
        assert post(**headers)[0] == status, headers
    token = {"Host": "localhost", "Authorization": f"Bearer {'t' * 20}"}
    assert client.get("/api/live", headers=token).status_code in (404, 405)
    assert source.orders == []


@pytest.mark.parametrize(("content", "status"), [
    ([], 400), ({}, 400), ({"session": "live:1"}, 400), (ORDER | {"steps": "3"}, 400), (ORDER | {"more": 1}, 400),
    (ORDER | {"steps": 1e400}, 400), (ORDER | {"session": "live:2"}, 404), (ORDER | {"session": "run"}, 404),
])  # fmt: skip
def test_requests_that_are_none(post, source: MemorySource, content: object, status: int) -> None:
    code, told = post(content)
    assert code == status
    assert told["error"]
    assert source.orders == []


def test_an_order_that_does_not_fit(post, source: MemorySource, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(session: str, order: Order) -> LiveSession:
        raise UnfitOrder("training is running, it does not wait for an order")

    monkeypatch.setattr(source.live, "order", refuse)
    assert post() == (409, {"error": "training is running, it does not wait for an order"})
