"""The strip of executions: which graph ran when, with or without data."""

from __future__ import annotations

from typing import Any

from layouts.dumps.open_dump import DumpView

MOST = 200_000
"""Maximum executions that are sent."""


def strip(dump: DumpView, rank: int) -> dict[str, Any]:
    """Return the runs of the graphs of a rank in the order they ran: columns step, graph, tensors, and whether there are more.

    Runs of root graphs are those that the dump lists; `with` are the other graphs that ran in each iteration, which belong to
    them. Without listed runs, all that have tensors count.
    """
    frame = dump.executions
    frame = frame[(frame["rank"] == rank) & (frame["iteration"] >= 0)]
    roots = frame[frame["listed"]] if bool(frame["listed"].any()) else frame
    more = frame[~frame["listed"]] if len(roots) < len(frame) else frame.iloc[:0]
    timed = roots[roots["time_ns"] >= 0]
    steps = roots.sort_values(["time_ns", "order"] if len(timed) == len(roots) else ["graph", "order"], kind="stable")
    steps = steps[:MOST]
    within: dict[str, list[int]] = {}
    for step, graph in zip(more["iteration"].tolist(), more["graph"].tolist(), strict=True):
        within.setdefault(str(step), []).append(int(graph))
    return {
        "state": "ready", "step": steps["iteration"].tolist(), "graph": steps["graph"].tolist(),
        "tensors": steps["tensors"].tolist(), "with": within, "left": max(0, len(roots) - MOST),
    }  # fmt: skip


def graphs_of(dump: DumpView, rank: int, step: int | None) -> list[int]:
    """Return the graphs that ran in an iteration of a rank, root graphs first, and those of which the dump has a drawing."""
    frame = dump.executions
    here = frame[(frame["rank"] == rank) & (frame["iteration"] == (-2 if step is None else step))]
    ordered = here.sort_values(["listed", "graph"], ascending=[False, True], kind="stable")["graph"].tolist()
    known = [graph for of, graph in dump.graphs if of == rank]
    ran = [graph for graph in dict.fromkeys(int(one) for one in ordered) if graph in known]
    return ran or known
