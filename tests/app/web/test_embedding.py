"""One page in somebody else's application, without a browser: its paths, its files, its sources."""

from __future__ import annotations

import json
import re

import pytest
from dash import Dash, html

from app import create_app, pages
from app.web.server import frame_source
from tests.recorded import RECORDED


def routes_of(host: Dash) -> set[str]:
    """The paths of plain routes that the layout of a host names."""
    path = host.config.requests_pathname_prefix + "_dash-layout"
    return {json.loads(found) for found in re.findall(r'"data-routes": *("[^"]*")', host.server.test_client().get(path).text)}


@pytest.mark.parametrize("prefix", ["/", "/lab/"])
@pytest.mark.parametrize("order", ["layout first", "register first"])
def test_layout_and_register_in_either_order(source, prefix, order) -> None:
    host = Dash("host", url_base_pathname=prefix)
    page = pages.Scalars(source, id="s1")
    if order == "register first":
        page.register(host)
    host.layout = html.Div(page.layout())
    if order == "layout first":
        page.register(host)
    assert routes_of(host) == {f"{prefix}_mindscope/s1/"}
    assert host.server.test_client().get(f"{prefix}_mindscope/s1/runs.json").status_code == 200


def test_a_provider_of_themes_is_no_longer_needed(source) -> None:
    with pytest.warns(DeprecationWarning, match="provider is ignored"):
        pages.Scalars(source, id="s1").layout(provider=False)


def loaded(source, *classes) -> list[str]:
    """Names of our assets that the index page of a host with these pages loads, in order; each must be there."""
    host = Dash("host")
    host.layout = html.Div()
    for number, made in enumerate(classes):
        made(source, id=f"p{number}").register(host)
    client = host.server.test_client()
    page = client.get("/").text
    urls = re.findall(r'(?:src|href)="(/_mindscope/assets/[^"]+)"', page)
    for modules in re.findall(r'data-modules="([^"]*)"', page):
        urls += [f"{urls[0].partition('/v-')[0]}/{name}" for name in modules.split()]
    assert all(client.get(url).status_code == 200 for url in urls)
    return list(dict.fromkeys(re.sub(r"^/_mindscope/assets/(v-[0-9a-f]*/)?", "", url) for url in urls))


def test_a_host_loads_what_its_pages_need(source) -> None:
    names = loaded(source, pages.Scalars, pages.Scalars)
    assert [name for name in names if name.endswith(".css")] == ["kit.css", "kit/cards.css", "curves/scalars.css"]
    assert {"early/hold.js", "kit/main.js", "kit/cards/cards.js", "curves/scalars/page.js"} <= set(names)
    assert not any(name.startswith("shell") for name in names), "the shell is for our own application"
    both = loaded(source, pages.Scalars, pages.Runs)
    own = {f"runs/runs/{name}.js" for name in ("page", "cells", "columns", "expressions", "group_numbers", "groups", "values")}
    assert set(both) - set(names) == {*own, "runs/runs.css", "kit/grid.js"}
    assert [name for name in both if name in names] == names


def test_a_file_is_a_run(tmp_path) -> None:
    (one_event_file,) = (RECORDED / "nan_inf").iterdir()
    store = frame_source(str(one_event_file))
    assert store.wait(10)
    (row,) = store.runs.rows()
    assert row.key == one_event_file.name
    assert row.points > 0
    app = create_app([one_event_file, tmp_path])
    assert app.source.wait(10)
    assert [row.points > 0 for row in app.source.runs.rows()] == [True]


@pytest.mark.parametrize("prefix", ["/", "/lab/"])
def test_a_board_brings_the_pages_of_its_cards(prefix, tmp_path) -> None:
    host = Dash("host", url_base_pathname=prefix)
    (tmp_path / "runs").mkdir()
    page = pages.Board(tmp_path / "runs", id="b1", workspace=tmp_path / "workspace")
    host.layout = html.Div(page.layout())
    page.register(host)
    client = host.server.test_client()
    own = f"{prefix}_mindscope/b1/"
    made = client.post(f"{own}board", json={"create": "Daily", "cards": [{"place": "scalars", "part": "key:loss"}]})
    assert made.json["now"]["name"] == "Daily"
    shown = client.get(f"{own}app/scalars?embed=1&card=key:loss")
    assert shown.status_code == 200
    policy = dict(part.strip().split(" ", 1) for part in shown.headers["Content-Security-Policy"].split(";"))
    assert (policy["frame-ancestors"], policy["default-src"]) == ("'self'", "'self'")
    assert "sha256-" in policy["script-src"], "that of the page in the frame, not that of the host's routes"
    assert f"{own}app/api/" in str(client.get(f"{own}app/api/pages/scalars.json").json)
    assert client.get(f"{own}app/scalars", headers={"Host": "evil.example"}).status_code == 403
    assert client.get(f"{prefix}").status_code == 200
    page.source.stop()
