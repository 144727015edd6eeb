"""Shell, frame and runs page without a browser: what is in the layout, and what the callbacks answer."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import dash
import pytest
from dash.development.base_component import Component

from app import create_app
from layouts import PAGES
from layouts.kit.page import Ids, Page
from layouts.shell import chrome as frame
from layouts.shell import shell
from layouts.shell.run_list import listing, problems
from parsers import Problem
from tests.amounts import long_after
from tests.sources import MemorySource, row


def components(tree: Any) -> Iterator[Component]:
    if isinstance(tree, (list, tuple)):
        for item in tree:
            yield from components(item)
    elif isinstance(tree, Component):
        yield tree
        yield from components(getattr(tree, "children", None))


def ids_of(tree: Any) -> list[str]:
    return [json.dumps(part.id, sort_keys=True) for part in components(tree) if getattr(part, "id", None) is not None]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_ids_are_unique_and_two_copies_share_none(page: Page) -> None:
    one = ids_of(frame.frame(page, Ids(page.name, "s1"), "/api/", picker=True))
    two = ids_of(frame.frame(page, Ids(page.name, "s2"), "/api/", picker=True))
    assert len(set(one)) == len(one)
    assert not set(one) & set(two)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_callbacks_name_only_parts_of_the_layout(page: Page) -> None:
    app = dash.Dash("test", suppress_callback_exceptions=True)
    ids = Ids(page.name, "s1")
    frame.register(app, MemorySource(), page, ids, "/api/")
    parts = list(components(frame.frame(page, ids, "/api/", picker=True)))
    late = [json.loads(text)["props"]["id"] for part in parts if (text := part.to_plotly_json()["props"].get("data-graph"))]
    there = [*(getattr(part, "id", None) for part in parts), *late]
    for callback in app._callback_list:
        for part in [*callback["inputs"], *callback["state"]]:
            if not part["id"].startswith("{"):
                assert part["id"] in there, part


def elements(plain: list[Any]) -> Iterator[list[Any]]:
    """The [tag, attributes, children] in the plain lists of data-plain."""
    for one in plain:
        if isinstance(one, list) and len(one) == 3 and isinstance(one[1], dict):
            yield one
            yield from elements(one[2])
        elif isinstance(one, list):
            yield from elements(one)


def test_the_shell_holds_every_page_and_its_menu() -> None:
    tree = shell.layout(PAGES, Ids("shell"), "/training/")
    plain = [json.loads(text) for part in components(tree) if (text := getattr(part, "data-plain", None))]
    links = [attributes for _, attributes, _ in elements(plain) if attributes.get("class") == "ms-menu-link"]
    assert [link["href"] for link in links] == ["/training/" + page.path for page in PAGES]
    book = next(part for part in components(tree) if getattr(part, "id", None) == "ms-shell-pages").data
    assert set(book["pages"]) == {page.path for page in PAGES}
    assert book["prefix"] == "/training/"
    for page in PAGES:
        assert book["pages"][page.path]["content"] == f"/training/api/pages/{page.name}.json"
        assert shell.content(page, Ids("shell"), "/training/").id == f"{book['pages'][page.path]['frame']}-frame"
    assert "ms-bare" in next(part for part in components(shell.layout(PAGES, Ids("shell"), "/", embed=True))
                             if getattr(part, "id", None) == "ms-shell-root").className  # fmt: skip


def test_the_runs_list_tells_what_json_cannot() -> None:
    values = (math.nan, -math.inf, 0.5)
    rows = listing(MemorySource(rows=[row(str(value), main_value=value) for value in values]))["rows"]
    assert [(one["value"], one["valueText"]) for one in rows] == [(None, "NaN"), (None, "-Inf"), (0.5, "0.5000")]
    json.dumps(rows, allow_nan=False)


def test_problems_are_cut_but_counted() -> None:
    found = [("a", Problem(f"/data/{n}", n, 8, "bad_data", "lost")) for n in range(30)]
    told = problems(MemorySource(problems=found), 10)
    assert told["total"] == 30
    assert [line[:4] for line in told["rows"]][:2] == [["a", "bad_data", "/data/0", 0], ["a", "bad_data", "/data/1", 1]]
    assert len(told["rows"]) == 10


def test_problems_of_one_run_alone() -> None:
    found = [(run, Problem("/data/x", n, 8, "bad_data", "lost")) for n, run in enumerate(["a", "b", "a"])]
    source = MemorySource(rows=[row("a"), row("b")], problems=found)
    told = problems(source, 10, "a")
    assert (told["run"], told["total"], [line[0] for line in told["rows"]]) == ("a", 2, ["a", "a"])
    client = create_app(source).server.test_client()
    ids = Ids("runs")
    good, bad = ({"run": ["b"]}, {"run": []}, None, 3), ({"run": "b"}, {"run": [3]})
    for asked, status in [*((one, 200) for one in good), *((one, 400) for one in bad)]:
        inputs = [{"id": ids("health-asked"), "property": "data", "value": asked}]
        answer = ask(client, f"{ids('problems')}.data", inputs, [], f"{ids('health-asked')}.data")
        assert answer.status_code == status, asked


def ask(client: Any, output: str, inputs: list[Any], state: list[Any], changed: str) -> Any:
    parts = [part.rsplit(".", 1) for part in output.strip(".").split("...")]
    outputs = [{"id": part_id, "property": prop} for part_id, prop in parts]
    body = {
        "output": output, "outputs": outputs if output.startswith("..") else outputs[0], "inputs": inputs, "state": state,
        "changedPropIds": [changed] if changed else [],
    }  # fmt: skip
    return client.post("/_dash-update-component", json=body, headers={"Origin": "http://localhost"})


def tick(client: Any, known: Any, reloads: int = 0, changed: str = "", mark: Any = None) -> Any:
    ids = Ids("runs")
    return ask(
        client,
        f"..{ids('status')}.data...{ids('version')}.data...{ids('mark')}.data...{ids('changes')}.data..",
        [
            {"id": ids("interval"), "property": "n_intervals", "value": 1},
            {"id": ids("reload"), "property": "data", "value": reloads},
        ],
        [{"id": ids("version"), "property": "data", "value": known}, {"id": ids("mark"), "property": "data", "value": mark}],
        changed,
    )


def test_the_clock_sends_the_list_only_when_it_changed() -> None:
    source = MemorySource(rows=[row("a")])
    client = create_app(source).server.test_client()
    first = tick(client, None).get_json()["response"]
    assert first["ms-runs-version"]["data"] == 1
    assert [one["key"] for one in first["ms-runs-changes"]["data"]["rows"]] == ["a"]
    idle = tick(client, 1).get_json()["response"]
    assert set(idle) == {"ms-runs-status"}
    source.change([row("b"), row("a")])
    later = tick(client, 1).get_json()["response"]
    assert [one["key"] for one in later["ms-runs-changes"]["data"]["rows"]] == ["b", "a"]
    assert source.refreshed == 0


def test_a_refresh_by_hand_looks_at_the_disk() -> None:
    source = MemorySource(rows=[row("a")])
    client = create_app(source).server.test_client()
    tick(client, 1, reloads=1, changed="ms-runs-reload.data")
    assert source.refreshed == 1


@pytest.mark.parametrize("known", long_after(2, ["1", {"a": 1}, [], True, -5, 1e308]))
def test_whatever_version_a_browser_claims_it_gets_an_answer(known: Any) -> None:
    client = create_app(MemorySource(rows=[row("a")])).server.test_client()
    assert tick(client, known).status_code == 200


@pytest.mark.parametrize(
    "mark", long_after(3, ["memory.²", ["memory.1"], None, "", "memory.0/", ".", "/", "memory.1e9", 5, "x" * 100_000])
)
def test_whatever_mark_a_browser_claims_it_gets_all_runs(mark: Any) -> None:
    client = create_app(MemorySource(rows=[row("a")])).server.test_client()
    found = tick(client, None, mark=mark).get_json()["response"]["ms-runs-changes"]["data"]
    assert (found["whole"], [one["key"] for one in found["rows"]]) == (True, ["a"])


def test_who_knows_the_list_is_sent_what_changed() -> None:
    source = MemorySource(rows=[row(f"run{number}") for number in range(1000)])
    first = listing(source)
    again = listing(source, since=first["mark"])
    assert (again["whole"], again["rows"], again["gone"], again["notebook"]) == (False, [], [], None)
    assert len(json.dumps(again)) < 1000
    noted = listing(source, since=first["mark"].split("/")[0] + "/00000000")
    assert (noted["rows"], noted["notebook"]) == ([], first["notebook"])
