"""Where the time of day is used: everything else measures by a clock that is never set."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHOWN = "is shown, or written beside what it dates"
OF_FILES = "is compared with the times of files, by parsers.ages or another clock beside"
OF_OTHERS = "is compared with what other processes have written; tests/app/tuning/test_clocks.py sets it"
USES = {
    "app/tuning/endings.py": (1, SHOWN), "app/tuning/studies.py": (1, OF_OTHERS), "app/tuning/mirror.py": (1, OF_OTHERS),
    "app/tuning/worker.py": (3, OF_OTHERS), "app/tuning/preview.py": (1, SHOWN), "app/tuning/orphans.py": (2, OF_OTHERS),
    "app/tuning/keeper.py": (3, SHOWN), "app/tuning/processes.py": (1, SHOWN),
    "app/store/curves/source.py": (1, SHOWN), "app/store/runs/source.py": (1, OF_FILES),
    "app/store/runs/following.py": (2, OF_FILES),
    "app/store/runs/packs.py": (1, "names a pack, never before the newest one"),
    "app/landscapes/running.py": (2, SHOWN), "app/demo/story.py": (1, SHOWN),
    "app/mirror/following.py": (6, OF_FILES), "app/live/session.py": (1, SHOWN), "app/commands/digest.py": (1, SHOWN),
    "app/commands/exporting.py": (1, "names a directory"),
    "app/commands/processes.py": (1, SHOWN),
    "parsers/ages.py": (1, OF_FILES), "parsers/file_states.py": (1, OF_FILES), "parsers/discovery/scanner.py": (1, OF_FILES),
    "parsers/dumps/listed.py": (1, OF_FILES),
    "parsers/recording/system.py": (1, SHOWN), "parsers/recording/output.py": (2, SHOWN),
    "parsers/recording/explaining.py": (2, SHOWN), "parsers/recording/event_file.py": (1, SHOWN),
    "parsers/recording/timing.py": (1, SHOWN), "parsers/recording/recorder.py": (6, SHOWN),
    "layouts/jobs/communication/page.py": (1, SHOWN), "layouts/tuning/tuning/page.py": (1, SHOWN),
    "layouts/profiles/efficiency_cards.py": (1, SHOWN),
}  # fmt: skip
"""Uses of the time of day in a file, and why a clock that is set does no harm there."""


def uses(path: Path) -> int:
    """How often a file asks for the time of day."""
    names = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Attribute)]
    asked = [node for node in names if (getattr(node.value, "id", getattr(node.value, "attr", "")), node.attr) in (
        ("time", "time"), ("time", "time_ns"), ("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"),
    )]  # fmt: skip
    return len(asked)


def test_the_time_of_day_is_used_only_where_it_may_jump() -> None:
    files = [path for folder in ("app", "layouts", "parsers") for path in (ROOT / folder).rglob("*.py")]
    found = {path.relative_to(ROOT).as_posix(): uses(path) for path in files if uses(path)}
    assert found == {name: count for name, (count, _) in USES.items()}, "durations are measured by time.monotonic()"


def test_a_use_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("import time\nimport datetime\nbegun = time.time()\nstamp = time.time_ns\nnow = datetime.datetime.now()\n")
    assert uses(path) == 3
    path.write_text("import time\nfrom datetime import datetime\nbegun = time.monotonic()\nnow = datetime.now()\n")
    assert uses(path) == 1
