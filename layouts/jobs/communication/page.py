"""The communication page: what do the ranks of a job tell each other, over which links, and which rank or link holds them up?

Tables and figures are computed here; the matrix of ranks comes from a plain route as bytes (app/routes/jobs/communication.py)
and is drawn on a canvas (assets/profiles/heat.js).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from dash import Input, Output, State, dcc, html, no_update
from parsers.analysis.jobs import packets as sizes
from parsers.analysis.jobs import traffic as sums
from parsers.analysis.jobs.job_choices import offers
from parsers.analysis.jobs.slow_tests import LIMITS

from layouts.jobs.communication import figures, tables
from layouts.jobs.communication.texts import TEXTS
from layouts.jobs.rank_traffic import FRAMES, SETTINGS, Traffic, TrafficRequest
from layouts.kit import units as fmt
from layouts.kit.body import damage
from layouts.kit.callbacks import in_browser
from layouts.kit.elements import icon_button, toolbar
from layouts.kit.figures import BLANK, GRAPH_CONFIG
from layouts.kit.i18n import t
from layouts.kit.page import Ids
from layouts.kit.plain_html import still
from layouts.profiles.body import body, register_body
from layouts.profiles.profile_choice import ALL_RANKS
from layouts.sources import ProfileSources

MOST_NAMES = 200
"""Operations to choose from; the table and its CSV file have all."""
_CARDS = ("matrix", "links", "totals", "operation", "packets", "contention")
_PICTURES = ("matrix", "operation", "packets")


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    stores = ("draw", "list", "near", "facts", "figure-operation", "figure-packets", "again")
    tools = html.Div(className="ms-communication-tools")
    heat = [tools, html.Div(className="ms-communication-notes"), html.Div(className="ms-communication-map")]
    inside: dict[str, Any] = {
        "totals": html.Div(id=ids("totals")), "matrix": heat, "links": html.Div(id=ids("links")),
        "operation": [html.Div(id=ids("operation")), *_plot(ids("plot-operation"))],
        "packets": [*_plot(ids("plot-packets")), html.Div(id=ids("packets"))],
        "contention": html.Div(id=ids("contention")),
    }  # fmt: skip
    children: list[Any] = [
        *(dcc.Store(id=ids(part)) for part in stores),
        html.Section(html.Div(id=ids("head"), className="ms-communication-head"), className="ms-card", tabIndex=-1),
        toolbar([], label="communication.controls", class_name="ms-communication-bar"),
        html.Div([_card(name, inside[name]) for name in _CARDS], className="ms-communication-cards"),
        damage(),
    ]
    return body(
        ids, routes, children, title="communication.title", frames=FRAMES, keys=TrafficRequest.keys(),
        choices=("rank", "group", "step"),
        texts=tuple(TEXTS), class_name="ms-communication",
    )  # fmt: skip


def _plot(graph: Any) -> list[Any]:
    plot = dcc.Graph(id=graph, figure=BLANK, config=GRAPH_CONFIG, responsive=True, className="ms-plot")
    return [html.Div(plot, className="ms-communication-plot")]


def _card(name: str, content: Any) -> html.Section:
    tools = [icon_button("download", "communication.png", **{"data-act": "png"})] if name in _PICTURES else []
    head = html.Header(
        [
            html.H3(t(f"communication.{name}"), className="ms-card-title"),
            html.Span(className="ms-card-badges"),
            *([html.Span(className="ms-communication-tools")] if name != "matrix" else []),
            html.Span(
                [html.A("CSV", className="ms-button ms-button-small", download="", **{"data-csv": name}), *tools,
                 icon_button("full", "communication.full", **{"data-act": "full"})],
                className="ms-card-tools",
            ),
        ],
        className="ms-card-head",
    )  # fmt: skip
    return html.Section(
        [head, html.Div(content, className="ms-card-body")], className=f"ms-card ms-communication-card ms-communication-{name}",
        tabIndex=-1, **{"data-card": name},
    )  # fmt: skip


def register(app: Any, source: ProfileSources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, FRAMES)

    def draw(data: Any) -> tuple[Any, ...]:
        ask = TrafficRequest.read_any(data)
        return (no_update,) * 7 if ask is None else drawn(Traffic(source, ask))

    def list_totals(data: Any) -> Any:
        ask = TrafficRequest.read_any(data)
        return no_update if ask is None else still(totals(Traffic(source, ask)))

    def look(data: Any) -> Any:
        ask = TrafficRequest.read_any(data)
        return (no_update, no_update) if ask is None else contention(Traffic(source, ask))

    parts = [Output(ids(name), "children") for name in ("head", "links", "operation", "packets")]
    stores = [Output(ids(name), "data") for name in ("figure-operation", "figure-packets", "facts")]
    app.callback(*parts, *stores, Input(ids("draw"), "data"), prevent_initial_call=True)(draw)
    app.callback(Output(ids("totals"), "children"), Input(ids("list"), "data"), prevent_initial_call=True)(list_totals)
    app.callback(
        Output(ids("contention"), "children"), Output(ids("again"), "data"), Input(ids("near"), "data"),
        prevent_initial_call=True,
    )(look)  # fmt: skip
    _register_browser(app, ids)


def drawn(traffic: Traffic) -> tuple[Any, ...]:
    """Return head, links, operation, packets (components), the two figures (None for none), and facts for the scripts."""
    titles = dict(offers(traffic.groups, None)["groups"])
    histogram = sizes.folded(sizes.histogram(traffic.packets, traffic.packet_rows), tables.OTHER)
    small = sizes.small_packets(traffic.packets, traffic.packet_rows, traffic.ask.small)
    links = traffic.slow_links
    listed = tables.links(links, titles) if len(links) else [html.P(t("communication.no_links"), className="ms-muted")]
    shown = (head(traffic, titles), listed, operation(traffic, titles), tables.packets(histogram, small))
    return *(still(one) for one in shown), figures.operation(traffic.spread), figures.packets(histogram), facts(traffic, titles)


def facts(traffic: Traffic, titles: Mapping[str, str]) -> dict[str, Any]:
    """Return what the scripts need: groups and steps to offer, kinds, operations, and what the matrix is of."""
    collectives, rows = traffic.collectives, traffic.rows
    places = collectives["kind"].cat
    kinds = sorted(str(places.categories[code]) for code in np.unique(places.codes) if code >= 0 and places.categories[code])
    names = [name for name, _ in sums.most(collectives, rows, "name")[:MOST_NAMES]]
    group = traffic.group_of_matrix
    return {
        "offers": offers(traffic.groups, collectives), "kinds": kinds, "names": names, "operation": traffic.operation[1],
        "group": group, "title": titles.get(group, group), "links": len(traffic.links) > 0, "found": len(rows) > 0,
        "parts": list(figures.parts_of(traffic.spread)), "settings": {name: _typed(name) for name in SETTINGS},
        "packets": len(traffic.packet_rows) > 0,
    }  # fmt: skip


def _typed(name: str) -> float:
    _, default, unit = SETTINGS[name]
    return round(default / unit, 6)


def head(traffic: Traffic, titles: Mapping[str, str]) -> list[Any]:
    """Return the sentences: how long, how much of it waiting, slow links, small packets, what is not explained."""
    if not len(traffic.rows):
        return [html.P(t("communication.none"), className="ms-communication-sentence"), *_links_said(traffic, titles)]
    whole = sums.whole(traffic.collectives, traffic.rows)
    groups = sums.most(traffic.collectives, traffic.rows, "group")
    group = titles.get(groups[0][0], groups[0][0])
    times = {"time": tables.time(whole.elapse_ns), "most": tables.time(groups[0][1]), "group": group}
    first = "communication.head" if group and len(groups) > 1 else "communication.head_alone"
    said = [html.P(t(first, **times), className="ms-communication-sentence")]
    if whole.waited_ns > 0:
        share = fmt.percent(whole.own_wait_ns / whole.waited_ns)
        said.append(html.P(t("communication.head_waits", share=share, of=tables.time(whole.waited_ns))))
    else:
        said.append(html.P(t("communication.head_no_waits")))
    said += _links_said(traffic, titles)
    for one in sizes.small_packets(traffic.packets, traffic.packet_rows, traffic.ask.small):
        if one.share > sizes.SHARE:
            numbers = {"share": fmt.percent(one.share), "transport": one.transport, "limit": fmt.prefixed(one.limit, "B")}
            of = fmt.percent(one.small_ns / one.time_ns) if one.time_ns > 0 else "?"
            said.append(html.P(t("communication.head_small", of=of, **numbers)))
    if whole.unexplained_ns > 0:
        said.append(html.P(t("communication.head_unexplained", time=tables.time(whole.unexplained_ns)), className="ms-muted"))
    return said


def _links_said(traffic: Traffic, titles: Mapping[str, str]) -> list[Any]:
    if not len(traffic.links):
        return [html.P(t("communication.head_no_links"), className="ms-muted")]
    judged = traffic.slow_links[traffic.slow_links["slow"] != ""]
    if not len(judged):
        return [html.P(t("communication.head_unjudged"), className="ms-muted")]
    slow = judged[judged["slow"] == "yes"]
    if not len(slow):
        return [html.P(t("communication.head_fine", n=fmt.count(len(judged))))]
    first = slow.iloc[0].to_dict()
    numbers = {
        "bandwidth": tables.bandwidth(first["bandwidth"]), "share": fmt.percent(first["bandwidth"] / first["usual"]),
        "n": fmt.count(len(slow)), "link": tables.link_text(first, titles),
    }  # fmt: skip
    return [html.P(t("communication.head_slow" if len(slow) == 1 else "communication.head_slow_n", **numbers))]


def operation(traffic: Traffic, titles: Mapping[str, str]) -> list[Any]:
    """Return which operation is drawn, which rank came last to it, and what the colours mean."""
    group, name = traffic.operation
    spread = traffic.spread
    if not len(spread.ranks):
        return [html.P(t("communication.none"), className="ms-muted")]
    of = html.Span([html.Span(name, className="ms-mono"), " ", html.Span(titles.get(group, group), className="ms-muted")])
    neighbours = figures.shown_ranks(spread)[1]
    more = [html.P(t("communication.of_neighbours", n=neighbours), className="ms-muted")] if neighbours > 1 else []
    legend = [
        html.Li([html.Span(className="ms-dot", style={"background": figures.PARTS[part]}), t(f"communication.part.{part}")])
        for part in figures.parts_of(spread)
    ]
    differ = spread.judged and sums.different_work(traffic.groups, group)
    shape = [html.P(t("communication.shaped"), className="ms-muted")] if differ else []
    return [html.P(of), html.P(_last(spread)), *shape, html.Ul(legend, className="ms-communication-legend"), *more]


def _last(spread: sums.RankSpread) -> Any:
    if not spread.judged:
        return t("communication.last_unknown")
    place = spread.last_place
    count, caused = int(spread.last[place]), float(spread.caused_ns[place])
    if not count:
        return t("communication.together")
    if spread.latest < 0:
        return t("communication.nobody_last", time=tables.time(caused), least=fmt.percent(LIMITS.once))
    numbers = {"rank": spread.latest, "time": tables.time(caused), "n": fmt.count(count), "total": fmt.count(spread.judged)}
    return t("communication.last" if spread.judged == 1 else "communication.last_n", **numbers)


def totals(traffic: Traffic) -> list[Any]:
    """Return the table of operations at the level asked for."""
    titles = dict(offers(traffic.groups, None)["groups"])
    found, ask = traffic.totals, traffic.ask
    if not len(found):
        return [html.P(t("communication.none"), className="ms-muted")]
    return tables.totals(found, sums.LEVELS[ask.by], titles, ask.sort, ask.setting("slow"))


def contention(traffic: Traffic) -> tuple[Any, Any]:
    """Return the contention of the chosen rank, and a new number if its kernels are still being read (ask again), else 0."""
    choice = traffic.ask.choice
    if choice.rank == ALL_RANKS:
        return still([html.P(t("communication.no_rank"), className="ms-muted")]), 0
    found = traffic.source.profiles.frame(choice.run, choice.session, choice.rank, "kernels")
    if found.state in ("reading", "waiting"):
        return still([html.P(t("communication.reading", rank=choice.rank), className="ms-muted")]), time.time()
    if found.frame is None:
        return still([html.P(t("communication.no_kernels", rank=choice.rank), className="ms-muted")]), 0
    titles = dict(offers(traffic.groups, None)["groups"])
    return still(tables.contention(traffic.contention(found.frame), choice.rank, titles)), 0


def _register_browser(app: Any, ids: Ids) -> None:
    """Add the callbacks that run in the browser (assets/jobs/communication/page.js)."""
    call = in_browser(app, "mindscope_communication")
    root = State(ids("root"), "id")
    call(
        "plan", *(Output(ids(name), "data") for name in ("draw", "list", "near")), Input(ids("ask"), "data"), root,
        prevent_initial_call=True,
    )  # fmt: skip
    call("offered", Input(ids("facts"), "data"), root, prevent_initial_call=True)
    call("again", Input(ids("again"), "data"), root, prevent_initial_call=True)
    for name in ("operation", "packets"):
        call(
            "dress", Output(ids(f"plot-{name}"), "figure"), Input(ids(f"figure-{name}"), "data"), Input(ids("prefs"), "data"),
            root, prevent_initial_call=True,
        )  # fmt: skip
    call("pressed", Input(ids("plot-operation"), "clickData"), root, prevent_initial_call=True)
