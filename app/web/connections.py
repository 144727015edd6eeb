"""The HTTP server: waitress with limits for clients that send or read slowly, and for those that open many connections.

Waitress lets a request take forever to arrive as long as bytes trickle in, and a thread waits without end for a client that
does not read. Here a connection is closed when a request has not arrived whole within REQUEST_SECONDS, or when the client took
less than LEAST_PROGRESS bytes of a waiting response within READ_SECONDS. Where there are more connections than CONNECTIONS, or
more than CONNECTIONS_OF_ONE from an address, the one that is missed least is closed for a new one (`app.web.crowds`).

What the application says of first line and headers alone is asked before the body is read. Light requests have threads of their
own, so that they are answered while all others are at work.

All times are of the monotonic clock. Waitress goes by the time of day: when that is set forward, it closes connections in the
middle of a response, and when it is set back, it closes none until that time has come again.
"""

from __future__ import annotations

import contextlib
import math
import socket
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher, WSGITask

from app.web import crowds

THREADS = 16
LIGHT_THREADS = 2
"""Further threads, for light requests."""
CONNECTIONS = 1000
"""Open connections at once; each takes a file descriptor, with a large body up to three."""
CONNECTIONS_OF_ONE = 600
"""Open connections of one address at once, which may be a proxy's."""
ACCEPTED_AT_ONCE = 64
"""New connections between two looks at the others, which may exceed these numbers until their requests have been looked for."""
OVERFLOW = 2 * ACCEPTED_AT_ONCE
"""Connections above these numbers while no other can be closed; further ones wait until they are accepted."""
CHECK_SECONDS = 5
"""Seconds between two rounds of checks."""
IDLE_SECONDS = 60
"""Seconds until a connection without a request is closed."""
REQUEST_SECONDS = 20
"""Seconds within which a request must have arrived whole."""
READ_SECONDS = 30
"""Seconds within which a client must take LEAST_PROGRESS bytes of a waiting response."""
LEAST_PROGRESS = 4 << 10
LARGEST_BODY = 64 << 20
"""Bytes; a request of as many or more is refused by waitress, whatever the application says of its headers."""
WAITING_BYTES = 1 << 20
"""Bytes of a response that wait to be sent before the thread that makes it waits, too. With waitress' 16 MiB, clients that do
not read cost a second of computing each."""
BODY_IN_MEMORY = 64 << 10
"""Bytes of a body that are kept in memory while it arrives; the rest is in a temporary file."""
CHECKED_BYTES = 256 << 10
"""Bytes of a body of unknown length between two checks."""
IGNORED_BYTES = 16 << 20
IGNORED_SECONDS = 5
"""What a client may still send of a refused request before its connection is closed. It is thrown away: closing at once would
take the response from a client that reads it only after it has sent everything."""
STOP_SECONDS: Any = 0.3  # waitress' types allow whole seconds only; it adds them to a time
"""Seconds that running requests have to end when the server stops."""

Environment = Mapping[str, Any]
Refuse = Callable[[Environment], Any]
"""Return the response, of werkzeug, that refuses a request by its headers, or None to read its body."""


