"""The keys that a view file may have are those that scripts and pages read from a page's state, no more and no fewer."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from layouts import PAGES
from layouts.kit.parameters import Request
from layouts.runs.state_keys import STATE_KEYS

ROOT = Path(__file__).parents[3]
_CHANGED = re.compile(r"\b(?:page|state|cards)\.change\(\{([^;]*?)\}\)", re.DOTALL)
_KEY = re.compile(r"(?:^|[,{])\s*([a-z_]+)\s*(?=[:,}]|$)")
_READ = re.compile(r'\b(?:last|listed|toggled|withEntry|entry|get|flag)\((?:page|state|page\.state|now), "([a-z_]+)"')
_BOUND = re.compile(r'\bbind\(\s*app, ids, "[^"]+", "[^"]+", "([a-z_]+)"')


def keys() -> set[str]:
    found: set[str] = set()
    for path in (ROOT / "assets").rglob("*.js"):
        if "vendor" in path.parts:
            continue
        text = path.read_text()
        found.update(_READ.findall(text))
        found.update(key for change in _CHANGED.findall(text) for key in _KEY.findall(change))
    for path in (ROOT / "layouts").rglob("*.py"):
        found.update(_BOUND.findall(path.read_text()))
    for page in PAGES:
        import_module(f"layouts.{page.folder}.page")
        found.update(page.keeps)
    for request in requests(Request):
        found.update(request.keys())
    return found - {"run"}


def requests(kind: type[Request]) -> list[type[Request]]:
    """What pages ask for: the requests below one that are declared by pages."""
    below = [one for one in kind.__subclasses__() if one.__module__.startswith("layouts.")]
    return below + [deeper for one in below for deeper in requests(one)]


def test_the_keys_are_those_of_the_pages() -> None:
    assert sorted(keys() - set(STATE_KEYS)) == [], "add them to layouts/runs/state_keys.py"
    assert sorted(set(STATE_KEYS) - keys()) == [], "no page has them any more"
    assert {"smooth", "x", "pin", "full", "zoom", "log", "q", "columns"} <= set(STATE_KEYS)
    assert list(STATE_KEYS) == sorted(STATE_KEYS)
