"""GET routes for the operators of ranks over each other.

    <prefix>ranks/facts?run=KEY&session=NAME&rank=N&step=S&rows=0-7,12&stage=0&aligned=1    JSON: ranks, stages, extent
    <prefix>ranks/view?...&from=0&to=1000&columns=1200     what is drawn, binary (`View.packed`)
    <prefix>ranks/memory?...&from=0&to=1000&columns=600    JSON: allocated memory of the ranks in a window
    <prefix>ranks/operator?...&at=3&operator=17            one operator of a rank, and the same one of the other ranks
    <prefix>ranks/ranks.csv?...                            a row for each rank
    <prefix>ranks/operators.csv?...&from=0&to=1000         the operators of a window, by default all

run, session and rank name a profile, whose job is meant; without rows it is the first eight ranks. Times are ns from the begin
of the first operator shown. alone=1 gives bands of what is not joined only. While ranks are being read facts and memory say how
many, and the others answer 503.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from flask import Blueprint, Response, request

from app.routes.csv_files import csv_answer, table_name
from app.routes.profiles.frames import chosen_frame
from app.routes.refusals import Unusable, answered, asked
from layouts.jobs.rank_alternatives import of_ranks
from layouts.jobs.rank_memory import memory
from layouts.jobs.rank_operators import RankCaches, RankOperatorRequest, RankProgress, look
from layouts.kit.state import flag, number
from layouts.sources import ProfileSources
from parsers.analysis.jobs.rank_operators.operators import CATEGORIES, group_of, name_of
from parsers.analysis.jobs.rank_operators.tables import ShownOperators
from parsers.analysis.jobs.rank_operators.views import view
from parsers.deferred import pandas as pd

MOST_COLUMNS = 4_000
LONGEST_NS = 1 << 60
MOST_PROBLEMS = 50
_WINDOW = ("from", "to")


def add_routes(routes: Blueprint, source: ProfileSources) -> None:
    """Add the routes to a blueprint."""
    kept = RankCaches()
    answers = _ANSWERS | {"memory": (partial(_memory, source, kept), (*_WINDOW, "columns"))}
    for name, (answer, more) in answers.items():
        respond = partial(answered, partial(_answer, source, kept, answer, more))
        routes.add_url_rule(f"/ranks/{name}", f"ranks-{name.replace('.', '-')}", respond)


def _answer(
    source: ProfileSources, kept: RankCaches, answer: Callable[[ShownOperators | RankProgress, RankOperatorRequest], Response],
    more: tuple[str, ...]
) -> Response:
    ask = asked(RankOperatorRequest, more)
    return answer(look(source, ask, kept, partial(chosen_frame, source, ask.choice)), ask)


def _read(found: ShownOperators | RankProgress) -> ShownOperators:
    if isinstance(found, RankProgress):
        raise Unusable(f"still reading the ranks: {found.done} of {found.total}; try again later", 503)
    return found


def _facts(found: ShownOperators | RankProgress, ask: RankOperatorRequest) -> Response:
    """Respond with what the page needs once for a choice of ranks."""
    del ask
    if isinstance(found, RankProgress):
        return _json({"state": "reading", "done": found.done, "total": found.total})
    begin, end = found.laid.extent
    problems = [
        {"rank": one.operators.rank, "path": problem.path, "text": problem.text}
        for one in found.ranks
        for problem in one.problems
    ]
    wrong = {str(one.operators.rank): one.wrong for one in found.ranks if one.wrong}
    used = sorted({int(one) for rank in found.laid.ranks for one in set(rank.category.tolist())})
    return _json({
        "state": "ready", "ranks": [{key: _plain(value) for key, value in row.items()} for row in found.rows],
        "order": found.order, "stages": found.stages, "steps": found.steps, "length": end - begin, "origin": str(begin),
        "categories": [CATEGORIES[one] for one in used], "aligned": found.aligned, "absent": found.absent,
        "left_out": found.left_out, "zeros": found.zeros, "wrong": wrong, "problems": problems[:MOST_PROBLEMS],
        "members": {str(rank): member for rank, member in found.members.items()}, "alternative": of_ranks(found),
    })  # fmt: skip


def _plain(value: Any) -> Any:
    """Return a value of a table as JSON has it: numbers that are not finite as none."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _view(found: ShownOperators | RankProgress, ask: RankOperatorRequest) -> Response:
    del ask
    shown = _read(found)
    begin, end = _window(shown)
    if end <= begin:
        raise Unusable(f"expected from below to; found {begin} and {end}")
    columns = int(number(_args(), "columns", 1000.0, 1.0, MOST_COLUMNS))
    drawn = view(shown.laid, shown.origin + begin, shown.origin + end, columns, alone=flag(_args(), "alone"))
    return Response(drawn.packed(), mimetype="application/octet-stream")


