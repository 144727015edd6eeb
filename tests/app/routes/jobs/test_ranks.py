"""The routes of operators over ranks over a job in a store: facts, views, one operator, tables, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from app import create_app
from app.store.store import Store
from tests.writers import rank_kernels
from tests.writers.rank_kernels import ALONE, BEGIN_NS, GAP_NS, KERNEL_NS, SLOWER_NS

RANKS, OPERATORS, EVERY = 12, 40, 10
CLOCKS = {1: 700_000, 7: -90_000}
NAMED = {"run": "job", "session": "rank_0_ascend_pt", "rank": "0"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    base = tmp_path_factory.mktemp("ranks") / "runs"
    rank_kernels.write(
        base / "job", ranks=RANKS, operators=OPERATORS, stages=2, steps=2, every=EVERY, clocks=CLOCKS, without=(4,), alone=(2,),
    )  # fmt: skip
    damaged = base / "job/rank_5_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv"
    damaged.write_text(damaged.read_text().replace(f",{KERNEL_NS / 1000 + 5 * SLOWER_NS / 1000:.3f},", ",nonsense,", 1))
    store = Store([base], interval=0).start()
    assert store.wait(30)
    yield create_app(store).server.test_client()
    store.stop()


def get(client: FlaskClient, name: str, status: int = 200, **query: Any) -> Any:
    until = time.monotonic() + 60
    while True:
        answer = client.get(f"/api/ranks/{name}", query_string={**NAMED, **query})
        answer.get_data()
        answer.close()
        reading = answer.status_code == 503 or (name == "facts" and (answer.json or {}).get("state") == "reading")
        if not reading or time.monotonic() > until:
            break
        time.sleep(0.05)
    assert answer.status_code == status, answer.text
    return answer


def facts(client: FlaskClient, **query: Any) -> dict[str, Any]:
    found = get(client, "facts", **query).json
    assert isinstance(found, dict)
    return found


def table(client: FlaskClient, name: str, **query: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(get(client, f"{name}.csv", **query).text)))


def test_the_first_eight_ranks_are_shown_stage_after_stage(client: FlaskClient) -> None:
    found = facts(client)
    assert [row["rank"] for row in found["ranks"]] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert [row["stage"] for row in found["ranks"]] == [0] * 6 + [1] * 2
    assert (found["order"], found["stages"]) == ([*range(RANKS)], [[*range(6)], [*range(6, RANKS)]])
    assert found["steps"] == [1, 2]
    by_rank = {row["rank"]: row for row in found["ranks"]}
    meetings = 2 * OPERATORS // EVERY
    assert by_rank[0]["operators"] == 2 * OPERATORS + meetings
    assert (by_rank[4]["kernels"], by_rank[4]["operators"]) == (False, meetings)
    # All but the operator of rank 2 are joined below, to the stage's last rank; nothing across stages.
    assert [by_rank[rank]["joined_below"] for rank in (0, 1, 2, 5, 6, 7)] == [88, 88, 88, 0, 88, -1]
    assert [by_rank[rank]["alone"] for rank in (0, 2)] == [0, 1]
    assert by_rank[0]["computing_ns"] == 2 * OPERATORS * KERNEL_NS
    assert {one["rank"] for one in found["problems"]} == {5}
    assert any("nonsense" in one["text"] for one in found["problems"])
    assert found["alternative"][0].startswith(f"{sum(row['operators'] for row in found['ranks'])} operators on 8 ranks over ")


def test_alignment_takes_clocks_out_and_tells_what_remains(client: FlaskClient) -> None:
    recorded = {row["rank"]: row for row in facts(client)["ranks"]}
    found = {row["rank"]: row for row in facts(client, aligned=1)["ranks"]}
    assert {rank: row["shift_ns"] for rank, row in recorded.items()} == dict.fromkeys(range(8), 0)
    for rank, row in found.items():
        # communication.json has floats, of a quarter of a microsecond at this time.
        assert abs(row["shift_ns"] + CLOCKS.get(rank, 0)) <= 300
    assert found[0]["residual_ns"] is None
    assert max(found[rank]["worst_ns"] for rank in (1, 2, 3, 4, 5, 7)) <= 1000
    assert {found[rank]["compared"] for rank in (1, 7)} == {2 * OPERATORS // EVERY}


def test_a_choice_of_ranks_stage_and_step(client: FlaskClient) -> None:
    assert [row["rank"] for row in facts(client, rows="3, 9-10,70")["ranks"]] == [3, 9, 10]
    assert facts(client, rows="3,70")["absent"] == [70]
    assert [row["rank"] for row in facts(client, stage=1)["ranks"]] == [*range(6, RANKS)]
    one = facts(client, rows="0", step=2)
    assert one["ranks"][0]["operators"] == OPERATORS + OPERATORS // EVERY
    assert int(one["origin"]) > BEGIN_NS
    assert facts(client, rows="0", step=77)["length"] == 0


def unpacked(data: bytes) -> dict[str, Any]:
    size = int.from_bytes(data[:4], "little")
    found = json.loads(data[4 : 4 + size])
    at = 4 + size
    for name, told in found.pop("tables").items():
        found[name] = {}
        for column, kind in told["columns"]:
            values = np.frombuffer(data, f"<{kind}", told["length"], at)
            found[name][column] = values
            at += -(-values.nbytes // 4) * 4
    return found


def test_a_view_has_the_bars_of_its_window(client: FlaskClient) -> None:
    # The first three kernels of rank 0 and the gaps after them, 100 ns to a column.
    found = unpacked(get(client, "view", rows="0-1", **{"from": 0, "to": 3 * (KERNEL_NS + GAP_NS), "columns": 1350}).data)
    own = found["bars"]["row"] == 0
    assert found["bars"]["x0"][own].tolist() == [0.0, 450.0, 900.0]
    assert found["bars"]["x1"][own].tolist() == [400.0, 850.0, 1300.0]
    assert found["bars"]["category"][own].tolist() == [0, 1, 0]
    assert len(found["joins"]["row"]) == found["joined"] > 0
    # Clocks differ by 0.7 ms: rank 1 has nothing yet.
    assert not (found["bars"]["row"] == 1).any()
    whole = unpacked(get(client, "view", columns=100).data)
    assert whole["operators"] == whole["merged"] + len(whole["bars"]["row"])


def test_an_operator_is_told_with_the_same_one_of_other_ranks(client: FlaskClient) -> None:
    found = get(client, "operator", aligned=1, at=0, operator=1).json
    assert (found["name"], found["type"], found["category"], found["step"]) == ("aclnnAdd_1", "Add", "vector_core", 1)
    assert [one["rank"] for one in found["same"]] == [0, 1, 2, 3, 5]  # rank 4 has no kernels, stage 1 runs other layers
    assert [one["duration"] for one in found["same"]] == [KERNEL_NS + rank * SLOWER_NS for rank in (0, 1, 2, 3, 5)]
    begins = [one["begin"] for one in found["same"]]
    wanted = [KERNEL_NS + GAP_NS + rank * SLOWER_NS for rank in (0, 1, 2, 3, 5)]
    assert max(abs((begin - begins[0]) - (want - wanted[0])) for begin, want in zip(begins, wanted, strict=True)) <= 600


def test_tables_have_every_rank_and_every_operator(client: FlaskClient) -> None:
    rows = table(client, "ranks")
    assert [row["rank"] for row in rows] == [str(rank) for rank in range(8)]
    assert rows[0]["residual_ns"] == ""
    listed = table(client, "operators", rows="2", step=1)
    (own,) = (row for row in listed if row["name"] == ALONE)
    assert (own["joined"], own["category"], own["duration_ns"]) == ("no", "ai_core", str(KERNEL_NS))
    first = listed[0]
    assert (first["start_ns"], first["occurrence"], first["step"]) == (str(BEGIN_NS), "0", "1")
    some = table(client, "operators", rows="2", step=1, **{"from": 0, "to": KERNEL_NS})
    assert [row["name"] for row in some] == [first["name"]]


@pytest.mark.parametrize(
    ("name", "query", "status", "said"),
    [
        ("facts", {"rows": "a"}, 400, "rows: expected ranks"), ("facts", {"rows": "5-3"}, 400, "rows: expected ranks"),
        ("facts", {"colour": "1"}, 400, "expected the parameters"), ("facts", {"rank": "99"}, 404, "no profile"),
        ("view", {"from": 5, "to": 5}, 400, "expected from below to"), ("view", {"columns": 0}, 400, "columns"),
        ("operator", {"at": 0, "operator": 9999}, 404, "no operator"),
        ("operator", {"at": 70, "operator": 0}, 404, "no operator"),
        ("operator", {}, 404, "no operator"),
    ],
)  # fmt: skip
def test_what_is_refused(client: FlaskClient, name: str, query: dict[str, Any], status: int, said: str) -> None:
    assert said in get(client, name, status, **query).json["error"]


def test_memory_of_a_window_is_that_of_the_raw_file(real_data: Path) -> None:
    folder = real_data / "profiler_new" / "torch_npu_text_level2"
    store = Store([folder], interval=0).start()
    assert store.wait(30)
    try:
        made = create_app(store).server.test_client()
        (run,) = {row.key for row in store.runs.rows()}
        query = {"run": run, "session": "rank0_ascend_pt", "rank": "0", "rows": "0-1"}
        told = get(made, "facts", **query).json
        begin, end = 2_000_000, 9_000_000
        until = time.monotonic() + 60
        while (found := get(made, "memory", **query, **{"from": begin, "to": end, "columns": 1}).json)["state"] != "ready":
            assert time.monotonic() < until
        assert ([row["rank"] for row in found["rows"]], found["without"]) == ([0, 1], [])
        values: dict[int, list[tuple[int, float]]] = {}
        for rank in (0, 1):
            path = folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "memory_record.csv"
            with path.open(encoding="utf-8") as file:
                values[rank] = [
                    (int(Decimal(row["Timestamp(us)"].strip()) * 1000), float(row["Total Allocated(MB)"]))
                    for row in csv.DictReader(file)
                    if row["Component"] == "PTA+GE"
                ]
        most = max(value for own in values.values() for _, value in own)
        assert found["most"] == pytest.approx(most * 2**20, rel=1e-6)
        for row in found["rows"]:
            first, last = (int(told["origin"]) + at for at in (begin, end))
            own = values[row["rank"]]
            inside = [value for at, value in own if first <= at <= last]
            held = [value for at, value in own if at < first][-1:]
            assert row["high"] == [round(max(inside + held) / most * 1000)]
            assert row["low"] == [round(min(inside + held) / most * 1000)]
    finally:
        store.stop()


def test_ranks_whose_kernels_have_no_times_show_their_trace(real_data: Path) -> None:
    store = Store([real_data / "mindinsight_legacy"], interval=0).start()
    assert store.wait(30)
    try:
        found = [(row.key, one) for row in store.runs.rows() for one in store.profiles.rows(row.key)]
        run, session = next((run, one.session) for run, one in found if one.rank == 0 and "trace" in one.frames)
        made = create_app(store).server.test_client()
        (row, *_) = get(made, "facts", run=run, session=session, rank="0", rows="0").json["ranks"]
        # The three slices of ascend_timeline_display_0.json.
        assert (row["traced"], row["kernels"], row["operators"]) == (True, False, 3)
    finally:
        store.stop()
