"""What the computation graph page shows while a large graph is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from tests.app.store.graphs.test_reading import NAME, Held, held  # noqa: F401  a fixture
from tests.browser.showing import show


@pytest.mark.long
def test_reading_a_large_graph_is_told_stopped_and_resumed_with_what_was_asked_meanwhile(
    page: Page, tmp_path: Path, serve: Callable[[Flask], str], held: Held  # noqa: F811
) -> None:
    from benchmarks.graphs_data import transformer

    (tmp_path / "run").mkdir()
    (tmp_path / "run" / NAME).write_bytes(transformer(2))
    app = create_app(tmp_path)
    assert app.source.wait(30)
    try:
        show(page, f"{serve(app.server)}/graph")
        line = page.locator(".ms-graph-progress")
        expect(line.locator(".ms-body-text .en")).to_contain_text(f"Reading {NAME}: ")
        expect(line.locator(".ms-body-share")).to_have_text("33.0 %")
        line.locator('[data-act="cancel"]').click()
        expect(line.locator(".ms-body-text .en")).to_have_text("Reading was stopped.")
        page.locator('.ms-graph-controls [data-value="statistics"]').click()
        expect(line).to_be_visible()
        line.locator('[data-act="again"]').click()
        expect(line.locator(".ms-body-share")).to_have_text("33.0 %")
        held.go.set()
        expect(page.locator('[data-table="types"] table')).to_be_visible()
        expect(page.locator(".ms-graph-tile").first).to_be_visible()
        expect(line).to_be_hidden()
    finally:
        held.go.set()
        app.source.stop()
