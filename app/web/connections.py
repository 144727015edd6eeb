"""The HTTP server: waitress with limits for clients that send or read slowly.

Waitress lets a request take forever to arrive as long as bytes trickle in, and a thread waits without end for a client that
does not read. Here a connection is closed when a request has not arrived whole within REQUEST_SECONDS, or when the client took
less than LEAST_PROGRESS bytes of a waiting response within READ_SECONDS.
"""

from __future__ import annotations

import contextlib
import socket
import sys
from collections.abc import Callable, Iterable
from typing import Any

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer

THREADS = 16
CONNECTIONS = 1000
"""Open connections at once; each takes a file descriptor, with a large body up to three."""
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
"""Bytes; a larger request is refused by waitress, which closes the connection. The application refuses much smaller ones, with
an answer that clients get to read."""
STOP_SECONDS: Any = 0.3  # waitress' types allow whole seconds only; it adds them to a time
"""Seconds that running requests have to end when the server stops."""


class Channel(HTTPChannel):
    """A connection that counts what was sent to the client."""

    sent = 0
    """Bytes handed to the system for sending."""
    progress = (0, 0.0)
    """Bytes that the client had taken at the last progress, and the time of it."""
    waiting = False
    """Whether a response was waiting at the last round of checks."""
    partial_since: float | None = None
    """Time of the first round of checks that found a part of a request; None if there was none."""

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
        return self._sends_slowly(now) or self._reads_slowly(now)

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

    def maintenance(self, now: int) -> None:
        """Close connections that are idle or stuck. Waitress calls it every CHECK_SECONDS, with the time in seconds."""
        super().maintenance(now)
        channels: Any = self.active_channels  # a dict by file descriptor, whatever waitress' types say
        for channel in list(channels.values()):
            if channel.is_stuck(now):
                channel.handle_close()

    def run(self) -> None:
        """Serve until KeyboardInterrupt or SystemExit, then end within STOP_SECONDS, whatever still runs."""
        server: Any = self  # its map of connections is missing in waitress' types
        try:
            server.asyncore.loop(
                timeout=self.adj.asyncore_loop_timeout, map=server._map, use_poll=self.adj.asyncore_use_poll
            )
        except (SystemExit, KeyboardInterrupt):
            self.task_dispatcher.shutdown(timeout=STOP_SECONDS)


def create_server(application: Callable[..., Iterable[bytes]], listener: socket.socket) -> Server:
    """Return a server of a WSGI application on a listening, non-blocking TCP socket; it starts with run()."""
    _allow_files(3 * CONNECTIONS)
    adjustments = Adjustments(
        sockets=[listener], threads=THREADS, ident="", clear_untrusted_proxy_headers=True, expose_tracebacks=False,
        max_request_body_size=LARGEST_BODY, asyncore_use_poll=hasattr(socket, "AF_UNIX"), connection_limit=CONNECTIONS,
        channel_timeout=IDLE_SECONDS, cleanup_interval=CHECK_SECONDS, log_socket_errors=False,
    )  # fmt: skip
    address = (listener.family, listener.type, listener.proto, listener.getsockname())
    return Server(application, {}, True, listener, adj=adjustments, bind_socket=False, sockinfo=address)


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
