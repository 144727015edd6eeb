"""What is asked of replays of a job, by the job overview and by a plain route."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from parsers.analysis.jobs.replay.graph import quietly
from parsers.analysis.jobs.replay.kept_graphs import REPLAYED
from parsers.analysis.jobs.replay.what_ifs import CAUSES, Replay, replay_of
from parsers.deferred import pandas as pd
from parsers.profiler.groups import ranks_of

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.kit.state import BadInput
from layouts.profiles.profile_choice import ProfileChoice, profile

MOST_RANKS = 64
"""Ranks that may be asked about together."""
_RANKS = re.compile(r"\s*\d{1,7}(\s*-\s*\d{1,7})?(\s*,\s*\d{1,7}(\s*-\s*\d{1,7})?)*\s*")
_LINKS = re.compile(r"\s*\d{1,7}\s*-\s*\d{1,7}(\s*,\s*\d{1,7}\s*-\s*\d{1,7})*\s*")


def _ranks(text: str) -> tuple[int, ...]:
    if not text.strip():
        return ()
    if not _RANKS.fullmatch(text):
        raise BadInput(f"slow: expected ranks as 0-3,8; found {text[:80]!r}")
    found: list[int] = []
    for part in "".join(text.split()).split(","):
        first, _, last = part.partition("-")
        if int(last or first) - int(first) >= MOST_RANKS:
            raise BadInput(f"slow: expected at most {MOST_RANKS} ranks; found {part[:80]!r}")
        found += ranks_of(part)
    return tuple(dict.fromkeys(found))[:MOST_RANKS]


def _links(text: str) -> tuple[tuple[int, int], ...]:
    if not text.strip():
        return ()
    if not _LINKS.fullmatch(text):
        raise BadInput(f"link: expected pairs of ranks as 0-1,4-5; found {text[:80]!r}")
    pairs = [tuple(map(int, part.split("-"))) for part in "".join(text.split()).split(",")]
    return tuple((source, target) for source, target in pairs)[:MOST_RANKS]


@dataclass(frozen=True, slots=True)
class WhatIfRequest(Request):
    """A request: a profile, whose job is meant. ranks and links are those asked about, () for those that stand out.

    causes are the lines wanted, some of CAUSES; () for all.
    """

    choice: ProfileChoice = profile()
    ranks: tuple[int, ...] = asked.parsed("slow", _ranks, default=(), limit=400)
    links: tuple[tuple[int, int], ...] = asked.parsed("link", _links, default=(), limit=400)
    causes: tuple[str, ...] = asked.some_of("cause", CAUSES)


def replay_asked(
    ask: WhatIfRequest, frame: Callable[[str], pd.DataFrame | None], tell: Callable[[int, int], object] = quietly
) -> Replay:
    """Return the replay that a request names. frame returns a frame of the job. NotJudged if files tell too little.

    tell is called with what is done and what is to be done.
    """
    frames = {name: frame(name) for name in REPLAYED}
    return replay_of(frames, ranks=ask.ranks, links=ask.links, causes=ask.causes, tell=tell)


def table(found: Replay) -> pd.DataFrame:
    """Return the lines of a replay as their CSV has them: a row for the job (rank -1) and one for each rank, times in ns."""
    rows: list[dict[str, Any]] = []
    for line in found.lines:
        told = {"cause": line.cause, "subject": " ".join(map(str, line.subject)), "bound": line.bound}
        whole = {"rank": -1, "recorded_ns": found.step_ns, "replayed_ns": found.step_ns - line.saved_ns}
        rows.append(told | whole | {"saved_ns": line.saved_ns, "most_saved_ns": line.most_ns})
        for place, rank in enumerate(found.ranks):
            recorded, replayed = float(found.by_rank[place]), float(line.by_rank[place])
            own = {"rank": rank, "recorded_ns": recorded, "replayed_ns": replayed}
            rows.append(told | own | {"saved_ns": recorded - replayed})
    names = ["cause", "subject", "bound", "rank", "recorded_ns", "replayed_ns", "saved_ns", "most_saved_ns"]
    return pd.DataFrame(rows, columns=names)
