"""The routes of the timeline over a trace in a store, against sums over the events that were written."""

from __future__ import annotations

import csv
import io
import json
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from app import create_app
from app.routes.profiles import timeline
from app.store.store import Store
from tests.writers import chrome_traces

NAMED = {"run": "one", "session": "host_1_2_ascend_ms", "rank": "0"}
EVENTS = chrome_traces.slices()
END = chrome_traces.STEPS * chrome_traces.STEP_NS


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    base = tmp_path_factory.mktemp("timeline") / "runs"
    folder = base / "one/host_1_2_ascend_ms/ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    (folder / "trace_view.json").write_text(chrome_traces.text())
    (base / "two/profiler").mkdir(parents=True)
    (base / "two/profiler/step_trace_raw_0_detail_time.csv").write_text("step_num\n")
    store = Store([base], interval=0).start()
    assert store.wait(30)
    yield create_app(store).server.test_client()
    store.stop()


def get(client: FlaskClient, name: str, status: int = 200, **parameters: object) -> Any:
    answer = client.get(f"/api/timeline/{name}", query_string=NAMED | {key: str(value) for key, value in parameters.items()})
    assert answer.status_code == status, answer.text
    return answer


def unpacked(content: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read a view as the browser does."""
    big, small, *widths = struct.unpack_from("<II3B", content)
    bucket, count, lane = ({1: "u1", 2: "<u2", 4: "<u4"}[width] for width in widths)
    at = 12

    def take(kind: str, count: int) -> Any:
        nonlocal at
        found = np.frombuffer(content, kind, count, at)
        at += -(-found.nbytes // 4) * 4
        return found

    of_slices = {"x": "<f4", "width": "<f4", "name": "<u4", "row": "<u4", "lane": "<u2", "category": "u1"}
    of_buckets = {"bucket": bucket, "count": count, "row": "<u4", "lane": lane, "busy": "u1"}
    slices = {name: take(kind, big) for name, kind in of_slices.items()}
    buckets = {name: take(kind, small) for name, kind in of_buckets.items()}
    assert at == len(content)
    return slices, buckets


def test_tracks_steps_and_extent(client: FlaskClient) -> None:
    found = get(client, "tracks").json
    assert [found[key] for key in ("slices", "first", "last", "end")] == [len(EVENTS), 0, END, END]
    assert found["origin"] == str(chrome_traces.FIRST_US * 1000)
    assert found["steps"] == [[str(step + 1), step * chrome_traces.STEP_NS, chrome_traces.STEP_NS] for step in range(3)]
    keys = ("process", "thread", "lanes", "slices")
    assert [[track[key] for key in keys] for track in found["tracks"][:2]] == [
        ["Python", "Thread 10", 3, 4 * 3], ["Ascend Hardware", "Stream 2", 1, (2 + chrome_traces.SMALL) * 3],
    ]  # fmt: skip
    assert found["tracks"][1]["first_lane"] == found["tracks"][0]["first_lane"] + 3
    assert found["tracks"][2]["series"] == ["Read(MB/s)"]
    assert found["problems"] == []


@pytest.mark.parametrize("k", [0, 5, 10, 14, 20])
def test_a_view_has_every_slice_of_the_window(client: FlaskClient, k: int) -> None:
    lane = get(client, "tracks").json["tracks"][1]["first_lane"]
    first, count = 490_000 >> k, max(1, min(16_384, 40_000 >> k))
    slices, buckets = unpacked(get(client, "view", lanes=lane, k=k, b0=first, n=count).data)
    begin, stop = first << k, (first + count) << k
    on_stream = [event for event in EVENTS if event["tid"] == 2 and event["at"] < stop and event["at"] + event["ns"] > begin]
    long = sorted((event["at"], event["ns"]) for event in on_stream if event["ns"] >= 1 << k)
    pairs = zip(slices["x"], slices["width"], strict=True)
    drawn = sorted((int(begin + x * 2**k), int(width * 2**k)) for x, width in pairs)
    assert drawn == long
    short = [event for event in on_stream if event["ns"] < 1 << k]
    assert buckets["count"].sum() == sum(begin <= event["at"] < stop for event in short)
    assert len(long) + len(short) > 0


def test_names_with_medians(client: FlaskClient) -> None:
    total = get(client, "tracks").json["names"]
    found = get(client, "names", **{"from": 0, "to": total}).json
    assert set(found["names"]) == {event["name"] for event in EVENTS}
    medians = get(client, "names", medians=1, **{"from": 0, "to": total}).json["medians"]
    for name, median in zip(found["names"], medians, strict=True):
        assert median == np.median([event["ns"] for event in EVENTS if event["name"] == name])
    part = get(client, "names", **{"from": 1, "to": 3}).json
    assert part["names"] == found["names"][1:3]


def test_the_strip_is_the_busy_share_of_the_device(client: FlaskClient) -> None:
    answer = get(client, "strip", columns=30)
    assert answer.headers["Mindscope-Counted"] == "device"
    share = np.frombuffer(answer.data, np.uint8) / 255
    expected = np.zeros(30)
    for event in EVENTS:
        for column in range(30):
            low, high = column * END // 30, (column + 1) * END // 30
            if event["tid"] == 2:
                expected[column] += max(0, min(high, event["at"] + event["ns"]) - max(low, event["at"])) / (END // 30)
    assert np.abs(share - expected).max() <= 1 / 255
    assert share[1] > 0.4


def test_a_counter_in_columns(client: FlaskClient) -> None:
    (curve,) = get(client, "curve", track=2, columns=10, **{"from": 0, "to": 3_000_000}).json
    assert curve["series"] == "Read(MB/s)"
    assert curve["time"] == [column * 300_000 for column in range(10)]
    assert curve["low"] == [column * 3 * 10.5 for column in range(10)]
    assert curve["high"] == curve["last"] == [(column * 3 + 2) * 10.5 for column in range(10)]
    (late,) = get(client, "curve", track=2, columns=10, **{"from": 450_000, "to": 460_000}).json
    assert late["time"] == [400_000], "the value that holds at the start of the window"


def test_one_slice_with_arguments_flows_and_neighbours(client: FlaskClient) -> None:
    hits = get(client, "search", q="matmul").json
    assert [int(start) for start in hits["start"]] == sorted(e["at"] for e in EVENTS if e["name"] == "MatMulV2")
    found = get(client, "slice", row=hits["row"][1]).json
    assert (found["name"], found["start"], found["duration"], found["self"]) == ("MatMulV2", 270_000, 50_000, 50_000)
    assert found["arguments"] == {"Task Type": "AI_CORE", "connection_id": 1}
    assert (found["same"]["place"], found["same"]["count"], found["same"]["total"]) == (2, 6, 300_000)
    assert (found["same"]["previous"], found["same"]["next"]) == (hits["row"][0], hits["row"][2])
    assert found["step"] == "1"
    (flow,) = found["flows"]
    assert (flow["way"], flow["kind"], flow["name"], flow["start"]) == ("from", "async_npu", "aten::addmm", 170_000)
    launch = get(client, "slice", row=flow["row"]).json
    assert [one["row"] for one in launch["flows"]] == [found["row"]]
    assert [one["name"] for one in launch["around"]] == ["main.py(7): forward", "ProfilerStep#1"]
    assert launch["arguments"]["Input Dims"] == [[64, 32], [32, 10]]
    outer = get(client, "slice", row=launch["around"][0]["row"]).json
    assert outer["self"] == 400_000 - 2 * 60_001
    brief = get(client, "slice", row=found["row"], brief=1).json
    assert "arguments" not in brief
    assert brief["duration"] == 50_000


def test_statistics_of_a_range_by_name_and_track(client: FlaskClient) -> None:
    bounds = {"from": 400_000, "to": 1_200_000}

    def table(**more: object) -> dict[str, dict[str, Any]]:
        found = get(client, "range", **bounds, **more).json
        return {row[0]: dict(zip(found["columns"], row, strict=True)) for row in found["rows"]}

    clipped, whole = table(clip=1), table(clip=0)
    inside = [event for event in EVENTS if event["at"] < bounds["to"] and event["at"] + event["ns"] > bounds["from"]]
    for name in {event["name"] for event in inside}:
        own = [event for event in inside if event["name"] == name]
        assert clipped[name]["count"] == whole[name]["count"] == len(own)
        assert whole[name]["total_ns"] == sum(event["ns"] for event in own)
        cut = [min(bounds["to"], e["at"] + e["ns"]) - max(bounds["from"], e["at"]) for e in own]
        assert clipped[name]["total_ns"] == sum(cut)
    assert set(clipped) == {event["name"] for event in inside}
    tracks = table(by="track")
    stream = tracks["Ascend Hardware / Stream 2"]
    busy = sum(min(bounds["to"], e["at"] + e["ns"]) - max(bounds["from"], e["at"]) for e in inside if e["tid"] == 2)
    assert (stream["busy_ns"], stream["count"]) == (busy, sum(e["tid"] == 2 for e in inside))
    rows = list(csv.DictReader(io.StringIO(get(client, "range.csv", **bounds).text)))
    assert {row["name"]: int(row["total_ns"]) for row in rows} == {name: row["total_ns"] for name, row in clipped.items()}


def test_search_by_text_pattern_track_and_duration(client: FlaskClient) -> None:
    def starts(**more: object) -> list[int]:
        return list(get(client, "search", **more).json["start"])

    casts = sorted(event["at"] for event in EVENTS if event["name"] in ("Cast1", "Cast2"))
    assert starts(q="^Cast[12]$", regex=1) == casts
    assert starts(q="cast1") == sorted(event["at"] for event in EVENTS if event["name"] == "Cast1")
    assert starts(shortest=400_000) == sorted(event["at"] for event in EVENTS if event["ns"] >= 400_000)
    assert starts(q="a", tracks="0") == sorted(e["at"] for e in EVENTS if "a" in e["name"].lower() and e["tid"] == 10)
    assert starts(q="nowhere") == []


def test_the_range_as_chrome_trace(client: FlaskClient) -> None:
    answer = get(client, "trace.json", **{"from": 0, "to": END + 1})
    assert answer.headers["Content-Disposition"].startswith("attachment")
    content = json.loads(answer.data)
    events = content["traceEvents"] if isinstance(content, dict) else content
    assert sum(event["ph"] == "X" for event in events) == len(EVENTS)


@pytest.mark.parametrize(("name", "parameters", "reason"), [
    ("view", {"lanes": "0-", "k": 0, "b0": 0, "n": 1}, "lanes"),
    ("view", {"lanes": "0-99", "k": 0, "b0": 0, "n": 1}, "lanes"),
    ("view", {"lanes": "3-1", "k": 0, "b0": 0, "n": 1}, "lanes"),
    ("view", {"lanes": "0", "k": 99, "b0": 0, "n": 1}, "k: "),
    ("view", {"lanes": "0", "k": 60, "b0": 1 << 60, "n": 1}, "2^61"),
    ("view", {"lanes": "0", "k": 1, "b0": 0, "n": 10**6}, "n: "),
    ("view", {"lanes": "0", "k": 1, "b0": "x", "n": 1}, "b0"),
    ("names", {"from": 0, "to": 10**6}, "to"),
    ("slice", {"row": -1}, "row"),
    ("slice", {"row": 10**9}, "row"),
    ("curve", {"track": 99, "from": 0, "to": 5, "columns": 5}, "track"),
    ("strip", {"columns": 0}, "columns"),
    ("range", {"from": 5, "to": 5}, "from < to"),
    ("range", {"from": 0, "to": 5, "by": "day"}, "by"),
    ("search", {"q": ""}, "text"),
    ("search", {"q": "(", "regex": 1}, "regular expression"),
    ("tracks", {"more": 1}, "more"),
])  # fmt: skip
def test_requests_that_are_refused(client: FlaskClient, name: str, parameters: dict[str, object], reason: str) -> None:
    assert reason in get(client, name, 400, **parameters).json["error"]


def test_profiles_that_are_not_there(client: FlaskClient) -> None:
    for named, status in (({"run": "none"}, 404), ({"rank": "7"}, 404), ({"rank": "x"}, 400)):
        assert client.get("/api/timeline/tracks", query_string=NAMED | named).status_code == status
    answer = client.get("/api/timeline/tracks", query_string={"run": "two", "session": "profiler"})
    assert answer.status_code == 404


def test_gaps_of_a_stream_add_up_to_its_idle_time(client: FlaskClient) -> None:
    bounds = {"from": 0, "to": 1_000_000}
    found = get(client, "gaps", **bounds).json
    assert found["streams"] == [1]
    busy = sum(event["ns"] for event in EVENTS if event["tid"] == 2 and event["at"] < 1_000_000)
    assert found["idle"] == sum(found["causes"].values()) == 1_000_000 - busy
    rows = list(csv.DictReader(io.StringIO(get(client, "gaps.csv", **bounds).text)))
    assert sum(int(row["duration_ns"]) for row in rows) == found["idle"]
    assert len(rows) == found["total"]
    assert get(client, "gaps", 400, track=0).json["error"].startswith("track: ")
    assert get(client, "gaps", tracks="0-1", **bounds).json == found
    assert get(client, "gaps.csv", tracks="1", **bounds).text == get(client, "gaps.csv", **bounds).text
    assert get(client, "gaps", tracks="0", **bounds).json["streams"] == []
    assert "no device streams" in get(client, "gaps.csv", 404, tracks="0", **bounds).json["error"]


def test_the_flame_graph_of_a_range(client: FlaskClient) -> None:
    found = get(client, "flame", tracks="0", **{"from": 0, "to": END}).json
    stacks = {}
    for row, name in enumerate(found["name"]):
        parent = found["parent"][row]
        stacks[row] = [*stacks.get(parent, []), name]
    totals = {tuple(stack): found["total_ns"][row] for row, stack in stacks.items()}
    assert totals["ProfilerStep#2", "main.py(7): forward", "aten::addmm"] == 2 * 60_001
    assert totals["ProfilerStep#3", "main.py(7): forward"] == 400_000
    own = dict(zip(map(tuple, stacks.values()), found["self_ns"], strict=True))
    assert own["ProfilerStep#3", "main.py(7): forward"] == 400_000 - 2 * 60_001


def test_the_longest_stacks_are_sent_with_those_they_lie_in() -> None:
    parent = np.array([-1, 0, 1, 0, -1])
    assert timeline._with_parents(parent, np.array([2])).tolist() == [0, 1, 2]
    assert timeline._with_parents(parent, np.array([3, 4])).tolist() == [0, 3, 4]
    assert timeline._with_parents(parent, np.array([], np.int64)).tolist() == []


def test_the_critical_path_adds_up_to_the_range(client: FlaskClient) -> None:
    end = max(one["at"] + one["ns"] for one in EVENTS if one["tid"] == 2 and one["at"] + one["ns"] <= 1_000_000)
    found = get(client, "critical", **{"from": 0, "to": end}).json
    assert sum(found["kinds"].values()) == found["range"] == end
    rows = list(csv.DictReader(io.StringIO(get(client, "critical.csv", **{"from": 0, "to": end}).text)))
    assert sum(int(row["duration_ns"]) for row in rows) == end
    assert len(rows) == found["total"]
    assert {row["name"] for row in rows} >= {"MatMulV2", "aten::addmm"}
