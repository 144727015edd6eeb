"""Statistics of tensors in processes and in the index: the same numbers whatever becomes of processes, disk and files."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from app import engines
from app.engines import Processes
from app.store.dumps import measuring as module
from app.store.dumps import tensor_tasks
from app.store.dumps.measuring import Measuring
from app.store.runs import index as index_module
from parsers.dumps.access import RunDump
from parsers.dumps.statistics import NAMES, sums_of
from parsers.dumps.values import TensorPlace, measure, measure_part, parts
from parsers.errors import FormatError
from parsers.profiler.progress import Cancelled
from tests.waiting import until
from tests.writers.dumps import BEGIN_US, file_name, npy

HOSTILE = "tests.app.hostile_tensors"
WAIT = 60.0


def write(base: Path, name: str, values: np.ndarray, iteration: int = 0, time_us: int = BEGIN_US) -> Path:
    folder = base / "rank_0/Net/0" / str(iteration)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file_name("Add", f"Default/{name}-op0", time_us, "output", 0, values.dtype.name)
    path.write_bytes(npy(values))
    return path


def opened(base: Path) -> RunDump:
    return RunDump(str(base), (str(base / "rank_0"),))


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Forty tensors of 40 kB, one with NaN and Inf, one cut."""
    rng = np.random.default_rng(3)
    for number in range(40):
        values = rng.normal(number, 2.0, (100, 100)).astype(np.float32)
        if number == 7:
            values[3, :5] = np.nan, np.inf, -np.inf, np.inf, 0.0
        path = write(tmp_path / "job", f"n{number}", values, time_us=BEGIN_US + number)
        if number == 9:
            path.write_bytes(path.read_bytes()[:-8])
    return tmp_path / "job"


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Measuring]]:
    made: list[Measuring] = []

    def new(*, program: str = module.PROGRAM, index: bool = False, much: int = 0, small: int = 0) -> Measuring:
        processes = Processes(2, program=program)
        directory = str(tmp_path / "index-dumps") if index else None
        made.append(Measuring(directory, much=much, processes=processes, small=small))
        return made[-1]

    yield new
    for one in made:
        one.stop()


def run(measuring: Measuring, dump: RunDump, progress: module.Progress = lambda done, total: True) -> int:
    """Measure all tensors; return how many had to be."""
    missing, size = measuring.missing(dump, np.arange(len(dump.tensors)))
    if len(missing):
        measuring.measure(dump, missing, size, progress, lambda: True)
    return len(missing)


def assert_same(dump: RunDump, base: Path) -> None:
    """Compare with the statistics that this process computes; all of them are there."""
    assert not len(dump.unmeasured(np.arange(len(dump.tensors))))
    plain = opened(base)
    assert dump.statistics_of().equals(plain.statistics_of())
    assert set(dump.problems) == set(plain.problems)


def expected(dump: RunDump, row: int) -> dict[str, float]:
    """Compute some statistics with numpy, from the raw file."""
    values = np.load(dump.place(row).path).astype(np.float64).ravel()
    finite = values[np.isfinite(values)]
    return {"max": finite.max(), "min": finite.min(), "mean": finite.mean(), "std": finite.std(),
            "l2": np.sqrt((finite**2).sum()), "nan": np.isnan(values).sum(), "count": len(values)}  # fmt: skip


def test_nothing_to_measure_starts_nothing(make, tmp_path: Path) -> None:
    measuring = make()
    assert run(measuring, opened(tmp_path)) == 0
    assert measuring._thread is None


def test_processes_measure_what_this_one_does(make, base: Path) -> None:
    dump, told = opened(base), []

    def progress(done: int, total: int) -> bool:
        told.append((done, total))
        return True

    assert run(make(), dump, progress) == 40
    assert_same(dump, base)
    statistics = dump.statistics_of()
    for row in (0, 7, 39):
        for name, value in expected(dump, row).items():
            assert statistics[name].iat[row] == pytest.approx(value, rel=1e-12)
    assert [problem.path.count("n9-op0") for problem in dump.problems if "truncated" in problem.text] == [1]
    assert all(done <= total == 40 * 40_128 - 8 for done, total in told)
    assert run(make(), dump) == 0


