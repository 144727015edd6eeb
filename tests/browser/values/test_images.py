"""The images page, used as a person would, on files written for it and on real ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from playwright.sync_api import Locator, Page, expect

from app import create_app
from app.store.store import Store
from parsers.recording import EventWriter, Image
from tests.app.routes.values.test_media import HOSTILE, SVG, png
from tests.browser.showing import show
from tests.browser.waiting import becomes

CARDS = ".ms-slot:not([hidden])"


def write(folder: Path, greys: dict[str, list[tuple[int, bytes]]]) -> None:
    """One run with these images: {tag: [(step, encoded), ...]}."""
    folder.mkdir(parents=True, exist_ok=True)
    with EventWriter(str(folder / "events.out.events.summary.1700000000.1.vm_MS"), "mindspore") as writer:
        for tag, images in greys.items():
            for step, encoded in images:
                writer.add(step, {tag: Image(encoded, 8, 8)}, wall_time=1.7e9 + step)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Grey pictures whose grey is ten times their step in run a, plus one in run b."""
    steps = (1, 2, 3, 5, 8)
    digits = [(step, png(10 * step, 8, 8)) for step in steps]
    write(tmp_path / "a", {"digit": digits, HOSTILE: digits[:2], "again": [*digits[:3], (2, png(200, 8, 8))]})
    write(tmp_path / "b", {"digit": [(step, png(10 * step + 1, 8, 8)) for step in steps[1:]]})
    return tmp_path


@pytest.fixture
def given(runs: Path, serve: Callable[[Flask], str]) -> Iterator[str]:
    store = Store([runs], interval=0.5).start()
    assert store.wait(30)
    yield serve(create_app(store).server)
    store.stop()


def card(page: Page, tag: str) -> Locator:
    return page.locator(CARDS).filter(has=page.get_by_role("heading", name=tag, exact=True))


GREY = """img => img.decode().then(() => {
    const canvas = document.createElement('canvas');
    canvas.width = img.naturalWidth; canvas.height = img.naturalHeight;
    const context = canvas.getContext('2d');
    context.drawImage(img, 0, 0);
    return context.getImageData(1, 1, 1, 1).data[0];
})"""


def expect_grey(page: Page, picture: Locator, grey: int) -> None:
    """The picture's pixels, as the browser decoded them, become this grey."""
    def shown() -> int | None:
        there = picture.count() and picture.evaluate("img => img.complete && img.naturalWidth > 0")
        return picture.evaluate(GREY) if there else None

    becomes(page, shown, grey)


def picture(page: Page, tag: str, run: str) -> Locator:
    return card(page, tag).locator(f'.ms-image[data-run="{run}"] img')


def slide(page: Page, index: int, where: str = ".ms-steps-all") -> None:
    page.locator(f"{where} input").evaluate(
        "(range, value) => { range.value = value; range.dispatchEvent(new Event('input', {bubbles: true})); }", str(index))


