"""The HTTP server against clients that send half a request, and clients that do not read."""

from __future__ import annotations

import contextlib
import http.client
import io
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Response

from app import create_app
from app.web import connections
from app.web.connections import Channel, create_server
from app.web.downloads import Downloads
from tests.sources import MemorySource, series
from tests.waiting import until

POINTS = 1_000_000


@pytest.fixture(scope="module")
def application() -> Any:
    return create_app(MemorySource({"a": {"scalar": {"loss": series(POINTS, 1)}}}))


@contextlib.contextmanager
def running(application: Any) -> Iterator[tuple[str, int]]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1024)
        listener.setblocking(False)
        address = listener.getsockname()
        server = create_server(
            application.server, listener, refuse=application.guard.refuse_early, is_light=application.is_light
        )
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
        for path in (b"/health", b"/api/runs.json"):  # the second one is answered by the threads that also make downloads
            with asking(address, path) as client:
                client.settimeout(10)  # 10 ms on a quiet machine; those that wait are closed after 20 s
                assert status(client) == 200


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


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set the time of day forward by some seconds, or back."""
    real = time.time
    return lambda seconds: monkeypatch.setattr(time, "time", lambda: real() + seconds)


def test_a_clock_set_forward_cuts_no_response_off(
    application: Any, clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CHECK_SECONDS", 1)
    with running(application) as address, downloading(address) as slow, contextlib.closing(asking(address)) as idle:
        assert status(idle) == 200
        got = bytearray(slow.recv(1 << 16))
        clock(86_400.0)
        time.sleep(2.5)  # two rounds of checks
        idle.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert status(idle) == 200
        while not got.endswith(b"0\r\n\r\n"):
            more = slow.recv(1 << 20)
            assert more, "the reader was cut off"
            got += more
        assert got.count(b"\n") > POINTS


def test_a_clock_set_back_keeps_no_half_sent_request(
    application: Any, clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CHECK_SECONDS", 1)
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 1)
    with running(application) as address, half_sent(address) as before:
        time.sleep(0.5)
        clock(-86_400.0)
        with half_sent(address) as after:
            until(lambda: ended(before) and ended(after))


@pytest.mark.parametrize("seconds", [-86_400.0, 365 * 86_400.0])
def test_an_idle_connection_is_closed_whatever_the_clock_says(
    application: Any, clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(connections, "CHECK_SECONDS", 1)
    monkeypatch.setattr(connections, "IDLE_SECONDS", 1)
    with running(application) as address, contextlib.closing(asking(address)) as before:
        assert status(before) == 200
        clock(seconds)
        with contextlib.closing(asking(address)) as after:
            assert status(after) == 200
            until(lambda: ended(before) and ended(after))


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
        assert refused.value.read().decode() == "Expected at most 1048576 bytes, found 9437184.\n"


HEADERS = b"POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%s\r\n\r\n"


@pytest.mark.parametrize(("path", "host", "more", "status"), [
    (b"/api/note", b"evil.example", b"Content-Length: 1000000", b"403"),
    (b"/api/note", b"localhost", b"Origin: http://evil.example\r\nContent-Length: 1000000", b"403"),
    (b"/api/note", b"localhost", b"Content-Length: 1048577", b"413"),
    (b"/api/nothing", b"localhost", b"Content-Length: 99999999999", b"413"),
    (b"/_dash-update-component", b"localhost", b"Content-Length: 8388609", b"413"),
    (b"/api/note", b"localhost", b"Expect: 100-continue\r\nContent-Length: 1048577", b"413"),
    (b"/api/note", b"evil.example", b"Transfer-Encoding: chunked", b"403"),
])  # fmt: skip
def test_what_the_headers_say_is_answered_before_the_body_has_come(
    application: Any, path: bytes, host: bytes, more: bytes, status: bytes
) -> None:
    with running(application) as address, socket.create_connection(address, timeout=20) as client:
        client.sendall(HEADERS % (path, host, more) + b"the beginning of a body")
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 " + status)


@pytest.mark.parametrize(("headers", "answer"), [
    (b"Content-Length: 999999999\r\nExpect: 100-continue", b"413"),
    (b"Content-Length: " + b"9" * 5000, b"400"),
    (b"Content-Length: 5\r\nTransfer-Encoding: chunked", b"400"),
    (b"Content-Length: 5\r\nContent-Length: 0", b"400"),
    (b"Content-Length: -1", b"400"),
    (b"Content-Length: +5", b"400"),
    (b"Transfer-Encoding : chunked", b"400"),
    (b"Transfer-Encoding: identity", b"501"),
    (b"X: a\nHost: evil.example", b"400"),
])  # fmt: skip
def test_a_length_that_can_be_read_in_two_ways_or_is_too_large_ends_the_connection(
    application: Any, headers: bytes, answer: bytes
) -> None:
    smuggled = b"0\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with running(application) as address, socket.create_connection(address, timeout=20) as client:
        client.sendall(b"POST /_dash-update-component HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n\r\n" + smuggled)
        got = b""
        with contextlib.suppress(ConnectionResetError):
            while part := client.recv(1 << 16):
                got += part
        assert got.split(b" ", 2)[1] == answer
        assert got.count(b"HTTP/1.") == 1


def test_a_token_is_asked_for_before_the_body_has_come() -> None:
    guarded = create_app(MemorySource({}), token="t" * 43)
    with running(guarded) as address, socket.create_connection(address, timeout=20) as client:
        client.sendall(HEADERS % (b"/api/note", b"localhost", b"Content-Length: 100000"))
        answer = client.recv(1 << 16)
    assert answer.startswith(b"HTTP/1.1 401")
    assert b"X-Content-Type-Options: nosniff" in answer


@pytest.mark.parametrize(("path", "size", "status"), [
    (b"/_dash-update-component", 1 << 20, b"400"), (b"/api/note", (1 << 20) - 99_999, b"400"), (b"/api/note", 1 << 20, b"413"),
])  # fmt: skip
def test_a_body_in_chunks_is_read_to_the_limit_of_its_route(
    application: Any, path: bytes, size: int, status: bytes
) -> None:
    with running(application) as address, socket.create_connection(address, timeout=20) as client:
        client.sendall(HEADERS % (path, b"localhost", b"Transfer-Encoding: chunked"))
        with contextlib.suppress(ConnectionError):
            for _ in range(size // 100_000 + 1):
                client.sendall(b"%x\r\n" % 100_000 + b" " * 100_000 + b"\r\n")
            client.sendall(b"0\r\n\r\n")
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 " + status)


def test_a_body_in_chunks_that_never_ends_is_refused_on_the_way(application: Any) -> None:
    """The answer comes while the client still owes the end, after little more than the limit of the route."""
    with running(application) as address, socket.create_connection(address, timeout=20) as client:
        client.sendall(HEADERS % (b"/api/note", b"localhost", b"Transfer-Encoding: chunked"))
        for _ in range(15):
            client.sendall(b"%x\r\n" % 100_000 + b" " * 100_000 + b"\r\n")
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 413")


def test_a_body_in_chunks_is_limited_in_a_host_application_too(application: Any) -> None:
    """Another server asks nothing before the body has come, and may take a body of any size: it is read to the limit only."""
    body = io.BytesIO(b" " * (3 << 20))
    chunked = {"wsgi.input_terminated": True, "CONTENT_LENGTH": ""}
    client = application.server.test_client()
    answer = client.post("/api/note", content_type="application/json", input_stream=body, environ_overrides=chunked)
    assert answer.status_code in (400, 413)
    assert body.tell() <= 1 << 20


def test_what_the_application_does_not_refuse_ends_at_64_mib(application: Any) -> None:
    """The server's own limit, whatever application it serves."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        server: Any = create_server(application.server, listener)
        threading.Thread(target=server.run, daemon=True).start()
        for size, answered in (((64 << 20) - 1, False), (64 << 20, True), (1 << 40, True)):
            with socket.create_connection(listener.getsockname(), timeout=2.0 if not answered else 20.0) as client:
                client.sendall(HEADERS % (b"/api/note", b"localhost", b"Content-Length: %d" % size))
                if answered:
                    assert client.recv(1 << 16).startswith(b"HTTP/1.1 413"), size
                else:
                    with pytest.raises(TimeoutError):
                        client.recv(1)  # it waits for the body
        server.close()


