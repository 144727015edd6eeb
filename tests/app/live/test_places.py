"""Who has a place among the trainings that are connected, and when what training sent is shown."""

from __future__ import annotations

import time
from collections.abc import Iterator

import grpc
import numpy as np
import pytest

from app.live import sessions
from app.live.connections import Connections
from app.live.sessions import MOST_OPEN, SOON_GRAPH, Sessions
from parsers.analysis.dumps.watchpoints.conditions import Watchpoint
from parsers.debugger.messages import Metadata
from tests.app.live.conftest import Served
from tests.writers.debugger_client import M, Training, chunks


@pytest.fixture
def stubs(served: Served) -> Iterator[dict[str, Training]]:
    """Trainings by name, which are closed afterwards."""
    found: dict[str, Training] = {}
    yield found
    for one in found.values():
        one.stub.close()


def connect(served: Served, stubs: dict[str, Training], device: str, *, graph: bool = True, name: str = "") -> bool:
    """Connect a training that then says nothing more; return whether it was accepted."""
    found = stubs[name or device] = Training(served.port, device=device)
    try:
        found.stub.SendMetadata(found._metadata())
    except grpc.RpcError as error:
        if error.code() != grpc.StatusCode.RESOURCE_EXHAUSTED:
            raise
        return False
    if graph:
        found.stub.SendGraph(chunks(found.graph().SerializeToString()))
    return True


def open_devices(served: Served) -> set[str]:
    return {one.told.device for one in served.sessions._sessions.values() if one.connected}


def test_a_closed_connection_frees_its_place_at_once(served: Served, stubs: dict[str, Training]) -> None:
    """The connections have no call under way, so that no call tells that they are closed."""
    assert all(connect(served, stubs, str(device)) for device in range(MOST_OPEN))
    assert not connect(served, stubs, "other")
    begin = time.monotonic()
    stubs["3"].stub.close()
    served.until(lambda: connect(served, stubs, "another"), seconds=3.0)
    assert time.monotonic() - begin < 3.0
    lost = next(one for one in served.sessions.status().sessions if one.device == "3")
    assert (lost.state, lost.reason) == ("pending", "gone")


def test_a_device_with_a_session_is_not_refused(served: Served, stubs: dict[str, Training]) -> None:
    """Training is started again while its old connection is still open and silent, as after a cut network cable."""
    assert all(connect(served, stubs, str(device)) for device in range(MOST_OPEN))
    assert connect(served, stubs, "3", name="restarted")
    assert len(open_devices(served)) == MOST_OPEN
    of_device = [one for one in served.sessions.status().sessions if one.device == "3"]
    assert [(one.state, one.reason) for one in of_device] == [("receive_graph", ""), ("ended", "replaced")]


def test_a_device_whose_place_was_taken_gets_another(served: Served, stubs: dict[str, Training]) -> None:
    assert connect(served, stubs, "mine")
    stubs["mine"].stub.close()
    served.until(lambda: "mine" not in open_devices(served))
    assert all(connect(served, stubs, str(device), graph=False) for device in range(MOST_OPEN))
    assert connect(served, stubs, "mine", name="restarted")
    assert len(open_devices(served)) == MOST_OPEN + 1
    assert not connect(served, stubs, "other")


def test_trainings_that_have_sent_graphs_keep_their_places(served: Served, stubs: dict[str, Training]) -> None:
    assert all(connect(served, stubs, str(device)) for device in range(MOST_OPEN))
    assert not connect(served, stubs, "other")
    assert open_devices(served) == set(map(str, range(MOST_OPEN)))
    assert {one.state for one in served.sessions.status().sessions} == {"receive_graph"}


def test_connections_that_send_no_graph_make_way_after_some_time() -> None:
    now = [0.0]
    found = Sessions(clock=lambda: now[0])
    for device in range(MOST_OPEN):
        one = found.begin(f"ipv4:10.0.0.{device}:1", Metadata(device="0", version="2.2.0"))
        assert one is not None
        one.begin(Metadata(device="0", version="2.2.0"))
        now[0] += 0.1
    assert found.begin("ipv4:10.0.1.1:1", Metadata(device="0", version="2.2.0")) is None
    now[0] += SOON_GRAPH
    assert found.begin("ipv4:10.0.1.1:1", Metadata(device="0", version="2.2.0")) is not None
    ended = [one.client for one in found.status().sessions if one.state == "ended"]
    assert ended == ["ipv4:10.0.0.0:1"]


def test_without_a_list_of_connections_none_counts_as_closed(served: Served, stubs: dict[str, Training]) -> None:
    served.server._connections._core = None
    assert Connections().peers() is not None
    assert connect(served, stubs, "0")
    stubs["0"].stub.close()
    time.sleep(4 * sessions.EVERY)
    assert open_devices(served) == {"0"}


def test_hits_are_shown_when_they_come_and_once(served: Served, stubs: dict[str, Training]) -> None:
    """Training may take long until it says that it has stopped, or never say it."""
    assert connect(served, stubs, "0")
    training = stubs["0"]
    first = training.stub.WaitCMD.future(training._metadata())
    served.reaches("waiting")
    served.sessions.watch("live:1", [Watchpoint("tensor_too_large", {"max_gt": 0.0})])
    served.order("continue")
    (number,) = [int(first.result(10).set_cmd.id)]
    while not training.stub.WaitCMD(training._metadata()).run_cmd.run_steps:
        pass
    name = training.net.operators[0].name
    parameter = M.Parameter(name="max_gt", value=0.0, hit=True, actual_value=2.5)
    condition = M.WatchCondition(condition=1, params=[parameter])
    hit = M.WatchpointHit(id=number, tensor=M.TensorProto(node_name=name, slot="0"), watch_condition=condition)
    before = served.look().mark
    training.stub.SendWatchpointHits(iter([hit]))
    assert served.look().hits == 1
    assert served.look().mark != before
    dump = served.sessions.dump("live:1")
    assert dump.hits[["name", "iteration", "hit"]].to_numpy().tolist() == [[name, 1, True]]
    assert 1 in dump.executions["iteration"].tolist()
    assert np.isfinite(dump.hits["actual"]).all()
    training.step = 1
    last = training.stub.WaitCMD.future(training._metadata())
    served.reaches("waiting", step=1)
    assert served.sessions.dump("live:1").hits[["name", "iteration"]].to_numpy().tolist() == [[name, 1]]
    training.stub.close()
    with pytest.raises((grpc.RpcError, grpc.FutureCancelledError)):
        last.result(10)
