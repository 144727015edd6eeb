"""Names of classes and modules: a stack trace names one place."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = [path for package in ("app", "layouts", "parsers") for path in sorted((ROOT / package).rglob("*.py"))]
SCRIPTS = [path for path in sorted((ROOT / "assets").rglob("*.js")) if "vendor" not in path.parts]
CLASS = re.compile(r"^ *class (\w+)[(:]", re.MULTILINE)
AT_MOST = 2
"""Classes of one name: two may have it where each is the plain word of its subject."""
SAY_NOTHING = {"Ask", "Look", "Part", "Found", "Kept", "Choice", "Facts", "View", "Recorded", "Shown", "Wanted"}
MODULES = {"look", "offers", "reading", "again", "choice", "words", "parts", "utils", "helpers", "common", "manager"}


def test_few_classes_share_a_name_and_none_has_one_that_says_nothing() -> None:
    classes = Counter(name for path in FILES for name in CLASS.findall(path.read_text("utf-8")))
    assert len(classes) > 500
    assert {name: count for name, count in classes.items() if count > AT_MOST} == {}
    assert SAY_NOTHING & set(classes) == set()


def test_modules_have_names_that_say_what_they_hold() -> None:
    assert [str(path.relative_to(ROOT)) for path in [*FILES, *SCRIPTS] if path.stem in MODULES] == []
