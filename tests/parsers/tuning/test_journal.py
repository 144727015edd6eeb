"""Journals of studies as frames: compared with Optuna's own view of them, cut at every byte, and of other programs."""

from __future__ import annotations

import json
import math
import os
import random
import warnings
from pathlib import Path

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from app.tuning.studies import state_of
from parsers.json_text import MOST_CONTAINERS
from parsers.tuning import recording
from parsers.tuning.journal import StudyFile, StudyState, is_journal
from parsers.tuning_frames import (
    TUNING_FRAMES,
    command_of,
    parameters_frame,
    targets_of,
    trials_frame,
    values_frame,
    workers_frame,
)  # fmt: skip
from tests.amounts import some_or_every

warnings.filterwarnings("ignore", module="optuna")
optuna.logging.set_verbosity(optuna.logging.CRITICAL)


def written(path: Path) -> optuna.Study:
    """A study with trials of every state, by Optuna itself."""
    storage = JournalStorage(JournalFileBackend(str(path)))
    sampler = optuna.samplers.RandomSampler(seed=4)
    study = optuna.create_study(storage=storage, study_name="mine", directions=["minimize"], sampler=sampler)
    study.set_user_attr("note", {"a": [1, None]})
    for number in range(6):
        trial = study.ask()
        trial.suggest_float("rate", 1e-5, 1, log=True)
        kind = trial.suggest_categorical("kind", ["a", "b", None])
        if kind == "a":
            trial.suggest_int("depth", 1, 9)
        for step in range(number):
            trial.report(math.nan if step == 3 else number / (step + 1), step)
        if number == 4:
            trial.set_user_attr(recording.END, {"exit": -9, "reason": "killed", "step": 17, "cpu_s": 1.5})
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        elif number == 3:
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        elif number < 3:
            study.tell(trial, number / 2)
    study.enqueue_trial({"rate": 0.5, "kind": "b"}, user_attrs={recording.RETRY_OF: 4})
    study.add_trial(optuna.trial.create_trial(
        value=0.25, params={"rate": 0.1}, distributions={"rate": optuna.distributions.FloatDistribution(1e-5, 1, log=True)},
        user_attrs={recording.IMPORTED: "/runs/old"}, intermediate_values={3: 0.5},
    ))  # fmt: skip
    return study


def study_in(path: Path) -> StudyState:
    reader = StudyFile(str(path))
    reader.refresh()
    assert reader.problems == ()
    return reader.studies[0]


def test_a_journal_says_what_optuna_says(tmp_path: Path) -> None:
    study = written(tmp_path / "journal.log")
    mine, theirs = study_in(tmp_path / "journal.log"), state_of(study)
    assert (mine.name, mine.goals, mine.attributes) == (theirs.name, theirs.goals, theirs.attributes)
    for one, other in zip(mine.trials, theirs.trials, strict=True):
        assert repr((one.number, one.state, tuple(one.values), one.parameters)) == repr(
            (other.number, other.state, tuple(other.values), other.parameters)
        )
        assert repr(one.reported) == repr(other.reported)
        assert (one.attributes, one.system, one.distributions) == (other.attributes, other.system, other.distributions)
        assert one.started == pytest.approx(other.started, abs=1e-3)
        assert one.ended == pytest.approx(other.ended, abs=1e-3)
    assert repr(trials_frame(mine).drop(columns=["started", "ended", "duration"]).to_dict()) == repr(
        trials_frame(theirs).drop(columns=["started", "ended", "duration"]).to_dict()
    )


def test_the_frames(tmp_path: Path) -> None:
    written(tmp_path / "journal.log")
    study = study_in(tmp_path / "journal.log")
    frame = trials_frame(study)
    assert frame["state"].tolist() == [*["complete"] * 3, "pruned", "failed", "running", "waiting", "complete"]
    assert frame["source"].tolist() == [*["search"] * 6, "repeated", "imported"]
    assert frame["value"].tolist()[:3] == [0.0, 0.5, 1.0]
    assert frame["value"].isna().tolist() == [False, False, False, True, True, True, True, False]
    assert frame.loc[4, ["exit_code", "reason", "step", "cpu"]].tolist() == [-9.0, "killed", 17, 1.5]
    assert frame.loc[7, "run"] == "/runs/old"
    assert set(frame["parameter/kind"].dropna()) >= {"a", "b"}
    assert (frame["parameter/depth"].notna() == (frame["parameter/kind"] == "a")).all()
    assert frame["repeats"].tolist() == [-1] * 6 + [4, -1]
    assert targets_of(study) == [("target 0", "minimize")]
    values = values_frame(study)
    assert len(values) == sum(range(6)) + 1
    assert values[values["trial"] == 2]["value"].tolist() == [2.0, 1.0]
    parameters = parameters_frame(study).set_index("parameter")
    assert parameters.loc["rate", ["kind", "low", "high", "log"]].tolist() == ["float", 1e-5, 1.0, True]
    assert json.loads(parameters.loc["kind", "choices"]) == ["a", "b", None]
    assert len(workers_frame(study)) == 0


