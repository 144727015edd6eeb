"""Texts of the list of runs beside charts, the counterpart of assets/kit/cards/run_list.js."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "runlist.title": ("Runs in the charts", "图中的训练"),
    "runlist.all": ("Show all", "显示全部"),
    "runlist.last": ("last value", "最新值"),
    "runlist.step": ("step {n}", "步骤 {n}"),
    "runlist.hint": (
        "Click: hide or show. Alt+click: show it alone. Point at it: highlight it in all charts.",
        "单击：隐藏或显示；Alt+单击：只显示它；指向：在所有图中突出显示。",
    ),
})  # fmt: skip
