"""The demo: what it shows a newcomer is really in its data."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app.commands import serving
from app.demo import prepared, story
from app.demo.jobs import JOBS, PLAN, write_jobs
from app.demo.simulated.memory import LEAK_BYTES
from app.store.store import Store
from layouts import PAGES
from layouts.runs.questions import questions
from parsers import open_run
from parsers.analysis.curves.insights.overfitting import turn
from parsers.analysis.dumps.first_cause import Causes
from parsers.analysis.jobs.advice.rules import review
from parsers.analysis.jobs.strategy import count, uneven
from parsers.analysis.jobs.who_is_slow import SlowRanks, who_is_slow
from parsers.analysis.lineage.importance import importance
from parsers.cluster_frames import JOB_FRAMES
from tests.app.commands.running import get
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[3]
MOST_BYTES, MOST_CPU_SECONDS = 36_000_000, 9.0
"""Of the jobs: writing them takes 2.0 s of processor time on the machine of docs/figures.md; this is the limit of a fault."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo as a server prepares it, with its jobs."""
    workspace = tmp_path_factory.mktemp("workspace")
    folder = prepared.prepare(workspace, os.environ | {"PYTHONPATH": str(ROOT)})
    until((folder / story.JOB_REPAIRED).is_dir, seconds=120)
    return folder


