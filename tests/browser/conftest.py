"""A real server per test and a real Chromium; without one the tests are skipped, unless MINDSCOPE_REQUIRE_BROWSER=1."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Request,
    Response,
    ViewportSize,
    expect,
    sync_playwright,
)
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from app import create_app
from app.store.store import Store
from parsers.recording import EventWriter
from tests.browser.costs import Costs
from tests.browser.everything import write_everything
from tests.browser.showing import leave
from tests.browser.waiting import WAIT_MS
from tests.recorded import RECORDED
from tests.writers.step_traces import step_trace_raw, step_trace_time

SAID_OF_SPEED = ("GL Driver Message", "willReadFrequently", "preload but not used within a few seconds")
PURGED = ("_redrawFromAutoMarginCount", "_rehover")
"""What plotly.js reads of a plot that was purged while it redrew its margins or was about to show the values at the pointer, as
the page was left; nothing is shown then."""
VIEWPORT: ViewportSize = {"width": 1440, "height": 900}
FAILED = pytest.StashKey[bool]()
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")


COSTS = pytest.StashKey[Costs]()
WITHOUT_SNAPSHOTS = Path(__file__).with_name("without_snapshots.cjs")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[COSTS] = Costs()
    config.pluginmanager.register(config.stash[COSTS])


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """The path of the Chromium that the tests use."""
    path = os.environ.get("CHROMIUM_PATH") or next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        if os.environ.get("MINDSCOPE_REQUIRE_BROWSER") == "1":
            pytest.fail("MINDSCOPE_REQUIRE_BROWSER=1, but there is no Chromium on the PATH and none in CHROMIUM_PATH")
        pytest.skip("no Chromium on the PATH and none in CHROMIUM_PATH")
    return path


@pytest.fixture(scope="session")
def browser(pytestconfig: pytest.Config, chromium_path: str) -> Iterator[Browser]:
    expect.set_options(timeout=WAIT_MS)
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("NODE_OPTIONS", f"--require={WITHOUT_SNAPSHOTS}")
        started = sync_playwright().start()
    try:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
        chromium = started.chromium.launch(executable_path=chromium_path, args=flags)
        pytestconfig.stash[COSTS].follow(chromium)
        yield chromium
        chromium.close()
    finally:
        started.stop()


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


@pytest.fixture(scope="session")
def own_port() -> int:
    """A port that was free, for the first server of every test: the browser keeps the scripts of an address."""
    return _free_port()


@pytest.fixture(scope="session")
def file_port() -> int:
    """A port that was free, for the first server of every file."""
    return _free_port()


@pytest.fixture
def serve(own_port: int) -> Iterator[Callable[[Flask], str]]:
    """Serves a WSGI application until the test ends; gives its address."""
    servers: list[BaseWSGIServer] = []

    def start(application: Flask) -> str:
        servers.append(_serving(application, 0 if servers else own_port))
        return f"http://127.0.0.1:{servers[-1].port}"

    yield start
    for server in servers:
        _end(server)


@pytest.fixture(scope="module")
def serve_file(file_port: int, tab: Tab) -> Iterator[Callable[[Flask], str]]:
    """Serves a WSGI application to all tests of a file, which only read; gives its address. The tab may stay in it."""
    with contextlib.ExitStack() as servers:

        def start(application: Flask) -> str:
            return servers.enter_context(_lasting(application, 0 if tab.lasting(file_port) else file_port, tab))

        yield start


@contextlib.contextmanager
def _lasting(application: Flask, port: int, tab: Tab) -> Iterator[str]:
    """Serve an application that outlives a test, so that the tab may stay in it."""
    server = _serving(application, port)
    with tab.within(server.port):
        yield f"http://127.0.0.1:{server.port}"
    _end(server)


def _serving(application: Flask, port: int) -> BaseWSGIServer:
    server = make_server("127.0.0.1", port, application, threaded=True, request_handler=Quiet)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    return server


def _end(server: BaseWSGIServer) -> None:
    server.shutdown()
    server.server_close()


class Quiet(WSGIRequestHandler):
    """Logs no request."""

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002
        pass


def in_address(page: Page, key: str, *values: str) -> list[str]:
    """Wait until the address has a key, with these values if any are given; return its values.

    Scripts may draw a change of the state before they write it into the address.
    """
    page.wait_for_function(
        """([key, values]) => {
            const found = new URLSearchParams(window.location.search).getAll(key);
            return found.length > 0 && (!values.length || JSON.stringify(found) === JSON.stringify(values));
        }""",
        arg=[key, list(values)],
    )  # fmt: skip
    return parse_qs(urlsplit(page.url).query, keep_blank_values=True)[key]


def not_in_address(page: Page, key: str) -> None:
    """Wait until the address does not have a key."""
    page.wait_for_function("key => !new URLSearchParams(window.location.search).has(key)", arg=key)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A writable copy of the recorded runs."""
    return Path(shutil.copytree(RECORDED, tmp_path / "runs"))


