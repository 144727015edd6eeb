"""The vendored scripts are what npm and the Python packages have."""

from __future__ import annotations

import os
import re
from pathlib import Path

import plotly
import pytest

from app.web.bundles import CARTESIAN, assets_directory
from app.web.modules import GENERATORS
from app.web.server import create_app
from tests.sources import MemorySource

NODE_MODULES = Path(__file__).resolve().parents[3] / "node_modules"
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


def test_what_every_page_needs_is_compressed_before_it_is_asked_for() -> None:
    app = create_app(MemorySource())
    app.warm()
    ready = {os.path.relpath(paths[0], assets_directory()) for paths in app.bundles._loaded}
    assert {CARTESIAN, GENERATORS} <= ready
    assert str(WHOLE) in {paths[0] for paths in app.bundles._loaded}
    assert all(bundle.encoding(("br",)) in bundle._forms for _, bundle in app.bundles._loaded.values())
