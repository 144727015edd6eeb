"""How cases that are guided by coverage are chosen, counted and checked."""

from __future__ import annotations

import os
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pandas import DataFrame

if sys.platform == "win32":
    pytest.skip("fuzzing needs fork and limits of resources", allow_module_level=True)

from parsers.profiler.job_access import Job
from tests.fuzz import cases, guided, profile_files
from tests.fuzz.cases import attempt
from tests.fuzz.corpus import Seeds
from tests.fuzz.driver import Fuzzing
from tests.fuzz.hostile_files import read_log
from tests.fuzz.mutated_schemas import join_log
from tests.fuzz.mutated_texts import MOST
from tests.fuzz.promises import chosen_by, everything, is_chosen
from tests.fuzz.state import Ran
from tests.fuzz.targets import Target, all_targets

_SAID = (
    b"INFO: Seed: 7\n#3\tpulse  cov: 900 ft: 1\n#4\tINITED cov: 304 ft: 326 corp: 3/1539b exec/s: 0 rss: 169Mb\n"
    b"#5\tNEW    cov: 328 ft: 360 corp: 4/1765b\n#7\tNEW    cov: 347 ft: 408 corp: 6/4398b\n"
)


@pytest.mark.parametrize(
    ("said", "number"),
    [
        (b"", 0),
        (_SAID[:40], 0),  # it ended while it read what was kept
        (_SAID[: _SAID.index(b"#5")], 0),
        (_SAID, 3),
        (_SAID + b"#9\tNEW    cov: 347 ft: 500 corp: 6/4398b\n#12\tREDUCE cov: 347 ft: 500\n#16\tpulse  cov: 347\n", 3),
        (_SAID + b"odd bytes \xff#20\tNEW    cov: 400\n#22\tNEW    cov: 348 ft", 18),
    ],
    ids=["nothing", "ended", "only-read", "new", "only-features", "bytes"],
)
def test_the_last_case_that_reached_new_code_is_known(said: bytes, number: int) -> None:
    assert guided.newest(said) == number


def test_cases_are_short_at_first() -> None:
    sizes = [guided.longest(74, cases, MOST) for cases in (0, 19_999, 20_000, 40_000, 160_000, 10**9)]
    assert sizes == [4096, 4096, 8192, 16384, MOST, MOST]
    assert guided.longest(24_000, 0, MOST) == 24_000


class Engine:
    """Runs cases as atheris does, from outside: the corpus first, then mutations, with a line for each that it keeps."""

    def __init__(self, cases: int, keeps: Callable[[bytes], bool]) -> None:
        self._cases, self._keeps = cases, keeps

    def Setup(self, arguments: list[str], one: Callable[[bytes], None], custom_mutator: Any) -> None:
        """Take what is fuzzed."""
        self._folder, self._one, self._mutate = Path(arguments[1]), one, custom_mutator

    def Mutate(self, data: bytes, most: int) -> bytes:
        """Mutate bytes, as libFuzzer would."""
        return bytes(reversed(data))[:most]

    def Fuzz(self) -> None:
        """Run the cases."""
        files = [path.read_bytes() for path in sorted(self._folder.iterdir())]
        for data in (b"", *files):
            self._one(data)
        os.write(2, b"#%d\tINITED cov: 5 ft: 5\n" % (len(files) + 1))
        for number in range(self._cases):
            data = self._mutate(files[number % len(files)], MOST, number)
            self._one(data)
            if self._keeps(data):
                os.write(2, b"#%d\tNEW    cov: %d ft: 9\n" % (len(files) + 2 + number, 6 + number))
        self._mutate(b"x", MOST, self._cases)


def fuzzed(tmp_path: Path, engine: Engine, run: Callable[[bytes, str], None], seeds: tuple[bytes, ...]) -> Fuzzing:
    fuzzing = Fuzzing([Target("made", "plain", lambda: seeds, run)], 1, str(tmp_path / "scratch"), 60.0, 1.0)
    fuzzing.run(engine)
    return fuzzing


def test_a_case_that_reaches_new_code_is_asked_for_everything(tmp_path: Path) -> None:
    asked, ran = tmp_path / "asked", tmp_path / "ran"

    def run(data: bytes, _folder: str) -> None:
        with ran.open("ab") as file:
            file.write(b"%d\n" % zlib.crc32(data))
        if is_chosen(data, 1 << 32):  # one of so many: none by chance
            with asked.open("ab") as file:
                file.write(data + b"\n")

    fuzzed(tmp_path, Engine(40, lambda data: data.startswith(b"k")), run, (b"kept " + b"a" * 20, b"other " + b"b" * 20))
    found = asked.read_bytes().split()
    kept = [data for data in asked.read_bytes().splitlines() if data.startswith(b"k")]
    assert found
    assert len(kept) > 5
    for data in kept:
        assert ran.read_bytes().split().count(b"%d" % zlib.crc32(data)) >= 2


