"""The pipeline page: requests, sentences and the table, over the real job of four ranks and made ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from layouts.jobs.pipeline import page, story, tables
from layouts.jobs.pipeline.texts import TEXTS
from layouts.jobs.pipeline_request import PipelineRequest, pipeline_of
from layouts.kit.i18n import CATALOGUE
from layouts.kit.page import Ids
from layouts.kit.state import BadInput
from parsers import open_run
from parsers.analysis.jobs.job_pipeline import JobPipeline, PipelineRow
from parsers.analysis.jobs.pipeline import BANDS, HIDDEN
from parsers.cluster_frames import JOB_FRAMES
from tests.sources import MemorySource
from tests.writers.pipelines import write

FOUR = "profiler_new/torch_npu_st_4ranks_pp2"
ASK = {"run": ["a"], "session": ["."], "rank": ["0"]}


def source_of(path: Path) -> MemorySource:
    (job,) = open_run(path).profile.jobs
    frames = {name: job.frame(name) for name in JOB_FRAMES}
    profiles = {(".", rank): frames for rank in job.ranks}
    return MemorySource({"a": {"profiles": profiles, "job": job.files}})


def pipeline(source: MemorySource, **state: Any) -> JobPipeline:
    given = {name.rstrip("_"): value if isinstance(value, list) else [value] for name, value in state.items()}
    ask = PipelineRequest.read_any(ASK | given)
    assert ask is not None
    return pipeline_of(source, ask)


def said(one: JobPipeline) -> list[str]:
    parts = (story.bubble, story.theory, story.stages, story.marked, story.missing, story.clocks)
    every = [sentence for part in parts for sentence in part(one)]
    assert all(chinese and "{" not in chinese for _, chinese in every)
    return [english for english, _ in every]


def rows_of(one: JobPipeline) -> list[list[str]]:
    """The texts of the table, English."""

    def text(part: Any) -> str:
        if isinstance(part, str | int | float):
            return str(part)
        if isinstance(part, list | tuple):
            return "".join(map(text, part))
        return "" if getattr(part, "className", None) == "zh" else text(getattr(part, "children", None) or "")

    found: list[list[str]] = []

    def walk(part: Any) -> None:
        if isinstance(part, list | tuple):
            for each in part:
                walk(each)
        elif type(part).__name__ == "Tr":
            found.append([text(cell) for cell in part.children])
        elif hasattr(part, "children"):
            walk(part.children)

    walk(tables.times(one))
    return found


# Requests --------------------------------------------------------------------------------------------------------------------


def test_requests() -> None:
    assert PipelineRequest.read_any(None) is None
    assert PipelineRequest.read_any({"step": ["3"]}) is None
    more = {"step": ["3"], "stage": ["1", "-1", "1"], "m": ["8"], "from": ["5"], "to": ["9"], "align": ["1"]}
    ask = PipelineRequest.read_any(ASK | more)
    assert ask is not None
    assert (ask.step, ask.stages, ask.typed, ask.window, ask.aligned) == (3, (1, -1), 8, (5, 9), True)
    closed = PipelineRequest.read_any(ASK | {"stage": ["none"], "from": ["9"], "to": ["9"]})
    assert closed is not None
    assert (closed.stages, closed.window) == ((), None)
    for bad in ({"stage": ["1.5"]}, {"stage": ["９"]}, {"m": ["many"]}, {"from": ["-2"]}, {"step": [3]}):
        with pytest.raises(BadInput):
            PipelineRequest.read_any(ASK | bad)


def test_every_band_and_source_has_its_texts() -> None:
    for name in (*BANDS, HIDDEN):
        assert {f"pipeline.band.{name}", f"pipeline.tip.{name}"} <= set(TEXTS)
        assert name in page.COLOURS or name in ("idle", "unknown")
    for source in ("exposed p2p", "at most", "receive"):
        assert {f"pipeline.source.{source}", f"pipeline.source_tip.{source}"} <= set(CATALOGUE)


# Without anything ------------------------------------------------------------------------------------------------------------


def test_a_job_of_empty_frames_says_what_is_missing() -> None:
    frames: dict[str, pd.DataFrame] = {name: schema.empty() for name, schema in JOB_FRAMES.items()}
    one = pipeline(MemorySource({"a": {"profiles": {(".", 0): frames, (".", 1): frames}}}))
    sentences = said(one)
    assert sentences[0].startswith("The bubble was not checked: communication.json")
    assert any(text.startswith("When ranks 0-1 computed was not checked: kernel_details.csv") for text in sentences)
    assert any(text.startswith("When ranks 0-1 communicated was not checked: communication.json") for text in sentences)
    assert one.length_ns == 0
    assert one.view(100).startswith(b"MSPL")
    assert one.moment(0, 5) == {}
    assert one.listed().empty
    assert [row[-1] for row in rows_of(one)[1:]] == ["not checked", "not checked"]
    components = page.drawn(one)
    assert components[2]["found"] is False
    assert page.layout(Ids("pipeline"), "/api/") is not None


def test_no_frames_at_all() -> None:
    one = pipeline(MemorySource({"a": {"profiles": {}}}))
    assert one.ranks == ()
    assert "No file tells" in str(tables.times(one)[0])


# Made jobs -------------------------------------------------------------------------------------------------------------------


def test_bubble_and_theory_of_a_made_job(tmp_path: Path) -> None:
    write(tmp_path / "job", stages=4, width=2, micro=8, marks="device")
    one = pipeline(source_of(tmp_path / "job"), step="1")
    first, second, *rest = said(one)
    assert first == (  # 90 of 334 ms
        "Ranks wait 26.9 % of a step for other stages on average (exposed p2p); longest rank 0: 90.0 ms of 334 ms (26.9 %)."
    )
    assert "1F1B waits 27.3 %" in second  # 3 / (8 + 3)
    assert "p = 4 equal stages and m = 8 micro batches (ranges marked as forward_step on each rank)" in second
    assert rest == [
        "Forward and backward are drawn where ranges are marked as forward_step and backward_step.",
        "The clocks of 4 sets of ranks cannot be compared with each other: they share no collective operation.",
    ]
    numbers = ["334.000", "240.000", "90.000", "4.000", "0.000", "0.000", "90.000", "26.9 %"]
    assert rows_of(one)[1] == ["Stage 0", "0", *numbers, "exposed p2p"]
    assert [row[0] for row in rows_of(one)[1:]] == ["Stage 0", "", "Stage 1", "", "Stage 2", "", "Stage 3", ""]
    assert one.rows[0] == PipelineRow(0, 0, (0,))


def test_micro_batches_of_metadata_come_before_marks_and_typed_ones_before_all(tmp_path: Path) -> None:
    write(tmp_path / "job", micro=4, marks="device", info={"pp_type": "1f1b", "microbatch_num": 8})
    source = source_of(tmp_path / "job")
    told = said(pipeline(source, step="1"))
    assert "m = 8 micro batches (pp_info in profiler_metadata.json)" in told[1]
    assert "m = 2 micro batches (as typed below)" in said(pipeline(source, m="2"))[1]
    assert page.facts(pipeline(source, m="2"))["micro"] == 0


@pytest.mark.parametrize(
    ("schedule", "micro", "sentence"),
    [
        ("dualpipev", 4, "What the schedule dualpipev waits in theory is not known here."),
        ("interleaved_1f1b", 16, "In theory interleaved 1F1B waits 5.88 %: "), ("1f1b", 8, "In theory 1F1B waits 11.1 %: "),
        ("interleaved_1f1b", 8, "What the schedule interleaved_1f1b waits in theory is not known here."),
    ],
)  # fmt: skip
def test_theory_is_that_of_the_schedule_that_ran(tmp_path: Path, schedule: str, micro: int, sentence: str) -> None:
    """2 stages and 8 micro batches; the interleaved schedule marks two parts of the model in each."""
    write(tmp_path / "job", micro=micro, marks="device", info={"pp_type": schedule, "microbatch_num": 8})
    assert said(pipeline(source_of(tmp_path / "job"), step="1"))[1].startswith(sentence)


def test_marks_of_the_host_are_not_drawn(tmp_path: Path) -> None:
    write(tmp_path / "job", marks="host", steps=1)
    one = pipeline(source_of(tmp_path / "job"))
    assert any("marked on the host only" in text for text in said(one))
    assert all(one.bands[0].times(0, 2**62)[name] == 0 for name in ("forward", "backward"))
    assert one.micro_batches.number == 4  # they are counted all the same


def test_missing_files_are_named(tmp_path: Path) -> None:
    write(tmp_path / "job", groups=False, without=((1, "kernel_details.csv"), (2, "communication.json")))
    sentences = said(pipeline(source_of(tmp_path / "job"), step="2"))
    assert "(for some ranks at most)" in sentences[0]
    assert any(text.startswith("When rank 1 computed was not checked: kernel_details.csv") for text in sentences)
    assert any(text.startswith("When rank 2 communicated was not checked: communication.json") for text in sentences)
    assert any(text.startswith("No stage is known of ") for text in sentences)


def test_means_over_steps_are_those_of_each(tmp_path: Path) -> None:
    write(tmp_path / "job", steps=3)
    source = source_of(tmp_path / "job")
    each = [pipeline(source, step=str(step)).summary() for step in (1, 2, 3)]
    mean = pipeline(source).summary()
    for name in ("total_ns", "computing_ns", "send_ns", "receive_ns", "collective_ns", "idle_ns", "bubble_ns"):
        assert mean[name].to_numpy() == pytest.approx(sum(one[name].to_numpy() for one in each) / 3)
    assert pipeline(source).steps == [1, 2, 3]


def test_damaged_files_leave_the_rest(tmp_path: Path) -> None:
    write(tmp_path / "job", marks="device")
    for path in (tmp_path / "job").glob("*_1_*/ASCEND_PROFILER_OUTPUT/*"):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    for path in (tmp_path / "job").glob("*_2_*/ASCEND_PROFILER_OUTPUT/*"):
        path.write_bytes(b"\x00\xff" * 50)
    one = pipeline(source_of(tmp_path / "job"), step="1")
    assert one.bands[0].communicates
    assert said(one)
    assert len(rows_of(one)) == 5
    assert one.view(200).startswith(b"MSPL")


# The real job ----------------------------------------------------------------------------------------------------------------


def test_the_real_job_of_four_ranks(real_data: Path) -> None:
    one = pipeline(source_of(real_data / FOUR), step="13")
    sentences = said(one)
    assert sentences[0].endswith("longest rank 1: 323 ms of 809 ms (39.9 %).")
    assert any("ranks 1,3 computed was not checked: kernel_details.csv" in text for text in sentences)
    rank = next(time for time in one.times if time.rank == 0)
    assert (round(rank.bubble_ns / 1e6, 1), round(rank.total_ns / 1e6, 1), rank.source) == (313.9, 810.0, "exposed p2p")
    assert {time.rank: (time.stage, time.source) for time in one.times} == {
        0: (0, "exposed p2p"), 1: (0, "at most"), 2: (1, "exposed p2p"), 3: (1, "at most")
    }  # fmt: skip
    table = rows_of(one)
    assert table[1][:4] == ["Stage 0", "0", "810.022", "231.290"]
    assert table[2][3:7] == ["230.904", "?", "?", "136.820"]  # of step_trace_time.csv, as it is not known when it computed
    assert json.dumps(page.facts(one))
    assert "Stage 0: Computing: " in page.said(one)[0]


def test_a_legacy_job_has_its_receive_time(real_data: Path) -> None:
    one = pipeline(source_of(real_data / "mindinsight_legacy" / "cluster_propose"))
    assert {time.source for time in one.times} == {"receive"}
    assert [(time.stage, time.rank) for time in one.times] == [(0, 0), (0, 1), (1, 2), (1, 3)]  # by the names of files
    assert "(receive time of the file)" in said(one)[0]
    assert one.length_ns == 0
