"""Who is late, since when and why, as sentences with their numbers; and what was not checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.jobs.ranks_by_step import RanksByStep
from parsers.analysis.jobs.step_parts import mean
from parsers.analysis.jobs.stragglers import ALIKE, LIMITS, Straggler, moves_with
from parsers.cluster_frames import CLUSTER_STEPS, COLLECTIVES, GROUPS, LINKS
from parsers.deferred import pandas as pd

from layouts.kit import units as fmt
from layouts.kit.i18n import both, t

MOST_TOLD = 5
"""Ranks with a sentence of their own."""
MOST_ONCE = 4
"""Ranks named that were late in single steps."""
LEAST_STEPS = LIMITS.steps


def story(facts: RanksByStep, wanted: Mapping[str, Sequence[str]], second: RanksByStep | None) -> list[Any]:
    """Return the sentences. wanted are the files that would give a frame that is missing; second is another job."""
    missing = _missing(facts, wanted)
    if missing is not None:
        return [html.P(missing, className="ms-breakdown-sentence"), *_checked(facts, wanted, judged=False)]
    persistent = [one for one in facts.late if one.persistent]
    once = [one for one in facts.late if not one.persistent]
    found: list[Any] = []
    for place, one in enumerate(persistent[:MOST_TOLD]):
        found.append(html.P(_sentence(facts, one), className="ms-breakdown-sentence" if place == 0 else "ms-cluster-next"))
        found.append(html.P([_evidence(facts, one), " ", _show(one.rank)], className="ms-muted"))
        if second is not None:
            found.append(html.P(_moved(facts, one, second), className="ms-cluster-moved"))
    if len(persistent) > MOST_TOLD:
        found.append(html.P(t("cluster.more_late", n=fmt.count(len(persistent) - MOST_TOLD)), className="ms-muted"))
    few = _steps(facts) < LEAST_STEPS
    if not persistent and few and once:
        found.append(html.P(_once(once), className="ms-breakdown-sentence"))
        many = {"n": fmt.count(_steps(facts)), "least": fmt.count(LEAST_STEPS)}
        found.append(html.P(t("cluster.few_steps", **many), className="ms-muted"))
    elif not persistent:
        found.append(html.P(_nobody(facts, once), className="ms-breakdown-sentence"))
        if second is not None and any(one.persistent for one in second.late):
            other = next(one for one in second.late if one.persistent)
            found.append(html.P(t("cluster.second_only", rank=fmt.count(other.rank)), className="ms-cluster-moved"))
    if once and (persistent or not few):
        found.append(html.P(_once(once), className="ms-muted"))
    return [*found, *_checked(facts, wanted, judged=True)]


def _missing(facts: RanksByStep, wanted: Mapping[str, Sequence[str]]) -> Any:
    """Return why nobody was looked for; None if ranks were compared."""
    for name in (CLUSTER_STEPS.name, COLLECTIVES.name):
        if not len(facts.frame(name)):
            if name in facts.frames:
                return t("cluster.unchecked_none" if name == COLLECTIVES.name else "cluster.no_steps")
            return t("cluster.unchecked_file", files=" / ".join(wanted.get(name, ())[:3]))
    if not facts.judged:
        return t("cluster.unchecked_alike")
    if not bool(facts.frame(COLLECTIVES.name)["lateness_ns"].notna().any()):
        return t("cluster.unchecked_partly")
    return None


def _sentence(facts: RanksByStep, one: Straggler) -> Any:
    group, size = group_name(facts, one.group), _size(facts, one.group)
    key = f"cluster.late.{one.cause}{'_two' if one.between_two and one.cause in ('computing', 'host') else ''}"
    values = {
        "rank": fmt.count(one.rank), "where": _where(facts, one.rank), "group": group, "peers": fmt.count(size),
        "excess": time(one.excess_ns), "late": time(one.lateness_ns), "share": fmt.percent(one.share),
        "since": _step(one.since),
    }  # fmt: skip
    if one.cause == "link":
        link = next(link for link in facts.links if one.rank in (link.source, link.target))
        values |= {
            "link": f"{link.source}–{link.target}", "transport": link.transport, "slow": speed(link.bandwidth),
            "usual": speed(link.usual),
        }  # fmt: skip
    saved = both("cluster.saved", saved=time(one.saved_ns))
    return _spans(*(f"{text} {more}" for text, more in zip(both(key, **values), saved, strict=True)))


def _evidence(facts: RanksByStep, one: Straggler) -> Any:
    key = "cluster.evidence_two" if one.between_two else "cluster.evidence"
    return t(
        key, late=fmt.count(len(one.steps)), of=fmt.count(one.of), last=fmt.percent(one.last), z=f"{one.z:.1f}",
        peers=fmt.count(_size(facts, one.group)),
    )  # fmt: skip


def _show(rank: int) -> html.Button:
    """Return a button that picks a rank (assets/jobs/cluster/page.js)."""
    return html.Button(
        t("cluster.show", rank=fmt.count(rank)), type="button", className="ms-cluster-show", **{"data-pick": str(rank)}
    )


def _moved(facts: RanksByStep, one: Straggler, second: RanksByStep) -> Any:
    others = [other for other in second.late if other.persistent]
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


def _steps(facts: RanksByStep) -> int:
    """Return how many steps were judged."""
    return len(facts.steps.steps) if facts.whole_story else int(facts.frame(CLUSTER_STEPS.name)["step"].nunique())


def _nobody(facts: RanksByStep, once: Sequence[Straggler]) -> Any:
    """Say that nobody is slow, and how long the others waited for the rank that they waited for most."""
    steps = _steps(facts)
    judged = np.flatnonzero((facts.steps.session == facts.session) | facts.whole_story)
    waited, total = facts.extra["lateness"][:, judged], facts.steps.values["total"][:, judged]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.nan_to_num(waited / total)
        means = np.nan_to_num(mean(waited, 1) / mean(total, 1))
    values = {"n": fmt.count(steps), "least": fmt.count(LEAST_STEPS), "share": fmt.percent(LIMITS.lateness)}
    if shares.max(initial=0.0) < LIMITS.lateness:
        return t("cluster.few_steps_none" if steps < LEAST_STEPS else "cluster.nobody", **values)
    if means.max(initial=0.0) < LIMITS.lateness:
        row, column = np.unravel_index(int(shares.argmax()), shares.shape)
        most = {"late": time(float(waited[row, column])), "most": fmt.percent(float(shares[row, column]))}
        step = _step(int(facts.steps.steps[judged[column]]))
        own = {"rank": fmt.count(int(facts.steps.ranks[row])), "step": step}
        return t("cluster.nobody_persistent" if once else "cluster.nobody_most", **values, **most, **own)
    place = int(means.argmax())
    rank, late = int(facts.steps.ranks[place]), time(float(mean(waited, 1)[place]))
    return t("cluster.unexplained", rank=fmt.count(rank), where=_where(facts, rank), late=late, share=fmt.percent(means[place]))


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


def _size(facts: RanksByStep, group: str) -> int:
    rows = facts.frame(GROUPS.name)
    sizes = rows.loc[rows["group"] == group, "size"].tolist()
    return int(sizes[0]) if sizes else 0


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