def _memory(
    source: ProfileSources, kept: RankCaches, found: ShownOperators | RankProgress, ask: RankOperatorRequest
) -> Response:
    del ask
    shown = _read(found)
    begin, end = _window(shown)
    columns = int(number(_args(), "columns", 600.0, 1.0, MOST_COLUMNS))
    return _json(memory(source, shown, kept, begin, max(end, begin + 1), columns))


def _operator(found: ShownOperators | RankProgress, ask: RankOperatorRequest) -> Response:
    del ask
    shown, asked = _read(found), _args()
    rank, row = (int(number(asked, name, -1.0, 0.0, 1e9)) for name in ("at", "operator"))
    place = next((at for at, one in enumerate(shown.laid.ranks) if one.rank == rank), None)
    if place is None or row >= len(shown.laid.ranks[place]) or row < 0:
        raise Unusable(f"no operator {row} of rank {rank}", 404)
    own = shown.laid.ranks[place]
    key = own.keys[own.key[row]]
    same = [
        {
            "rank": shown.laid.ranks[at].rank, "operator": one, "begin": int(shown.laid.ranks[at].start[one]) - shown.origin,
            "duration": int(shown.laid.ranks[at].end[one] - shown.laid.ranks[at].start[one]),
        }
        for at, one in shown.same(place, row)
    ]  # fmt: skip
    return _json({
        "rank": rank, "operator": row, "name": name_of(key), "group": group_of(key), "type": own.types[own.type[row]],
        "category": CATEGORIES[own.category[row]], "step": int(own.step[row]), "last": len(own) - 1,
        "occurrence": int(shown.laid.numbers[place].occurrence[row]), "begin": int(own.start[row]) - shown.origin,
        "duration": int(own.end[row] - own.start[row]), "same": same,
        "joined": bool(shown.laid.joined[place][row]),
    })  # fmt: skip


def _ranks_csv(found: ShownOperators | RankProgress, ask: RankOperatorRequest) -> Response:
    return _csv(_read(found).table, ask, "ranks")


def _operators_csv(found: ShownOperators | RankProgress, ask: RankOperatorRequest) -> Response:
    shown = _read(found)
    return _csv(shown.listed(*_window(shown)), ask, "operators")


def _csv(frame: pd.DataFrame, ask: RankOperatorRequest, name: str) -> Response:
    return csv_answer(frame, table_name(ask.choice.run, "ranks", name))


def _window(shown: ShownOperators) -> tuple[int, int]:
    begin, end = shown.laid.extent
    asked = _args()
    low = number(asked, "from", 0.0, -LONGEST_NS, LONGEST_NS)
    return int(low), int(number(asked, "to", float(end - begin), -LONGEST_NS, LONGEST_NS))


def _args() -> dict[str, list[str]]:
    return request.args.to_dict(flat=False)


def _json(content: Any) -> Response:
    return Response(msgspec.json.encode(content), mimetype="application/json")


_ANSWERS: dict[str, tuple[Callable[[ShownOperators | RankProgress, RankOperatorRequest], Response], tuple[str, ...]]] = {
    "facts": (_facts, ()), "view": (_view, (*_WINDOW, "columns", "alone")), "operator": (_operator, ("at", "operator")),
    "ranks.csv": (_ranks_csv, ()), "operators.csv": (_operators_csv, _WINDOW),
}  # fmt: skip
