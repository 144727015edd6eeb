"""The data pipeline of a run as a file: every operation with every parameter."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.store.store import Store
from parsers import DatasetGraph, open_run
from tests.layouts.graphs.dataset.pipelines import node, pipeline_source
from tests.recorded import RECORDED


@pytest.fixture(scope="module")
def client() -> Iterator[FlaskClient]:
    store = Store([RECORDED], interval=0).start()
    assert store.wait(30)
    yield create_app(store).server.test_client()
    store.stop()


def test_the_file_has_every_operation_and_parameter(client: FlaskClient) -> None:
    answer = client.get("/api/dataset.json?run=lenet_landscape")
    graph = open_run(RECORDED / "lenet_landscape").dataset_graph
    assert graph is not None
    assert answer.json is not None
    assert "lenet_landscape-dataset.json" in answer.headers["Content-Disposition"]
    assert answer.json["mark"] == graph.mark
    rows = list(graph.walk())
    assert [one["feeds"] for one in answer.json["operations"]] == [None, *(parent for parent, _, _ in rows[1:])]
    for one, (_, _, wanted) in zip(answer.json["operations"], rows, strict=True):
        assert (one["type"], one["recorded"], one["kind"]) == (wanted.type, wanted.recorded, wanted.kind)
        assert one["parameters"] == wanted.parameters
        assert [(each["name"], each["parameters"]) for each in one["operations"]] == [
            (each.name, each.parameters) for each in wanted.operations
        ]
        assert (one["sampler"] and one["sampler"]["name"]) == (wanted.sampler and wanted.sampler.name)


def test_numbers_that_json_has_not_are_texts() -> None:
    source = pipeline_source({"a": DatasetGraph(node("Map", rate=math.nan, most=math.inf))})
    answer = create_app(source).server.test_client().get("/api/dataset.json?run=a")
    assert answer.json is not None
    assert answer.json["operations"][0]["parameters"] == {"rate": "NaN", "most": "Infinity"}


@pytest.mark.parametrize(
    ("query", "status"),
    [("run=nan_inf", 404), ("run=../lenet_landscape", 404), ("run=", 404), ("", 400), ("run=nan_inf&run=nan_inf", 400),
     ("run=lenet_landscape&path=/etc/passwd", 400)],
)  # fmt: skip
def test_what_is_not_there_is_refused(client: FlaskClient, query: str, status: int) -> None:
    answer = client.get(f"/api/dataset.json?{query}")
    assert answer.status_code == status
    assert answer.json is not None
    assert answer.json["error"]