class Refusal:
    """A response in place of a request, as waitress sends errors."""

    def __init__(self, response: Any) -> None:
        self._response = response

    def to_response(self, _ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        """Return status line, headers and body. Waitress adds the length."""
        headers = [(name, value) for name, value in self._response.headers.items() if name.lower() != "content-length"]
        return self._response.status, headers, self._response.get_data()


class CheckedRequest(HTTPRequestParser):
    """A request of which the headers are checked before its body is read."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel.adj)
        self._channel: Any = channel
        self.began = time.monotonic()
        self._checked = 0

    def parse_header(self, header_plus: bytes) -> None:
        """Parse first line and headers. ParsingError for what has no length, or two: a proxy might go by the other one."""
        try:
            super().parse_header(header_plus)
        except ValueError as error:  # Python takes no number of thousands of digits
            raise ParsingError("Content-Length is invalid") from error
        if self.chunked and "CONTENT_LENGTH" in self.headers:
            raise ParsingError("Content-Length and Transfer-Encoding exclude each other")

    def received(self, data: bytes) -> int:
        """Take data in; return the number of bytes that belong to this request."""
        before = self.headers_finished
        count = int(super().received(data))
        if self.error:
            self.expect_continue = False  # waitress would ask for the body of a request that it has refused
        if self.completed or not self.headers_finished:
            return count
        if not before:
            # A body that has arrived together with the headers is left to the application, which checks them as well.
            if self.chunked or len(data) - count < self.content_length:
                self._check()
        elif self.chunked and self.body_bytes_received > self._checked + CHECKED_BYTES:
            self._check({"CONTENT_LENGTH": str(self.body_bytes_received)})  # chunks do not say how many there will be
        return count

    def _check(self, more: Environment | None = None) -> None:
        self._checked = self.body_bytes_received
        request: Any = self
        refused = self._channel.server.refuse(WSGITask(self._channel, request).get_environment() | dict(more or {}))
        if refused is not None:
            self.refuse(refused)

    def refuse(self, response: Any) -> None:
        """Answer with this response and read no more."""
        self.error: Any = Refusal(response)
        self.completed = True
        self.expect_continue = False
        self._channel.ignores = True


class MonotonicTime:
    """An attribute that is the monotonic time at which it was set, whatever time of day is assigned to it."""

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, instance: Any, _owner: type | None = None) -> float:
        return float(getattr(instance, self._name, 0.0))

    def __set__(self, instance: Any, _time_of_day: float) -> None:
        setattr(instance, self._name, time.monotonic())


class Channel(HTTPChannel):
    """A connection that counts what was sent to the client, and whose requests are checked by their headers first."""

    ignores = False
    """Whether the rest of a refused request is thrown away."""
    ignored = 0
    """Bytes that were thrown away."""
    ignored_since: float | None = None
    """Time at which the response to a refused request had been sent."""
    sent = 0
    """Bytes handed to the system for sending."""
    progress = (0, 0.0)
    """Bytes that the client had taken at the last progress, and the time of it."""
    waiting = False
    """Whether a response was waiting at the last round of checks."""
    partial_since: float | None = None
    """Time of the first round of checks that found a part of a request; None if there was none."""

    last_activity: Any = MonotonicTime()
    """When the client last sent or took something."""
    creation_time: Any = MonotonicTime()

    def parser_class(self, _adjustments: Adjustments) -> CheckedRequest:  # type: ignore[override]  # a class, which is called likewise
        """Return a new request."""
        return CheckedRequest(self)

    def handle_read(self) -> None:
        """Read what has arrived."""
        if self.ignored_since is None:
            super().handle_read()
            return
        try:
            data = self.recv(1 << 16)
        except BlockingIOError:
            return
        self.ignored += len(data)
        if not data or self.ignored > IGNORED_BYTES:
            self.handle_close()

    def handle_write(self) -> None:
        """Send what waits. After a refusal, end our side of the connection and throw away what the client still sends."""
        if not (self.ignores and self.close_when_flushed) or self.will_close:
            super().handle_write()
            return
        channel: Any = self  # its methods are missing in waitress' types
        channel._flush_exception(channel._flush_some)
        if self.will_close:
            self.handle_close()
        elif not self.total_outbufs_len:
            with contextlib.suppress(OSError):
                channel.socket.shutdown(socket.SHUT_WR)
            self.ignored_since = time.monotonic()
            # On this object, not by methods: the server asks every connection in each round, however many are idle.
            channel.readable, channel.writable = lambda: True, lambda: False

    def send(self, data: bytes, do_close: bool = True) -> int:
        """Send data; return the number of bytes the system took."""
        count = int(super().send(data, do_close))
        self.sent += count
        return count

    def taken(self) -> int:
        """Return the number of bytes that have reached the client's system."""
        return self.sent - _unsent(self.socket)

    def is_stuck(self, now: float) -> bool:
        """Return whether the client sends or reads too slowly. Called once a round, with the time in seconds."""
        if self.ignored_since is not None:
            return now - self.ignored_since > IGNORED_SECONDS
        return self._sends_slowly(now) or self._reads_slowly(now)

    def importance(self) -> crowds.Importance | None:
        """Return how much this connection is missed if it is closed; None if it must stay."""
        if self.requests and not self.total_outbufs_len:
            return None
        if self.total_outbufs_len:
            return (crowds.NOT_READING, self.progress[1]) if self.waiting else None
        request: Any = self.request
        if request is not None:
            return crowds.INCOMPLETE, request.began
        if self.ignored_since is not None or not self.sent:
            return crowds.INCOMPLETE, self.creation_time
        return crowds.IDLE, self.last_activity

    def _sends_slowly(self, now: float) -> bool:
        if self.request is None or self.requests:
            self.partial_since = None
        elif self.partial_since is None:
            self.partial_since = now
        return self.partial_since is not None and now - self.partial_since > REQUEST_SECONDS

    def _reads_slowly(self, now: float) -> bool:
        taken, since = self.progress
        before, self.waiting = self.waiting, self.total_outbufs_len > 0
        found = self.taken() if self.waiting else 0
        if not (before and self.waiting) or found - taken >= LEAST_PROGRESS:
            self.progress = found, now
            return False
        return now - since > READ_SECONDS


def _unsent(connection: Any) -> int:
    """Return the number of bytes that the system still holds for the client; 0 where it does not tell."""
    try:
        import fcntl
        import termios
    except ImportError:
        return 0
    answer = bytearray(4)
    with contextlib.suppress(OSError):  # a system that tells it of terminals only
        fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, answer)
    return int.from_bytes(answer, sys.byteorder)


