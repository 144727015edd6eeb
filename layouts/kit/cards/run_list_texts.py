"""Texts of the list of runs beside charts, the counterpart of assets/kit/cards/run_list.js."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "runlist.title": ("Runs in the charts", "图中的训练"),
    "runlist.all": "common.show_all",
    "runlist.last": ("last value", "最新值"),
    "runlist.n": ("n {n}", "n {n}"),
    "runlist.lost": ("n {n}, {lost} of {all} diverged", "n {n}，{all} 个中 {lost} 个发散"),
    "runlist.step": "common.step_n_inline",
    "runlist.hint": "common.legend_hint",
})  # fmt: skip
