"""The strategy graph of one rank on the canvas of graphs, with strategies and inserted operators marked and counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from parsers import Graph
from parsers.analysis.graphs import GraphView, Visible
from parsers.analysis.graphs.network import Bools, Network, network
from parsers.analysis.graphs.opened import OpenGraph
from parsers.analysis.jobs.strategy import OperatorCounts, count, in_phases, phases, stage_map, strategy_graph, uneven
from parsers.caches import Cache
from parsers.cluster_frames import STAGES
from parsers.deferred import pandas as pd
from parsers.profile_frames import STRATEGIES
from parsers.profiler.strategy import GRADIENT, REDISTRIBUTION

from layouts.graphs.drawing import Marked, drawn
from layouts.graphs.graph_views import Of
from layouts.jobs.strategy.asks import GraphAsk
from layouts.profiles.frames import ProfileFrame
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

MOST_LISTED = 2_000
"""Maximum operators of a kind that the counters go through."""
_KEPT = 4
_MOST_VIEWS = 6


@dataclass(slots=True)
class Strategy:
    """The graph of one file, its counts, and its views by hidden phases."""

    frame: pd.DataFrame
    graph: Graph
    whole: Network
    counts: OperatorCounts
    uneven: list[int]
    phases: Mapping[str, int]
    marks: Mapping[str, Bools]
    views: Cache[frozenset[str], tuple[OpenGraph, GraphView]] = field(default_factory=lambda: Cache(_MOST_VIEWS))

    def view(self, without: frozenset[str]) -> tuple[OpenGraph, GraphView]:
        """Return the view without some phases."""
        return self.views.made(without, lambda: self._without(without))

    def _without(self, phases: frozenset[str]) -> tuple[OpenGraph, GraphView]:
        shown = self.whole
        if phases & self.phases.keys():
            shown = in_phases(self.whole, self.frame, [name for name in self.phases if name not in phases])
        view = GraphView(shown)
        return OpenGraph(self.graph, self.whole, (0,), views={False: view}), view


class Strategies:
    """The graphs looked at last; one is made again when its file was read again."""

    def __init__(self) -> None:
        self._kept: Cache[tuple[str, str, int], Strategy] = Cache(_KEPT)

    def of(self, choice: ProfileChoice, found: ProfileFrame) -> Strategy:
        """Return the graph of a rank, whose frame has been read."""
        assert found.frame is not None
        return self._kept.made((choice.run, choice.session, choice.rank), lambda: _made(found), (found.frame,))


def _made(found: ProfileFrame) -> Strategy:
    frame = found.frame
    assert frame is not None
    graph = strategy_graph(frame, problems=found.problems)
    marks = {what: (frame["inserted"] == what).to_numpy(np.bool_) for what in (REDISTRIBUTION, GRADIENT)}
    marks["strategy"] = (frame["strategy"] != "").to_numpy(np.bool_)
    whole = network(graph.nodes, graph.edges)
    return Strategy(frame, graph, whole, count(frame), uneven(frame), phases(frame), marks)


@dataclass(frozen=True, slots=True)
class ChosenStrategy:
    """The file whose graph is shown: stage, rank, ranks with a file in the stage, stages with a file."""

    stage: int
    choice: ProfileChoice | None
    ranks: tuple[int, ...]
    stages: tuple[int, ...]


def chosen_file(source: ProfileSources, ask: GraphAsk) -> ChosenStrategy | ProfileFrame:
    """Return which file is asked for; the progress of reading the stages if they are not known yet."""
    choice = ask.choice
    found = source.profiles.frame(choice.run, choice.session, choice.rank, STAGES.name)
    if found.frame is None:
        return found
    stages = stage_map(found.frame)
    numbers = tuple(stages.files)
    usual = stages.stage_of(choice.rank) if choice.rank >= 0 else -1
    stage = ask.stage if ask.stage is not None else usual if usual in numbers else next(iter(numbers), -1)
    ranks = stages.files.get(stage, ())
    wanted = choice.rank if ask.rank is None and ask.stage is None else ask.rank
    rank = wanted if wanted in ranks else next(iter(ranks), -1)
    own = next((one for one in source.profiles.members(choice.run, choice.session, choice.rank) if one[2] == rank), None)
    return ChosenStrategy(stage, ProfileChoice(*own) if own is not None else None, ranks, numbers)


def drawing(source: ProfileSources, kept: Strategies, ask: GraphAsk) -> dict[str, Any]:
    """Return the drawing for the canvas with state "ready", or the state of what is read or missing."""
    chosen = chosen_file(source, ask)
    if isinstance(chosen, ProfileFrame):
        return {"state": chosen.state, "text": chosen.text, "rank": ask.choice.rank}
    about = {"stage": chosen.stage, "ranks": list(chosen.ranks), "stages": list(chosen.stages)}
    if chosen.choice is None:
        return {"state": "missing", "text": "", "rank": -1, **about}
    found = _frame(source, chosen.choice)
    if found.frame is None:
        return {"state": found.state, "text": found.text, "rank": chosen.choice.rank, **about}
    strategy = kept.of(chosen.choice, found)
    views: Any = _OneView(strategy.view(ask.without))
    answer = drawn(views, ask.canvas, lambda view, visible: marked(strategy, view, visible))
    answer["meta"] |= {"counters": _counters(strategy), "phases": dict(strategy.phases)}
    return {"state": "ready", "rank": chosen.choice.rank, "choice": _named(chosen.choice), **about, **answer}


def _named(choice: ProfileChoice) -> dict[str, list[str]]:
    return {"run": [choice.run], "session": [choice.session], "rank": [str(choice.rank)]}


def _frame(source: ProfileSources, choice: ProfileChoice) -> ProfileFrame:
    return source.profiles.frame(choice.run, choice.session, choice.rank, STRATEGIES.name)


class _OneView:
    """One view in place of those of a source (`layouts.graphs.graph_views.Views`)."""

    def __init__(self, pair: tuple[OpenGraph, GraphView]) -> None:
        self._pair = pair

    def of(self, asked: Of) -> tuple[OpenGraph, GraphView]:
        """Return it."""
        del asked
        return self._pair


def _counters(strategy: Strategy) -> dict[str, Any]:
    """Return the numbers of operators, and the rows of those that the counters go through."""
    counts = strategy.counts
    rows = {name: np.flatnonzero(strategy.marks[name])[:MOST_LISTED].tolist() for name in (REDISTRIBUTION, GRADIENT)}
    return {
        "operators": counts.operators, "strategy": counts.strategy, "generated": counts.generated,
        "user": counts.strategy - counts.generated, "cut": counts.cut, "redistribution": counts.redistribution,
        "gradient": counts.gradient, "uneven": len(strategy.uneven),
        "rows": {**rows, "strategy": np.flatnonzero(strategy.marks["strategy"])[:MOST_LISTED].tolist(),
                 "uneven": strategy.uneven[:MOST_LISTED]},
    }  # fmt: skip


def marked(strategy: Strategy, view: GraphView, visible: Visible) -> Marked:
    """Mark boxes with inserted operators, and single operators with a strategy; count the inserted ones of closed boxes."""
    classes: dict[str, str] = {}
    badges: dict[str, str] = {}
    shown = view.network.shown
    for item in visible.items:
        if item.opened or not item.members or item.kind not in ("node", "fold", "scope", "stack"):
            continue
        nodes = item.kind in ("node", "fold")
        within = np.array(item.members) if nodes else np.concatenate([view.scopes.within(scope) for scope in item.members])
        within = within[shown[within]]
        many = {name: int(strategy.marks[name][within].sum()) for name in (REDISTRIBUTION, GRADIENT)}
        mark = next((name for name, number in many.items() if number), "")
        if mark:
            classes[item.key] = mark
        elif nodes and bool(strategy.marks["strategy"][within].any()):
            classes[item.key] = "strategy"
        if mark and item.kind != "node":
            letters = ((REDISTRIBUTION, "R"), (GRADIENT, "G"))
            badges[item.key] = " ".join(f"{letter}{many[name]}" for name, letter in letters if many[name])
    return Marked(classes, badges)
