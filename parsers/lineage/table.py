"""The lineage table: a row of settings per run, with final and best values of its scalars."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from parsers.analysis.curves.expressions import ExpressionError, ordered_like, parse_expression
from parsers.analysis.curves.final_values import final
from parsers.analysis.curves.segments import most_steps
from parsers.deferred import pandas as pd
from parsers.frames import LINEAGE, LINEAGE_TABLE
from parsers.lineage.values import Setting, not_finite
from parsers.model import Series, Source
from parsers.names import EXPRESSION, printable
from parsers.schema import Schema

MOST_TAGS = 10
"""Maximum scalars that get columns by default."""
PREFIXES = tuple(column.name for column in LINEAGE_TABLE.further)
_SMALLER = re.compile(
    r"loss|err|perplexity|ppl|\bmape\b|\bmae\b|\br?mse\b|\b[wc]er\b|\bfid\b|\bnll\b|latency|distance|divergence",
    re.IGNORECASE,
)
_GREATER = re.compile(
    r"acc|\bf1|precision|recall|iou|\bm?ap\d*\b|auc|bleu|rouge|psnr|ssim|score|success|reward|return|\btop ?[15]\b|dice|\br2\b",
    re.IGNORECASE,
)


def better(name: str) -> str:
    """Return whether "min" or "max" is better for a scalar or metric, judged by its name; "" if the name does not tell.

    A derived curve has the direction of a tag only if it has its order: less is better for `log10(loss)`, not for
    `train/loss - val/loss`.
    """
    if name.startswith(EXPRESSION):
        name = _ordered_like(name.removeprefix(EXPRESSION))
    words = re.sub(r"[^A-Za-z0-9]+", " ", name)
    return "min" if _SMALLER.search(words) else "max" if _GREATER.search(words) else ""


def _ordered_like(text: str) -> str:
    """Return the tag whose order the values of an expression have, or ""; a text that is no expression is a tag."""
    try:
        return ordered_like(parse_expression(text)) or ""
    except ExpressionError:
        return text


class DescribedRun(Protocol):
    """What a row of the lineage table needs of a run; `parsers.Run` satisfies it."""

    @property
    def name(self) -> str:
        """Name of the row."""
        ...

    @property
    def path(self) -> str:
        """Directory."""
        ...

    @property
    def source(self) -> Source:
        """Its files."""
        ...

    @property
    def settings(self) -> Mapping[str, Setting]:
        """Settings by column of LINEAGE."""
        ...

    @property
    def ranks(self) -> Sequence[DescribedRun]:
        """The ranks of a job."""
        ...

    def tags(self, kind: str = "scalar") -> tuple[str, ...]:
        """Its tags of one kind."""
        ...

    def series(self, tag: str) -> Series:
        """One of its scalars."""
        ...


class LineageRow(NamedTuple):
    """One run: name, directory, settings, and columns derived from its scalars."""

    run: str
    path: str
    settings: Mapping[str, Setting]
    derived: Mapping[str, int | float]

    @property
    def values(self) -> dict[str, Setting]:
        """All values by column."""
        return {**self.settings, **self.derived, "run": self.run, "path": self.path}


def lineage_table(
    runs: Iterable[DescribedRun], *, scalars: Sequence[str] | None = None, names: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return a row for every run and every rank of a job (schema LINEAGE_TABLE), in the order given.

    scalars are the tags that get columns last/ and best/; by default those that most runs share, at most ten. names replace the
    names of the rows, since runs from different directories may have equal names; there must be one per row.
    """
    parts = [part for run in runs for part in (run, *run.ranks) if part.source.files or not part.ranks]
    if names is not None and len(names) != len(parts):
        raise ValueError(f"names: expected {len(parts)}, one for every run and rank, found {len(names)}")
    tags = shared_tags([part.tags("scalar") for part in parts]) if scalars is None else tuple(dict.fromkeys(scalars))
    shown = [part.name for part in parts] if names is None else names
    return lineage_frame([run_row(part, tags, name) for part, name in zip(parts, shown, strict=True)])


def run_row(run: DescribedRun, scalars: Sequence[str] = (), name: str | None = None) -> LineageRow:
    """Return the row of one run with columns derived from these scalars; its ranks are separate rows."""
    derived = derive(run.tags("scalar"), run.series, scalars)
    return LineageRow(run.name if name is None else name, printable(run.path), run.settings, derived)


