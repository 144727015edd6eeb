"""The contents of the page as a CSV file: a line for each setting, result and differing pipeline parameter."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any

from parsers import PayloadError
from parsers.analysis.lineage.pipelines import MISSING

from layouts.lineage.two_runs import differences
from layouts.lineage.two_runs.run_pair import Pair
from layouts.sources import Sources

HEAD = ("section", "name", "detail", "one", "other")


def file(source: Sources, pair: Pair) -> dict[str, str]:
    """Return {"filename", "content"} for dcc.Download. Values are written in full precision; missing ones are empty."""
    written = io.StringIO()
    rows = csv.writer(written)
    rows.writerow(HEAD)
    rows.writerow(("run", "", "", *pair.runs))
    rows.writerows(_rows(source, pair))
    names = "_".join(re.sub(r"[^\w.-]+", "_", name).strip("._")[:40] or "run" for name in pair.names)
    return {"filename": f"{names}.csv", "content": written.getvalue()}


def _rows(source: Sources, pair: Pair) -> Iterator[tuple[str, str, str, str, str]]:
    for section, lines in (
        ("setting", differences.settings(source, pair.runs)), ("metric", differences.metrics(source, pair.runs)),
    ):  # fmt: skip
        for line in lines:
            yield section, line.column, "", _text(line.values[0]), _text(line.values[1])
    for scalar in differences.scalars(source, pair.runs):
        for detail in ("last", "last_step", "best", "best_step"):
            if scalar.better or detail.startswith("last"):
                one, other = (MISSING if end is None else getattr(end, detail) for end in scalar.ends)
                yield "scalar", scalar.tag, detail, _text(one), _text(other)
    try:
        for each in differences.pipelines(source, pair.runs) or ():
            yield "pipeline", each.operation, each.parameter, _text(each.values[0]), _text(each.values[1])
    except (KeyError, PayloadError):
        return  # the page says which run has no pipeline, or why it cannot be read


def _text(value: Any) -> str:
    if value is MISSING or value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
