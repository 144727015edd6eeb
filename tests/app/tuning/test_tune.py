"""`mindscope tune`: whole searches with cheap trials, trials that fail in every way, and refusals."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from app.tuning import processes
from app.tuning.processes import environment_of
from parsers import open_run, tuning_frames
from parsers.tuning.recording import END, IMPORTED, PLACE
from tests.app.tuning.conftest import Search, script
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[3]
Lines = Callable[[], Sequence[str]]


def test_a_search_from_begin_to_end(search: Search, output: Lines) -> None:
    search.write("budget: {trials: 12}")
    assert search.tune("--jobs", 2) == 0
    said = output()
    assert said[0].endswith("search/journal.log: created, 0 trials")
    assert said[-2] == "Done: 12 complete"
    frame = tuning_frames.trials_frame(search.study())
    best = frame.loc[frame["value"].idxmin()]
    assert said[-1] == f"Best: trial {best['trial']}, loss {best['value']:.6g}, x={best['parameter/x']}"
    assert (frame["value"] == (frame["parameter/x"] - 6) ** 2).all()
    assert frame["state"].eq("complete").all()
    assert frame["exit_code"].eq(0).all()
    assert (frame["duration"] > 0).all()
    for run, value in zip(frame["run"], frame["value"], strict=True):
        assert open_run(run).series("loss").value[-1] == value
    workers = tuning_frames.workers_frame(search.study())
    assert (workers["trials"].tolist(), workers["running"].tolist(), workers["jobs"].tolist()) == ([12], [0], [2])
    assert workers["ended"].notna().all()


def test_without_a_budget_one_trial_is_started_and_a_study_is_not_continued_by_mistake(search: Search, output: Lines) -> None:
    assert search.tune() == 0
    assert len(search.study().trials) == 1
    output()
    assert search.tune() == 1
    assert output() == [
        "mindscope: study search exists, with 1 trial: --resume continues it, --study NAME begins another"
    ]
    assert search.tune("--resume", "--iter", 2) == 0
    assert len(search.study().trials) == 3
    assert search.tune("--study", "other") == 0


@pytest.mark.parametrize("goal", ["minimize", "maximize"])
def test_earlier_runs_are_imported_in_the_right_direction(tmp_path: Path, search: Search, output: Lines, goal: str) -> None:
    base = os.environ.get("MINDSCOPE_TEST_DATA")
    if not base:
        pytest.skip("MINDSCOPE_TEST_DATA is not set")
    runs = os.path.join(base, "tuner", "summaries")
    text = Path(base, "tuner", "config.yaml").read_text()
    text = text.replace("/home/trainer/data/tuner/summaries", str(tmp_path / "runs"))
    text = text.replace("/opt/venv/ms/bin/python", "false")
    os.symlink(runs, tmp_path / "runs")
    (tmp_path / "search.yaml").write_text(text.replace("maximize", goal))
    assert search.tune("--iter", 1) == 1
    said = output()
    assert f"Imported 5 earlier runs below {tmp_path / 'runs'}" in said
    frame = tuning_frames.trials_frame(search.study())
    known = frame[frame["source"] == "imported"]
    assert sorted(known["value"]) == [0.47265625, 0.47265625, 0.5859375, 0.734375, 0.96484375]
    for _, row in known.iterrows():
        settings = open_run(row["run"]).settings
        assert settings["learning_rate"] == pytest.approx(row["parameter/learning_rate"], rel=1e-6)
        assert settings["batch_size"] == row["parameter/batch_size"]
    best = 0.96484375 if goal == "maximize" else 0.47265625
    assert f"Accuracy {best:.6g}" in said[-1]
    assert search.tune("--resume", "--iter", 1) == 1
    assert sum(IMPORTED in one.attributes for one in search.study().trials) == 5


@pytest.mark.parametrize(
    ("text", "reason", "output_end"),
    [
        ("echo one; echo two >&2; exit 3", "exit code 3", "one\ntwo"),
        ("kill -SEGV $$", "killed by signal SIGSEGV", ""),
        ("true", "expected the target loss in the files of the run, found no event file", ""),
        ('mkdir -p $run; cp "DIR/other" "$run/events.out.events.summary.1700000000.0.host_MS"',
         "expected the target loss in the files of the run, found accuracy", ""),
        ('mkdir -p $run; cp "DIR/nan" "$run/events.out.events.summary.1700000000.0.host_MS"', "the target loss is NaN", ""),
    ],
)  # fmt: skip
def test_a_failed_trial_is_a_result(search: Search, output: Lines, text: str, reason: str, output_end: str) -> None:
    from parsers.recording import EventWriter

    for name, tag, value in (("other", "accuracy", 0.5), ("nan", "loss", float("nan"))):
        with EventWriter(str(search.directory / name), "mindspore") as writer:
            writer.add(1, {tag: value})
    script(search, text.replace("DIR", str(search.directory)))
    assert search.tune("--iter", 2) == 1
    trials = search.study().trials
    assert [one.state for one in trials] == ["failed", "failed"]
    assert trials[0].attributes[END]["reason"].startswith(reason)
    assert trials[0].attributes[END]["output"] == output_end
    assert any(line.startswith(f"trial 0 failed: {reason}") for line in output())


def test_some_failures_do_not_end_a_search_but_ten_without_a_success_do(search: Search, output: Lines) -> None:
    whole = (search.directory / "trial.sh").read_text()
    (search.directory / "trial.sh").write_text(whole.replace("mkdir", '[ "$x" -lt 5 ] && exit 1\nmkdir', 1))
    search.write("tuner: {name: grid}")
    assert search.tune() == 0
    assert sorted(one.state for one in search.study().trials) == ["complete"] * 5 + ["failed"] * 5
    script(search, "exit 1")
    output()
    assert search.tune("--study", "bad", "--iter", 100) == 1
    assert "No more trials: 10 trials failed and none succeeded" in output()


def test_much_output_and_children_left_behind(search: Search) -> None:
    copy = f"cp {search.directory}/values/$x $run/events.out.events.summary.1700000000.0.host_MS"
    much = "sleep 300 & echo begin; head -c 30000000 /dev/zero | tr '\\0' x; echo; echo end"
    script(search, f"{much}\nmkdir -p $run; {copy}")
    assert search.tune() == 0
    (trial,) = search.study().trials
    assert trial.attributes[END]["left"] == 1
    assert not list(processes.processes_of(trial.attributes[PLACE]["run"]))
    log = Path(trial.attributes[PLACE]["directory"], "output.log").read_bytes()
    assert len(log) < 2.2e6
    assert log.startswith(b"begin\nxxx")
    assert log.endswith(b"xxx\nend\n")
    assert b"[... 27," in log


def test_a_time_limit(search: Search) -> None:
    script(search, "sleep 100", more="time_limit: 0.2")
    assert search.tune() == 1
    assert search.study().trials[0].attributes[END]["reason"] == "the time limit of 0.2 s"


def test_devices_and_settings_reach_the_trial(search: Search) -> None:
    settings = "  learning_rate: {choice: [0.5], type: float}\n  net: {choice: [[32, 16]]}"
    script(search, 'env > "$MINDSCOPE_TRIAL.env"; sleep 0.3; exit 1',
           parameters=f"  x: {{bounds: [0, 10], type: int}}\n{settings}")  # fmt: skip
    os.makedirs(search.directory / "runs")
    os.environ["MINDSCOPE_STORAGE"] = str(search.directory / "elsewhere.log")
    try:
        assert search.tune("--iter", 2, "--devices", "4,7") == 1
    finally:
        del os.environ["MINDSCOPE_STORAGE"]
    found = [dict(line.split("=", 1) for line in one.read_text().splitlines() if "=" in line)
             for one in sorted((search.directory / "runs").glob("*.env"))]  # fmt: skip
    assert sorted(one["CUDA_VISIBLE_DEVICES"] for one in found) == ["4", "7"]
    for one in found:
        assert "MINDSCOPE_STORAGE" not in one
        assert (one["DEVICE_ID"], one["ASCEND_RT_VISIBLE_DEVICES"]) == ("0", one["MINDSCOPE_DEVICE"])
        told = json.loads(one["MINDINSIGHT_HYPER_CONFIG"])
        assert told["params"]["net"] == [32, 16]
        assert told["custom_lineage_data"] == {"x": told["params"]["x"], "net": "[32, 16]"}
        assert told["summary_dir"] == one["MINDSCOPE_TRIAL"]
        assert one["MINDSCOPE_HYPER_CONFIG"] == one["MINDINSIGHT_HYPER_CONFIG"]
    with pytest.raises(processes.TrialStartError, match="expected at most 100,000"):
        environment_of({"x": "a" * 100_001}, "/r", {}, "", {})


def test_a_trial_is_repeated_by_hand(search: Search) -> None:
    search.write(parameters="  x: {bounds: [0, 10], type: int}\n  net: {choice: [[3, 'it''s'], [4]]}")
    assert search.tune("--devices", "3") == 0
    study = search.study()
    run = str(search.directory / "again run")
    line = tuning_frames.command_of(study, study.trials[0], run)
    assert "CUDA_VISIBLE_DEVICES=3" in line
    (search.directory / "print.sh").write_text('printf %s "$MINDINSIGHT_HYPER_CONFIG"')
    shown = subprocess.run(["sh", "-c", line.replace("trial.sh", "print.sh")], capture_output=True, check=True).stdout
    told = json.loads(shown)
    x, net = study.trials[0].parameters["x"], json.loads(study.trials[0].parameters["net"])
    assert told == {"params": {"x": x, "net": net}, "summary_dir": run,
                    "custom_lineage_data": {"x": x, "net": json.dumps(net)}}  # fmt: skip
    if " " not in str(search.directory):
        place = str(search.directory / "again")
        subprocess.run(["sh", "-c", tuning_frames.command_of(study, study.trials[0], place)], check=True)
        assert open_run(place).series("loss").value[-1] == study.trials[0].values[0]


def test_a_tuner_started_with_nohup_outlives_its_terminal(search: Search) -> None:
    script(search, f"touch {search.directory}/up; sleep 1; exit 1")
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        pid = search.forked()
    finally:
        signal.signal(signal.SIGHUP, before)
    until((search.directory / "up").exists)
    os.kill(pid, signal.SIGHUP)
    os.waitpid(pid, 0)
    assert search.study().trials[0].attributes[END]["reason"] == "exit code 1"


def test_conditions_and_constraints(search: Search) -> None:
    parameters = ("  x: {bounds: [0, 10], type: int}\n  kind: {choice: [a, b]}\n"
                  "  y: {bounds: [0, 1], type: float, when: {kind: b}}")  # fmt: skip
    search.write("constraints: ['x <= 7', 'loss > 0']\nbudget: {trials: 15}\nseed: 1", parameters=parameters)
    assert search.tune() == 0
    frame = tuning_frames.trials_frame(search.study())
    assert frame["state"].isin(["complete", "skipped"]).all()
    assert (frame["state"] == "complete").sum() == 15
    assert (frame.loc[frame["state"] == "complete", "parameter/x"] <= 7).all()
    assert (frame.loc[frame["state"] == "skipped", "parameter/x"] > 7).all()
    assert (frame["parameter/y"].notna() == (frame["parameter/kind"] == "b")).all()
    done = frame[frame["state"] == "complete"]
    assert (done["feasible"] == (done["value"] > 0)).all()


def test_several_targets_have_a_pareto_front(search: Search) -> None:
    search.write("target: [{name: loss}, {name: x2, goal: maximize}]\nbudget: {trials: 4}\ntuner: {name: random}")
    whole = (search.directory / "trial.sh").read_text()
    (search.directory / "trial.sh").write_text(whole)
    from parsers.recording import EventWriter

    for x in range(10):
        path = search.directory / "values" / str(x)
        path.unlink()
        with EventWriter(str(path), "mindspore") as writer:
            writer.add(1, {"loss": float((x - 6) ** 2), "x2": float(2 * x)})
    assert search.tune() == 0
    frame = tuning_frames.trials_frame(search.study())
    assert (frame["target/x2"] == 2 * frame["parameter/x"]).all()
    assert (frame["target/loss"] == (frame["parameter/x"] - 6) ** 2).all()


SLOW = """
import sys, time
sys.path.insert(0, {root!r})
from parsers.recording import EventWriter
from parsers.tuning import HyperConfig
import os
settings = HyperConfig()
os.makedirs(settings.summary_dir)
with EventWriter(settings.summary_dir + "/events.out.events.summary.1700000000.0.host_MS", "mindspore") as writer:
    for step in range({steps}):
        writer.add(step, {{"loss": {value}}})
        writer.flush()
        time.sleep({pause})
