"""What a browser lets pages do, on the real server."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import BrowserContext, Error, Page, expect
from waitress.server import create_server

from app import create_app
from app.store.store import Store

pytestmark = pytest.mark.browser
TOKEN = "s" * 43


@pytest.fixture
def store(base: Path):
    made = Store([base], interval=0).start()
    assert made.wait(30)
    yield made
    made.stop()


def test_a_link_with_the_token_opens_everything(page: Page, store: Store, serve: Callable[[Flask], str]) -> None:
    address = serve(create_app(store, token=TOKEN, cookie="mindscope-test").server)
    page.goto(f"{address}/scalars?run=nan_inf&token={TOKEN}")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    assert TOKEN not in page.url
    assert "run=nan_inf" in page.url
    assert page.evaluate("document.cookie") == ""
    (cookie,) = page.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == ("mindscope-test", True, "Lax")
    page.goto(address + "/")
    expect(page.locator(".ag-root").get_by_text("long_history", exact=True).first).to_be_visible()


@pytest.mark.long
def test_a_token_that_has_changed_is_told(context: BrowserContext, store: Store) -> None:
    application = create_app(store, token=TOKEN)
    server: Any = create_server(application.server, host="127.0.0.1", port=0)
    threading.Thread(target=server.run, daemon=True).start()
    opened = context.new_page()
    opened.goto(f"http://127.0.0.1:{server.effective_port}/?token={TOKEN}")
    expect(opened.locator(".ag-root").get_by_text("long_history", exact=True).first).to_be_visible()
    server.application = create_app(store, token="another" * 5).server
    expect(opened.locator(".ms-notice")).to_be_visible()
    server.close()


def test_another_site_can_neither_frame_read_nor_write(
    context: BrowserContext, store: Store, serve: Callable[[Flask], str]
) -> None:
    ours = serve(create_app(store).server)
    evil = Flask("evil", static_folder=None)
    evil.add_url_rule("/", "page", lambda: f'<iframe src="{ours}/"></iframe>')
    opened = context.new_page()
    opened.goto(serve(evil) + "/")
    with pytest.raises(Error, match="Failed to fetch"):
        opened.evaluate(f"fetch('{ours}/api/runs.json').then((answer) => answer.text())")
    with pytest.raises(Error, match="Failed to fetch"):
        opened.evaluate(f"fetch('{ours}/_dash-update-component', {{method: 'POST', body: '{{}}'}})")
    assert opened.frames[1].url.startswith("chrome-error:")


def test_inline_scripts_and_eval_do_not_run(context: BrowserContext, store: Store, serve: Callable[[Flask], str]) -> None:
    opened = context.new_page()
    opened.goto(serve(create_app(store).server) + "/scalars")
    expect(opened.locator(".ms-menu")).to_be_visible()
    opened.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s); }"
    )
    opened.evaluate("""() => new Promise((failed) => {
        document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.ran = 1">');
        document.body.lastElementChild.addEventListener('error', () => window.setTimeout(failed));
    })""")
    assert opened.evaluate("() => window.ran") is None
