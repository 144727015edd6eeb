"""The gRPC server that training with MindInsight's debugger protocol connects to: package `debugger`, service `EventListener`.

Messages come and go as bytes (`parsers.debugger`). There is no login: whoever reaches the port can open sessions, so it listens
on this machine only unless told otherwise. Every limit is per connection: calls at once, calls per second, time without a
message, so that one that floods or hangs is refused and others are not. Calls without a session have a limit in all, too.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from app.live.connections import Connections
from app.live.receiving import TooLarge, graphs_of
from app.live.session import TrainingSession
from app.live.sessions import EVERY, Sessions
from app.live.watching import MOST_HITS
from parsers.caches import Cache
from parsers.debugger import commands, messages
from parsers.debugger.messages import LARGEST_MESSAGE
from parsers.debugger.tensors import GraphTensors, tensors_of
from parsers.errors import FormatError
from parsers.graphs import anf_ir
from parsers.graphs.graph import Origin

log = logging.getLogger(__name__)

SERVICE = "debugger.EventListener"
INSTALL = "the debugger needs grpcio: pip install 'mindscope[debugger]'"
THREADS = 64
CALLS_AT_ONCE = 4
"""Calls of one connection that are answered at the same time: training has one that waits, one stream, and signs of life."""
CALLS_PER_SECOND = 5000
"""Calls of one connection in a second."""
IDLE = 60.0
"""Seconds a stream may take until its next message."""
MOST_STRANGERS = 32
"""Calls of connections without a session whose message is waited for; beyond that the oldest is cancelled. Eight sessions take
as many threads."""
MOST_PEERS = 1000
"""Connections whose calls are counted."""


class CannotListen(RuntimeError):
    """The port cannot be listened on, or grpcio is missing; the text is one line."""


@dataclass(slots=True)
class _ConnectionCalls:
    """The calls of one connection: those open, and those of the current second."""

    open: int = 0
    second: int = 0
    count: int = 0


@dataclass(slots=True, eq=False)
class _ReceivedStream:
    """A stream that is being received, and when its last message came."""

    context: Any
    is_stranger: bool
    heard: float = field(default_factory=time.monotonic)


class CallRefused(Exception):
    """A call is refused; the text says why, code is the name of gRPC's status."""

    def __init__(self, text: str, code: str = "FAILED_PRECONDITION") -> None:
        super().__init__(text)
        self.code = code


