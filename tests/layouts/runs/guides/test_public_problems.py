"""Five problems from public issue trackers, as data: each opens at the right symptom, whose step links to the right page.

They were written down before the first symptom was: a loss scale that falls until the loss is NaN, a learning rate that begins
anew after a resume, steps that wait for the data loader, memory that grows until it is used up, and a result below that of
another framework. The list, the step and its link are three clicks at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest

from layouts.runs.guides.page import shown
from layouts.runs.symptoms.answering import Answers
from parsers.profile_frames import MEMORY, STEP_TIMES
from tests.layouts.runs.guides.test_guides import all_of
from tests.parsers.analysis.profiles.test_preparation import queues
from tests.sources import MemorySource
from tests.writers.step_traces import frame as steps_frame
from tests.writers.step_traces import legacy
from tests.writers.symptomatic_runs import curve, falling, noise, pipeline, rows_of

MIB = 1 << 20


@dataclass(frozen=True)
class Case:
    """The runs, the state that a user would have chosen, and where the guide must lead: symptom, step, page and state."""

    data: dict[str, Any]
    state: dict[str, list[str]]
    symptom: str
    step: str
    page: str
    query: dict[str, list[str]]


def scale_falls() -> Case:
    loss = falling(400)
    loss[300:] = np.nan
    scale = 524288.0 / 2.0 ** (np.arange(400) // 15)
    scalars = {"loss": curve(loss), "loss_scale": curve(scale), "learning_rate": curve(np.full(400, 0.006))}
    return Case({"bert": {"scalar": scalars}}, {}, "not_a_number", "rates", "scalars", {"tag": ["loss_scale", "loss"]})


def rate_begins_anew() -> Case:
    file = np.repeat([0, 1], 200)
    rate = np.concatenate([np.geomspace(0.01, 0.0001, 200), np.geomspace(0.01, 0.005, 200)])
    loss = falling(400)
    loss[200:240] += np.linspace(0.6, 0.0, 40)
    scalars = {"train/loss": curve(loss, file=file), "lr": curve(rate, file=file)}
    return Case({"yolo": {"scalar": scalars}}, {}, "ranks_differ", "rate", "scalars", {"tag": ["lr", "train/loss"]})


def waits_for_data() -> Case:
    frames = {"steps": steps_frame([legacy(n, 13e9, 41e9, 1e9) for n in range(1, 13)]),
              "queues": queues(*[("host", 0.0, 16.0, 13e9)] * 12)}  # fmt: skip
    wanted = {"of": ["video"], "session": ["."], "rank": ["0"]}
    return Case({"video": {"profiles": {(".", 0): frames}}}, {}, "long_interval", "queues", "preparation", wanted)


def memory_grows() -> Case:
    memory = [
        {"component": "PTA", "device": 0, "time_ns": time * 1_000_000, "file": "memory_record.csv",
         "allocated_bytes": (2_000 + time // 20) * MIB + (time % 1_000) * MIB // 10} for time in range(0, 20_000, 10)
    ]  # fmt: skip
    times = [{"step": n, "start_ns": n * 10**9, "end_ns": (n + 1) * 10**9, "file": "x"} for n in range(20)]
    frames = {"memory": rows_of(MEMORY, memory), "step_times": rows_of(STEP_TIMES, times)}
    wanted = {"of": ["attack"], "session": ["."], "rank": ["0"]}
    return Case({"attack": {"profiles": {(".", 0): frames}}}, {}, "out_of_memory", "growth", "memory", wanted)


def worse_than_elsewhere() -> Case:
    def run(end: float, seed: int, schedule: str, *operations: str) -> dict[str, Any]:
        accuracy = end - 0.5 * np.exp(-np.arange(400) / 50) + noise(400, seed, 0.003)
        settings = {"learning_rate": 0.01, "lr_schedule": schedule, "optimizer": "SGD"}
        return {"scalar": {"accuracy": curve(accuracy)}, "settings": settings, "dataset_graph": pipeline(*operations).pipeline}

    data = {"mine": run(0.92, 1, "step", "map", "batch"), "theirs": run(0.96, 2, "cosine", "map", "map", "shuffle", "batch")}
    wanted = {"one": ["mine"], "other": ["theirs"]}
    return Case(data, {"of": ["mine"], "with": ["theirs"]}, "worse_than_reference", "settings", "two_runs", wanted)


@pytest.mark.parametrize("make", [scale_falls, rate_begins_anew, waits_for_data, memory_grows, worse_than_elsewhere])
def test_a_public_problem_leads_to_its_page(make: Any) -> None:
    case: Case = make()
    source = MemorySource(case.data)
    answers = Answers(source)
    found = shown(source, answers, case.state, None)
    while found["again"]:
        found = shown(source, answers, case.state, None)
    assert found["symptom"] == case.symptom  # it opens by itself: the severest that was found
    listed = next(one for one in found["parts"]["steps"] if one[0] == "ol")[2]
    step = next(one for one in listed if one[1]["data-step"] == f"{case.symptom}.{case.step}")
    assert step[1]["data-state"] == "found"
    assert case.page in all_of([step], "data-page")
    query = parse_qs(next(one for one in all_of([step], "data-query") if one))
    assert {name: query.get(name) for name in case.query} == case.query
