"""Whole sessions with a training that speaks the protocol, from its first message to its last."""

from __future__ import annotations

import numpy as np
import pytest

from layouts.dumps.live_sessions import UnfitOrder
from parsers.analysis.dumps.watchpoints import Watchpoint
from parsers.analysis.dumps.watchpoints.checking import check
from parsers.dump_frames import DUMP_EXECUTIONS, DUMP_HITS, DUMP_STATISTICS, DUMP_TENSORS
from parsers.errors import PayloadError
from tests.app.live.conftest import Served
from tests.writers.debugger_client import Training

WEIGHT = "fc1.weight"


def row_of(served: Served, name: str, step: int, io: str = "output", key: str = "live:1") -> int:
    dump = served.sessions.dump(key)
    assert dump is not None
    frame = dump.tensors
    rows = np.flatnonzero(((frame["name"] == name) & (frame["iteration"] == step) & (frame["io"] == io)).to_numpy())
    return int(rows[0])


def fetched(served: Served, name: str, step: int, io: str = "output", key: str = "live:1"):
    """The values of a tensor once they have come; before, the page is told that they were asked for."""
    dump = served.sessions.dump(key)
    assert dump is not None
    with pytest.raises(PayloadError, match="has been asked for"):
        dump.tensor(row_of(served, name, step, io, key))
    found = []

    def came() -> bool:
        now = served.sessions.dump(key)
        try:
            found.append(now.tensor(row_of(served, name, step, io, key)))
        except PayloadError as error:
            if "has been asked for" not in str(error):
                raise
        return bool(found)

    served.until(came)
    return found[0]


def test_a_whole_session(served: Served) -> None:
    training = served.training(steps=8, nan_at=5, period=5)
    first = served.reaches("waiting", step=0)
    assert (first.version, first.backend, first.device, first.unusual, first.reason) == ("2.2.0", "GPU", "0", False, "")

    # Before the first step: parameters have their first values, operators have none.
    initial = training.net.parameters[WEIGHT].copy()
    assert np.array_equal(fetched(served, WEIGHT, 0, "parameter"), initial)
    dump = served.sessions.dump("live:1")
    operator = training.net.operators[0].name
    with pytest.raises(PayloadError, match="asked for"):
        dump.tensor(row_of(served, operator, 0))
    served.until(lambda: "view 0 1" in training.log[-1] and served.sessions.dump("live:1").mark != dump.mark)
    with pytest.raises(PayloadError, match="does not have this tensor"):
        served.sessions.dump("live:1").tensor(row_of(served, operator, 0))

    # Watchpoints are sent with the next order, with a check before the first step because one is of the first weights.
    points = [Watchpoint("weight_initialization"), Watchpoint("tensor_overflow"), Watchpoint("weight_not_changed")]
    assert served.sessions.watch("live:1", points).unsent == 3
    assert not any(line.startswith("set") for line in training.log)
    served.order("continue", steps=3)
    after = served.reaches("waiting", step=3)
    assert (after.left, after.unsent, after.hits) == (0, 0, 0)
    assert [line for line in training.log if line.startswith(("run", "set"))] == [
        "set 1 14 6", f"set 2 13 {len(training.net.operators) + len(training.net.parameters) + 2}", "set 3 20 6",
        "run recheck ''", "run step 1", "run step 1", "run step 1",
    ]  # fmt: skip

    # Values, those of the step before, statistics, type and shape.
    weight = training.net.parameters[WEIGHT]
    assert np.array_equal(fetched(served, WEIGHT, 3, "parameter"), weight)
    before = fetched(served, WEIGHT, 2, "parameter")
    assert np.array_equal(before, training.before[WEIGHT])
    assert not np.array_equal(before, weight)
    dump = served.sessions.dump("live:1")
    rows = [row_of(served, one.name, 3) for one in training.net.operators[:4]]
    dump.measured(np.array(rows))
    served.until(lambda: served.sessions.dump("live:1").mark != dump.mark and "view 1 4" in training.log)
    served.until(lambda: served.sessions.dump("live:1").statistics_of(rows)["source"].eq("training").all())
    told = DUMP_STATISTICS.check(served.sessions.dump("live:1").statistics_of(rows))
    for place, one in enumerate(training.net.operators[:4]):
        values = training.values[one.name].astype(np.float64)
        line = told.iloc[place]
        assert line["max"] == pytest.approx(values.max())
        assert line["min"] == pytest.approx(values.min())
        assert line["mean"] == pytest.approx(values.mean(), rel=1e-6, abs=1e-7)
        assert (line["count"], line["negative"], line["nan"]) == (values.size, (values < 0).sum(), 0)
        assert line["shape"] == "x".join(map(str, values.shape))
    later = training.net.operators[6].name
    with pytest.raises(PayloadError, match="asked for"):
        dump.header(row_of(served, later, 3))
    served.until(lambda: "view 2 1" in training.log)
    served.until(lambda: not_asked(served, later, 3))
    assert served.sessions.dump("live:1").header(row_of(served, later, 3)).shape == training.values[later].shape

    # Until a hit: NaN appears in the sixth step.
    served.order("continue", steps=-1)
    hit = served.reaches("waiting", step=6)
    assert hit.hits > 0
    dump = served.sessions.dump("live:1")
    found = DUMP_HITS.check(check(dump, points))
    bad = {name for name, value in training.values.items() if not np.isfinite(value).all()} - {"x", "y"}
    overflow = found[(found["condition"] == "tensor_overflow") & found["hit"]]
    assert set(overflow["name"]) == bad
    assert set(overflow["iteration"]) == {6}
    assert dump.tensors["name"].iloc[overflow["row"].iloc[0]] == overflow["name"].iloc[0]
    unchecked = found[found["condition"] == "weight_not_changed"]
    assert dict(zip(unchecked["iteration"], unchecked["why"], strict=True)) == {0: "no previous iteration", 6: "NaN or Inf"}
    assert not unchecked["hit"].any()
    assert check(dump, points[:1]).empty

    # A watchpoint is deleted, another one set, and both are checked again at this step.
    changed = served.sessions.watch("live:1", [points[0], Watchpoint("tensor_too_large", {"max_gt": 0.0})])
    assert (changed.unsent, changed.recheck) == (3, True)
    served.order("recheck")
    served.until(lambda: training.log[-1].startswith("hits"))
    served.reaches("waiting", step=6)
    served.until(lambda: len(served.sessions.dump("live:1").hits))
    assert [line for line in training.log if line.startswith("delete")] == ["delete 2", "delete 3"]
    large = served.sessions.dump("live:1").hits
    large = large[large["hit"]]
    exceeding = {
        name for name, value in training.values.items() if np.isfinite(value).all() and value.max() > 0 and name not in "xy"
    }
    assert set(large["name"]) - {"x", "y"} == exceeding
    for name, actual in zip(large["name"], large["actual"], strict=True):
        assert actual == pytest.approx(float(training.values[name].max()))
    with pytest.raises(UnfitOrder, match="no watchpoint has changed"):
        served.order("recheck")

    # To an operator, to the next one, and to the end.
    target = training.net.operators[4].name
    served.order("node", node=target)
    served.until(lambda: served.look().node == target)
    served.order("node")
    served.until(lambda: served.look().node == training.net.operators[5].name)
    assert np.array_equal(fetched(served, target, 6), training.values[target], equal_nan=True)
    served.sessions.watch("live:1", [])
    served.order("continue", steps=-1)
    end = served.reaches("ended")
    assert end.reason == "done"
    served.until(lambda: training.log[-1] == "done")
    assert training.step == 8


