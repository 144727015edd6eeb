"""Live training on the debugger page: connecting, orders, hits, values, losing contact."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.live.server import DebuggerServer
from app.live.sessions import Sessions
from app.store.store import Store
from layouts.dumps.watchpoints import SavedWatchpoint, WatchList
from tests.browser.showing import show
from tests.browser.waiting import polls
from tests.writers.debugger_client import Training


@pytest.fixture
def port(tmp_path: Path, serve: Callable[[Flask], str]) -> Iterator[tuple[str, int, Store]]:
    """The application over no run, and the port for live training."""
    sessions = Sessions()
    server = DebuggerServer(sessions, port=0)
    store = Store([tmp_path / "runs"], interval=1, notes_directory=str(tmp_path / "notes"), sessions=sessions)
    (tmp_path / "runs").mkdir()
    store.start()
    yield serve(create_app(store).server), server.port, store
    store.stop()
    server.stop()


@pytest.mark.long
def test_a_whole_session(page: Page, port: tuple[str, int, Store]) -> None:
    address, number, store = port
    page.goto(f"{address}/debugger")
    live = page.locator(".ms-live")
    expect(live).to_contain_text(f"Waiting for training to connect at 127.0.0.1:{number}.")
    expect(live).to_contain_text(f"export MS_DEBUGGER_PORT={number}")
    expect(live).to_contain_text("MindSpore 1.5 to 2.2")
    expect(page.locator('.ms-menu-link[data-page="debugger"]')).not_to_have_attribute("aria-disabled", "true")

    training = Training(number, steps=500_000, nan_at=20).start()
    state, facts = live.locator(".ms-live-state"), live.locator(".ms-live-facts")
    expect(state).to_have_text("Waiting", use_inner_text=True)
    expect(facts).to_contain_text("before the first step", use_inner_text=True)
    expect(page.locator(".ms-debugger-graph")).to_be_visible()

    def press(name: str) -> None:
        live.get_by_role("button", name=name, exact=True).click()

    live.get_by_label("Steps to run").fill("7")
    press("Continue")
    expect(facts).to_contain_text("step 7", use_inner_text=True)
    expect(state).to_have_text("Waiting", use_inner_text=True)
    assert training.step == 7
    assert training.log.count("run step 1") == 7

    # The values of a tensor are fetched when it is selected.
    name = training.net.operators[3].name
    show(page, f"{address}/debugger?of=live%3A1&node={quote(name, safe='')}&io=output.0")
    expect(page.locator(".ms-debugger")).to_contain_text(f"{training.values[name].max():.4g}")
    cell = page.locator('.ms-selected-values [data-row="0"][data-column="0"]:visible')
    expect(cell).to_have_text(f"{training.values[name][0, 0]:.5f}")
    assert any(line.startswith("view 0") for line in training.log)
    press("To operator")
    expect(facts).to_contain_text(f"at {name.rpartition('/')[2]}", use_inner_text=True)

    press("Until a hit")
    expect(facts).to_contain_text("step 21", use_inner_text=True)
    expect(facts).to_contain_text("hits", use_inner_text=True)
    expect(page.locator(".ms-debugger-sentence")).to_contain_text("Iteration 21 has NaN or Inf in", use_inner_text=True)

    # It hits at once again; without watchpoints it would run on until it is paused or ended.
    off = WatchList((SavedWatchpoint("tensor_overflow", enabled=False),))
    store.notes.save_watchpoints("live:1", off, WatchList().version)
    expect(live).to_contain_text("9 changes of watchpoints are sent with the next order", use_inner_text=True)
    press("Until a hit")
    expect(state).to_have_text("Running", use_inner_text=True)
    press("Pause")
    expect(state).to_have_text("Waiting", use_inner_text=True)
    live.locator("summary", has_text="Terminate").click()
    press("Keep running")
    expect(state).to_have_text("Waiting", use_inner_text=True)
    live.locator("summary", has_text="Terminate").click()
    press("Terminate")
    expect(state).to_have_text("Over", use_inner_text=True)
    expect(live).to_contain_text("Training was terminated.", use_inner_text=True)
    training.join()
    assert training.log[-1] == "exit"

    press("Forget session")
    expect(live).to_contain_text("Waiting for training to connect", use_inner_text=True)
    assert store.live.status().sessions == ()


def test_a_version_that_is_not_supported_and_one_that_goes(page: Page, port: tuple[str, int, Store]) -> None:
    address, number, _ = port
    old = Training(number, version="1.2.0").start()
    page.goto(f"{address}/debugger?of=live:1")
    live = page.locator(".ms-live")
    expect(live.locator(".ms-live-state")).to_have_text("Version not supported", use_inner_text=True)
    expect(live).to_contain_text("MindSpore 1.2.0 has connected. MindSpore 1.5 to 2.2 is supported", use_inner_text=True)
    expect(live.get_by_role("button", name="Continue", exact=True)).to_be_disabled()
    live.locator("summary", has_text="Terminate").click()
    live.get_by_role("button", name="Terminate", exact=True).click()
    old.join()
    other = Training(number, device="1").start()
    show(page, f"{address}/debugger?of=live:2")
    expect(live.locator(".ms-live-state")).to_have_text("Waiting", use_inner_text=True)
    known = None
    while known != (known := list(other.log)):  # until all that the page asks for has been sent
        polls(page)
    other.stub.close()
    expect(live.locator(".ms-live-state")).to_have_text("Contact lost", use_inner_text=True)
    expect(live).to_contain_text(re.compile("The connection was closed"), use_inner_text=True)
