"""Texts of view files: an address with patterns as a file that is downloaded and opened."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "view_file.save": ("Download view file", "下载视图文件"),
    "view_file.save_tip": (
        "This page, its runs and its state as text, for “Open view file”, mindscope save and show",
        "以文本形式保存当前页面、训练与状态，可用于“打开视图文件”、mindscope save 和 show",
    ),
    "view_file.open": ("Open view file", "打开视图文件"),
    "view_file.open_tip": (
        "A TOML file that names a page, runs by pattern and a state", "指定页面、训练匹配模式与状态的 TOML 文件",
    ),
    "view_file.failed": ("{name} was not opened: {text}", "未能打开 {name}：{text}"),
    "view_file.unsaved": ("The view was not saved: {text}", "视图未能保存：{text}"),
})
