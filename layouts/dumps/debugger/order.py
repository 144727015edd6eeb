"""The operators of an iteration in the order they ran, for dumps without a graph: of msprobe modules and calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from parsers.analysis.dumps.operators import operators_of

from layouts.dumps.dump_choice import DumpChoice
from layouts.dumps.open_dump import DumpView
from layouts.kit.state import number

MOST = 500
_NOBODY = np.zeros(0, np.int64)


def order(dump: DumpView, choice: DumpChoice, hits: Mapping[str, int], ask: Any) -> dict[str, Any]:
    """Return a part of the list: [name, type, scope, bad (1, 0 or -1 for unknown), hits], and whether the dump has modules."""
    tensors = dump.tensors
    step = -2 if choice.step is None else choice.step
    here = np.flatnonzero((tensors["rank"].to_numpy() == choice.rank) & (tensors["iteration"].to_numpy() == step))
    ran = [one for operators in operators_of(tensors.iloc[here]).values() for one in operators]
    first, count = int(number(ask, "first", 0.0, 0.0, 2.0**31)), min(int(number(ask, "count", 0.0, 0.0, 2.0**31)), MOST)
    known = dump.measured(_NOBODY).non_finite
    scopes = tensors["scope"].array
    rows: list[list[Any]] = []
    for one in ran[first : first + count]:
        made = here[list(one.outputs or one.inputs)]
        states = known[made]
        bad = 1 if (states == 1).any() else 0 if (states == 0).all() else -1
        rows.append([one.name, one.type, str(scopes[int(made[0])]), bad, hits.get(one.name, 0)])
    names = [one.name for one in ran]
    node = ask.get("node", [""])[-1] if isinstance(ask.get("node", [""]), list) else ""
    modules = bool(len(here)) and bool(dump.parents(int(here[0])))
    return {
        "total": len(ran), "first": first, "rows": rows, "at": names.index(node) if node in names else -1, "modules": modules,
        "of_msprobe": bool(len(here)) and int(tensors["graph"].to_numpy()[here[0]]) < 0,
    }  # fmt: skip
