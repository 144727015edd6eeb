"""Groups as CSV by a plain route, read with the csv module."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from flask.testing import FlaskClient
from scipy import stats

from app import create_app
from app.store.store import Store
from parsers.recording import EventWriter

RNG = np.random.default_rng(11)
VALUES = {f"lr{lr}_seed{seed}": RNG.normal(lr, 0.1, 20) for lr in (1, 2) for seed in range(6)}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory):
    tmp_path = tmp_path_factory.mktemp("runs")
    for name, values in VALUES.items():
        (tmp_path / name).mkdir()
        path = tmp_path / name / "events.out.tfevents.1700000000.host"
        with EventWriter(str(path), "tensorboard", wall_time=1.7e9) as writer:
            for step, value in enumerate(values):
                writer.add(step, {"=loss": float(value)}, wall_time=1.7e9 + step)
    store = Store([tmp_path], interval=0).start()
    assert store.wait(30)
    yield create_app(store).server.test_client()
    store.stop()


def rows(client: FlaskClient, query: str) -> list[dict[str, str]]:
    answer = client.get(f"/api/{query}")
    assert answer.status_code == 200, answer.text
    assert answer.mimetype == "text/csv"
    return list(csv.DictReader(io.StringIO(answer.text)))


def test_curves_of_groups(client: FlaskClient) -> None:
    found = rows(client, "scalars-groups.csv?tag=%3Dloss&group=regex:lr(.)&band=range")
    assert [row["group"] for row in found] == ["1"] * 20 + ["2"] * 20
    assert {row["tag"] for row in found} == {"'=loss"}  # no spreadsheet runs it
    stack = np.array([values for name, values in VALUES.items() if name.startswith("lr2")], np.float32).astype(float)
    mine = [row for row in found if row["group"] == "2"]
    np.testing.assert_allclose([float(row["mean"]) for row in mine], stack.mean(axis=0))
    np.testing.assert_allclose([float(row["low"]) for row in mine], stack.min(axis=0))
    np.testing.assert_allclose([float(row["x"]) for row in mine], np.arange(20))
    assert {row["runs"] for row in mine} == {"6"}
    times = rows(client, "scalars-groups.csv?tag=%3Dloss&group=regex:lr(.)&line=median&band=none&x=absolute&zone=60")
    assert float(times[1]["x"]) == pytest.approx(1.7e9 + 1)
    assert times[0]["low"] == ""


def test_what_groups_and_runs_came_to(client: FlaskClient) -> None:
    one, other = rows(client, "scalars-final.csv?tag=%3Dloss&group=regex:lr(.)&base=group:1")
    last = np.array([values[-1] for name, values in VALUES.items() if name.startswith("lr2")], np.float32).astype(float)
    assert float(other["last"]) == pytest.approx(stats.trim_mean(last, 0.25))
    assert (one["name"], one["runs"], one["n"], one["better_than_baseline"]) == ("1", "6", "6", "")
    assert float(other["better_than_baseline"]) == 0.0
    single = rows(client, "scalars-final.csv?tag=%3Dloss&run=lr1_seed0")
    assert len(single) == 1
    assert float(single[0]["last"]) == np.float32(VALUES["lr1_seed0"][-1])
    assert single[0]["last_step"] == "19"
    assert single[0]["best_step"] == str(VALUES["lr1_seed0"].argmin())


@pytest.mark.parametrize(
    "query", ["scalars-groups.csv?tag=%3Dloss", "scalars-groups.csv?group=job", "scalars-final.csv?group=regex:(",
              "scalars-final.csv?colour=red", "scalars-groups.csv?tag=%3Dloss&group=job&band=all"],
)  # fmt: skip
def test_refusals_say_why(client: FlaskClient, query: str) -> None:
    answer = client.get(f"/api/{query}")
    assert answer.status_code == 400
    assert "expected" in answer.get_json()["error"]