def test_an_empty_study_has_empty_frames() -> None:
    study = StudyState("s", ("minimize",))
    for name, make in (("trials", trials_frame), ("values", values_frame), ("parameters", parameters_frame),
                       ("workers", workers_frame)):  # fmt: skip
        frame = make(study)
        assert len(frame) == 0
        TUNING_FRAMES[name].check(frame)


def test_what_was_noted_wrongly_is_passed(tmp_path: Path) -> None:
    study = StudyState("s", ("minimize", "maximize"))
    study.attributes = {recording.SEARCH: {"parameters": [3, {"name": "x", "kind": "int", "low": "a"}], "targets": "no"},
                        f"{recording.WORKER}w": {"pid": "x", "seen": None}, f"{recording.WORKER}v": 3}  # fmt: skip
    assert parameters_frame(study)["parameter"].tolist() == ["x"]
    assert workers_frame(study)["pid"].tolist() == [-1]
    assert [name for name, _ in targets_of(study)] == ["target 0", "target 1"]


def test_a_journal_is_followed_and_may_be_cut_anywhere(tmp_path: Path) -> None:
    written(tmp_path / "journal.log")
    data = (tmp_path / "journal.log").read_bytes()
    growing = tmp_path / "growing.log"
    growing.write_bytes(b"")
    reader = StudyFile(str(growing))
    draw = random.Random(3)
    end = 0
    while end < len(data):
        end += draw.randrange(1, 400)
        growing.write_bytes(data[:end])
        reader.refresh()
        assert reader.problems == ()
    assert repr(reader.studies) == repr((study_in(tmp_path / "journal.log"),))
    assert not reader.refresh()
    growing.write_bytes(data[:200])
    assert reader.refresh()
    assert len(reader.studies) == (data[:200].count(b"\n") > 0)
    assert is_journal(str(tmp_path / "journal.log"))
    assert not is_journal(str(tmp_path))


@some_or_every
def test_damage_never_raises(tmp_path: Path, every: bool) -> None:
    written(tmp_path / "journal.log")
    data = (tmp_path / "journal.log").read_bytes()
    draw = random.Random(5)
    lines = data.splitlines(keepends=True)
    bad = tmp_path / "bad.log"
    for _ in range(300 if every else 40):
        changed = list(lines)
        for _ in range(3):
            place = draw.randrange(len(changed))
            line = bytearray(changed[place] or b" ")
            line[draw.randrange(len(line))] = draw.choice(b'\n\0{}[]":0123456789e-tn\xff')
            changed[place] = bytes(line) if draw.random() < 0.8 else b""
        bad.write_bytes(b"".join(changed))
        reader = StudyFile(str(bad))
        reader.refresh()
        for study in reader.studies:
            for make in (trials_frame, values_frame, parameters_frame, workers_frame):
                make(study)


@pytest.mark.parametrize(
    "record",
    [
        '{"op_code":7,"worker_id":"w","trial_id":5,"step":99999999999999999999999,"intermediate_value":1}',
        '{"op_code":7,"worker_id":"w","trial_id":5,"step":1,"intermediate_value":1' + "0" * 400 + "}",
        '{"op_code":5,"worker_id":"w","trial_id":5,"param_name":"a","param_value_internal":9,"distribution":"{}"}',
        '{"op_code":6,"worker_id":"w","trial_id":5,"state":9,"values":null}',
        '{"op_code":6,"worker_id":"w","trial_id":5,"state":1,"values":["x"]}',
        '{"op_code":2,"worker_id":"w","study_id":[],"user_attr":{}}',
        '{"op_code":4,"worker_id":"w","study_id":0,"datetime_start":"yesterday"}',
    ],
)
def test_a_record_that_says_nonsense_is_skipped(tmp_path: Path, record: str) -> None:
    written(tmp_path / "journal.log")
    with open(tmp_path / "journal.log", "a", encoding="utf-8") as stream:
        stream.write(record + "\n")
    reader = StudyFile(str(tmp_path / "journal.log"))
    reader.refresh()
    assert [one.kind for one in reader.problems] == ["bad_message"]
    assert len(trials_frame(reader.studies[0])) == 8
    assert len(values_frame(reader.studies[0])) == 16