class Server(TcpWSGIServer):
    """A server on one listening socket."""

    channel_class = Channel
    refuse: Refuse = staticmethod(lambda _environment: None)
    is_light: Callable[[str], bool] = staticmethod(lambda _path: False)
    """Whether a request to a path is answered at once, whatever the others do."""
    next_channel_cleanup: Any = math.inf  # by waitress' clock, the time of day: never
    _light: ThreadedTaskDispatcher | None = None
    _checked_at = -math.inf
    """Time of the last round of checks."""

    def readable(self) -> bool:
        """Look at the connections if that is due, by a clock that does not jump; return whether new ones are accepted."""
        now = time.monotonic()
        if now - self._checked_at >= CHECK_SECONDS:
            self._checked_at = now
            self.maintenance(now)
        return bool(super().readable())

    def add_task(self, task: Any) -> None:
        """Have the first request of a connection answered."""
        if self.is_light(getattr(task.requests[0], "path", "")):
            if self._light is None:
                self._light = ThreadedTaskDispatcher()
                self._light.set_thread_count(LIGHT_THREADS)
            self._light.add_task(task)
        else:
            super().add_task(task)

    def handle_accept(self) -> None:
        """Close connections if there are too many, and accept those that wait.

        In this order: of those accepted last time it is known by now whether they have sent a request.
        """
        channels: Any = self.active_channels  # a dict by file descriptor, whatever waitress' types say
        if len(channels) > CONNECTIONS_OF_ONE:
            self._make_room(list(channels.values()))
        for _ in range(ACCEPTED_AT_ONCE):
            known = len(channels)
            super().handle_accept()
            if len(channels) == known:
                break

    def _make_room(self, channels: list[Any]) -> None:
        channel: Any
        for channel in crowds.unneeded(channels, CONNECTIONS, CONNECTIONS_OF_ONE, time.monotonic()):
            channel.handle_close()

    def maintenance(self, now: Any) -> None:  # whole seconds, say waitress' types
        """Close connections that are idle or stuck. now is a time in seconds of the monotonic clock."""
        super().maintenance(now)
        channels: Any = self.active_channels  # a dict by file descriptor, whatever waitress' types say
        for channel in list(channels.values()):
            if channel.is_stuck(now):
                channel.handle_close()

    def run(self) -> None:
        """Serve until KeyboardInterrupt or SystemExit, then end within STOP_SECONDS, whatever still runs."""
        server: Any = self  # its map of connections is missing in waitress' types
        try:
            while server._map:
                # Events are handled in the order of the map. New connections come last, as they may take the file descriptors
                # of connections that are closed for them, for which events are still to be handled.
                if server._fileno in server._map:
                    server._map[server._fileno] = server._map.pop(server._fileno)
                server.asyncore.loop(
                    timeout=self.adj.asyncore_loop_timeout, map=server._map, use_poll=self.adj.asyncore_use_poll, count=1
                )
        except (SystemExit, KeyboardInterrupt):
            for dispatcher in filter(None, (self._light, self.task_dispatcher)):
                dispatcher.shutdown(timeout=STOP_SECONDS)


def create_server(
    application: Callable[..., Iterable[bytes]], listener: socket.socket, *,
    refuse: Refuse | None = None, is_light: Callable[[str], bool] | None = None,
) -> Server:  # fmt: skip
    """Return a server of a WSGI application on a listening, non-blocking TCP socket; it starts with run().

    refuse is asked before the body of a request is read, is_light for the path of a request that has arrived.
    """
    _allow_files(3 * (CONNECTIONS + OVERFLOW))
    adjustments = Adjustments(
        sockets=[listener], threads=THREADS, ident="", clear_untrusted_proxy_headers=True, expose_tracebacks=False,
        max_request_body_size=LARGEST_BODY, inbuf_overflow=BODY_IN_MEMORY, outbuf_high_watermark=WAITING_BYTES,
        asyncore_use_poll=hasattr(socket, "AF_UNIX"), connection_limit=CONNECTIONS + OVERFLOW, backlog=4096,
        channel_timeout=IDLE_SECONDS, log_socket_errors=False,
    )  # fmt: skip
    address = (listener.family, listener.type, listener.proto, listener.getsockname())
    server = Server(application, {}, True, listener, adj=adjustments, bind_socket=False, sockinfo=address)
    if refuse is not None:
        server.refuse = refuse
    if is_light is not None:
        server.is_light = is_light
    return server


def _allow_files(count: int) -> None:
    """Raise the process's limit of open files to count, or as far as this user may."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted: Any = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):  # a system with another limit of its own; the soft limit stays
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
