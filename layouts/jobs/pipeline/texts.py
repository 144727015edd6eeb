"""Texts of the pipeline page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "pipeline.controls": ("Stages, clocks and micro batches", "阶段、时钟与微批次"),
    # Cards
    "pipeline.chart": ("What each stage does when", "各阶段随时间的活动"),
    "pipeline.table": ("Times of a step by rank", "各 rank 的单步耗时"),
    "pipeline.canvas": (
        "Bands over time: arrow keys move, + and - zoom, 0 shows all, Enter folds a stage",
        "时间条带：方向键移动，+ 和 - 缩放，0 显示全部，回车折叠阶段",
    ),
    "pipeline.png": "common.save_as_png",
    "pipeline.full": "common.full_screen",
    "pipeline.zoom_in": "common.zoom_in",
    "pipeline.zoom_out": "common.zoom_out",
    "pipeline.whole": ("Whole step (0)", "整步（0）"),
    "pipeline.csv.summary": ("Times of all ranks", "所有 rank 的耗时"),
    "pipeline.csv.bands": ("Bands of this window", "此窗口内的条带"),
    # Controls
    "pipeline.fold": ("Fold stages", "折叠阶段"),
    "pipeline.unfold": "common.show_ranks",
    "pipeline.align": ("Align clocks", "对齐时钟"),
    "pipeline.align_tip": (
        "Shift each rank by what its clock is ahead, judged by the ends of common collective operations",
        "按共同集合通信的结束时刻估计各 rank 的时钟差，并据此平移",
    ),
    "pipeline.m": ("Micro batches", "微批次数"),
    "pipeline.m_tip": (
        "Micro batches of a step, where no file tells them or to try other numbers",
        "每步的微批次数；文件未记录时填写，或用于试算",
    ),
    # Bands
    "pipeline.band.forward": "common.forward",
    "pipeline.band.backward": "common.backward",
    "pipeline.band.computing": "common.computing",
    "pipeline.band.send": "common.send",
    "pipeline.band.receive": "common.receive",
    "pipeline.band.exchange": ("Send and receive in one", "收发合一"),
    "pipeline.band.collective": "common.collective",
    "pipeline.band.idle": "common.idle",
    "pipeline.band.unknown": ("Not known", "未知"),
    "pipeline.band.hidden": ("Communication while computing", "计算期间的通信"),
    "pipeline.tip.forward": ("Computing in a range marked as forward_step.", "标记为 forward_step 的范围内的计算。"),
    "pipeline.tip.backward": ("Computing in a range marked as backward_step.", "标记为 backward_step 的范围内的计算。"),
    "pipeline.tip.computing": ("Kernels run on the device, in no marked range.", "设备上有算子执行，且不在标记范围内。"),
    "pipeline.tip.send": ("An operation that sends, while nothing computes.", "发送算子在执行，且没有计算。"),
    "pipeline.tip.receive": ("An operation that receives, while nothing computes.", "接收算子在执行，且没有计算。"),
    "pipeline.tip.exchange": (
        "batchSendRecv, which sends and receives in one operation, while nothing computes.",
        "batchSendRecv 一个算子同时收发，且没有计算。",
    ),
    "pipeline.tip.collective": (
        "A collective operation, while nothing computes, sends or receives.", "集合通信算子在执行，且没有计算与收发。",
    ),
    "pipeline.tip.idle": ("Neither computing nor communication.", "既没有计算，也没有通信。"),
    "pipeline.tip.unknown": ("No file tells what the rank did.", "没有文件记录该 rank 在做什么。"),
    "pipeline.tip.hidden": ("Communication that computing hides: the strip below a row.", "被计算掩盖的通信：行下方的细条。"),
    # Chart
    "pipeline.stage": "common.stage_n",
    "pipeline.no_stage": ("No stage", "无阶段"),
    "pipeline.rank": "common.rank_n",
    "pipeline.ranks_n": ("{n} ranks, mean", "{n} 个 rank，均值"),
    "pipeline.rows_n": (
        "{n} of {total} rows; fold stages, or take the CSV file", "显示 {total} 行中的 {n} 行；可折叠阶段或使用 CSV",
    ),
    "pipeline.column": ("A pixel is {time}: its height shows the shares of its bands", "每像素 {time}：高度表示各条带的占比"),
    "pipeline.column_tip": (
        "Bands shorter than a pixel are not left out: each takes at least one row of it. Zoom in to see them apart.",
        "短于一个像素的条带不会丢失：每个至少占一行。放大后可分开查看。",
    ),
    "pipeline.hover": ("{name}: {time}", "{name}：{time}"),
    "pipeline.hover_share": ("{name}: {time} ({share})", "{name}：{time}（{share}）"),
    "pipeline.hover_number": ("{name} {n} of the step: {time}", "本步第 {n} 个{name}：{time}"),
    "pipeline.span": ("{begin} to {end}", "{begin} 至 {end}"),
    "pipeline.operation": "pipeline.hover",
    "pipeline.nothing": ("Nothing recorded", "没有记录"),
    "pipeline.failed": ("The chart could not be loaded: {reason}", "无法加载图表：{reason}"),
    "pipeline.none": ("No file tells what the ranks of this job did when.", "没有文件记录此作业的 rank 何时在做什么。"),
    "pipeline.said": ("Time by stage, {step}", "各阶段的时间，{step}"),
    "pipeline.said_step": "common.step_n_inline",
    "pipeline.said_all": "common.all_steps_inline",
    # Sentences
    "pipeline.head": (
        "Ranks wait {share} of a step for other stages on average ({source}); longest rank {rank}: {time} of {total} ({most}).",
        "各 rank 平均有 {share} 的单步时间在等待其他阶段（{source}）；rank {rank} 最久：{total} 中的 {time}（{most}）。",
    ),
    "pipeline.head_one": (
        "Rank {rank} waits {time} of {total} for other stages: a bubble of {most} ({source}).",
        "rank {rank} 在 {total} 中有 {time} 在等待其他阶段：气泡 {most}（{source}）。",
    ),
    "pipeline.source.exposed p2p": ("exposed p2p", "未被掩盖的点对点通信"),
    "pipeline.source.at most": ("at most", "上限"),
    "pipeline.source.receive": ("receive time of the file", "文件中的接收时间"),
    "pipeline.source.mixed": ("for some ranks at most", "部分 rank 为上限"),
    "pipeline.source.none": ("not checked", "未检查"),
    "pipeline.source_tip.exposed p2p": (
        "Sends and receives while nothing computes, from begins and ends.", "由起止时间得到：没有计算时的收发时间。",
    ),
    "pipeline.source_tip.at most": (
        "Begins of kernels are not known: the least of exposed communication and the sum of sends and receives.",
        "不知道算子起止时间：取未掩盖通信与收发总和中较小者。",
    ),
    "pipeline.source_tip.receive": ("As a legacy cluster file has it.", "来自旧版集群文件。"),
    "pipeline.no_bubble": (
        "The bubble was not checked: {files} is missing.", "未检查气泡：缺少 {files}。",
    ),
    "pipeline.no_pairs": (
        "No operation between two ranks was recorded in this step, so there is no bubble to show.",
        "此步没有记录点对点通信，因此没有气泡。",
    ),
    "pipeline.theory": (
        "In theory 1F1B waits {share}: (p − 1) / (m + p − 1) with p = {p} equal stages and m = {m} micro batches ({source}).",
        "理论上 1F1B 等待 {share}：(p − 1) / (m + p − 1)，p = {p} 个均等阶段，m = {m} 个微批次（{source}）。",
    ),
    "pipeline.m_from.pp_info": ("pp_info in profiler_metadata.json", "profiler_metadata.json 的 pp_info"),
    "pipeline.m_from.marks": ("ranges marked as forward_step on each rank", "每个 rank 上标记为 forward_step 的范围数"),
    "pipeline.m_from.typed": ("as typed below", "下方填写"),
    "pipeline.theory_interleaved": (
        (
            "In theory interleaved 1F1B waits {share}: (p − 1) / (v m + p − 1) with p = {p} equal stages, v = {v} parts of the "
            "model on each and m = {m} micro batches ({source})."
        ),
        (
            "理论上交错 1F1B 等待 {share}：(p − 1) / (v m + p − 1)，p = {p} 个均等阶段，每阶段 v = {v} 个模型分块，m = {m} "
            "个微批次（{source}）。"
        ),
    ),
    "pipeline.schedule": (
        "What the schedule {name} waits in theory is not known here.", "无法给出调度 {name} 的理论等待占比。",
    ),
    "pipeline.no_m": (
        "The number of micro batches is not known: no pp_info in profiler_metadata.json, no forward_step range. Type it below.",
        "微批次数未知：profiler_metadata.json 没有 pp_info，也没有 forward_step 标记。可在下方填写。",
    ),
    "pipeline.m_differs": (
        "The number of micro batches is not known: ranks have from {low} to {high} forward_step ranges in this step.",
        "微批次数未知：各 rank 在此步有 {low} 到 {high} 个 forward_step 范围。",
    ),
    "pipeline.one_stage": ("All ranks are in one stage: there is no pipeline.", "所有 rank 都在同一阶段：没有流水线并行。"),
    "pipeline.no_stages": (
        "No stages are known: no group of kind pp and no pipeline size in profiler_metadata.json. Each rank is a row.",
        "阶段未知：profiler_metadata.json 中没有 pp 通信域，也没有流水线并行数。每个 rank 为一行。",
    ),
    "pipeline.some_no_stage": ("No stage is known of {n} ranks: {ranks}.", "{n} 个 rank 的阶段未知：{ranks}。"),
    "pipeline.marked": (
        "Forward and backward are drawn where ranges are marked as forward_step and backward_step.",
        "在标记为 forward_step 与 backward_step 的范围内绘制前向与反向。",
    ),
    "pipeline.marked_host": (
        "forward_step and backward_step are marked on the host only (no stream was passed to mstx), so they are not drawn.",
        "forward_step 与 backward_step 只在主机侧标记（调用 mstx 时没有传入 stream），因此不绘制。",
    ),
    "pipeline.not_marked": (
        "No range is marked as forward_step or backward_step, so computing is not divided.",
        "没有标记为 forward_step 或 backward_step 的范围，因此不区分前向与反向。",
    ),
    "pipeline.no_computing": (
        "When {ranks} computed was not checked: {files} is missing.", "未检查 {ranks} 何时在计算：缺少 {files}。",
    ),
    "pipeline.no_communication": (
        "When {ranks} communicated was not checked: {files} is missing, or has no operation with a begin.",
        "未检查 {ranks} 何时在通信：缺少 {files}，或其中没有带起始时间的算子。",
    ),
    "pipeline.of_rank": ("rank {ranks}", "rank {ranks}"),
    "pipeline.of_ranks": ("ranks {ranks}", "rank {ranks}"),
    "pipeline.clocks": (
        "Rows are drawn by the clock of each rank; these differ by up to {most}.",
        "各行按各自 rank 的时钟绘制，时钟最多相差 {most}。",
    ),
    "pipeline.aligned": (
        "Clocks are aligned by the ends of common collective operations: the largest shift is {most}.",
        "已按共同集合通信的结束时刻对齐时钟：最大平移 {most}。",
    ),
    "pipeline.clock_sets": (
        "The clocks of {n} sets of ranks cannot be compared with each other: they share no collective operation.",
        "{n} 组 rank 之间没有共同的集合通信，其时钟无法相互比较。",
    ),
    "pipeline.clocks_unknown": (
        "Rows are drawn by the clock of each rank; by how much these differ is not known.",
        "各行按各自 rank 的时钟绘制，时钟差未知。",
    ),
    # Table
    "pipeline.col.stage": "common.stage",
    "pipeline.col.rank": "common.rank",
    "pipeline.col.total_ns": ("Step (ms)", "单步 (ms)"),
    "pipeline.col.computing": ("Computing (ms)", "计算 (ms)"),
    "pipeline.col.pairs": ("Send, receive (ms)", "收发 (ms)"),
    "pipeline.col.collective": ("Collective (ms)", "集合通信 (ms)"),
    "pipeline.col.idle": "common.idle_ms",
    "pipeline.col.hidden": ("Hidden (ms)", "被掩盖 (ms)"),
    "pipeline.col.bubble": ("Bubble (ms)", "气泡 (ms)"),
    "pipeline.col.share": ("Bubble share", "气泡占比"),
    "pipeline.col.source": ("Source", "来源"),
    "pipeline.tip_col.pairs": ("Sends and receives while nothing computes.", "没有计算时的收发时间。"),
    "pipeline.tip_col.collective": (
        "Collective operations while nothing computes, sends or receives.", "没有计算与收发时的集合通信时间。",
    ),
    "pipeline.tip_col.idle": "pipeline.tip.idle",
    "pipeline.tip_col.hidden": ("Communication that computing hides.", "被计算掩盖的通信。"),
    "pipeline.tip_col.bubble": ("What the rank waits for other stages.", "该 rank 等待其他阶段的时间。"),
    "pipeline.warm_up": "common.warm_up",
    "pipeline.mean": ("Means over {n} steps", "{n} 个步骤的均值"),
    "pipeline.shown": (
        "{n} of {total} ranks shown; the CSV file has all.", "显示 {total} 个 rank 中的 {n} 个；CSV 文件包含全部。",
    ),
})  # fmt: skip