@pytest.fixture(scope="module")
def store(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    found = Store([demo], studies_directory=str(tmp_path_factory.mktemp("studies")), interval=0).start()
    assert found.wait(120)
    yield found
    found.stop()


def kinds(store: Store) -> set[str]:
    rows = store.runs.rows()
    return {kind for row in rows for kind in row.tags} | ({"study"} if store.studies.rows() else set())


def job_frames(folder: Path) -> Mapping[str, pd.DataFrame]:
    (job,) = open_run(folder).profile.jobs
    assert job.problems == ()
    return {name: job.frame(name) for name in JOB_FRAMES}


def slow(folder: Path) -> SlowRanks:
    return who_is_slow(job_frames(folder))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_has_data(store: Store, page) -> None:
    if page.needs:
        until(lambda: bool(kinds(store) & set(page.needs)))  # studies are read in the background once they are asked for


def test_nothing_in_it_is_damaged(store: Store) -> None:
    assert [(row.key, row.problems) for row in store.runs.rows() if row.problems] == []
    assert {row.state for row in store.runs.rows()} == {"idle"}


def test_the_six_questions_are_answered_where_the_demo_answers_them_best(store: Store) -> None:
    found = {one.name: one for one in questions(store.runs.rows(), store.profiles.rows, story.places())}
    assert list(found) == ["best", "broke", "time", "late", "memory", "looks"]
    for name, question in found.items():
        assert question.place == story.places()[name]
        assert question.place.page in {page.name for page in PAGES}
    assert found["best"].number == len(story.sweep())
    assert found["broke"].run == story.DIVERGES
    assert (found["time"].run, found["time"].rank) == (story.JOB, story.LATE_RANK)


def test_questions_about_the_jobs_have_places_once_these_are_written(store: Store) -> None:
    rows = [row for row in store.runs.rows() if row.key not in (story.JOB, story.JOB_REPAIRED)]
    found = {one.name: one.place for one in questions(rows, store.profiles.rows, story.places())}
    assert found["late"] is None
    assert found["broke"] == story.places()["broke"]


def test_the_learning_rate_matters_and_weight_decay_does_not(demo: Path) -> None:
    table = pd.concat([open_run(demo / name).lineage for name in story.sweep()], ignore_index=True)
    found = importance(table, "metric/accuracy")
    strength = dict(zip(found["setting"], found["spearman"].abs(), strict=True))
    assert found["setting"].iloc[0] == "learning_rate"
    assert strength["learning_rate"] > 0.6
    assert strength["user_defined/weight_decay"] < 0.3
    assert strength["user_defined/seed"] < 0.3
    best = table.loc[table["metric/accuracy"].idxmax()]
    assert best["learning_rate"] not in table["learning_rate"].agg(["min", "max"]).tolist()


def test_the_first_cause_names_the_line_of_the_program(demo: Path) -> None:
    dump = open_run(demo / story.DIVERGES).dump
    assert dump is not None
    cause = Causes(dump).frame().iloc[0]
    assert (cause["kind"], cause["origin"], cause["type"]) == ("non_finite", "here", "exp")
    found = re.fullmatch(r"(.+):(\d+) (.+)", cause["source"])
    assert found is not None
    line = (ROOT / found[1]).read_text(encoding="utf-8").splitlines()[int(found[2]) - 1].strip()
    assert line == found[3] == "powers = np.exp(logits)"


def test_the_loss_is_finite_until_the_iteration_of_the_cause(demo: Path) -> None:
    run = open_run(demo / story.DIVERGES)
    loss = run.series("loss/train")
    assert run.dump is not None
    iteration = int(Causes(run.dump).frame()["iteration"].iloc[0])
    assert loss.step[np.isnan(loss.value)].min() == iteration
    assert len(Causes(open_run(demo / story.STEADY).dump).frame()) == 0


def test_one_run_overfits(demo: Path) -> None:
    run = open_run(demo / story.OVERFITS)
    validation, train = (run.series(f"loss/{name}").value for name in ("validation", "train"))
    assert train[-20:].mean() < 0.05
    assert validation[-1] > 1.4 * validation.min()
    assert turn(validation) is not None
    assert validation.argmin() < len(validation) / 2


def test_no_curve_is_far_above_all_others(demo: Path) -> None:
    highest = {}
    for name in (*story.sweep(), story.OVERFITS, story.STEADY, story.DIVERGES):
        values = open_run(demo / name).series("loss/train").value
        highest[name] = float(np.nanmax(values))
    assert max(highest.values()) < 2 * float(np.median(list(highest.values())))


def test_the_late_rank_is_named_with_its_cause_and_is_not_late_in_the_repaired_job(demo: Path) -> None:
    found = slow(demo / story.JOB)
    assert [(one.rank, one.cause) for one in found.slow] == [(story.LATE_RANK, "host")]
    assert found.slow[0].saved_ns > 0
    assert slow(demo / story.JOB_REPAIRED).slow == ()


def test_each_rank_has_what_pages_about_one_rank_read(demo: Path) -> None:
    profiles = open_run(demo / story.JOB).profile
    assert sorted(rank for _, rank in profiles) == list(range(8))
    for profile in (profiles[key] for key in profiles):
        assert profile.problems == ()
        for name in ("kernels", "operators", "operator_types", "steps", "memory", "operator_memory"):
            assert len(profile.frame(name)), name
        assert len(profile.trace.slices)


def test_operators_of_the_strategy_are_cut_evenly_and_are_those_that_ran(demo: Path) -> None:
    for rank, profile in enumerate(open_run(demo / story.JOB).profile.values()):
        operators = profile.frame("strategies")
        assert uneven(operators) == []
        assert count(operators).gradient == 12
        computed = {name for name in profile.kernels["name"].astype(str) if not name.startswith("hcom")}
        assert computed <= set(operators["full_name"].astype(str)), rank


def test_blocks_add_up_to_the_curve_of_memory(demo: Path) -> None:
    profiles = open_run(demo / story.JOB).profile
    profile = next(profiles[key] for key in profiles if key[1] == story.LATE_RANK)
    blocks, curve = profile.frame("operator_memory"), profile.frame("memory")
    curve = curve[curve["component"].astype("str") == "MindSpore"]
    alive = blocks["size_bytes"][blocks["released_ns"] < 0].sum()
    assert curve["allocated_bytes"].iloc[-1] == pytest.approx(alive, rel=1e-4)
    kept = blocks[blocks["name"].astype("str").str.contains("KeepPredictions")]
    assert kept["size_bytes"].tolist() == [LEAK_BYTES] * PLAN.steps


def test_the_pipeline_that_starves_is_found(demo: Path) -> None:
    profiles = open_run(demo / story.STARVES).profile
    (key,) = profiles
    found = review({name: profiles[key].frame(name) for name in ("queues", "pipeline", "cpu")})
    assert "empty" in {one.rule for one in found.found}


def test_writing_the_jobs_is_bounded(tmp_path: Path) -> None:
    began = time.process_time()
    write_jobs(tmp_path)
    assert time.process_time() - began < MOST_CPU_SECONDS
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(name for name, _, _ in JOBS)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) < MOST_BYTES