class DebuggerServer:
    """Listens until `stop`. host is an address or name, port 0 any free one."""

    def __init__(self, sessions: Sessions, host: str = "127.0.0.1", port: int = 50051) -> None:
        """Raise CannotListen if grpcio is missing or the port is in use."""
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # else each connection that sends garbage writes to stderr
        try:
            import grpc
        except ImportError:
            raise CannotListen(INSTALL) from None
        self._grpc: Any = grpc
        self._sessions = sessions
        self._lock = threading.Lock()
        self._calls: Cache[str, _ConnectionCalls] = Cache(MOST_PEERS)
        self._streams: dict[_ReceivedStream, None] = {}
        """In the order in which they began."""
        self._connections, self._closing = Connections(), threading.Lock()
        self._stopping = threading.Event()
        options = [
            ("grpc.max_receive_message_length", LARGEST_MESSAGE), ("grpc.max_metadata_size", 16 << 10),
            ("grpc.so_reuseport", 0), ("grpc.max_concurrent_streams", 2 * CALLS_AT_ONCE), ("grpc.http2.bdp_probe", 0),
            ("grpc.enable_channelz", 1),
        ]  # fmt: skip
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="mindscope-debugger")
        self._server: Any = grpc.server(self._pool, options=options)
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, self._handlers()),))
        name = f"[{host}]" if ":" in host else host
        try:
            bound = self._server.add_insecure_port(f"{name}:{port}")
        except RuntimeError:
            bound = 0
        if not bound:
            self._pool.shutdown(wait=False)
            raise CannotListen(f"--debugger-port: port {port} of {host} cannot be listened on: choose another")
        sessions.host, sessions.port = host, bound
        self.port = bound
        self._server.start()
        # A clock that runs as long as the server, not work: no `app.background`. grpc wants a pool of its own, too.
        self._watcher = threading.Thread(target=self._watch, name="mindscope-live", daemon=True)
        self._watcher.start()

    def stop(self) -> None:
        """End all sessions and calls, and wait for that."""
        self._stopping.set()
        self._sessions.stop()
        self._server.stop(grace=1.0).wait(5)
        self._watcher.join(timeout=5)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _handlers(self) -> dict[str, Any]:
        # To the other side a call of one message is a stream of one. For handlers of single messages grpc waits itself, without
        # a limit, in a thread of the pool.
        answers = {
            "WaitCMD": self._of_one(self._wait),
            "SendMetadata": self._of_one(self._metadata),
            "SendHeartbeat": self._of_one(self._heartbeat),
            "SendGraph": self._received(self._graph),
            "SendMultiGraphs": self._received(self._graphs),
            "SendTensors": self._received(self._tensors),
            "SendTensorBase": self._received(self._bases),
            "SendTensorStats": self._received(self._statistics),
            "SendWatchpointHits": self._received(self._hits),
        }
        handler = self._grpc.stream_unary_rpc_method_handler
        return {name: handler(self._answering(answer)) for name, answer in answers.items()}

    # Calls -----------------------------------------------------------------------------------------------------------

    def _of_one(self, answer: Callable[[bytes, str, Any], bytes]) -> Callable[[Any, str, Any], bytes]:
        """Return a handler of calls with one message, which is waited for as those of streams are."""

        def handle(request: Any, peer: str, context: Any) -> bytes:
            with self._receiving(request, peer, context) as given:
                message = next(given, None)
            if message is None:
                raise FormatError("expected a message, found a call without one")
            return answer(message, peer, context)

        return handle

    def _received(self, answer: Callable[[Iterator[bytes], str, Any], bytes]) -> Callable[[Any, str, Any], bytes]:
        """Return a handler of streams."""

        def handle(request: Any, peer: str, context: Any) -> bytes:
            with self._receiving(request, peer, context) as given:
                return answer(given, peer, context)

        return handle

    def _answering(self, answer: Callable[[Any, str, Any], bytes]) -> Callable[[Any, Any], bytes]:
        """Return a handler of calls: what may not be sent is refused and counted, whatever it is."""

        def handle(request: Any, context: Any) -> bytes:
            peer = context.peer()
            try:
                with self._counted(peer):
                    return answer(request, peer, context)
            except CallRefused as error:
                context.abort(self._grpc.StatusCode[error.code], str(error))
            except FormatError as error:
                session = self._sessions.of(peer)
                if session is not None:
                    session.refuse(str(error))
                context.abort(self._grpc.StatusCode.INVALID_ARGUMENT, str(error))
            except self._grpc.RpcError:
                session = self._sessions.of(peer)
                if session is not None:
                    session.refuse("expected the rest of a message, found the end of the connection")
            return b""

        return handle

    @contextlib.contextmanager
    def _counted(self, peer: str) -> Iterator[None]:
        """Count a call of a connection while it is answered; CallRefused if there are too many."""
        calls = self._calls.made(peer, _ConnectionCalls)
        with self._lock:
            now = int(time.monotonic())
            calls.count = calls.count + 1 if calls.second == now else 1
            calls.second = now
            many = calls.open >= CALLS_AT_ONCE or calls.count > CALLS_PER_SECOND
            calls.open += not many
        if many:
            session = self._sessions.of(peer)
            text = f"expected up to {CALLS_AT_ONCE} calls at once and {CALLS_PER_SECOND:,} a second, found more"
            if session is not None:
                session.refuse(text)
            raise CallRefused(text, "RESOURCE_EXHAUSTED")
        try:
            yield
        finally:
            with self._lock:
                calls.open -= 1

    @contextlib.contextmanager
    def _receiving(self, request: Any, peer: str, context: Any) -> Iterator[Iterator[bytes]]:
        """Watch a stream: it is cancelled if no message comes for too long, or without a session if others need its place."""
        stream = _ReceivedStream(context, self._sessions.of(peer) is None)
        with self._lock:
            self._streams[stream] = None
            strangers = [one for one in self._streams if one.is_stranger]
        for one in strangers[:-MOST_STRANGERS]:
            one.context.cancel()

        def messages_of() -> Iterator[bytes]:
            for one in request:
                stream.heard = time.monotonic()
                yield one

        try:
            yield messages_of()
        finally:
            with self._lock:
                del self._streams[stream]

    def _session(self, peer: str) -> TrainingSession:
        session = self._sessions.of(peer)
        if session is None:
            raise CallRefused("expected SendMetadata first, found another call")
        return session

    def _metadata(self, request: bytes, peer: str, _context: Any) -> bytes:
        told = messages.read_metadata(request)
        if told.done:
            session = self._sessions.of(peer)
            return commands.acknowledged() if session is None else session.end("done", told=told)
        with self._closing:
            if self._sessions.full:
                self._free_closed()
            session = self._sessions.begin(peer, told)
        if session is None:
            raise CallRefused("expected fewer trainings: as many are connected as can be at once", "RESOURCE_EXHAUSTED")
        return session.begin(told)

    def _wait(self, request: bytes, peer: str, context: Any) -> bytes:
        told = messages.read_metadata(request)
        session = self._sessions.found(peer, told)
        if session is None:
            return commands.acknowledged(commands.FAILED)
        if not context.add_callback(session.wake):
            return b""
        return session.wait(told, context.is_active)

    def _heartbeat(self, request: bytes, peer: str, _context: Any) -> bytes:
        heartbeat = messages.read_heartbeat(request)
        session = self._sessions.of(peer)
        return commands.acknowledged(commands.FAILED) if session is None else session.beat(heartbeat)

    def _graph(self, request: Iterator[bytes], peer: str, _context: Any) -> bytes:
        return self._take_graphs(request, peer, several=False)

    def _graphs(self, request: Iterator[bytes], peer: str, _context: Any) -> bytes:
        return self._take_graphs(request, peer, several=True)

    def _take_graphs(self, request: Iterator[bytes], peer: str, *, several: bool) -> bytes:
        session = self._session(peer)
        try:
            found = graphs_of(request, several=several)
        except TooLarge as error:
            return session.take_graphs(GraphTensors({}), str(error))
        graphs = [anf_ir.read_graph(data, Origin(session.key)) for data in found]
        if not any(len(graph.nodes) for graph in graphs):
            raise FormatError("expected a graph, found bytes without a node")
        device = session.told.device
        rank = int(device) if device.isascii() and device.isdigit() and len(device) < 6 else 0
        return session.take_graphs(tensors_of(dict(enumerate(graphs)), rank))

    def _tensors(self, request: Iterator[bytes], peer: str, _context: Any) -> bytes:
        return self._session(peer).take_tensors(request)

    def _bases(self, request: Iterator[bytes], peer: str, _context: Any) -> bytes:
        return self._session(peer).take_summaries(map(messages.read_base, request))

    def _statistics(self, request: Iterator[bytes], peer: str, _context: Any) -> bytes:
        return self._session(peer).take_summaries(map(messages.read_summary, request))

    def _hits(self, request: Iterator[bytes], peer: str, _context: Any) -> bytes:
        session = self._session(peer)
        hits = []
        for message in request:
            hits.append(messages.read_hit(message))
            if len(hits) > MOST_HITS:
                raise FormatError(f"expected up to {MOST_HITS:,} hits, found more")
        return session.take_hits(hits)

    def _free_closed(self) -> None:
        """Free the places of sessions whose connection was closed.

        The lock `_closing` is held: no session begins between the listing of connections and the comparison with it.
        """
        peers = self._connections.peers()
        if peers is not None:
            self._sessions.close_others(peers)

    # Watching --------------------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        while not self._stopping.wait(EVERY):
            with self._closing:
                self._free_closed()
            self._sessions.tick()
            now = time.monotonic()
            with self._lock:
                idle = [stream for stream in self._streams if now - stream.heard > IDLE]
            for stream in idle:
                stream.context.cancel()
