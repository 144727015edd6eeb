"""No callback request, however malformed, is answered with 500 or a traceback."""

from __future__ import annotations

import copy
import json
import random

import pytest

ONE = {
    "output": "one.children",
    "outputs": {"id": "one", "property": "children"},
    "inputs": [{"id": "number", "property": "value", "value": 3}],
    "changedPropIds": ["number.value"],
    "parsedChangedPropsIds": ["number"],
    "state": [{"id": "text", "property": "value", "value": "x"}],
}


def pattern(part: str, key: str) -> dict[str, str]:
    return {"ms": "ms", "page": "runs", "part": part, "key": key}


def as_text(identifier: dict[str, str]) -> str:
    return json.dumps(identifier, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


CARD = {
    "output": '{"key":["MATCH"],"ms":"ms","page":"runs","part":"card"}.children',
    "outputs": {"id": pattern("card", "训练"), "property": "children"},
    "inputs": [{"id": pattern("card", "训练"), "property": "n", "value": 2}],
    "changedPropIds": [as_text(pattern("card", "训练")) + ".n"],
    "state": [[{"id": pattern("all", "x"), "property": "v", "value": 1}, {"id": pattern("all", "y"), "property": "v"}]],
}
EVERY = {
    "output": '{"key":["ALL"],"ms":"ms","page":"runs","part":"all"}.children',
    "outputs": [{"id": pattern("all", "x"), "property": "children"}],
    "inputs": [[{"id": pattern("all", "x"), "property": "v", "value": 1}]],
    "changedPropIds": [],
}
GOOD = (ONE, CARD, EVERY)


def changed(body: dict, path: tuple, value: object) -> dict:
    """A copy with the value at a path of keys replaced, or removed for Ellipsis."""
    body = copy.deepcopy(body)
    place = body
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return body


@pytest.fixture
def client(shared_client):
    return shared_client()


@pytest.fixture
def post(client):
    return lambda body: client.post("/_dash-update-component", json=body)


@pytest.mark.parametrize("body", GOOD, ids=["plain", "match", "all"])
def test_what_pages_send_is_answered(post, body) -> None:
    answer = post(body)
    assert answer.status_code == 200
    assert answer.json["response"]


@pytest.mark.parametrize(
    ("body", "path", "value"),
    [
        (ONE, ("output",), "two.children"), (ONE, ("output",), ""), (ONE, ("output",), 5), (ONE, ("output",), ...),
        (ONE, ("outputs",), ...), (ONE, ("outputs",), []), (ONE, ("outputs", "id"), "other"),
        (ONE, ("outputs", "property"), "style"), (ONE, ("outputs",), [{"id": "one", "property": "children"}]),
        (ONE, ("inputs",), []), (ONE, ("inputs",), ...), (ONE, ("inputs",), "x"), (ONE, ("inputs",), {}),
        (ONE, ("inputs", 0, "id"), "one"), (ONE, ("inputs", 0, "id"), {"part": "number"}), (ONE, ("inputs", 0, "id"), None),
        (ONE, ("inputs", 0, "property"), "n"), (ONE, ("inputs", 0, "property"), None),
        (ONE, ("inputs", 0), [{"id": "number", "property": "value"}]), (ONE, ("inputs", 0), None),
        (ONE, ("state",), []), (ONE, ("state",), ...), (ONE, ("state", 0, "id"), "one"),
        (ONE, ("changedPropIds",), ["one.children"]), (ONE, ("changedPropIds",), ["{broken.value"]),
        (ONE, ("changedPropIds",), [5]), (ONE, ("changedPropIds",), "number.value"), (ONE, ("changedPropIds",), None),
        (CARD, ("inputs", 0, "id", "key"), "other"), (CARD, ("inputs", 0, "id", "part"), "all"),
        (CARD, ("inputs", 0, "id", "ms"), ["ms"]), (CARD, ("inputs", 0, "id", "more"), 1),
        (CARD, ("inputs", 0, "id", "key"), ...),
        (CARD, ("inputs", 0, "id", "key"), {"a": 1}), (CARD, ("inputs", 0, "id"), "card"), (CARD, ("state", 0), {}),
        (CARD, ("state", 0, 0, "id", "part"), "card"), (CARD, ("outputs", "id", "key"), "other"),
        (CARD, ("outputs", "id", "key"), ["MATCH"]), (CARD, ("state",), ...),
        (EVERY, ("outputs",), []), (EVERY, ("outputs",), {"id": pattern("all", "x"), "property": "children"}),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(post, body, path, value) -> None:
    answer = post(changed(body, path, value))
    assert answer.status_code == 400
    assert answer.json["error"]


@pytest.mark.parametrize("body", [
    b"", b"null", b"[]", b"{", b"5", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"output": NaN}', b'{"output": "\\ud800"}',
    b'{"output": "\xff"}',
])  # fmt: skip
def test_what_is_no_request_is_refused(client, body) -> None:
    answer = client.post("/_dash-update-component", data=body, content_type="application/json")
    assert answer.status_code == 400


def test_other_content_types_are_refused(client) -> None:
    answer = client.post("/_dash-update-component", data=json.dumps(ONE), content_type="text/plain")
    assert answer.status_code == 400


def test_bad_values_are_refused_by_the_callback(post) -> None:
    answer = post(changed(ONE, ("inputs", 0, "value"), {"not": "a number"}))
    assert (answer.status_code, answer.json) == (400, {"error": "number: wanted a number"})


def test_no_traceback_reaches_the_client(post, caplog) -> None:
    body = changed(changed(ONE, ("output",), "broken.children"), ("outputs", "id"), "broken")
    answer = post(changed(body, ("state",), []))
    assert answer.status_code == 500
    for text in ("Traceback", "secret", "RuntimeError", ".py"):
        assert text not in answer.text
    assert "secret-detail" in caplog.text


def test_a_result_that_cannot_be_sent_is_our_fault(post, caplog) -> None:
    body = changed(changed(changed(ONE, ("output",), "odd.children"), ("outputs", "id"), "odd"), ("state",), [])
    answer = post(body)
    assert (answer.status_code, answer.json) == (500, {"error": "internal error; the log has the details"})
    assert "InvalidCallbackReturnValue" in caplog.text


def test_a_result_of_the_wrong_length_is_whose_fault_it_is(post, caplog) -> None:
    body = changed(EVERY, ("output",), EVERY["output"].replace("children", "title"))
    body = changed(body, ("outputs", 0, "property"), "title")
    answer = post(body)
    assert (answer.status_code, answer.json) == (500, {"error": "internal error; the log has the details"})
    assert "InvalidCallbackReturnValue" in caplog.text
    caplog.clear()
    answer = post(changed(body, ("outputs",), body["outputs"] * 2))
    assert answer.status_code == 400
    assert answer.json == {"error": "outputs: expected those that belong to the inputs, found others"}
    assert "InvalidCallbackReturnValue" in caplog.text


VALUES = (
    None, True, 0, -1, 1e308, "", "x" * 10_000, "\0", [], [[]], {}, {"a": 1}, ["MATCH"], "..", "{", "}.", ".", {"id": "number"},
)  # fmt: skip


def places(value: object, path: tuple = ()) -> list[tuple]:
    """All paths into nested lists and dicts."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [p for key, item in items for p in ((*path, key), *places(item, (*path, key)))]


@pytest.mark.parametrize("body", GOOD, ids=["plain", "match", "all"])
def test_every_place_with_every_wrong_value(post, body) -> None:
    for path in places(body):
        for value in (*VALUES, ...):
            answer = post(changed(body, path, value))
            assert answer.status_code in (200, 400), (path, value, answer.text)
            assert "Traceback" not in answer.text


def test_many_things_wrong_at_once(post) -> None:
    chance = random.Random(7)
    for _ in range(400):
        body = copy.deepcopy(chance.choice(GOOD))
        for _ in range(chance.randint(1, 4)):
            try:
                body = changed(body, chance.choice(places(body)), chance.choice((*VALUES, ...)))
            except (TypeError, KeyError, IndexError):
                continue
        assert post(body).status_code in (200, 400), body


@pytest.mark.parametrize("number", [1 << 63, -(1 << 63) - 1, 10**400, -(10**25)])
@pytest.mark.parametrize("wrap", [lambda n: n, lambda n: {"step": [1, {"deep": n}]}])
def test_numbers_that_no_array_takes_are_refused(post, number, wrap) -> None:
    answer = post(changed(ONE, ("inputs", 0, "value"), wrap(number)))
    assert answer.status_code == 400
    assert f"found one of {number.bit_length()} bits" in answer.json["error"]


@pytest.mark.parametrize("number", [(1 << 63) - 1, -(1 << 63)])
def test_the_largest_numbers_pass(post, number) -> None:
    assert post(changed(ONE, ("inputs", 0, "value"), number)).status_code == 200