"""


def slow(search: Search, value: str, more: str, *, steps: int = 200, pause: float = 0.05) -> None:
    path = search.directory / "train.py"
    path.write_text(SLOW.format(root=str(ROOT), value=value, steps=steps, pause=pause))
    search.write(more, command=f"{sys.executable} {path}")


def test_a_lagging_trial_is_pruned_by_its_event_file(search: Search, output: Lines) -> None:
    more = "pruner: {name: threshold, upper: 5, warmup_steps: 3}\ntuner: {name: grid}"
    slow(search, "0.5 if settings.params.x < 9 else 10", more, steps=60)
    search.write(more, command=f"{sys.executable} {search.directory / 'train.py'}", parameters="  x: {choice: [1, 9]}")
    assert search.tune("--jobs", 2) == 0
    frame = tuning_frames.trials_frame(search.study()).set_index("parameter/x")
    assert frame["state"].to_dict() == {1: "complete", 9: "pruned"}
    assert frame.loc[9, "reason"].startswith("threshold: loss 10 at step")
    assert 3 <= frame.loc[9, "step"] < 59
    values = tuning_frames.values_frame(search.study())
    assert values.loc[values["trial"] == frame.loc[1, "trial"], "step"].tolist() == list(range(60))
    assert set(values.loc[values["trial"] == frame.loc[9, "trial"], "value"]) == {10.0}
    assert output()[-1].startswith("Best: ")


def test_the_compared_scalar_may_have_the_other_goal(search: Search) -> None:
    more = ("pruner: {name: threshold, upper: 5, tag: loss, goal: minimize}\n"
            "target: {name: accuracy, goal: maximize, group: scalar}")  # fmt: skip
    slow(search, "10.0", more)
    assert search.tune() == 0
    (trial,) = search.study().trials
    assert trial.state == "pruned"
    assert set(tuning_frames.values_frame(search.study())["value"]) == {10.0}


@pytest.mark.parametrize(
    ("value", "more", "state", "reason"),
    [
        ("1.0 if step < 5 else float('nan')", "stop: {nan: true}", "pruned", "loss is NaN or infinite at step 5"),
        (
            "max(5 - step * 0.03, 1) + step * 37 % 11 * 0.01", "stop: {plateau: true}", "complete",
            "loss has not changed since",
        ),
    ],
)  # fmt: skip
def test_nan_and_a_plateau_end_a_trial(
    search: Search, monkeypatch: pytest.MonkeyPatch, value: str, more: str, state: str, reason: str
) -> None:
    from app.tuning import trials

    monkeypatch.setattr(trials, "PLATEAU_LOOK", 0.5)
    slow(search, value, more, steps=2000, pause=0.01)
    assert search.tune() == 0
    (trial,) = search.study().trials
    assert (trial.state, trial.attributes[END]["reason"].startswith(reason)) == (state, True)
    assert trial.attributes[END]["step"] < 1999


def test_gp_without_torch_says_so_and_uses_tpe(search: Search, output: Lines) -> None:
    if importlib.util.find_spec("torch") is not None:
        pytest.skip("torch is installed")
    search.write("tuner: {name: gp, args: {method: ucb}}")
    assert search.tune() == 0
    assert "tuner.name: gp needs torch, which is not installed; tpe is used instead" in output()


def test_cmaes_without_its_package_is_refused(search: Search, output: Lines) -> None:
    if importlib.util.find_spec("cmaes") is not None:
        pytest.skip("cmaes is installed")
    search.write("tuner: {name: cmaes}")
    assert search.tune() == 2
    assert "tuner.name: cmaes needs the package cmaes" in output()[0]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ("  x: {bounds: [1, 10], type: int, log: true}", "parameter x: expected log scale False, found True"),
        ("  x: {bounds: [0, 10], type: float}", "parameter x: expected type 'int', found 'float'"),
        ("  x: {choice: [0, 1]}", "parameter x: expected type 'int', found 'choice'"),
        ("  y: {bounds: [0, 10], type: int}", "expected its parameters (x), found y"),
    ],
)
def test_a_changed_configuration_is_refused(search: Search, output: Lines, parameters: str, said: str) -> None:
    assert search.tune() == 0
    output()
    search.write(parameters=parameters)
    assert search.tune("--resume") == 1
    assert said in output()[0]
    search.write("target: {name: loss, goal: maximize}")
    assert search.tune("--resume") == 1
    assert "expected the targets it has (minimize loss), found maximize loss" in output()[0]
    search.write(parameters="  x: {bounds: [2, 8], type: int}")
    assert search.tune("--resume") == 0


def test_a_program_that_does_not_exist_is_refused_before_anything_is_made(search: Search, output: Lines) -> None:
    search.write(command="no-such-program --x")
    assert search.tune() == 2
    assert "command: expected a program, found 'no-such-program'" in output()[0]
    assert not search.journal.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--iter", "0"], "--iter: expected a whole number from 1 to 1,000,000, found '0'"),
        (["--jobs", "x"], "--jobs: expected a whole number from 1 to 1,024, found 'x'"),
        (["--devices", "0,,1"], "--devices: expected different names such as 0,1"),
        (["--study", "../x"], "--study: expected at most 100 letters"),
        (["--storage", "postgresql://me:secret@127.0.0.1/db"], "--storage: expected an address without user and password"),
        (["--storage", "ftp://127.0.0.1/db"], "storage: expected a path, or an address of postgresql, mysql, sqlite"),
    ],
)
def test_bad_options(search: Search, output: Lines, options: list[str], said: str) -> None:
    assert search.tune(*options) in (1, 2)
    (line,) = output()
    assert said in line
    assert "secret" not in line


def test_without_optuna_the_command_says_how_to_install_it(
    search: Search, output: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert search.tune() == 1
    assert output() == ["mindscope: tune needs Optuna, which is not installed: pip install 'mindscope[tune]'"]


def test_a_keeper_that_is_killed_takes_its_processes_along(search: Search) -> None:
    script(search, f"touch {search.directory}/up; sleep 100")
    pid = search.forked()
    until((search.directory / "up").exists)
    status = json.loads(next(search.directory.glob("workspace/studies/*/trials/0-*/status.json")).read_text())
    os.kill(status["keeper"], signal.SIGKILL)
    os.waitpid(pid, 0)
    (trial,) = search.study().trials
    assert trial.attributes[END]["reason"].startswith("its processes were killed from outside")
    assert not list(processes.processes_of(trial.attributes[PLACE]["run"]))


def test_steps_are_rounded_so_that_trials_can_be_compared() -> None:
    from app.tuning.following import Reports, cell_of

    assert [cell_of(step) for step in (0, 1, 127, 128, 255, 256, 257, 1_000_003)] == [0, 1, 127, 128, 254, 256, 256, 999_424]
    reports = Reports()
    steps = np.arange(1_000_000)
    found = reports.of(steps, steps.astype(np.float64))
    assert len(found) < 1_100
    assert all(cell <= value <= cell * 1.02 for cell, value in found)
    assert reports.of(steps, steps.astype(np.float64)) == []
    assert reports.of(np.array([-5]), np.array([1.0])) == []