def not_asked(served: Served, name: str, step: int) -> bool:
    try:
        served.sessions.dump("live:1").header(row_of(served, name, step))
    except PayloadError:
        return False
    return True


def test_what_is_shown_of_a_session(served: Served) -> None:
    training = served.training(steps=5, several=True)
    served.reaches("waiting")
    served.order("continue", steps=2)
    served.reaches("waiting", step=2)
    dump = served.sessions.dump("live:1")
    frame = DUMP_TENSORS.check(dump.tensors)
    assert sorted(dump.graphs) == [(0, 0), (0, 1)]
    assert dump.ranks == (0,)
    now = frame[frame["iteration"] == 2]
    assert set(now.loc[now["io"] == "output", "name"]) == {one.name for one in training.net.operators} | {"Default/Cast-op0"}
    matmul = now[now["name"] == training.net.operators[0].name]
    assert matmul[["io", "slot", "dtype", "shape", "parameter", "file"]].to_numpy().tolist() == [
        ["input", 0, "float32", "8x6", "x", "x:0"], ["input", 1, "float32", "6x6", "fc0.weight", "fc0.weight:0"],
        ["output", 0, "float32", "8x6", "", f"{training.net.operators[0].name}:0"],
    ]  # fmt: skip
    row = int(matmul.index[2])
    (line,) = dump.stack(row)
    assert (line.file, line.first, line.code) == ("/home/me/net.py", 10, "value = self.matmul(value)")
    assert dump.flow(row).sources[training.net.operators[1].name] == {0: training.net.operators[0].name, 1: "fc0.bias"}
    steps = DUMP_EXECUTIONS.check(dump.executions)
    assert steps["iteration"].tolist() == [0, 1, 2]
    assert dump.history(row) == (row,)
    assert dump.previous(row) is None
    parameter = row_of(served, WEIGHT, 2, "parameter")
    assert dump.tensors["iteration"].iloc[dump.previous(parameter)] == 1
    with pytest.raises(IndexError):
        dump.tensor(len(frame))
    assert dump.problems == ()
    assert dump.overflows.empty


