"""What `make audit` makes of the answers of other programs."""

from __future__ import annotations

import json

import pytest

from tests.audit import excused, judged

NONE = {"name": "a", "skip_reason": "not found"}
SAFE = {"name": "b", "version": "1", "vulns": []}
UNSAFE = {"name": "c", "version": "2.0", "vulns": [{"id": "CVE-1"}, {"id": "CVE-2"}]}


@pytest.mark.parametrize(
    ("said", "lines", "compared"),
    [
        ("", [], 0),
        (json.dumps({"dependencies": [NONE]}), [], 0),
        (json.dumps({"dependencies": [NONE, SAFE, UNSAFE]}), ["c 2.0: CVE-1", "c 2.0: CVE-2"], 2),
    ],
    ids=["no-network", "no-database", "advisories"],
)
def test_without_a_database_nothing_is_judged(said: str, lines: list[str], compared: int) -> None:
    assert judged(said) == (lines, compared)


def test_a_finding_counts_unless_its_line_has_the_code_of_its_rule() -> None:
    lines = range(1, 120)
    assert excused("B603", "parsers/profiler/database_processes.py", lines)
    assert not excused("B608", "parsers/profiler/database_processes.py", lines)
    assert not excused("B603", "parsers/profiler/database_processes.py", (1,))
