"""What limits a job: what was put into made ones, with numbers computed apart; and what was not checked is said so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.analysis.jobs.limiting import PARTS, limiting
from parsers.cluster_frames import CLUSTER_STEPS, JOB_FRAMES, RANKS
from parsers.profiler.frame_parts import frame_of
from tests.writers.clusters import Made, make


def frames(made: Made) -> dict[str, pd.DataFrame | None]:
    return {"groups": made.groups, "collectives": made.collectives, "cluster_steps": made.steps, "links": made.links}


def table(**columns: list[float]) -> pd.DataFrame:
    number = len(next(iter(columns.values())))
    known = {"step": [1] * number, "rank": list(range(number)), "kind": ["rank"] * number, **columns}
    return frame_of(CLUSTER_STEPS, number, known, "made")


def test_free_time_and_exposed_communication_are_means_over_ranks() -> None:
    steps = table(total_ns=[100.0, 200.0], computing_ns=[60.0, 80.0], exposed_ns=[10.0, 20.0], free_ns=[30.0, 100.0])
    found = limiting({"cluster_steps": steps})
    assert found.first is not None
    assert (found.first.name, found.first.rank, found.first.ns) == ("free", 1, 65.0)
    assert found.first.share == pytest.approx(65 / 150)
    exposed = next(part for part in found.parts if part.name == "exposed")
    assert (exposed.ns, exposed.share, exposed.rank) == (15.0, pytest.approx(0.1), 1)
    assert (found.step_ns, found.computing_ns) == (150.0, 70.0)
    assert found.unchecked == {"slow_rank": "collectives", "bubble": "collectives", "memory": "ranks"}


def test_a_slow_rank_is_named_with_what_it_costs() -> None:
    made = make(5, ranks=32, slow_rank=13, slower=0.08)
    found = limiting(frames(made))
    slow = next(part for part in found.parts if part.name == "slow_rank")
    assert slow.straggler is not None
    assert (slow.rank, slow.straggler.cause, slow.limits) == (13, "computing", True)
    computing = made.steps.pivot(index="step", columns="rank", values="computing_ns")
    own = float((computing[13] - computing[[*range(8, 16)]].median(axis=1)).mean())
    assert slow.ns == pytest.approx(min(own, slow.straggler.lateness_ns), rel=0.05)
    exposed = next(part for part in found.parts if part.name == "exposed")
    waited = slow.straggler.lateness_ns * 7 / 32
    assert exposed.ns == pytest.approx(float(made.steps["exposed_ns"].mean()) - waited)


def test_nothing_slow_is_found_where_nothing_is() -> None:
    found = limiting(frames(make(6, ranks=32)))
    slow = next(part for part in found.parts if part.name == "slow_rank")
    assert (slow.ns, slow.rank, slow.limits) == (0.0, -1, False)


def test_few_steps_name_no_rank() -> None:
    found = limiting(frames(make(5, ranks=32, slow_rank=13, slower=0.5, steps=4)))
    assert found.unchecked["slow_rank"] == "steps"


def test_a_slow_rank_is_not_denied_where_none_was_looked_for() -> None:
    made = make(6, ranks=32)
    alone = made.steps[made.steps["rank"] == 0]
    shaped = made.groups.assign(kind=pd.Categorical(["pp"] * len(made.groups)))
    unknown = made.collectives.assign(lateness_ns=np.nan)
    for changed, reason in (
        ({"cluster_steps": alone}, "one_rank"), ({"groups": shaped}, "no_group"), ({"collectives": unknown}, "no_waits"),
    ):  # fmt: skip
        found = limiting({**frames(made), **changed})
        assert found.unchecked["slow_rank"] == reason
        assert all(part.name != "slow_rank" for part in found.parts)


def test_a_bubble_is_taken_from_the_exposed_communication() -> None:
    steps = table(
        total_ns=[100.0, 100.0], computing_ns=[40.0, 60.0], exposed_ns=[50.0, 30.0], free_ns=[10.0, 10.0],
        own_bubble_ns=[40.0, 20.0],
    ).assign(bubble_source=pd.Categorical(["at most", "at most"]))  # fmt: skip
    found = limiting({"cluster_steps": steps})
    assert found.first is not None
    assert (found.first.name, found.first.ns, found.first.at_most, found.first.rank) == ("bubble", 30.0, True, 0)
    assert next(part.ns for part in found.parts if part.name == "exposed") == 10.0


def test_memory_needs_a_capacity() -> None:
    columns = {"rank": [0, 1], "peak_reserved_bytes": [30 << 30, 62 << 30], "capacity_bytes": [-1, -1]}
    ranks = frame_of(RANKS, 2, columns, "made")
    assert limiting({"ranks": ranks}).unchecked["memory"] == "capacity"
    found = limiting({"ranks": ranks.assign(capacity_bytes=64 << 30)})
    assert found.first is not None
    assert (found.first.name, found.first.rank, found.first.share) == ("memory", 1, 62 / 64)
    assert set(found.unchecked) == {"exposed", "free", "slow_rank", "bubble"}


def test_nothing_is_known_of_nothing() -> None:
    found = limiting({})
    assert (found.parts, set(found.unchecked), found.first) == ((), set(PARTS), None)
    assert limiting({name: schema.empty() for name, schema in JOB_FRAMES.items()}).parts == ()


def test_a_real_job_against_its_raw_files(real_data: Path) -> None:
    folder = real_data / "profiler_new" / "torch_npu_st_4ranks_pp2"
    (job,) = open_run(folder).profile.jobs
    found = limiting({name: job.frame(name) for name in JOB_FRAMES if job.gives(name)})
    raw = pd.concat([
        pd.read_csv(next(file.path for file in member.files if file.kind == "step_trace_time")) for member in job.files.members
    ])  # fmt: skip
    total = raw["Computing"] + raw["Communication(Not Overlapped)"] + raw["Free"]
    assert found.step_ns == pytest.approx(float(total.mean()) * 1e3, rel=1e-9)
    free = next(part for part in found.parts if part.name == "free")
    assert free.ns == pytest.approx(float(raw["Free"].mean()) * 1e3, rel=1e-9)
    times = {part.name: part.ns for part in found.parts}
    assert times["exposed"] + times["bubble"] == pytest.approx(
        float(raw["Communication(Not Overlapped)"].mean()) * 1e3, rel=1e-9
    )
    assert found.first is not None
    assert found.first.name == "bubble"  # files say 0, since it is spent in batchSendRecv
    assert found.unchecked["slow_rank"] == "steps"
    assert np.isfinite(found.computing_ns)
