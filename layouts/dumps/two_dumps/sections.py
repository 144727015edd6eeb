"""The sections of the page as components: the sentence and what was compared, the table, operators without a partner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.dumps.two_dumps import (
    HASH,
    NAME,
    SCOPE,
    STATISTICS,
    VALUES,
    WITHOUT_OP,
    LoneProducer,
    differing,
    first_difference,
    first_other_hash,
    inputs_of,
)
from parsers.deferred import pandas as pd

from layouts.dumps.dump_choice import DumpChoice
from layouts.dumps.links import address
from layouts.dumps.tables import bilingual, short
from layouts.dumps.tables import table as table_of
from layouts.dumps.two_dumps.difference_texts import limit, quantity
from layouts.dumps.two_dumps.figure import cosine_text
from layouts.dumps.two_dumps.work import ComparedDumps, TwoDumpsRequest
from layouts.kit import units as fmt
from layouts.kit.i18n import both, t
from layouts.kit.tables import COUNT, Cell, TableColumn, TableRow, first_of

MOST_ROWS = 300
"""Rows of a table on the page; its file has all."""


def _error(value: float) -> str:
    return "–" if np.isnan(value) else fmt.number(value, 3)


ERRORS: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "cosine": ("cosine", cosine_text), "max_absolute": ("max_absolute", _error), "max_relative": ("max_relative", _error),
    "rms": ("root_mean_square", _error),
}  # fmt: skip
"""Columns that only values give: text key -> column of the frame, and how it is written."""


# The sentence --------------------------------------------------------------------------------------------------------


def head(
    ask: TwoDumpsRequest, names: tuple[str, str], found: ComparedDumps, producers: Sequence[LoneProducer] = (), *,
    finished: bool
) -> list[Any]:
    """Which output is the first that differs, whether its inputs do, and what was compared with what.

    producers are what that operator takes values of and only one dump has.
    """
    differences = found.differences
    place = first_difference(differences, ask.tolerance)
    said = _sentence(ask, found, place, finished=finished)
    lines: list[Any] = [html.P(said, className="ms-two-dumps-said")]
    if place is not None:
        row = differences.iloc[place].to_dict()
        name = html.A(str(row["name"]), className="ms-mono", **tensor_address(ask, row))
        lines.append(html.P([name, " ", _inputs(ask, differences, place, finished=finished)], className="ms-two-dumps-where"))
        lines += [html.P(_lone(one)) for one in producers]
    lines.append(_sides(ask, names))
    notes = _notes(found, finished=finished)
    return [*lines, html.Ul([html.Li(one) for one in notes], className="ms-two-dumps-notes")] if notes else lines


def _lone(producer: LoneProducer) -> Any:
    values = {"slot": fmt.count(producer.slot), "name": producer.name, "side": "AB"[producer.side]}
    return t("two_dumps.lone_producer", **values)


def _sentence(ask: TwoDumpsRequest, found: ComparedDumps, place: int | None, *, finished: bool) -> Any:
    limited, differences = limit(ask.tolerance), found.differences
    if place is None:
        if not ((found.pairs["row"] >= 0) & (found.pairs["other_row"] >= 0)).any():
            return t("two_dumps.nothing_shared")
        if not finished:
            return t("two_dumps.none_yet", tolerance=limited)
        if (other := first_other_hash(differences)) is not None:
            row = differences.iloc[other].to_dict()
            return t("two_dumps.first_hash", tensor=f"{row['io']} {row['slot']}", name=short(str(row["name"])))
        outputs = differences["difference"][differences["io"] != "input"]
        compared, left = int(outputs.notna().sum()), int(outputs.isna().sum())
        if not compared:
            return t("two_dumps.nothing")
        values = {"tolerance": limited, "n": fmt.count(compared)}
        return t("two_dumps.none_partly", left=fmt.count(left), **values) if left else t("two_dumps.none", **values)
    row = differences.iloc[place].to_dict()
    values = {"tensor": f"{row['io']} {row['slot']}", "name": short(str(row["name"])), "tolerance": limited}
    if row["difference"] != np.inf:
        return t("two_dumps.first", difference=quantity(row["difference"]), **values)
    if row["unlike"] > 0:
        return t("two_dumps.first_unlike", n=fmt.count(row["unlike"]), count=fmt.count(row["count"]), **values)
    return t("two_dumps.first_infinite", **values)


def _inputs(ask: TwoDumpsRequest, differences: pd.DataFrame, place: int, *, finished: bool) -> Any:
    """Whether the inputs of the first operator that differs do."""
    inputs = inputs_of(differences, place)
    if inputs.empty:
        return t("two_dumps.inputs_absent" if finished else "two_dumps.inputs_later")
    beyond = inputs[differing(inputs, ask.tolerance)]
    if beyond.empty:
        compared = int(inputs["difference"].notna().sum())
        if compared == len(inputs):
            return t("two_dumps.inputs_same")
        if not finished:
            return t("two_dumps.inputs_later")
        if not compared:
            return t("two_dumps.inputs_unknown")
        return t("two_dumps.inputs_partly", n=fmt.count(compared), total=fmt.count(len(inputs)))
    worst = beyond.iloc[int(beyond["difference"].to_numpy().argmax())]
    values = {"n": fmt.count(len(beyond)), "total": fmt.count(len(inputs)), "slot": fmt.count(int(worst["slot"]))}
    return t("two_dumps.inputs_differ", difference=quantity(float(worst["difference"])), **values)


def _sides(ask: TwoDumpsRequest, names: tuple[str, str]) -> html.P:
    parts = []
    for letter, name, choice in zip("AB", names, (ask.one, ask.other), strict=True):
        texts = both("two_dumps.side", rank=fmt.count(choice.rank), step=fmt.count(choice.step or 0))
        parts.append(html.Span([html.B(letter), f" {name}, ", bilingual(*texts)], className="ms-two-dumps-side"))
    return html.P(parts, className="ms-two-dumps-sides ms-muted")


def _notes(found: ComparedDumps, *, finished: bool) -> list[Any]:
    """How operators were matched, what was compared by statistics only, and what could not be compared."""
    pairs, differences = found.pairs, found.differences
    notes = []
    matched = pairs[(pairs["row"] >= 0) & (pairs["other_row"] >= 0)]
    how = [(name, int((matched["how"] == name).sum())) for name in (NAME, WITHOUT_OP, SCOPE)]
    if len(matched) and how[0][1] < len(matched):
        english, chinese = (_listed(how, which) for which in (0, 1))
        notes.append(bilingual(both("two_dumps.matched", how=english)[0], both("two_dumps.matched", how=chinese)[1]))
    for by in (STATISTICS, HASH):
        count = int((differences["by"] == by).sum())
        if count:
            notes.append(t(f"two_dumps.by_{by}", n=fmt.count(count), total=fmt.count(len(differences))))
    if finished:
        reasons = differences["why"][differences["why"] != ""].astype(str).value_counts()
        for why, count in reasons.items():
            notes.append(t(f"two_dumps.why.{str(why).replace(' ', '_')}", n=fmt.count(int(count))))
    return notes


def _listed(how: Sequence[tuple[str, int]], which: int) -> str:
    texts = [both(f"two_dumps.how.{name}_n", n=fmt.count(count))[which] for name, count in how if count]
    return (", ", "，")[which].join(texts)


# Tables --------------------------------------------------------------------------------------------------------------


def tensor_address(ask: TwoDumpsRequest, row: Mapping[Any, Any]) -> Mapping[str, Any]:
    """Return the attributes of a link to a tensor in the debugger, beside its partner."""
    other = ask.other
    state: dict[str, str | int] = {"with": other.run, "with_rank": other.rank, "with_step": other.step or 0}
    io = f"{row['io']}.{row['slot']}"
    return address("debugger", ask.one.run, rank=ask.one.rank, step=ask.one.step, node=str(row["name"]), io=io, **state)


def chosen(ask: TwoDumpsRequest, differences: pd.DataFrame) -> np.ndarray:
    """Return the positions of the rows that are shown."""
    mask = np.ones(len(differences), np.bool_)
    if ask.shown != "all":
        mask &= (differences["io"] != "input").to_numpy()
    if ask.shown == "differing":
        mask &= differing(differences, ask.tolerance)
    if ask.find:
        wanted = ask.find.lower()
        texts = [differences[name].array for name in ("name", "type", "other_name")]
        found = [np.array([*(wanted in str(one).lower() for one in text.categories), False])[text.codes] for text in texts]
        mask &= np.logical_or.reduce(found)
    return np.flatnonzero(mask)


def table(ask: TwoDumpsRequest, differences: pd.DataFrame) -> list[Any]:
    """The tensors in the order of execution with their differences."""
    places = chosen(ask, differences)
    if not len(places):
        return [html.P(t("two_dumps.no_rows"), className="ms-muted")]
    rows = differences.iloc[places[:MOST_ROWS]]
    renamed = bool((rows["how"] != NAME).any())
    plain = bool((rows["by"] != VALUES).any())
    errors = ERRORS if (rows["by"] == VALUES).any() else {}
    columns = [
        TableColumn("two_dumps.order", COUNT), TableColumn("two_dumps.operator", class_name="ms-debugging-name"),
        TableColumn("two_dumps.type", class_name="ms-debugging-type"), TableColumn("two_dumps.tensor"),
        TableColumn("two_dumps.difference", number=True),
        *(TableColumn(f"two_dumps.{name}", number=True) for name in errors),
        *([TableColumn("two_dumps.compared")] if plain else []),
    ]  # fmt: skip
    lines = []
    for place, beyond, row in zip(
        places.tolist(), differing(rows, ask.tolerance).tolist(), rows.to_dict("records"), strict=False
    ):
        name: list[Any] = [html.A(str(row["name"]), className="ms-mono", **tensor_address(ask, row))]
        if renamed and row["how"] != NAME:
            name += [html.Br(), html.Span(f"↔ {row['other_name']}", className="ms-mono ms-muted")]
        tensor = f"{row['io']}.{row['slot']} {row['key']}".rstrip()
        difference = Cell(quantity(row["difference"]), class_name="ms-two-dumps-beyond" if beyond else "")
        lines.append(TableRow((
            row["place"] + 1, name, str(row["type"]), tensor, difference,
            *(write(row[column]) for column, write in errors.values()), *([_by(row)] if plain else []),
        ), props={"data-place": str(place)}))  # fmt: skip
    return [table_of(columns, lines), *first_of("two_dumps.first_rows", len(lines), len(places))]


def _by(row: Mapping[Any, Any]) -> Any:
    if row["why"]:
        return t(f"two_dumps.reason.{str(row['why']).replace(' ', '_')}")
    return t(f"two_dumps.by.{row['by']}")


def alone(ask: TwoDumpsRequest, pairs: pd.DataFrame) -> list[Any]:
    """Operators and tensors that only one dump has, with links."""
    lists = []
    for letter, choice, column, other in (("A", ask.one, "row", "other_row"), ("B", ask.other, "other_row", "row")):
        left = pairs[(pairs[column] >= 0) & (pairs[other] < 0)]
        name = "name" if letter == "A" else "other_name"
        found = left.drop_duplicates([name]) if len(left) else left
        items = [html.Li(_alone(choice, str(row[name]), row)) for row in found.head(MOST_ROWS).to_dict("records")]
        title = t("two_dumps.only", side=letter, n=fmt.count(len(found)))
        more = [html.P(t("two_dumps.first_rows", n=fmt.count(MOST_ROWS), total=fmt.count(len(found))), className="ms-muted")]
        lists.append(html.Div([html.H4(title), html.Ul(items), *(more if len(found) > MOST_ROWS else [])]))
    return [html.Div(lists, className="ms-two-dumps-alone")]


def _alone(choice: DumpChoice, name: str, row: Mapping[Any, Any]) -> list[Any]:
    io = f"{row['io']}.{row['slot']}"
    link = address("debugger", choice.run, rank=choice.rank, step=choice.step, node=name, io=io)
    return [html.A(name, className="ms-mono", **link), html.Span(f" {row['type']}", className="ms-muted")]