def shared_tags(tags: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the tags that most runs share, at most ten, in order of appearance."""
    counts: dict[str, int] = {}
    for tag in (tag for own in tags for tag in own):
        counts[tag] = counts.get(tag, 0) + 1
    shared = [tag for tag in counts if counts[tag] > 1 or len(tags) == 1]
    chosen = set(sorted(shared, key=lambda tag: -counts[tag])[:MOST_TAGS])
    return tuple(tag for tag in counts if tag in chosen)


def derive(
    tags: Sequence[str], series: Callable[[str], Series | None], scalars: Sequence[str]
) -> dict[str, int | float]:
    """Return the columns derived from a run's scalars: tags are all it has, scalars those that get columns last/ and best/."""
    known = {tag: one for tag in tags if (one := series(tag)) is not None and len(one.step)}
    lengths = {tag: len(one.step) for tag, one in known.items()}
    found: dict[str, int | float] = {"steps": most_steps(lengths, known.__getitem__)}
    times = list({id(one.wall_time): one.wall_time for one in known.values()}.values())  # tags of one record share theirs
    if times:
        found["duration"] = max(float(one.max()) for one in times) - min(float(one.min()) for one in times)
    for tag in scalars:
        if tag in known:
            found |= _ends(tag, known[tag])
    return found


def _ends(tag: str, series: Series) -> dict[str, float]:
    ends = final(series, better(tag))
    return {f"last/{tag}": ends.last} | ({f"best/{tag}": ends.best} if ends.best_step >= 0 else {})


# Frames ------------------------------------------------------------------------------------------------------------


def row_frame(run: str, path: str, settings: Mapping[str, Setting]) -> pd.DataFrame:
    """The frame of one run (schema LINEAGE)."""
    return _frame(LINEAGE, [LineageRow(run, printable(path), settings, {})])


def lineage_frame(rows: Sequence[LineageRow]) -> pd.DataFrame:
    """The frame of rows (schema LINEAGE_TABLE)."""
    return _frame(LINEAGE_TABLE, rows)


def settings_frame(rows: Sequence[LineageRow], names: Iterable[str]) -> pd.DataFrame:
    """Build a frame of `run` and these columns only, each of the narrowest type, as the further ones of LINEAGE_TABLE."""
    values = [one.values for one in rows]
    columns = {name: _unified([one.get(name) for one in values], numbers=False) for name in names}
    return pd.DataFrame({"run": _typed([one.run for one in rows], "str"), **columns}, copy=False)


def _frame(schema: Schema, rows: Sequence[LineageRow]) -> pd.DataFrame:
    values = [one.values for one in rows]
    columns: dict[str, Any] = {
        column.name: _typed([one.get(column.name) for one in values], column.dtype) for column in schema.columns
    }
    for name in further(values):
        columns[name] = _unified([one.get(name) for one in values], numbers=name.startswith(("last/", "best/")))
    return pd.DataFrame(columns, copy=False)


def further(rows: Iterable[Mapping[str, Setting]]) -> list[str]:
    """Return the further columns of rows, in the order of LINEAGE_TABLE.further, then of first appearance."""
    found = dict.fromkeys(name for one in rows for name in one)
    return [name for prefix in PREFIXES for name in found if name.startswith(prefix)]


def _typed(values: Sequence[Setting | None], dtype: str) -> Any:
    if dtype == "float64":
        return np.array([np.nan if value is None else value for value in values], np.float64)
    return pd.Series(list(values), dtype=dtype).array


def _unified(values: Sequence[Setting | None], *, numbers: bool) -> Any:
    """Build a column of the narrowest type that holds all values; see LINEAGE_TABLE."""
    types = {type(value) for value in values if value is not None}
    if numbers or types == {float}:
        return _typed(values, "float64")
    if types == {bool}:
        return _typed(values, "boolean")
    if types == {int} and all(value is None or abs(value) < 2**63 for value in values if not isinstance(value, str)):
        return _typed(values, "Int64")
    if types <= {int, float, str} and types & {int, float}:
        numeric = [not_finite(value) if isinstance(value, str) else value for value in values]
        lost = any(number is None and value is not None for number, value in zip(numeric, values, strict=True))
        if not lost and all(number is None or abs(number) < 2**1023 or number != number for number in numeric):
            return _typed(numeric, "float64")
    if types == {str}:
        return _typed(values, "str")
    return np.array(list(values), dtype=object)