@pytest.fixture(scope="session")
def recorded(tab: Tab) -> Iterator[str]:
    """The application over the recorded runs, which nothing may change: one for all tests."""
    store = Store([RECORDED], interval=0.5).start()
    assert store.wait(30)
    with _lasting(create_app(store).server, 0, tab) as address:
        yield address
    store.stop()


@pytest.fixture
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    """The application, looking at the disk twice a second: over `base` where the test asks for it, else `recorded`."""
    if "base" not in request.fixturenames:
        yield request.getfixturevalue("recorded")
        return
    store = Store([request.getfixturevalue("base")], interval=0.5).start()
    assert store.wait(30)
    yield request.getfixturevalue("serve")(create_app(store).server)
    store.stop()


@pytest.fixture(scope="session")
def explained(real_data: Path, tab: Tab) -> Iterator[str]:
    """The application over the real explanations, which nothing may change: one for all tests."""
    store = Store([real_data / "explain"], interval=0.5).start()
    assert store.wait(30)
    with _lasting(create_app(store).server, 0, tab) as address:
        yield address
    store.stop()


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory, tab: Tab) -> Iterator[str]:
    """The application over data of every kind, which nothing may change: one for all tests."""
    base = tmp_path_factory.mktemp("everything")
    write_everything(base)
    store = Store([base], interval=0).start()
    assert store.wait(60)
    store.studies.wait()
    with _lasting(create_app(store).server, 0, tab) as address:
        yield address
    store.stop()


@pytest.fixture(scope="session")
def visitor(browser: Browser) -> Iterator[BrowserContext]:
    """A visitor with English as language and a light theme, who keeps the scripts read from one test to the next."""
    made = browser.new_context(viewport=VIEWPORT, locale="en-US", color_scheme="light")
    made.set_default_timeout(WAIT_MS)
    yield made
    made.close()


