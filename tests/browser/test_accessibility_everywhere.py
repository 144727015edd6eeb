"""Every page against axe-core's rules in all combinations: both themes, both languages, a wide screen and a phone.

tests/browser/test_accessibility.py checks each page once in every run.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from layouts import PAGES
from tests.browser.showing import show
from tests.browser.test_accessibility import FOUND, GRAVE, VIEWS, axe, is_left_out  # noqa: F401  axe is a fixture
from tests.browser.waiting import settles

WIDE: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
THEMES, LANGUAGES = ("light", "dark"), ("en", "zh-CN")


@pytest.mark.long
@pytest.mark.parametrize("shown", PAGES, ids=lambda page: page.name)
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_nothing_grave_is_found_in_any_theme_language_and_width(
    page: Page, everything: str, axe: str, shown, size: ViewportSize  # noqa: F811
) -> None:
    page.set_viewport_size(size)
    grave = []
    for path in (shown.path, *VIEWS.get(shown.name, ())):
        with settles(page):
            show(page, f"{everything}/{path}")
            expect(page.locator(".ms-frame")).to_be_visible()
        page.evaluate(axe)
        for theme in THEMES:
            for language in LANGUAGES:
                page.evaluate("([theme, lang]) => mindscope.prefs.set({ theme, lang })", [theme, language])
                expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", theme)
                found = [one for one in page.evaluate(FOUND) if one["impact"] in GRAVE and not is_left_out(one)]
                grave += [f"{path}, {theme}, {language}: {one['id']} {one['target']}: {one['why']}" for one in found]
    assert not grave, "\n".join(grave)


@pytest.mark.long
def test_the_first_curve_is_in_the_first_screen_of_a_phone(page: Page, recorded: str) -> None:
    page.set_viewport_size(PHONE)
    show(page, f"{recorded}/scalars?run=lenet_sink_mode&run=lenet_adam_lr0.01_b64")
    plot = page.locator(".js-plotly-plot .scatterlayer .trace").first
    expect(plot).to_be_attached()
    box = page.locator(".js-plotly-plot").first.bounding_box()
    assert box is not None
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= PHONE["height"]
    assert box["x"] + box["width"] <= PHONE["width"]