def state(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def visit(page: Page, address: str, query: str = "") -> None:
    show(page, f"{address}/images?{query}")
    expect(page.locator(f"{CARDS} .ms-image img").first).to_be_visible()


def test_one_slider_reaches_every_step_of_every_run(page: Page, given: str) -> None:
    visit(page, given, "tag=digit")
    expect(page.locator(".ms-steps-of .en").first).to_have_text("5 of 5")
    expect_grey(page, picture(page, "digit", "a"), 80)
    expect_grey(page, picture(page, "digit", "b"), 81)
    for index, step in enumerate((1, 2, 3, 5, 8)):
        slide(page, index)
        expect(page.locator(".ms-steps-all .ms-steps-now .en")).to_have_text(f"Step {step}")
        expect_grey(page, picture(page, "digit", "a"), 10 * step)
    slide(page, 0)
    expect(card(page, "digit").locator('.ms-image[data-run="b"]')).to_contain_text("the first is at step 2")
    expect(page).to_have_url(re.compile("step=1"))


@pytest.mark.long
def test_a_step_recorded_twice_is_two_positions(page: Page, given: str) -> None:
    visit(page, given, "run=a&tag=again")
    seen = []
    for index in range(4):
        slide(page, index)
        seen.append(page.locator(".ms-steps-all .ms-steps-now .en").inner_text())
        expect_grey(page, picture(page, "again", "a"), (10, 20, 200, 30)[index])
    assert seen == ["Step 1", "Step 2 (time 1)", "Step 2 (time 2)", "Step 3"]


def test_keys_and_deep_link(page: Page, given: str) -> None:
    visit(page, given, "run=a&tag=digit&step=3")
    expect_grey(page, picture(page, "digit", "a"), 30)
    page.locator("body").press("ArrowRight")
    expect_grey(page, picture(page, "digit", "a"), 50)
    expect(page).to_have_url(re.compile("step=5"))
    page.keyboard.press("Home")
    expect_grey(page, picture(page, "digit", "a"), 10)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("End")
    expect_grey(page, picture(page, "digit", "a"), 80)
    expect(page).not_to_have_url(re.compile("step="))


@pytest.mark.long
def test_a_step_of_its_own_for_each_tag(page: Page, given: str) -> None:
    visit(page, given, "run=a&tag=digit&tag=again")
    page.get_by_role("button", name="Per tag").click()
    digit = card(page, "digit")
    expect(digit.locator(".ms-steps-own")).to_be_visible()
    digit.locator(".ms-steps-own input").evaluate(
        "range => { range.value = 0; range.dispatchEvent(new Event('input', {bubbles: true})); }")
    expect_grey(page, picture(page, "digit", "a"), 10)
    expect_grey(page, picture(page, "again", "a"), 30)
    expect(page).to_have_url(re.compile("at=1:digit"))
    page.reload()
    expect_grey(page, picture(page, "digit", "a"), 10)


@pytest.mark.long
def test_brightness_contrast_size_and_scaling(page: Page, given: str) -> None:
    visit(page, given, "run=a&tag=digit")
    image = picture(page, "digit", "a")
    for name in ("Brightness", "Contrast"):
        page.get_by_role("slider", name=name).evaluate(
            "range => { range.value = 150; range.dispatchEvent(new Event('input', {bubbles: true})); }")
    assert image.evaluate("img => getComputedStyle(img).filter") == "brightness(1.5) contrast(1.5)"
    expect(page).to_have_url(re.compile("bright=150&contrast=150"))
    page.get_by_role("button", name="Reset brightness and contrast").click()
    expect(page).not_to_have_url(re.compile("bright"))
    assert image.evaluate("img => getComputedStyle(img).filter") == "brightness(1) contrast(1)"
    assert image.evaluate("img => img.clientWidth") > 100
    assert image.evaluate("img => getComputedStyle(img).imageRendering") == "pixelated"
    page.get_by_role("button", name="Smooth").click()
    expect(page.locator(".ms-images-smooth")).to_be_visible()
    assert image.evaluate("img => getComputedStyle(img).imageRendering") == "auto"
    image.click()
    expect(page.locator(".ms-images-actual")).to_be_visible()
    assert image.evaluate("img => [img.clientWidth, img.clientHeight]") == [8, 8]
    expect(page).to_have_url(re.compile("size=actual"))


@pytest.mark.long
def test_two_pictures_are_compared(page: Page, given: str) -> None:
    visit(page, given, "tag=digit&step=5")
    figure = card(page, "digit").locator('.ms-image[data-run="a"]')
    figure.hover()
    figure.get_by_role("button", name="Compare").click()
    a, b = (page.locator(f'.ms-compare-stage .ms-image[data-side="{side}"] img') for side in "ab")
    expect_grey(page, a, 50)
    expect_grey(page, b, 51)
    page.locator("body").press("ArrowLeft")
    expect_grey(page, a, 30)
    expect_grey(page, b, 31)
    page.locator('.ms-compare-side[data-side="b"] select').select_option("a")
    slide(page, 0, '.ms-compare-side[data-side="b"] .ms-steps')
    expect_grey(page, b, 10)
    expect(page).to_have_url(re.compile("a=3:a&b=1:a"))
    page.get_by_role("button", name="Slider").click()
    split = page.get_by_role("slider", name="Boundary between A")
    before = split.bounding_box()
    assert before is not None
    page.mouse.click(before["x"] + before["width"] * 0.25, before["y"] + before["height"] / 2)
    assert 20 < float(split.input_value()) < 30
    expect(page).to_have_url(re.compile(r"split=2\d"))
    placed = split.input_value()
    page.reload()
    expect(page.get_by_role("slider", name="Boundary between A")).to_have_value(placed)
    page.get_by_role("button", name="Difference").click()
    expect(page.locator('.ms-compare-stage[data-how="difference"]')).to_be_visible()
    page.reload()
    expect_grey(page, b, 10)
    expect(page.locator('.ms-compare-stage[data-how="difference"]')).to_be_visible()
    card(page, "digit").hover()
    card(page, "digit").locator('.ms-card-tools [data-act="compare"]').click()
    expect(page.locator(".ms-image-grid .ms-image")).to_have_count(2)


@pytest.mark.long
def test_pictures_stand_so_that_they_are_as_large_as_they_can_be(
    page: Page, tmp_path: Path, serve: Callable[[Flask], str]
) -> None:
    for run in "abcdefgh":
        write(tmp_path / run, {"wide": [(1, png(9, 64, 8))], "high": [(1, png(9, 8, 64))]})
    store = Store([tmp_path], interval=0).start()
    assert store.wait(30)
    visit(page, serve(create_app(store).server), "tag=wide&tag=high")
    columns = "grid => getComputedStyle(grid).gridTemplateColumns.split(' ').length"
    for tag, fewest, most in (("wide", 1, 2), ("high", 4, 8)):
        expect_grey(page, card(page, tag).locator("img").last, 9)
        grid = card(page, tag).locator(".ms-image-grid")
        assert fewest <= grid.evaluate(columns) <= most
        assert grid.evaluate("grid => grid.scrollHeight <= grid.clientHeight"), "all are in sight"
    store.stop()


@pytest.mark.long
def test_eight_small_pictures_are_on_a_screen(
    unwatched: Page, tmp_path: Path, serve: Callable[[Flask], str]
) -> None:
    write(tmp_path / "a", {f"digit/{number}": [(1, png(10 * number, 28, 28))] for number in range(8)})
    store = Store([tmp_path], interval=0).start()
    assert store.wait(30)
    unwatched.set_viewport_size({"width": 1440, "height": 900})
    visit(unwatched, serve(create_app(store).server))
    pictures = unwatched.locator(f"{CARDS} .ms-image-frame img")
    expect(pictures).to_have_count(8)
    expect(unwatched.locator(".ms-images-small")).to_be_attached()
    boxes = [one.bounding_box() for one in pictures.all()]
    assert all(box and box["y"] + box["height"] <= 900 and box["height"] >= 100 for box in boxes), boxes
    expect(unwatched.locator(f"{CARDS} .ms-image-run").first).to_have_text("a")
    store.stop()


@pytest.mark.long
def test_a_picture_already_there_is_not_sent_again(page: Page, given: str) -> None:
    visit(page, given, "run=a&tag=digit")
    source = picture(page, "digit", "a").get_attribute("src")
    status = page.evaluate(
        """async url => { const first = await fetch(url, {cache: 'no-store'});
        const again = await fetch(url, {cache: 'no-store', headers: {'If-None-Match': first.headers.get('ETag')}});
        return [first.status, again.status]; }""", source)
    assert status == [200, 304]


def test_a_hostile_tag_is_text(page: Page, given: str) -> None:
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    visit(page, given, "run=a")
    hostile = card(page, HOSTILE)
    expect_grey(page, hostile.locator("img"), 20)
    assert HOSTILE in (hostile.locator("img").get_attribute("alt") or "")
    with page.expect_download() as download:
        hostile.locator(".ms-image").hover()
        hostile.get_by_role("link", name="Download this image").click()
    assert download.value.suggested_filename.endswith("_2.png")
    assert Path(download.value.path()).read_bytes() == png(20, 8, 8)


@pytest.mark.long
def test_new_images_come_by_themselves_where_the_newest_was_shown(page: Page, given: str, runs: Path) -> None:
    visit(page, given, "run=b&tag=digit")
    expect_grey(page, picture(page, "digit", "b"), 81)
    with EventWriter(str(runs / "b" / "events.out.events.summary.1700000100.1.vm_MS"), "mindspore") as writer:
        writer.add(9, {"digit": Image(png(99, 8, 8), 8, 8)})
    page.locator("body").press("r")
    expect_grey(page, picture(page, "digit", "b"), 99)


def test_a_damaged_image_says_so_on_its_card(unwatched: Page, runs: Path, serve: Callable[[Flask], str]) -> None:
    broken = png(50, 8, 8)
    write(runs / "bad", {
        "svg": [(1, SVG)], "huge": [(1, png(1, 100_000, 100_000))], "good": [(1, png(7, 8, 8))],
        "broken": [(1, broken[:41] + b"\0" * (len(broken) - 41))], "cut": [(1, broken[:36])], "claims": [(1, png(9, 4, 4))],
    })
    store = Store([runs], interval=0).start()
    assert store.wait(30)
    visit(unwatched, serve(create_app(store).server), "run=bad")
    wanted = re.compile("record at byte .*expected a PNG, JPEG, GIF")
    expect(card(unwatched, "svg").locator(".ms-image-note")).to_contain_text(wanted)
    expect(card(unwatched, "huge").locator(".ms-image-note")).to_contain_text("100,000 x 100,000")
    expect(card(unwatched, "broken").locator(".ms-image-note")).to_contain_text("broken, bad, step 1: The image is damaged")
    cut = "cut, bad, step 1: The image is cut: it has 36 bytes"
    expect(card(unwatched, "cut").locator(".ms-image-note")).to_contain_text(cut)
    expect(card(unwatched, "claims").locator(".ms-image-note")).to_contain_text("says 8 x 8 pixels, its own header 4 x 4")
    expect_grey(unwatched, card(unwatched, "claims").locator("img"), 9)
    expect_grey(unwatched, card(unwatched, "good").locator("img"), 7)
    store.stop()


@pytest.mark.long
def test_runs_without_images_are_told_how_to_record_one(page: Page, address: str) -> None:
    show(page, f"{address}/images?run=long_history")
    expect(page.get_by_text("The chosen runs recorded no images.").filter(visible=True)).to_be_visible()
    expect(page.locator("code", has_text="ImageSummary")).to_be_visible()
