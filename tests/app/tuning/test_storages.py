"""`mindscope tune` on storages and disks that fail: databases, credentials, full disks, machines that are gone."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import optuna
import pytest
from optuna.trial import TrialState

from app.tuning import orphans, processes, storages, studies, worker
from parsers import tuning_frames
from parsers.tuning.recording import END, PLACE
from tests.amounts import long_after
from tests.app.tuning.conftest import Search, ended, script
from tests.waiting import until

Lines = Callable[[], Sequence[str]]


def test_a_database_works_like_a_journal(search: Search, output: Lines) -> None:
    address = f"sqlite:///{search.directory}/study.db"
    search.write("budget: {trials: 6}\ntuner: {name: random}")
    assert search.tune("--storage", address, "--jobs", 2) == 0
    assert output()[0] == f"Study search in {address}: created, 0 trials"
    opened = storages.open_storage(address, print, shared=True)
    state = studies.state_of(optuna.load_study(study_name="search", storage=opened.storage))
    frame = tuning_frames.trials_frame(state)
    assert frame["state"].eq("complete").all()
    assert (frame["value"] == (frame["parameter/x"] - 6) ** 2).all()
    assert search.tune("--storage", f"sqlite:///{search.directory}/no/such/study.db") == 1
    assert "unable to open database file" in output()[-1]


def test_studies_of_one_name_in_several_storages_do_not_mix(search: Search) -> None:
    """Also one that is begun again after its journal was deleted: trials of one number have directories of their own."""
    address = f"sqlite:///{search.directory}/study.db"
    assert search.tune("--iter", 2) == 0
    assert search.tune("--iter", 2, "--storage", address) == 0
    search.journal.unlink()
    assert search.tune("--iter", 2) == 0
    assert [one.state for one in search.study().trials] == ["complete"] * 2
    assert len({one.attributes[PLACE]["directory"] for one in search.study().trials}) == 2


def test_credentials_never_appear(search: Search, output: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "s3cr3t-w0rd"
    for address in (
        f"postgresql://me:{secret}@127.0.0.1:1/db",
        f"mysql+pymysql://me:{secret}@127.0.0.1:1/db?password={secret}",
    ):
        monkeypatch.setenv("MINDSCOPE_STORAGE", address)
        assert search.tune() == 1
        (line,) = output()
        assert secret not in line
        assert "me:" not in line
        assert "127.0.0.1:1/db: " in line
    text = storages._safe_text(ValueError(f"no access for {secret}"), storages._secrets(f"mysql://a:{secret}@h/d"))
    assert secret not in text
    assert storages._safe_text(ValueError("user 'b' is bad"), ("b",)) == "user '***' is bad"


@pytest.mark.parametrize(
    ("address", "label"),
    [
        ("postgresql://me:pa/ss#wo?rd@h:1/db", "postgresql://h:1/db"),
        ("mysql+pymysql://me:%40pa%2Fss@h/db?ssl_key=k", "mysql+pymysql://h/db"),
        ("postgresql:///db?host=/run&user=me&password=word", "postgresql:///db"),
        ("sqlite:////dir/a@b.db", "sqlite:////dir/a%40b.db"),
        ("postgresql://me:pa@ss@h/db", None),
        ("postgresql://me:word@h:port/db", None),
        ("postgresql://m/e:word@h/db", None),
        ("postgresql://me:pa?ss@wo?rd@h/db", None),
    ],
)
def test_an_address_is_named_without_credentials(address: str, label: str | None) -> None:
    """Passwords with characters that should be escaped end where the database's own reader of addresses has them end."""
    url = storages._parsed(address)
    assert (url and storages._label(url)) == label
    if label is None:
        with pytest.raises(storages.StorageError, match="write @ within user or password as %40") as caught:
            storages.open_storage(address, print, shared=True)
        assert not any(part in str(caught.value) for part in ("me:", "pa@", "ss@", "wo?", "word@"))


