"""Texts of "Save as file", which makes one file of the page on screen, and of view files, which keep its address as text."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "page_file.save": ("Save as file", "另存为文件"),
    "page_file.save_tip": (
        "One HTML file of this page as it stands, which opens in any browser without Mindscope",
        "将当前页面保存为一个 HTML 文件，无需 Mindscope 即可在浏览器中打开",
    ),
    "page_file.every": ("All points of these curves (about {size} more)", "包含曲线的全部数据点（约增加 {size}）"),
    "page_file.every_tip": (
        "Without it the file has the points that the screen shows; with it a zoom in the file shows every point",
        "不勾选时文件只含屏幕所示的点；勾选后在文件中放大可看到每个点",
    ),
    "page_file.rows": ("All {n} rows of long tables, as CSV", "包含长表格的全部 {n} 行（CSV）"),
    "page_file.rows_tip": (
        "Without it the file has the first 1,000 rows of a table; with it also all of them, to be downloaded from the file",
        "不勾选时文件只含表格的前 1,000 行；勾选后还可从文件中下载全部行",
    ),
    "page_file.all_rows": ("All {total} rows as CSV", "全部 {total} 行（CSV）"),
    "page_file.rows_of": ("rows of “{name}” ({size})", "“{name}”的行（{size}）"),
    "page_file.saving": ("Saving …", "正在保存…"),
    "page_file.saved": ("Saved: {name}, {size}", "已保存：{name}，{size}"),
    "page_file.failed": ("The page was not saved: {text}", "页面未能保存：{text}"),
    "page_file.too_large": (
        "Not saved: the file would have {size}, more than {most}. Hide or fold away what takes most of it: {parts}.",
        "未保存：文件将达到 {size}，超过 {most}。请隐藏或折叠占用最多的内容：{parts}。",
    ),
    "page_file.images": ("images of “{name}” ({size})", "“{name}”的图像（{size}）"),
    "page_file.figures": ("points of “{name}” ({size})", "“{name}”的数据点（{size}）"),
    "page_file.rest": ("this page", "此页"),
    "page_file.runs": ("Runs: {names}", "训练：{names}"),
    "page_file.more_runs": ("Runs: {names} and {n} more", "训练：{names} 等，另有 {n} 个"),
    "page_file.no_runs": ("No run is chosen", "未选择训练"),
    "page_file.about": (
        "Saved {time} from {address} by Mindscope {version}",
        "由 Mindscope {version} 于 {time} 从 {address} 保存",
    ),
    "page_file.first_rows": ("The first {n} of {total} rows", "前 {n} 行，共 {total} 行"),
    "page_file.undrawn": (
        "This browser cannot draw the charts of this file. A browser of 2023 or later can.",
        "此浏览器无法绘制文件中的图表，请使用 2023 年或更新的浏览器。",
    ),
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
    "view_file.no_card": ("The page has no card “{name}”", "此页没有卡片“{name}”"),
    "view_file.unsaved": ("The view was not saved: {text}", "视图未能保存：{text}"),
})
