"""A figure or verdict that several pages show is the same on each of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from layouts.jobs.advice.page import advice_for
from layouts.profiles.memory import page as memory_page
from layouts.profiles.memory.asks import MemoryRequest
from layouts.profiles.memory.recordings import Recordings
from tests.layouts.profiles.memory.requests import opened, sessions_of, texts_in
from tests.sources import MemorySource
from tests.writers import memory_files

MIB = 1 << 20
SAID = {"It leaks": "leak", "No leak": "none", "cannot be told": "cannot tell"}


def leaks(source: MemorySource, asked: dict[str, list[str]]) -> tuple[str, str]:
    """What Device memory and Advice say of a leak: "leak", "none" or "cannot tell"."""
    request = MemoryRequest.read_any(asked)
    found = advice_for(source, asked)
    assert request is not None
    assert found is not None
    said = texts_in(memory_page.overall(source, Recordings(source), request)[0]["head"])
    shown = next(verdict for text, verdict in SAID.items() if text in said)
    review = found[0]
    if any(one.rule == "leak" for one in review.found):
        return shown, "leak"
    return shown, "none" if "leak" in review.fine else "cannot tell"


@pytest.mark.parametrize("without", [(), ("memory_record.csv",)], ids=["with a curve", "blocks alone"])
@pytest.mark.parametrize(("leak_bytes", "steps", "verdict"), [(MIB, 20, "leak"), (0, 20, "none"), (MIB, 9, "cannot tell")])
def test_memory_leaks_on_each_page_or_on_none(
    tmp_path: Path, leak_bytes: int, steps: int, verdict: str, without: tuple[str, ...]
) -> None:
    memory_files.recording(tmp_path / "a", steps=steps, leak_bytes=leak_bytes)
    for name in without:
        (path,) = tmp_path.rglob(name)
        path.unlink()
    source, _ = opened(a=tmp_path / "a")
    assert leaks(source, {"run": ["a"], "session": ["."], "rank": ["0"]}) == (verdict, verdict)


@pytest.mark.parametrize(("sessions", "leak_bytes", "verdict"), [(12, MIB, "leak"), (12, 0, "none"), (9, MIB, "cannot tell")])
def test_sessions_of_a_rank_leak_on_each_page_or_on_none(sessions: int, leak_bytes: int, verdict: str) -> None:
    source, asked = sessions_of(sessions, leak_bytes)
    assert leaks(source, asked) == (verdict, verdict)
