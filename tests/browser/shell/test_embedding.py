"""The examples, run as they are, and pages of ours inside other applications."""

from __future__ import annotations

import functools
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from dash import Dash, html
from flask import Flask, request
from playwright.sync_api import Page, expect

from app import mount, pages, show
from tests.browser.showing import show as visit
from tests.browser.waiting import WAIT_MS
from tests.recorded import RECORDED

ROOT = Path(__file__).resolve().parents[3]
LINE = ".ms-slot:not([hidden]) .scatterlayer .trace path.js-line"


@pytest.fixture(scope="module")
def example() -> Iterator[Callable[[str], str]]:
    """Runs an example on the recorded runs in a process of its own, once for all tests; gives its address."""
    processes: list[subprocess.Popen[bytes]] = []

    @functools.cache
    def start(name: str) -> str:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        environment = dict(os.environ, PYTHONPATH=str(ROOT))
        command = [sys.executable, str(ROOT / "examples" / name), str(RECORDED), str(port)]
        processes.append(subprocess.Popen(command, env=environment, cwd=ROOT / "examples"))
        address = f"http://127.0.0.1:{port}"
        until = time.monotonic() + WAIT_MS / 1000
        while processes[-1].poll() is None and time.monotonic() < until:
            try:
                urlopen(address, timeout=WAIT_MS / 1000).close()
                return address
            except OSError:
                time.sleep(0.05)
        raise AssertionError(f"{name} did not answer")

    yield start
    for process in processes:
        process.terminate()
        process.wait(10)


@pytest.mark.long
@pytest.mark.parametrize("name", ["host_flask.py", "host_dash.py", "host_asgi.py"])
def test_the_whole_dashboard_below_a_path(page: Page, example: Callable[[str], str], name: str) -> None:
    address = example(name)
    page.goto(address)
    page.get_by_text("Training runs").click()
    expect(page.locator(".ag-root").get_by_text("long_history", exact=True).first).to_be_visible()
    page.locator('.ms-menu a[data-page="scalars"]').click()
    expect(page.locator(LINE).first).to_be_attached()
    assert page.url.startswith(f"{address}/training/scalars")


def test_one_page_twice_in_a_layout_of_somebody_else(page: Page, example: Callable[[str], str]) -> None:
    address = example("host_page.py")
    page.goto(address)
    first, second = page.locator("#s1-scalars-frame"), page.locator("#s2-scalars-frame")
    for frame in (first, second):
        expect(frame.locator(LINE).first).to_be_attached()
    first.locator('input[type="number"][data-control="smooth"]').fill("0.9")
    expect(first.locator('input[type="range"][data-control="smooth"]')).to_have_value("0.9")
    expect(second.locator('input[type="range"][data-control="smooth"]')).to_have_value("0")
    assert page.url.rstrip("/") == address, "the host's address is the host's"
    page.locator("#name").fill("Ada")
    expect(page.locator("#hello")).to_have_text("Hello, Ada")
    with urlopen(f"{address}/_mindscope/s1/scalars.csv?run=nan_inf&tag=loss") as answer:
        assert answer.read().startswith(b"run,tag,step")


@pytest.mark.long
def test_layout_before_register(page: Page, serve: Callable[[Flask], str]) -> None:
    host = Dash("host", url_base_pathname="/lab/", include_assets_files=False)
    embedded = pages.Scalars(str(RECORDED), id="s1")
    host.layout = html.Div(embedded.layout())
    embedded.register(host)
    page.goto(serve(host.server) + "/lab/")
    expect(page.locator(LINE).first).to_be_attached()
    expect(page.locator(".ms-tagged")).to_have_attribute("data-routes", "/lab/_mindscope/s1/")


@pytest.mark.long
@pytest.mark.parametrize(("other", "drawn"), [("Scalars", LINE), ("Runs", ".ag-row .ms-run .ms-cut")])
def test_two_pages_below_a_prefix_whose_modules_come_late(
    page: Page, serve: Callable[[Flask], str], other: str, drawn: str
) -> None:
    host = Dash("host", url_base_pathname="/lab/", include_assets_files=False)
    both = [pages.Scalars(str(RECORDED), id="s1"), getattr(pages, other)(str(RECORDED), id="p2")]
    host.layout = html.Div([html.P("Of the host"), *(embedded.layout() for embedded in both)])
    for embedded in both:
        embedded.register(host)
    asked: list[str] = []

    @host.server.before_request
    def hold_back() -> None:
        if re.search(r"/_mindscope/assets/v-[^/]*/(?!early/hold).*\.js$", request.path):
            asked.append(request.path)
            time.sleep(0.5)  # six at a time: four seconds in all

    page.context.new_cdp_session(page).send("Network.clearBrowserCache")
    page.goto(serve(host.server) + "/lab/")
    expect(page.locator(f"#s1-scalars-frame {LINE}").first).to_be_attached()
    expect(page.locator(f"#p2-{other.lower()}-frame {drawn}").first).to_be_attached()
    assert len(asked) == len(set(asked)) > 20, "each module once, whichever page needs it"


def test_a_host_starts_without_our_modules(unwatched: Page, serve: Callable[[Flask], str]) -> None:
    host = Dash("host", include_assets_files=False)
    embedded = pages.Scalars(str(RECORDED), id="s1")
    host.layout = html.Div([html.P("Of the host"), embedded.layout()])
    embedded.register(host)
    unwatched.route("**/cards/cards.js", lambda route: route.abort())
    unwatched.goto(serve(host.server))
    expect(unwatched.get_by_text("Of the host")).to_be_visible()


