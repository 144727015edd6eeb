"""What pages about a job offer to choose from: its groups and steps, from its frames."""

from __future__ import annotations

from collections import Counter
from typing import Any

from parsers.deferred import pandas as pd

_LONGEST = 12


def offers(groups: pd.DataFrame | None, steps: pd.DataFrame | None) -> dict[str, Any]:
    """Return groups, [[hash, name to show], ...] by kind and ranks, and the step numbers, for `offer` in the browser.

    groups is of schema GROUPS; steps of any schema with a column step, of which -1 (no step was marked) is left out.
    """
    known = [] if steps is None or steps.empty else sorted({int(step) for step in pd.unique(steps["step"])} - {-1})
    return {"groups": [] if groups is None else group_choices(groups), "steps": known}


def group_choices(groups: pd.DataFrame) -> list[list[str]]:
    """Return (hash, name to show) of each group with a hash, by kind and first rank; names are unique."""
    rows = groups[["group", "name", "kind", "ranks"]].astype("str")
    rows = rows[rows["group"] != ""].drop_duplicates("group")
    named = [(kind or "", ranks, name, group) for group, name, kind, ranks in rows.itertuples(index=False)]
    named.sort(key=lambda one: (one[0] == "", one[0], _first(one[1]), one[1], one[2]))
    titles = [group_title(kind, ranks, name, group) for kind, ranks, name, group in named]
    alike = Counter(titles)
    return [
        [group, title if alike[title] == 1 else f"{title} ({name or group})"]
        for (_, _, name, group), title in zip(named, titles, strict=True)
    ]


def group_title(kind: str, ranks: str, name: str, group: str) -> str:
    """Return what a group is called: its kind and ranks, `tp 0-7`; of an unknown kind its name, else its hash, shortened."""
    hashed = f"{group[:4]}…{group[-4:]}" if len(group) > _LONGEST else group
    return f"{kind or name or hashed} {ranks}".rstrip()


def _first(ranks: str) -> int:
    first = ranks.partition(",")[0].partition("-")[0]
    return int(first) if first.isdigit() else -1