def test_a_large_tensor_is_measured_in_parts(make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensor_tasks, "PART", 10_000)
    rng = np.random.default_rng(0)
    values = rng.normal(1e4, 1.0, 100_003).astype(np.float32)
    values[[5, 60_000]] = np.nan, np.inf
    write(tmp_path, "large", values)
    write(tmp_path, "none", np.empty((0, 5), np.float32), time_us=BEGIN_US + 1)
    cut = write(tmp_path, "cut", values, time_us=BEGIN_US + 2)
    cut.write_bytes(cut.read_bytes()[:-4])
    text = tmp_path / "rank_0/Net/0/0" / file_name("Add", "Default/t-op0", BEGIN_US + 3, "output", 0, "float32")
    np.save(text, np.full(10_000, "word"))
    dump = opened(tmp_path)
    run(make(), dump)
    found = dump.statistics_of()
    row = found.index[found["name"] == "Default_large-op0"][0]
    for name, value in expected(dump, row).items():
        assert found[name].iat[row] == pytest.approx(value, rel=1e-9)
    assert found["shape"].iat[row] == "100003"
    plain = opened(tmp_path).statistics_of()
    assert found[["name", "zero", "negative", "positive", "count", "source"]].equals(
        plain[["name", "zero", "negative", "positive", "count", "source"]]
    )
    assert [one.path for one in dump.problems if "truncated" in one.text] == [str(cut)]


