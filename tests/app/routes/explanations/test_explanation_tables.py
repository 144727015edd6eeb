"""The CSV routes of what is computed from explanations: read back with pandas, and what is refused."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from flask.testing import FlaskClient

from app import create_app
from app.store.store import Store
from tests.writers.explanations import write_explanations

NAMES = ["a", "=b", "c"]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    base = tmp_path_factory.mktemp("runs")
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 40)
    for name in ("old", "new"):
        probability = rng.dirichlet([0.6, 0.6, 0.6], 40).round(3)
        rows = {n: ([int(truth[n])], dict(enumerate(probability[n].tolist()))) for n in range(40)}
        scores = {("E", "m"): (0.5, [0.1, 0.2, 0.3]), ("E", "n"): (0.75, []), ("F", "m"): (1.0, [])}
        write_explanations(base / name, rows, NAMES, explainers=["E", "F"], metrics=["m", "n"], scores=scores)
    store = Store([base], interval=0).start()
    assert store.wait(30)
    yield create_app(store).server.test_client()
    store.stop()


def get(client: FlaskClient, route: str, /, **query: Any) -> pd.DataFrame:
    answer = client.get(f"/api/explanation/{route}.csv", query_string={"run": "new"} | query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    assert "attachment" in answer.headers["Content-Disposition"]
    found = pd.read_csv(io.BytesIO(answer.data), keep_default_na=False, na_values=[""])
    answer.close()
    return found


def predictions(client: FlaskClient) -> pd.DataFrame:
    """The predictions as their own route has them: one row per sample, probability of each label, and the true one."""
    table = get(client, "frame", name="predictions")
    wide = table.pivot_table(index="sample", columns="label", values="probability")
    wide["true"] = table[table["truth"].astype(str) == "True"].set_index("sample")["label"]
    return wide


def test_cells_are_those_of_pandas(client: FlaskClient) -> None:
    wide = predictions(client)
    strong, top = wide[[0, 1, 2]].idxmax(axis=1), wide[[0, 1, 2]].max(axis=1)
    found = get(client, "confusion", t="0.6")
    lines = client.get("/api/explanation/confusion.csv?run=new&t=0.6").text.splitlines()[1:]
    assert {line.split(",")[2] for line in lines} == {"", "0", "1", "2"}  # numbers of labels have no decimals
    counts = found.dropna(subset="predicted").set_index(["truth", "predicted"])["count"].to_dict()
    wanted = pd.crosstab(wide["true"][top >= 0.6], strong[top >= 0.6]).stack()
    assert counts == {key: value for key, value in wanted.to_dict().items() if value}
    none = found[found["predicted"].isna()]
    assert none.set_index("truth")["count"].to_dict() == wide["true"][top < 0.6].value_counts().to_dict()
    assert set(found["true_name"]) == {"a", "'=b", "c"}


def test_labels_and_members_agree_with_the_cells(client: FlaskClient) -> None:
    wide = predictions(client)
    labels = get(client, "labels", t="0.4").set_index("label")
    for label in range(3):
        assert labels["tp"][label] == ((wide["true"] == label) & (wide[label] >= 0.4)).sum()
        assert labels["fp"][label] == ((wide["true"] != label) & (wide[label] >= 0.4)).sum()
    strong = wide[[0, 1, 2]].idxmax(axis=1)
    cell = get(client, "cell", t="0", cell="0,2")
    assert sorted(set(cell["sample"])) == sorted(wide.index[(wide["true"] == 0) & (strong == 2)])


def test_calibration_counts_every_sample(client: FlaskClient) -> None:
    top = get(client, "calibration")
    assert (len(top), top["count"].sum()) == (10, 40)
    each = get(client, "calibration", question="each", bins=5)
    assert (len(each), each["count"].sum()) == (5, 120)


def test_changes_name_their_runs(client: FlaskClient) -> None:
    found = get(client, "changes", **{"with": "old"})
    columns = ["sample", "label", "name", "outcome new", "probability new", "outcome old", "probability old"]
    assert found.columns.tolist() == columns
    assert (found["outcome new"] != found["outcome old"]).all()
    back = get(client, "changes", run="old", **{"with": "new"})
    assert back["sample"].tolist() == found["sample"].tolist()


def test_scores_have_weights_and_totals(client: FlaskClient) -> None:
    found = get(client, "scores").set_index("explainer")
    assert found.loc["weight"].tolist() == [0.5, 0.5, 1.0]
    assert found.loc["E"].tolist() == [0.5, 0.75, 0.62]
    assert found.loc["F", ["m", "total"]].tolist() == [1.0, 0.5]
    other = get(client, "scores", weight=["m:100", "n:0"]).set_index("explainer")
    assert other["total"].tolist() == [1.0, 0.5, 1.0]
    assert get(client, "scores", weight="m:10")["total"].isna().tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("confusion.csv", 400), ("confusion.csv?run=gone", 404), ("confusion.csv?run=new&t=2", 400),
        ("confusion.csv?run=new&t=1&t=2", 400), ("confusion.csv?run=new&bins=5", 400), ("cell.csv?run=new", 400),
        ("cell.csv?run=new&cell=1", 400), ("calibration.csv?run=new&bins=7", 400), ("changes.csv?run=new", 400),
        ("changes.csv?run=new&with=gone", 404), ("scores.csv?run=new&weight=m", 400), ("labels.csv?run=", 400),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_refused(client: FlaskClient, address: str, status: int) -> None:
    answer = client.get(f"/api/explanation/{address}")
    assert (answer.status_code, answer.mimetype) == (status, "application/json")
