"""Every callback of every page, through the server, with values no page sends: 200, 204 or 4xx, and never a traceback."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from app.store.store import Store
from app.web.server import Application, create_app
from tests.amounts import ALL_EXAMPLES, some_or_every
from tests.recorded import RECORDED

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 3, 1e300, -0.5, "", "x", "\0", "../../etc/passwd", "<b>", "=1+1", "9" * 400, "é" * 5000, [], [[]],
    [None], ["x"], [1, "x", None], {}, {"x": 1}, {"": None}, {"run": "x"}, {"run": [1]}, {"run": ["x"]}, {"run": [["x"]]},
    {"xaxis.range[0]": "x", "xaxis.range[1]": None}, {"points": 5}, [{"x": 1}], [[1, 2], [3, "x"]],
)  # fmt: skip
ASKS = 2 * ALL_EXAMPLES
"""Requests with random values for each callback."""
# What pages really ask, so that a value that is wrong is met beyond the first look.
ASK = {
    "tag": ["loss", "acc", "训练", "../x"], "right": ["loss", "lr"],
    "run": ["*", "nan_inf", "lenet_landscape", "many_tags", "ranks/rank_0", "?"],
    "x": ["step", "relative", "absolute", "tag:loss", "tag:", "tag:?", "x"],
    "smooth": ["0.6", "0", "0.99", "1", "nan", "-1", "1e400"],
    "log": ["0", "1", "2"], "threshold": [">1", "<1.5", ">1 or <0", ">nan", ">1e400", "x", "<" * 99, "> 1 and < 1"],
    "view": ["0,10,,", ",,0,1", "0,1e308,-1e308,1e308", "1,0,,", "nan,1,,", "5,5,1,1", ",", "1e-320,2e-320,,", "9e18,9.2e18,,"],
    "columns": ["50", "8000", "9", "1e9", "nan", "100.5"], "zone": ["0", "-840", "1e9", "inf"],
    "graph": ["events.out.events.summary.1795218276.0.vm_MS", "?"], "simple": ["0", "1", "2"], "open": ["s:Default", "", "k:x"],
    "page": ["0:", "300:s:Default", "x"], "hide": ["parameter", "constant", "x"], "node": ["n3", "s:Default", "n99999999"],
    "q": ["relu", "type:Conv2D", "[", "kind:x"], "regex": ["1"], "form": ["svg", "all.json", "x"], "theme": ["dark", "blue"],
    "every": ["1"], "pan": ["1", "x"],
}  # fmt: skip


@pytest.fixture(scope="module")
def application() -> Iterator[Application]:
    store = Store([RECORDED], interval=0).start()
    store.wait(30)
    yield create_app(store)
    store.stop()


def requests_of(application: Application) -> Iterator[dict[str, Any]]:
    """A request for each callback that has a server side, with concrete ids and no values."""
    for output, callback in application.callbacks.items():
        if callback.get("callback") is None:
            continue
        wanted = callback["output"]
        outputs = [_dependency(o.component_id_str(), o.component_property) for o in (wanted if _several(wanted) else [wanted])]
        yield {
            "output": output, "outputs": outputs if _several(wanted) else outputs[0], "changedPropIds": [],
            "inputs": [_dependency(d["id"], d["property"]) for d in callback["inputs"]],
            "state": [_dependency(d["id"], d["property"]) for d in callback["state"]],
        }  # fmt: skip


def _several(outputs: Any) -> bool:
    return isinstance(outputs, (list, tuple))


def _dependency(identifier: str, name: str) -> Any:
    if not identifier.startswith("{"):
        return {"id": identifier, "property": name}
    pattern = json.loads(identifier)
    concrete = {key: "loss" if isinstance(part, list) else part for key, part in pattern.items()}
    value = {"id": concrete, "property": name}
    return [value] if ["ALL"] in pattern.values() else value


def values_of(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The places of a request that hold values."""
    found = []
    for value in (*request["inputs"], *request["state"]):
        found += value if isinstance(value, list) else [value]
    return found


def an_ask(chance: random.Random) -> Any:
    """What a page may ask, with something wrong now and then."""
    ask: dict[str, Any] = {key: chance.sample(texts, 1) for key, texts in ASK.items() if chance.random() < 0.5}
    if chance.random() < 0.2:
        ask[chance.choice(list(ASK))] = chance.choice(VALUES)
    return chance.choice((ask, ask, [ask], json.dumps(list(ask)), {"expression": ask}))


def test_there_are_callbacks_to_test(application) -> None:
    assert len(list(requests_of(application))) >= 4


@some_or_every
@pytest.mark.parametrize("part", range(4))  # parts, so that several processes share the work
def test_wrong_values(application, part, every) -> None:
    """Every value in every place; in `make test` a place has a sixteenth of the values, a callback a sixteenth of the asks."""
    client = application.server.test_client()
    chance = random.Random(11 + part)
    answered = Counter[int]()
    for request in list(requests_of(application))[part::4]:
        bodies = [request]
        for place in range(len(values_of(request))):
            for value in VALUES if every else VALUES[place % 16 :: 16]:
                body = copy.deepcopy(request)
                values_of(body)[place]["value"] = value
                bodies.append(body)
        for _ in range(ASKS if every else ASKS // 16):
            body = copy.deepcopy(request)
            for value in values_of(body):
                value["value"] = an_ask(chance) if chance.random() < 0.8 else chance.choice(VALUES)
            bodies.append(body)
        for body in bodies:
            answer = client.post("/_dash-update-component", json=body)
            answered[answer.status_code] += 1
            assert answer.status_code in (200, 204, 400), (json.dumps(body)[:2000], answer.text)
            assert "Traceback" not in answer.text
    assert answered[200] > 25
    assert answered[400] > 25
