"""What fuzzing covers, that it notices what fails, and every case that has ever failed."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest

if sys.platform == "win32":
    pytest.skip("fuzzing needs fork and limits of resources", allow_module_level=True)

from parsers.errors import FormatError
from parsers.events.mindspore import MINDSPORE
from parsers.profiler.registry import FILE_KINDS
from parsers.registry import READERS
from tests.amounts import some_or_every
from tests.fuzz import guided
from tests.fuzz.cases import Slot, attempt, in_process
from tests.fuzz.corpus import LARGEST, Seeds
from tests.fuzz.driver import FOUND, Fuzzing, cases
from tests.fuzz.minimise import minimised
from tests.fuzz.mutated_texts import MOST
from tests.fuzz.mutated_trees import fields, join_records, message, records, split_records
from tests.fuzz.mutation import FORMS, mutate
from tests.fuzz.targets import COVERED, Target, all_targets

ROOT = FOUND.parents[2]
TARGETS = all_targets(Seeds())


def target(run: Callable[[bytes], object], form: str = "plain") -> Target:
    def read(data: bytes, _folder: str) -> None:
        run(data)

    return Target("made", form, lambda: (b"seed",), read, (FormatError,))


# What is covered -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", COVERED)
def test_every_kind_of_file_has_a_target_with_a_corpus(kind: str) -> None:
    found = [target for target in TARGETS.values() if kind in target.kinds]
    assert found, f"no target reads files of kind {kind}: put a small one into tests/data or tests/fuzz/corpus.py"
    assert all(target.seeds for target in found)


def test_what_is_covered_comes_from_the_registries() -> None:
    assert {reader.name for reader in READERS} < set(COVERED)
    assert set(FILE_KINDS) < set(COVERED)


@some_or_every
@pytest.mark.parametrize("name", TARGETS)
def test_a_target_reads_its_intact_files(name: str, tmp_path: Path, every: bool) -> None:
    found = TARGETS[name]
    read = 0
    for data in found.seeds:
        assert len(data) <= 2 * LARGEST
        try:
            found.run(data, str(tmp_path))
            read += 1
            if not every:
                break
        except found.refuses:
            pass  # tests/data and MINDSCOPE_TEST_DATA hold files that are damaged on purpose
    assert read


@pytest.mark.parametrize("name", [name for name in TARGETS if name.startswith("graph-")])
def test_graphs_are_mutated_in_the_form_of_their_files(name: str) -> None:
    binary = any(b"\x00" in data for data in TARGETS[name].seeds)
    assert TARGETS[name].form == ("message" if binary else "text")


# Mutations -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_a_seed_makes_the_same_cases_again_and_they_differ(form: str) -> None:
    seeds = next(target.seeds for target in TARGETS.values() if target.form == form) if form != "plain" else (b"abc" * 50,)
    made = [[mutate(form, seeds[0], seeds, Random(number)) for number in range(60)] for _ in range(2)]
    assert made[0] == made[1]
    assert len(set(made[0])) > 30
    assert all(len(data) <= MOST for data in made[0])
    assert [mutate(form, b"", (), Random(number)) for number in range(60)]


@pytest.mark.parametrize("form", FORMS)
def test_what_is_mutated_can_be_mutated_again(form: str) -> None:
    seeds = next((target.seeds for target in TARGETS.values() if target.form == form), (b"abc" * 50,))
    for number in range(20):
        data, random = seeds[number % len(seeds)], Random(number)
        for _ in range(20):
            data = mutate(form, data, seeds, random)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", 'a"b', ""])
def test_a_database_with_odd_names_is_mutated(name: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE odd (x)")
    connection.execute("INSERT INTO odd VALUES (1)")
    connection.execute("PRAGMA writable_schema=ON")
    connection.execute("UPDATE sqlite_master SET name = CAST(? AS TEXT)", (name.encode("utf-8", "surrogatepass"),))
    connection.commit()
    data = connection.serialize()
    assert all(mutate("database", data, (), Random(number)) for number in range(40))


def test_mutated_records_have_correct_checksums(tmp_path: Path) -> None:
    seeds = TARGETS["events"].seeds
    path = tmp_path / "events"
    for number in range(60):
        path.write_bytes(records(seeds[number % len(seeds)], seeds, Random(number)))
        kinds = {problem.kind for problem in MINDSPORE.read(str(path)).problems}
        assert not kinds & {"bad_data", "bad_length"}


def test_mutated_messages_are_often_whole() -> None:
    seed = TARGETS["graph-onnx"].seeds[0]
    whole = [bool(fields(message(seed, (), Random(number)))) for number in range(100)]
    assert sum(whole) > 80
    assert join_records(split_records(join_records([b"a", b"", b"bc"]))) == join_records([b"a", b"", b"bc"])


# What fails ----------------------------------------------------------------------------------------------------------------


def busy(data: bytes) -> None:
    until = time.process_time() + 30
    while time.process_time() < until:
        pass


def refused(data: bytes) -> None:
    raise FormatError("expected otherwise")


@pytest.mark.parametrize(
    ("run", "what"),
    [
        (len, ""),
        (refused, ""),
        (lambda data: data[len(data)], "IndexError at "),
        (busy, "took more than 1 s of processor time"),
        (lambda data: np.ones(64 << 20).sum(), "MemoryError at "),
        (lambda data: os.kill(os.getpid(), signal.SIGUSR1), f"ended the process with signal {signal.SIGUSR1:d}"),
        pytest.param(
            lambda data: sum(range(10**12)), "took more than 4 s of processor time in a library", marks=pytest.mark.long
        ),
    ],
    ids=["fine", "refused", "raises", "busy", "memory", "crash", "hangs-in-c"],
)
def test_a_case_is_held_to_its_limits(run: Callable[[bytes], object], what: str, tmp_path: Path) -> None:
    failure = attempt(target(run), b"data", str(tmp_path))
    assert (failure.what if failure else "").startswith(what)
    assert bool(failure) == bool(what)
    if failure is not None:
        assert failure.data == b"data"
    if run is busy:
        assert failure is not None
        assert "OutOfTime" in failure.details, "it was stopped, not measured when it had ended"


class Fuzzer:
    """What atheris does, but for the cases: two of them, between which a mutation finds no memory."""

    def Setup(self, _: list[str], one: Callable[[bytes], None], *, custom_mutator: Callable[[bytes, int, int], bytes]) -> None:
        self.one, self.mutated = one, custom_mutator

    def Mutate(self, data: bytes, _most: int) -> bytes:
        return data

    def Fuzz(self) -> None:
        self.one(self.mutated(b"data", 100, 1))
        raise MemoryError


@pytest.mark.parametrize("run", [len, lambda data: np.ones(64 << 20).sum()], ids=["fine", "memory"])
def test_a_fuzzer_that_has_no_memory_left_between_cases_ends_its_turn(run: Callable[[bytes], object], tmp_path: Path) -> None:
    slot, made = Slot(1), target(run)
    work = guided.work(Fuzzer(), made, slot, 0, str(tmp_path), str(tmp_path / "kept"), str(tmp_path / "said"), 1, 1, set())
    found = [failure.what.partition(" ")[0] for failure in in_process(work, slot, [made.name], str(tmp_path / "said"))]
    assert found == ([] if run is len else ["MemoryError"]), "a case that takes too much memory is reported"
    assert slot.counts() == (1,)


@pytest.mark.long
def test_faults_are_found_again_and_made_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(data: bytes) -> None:
        if len(data) > 10 and b"\xff" in data:
            raise KeyError(data)
        if len(data) > 120:
            os.kill(os.getpid(), signal.SIGTERM)

    fuzzing = Fuzzing([target(run), TARGETS["image"]], 1, str(tmp_path / "scratch"), 60.0, 3_000)
    fuzzing.run(None)
    found = {failure.what for failure in fuzzing.failures}
    assert found == {"KeyError at test_fuzz.py:run", "ended the process with signal 15"}
    assert sum(fuzzing.slot.counts()) >= 3_000
    assert fuzzing.report(tmp_path / "found", 1.0) == 2
    sizes = sorted(len(path.read_bytes()) for path in (tmp_path / "found" / "made").iterdir())
    assert sizes[0] == 11
    assert 121 <= sizes[1] < 1000  # as small as the time for it allows
    said = capsys.readouterr().out
    assert "made is left out from here on: it has ended 5 processes." in said
    assert "seed 1; 2 failed" in said
    assert said.count("Repeat it: ") == 2


@pytest.mark.parametrize("form", ["records", "table", "plain"])
def test_a_case_is_made_as_small_as_it_still_fails(form: str) -> None:
    if form == "records":
        whole = join_records([b"first", b"a needle in it", b"last"])
        assert split_records(minimised(form, whole, lambda data: b"needle" in data)) == [b"needle"]
    else:
        assert minimised(form, b"first\na needle in it\nlast" * 20, lambda data: b"needle" in data) == b"needle"


# What was found ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def replayed() -> dict[str, dict[str, str]]:
    """What each case that was found comes to, by its path; they run in processes of their own."""
    command = [sys.executable, "-m", "tests.fuzz", "--replay"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {one["case"]: one for one in found}


@pytest.mark.parametrize("case", cases(()), ids=lambda case: f"{case.parent.name}-{case.name}")
def test_what_was_found_is_read_now(case: Path, replayed: dict[str, dict[str, str]]) -> None:
    assert replayed[str(case)]["what"] == "", replayed[str(case)]["details"]
