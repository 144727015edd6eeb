"""Each promise in SECURITY.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = re.compile(r"^## Promises and their tests\n(.*?)^## ", re.MULTILINE | re.DOTALL)


def test_every_promise_names_tests_that_exist() -> None:
    section = TABLE.search((ROOT / "SECURITY.md").read_text("utf-8"))
    assert section is not None
    rows = [line for line in section[1].splitlines() if line.startswith("| ") and not line.startswith("| promise")]
    assert len(rows) > 5
    sources = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py")))
    known = set(re.findall(r"^ *def (test_\w+)\(", sources, re.MULTILINE))
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row)
        assert named, row
        assert set(named) <= known, row