def test_a_directory_that_is_no_unicode_has_frames(tmp_path: Path) -> None:
    """Python holds the bytes of such a name as unpaired surrogates, which Optuna writes as escapes."""
    study = written(tmp_path / "journal.log")
    place = {"run": os.fsdecode(b"/runs/t\xff"), "directory": os.fsdecode(b"/studies/\xe9"), "worker": "\udcfc", "device": ""}
    study.add_trial(optuna.trial.create_trial(value=0.25, user_attrs={recording.PLACE: place}))
    found = trials_frame(study_in(tmp_path / "journal.log")).iloc[-1]
    assert (found["run"], found["log"]) == (r"/runs/t\udcff", r"/studies/\udce9/output.log")
    assert found["worker"] == r"\udcfc"


@pytest.mark.parametrize("text", [b"\xed\xa0\x80", b"\xff"], ids=["surrogate", "byte"])
def test_a_record_that_is_no_utf_8_is_skipped(text: bytes, tmp_path: Path) -> None:
    written(tmp_path / "journal.log")
    with open(tmp_path / "journal.log", "ab") as stream:
        stream.write(b'{"op_code":2,"worker_id":"w","study_id":0,"user_attr":{"a":"%s"}}\n' % text)
    reader = StudyFile(str(tmp_path / "journal.log"))
    reader.refresh()
    assert [one.kind for one in reader.problems] == ["bad_message"]
    assert "a" not in reader.studies[0].attributes


def test_a_journal_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    written(tmp_path / "journal.log")
    plain = repr(study_in(tmp_path / "journal.log"))
    (tmp_path / "marked.log").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "journal.log").read_bytes())
    assert repr(study_in(tmp_path / "marked.log")) == plain


def test_a_record_of_too_many_values_costs_itself_alone(tmp_path: Path) -> None:
    written(tmp_path / "journal.log")
    with open(tmp_path / "journal.log", "a", encoding="utf-8") as stream:
        begin = stream.tell()
        stream.write('{"op_code":2,"worker_id":"w","study_id":0,"user_attr":{"a":[' + "[]," * MOST_CONTAINERS + "1]}}\n")
        stream.write('{"op_code":2,"worker_id":"w","study_id":0,"user_attr":{"after":1}}\n')
    reader = StudyFile(str(tmp_path / "journal.log"))
    reader.refresh()
    (problem,) = reader.problems
    assert problem.offset == begin
    assert "found 250,003 arrays and objects where at most 250,000 are read; it is skipped" in problem.text
    assert reader.studies[0].attributes["after"] == 1
    assert "a" not in reader.studies[0].attributes


def test_an_intact_record_is_found_behind_many_damaged_ones(tmp_path: Path) -> None:
    written(tmp_path / "journal.log")
    with open(tmp_path / "journal.log", "a", encoding="utf-8") as stream:
        stream.write('{"op_code":' * 100_000)
        stream.write('{"op_code":2,"worker_id":"w","study_id":0,"user_attr":{"after":1}}\n')
    reader = StudyFile(str(tmp_path / "journal.log"))
    reader.refresh()
    assert len(reader.problems) == 1
    assert reader.studies[0].attributes["after"] == 1


def test_a_newer_journal_is_a_problem(tmp_path: Path) -> None:
    written(tmp_path / "journal.log")
    with open(tmp_path / "journal.log", "a", encoding="utf-8") as stream:
        stream.write('{"op_code":12,"worker_id":"w"}\n')
    reader = StudyFile(str(tmp_path / "journal.log"))
    reader.refresh()
    (problem,) = reader.problems
    assert "expected a record of Optuna 4 or 5, found operation 12" in problem.text.replace("Expected", "expected")
    assert len(reader.studies[0].trials) == 8


def test_a_real_study() -> None:
    """A search of `mindscope tune` with Optuna 5.0.0: failed, pruned and finished trials (`search.yaml` beside it)."""
    study = study_in(Path(__file__).resolve().parents[2] / "data" / "optuna" / "5.0.0" / "journal.log")
    frame = trials_frame(study)
    assert frame["state"].tolist() == ["complete", "failed", "failed", "complete", "complete", "complete", "pruned"]
    rate = frame["parameter/learning_rate"]
    done = frame["state"] == "complete"
    assert frame.loc[done, "value"].tolist() == pytest.approx([abs(one - 0.1) + 1 / 8 for one in rate[done]], rel=1e-6)
    assert frame["exit_code"].tolist()[1] == 3
    assert frame["reason"].tolist()[6] == "median: loss 0.236694 at step 6"
    values = values_frame(study)
    assert values[values["trial"] == 0]["step"].tolist() == list(range(8))
    assert targets_of(study) == [("loss", "minimize")]
    parameters = parameters_frame(study).set_index("parameter")
    assert parameters.loc["momentum", "when"] == '{"optimizer": ["momentum"]}'
    assert parameters.loc["layers", "choices"] == "[[8], [8, 8]]"
    assert workers_frame(study)[["jobs", "trials", "running"]].to_numpy().tolist() == [[2, 7, 0]]
    assert command_of(study, study.trials[0], "/r").endswith(" python train.py)")
