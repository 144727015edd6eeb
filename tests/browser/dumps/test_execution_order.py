"""The list of operators of a dump without a graph, in the demo's dump."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.demo import prepared, story
from tests.browser.showing import show


@pytest.mark.long
def test_operators_are_listed_although_the_missing_drawing_is_told_twice(page: Page, serve: Callable[[Flask], str]) -> None:
    app = create_app(prepared.RECORDED)
    assert app.source.wait(60)
    try:
        show(page, f"{serve(app.server)}/debugger?run={story.DIVERGES}&of={story.DIVERGES}")
        rows = page.locator(".ms-debugger-order [data-row]")
        expect(rows).to_have_count(15)
        expect(rows.nth(6)).to_contain_text("Functional.exp.0.forward")
    finally:
        app.source.stop()
