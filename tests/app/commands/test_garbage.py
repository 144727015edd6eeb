"""A server's search for garbage, which runs seldom while it starts."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.commands.serving import no_garbage

ROOT = Path(__file__).resolve().parents[3]
START = """
import contextlib
import gc
import sys
from app.commands import serving
from app.commands.settings import resolve

searches = []  # for garbage, while the server is imported
def note(phase, info):
    if phase == "start" and "app.web.connections" not in sys.modules:
        searches.append(info["generation"])

gc.callbacks.append(note)
settings = {"summary_base_dir": [sys.argv[1]], "workspace": sys.argv[2], "port": "0", "open": "false"}
searches.clear()
with contextlib.suppress(KeyboardInterrupt):
    serving.serve(resolve(settings, {}))
print("searches:", searches)
"""


@pytest.fixture
def usual_thresholds() -> Iterator[tuple[int, int, int]]:
    """Python's own thresholds of the search for garbage; those of the tests are back afterwards."""
    before, usual = gc.get_threshold(), (700, 10, 10)
    gc.set_threshold(*usual)
    yield usual
    gc.unfreeze()
    gc.set_threshold(*before)


def test_a_server_looks_for_garbage_seldom_until_all_runs_are_read(usual_thresholds: tuple[int, int, int]) -> None:
    waiting: list[Callable[[], None]] = []
    with no_garbage() as enough:
        assert not gc.isenabled()
        enough(SimpleNamespace(when_read=waiting.append))
        assert gc.isenabled()
        assert gc.get_threshold()[0] > 10 * usual_thresholds[0]
        waiting[0]()
        assert gc.get_threshold() == usual_thresholds


def test_no_garbage_is_looked_for_while_a_server_and_its_libraries_are_imported(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    command = [sys.executable, "-u", "-c", START, str(tmp_path / "runs"), str(tmp_path / "workspace")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        next(line for line in server.stdout if line.startswith("Web address:"))
        server.send_signal(signal.SIGTERM)
        assert server.stdout.read().splitlines()[-1:] == ["searches: []"]
