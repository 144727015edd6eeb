"""Names of classes and modules: a stack trace names one place."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = [path for package in ("app", "layouts", "parsers") for path in sorted((ROOT / package).rglob("*.py"))]
SCRIPTS = [path for path in sorted((ROOT / "assets").rglob("*.js")) if "vendor" not in path.parts]
PUBLIC = {"Callback": {"parsers/recording/adapters/huggingface.py", "parsers/recording/adapters/keras.py"}}
"""Classes of one name, by file: users import them from modules whose frameworks give them this name."""
SAY_NOTHING = {"Ask", "Look", "Part", "Found", "Kept", "Choice", "Facts", "View", "Recorded", "Shown", "Wanted"}
MODULES = {"look", "offers", "reading", "again", "choice", "words", "parts", "utils", "helpers", "common", "manager"}


def test_each_class_has_a_name_of_its_own_that_says_something() -> None:
    classes = defaultdict[str, list[str]](list)
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(path.relative_to(ROOT).as_posix())
    assert len(classes) > 1000
    twice = {name: places for name, places in classes.items() if len(places) > 1}
    assert {name: places for name, places in twice.items() if PUBLIC.get(name) != set(places)} == {}
    assert set(twice) == set(PUBLIC)
    assert SAY_NOTHING & set(classes) == set()


def test_modules_have_names_that_say_what_they_hold() -> None:
    assert [str(path.relative_to(ROOT)) for path in [*FILES, *SCRIPTS] if path.stem in MODULES] == []
