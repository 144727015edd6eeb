"""The copy of a study that lives in a database: Optuna itself reads it, and has to find what the database has."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from app.store.tuning.studies import Studies
from app.tuning.mirror import StudyMirror, place_of
from parsers.tuning.journal import StudyFile
from parsers.tuning.recording import MIRROR, SEARCH
from tests.app.tuning.conftest import Search, ended

FIELDS = ("number", "state", "values", "params", "distributions", "user_attrs", "system_attrs", "intermediate_values",
          "datetime_start", "datetime_complete")  # fmt: skip
SPACE: dict[str, BaseDistribution] = {
    "x": FloatDistribution(0.001, 1.0, log=True), "n": IntDistribution(2, 64, step=2),
    "kind": CategoricalDistribution(["a", 1, True, None]),
}  # fmt: skip


def copied(path: str, name: str) -> optuna.Study:
    return optuna.load_study(study_name=name, storage=optuna.storages.JournalStorage(JournalFileBackend(path)))


def assert_same(one: optuna.Study, other: optuna.Study) -> None:
    """Compare two studies by Optuna's own reading."""
    assert one.directions == other.directions
    assert {key: value for key, value in other.user_attrs.items() if key != MIRROR} == one.user_attrs
    for trial, copy in zip(one.get_trials(), other.get_trials(), strict=True):
        for field in FIELDS:
            assert plain(getattr(trial, field)) == plain(getattr(copy, field)), (trial.number, field)


def plain(value: Any) -> str:
    """Return a text by which NaN equals NaN, and the order of a mapping does not matter."""
    return repr(sorted(value.items(), key=str) if isinstance(value, dict) else value)


def act(study: optuna.Study, chance: random.Random, running: list[optuna.Trial]) -> None:
    """Do one thing that a tuner may do."""
    what = chance.choice(("ask", "ask", "enqueue", "import", "report", "report", "note", "tell", "tell", "sign"))
    if what == "ask":
        running.append(study.ask({name: one for name, one in SPACE.items() if chance.random() < 0.8}))
    elif what == "enqueue":
        study.enqueue_trial({"x": 0.5}, user_attrs={"again": chance.randrange(9)})
    elif what == "import":
        known = {"n": SPACE["n"]}
        study.add_trial(optuna.trial.create_trial(values=[chance.random()] * 2, params={"n": 4}, distributions=known))
    elif what == "sign":
        study.set_user_attr(f"worker {chance.randrange(3)}", {"seen": chance.random()})
    elif running:
        trial = chance.choice(running)
        if what == "report":
            value = chance.choice((chance.random(), float("nan"), float("inf")))
            study._storage.set_trial_intermediate_value(trial._trial_id, chance.randrange(50), value)
        elif what == "note":
            trial.set_user_attr("place", {"run": "r", "n": chance.randrange(3)})
            study._storage.set_trial_system_attr(trial._trial_id, "constraints", [chance.random()])
        else:
            state = chance.choice((TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL))
            study.tell(trial, [chance.random(), 1.0] if state == TrialState.COMPLETE else None, state=state)
            running.remove(trial)


