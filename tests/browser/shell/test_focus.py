"""Who works by keys never loses the focus: it is on something that is on screen, whatever a key press or new data removes.

`document.activeElement` becomes the body where a focused element is removed, hidden or disabled. From there Tab begins at the
top of the page and a screen reader is silent.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from layouts import PAGES
from parsers.recording import EventWriter
from tests.browser.showing import show
from tests.browser.waiting import WAIT_MS, frames, polls, settles, steady

GROUPS = sorted({page.group for page in PAGES})
MOST = 6
"""Most controls pressed per page in `make test-long`: one of each kind, those of the page before those around it."""
CONTROLS = """(most) => {
  const kind = (one) => [one.localName, one.className, one.dataset.act, one.dataset.action].join(' ');
  const all = document.querySelectorAll('button, summary, a[data-page], a[href^="?"], [role=button]');
  const pressed = Array.from(all).filter((one) => (
    one.tabIndex >= 0 && !one.disabled && one.ariaDisabled !== 'true' && !one.download
    && one.checkVisibility({ visibilityProperty: true })
  ));
  window.kindOf = kind;
  window.ofKind = (wanted) => pressed.find((one) => kind(one) === wanted && one.isConnected)
    || Array.from(document.querySelectorAll('button, summary, a, [role=button]')).find(
      (one) => kind(one) === wanted && one.checkVisibility({ visibilityProperty: true }));
  const own = (one) => (one.closest('main') ? 0 : 1);
  return Array.from(new Set([...pressed].sort((a, b) => own(a) - own(b)).map(kind))).slice(0, most);
}"""
FOCUS = "kind => { const one = window.ofKind(kind); one?.focus(); return document.activeElement === one; }"
LOST = """() => {
  const now = document.activeElement;
  return !now || now === document.body || !now.checkVisibility({ visibilityProperty: true });
}"""
KEPT = f"() => !({LOST})()"
RELOADED = """() => Array.from(document.querySelectorAll('main a[href]')).filter((one) => (
  one.origin === location.origin && one.dataset.page === undefined && !one.hasAttribute('download') && !one.target
  && !one.pathname.includes('/api/') && !one.getAttribute('href').startsWith('?') && !one.className.startsWith('ms-views')
)).map((one) => one.outerHTML.slice(0, 200))"""
"""Links to pages that would load the whole application anew, which forgets what had the focus."""


def settle(page: Page) -> bool:
    """Wait until scripts have answered a key press; return whether something has the focus then, and some frames later."""
    frames(page, 8)
    try:
        for _ in range(2):  # what is drawn twice may lose it twice
            page.wait_for_function(KEPT, timeout=8000)
            frames(page, 4)
    except PlaywrightTimeout:
        return False
    return True


@pytest.mark.long
@pytest.mark.parametrize("most", [1, MOST])
@pytest.mark.parametrize("group", GROUPS)
def test_no_press_of_a_control_loses_the_focus(browser: Browser, everything: str, group: str, most: int) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-US")
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    page.on("popup", lambda other: other.close())
    lost: list[str] = []
    tried = 0
    for shown in (one for one in PAGES if one.group == group):
        address = f"{everything}/{shown.path}"

        def load(address: str = address) -> list[str]:
            with settles(page):
                if most == MOST or page.locator("dialog[open]").count():
                    page.goto(address)
                else:
                    show(page, address)
                expect(page.locator(".ms-frame")).to_be_visible()
            found: list[str] = page.evaluate(CONTROLS, most)
            return found

        kinds = load()
        lost += [f"{shown.name}: a link loads everything anew: {one}" for one in page.evaluate(RELOADED)]
        here = page.url.split("?")[0]
        for kind in kinds:
            if not page.evaluate(FOCUS, kind):
                continue
            tried += 1
            for key in ("Enter", "Escape"):
                page.keyboard.press(key)
                settle(page)
                if page.evaluate(LOST):
                    lost.append(f"{shown.name}: {key} on {kind}")
            if page.url.split("?")[0] != here or page.locator("dialog[open]").count():
                load()
    context.close()
    assert tried >= most
    assert not lost, "\n".join(lost)


def named(page: Page) -> str:
    """What has the focus: its name or text."""
    found: str = page.evaluate(
        "() => { const now = document.activeElement; return now.getAttribute('aria-label') || now.title || now.innerText.trim()"
        " || now.className || now.localName; }"
    )
    return found


def focused(page: Page, wanted: str) -> None:
    """Wait until what has the focus matches a selector."""
    page.wait_for_function("wanted => document.activeElement.matches(wanted)", arg=wanted)


@pytest.mark.long
def test_the_next_chip_has_the_focus_after_one_is_removed(page: Page, recorded: str) -> None:
    show(page, f"{recorded}/scalars?run=lenet_sink_mode&run=lenet_adam_lr0.01_b64&run=nan_inf")
    chips = page.locator(".ms-chip-remove")
    expect(chips).to_have_count(3)
    chips.first.focus()
    for left in (2, 1):
        page.keyboard.press("Enter")
        expect(chips).to_have_count(left)
        focused(page, ".ms-chip-remove")


def test_a_menu_that_escape_closes_leaves_the_focus_on_its_button(page: Page, recorded: str) -> None:
    show(page, f"{recorded}/scalars")
    summary = page.locator(".ms-cards-controls details.ms-details > summary").first
    summary.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("() => !document.activeElement.matches('summary')"), "something within has the focus"
    page.keyboard.press("Escape")
    expect(summary).to_be_focused()


def test_escape_leaves_a_filter_for_what_comes_next_and_letters_are_commands(page: Page, recorded: str) -> None:
    show(page, f"{recorded}/scalars?run=lenet_sink_mode")
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    page.keyboard.press("/")
    expect(page.locator("input.ms-filter")).to_be_focused()
    page.keyboard.press("Escape")
    assert not page.evaluate(LOST)
    page.keyboard.press("j")
    focused(page, ".ms-card")


@pytest.mark.long
def test_another_page_has_the_focus_when_a_link_within_the_page_opened_it(page: Page, recorded: str) -> None:
    show(page, f"{recorded}/overview?run=lenet_sink_mode")
    page.locator("a.ms-tile-link").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".ms-tagged")).to_be_visible()
    page.wait_for_function(KEPT)
    assert page.evaluate("() => Boolean(document.activeElement.closest('main'))")


@pytest.mark.long
def test_a_dialog_whose_opener_is_gone_leaves_the_focus_beside_it(page: Page, recorded: str) -> None:
    show(page, f"{recorded}/scalars?run=lenet_sink_mode")
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    chip = page.locator(".ms-chip-remove").first
    chip.focus()
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_be_visible()
    chip.evaluate("one => one.closest('.ms-chip').remove()")
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.wait_for_function(KEPT)
    page.goto("about:blank")  # React does not know that the chip is gone, and cannot draw the next page's


@pytest.mark.long
def test_new_data_leave_the_focus_where_it_is(page: Page, base: Path, address: str) -> None:
    show(page, f"{address}/scalars?run=lenet_sink_mode&run=nan_inf")
    row = page.locator(".ms-run-list-name")
    expect(row).to_have_count(2)
    for control in (row.first, page.locator(".ms-chip-remove").first, page.locator(".ms-slot .ms-card-tools button").first):
        control.focus()
        before = named(page)
        name = f"events.out.events.summary.18.{len(before)}.host_MS"
        with EventWriter(str(base / "lenet_sink_mode" / name), "mindspore") as out:
            out.add(900 + len(before), {"loss": 1.25})
        page.locator('[data-action="refresh"]').first.evaluate("one => one.click()")
        polls(page, 2)
        assert named(page) == before


def test_a_click_beside_everything_takes_the_focus_away(page: Page, recorded: str) -> None:
    """The guard is for what is lost, not for what is given up."""
    show(page, f"{recorded}/scalars?run=lenet_sink_mode")
    page.locator(".ms-chip-remove").first.focus()
    page.evaluate("() => document.activeElement.blur()")
    steady(page, "() => document.activeElement.outerHTML.length")
    assert page.evaluate("() => document.activeElement === document.body")