class Tab:
    """A tab that goes from test to test, so that its process keeps the scripts compiled: half of what a first visit costs.

    It stays in an application that outlives the test, for `show`, unless the test changed what a page load would reset. It is
    closed, and the next test gets another one, if a test failed, opened further tabs, or did what cannot be undone.
    """

    LASTING = (
        "add_init_script",
        "expose_binding",
        "expose_function",
        "add_locator_handler",
        "emulate_media",
        "set_extra_http_headers",
    )
    VISITS = 60
    """After these it is closed anyway: a process grows."""

    def __init__(self) -> None:
        self._page: Page | None = None
        self._visits = 0
        self._visited = False
        self._stays = True
        self._listeners: list[tuple[Any, Any]] = []
        self._lasting: set[int] = set()

    @contextlib.contextmanager
    def within(self, port: int) -> Iterator[None]:
        """Let the tab stay in the application of a port from test to test."""
        self._lasting.add(port)
        yield
        self._lasting.remove(port)
        if self._page is not None and not self._page.is_closed() and urlsplit(self._page.url).port == port:
            self._page.goto("about:blank")

    def lasting(self, port: int) -> bool:
        """Return whether an application is served at a port to several tests."""
        return port in self._lasting

    def open(self, context: BrowserContext) -> Page:
        """Return the tab, empty, with all that a test adds to it watched."""
        if self._page is None:
            self._page, self._visits = context.new_page(), 0
        page = self._page
        self._visits += 1
        self._visited = True
        self._stays, self._listeners = self._visits < self.VISITS, []
        for name in ("on", "once"):
            setattr(page, name, functools.partial(self._listen, getattr(page, name)))
        for name in self.LASTING:
            setattr(page, name, functools.partial(self._last, getattr(page, name)))
        return page

    def _listen(self, add: Callable[..., None], event: Any, listener: Any) -> None:
        self._listeners.append((event, listener))
        add(event, listener)

    def _last(self, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        self._stays = False
        return call(*arguments, **options)

    def empty(self, failed: bool) -> None:
        """End the visit: no document, no listener, no route, the mouse and the window as they were."""
        page = self._page
        if page is None or not self._visited:
            return
        self._visited = False
        others = [other for other in page.context.pages if other != page]
        if failed or others or not self._stays or page.is_closed():
            self._page = None
            return
        for name in ("on", "once", *self.LASTING):
            delattr(page, name)
        for event, listener in self._listeners:
            with contextlib.suppress(KeyError):  # heard once, and gone
                page.remove_listener(event, listener)
        page.unroute_all()
        stays = urlsplit(page.url).port in self._lasting and page.viewport_size == VIEWPORT and leave(page)
        if not stays:
            page.goto("about:blank")
        page.mouse.move(0, 0)
        if page.viewport_size != VIEWPORT:
            page.set_viewport_size(VIEWPORT)

    def keeps(self, page: Page) -> bool:
        """Whether the next test gets this page."""
        return page == self._page


@pytest.fixture(scope="session")
def tab() -> Tab:
    return Tab()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture
def context(request: pytest.FixtureRequest, visitor: BrowserContext, tab: Tab, serve: object) -> Iterator[BrowserContext]:
    """The visitor without tabs, cookies, permissions or anything stored.

    Asks for `serve`, so that servers end after the pages that would ask them again.
    """
    asked: set[str] = set()

    def note(request: Request) -> None:
        asked.add(f"{urlsplit(request.url).scheme}://{urlsplit(request.url).netloc}")

    visitor.on("request", note)
    yield visitor
    visitor.remove_listener("request", note)
    visitor.unroute_all()
    tab.empty(FAILED in request.node.stash)
    for opened in visitor.pages:
        if not tab.keeps(opened):
            opened.close()
    visitor.clear_cookies()
    visitor.clear_permissions()
    if asked:
        page = visitor.pages[0] if visitor.pages else visitor.new_page()
        session = visitor.new_cdp_session(page)
        for origin in asked:
            session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage,indexeddb"})
        session.detach()
        if not tab.keeps(page):
            page.close()


@pytest.fixture
def unwatched(context: BrowserContext, tab: Tab) -> Page:
    """A page that may log errors and meet failed requests: the browser itself logs what a server refuses."""
    return tab.open(context)


@pytest.fixture
def page(context: BrowserContext, tab: Tab) -> Iterator[Page]:
    """A page that must log no error, meet no failed request, and ask no other host."""
    complaints: list[str] = []
    opened = tab.open(context)
    opened.on("console", lambda message: complaints.append(message.text) if _is_complaint(message) else None)
    opened.on("pageerror", lambda error: None if _is_of_purged_plot(error) else complaints.append(f"{error} {error.stack}"))
    opened.on("response", lambda answer: complaints.append(f"{answer.status} {answer.url}") if _is_refused(answer) else None)
    opened.on("request", lambda request: complaints.append(f"asked {request.url}") if _is_foreign(request.url) else None)
    yield opened
    assert complaints == []


def _is_complaint(message: ConsoleMessage) -> bool:
    """Errors and warnings, but for the icon that Chromium asks every host for: a host's icon is the host's.

    What a graphics driver says of its speed, and plotly.js of how it reads letters for it, is no complaint either, nor that a
    busy machine has not yet used what it loaded ahead: test_what_is_loaded_ahead_is_used looks whether it is used at all.
    """
    if any(said in message.text for said in SAID_OF_SPEED):
        return False
    return message.type in ("error", "warning") and not message.location["url"].endswith("/favicon.ico")


def _is_of_purged_plot(error: Error) -> bool:
    text = f"{error} {error.stack or ''}"
    # Dash's graph marks its element as pending without looking whether the page was left meanwhile.
    return any(name in text for name in PURGED) or ("(reading 'classList')" in text and "async-graph.js" in text)


def _is_refused(answer: Response) -> bool:
    return answer.status >= 400 and not answer.url.endswith("/favicon.ico")


def _is_foreign(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme not in ("data", "blob", "about") and parts.hostname not in ("127.0.0.1", "localhost")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> Iterator[str]:
    """Run a: a legacy trace of 40 steps from 100 on, of which step 117 takes long, and scalars of the same steps, 50 ms each.
    Run b: a new trace of two sessions."""
    base = tmp_path_factory.mktemp("place")
    profiler = base / "runs/a/profiler"
    profiler.mkdir(parents=True)
    steps = [(0 if at == 0 else 1_000_000, 3_000_000 if at != 17 else 9_000_000, 500_000) for at in range(40)]
    (profiler / "step_trace_raw_0_detail_time.csv").write_text(step_trace_raw(steps, first=100))
    (profiler / "step_trace_point_info_0.json").write_text('{"fp_start": "Default/Cast-op6", "bp_end": "Default/Add-op7"}')
    with EventWriter(str(base / "runs/a/events.out.events.summary.1700000000.0.host_MS"), "mindspore") as writer:
        for step in range(1, 201):
            writer.add(step, {"loss": 1.0 / step}, wall_time=1.7e9 + step * 0.05)
    for session in ("host_1_20260101000000000_ascend_ms", "host_1_20260102000000000_ascend_ms"):
        output = base / "runs/b" / session / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        (output / "step_trace_time.csv").write_text(step_trace_time([(step, 10, 500, 100, 200, 300) for step in range(8)]))
    store = Store([base / "runs"], interval=0).start()
    assert store.wait(30)
    yield serve_file(create_app(store).server)
    store.stop()


@pytest.fixture(scope="session")
def real_store(real_data: Path) -> Iterator[Store]:
    """Real runs, with the graphs of a BERT and a ResNet among them, which nothing may change: read once for all tests."""
    store = Store([real_data / "summary"], interval=0).start()
    assert store.wait(60)
    yield store
    store.stop()


@pytest.fixture(scope="session")
def real(real_store: Store, tab: Tab) -> Iterator[str]:
    """The application over the real runs: one for all tests."""
    with _lasting(create_app(real_store).server, 0, tab) as address:
        yield address