@pytest.mark.parametrize("seed", range(5))
def test_a_copy_made_at_any_moments_equals_the_study(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    study = optuna.create_study(study_name="s", directions=["minimize", "maximize"])
    study.set_user_attr(SEARCH, {"id": "one"})
    running: list[optuna.Trial] = []
    directory = str(tmp_path / "s")
    path = place_of(directory, "label")
    for turn in range(12):
        mirror = StudyMirror(directory, "label", pytest.fail)  # each time another tuner: the first ends, or is killed
        for _ in range(chance.randrange(12)):
            act(study, chance, running)
            if chance.random() < 0.3:
                mirror.copy(study)
        if turn % 4 == 3 and os.path.exists(path):
            with open(path, "r+b") as file:  # torn by a tuner that was killed, or damaged
                file.truncate(os.path.getsize(path) - chance.randrange(1, 40))
        mirror.close()
    mirror = StudyMirror(directory, "label", pytest.fail)
    mirror.copy(study)
    assert_same(study, copied(path, "s"))
    size = os.path.getsize(path)
    mirror.copy(study)
    assert os.path.getsize(path) == size  # nothing is new
    found = StudyFile(path)
    found.refresh()
    assert found.problems == ()
    assert len(found.studies[0].trials) == len(study.trials)


def test_a_study_that_was_begun_again_replaces_the_copy(tmp_path: Path) -> None:
    directory, seen = str(tmp_path / "s"), []
    for identity, count in (("one", 3), ("two", 5)):
        study = optuna.create_study(study_name="s")
        study.set_user_attr(SEARCH, {"id": identity})
        for _ in range(count):
            study.tell(study.ask(SPACE), 1.0)
        mirror = StudyMirror(directory, "label", seen.append)
        mirror.copy(study)
        other = StudyMirror(directory, "label", seen.append)
        other.copy(study)  # one tuner writes
        mirror.close()
        assert_same(study, copied(place_of(directory, "label"), "s"))
    (tmp_path / "s@").mkdir()
    blocked = StudyMirror(str(tmp_path / "missing" / "s"), "label", seen.append)
    for _ in range(2):
        blocked.copy(study)
    assert len(seen) == 1  # said once
    assert seen[0].endswith("No such file or directory")


def databases(directory: Path) -> list[str]:
    return [f"sqlite:///{directory}/study.db", *filter(None, [os.environ.get("MINDSCOPE_TEST_DATABASE")])]


@pytest.mark.long
def test_the_page_finds_a_study_of_a_database_while_it_runs(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    """With MINDSCOPE_TEST_DATABASE, the address of an empty database, that one is tried as well."""
    for place, address in enumerate(databases(search.directory)):
        name = f"search{place}-{time.time_ns()}"
        label = address.partition("://")[0] + "://" + address.partition("://")[2].rpartition("@")[2]
        monkeypatch.setenv("MINDSCOPE_STORAGE", address)
        whole = (search.directory / "trial.sh").read_text()
        hold = f"while [ ! -e {search.directory}/go{place} ]; do sleep 0.05; done\n"
        (search.directory / "trial.sh").write_text(hold + whole)
        search.write("budget: {trials: 3}\ntuner: {name: random}")
        pid = search.forked("--jobs", 2, "--study", name)
        studies = Studies([], str(search.directory / "workspace" / "studies"), interval=0.01)
        until = time.monotonic() + 60
        try:
            while not any((row.name, row.running) == (name, 2) for row in studies.rows()):
                assert time.monotonic() < until
                studies._found = float("-inf")
                studies.wait()
            row = next(row for row in studies.rows() if row.name == name)
            assert row.storage == label
            assert abs(row.copied - time.time()) < 60
            (search.directory / f"go{place}").touch()
            assert ended(pid) == 0
            studies.wait()
            opened = studies.open(row.key)
            assert opened.study is not None
            trials = opened.study.trials
            assert trials["state"].tolist() == ["complete"] * 3
            assert (trials["value"] == (trials["parameter/x"] - 6) ** 2).all()
        finally:
            studies.stop()
            (search.directory / "trial.sh").write_text(whole)
        assert_same(optuna.load_study(study_name=name, storage=address), copied(row.path, name))
        password = address.partition("://")[2].rpartition("@")[0].partition(":")[2]
        for one in filter(None, [password]):
            for path in (search.directory / "workspace").rglob("*"):
                assert not path.is_file() or one.encode() not in path.read_bytes()


def test_the_page_finds_a_journal_that_is_elsewhere(search: Search) -> None:
    journal = search.directory / "shared" / "journal.log"
    assert search.tune("--storage", journal) == 0
    assert search.tune("--storage", journal, "--resume") == 0
    studies = Studies([], str(search.directory / "workspace" / "studies"), interval=0.01)
    try:
        studies.wait()
        assert [(row.name, row.trials, row.storage) for row in studies.rows()] == [("search", 2, "")]
    finally:
        studies.stop()
