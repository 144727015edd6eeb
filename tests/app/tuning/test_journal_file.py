"""The journal survives torn lines, full disks and stale locks, where Optuna's own backend does not."""

from __future__ import annotations

import errno
import json
import os
import time
import warnings
from pathlib import Path

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from app.tuning import journal_file
from app.tuning.journal_file import JournalFile
from parsers import FormatError
from parsers.tuning.journal import StudyFile

warnings.filterwarnings("ignore", module="optuna")
optuna.logging.set_verbosity(optuna.logging.CRITICAL)
SPACE = {"x": optuna.distributions.FloatDistribution(0, 1)}


def study_in(path: Path, said: list[str] | None = None) -> optuna.Study:
    backend = JournalFile(str(path), (said if said is not None else []).append)
    return optuna.create_study(storage=JournalStorage(backend), study_name="s", load_if_exists=True)


def with_trials(path: Path, count: int = 3) -> optuna.Study:
    study = study_in(path)
    for number in range(count):
        study.tell(study.ask(SPACE), float(number))
    return study


def values(study: optuna.Study) -> list[float]:
    return [one.value for one in study.get_trials(states=(optuna.trial.TrialState.COMPLETE,))]


def test_optuna_and_this_backend_read_each_other(tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    mine = with_trials(path)
    theirs = optuna.load_study(storage=JournalStorage(JournalFileBackend(str(path))), study_name="s")
    assert values(theirs) == [0.0, 1.0, 2.0]
    theirs.tell(theirs.ask(SPACE), 3.0)
    assert values(mine) == values(study_in(path)) == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("lost", [1, 5, 60])
def test_a_torn_end_is_removed_before_anything_is_appended(tmp_path: Path, lost: int) -> None:
    path, said = tmp_path / "journal.log", list[str]()
    with_trials(path)
    data = path.read_bytes()
    path.write_bytes(data[:-lost])
    study = study_in(path, said)
    assert values(study) == [0.0, 1.0]
    study.tell(study.ask(SPACE), 9.0)
    assert values(study_in(path)) == [0.0, 1.0, 9.0]
    assert len(said) == 1
    assert "an unfinished record at the end" in said[0]
    for line in path.read_text().splitlines():
        json.loads(line)


def test_the_trap_an_append_after_a_torn_line_stops_optuna_but_not_this(tmp_path: Path) -> None:
    path, said = tmp_path / "journal.log", list[str]()
    with_trials(path)
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole[:-1]) + whole[-1][:40])
    plain = optuna.load_study(storage=JournalStorage(JournalFileBackend(str(path))), study_name="s")
    with pytest.raises((ValueError, AttributeError)):
        plain.tell(plain.ask(SPACE), 7.0)  # its first record follows the torn one on the same line
    with pytest.raises((ValueError, AttributeError)):
        plain.tell(plain.ask(SPACE), 7.0)
    with pytest.raises(ValueError, match=r"delimiter|Expecting|Extra data|Unterminated"):
        optuna.load_study(storage=JournalStorage(JournalFileBackend(str(path))), study_name="s")
    size = path.stat().st_size
    study = optuna.load_study(storage=JournalStorage(JournalFile(str(path), said.append)), study_name="s")
    assert values(study)[:2] == [0.0, 1.0]
    assert any("a damaged record at byte" in line for line in said)
    assert path.stat().st_size == size
    theirs = optuna.load_study(storage=JournalStorage(JournalFileBackend(str(path))), study_name="s")
    assert len(theirs.get_trials()) == len(study.get_trials()) >= 4  # the trial created on the bad line is kept
    study.tell(study.ask(SPACE), 8.0)
    assert 8.0 in values(study_in(path))


@pytest.mark.parametrize("junk", [b"\0" * 70 + b"\n", b"{}\n", b"\n", b"[1]\n", b'{"op_code": "4"}\n', b"[" * 9_000 + b"\n"])
@pytest.mark.parametrize("place", [0, 3, -1])
def test_junk_anywhere_is_passed(tmp_path: Path, junk: bytes, place: int) -> None:
    path = tmp_path / "journal.log"
    with_trials(path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines.insert(place if place >= 0 else len(lines), junk)
    path.write_bytes(b"".join(lines))
    reader = StudyFile(str(path))
    reader.refresh()
    assert [one.kind for one in reader.problems] == ["bad_message"]
    assert [list(one.values) for one in reader.studies[0].trials] == [[0.0], [1.0], [2.0]]
    assert values(study_in(path)) == [0.0, 1.0, 2.0]
    theirs = optuna.load_study(storage=JournalStorage(JournalFileBackend(str(path))), study_name="s")
    assert values(theirs) == [0.0, 1.0, 2.0]
    with_trials(path, 1)
    assert values(study_in(path)) == [0.0, 1.0, 2.0, 0.0]


def test_a_newer_journal_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    with_trials(path)
    path.write_bytes(path.read_bytes() + b'{"op_code":11,"worker_id":"w","what":1}\n')
    before = path.read_bytes()
    with pytest.raises(FormatError, match=r"expected a journal of Optuna 4 or 5, found operation 11"):
        study_in(path)
    assert path.read_bytes() == before


def test_a_full_disk_leaves_the_journal_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal.log"
    study = with_trials(path)
    before = path.read_bytes()
    write = os.pwrite

    def full(descriptor: int, data: bytes, offset: int) -> int:
        if offset > len(before):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, bytes(data[:20]), offset)

    monkeypatch.setattr(journal_file.os, "pwrite", full)
    with pytest.raises(OSError, match="No space left"):
        study.ask()
    monkeypatch.setattr(journal_file.os, "pwrite", write)
    assert path.read_bytes() == before
    study.tell(study.ask(SPACE), 5.0)
    assert values(study_in(path)) == [0.0, 1.0, 2.0, 5.0]


def test_a_lock_of_a_killed_writer_does_not_stall(tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    with_trials(path)
    pid = os.fork()
    if not pid:
        journal_file._flock(os.open(f"{path}.flock", os.O_RDWR))
        os.kill(os.getpid(), 9)
    os.waitpid(pid, 0)
    os.symlink(path, f"{path}.lock")  # of Optuna's own backend, which would wait 30 s for it
    began = time.monotonic()
    with_trials(path, 1)
    assert time.monotonic() - began < 29


def test_without_locks_of_the_system_a_file_is_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(journal_file.fcntl, "flock", none)
    assert values(with_trials(tmp_path / "journal.log")) == [0.0, 1.0, 2.0]


def test_a_batch_is_one_append(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal.log"
    backend = JournalFile(str(path), print)
    storage = JournalStorage(backend)
    study = optuna.create_study(storage=storage, study_name="s")
    trial = study.ask()
    synced: list[int] = []
    sync = os.fsync
    monkeypatch.setattr(journal_file.os, "fsync", lambda one: (synced.append(one), sync(one)))
    with backend.batch():
        for step in range(50):
            storage.set_trial_intermediate_value(trial._trial_id, step, step / 2)
    assert len(synced) == 1
    assert storage.get_trial(trial._trial_id).intermediate_values == {step: step / 2 for step in range(50)}
