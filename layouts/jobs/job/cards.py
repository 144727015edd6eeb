"""The cards of the job overview: frames of the job in, components out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from dash import html
from parsers import Problem
from parsers.analysis.jobs.clocks import clock_offsets
from parsers.analysis.jobs.coverage import common_steps
from parsers.deferred import pandas as pd
from parsers.profiler.groups import ranks_of, text_of
from parsers.profiler.jobs import JobFiles

from layouts.kit import units as fmt
from layouts.kit.elements import card, scrolled
from layouts.kit.i18n import t
from layouts.kit.tables import COUNT, SIGNED_NS, TableColumn, first_of, table

MOST_ROWS = 200
"""Rows of a table; below it is said how many more there are."""
MOST_GROUPS = 24
"""Groups that are listed one by one; more are summed up by kind and size."""
MOST_RANGES = 6
MOST_CLOCKS = 12
_FILE, _HOST = TableColumn("job.files.file", class_name="ms-mono"), TableColumn("job.host", class_name="ms-mono")
_KIND, _DOES, _NUMBER = TableColumn("job.kind"), TableColumn("job.does"), TableColumn("job.number", COUNT)
_HAVING, _LACKING, _OF_RANKS = TableColumn("job.files.number", COUNT), TableColumn("job.steps.lacking"), TableColumn(
    "job.of_ranks"
)
_NAME = TableColumn("job.name", class_name="ms-mono ms-cut")


def files_card(lacking: Sequence[Sequence[Any]]) -> list[Any]:
    """Files that some ranks have and others lack, as `members` returns them."""
    if not lacking:
        return [_card("job.files", html.P(t("job.files.same"), className="ms-muted"))]
    rows = [(name, number, _cut(ranks)) for name, ranks, number, _ in lacking]
    return [_card("job.files", _table((_FILE, _HAVING, _LACKING), rows))]


def problems_card(problems: Sequence[Problem]) -> list[Any]:
    """What is wrong with the job as a whole; nothing without problems."""
    if not problems:
        return []
    said = [html.P([html.Span(one.path, className="ms-mono"), " ", one.text]) for one in problems[:MOST_ROWS]]
    if len(problems) > MOST_ROWS:
        said.append(html.P(t("job.first_of", n=fmt.count(MOST_ROWS), total=fmt.count(len(problems)))))
    return [_card("job.problems", scrolled(said, "ms-job-problems"))]


def groups_card(groups: pd.DataFrame | None) -> list[Any]:
    """The groups one by one, or many of them by kind and size."""
    if groups is None or groups.empty:
        return [_card("job.groups", html.P(t("job.no_groups"), className="ms-muted"))]
    listed = groups[["kind", "name", "group", "ranks", "size", "sections", "told"]].astype({"size": "int64"})
    listed = listed.astype({name: "str" for name in listed.columns if name != "size"})
    first = [ranks[0] if (ranks := ranks_of(text)) else -1 for text in listed["ranks"]]
    listed = listed.assign(unknown=listed["kind"].eq(""), first=first, alone=listed["size"] < 2)
    listed = listed.sort_values(["alone", "unknown", "kind", "first"], kind="stable")
    if len(listed) <= MOST_GROUPS:
        one_by_one = [
            (_kind(one["kind"]), one["name"] or one["group"], _seen(one["ranks"], one["told"]), _does(one["sections"]))
            for one in listed.to_dict("records")
        ]
        return [_card("job.groups", _table((_KIND, _NAME, _OF_RANKS, _DOES), one_by_one))]
    rows = []
    for (_, kind, size), own in listed.groupby(["unknown", "kind", "size"], sort=False):
        sections = {part for text in own["sections"].unique() for part in str(text).split(";") if part}
        some = ", ".join(str(text) for text in own["ranks"].iloc[:2])
        shown = some if len(own) <= 2 else t("job.and_more", ranks=some, n=fmt.count(len(own) - 2))
        rows.append((_kind(str(kind)), len(own), int(str(size)), shown, _does(";".join(sorted(sections)))))
    return [_card("job.groups", _table((_KIND, _NUMBER, TableColumn("job.each", COUNT), _OF_RANKS, _DOES), rows))]


def _kind(kind: str) -> Any:
    return kind or html.Span(t("job.kind_unknown"), className="ms-muted")


def _seen(ranks: str, told: str) -> Any:
    return _cut(ranks) if told != "no" else t("job.ranks_seen", ranks=ranks)


def _does(sections: str) -> Any:
    if not sections:
        return ""
    return t(f"job.does.{'both' if ';' in sections else sections}")


def steps_card(steps: pd.DataFrame | None, ranks: Sequence[int]) -> list[Any]:
    """Steps that all ranks have, and those that some lack; nothing without step times."""
    if steps is None or steps.empty:
        return []
    ranks = ranks or sorted({int(rank) for rank in steps["rank"] if rank >= 0})
    found = common_steps(steps, ranks)
    if found.common == (-1,):
        said: list[Any] = [html.P(t("job.steps.unmarked"))]
    elif found.common:
        shown = [step for step in found.common if step >= 0]
        same = not found.partial and not found.without
        numbers = {"n": fmt.count(len(shown)), "steps": _shortened(text_of(shown))}
        said = [html.P(t("job.steps.same" if same else "job.steps.common", **numbers))]
    else:
        said = [html.P(t("job.steps.none"))]
    if found.partial:
        rows = [(one.what, len(one.ranks), _cut(text_of(one.ranks))) for one in found.partial]
        said.append(_table((TableColumn("job.steps.partial"), _HAVING, _LACKING), rows))
    if found.without:
        said.append(html.P(t("job.steps.without", ranks=_shortened(text_of(found.without)))))
    return [_card("job.steps", html.Div(said))]


def hosts_card(job: JobFiles, ranks: pd.DataFrame | None) -> list[Any]:
    """Hosts and their ranks, as files have them, else as directories are named."""
    hosts: dict[str, list[int]] = {}
    known = {} if ranks is None else dict(zip(ranks["rank"].tolist(), ranks["host"].astype("str").tolist(), strict=True))
    for rank, host in (known or {member.rank: member.host for member in job.members}).items():
        if host:
            hosts.setdefault(host, []).append(rank)
    if not hosts:
        return [_card("job.hosts", html.P(t("job.hosts.unknown"), className="ms-muted"))]
    rows = [(host, len(own), _cut(text_of(own))) for host, own in sorted(hosts.items(), key=lambda one: min(one[1]))]
    return [_card("job.hosts", _table((_HOST, _HAVING, _OF_RANKS), rows), badge=fmt.count(len(hosts)))]


def clocks_card(collectives: pd.DataFrame | None) -> list[Any]:
    """By how much clocks differ; nothing where no operations are known."""
    if collectives is None or collectives.empty:
        return []
    found = clock_offsets(collectives)
    if len(found) < 2:
        return [_card("job.clocks", html.P(t("job.clocks.none"), className="ms-muted"))]
    offsets = found.groupby("part")["offset_ns"]
    most = int((offsets.max() - offsets.min()).max())
    times = {"most": fmt.duration(most / 1e9), "spread": fmt.duration(found["spread_ns"].max() / 1e9)}
    said: list[Any] = [html.P(t("job.clocks.differ", n=fmt.count(len(found)), **times))]
    parts = int(found["part"].nunique())
    if parts > 1:
        said.append(html.P(t("job.clocks.apart", n=fmt.count(parts))))
    else:
        far = found.iloc[np.argsort(-found["offset_ns"].abs().to_numpy(), kind="stable")[:MOST_CLOCKS]]
        rows = [
            (t("profiling.rank_n", n=rank), offset)
            for rank, offset in zip(far["rank"].tolist(), far["offset_ns"].tolist(), strict=True) if offset
        ]  # fmt: skip
        ahead = t("job.clocks.ahead", rank=int(found["rank"].iloc[0]))
        if rows:
            columns = (TableColumn("profiling.rank"), TableColumn(ahead, SIGNED_NS))
            said.append(table(columns, rows, class_name="ms-job-table", scroll="ms-job-scroll"))
    said.append(html.P(t("job.clocks.why"), className="ms-muted"))
    return [_card("job.clocks", html.Div(said))]


def _shortened(ranks: str) -> str:
    parts = ranks.split(",")
    return ", ".join(parts if len(parts) <= MOST_RANGES else [*parts[:MOST_RANGES], "…"])


def _cut(ranks: str) -> Any:
    """Return ranges of ranks; many are shortened, with all of them as the tip."""
    shown = _shortened(ranks)
    return html.Span(shown, title=ranks[:2_000]) if shown.endswith("…") else shown


def _table(columns: Sequence[TableColumn], rows: Sequence[Any]) -> html.Div:
    drawn = table(columns, rows[:MOST_ROWS], class_name="ms-job-table", scroll="ms-job-rows")
    return html.Div([drawn, *first_of("job.first_of", min(len(rows), MOST_ROWS), len(rows))])


def _card(title: str, content: Any, *, badge: str = "") -> html.Section:
    return card(t(title), content, badges=[html.Span(badge, className="ms-badge")] if badge else [], class_name="ms-job-card")
