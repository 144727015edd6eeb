"""View files in the list of views: downloaded, opened again, refused with the reason."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import in_address
from tests.browser.showing import show
from tests.browser.waiting import becomes


def test_a_view_is_downloaded_and_opened_again(page: Page, recorded: str, tmp_path: Path) -> None:
    show(page, f"{recorded}/scalars?run=lenet_sink_mode&run=long_history&smooth=0.6")
    expect(page.locator(".ms-slot").first).to_be_visible()
    page.locator(".ms-views > summary").click()
    with page.expect_download() as waiting:
        page.locator(".ms-views-save-file").click()
    assert waiting.value.suggested_filename == "Scalars.toml"
    waiting.value.save_as(tmp_path / "view.toml")
    text = (tmp_path / "view.toml").read_text()
    assert 'runs = ["^lenet_sink_mode$", "^long_history$"]' in text
    show(page, f"{recorded}/runs")
    page.locator(".ms-views > summary").click()
    page.locator(".ms-views-chosen").set_input_files(tmp_path / "view.toml")
    becomes(page, lambda: "smooth=0.6" in page.url, True)
    assert sorted(in_address(page, "run")) == ["lenet_sink_mode", "long_history"]
    expect(page.locator(".ms-views")).not_to_have_attribute("open", "")


def test_a_wrong_view_says_what_is_wrong_in_it(unwatched: Page, recorded: str, tmp_path: Path) -> None:
    (tmp_path / "view.toml").write_text('page = "scalars"\n[state]\nsmoth = 1\n')
    unwatched.goto(f"{recorded}/scalars")
    expect(unwatched.locator(".ms-slot").first).to_be_visible()
    unwatched.locator(".ms-views > summary").click()
    unwatched.locator(".ms-views-chosen").set_input_files(tmp_path / "view.toml")
    said = unwatched.locator(".ms-view-said")
    expect(said).to_contain_text("view.toml was not opened")
    expect(said).to_contain_text("did you mean state.smooth?")
    assert unwatched.url == f"{recorded}/scalars"


def test_opening_a_view_goes_to_its_card(page: Page, recorded: str, tmp_path: Path) -> None:
    (tmp_path / "view.toml").write_text('page = "scalars"\nruns = ["^long_history$"]\ncard = "loss"\n')
    page.set_viewport_size({"width": 1000, "height": 420})
    show(page, f"{recorded}/runs")
    page.locator(".ms-views > summary").click()
    page.locator(".ms-views-chosen").set_input_files(tmp_path / "view.toml")
    card = page.locator(".ms-slot[data-key='loss']")
    expect(card).to_be_focused()
    expect(card).to_be_in_viewport()


def test_a_card_that_the_page_has_not_is_named(browser: Browser, recorded: str, tmp_path: Path) -> None:
    name = "</script><img src=x onerror=window.ran=1>"
    (tmp_path / "view.toml").write_text(f'page = "scalars"\nruns = ["^long_history$"]\ncard = "{name}"\n')
    context = browser.new_context()
    page = context.new_page()
    page.clock.install()
    page.goto(f"{recorded}/scalars?run=long_history")
    page.locator(".ms-views > summary").click()
    page.locator(".ms-views-chosen").set_input_files(tmp_path / "view.toml")
    expect(page.locator(".ms-slot[data-key='loss']")).to_be_visible()
    page.clock.fast_forward(60_000)
    expect(page.locator(".ms-view-said:visible")).to_contain_text(f"The page has no card “{name}”")
    assert page.evaluate("() => window.ran") is None
    context.close()
