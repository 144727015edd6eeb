"""What a user of JupyterLab does, in Chromium: clicks the tile of the launcher, and runs a cell with the magic.

`tests/jupyter/run_lab.py` starts it with the Python that has playwright.
"""

from __future__ import annotations

import re
import shutil
import sys

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
        open_lab(page, f"{address}lab?token={token}")
        tile(page)
        page.goto(f"{address}lab/tree/{notebook}")
        magic(page)
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
    expect(shown.get_by_text("runs/a").first).to_be_visible()
    shown.close()


def magic(page: Page) -> None:
    """A cell with `%mindscope` shows the page of curves below it, drawn, through the proxy of JupyterLab."""
    page.locator(".jp-Notebook .jp-CodeCell").first.click()
    expect(page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")).to_be_attached()
    page.keyboard.press("Shift+Enter")
    shown = page.locator(".jp-OutputArea iframe")
    expect(shown).to_be_visible()
    inside = page.frame_locator(".jp-OutputArea iframe")
    expect(inside.locator(".ms-slot:visible .js-plotly-plot, .ms-slot:visible canvas").first).to_be_visible()
    assert re.search(r"/scalars\?embed=1$", str(shown.get_attribute("src")))


if __name__ == "__main__":
    main(*sys.argv[1:])