def test_earlier_steps_keep_what_was_fetched(served: Served) -> None:
    served.training(steps=5)
    served.reaches("waiting")
    served.order("continue")
    served.reaches("waiting", step=1)
    first = fetched(served, WEIGHT, 1, "parameter").copy()
    served.order("continue", steps=2)
    served.reaches("waiting", step=3)
    dump = served.sessions.dump("live:1")
    assert np.array_equal(dump.tensor(row_of(served, WEIGHT, 1, "parameter")), first)
    row = row_of(served, WEIGHT, 3, "parameter")
    assert [int(dump.tensors["iteration"].iloc[one]) for one in dump.history(row)] == [1, 2, 3]
    told = dump.statistics_of([row_of(served, WEIGHT, 1, "parameter")]).iloc[0]
    assert (told["source"], told["std"]) == ("computed", pytest.approx(first.astype(np.float64).std()))


def test_orders_that_do_not_fit_the_state_say_why(served: Served) -> None:
    with pytest.raises(KeyError):
        served.order("continue")
    served.training(steps=200_000)
    served.reaches("waiting")
    for kind, given, why in (
        ("pause", {}, "waiting, not running"), ("continue", {"steps": 0}, "expected 1 to"),
        ("continue", {"steps": 1 << 31}, "expected 1 to"), ("node", {"node": "Default/none"}, "expected an operator"),
        ("recheck", {}, "no watchpoint"), ("dance", {}, "expected an order"),
    ):  # fmt: skip
        with pytest.raises(UnfitOrder, match=why):
            served.order(kind, **given)
    served.order("continue", steps=-1)
    served.reaches("running")
    with pytest.raises(UnfitOrder, match="does not wait"):
        served.order("continue")
    dump = served.sessions.dump("live:1")
    with pytest.raises(PayloadError, match="Training is running"):
        dump.tensor(len(dump.tensors) - 1)
    served.until(lambda: served.look().step > 2)
    served.order("pause")
    paused = served.reaches("waiting")
    assert paused.step > 2
    served.order("terminate")
    assert served.reaches("ended").reason == "terminated"
    with pytest.raises(UnfitOrder, match="not connected"):
        served.order("terminate")


def test_a_session_that_is_over_is_dismissed_with_what_it_sent(served: Served) -> None:
    served.training()
    served.reaches("waiting")
    with pytest.raises(UnfitOrder, match="expected one that is over or lost"):
        served.order("dismiss")
    served.order("terminate")
    served.reaches("ended")
    assert served.order("dismiss").state == "ended"
    assert served.sessions.status().sessions == ()
    assert served.sessions.dump("live:1") is None
    with pytest.raises(KeyError):
        served.order("dismiss")


@pytest.mark.parametrize(("version", "state", "unusual"), [
    ("1.5.0", "waiting", False), ("2.2.14", "waiting", False), ("2.3.0", "waiting", True), ("", "waiting", True),
    ("1.4.0", "mismatch", True), ("0.9", "mismatch", True), ("3.0", "mismatch", True), ("x", "mismatch", True),
])  # fmt: skip
def test_versions(served: Served, version: str, state: str, unusual: bool) -> None:
    training = served.training(version=version, steps=1)
    found = served.reaches(state)
    assert found.unusual == unusual
    served.until(lambda: training.log)
    assert training.log[0] == f"version_matched {state == 'waiting'}"
    if state == "mismatch":
        with pytest.raises(UnfitOrder, match="does not wait"):
            served.order("continue")
    served.order("terminate")
    training.join()
    assert training.log[-1] == "exit"


def test_training_on_ascend_stops_at_steps_only(served: Served) -> None:
    training = served.training(backend="Ascend")
    served.reaches("waiting")
    with pytest.raises(UnfitOrder, match="Ascend"):
        served.order("node", node=training.net.operators[0].name)


def test_each_training_has_a_session(served: Served) -> None:
    one, other = served.training(seed=1), served.training(seed=2, device="3")
    for key in ("live:1", "live:2"):
        served.reaches("waiting", key)
    served.order("continue", "live:2", steps=4)
    served.reaches("waiting", "live:2", step=4)
    assert served.look("live:1").step == 0
    second = one if one.step else other
    assert np.array_equal(fetched(served, WEIGHT, 4, "parameter", "live:2"), second.net.parameters[WEIGHT])
    assert {served.sessions.dump(key).ranks for key in ("live:1", "live:2")} == {(0,), (3,)}


def test_the_same_device_reconnects_to_its_session(served: Served) -> None:
    training = served.training()
    served.reaches("waiting")
    served.order("continue", steps=2)
    served.reaches("waiting", step=2)
    training.stub.close()
    lost = served.reaches("pending")
    assert lost.reason == "gone"
    again = Training(served.port)
    again.step = 2
    reply = again.stub.WaitCMD.future(again._metadata())
    assert served.reaches("waiting", step=2).reason == ""
    served.order("terminate")
    assert reply.result(10).exit
    again.stub.close()
