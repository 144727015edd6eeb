"""Analyses of how a model was cut over devices: stages, groups and places of ranks, and the graph with its strategies."""

from parsers.analysis.jobs.strategy.counts import OperatorCounts, count
from parsers.analysis.jobs.strategy.cuts import Cut, cuts_of, uneven
from parsers.analysis.jobs.strategy.graph import PHASES, in_phases, phases, strategy_graph
from parsers.analysis.jobs.strategy.positions import DIMENSIONS, Positions, positions
from parsers.analysis.jobs.strategy.stage_map import StageMap, stage_map

__all__ = [
    "DIMENSIONS",
    "PHASES",
    "Cut",
    "OperatorCounts",
    "Positions",
    "StageMap",
    "count",
    "cuts_of",
    "in_phases",
    "phases",
    "positions",
    "stage_map",
    "strategy_graph",
    "uneven",
]  # fmt: skip
