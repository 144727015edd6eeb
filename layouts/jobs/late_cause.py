"""Why a rank is late whose host is: the call that keeps its device idle longest, for Cluster and Job overview.

The call is the one that Advice and the profile overview name: it comes from the idle time of the rank's trace, which is known
once its timeline has been opened. A small trace is read for it.
"""

from __future__ import annotations

from typing import Any

from dash import html
from parsers.analysis.jobs.advice import called
from parsers.analysis.jobs.advice.host import LATE

from layouts.kit import units as fmt
from layouts.kit.i18n import define_texts, t
from layouts.profiles.frames import IdleTime
from layouts.profiles.idling import idle_time
from layouts.profiles.links import address, range_on_timeline
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

HOST = "host"
"""Cause of a slow rank (`parsers.analysis.jobs.stragglers.Straggler`) whose device is idle longer than those of its peers."""

SMALL = 64 << 20
"""Bytes of a trace that is read without being asked for: some seconds of one processor."""

define_texts({
    "late_cause.call": (
        "Of the host of rank {rank}, this call keeps the device idle longest, {time} per step:",
        "rank {rank} 主机侧使设备空闲最久的调用（平均每步 {time}）：",
    ),
    "late_cause.unread": (
        "The timeline of rank {rank} names the call of its host; it is not read yet.",
        "rank {rank} 的时间线可给出主机侧的调用，尚未读取。",
    ),
    "late_cause.reading": (
        "The timeline of rank {rank} names the call of its host; it is being read …",
        "rank {rank} 的时间线可给出主机侧的调用，正在读取…",
    ),
    "late_cause.timeline": "common.open_the_timeline",
    "late_cause.advice": ("All advice about rank {rank}", "rank {rank} 的全部调优建议"),
})


def late_cause(source: ProfileSources, choice: ProfileChoice, rank: int) -> html.P | None:
    """Return the call of the host that makes a rank of the job of a profile late, with links; None without its trace."""
    place = _place(source, choice, rank)
    found = idle_time(source, place) if place is not None else None
    if place is None or found is None or found.state in ("missing", "none"):
        return None
    number = fmt.count(rank)
    advice = html.A(t("late_cause.advice", rank=number), **address("advice", place))
    idle = found.idle
    if idle is None:
        opened = html.A(t("late_cause.timeline"), **address("timeline", place, by="gaps"))
        said = "late_cause.reading" if _is_read(source, place, found) else "late_cause.unread"
        return _line(t(said, rank=number), opened, advice)
    calls = idle.calls[idle.calls["cause"].isin(LATE)]
    if calls.empty:
        return None
    first = calls.iloc[0]
    link = html.A(
        called(str(first["site"]), str(first["name"])), className="ms-mono",
        title=f"{first['site']}\n{first['name']}".strip(),
        **range_on_timeline(place, int(first["start_ns"]), int(first["duration_ns"]), by="gaps", stream=idle.track),
    )  # fmt: skip
    time = fmt.duration(float(first["idle_ns"]) / len(idle.steps) / 1e9)
    return _line(t("late_cause.call", rank=number, time=time), link, advice)


def cause_is_read(source: ProfileSources, choice: ProfileChoice, rank: int) -> bool:
    """Return whether the call that makes a rank late is known in a moment, so that it is worth asking again."""
    place = _place(source, choice, rank)
    return place is not None and idle_time(source, place).state == "reading"


def _place(source: ProfileSources, choice: ProfileChoice, rank: int) -> ProfileChoice | None:
    """Return the profile of a rank of the job of another one; None if it has none."""
    members = source.profiles.members(choice.run, choice.session, choice.rank)
    return next((ProfileChoice(*member) for member in members if member[2] == rank), None)


def _is_read(source: ProfileSources, place: ProfileChoice, found: IdleTime) -> bool:
    """Return whether a trace is being read; a small one that was not is from now on."""
    if found.state == "unread" and 0 < found.size <= SMALL:
        return source.profiles.trace_frame(place.run, place.session, place.rank).state in ("waiting", "reading", "ready")
    return found.state == "reading"


def _line(said: Any, *links: html.A) -> html.P:
    shown = [part for place, link in enumerate(links) for part in (" · " if place else " ", link)]
    return html.P([said, *shown], className="ms-late-cause")
