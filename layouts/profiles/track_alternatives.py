"""The text alternative of a timeline: how much it has, and the tracks with most slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import MOST_NAMED, alternative, in_both, listed, named
from layouts.kit.i18n import Text, both, define_texts

define_texts({
    "tracks.of": (
        "{slices} slices on {tracks} tracks over {time}, {steps} steps",
        "{tracks} 条轨道上的 {slices} 个切片，时长 {time}，{steps} 个步骤",
    ),
    "tracks.most": ("Tracks with most slices", "切片最多的轨道"),
})  # fmt: skip


def of_tracks(tracks: Sequence[Mapping[str, Any]], slices: int, duration_ns: int, steps: int) -> Text:
    """Return the alternative of the tracks of a timeline: each with process, thread and number of slices."""
    values = {
        "slices": fmt.count(slices), "tracks": fmt.count(len(tracks)), "time": fmt.duration(duration_ns / 1e9),
        "steps": fmt.count(steps),
    }  # fmt: skip
    most = sorted(tracks, key=lambda track: -track["slices"])[:MOST_NAMED]
    some = [named(in_both(" ".join(filter(None, (one["process"], one["thread"])))), fmt.count(one["slices"])) for one in most]
    return alternative(both("tracks.of", **values), named(both("tracks.most"), listed(some, len(tracks))) if some else None)