def test_a_trial_that_another_tuner_has_given_up_is_ended(search: Search) -> None:
    """As it happens to a tuner that was stopped for ten minutes."""
    script(search, f"mkdir {search.directory}/up && sleep 100; exit 3")
    search.write("budget: {trials: 2}")
    pid = search.forked()
    until((search.directory / "up").exists)
    opened = storages.open_storage(str(search.journal), print, shared=True)
    (frozen,) = opened.storage.get_all_trials(0)
    opened.storage.set_trial_state_values(frozen._trial_id, TrialState.FAIL)
    status = next(search.directory.glob("workspace/studies/*/trials/0-*/status.json"))
    os.kill(json.loads(status.read_text())["child"], signal.SIGTERM)
    assert ended(pid) == 1
    said = (search.directory / "tuner.log").read_text()
    assert "trial 0: its result was not taken: Trial#0 has already finished" in said
    assert "trial 1 failed: exit code 3" in said
    assert "Traceback" not in said


def test_a_storage_that_fails_for_a_while_loses_nothing(search: Search, output: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.tuning.journal_file import JournalFile

    append, failed = JournalFile.append_logs, [0]

    def full(self: JournalFile, logs: Sequence[dict[str, object]]) -> None:
        if self._held is None and failed[0] < 3 and any("values" in one and one.get("values") for one in logs):
            failed[0] += 1
            raise OSError(28, "No space left on device")
        append(self, logs)

    monkeypatch.setattr(JournalFile, "append_logs", full)
    monkeypatch.setattr(worker, "PAUSE", 0.05)
    search.write("budget: {trials: 3}")
    assert search.tune() == 0
    said = output()
    assert sum("No space left on device; trying again" in line for line in said) >= 1
    assert [one.state for one in search.study().trials] == ["complete"] * 3
    failed[0] = -(10**6)
    monkeypatch.setattr(worker, "PATIENCE", 0.2)
    assert search.tune("--study", "full") == 1
    assert "given up. 1 trial of this tuner may still run; --resume takes them over" in output()[-1]


def test_a_trial_of_a_machine_that_is_gone_is_given_up(search: Search, output: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    assert search.tune() == 0
    opened = storages.open_storage(str(search.journal), print, shared=True)
    study = optuna.load_study(study_name="search", storage=opened.storage)
    trial = study.ask({"x": optuna.distributions.IntDistribution(0, 9)})
    trial.set_user_attr(PLACE, {"host": "elsewhere", "user": 0, "worker": "w1", "run": "/r", "directory": "/d"})
    study.set_user_attr("mindscope:worker:w1", {"host": "elsewhere", "seen": time.time() - 100, "ended": None})
    assert search.tune("--resume", "--storage", search.journal) == 0
    assert search.study().trials[1].state == "running"
    study.set_user_attr("mindscope:worker:w1", {"host": "elsewhere", "seen": time.time() - 1000, "ended": None})
    assert search.tune("--resume", "--iter", 1, "--storage", search.journal) == 0
    assert search.study().trials[1].state == "running"  # its clock may be wrong: a new sign is waited for
    assert any("worker w1 seems to be gone" in line for line in output())
    monkeypatch.setattr(orphans, "ALIVE", 0.5)
    monkeypatch.setattr(worker, "ORPHANS", 0.1)
    search.write("budget: {trials: 5}")
    assert search.tune("--resume", "--storage", search.journal) == 0
    gone = search.study().trials[1]
    assert (gone.state, gone.attributes[END]["reason"]) == ("failed", "its worker w1 has given no sign for 10 min 0 s")


@pytest.mark.parametrize("after", long_after(1, [2, 0, 5]))
def test_a_disk_that_is_full_for_a_while_loses_nothing(
    search: Search, output: Lines, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """Writes of the journal end in the middle with ENOSPC, from some write on, three times; trials go on meanwhile."""
    from app.tuning import journal_file

    write, count = os.pwrite, [0]

    def full(descriptor: int, data: bytes, offset: int) -> int:
        count[0] += 1
        if after < count[0] <= after + 6:  # every attempt writes some bytes and then fails
            if (count[0] - after) % 2:
                return write(descriptor, bytes(data[: max(len(data) // 2, 1)]), offset)
            raise OSError(28, "No space left on device")
        return write(descriptor, data, offset)

    class Full:
        def __getattr__(self, name: str) -> object:
            return full if name == "pwrite" else getattr(os, name)

    search.write("budget: {trials: 4}\ntuner: {name: random}")
    assert search.tune("--study", "untouched", "--jobs", 2) == 0
    output()
    monkeypatch.setattr(journal_file, "os", Full())
    monkeypatch.setattr(worker, "PAUSE", 0.05)
    code = search.tune("--jobs", 2)
    monkeypatch.setattr(journal_file, "os", os)
    said = output()
    if after == 0:  # the study cannot even be made: said at once, and nothing is left half made
        assert code == 1
        assert "No space left on device" in said[-1]
        assert search.tune("--jobs", 2) == 0
    else:
        assert code == 0
        assert any("No space left on device; trying again" in line for line in said)
        assert any(line.endswith("works again") for line in said)
    told = [one for one in search.study().trials if "mindscope:skipped" not in one.attributes]
    assert [one.state for one in told] == ["complete"] * 4
    assert sorted(one.number for one in told) == [0, 1, 2, 3]
    lines = search.journal.read_bytes().splitlines()
    assert all(isinstance(json.loads(line), dict) for line in lines)


@pytest.mark.parametrize("here", [False, True])
def test_a_process_id_of_another_machine_of_this_name_is_not_looked_up(search: Search, here: bool) -> None:
    """Containers may share a workspace and have one host name; each has process ids of its own."""
    assert search.tune() == 0
    opened = storages.open_storage(str(search.journal), print, shared=True)
    study = optuna.load_study(study_name="search", storage=opened.storage)
    trial = study.ask({"x": optuna.distributions.IntDistribution(0, 9)})
    directory = search.directory / "trial"
    directory.mkdir()
    (directory / "status.json").write_text(json.dumps({"state": "running", "keeper": 1 << 30, "began": time.time()}))
    machine = processes.machine() if here else "00000000-0000-0000-0000-000000000000 pid:[1]"
    place = {"host": socket.gethostname(), "user": os.getuid(), "machine": machine, "worker": "w1", "run": "/r"}
    trial.set_user_attr(PLACE, {**place, "directory": str(directory)})
    study.set_user_attr("mindscope:worker:w1", {"host": socket.gethostname(), "seen": time.time(), "ended": None})
    assert search.tune("--resume", "--iter", 2, "--storage", search.journal) == 0
    found = search.study().trials[1]
    assert found.state == ("failed" if here else "running")
    assert not here or found.attributes[END]["reason"].startswith("its processes were killed from outside")


def begun(journal: Path) -> bool:
    """Return whether a journal has a record."""
    return journal.exists() and journal.stat().st_size > 0


@pytest.mark.long
def test_a_real_disk_that_fills_up_and_is_emptied(search: Search) -> None:
    """The workspace is a file system of 256 kB, which is full for three seconds while trials run."""
    place = search.directory / "workspace"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system may be mounted here")
    try:
        slow = search.directory / "slow.sh"
        slow.write_text(f"sleep 0.3; sh {search.directory}/trial.sh\n")
        search.write("budget: {trials: 8}\ntuner: {name: random}", command=f"sh {slow}")
        pid = search.forked("--jobs", 2)
        until(lambda: begun(search.journal) and any(one.state == "complete" for one in search.study().trials))
        with open(place / "filler", "wb", buffering=0) as filler, contextlib.suppress(OSError):
            while True:
                filler.write(b"x" * 512)
        assert os.statvfs(place).f_bavail == 0
        until(lambda: "trying again" in (search.directory / "tuner.log").read_text())
        (place / "filler").unlink()
        assert ended(pid) == 0
        said = (search.directory / "tuner.log").read_text()
        told = [one for one in search.study().trials if "mindscope:skipped" not in one.attributes]
        failed = [one.attributes[END] for one in told if one.state == "failed"]
        assert all(one["again"] and "(is the disk full?)" in one["reason"] for one in failed), said
        assert [one.state for one in told if one.state != "failed"] == ["complete"] * (len(told) - len(failed)), said
        assert len(told) - len(failed) >= 8, said
        assert all(isinstance(json.loads(line), dict) for line in search.journal.read_bytes().splitlines())
        assert "No space left on device; trying again" in said
        assert "works again" in said
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
