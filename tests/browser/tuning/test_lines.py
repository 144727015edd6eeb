"""Trials as lines over parallel axes: as SVG with names of files, and many of them, drawn over several frames."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.showing import show
from tests.writers.studies import begun, trial, write_study

CARD = "[data-plot=parallel]"
HOST = f"{CARD} .ms-plot"
SVG = "{http://www.w3.org/2000/svg}"
NAME = "</text><script>alert(1)</script>&\"'\u0001]]>"
CHOICE = "<img src=x onerror=alert(1)>\u0007"
MANY = 4000
INK = """name => {
  const canvas = document.querySelector(`[data-plot=parallel] .ms-parallel-${name}`);
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let ink = 0;
  for (let at = 3; at < data.length; at += 4) if (data[at]) ink += 1;
  return canvas.hidden ? 0 : ink;
}"""


@contextmanager
def served(folder: Path, serve: Callable[[Flask], str]) -> Iterator[str]:
    store = Store([folder], interval=0.3).start()
    try:
        assert store.wait(30)
        store.studies.wait()
        yield serve(create_app(store).server)
    finally:
        store.stop()


def saved(page: Page, form: str) -> Path:
    if page.locator(f"{CARD} details").get_attribute("open") is None:
        page.locator(f"{CARD} summary").click()
    with page.expect_download() as download:
        page.locator(f"{CARD} [data-act={form}]").click()
    assert download.value.suggested_filename.endswith(f".{form}")
    return Path(download.value.path())


def test_lines_are_saved_as_svg_in_which_names_stay_text(page: Page, serve: Callable[[Flask], str], tmp_path: Path) -> None:
    journal = write_study(tmp_path / "search" / "journal.log")
    text = journal.read_text().replace('"x"', json.dumps(NAME)).replace('"a"', json.dumps(CHOICE))
    journal.write_text(text.replace('\\"a\\"', json.dumps(json.dumps(CHOICE))[1:-1]))
    with served(tmp_path, serve) as address:
        for lang, item in (("en", "SVG image"), ("zh", "SVG 图片")):
            show(page, f"{address}/tuning")
            page.evaluate("lang => window.mindscope.prefs.set({ lang })", lang)
            expect(page.locator(HOST)).to_have_attribute("data-lines", "3")
            expect(page.locator(f"{CARD} [data-act=svg] .{lang}")).to_have_text(item)
            root = ElementTree.fromstring(saved(page, "svg").read_bytes())
            assert {one.tag for one in root.iter()} <= {f"{SVG}{tag}" for tag in ("svg", "g", "path", "rect", "text")}
            assert not [name for one in root.iter() for name in one.attrib if name.startswith("on") or name.endswith("href")]
            texts = [one.text or "" for one in root.iter(f"{SVG}text")]
            assert any(one.startswith("</text><script>") or one.endswith("]]>") for one in texts), texts
            assert any(one.startswith("<img") for one in texts), texts
            lines = [one for one in root.iter(f"{SVG}path") if one.attrib["d"].count("L") == 3]
            assert len(lines) == 3, "one for each trial, over four axes"
            assert saved(page, "png").read_bytes().startswith(b"\x89PNG")
        page.evaluate("window.mindscope.prefs.set({ lang: 'en' })")


def test_many_lines_are_drawn_over_frames_and_follow_a_brush(
    page: Page, serve: Callable[[Flask], str], tmp_path: Path
) -> None:
    random = np.random.default_rng(3)
    (tmp_path / "search").mkdir()
    rows = random.uniform(size=(MANY, 3)).tolist()
    trials = (trial(at, "complete", [c], x=a, y=10 ** (-4 * b)) for at, (a, b, c) in enumerate(rows))
    (tmp_path / "search" / "journal.log").write_text(begun() + "".join(trials))
    with served(tmp_path, serve) as address:
        show(page, f"{address}/tuning")
        host = page.locator(HOST)
        expect(host).to_have_attribute("data-shown", str(MANY))
        expect(host).not_to_have_attribute("aria-busy", "true")
        whole = page.evaluate(INK, "lines")
        assert whole > 10_000
        assert page.evaluate(INK, "all") == 0, "hidden while all lines are held"
        page.locator(f"{CARD} .y-axis").first.focus()
        # The first press makes a brush of the upper half, later ones move it: each asks for new lines before the old are there.
        for key in ("ArrowUp", *["ArrowDown"] * 5):
            page.keyboard.press(key)
        values = np.array(rows)[:, 0]
        room = 0.025 * (values.max() - values.min())
        low, high = values.min() - room, values.max() + room
        down = 5 * 0.02 * (high - low)
        held = ((low + high) / 2 - down <= values) & (values <= high - down)
        expect(host).to_have_attribute("data-shown", str(held.sum()))
        expect(host).not_to_have_attribute("aria-busy", "true")
        assert 10_000 < page.evaluate(INK, "lines") < whole
        assert page.evaluate(INK, "all") >= whole
        page.keyboard.press("Delete")
        expect(host).to_have_attribute("data-shown", str(MANY))
        expect(host).not_to_have_attribute("aria-busy", "true")
        assert page.evaluate(INK, "lines") == whole, "the same lines in the same order"
