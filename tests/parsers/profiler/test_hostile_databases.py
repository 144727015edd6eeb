"""Databases that were made to hold the server up, to compute what they like, or to have files written beside them."""

from __future__ import annotations

import contextlib
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from app.background import MOST_OVERTIME, SLOTS
from app.store.profiles.frames import ProfileFrames
from parsers import open_run
from parsers.profiler import database, database_logs, database_processes
from parsers.profiler.access import Profile
from parsers.profiler.database import Database
from parsers.profiler.database_processes import DatabaseProcess, DatabaseProcesses, MixedColumn, TextColumn
from parsers.profiler.lines import Complaints
from tests.waiting import until
from tests.writers import hostile_databases
from tests.writers.profiler_database import TABLES

NAME = "ascend_mindspore_profiler.db"
ENDLESS = "SELECT " + " + ".join(["instr(printf('%.*c', 900000, 'a'), printf('%.*c', 450000, 'a') || 'b')"] * 50)
"""A query of which each instruction takes 10 s or more, so that for minutes no limit of SQLite is looked at."""


@pytest.fixture(autouse=True)
def fresh_processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(database, "PROCESSES", DatabaseProcesses())
    yield
    database.PROCESSES.close()


def profile_of(path: Path) -> Profile:
    (profile,) = open_run(path).profile.values()
    return profile


def made(path: Path, rows: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript(TABLES)
    connection.executemany(
        "INSERT INTO TASK VALUES (?, ?, 3, 0, ?, 1, 3, 0, 2, 9, 5)", ((one + 1, one + 2, one + 100) for one in range(rows))
    )
    connection.executemany("INSERT INTO COMPUTE_TASK_INFO VALUES (1, ?, 24, 3, 2, 4)", ((one + 100,) for one in range(rows)))
    connection.commit()
    connection.close()
    return path


@pytest.mark.parametrize(("kind", "named"), [
    ("virtual", "TASK is a virtual table"), ("view", "TASK is a view"), ("generated", "TASK.streamId is a generated column"),
    ("masked", "malformed database schema"),
])  # fmt: skip
def test_what_is_computed_when_it_is_read_is_refused_by_name(tmp_path: Path, kind: str, named: str) -> None:
    hostile_databases.HOSTILE[kind](tmp_path / NAME)
    profile = profile_of(tmp_path)
    began = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    kernels = profile.kernels
    assert sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) - began < 2
    assert len(kernels) == (1 if kind == "generated" else 0)
    assert any(named in problem.text for problem in profile.problems)


def test_only_plain_tables_and_few_functions_may_be_used(tmp_path: Path) -> None:
    hostile_databases.generated(tmp_path / NAME)
    with Database(str(tmp_path / NAME)) as opened:
        for query in (
            "SELECT streamId FROM TASK", "SELECT name FROM sqlite_master", "SELECT load_extension('x')", "PRAGMA page_count",
            "SELECT randomblob(10) FROM TASK", "DELETE FROM TASK", "ATTACH 'x' AS y", "SELECT instr('a', 'a') FROM TASK",
            "WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more) SELECT n FROM more",
        ):  # fmt: skip
            with pytest.raises(ValueError, match=r"prohibited|authorized"):
                opened.select(query, ())
        assert opened.select("SELECT startNs, COUNT(*) FROM TASK", ()) == [(5, 1)]


@pytest.mark.parametrize("kind", ["view", "virtual", "plain view"])
def test_nothing_is_computed_of_a_table_that_is_refused(tmp_path: Path, kind: str) -> None:
    """Even if a query of ours named it. The last one uses nothing but a plain table that may be read, and no function."""
    path = made(tmp_path / NAME)
    if kind == "plain view":
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE VIEW SEEN AS SELECT startNs FROM TASK")
    else:
        path.unlink()
        hostile_databases.HOSTILE[kind](path)
    name = "SEEN" if kind == "plain view" else "TASK"
    with Database(str(path)) as opened:
        for query in (f"SELECT startNs FROM {name}", f"SELECT COUNT(*) FROM {name}"):
            with pytest.raises(ValueError, match=r"prohibited|authorized|constructor failed"):
                opened.select(query, ())


def test_a_process_that_is_silent_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hung = _unguarded(made(tmp_path / NAME))
    monkeypatch.setattr(database_processes, "QUIET_S", 0.3)
    with pytest.raises(database_processes.GivenUpError, match=r"given up after [0-9] s"):
        list(hung.rows(ENDLESS, (), 10))
    with pytest.raises(ProcessLookupError):
        os.kill(hung.id, 0)


