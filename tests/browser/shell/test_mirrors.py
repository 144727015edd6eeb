"""Data health of copied runs: what is copied, why not, and a button for a file that is too large."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.mirror.planning import CopyLimits
from app.mirror.wishes import read_wishes
from app.store.store import Store
from parsers.recording import EventWriter
from tests.app.mirror.places import EVENTS, Directory, copy_once, write
from tests.browser.showing import show


def test_a_large_file_is_asked_for_by_its_button(page: Page, serve: Callable[[Flask], str], tmp_path: Path) -> None:
    (tmp_path / "there" / "a").mkdir(parents=True)
    with EventWriter(str(tmp_path / "there" / "a" / EVENTS), "tensorboard") as writer:
        writer.add(1, {"loss": 0.5})
    write(tmp_path / "there" / "<b>big</b>" / EVENTS, bytes(5000))
    copy_once(Directory(tmp_path / "there"), tmp_path / "files", limits=CopyLimits(largest=4000))
    wishes = str(tmp_path / "wishes")
    store = Store([tmp_path / "files"], interval=0.5, wishes={str(tmp_path / "files"): wishes}).start()
    try:
        assert store.wait(30)
        show(page, f"{serve(create_app(store).server)}/runs")
        page.locator(".ms-health").first.click()
        mirror = page.locator(".ms-mirror")
        expect(mirror).to_contain_text("Copies of file:///there")
        expect(mirror).to_contain_text("The mirror is not running")
        expect(mirror).to_contain_text("1 too large")
        expect(mirror).to_contain_text("<b>big</b>/" + EVENTS)
        mirror.get_by_role("button", name="Fetch").click()
        expect(mirror.get_by_role("button", name="Asked for")).to_be_disabled()
        assert read_wishes(wishes).fetch == (f"<b>big</b>/{EVENTS}",)
    finally:
        store.stop()
