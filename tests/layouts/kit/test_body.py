"""The body that pages of several subjects have: stores, states, progress, damage, and what the browser is answered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dash import Dash, html

from layouts.kit import i18n
from layouts.kit.body import MOST_PROBLEMS, BodySubject, damage, frame, listed_damage, register_frame, state, status_line
from layouts.kit.body import unlisted_states as unlisted
from layouts.kit.i18n import define_texts
from layouts.kit.links import page_link
from layouts.kit.page import Ids
from layouts.kit.page_parts import progress, worked
from layouts.kit.state import BadInput, whole
from layouts.kit.work import WorkResult
from parsers import Problem

WRITTEN: dict[str, tuple[str, str] | str] = {
    "pebbles.controls": ("Choice of pebbles", "选择卵石"), "pebbles.none": ("No pebbles.", "没有卵石。"),
    "pebbles.unknown": ("No beach has this name:", "没有这个名称的海滩："),
    "pebbles.nothing": ("An empty beach.", "空海滩。"),
    "pebbles.nothing_hint": ("The tide took them.", "被潮水带走。"), "pebbles.failed": ("The beach is closed.", "海滩已关闭。"),
    "pebbles.progress": "common.progress", "pebbles.again": "common.continue",
}  # fmt: skip
TEXTS = {key: (text, text) if isinstance(text, str) else text for key, text in WRITTEN.items()}
PEBBLES = BodySubject("pebbles", "ms-pebbles", "scalar", TEXTS, stores=("bucket",))
IDS = Ids("beach", "x")
ASSETS = Path(__file__).resolve().parents[3] / "assets"


@pytest.fixture(scope="module", autouse=True)
def defined_texts() -> Iterator[None]:
    """The texts of a subject that no page has, as long as these tests run."""
    define_texts(WRITTEN)
    yield
    for key in WRITTEN:
        i18n._texts.pop(key)
        i18n._references.pop(key, None)


def page(subject: BodySubject = PEBBLES, **more: Any) -> html.Div:
    return frame(subject, IDS, "/r/", [html.P("own")], data={"keys": "a b"}, **more)


def named(component: Any, name: str) -> list[Any]:
    """The components below one, and itself, that have this class."""
    found = [component] if name in str(getattr(component, "className", "")).split() else []
    children = getattr(component, "children", None)
    for child in children if isinstance(children, list) else [children]:
        if child is not None and not isinstance(child, str):
            found += named(child, name)
    return found


def test_the_frame_shows_nothing_of_the_page_before_the_browser_has_chosen() -> None:
    made = page(class_name="ms-beach", texts=["body.stop"])
    assert (made.id, made.className) == ("x-beach-root", "ms-body ms-pebbles ms-beach")
    stores = [one.id for one in made.children if type(one).__name__ == "Store"]
    assert stores == [f"x-beach-{part}" for part in ("chosen", "catalogue", "digest", "wanted", "reading", "ask", "bucket")]
    (content,) = named(made, "ms-body-content")
    assert content.hidden
    assert content.children[0].children == "own"
    attributes = made.to_plotly_json()["props"]
    assert (attributes["data-page"], attributes["data-routes"], attributes["data-keys"]) == ("beach", "/r/", "a b")
    assert set(json.loads(attributes["data-texts"])) == {*TEXTS, "body.notes_n", "body.stop"}


def test_one_state_is_shown_at_first_and_those_of_the_subject_come_last() -> None:
    (states,) = named(page(states=[*unlisted(PEBBLES), state("missing", "gone")]), "ms-body-states")
    shown = {one.to_plotly_json()["props"]["data-state"]: getattr(one, "hidden", False) for one in states.children}
    assert list(shown) == ["opening", "no-runs", "none", "damaged", "loading", "unknown", "nothing", "failed", "missing"]
    assert [name for name, hidden in shown.items() if not hidden] == ["opening"]
    assert "writer.add_scalar(" in json.dumps(states.children[2].to_plotly_json(), default=lambda one: one.to_plotly_json())
    for name in ("ms-body-elsewhere", "ms-body-found", "ms-body-why", "ms-body-unknown"):
        assert len(named(states, name)) == 1


def test_a_subject_without_an_ask_has_no_store_for_one() -> None:
    silent = BodySubject("pebbles", "ms-pebbles", "scalar", TEXTS, asks=False)
    assert "x-beach-ask" not in [getattr(one, "id", "") for one in page(silent).children]
    app = Dash(__name__)
    app.layout = html.Div()
    register_frame(app, silent, IDS, lambda _state, _known: None, lambda _wanted: None)
    assert [one["clientside_function"]["namespace"] for one in app._callback_list if one["clientside_function"]] == [
        "mindscope", "mindscope_pebbles",
    ]  # fmt: skip


def test_the_server_is_asked_about_what_is_wanted() -> None:
    app = Dash(__name__)
    register_frame(app, PEBBLES, IDS, lambda _state, _known: None, lambda wanted: {"of": wanted["of"]} if wanted else None)
    outputs = [one["output"] for one in app._callback_list]
    assert "x-beach-reading.data" in outputs
    assert "x-beach-ask.data" in outputs
    planned = next(one for one in app._callback_list if one["output"] == "x-beach-ask.data")
    parts = ("state", "catalogue", "reading", "prefs")
    assert [one["id"] for one in planned["inputs"]] == [f"x-beach-{part}" for part in parts]
    assert [one["id"] for one in planned["state"]] == ["x-beach-root"]


def test_a_status_line_names_its_texts_and_is_hidden() -> None:
    line = status_line("pebbles", "ms-own", before=[html.B("search")])
    assert (line.className, line.hidden, line.role) == ("ms-body-status ms-own", True, "status")
    assert line.children[0].children == "search"
    (bar,) = named(line, "ms-body-progress")
    assert bar.to_plotly_json()["props"]["data-name"] == "pebbles"
    acts = [one.to_plotly_json()["props"].get("data-act") for one in named(line, "ms-button")]
    assert acts == ["cancel", "again"]


def test_damage_is_listed_up_to_a_number() -> None:
    assert damage().hidden
    assert listed_damage(()) == {"problems": [], "more": 0, "notes": 0}
    problems = [Problem("/a", 0, 0, "bad_table", f"Line {line}") for line in range(MOST_PROBLEMS + 2)]
    found = listed_damage(problems)
    assert (len(found["problems"]), found["more"]) == (MOST_PROBLEMS, 2)
    assert found["problems"][0] == {"path": "/a", "text": "Line 0"}
    note = listed_damage([Problem("/a", 0, 0, "note", "Nothing is lost"), *problems[:1]])
    assert note["problems"][1] == {"path": "/a", "text": "Nothing is lost", "note": True}
    assert (note["more"], note["notes"]) == (0, 1)


def test_a_link_names_the_run_for_a_new_tab_and_what_to_open_with() -> None:
    link = page_link("beach", "a/b c", [("rank", 3)])
    assert link["href"] == "beach?run=a%2Fb+c&of=a%2Fb+c&rank=3"
    assert (link["data-page"], link["data-query"]) == ("beach", "of=a%2Fb+c&rank=3")


def test_whole_numbers_are_bounded() -> None:
    assert whole(None, "n") is None
    assert whole({"n": ["3"]}, "n") == 3
    for text in ("-2", "x", "inf"):
        with pytest.raises(BadInput):
            whole({"n": [text]}, "n", -1.0)


class Diggers:
    """Work that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def work(self, run: str, work: str, *, again: bool = False) -> WorkResult:
        self.asked.append(("work", run, work, "again" if again else ""))
        return WorkResult("working", "half a hole", 1, 2, "", "m")

    def cancel(self, run: str, work: str) -> None:
        self.asked.append(("cancel", run, work))


def test_work_is_stopped_and_resumed_by_what_a_part_asks() -> None:
    diggers = Diggers()
    found = worked(diggers, "a", "dig", {})
    worked(diggers, "a", "dig", {"cancel": ["1"]})
    worked(diggers, "a", "dig", {"again": ["1"]})
    assert diggers.asked == [("work", "a", "dig", ""), ("cancel", "a", "dig"), ("work", "a", "dig", ""),
                             ("work", "a", "dig", "again")]  # fmt: skip
    assert progress(found) == {"state": "working", "done": 1, "total": 2, "text": "", "mark": "m"}


def test_the_browser_has_every_text_that_the_script_of_the_body_writes() -> None:
    script = (ASSETS / "kit" / "body.js").read_text("utf-8")
    written = set(re.findall(r"\"(body\.\w+)\"", script))
    sent = json.loads(frame(PEBBLES, IDS, "", [], data={}).to_plotly_json()["props"]["data-texts"])
    assert written
    assert written <= set(sent)
