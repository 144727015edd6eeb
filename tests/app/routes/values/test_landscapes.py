"""Loss landscapes over the plain route, read back with numpy."""

from __future__ import annotations

import io
from collections.abc import Iterator

import numpy as np
import pytest
from flask.testing import FlaskClient

from app import create_app
from app.store.store import Store
from parsers import open_run
from parsers.recording.wire import delimited, record
from tests.recorded import RECORDED

RUN = RECORDED / "lenet_landscape"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    base = tmp_path_factory.mktemp("runs")
    (base / "lenet_landscape").symlink_to(RUN)
    (base / "cut").mkdir()
    content = delimited(5, delimited(1, delimited(1, b"landscape_[1]") + delimited(10, delimited(1, b"\xff"))))
    (base / "cut" / "events.out.events.summary.1700000000.0.vm_MS").write_bytes(record(content))
    store = Store([base], interval=0).start()
    assert store.wait(30)
    yield create_app(store).server.test_client()
    store.stop()


def get(client: FlaskClient, **query: str):
    return client.get("/api/landscape.npz", query_string=query)


@pytest.mark.parametrize("tag", ["landscape_[1, 5]", "landscape_[6, 12]", "landscape_[12]"])
def test_the_arrays_are_those_recorded(client: FlaskClient, tag: str) -> None:
    answer = get(client, run="lenet_landscape", tag=tag)
    assert answer.status_code == 200
    value = open_run(RUN).landscape(tag, 0)
    with np.load(io.BytesIO(answer.data), allow_pickle=False) as arrays:
        for name in ("x", "y", "z", "intervals", "path_x", "path_y", "path_z"):
            np.testing.assert_array_equal(arrays[name], getattr(value, name))
        assert tuple(arrays["convergence"]) == value.convergence
        assert str(arrays["unit"]) == value.unit
    assert "lenet_landscape_landscape_" in answer.headers["Content-Disposition"]


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ({"run": "lenet_landscape", "tag": "no"}, 404, "has no landscape 'no'"),
        ({"run": "../..", "tag": "landscape_[12]"}, 404, "no such run"),
        ({"run": "lenet_landscape", "tag": "landscape_[12]", "step": "7"}, 404, "step 7 does not exist"),
        ({"run": "cut", "tag": "landscape_[1]"}, 422, "record at byte 0"),
    ],
)
def test_what_is_not_there_is_refused(client: FlaskClient, query: dict[str, str], status: int, said: str) -> None:
    answer = get(client, **query)
    assert answer.status_code == status
    assert said in answer.json["error"]
