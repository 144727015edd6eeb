"""The sentences of the pipeline page: the bubble beside theory, what is drawn, and what was not checked for want of a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.jobs.bubble import in_theory, share_of
from parsers.analysis.jobs.job_pipeline import JobPipeline
from parsers.analysis.jobs.pipeline import MicroBatches
from parsers.analysis.jobs.waiting import AT_MOST, EXACT, RankTimes
from parsers.analysis.jobs.warm_up import warm_up
from parsers.profiler.groups import text_of
from parsers.profiler.ranks import KINDS
from parsers.profiler.registry import display_name

from layouts.jobs.pipeline.bilingual import in_both, span
from layouts.jobs.warm_up import warm_up_said
from layouts.kit import units as fmt
from layouts.kit.i18n import Text

MOST_FILES = 5
MOST_LISTED = 160
"""Characters of a list of ranks in a sentence."""
_MARKED = ("forward", "backward")

_INTERLEAVED = re.compile(r"interleav|vpp|virtual")
_PLAIN = re.compile(r"1f1b|gpipe")


def story(pipeline: JobPipeline) -> list[Any]:
    """Return all sentences."""
    rest = (*stages(pipeline), *marked(pipeline), *missing(pipeline), *clocks(pipeline))
    left_out = warm_up_said(warm_up(pipeline.cluster_steps), "pipeline.warm_up") if pipeline.step is None else []
    return [
        *(html.P(span(one), className="ms-pipeline-sentence") for one in bubble(pipeline)),
        *(html.P(span(one)) for one in theory(pipeline)),
        *([html.P(left_out, className="ms-muted")] if left_out else []),
        *(html.P(span(one), className="ms-muted") for one in rest),
    ]


def bubble(pipeline: JobPipeline) -> list[Text]:
    """Return how long ranks wait for other stages, and how that is known."""
    known = [one for one in pipeline.times if one.source and one.total_ns > 0.0]
    if not known:
        wanted = "communication" if not any(one.communicates for one in pipeline.bands.values()) else "device_times"
        return [in_both("pipeline.no_bubble", files=_files("collectives" if wanted == "communication" else wanted))]
    if not any(one.bubble_ns > 0.0 for one in known):
        return [in_both("pipeline.no_pairs")]
    most = max(known, key=lambda one: (one.share, -one.rank))
    values = {
        "rank": most.rank, "time": milliseconds(most.bubble_ns), "total": milliseconds(most.total_ns),
        "most": fmt.percent(most.share),
    }  # fmt: skip
    if len(known) == 1:
        return [in_both("pipeline.head_one", source=in_both(f"pipeline.source.{most.source}"), **values)]
    share = fmt.percent(share_of(np.array([one.bubble_ns for one in known]), np.array([one.total_ns for one in known])))
    return [in_both("pipeline.head", share=share, source=in_both(f"pipeline.source.{_source(known)}"), **values)]


def _source(known: Sequence[RankTimes]) -> str:
    found = {one.source for one in known}
    return found.pop() if len(found) == 1 else "mixed" if AT_MOST in found else EXACT


def milliseconds(value: float) -> str:
    """Format ns as a duration."""
    return fmt.duration(value / 1e9)


def theory(pipeline: JobPipeline) -> list[Text]:
    """Return what the schedule that ran waits in theory, or why that is not known; nothing without a pipeline."""
    if pipeline.stage_count < 2:
        return []
    found = pipeline.micro_batches
    if not found.number:
        counts = set(found.counts.values())
        return [in_both("pipeline.m_differs", low=min(counts), high=max(counts)) if counts else in_both("pipeline.no_m")]
    schedule = pipeline.files.schedule if pipeline.files is not None else ""
    chunks = _chunks(found, schedule)
    if not chunks:
        return [in_both("pipeline.schedule", name=schedule)]
    values = {"p": pipeline.stage_count, "m": fmt.count(found.number), "source": in_both(f"pipeline.m_from.{found.source}")}
    share = fmt.percent(in_theory(pipeline.stage_count, found.number, chunks))
    return [in_both("pipeline.theory" if chunks == 1 else "pipeline.theory_interleaved", share=share, v=chunks, **values)]


def _chunks(found: MicroBatches, schedule: str) -> int:
    """Return how many parts of the model a rank runs in turn; 0 if the schedule is one whose bubble is not known.

    Marks are one for each part and micro batch, so they tell it where the number of micro batches is known otherwise.
    """
    name, counts = schedule.casefold(), set(found.counts.values())
    whole = len(counts) == 1 and found.source != "marks" and min(counts) % found.number == 0
    parts = min(counts) // found.number if whole else 0
    if _INTERLEAVED.search(name):
        return parts if parts > 1 else 0
    if name and not _PLAIN.search(name):
        return 0
    return max(parts, 1)


def stages(pipeline: JobPipeline) -> list[Text]:
    """Return what is not known of stages."""
    without = [rank for rank, stage in pipeline.stages.items() if stage < 0]
    if not pipeline.stage_count:
        return [in_both("pipeline.no_stages")] if pipeline.ranks else []
    if without:
        return [in_both("pipeline.some_no_stage", n=fmt.count(len(without)), ranks=_listed(without))]
    return [in_both("pipeline.one_stage")] if pipeline.stage_count == 1 else []


def marked(pipeline: JobPipeline) -> list[Text]:
    """Return what to say about the marks of forward and backward."""
    kinds = {kind for one in pipeline.bands.values() for kind in one.marks}
    if kinds.intersection(_MARKED):
        return [in_both("pipeline.marked")]
    if kinds:
        return [in_both("pipeline.marked_host")]
    return [in_both("pipeline.not_marked")] if any(one.computes for one in pipeline.bands.values()) else []


def missing(pipeline: JobPipeline) -> list[Text]:
    """Return the ranks of which no file tells computing or communication, with the names of such files."""
    found = []
    for key, frame, tells in (
        ("no_computing", "device_times", "computes"), ("no_communication", "collectives", "communicates"),
    ):  # fmt: skip
        own = {rank for rank, one in pipeline.bands.items() if getattr(one, tells)}
        without = [rank for rank in pipeline.ranks if rank not in own]
        # A job without any communication may have none: that of one rank, or without a pipeline.
        if without and (own or frame == "device_times" or len(pipeline.ranks) > 1):
            ranks = in_both("pipeline.of_rank" if len(without) == 1 else "pipeline.of_ranks", ranks=_listed(without))
            found.append(in_both(f"pipeline.{key}", ranks=ranks, files=_files(frame)))
    return found


def clocks(pipeline: JobPipeline) -> list[Text]:
    """Return how clocks differ, or that they are aligned; nothing for a single rank."""
    if len(pipeline.bands) < 2:
        return []
    found = pipeline.clocks
    if len(found.ahead) < 2:
        return [in_both("pipeline.clocks_unknown")]
    most = fmt.duration(found.differ / 1e9)
    said = []
    if pipeline.clocks_differ:
        said.append(in_both("pipeline.aligned" if pipeline.aligned else "pipeline.clocks", most=most))
    if found.sets > 1:
        said.append(in_both("pipeline.clock_sets", n=found.sets))
    return said


def _files(frame: str) -> str:
    return " / ".join(list(dict.fromkeys(map(display_name, KINDS[frame])))[:MOST_FILES])


def _listed(ranks: Sequence[int]) -> str:
    shown = text_of(ranks)
    return shown if len(shown) <= MOST_LISTED else f"{shown[:MOST_LISTED].rpartition(',')[0]}, …"
