"""Texts of the list of runs beside charts, the counterpart of assets/kit/cards/run_list.js."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "runlist.title": ("Runs in the charts", "图中的训练"),
    "runlist.all": "common.show_all",
    "runlist.last": ("last value", "最新值"),
    "runlist.step": "common.step_n_inline",
    "runlist.hint": "common.legend_hint",
})  # fmt: skip