def test_what_is_read_again_is_no_case(tmp_path: Path) -> None:
    fuzzing = fuzzed(tmp_path, Engine(10, lambda data: False), lambda data, folder: None, (b"one", b"two"))
    assert fuzzing.cases_run() == {"made": Ran(10, 10, 0)}


def test_a_process_that_reads_again_what_was_kept_is_not_taken_for_a_hung_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cases, "STUCK_S", 1.5)  # each second it is looked whether there was progress
    seeds = tuple(b"%d" % number for number in range(16))
    fuzzing = fuzzed(tmp_path, Engine(1, lambda data: False), lambda data, folder: time.sleep(0.25), seeds)
    assert fuzzing.cases_run() == {"made": Ran(1, 1, 0)}
    assert not fuzzing.unrepeated


def test_cases_since_new_code_are_counted(tmp_path: Path) -> None:
    seen: list[bytes] = []

    def keeps(data: bytes) -> bool:
        seen.append(data)
        return len(seen) == 4

    fuzzing = fuzzed(tmp_path, Engine(10, keeps), lambda data, folder: None, (b"one", b"two"))
    assert fuzzing.cases_run() == {"made": Ran(10, 10, 4)}


def test_long_cases_are_rare_at_first(tmp_path: Path) -> None:
    sizes = tmp_path / "sizes"

    def run(data: bytes, _folder: str) -> None:
        with sizes.open("a") as file:
            file.write(f"{len(data)}\n")

    fuzzed(tmp_path, Engine(2_000, lambda data: False), run, (Random(1).randbytes(4_090),))
    found = [int(size) for size in sizes.read_text().split()]
    assert max(found) > guided.SHORT  # one of LONG_OF may be
    assert sum(size > guided.SHORT for size in found) < len(found) / 20


# What is asked of few ------------------------------------------------------------------------------------------------------


def test_one_of_so_many_is_chosen_unless_everything_is_asked() -> None:
    files = [Random(number).randbytes(20) for number in range(1_600)]
    assert 60 < sum(is_chosen(data, 16) for data in files) < 140
    with everything():
        assert all(is_chosen(data, 16) for data in files)
        with chosen_by(b"other"):
            assert all(is_chosen(data, 16) for data in files)
    with chosen_by(next(data for data in files if not is_chosen(data, 16))):
        assert not any(is_chosen(data, 16) for data in files)
    assert not all(is_chosen(data, 16) for data in files)


@pytest.mark.parametrize("name", ["profile-cluster_database.db", "profile-cluster_steps.csv"])
def test_what_only_jobs_read_is_read_in_each_case(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, original = [], Job.frame

    def frame(job: Job, wanted: str, *others: Any) -> DataFrame:
        read.append(wanted)
        return original(job, wanted, *others)

    monkeypatch.setattr(Job, "frame", frame)
    target = all_targets(Seeds())[name]
    with chosen_by(b"not chosen"):
        assert not is_chosen(b"", 32)
        target.run(target.seeds[0], str(tmp_path))
    assert read


def test_what_is_a_trace_alone_is_read_as_one_in_each_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    monkeypatch.setattr(profile_files, "_look_at_trace", read.append)
    target = all_targets(Seeds())["profile-msprof_trace.json"]
    with chosen_by(b"not chosen"):
        target.run(target.seeds[0], str(tmp_path))
    assert read


def test_a_database_with_a_log_is_chosen_by_both(tmp_path: Path) -> None:
    chosen = []

    def read(data: bytes, folder: str) -> None:
        Path(folder, "profiler", "x.db").write_bytes(data)
        chosen.append(is_chosen(data, 16))

    for number in range(160):
        read_log("x.db", read, join_log(b"always the same", Random(number).randbytes(20)), str(tmp_path))
    assert 2 < sum(chosen) < 30


def test_a_case_that_is_run_alone_is_asked_for_everything(tmp_path: Path) -> None:
    def run(data: bytes, _folder: str) -> None:
        if is_chosen(data, 1 << 32):
            raise KeyError(data)

    failure = attempt(Target("made", "plain", lambda: (b"seed",), run), b"data", str(tmp_path))
    assert failure is not None
    assert failure.what.startswith("KeyError")
