"""A page that `show` puts into a notebook, whose own server is at another port, and so another origin."""

from __future__ import annotations

from collections.abc import Callable

from flask import Flask
from playwright.sync_api import Page, expect

from app.web.embedding import serve_in_thread
from tests.recorded import RECORDED


def test_it_is_drawn_in_the_frame_of_a_cell(page: Page, serve: Callable[[Flask], str]) -> None:
    address = f"{serve_in_thread(RECORDED / 'several_files')}scalars?embed=1"
    notebook = Flask("notebook")
    cell = f'<iframe width="1200" height="700" src="{address}"></iframe>'
    notebook.add_url_rule("/", "cell", lambda: f'<!DOCTYPE html><html lang="en"><title>notebook</title>{cell}</html>')
    page.goto(serve(notebook))
    expect(page.frame_locator("iframe").locator(".ms-slot:visible .js-plotly-plot").first).to_be_visible()
