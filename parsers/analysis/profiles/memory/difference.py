"""Two ranks or sessions side by side: their groups of blocks, and their peaks."""

from __future__ import annotations

from parsers.analysis.profiles.memory.curves import components, peak
from parsers.deferred import pandas as pd


def difference(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return groups of two moments (group, blocks, size_bytes) side by side, the largest difference first.

    Columns: group, first_blocks, second_blocks, first_bytes, second_bytes, difference_bytes (second - first). A group that only
    one of them has counts 0 in the other.
    """
    joint = first.merge(second, on="group", how="outer", suffixes=("_1", "_2"))
    joint = joint.fillna(dict.fromkeys(("blocks_1", "blocks_2", "size_bytes_1", "size_bytes_2"), 0))
    made = pd.DataFrame(
        {
            "group": joint["group"].to_numpy(object), "first_blocks": joint["blocks_1"].to_numpy("int64"),
            "second_blocks": joint["blocks_2"].to_numpy("int64"), "first_bytes": joint["size_bytes_1"].to_numpy("int64"),
            "second_bytes": joint["size_bytes_2"].to_numpy("int64"),
        }
    )  # fmt: skip
    made["difference_bytes"] = made["second_bytes"] - made["first_bytes"]
    return made.sort_values("difference_bytes", key=abs, ascending=False, kind="stable", ignore_index=True)


def peaks(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return the peaks of two frames `memory` by component: component, and measures of both in bytes, -1 for unknown."""
    rows = []
    for component in dict.fromkeys((*components(first), *components(second))):
        row: dict[str, str | int] = {"component": component}
        for name, memory in (("first", first), ("second", second)):
            found = peak(memory, component)
            for measure in ("allocated", "reserved", "unused"):
                row[f"{name}_{measure}_bytes"] = getattr(found, measure) if found is not None else -1
        rows.append(row)
    names = [f"{name}_{measure}_bytes" for name in ("first", "second") for measure in ("allocated", "reserved", "unused")]
    return pd.DataFrame(rows, columns=["component", *names])
