"""Our scripts and styles in few files: one that every page needs, one of the shell, one for each page.

A browser asks for a dozen files instead of fifty, and for those of a page only when the page is opened. An asset belongs to
the page whose name it begins with (`scalars.js`, `scalars_hover.js`), or else to all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from layouts.page import Page

COMMON = "common"
SHELL = "shell"
KINDS = (".css", ".js")
_PLACE = "parcels/"
_SHELL_ONLY = ("shell.js", "views.js")  # routing, menu and saved views, of our own application alone


def name_of(owner: str, kind: str) -> str:
    """The name a parcel is served under, like an asset's. owner: COMMON, SHELL or a page's name; kind: one of KINDS."""
    return f"{_PLACE}{owner}{kind}"


def parcels(assets: Sequence[str], pages: Sequence[Page], apart: Sequence[str] = ()) -> dict[str, list[str]]:
    """Name of each parcel that has any content -> the assets in it, in their order. apart: assets that are in none."""
    found: dict[str, list[str]] = {}
    for asset in assets:
        kind = next((kind for kind in KINDS if asset.endswith(kind)), None)
        if kind is not None and asset not in apart:
            found.setdefault(name_of(_owner(asset, pages), kind), []).append(asset)
    return found


def _owner(asset: str, pages: Sequence[Page]) -> str:
    if asset in _SHELL_ONLY:
        return SHELL
    owners = (*(page.name for page in pages), *(name for page in pages for name in page.shares))
    return next((name for name in owners if re.match(rf"{re.escape(name)}[._]", asset)), COMMON)
