"""Routes of boards: who may change them, what a hostile file meets, export and import."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app import create_app

TOKEN = {"Authorization": "Bearer " + "t" * 43}
KEYS = [f"{number:016x}" for number in range(200)]
CARDS = [{"key": KEYS[0], "place": "scalars?run=one", "part": "key:loss", "w": 6}, {"key": KEYS[1], "text": "# 每日", "x": 6}]


def post(noting, change: object):
    return noting.post("/api/board", json=change, headers=TOKEN)


def made(noting, **more: object) -> dict:
    return post(noting, {"create": "Daily", "cards": CARDS} | more).json["now"]


def test_others_change_nothing(noting, tmp_path: Path) -> None:
    change = {"create": "x"}
    for headers in ({}, TOKEN | {"Origin": "http://evil.example"}, TOKEN | {"Host": "evil.example"}):
        assert noting.post("/api/board", json=change, headers=headers).status_code in (401, 403)
        foreign = {**headers, "Sec-Fetch-Site": "cross-site"}
        assert noting.get(f"/api/board.json?board={KEYS[0]}", headers=foreign).status_code in (401, 403)
    assert noting.post("/api/board", data=json.dumps(change), headers=TOKEN).status_code == 415
    assert not (tmp_path / "notes" / "notes.jsonl").exists()


def test_a_board_goes_out_as_a_file_and_comes_back(noting) -> None:
    board = made(noting)
    assert [card["key"] for card in board["cards"]] == KEYS[:2]
    assert noting.get(f"/api/board.json?board={board['key']}", headers=TOKEN).json == board
    answer = noting.get(f"/api/board.json?board={board['key']}&download=1", headers=TOKEN)
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="Daily.board.json"')
    back = post(noting, {"import": json.loads(answer.data)}).json["now"]
    assert back["name"] == "Daily (2)"
    own = ("key", "version")
    assert [{k: v for k, v in card.items() if k not in own} for card in back["cards"]] == [
        {k: v for k, v in card.items() if k not in own} for card in board["cards"]]  # fmt: skip
    assert {card["key"] for card in back["cards"]}.isdisjoint(KEYS)


def test_changes_and_what_they_override(noting) -> None:
    board = made(noting)
    was = board["cards"][1]["version"]
    for text, overridden in (("theirs", []), ("mine", ["theirs"])):
        answer = post(noting, {"board": board["key"], "change": [{"key": KEYS[1], "text": text, "was": was}]}).json
        assert [card["text"] for card in answer["overridden"]] == overridden
    added = post(noting, {"board": board["key"], "change": [{"key": KEYS[2], "place": "graph", "w": 5, "h": 9}]}).json["now"]
    assert [(card["x"], card["y"]) for card in added["cards"]] == [(0, 0), (6, 0), (0, 7)]
    gone = post(noting, {"board": board["key"], "remove": [KEYS[0]], "name": "Weekly"}).json["now"]
    assert (gone["name"], len(gone["cards"])) == ("Weekly", 2)


def test_a_deleted_board_is_told_of_and_can_be_restored(noting) -> None:
    board = made(noting)
    deleted = post(noting, {"delete": board["key"]}).json
    assert (deleted["done"], deleted["now"]) == (True, board)
    assert post(noting, {"board": board["key"], "name": "x"}).json == {"done": False, "now": None, "overridden": []}
    assert noting.get(f"/api/board.json?board={board['key']}", headers=TOKEN).status_code == 404
    assert made(noting, key=board["key"]) == board


FILE = {"format": "mindscope board", "version": 1, "name": "x", "cards": []}


@pytest.mark.parametrize("content", [
    None, [], "x", {}, FILE | {"format": "grafana"}, FILE | {"version": 2}, FILE | {"version": 1.5}, FILE | {"name": ""},
    FILE | {"name": None}, FILE | {"cards": {}}, FILE | {"cards": [1]}, FILE | {"cards": [{"more": 1}]},
    FILE | {"cards": [{"x": 10**40}]}, FILE | {"cards": [{"x": 0.5}]}, FILE | {"cards": [{"w": 13}]},
    FILE | {"cards": [{}] * 101},
    FILE | {"cards": [{"place": "http://evil.example"}]}, FILE | {"cards": [{"place": "//evil.example"}]},
    FILE | {"cards": [{"place": "javascript:alert(1)"}]}, FILE | {"cards": [{"place": "../x"}]},
    FILE | {"cards": [{"place": "board?board=x"}]}, FILE | {"cards": [{"place": "scalars?x=<b>"}]},
    FILE | {"cards": [{"text": "x" * 20_001}]}, FILE | {"cards": [{"text": "x" * 20_000}] * 51},
])  # fmt: skip
def test_hostile_files_are_refused_with_a_reason(refusing, content: object) -> None:
    answer = post(refusing, {"import": content})
    assert answer.status_code == 400
    assert answer.json["error"]


@pytest.mark.parametrize("body", [
    b"", b"{", b"[" * 200_000, b'{"import":' + b"[" * 200_000, b'{"create":"x","delete":"y"}', b'{"board":"x"}', b"{}",
    b'{"create":"\xff"}', b'{"create":"x","key":"../../x"}', b'{"create":"x","cards":[{"key":"x"}]}',
    b'{"create":"x","more":1}',
])  # fmt: skip
def test_malformed_requests_are_refused(refusing, body: bytes) -> None:
    answer = refusing.post("/api/board", data=body, headers=TOKEN, content_type="application/json")
    assert answer.status_code == 400 or answer.json["done"] is False


def test_text_is_kept_as_text(noting) -> None:
    text = "<script>alert(1)</script>\n[x](javascript:alert(1))"
    board = post(noting, {"import": FILE | {"cards": [{"text": text}]}}).json["now"]
    assert board["cards"][0]["text"] == text


def test_without_a_workspace_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    app = create_app(tmp_path / "runs")
    answer = app.server.test_client().post("/api/board", json={"create": "x"})
    assert (answer.status_code, "workspace" in answer.json["error"]) == (507, True)
    app.source.stop()
