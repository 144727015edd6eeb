"""A proxy between a mirror and the object store of the tests that answers some requests badly, as real stores do."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

EXPIRED = b"<?xml version='1.0'?><Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"
SLOW_DOWN = b"<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
BROKEN = b"<?xml version='1.0'?><Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>"

Fault = Callable[["Proxied"], bool]
"""Answers a request badly, and returns whether it did."""


class Proxied(BaseHTTPRequestHandler):
    """A request to the store behind."""

    protocol_version = "HTTP/1.1"
    server: FaultyProxy

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.server.fault(self):
            return
        status, headers, body = self.fetched()
        self.answer(status, body, headers)

    do_HEAD = do_GET

    @property
    def is_object(self) -> bool:
        """Whether it asks for an object, not for a listing."""
        return "list-type" not in self.path

    def fetched(self) -> tuple[int, dict[str, str], bytes]:
        """What the store answers."""
        behind = http.client.HTTPConnection(self.server.store, timeout=30)
        behind.request(self.command, self.path, headers=dict(self.headers.items()))
        found = behind.getresponse()
        body = found.read()
        kept = {name: text for name, text in found.getheaders() if name.lower() not in ("transfer-encoding", "connection")}
        return found.status, kept, body

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None, *, cut: int | None = None) -> None:
        """Send an answer; with cut, only so many bytes of it, and then nothing more."""
        self.send_response(status)
        for name, text in (headers or {"Content-Type": "application/xml"}).items():
            if name.lower() != "content-length":
                self.send_header(name, text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:cut])
        if cut is not None:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Be quiet."""


class FaultyProxy(ThreadingHTTPServer):
    """A store with faults. asked are the paths of all requests."""

    daemon_threads = True

    def __init__(self, store: str) -> None:
        super().__init__(("127.0.0.1", 0), Proxied)
        self.store, self.asked = urlsplit(store).netloc, list[str]()
        self.fault: Fault = lambda _: False
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_: object) -> None:
        """A client that went away is what some tests are about."""


@contextlib.contextmanager
def faulty(store: str) -> Iterator[FaultyProxy]:
    with FaultyProxy(store) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield proxy
        proxy.shutdown()


def answering(status: int, body: bytes, times: int) -> Fault:
    """The first requests for objects get this answer."""
    left = [times]

    def fault(asked: Proxied) -> bool:
        if not asked.is_object or not left[0]:
            return False
        left[0] -= 1
        asked.answer(status, body)
        return True

    return fault


def truncating(times: int, share: float) -> Fault:
    """The first objects come with a part of their bytes, although the length says all."""
    left = [times]

    def fault(asked: Proxied) -> bool:
        if not asked.is_object or not left[0]:
            return False
        left[0] -= 1
        status, headers, body = asked.fetched()
        asked.answer(status, body, headers, cut=int(share * len(body)))
        return True

    return fault


def dropping(times: int) -> Fault:
    """The connections of the first requests for objects end without an answer."""
    left = [times]

    def fault(asked: Proxied) -> bool:
        if not asked.is_object or not left[0]:
            return False
        left[0] -= 1
        asked.close_connection = True
        asked.connection.shutdown(socket.SHUT_RDWR)
        return True

    return fault


def trickling(seconds: float) -> Fault:
    """Objects come in ten pieces with pauses."""

    def fault(asked: Proxied) -> bool:
        if not asked.is_object:
            return False
        status, headers, body = asked.fetched()
        asked.answer(status, body, headers, cut=0)
        asked.close_connection = False
        step = len(body) // 10 + 1
        for begin in range(0, len(body), step):
            time.sleep(seconds / 10)
            asked.wfile.write(body[begin : begin + step])
        return True

    return fault
