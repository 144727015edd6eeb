"""Keeps the graphs of the jobs that were asked about last, since several pages and routes ask about the same one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from parsers.analysis.jobs.replay.graph import JobGraph, Tell, graph_of, quietly
from parsers.analysis.jobs.replay.recording import NotJudged
from parsers.deferred import pandas as pd

REPLAYED = ("collectives", "cluster_steps", "groups", "device_times", "links")
"""The frames of a job of which a graph is made."""


class _ReplayedFrames(tuple[int, ...]):
    """Frames of a job, as a key by identity; it keeps them, so that no other frame gets their identity."""

    frames: Mapping[str, pd.DataFrame | None]
    tell: Tell


@lru_cache(maxsize=2)
def _graph(key: _ReplayedFrames) -> JobGraph | str:
    """Return the graph of a job, or the reason why there is none."""
    try:
        return graph_of(key.frames, key.tell)
    except NotJudged as reason:
        return str(reason)


def job_graph(frames: Mapping[str, pd.DataFrame | None], tell: Tell = quietly) -> JobGraph:
    """Return the graph of a job, from its frames by name. NotJudged if files tell too little. tell is that of `graph_of`."""
    key = _ReplayedFrames(id(frames.get(name)) for name in REPLAYED)
    key.frames = {name: frames.get(name) for name in REPLAYED}
    key.tell = tell
    found = _graph(key)
    key.tell = quietly  # what is kept must not keep who asked
    if isinstance(found, str):
        raise NotJudged(found)
    return found
