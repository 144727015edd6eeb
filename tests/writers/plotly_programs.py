"""Makes assets/vendor/plotly_programs.js: what plotly's WebGL library compiles for parallel coordinates.

It makes JavaScript functions of texts, which our Content-Security-Policy forbids, unless it finds them ready under the SHA-256
of their text. To be run again with each new version of plotly:

    python -m tests.writers.plotly_programs
"""

from __future__ import annotations

import shutil
from pathlib import Path

import plotly
from playwright.sync_api import Browser, sync_playwright

ASSET = Path(__file__).resolve().parents[2] / "assets" / "vendor" / "plotly_programs.js"
_BUNDLE = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
_DRAW = """async () => {
  const dimensions = [[1, 2, 3], [3, 1, 2], [2, 2, 1]].map((values) => ({ values, constraintrange: [1, 2] }));
  const plot = await Plotly.newPlot("plot", [{ type: "parcoords", dimensions, line: { color: [0, 1, 2] } }]);
  await new Promise((done) => setTimeout(done, 1000));
  const [{ _module }] = plot._fullData;
  return Object.entries(_module.plot.reglPrecompiled).map(([name, program]) => [name, program.toString()]);
}"""
_HEAD = """// What plotly's WebGL library else compiles from texts, which our Content-Security-Policy forbids.
// Made by tests/writers/plotly_programs.py.
export const programs = {
"""


def programs(browser: Browser) -> dict[str, str]:
    """SHA-256 of a program -> its JavaScript, as the installed plotly has it."""
    page = browser.new_page()
    page.set_content('<div id="plot" style="width: 600px; height: 300px"></div>')
    page.add_script_tag(path=_BUNDLE)
    found: list[tuple[str, str]] = page.evaluate(_DRAW)
    page.close()
    return dict(sorted(found))


def asset(found: dict[str, str]) -> str:
    """The text of the asset."""
    return _HEAD + "".join(f'  "{name}": {program},\n' for name, program in found.items()) + "};\n"


if __name__ == "__main__":
    with sync_playwright() as playwright:
        path = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-headless-shell"))), None)
        made = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        ASSET.write_text(asset(programs(made)), encoding="utf-8")
        made.close()
