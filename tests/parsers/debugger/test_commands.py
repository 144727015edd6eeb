"""Commands and messages of the debugger, compared with those of protobuf."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.analysis.dumps.watchpoints import CONDITIONS, Watchpoint
from parsers.debugger import commands, messages
from parsers.debugger.messages import WireTensorName
from parsers.errors import FormatError

grpc = pytest.importorskip("grpc")
from tests.writers.debugger_client import M, base, chunks, pieces, summary  # noqa: E402

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
READERS = (
    messages.read_metadata, messages.read_chunk, messages.read_piece, messages.read_base, messages.read_summary,
    messages.read_hit, messages.read_heartbeat,
)  # fmt: skip


def reply(data: bytes) -> Any:
    return M.EventReply.FromString(data)


def test_replies_without_a_command() -> None:
    for status in (commands.OK, commands.FAILED, commands.PENDING):
        found = reply(commands.acknowledged(status))
        assert (found.status, found.WhichOneof("cmd")) == (status, None)
    for matched in (True, False):
        found = reply(commands.version_matched(matched))
        assert (found.status, found.WhichOneof("cmd"), found.version_matched) == (0, "version_matched", matched)
    assert reply(commands.exit_training()).exit


def test_running() -> None:
    assert reply(commands.run_steps()).run_cmd == M.RunCMD(run_level="step", run_steps=1)
    assert reply(commands.run_steps(0)).run_cmd.WhichOneof("cmd") == "run_steps"
    assert reply(commands.run_node("Default/фi")).run_cmd == M.RunCMD(run_level="node", node_name="Default/фi")
    assert reply(commands.run_node()).run_cmd.WhichOneof("cmd") == "node_name"
    assert reply(commands.recheck()).run_cmd == M.RunCMD(run_level="recheck")


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_watchpoint_of_every_condition(name: str) -> None:
    condition = CONDITIONS[name]
    limits = {one.name: 1.5 for one in condition.limits if one.name != "sd_lt"}
    nodes = [commands.WatchNode("a/b-op1", "Conv2D", "g", 3)]
    found = reply(commands.set_watchpoint(7, Watchpoint(name, limits), nodes)).set_cmd
    assert (found.id, found.delete) == (7, False)
    assert list(found.watch_nodes) == [M.WatchNode(node_name="a/b-op1", node_type="Conv2D", graph_name="g", rank_id=3)]
    assert found.watch_condition.condition == condition.number
    assert [(one.name, one.value) for one in found.watch_condition.params if not one.disabled] == [
        (one, 1.5) for one in commands.parameter_names(name) if one in limits
    ]
    hidden = [one.name for one in found.watch_condition.params if one.disabled]
    assert set(hidden) <= {"atol", "equal_nan", "epsilon", "sd_lt"}


def test_what_training_takes_by_place_comes_first() -> None:
    assert commands.parameter_names("tensor_range")[:2] == ("range_start_inclusive", "range_end_inclusive")
    assert commands.parameter_names("weight_not_changed") == ("rtol", "atol", "equal_nan")
    assert commands.parameter_names("weight_change_too_large") == ("abs_mean_update_ratio_gt", "epsilon")
    found = reply(commands.set_watchpoint(1, Watchpoint("weight_not_changed"), [])).set_cmd.watch_condition
    assert [(one.name, one.value, one.disabled) for one in found.params] == [
        ("rtol", 1e-5, False), ("atol", 0.0, True), ("equal_nan", 0.0, True),
    ]  # fmt: skip
    assert found.value == np.float32(1e-5)
    deviation = reply(commands.set_watchpoint(1, Watchpoint("tensor_deviation", {"sd_lt": 2.0}), []))
    assert deviation.set_cmd.watch_condition.condition == 12


def test_deleting_and_asking() -> None:
    assert reply(commands.delete_watchpoint(9)).set_cmd == M.SetCMD(id=9, delete=True)
    found = reply(commands.view([WireTensorName("a", 2), WireTensorName("w", 0, previous=True)], commands.STATISTICS)).view_cmd
    assert [(one.node_name, one.slot, one.iter) for one in found.tensors] == [("a", "2", ""), ("w", "0", "prev")]
    assert found.level == 1
    assert reply(commands.view([WireTensorName("a")], commands.VALUE)).view_cmd.level == 0


@given(
    device=st.integers(0, 9999), step=st.integers(0, 2**31 - 1), node=NAMES, backend=NAMES, version=NAMES, done=st.booleans(),
)  # fmt: skip
def test_metadata(device: int, step: int, node: str, backend: str, version: str, done: bool) -> None:
    sent = M.Metadata(
        device_name=f"{device}:1", cur_step=step, cur_node=node, backend=backend, ms_version=version, training_done=done,
        graph_num=2,
    )  # fmt: skip
    found = messages.read_metadata(sent.SerializeToString())
    assert found == messages.Metadata(str(device), "1", step, backend, node, done, 2, version)


@given(data=st.binary(max_size=100), size=st.integers(1, 40))
def test_chunks(data: bytes, size: int) -> None:
    found = [messages.read_chunk(one.SerializeToString()) for one in chunks(data, size)]
    assert b"".join(bytes(content) for content, _ in found) == data
    assert [last for _, last in found] == [False] * (len(found) - 1) + [True]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "bool"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3, 4)])
def test_tensors(dtype: str, shape: tuple[int, ...]) -> None:
    values = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    sent = [one.SerializeToString() for one in pieces(M.TensorProto(node_name="n/x", slot="1", iter="prev"), values, 5)]
    found = [messages.read_piece(one) for one in sent]
    assert {one.name for one in found} == {WireTensorName("n/x", 1, previous=True)}
    assert {one.head for one in found} == {messages.TensorHead(dtype, shape, values.nbytes)}
    assert b"".join(bytes(one.content) for one in found) == values.tobytes()
    head = messages.read_base(base(values).SerializeToString())
    assert head == (messages.TensorHead(dtype, shape, values.nbytes) if values.nbytes else messages.TensorHead())


def test_statistics() -> None:
    values = np.array([-1.0, 0.0, 2.5, np.nan, np.inf, -np.inf], np.float32)
    found = messages.read_summary(summary(values).SerializeToString())
    assert found.counts == (6, 2, 2, 1, 1, 1, 1)
    assert found.head == messages.TensorHead("float32", (6,), 24)
    assert math.isnan(found.max)
    assert messages.read_summary(summary(None).SerializeToString()) == messages.TensorSummary(messages.TensorHead())


def test_hits() -> None:
    hit = M.WatchpointHit(id=4, error_code=3, tensor=M.TensorProto(node_name="n", slot="2"))
    hit.watch_condition.condition = 15
    hit.watch_condition.params.add(name="max_gt", value=2.0, hit=True, actual_value=5.5)
    hit.watch_condition.params.add(name="min_gt", disabled=True)
    assert messages.read_hit(hit.SerializeToString()) == messages.Hit(
        WireTensorName("n", 2), 4, 15,
        (messages.HitParameter("max_gt", False, 2.0, True, 5.5), messages.HitParameter("min_gt", True, 0.0, False, 0.0)), 3,
    )  # fmt: skip
    assert messages.read_heartbeat(M.Heartbeat(message="x", period=-2).SerializeToString()) == messages.Heartbeat("x", -2)


@given(data=st.binary(max_size=200))
def test_bytes_that_are_no_message(data: bytes) -> None:
    for read in READERS:
        try:
            read(data)
        except FormatError:
            continue


@given(at=st.integers(0, 400), byte=st.integers(0, 255))
def test_messages_with_a_changed_byte(at: int, byte: int) -> None:
    hit = M.WatchpointHit(id=4, tensor=M.TensorProto(node_name="Default/n", slot="2", dims=[3, 4], data_type=11))
    hit.watch_condition.params.add(name="max_gt", value=2.0, hit=True, actual_value=5.5)
    for message in (hit.tensor, hit, summary(np.ones(3, np.float32)), M.Metadata(device_name="0:0", cur_step=9)):
        data = bytearray(message.SerializeToString())
        data[at % len(data)] = byte
        for read in READERS:
            try:
                read(bytes(data))
            except FormatError:
                continue


@pytest.mark.parametrize(("data", "why"), [
    (b"\x08\x05", "found a number"), (b"\x12\x01a", "found bytes"), (b"\x0a\x81\x20" + b"a" * 4097, "bytes of text"),
    (b"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "from 0 on"),
])  # fmt: skip
def test_metadata_that_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        messages.read_metadata(data)


def test_limits_of_tensors() -> None:
    for dims, why in (([-1], "dimensions"), ([1] * 33, "dimensions")):
        with pytest.raises(FormatError, match=why):
            messages.read_piece(M.TensorProto(node_name="x", data_type=11, dims=dims).SerializeToString())
    with pytest.raises(FormatError, match="type of values"):
        messages.read_piece(M.TensorProto(node_name="x", data_type=13).SerializeToString())
    huge = messages.read_piece(M.TensorProto(node_name="x", data_type=11, dims=[2**62, 2**62]).SerializeToString())
    assert huge.head.size_bytes == 2**126
    with pytest.raises(FormatError, match="number of 4 bytes"):
        messages.read_summary(b"\x0a\x04\x08\x0b\x18\x04\x12\x09\x11" + struct.pack("<d", 1.0))