def test_a_query_of_the_largest_database_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("SHORTEST_S", 0.1), ("LONGEST_S", 0.3)):
        monkeypatch.setattr(database_processes, name, seconds)
    hung = _unguarded(made(tmp_path / NAME), size=1 << 50)
    with pytest.raises(database_processes.GivenUpError, match=r"given up after [0-9] s"):
        list(hung.rows(ENDLESS, (), 10))


def test_the_process_is_held_to_its_memory(tmp_path: Path) -> None:
    with Database(str(made(tmp_path / NAME))) as opened:
        assert resource.prlimit(opened._process.id, resource.RLIMIT_AS)[0] == database_processes.program.MEMORY


def _unguarded(path: Path, size: int = 1) -> DatabaseProcess:
    """A process in which every function may be used."""
    guarded = "return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY"
    source = Path(database_processes.program.__file__)
    program = path.parent / "unguarded.py"
    text = source.read_text("utf-8")
    assert guarded in text
    program.write_text(text.replace(guarded, "return sqlite3.SQLITE_OK"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database_processes.program, "__file__", str(program))
        process = DatabaseProcess()
    process.open(database_logs.uri_of(str(path)), size, 1 << 20)
    return process


def test_one_that_was_given_up_is_not_read_again_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / NAME
    hostile_databases.planned(path)
    profile = profile_of(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(database_processes, "SHORTEST_S", 0.3)
        assert profile.kernels.empty
    assert any("given up after" in problem.text for problem in profile.problems)
    started: list[None] = []
    with monkeypatch.context() as patched:
        patched.setattr(database_processes, "DatabaseProcess", lambda: started.append(None))
        assert any("given up after" in problem.text for problem in _problems_of_a_fresh_one(tmp_path))
    assert not started
    path.unlink()
    made(path)
    assert len(profile_of(tmp_path).kernels) == 3


def _problems_of_a_fresh_one(path: Path) -> list[object]:
    profile = profile_of(path)
    assert profile.kernels.empty
    return list(profile.problems)


def test_others_are_read_while_one_waits_for_its_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More databases hang than tasks may compute, those that take long included; a profile of another is read meanwhile."""
    monkeypatch.setattr(database_processes, "SHORTEST_S", 120.0)
    hung = SLOTS + MOST_OVERTIME + 1
    for number in range(hung):
        (tmp_path / f"hung{number}").mkdir()
        hostile_databases.planned(tmp_path / f"hung{number}" / NAME, rows=40_000)
    (tmp_path / "fine").mkdir()
    made(tmp_path / "fine" / NAME)
    frames = ProfileFrames()
    try:
        profiles = [profile_of(tmp_path / f"hung{number}") for number in range(hung)]
        until(lambda: _reading(frames, profiles) >= SLOTS + MOST_OVERTIME)
        fine = profile_of(tmp_path / "fine")
        until(lambda: frames.frame(fine, "fine", "kernels").state == "ready")
        until(lambda: _reading(frames, profiles) == hung)
        pids = _children(os.getpid())
        assert pids
    finally:
        frames.stop()
        database.PROCESSES.close()
    until(lambda: not [pid for pid in pids if b"database_process" in _command(pid)])


def _reading(frames: ProfileFrames, profiles: list[Profile]) -> int:
    """Ask for a frame of each profile; return how many of them are being read."""
    states = [frames.frame(profile, str(number), "kernels").state for number, profile in enumerate(profiles)]
    assert set(states) <= {"reading", "waiting"}
    return states.count("reading")


def _children(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and b"database_process" in _command(int(entry.name)):
            text = (entry / "stat").read_text("utf-8", "replace")
            if int(text.rpartition(")")[2].split()[1]) == parent:
                found.append(int(entry.name))
    return found


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


QUERY = """
import sys
from parsers.profiler.database import Database
database = Database(sys.argv[1])
print(database._process.id, flush=True)
list(database._rows('SELECT COUNT(*) FROM TASK JOIN COMPUTE_TASK_INFO ON startNs + name < 0'))
"""
INSTRUCTION = """
import sys
from pathlib import Path
from tests.parsers.profiler.test_hostile_databases import ENDLESS, _unguarded
process = _unguarded(Path(sys.argv[1]))
print(process.id, flush=True)
list(process.rows(ENDLESS, (), 10))
"""


@pytest.mark.parametrize("program", [QUERY, INSTRUCTION], ids=["query", "instruction"])
def test_the_process_ends_with_the_program_that_was_killed(tmp_path: Path, program: str) -> None:
    """Also within an instruction of SQLite, in which it writes nothing that would fail."""
    path = tmp_path / NAME
    hostile_databases.planned(path)
    parent = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    until(lambda: _seconds(child) > 1.0)  # it computes
    parent.kill()
    parent.wait()
    parent.stdout.close()
    until(lambda: not _command(child), 20.0)


def _seconds(pid: int) -> float:
    """The processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_process_is_used_again_and_its_start_is_cheap(tmp_path: Path) -> None:
    ids = set()
    for number in range(5):
        path = made(tmp_path / str(number) / NAME)
        with Database(str(path)) as opened:
            ids.add(opened._process.id)
            assert opened.select("SELECT COUNT(*) FROM TASK", ()) == [(2,)]
    assert len(ids) == 1


def test_one_that_dies_is_a_problem_of_its_database(tmp_path: Path) -> None:
    made(tmp_path / "a" / NAME, rows=30_000)
    with Database(str(tmp_path / "a" / NAME)) as opened:
        rows = opened._rows("SELECT startNs FROM TASK")
        next(rows)
        opened._process.kill()
        with pytest.raises(ValueError, match="ended"):
            list(rows)
    made(tmp_path / "b" / NAME)
    assert len(profile_of(tmp_path / "b").kernels) == 3


def test_queries_may_be_interleaved_and_left(tmp_path: Path) -> None:
    with Database(str(made(tmp_path / NAME, rows=30_000))) as opened:
        first, second = opened._rows("SELECT startNs FROM TASK WHERE model IS NULL OR 1".replace("model", "modelId")), None
        begin = next(first)[0]
        second = opened._rows("SELECT globalTaskId FROM TASK ORDER BY globalTaskId DESC")
        assert next(second)[0][0] == (30_099,)
        second.close()
        whole = [*begin, *(row for rows, _ in first for row in rows)]
        assert len(whole) == 30_002
        assert opened.select("SELECT COUNT(*) FROM TASK", ()) == [(30_002,)]


def test_columns_hold_what_rows_hold(tmp_path: Path) -> None:
    path = tmp_path / NAME
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE cells (number INTEGER, share FLOAT, text TEXT, any)")
    mixed = (None, 1, 2.5, "x", b"\xff")
    cells = [(row, row / 7, f"t{row % 3}\u00e9", mixed[row % 5 if row > 1500 else 0]) for row in range(2500)]
    connection.executemany("INSERT INTO cells VALUES (?, ?, ?, ?)", [*cells, (1 << 62, -0.0, "", None), (-1, 1e300, "t", None)])
    connection.execute("UPDATE cells SET share = 'text' WHERE number = 2400")
    connection.commit()
    connection.close()
    query = "SELECT number, share, text, any FROM cells ORDER BY ROWID"
    with Database(str(path)) as opened:
        complaints = Complaints(str(path))
        rows = [row for part in opened.rows(query, "cells", complaints) for row in part]
        parts = list(opened.column_parts(query, "cells", complaints))
        kinds = {kind for part in parts for kind in zip("nstc", map(type, part), strict=True)}
        found = [row for part in parts for row in zip(*(column.tolist() for column in part), strict=True)]
    assert found == [(*row[:3], "\ufffd" if isinstance(row[3], bytes) else row[3]) for row in rows]
    assert kinds == {("n", np.ndarray), ("s", np.ndarray), ("s", MixedColumn), ("t", TextColumn), ("c", MixedColumn)}
    assert not complaints.all()


def test_columns_have_limits_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many rows are fetched at once as columns, so their texts must be short; rows of the same database may have long ones."""
    path = tmp_path / NAME
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE texts (text)")
    connection.executemany("INSERT INTO texts VALUES (?)", [("a" * 60_000,), ("b" * 70_000,)])
    connection.commit()
    connection.close()
    query = "SELECT text FROM texts"
    with Database(str(path)) as opened:
        complaints = Complaints(str(path))
        with pytest.raises(ValueError, match="too big"):
            list(opened.column_parts(query, "texts", complaints))
        assert [len(text) for (text,) in opened.select(query, ())] == [60_000, 70_000]
        monkeypatch.setattr(database, "MOST_ROWS", 0)
        assert list(opened.column_parts("SELECT text FROM texts LIMIT 1", "texts", complaints)) == []
    assert [problem.text for problem in complaints.all()] == [
        "texts: expected at most 0 rows; 0 rows were read, the others were skipped."
    ]


# Logs ------------------------------------------------------------------------------------------------------------------------


def with_log(path: Path) -> Callable[[], dict[str, tuple[int, int]]]:
    """A database of which half is in its log, as a program that was killed leaves it; returns what lists its directory."""
    made(path)
    program = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('PRAGMA journal_mode=WAL')\n"
        "c.execute('PRAGMA wal_autocheckpoint=0')\n"
        "c.execute(\"INSERT INTO TASK VALUES (1764246877073569901, 1764246877073569902, 3, 0, 8, 1, 3, 0, 2, 11, 5)\")\n"
        "c.execute(\"INSERT INTO COMMUNICATION_OP VALUES (5, 1764246877073569950, 1764246877073569960, 2)\")\n"
        "c.commit(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)
    Path(f"{path}-shm").unlink()
    assert Path(f"{path}-wal").stat().st_size
    return lambda: {one.name: (one.stat().st_mtime_ns, one.stat().st_size) for one in path.parent.iterdir()}


def test_rows_in_a_log_are_read_and_nothing_is_written_beside_it(tmp_path: Path) -> None:
    listing = with_log(tmp_path / NAME)
    before = listing()
    profile = profile_of(tmp_path)
    assert profile.kernels["start_ns"].max() == 1764246877073569950
    assert not profile.problems
    assert listing() == before


def test_a_database_that_had_a_log_is_read_and_nothing_is_written_beside_it(tmp_path: Path) -> None:
    """Its header says that it has one, so SQLite would make one to read it, unless it is told that nobody changes the file."""
    path = made(tmp_path / NAME)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("DELETE FROM TASK WHERE globalTaskId = 8")
        connection.commit()
    before = {path.name: path.stat().st_mtime_ns}
    changed = path.parent.stat().st_mtime_ns
    assert {one.name: one.stat().st_mtime_ns for one in path.parent.iterdir()} == before
    assert len(profile_of(tmp_path).kernels) == 2
    assert {one.name: one.stat().st_mtime_ns for one in path.parent.iterdir()} == before
    assert path.parent.stat().st_mtime_ns == changed, "nothing was made for a moment either"


@pytest.mark.parametrize("room", ["none", "for the database", "for all but a byte"])
def test_a_log_too_large_to_copy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: str) -> None:
    listing = with_log(tmp_path / NAME)
    before = listing()
    size = (tmp_path / NAME).stat().st_size
    log = Path(f"{tmp_path / NAME}-wal").stat().st_size
    monkeypatch.setattr(database_logs, "MOST_COPIED", {"none": 1000, "for the database": size}.get(room, size + log - 1))
    profile = profile_of(tmp_path)
    assert profile.kernels["start_ns"].max() < 1764246877073569950
    assert ["Newer rows are in the log" in problem.text for problem in profile.problems] == [True]
    assert listing() == before


def test_two_files_above_the_limit_are_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the limit as it is: the log is a hole for the most part, which takes no room on the disk."""
    copies: list[str] = []
    monkeypatch.setattr(database_logs, "_copy", lambda path, target, size: copies.append(path))
    with_log(tmp_path / NAME)
    log = Path(f"{tmp_path / NAME}-wal")
    with log.open("r+b") as file:
        file.truncate((256 << 20) - (tmp_path / NAME).stat().st_size + 1)
    assert database_logs.copied(str(tmp_path / NAME)) is None
    assert copies == []
    with log.open("r+b") as file:
        file.truncate((256 << 20) - (tmp_path / NAME).stat().st_size)
    directory = database_logs.copied(str(tmp_path / NAME))
    assert directory is not None
    directory.cleanup()
    assert copies == [str(log), str(tmp_path / NAME)]


def test_a_log_that_grows_at_the_moment_of_copying_takes_no_more_than_it_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_log(tmp_path / NAME)
    log = Path(f"{tmp_path / NAME}-wal")
    size = log.stat().st_size
    written: list[int] = []
    real = database_logs._copy

    def copy(path: str, target: str, most: int) -> None:
        if path == str(log):
            with log.open("r+b") as file:
                file.truncate(1 << 40)  # a hole: it takes no room there, but a copy of it does
        real(path, target, most)
        written.append(os.stat(target).st_size)

    monkeypatch.setattr(database_logs, "_copy", copy)
    monkeypatch.setattr(database_logs, "TRIES", 1)
    assert database_logs.copied(str(tmp_path / NAME)) is None
    assert written == [size, (tmp_path / NAME).stat().st_size]


def test_a_database_that_becomes_another_file_at_the_moment_of_opening_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = made(tmp_path / NAME, 3), made(tmp_path / "secret" / NAME, 5)
    real = database.uri_of

    def uri(path: str, *, copied: bool = False) -> str:
        os.unlink(path)
        os.symlink(other, path)
        return real(path, copied=copied)

    with monkeypatch.context() as moment:
        moment.setattr(database, "uri_of", uri)
        with pytest.raises(OSError, match="it became another file while it was opened"):
            Database(str(path))
    with Database(str(path)) as opened:
        assert opened.columns


def test_a_database_that_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    for kind in ("pipe", "directory", "device"):
        path = tmp_path / kind / NAME
        path.parent.mkdir()
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "directory":
            path.mkdir()
        else:
            path.symlink_to("/dev/zero")
        with pytest.raises(OSError, match="not a regular file"):
            Database(str(path))
