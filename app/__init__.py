"""The Dash application: command line, settings, store of runs, server and embedding.

    from app import create_app, mount, pages, show
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.web.embedding import mount, pages, show
    from app.web.server import create_app

__version__ = "0.2.0"
__all__ = ["__version__", "create_app", "mount", "pages", "show"]

# Loaded when first asked for: `mindscope --help` needs no Dash.
_HOMES = {"create_app": "app.web.server"} | dict.fromkeys(("mount", "pages", "show"), "app.web.embedding")


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'app' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
