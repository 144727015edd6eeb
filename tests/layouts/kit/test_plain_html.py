"""Components as plain lists: nothing lost, and only what is safe to make elements of."""

from __future__ import annotations

import json

import pytest
from dash import dcc, html
from dash.development.base_component import Component

from layouts import PAGES
from layouts.kit.i18n import t
from layouts.kit.page import Ids
from layouts.kit.plain_html import markup, still
from layouts.shell import chrome


def test_elements_keep_their_attributes_and_children() -> None:
    button = html.Button(
        ["a", html.B("<i>"), None, 3], type="button", className="x y", title='"', hidden=True, tabIndex=-1,
        style={"width": "3.0%"}, **{"data-go": "n1"},
    )  # fmt: skip
    attributes = {
        "type": "button", "class": "x y", "title": '"', "hidden": True, "tabindex": "-1", "style": "width:3.0%",
        "data-go": "n1",
    }  # fmt: skip
    assert markup([button]) == [["button", attributes, ["a", ["b", {}, ["<i>"]], "3"]]]
    assert markup("x") == ["x"]
    assert markup(None) == []
    assert json.loads(json.dumps(markup(t("graph.open"))))[0][0] == "span"


def test_what_only_dash_can_show_is_refused() -> None:
    for wrong in (html.Div(id="x"), html.Div(dcc.Store(id="y"))):
        with pytest.raises(TypeError, match="markup: expected"):
            markup(wrong)


def test_what_has_no_id_is_stilled_and_what_has_one_stays() -> None:
    menu = html.Nav([html.A("Runs", href="/"), html.A([html.Span("训练"), " ", html.B("x")], href="/a")], className="menu")
    host = html.Div(html.P("said by a callback"), id="host")
    given = html.Div([menu, html.Section([html.H2("Title"), host]), dcc.Store(id="kept"), html.I("text")], id="root")
    found = still(given)
    assert json.loads(getattr(found.children[0], "data-plain")) == [
        ["a", {"href": "/"}, ["Runs"]], ["a", {"href": "/a"}, [["span", {}, ["训练"]], " ", ["b", {}, ["x"]]]],
    ]  # fmt: skip
    assert (found.children[0].className, getattr(found.children[0], "children", None)) == ("menu", None)
    assert found.children[1].children[1].id == "host"
    assert found.children[1].children[1].children.children == "said by a callback"  # a callback may replace it
    assert found.children[2].id == "kept"
    assert found.children[3].children == "text"
    assert len(menu.children) == 2  # what was given is left as it was


def test_stilling_loses_no_text() -> None:
    def words(component: object) -> list[str]:
        if isinstance(component, Component):
            plain = json.loads(getattr(component, "data-plain", "[]"))
            return words(getattr(component, "children", None)) + [text for one in plain for text in plain_words(one)]
        if isinstance(component, (list, tuple)):
            return [text for one in component for text in words(one)]
        return [str(component or "")]

    def plain_words(one: object) -> list[str]:
        return [one] if isinstance(one, str) else [text for child in one[2] for text in plain_words(child)]

    for page in PAGES:
        whole = chrome.frame(page, Ids(page.name, "x"), "/")
        assert sorted(filter(None, words(still(whole)))) == sorted(filter(None, words(whole))), page.name
