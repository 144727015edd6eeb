"""The selected operator of live training: what is fetched is asked for, and shown once it has come."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest

from app.store.store import Store
from app.web.server import create_app
from layouts.dumps.debugger import selected
from tests.app.live.conftest import Served, served

__all__ = ["served"]
KEY = "live:1"


@pytest.fixture
def source(tmp_path: Any, served: Served) -> Any:
    store = Store([tmp_path], interval=0, sessions=served.sessions).start()
    yield store
    store.stop()


def ask(source: Any, step: int, node: str, **more: Any) -> dict[str, list[str]]:
    plain = {"of": KEY, "rank": 0, "step": step, "node": node, "mark": source.dumps.open(KEY).mark, **more}
    return {key: [str(value)] for key, value in plain.items()}


def test_values_come_after_they_were_asked_for(source: Any, served: Served) -> None:
    training = served.training(steps=4)
    served.reaches("waiting", step=0)
    served.order("continue", steps=2)
    served.reaches("waiting", step=2)
    operator = next(one for one in training.net.operators if training.values[one.name].ndim == 2)
    client = create_app(source).server.test_client()
    wanted = training.values[operator.name].astype(np.float64)

    def output() -> dict[str, Any]:
        answer = selected.tensors(source, ask(source, 2, operator.name))
        return next(one for one in answer["tensors"] if one["io"] == "output")

    def about() -> dict[str, Any]:
        query = {"run": KEY, "row": output()["row"], "mark": source.dumps.open(KEY).mark}
        found: dict[str, Any] = client.get("/api/dump-about", query_string=query).json
        return found

    first = output()
    assert first["status"] in ("unfetched", "values")
    assert first["status"] == "values" or "asked for" in first["problem"]
    served.until(lambda: output()["status"] == "values" and output()["statistics"])
    found = output()
    assert found["shape"] == "x".join(map(str, wanted.shape))
    assert float(found["statistics"]["max"][1]) == pytest.approx(wanted.max())
    served.until(lambda: not about()["problem"] or "does not" in about()["problem"])
    assert about()["shape"] == list(wanted.shape)
    answer = selected.histogram(source, ask(source, 2, operator.name, row=found["row"]))
    counts = answer["figure"]["data"][0]["y"]
    assert np.frombuffer(base64.b64decode(counts["bdata"]), f"<{counts['dtype']}").sum() == wanted.size
