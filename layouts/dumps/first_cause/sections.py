"""The sections of the page as components: the first sentence, and tables of causes, of spread and of departures."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dash import html
from parsers import SourceLine
from parsers.analysis.dumps.departures import HISTORY
from parsers.analysis.dumps.first_cause import BEFORE, HERE, NON_FINITE, RANK, BadPlace, TensorRange
from parsers.analysis.dumps.gradients import (
    DEEP,
    FALL_AT_ONE,
    FALL_OVER_ALL,
    FALL_PER_LAYER,
    GREATEST_GRADIENT,
    LEAST_GRADIENT,
    GradientDepth,
    Judgement,
)
from parsers.deferred import pandas as pd
from parsers.graphs.sources import is_own

from layouts.dumps.causes import cause, counted
from layouts.dumps.first_cause.figures import said
from layouts.dumps.first_cause.work import MOST_ROWS, BadOperators, FoundCauses, Stacks
from layouts.dumps.links import address
from layouts.dumps.tables import bilingual, short, table
from layouts.kit import tables
from layouts.kit import units as fmt
from layouts.kit.i18n import t
from layouts.kit.tables import COUNT, NUMBER, Cell, TableColumn, first_of
from layouts.runs.symptoms.meanings import OF_CAUSES, meaning_link

_LINE = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?: (?P<code>.*))?", re.DOTALL)
MOST_RANGES = 12
"""Inputs and outputs of an operator whose ranges are shown."""
Row = Mapping[Any, Any]
_RANK, _WHAT = TableColumn("first_cause.rank", COUNT), TableColumn("first_cause.what", class_name="ms-first-cause-what")


def tensor_address(run: str, row: Row, io: str = "") -> Mapping[str, Any]:
    """Return the attributes of a link to an operator in the debugger."""
    return address("debugger", run, rank=row["rank"], step=row["iteration"], node=str(row["name"]), io=io)


# The sentence --------------------------------------------------------------------------------------------------------


def head(run: str, found: FoundCauses, *, finished: bool) -> list[Any]:
    """One sentence: which operator was the first to make bad values, and from what; its source line; how far it went."""
    if found.frame.empty:
        return _none(found, finished=finished)
    row = _counted_rows(found, 1)[0]
    lines: list[Any] = [html.P(sentence(row, ranks=found.causes.tensors["rank"].nunique()), className="ms-first-cause-said")]
    name = html.A(str(row["name"]), className="ms-mono", **tensor_address(run, row, _io(found, int(row["row"]))))
    lines.append(html.P([name, *_source(row, found.stacks)], className="ms-first-cause-where"))
    lines.append(html.P(html.A(t("symptoms.meaning"), **meaning_link(OF_CAUSES, run))))
    if found.place is not None:
        lines.append(html.P(_first_value(found.place)))
    lines += _ranges(found.causes.ranges(int(row["row"])))
    if row["kind"] != NON_FINITE and row["origin"] == BEFORE and row["from_name"]:
        lines.append(html.P(_norm_from(row)))
    lines += [html.P(one) for one in _beyond(found.causes.judgement)] if finished else []
    if row["affected"] > 1:
        key = "first_cause.spread_n" if row["kind"] == NON_FINITE else "first_cause.spread_norm"
        lines.append(html.P(t(key, n=fmt.count(row["affected"]), total=fmt.count(row["operators"])), className="ms-muted"))
    return lines + _unknown(found, finished=finished)


def _first_value(place: BadPlace) -> Any:
    """The first value that is not finite: its sign and place."""
    if not place.index:
        return t("first_cause.first_value", value=place.value)
    return t("first_cause.first_value_at", value=place.value, index=str(list(place.index)))


def _ranges(ranges: Sequence[TensorRange]) -> list[Any]:
    """A table of the ranges of what the operator took and made; nothing if none is known."""
    if not any(math.isfinite(one.low) or max(one.nan, one.inf) > 0 for one in ranges):
        return []
    columns = [TableColumn("first_cause.side"), TableColumn("first_cause.low", NUMBER), TableColumn("first_cause.high", NUMBER),
               TableColumn("first_cause.not_finite", class_name="ms-first-cause-what")]  # fmt: skip
    shown = [
        (
            [f"{one.io}.{one.slot}", *([" ", html.Span(one.parameter, className="ms-mono ms-muted")] if one.parameter else [])],
            *(value if math.isfinite(value) else None for value in (one.low, one.high)), _not_finite(one),
        )
        for one in ranges[:MOST_RANGES]
    ]
    return [tables.table(columns, shown, class_name="ms-simple-table ms-first-cause-ranges", caption=t("first_cause.ranges"))]


def _not_finite(one: TensorRange) -> Any:
    if min(one.nan, one.inf) < 0:
        return ""
    return bilingual(*counted({"nan": one.nan, "inf": one.inf})) if one.nan or one.inf else t("first_cause.all_finite")


def _norm_from(row: Row) -> Any:
    """The input through which a norm grew or shrank, and its own growth in the last update."""
    name = short(str(row["from_name"]))
    if math.isnan(row["grown"]):
        return t("first_cause.norm_from", name=name)
    return t("first_cause.norm_grown", name=name, times=times(math.log10(row["grown"])))


def sentence(row: Row, *, ranks: int) -> html.Span:
    """The cause in one sentence."""
    return bilingual(*cause(row, ranks=ranks))


def _none(found: FoundCauses, *, finished: bool) -> list[Any]:
    if not finished:
        return [html.P(t("first_cause.searching"), className="ms-first-cause-said")]
    values = {"tensors": fmt.count(found.tensors - found.unknown), "iterations": fmt.count(found.iterations)}
    if found.tensors == found.unknown:
        return [html.P(t("first_cause.nothing_known"), className="ms-first-cause-said"), *_unknown(found, finished=True)]
    said = t("first_cause.none" if found.causes.judgement.judged else "first_cause.none_bad", **values)
    beyond = _beyond(found.causes.judgement)
    lines = [html.P(one, className="ms-first-cause-said") for one in [*beyond, said]]
    return [*lines, *(html.P(one, className="ms-muted") for one in judged(found)), *_unknown(found, finished=True)]


def _beyond(judgement: Judgement) -> list[Any]:
    """Gradients beyond absolute limits in every iteration, and those that vanish over depth: their history shows neither."""
    found = [("vanishing", judgement.vanishing, LEAST_GRADIENT), ("exploding", judgement.exploding, GREATEST_GRADIENT)]
    lines = [
        t(f"first_cause.gradients_{kind}", n=fmt.count(n), total=fmt.count(judgement.gradients), limit=f"{limit:g}")
        for kind, n, limit in found if n
    ]  # fmt: skip
    return [*lines, *([_over_depth(judgement.depth)] if judgement.depth.vanishing else [])]


def _over_depth(depth: GradientDepth) -> Any:
    """Whether gradients vanish from layer to layer, and where that begins; or what is missing to tell."""
    deep = fmt.count(DEEP)
    if not depth.judged:
        found = {"most": fmt.count(depth.iterations), "n": fmt.count(depth.known)}
        return t("first_cause.depth_not_judged", wanted=fmt.count(HISTORY), deep=deep, **found)
    limits = t("first_cause.depth_limits", deep=deep, per_layer=f"{FALL_PER_LAYER:g}", over_all=fmt.count(int(FALL_OVER_ALL)))
    fall = fmt.number(depth.fall, 2)
    if depth.at_one:
        values = {"first": fmt.number(depth.first, 2), "last": fmt.number(depth.last, 2)}
        return t("first_cause.depth_at_one", layer=short(depth.begins), fall=fall, limit=fmt.count(int(FALL_AT_ONE)), **values)
    if not depth.vanishing:
        return html.Span([t("first_cause.depth_within", n=fmt.count(depth.known), fall=fall), " ", limits])
    ends = {"first": fmt.number(depth.first, 2), "last": fmt.number(depth.last, 2)}
    said = t("first_cause.depth_vanishing", layer=short(depth.begins), n=fmt.count(depth.layers), fall=fall, **ends)
    return html.Span([said, " ", limits])


def judged(found: FoundCauses) -> list[Any]:
    """What was not judged of norms and gradients and why, and against which limits gradients were."""
    own = found.causes.judgement
    wanted = fmt.count(HISTORY + 1)
    lines = []
    if not own.longest:
        lines.append(t("first_cause.no_norms"))
    elif not own.judged:
        lines.append(t("first_cause.not_judged", wanted=wanted, most=fmt.count(own.longest)))
    elif own.judged < own.tensors:
        n, total = fmt.count(own.tensors - own.judged), fmt.count(own.tensors)
        lines.append(t("first_cause.partly_judged", n=n, total=total, wanted=wanted))
    if own.gradients and not _beyond(own):
        limits = {"least": f"{LEAST_GRADIENT:g}", "most": f"{GREATEST_GRADIENT:g}"}
        lines.append(t("first_cause.gradients_within", n=fmt.count(own.gradients), **limits))
    if own.gradients and not own.depth.vanishing:
        lines.append(_over_depth(own.depth))
    return lines


def _unknown(found: FoundCauses, *, finished: bool) -> list[Any]:
    if not found.unknown or not finished:
        return []
    said = t("first_cause.unchecked", n=fmt.count(found.unknown), total=fmt.count(found.tensors))
    return [html.P(said, className="ms-muted")]


def _source(row: Row, stacks: Stacks) -> list[Any]:
    return [source_line(str(row["source"]), stacks.get(int(row["row"]), ()))] if row["source"] else []


def source_line(text: str, lines: Sequence[SourceLine]) -> Any:
    """A line of the program, which unfolds to the whole stack, innermost call first; own code stands out."""
    told = _LINE.fullmatch(text)
    label = f"{_base(told['file'])}:{told['line']} {told['code'] or ''}".strip() if told is not None else text
    if len(lines) < 2:
        return html.Span(label, className="ms-mono ms-debugging-line", title=text)
    calls = [
        html.Li(
            [f"{line.file}:{line.first}" if line.file else "", " ", html.Code(line.code)],
            className="ms-mono" + (" ms-debugging-own" if is_own(line.file) else ""),
        )
        for line in reversed(lines)
    ]
    return html.Details([html.Summary(label, className="ms-mono ms-debugging-line", title=text),
                         html.Ol(calls, className="ms-debugging-stack")])  # fmt: skip


def _base(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]


def _io(found: FoundCauses, row: int) -> str:
    tensors = found.causes.tensors
    return f"{tensors['io'].array[row]}.{int(tensors['slot'].to_numpy()[row])}"


# Tables --------------------------------------------------------------------------------------------------------------


def causes(run: str, found: FoundCauses) -> list[Any]:
    """A row for each iteration of a rank with bad values, and for each kind: the first operator, and where they came from."""
    frame = found.frame
    if frame.empty:
        return []
    ranked = found.causes.tensors["rank"].nunique() > 1
    columns = [TableColumn("first_cause.iteration"), *([_RANK] if ranked else []), _named("operator"), _WHAT, _named("from"),
               _named("line"), TableColumn("first_cause.affected", number=True)]  # fmt: skip
    rows = [
        (
            _pick(fmt.count(row["iteration"]), "pick", row, **{"data-kind": str(row["kind"])}),
            *([row["rank"]] if ranked else []), _operator(row, tensor_address(run, row, _io(found, int(row["row"])))),
            _what(row), _origin(row), _source(row, found.stacks),
            t("first_cause.of_operators", n=fmt.count(row["affected"]), total=fmt.count(row["operators"])),
        )
        for row in _counted_rows(found, MOST_ROWS)
    ]
    return [table(columns, rows), *_more(rows, frame)]


def _counted_rows(found: FoundCauses, most: int) -> list[dict[Any, Any]]:
    """Return the first causes, each with the number of values of its tensor."""
    count = found.causes.statistics.column("count")
    return [row | {"count": int(count[row["row"]])} for row in found.frame.head(most).to_dict("records")]


def _pick(shown: str, act: str, row: Row, **more: str) -> html.Button:
    """A button that chooses the iteration of a rank, or a tensor in it, whose facts are then shown."""
    key = {"data-rank": str(row["rank"]), "data-step": str(row["iteration"])}
    return html.Button(
        shown, type="button", className="ms-button ms-button-quiet", **{"data-act": act, "aria-pressed": "false", **key, **more}
    )


def _operator(row: Row, link: Mapping[str, Any]) -> Cell:
    return Cell(str(row["name"]), link={"className": "ms-mono", **link})


def _named(name: str) -> TableColumn:
    """A column of long names, which may break anywhere."""
    return TableColumn(f"first_cause.{name}", class_name="ms-debugging-name")


def _what(row: Row) -> Any:
    if row["kind"] == NON_FINITE:
        return bilingual(*counted(row))
    return t(f"first_cause.{row['kind']}_norm", measured=fmt.number(row["measured"]), usual=fmt.number(row["usual"]))


def _origin(row: Row) -> Any:
    if row["origin"] == RANK:
        return t("first_cause.from_rank", rank=fmt.count(row["from_rank"]), name=short(str(row["from_name"])))
    name = str(row["from_name"])
    if row["origin"] == BEFORE and name:
        grown = [] if math.isnan(row["grown"]) else [" ", t("first_cause.grown", times=times(math.log10(row["grown"])))]
        key = "first_cause.from_input" if row["kind"] == NON_FINITE else "first_cause.from_moved"
        return [t(key), " ", html.Span(name, className="ms-mono"), *grown]
    if row["origin"] == HERE and row["kind"] != NON_FINITE:
        return t("first_cause.origin.here_norm")
    return t(f"first_cause.origin.{row['origin']}")


def spread(run: str, rank: int, iteration: int, found: BadOperators) -> list[Any]:
    """The operators with bad values in one iteration, in the order they ran."""
    frame = found.frame
    if frame.empty:
        return [html.P(t("first_cause.no_spread"), className="ms-muted")]
    hops = bool((frame["hops"] > 0).any())
    columns = [TableColumn("first_cause.order", COUNT), *([TableColumn("first_cause.hops", COUNT)] if hops else []),
               _named("bad_operator"), TableColumn("first_cause.type", class_name="ms-debugging-type"), _WHAT,
               TableColumn("first_cause.bad_inputs", COUNT),
               _named("line")]  # fmt: skip
    rows = [
        (
            row["place"] + 1, *([row["hops"] if row["hops"] >= 0 else None] if hops else []),
            _operator(row, address("debugger", run, rank=rank, step=iteration, node=str(row["name"]))), str(row["type"]),
            bilingual(*said(row, found, place)), row["bad_inputs"], _source(row, found.stacks),
        )
        for place, row in enumerate(frame.head(MOST_ROWS).to_dict("records"))
    ]
    return [table(columns, rows), *_more(rows, frame)]


def departures(run: str, frame: pd.DataFrame, loss: str, found: FoundCauses, *, ranked: bool) -> list[Any]:
    """The tensors whose norm left its history, the earliest first, and how long before the loss did."""
    if not found.causes.judgement.judged:
        return [html.P(judged(found)[0], className="ms-muted")]
    if frame.empty:
        return [html.P(t("first_cause.no_departures"), className="ms-muted")]
    lagging = bool(loss) and bool(frame["lag"].notna().any())
    columns = [TableColumn("first_cause.iteration"), *([_RANK] if ranked else []), _named("tensor"),
               TableColumn("first_cause.kind"), TableColumn("first_cause.norm", NUMBER),
               TableColumn("first_cause.usual", NUMBER), TableColumn("first_cause.times", number=True),
               *([TableColumn("first_cause.lag", number=True)] if lagging else [])]  # fmt: skip
    rows = []
    for row in frame.head(MOST_ROWS).to_dict("records"):
        io = f"{row['io']}.{row['slot']}"
        name = html.A(str(row["name"]), className="ms-mono", **tensor_address(run, row, io))
        rows.append((
            _pick(fmt.count(row["iteration"]), "tensor", row, **{"data-node": str(row["name"]), "data-io": io}),
            *([row["rank"]] if ranked else []), [name, " ", html.Span(io, className="ms-muted")],
            t(f"first_cause.{row['kind']}"), row["measured"], row["usual"], times(row["decades"]),
            *([_lag(row["lag"])] if lagging else []),
        ))  # fmt: skip
    return [table(columns, rows), *_more(rows, frame)]


def times(decades: float) -> str:
    """Return a ratio by its decimal logarithm: × 3.2e+04."""
    if decades == -math.inf:
        return "× 0"
    return f"× {fmt.number(10.0**decades, 2)}" if abs(decades) < 300 else f"× 1e{decades:+.0f}"


def _lag(lag: float) -> str:
    return "–" if math.isnan(lag) else f"{int(lag):+,}" if lag else "0"


def _more(rows: Sequence[Any], frame: pd.DataFrame) -> list[Any]:
    return first_of("first_cause.first_rows", len(rows), len(frame))
