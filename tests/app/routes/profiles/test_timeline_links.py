"""The routes from names to slices, and from slices to what other pages have of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.store.store import Store
from tests.writers import chrome_traces

NAMED = {"run": "one", "session": "host_1_2_ascend_ms", "rank": "0"}


def client_of(base: Path) -> Iterator[FlaskClient]:
    store = Store([base], interval=0).start()
    assert store.wait(30)
    yield create_app(store).server.test_client()
    store.stop()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[FlaskClient]:
    folder = tmp_path / "one/host_1_2_ascend_ms/ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    (folder / "trace_view.json").write_text(chrome_traces.text())
    yield from client_of(tmp_path)


def get(client: FlaskClient, route: str, status: int = 200, **parameters: object) -> Any:
    answer = client.get(f"/api/timeline/{route}", query_string=NAMED | {key: str(value) for key, value in parameters.items()})
    assert answer.status_code == status, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.get_json()


def test_the_first_slice_of_a_name_and_the_nearest_to_a_time(client: FlaskClient) -> None:
    starts = sorted(one["at"] for one in chrome_traces.slices() if one["name"] == "MatMulV2")
    found = get(client, "first", name="MatMulV2")
    assert (found["start"], found["duration"], found["count"]) == (starts[0], 50_000, len(starts))
    assert get(client, "slice", row=found["row"], brief=1)["name"] == "MatMulV2"
    near = chrome_traces.FIRST_US * 1000 + starts[3] + 5
    assert get(client, "first", name="Default/net/MatMulV2-op3")["start"] == starts[0]
    assert get(client, "first", name="MatMulV2", near=near)["start"] == starts[3]
    assert get(client, "first", name="MatMulV2", near=5)["start"] == starts[0]  # another clock
    assert get(client, "first", name="nothing") == {"row": None, "count": 0}


@pytest.mark.parametrize("asked", [{}, {"name": ""}, {"name": "a", "near": "soon"}, {"name": "a", "what": 1}])
def test_what_cannot_be_looked_for_is_refused(client: FlaskClient, asked: dict[str, Any]) -> None:
    assert get(client, "first", 400, **asked)["error"]


def test_a_slice_that_no_page_knows(client: FlaskClient) -> None:
    assert get(client, "related", row=0) == {"operator": None, "node": None}
    assert get(client, "related", 400, row=10**6)["error"]


def test_operator_and_node_of_a_real_slice(tmp_path: Path, real_data: Path) -> None:
    shutil.copytree(real_data / "summary/lenet_momentum_lr0.01_b32", tmp_path / "one")
    (session,) = (real_data / "profiler/new_graph").glob("*_ascend_ms")
    shutil.copytree(session, tmp_path / "one" / session.name)
    full = "Gradients/Default/network-WithLossCell/_backbone-LeNet5/conv2-Conv2d/Grad_Conv2D/Conv2DBackpropFilter-op0"
    for client in client_of(tmp_path):
        row = get(client, "first", name=full, session=session.name)["row"]
        found = get(client, "related", row=row, session=session.name)
        assert found["operator"] == {"in": "full_name", "q": full, "core": "host_cpu"}
        assert found["node"]["graph"].startswith("events.out.events.summary")
        assert found["node"]["node"][0] == "n"
