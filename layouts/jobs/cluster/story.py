"""Who is late, since when and why, as sentences with their numbers; and what was not checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.jobs.peers import ALIKE
from parsers.analysis.jobs.ranks_by_step import RanksByStep
from parsers.analysis.jobs.slow_tests import LIMITS
from parsers.analysis.jobs.step_parts import mean
from parsers.analysis.jobs.stragglers import Straggler, moves_with
from parsers.cluster_frames import COLLECTIVES, GROUPS, LINKS
from parsers.deferred import pandas as pd
from parsers.profiler.groups import text_of

from layouts.jobs.late_cause import HOST
from layouts.kit import units as fmt
from layouts.kit.i18n import both, t

MOST_TOLD = 5
"""Ranks with a sentence of their own."""
MOST_ONCE = 4
"""Ranks named that were late in single steps."""
_FRAMES = ("cluster_steps", "collectives")
Reason = Callable[[int], Any]
"""Rank whose host is late -> the component that says why, or None."""


def story(
    facts: RanksByStep, wanted: Mapping[str, Sequence[str]], second: RanksByStep | None, reason: Reason
) -> list[Any]:  # fmt: skip
    """Return the sentences. wanted are the files that would give a frame that is missing; second is another job."""
    missing = _missing(facts, wanted)
    if missing is not None:
        return [html.P(missing, className="ms-breakdown-sentence"), *_checked(facts, wanted, judged=False)]
    slow, once = facts.slow.slow, [*facts.slow.once]
    found: list[Any] = []
    for place, one in enumerate(slow[:MOST_TOLD]):
        found.append(html.P(_sentence(facts, one), className="ms-breakdown-sentence" if place == 0 else "ms-cluster-next"))
        why = reason(one.rank) if one.cause == HOST else None
        found += [why] if why is not None else []
        found.append(html.P([_evidence(one), " ", _show(one.rank)], className="ms-muted"))
        if second is not None:
            found.append(html.P(_moved(facts, one, second), className="ms-cluster-moved"))
    if len(slow) > MOST_TOLD:
        found.append(html.P(t("cluster.more_late", n=fmt.count(len(slow) - MOST_TOLD)), className="ms-muted"))
    if not slow:
        first, once = _nobody(facts, once)
        found += [html.P(text, className="ms-breakdown-sentence") for text in first]
        if second is not None and second.slow.slow:
            other = second.slow.slow[0]
            found.append(html.P(t("cluster.second_only", rank=fmt.count(other.rank)), className="ms-cluster-moved"))
    if once:
        found.append(html.P(_once(once), className="ms-muted"))
    return [*found, *_checked(facts, wanted, judged=True)]


def _missing(facts: RanksByStep, wanted: Mapping[str, Sequence[str]]) -> Any:
    """Return why nobody was looked for; None if ranks were compared."""
    reason = facts.slow.reason
    if reason in _FRAMES:
        if reason in facts.frames:
            return t("cluster.unchecked_none" if reason == COLLECTIVES.name else "cluster.no_steps")
        return t("cluster.unchecked_file", files=" / ".join(wanted.get(reason, ())[:3]))
    if reason in ("one_rank", "no_group"):
        return t("cluster.unchecked_alike")
    return t("cluster.unchecked_partly") if reason == "no_waits" else None


def _sentence(facts: RanksByStep, one: Straggler) -> Any:
    values = {
        "rank": fmt.count(one.rank), "where": _where(facts, one.rank), "group": group_name(facts, one.group),
        "others": fmt.count(one.peers - 1), "excess": time(one.excess_ns), "late": time(one.lateness_ns),
        "share": fmt.percent(one.share), "since": _step(one.since), "ranks": text_of(one.replica), "place": one.place,
    }  # fmt: skip
    if one.cause == "link":
        link = next(link for link in facts.links if one.rank in (link.source, link.target))
        values |= {
            "link": f"{link.source}–{link.target}", "transport": link.transport, "slow": speed(link.bandwidth),
            "usual": speed(link.usual),
        }  # fmt: skip
    saved = both("cluster.saved", saved=time(one.saved_ns))
    key = f"cluster.late.{'replica_' if one.replica else ''}{one.cause}"
    return _spans(*(f"{text} {more}" for text, more in zip(both(key, **values), saved, strict=True)))


def _evidence(one: Straggler) -> Any:
    key = "cluster.evidence_two" if one.between_two else "cluster.evidence"
    return t(
        key, late=fmt.count(len(one.steps)), of=fmt.count(one.of), last=fmt.percent(one.last), z=f"{one.z:.1f}",
        peers=fmt.count(one.peers), often=fmt.percent(LIMITS.often), least_z=f"{LIMITS.spreads:.1f}",
        excess=fmt.percent(LIMITS.excess),
    )  # fmt: skip


def _show(rank: int) -> html.Button:
    """Return a button that picks a rank (assets/jobs/cluster/page.js)."""
    return html.Button(
        t("cluster.show", rank=fmt.count(rank)), type="button", className="ms-cluster-show", **{"data-pick": str(rank)}
    )


def _moved(facts: RanksByStep, one: Straggler, second: RanksByStep) -> Any:
    others = second.slow.slow
    if not others:
        return t("cluster.moved.nobody", rank=fmt.count(one.rank))
    hosts = (facts.hosts, second.hosts)
    answers = [(moves_with(one, other, hosts), other) for other in others]
    for wanted in ("both", "rank", "host"):
        for answer, other in answers:
            if answer == wanted:
                same_unknown = wanted == "rank" and not (hosts[0].get(one.rank) and hosts[1].get(other.rank))
                key = "rank_unknown" if same_unknown else wanted
                return t(
                    f"cluster.moved.{key}", rank=fmt.count(one.rank), other=fmt.count(other.rank),
                    host=hosts[0].get(one.rank, ""), host2=hosts[1].get(other.rank, ""), late=time(other.lateness_ns),
                )  # fmt: skip
    return t("cluster.moved.other", rank=fmt.count(one.rank), other=fmt.count(others[0].rank), late=time(others[0].lateness_ns))


def _nobody(facts: RanksByStep, once: list[Straggler]) -> tuple[list[Any], list[Straggler]]:
    """Return the sentences that nobody is slow or was judged, and the rank waited for most; and the others of `once`."""
    steps = fmt.count(facts.slow.steps)
    if facts.slow.reason:
        return [t("cluster.few_steps", n=steps, least=fmt.count(LIMITS.steps))], once
    found = [t("cluster.nobody", n=steps, excess=fmt.percent(LIMITS.excess), often=fmt.percent(LIMITS.often))]
    judged = np.flatnonzero((facts.steps.session == facts.session) | facts.whole_story)
    waited, total = (mean(table[:, judged], 1) for table in (facts.extra["lateness"], facts.steps.values["total"]))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.nan_to_num(waited / total)
    place = int(means.argmax()) if len(means) else 0
    rank = int(facts.steps.ranks[place]) if len(means) else -1
    named = next((one for one in once if one.rank == rank), None)
    if named is None or means[place] < LIMITS.once:
        return found, once
    values = {"where": _where(facts, rank), "late": time(float(waited[place])), "share": fmt.percent(float(means[place]))}
    found.append(t(f"cluster.most.{named.cause}", rank=fmt.count(rank), **values))
    return found, [one for one in once if one is not named]


def _once(once: Sequence[Straggler]) -> Any:
    texts: list[str] = []
    for number in range(2):
        parts = []
        for one in once[:MOST_ONCE]:
            steps = [step for step in one.steps if step >= 0]
            key = "cluster.once_one" if not steps else "cluster.once_step" if len(one.steps) == 1 else "cluster.once_steps"
            why = both(f"cluster.why.{one.cause}")[number]
            values = {
                "rank": fmt.count(one.rank), "step": fmt.count(one.steps[0]), "n": fmt.count(len(one.steps)),
                "late": time(one.lateness_ns), "share": fmt.percent(one.share), "why": why,
            }  # fmt: skip
            parts.append(both(key, **values)[number])
        left = len(once) - len(parts)
        more = both("cluster.once_more", n=fmt.count(left))[number] if left > 0 else ""
        joint = both("cluster.joint")[number]
        texts.append(both("cluster.once", parts=joint.join(parts) + more)[number])
    return _spans(texts[0], texts[1])


def _checked(facts: RanksByStep, wanted: Mapping[str, Sequence[str]], *, judged: bool) -> list[Any]:
    """Return what was looked at, and what was not. judged is whether ranks were compared."""
    groups = facts.frame(GROUPS.name)
    found: list[Any] = []
    if judged:
        kinds = groups.loc[groups["group"].isin(facts.judged), "kind"].astype("str")
        named = ", ".join(sorted(set(kinds) - {""}))
        key = "cluster.checked" if named else "cluster.checked_unknown"
        found.append(t(key, n=fmt.count(len(facts.judged)), kinds=named))
    others = sorted(set(groups["kind"].astype("str")) - {""} - set(ALIKE))
    if others:
        found.append(t("cluster.not_judged", kinds=", ".join(others)))
    if LINKS.name not in facts.frames:
        found.append(t("cluster.unchecked_links", files=" / ".join(wanted.get(LINKS.name, ())[:2])))
    if facts.doubled:
        found.append(t("cluster.doubled", n=fmt.count(facts.doubled)))
    if len(facts.sessions) > 1:
        found.append(t("cluster.joined" if facts.whole_story else "cluster.not_joined", n=fmt.count(len(facts.sessions))))
    items = [item for one in found for item in (one, " ")]
    return [html.P(items[:-1], className="ms-muted ms-cluster-checked")] if found else []


def group_name(facts: RanksByStep, group: str) -> str:
    """Return what to call a group: its kind and ranks, else its hash."""
    rows = facts.frame(GROUPS.name)
    own: pd.DataFrame = rows[rows["group"] == group]
    if own.empty:
        return group
    first = own.iloc[0]
    return f"{first['kind'] or first['name'] or group} {first['ranks']}".strip()


def _where(facts: RanksByStep, rank: int) -> str:
    host = facts.hosts.get(rank, "")
    return f" ({host})" if host else ""


def _step(step: int) -> str:
    return fmt.count(step) if step >= 0 else "1"


def time(ns: float) -> str:
    """Format ns as a duration."""
    return fmt.duration(ns / 1e9)


def speed(bandwidth: float) -> str:
    """Format bytes per second as GB/s of 10^9, the unit of communication files."""
    return fmt.rate(bandwidth, "B")


def _spans(english: str, chinese: str) -> html.Span:
    return html.Span(
        [html.Span(english, className="en", lang="en"), html.Span(chinese, className="zh", lang="zh-CN")], className="t"
    )
