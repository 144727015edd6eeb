"""The HTTP server against clients that send half a request, and clients that do not read."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Response

from app import create_app
from app.web import connections
from app.web.connections import Channel, create_server
from app.web.downloads import Downloads
from tests.sources import MemorySource, series

POINTS = 1_000_000


@pytest.fixture(scope="module")
def application() -> Any:
    return create_app(MemorySource({"a": {"scalar": {"loss": series(POINTS, 1)}}})).server


@contextlib.contextmanager
def running(application: Any) -> Iterator[tuple[str, int]]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1024)
        listener.setblocking(False)
        address = listener.getsockname()
        server = create_server(application, listener)
        threading.Thread(target=server.run, daemon=True).start()
        yield address
        ended: Any = server
        ended.close()


def half_sent(address: tuple[str, int]) -> socket.socket:
    client = socket.create_connection(address)
    client.sendall(b"POST /api/note HTTP/1.1\r\nHost: localhost\r\nContent-Le")
    return client


def downloading(address: tuple[str, int], room: int = 1 << 20) -> socket.socket:
    """A client that has asked for all points; its system takes about `room` bytes before it reads."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    client.connect(address)
    client.sendall(b"GET /api/scalars.csv?run=a&tag=loss HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return client


def health(address: tuple[str, int]) -> float:
    began = time.monotonic()
    with urllib.request.urlopen(f"http://{address[0]}:{address[1]}/health", timeout=20) as answer:
        assert answer.status == 200
    return time.monotonic() - began


def test_others_are_answered_while_clients_neither_send_nor_read(application: Any) -> None:
    with running(application) as address, contextlib.ExitStack() as clients:
        for _ in range(300):
            clients.enter_context(half_sent(address))
        for _ in range(24):
            clients.enter_context(downloading(address, 4096))
        time.sleep(1)
        assert min(health(address) for _ in range(3)) < 10  # 10 ms on a quiet machine; those that wait are closed after 20 s


def test_a_request_that_never_ends_is_closed_even_while_bytes_trickle_in(
    application: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CHECK_SECONDS", 1)
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 1)
    with running(application) as address, half_sent(address) as client:
        began = time.monotonic()
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            while time.monotonic() - began < 60:
                client.sendall(b"x")
                time.sleep(0.1)
        assert 1 < time.monotonic() - began < 60


@pytest.mark.long
def test_a_client_that_does_not_read_is_closed_and_one_that_reads_slowly_gets_everything(
    application: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CHECK_SECONDS", 1)
    monkeypatch.setattr(connections, "READ_SECONDS", 2)
    with running(application) as address, downloading(address, 4096) as stuck, downloading(address) as slow:
        got = bytearray()
        for _ in range(8):
            time.sleep(0.5)
            got += slow.recv(1 << 16)
        while not got.endswith(b"0\r\n\r\n"):
            more = slow.recv(1 << 20)
            assert more, "the slow reader was cut off"
            got += more
        assert got.count(b"\n") > POINTS
        received = 0
        with contextlib.suppress(ConnectionResetError):
            while part := stuck.recv(1 << 20):
                received += len(part)
        assert received < len(got) / 2


@pytest.mark.parametrize(("waiting", "taken", "stuck"), [
    ((1, 1, 1), (0, 0, 0), True), ((1, 1, 1), (9, 9, 4104), True), ((1, 1, 1), (9, 9, 4105), False),
    ((0, 0, 1), (0, 0, 0), False), ((1, 1, 0), (0, 0, 0), False), ((1, 0, 1), (0, 0, 0), False),
])  # fmt: skip
def test_progress_is_asked_of_a_waiting_response_only(
    waiting: tuple[int, ...], taken: tuple[int, ...], stuck: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel: Any = Channel.__new__(Channel)
    channel.request, channel.requests = None, [object()]
    found = []
    for at, now in enumerate((0, 15, 31)):
        channel.total_outbufs_len = waiting[at]
        monkeypatch.setattr(channel, "taken", lambda at=at: taken[at], raising=False)
        found.append(Channel.is_stuck(channel, float(now)))
    assert found == [False, False, stuck]


def test_a_request_that_is_too_large_gets_an_answer_that_can_be_read(application: Any) -> None:
    with running(application) as address:
        asked = urllib.request.Request(
            f"http://{address[0]}:{address[1]}/api/note", data=b"x" * (9 << 20), headers={"Content-Type": "application/json"}
        )
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(asked, timeout=30)
        assert refused.value.code == 413
        assert refused.value.read().decode() == "Expected at most 8388608 bytes, found 9437184.\n"


def test_more_downloads_than_allowed_are_told_to_wait() -> None:
    downloads = Downloads(2)
    first, second, third = (downloads.limit(Response(iter([b"x"]))) for _ in range(3))
    assert [answer.status_code for answer in (first, second, third)] == [200, 200, 503]
    assert third.headers["Retry-After"] == "5"
    assert downloads.limit(Response(b"small")).status_code == 200
    first.close()
    assert downloads.limit(Response(iter([b"x"]))).status_code == 200
