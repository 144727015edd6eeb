"""The page that shows what a step is about, with run, tag, step, rank, operator and tolerance chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from parsers.analysis.runs.probes.model import Finding, Where

from layouts.curves.insights import view
from layouts.runs.symptoms.model import SymptomQuestion
from layouts.runs.symptoms.probed import SourceRun
from layouts.sources import Sources

VALUES = ("histograms", "images", "tensors", "landscape")
DUMPS = ("first_cause", "debugger")
PROFILES = (
    "profile_overview", "timeline", "operators", "shapes", "steps", "memory", "preparation", "communication", "ranks",
    "cluster", "job", "pipeline", "strategy", "two_jobs", "advice",
)  # fmt: skip
Pairs = list[tuple[str, str]]


def place_of(source: Sources, run: SourceRun, step: SymptomQuestion, finding: Finding | None) -> tuple[str, Pairs]:
    """Return (page, state as pairs) that a step leads to; ("", []) for a step without a page."""
    where = finding.where if finding is not None else Where()
    page = step.page
    if page == "scalars":
        known = {*run.tags(), *run.series_of_ranks}
        if where.tags and known.isdisjoint(where.tags):  # a setting
            return "model_lineage", _shown(run)
        return page, _curves(source, run, finding, where)
    if page in VALUES:
        kinds = {"histograms": "histogram", "images": "image", "tensors": "tensor", "landscape": "landscape"}
        tag = where.tags[0] if where.tags else ""
        if tag and tag not in run.tags(kinds[page]):  # a probe that fell back on another kind of values
            page = next((one for one, kind in kinds.items() if tag in run.tags(kind)), "scalars")
        if page == "scalars":
            return page, _curves(source, run, finding, where)
        return page, [("run", _rank_run(run, where)), *_some(("tag", tag), ("step", where.step))]
    if page in DUMPS:
        of = [("run", run.dump_key), ("of", run.dump_key)]
        return page, [*of, *_some(("rank", where.rank), ("step", where.step), ("node", where.node))]
    if page == "two_dumps":
        other = run.other.dump_key if run.other is not None else ""
        of = [("run", run.dump_key), *_some(("run", other)), ("of", run.dump_key), *_some(("with", other))]
        place = ("step", where.step), ("with_step", where.step), ("node", where.node), ("tol", where.tolerance)
        return page, [*of, *_some(*place)]
    if page == "two_runs":
        other = run.asked.other
        return page, [("run", run.run), *_some(("run", other)), ("one", run.run), *_some(("other", other))]
    if page in PROFILES:
        return page, _profile(run, page, where)
    if page == "graph":
        own = ("of", run.run), ("graph", run.graph_name), ("node", where.node)
        if run.other is None or step.probe != "graphs_differ":
            return page, [("run", run.run), *_some(*own)]
        theirs = ("with", run.other.run), ("other", run.other.graph_name)
        return page, [("run", run.run), ("run", run.other.run), *_some(*own, *theirs)]
    if page == "dataset":
        of_starts = finding is not None and finding.rule == "pipeline_changed"  # the page compares these of a single run
        return page, [*([("run", run.run)] if of_starts else _shown(run)), *_some(("node", where.node))]
    return page, _shown(run) if page else []


def address(source: Sources, run: SourceRun, step: SymptomQuestion, finding: Finding | None) -> Mapping[str, Any]:
    """Return the attributes of the link of a step; {} for a step without a page."""
    page, state = place_of(source, run, step, finding)
    query = urlencode(state)
    path = "" if page == "runs" else page
    return {"href": f"{path or '.'}?{query}", "data-page": path, "data-query": query} if page else {}


def _shown(run: SourceRun) -> Pairs:
    return [("run", one) for one in dict.fromkeys((run.run, *run.asked.shown))]


def _some(*pairs: tuple[str, object]) -> Pairs:
    known = ((name, value) for name, value in pairs if value not in (None, ""))
    return [(name, f"{value:g}" if isinstance(value, float) else str(value)) for name, value in known]


def _rank_run(run: SourceRun, where: Where) -> str:
    return run.ranks[where.rank].run if where.rank is not None and where.rank in run.ranks else run.run


def _curves(source: Sources, run: SourceRun, finding: Finding | None, where: Where) -> Pairs:
    """The curves of a finding, zoomed to the steps around it."""
    of = _rank_run(run, where)
    pairs: Pairs = [("run", of), *(("tag", tag) for tag in where.tags)]
    insight = finding.by if finding is not None and hasattr(finding.by, "kind") and hasattr(finding.by, "place") else None
    if insight is not None:
        series = source.curves.recorded(of, insight.tag)
        return [*pairs, *([("zoom", f"{view(insight, series)}:{insight.tag}")] if series is not None else [])]
    if where.step is None:
        return pairs
    for tag in where.tags:
        series = source.curves.series(of, tag)
        if series is not None and series.step.size:
            first, last = int(series.step.min()), int(series.step.max())
            room = max(1, (last - first) // 20)
            pairs.append(("zoom", f"{max(first, where.step - room)},{min(last, where.step + room) + 1},,:{tag}"))
    return pairs


def _profile(run: SourceRun, page: str, where: Where) -> Pairs:
    choice = run.profile
    if choice is None:
        return [("run", run.run)]
    pairs: Pairs = [("run", choice.run), ("of", choice.run), ("session", choice.session), ("rank", str(choice.rank))]
    if page == "operators" and where.node:
        pairs.append(("q", where.node))
    if page == "shapes" and where.node:
        pairs.append(("op", where.node))
    if page == "cluster" and where.rank is not None:
        pairs.append(("picked", str(where.rank)))
    if page == "operators" and where.session:
        pairs.append(("with", f"{choice.run}|{where.session}|{choice.rank}"))
    other = run.before[1].profile if page in ("two_jobs", "timeline") and run.before is not None else None
    if other is not None:
        pairs += [("run", other.run)] if other.run != choice.run else []
        if page == "two_jobs":
            pairs.append(("with", f"{other.run}|{other.session}|{other.rank}"))
        else:
            beside = {"run": other.run, "session": other.session, "rank": str(other.rank)}
            pairs += [("also", urlencode(beside)), ("by", "difference")]
            if where.label:
                pairs += [("axis", "step"), ("at", where.label)]
    if page == "timeline" and where.span is not None:
        pairs.append(("range", f"{where.span[0]},{where.span[1]}"))
    return pairs
