"""The cause of bad values in a dump as a sentence in both languages, for the page and for digests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parsers.analysis.dumps.first_cause import BEFORE, NON_FINITE, RANK

from layouts.dumps.tables import short
from layouts.kit import units as fmt
from layouts.kit.i18n import Text, both

Row = Mapping[Any, Any]


def cause(row: Row, *, ranks: int) -> Text:
    """Return one sentence about a row of DUMP_CAUSES; ranks is how many were dumped."""
    where = _where(row, ranks=ranks)
    values = {"name": short(str(row["name"])), "from_name": short(str(row["from_name"])) if row["from_name"] else ""}
    if row["kind"] != NON_FINITE:
        key = f"first_cause.{row['kind']}_at"
        return _said(key, where, ("",) * 2, **values, measured=fmt.number(row["measured"]), usual=fmt.number(row["usual"]))
    key = f"first_cause.{row['origin']}"
    if row["origin"] == BEFORE and not row["from_name"]:
        key = "first_cause.before_unnamed"
    if row["origin"] == RANK:
        key = "first_cause.of_rank"
        values["rank"] = fmt.count(row["from_rank"])
    return _said(key, where, counted(row), **values)


def counted(row: Row) -> Text:
    """Return how many values are bad."""
    nan, inf, count = int(row["nan"]), int(row["inf"]), int(row.get("count", -1))
    if nan < 0 or inf < 0:
        return both("first_cause.some_bad")
    parts = [f"{fmt.count(n)} {name}" for n, name in ((nan, "NaN"), (inf, "Inf")) if n]
    if count < 0:
        return (" + ".join(parts),) * 2
    return both("first_cause.bad_of", bad=" + ".join(parts), count=fmt.count(count))


def _said(key: str, where: Text, bad: Text, **values: str) -> Text:
    english = both(key, where=where[0], bad=bad[0], **values)[0]
    chinese = both(key, where=where[1], bad=bad[1], **values)[1]
    return english[:1].upper() + english[1:], chinese


def _where(row: Row, *, ranks: int) -> Text:
    step = fmt.count(row["iteration"])
    return both("first_cause.on_rank", n=step, rank=row["rank"]) if ranks > 1 else both("first_cause.in_iteration", n=step)
