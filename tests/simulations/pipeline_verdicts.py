"""What advice says of simulated data pipelines, and how often that is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from parsers import open_run
from parsers.analysis.jobs.advice import Review, review
from tests.simulations.data_pipelines import FAULTS, HARMLESS, HEALTHY, Recording, simulate
from tests.writers.minddata_files import numbers, write

RULES = ("interval", "empty", "queue_use")
"""The rules that say that steps wait for data, or which part of the pipeline is slow."""


def reviewed(recording: Recording, directory: Path) -> Review:
    """What the product says of the files of a recording, read by its own readers."""
    write(recording, directory)
    profile = open_run(directory).profile["profiler", 0]
    return review({name: profile.frame(name) for name in ("steps", "queues", "pipeline")})


def said(found: Review) -> tuple[str, frozenset[int]]:
    """The slow part ("pipeline", "transmission", "host", "data" for waiting of unknown cause, "" for none) and operations."""
    by_rule = {one.rule: one for one in found.found}
    named = frozenset(int(op) for op in by_rule["queue_use"].evidence["op_id"]) if "queue_use" in by_rule else frozenset()
    if "empty" in by_rule:
        return by_rule["empty"].subject[0], named
    if named:
        return "pipeline", named
    if "interval" in by_rule:
        return by_rule["interval"].variant or "data", named
    return ("unjudged" if "empty" in found.unchecked else ""), named


def of_fault(case: str, effect: float, seeds: Iterable[int], directory: Path) -> Counter[str]:
    """How often a fault is "right", "part" (the slow part, not the operation), "wrong", "missed" or "unjudged"."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        plan, index = FAULTS[case](seed, effect)
        recording = simulate(plan, seed)
        part, named = said(reviewed(recording, directory / f"{case}_{effect}_{seed}"))
        wanted = "transmission" if case == "slow_push" else "host" if case == "host_code" else "pipeline"
        operations = frozenset() if index is None else frozenset({numbers(recording)[index]})
        if part == wanted and named == operations:
            counts["right"] += 1
        elif part in ("", "unjudged"):
            counts["unjudged" if part else "missed"] += 1
        else:
            counts["part" if part == wanted and not named else "wrong"] += 1
    return counts


def of_healthy(case: str, seeds: Iterable[int], directory: Path) -> Counter[str]:
    """How often healthy data is "fine", accused ("false") or "unjudged"; "apart" are those that did wait for data."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        recording = simulate(HEALTHY[case](seed), seed)
        if recording.lost >= HARMLESS:
            counts["apart"] += 1
            continue
        part, _ = said(reviewed(recording, directory / f"{case}_{seed}"))
        counts["fine" if part == "" else "unjudged" if part == "unjudged" else "false"] += 1
    return counts
