"""What trainings may send to the port of live training: calls in any order, each with any messages.

A case is a message of protobuf: each field is a call, by its number in CALLS, whose content is the message that is sent, so
that mutations of messages reach it. The handlers of the server get it as gRPC hands it to them, without a connection: its
threads take more address space than a case may. Whatever comes, they answer or refuse by a documented status, and serve another
training afterwards (`tests/app/live/test_hostile.py` has connections).
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import cache
from typing import Any

import grpc
import numpy as np

from app.live.server import DebuggerServer
from app.live.sessions import Sessions
from parsers.events.wire import DELIMITED, WireError
from parsers.graphs.wire import places
from parsers.recording.wire import delimited
from tests.fuzz.corpus import Files
from tests.fuzz.promises import Broken
from tests.writers.debugger_client import OK, STREAMS, UNARY, M

CALLS = (*UNARY, *STREAMS)
MOST_CALLS = 12
_REFUSALS = {
    grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.RESOURCE_EXHAUSTED,
}  # fmt: skip
_HONEST = M.Metadata(device_name="0:0", cur_step=1, backend="GPU", graph_num=1, ms_version="2.2.0")


class _Aborted(Exception):
    """A call was refused."""


@dataclass(frozen=True, slots=True)
class _Context:
    """What handlers ask gRPC of a call, which is of a connection that is not there for long."""

    name: str

    def peer(self) -> str:
        """Return the connection."""
        return self.name

    def add_callback(self, _call: object) -> bool:
        """Return that the connection is still there."""
        return True

    def is_active(self) -> bool:
        """Return that it is not any more, so that no case waits."""
        return False

    def abort(self, code: grpc.StatusCode, text: str) -> None:
        """Refuse the call."""
        if code not in _REFUSALS:
            raise Broken(f"{code.name}: {text}")
        raise _Aborted(text)


@dataclass(frozen=True)
class _Served:
    sessions: Sessions
    handlers: dict[str, Any]


@cache
def _served() -> _Served:
    sessions = Sessions()
    return _Served(sessions, DebuggerServer(sessions, port=0)._handlers())


def _call(name: str, message: Any) -> bytes:
    return delimited(CALLS.index(name) + 1, message.SerializeToString())


def cases() -> Files:
    """Return what an honest training sends: metadata, a graph, signs of life, tensors and hits."""
    begun = _call("SendMetadata", _HONEST)
    node = M.NodeProto(name="0", op_type="Cast", full_name="Default/a", input=[M.InputProto(name="x")])
    content = M.GraphProto(name="kernel_graph_0", node=[node, node]).SerializeToString()
    chunk = M.Chunk(buffer=content, finished=True)
    graph, several = _call("SendGraph", chunk), _call("SendMultiGraphs", chunk)
    values = np.arange(6, dtype=np.float32).tobytes()
    tensor = M.TensorProto(node_name="Default/a", slot="0", data_type=11, dims=[2, 3], tensor_content=values, finished=True)
    rest = _call("WaitCMD", _HONEST) + _call("SendHeartbeat", M.Heartbeat(message="alive", period=5))
    hit = M.WatchpointHit(id=1, tensor=tensor)
    sent = _call("SendTensors", tensor) + _call("SendWatchpointHits", hit)
    return begun + graph + rest, begun + several + sent, begun + graph + sent + rest, rest + graph + begun + begun


def call(data: bytes, _folder: str) -> None:
    """Make the calls of a case on one connection, then begin another training."""
    served = _served()
    try:
        for name, message in _calls(data):
            with contextlib.suppress(_Aborted):
                _answer(served, name, message, "ipv4:10.0.0.1:1")
        reply = _answer(served, "SendMetadata", _HONEST.SerializeToString(), "ipv4:10.0.0.2:2")
        if reply.status != OK:
            raise Broken(f"another training: status {reply.status}")
        str(served.sessions.status())
    finally:
        served.sessions.close_others(set())


def _calls(data: bytes) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    try:
        for key, start, stop in places(data, 0, len(data)):
            if key & 7 == DELIMITED and stop <= len(data):
                found.append((CALLS[(key >> 3) % len(CALLS) - 1], data[start:stop]))
    except (WireError, IndexError):
        pass  # the calls before the damage are sent
    return found[:MOST_CALLS]


def _answer(served: _Served, name: str, message: bytes, peer: str) -> Any:
    handler = served.handlers[name]
    context = _Context(peer)
    return M.EventReply.FromString(handler.stream_unary(iter((message,)), context))
