"""Advice from all ranks of a job: a slow rank, a slow link, a pipeline bubble, exposed communication and free time by rank."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from parsers.analysis.jobs.advice.model import MOST_ROWS, Advice, Frames, Told, Unchecked, frame_of, needed
from parsers.analysis.jobs.bubble import bubbles, without_pipeline
from parsers.analysis.jobs.links import LEAST_PEERS, Z, slow_links, totals
from parsers.analysis.jobs.slow_tests import LIMITS
from parsers.analysis.jobs.stragglers import Straggler
from parsers.analysis.jobs.transfer import parts_per_step
from parsers.analysis.jobs.who_is_slow import who_is_slow
from parsers.deferred import pandas as pd
from parsers.profiler.groups import text_of

STEP_FILES = ("step_trace_time", "analysis", "cluster_steps", "cluster_database", "cluster_analyse")
OPERATION_FILES = ("communication", "analysis", "database", "cluster_communication", "cluster_database")
LINK_FILES = ("communication_matrix", "analysis", "cluster_matrix", "cluster_database", "hccl_raw")
_LEAST_LINK_BYTES = 1_000_000


def slow_rank(frames: Frames, limit: float) -> Advice | None:
    """A rank or replica is above its peers by at least this fraction of a step, and others wait (`who_is_slow`).

    Cost: what a step would save if it were as fast as the median of its peers.
    """
    found = who_is_slow(frames, dataclasses.replace(LIMITS, excess=limit))
    if found.reason in ("cluster_steps", "collectives"):
        raise Unchecked(*(STEP_FILES if found.reason == "cluster_steps" else OPERATION_FILES))
    if found.reason:
        raise Unchecked(reason={"no_waits": "no_group", "steps": "slow_steps"}.get(found.reason, found.reason))
    if not found.slow:
        return None
    groups = frames["groups"]
    assert groups is not None
    names = dict(zip(groups["group"].astype("str"), groups["ranks"].astype("str"), strict=True))
    shown = pd.DataFrame([
        {
            "rank": one.rank, "group_kind": one.kind, "group_ranks": names.get(one.group, ""), "why": one.cause,
            "lateness_ns": one.lateness_ns, "late_share": one.share, "excess_ns": one.excess_ns, "saved_ns": one.saved_ns,
            "last_share": one.last, "late_steps": len(one.steps), "of_steps": one.of, "since": one.since,
        }
        for one in found.slow[:MOST_ROWS]
    ])  # fmt: skip
    first = found.slow[0]
    variant = f"replica_{first.cause}" if first.replica else first.cause
    return Advice(
        "slow_rank", first.excess_share, limit, first.saved_ns, shown, "cluster", (str(first.rank),), variant=variant,
        told=_told(first, names),
    )  # fmt: skip


def _told(one: Straggler, names: Mapping[str, str]) -> Told:
    ranks = names.get(one.group, "")
    return {
        "rank": str(one.rank), "kind": f"{one.kind} {ranks}".strip() or one.group, "peers": str(one.peers),
        "ranks": text_of(one.replica), "place": str(one.place), "lateness_ns": one.lateness_ns, "late_share": one.share,
        "excess_ns": one.excess_ns, "saved_ns": one.saved_ns, "last_share": one.last, "since": str(one.since),
        "steps": str(len(one.steps)), "of": str(one.of),
    }  # fmt: skip


def slow_link(frames: Frames, limit: float) -> Advice | None:
    """A link has less than this fraction of the median bandwidth of its transport (`parsers.analysis.jobs.links`).

    Cost: what its transfers take longer in a step than at the usual bandwidth, of the link that loses most.
    """
    links = needed(frames, "links", *LINK_FILES)
    judged = totals(links)
    judged = judged[judged["size_bytes"] >= _LEAST_LINK_BYTES]
    if judged.empty or judged.groupby("transport", observed=True).size().max() < LEAST_PEERS:
        raise Unchecked(reason="few_links")
    found = slow_links(links, share=limit, z=Z, least_bytes=_LEAST_LINK_BYTES)
    if not found:
        return None
    number = max(int(links["step"].nunique()), 1)
    found = sorted(found, key=lambda one: -one.lost_ns)
    shown = pd.DataFrame([
        {
            "source": one.source, "target": one.target, "transport": one.transport, "size_bytes": one.size_bytes,
            "bandwidth": one.bandwidth, "usual_bandwidth": one.usual, "link_share": one.share,
            "lost_ns": one.lost_ns / number,
        }
        for one in found[:MOST_ROWS]
    ])  # fmt: skip
    first = found[0]
    told: Told = {
        "source": str(first.source), "target": str(first.target), "transport": first.transport, "bandwidth": first.bandwidth,
        "usual_bandwidth": first.usual, "link_share": first.share, "links": str(len(found)),
    }  # fmt: skip
    subject = (f"{first.source}-{first.target}",)
    return Advice("slow_link", first.share, limit, first.lost_ns / number, shown, "communication", subject, told=told)


def bubble(frames: Frames, limit: float) -> Advice | None:
    """Ranks of a stage wait for other stages for more than this fraction of a step (`parsers.analysis.jobs.bubble`)."""
    steps = needed(frames, "cluster_steps", *STEP_FILES)
    rows = steps[(steps["kind"].astype("str") == "rank") & steps["own_bubble_ns"].notna() & (steps["total_ns"] > 0.0)]
    if rows.empty:
        raise Unchecked(*OPERATION_FILES)
    if rows["rank"].nunique() < 2:
        raise Unchecked(reason="one_rank")
    found = [one for one in bubbles(steps, least=limit) if one.share > limit]
    if not found:
        if without_pipeline(rows):
            raise Unchecked(reason="no_stages")
        return None
    shown = _means(rows, ["pp", "rank"], ["own_bubble_ns", "exposed_ns", "total_ns"])
    shown["bubble_share"] = shown["own_bubble_ns"] / shown["total_ns"]
    shown = shown.sort_values("own_bubble_ns", ascending=False, kind="stable").rename(columns={"pp": "stage"}).head(MOST_ROWS)
    first = found[0]
    told: Told = {"rank": str(first.rank), "stage": str(first.stage), "waited_ns": first.waited_ns, "bubble_share": first.share}
    variant = ("said" if first.exact else "at_most") + ("" if first.stage >= 0 else "_unknown")
    return Advice("bubble", first.share, limit, first.waited_ns, shown, "cluster", variant=variant, told=told)


def _means(rows: pd.DataFrame, keys: list[str], names: list[str]) -> pd.DataFrame:
    """Return the mean of columns over steps, for each of the keys."""
    return rows.groupby(keys, sort=True)[names].mean().reset_index()


def over_ranks(frames: Frames, rule: str, part: str, limit: float) -> Advice | None:
    """Return the advice that a part of the step takes more than this fraction of it in a rank of the job.

    LookupError unless several ranks tell of it. Cost, unless a replay tells it: by how much the longest step would be shorter
    if no rank had any of it.
    Exposed communication is without the bubble, which is an advice of its own.
    """
    steps = frame_of(frames, "cluster_steps")
    if steps is None:
        raise LookupError
    rows = steps[(steps["kind"].astype("str") == "rank") & (steps["total_ns"] > 0.0) & steps[part].notna()]
    if rows["rank"].nunique() < 2:
        raise LookupError
    if part == "exposed_ns" and "own_bubble_ns" in rows:
        rows = rows.assign(exposed_ns=(rows["exposed_ns"] - rows["own_bubble_ns"].fillna(0.0)).clip(lower=0.0))
    others = ["computing_ns", "overlapped_ns"] if part == "exposed_ns" else ["computing_ns", "exposed_ns"]
    ranks = _means(rows, ["rank"], [part, *others, "total_ns"])
    ranks["part_share"] = ranks[part] / ranks["total_ns"]
    above = ranks[ranks["part_share"] > limit]
    if above.empty:
        return None
    shown = above.sort_values("part_share", ascending=False, kind="stable").head(MOST_ROWS)
    saved = float(ranks["total_ns"].max() - (ranks["total_ns"] - ranks[part]).max())
    first = shown.iloc[0]
    told: Told = {
        "rank": str(int(first["rank"])), "part_share": float(first["part_share"]), "part_ns": float(first[part]),
        "ranks": str(len(above)), "of": str(len(ranks)), "least_share": float(ranks["part_share"].min()),
    }  # fmt: skip
    collectives = frame_of(frames, "collectives") if part == "exposed_ns" else None
    parts = parts_per_step(collectives, frame_of(frames, "links")) if collectives is not None else {}
    value = float(first["part_share"])
    return Advice(rule, value, limit, saved, shown, "cluster", parts_ns=parts, variant="ranks", told=told)
