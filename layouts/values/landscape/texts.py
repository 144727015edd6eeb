"""Texts of the landscape page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "landscape.title": "common.loss_landscape",
    "landscape.controls": ("What is shown, and how it is drawn", "显示内容与绘制设置"),
    # What is shown
    "landscape.mode": (
        "One landscape with its path, or final landscapes of several runs", "单个地形及训练路径，或多个训练的最终地形",
    ),
    "landscape.path": ("Training path", "训练路径"),
    "landscape.compare": ("Compare final", "最终地形对比"),
    "landscape.run": "common.run",
    "landscape.interval": ("Interval", "区间"),
    "landscape.interval_of": ("{unit} {first} – {last}", "{unit} {first} – {last}"),
    "landscape.final": ("Final weights", "最终权重"),
    "landscape.broken": ("{tag}: damaged", "{tag}：已损坏"),
    "landscape.compared": "common.n_of_total_runs",
    "landscape.beside": "common.side_by_side",
    "landscape.over": "common.overlaid",
    "landscape.arrangement": ("Landscapes side by side or over each other", "并排或叠加显示"),
    "landscape.left": (
        "Landscapes of {n} more runs are not listed; choose fewer runs.", "另有 {n} 个训练的地形未列出，请减少所选训练。",
    ),
    # How it is drawn
    "landscape.view": ("Chart type", "图形类型"),
    "landscape.view.filled": ("Filled", "填色"),
    "landscape.view.isolines": ("Contours", "等高线"),
    "landscape.view.surface": ("3-D", "3D"),
    "landscape.map": ("Colours", "配色"),
    "landscape.map.viridis": "common.viridis",
    "landscape.map.cividis": "common.cividis",
    "landscape.map.diverging": ("Diverging at the final loss", "以最终损失为界的双色"),
    "landscape.lines": ("Lines", "线数"),
    "landscape.opacity": "common.opacity",
    "landscape.play": ("Play the path (space)", "播放训练路径（空格）"),
    "landscape.stop": ("Stop (space)", "停止（空格）"),
    "landscape.tools": ("Tools of this chart", "图表工具"),
    "landscape.full": "common.full_screen",
    "landscape.restore": ("Restore the view", "还原视图"),
    "landscape.save": "common.download",
    "landscape.save.png": "common.png_image",
    "landscape.save.svg": "common.svg_image",
    "landscape.save.csv": ("CSV of losses and path", "损失与路径 CSV"),
    "landscape.save.npz": ("Arrays (.npz)", "数组 (.npz)"),
    "landscape.save.npz_of": ("Arrays (.npz) of {run}", "{run} 的数组 (.npz)"),
    "landscape.bad": ("{n} losses not finite", "{n} 个损失值非有限"),
    "landscape.problem": ("Cannot be shown completely", "无法完整显示"),
    "landscape.thinned": ("{n} of {total} points drawn", "绘制 {total} 个点中的 {n} 个"),
    "landscape.thinned.title": (
        "Evenly spread, the first and the last among them. The .npz file has all.", "均匀选取，包含首尾；.npz 文件包含全部。",
    ),
    # Words in the plot
    "landscape.loss": "common.loss",
    "landscape.step": "common.step",
    "landscape.epoch": ("Epoch", "轮次"),
    "landscape.start": ("Start", "起点"),
    "landscape.end": ("End", "终点"),
    "landscape.convergence": ("Convergence point", "收敛点"),
    # Facts
    "landscape.facts": ("Basic training information", "训练基本信息"),
    "landscape.selection": ("Step selection", "步骤选择"),
    "landscape.network": "common.network",
    "landscape.optimizer": "common.optimizer",
    "landscape.learning_rate": "common.learning_rate",
    "landscape.loss_function": "common.loss_function",
    "landscape.batch_size": "common.batch_size",
    "landscape.epochs": "common.epochs",
    "landscape.steps": "common.number_of_steps",
    "landscape.scalar": ("Main scalar, first → last", "主要标量，首 → 末"),
    "landscape.reduction": ("Dimension reduction", "降维方式"),
    "landscape.grid": ("Grid", "采样网格"),
    "landscape.range": ("Loss, lowest – highest", "损失，最小 – 最大"),
    "landscape.points": ("Points of the path", "路径点数"),
    "landscape.step_per_epoch": ("Steps per epoch", "每轮步骤数"),
    "landscape.convergence_loss": ("Loss at convergence", "收敛点损失"),
    # Nothing to show
    "landscape.no_runs": "common.no_run_is_chosen",
    "landscape.no_runs_hint": "common.choose_runs_in_bar",
    "landscape.none": ("The chosen runs have no loss landscape.", "所选训练没有损失地形。"),
    "landscape.none_hint": (
        "Training collects checkpoints, a second call the landscape (callback_fn gives model, network, data, metrics):",
        "训练时收集检查点，再由第二个调用计算地形（callback_fn 返回 model、network、数据集、metrics）：",
    ),
    "landscape.no_final": ("None of the chosen runs has a landscape of its final weights.", "所选训练均没有最终权重的地形。"),
    "landscape.elsewhere": ("Runs that have landscapes:", "有损失地形的训练："),
    "landscape.reading": "common.reading_runs",
    "landscape.plan": (
        "{run} has collected {n} checkpoints ({unit} {intervals}), but no landscape has been computed from them yet.",
        "{run} 已收集 {n} 个检查点（{unit} {intervals}），尚未计算地形。",
    ),
    "landscape.plan_hint": (
        "This call computes it, {size} × {size} points, {samples} samples (callback_fn: model, network, data, metrics):",
        "运行以下调用即可计算，{size} × {size} 个点，{samples} 个样本（callback_fn 返回 model、network、数据集、metrics）：",
    ),
})  # fmt: skip
