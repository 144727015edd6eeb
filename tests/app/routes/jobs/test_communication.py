"""The routes of communication over a job in a store: the matrix as bytes, tables as CSV, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import struct
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from app import create_app
from app.store.store import Store
from layouts.jobs.rank_traffic import TABLES
from tests.writers.clusters import write

RANKS, STEPS = 16, 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("communication") / "runs"
    write(base / "job", ranks=RANKS, steps=STEPS, operations=3)
    (base / "none/profiler").mkdir(parents=True)
    (base / "none/profiler/step_trace_raw_0_detail_time.csv").write_text("step_num\n")
    return base


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[FlaskClient]:
    store = Store([folder], interval=0).start()
    assert store.wait(30)
    yield create_app(store).server.test_client()
    store.stop()


@pytest.fixture(scope="module")
def named(folder: Path) -> dict[str, str]:
    session = next(path.name for path in sorted((folder / "job").iterdir()) if "_0_2026" in path.name)
    return {"run": "job", "session": session, "rank": "0"}


def get(client: FlaskClient, name: str, query: dict[str, str], status: int = 200) -> Any:
    answer = client.get(f"/api/communication/{name}", query_string=query)
    assert answer.status_code == status, answer.text
    answer.get_data()
    answer.close()  # the server streams at most eight files at a time
    return answer


def table(client: FlaskClient, name: str, query: dict[str, str]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(get(client, f"{name}.csv", query).text)))


def unpacked(content: bytes) -> tuple[dict[str, Any], np.ndarray, dict[tuple[int, int], float]]:
    (length,) = struct.unpack_from("<I", content)
    header = json.loads(content[4 : 4 + length])
    at = 4 + length
    ranks = np.frombuffer(content, "<i4", header["ranks"], at)
    body, size = content[at + 4 * header["ranks"] :], header["rows"]
    if header["form"] == "sparse":
        return header, ranks, {(row, column): value for row, column, value in struct.iter_unpack("<HHf", body)}
    planes = np.frombuffer(body, np.uint8).reshape(3, -1).astype(np.uint32)
    values = ((planes[0] << 24) | (planes[1] << 16) | (planes[2] << 8)).view(np.float32)
    return header, ranks, {divmod(int(at), size): float(values[at]) for at in np.flatnonzero(np.isfinite(values))}


def raw_links(folder: Path, kind: str = "") -> dict[tuple[int, int], tuple[float, float]]:
    """(sender, receiver) -> (bytes, ns) of the class total, summed over the files."""
    sums: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for path in (folder / "job").rglob("communication_matrix.json"):
        rank = int(path.parents[1].name.split("_")[1])
        for step in json.loads(path.read_text()).values():
            for name, pairs in step["collective"].items():
                if "-total@" in name and name.startswith(kind):
                    for pair, told in pairs.items():
                        ends = tuple(rank // 8 * 8 + int(one) for one in pair.split("-"))
                        sums[ends[0], ends[1]][0] += told["Transit Size(MB)"] * 1e6
                        sums[ends[0], ends[1]][1] += told["Transit Time(ms)"] * 1e6
    return {pair: (size, time) for pair, (size, time) in sums.items() if pair[0] != pair[1]}


def test_the_matrix_has_the_sums_of_the_files(client: FlaskClient, named: dict[str, str], folder: Path) -> None:
    wanted = raw_links(folder)
    header, ranks, cells = unpacked(get(client, "matrix", named).data)
    assert (header["unit"], header["steps"], header["block"]) == ("B/s", STEPS, 1)
    assert ranks.tolist() == [*range(RANKS)]
    assert cells == pytest.approx({pair: size / time * 1e9 for pair, (size, time) in wanted.items()}, rel=2**-15)
    _, _, sizes = unpacked(get(client, "matrix", named | {"measure": "bytes"}).data)
    assert sizes == pytest.approx({pair: size / STEPS for pair, (size, _) in wanted.items()}, rel=2**-15)
    _, _, times = unpacked(get(client, "matrix", named | {"measure": "time", "kind": "allgather"}).data)
    gathers = {pair: time / STEPS for pair, (_, time) in raw_links(folder, "allgather").items()}
    assert times == pytest.approx(gathers, rel=2**-15)


def test_the_matrix_of_a_group_and_of_a_window(client: FlaskClient, named: dict[str, str]) -> None:
    groups = client.get("/api/profile.csv", query_string=named | {"frame": "groups"}).text
    group = next(row["group"] for row in csv.DictReader(io.StringIO(groups)) if row["ranks"] == "8-15")
    header, ranks, cells = unpacked(get(client, "matrix", named | {"group": group}).data)
    assert (header["rows"], ranks.tolist(), len(cells)) == (8, [*range(8, 16)], 56)
    part, ranks, some = unpacked(get(client, "matrix", named | {"from": "4", "to": "10"}).data)
    assert (part["rows"], part["first"], ranks.tolist()) == (6, 4, [*range(4, 10)])
    assert len(some) == 4 * 3 + 2 * 1


def test_every_table_is_a_file(client: FlaskClient, named: dict[str, str], folder: Path) -> None:
    for name in TABLES:
        if name == "contention":
            continue
        answer = get(client, f"{name}.csv", named)
        assert answer.mimetype == "text/csv"
        assert f"job-communication-{name}.csv" in answer.headers["Content-Disposition"]
    links = table(client, "links", named)
    wanted = raw_links(folder)
    assert {(int(row["source"]), int(row["target"])) for row in links} == wanted.keys()
    for row in links:
        size, time = wanted[int(row["source"]), int(row["target"])]
        assert (float(row["size_bytes"]), float(row["time_ns"])) == pytest.approx((size, time), rel=1e-6)
    by_rank = table(client, "totals", named | {"by": "rank", "sort": "rank:asc"})
    assert [row["rank"] for row in by_rank] == [str(rank) for rank in range(RANKS)]
    cells = table(client, "matrix", named | {"measure": "bytes"})
    assert len(cells) == RANKS * 7
    one = table(client, "operation", named | {"op": by_rank[0]["group"]})
    assert len(one) == 8
    assert len({row["name"] for row in one}) == 1


def test_a_profile_without_kernels_has_no_contention(client: FlaskClient, named: dict[str, str]) -> None:
    assert "kernel_details" in get(client, "contention.csv", named, 404).text


def test_a_profile_without_communication_has_empty_answers(client: FlaskClient) -> None:
    query = {"run": "none", "session": "profiler", "rank": "0"}
    header, _, cells = unpacked(get(client, "matrix", query).data)
    assert (header["cells"], len(cells)) == (0, 0)
    assert table(client, "totals", query) == []


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({}, 400), ({"run": "nothing"}, 404), ({"run": "job", "measure": "speed"}, 400), ({"run": "job", "unknown": "1"}, 400),
        ({"run": "job", "rank": "x"}, 400), ({"run": "job", "class": "best"}, 400), ({"run": "job", "session": "no"}, 404),
        ({"run": "job", "from": "-5"}, 400),
    ],
)  # fmt: skip
def test_bad_requests_are_refused(client: FlaskClient, query: dict[str, str], status: int) -> None:
    assert json.loads(get(client, "matrix", query, status).data)["error"]
