"""What a user of JupyterLab does, in Chromium: clicks the tile of the launcher, and runs a cell with the magic.

`tests/jupyter/run_lab.py` starts it with the Python that has playwright.
"""

from __future__ import annotations

import re
import shutil
import sys
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect, sync_playwright

SECONDS = 90
CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def main(address: str, token: str, notebook: str) -> None:
    """Do both; an error of playwright says what was not there."""
    with sync_playwright() as playwright:
        path = next((found for name in CHROMIUMS if (found := shutil.which(name))), None)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(1000 * SECONDS)
        expect.set_options(timeout=1000 * SECONDS)
        open_lab(page, f"{address}lab?reset&token={token}")
        tile(page)
        page.goto(f"{address}lab/tree/{notebook}")
        magic(page, urlsplit(address).path)
        browser.close()
    print("The tile and the magic work in a browser.")


def open_lab(page: Page, address: str) -> None:
    """Open JupyterLab. Dash has an extension of its own there that wants to be built; we need none."""
    dialog = page.locator(".jp-Dialog", has_text="dash-jupyterlab")
    page.add_locator_handler(dialog, lambda: dialog.get_by_role("button", name="Cancel").click())
    page.goto(address)


def tile(page: Page) -> None:
    """The tile opens a tab with the dashboard over the notebook's directory."""
    with page.context.expect_page() as opened:
        page.locator(".jp-LauncherCard", has_text="Mindscope").first.click()
    shown = opened.value
    expect(shown.locator(".ms-picker").first).to_be_visible()
    expect(shown).to_have_url(re.compile(r"/mindscope/"))
    expect(shown.locator("[col-id=name]").get_by_text("a", exact=True).first).to_be_visible()
    shown.close()


def magic(page: Page, prefix: str) -> None:
    """Two cells show the page of curves, drawn: by the magic through the proxy of JupyterLab, and by `show` at a port."""
    page.locator(".jp-Notebook .jp-CodeCell").first.click()
    expect(page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")).to_be_attached()
    for place in (rf"^{re.escape(prefix)}proxy/\d+/scalars\?embed=1$", r"^http://127\.0\.0\.1:\d+/scalars\?embed=1$"):
        page.keyboard.press("Shift+Enter")
        frame = page.locator(".jp-OutputArea iframe").last
        expect(frame).to_have_attribute("src", re.compile(place))
        drawn = frame.content_frame.locator(".ms-slot:visible .js-plotly-plot")
        expect(drawn.first).to_be_visible()


if __name__ == "__main__":
    main(*sys.argv[1:])
