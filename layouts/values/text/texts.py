"""Texts of the text page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "text.controls": ("Which texts are shown", "文本显示设置"),
    "text.wrap": ("Wrap lines", "自动换行"),
    "text.count": ("{n} texts", "{n} 条文本"),
    "text.count_one": ("1 text", "1 条文本"),
    "text.count.title": ("The slider reaches every recorded text", "滑动条可到达每一条已记录的文本"),
    "text.step": "common.step_step",
    "text.not_yet": "common.nothing_yet",
    "text.unanswered": "common.the_server_does_not_answer",
    "text.cut": (
        "The first {n} of {total} characters; the download has them all.",
        "仅显示前 {n} 个字符（共 {total} 个），完整内容请下载。",
    ),
    "text.save": ("Download this text", "下载此文本"),
    "text.runs": "common.shown_of_total_runs",
    "text.every": "common.show_all",
    "text.none": ("The chosen runs recorded no text.", "所选训练没有记录文本数据。"),
})
