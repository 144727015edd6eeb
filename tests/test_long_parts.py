"""No long test is left out of `make test-long`."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parent
LONG = re.compile(r"\bmark\.long\b|\blong_after\b|\bsome_or_every\b")


def test_every_folder_of_browser_tests_with_long_ones_is_a_part() -> None:
    """A part without a long test would fail, since pytest fails where it selects nothing."""
    makefile = (TESTS.parent / "Makefile").read_text(encoding="utf-8")
    listed = re.search(r"^LONG_PAGES = (.*)$", makefile, re.MULTILINE)
    assert listed is not None
    browser = TESTS / "browser"
    long = {path.parent for path in browser.rglob("test_*.py") if LONG.search(path.read_text(encoding="utf-8"))}
    assert sorted(listed[1].split()) == sorted("pages" if folder == browser else folder.name for folder in long)
