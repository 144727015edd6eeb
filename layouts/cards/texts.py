"""Texts of every page with one card per tag."""

from __future__ import annotations

from layouts.i18n import define_texts

TEXTS = define_texts({
    "cards.tags": ("Tags", "标签"),
    "cards.filter": ("Filter, e.g. ^loss", "筛选，如 ^loss"),
    "cards.filter_bad": ("Invalid regular expression: all tags are shown", "正则表达式无效：显示全部标签"),
    "cards.all": ("All", "全选"),
    "cards.none": ("None", "全不选"),
    "cards.chosen": ("{shown} / {total} tags", "{shown}/{total} 个标签"),
    "cards.more_tags": ("Show {n} more", "再显示 {n} 个"),
    "cards.only": ("only", "仅此"),
    "cards.only.title": ("Only this tag", "仅显示此标签"),
    "cards.fold_tags": ("Hide or show the tags", "隐藏或显示标签栏"),
    "cards.fold": ("Collapse or expand", "收起或展开"),
    "cards.previous": ("Previous page", "上一页"),
    "cards.next": ("Next page", "下一页"),
    "cards.range": ("{first}–{last} of {total}", "{first}–{last}，共 {total}"),
    "cards.tools": ("Chart tools", "图表工具"),
    "cards.full": ("Full screen (f)", "全屏 (f)"),
    "cards.save": ("Download this chart", "下载此图"),
    "cards.save.png": ("PNG image", "PNG 图片"),
    "cards.save.svg": ("SVG image", "SVG 图片"),
    "cards.left": ("Left axis", "左轴"),
    "cards.right": ("Right axis", "右轴"),
    "cards.no_runs": ("No run is chosen.", "未选择训练。"),
    "cards.no_runs_hint": ("Choose runs in the bar above (p).", "请在上方选择训练 (p)。"),
    "cards.no_match": ("No tag is shown.", "没有可显示的标签。"),
    "cards.no_match_hint": (
        "No ticked tag matches the filter: clear the filter, or tick tags in the list.",
        "没有符合筛选条件且已勾选的标签：请清除筛选条件，或在列表中勾选标签。",
    ),
    "cards.outdated": ("Still the previous selection of runs", "仍为之前所选训练的内容"),
    "cards.failed": ("could not be drawn", "无法绘制"),
    "cards.retry": ("Try again", "重试"),
    "cards.reading": ("Reading {n} runs …", "正在读取 {n} 个训练……"),
})
