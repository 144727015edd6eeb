"""The routes of the timeline over three ranks of a job, against sums over the events that were written."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from app import create_app
from app.routes.profiles.timeline_parameters import spans
from app.store.store import Store
from parsers.profiler.trace import together
from tests.amounts import long_after
from tests.app.routes.profiles.test_timeline import unpacked
from tests.writers import chrome_traces, rank_traces

RANKS = 3
ALSO = [f"session=rank{rank}_ascend_pt&rank={rank}" for rank in (1, 2)]
NAMED = {"run": "one", "session": "rank0_ascend_pt", "rank": "0", "also": ALSO}
Asked = dict[str, Any]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    base = tmp_path_factory.mktemp("together") / "runs"
    for rank in range(RANKS):
        folder = base / f"one/rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT"
        folder.mkdir(parents=True)
        (folder / "trace_view.json").write_text(rank_traces.text(rank))
        (folder / f"ascend_timeline_display_{rank}.json").write_text(chrome_traces.text())
    store = Store([base], interval=0).start()
    assert store.wait(30)
    yield create_app(store).server.test_client()
    store.stop()


def get(client: FlaskClient, name: str, status: int = 200, named: Asked = NAMED, **parameters: object) -> Any:
    answer = client.get(f"/api/timeline/{name}", query_string=named | {key: str(value) for key, value in parameters.items()})
    assert answer.status_code == status, answer.text
    return answer


def events(*, aligned: bool = False) -> list[tuple[int, dict[str, Any]]]:
    """(rank, event) of all ranks, with times on the axis."""
    shift = {rank: -rank * rank_traces.CLOCK_NS if aligned else 0 for rank in range(RANKS)}
    return [
        (rank, one | {"at": one["at"] + (shift[rank] if one["pid"] != 1 else 0)})
        for rank in range(RANKS) for one in rank_traces.slices(rank)
    ]  # fmt: skip


@pytest.mark.parametrize("aligned", long_after(1, [False, True]))
def test_tracks_of_all_ranks_lie_on_one_axis(client: FlaskClient, aligned: bool) -> None:
    found = get(client, "tracks", devices=int(aligned)).json
    assert (found["axis"], found["slices"], len(found["tracks"])) == ("clock", len(events()), 3 * RANKS)
    assert [part["label"] for part in found["parts"]] == [f"rank{rank}_ascend_pt · rank {rank}" for rank in range(RANKS)]
    firsts = [min(one["at"] for one in rank_traces.slices(rank)) for rank in range(RANKS)]
    assert [part["shift"] for part in found["parts"]] == firsts
    assert [part["device"] for part in found["parts"]] == [80_000 * rank * aligned for rank in range(RANKS)]
    align = [{"ns": 80_000 * rank, "spread": 0, "collectives": 2} for rank in (1, 2)]
    assert [part["align"] for part in found["parts"]] == ([None, *align] if aligned else [None] * 3)
    assert [track["part"] for track in found["tracks"]] == [0] * 3 + [1] * 3 + [2] * 3
    lanes = sum(track["lanes"] for track in found["tracks"])
    answer = get(client, "view", lanes=f"0-{lanes - 1}", k=9, b0=0, n=8000, devices=int(aligned))
    slices, buckets = unpacked(answer.data)
    names = get(client, "names", **{"from": 0, "to": found["names"]}).json["names"]
    seen = sorted((names[name], round(x * 512), round(width * 512)) for name, x, width in zip(
        slices["name"].tolist(), slices["x"].tolist(), slices["width"].tolist(), strict=True))
    expected = [(one["name"], one["at"], one["ns"]) for _, one in events(aligned=aligned)]
    assert seen == sorted(one for one in expected if one[2] >= 512)
    assert buckets["count"].sum() == sum(one[2] < 512 for one in expected)


def test_statistics_search_and_one_slice(client: FlaskClient) -> None:
    found = get(client, "range", **{"from": 0, "to": 10_000_000}).json
    rows = {row[0]: dict(zip(found["columns"], row, strict=True)) for row in found["rows"]}
    for name in ("MatMulV2", "aten::addmm", "Cast1"):
        durations = [one["ns"] for _, one in events() if one["name"] == name]
        found_here = [rows[name][column] for column in ("count", "total_ns", "max_ns")]
        assert found_here == [len(durations), sum(durations), max(durations)]
    row = found["longest"][[row[0] for row in found["rows"]].index("MatMulV2")]
    slowest = get(client, "slice", row=row).json
    assert (slowest["duration"], slowest["track"]) == (50_000 + 2 * rank_traces.SLOWER_NS, 7)
    assert slowest["start"] == min(one["at"] for rank, one in events() if one["name"] == "MatMulV2" and rank == 2)
    assert slowest["arguments"]["Task Type"] == "AI_CORE"
    hits = get(client, "search", q="matmul").json
    expected = sorted((one["at"], one["ns"], 3 * rank + 1) for rank, one in events() if one["name"] == "MatMulV2")
    assert list(zip(hits["start"], hits["duration"], hits["track"], strict=True)) == expected
    same = get(client, "search", q="^Mat", regex=1).json
    assert same == hits
    tracks = get(client, "range", by="track", **{"from": 0, "to": 10_000_000}).json
    assert [row[0] for row in tracks["rows"]][3] == "rank1_ascend_pt · rank 1 / Python / Thread 10"
    assert len(tracks["rows"]) == 9
    gaps = get(client, "gaps", track=4, **{"from": 0, "to": 10_000_000}).json
    assert gaps["streams"] == [1, 4, 7]
    assert gaps["idle"] == 10_000_000 - sum(one["ns"] for rank, one in events() if rank == 1 and one["pid"] == 2)
    critical = get(client, "critical", part=2, **{"from": 0, "to": 4_000_000}).json
    assert sum(critical["kinds"].values()) == 4_000_000
    flame = get(client, "flame", **{"from": 0, "to": 10_000_000}).json
    assert flame["count"][flame["name"].index("ProfilerStep#1")] == RANKS


def launched(rank: int) -> str:
    """The file of a rank, with an arrow from each call of aten::addmm to its kernel 100 us later (by clocks alike)."""
    made = json.loads(rank_traces.text(rank))
    calls = [one["at"] for one in rank_traces.slices(rank) if one["name"] == "aten::addmm"]
    for number, at in enumerate(calls):
        arrow = {"id": str(number), "cat": "async_npu", "name": "async_npu"}
        kernel = at + 100_000 + rank * rank_traces.CLOCK_NS
        made.append({"ph": "s", **arrow, **chrome_traces.THREAD, "ts": chrome_traces.microseconds(at + 10)})
        made.append({"ph": "f", "bp": "e", **arrow, **chrome_traces.STREAM, "ts": chrome_traces.microseconds(kernel)})
    return json.dumps(made)


@pytest.mark.parametrize("devices", long_after(1, [0, 1]))
def test_each_part_of_the_critical_path_lies_where_its_slice_does(tmp_path: Path, devices: int) -> None:
    for rank in range(2):
        folder = tmp_path / f"one/rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT"
        folder.mkdir(parents=True)
        (folder / "trace_view.json").write_text(launched(rank))
    store = Store([tmp_path], interval=0).start()
    try:
        assert store.wait(30)
        client = create_app(store).server.test_client()
        slices = [one for rank, one in events(aligned=bool(devices)) if rank == 1]
        device_end = max(one["at"] + one["ns"] for one in slices if one["pid"] == 2 and one["at"] < 1_000_000)
        asked = {"part": 1, "devices": devices, "from": 0, "to": device_end, "named": NAMED | {"also": ALSO[:1]}}
        table = list(csv.DictReader(io.StringIO(get(client, "critical.csv", **asked).text)))
        found = get(client, "critical", **asked).json
    finally:
        store.stop()
    on_path = [
        (row["name"], int(row["start_ns"]), int(row["start_ns"]) + int(row["duration_ns"]))
        for row in table if row["kind"] == "computation"
    ]  # fmt: skip
    assert {name for name, _, _ in on_path} == {"MatMulV2", "Cast0", "Cast1", "Cast2"}
    for name, start, end in on_path:
        assert any(one["name"] == name and one["at"] == start and one["ns"] == end - start for one in slices), (name, start)
    assert max(end for _, _, end in on_path) == device_end
    # the host is on the path until the kernel began, by its own clock
    ends = [int(row["start_ns"]) + int(row["duration_ns"]) for row in table if row["kind"] in ("host", "launch")]
    recorded = {one["at"] for rank, one in events() if rank == 1 and one["name"] == "MatMulV2"}
    assert max(ends) in recorded
    assert sum(int(row["duration_ns"]) for row in table) == sum(found["kinds"].values()) == device_end
    assert {(row[0], row[3]) for row in found["rows"]} <= {(int(row["start_ns"]), row["name"]) for row in table}


def test_the_difference_of_two_ranks(client: FlaskClient) -> None:
    found = get(client, "difference", a=0, b=2, **{"from": 0, "to": 10_000_000}).json
    assert [row[0] for row in found["rows"][:2]] == ["hcom_allReduce__1", "MatMulV2"]
    first = dict(zip(found["columns"], found["rows"][1], strict=True))
    assert first["total_difference_ns"] == first["difference_ns"] == 6 * 2 * rank_traces.SLOWER_NS
    assert (first["count"], first["other_count"], first["total_ns"]) == (6, 6, 300_000)
    rows = list(csv.DictReader(io.StringIO(get(client, "difference.csv", a=0, b=2, **{"from": 0, "to": 10_000_000}).text)))
    assert [row["name"] for row in rows] == [row[0] for row in found["rows"]]
    assert sum(int(row["difference_ns"]) for row in rows) == found["sums"]["difference_ns"]
    alone = NAMED | {"also": []}
    assert "two traces" in get(client, "difference", 400, alone).json["error"]


def test_a_collective_on_the_other_ranks(client: FlaskClient) -> None:
    row = get(client, "search", q="allreduce").json["row"][0]
    ranks = get(client, "slice", row=row, devices=1).json["ranks"]
    assert [one["end"] for one in ranks] == [rank_traces.ENDS_NS[0]] * RANKS
    assert [one["start"] for one in ranks] == [rank_traces.ENDS_NS[0] - 100_000 + 30_000 * rank for rank in range(RANKS)]
    assert [one["part"] for one in ranks] == [0, 1, 2]
    recorded = get(client, "slice", row=row).json["ranks"]
    assert [one["end"] - rank_traces.ENDS_NS[0] for one in recorded] == [rank_traces.CLOCK_NS * rank for rank in range(RANKS)]


@pytest.mark.long
def test_who_came_last_to_the_collective_that_a_stream_waited_for(real_data: Path) -> None:
    store = Store([real_data / "profiler_new" / "torch_npu_text_level2"], interval=0).start()
    try:
        assert store.wait(30)
        (run,) = [run.key for run in store.runs.rows()]
        client = create_app(store).server.test_client()
        named = {"run": run, "session": "rank0_ascend_pt", "rank": "0", "also": "session=rank1_ascend_pt&rank=1"}
        found = get(client, "gaps", named=named).json
        alone = get(client, "gaps", named=named | {"also": []}).json
    finally:
        store.stop()
    rows = [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]
    waited = {row["call"]: row["name"] for row in rows if row["cause"] == "communication"}
    starts: list[dict[str, Decimal]] = []
    for rank in (0, 1):
        path = real_data / f"profiler_new/torch_npu_text_level2/rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"
        slices = (one for one in json.loads(path.read_text()) if one["ph"] == "X")
        starts.append({one["name"]: Decimal(one["ts"]) for one in slices if one["name"] in waited.values()})
    (row, name), *_ = waited.items()
    late = int((starts[1][name] - starts[0][name]) * 1000)
    assert found["last"][str(row)] == [int(late > 0), abs(late)]
    assert abs(late) > 1_000_000
    assert alone["last"] == {}


def test_steps_and_starts_align(client: FlaskClient) -> None:
    assert {part["shift"] for part in get(client, "tracks", axis="start").json["parts"]} == {0}
    found = get(client, "tracks", axis="step", at="2").json
    assert (found["axis"], found["at"]) == ("step", "2")
    hits = get(client, "search", q="ProfilerStep#2", axis="step", at="2").json
    assert (len(hits["start"]), set(hits["start"])) == (RANKS, {found["steps"][1][1]})


def test_what_has_been_read_and_other_files(client: FlaskClient) -> None:
    found = get(client, "reading").json
    assert {one["state"] for one in found} <= {"ready", "reading", "waiting"}
    get(client, "tracks")
    found = get(client, "reading").json
    assert [one["state"] for one in found] == ["ready"] * RANKS
    files = [f"ASCEND_PROFILER_OUTPUT/{name}" for name in ("trace_view.json", "ascend_timeline_display_0.json")]
    assert found[0]["sources"] == files
    other = {"run": "one", "session": "rank0_ascend_pt", "source": files[1]}
    alone = get(client, "tracks", named=other).json
    assert alone["file"].endswith("ascend_timeline_display_0.json")
    assert alone["slices"] == len(chrome_traces.slices())
    # the same profile twice, once with another file
    both = get(client, "tracks", named=other | {"also": "source="}).json
    assert [part["slices"] for part in both["parts"]] == [len(chrome_traces.slices()), len(rank_traces.slices(0))]
    assert [part["label"] for part in both["parts"]] == [files[1], "best"]


def test_rows_left_out_are_named(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = get(client, "view", lanes="0-8", k=9, b0=0, n=8000)
    assert "Mindscope-Pending" not in answer.headers
    whole = unpacked(answer.data)
    monkeypatch.setattr(together, "MOST_SCANNED", 300)
    monkeypatch.setattr(together.OpenTrace, "pyramid", property(lambda _: None, lambda *_: None), raising=False)
    answer = get(client, "view", lanes="0-8", k=9, b0=0, n=8000)
    # 606 kernels of each rank are too many; threads and collectives are drawn
    assert answer.headers["Mindscope-Pending"] == "3,8"
    part = unpacked(answer.data)
    kept = ~np.isin(whole[0]["lane"], [3, 8])
    assert np.array_equal(part[0]["row"], whole[0]["row"][kept])
    narrow = get(client, "view", lanes="0-8", k=0, b0=500_000, n=2000)
    assert "Mindscope-Pending" not in narrow.headers
    assert unpacked(narrow.data)[0]["lane"].tolist().count(3) == 20


@pytest.mark.parametrize(("changed", "status", "reason"), [
    ({"also": "rank=0&session=rank0_ascend_pt"}, 400, "each trace once"),
    ({"also": "rank=9"}, 404, "rank 9"),
    ({"also": "what"}, 400, "also: expected a query"),
    ({"also": "lanes=3"}, 400, "also: expected a query"),
    ({"also": [f"rank={rank}" for rank in range(20)]}, 400, "at most 16"),
    ({"axis": "sun"}, 400, "axis"),
    ({"devices": "2"}, 400, "devices"),
    ({"source": "none.json"}, 404, "source"),
])  # fmt: skip
def test_requests_that_are_refused(client: FlaskClient, changed: Asked, status: int, reason: str) -> None:
    assert reason in get(client, "tracks", status, NAMED | changed).json["error"]


def test_numbers_as_requests_have_them() -> None:
    assert spans([0, 1, 2, 5, 7, 8]) == "0-2,5,7-8"
    assert spans([]) == ""
