"""The picked rank: where it is, its times beside those of its group, and links to it on other pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.jobs.ranks_by_step import OF_OPERATIONS, RanksByStep, members_of, rank_values
from parsers.cluster_frames import GROUPS
from parsers.deferred import pandas as pd
from parsers.model import Floats
from parsers.profiler.groups import ranks_of

from layouts.jobs.cluster.asks import OF_RANKS, ClusterRequest
from layouts.jobs.cluster.metric_texts import text_of
from layouts.jobs.cluster.story import group_name
from layouts.kit import units as fmt
from layouts.kit.elements import icon_button
from layouts.kit.i18n import CATALOGUE, t
from layouts.kit.tables import TableColumn, table
from layouts.profiles.links import address
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "profile_overview": ("steps", "operators", "operator_types", "kernels"),
    "steps": ("steps",),
    "operators": ("operators", "operator_types", "kernels"),
    "timeline": ("trace",),
    "memory": ("memory", "operator_memory", "static_memory", "module_memory"),
    "communication": ("collectives", "links"),
    "advice": ("steps", "operators", "kernels"),
}
"""Pages on which a rank can be opened, and the frames any of which it needs there."""


_EQUAL = 5e-4
"""Relative difference below which two values are shown as equal."""


def panel(
    source: ProfileSources, ask: ClusterRequest, facts: RanksByStep, hosts: Sequence[str], ranks: pd.DataFrame | None
) -> list[Any]:
    """Return the panel of the picked rank; nothing if none is picked."""
    if ask.picked is None:
        return []
    close = icon_button("close", "cluster.close", **{"data-act": "close"})
    head = [html.H3(t("cluster.rank_n", n=fmt.count(ask.picked)), className="ms-card-title")]
    place = np.flatnonzero(facts.steps.ranks == ask.picked)
    if not len(place):
        absent = html.P(t("cluster.panel.absent", n=fmt.count(ask.picked)), className="ms-muted ms-cluster-body")
        return [html.Header([*head, html.Span(className="ms-grow"), close], className="ms-card-head"), absent]
    at = int(place[0])
    head += [html.Span(text, className="ms-badge") for text in _where(facts, at, hosts, ranks)]
    group = _peers(facts, ask.picked, ask.group)
    peers = np.isin(facts.steps.ranks, members_of(facts, group)) if group else np.ones(len(facts.steps.ranks), np.bool_)
    among = t("cluster.panel.among", n=fmt.count(int(peers.sum())), group=group_name(facts, group)) if group else t(
        "cluster.panel.among_all", n=fmt.count(int(peers.sum()))
    )
    return [
        html.Header([*head, html.Span(className="ms-grow"), close], className="ms-card-head"),
        html.Div(
            [_links(source, ask), _table(facts, ask, ranks, at, peers), html.P(among, className="ms-muted ms-cluster-note")],
            className="ms-cluster-body",
        ),
    ]


def _where(facts: RanksByStep, at: int, hosts: Sequence[str], ranks: pd.DataFrame | None) -> list[Any]:
    dp, pp, tp = (int(one[at]) for one in facts.places())
    found: list[Any] = [hosts[at]] if hosts[at] else []
    rank = int(facts.steps.ranks[at])
    if ranks is not None:
        own = ranks[ranks["rank"] == rank]
        if len(own) and int(own["device"].iloc[0]) >= 0:
            found.append(t("cluster.panel.device", n=fmt.count(int(own["device"].iloc[0]))))
        if len(own) and str(own["chip"].iloc[0]):
            found.append(str(own["chip"].iloc[0]))
    return [*found, *(f"{name} {value}" for name, value in (("dp", dp), ("pp", pp), ("tp", tp)) if value >= 0)]


def _peers(facts: RanksByStep, rank: int, chosen: str) -> str:
    """Return the group that a rank is compared with: the chosen one, else the largest of those whose ranks do the same work."""
    if rank in members_of(facts, chosen):
        return chosen
    groups = facts.frame(GROUPS.name)
    texts = dict(zip(groups["group"].tolist(), groups["ranks"].tolist(), strict=True))
    best, size = "", 1
    for group in facts.judged:
        members = ranks_of(str(texts[group]))
        if rank in members and len(members) > size:
            best, size = group, len(members)
    return best


def _links(source: ProfileSources, ask: ClusterRequest) -> Any:
    own = next((one for one in source.profiles.members(*_key(ask.choice)) if one[2] == ask.picked), None)
    if own is None:
        return html.P(t("cluster.panel.no_files"), className="ms-muted")
    row = next((row for row in source.profiles.rows(own[0]) if (row.session, row.rank) == own[1:]), None)
    frames = set(row.frames) if row is not None else set()
    links = [
        html.A(t(f"{page}.title"), className="ms-button", **address(page, ProfileChoice(*own)))
        for page, needed in ELSEWHERE.items()
        if f"{page}.title" in CATALOGUE and frames.intersection(needed)
    ]
    return html.Nav([html.Span(t("cluster.panel.open"), className="ms-muted"), *links], className="ms-cluster-links")


def _key(choice: ProfileChoice) -> tuple[str, str, int]:
    return choice.run, choice.session, choice.rank


def _table(facts: RanksByStep, ask: ClusterRequest, ranks: pd.DataFrame | None, at: int, peers: Any) -> Any:
    rows = []
    of_ranks = OF_RANKS if ranks is not None else ()
    for metric in (*facts.steps.metrics, *OF_OPERATIONS, *of_ranks):
        values = _values(facts, metric, ask.step, ranks)
        value, known = float(values[at]), values[peers & np.isfinite(values)]
        if value != value or not values[np.isfinite(values)].any():
            continue
        median = float(np.median(known)) if len(known) else float("nan")
        change = value - median
        change = 0.0 if abs(change) < _EQUAL * abs(median) else change
        share = f" ({fmt.percent(change / median, signed=True)})" if median > 0.0 and change else ""
        sign = "+" if change > 0 else "−" if change < 0 else ""
        cells = [
            text_of(metric, value), text_of(metric, median), f"{sign}{text_of(metric, abs(change)) or '0'}{share}",
            f"{int((known > value).sum()) + 1} / {fmt.count(len(known))}",
        ]  # fmt: skip
        rows.append((t(f"cluster.metric.{metric}"), *cells))
    columns = [TableColumn("cluster.panel.metric")]
    columns += [TableColumn(f"cluster.panel.{name}", number=True) for name in ("value", "median", "change", "place")]
    return table(columns, rows, class_name="ms-breakdown-table ms-cluster-table", scroll="ms-cluster-scroll")


def _values(facts: RanksByStep, metric: str, step: int | None, ranks: pd.DataFrame | None) -> Floats:
    if metric in OF_RANKS:
        return rank_values(ranks, facts.steps.ranks, metric) if ranks is not None else np.full(len(facts.steps.ranks), np.nan)
    return facts.values(metric, step)
