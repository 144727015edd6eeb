"""Texts of the guides page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "guides.search": ("What is wrong? NaN, slow, memory…", "出了什么问题？NaN、慢、内存……"),
    "guides.run": "common.run",
    "guides.other": "common.compare_with",
    "guides.nobody": ("no other run", "无"),
    "guides.no_runs": "common.no_run_is_chosen",
    "guides.no_runs_hint": "common.choose_runs_in_bar",
    "guides.unknown": "common.no_run_has_this_name",
    "guides.found": ("Found in this run", "在该训练中发现"),
    "guides.found_none": ("No symptom was found in this run so far.", "目前未在该训练中发现症状。"),
    "guides.reading": ("still reading", "仍在读取"),
    "guides.no_match": ("No symptom matches. Try fewer words.", "没有匹配的症状，请减少关键词。"),
    "guides.symptoms": ("Symptoms", "症状"),
    "guides.of": ("{n} of {total} steps found something", "{total} 个步骤中有 {n} 个有发现"),
    "guides.do": ("If this is the cause:", "若原因在此："),
    "guides.rule": ("Rule: {rule}", "规则：{rule}"),
    "guides.files": ("Files that would have it: {files}", "应包含该数据的文件：{files}"),
    "guides.open": ("Open {page}", "打开{page}"),
    "guides.record": ("How to record it", "如何记录"),
    "guides.look": ("Check now", "立即检查"),
    "guides.look_tip": ("This reads much data, so it runs when you ask for it.", "需要读取大量数据，因此按需运行。"),
    "guides.slow": ("Reading the data takes a while.", "读取数据需要一些时间。"),
    "guides.progress": "common.done_of_total",
    "guides.stop": "common.cancel",
    "guides.stopped": "common.work_stopped",
    "guides.again": "common.continue",
    "guides.failed": ("This could not be answered: {reason}", "无法回答：{reason}"),
    "guides.choose_other": ("Choose a second run", "选择第二个训练"),
    "guides.done": ("Checked", "已检查"),
    "guides.remark": "common.remark",
    "guides.not_kept": ("Not saved: {reason}", "未保存：{reason}"),
    "guides.no_workspace": ("Ticks are saved only in a workspace.", "需要工作空间才能保存勾选。"),
    "guides.copy": "common.copy_as_text",
    "guides.copied": "common.copied",
    "guides.asked": ("not checked: runs on request", "未检查：按需运行"),
    "guides.text_head": ("{symptom} ({run})", "{symptom}（{run}）"),
    "guides.text_remark": ("Remark: {remark}", "备注：{remark}"),
})  # fmt: skip
