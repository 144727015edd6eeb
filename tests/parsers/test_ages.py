"""Ages of files by clocks that are wrong, and what the scanner makes of directories that are dated in the future."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path

import pytest

from parsers.ages import AHEAD_SECONDS, age_of
from parsers.discovery import listing
from parsers.discovery import scanner as scanner_module
from parsers.discovery.scanner import Scanner
from parsers.trace_heads import head_of

NOW = 1e9
DAY = 86_400.0
NAME = "events.out.tfevents.{}.host"


def test_the_age_of_a_file() -> None:
    assert age_of(NOW - 5.0, NOW) == 5.0
    assert age_of(NOW + AHEAD_SECONDS - 1.0, NOW) == 1.0 - AHEAD_SECONDS, "another machine's clock"
    assert age_of(NOW + AHEAD_SECONDS, NOW) == age_of(2 * NOW, NOW) == math.inf
    assert 0.0 <= age_of(time.time() - 1.0) < 60.0


@pytest.mark.parametrize("ahead", [-DAY, 10.0, DAY, 365 * DAY])
def test_what_is_added_to_a_directory_of_any_date_is_found(tmp_path: Path, ahead: float) -> None:
    """As after a clock was set back: the directory is dated later than what changes in it now."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / NAME.format(1)).write_bytes(b"1")
    os.utime(tmp_path / "run", (0, time.time() + ahead))
    scanner = Scanner(tmp_path)
    for number in range(2, 6):
        assert [len(source.files) for source in scanner.scan()] == [number - 1]
        (tmp_path / "run" / NAME.format(number)).write_bytes(b"1")
        os.utime(tmp_path / "run", (0, time.time() + ahead - number))


@pytest.mark.parametrize(("ahead", "listed"), [(-DAY, 0), (0.0, 5), (10.0, 5), (DAY, 0), (365 * DAY, 0)])
def test_a_directory_far_in_the_future_is_not_listed_in_every_scan(
    tmp_path: Path, ahead: float, listed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that changed a moment ago is: a file may be added within the same tick of the clock."""
    (tmp_path / NAME.format(1)).write_bytes(b"1")
    os.utime(tmp_path, (0, time.time() + ahead))
    scanner = Scanner(tmp_path)
    scanner.scan()
    found: list[str] = []
    real = listing.list_directory

    def list_directory(path: str, mtime_ns: int) -> listing.DirectoryListing:
        found.append(path)
        return real(path, mtime_ns)

    monkeypatch.setattr("parsers.discovery.scanner.list_directory", list_directory)
    monkeypatch.setattr(listing, "RACY_SECONDS", 60.0)
    for _ in range(5):
        assert len(scanner.scan()) == 1
    assert len(found) == listed


@pytest.mark.parametrize(("ahead", "looked_at"), [(-DAY, 2), (0.0, 8), (60.0, 8), (DAY, 2), (365 * DAY, 2)])
def test_runs_whose_files_are_far_in_the_future_are_looked_at_in_turn(
    tmp_path: Path, ahead: float, looked_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their directories are older. Runs that changed lately are all looked at by each scan, of others two and their parent."""
    monkeypatch.setattr(scanner_module, "LEAST_QUIET", 2)
    for number in range(8):
        (tmp_path / f"run{number}").mkdir()
        path = tmp_path / f"run{number}" / NAME.format(1)
        path.write_bytes(b"1")
        os.utime(path, (0, time.time() + ahead))
        os.utime(path.parent, (0, NOW))
    os.utime(tmp_path, (0, NOW))
    scanner = Scanner(tmp_path, share=0.0)
    assert len(scanner.scan()) == 8
    found: list[str] = []
    real = os.stat
    monkeypatch.setattr(scanner_module.os, "stat", lambda path, **more: found.append(str(path)) or real(path, **more))
    scanner.scan()
    assert len({path for path in found if os.path.basename(path) in {f"run{number}" for number in range(8)}}) == looked_at


@pytest.mark.parametrize(("ahead", "final"), [(-DAY, True), (0.0, False), (60.0, False), (365 * DAY, True)])
def test_the_beginning_of_a_trace_of_another_year_is_all_there_is(tmp_path: Path, ahead: float, final: bool) -> None:
    path = tmp_path / "x.json"
    path.write_text("{")
    os.utime(path, (0, time.time() + ahead))
    assert head_of(str(path)).is_final is final