def test_what_comes_after_a_refusal_is_thrown_away_to_a_limit(application: Any) -> None:
    with running(application) as address, socket.create_connection(address, timeout=20) as client:
        client.sendall(HEADERS % (b"/api/note", b"evil.example", b"Content-Length: 60000000"))
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < 60_000_000:
                sent += client.send(b"x" * 65_536)
        assert sent < 60_000_000


def test_what_comes_after_a_refusal_is_waited_for_to_a_limit(application: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("IGNORED_SECONDS", 0.3), ("CHECK_SECONDS", 0.1)):
        monkeypatch.setattr(connections, name, seconds)
    with running(application) as address, socket.create_connection(address, timeout=20) as client:
        client.sendall(HEADERS % (b"/api/note", b"evil.example", b"Content-Length: 60000000"))

        def is_closed() -> bool:
            try:
                return client.send(b"x") == 0
            except ConnectionError:
                return True

        until(is_closed, 20.0)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits small enough for a test that is quick."""
    for name, value in (("CONNECTIONS", 40), ("CONNECTIONS_OF_ONE", 30), ("OVERFLOW", 5), ("ACCEPTED_AT_ONCE", 2)):
        monkeypatch.setattr(connections, name, value)


def ended(client: socket.socket) -> bool:
    """Return whether the server has closed a connection."""
    client.setblocking(False)
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def asking(address: tuple[str, int], path: bytes = b"/health") -> socket.socket:
    client = socket.create_connection(address, timeout=20)
    client.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path)
    return client


def status(client: socket.socket) -> int:
    """Read a whole response to `asking`; return its status."""
    answer = http.client.HTTPResponse(client)
    answer.begin()
    answer.read()
    return answer.status


@pytest.mark.usefixtures("few")
def test_the_oldest_incomplete_connection_gives_way_and_no_honest_client_loses_a_request(application: Any) -> None:
    with running(application) as address, contextlib.ExitStack() as clients:
        kept = clients.enter_context(asking(address))
        assert status(kept) == 200
        waiting = [clients.enter_context(half_sent(address)) for _ in range(60)]
        honest = [clients.enter_context(asking(address)) for _ in range(20)]
        for client in (*honest, *(clients.enter_context(asking(address)) for _ in range(5))):
            assert status(client) == 200
        until(lambda: sum(map(ended, waiting)) >= 50)
        gone = [ended(client) for client in waiting]
        assert gone == sorted(gone, reverse=True)  # the oldest first
        kept.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert status(kept) == 200  # idle, and older than all of them


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="127.0.0.2 answers on Linux only")
@pytest.mark.usefixtures("few")
def test_one_address_leaves_room_for_the_others(application: Any) -> None:
    with running(application) as address, contextlib.ExitStack() as clients:
        other = clients.enter_context(socket.create_connection(address, source_address=("127.0.0.2", 0)))
        waiting = [clients.enter_context(half_sent(address)) for _ in range(100)]
        until(lambda: sum(map(ended, waiting)) >= 100 + 1 - 30 - connections.ACCEPTED_AT_ONCE)
        assert not ended(other)


@pytest.mark.usefixtures("few")
def test_a_new_connection_is_not_closed_before_its_request_was_looked_for(application: Any) -> None:
    with running(application) as address, contextlib.ExitStack() as clients:
        idle = [clients.enter_context(asking(address)) for _ in range(30)]
        assert [status(client) for client in idle] == [200] * 30
        for _ in range(10):
            assert status(clients.enter_context(asking(address))) == 200


def test_light_requests_are_answered_while_all_threads_are_at_work(application: Any) -> None:
    free = threading.Event()

    def busy() -> str:
        assert free.wait(60)
        return "done"

    busied = create_app(MemorySource({}))
    busied.server.add_url_rule("/busy", "busy", busy)
    with running(busied) as address, contextlib.ExitStack() as clients:
        held = [clients.enter_context(asking(address, b"/busy")) for _ in range(connections.THREADS + 4)]
        try:
            for path in (b"/health", b"/", b"/scalars", b"/_dash-layout"):
                with asking(address, path) as client:
                    assert status(client) == 200
        finally:
            free.set()
        assert all(status(client) == 200 for client in held)


@contextlib.contextmanager
def running_apart() -> Iterator[tuple[str, int]]:
    """Run the server of this module in a process of its own, whose time is not shared with the clients."""
    command = [sys.executable, "-m", "tests.app.web.test_connections"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield "127.0.0.1", int(server.stdout.readline())
        finally:
            server.stdin.close()
            server.wait(60)


@contextlib.contextmanager
def echoing() -> Iterator[tuple[str, int]]:
    """Run a process that answers what it is sent: how long that takes says how busy the machine is."""
    code = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)\n"
        "while True:\n c = s.accept()[0]; c.sendall(c.recv(9)); c.close()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield "127.0.0.1", int(process.stdout.readline())
        finally:
            process.kill()


def echo(address: tuple[str, int]) -> float:
    began = time.monotonic()
    with socket.create_connection(address, timeout=20) as client:
        client.sendall(b"x")
        assert client.recv(9) == b"x"
    return time.monotonic() - began


def ask_again(client: socket.socket) -> int:
    client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return status(client)


@pytest.mark.long
@pytest.mark.parametrize("attacker", ["127.0.0.1", "127.0.0.2"])
def test_a_crowd_holds_no_honest_client_up(attacker: str) -> None:
    """2,000 half-open connections and 300 clients that never read, at the address of 200 honest ones or elsewhere."""
    source = (attacker, 0)
    with running_apart() as address, echoing() as bare, contextlib.ExitStack() as clients:
        honest = [clients.enter_context(asking(address)) for _ in range(200)]
        assert [status(client) for client in honest] == [200] * 200
        for _ in range(300):
            client = clients.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.bind(source)
            client.connect(address)
            client.sendall(b"GET /api/scalars.csv?run=a&tag=loss HTTP/1.1\r\nHost: localhost\r\n\r\n")
        times = []
        for number in range(2000):
            client = clients.enter_context(socket.create_connection(address, source_address=source))
            client.sendall(b"POST /api/note HTTP/1.1\r\nHost: localhost\r\nContent-Le")
            if number % 10 == 0:
                assert ask_again(honest[number // 10]) == 200
            if number % 100 == 0:
                times.append(health(address) - echo(bare))
        new = [clients.enter_context(asking(address)) for _ in range(50)]
        assert [status(client) for client in new] == [200] * 50
        assert [ask_again(client) for client in honest] == [200] * 200
        times += [health(address) - echo(bare) for _ in range(20)]
        assert max(times) <= 1, times


def test_more_downloads_than_allowed_are_told_to_wait() -> None:
    downloads = Downloads(2)
    first, second, third = (downloads.limit(Response(iter([b"x"]))) for _ in range(3))
    assert [answer.status_code for answer in (first, second, third)] == [200, 200, 503]
    assert third.headers["Retry-After"] == "5"
    assert downloads.limit(Response(b"small")).status_code == 200
    first.close()
    assert downloads.limit(Response(iter([b"x"]))).status_code == 200


if __name__ == "__main__":
    with running(create_app(MemorySource({"a": {"scalar": {"loss": series(POINTS, 1)}}}))) as here:
        print(here[1], flush=True)
        sys.stdin.read()
