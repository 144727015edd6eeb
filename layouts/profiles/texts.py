"""Texts that the pages about profiles share."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "profiling.controls": ("Choice of profile", "选择性能数据"),
    "profiling.run": "common.run",
    "profiling.job": "common.job",
    "profiling.rank": "common.rank",
    "profiling.rank_n": "common.rank_n_inline",
    "profiling.all_ranks": ("all ranks", "全部卡"),
    "profiling.rank_previous": "common.previous_rank",
    "profiling.rank_next": "common.next_rank",
    "profiling.rank_absent": ("The job has no files of rank {n}.", "该作业没有 rank {n} 的文件。"),
    "profiling.of_total": "common.of_total",
    "profiling.group": "common.rank_group",
    "profiling.all_groups": ("all groups", "全部通信域"),
    "profiling.step": "common.step",
    "profiling.step_n": "common.step_n_inline",
    "profiling.step_mean": "common.all_steps_inline",
    "profiling.step_previous": "common.previous_step",
    "profiling.step_next": "common.next_step",
    "profiling.step_absent": ("The job has no step {n}.", "该作业没有步骤 {n}。"),
    "profiling.compare": "common.compare",
    "profiling.compare.tip": ("Compare with another profile", "与另一份性能数据对比"),
    "profiling.compare.tip_job": ("Compare with another job", "与另一个作业对比"),
    "profiling.with": ("Profile to compare with", "对比的性能数据"),
    "profiling.first_of": ("{n} of {total} profiles are listed", "仅列出 {total} 份性能数据中的 {n} 份"),
    "profiling.left": (
        "Profiles of {n} more runs are not listed; choose fewer runs.", "另有 {n} 个训练的性能数据未列出，请减少所选训练。",
    ),
    "profiling.reading": ("Reading {done} of {total}", "正在读取 {done} / {total}"),
    "profiling.preparing": "common.being_prepared",
    "profiling.reading_ranks": (
        "Reading files of {ranks} ranks: {done} of {total}", "正在读取 {ranks} 个 rank 的文件：{done} / {total}",
    ),
    "profiling.preparing_ranks": ("Preparing {ranks} ranks", "正在准备 {ranks} 个 rank"),
    "profiling.waiting": ("Waiting: another profile is being read", "等待中：正在读取另一份性能数据"),
    "profiling.waiting_for": (
        "Waiting: {what} of {run} is being read, {read} of {whole}", "等待中：正在读取 {run} 的 {what}，已读 {read} / {whole}",
    ),
    "profiling.cancelled": "common.reading_was_stopped",
    "profiling.work_failed": ("Reading failed because of an internal error: {text}", "程序内部错误，读取中断：{text}"),
    "profiling.progress": "common.reading",
    "profiling.again": "common.read_it",
    "profiling.none": ("The chosen runs have no profile.", "所选训练没有性能数据。"),
    "profiling.unknown": ("No run with a profile has this name:", "没有这个名称的训练性能数据："),
    "profiling.lacks": ("This profile has no data for the page {page}.", "该性能数据中没有{page}所需的数据。"),
    "profiling.lacks_with": (
        "The profile to compare with has no data for the page {page}.", "对比的性能数据中没有{page}所需的数据。",
    ),
    "profiling.lacks_torch": (
        "torch.profiler does not record what the page {page} shows.", "torch.profiler 不记录{page}页面所需的数据。",
    ),
    "profiling.traced": ("It has a trace.", "其中有轨迹数据。"),
    "profiling.to_timeline": "common.open_the_timeline",
    "profiling.files": "common.files",
    "profiling.needs": ("Any of these has it: {wanted}", "以下任一文件即可：{wanted}"),
    "profiling.needs_other": ("Its profiler does not record what the page needs.", "采集工具没有记录该页面需要的数据。"),
    "profiling.or": "common.or_between_words",
    "profiling.found": ("Found: {files}", "已找到：{files}"),
    "profiling.found_more": ("Found: {files} and {n} more", "已找到：{files} 等，另有 {n} 个"),
    "profiling.elsewhere": ("Runs with this data:", "包含此类数据的训练："),
    "profiling.damaged_n": ("Parts of the files that cannot be read: {n}", "文件中有 {n} 处无法读取"),
    "profiling.idle.title": ("Why the device was idle", "设备空闲原因"),
    "profiling.idle.step": (
        "{stream} is idle for {idle} of a step of {whole} ({share}).",
        "{stream} 在 {whole} 的单步中空闲 {idle}（{share}）。",
    ),
    "profiling.idle.whole": (
        "{stream} is idle for {idle} of {whole} ({share}).", "{stream} 在 {whole} 内空闲 {idle}（{share}）。",
    ),
    "profiling.idle.of_step": "common.time_of_a_step",
    "profiling.idle.of_whole": ("{time}", "{time}"),
    "profiling.idle.step_head": "common.step",
    "profiling.idle.idle_head": "common.idle",
    "profiling.idle.steps": ("Each of the {total} steps", "全部 {total} 个步骤"),
    "profiling.idle.steps_most": (
        "The {n} of {total} steps with the most idle time", "{total} 个步骤中空闲最多的 {n} 个",
    ),
    "profiling.idle.unread": (
        "Not checked: the trace has not been read. Opening the timeline reads it.",
        "未检查：尚未读取轨迹，打开时间线后会读取。",
    ),
    "profiling.idle.reading": (
        "Not checked yet: the trace is being read. Open this page again in a moment.",
        "尚未检查：正在读取轨迹，请稍后重新打开本页。",
    ),
    "profiling.idle.read": "common.open_the_timeline",
    "profiling.idle.none": ("The trace has no stream of a device.", "轨迹中没有设备流。"),
})
