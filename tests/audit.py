"""What other programs know of our code and of what we depend on; run by `make audit` in an environment of its own.

bandit looks for dangerous calls. A finding counts unless its line has the code of ruff's rule of the same number (B608: S608)
with a reason, since ruff checks the same rules in every run, or EVERYWHERE has the reason. pip-audit compares the lock with
advisories; where none can be reached, nothing is judged, and it says so. cyclonedx-py lists the locked dependencies. Exit code
1: something was found.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCK = "requirements.lock"
LIST = "dependencies.cdx.json"
PACKAGES = ("app", "layouts", "parsers")
EVERYWHERE = {
    "B101": "an assert states an invariant for the type checker; what comes from outside is checked otherwise",
    "B403": "to import pickle loads nothing; its calls are judged by B301",
    "B404": "to import subprocess starts nothing; its calls are judged by B602 to B607",
    "B406": "to import xml.sax reads nothing; what is used of it escapes texts",
}
"""Rules that hold nowhere, and why."""
TOOLS = Path(sys.executable).parent


def main() -> int:
    """Run the three; return the exit code."""
    dangerous = _dangerous()
    for one in dangerous:
        print(f"{one['filename']}:{one['line_number']}: {one['test_id']} {one['issue_text']}")
    print(f"bandit: {len(dangerous)} findings without a reason")
    advisories, compared = _advisories()
    for line in advisories:
        print(line)
    print(f"pip-audit: {len(advisories)} advisories about {compared} packages" if compared else
          "pip-audit: not judged, no advisory database can be reached from here")  # fmt: skip
    _run("cyclonedx-py", "requirements", LOCK, "--output-format", "JSON", "--output-file", LIST)
    print(f"cyclonedx-py: {len(json.loads((ROOT / LIST).read_text())['components'])} dependencies in {LIST}")
    return int(bool(dangerous or advisories))


def _dangerous() -> list[dict[str, Any]]:
    told = json.loads(_run("bandit", "-q", "-r", *PACKAGES, "-x", "app/demo/runs", "-f", "json"))
    assert not told["errors"], told["errors"]
    found: list[dict[str, Any]] = told["results"]
    found = [one for one in found if one["test_id"] not in EVERYWHERE]
    return [one for one in found if not excused(one["test_id"], one["filename"], one["line_range"])]


def excused(rule: str, name: str, lines: Sequence[int]) -> bool:
    """Return whether a line of a finding says why the rule does not hold there."""
    text = (ROOT / name).read_text(encoding="utf-8").splitlines()
    code = re.compile(rf"# noqa: (?:[A-Z]+\d+, )*S{rule[1:]}\b")
    return any(code.search(text[number - 1]) for number in lines if number <= len(text))


def _advisories() -> tuple[list[str], int]:
    options = ("--require-hashes", "--disable-pip", "--progress-spinner", "off", "-f", "json")
    return judged(_run("pip-audit", "-r", LOCK, *options))


def judged(said: str) -> tuple[list[str], int]:
    """Return a line per advisory and the number of packages that were compared: none where it ended without a word."""
    told = json.loads(said or '{"dependencies": []}')
    packages = [one for one in told["dependencies"] if "skip_reason" not in one]
    lines = [f"{one['name']} {one['version']}: {advisory['id']}" for one in packages for advisory in one["vulns"]]
    return lines, len(packages)


def _run(tool: str, *arguments: str) -> str:
    done = subprocess.run([TOOLS / tool, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):  # 1: it found something
        raise SystemExit(f"{tool} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    raise SystemExit(main())
