"""Five problems from public issue trackers, as files: each opens at the right symptom, whose step links to the right page.

They were written down before the first symptom was: a loss scale that falls until the loss is NaN, a learning rate that begins
anew after a resume, steps that wait for the data loader, memory that grows until it is used up, and a result below that of
another framework. Two clicks lead there: the page and the link of the step; of two runs the worse one is chosen first.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs

import numpy as np
import pytest

from app.store.store import Store
from layouts.runs.guides.page import shown
from layouts.runs.symptoms.answering import SymptomAnswers
from tests.layouts.runs.guides.test_guides import all_of
from tests.simulations.data_pipelines import FAULTS, simulate
from tests.waiting import until
from tests.writers import memory_files, minddata_files
from tests.writers.symptomatic_files import write_run
from tests.writers.symptomatic_runs import Made, curve, falling, noise, pipeline

MIB = 1 << 20


class Problem(NamedTuple):
    """What writes the runs, and where the guide must lead: symptom, step, page and a part of its state; chosen is the run that
    a user chooses first, "" for the one that is shown anyway."""

    write: Callable[[Path], None]
    symptom: str
    step: str
    page: str
    query: dict[str, list[str]]
    chosen: str = ""


def scale_falls(base: Path) -> None:
    loss = falling(400)
    loss[300:] = np.nan
    scale = 524288.0 / 2.0 ** (np.arange(400) // 15)
    scalars = {"loss": curve(loss), "loss_scale": curve(scale), "learning_rate": curve(np.full(400, 0.006))}
    write_run(base / "bert", Made(scalars))


def rate_begins_anew(base: Path) -> None:
    file = np.repeat([0, 1], 200)
    rate = np.concatenate([np.geomspace(0.01, 0.0001, 200), np.geomspace(0.01, 0.005, 200)])
    loss = falling(400)
    loss[200:240] += np.linspace(0.6, 0.0, 40)
    write_run(base / "yolo", Made({"train/loss": curve(loss, file=file), "lr": curve(rate, file=file)}))


def waits_for_data(base: Path) -> None:
    minddata_files.write(simulate(FAULTS["slow_map"](0, 0.5)[0], 0), base / "video")


def memory_grows(base: Path) -> None:
    memory_files.recording(base / "attack" / "profiler", steps=40, leak_bytes=48 * MIB)


def worse_than_elsewhere(base: Path) -> None:
    def run(end: float, seed: int, schedule: str, *operations: str) -> Made:
        accuracy = end - 0.5 * np.exp(-np.arange(400) / 50) + noise(400, seed, 0.003)
        settings = {"learning_rate": 0.01, "lr_schedule": schedule, "optimizer": "SGD"}
        return Made({"accuracy": curve(accuracy)}, settings=settings, pipeline=pipeline(*operations).pipeline)

    write_run(base / "mine", run(0.92, 1, "step", "map", "batch"))
    write_run(base / "theirs", run(0.96, 2, "cosine", "map", "map", "shuffle", "batch"))


PROBLEMS = (
    Problem(scale_falls, "not_a_number", "rates", "scalars", {"tag": ["loss_scale", "loss"]}),
    Problem(rate_begins_anew, "ranks_differ", "rate", "scalars", {"tag": ["lr", "train/loss"]}),
    Problem(waits_for_data, "long_interval", "queues", "preparation",
            {"of": ["video"], "session": ["profiler"], "rank": ["0"]}),
    Problem(memory_grows, "out_of_memory", "growth", "memory", {"of": ["attack"], "rank": ["0"]}),
    Problem(worse_than_elsewhere, "worse_than_reference", "settings", "two_runs", {"one": ["mine"], "other": ["theirs"]},
            "mine"),
)  # fmt: skip


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda one: one.write.__name__)
def test_a_public_problem_leads_to_its_page(problem: Problem, tmp_path: Path) -> None:
    problem.write(tmp_path)
    store = Store([tmp_path], interval=0).start()
    assert store.wait(60)
    until(lambda: store.runs.status().loaded == store.runs.status().total)
    answers, state = SymptomAnswers(store), {"of": [problem.chosen]} if problem.chosen else {}
    found = until(lambda: None if (made := shown(store, answers, state, None))["again"] else made)
    store.stop()
    assert found is not None
    assert found["symptom"] == problem.symptom  # it opens by itself: the severest that was found
    listed = next(one for one in found["parts"]["steps"] if one[0] == "ol")[2]
    step = next(one for one in listed if one[1]["data-step"] == f"{problem.symptom}.{problem.step}")
    assert step[1]["data-state"] == "found"
    assert problem.page in all_of([step], "data-page")
    query = parse_qs(next(one for one in all_of([step], "data-query") if one))
    assert {name: query.get(name) for name in problem.query} == problem.query
