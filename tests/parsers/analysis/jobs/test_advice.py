"""Rules over profiles: each with its evidence above its threshold and not below, and what they find in real profiles."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import KERNELS, OPERATORS, STEPS, discover, open_run
from parsers.analysis.jobs.advice import FRAMES, THRESHOLDS, advise, review
from parsers.profile_frames import CPU
from parsers.profiler.trace.gaps import CAUSES
from parsers.schema import Schema
from tests.parsers.analysis.profiles.test_preparation import pipeline, queues
from tests.writers.clusters import make
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
    sent = queues(*[("host", 1.0, 16.0, 1e6)] * 10, *[("device", 0.0, 16.0, 1e6)] * 2)
    assert rules({"queues": sent})["empty"].subject == ("transmission",)


def test_a_single_batch_is_no_evidence() -> None:
    one = queues(("host", 0.0, 16.0, 1e6))
    assert review({"queues": one}).unchecked["empty"] == ("device_queue_profiling.txt", "dataset_iterator_profiling.txt")
    sent = queues(*[("host", 1.0, 16.0, 1e6)] * 10, ("device", 0.0, 16.0, 1e6), *[("device", 1.0, 16.0, 1e6)] * 9)
    assert "empty" in review({"queues": sent}).fine
    slow = pipeline((0, "Batch", -1, 0.3), (1, "Map", 0, 0.3), (2, "TFReader", 1, 0.95))
    sampled = queues(*[("operator", 0.0, 16.0, 1e6)] * 3).assign(op_id=[0, 1, 2], step=0)
    assert "queue_use" in review({"pipeline": slow, "queues": sampled}).unchecked
    twice = pd.concat([sampled, sampled.assign(step=1)], ignore_index=True)
    assert [one.rule for one in review({"pipeline": slow, "queues": twice}).found] == ["queue_use"]


@pytest.mark.parametrize(("interval", "told"), [(1e4, set()), (1e6, {"interval", "empty", "queue_use"})])
def test_no_hints_about_the_pipeline_where_steps_do_not_wait(interval: float, told: set[str]) -> None:
    """An interval of 0.1 % of the step: the queue may be empty, but nobody waits for it."""
    frames = {
        "steps": steps_frame([legacy(n, interval, 8e6, 1e6) for n in range(1, 6)]),
        "queues": queues(*[("host", 0.0, 16.0, 1e6)] * 10),
        "pipeline": pipeline((0, "Batch", -1, 0.3), (1, "Map", 0, 0.3), (2, "TFReader", 1, 0.95)),
    }
    found = review(frames)
    assert {one.rule for one in found.found} == told
    assert {"interval", "empty", "queue_use"} - told <= set(found.fine)
    new = {**frames, "steps": rows_of(STEPS, [new_step(1, 9.995e6, 5e3)])}
    assert review(new).found == ()


def test_the_recorded_interval_counts_where_it_is_the_only_one() -> None:
    """A trace of one step, which begins with its forward pass, and the average that the writer took over more steps."""
    frame = steps_frame([legacy(1, 0.0, 23e6, 1e5)])
    none = dict.fromkeys(("forward_backward_ns", "tail_ns", "total_ns"), 0.0)
    average = frame.tail(1).assign(kind="average", step=-1, interval_ns=12.43e6, **none)
    (found,) = review({"steps": pd.concat([frame, average], ignore_index=True)}).found
    assert (found.rule, found.value, found.evidence["interval_ns"].tolist()) == ("interval", 12.43e6, [12.43e6])
    assert review({"steps": frame}).unchecked["interval"] == ("step_trace_raw_*_detail_time.csv",)


def operator(name: str, core: str, total: float, **more: Any) -> dict[str, Any]:
    return {"name": name, "full_name": name, "type": name, "core": core, "count": 1.0, "total_ns": total, "mean_ns": total,
            "file": "operator_details.csv", **more}  # fmt: skip


def test_calls_that_wait_for_the_device() -> None:
    """Self times count once, and calls from one place are one row."""
    host = [
        operator("aten::item", "HOST_CPU", 9e6, self_ns=1e5, stack="a.py(1): f"),
        operator("aten::_local_scalar_dense", "HOST_CPU", 8.9e6, self_ns=4e6, stack="a.py(1): f"),
        operator("aten::_local_scalar_dense", "HOST_CPU", 8.9e6, self_ns=4.9e6, stack="a.py(1): f"),
        operator("aten::add", "HOST_CPU", 2e6, self_ns=1e6, stack="b.py(2): g"),
        operator("aten::result_type", "HOST_CPU", 2e6, self_ns=1e6, stack="b.py(2): g"),
    ]
    frames = {"operators": rows_of(OPERATORS, host), "steps": rows_of(STEPS, [new_step(1, 6e7, 4e7)])}
    found = {one.rule: one for one in review(frames).found}["synchronising"]
    assert (found.value, found.cost_ns) == (pytest.approx(0.09), 9e6)
    assert found.evidence[["name", "count", "self_ns", "stack"]].to_numpy().tolist() == [
        ["aten::_local_scalar_dense", 2.0, 8.9e6, "a.py(1): f"], ["aten::item", 1.0, 1e5, "a.py(1): f"],
    ]  # fmt: skip
    assert "synchronising" in review(frames, {"synchronising": 0.1}).fine
    alone = {one.rule: one for one in review({"operators": frames["operators"]}).found}["synchronising"]
    assert alone.value == pytest.approx(9 / 11)  # without steps, of the time of the host
    assert math.isnan(alone.cost_ns)


def test_a_host_without_a_device_waits_for_none() -> None:
    rows = [{**operator("aten::copy_", "HOST_CPU", 2e6, self_ns=2e6), "device_ns": 0.0}]
    frames = {"operators": rows_of(OPERATORS, rows), "kernels": KERNELS.empty()}
    assert review(frames).reasons["synchronising"] == "no_device"
    assert "synchronising" not in review({**frames, "kernels": None}).reasons


def test_hccl_is_communication_and_no_computing() -> None:
    device = [operator("Sort", "AI_CPU", 1e6), operator("MatMul", "AI_CORE", 9e6)]
    frame = rows_of(OPERATORS, [*device, operator("x", "HCCL", 9e7)])
    assert rules({"operators": frame})["ai_cpu"].value == pytest.approx(0.1)
    only = rows_of(OPERATORS, [operator("x", "HCCL", 9e7), operator("y", "HOST_CPU", 1.0)])
    assert "ai_cpu" in review({"operators": only}).unchecked


def test_communication_that_nothing_overlaps() -> None:
    step = {**new_step(1, 8e6, 0.0), "exposed_ns": 4e6, "communication_ns": 4e6, "total_ns": 1.2e7}
    (found,) = review({"steps": rows_of(STEPS, [step])}).found
    assert (found.rule, found.value, found.cost_ns) == ("communication", pytest.approx(1 / 3), 4e6)
    assert found.parts_ns == {}
    assert found.evidence["exposed_ns"].tolist() == [4e6]


@real
@pytest.mark.parametrize("rank", [0, 1])
def test_what_communication_consists_of_in_a_real_profile(rank: int) -> None:
    folder = DATA / f"profiler_new/torch_npu_text_level2/rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT"
    written = json.loads((folder / "communication.json").read_text())["step50"]["collective"]["Total Op Info"]
    total = {part: written["Communication Time Info"][f"{name} Time(ms)"] for part, name in
             {"all": "Elapse", "transit": "Transit", "wait": "Wait", "idle": "Idle"}.items()}  # fmt: skip
    profile = open_run(folder.parents[1]).profile[f"rank{rank}_ascend_pt", rank]
    found = {one.rule: one for one in review({name: profile.frame(name) for name in FRAMES}).found}["communication"]
    assert {part: time / 1e6 for part, time in found.parts_ns.items()} == pytest.approx(total)
    row = pd.read_csv(folder / "step_trace_time.csv").iloc[0]
    parts = row["Computing"] + row["Communication(Not Overlapped)"] + row["Free"]
    assert found.value == pytest.approx(row["Communication(Not Overlapped)"] / parts)
    if rank == 1:
        assert (round(total["all"], 1), round(total["transit"], 1)) == (97.5, 4.0)


def test_a_busy_cpu() -> None:
    def cpu(idle: float) -> pd.DataFrame:
        same = {"scope": "machine", "op_id": -1, "user": 1 - idle, "system": 0.0, "io": 0.0, "idle": idle, "cores": 8}
        return rows_of(CPU, [{"sample": n, "step": n, **same} for n in range(4)])

    assert rules({"cpu": cpu(0.1)})["cpu"].value == pytest.approx(0.9)
    assert rules({"cpu": cpu(0.25)}) == {}
    assert set(rules({"cpu": cpu(0.25)}, cpu=0.7)) == {"cpu"}


QUIET = [("host", 4.0, 16.0, 1e6)]


@pytest.mark.parametrize(("batches", "state"), [(3, "few_batches"), (9, "few_batches"), (10, "")])
def test_nothing_is_said_to_be_fine_after_a_few_batches(batches: int, state: str) -> None:
    found = review({"queues": queues(*QUIET * batches)})
    assert found.reasons.get("empty", "") == state
    assert ("empty" in found.fine) is not bool(state)


def test_nothing_is_said_to_be_fine_after_a_few_samples() -> None:
    for samples, fine in ((3, False), (10, True)):
        rows = [{"scope": "machine", "sample": at, "step": at, "idle": 0.5, "cores": 8} for at in range(samples + 1)]
        found = review({"cpu": rows_of(CPU, rows)})
        assert ("cpu" in found.fine) is fine
        assert (found.reasons.get("cpu") == "few_samples") is not fine


def test_operators_of_the_ai_core_alone_do_not_show_that_none_fell_back() -> None:
    core = rows_of(OPERATORS, [operator("a", "AI_CORE", 5e6, file="aicore_intermediate_0_detail.csv")])
    assert "ai_cpu" in review({"operators": core}).unchecked
    both = rows_of(OPERATORS, [operator("a", "AI_CORE", 5e6, file="kernel_details.csv")])
    assert "ai_cpu" in review({"operators": both}).fine


def test_gaps_without_the_calls_behind_them_are_not_fine() -> None:
    steps = pd.DataFrame({"step": ["1"], "duration_ns": [10e6], "idle_ns": [5e6], **{f"{cause}_ns": [0.0] for cause in CAUSES}})
    late = steps.assign(host_ns=5e6)
    assert "gaps" in review({"gap_steps": steps}).fine
    assert review({"gap_steps": late}).reasons["gaps"] == "no_calls"


def test_a_job_without_stages_has_no_bubble_that_is_fine() -> None:
    steps = make(1, ranks=8, group=4).steps
    alone = review({"cluster_steps": steps.assign(own_bubble_ns=0.0, pp=-1)})
    assert alone.reasons["bubble"] == "no_stages"
    two = review({"cluster_steps": steps.assign(own_bubble_ns=0.0, pp=steps["rank"] // 4)})
    assert "bubble" in two.fine


def test_operators_on_the_ai_cpu() -> None:
    frame = rows_of(OPERATORS, [
        operator("MatMul", "AI_CORE", 9e6), operator("Unique", "AI_CPU", 8e5), operator("Sort", "AI_CPU", 2e5),
        operator("GetNext", "AI_CPU", 1e9), operator("host", "HOST_CPU", 1e9),
    ])  # fmt: skip
    found = rules({"operators": frame})["ai_cpu"]
    assert found.subject == ("Unique", "Sort")
    assert (found.value, found.page) == (pytest.approx(0.1), "operators")
    legacy_files = frame.assign(file=pd.Categorical(["aicpu_intermediate_0.csv"] * len(frame)))
    assert rules({"operators": legacy_files})["ai_cpu"].cost_ns == 1e6  # whose times are those of one step
    assert math.isnan(found.cost_ns)
    assert rules({"operators": frame[frame["core"] != "AI_CPU"]}) == {}


def test_what_costs_most_comes_first() -> None:
    frames = {"steps": rows_of(STEPS, [new_step(n, 8e6, 4e6) for n in range(3)]),
              "queues": queues(*[("host", 0.0, 16.0, 1e6)] * 4).assign(get_ns=9e6),
              "pipeline": pipeline((0, "Batch", -1, 0.3), (1, "TFReader", 0, 0.95))}  # fmt: skip
    assert [one.rule for one in advise(frames)] == ["empty", "idle", "queue_use"]


@given(st.dictionaries(st.sampled_from(sorted(THRESHOLDS)), st.floats(0, 1e9)))
def test_nothing_is_said_without_frames(thresholds: dict[str, float]) -> None:
    assert advise({}, thresholds) == []
    nothing = review(dict.fromkeys(FRAMES), thresholds)
    assert (nothing.found, nothing.fine) == ((), ())
    assert list(nothing.unchecked) == list(THRESHOLDS)
    assert all(nothing.unchecked.values())


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


@pytest.mark.long
@real
def test_every_advice_for_real_profiles_has_evidence_beyond_its_threshold() -> None:
    said: dict[str, int] = {}
    for base in ("mindinsight_legacy", "profiler", "profiler_new"):
        for source in discover(DATA / base):
            for profile in open_run(source.path).profile.values():
                result = review({name: profile.frame(name) for name in FRAMES})
                states = [*(one.rule for one in result.found), *result.fine, *result.unchecked]
                assert sorted(states) == sorted(THRESHOLDS)
                for one in result.found:
                    said[one.rule] = said.get(one.rule, 0) + 1
                    assert len(one.evidence) > 0
                    assert one.value < one.threshold if one.rule == "queue_use" else one.value > one.threshold
    # 2 of `profiler`, whose intervals are 90 ms, 4 ranks of `cluster_propose`, and run_2, which records only the average
    assert said["interval"] == 7
    assert said["empty"] >= 3
