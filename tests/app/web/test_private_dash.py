"""What we need of Dash that it does not offer in public: each test says what would go wrong without it."""

from __future__ import annotations

import ast
import contextvars
import importlib
import json
import os
import sys
import threading
from pathlib import Path

import dash
import pytest
from dash import html
from plotly.io import _json

from app.web import private_dash, server
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[3]


def private_imports(path: Path) -> list[str]:
    """Names of private modules of Dash that a file imports."""
    found = []
    text = path.read_text(encoding="utf-8")
    if "dash" not in text:  # to parse a file takes much longer
        return found
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "dash":
            names = [*str(node.module).split("."), *(alias.name for alias in node.names)]
            found += [name for name in names if name.startswith("_")]
    return found


@pytest.mark.long
def test_private_modules_are_used_in_one_file() -> None:
    files = [path for folder in ("app", "layouts", "parsers") for path in (ROOT / folder).rglob("*.py")]
    assert [path.name for path in files if private_imports(path)] == ["private_dash.py"]
    assert set(private_imports(Path(private_dash.__file__))) == {
        "_callback", "_get_app", "_get_paths", "_hooks", "_pages", "_utils",
    }  # fmt: skip


def test_callback_a_host_keeps_the_callbacks_it_made_before_us(source) -> None:
    """Global callbacks go to whichever application is set up first: that would be ours."""
    before = dict(dash._callback.GLOBAL_CALLBACK_MAP)

    @dash.callback(dash.Output("host", "children"), dash.Input("host", "n_clicks"))
    def of_the_host(_n: int) -> str:
        return "x"

    app = server.create_app(source)
    assert "host.children" in dash._callback.GLOBAL_CALLBACK_MAP
    assert "host.children" not in app.callback_map
    dash._callback.GLOBAL_CALLBACK_MAP.clear()
    dash._callback.GLOBAL_CALLBACK_LIST.clear()
    dash._callback.GLOBAL_CALLBACK_MAP.update(before)


def test_get_app_get_paths_pages_a_host_is_still_the_application_of_the_process(source, monkeypatch) -> None:
    """The newest Dash answers `dash.get_app` and `dash.get_asset_url`: a host would get our paths."""
    host = dash.Dash("host", requests_pathname_prefix="/host/", routes_pathname_prefix="/host/")
    monkeypatch.setattr(dash._get_app, "APP", host)
    server.create_app(source, prefix="/ours/")
    assert contextvars.Context().run(dash.get_app) is host
    assert dash.get_relative_path("/x") == "/host/x"
    assert dash._pages.CONFIG is host.config


def test_hooks_scripts_of_other_packages_stay_out(source) -> None:
    """Dash loads the hooks that any installed package registers into every application."""
    dash.hooks.script([{"external_url": "https://example.invalid/tracker.js"}])
    try:
        page = server.create_app(source).server.test_client().get("/").text
    finally:
        dash.hooks._js_dist.clear()
    assert "tracker.js" not in page


def test_utils_components_as_dash_sends_them() -> None:
    """Contents of pages are made once and served as files, so they are serialised as in a callback's answer."""
    sent = json.loads(private_dash.to_json(html.Div("text", id="a")))
    assert sent == {"props": {"children": "text", "id": "a"}, "type": "Div", "namespace": "dash_html_components"}


def test_json_is_not_encoded_with_a_module_that_another_thread_is_importing(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """plotly would take pandas half imported, and answers would fail while the first frame is made."""
    (tmp_path / "slow_to_import.py").write_text("import time\nbegun = True\ntime.sleep(0.5)\nNaT = None\n")
    monkeypatch.syspath_prepend(tmp_path)
    importing = threading.Thread(target=importlib.import_module, args=["slow_to_import"])
    importing.start()
    until(lambda: hasattr(sys.modules.get("slow_to_import"), "begun"))
    assert not hasattr(sys.modules["slow_to_import"], "NaT")
    assert hasattr(_json.get_module("slow_to_import", should_load=False), "NaT")
    importing.join()
    assert _json.get_module("never_imported", should_load=False) is None
    assert _json.get_module("json") is json


def test_variables_of_the_environment_change_nothing(source, monkeypatch: pytest.MonkeyPatch) -> None:
    """DASH_* variables contradict arguments."""
    monkeypatch.setenv("DASH_REQUESTS_PATHNAME_PREFIX", "/elsewhere/")
    app = server.create_app(source, prefix="/ours/")
    assert app.config.requests_pathname_prefix == "/ours/"
    assert os.environ["DASH_REQUESTS_PATHNAME_PREFIX"] == "/elsewhere/"
