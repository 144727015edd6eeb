"""Rules over profiles: each with its evidence above its threshold and not below, and what they find in real profiles."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import OPERATORS, STEPS, discover, open_run
from parsers.analysis.advice import THRESHOLDS, advise
from parsers.frames import CPU
from parsers.schema import Schema
from tests.parsers.analysis.test_preparation import pipeline, queues
from tests.writers.step_traces import frame as steps_frame
from tests.writers.step_traces import legacy

DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "/nowhere"))
real = pytest.mark.skipif(not DATA.is_dir(), reason="MINDSCOPE_TEST_DATA names no directory of real runs")
NEW = {"kind": "step", "device": 0, "start_ns": -1, "file": "step_trace_time.csv"}


def rows_of(schema: Schema, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """A frame of a schema; what a row does not have is NaN, -1 or ""."""
    kinds: dict[str, Any] = {"float64": math.nan, "int64": -1}
    blank = {column.name: kinds.get(column.dtype, "") for column in schema.columns}
    return pd.DataFrame([{**blank, **row} for row in rows]).astype({column.name: column.dtype for column in schema.columns})


def new_step(step: int, computing: float, free: float) -> dict[str, Any]:
    return {**NEW, "step": step, "computing_ns": computing, "exposed_ns": 0.0, "overlapped_ns": 0.0, "communication_ns": 0.0,
            "free_ns": free, "preparing_ns": 0.0, "total_ns": computing + free}  # fmt: skip


def rules(frames: dict[str, pd.DataFrame], **thresholds: float) -> dict[str, Any]:
    return {one.rule: one for one in advise(frames, thresholds)}


def test_the_interval_of_legacy_steps() -> None:
    frame = steps_frame([legacy(n, 1e6, 8e6, 1e6) for n in range(1, 6)])
    found = rules({"steps": frame})
    assert set(found) == {"interval"}
    assert (found["interval"].value, found["interval"].cost_ns, found["interval"].page) == (1e6, 1e6, "steps")
    assert len(found["interval"].evidence) > 0
    assert (found["interval"].evidence["interval_ns"] > 500_000).all()
    assert rules({"steps": frame}, interval=1e6) == {}
    assert rules({"steps": steps_frame([legacy(n, 5e5, 8e6, 1e6) for n in range(1, 6)])}) == {}


def test_idle_time_of_new_steps() -> None:
    frame = rows_of(STEPS, [new_step(1, 8e6, 2e6), new_step(2, 8e6, 4e6)])
    found = rules({"steps": frame})
    assert set(found) == {"idle"}
    assert found["idle"].value == pytest.approx(6 / 22)
    assert found["idle"].cost_ns == pytest.approx(3e6)
    assert found["idle"].evidence["step"].tolist() == [2, 1]
    assert rules({"steps": frame}, idle=0.3) == {}


def test_empty_queues_and_slow_operations() -> None:
    waiting = queues(*[("host", 0.0, 16.0, 1e6)] * 4, *[("host", 1.0, 16.0, 1e6)] * 6)
    slow = pipeline((0, "Batch", -1, 0.3), (1, "Map", 0, 0.3), (2, "TFReader", 1, 0.95))
    found = rules({"queues": waiting, "pipeline": slow})
    assert set(found) == {"empty", "queue_use"}
    assert (found["empty"].value, found["empty"].subject) == (0.4, ("pipeline",))
    assert found["empty"].evidence["step"].tolist() == [1, 2, 3, 4]
    assert found["queue_use"].subject == ("Map",)
    assert math.isnan(found["queue_use"].cost_ns)
    # Steps that do not wait hide what the pipeline could do better.
    fed = queues(*[("host", 0.0, 16.0, 1e6)] * 3, *[("host", 1.0, 16.0, 1e6)] * 7)
    assert rules({"queues": fed, "pipeline": slow}) == {}
    assert set(rules({"pipeline": slow})) == {"queue_use"}
    assert rules({"pipeline": slow}, queue_use=0.2) == {}
    sent = queues(*[("host", 1.0, 16.0, 1e6)] * 10, ("device", 0.0, 16.0, 1e6))
    assert rules({"queues": sent})["empty"].subject == ("transmission",)


def test_a_busy_cpu() -> None:
    def cpu(idle: float) -> pd.DataFrame:
        same = {"scope": "machine", "op_id": -1, "user": 1 - idle, "system": 0.0, "io": 0.0, "idle": idle, "cores": 8}
        return rows_of(CPU, [{"sample": n, "step": n, **same} for n in range(4)])

    assert rules({"cpu": cpu(0.1)})["cpu"].value == pytest.approx(0.9)
    assert rules({"cpu": cpu(0.25)}) == {}
    assert set(rules({"cpu": cpu(0.25)}, cpu=0.7)) == {"cpu"}


def test_operators_on_the_ai_cpu() -> None:
    def operator(name: str, core: str, total: float) -> dict[str, Any]:
        return {"name": name, "full_name": name, "type": name, "core": core, "count": 1.0, "total_ns": total, "mean_ns": total,
                "file": "aicpu_intermediate_0.csv"}  # fmt: skip

    frame = rows_of(OPERATORS, [
        operator("MatMul", "AI_CORE", 9e6), operator("Unique", "AI_CPU", 8e5), operator("Sort", "AI_CPU", 2e5),
        operator("GetNext", "AI_CPU", 1e9), operator("host", "HOST_CPU", 1e9),
    ])  # fmt: skip
    found = rules({"operators": frame})["ai_cpu"]
    assert found.subject == ("Unique", "Sort")
    assert (found.cost_ns, found.page) == (1e6, "operators")
    assert rules({"operators": frame[frame["core"] != "AI_CPU"]}) == {}


def test_what_costs_most_comes_first() -> None:
    frames = {"steps": rows_of(STEPS, [new_step(n, 8e6, 4e6) for n in range(3)]),
              "queues": queues(*[("host", 0.0, 16.0, 1e6)] * 4).assign(get_ns=9e6),
              "pipeline": pipeline((0, "Batch", -1, 0.3), (1, "TFReader", 0, 0.95))}  # fmt: skip
    assert [one.rule for one in advise(frames)] == ["empty", "idle", "queue_use"]


@given(st.dictionaries(st.sampled_from(sorted(THRESHOLDS)), st.floats(0, 1e9)))
def test_nothing_is_said_without_frames(thresholds: dict[str, float]) -> None:
    assert advise({}, thresholds) == []
    assert advise(dict.fromkeys(("steps", "queues", "pipeline", "cpu", "operators")), thresholds) == []


def test_no_advice_without_rows_that_speak_for_it() -> None:
    # An average that a file was written with, over steps that are none of it.
    frame = steps_frame([legacy(n, 1e5, 8e6, 1e6) for n in range(1, 4)])
    frame = pd.concat([frame, frame.tail(1).assign(kind="average", step=-1, interval_ns=1e6, total_ns=1e7)])
    assert rules({"steps": frame}) == {}
    # A get of less than the millisecond that is counted in is no cost.
    assert math.isnan(rules({"queues": queues(*[("host", 0.0, 16.0, 1e6)] * 4).assign(get_ns=0.0)})["empty"].cost_ns)


def test_a_rule_there_is_not_is_refused() -> None:
    with pytest.raises(KeyError, match="expected rules"):
        advise({}, {"luck": 1.0})


@real
def test_every_advice_for_real_profiles_has_evidence_beyond_its_threshold() -> None:
    said: dict[str, int] = {}
    for base in ("mindinsight_legacy", "profiler", "profiler_new"):
        for source in discover(DATA / base):
            for profile in open_run(source.path).profile.values():
                names = ("steps", "queues", "pipeline", "cpu", "operators")
                for one in advise({name: profile.frame(name) for name in names}):
                    said[one.rule] = said.get(one.rule, 0) + 1
                    assert len(one.evidence) > 0
                    assert one.value < one.threshold if one.rule == "queue_use" else one.value > one.threshold
    assert said["interval"] == 6  # 2 of `profiler`, whose intervals are 90 ms, and 4 ranks of `cluster_propose`
    assert said["empty"] >= 3
