"""Routes that change remarks, tags and views: who may, what is refused, and what is answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from layouts.dumps.watchpoints import WatchList
from layouts.runs.checks import StepCheck
from layouts.runs.notes import Note

TOKEN = {"Authorization": "Bearer " + "t" * 43}
CHANGES = [
    ("/api/note", {"run": "one", "remark": "x", "add": [":star"]}), ("/api/view", {"save": "n", "place": "scalars"}),
    ("/api/mark", {"save": "n", "run": "one", "times": [5]}),
    ("/api/colour", {"colour": "#2e9ac8", "run": "one"}),
    ("/api/check", {"run": "one", "step": "a.b", "done": True, "was": StepCheck().version}),
    ("/api/watchpoints", {"run": "one", "watchpoints": [{"condition": "tensor_overflow"}], "was": WatchList().version}),
]  # fmt: skip


@pytest.mark.parametrize(("path", "change"), CHANGES)
def test_others_change_nothing(noting, tmp_path: Path, path: str, change: dict[str, object]) -> None:
    for headers in (
        {}, {"Authorization": "Bearer wrong"}, TOKEN | {"Origin": "http://evil.example"}, TOKEN | {"Origin": "null"},
        TOKEN | {"Host": "evil.example"}, TOKEN | {"Origin": "http://localhost:1"},
    ):  # fmt: skip
        assert noting.post(path, json=change, headers=headers).status_code in (401, 403), headers
    for body in ({"data": json.dumps(change)}, {"data": change}, {"data": json.dumps(change), "content_type": "text/plain"}):
        assert noting.post(path, headers=TOKEN, **body).status_code == 415
    assert noting.get(path, headers=TOKEN).status_code in (404, 405)
    assert not (tmp_path / "notes" / "notes.jsonl").exists()
    based = change | ({"was": Note().version} if "remark" in change else {})
    assert noting.post(path, json=based, headers=TOKEN | {"Origin": "http://localhost"}).json["done"] is True


@pytest.mark.parametrize("change", [
    [], {}, {"run": 1}, {"run": "one", "remark": 1}, {"run": "one", "add": "x"}, {"run": "one", "add": [1]},
    {"run": "one", "more": 1}, {"run": "one", "add": [":x"]}, {"run": "one", "remark": "x" * 10_001},
])  # fmt: skip
def test_malformed_changes_are_refused(refusing, change: object) -> None:
    answer = refusing.post("/api/note", json=change, headers=TOKEN)
    assert answer.status_code == 400
    assert answer.json["error"]


def test_a_change_that_is_no_utf8_is_refused(refusing) -> None:
    body = b'{"run": "one", "remark": "\xff"}'
    answer = refusing.post("/api/note", data=body, content_type="application/json", headers=TOKEN)
    assert answer.status_code == 400
    assert answer.json["error"]


@pytest.mark.parametrize("change", [
    {}, {"save": "n", "delete": "x"}, {"save": "", "place": "scalars"}, {"save": "n", "place": "javascript:alert(1)"},
    {"rename": "x", "name": ""}, {"save": 5},
])  # fmt: skip
def test_malformed_views_are_refused(refusing, change: object) -> None:
    assert refusing.post("/api/view", json=change, headers=TOKEN).status_code == 400


def test_a_change_is_answered_with_what_is_there_now(noting) -> None:
    def post(path: str, **change: object) -> dict:
        return noting.post(path, json=change, headers=TOKEN).json

    first = post("/api/note", run="one", remark="a", was=Note().version)
    assert post("/api/note", run="one", remark="b", was=Note().version) == {"done": False, "now": first["now"]}
    assert noting.post("/api/note", json={"run": "nobody"}, headers=TOKEN).status_code == 404
    made = post("/api/view", save="n", place="scalars?run=one")["now"]
    assert post("/api/view", save="n", place="images") == {"done": False, "now": made}
    assert post("/api/view", rename=made["key"], name="m", was="old")["done"] is False
    renamed = post("/api/view", rename=made["key"], name="m", was=made["version"])["now"]
    assert post("/api/view", delete=made["key"], was=renamed["version"]) == {"done": True, "now": None}


def test_without_a_workspace_nothing_is_kept(make_app) -> None:
    answer = make_app().server.test_client().post("/api/note", json={"run": "a", "add": [":star"]})
    assert answer.status_code == 507
    assert "workspace" in answer.json["error"]


def test_marks_are_saved_listed_and_deleted(noting) -> None:
    asked = {"save": "stall", "run": "one", "session": "p", "rank": 2, "times": [90, 20]}
    made = noting.post("/api/mark", json=asked, headers=TOKEN).json
    assert made["done"]
    assert (made["now"]["name"], made["now"]["times"], made["now"]["rank"]) == ("stall", [20, 90], 2)
    other = noting.post("/api/mark", json=asked | {"times": [1]}, headers=TOKEN).json
    assert (other["done"], other["now"]) == (False, made["now"])
    again = noting.post("/api/mark", json=asked | {"times": [1], "instead": made["now"]["version"]}, headers=TOKEN).json
    assert again["done"]
    gone = noting.post("/api/mark", json={"delete": made["now"]["key"], "was": again["now"]["version"]}, headers=TOKEN).json
    assert gone == {"done": True, "now": None}
    for wrong in ({}, {"save": "n", "delete": "k"}, asked | {"times": []}, asked | {"times": ["1"]}, asked | {"save": ""},
                  asked | {"rank": "0"}, asked | {"session": ""}, asked | {"rank": 10**30}, asked | {"rank": -1}):  # fmt: skip
        assert noting.post("/api/mark", json=wrong, headers=TOKEN).status_code == 400, wrong
    assert noting.post("/api/mark", json=asked | {"run": "none"}, headers=TOKEN).status_code == 404


def test_colours_are_set_made_readable_and_reset(noting) -> None:
    asked = {"run": "one", "colour": "#2E9AC8"}
    assert noting.post("/api/colour", json=asked, headers=TOKEN).json["now"]["colour"] == "#2e9ac8"
    assert noting.post("/api/colour", json=asked | {"colour": "#000000"}, headers=TOKEN).json["now"]["colour"] != "#000000"
    assert noting.post("/api/colour", json=asked | {"colour": ""}, headers=TOKEN).json["now"]["colour"] == ""
    group = {"by": "column:lr", "label": "", "colour": "#2e9ac8"}
    assert noting.post("/api/colour", json=group, headers=TOKEN).json["done"]
    for wrong in ({}, {"colour": "#2e9ac8"}, asked | {"by": "job"}, asked | {"colour": "red"}, asked | {"colour": "#12345"},
                  group | {"by": ""}, group | {"label": "x" * 5000}, asked | {"colour": 5}):  # fmt: skip
        assert noting.post("/api/colour", json=wrong, headers=TOKEN).status_code == 400, wrong
    assert noting.post("/api/colour", json=asked | {"run": "none"}, headers=TOKEN).status_code == 404


def test_watchpoints_are_saved_replaced_and_deleted(noting) -> None:
    large = {"condition": "tensor_too_large", "limits": {"max_gt": 1e-9}, "names": ["b", "a"], "by": "nodes", "said": "Default"}
    asked = {"run": "one", "watchpoints": [large], "was": WatchList().version}
    made = noting.post("/api/watchpoints", json=asked, headers=TOKEN).json
    assert made["done"]
    assert made["now"]["watchpoints"] == [large | {"names": ["a", "b"], "pattern": "", "enabled": True}]
    other = asked | {"watchpoints": [{"condition": "tensor_overflow", "pattern": "Mat.ul", "enabled": False, "by": "pattern"}]}
    stale = noting.post("/api/watchpoints", json=other, headers=TOKEN).json
    assert (stale["done"], stale["now"]) == (False, made["now"])
    again = noting.post("/api/watchpoints", json=other | {"was": made["now"]["version"]}, headers=TOKEN).json
    assert (again["done"], [one["pattern"] for one in again["now"]["watchpoints"]]) == (True, ["Mat.ul"])
    none = {"run": "one", "watchpoints": [], "was": again["now"]["version"]}
    gone = noting.post("/api/watchpoints", json=none, headers=TOKEN)
    assert gone.json == {"done": True, "now": {"watchpoints": [], "version": WatchList().version}}
    assert noting.post("/api/watchpoints", json=asked | {"run": "none"}, headers=TOKEN).status_code == 404


@pytest.mark.parametrize("wrong", [
    {"condition": "none"}, {"condition": "tensor_too_large"}, {"condition": "tensor_overflow", "limits": {"max_gt": 1}},
    {"condition": "tensor_too_large", "limits": {"max_gt": "1"}}, {"condition": "tensor_overflow", "pattern": "("},
    {"condition": "tensor_overflow", "pattern": "x" * 1001}, {"condition": "tensor_overflow", "pattern": "(" * 900},
    {"condition": "tensor_overflow", "names": [""]}, {"condition": "tensor_overflow", "names": ["a\u202eb"]},
    {"condition": "tensor_overflow", "names": ["x" * 4001]}, {"condition": "tensor_overflow", "by": "magic"},
    {"condition": "tensor_overflow", "said": "\u0007"}, {"condition": "tensor_overflow", "more": 1},
])  # fmt: skip
def test_watchpoints_that_none_can_be_are_refused(refusing, wrong: dict[str, object]) -> None:
    asked = {"run": "one", "watchpoints": [wrong], "was": WatchList().version}
    answer = refusing.post("/api/watchpoints", json=asked, headers=TOKEN)
    assert (answer.status_code, bool(answer.json["error"])) == (400, True)


def test_too_many_watchpoints_are_refused(refusing) -> None:
    many = [{"condition": "tensor_overflow"}] * 101
    named = [{"condition": "tensor_overflow", "names": [f"n{number}" for number in range(60_000)]}] * 2
    for watchpoints in (many, named):
        asked = {"run": "one", "watchpoints": watchpoints, "was": WatchList().version}
        answer = refusing.post("/api/watchpoints", json=asked, headers=TOKEN)
        assert (answer.status_code, "at most" in answer.json["error"]) == (400, True)


def test_ticks_of_guides_are_kept_and_a_change_meanwhile_is_answered(noting) -> None:
    asked = {"run": "one", "step": "not_a_number.labels", "done": True, "remark": "all in 0 to 9", "was": StepCheck().version}
    made = noting.post("/api/check", json=asked, headers=TOKEN).json
    assert made["done"] is True
    assert made["now"] == {"done": True, "remark": "all in 0 to 9", "version": StepCheck(True, "all in 0 to 9").version}
    stale = noting.post("/api/check", json=asked | {"remark": "other"}, headers=TOKEN).json
    assert (stale["done"], stale["now"]) == (False, made["now"])
    for wrong in ({"step": "x"}, {"remark": "x" * 2_001}, {"done": 1}, {"more": 1}):
        assert noting.post("/api/check", json=asked | wrong, headers=TOKEN).status_code == 400
    assert noting.post("/api/check", json=asked | {"run": "nobody"}, headers=TOKEN).status_code == 404
