"""Clients that send garbage, too much, too often, or go: the session says so, and others are served."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import grpc
import numpy as np
import pytest

from app.live import receiving, server, session, sessions
from layouts.dumps.live_sessions import Order
from parsers.debugger import messages
from parsers.errors import PayloadError
from tests.app.live.conftest import Served
from tests.writers.debugger_client import FAILED, OK, PENDING, M, Stub, Training, chunks, pieces


@pytest.mark.parametrize(("limit", "most", "expected"), [
    ("LARGEST_GRAPHS", 20, "up to 20 bytes"), ("MOST_NODES", 20, "up to 20 nodes"), ("MOST_GRAPHS", 2, "up to 2 graphs"),
])  # fmt: skip
def test_all_graphs_of_a_training_are_limited_together(
    limit: str, most: int, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiving, limit, most)
    graph = b"\x0a\x00" * (9 if limit == "MOST_NODES" else 4)
    messages_of = [chunk.SerializeToString() for chunk in chunks(graph, len(graph))]
    assert len(receiving.graphs_of(iter(messages_of * 2), several=True)) == 2
    with pytest.raises(receiving.TooLarge, match=expected):
        receiving.graphs_of(iter(messages_of * 3), several=True)


@contextlib.contextmanager
def refused(code: grpc.StatusCode = grpc.StatusCode.INVALID_ARGUMENT, text: str = ""):
    with pytest.raises(grpc.RpcError) as raised:
        yield
    assert raised.value.code() == code, raised.value.details()
    assert text in raised.value.details()


def connected(served: Served, **given: object) -> Training:
    """A training that has sent its graph and waits for nothing yet."""
    found = Training(served.port, **given)  # type: ignore[arg-type]
    found.stub.SendMetadata(found._metadata())
    found.stub.SendGraph(chunks(found.graph().SerializeToString()))
    return found


def waiting(served: Served, training: Training, key: str = "live:1"):
    """Let a training wait for an order; return what will be its reply."""
    reply = training.stub.WaitCMD.future(training._metadata())
    served.reaches("waiting", key)
    return reply


def asked(served: Served, training: Training, row: int = -1, key: str = "live:1"):
    """Let a page ask for the values of a row; return (row, what training was told)."""
    reply = waiting(served, training, key)
    dump = served.sessions.dump(key)
    row = row if row >= 0 else len(dump.tensors) + row
    with pytest.raises(PayloadError, match="has been asked for"):
        dump.tensor(row)
    return row, reply.result(10).view_cmd


def why_not(served: Served, row: int) -> str:
    with pytest.raises(PayloadError) as raised:
        served.sessions.dump("live:1").tensor(row)
    return str(raised.value)


def test_no_call_before_metadata(served: Served) -> None:
    stub = Stub(served.port)
    assert stub.WaitCMD(M.Metadata(device_name="0:0")).status == FAILED
    assert stub.SendHeartbeat(M.Heartbeat(period=5)).status == FAILED
    for name in ("SendGraph", "SendMultiGraphs", "SendTensors", "SendTensorBase", "SendTensorStats", "SendWatchpointHits"):
        with refused(grpc.StatusCode.FAILED_PRECONDITION, "SendMetadata first"):
            getattr(stub, name)(iter([b""]))
    assert served.sessions.status().sessions == ()
    stub.SendMetadata(M.Metadata(device_name="0:0", ms_version="2.2.0"))
    assert stub.WaitCMD(M.Metadata(device_name="0:0")).status == FAILED
    assert served.look().state == "pending"
    stub.close()


@pytest.mark.parametrize("garbage", [
    b"\xff" * 40, b"\x0a\xff\xff\xff\xff\x7f", b"\x0a\x05ab", b"\x10" + b"\xff" * 11, b"\x0a\x00" * 5000,
    b"\x0a\x81\x40" + b"x" * 8193, b"\x0b" * 200,
], ids=["bytes", "long", "cut", "number", "fields", "text", "groups"])  # fmt: skip
def test_garbage_is_refused_and_counted(served: Served, garbage: bytes) -> None:
    training = connected(served)
    before = served.look()
    stub = training.stub
    for name in ("WaitCMD", "SendMetadata", "SendHeartbeat"):
        if garbage.startswith(b"\x0b") and name == "SendHeartbeat":
            continue
        with refused():
            getattr(stub, name)(garbage)
    for name in ("SendWatchpointHits",):
        with refused():
            getattr(stub, name)(iter([garbage]))
    after = served.look()
    assert after.refused >= 3
    assert after.refusal
    assert (after.state, after.step) == (before.state, before.step)
    assert waiting(served, training).running()
    stub.close()


def test_garbage_for_a_graph(served: Served) -> None:
    training = Training(served.port)
    training.stub.SendMetadata(training._metadata())
    for garbage in ([b""], [M.Chunk(buffer=b"\x00" * 1000, finished=True)], [M.Chunk(buffer=b"\xff" * 99, finished=True)]):
        with refused():
            training.stub.SendGraph(iter(garbage))
    with refused(text="found the end after"):
        training.stub.SendMultiGraphs(iter([M.Chunk(buffer=training.graph().SerializeToString(), finished=False)]))
    assert served.look().state == "pending"
    assert served.look().refused == 4
    training.stub.close()


def test_graphs_beyond_the_limits_are_not_shown(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "LARGEST_GRAPHS", 5000)
    training = connected(served)
    found = served.look()
    assert (found.state, found.graph) == ("node_too_large", "expected graphs of up to 5,000 bytes, found more")
    reply = training.stub.WaitCMD.future(training._metadata())
    time.sleep(0.1)
    assert served.look().state == "node_too_large"
    served.order("continue")
    assert reply.result(10).run_cmd.run_steps == 1
    training.stub.close()


def test_nodes_beyond_the_limits_are_not_decoded(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "MOST_NODES", 10)
    connected(served).stub.close()
    assert "10 nodes" in served.look().graph


def test_tensors_that_were_not_asked_for(served: Served) -> None:
    training = connected(served)
    row, view = asked(served, training)
    wanted = view.tensors[0]
    other = M.TensorProto(node_name="Default/other", slot="0")
    with refused(text="that was asked for"):
        training.stub.SendTensors(pieces(other, np.zeros(4, np.float32)))
    value = np.arange(6, dtype=np.float32)
    assert training.stub.SendTensors(pieces(wanted, value)).status == OK
    assert np.array_equal(served.sessions.dump("live:1").tensor(row), value)
    with refused(text="that was asked for"):
        training.stub.SendTensors(pieces(wanted, value + 1))
    with refused():
        training.stub.SendTensorStats(iter([M.TensorSummary()]))
    assert np.array_equal(served.sessions.dump("live:1").tensor(row), value)
    training.stub.close()


@pytest.mark.parametrize(("change", "why"), [
    ({"dims": [1 << 40]}, "up to 1,073,741,824 bytes"), ({"dims": [1 << 62, 4]}, "up to 1,073,741,824 bytes"),
    ({"dims": [-1]}, "dimensions"), ({"dims": [1] * 40}, "dimensions"), ({"dims": [2]}, "found more"),
    ({"dims": [4]}, "found 12"), ({"data_type": 13}, "type of values"), ({"slot": "x"}, "number of an output"),
])  # fmt: skip
def test_tensors_that_do_not_fit_together(served: Served, change: dict, why: str) -> None:
    training = connected(served)
    row, view = asked(served, training)
    (piece,) = pieces(view.tensors[0], np.arange(3, dtype=np.float32))
    for name, value in change.items():
        if name == "dims":
            del piece.dims[:]
            piece.dims.extend(value)
        else:
            setattr(piece, name, value)
    with refused(text=why):
        training.stub.SendTensors(iter([piece]))
    reply = waiting(served, training)
    served.until(lambda: "did not send" in why_not(served, row))
    assert reply.running()
    training.stub.close()


def test_pieces_of_two_tensors_are_not_mixed(served: Served) -> None:
    training = connected(served)
    _, view = asked(served, training)
    value = np.arange(6, dtype=np.float32)
    first, *_ = pieces(view.tensors[0], value, 8)
    other = M.TensorProto(node_name="x", slot="0")
    with refused(text="expected the next piece"):
        training.stub.SendTensors(iter([first, *pieces(other, value, 8)]))
    with refused(text="found the end"):
        training.stub.SendTensors(iter([first]))
    with refused(text="one type and shape"):
        training.stub.SendTensors(iter([first, *list(pieces(view.tensors[0], value.astype(np.float64), 8))[1:]]))
    training.stub.close()


ENDLESS = 20_000
"""Messages of a stream that would have no end; without a limit all of them are read."""


@pytest.mark.parametrize("several", [False, True])
def test_a_stream_of_pieces_without_bytes_has_an_end(served: Served, several: bool) -> None:
    training = Training(served.port)
    training.stub.SendMetadata(training._metadata())
    send = training.stub.SendMultiGraphs if several else training.stub.SendGraph
    with refused(text="found 1,001 without"):
        send(iter([M.Chunk(buffer=b"", finished=False)] * ENDLESS + list(chunks(training.graph().SerializeToString()))))
    assert training.stub.SendGraph(chunks(training.graph().SerializeToString())).status == OK
    training.stub.close()


def test_a_tensor_of_pieces_without_bytes_has_an_end(served: Served) -> None:
    training = connected(served)
    _, view = asked(served, training)
    whole = list(pieces(view.tensors[0], np.arange(6, dtype=np.float32)))
    nothing = M.TensorProto.FromString(whole[0].SerializeToString())
    nothing.tensor_content, nothing.finished = b"", False
    with refused(text="found 1,001 without"):
        training.stub.SendTensors(iter([nothing] * ENDLESS + whole))
    assert training.stub.SendTensors(iter(whole)).status == OK
    training.stub.close()


def test_more_statistics_than_were_asked_for(served: Served) -> None:
    training = connected(served)
    reply = waiting(served, training)
    dump = served.sessions.dump("live:1")
    dump.measured(np.array([len(dump.tensors) - 1]))
    assert reply.result(10).view_cmd.level == 1
    told = M.TensorSummary(tensor_base=M.TensorBase(data_type=11, shape=[2], data_size=8))
    with refused(text="found more"):
        training.stub.SendTensorStats(iter([told] * 3))
    with refused():
        training.stub.SendTensorStats(iter([M.TensorSummary(tensor_base=M.TensorBase(data_type=99, data_size=8))]))
    training.stub.close()


def test_messages_beyond_the_limit(served: Served) -> None:
    training = connected(served)
    _, view = asked(served, training)
    with refused(grpc.StatusCode.RESOURCE_EXHAUSTED):
        training.stub.SendTensors(pieces(view.tensors[0], np.zeros(2 << 20, np.float32), messages.LARGEST_MESSAGE + 1))
    assert served.look().state == "waiting"
    training.stub.close()


def test_the_same_messages_again(served: Served) -> None:
    training = connected(served)
    graph = list(chunks(training.graph().SerializeToString()))
    first = waiting(served, training)
    second = training.stub.WaitCMD.future(training._metadata())
    assert first.result(10).status == PENDING
    served.reaches("waiting")
    assert training.stub.SendGraph(iter(graph)).status == OK
    served.reaches("waiting")
    served.order("continue")
    assert second.result(10).run_cmd.run_steps == 1
    for _ in range(30):
        training.stub.SendMetadata(training._metadata())
        training.stub.SendGraph(iter(graph))
    known = served.sessions.status().sessions
    assert len(known) <= sessions.MOST_KNOWN
    assert [one.state for one in known].count("receive_graph") == 1
    assert {one.reason for one in known[1:]} == {"replaced"}
    training.stub.close()


def test_hits_of_what_is_not_there(served: Served) -> None:
    training = connected(served)
    hits = [M.WatchpointHit(id=7, tensor=M.TensorProto(node_name=name, slot="0")) for name in ("x", "nowhere")]
    assert training.stub.SendWatchpointHits(iter(hits)).status == OK
    reply = waiting(served, training)
    assert reply.running()
    assert served.sessions.dump("live:1").hits.empty
    training.stub.close()


def test_too_many_trainings_are_refused(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_OPEN", 2)
    first, second = connected(served), connected(served, device="1")
    third = Training(served.port, device="2")
    with refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "fewer trainings"):
        third.stub.SendMetadata(third._metadata())
    assert served.sessions.status().turned_away == 1
    reply = waiting(served, first)
    served.order("terminate")
    assert reply.result(10).exit
    assert third.stub.SendMetadata(third._metadata()).version_matched
    for one in (first, second, third):
        one.stub.close()


@pytest.mark.long
def test_a_flood_costs_others_nothing(served: Served) -> None:
    """One connection floods with calls of all kinds; another training is answered meanwhile, and the flooding one is known."""
    flooding = connected(served)
    stop = threading.Event()

    def flood() -> None:
        pending: list[grpc.Future] = []
        while not stop.is_set():
            pending += [flooding.stub.WaitCMD.future(b"\xff" * 100) for _ in range(20)]
            pending += [flooding.stub.SendGraph.future(iter([b"\xff" * 100])) for _ in range(5)]
            for one in pending:
                one.exception()
            pending.clear()

    threads = [threading.Thread(target=flood) for _ in range(3)]
    for one in threads:
        one.start()
    try:
        served.until(lambda: served.look().state == "ended")
        other = served.training(device="1", steps=40)
        served.reaches("waiting", "live:2")
        served.order("continue", "live:2", steps=40)
        served.until(lambda: other.step == 40)
    finally:
        stop.set()
        for one in threads:
            one.join()
    assert served.look().reason == "refused"
    assert served.look().refused >= session.MOST_REFUSED
    flooding.stub.close()


def test_calls_that_hang_are_limited_and_cancelled(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "IDLE", 0.2)
    training = connected(served)
    hold = threading.Event()

    def never():
        hold.wait(120)
        yield b""

    streams = [training.stub.SendWatchpointHits.future(never()) for _ in range(4)]
    for one in streams:
        assert one.exception(timeout=60) is not None
    hold.set()
    assert waiting(served, training).running()
    training.stub.close()


def test_a_connection_has_four_calls_at_once(served: Served) -> None:
    training = connected(served)
    hold = threading.Event()

    def never() -> Iterator[bytes]:
        hold.wait(120)
        yield b""

    try:
        streams = [training.stub.SendWatchpointHits.future(never()) for _ in range(5)]
        served.until(lambda: any(one.done() for one in streams))
        (ended,) = [one for one in streams if one.done()]
        assert ended.exception().code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "4 calls at once" in ended.exception().details()
        assert served.look().refused == 1
    finally:
        hold.set()
    training.stub.close()


def test_a_connection_has_five_thousand_calls_a_second(served: Served) -> None:
    """As if all but one had been made in this second; where that ends just then, the call is one of the next."""
    training = connected(served)
    (peer,) = served.server._calls
    calls = served.server._calls.get(peer)
    assert calls is not None

    def more(count: int) -> bool:
        """Make a call as if this many had been made in this second; return whether it is refused."""
        calls.count, calls.second = count, int(time.monotonic())
        error = training.stub.SendHeartbeat.future(M.Heartbeat(period=5)).exception()
        assert error is None or error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        return error is not None and "5,000 a second" in error.details()

    assert not more(4_999)
    served.until(lambda: more(5_000))
    training.stub.close()


@pytest.mark.parametrize("name", ["SendMetadata", "WaitCMD", "SendGraph"])
def test_a_thousand_calls_without_a_message_keep_nobody_out(name: str, served: Served) -> None:
    """Calls whose headers came and nothing after them, from many connections, and answers that nobody reads."""
    hold = threading.Event()
    stubs, calls = [Stub(served.port) for _ in range(130)], []

    def never() -> Iterator[bytes]:
        hold.wait(120)
        yield from ()

    try:
        for stub in stubs:
            call = stub.channel.stream_unary(f"/debugger.EventListener/{name}", lambda data: data, lambda data: data)
            calls += [call.future(never()) for _ in range(8)]
        at_work = served.server._pool._threads
        served.until(lambda: len(at_work) == server.THREADS or sum(call.done() for call in calls) > 100, 60.0)
        training = served.training(steps=2)
        served.reaches("waiting")
        served.order("terminate")
        training.join()
    finally:
        hold.set()
        for stub in stubs:
            stub.close()


def test_a_call_that_ends_without_a_message_is_refused(served: Served) -> None:
    stub = Stub(served.port)
    call = stub.channel.stream_unary("/debugger.EventListener/SendMetadata", lambda data: data, lambda data: data)
    with refused(text="found a call without one"):
        call(iter(()))
    stub.close()


def test_a_client_that_goes_in_the_middle_of_a_tensor(served: Served) -> None:
    training = connected(served)
    _, view = asked(served, training)
    sent = threading.Event()

    def part():
        yield from list(pieces(view.tensors[0], np.zeros(100, np.float32), 40))[:3]
        sent.set()
        time.sleep(5)

    stream = training.stub.SendTensors.future(part())
    assert sent.wait(10)
    training.stub.close()
    assert stream.exception() is not None
    served.until(lambda: served.look().refused)
    again = Training(served.port)
    again.stub.SendMetadata(again._metadata())
    assert {one.key: one.state for one in served.sessions.status().sessions}["live:2"] == "pending"
    again.stub.close()


def test_a_client_that_goes_while_it_waits(served: Served) -> None:
    training = connected(served)
    reply = waiting(served, training)
    training.stub.close()
    assert reply.exception() is not None
    lost = served.reaches("pending")
    assert lost.reason == "gone"
    assert len(served.sessions.dump("live:1").tensors) > 100
    replaced = connected(served)
    assert served.look("live:1").reason == "replaced"
    assert served.look("live:2").state == "receive_graph"
    replaced.stub.close()


def test_three_missed_signs_of_life() -> None:
    now = [0.0]
    kept = sessions.ReceivedValues()
    found = session.TrainingSession("live:1", "ipv4:127.0.0.1:1", kept, clock=lambda: now[0])
    found.begin(messages.Metadata(version="2.0.0"))
    for period in (4, 3601, -1):
        assert found.beat(messages.Heartbeat("", period)) == b"\x08\x01"
    found.take_graphs(session.GraphTensors({}))
    now[0] = 10_000.0
    found.tick()
    assert found.state == "receive_graph", "without signs of life none is missed"
    assert found.beat(messages.Heartbeat("", 5)) == b""
    now[0] += 15.0
    found.tick()
    assert found.state == "receive_graph"
    now[0] += 0.1
    found.tick()
    assert (found.look().state, found.look().reason) == ("pending", "silent")


def test_a_client_that_never_answers() -> None:
    now = [0.0]
    found = session.TrainingSession("live:1", "ipv4:127.0.0.1:1", sessions.ReceivedValues(), clock=lambda: now[0])
    found.begin(messages.Metadata(version="2.0.0"))
    found.take_graphs(session.GraphTensors({}))
    calls = iter([True, True, False])
    asking = threading.Timer(0.2, lambda: found.ask([(0, 0, 1)]))
    found.tensors.names.append(messages.WireTensorName("w"))
    asking.start()
    assert found.wait(messages.Metadata(), lambda: next(calls)).startswith(b"\x2a"), "the command to send a tensor"
    asking.join()
    now[0] = 60.0
    found.tick()
    assert found.state == "waiting"
    now[0] = 60.1
    found.tick()
    assert (found.look().state, found.look().reason) == ("pending", "silent")


def test_bytes_that_are_no_http(served: Served) -> None:
    for garbage in (b"GET / HTTP/1.1\r\n\r\n", b"\x00" * 5000, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 5000):
        with socket.create_connection(("127.0.0.1", served.port), 5) as one, contextlib.suppress(OSError):
            one.sendall(garbage)
            one.settimeout(2)
            one.recv(1000)
    training = served.training(steps=1)
    served.reaches("waiting")
    served.sessions.order("live:1", Order("terminate"))
    training.join()


def test_unknown_methods_and_many_connections(served: Served) -> None:
    stubs = [Stub(served.port) for _ in range(50)]
    for one in stubs:
        call = one.channel.unary_unary("/debugger.EventListener/Nope", lambda data: data, lambda data: data)
        with refused(grpc.StatusCode.UNIMPLEMENTED):
            call(b"")
    training = served.training(steps=2)
    served.reaches("waiting")
    served.order("terminate")
    training.join()
    for one in stubs:
        one.close()
