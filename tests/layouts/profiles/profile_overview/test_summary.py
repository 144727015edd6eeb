"""The cards of the overview on real profiles, and on profiles with little in them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from layouts.profiles.profile_choice import ProfileChoice
from layouts.profiles.profile_overview import page
from layouts.profiles.profile_overview.summary import MOST_OPERATORS, launch_card, operators_card
from parsers import KERNELS, OPERATORS, discover, open_run
from parsers.profiler.access import Profile
from parsers.profiler.frame_parts import ProfileInput, frame_of
from parsers.profiler.kineto.frame_readers import read_all
from parsers.profiler.registry import FRAMES
from tests.amounts import some_or_every
from tests.layouts.profiles.steps.test_steps_page import texts_in
from tests.sources import MemorySource
from tests.writers import kineto_traces


def frames(profile: Profile) -> dict[str, pd.DataFrame]:
    return {name: profile.frame(name) for name in FRAMES if profile.gives(name)}


def source_of(folder: Path, name: str = "a") -> MemorySource:
    run = open_run(folder).profile
    steps = {
        (one.session, one.rank): {"cluster_steps": job.frame("cluster_steps")}
        for job in run.jobs if job.gives("cluster_steps") for one in job.files.members
    }  # fmt: skip
    return MemorySource({name: {"profiles": {key: {**frames(one), **steps.get(key, {})} for key, one in run.items()}}})


def asked(session: str, rank: int, run: str = "a") -> dict[str, Any]:
    return {"run": [run], "session": [session], "rank": [str(rank)]}


@some_or_every
def test_every_profile_with_timed_executions_has_an_overview(real_data: Path, every: bool) -> None:
    timed = 0
    for base in ("mindinsight_legacy", "profiler", "profiler_new", "cluster_samples") if every else ("profiler",):
        for found in discover(real_data / base):
            source = source_of(Path(found.path))
            for (session, rank), known in source.data["a"]["profiles"].items():
                parts, _, _ = page.shown(source, asked(session, rank))
                summary = page.summarised(source, asked(session, rank))
                json.dumps([parts, summary], default=lambda one: one.to_plotly_json())
                assert "First advice" in texts_in(summary)
                if "kernels" in known and (known["kernels"]["start_ns"] >= 0).any():
                    timed += 1
                    assert "From the first execution to the last" in texts_in(parts)
                    assert "Operators by time" in texts_in(summary)
    assert timed >= (18 if every else 1)


def test_ten_operators_of_a_real_profile(real_data: Path) -> None:
    folder = real_data / "profiler_new/torch_npu_text_level2/rank1_ascend_pt"
    with (folder / "ASCEND_PROFILER_OUTPUT/kernel_details.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    times: dict[str, float] = {}
    for row in rows:
        times[row["Name"]] = times.get(row["Name"], 0.0) + float(row["Duration(us)"])
    source = source_of(folder)
    text = texts_in(page.summarised(source, asked(".", 1)))
    listed = [line for line in text.splitlines() if line in times]
    assert listed == sorted(times, key=lambda name: -times[name])[:MOST_OPERATORS]
    share = 100 * max(times.values()) / sum(times.values())
    assert f"{share:.1f} %" in text
    assert f"All {len(times)} operators" in text
    assert "Communication is not overlapped" in text  # the first advice, which costs most


def test_the_host_alone_is_shown_by_self_time() -> None:
    columns = {"name": ["x", "y"], "full_name": ["x", "y"], "type": ["x", "y"], "core": ["HOST_CPU"] * 2, "count": [1.0, 1.0],
               "total_ns": [9e6, 1e6], "self_ns": [1e6, 8e6]}  # fmt: skip
    table = frame_of(OPERATORS, 2, columns, "f")
    text = texts_in(operators_card(table, ProfileChoice("a", ".", 0)))
    assert "Self time" in text
    assert text.index("\ny\n") < text.index("\nx\n")
    assert "88.9 %" in text
    assert operators_card(OPERATORS.empty(), ProfileChoice("a", ".", 0)) == []


def test_kernels_are_told_apart_by_their_template_arguments() -> None:
    names = [f"void at::native::vectorized_elementwise_kernel<4, at::native::{one}>(int)" for one in ("Add<int>", "Mul<int>")]
    columns = {"name": names, "full_name": names, "type": ["f"] * 2, "core": ["GPU_KERNEL"] * 2, "count": [1.0, 1.0],
               "total_ns": [9e6, 1e6]}  # fmt: skip
    text = texts_in(operators_card(frame_of(OPERATORS, 2, columns, "f"), ProfileChoice("a", ".", 0)))
    assert "vectorized_elementwise_kernel<4, Add<int>>" in text
    assert "vectorized_elementwise_kernel<4, Mul<int>>" in text
    assert "GPU_KERNEL" not in text  # which all rows have in common


def test_ranks_of_a_job_in_their_directories(real_data: Path) -> None:
    source = source_of(real_data / "profiler_new/torch_npu_st_4ranks_pp2")
    text = texts_in(page.summarised(source, asked("rank_2_ascend_pt", 2)))
    assert "Ranks of the job" in text
    assert [line for line in text.splitlines() if line.startswith("rank ")] == [f"rank {rank}" for rank in range(4)]
    cells = text[text.index("rank 3") :].splitlines()
    steps = pd.read_csv(
        real_data / "profiler_new/torch_npu_st_4ranks_pp2/rank_3_ascend_pt/ASCEND_PROFILER_OUTPUT/step_trace_time.csv"
    ).iloc[0]
    whole = sum(steps[name] for name in ("Computing", "Communication(Not Overlapped)", "Free"))
    assert cells[2] == f"{100 * steps['Computing'] / whole:.1f} %"
    assert cells[3] == f"{100 * steps['Communication(Not Overlapped)'] / whole:.1f} %"
    assert "Ranks of the job" not in texts_in(page.summarised(source_of(real_data / "profiler/new_graph"), asked("x", 0)))


@pytest.mark.parametrize("rows", [0, 1])
def test_untimed_executions_have_no_busy_time(rows: int) -> None:
    columns = {"start_ns": [-1] * rows, "duration_ns": [5] * rows, "core": ["GPU"] * rows}
    source = MemorySource({"a": {"profiles": {(".", 0): {"kernels": frame_of(KERNELS, rows, columns, "f")}}}})
    parts, lines, figure = page.shown(source, asked(".", 0))
    assert (parts, lines, figure) == ([], [], None)


def test_states_of_the_stream_are_drawn_to_scale_and_named(tmp_path: Path) -> None:
    path = kineto_traces.write(tmp_path / "trace.json", kineto_traces.training())
    kernels = read_all(ProfileInput(str(path), path.name, {}))["kernels"].frame
    (card,) = launch_card(kernels)
    said, drawn, listed, notes = card.children[1].children.children
    widths = [float(segment.style["width"].rstrip("%")) for segment in drawn.children]
    assert sum(widths) == pytest.approx(100.0, abs=1e-3)
    lines = texts_in(listed).splitlines()
    places = [lines.index(words) for words in ("It ran something", "The host had launched nothing")]
    assert places == sorted(places)
    shown = lines[places[0] + 3]
    assert float(shown.removesuffix(" %")) == pytest.approx(widths[0], rel=0.01)
    assert "A kernel begins" in texts_in(said)
    assert "kernels and copies" in texts_in(notes)
