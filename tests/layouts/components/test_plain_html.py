"""Components as plain lists: nothing lost, and only what is safe to make elements of."""

from __future__ import annotations

import json

import pytest
from dash import dcc, html

from layouts.components.plain_html import markup
from layouts.i18n import t


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
