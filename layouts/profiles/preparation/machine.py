"""The cards about the machine during the profile: CPU and memory. Each function returns None if it has nothing to show."""

from __future__ import annotations

from typing import Any

import numpy as np
from dash import html
from parsers.analysis.profiles.preparation import cpu_use
from parsers.deferred import pandas as pd

from layouts.kit import units as fmt
from layouts.kit.i18n import t
from layouts.profiles.preparation.card_data import CardData
from layouts.profiles.preparation.elements import SortedCell, csv, plot, table
from layouts.profiles.preparation.figures import COLOURS, SHARES, QueueCurve, figure

MOST_CURVES = 10
"""Maximum number of curves in a plot. Of the operations, those that used the CPU most are drawn."""
_GIB = float(1 << 30)
_USES = ("user", "system", "io", "idle")


def cpu(data: CardData) -> Any:
    """Return the CPU use of the machine, the process and the operations over the chosen steps, and its means."""
    every = data.frames["cpu"]
    if every is None or not len(every):
        return None
    step = every["step"]
    first, last = data.ask.first, data.ask.last
    chosen = every[(step >= (-1 if first is None else first)) & (step <= (step.max() if last is None else last))]
    if not len(chosen):
        return html.P(t("preparation.no_steps", first=fmt.count(int(step.min())), last=fmt.count(int(step.max()))))
    plots = [_cpu_plot(chosen[chosen["scope"] == scope], scope) for scope in ("machine", "process")]
    plots.append(_operators_plot(data, chosen[chosen["scope"] == "operator"]))
    use = cpu_use(every, first, last)
    named = data.types
    body = [
        (t(f"preparation.scope.{row['scope']}") if row["op_id"] < 0 else named.get(int(row["op_id"]), str(row["op_id"])),
         SortedCell(fmt.count(int(row["samples"])), row["samples"]),
         *(SortedCell(fmt.percent(row[part]), row[part]) for part in _USES))
        for _, row in use.iterrows()
    ]  # fmt: skip
    machine = chosen[chosen["scope"] == "machine"]
    cores = [t("preparation.cores", n=fmt.count(int(chosen["cores"].max())))]
    for name in ("runnable", "context_switches"):
        values = machine[name].to_numpy()
        if np.isfinite(values).any():
            cores.append(t(f"preparation.{name}", n=fmt.number(float(np.nanmean(values)))))
    head = ["preparation.col.scope", "preparation.col.samples", *(f"preparation.use.{part}" for part in _USES)]
    numbering = {"data-unnumbered": "1"} if int(step.max()) < 0 else {}
    facts = html.P([html.Span(one) for one in cores], className="ms-muted ms-preparation-facts", **numbering)
    shown = [plot for plot in plots if plot is not None]
    return [facts, html.Div(shown, className="ms-preparation-plots"), table(head, body, [csv(data, "cpu")])]


def _cpu_plot(rows: pd.DataFrame, scope: str) -> Any:
    if not len(rows):
        return None
    drawn, names = [], []
    for colour, part in zip(COLOURS, _USES, strict=False):
        value = rows[part].to_numpy()
        if np.isfinite(value).any():
            drawn.append(QueueCurve(rows["sample"].to_numpy(np.float64), value, colour))
            names.append((colour, t(f"preparation.use.{part}")))
    return html.Div(plot(figure(drawn, form=SHARES), names, f"preparation.cpu.{scope}"))


def _operators_plot(data: CardData, rows: pd.DataFrame) -> Any:
    """Curves of the operations that used the CPU most, and of the sum of all operations."""
    if not len(rows):
        return None
    use = (rows["user"] + rows["system"]).rename("use")
    wide = pd.DataFrame({"sample": rows["sample"], "op": rows["op_id"], "use": use}).pivot_table("use", "sample", "op", "sum")
    named = data.types
    most = wide.mean().sort_values(ascending=False).index[: MOST_CURVES - 1]
    x = wide.index.to_numpy(np.float64)
    drawn = [QueueCurve(x, wide.sum(axis=1).to_numpy(), "#7d8794", dash="dot")]
    names: list[tuple[str, Any]] = [("#7d8794", t("preparation.sum"))]
    for colour, op in zip(COLOURS, most, strict=False):
        drawn.append(QueueCurve(x, wide[op].to_numpy(), colour))
        names.append((colour, f"{named.get(int(op), '')} {op}".strip()))
    return html.Div(plot(figure(drawn, form=SHARES), names, "preparation.cpu.operator"))


def memory(data: CardData) -> Any:
    """Return the memory of machine, process and MindSpore's pool over time."""
    rows = data.frames["host_memory"]
    if rows is None or not len(rows):
        return None
    when = rows["time_ns"].to_numpy(np.float64)
    start = when[when >= 0].min() if (when >= 0).any() else 0.0
    plots = []
    for scope, some in rows.groupby("scope", observed=True, sort=False):
        drawn, names = [], []
        for colour, (measure, one) in zip(COLOURS, some.groupby("measure", observed=True, sort=False), strict=False):
            at = one["time_ns"].to_numpy(np.float64)
            x = (at - start) / 1e9 if (at >= 0).all() else np.arange(len(at), dtype=np.float64)
            drawn.append(QueueCurve(x, one["size_bytes"].to_numpy(np.float64) / _GIB, colour))
            names.append((colour, f"{measure}"))
        if drawn:
            plots.append(html.Div(plot(figure(drawn, form=":.4~g", suffix=" GiB"), names, f"preparation.memory.{scope}")))
    files = html.P(csv(data, "host_memory"), className="ms-preparation-files")
    return [html.Div(plots, className="ms-preparation-plots"), files]
