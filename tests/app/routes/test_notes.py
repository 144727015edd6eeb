"""Routes that change remarks, tags and views: who may, what is refused, and what is answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app import create_app
from app.store.store import Store
from layouts.notes import Note


@pytest.fixture
def client(tmp_path: Path):
    (tmp_path / "runs/one").mkdir(parents=True)
    (tmp_path / "runs/one/x.summary.1.host").write_bytes(b"")
    (tmp_path / "notes").mkdir(mode=0o700)
    store = Store([tmp_path / "runs"], interval=0, notes_directory=str(tmp_path / "notes")).start()
    assert store.wait(30)
    yield create_app(store, token="t" * 43).server.test_client()
    store.stop()


TOKEN = {"Authorization": "Bearer " + "t" * 43}
CHANGES = [
    ("/api/note", {"run": "one", "remark": "x", "add": [":star"]}), ("/api/view", {"save": "n", "place": "scalars"}),
    ("/api/mark", {"save": "n", "run": "one", "times": [5]}),
]  # fmt: skip


@pytest.mark.parametrize(("path", "change"), CHANGES)
def test_others_change_nothing(client, tmp_path: Path, path: str, change: dict[str, object]) -> None:
    for headers in (
        {}, {"Authorization": "Bearer wrong"}, TOKEN | {"Origin": "http://evil.example"}, TOKEN | {"Origin": "null"},
        TOKEN | {"Host": "evil.example"}, TOKEN | {"Origin": "http://localhost:1"},
    ):  # fmt: skip
        assert client.post(path, json=change, headers=headers).status_code in (401, 403), headers
    for body in ({"data": json.dumps(change)}, {"data": change}, {"data": json.dumps(change), "content_type": "text/plain"}):
        assert client.post(path, headers=TOKEN, **body).status_code == 415
    assert client.get(path, headers=TOKEN).status_code in (404, 405)
    assert not (tmp_path / "notes" / "notes.jsonl").exists()
    based = change | ({"was": Note().version} if "remark" in change else {})
    assert client.post(path, json=based, headers=TOKEN | {"Origin": "http://localhost"}).json["done"] is True


@pytest.mark.parametrize("change", [
    [], {}, {"run": 1}, {"run": "one", "remark": 1}, {"run": "one", "add": "x"}, {"run": "one", "add": [1]},
    {"run": "one", "more": 1}, {"run": "one", "add": [":x"]}, {"run": "one", "remark": "x" * 10_001},
])  # fmt: skip
def test_malformed_changes_are_refused(client, change: object) -> None:
    answer = client.post("/api/note", json=change, headers=TOKEN)
    assert answer.status_code == 400
    assert answer.json["error"]


def test_a_change_that_is_no_utf8_is_refused(client) -> None:
    body = b'{"run": "one", "remark": "\xff"}'
    answer = client.post("/api/note", data=body, content_type="application/json", headers=TOKEN)
    assert answer.status_code == 400
    assert answer.json["error"]


@pytest.mark.parametrize("change", [
    {}, {"save": "n", "delete": "x"}, {"save": "", "place": "scalars"}, {"save": "n", "place": "javascript:alert(1)"},
    {"rename": "x", "name": ""}, {"save": 5},
])  # fmt: skip
def test_malformed_views_are_refused(client, change: object) -> None:
    assert client.post("/api/view", json=change, headers=TOKEN).status_code == 400


def test_a_change_is_answered_with_what_is_there_now(client) -> None:
    def post(path: str, **change: object) -> dict:
        return client.post(path, json=change, headers=TOKEN).json

    first = post("/api/note", run="one", remark="a", was=Note().version)
    assert post("/api/note", run="one", remark="b", was=Note().version) == {"done": False, "now": first["now"]}
    assert client.post("/api/note", json={"run": "nobody"}, headers=TOKEN).status_code == 404
    made = post("/api/view", save="n", place="scalars?run=one")["now"]
    assert post("/api/view", save="n", place="images") == {"done": False, "now": made}
    assert post("/api/view", rename=made["key"], name="m", was="old")["done"] is False
    renamed = post("/api/view", rename=made["key"], name="m", was=made["version"])["now"]
    assert post("/api/view", delete=made["key"], was=renamed["version"]) == {"done": True, "now": None}


def test_without_a_workspace_nothing_is_kept(make_app) -> None:
    answer = make_app().server.test_client().post("/api/note", json={"run": "a", "add": [":star"]})
    assert answer.status_code == 507
    assert "workspace" in answer.json["error"]


def test_marks_are_saved_listed_and_deleted(client) -> None:
    asked = {"save": "stall", "run": "one", "session": "p", "rank": 2, "times": [90, 20]}
    made = client.post("/api/mark", json=asked, headers=TOKEN).json
    assert made["done"]
    assert (made["now"]["name"], made["now"]["times"], made["now"]["rank"]) == ("stall", [20, 90], 2)
    other = client.post("/api/mark", json=asked | {"times": [1]}, headers=TOKEN).json
    assert (other["done"], other["now"]) == (False, made["now"])
    again = client.post("/api/mark", json=asked | {"times": [1], "instead": made["now"]["version"]}, headers=TOKEN).json
    assert again["done"]
    gone = client.post("/api/mark", json={"delete": made["now"]["key"], "was": again["now"]["version"]}, headers=TOKEN).json
    assert gone == {"done": True, "now": None}
    for wrong in ({}, {"save": "n", "delete": "k"}, asked | {"times": []}, asked | {"times": ["1"]}, asked | {"save": ""},
                  asked | {"rank": "0"}, asked | {"session": ""}, asked | {"rank": 10**30}, asked | {"rank": -1}):  # fmt: skip
        assert client.post("/api/mark", json=wrong, headers=TOKEN).status_code == 400, wrong
    assert client.post("/api/mark", json=asked | {"run": "none"}, headers=TOKEN).status_code == 404
