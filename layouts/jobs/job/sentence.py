"""What limits a job, in words: one sentence, and a table of what was and what was not checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dash import html
from parsers.analysis.jobs.held_memory import held_by, held_bytes
from parsers.analysis.jobs.limiting import PARTS, LimitingFactors, LimitingPart
from parsers.analysis.jobs.slow_tests import LIMITS
from parsers.cluster_frames import JOB_FRAMES
from parsers.deferred import pandas as pd
from parsers.profiler.groups import text_of

from layouts.jobs.late_cause import HOST, late_cause
from layouts.jobs.warm_up import warm_up_said
from layouts.kit import units as fmt
from layouts.kit.i18n import t
from layouts.kit.tables import Cell, TableColumn, TableRow, table
from layouts.profiles.links import address
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

_SHOWN_ON = {
    "exposed": "communication", "free": "timeline", "slow_rank": "cluster", "bubble": "cluster", "memory": "memory",
}  # fmt: skip
Frames = Mapping[str, "pd.DataFrame | None"]


def head(source: ProfileSources, choice: ProfileChoice, limits: LimitingFactors, frames: Frames) -> list[Any]:
    """Return the sentence, the table of the parts and how they were computed."""
    members = source.profiles.members(choice.run, choice.session, choice.rank)
    places = {rank: (run, session, rank) for run, session, rank in members}
    found = {part.name for part in limits.parts}
    rows: list[Any] = _whole(limits)
    rows += [_row(part, places, limits.step_ns, first=part is limits.first) for part in limits.parts]
    rows += [_unchecked(name, limits.unchecked[name], source, choice, frames) for name in PARTS if name not in found]
    columns = [TableColumn(f"job.{name}") for name in ("part", "per_step", "share", "most_on")]
    drawn = table(columns, rows, class_name="ms-job-table ms-job-limits", scroll="ms-job-scroll")
    steps = frames.get("cluster_steps")
    said = html.P(_said(limits, source, choice), className="ms-job-sentence")
    parts: list[Any] = [said, *_why(limits, source, choice), drawn]
    if steps is not None and len(steps):
        own = steps[steps["kind"].astype("str") == "rank"]
        counted = own["step"].nunique() - (limits.warm_up is not None)
        numbers = {"ranks": fmt.count(own["rank"].nunique()), "steps": fmt.count(counted)}
        parts.append(html.P([t("job.mean", **numbers), *warm_up_said(limits.warm_up, "job.warm_up")], className="ms-muted"))
    return parts


def _said(limits: LimitingFactors, source: ProfileSources, choice: ProfileChoice) -> Any:
    first, step = limits.first, fmt.duration(limits.step_ns / 1e9)
    if first is None:
        if not limits.step_ns > 0.0:
            wanted = source.profiles.frame(choice.run, choice.session, choice.rank, "cluster_steps").wanted
            return t("job.says.unknown", wanted=wanted[0]) if wanted else t("job.says.unread")
        if math.isnan(limits.computing_ns):
            return t("job.says.no_parts", step=step)
        share = fmt.percent(limits.computing_ns / limits.step_ns)
        return t("job.says.nothing", step=step, time=fmt.duration(limits.computing_ns / 1e9), share=share)
    values: dict[str, Any] = {"step": step, "share": fmt.percent(first.share), "time": fmt.duration(first.ns / 1e9)}
    if first.name == "memory":
        return t("job.says.memory", rank=first.rank, share=fmt.percent(first.share))
    if first.straggler is not None:
        slow = first.straggler
        values |= {"since": slow.since, "ranks": text_of(slow.replica), "place": slow.place}
        return t(f"job.says.slow_{'replica_' if slow.replica else ''}{slow.cause}", rank=first.rank, **values)
    return t(f"job.says.{first.name}{'_at_most' if first.at_most else ''}", **values)


def _why(limits: LimitingFactors, source: ProfileSources, choice: ProfileChoice) -> list[Any]:
    """Return why the rank that limits the job is late, where its host is."""
    slow = limits.first.straggler if limits.first is not None else None
    why = late_cause(source, choice, slow.rank) if slow is not None and slow.cause == HOST else None
    return [why] if why is not None else []


def _whole(limits: LimitingFactors) -> list[Any]:
    """Return the rows of the step and of computing, which the parts are seen beside; none of what is not known."""
    times = {"step": limits.step_ns, "computing": limits.computing_ns}
    return [
        (t(f"job.part.{name}"), *(Cell(shown, class_name="ms-number") for shown in (
            fmt.duration(ns / 1e9), fmt.percent(ns / limits.step_ns), "",
        )))
        for name, ns in times.items() if ns > 0.0
    ]  # fmt: skip


def _row(part: LimitingPart, places: Mapping[int, tuple[str, str, int]], step_ns: float, *, first: bool) -> TableRow:
    if part.straggler is not None:  # what it costs is said above: as a part of the step it is what the others wait
        part = replace(part, ns=part.waited_ns, share=part.waited_ns / step_ns)
    time: Any = fmt.duration(part.ns / 1e9) if not math.isnan(part.ns) else ""
    if part.at_most and part.ns > 0.0:
        time = t("job.at_most", time=time)
    share: Any = fmt.percent(part.share) if not math.isnan(part.share) else ""
    if part.name == "memory":
        share = t("job.of_capacity", share=fmt.percent(part.share))
    elif part.name == "slow_rank" and part.rank < 0:
        time, share = t("job.none_found"), ""
    place = places.get(part.rank)
    link: Any = f"{part.rank}" if part.rank >= 0 else ""
    if place is not None:
        named = "job.because_of" if part.name == "slow_rank" else "profiling.rank_n"
        link = html.A(t(named, n=part.rank), **address(_SHOWN_ON[part.name], ProfileChoice(*place)))
    marked: dict[str, Any] = {"aria-current": "true"} if first else {}
    cells = [Cell(shown, class_name="ms-number") for shown in (time, share, link)]
    return TableRow((t(f"job.part.{part.name}"), *cells), props=marked)


def _unchecked(name: str, reason: str, source: ProfileSources, choice: ProfileChoice, frames: Frames) -> Sequence[Any]:
    said = t("job.unchecked.empty")
    if reason == "steps":
        steps = frames["cluster_steps"]
        number = 0 if steps is None else steps["step"].nunique()
        said = t("job.unchecked.steps", n=fmt.count(number), least=fmt.count(LIMITS.steps))
    elif reason == "capacity":
        ranks = frames["ranks"]
        assert ranks is not None
        held = held_bytes(ranks)
        most = int(held.argmax())
        key = f"job.unchecked.capacity_{held_by(ranks, most)}"
        said = t(key, size=fmt.size(int(held[most])), rank=int(ranks["rank"].iloc[most]))
    elif reason in JOB_FRAMES:
        found = source.profiles.frame(choice.run, choice.session, choice.rank, reason)
        wanted = _memory_files(name) or found.wanted
        if found.state in ("reading", "waiting"):
            said = t("job.unchecked.reading")
        elif name == "memory" and choice.of_torch(source):
            said = t("job.unchecked.torch_memory")
        elif wanted:
            said = t("job.unchecked.file", files=wanted[0])
    else:
        said = t(f"job.unchecked.{reason}")
    return t(f"job.part.{name}"), Cell(said, class_name="ms-muted", props={"colSpan": 3})


def _memory_files(name: str) -> tuple[str, ...]:
    """Return the files that tell memory: the frame of ranks is made of many files, most of which say nothing of it."""
    return ("memory_record.csv",) if name == "memory" else ()
