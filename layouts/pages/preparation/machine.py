"""The cards about the machine meanwhile: CPU and memory. A card with nothing to show is None."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from dash import html
from parsers.analysis.preparation import cpu_use

from layouts import format as fmt
from layouts.i18n import t
from layouts.pages.preparation.figures import COLOURS, Curve, figure
from layouts.pages.preparation.given import Given
from layouts.pages.preparation.pieces import Cell, csv, percent, plot, table

MOST_CURVES = 10
"""Curves of one plot; of operations those that used most."""
_GIB = float(1 << 30)
_USES = ("user", "system", "io", "idle")


def cpu(of: Given) -> Any:
    """Use of the CPU by machine, process and operations, over the chosen steps, with its means."""
    every = of.frames["cpu"]
    if every is None or not len(every):
        return None
    step = every["step"]
    first, last = of.ask.first, of.ask.last
    chosen = every[(step >= (-1 if first is None else first)) & (step <= (step.max() if last is None else last))]
    if not len(chosen):
        return html.P(t("preparation.no_steps", first=fmt.count(int(step.min())), last=fmt.count(int(step.max()))))
    plots = [_cpu_plot(chosen[chosen["scope"] == scope], scope) for scope in ("machine", "process")]
    plots.append(_operators_plot(of, chosen[chosen["scope"] == "operator"]))
    use = cpu_use(every, first, last)
    named = of.types
    body = [
        (t(f"preparation.scope.{row['scope']}") if row["op_id"] < 0 else named.get(int(row["op_id"]), str(row["op_id"])),
         Cell(fmt.count(int(row["samples"])), row["samples"]), *(Cell(percent(row[part]), row[part]) for part in _USES))
        for _, row in use.iterrows()
    ]  # fmt: skip
    machine = chosen[chosen["scope"] == "machine"]
    cores = [t("preparation.cores", n=fmt.count(int(chosen["cores"].max())))]
    for name in ("runnable", "context_switches"):
        values = machine[name].to_numpy()
        if np.isfinite(values).any():
            cores.append(t(f"preparation.{name}", n=fmt.number(float(np.nanmean(values)))))
    head = ["preparation.col.scope", "preparation.col.samples", *(f"preparation.use.{part}" for part in _USES)]
    told = {"data-unnumbered": "1"} if int(step.max()) < 0 else {}
    facts = html.P([html.Span(one) for one in cores], className="ms-muted ms-preparation-facts", **told)
    shown = [plot for plot in plots if plot is not None]
    return [facts, html.Div(shown, className="ms-preparation-plots"), table(head, body, [csv(of, "cpu")])]


def _cpu_plot(rows: pd.DataFrame, scope: str) -> Any:
    if not len(rows):
        return None
    drawn, names = [], []
    for colour, part in zip(COLOURS, _USES, strict=False):
        value = rows[part].to_numpy()
        if np.isfinite(value).any():
            drawn.append(Curve(rows["sample"].to_numpy(np.float64), value, colour))
            names.append((colour, t(f"preparation.use.{part}")))
    return html.Div(plot(figure(drawn, form=":.1%"), names, f"preparation.cpu.{scope}"))


def _operators_plot(of: Given, rows: pd.DataFrame) -> Any:
    """One curve per operation, those that used most, and their sum."""
    if not len(rows):
        return None
    use = (rows["user"] + rows["system"]).rename("use")
    wide = pd.DataFrame({"sample": rows["sample"], "op": rows["op_id"], "use": use}).pivot_table("use", "sample", "op", "sum")
    named = of.types
    most = wide.mean().sort_values(ascending=False).index[: MOST_CURVES - 1]
    x = wide.index.to_numpy(np.float64)
    drawn = [Curve(x, wide.sum(axis=1).to_numpy(), "#7d8794", dash="dot")]
    names: list[tuple[str, Any]] = [("#7d8794", t("preparation.sum"))]
    for colour, op in zip(COLOURS, most, strict=False):
        drawn.append(Curve(x, wide[op].to_numpy(), colour))
        names.append((colour, f"{named.get(int(op), '')} {op}".strip()))
    return html.Div(plot(figure(drawn, form=":.1%"), names, "preparation.cpu.operator"))


def memory(of: Given) -> Any:
    """Memory of machine, process and pool over time."""
    rows = of.frames["host_memory"]
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
            drawn.append(Curve(x, one["size_bytes"].to_numpy(np.float64) / _GIB, colour))
            names.append((colour, f"{measure}"))
        if drawn:
            plots.append(html.Div(plot(figure(drawn, form=":.4~g", suffix=" GiB"), names, f"preparation.memory.{scope}")))
    files = html.P(csv(of, "host_memory"), className="ms-preparation-files")
    return [html.Div(plots, className="ms-preparation-plots"), files]