@pytest.mark.long
def test_checks_hold_below_our_prefix_only(serve: Callable[[Flask], str]) -> None:
    host = Flask("host")
    host.add_url_rule("/", "home", lambda: "home")
    mount(host, "/training", str(RECORDED))
    address = serve(host)
    foreign = {"Host": "evil.example.com"}
    assert urlopen(Request(address + "/", headers=foreign)).status == 200
    with pytest.raises(HTTPError, match="403"):
        urlopen(Request(address + "/training/", headers=foreign))
    assert "Content-Security-Policy" not in urlopen(address + "/").headers
    assert "Content-Security-Policy" in urlopen(address + "/training/").headers


def test_a_host_that_is_neither_flask_nor_dash_is_told_what_to_do() -> None:
    with pytest.raises(TypeError, match="a2wsgi"):
        mount(object(), "/training", str(RECORDED))  # type: ignore[arg-type]


def test_names_of_embedding() -> None:
    assert {"Runs", "Scalars"} <= set(dir(pages))
    with pytest.raises(AttributeError, match="Scalars"):
        _ = pages.Nothing
    with pytest.raises(ValueError, match="id"):
        pages.Scalars(str(RECORDED), id="a b")


def test_a_malformed_value_is_the_clients_mistake(serve: Callable[[Flask], str]) -> None:
    host = Dash("host")
    page = pages.Scalars(str(RECORDED), id="s1")
    page.register(host)
    host.layout = html.Div(page.layout())
    client = host.server.test_client()
    body = {
        "output": "s1-scalars-verdict.data",
        "outputs": {"id": "s1-scalars-verdict", "property": "data"},
        "inputs": [{"id": "s1-scalars-proposal", "property": "data", "value": 7}],
        "changedPropIds": ["s1-scalars-proposal.data"],
    }
    answer = client.post("/_dash-update-component", json=body)
    assert answer.status_code == 400
    assert b"Traceback" not in answer.data


@pytest.mark.long
def test_a_page_in_an_iframe(page: Page, address: str, serve: Callable[[Flask], str]) -> None:
    visit(page, f"{address}/scalars?embed=1&run=long_history")
    expect(page.locator(LINE).first).to_be_attached()
    expect(page.locator(".ms-top")).to_be_hidden()


@pytest.mark.long
def test_a_notebook_shows_it_inline(page: Page, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[tuple[str, int]] = []

    class IFrame:
        def __init__(self, src: str, width: str, height: int) -> None:
            made.append((src, height))

    module = type(sys)("IPython.display")
    module.IFrame = IFrame  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", type(sys)("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    show(str(RECORDED), page="scalars", height=500)
    ((url, height),) = made
    assert height == 500
    page.goto(url)
    expect(page.locator(LINE).first).to_be_attached()
    with pytest.raises(ValueError, match="scalars"):
        show(str(RECORDED), page="nothing")
    (tmp_path / "view.toml").write_text('page = "scalars"\nruns = ["^long_"]\n[state]\nsmooth = 0.6\n')
    show(str(RECORDED), page=str(tmp_path / "view.toml"))
    assert made[-1][0].endswith("/scalars?run=long_history&smooth=0.6&embed=1")


@pytest.mark.long
def test_pages_in_containers_of_fixed_height_scroll_inside_them(page: Page, example: Callable[[str], str]) -> None:
    for width in (1440, 1000):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(example("host_page.py"))
        frames = page.locator("#s1-scalars-frame"), page.locator("#s2-scalars-frame")
        for frame in frames:
            expect(frame.locator(LINE).first).to_be_attached()
            expect(frame).to_have_class(re.compile("ms-frame-fixed"))
        boxes = [frame.bounding_box() for frame in frames]
        containers = [frame.locator("..").bounding_box() for frame in frames]
        first, second = boxes
        assert first is not None
        assert second is not None
        assert boxes == containers
        assert first["height"] == second["height"] == 700
        assert first["y"] + first["height"] <= second["y"]
        for frame in frames:
            assert frame.evaluate("(frame) => frame.scrollHeight > frame.clientHeight")
            # Nothing of the page is drawn outside of its container, and its lists are no higher than it.
            assert frame.evaluate("""(frame) => Array.from(frame.querySelectorAll("aside, nav, .ms-tags")).every(
                (part) => part.getBoundingClientRect().height <= frame.clientHeight)""")
        last = frames[0].locator(".ms-slot:not([hidden])").last
        last.scroll_into_view_if_needed()
        expect(last.locator(".scatterlayer").first).to_be_attached()
        assert frames[0].evaluate("(frame) => frame.scrollTop") > 0
        assert frames[1].evaluate("(frame) => frame.scrollTop") == 0


@pytest.mark.long
def test_a_page_in_a_container_without_height_is_as_high_as_its_contents(page: Page, serve: Callable[[Flask], str]) -> None:
    host = Dash(__name__)
    scalars = pages.Scalars(str(RECORDED), id="own")
    scalars.register(host)
    host.layout = html.Div([html.Div(scalars.layout()), html.P("below", id="below")])
    page.goto(serve(host.server))
    frame = page.locator("#own-scalars-frame")
    expect(frame.locator(LINE).first).to_be_attached()
    expect(frame).not_to_have_class(re.compile("ms-frame-fixed"))
    below, box = page.locator("#below").bounding_box(), frame.bounding_box()
    assert below is not None
    assert box is not None
    assert box["y"] + box["height"] <= below["y"]
