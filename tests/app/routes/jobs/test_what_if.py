"""The route of replays: the CSV of a simulated job whose truth is known, and what is refused."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.demo.simulated.job_files import write
from app.demo.simulated.job_records import recorded
from app.demo.simulated.jobs import simulate
from app.demo.simulated.programs import Fault, JobPlan
from app.store.store import Store

PLAN = JobPlan(
    dp=4, mode="meetings", noise=0.0, hiccups=0.0, gaps=0.0, data=0.0, steps=3, fault=Fault("slow_rank", 2, 0.2)
)  # fmt: skip


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    base = tmp_path_factory.mktemp("what_if") / "runs"
    write(base / "slow", recorded(simulate(PLAN)))
    store = Store([base], interval=0).start()
    assert store.wait(60)
    yield create_app(store).server.test_client()
    store.stop()


def get(client: FlaskClient, status: int = 200, **more: str) -> str:
    query: dict[str, Any] = {"run": "slow", "session": "node0_1000_20261120233012998_ascend_pt", "rank": "0", **more}
    answer = client.get("/api/job/what_if.csv", query_string=query)
    assert answer.status_code == status, answer.text
    text = answer.text
    answer.close()
    return text


def test_a_slow_rank_costs_what_it_computes_longer(client: FlaskClient) -> None:
    rows = list(csv.DictReader(io.StringIO(get(client, slow="2", cause="rank"))))
    assert [row["rank"] for row in rows] == ["-1", "0", "1", "2", "3"]
    assert float(rows[0]["saved_ns"]) == pytest.approx(0.2 * 1.02 * PLAN.computing_ns, rel=0.01)
    assert float(rows[0]["recorded_ns"]) == pytest.approx(float(simulate(PLAN).step_ns[1:].mean()), rel=0.01)


def test_what_is_malformed_is_refused(client: FlaskClient) -> None:
    assert "slow" in get(client, 400, slow="all")
    get(client, 404, session="none")
