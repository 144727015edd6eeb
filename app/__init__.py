"""The Dash application: command line, settings, store of runs, server and embedding.

    from app import create_app, mount, pages, save, show
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.saving.saving import save
    from app.web.embedding import mount, pages, show
    from app.web.server import create_app

__version__ = "0.2.0"
__all__ = ["__version__", "create_app", "mount", "pages", "save", "show"]

# Imported on first access, so that `mindscope --help` does not load Dash.
_MODULES = {"create_app": "app.web.server", "save": "app.saving.saving"}
_MODULES |= dict.fromkeys(("mount", "pages", "show"), "app.web.embedding")


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'app' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