def test_a_second_start_writes_nothing(demo: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in demo.rglob("*")}
    assert prepared.prepare(demo.parent, {}) == demo
    assert {path: path.stat().st_mtime_ns for path in demo.rglob("*")} == before
    assert [path.name for path in demo.parent.iterdir()] == [demo.name]


def test_it_starts_from_an_installation_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed, workspace = tmp_path / "installed", tmp_path / "workspace"
    (installed / "run").mkdir(parents=True)
    (installed / "run" / "events.out.tfevents.1.x").write_bytes(b"")
    workspace.mkdir()
    for path in (installed / "run", installed):
        path.chmod(0o555)
    monkeypatch.setattr(prepared, "RECORDED", installed)
    monkeypatch.setattr("app.demo.prepared.subprocess.Popen", lambda *_arguments, **_options: Ended())
    folder = prepared.prepare(workspace, {})
    assert (folder.stat().st_mode & 0o777, (folder / "run").stat().st_mode & 0o777) == (0o700, 0o700)
    assert (folder / "run" / "events.out.tfevents.1.x").stat().st_mode & 0o777 == 0o600


def test_the_command_says_what_it_opens_and_opens_it_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "app", "start", "--demo", "--port", "0", "--workspace", str(tmp_path / "workspace")]
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment) as process:
        try:
            assert process.stdout is not None
            first, second, third = (process.stdout.readline() for _ in range(3))
            url = third.removeprefix("Web address: ").removesuffix("start\n")
            until(lambda: story.DIVERGES in get(f"{url}api/runs.json")[1], seconds=60)
            until(lambda: story.JOB_REPAIRED in get(f"{url}api/runs.json")[1], seconds=120)
        finally:
            process.terminate()
    assert first.startswith("Demo: ")
    assert "recorded" in first
    assert "simulated" in first
    assert third.endswith("/start\n")
    assert second.startswith(f"Serving {tmp_path / 'workspace' / 'demo-'}")


def test_jobs_are_expected_until_they_are_there_or_have_failed(demo: Path, store: Store) -> None:
    failed = threading.Event()
    expected = serving.demo_jobs(failed)
    assert set(expected()) == {name for name, _, _ in JOBS}
    started = Store([prepared.RECORDED], interval=0, expected=expected).start()
    try:
        assert started.wait(120)
        assert started.runs.status().coming == 2
        failed.set()
        assert started.runs.status().coming == 0
    finally:
        started.stop()
    there = Store([demo], interval=0, expected=serving.demo_jobs(threading.Event())).start()
    try:
        assert there.wait(120)
        assert there.runs.status().coming == 0
    finally:
        there.stop()
    assert store.runs.status().coming == 0


def test_without_a_workspace_the_recorded_runs_are_opened_where_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    failed = threading.Event()
    directories = serving.Directories("", "")
    assert serving.served_demo(serving.demo_directory(), directories, failed) == serving.demo_directory()
    assert failed.is_set()
    said = capsys.readouterr()
    assert said.out == prepared.announcement() + "\n"
    assert "no jobs" in said.err


class Ended:
    """A process that has ended."""

    def wait(self) -> int:
        return 0