def test_parts_joined_are_the_whole(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for dtype in (np.float32, np.float64, np.int8, np.bool_, np.complex64):
        values = (rng.normal(0.0, 100.0, 5_003)).astype(dtype)
        path = tmp_path / f"{np.dtype(dtype).name}.npy"
        np.save(path, values)
        place = TensorPlace(str(path))
        header, ranges = parts(place, 4_000)
        assert (header.size, sum(count for _, count in ranges)) == (5_003, 5_003)
        sums = sums_of([])
        for first, count in ranges:
            sums.join(measure_part(place, first, count))
        whole, joined = measure(place)[1], sums.found()
        for name in NAMES:
            assert getattr(joined, name) == pytest.approx(getattr(whole, name), rel=1e-12), (dtype, name)


@pytest.mark.long
def test_a_tensor_that_kills_its_process_costs_no_other(make, base: Path) -> None:
    bad = [write(base, f"{number}_kills", np.ones(9, np.float32), time_us=BEGIN_US + 100 + number) for number in range(2)]
    dump = opened(base)
    run(make(program=HOSTILE), dump)
    assert sum("signal 9" in problem.text for problem in dump.problems) == 2
    assert {problem.path for problem in dump.problems if "signal 9" in problem.text} == {str(path) for path in bad}
    statistics = dump.statistics_of()
    assert (statistics["source"] == "computed").sum() == 39


def test_measuring_is_cancelled_and_goes_on_later(make, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(base, "a_hangs", np.ones(9, np.float32), iteration=1)
    monkeypatch.setattr(tensor_tasks, "TOGETHER", 1)
    monkeypatch.setattr(engines, "PIECE", 1)
    dump, measuring = opened(base), make(program=HOSTILE)
    with pytest.raises(Cancelled):
        run(measuring, dump, lambda done, total: not (base / "rank_0/Net/seen").exists())
    known = dump.measured_count
    assert 0 < known < 40
    assert run(make(), dump) in (41 - known, 40 - known)  # the cut one may be known
    assert_same(dump, base)


def test_requests_take_turns(make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large dump does not hold up a small one."""
    monkeypatch.setattr(module, "TURN", 1 << 20)
    values = np.ones(250_000, np.float32)
    for number in range(60):
        write(tmp_path / "large", f"n{number}", values, time_us=BEGIN_US + number)
    write(tmp_path / "small", "n", values)
    large, small, measuring = opened(tmp_path / "large"), opened(tmp_path / "small"), make()
    begun, ended = threading.Event(), []

    def progress(done: int, total: int) -> bool:
        if done:
            begun.set()
        return True

    thread = threading.Thread(target=lambda: (run(measuring, large, progress), ended.append("large")))
    thread.start()
    assert begun.wait(WAIT)
    run(measuring, small)
    ended.append("small")
    thread.join(WAIT)
    assert ended == ["small", "large"]


def test_statistics_are_found_in_the_index_by_a_later_start(make, base: Path) -> None:
    first = make(index=True)
    dump = opened(base)
    assert run(first, dump) == 40
    first.stop()
    again = opened(base)
    assert run(make(index=True), again) == 1  # the tensor that could not be read
    assert_same(again, base)


def test_a_file_that_changed_is_measured_again(make, base: Path) -> None:
    first = make(index=True)
    run(first, opened(base))
    first.stop()
    path = write(base, "n3", np.full((100, 100), 5.0, np.float32), time_us=BEGIN_US + 3)
    os.utime(path, ns=(0, 10**18))
    again = opened(base)
    assert run(make(index=True), again) == 2
    assert_same(again, base)
    assert again.statistics_of()["mean"].iat[3] == 5.0


@pytest.mark.long
def test_a_damaged_entry_of_the_index_costs_nothing_but_time(make, base: Path, tmp_path: Path) -> None:
    first = make(index=True)
    run(first, opened(base))
    first.stop()
    (file,) = (tmp_path / "index-dumps").rglob("*.val")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    second = make(index=True)
    again = opened(base)
    assert run(second, again) == 40
    assert_same(again, base)
    second.stop()
    assert run(make(index=True), opened(base)) == 1  # it was written anew


def test_on_a_full_disk_statistics_are_saved_later(make, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SETTLE_SECONDS", 0.0)
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.1)
    full = threading.Event()
    full.set()
    tried = threading.Event()
    store = index_module.PlainDisk._write

    def write_or_fail(self, path, iterator, mode, encoding=None):
        if full.is_set():
            tried.set()
            raise OSError(errno.ENOSPC, "No space left on device")
        return store(self, path, iterator, mode, encoding)

    monkeypatch.setattr(index_module.PlainDisk, "_write", write_or_fail)
    measuring, dump = make(index=True), opened(base)
    run(measuring, dump)
    assert tried.wait(WAIT)
    assert_same(dump, base)
    full.clear()
    measuring.stop()
    assert run(make(index=True), opened(base)) == 1


def test_statistics_are_saved_while_the_server_runs(make, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SETTLE_SECONDS", 0.05)
    run(make(index=True), opened(base))
    until(lambda: list((tmp_path / "index-dumps").rglob("*.val")))
    assert run(make(index=True), opened(base)) == 1


def test_the_index_is_closed_to_others(make, base: Path, tmp_path: Path) -> None:
    run(make(index=True), opened(base))
    assert (tmp_path / "index-dumps").stat().st_mode & 0o777 == 0o700


def test_without_processes_tensors_are_measured_here(make, base: Path) -> None:
    dump = opened(base)
    run(make(program="no.such.program"), dump)
    assert_same(dump, base)


def test_measuring_after_the_end_is_cancelled(make, base: Path) -> None:
    measuring = make()
    measuring.stop()
    with pytest.raises(Cancelled):
        run(measuring, opened(base))


def test_a_bug_is_told_to_the_one_who_asked(make, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object) -> None:
        raise RuntimeError("no")

    measuring = make()
    with monkeypatch.context() as patched:
        patched.setattr(RunDump, "keep_statistics", fail)
        with pytest.raises(OSError, match="RuntimeError: no"):
            run(measuring, opened(base))
    dump = opened(base)
    run(measuring, dump)
    assert_same(dump, base)


def test_parts_of_something_else_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(b"nothing")
    with pytest.raises(FormatError):
        parts(TensorPlace(str(path)), 10)
