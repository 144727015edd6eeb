"""Our only uses of Dash's private modules; `tests/app/web/test_private_dash.py` says what each is for.

Dash 4.4 has no public way to do these things, so pyproject.toml pins the tested minor version.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from dash import _callback, _get_app, _get_paths, _hooks, _pages
from dash._utils import to_json
from plotly.io import _json as _plotly_json

__all__ = ["NoHooks", "apart_from_other_apps", "to_json"]
# to_json serializes components as Dash sends them, so that a page's content can be built once and served as a file.

_module_of_plotly = _plotly_json.get_module


def whole_module(name: str, should_load: bool = True) -> Any:
    """Return a module as plotly looks it up to encode JSON, but never one that another thread is still importing.

    plotly takes pandas from `sys.modules`, and fails if it is half imported (`parsers.deferred` imports it when it is first
    used); importing it again waits until it is complete.
    """
    if should_load:
        return _module_of_plotly(name)
    return None if sys.modules.get(name) is None else importlib.import_module(name)


_plotly_json.get_module = whole_module


class NoHooks:
    """Replaces the hooks of an application by none.

    Dash loads the hooks of every installed package, and these may add scripts and routes.
    """

    def __init__(self) -> None:
        self.hooks = _hooks._Hooks()

    def get_hooks(self, _name: str) -> list[Any]:
        """Return no hooks."""
        return []


@contextlib.contextmanager
def apart_from_other_apps() -> Iterator[None]:
    """Isolate our application from DASH_* environment variables and from other Dash applications in the process.

    Dash reads DASH_* variables silently, some of which contradict any argument; it gives callbacks made with the global
    `dash.callback` to whichever application is set up first; and it lets the newest application answer `dash.get_app`,
    `dash.get_asset_url` and `dash.register_page`.
    """
    variables = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("DASH_")}
    waiting = [_callback.GLOBAL_CALLBACK_MAP, _callback.GLOBAL_CALLBACK_LIST, _callback.GLOBAL_INLINE_SCRIPTS]
    saved = [container.copy() for container in waiting]
    for container in waiting:
        container.clear()
    current = _get_app.APP, _get_paths.CONFIG, _pages.CONFIG
    try:
        yield
    finally:
        os.environ.update(variables)
        for container, content in zip(waiting, saved, strict=True):
            container.clear()
            (container.update if isinstance(container, dict) else container.extend)(content)
        if current[0] is not None:
            _get_app.APP, _get_paths.CONFIG, _pages.CONFIG = current
