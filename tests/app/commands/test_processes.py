"""Records of running servers: only the process that was recorded is ever shown or signalled."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import msgspec
import pytest

from app.commands import processes
from app.commands.settings import SettingError
from app.store import workspace

SLEEPER = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen]:
    with subprocess.Popen(SLEEPER, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield process
        process.kill()


@pytest.fixture
def records(cache) -> str:
    """The directory of the records, as a server makes it."""
    return workspace.subdirectory(workspace.prepare(workspace.cache_directory()), processes.RECORDS)


def record_of(pid: int, port: int = 4242, address: str = "127.0.0.1") -> processes.ServerRecord:
    started = processes.start_time(pid) or ""
    return processes.ServerRecord(pid, started, f"http://{address}:{port}/", address, port, "/base", "/ws", "", 1.0)


def keep(record: processes.ServerRecord) -> str:
    path = os.path.join(processes.records_directory(), processes.file_stem(record.address, record.port) + ".json")
    with open(path, "wb") as stream:
        stream.write(msgspec.json.encode(record))
    return path


def own_record(port: int, address: str = "127.0.0.1") -> processes.ServerRecord:
    return processes.own_record(url=f"http://{address}/", address=address, port=port, base="/b", directory="/w", log="")


def test_a_record_is_there_while_the_server_runs(records) -> None:
    record = own_record(1)
    with processes.recorded(record, records):
        assert processes.running() == [record]
        assert processes.at_port(1) == [record]
        (name,) = os.listdir(records)
        assert stat.S_IMODE(os.stat(os.path.join(records, name)).st_mode) == 0o600
    assert processes.running() == []


def test_two_addresses_have_two_records(records) -> None:
    first, second, other = own_record(7, "127.0.0.1"), own_record(7, "127.0.0.2"), own_record(8, "::1")
    with processes.recorded(first, records), processes.recorded(second, records), processes.recorded(other, records):
        assert processes.at_port(7) == [first, second]
        assert processes.running() == [first, second, other]


def test_records_of_other_machines_are_left_alone(records, sleeper, monkeypatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "Node-1.cluster")
    path = keep(replace(record_of(sleeper.pid), started="another boot 1"))
    monkeypatch.setattr(socket, "gethostname", lambda: "node-1")
    assert processes.running() == []
    assert os.path.exists(path)
    monkeypatch.setattr(socket, "gethostname", lambda: "node-1.cluster")
    assert processes.running() == []
    assert not os.path.exists(path)


def test_without_a_directory_nothing_is_recorded() -> None:
    with processes.recorded(own_record(1), ""):
        assert processes.running() == []
    assert not os.path.exists(processes.records_directory())


def test_stop_ends_the_server(sleeper, records) -> None:
    record = record_of(sleeper.pid)
    keep(record)
    assert processes.stop(*processes.at_port(4242))
    assert sleeper.wait(5) == -signal.SIGTERM
    assert processes.running() == []


def test_a_server_that_does_not_listen_is_killed() -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as deaf:
        deaf.stdout.readline()
        assert processes.stop(record_of(deaf.pid), patience=0.2)
        assert deaf.wait(5) == -signal.SIGKILL


def test_a_reused_process_id_is_left_alone(sleeper, records) -> None:
    path = keep(replace(record_of(sleeper.pid), started="an earlier process"))
    assert processes.at_port(4242) == []
    assert not os.path.exists(path)
    assert processes.stop(replace(record_of(sleeper.pid), started="an earlier process"))
    assert sleeper.poll() is None


def test_a_process_that_has_ended_is_not_running(sleeper) -> None:
    record = record_of(sleeper.pid)
    sleeper.kill()  # not waited for: a zombie
    assert processes._ends(record, 5)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": "x"}', b"\xff" * 100])
def test_damaged_records_are_removed(content, records) -> None:
    path = os.path.join(records, processes.file_stem("127.0.0.1", 7) + ".json")
    with open(path, "wb") as stream:
        stream.write(content)
    assert processes.running() == []
    assert not os.path.exists(path)


def test_a_later_server_at_the_port_keeps_its_record(sleeper, records) -> None:
    with processes.recorded(own_record(4242), records):
        other = record_of(sleeper.pid)
        keep(other)
    assert processes.running() == [other]


def test_start_times_differ() -> None:
    assert processes.start_time(os.getpid()) == processes.start_time(os.getpid())
    assert processes.start_time(2**22 + 7) is None


class TestWorkspace:
    def test_made_for_this_user_alone(self, tmp_path) -> None:
        path = workspace.prepare(str(tmp_path / "a" / "b"))
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o700
        below = workspace.subdirectory(path, "log")
        assert stat.S_IMODE(os.stat(below).st_mode) == 0o700

    def test_what_was_there_keeps_its_mode(self, tmp_path) -> None:
        (tmp_path / "old").mkdir(mode=0o755)
        path = workspace.prepare(str(tmp_path / "old"))
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o755
        os.mkdir(os.path.join(path, "index"), 0o755)
        assert stat.S_IMODE(os.stat(workspace.subdirectory(path, "index")).st_mode) == 0o700

    @pytest.mark.parametrize("place", [".", "ws", "a/b/ws", "../runs/ws", "link/ws"])
    def test_never_below_the_runs(self, tmp_path, place) -> None:
        runs = tmp_path / "runs"
        runs.mkdir()
        (tmp_path / "elsewhere").symlink_to(runs)
        path = tmp_path / "elsewhere" / "ws" if place == "link/ws" else runs / place
        with pytest.raises(SettingError, match="outside the runs"):
            workspace.prepare(str(path), base=str(runs))
        assert os.listdir(runs) == []

    def test_beside_the_runs(self, tmp_path) -> None:
        (tmp_path / "runs").mkdir()
        assert workspace.prepare(str(tmp_path / "runs2"), base=str(tmp_path / "runs"))

    def test_writable_for_others_is_refused(self, tmp_path) -> None:
        (tmp_path / "open").mkdir()
        (tmp_path / "open").chmod(0o777)
        with pytest.raises(SettingError, match=r"writable by this user only, found .* with mode 0777"):
            workspace.prepare(str(tmp_path / "open"))

    def test_of_another_user_is_refused(self, tmp_path, monkeypatch) -> None:
        (tmp_path / "theirs").mkdir()
        monkeypatch.setattr(os, "getuid", lambda: 12345)
        with pytest.raises(SettingError, match="expected a directory owned by this user"):
            workspace.prepare(str(tmp_path / "theirs"))

    def test_a_user_without_a_home_is_told(self, tmp_path, monkeypatch) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(os.path, "expanduser", lambda path: path)
        with pytest.raises(SettingError, match="no home"):
            workspace.prepare("~/.cache/mindscope")
        assert os.listdir(tmp_path) == []

    def test_a_file_is_refused(self, tmp_path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(SettingError, match="expected a writable directory"):
            workspace.prepare(str(tmp_path / "file" / "x"))
