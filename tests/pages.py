"""The pages by their names."""

from __future__ import annotations

from layouts import PAGES
from layouts.kit.page import Page


def page_named(name: str) -> Page:
    """Return a page of the menu."""
    return next(page for page in PAGES if page.name == name)
