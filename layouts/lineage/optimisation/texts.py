"""Texts of the optimisation target page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "optimisation.controls": ("Result to explain", "优化目标选择"),
    "optimisation.target": "common.target",
    "optimisation.count": ("{n} of {total} runs with settings have it", "{total} 个有配置信息的训练中 {n} 个有该指标"),
    "optimisation.count_ranks": (
        "{n} of {chosen} ranks have it, of {jobs} runs with settings",
        "{jobs} 个有配置信息的训练共 {chosen} 张卡，其中 {n} 张有该指标",
    ),
    "optimisation.count_chosen": (
        "{n} of {chosen} chosen runs have it; {total} runs have settings",
        "已选的 {chosen} 个训练中 {n} 个有该指标（共 {total} 个有配置信息）",
    ),
    "optimisation.none": ("No run recorded a metric or another result to explain.", "没有训练记录评估指标或其他可分析的结果。"),
    "optimisation.no_runs": "common.no_run_is_chosen",
    "optimisation.no_runs_hint": (
        "Choose runs in the bar above (p); an address without runs means all.",
        "请在顶部训练列表中选择；地址中未指定时表示全部。",
    ),
    # The answer
    "optimisation.answer": ("Best {target}: {value}", "{target} 最优：{value}"),
    "optimisation.answer_with": ("with {settings}", "（{settings}）"),
    "optimisation.answer_equal": ("As good:", "结果相同："),
    "optimisation.answer_equal_n": ("{n} other runs have the same.", "另有 {n} 个训练结果相同。"),
    "optimisation.answer_basis": (
        "Compared is the result of each run at its end, not that of its best step.",
        "比较的是各训练结束时的结果，而非其最优步骤。",
    ),
    "optimisation.answer_tuning": ("The best trial of a search is on Tuning.", "搜索的最佳试验见“超参调优”。"),
    "optimisation.answer_trend": (
        "By the trend over the values tried ({least} to {most}), {setting} is best near {at}; {low} to {high} may be as good.",
        "在试过的取值范围（{least} 至 {most}）内，按趋势 {setting} 在 {at} 附近最优，{low} 至 {high} 可能同样好。",
    ),
    "optimisation.answer_seed": ("There is no best {setting}: runs that differ in it differ by chance.",
                                 "{setting} 没有最优值：仅因它不同的训练，差异出于偶然。"),
    "optimisation.answer_share": ("{share} of the differences go with it.", "结果差异的 {share} 与之相关。"),
    # Settings
    "optimisation.importance": ("Associated settings", "参数重要性"),
    "optimisation.association": (
        "Association, not cause. Lines: 95 % intervals.", "仅表示相关，不代表因果。线段为 95 % 置信区间。",
    ),
    "optimisation.no_settings": ("These runs recorded no settings.", "这些训练没有记录参数。"),
    "optimisation.too_few": (
        "n = {n}: fewer than three runs have this result, so nothing can be computed.",
        "仅 {n} 个训练有该结果，至少需要 3 个才能计算。",
    ),
    "optimisation.no_number": ("No setting could be computed; each line says why.", "所有参数均无法计算，原因见各行。"),
    "optimisation.setting": "common.setting",
    "optimisation.linear": ("Linear |r|", "线性相关 |r|"),
    "optimisation.linear_tip": (
        "|Pearson r|, as in MindInsight. η: the correlation ratio of three or more categories, corrected for chance.",
        "皮尔逊相关系数绝对值（与 MindInsight 相同）。η：三类及以上类别参数的相关比，已扣除偶然成分。",
    ),
    "optimisation.rank": ("Monotonic |ρ|", "单调相关 |ρ|"),
    "optimisation.rank_tip": (
        "|Spearman's rho|: how far the result only rises or only falls with the setting.",
        "斯皮尔曼相关系数绝对值：结果随参数单调变化的程度。",
    ),
    "optimisation.share": "common.share",
    "optimisation.share_tip": (
        ("Share of the result's variance that goes with the setting, alone or with others, whatever the shape: Sobol's total "
         "index of a Gaussian process."),
        "该参数（单独或与其他参数共同，不论形状）解释的结果方差占比：高斯过程的 Sobol 总效应指数。",
    ),
    "optimisation.levels": ("{n} categories", "{n} 类"),
    "optimisation.of_runs": "common.n_runs",
    "optimisation.near": ("≈ {other}", "≈ {other}"),
    "optimisation.near_tip": (
        "Mostly changes together with {other} ({strength}): the effect of one may be due to the other.",
        "大多与 {other} 一同变化（{strength}）：其中一个的影响可能来自另一个。",
    ),
    "optimisation.for": ("with {other}", "含 {other}"),
    "optimisation.for_more": ("with {other} and {n} more", "含 {other} 等 {n} 项"),
    "optimisation.for_tip": (
        "Always change together, so this one stands for all: {names}", "始终一同变化，以此为代表：{names}",
    ),
    "optimisation.by_share": ("Sorted by the share (R² {fit}).", "按占比排序（R² {fit}）。"),
    "optimisation.by_low": ("Sorted by the lower limit of the strength.", "按相关强度的置信下限排序。"),
    "optimisation.shape.up": (
        "rises with it from {least} to {most}; not tried beyond",
        "在 {least} 至 {most} 内随之上升，范围外未尝试",
    ),
    "optimisation.shape.down": (
        "falls with it from {least} to {most}; not tried beyond",
        "在 {least} 至 {most} 内随之下降，范围外未尝试",
    ),
    "optimisation.shape.peak": (
        "has a peak between {least} and {most}; not tried beyond",
        "在 {least} 至 {most} 之间有峰值，范围外未尝试",
    ),
    "optimisation.shape.valley": (
        "has a valley between {least} and {most}; not tried beyond",
        "在 {least} 至 {most} 之间有谷值，范围外未尝试",
    ),
    "optimisation.no_order": ("no order", "无序"),
    "optimisation.interval": ("{value}, 95 % interval {low} to {high}", "{value}，95 % 置信区间 {low} 至 {high}"),
    "optimisation.middle": (
        "{value}, 95 % interval {low} to {high} over refits", "{value}，重复拟合的 95 % 置信区间 {low} 至 {high}",
    ),
    "optimisation.tied": (
        "{value}, 95 % interval {low} to {high} over refits: not surely more than the next setting",
        "{value}，重复拟合的 95 % 置信区间 {low} 至 {high}：不能确定大于下一个参数",
    ),
    "optimisation.unranked": (
        "{value}, 95 % interval {low} to {high}: it may have no share, so it has no rank",
        "{value}，95 % 置信区间 {low} 至 {high}：可能没有影响，不参与排名",
    ),
    "optimisation.rest": (
        "{n} more settings: {same} never vary, {own} differ in (almost) every run",
        "另有 {n} 个参数：{same} 个取值不变，{own} 个几乎每个训练取值都不同",
    ),
    "optimisation.rest_constant": ("{n} more settings never vary", "另有 {n} 个参数取值不变"),
    "optimisation.less": ("Hide settings that say nothing", "收起无信息的参数"),
    "optimisation.reason.few": ("n = {n}: fewer than three runs have it", "仅 {n} 个训练有该参数，不足 3 个"),
    "optimisation.reason.constant": ("never varies", "取值不变"),
    "optimisation.reason.unique": ("different in every run", "每个训练取值各不相同"),
    "optimisation.reason.identifier": ("almost every run has its own", "几乎每个训练取值都不同"),
    "optimisation.reason.confounded": (
        "always changes with {other}",
        "始终与 {other} 一同变化",
    ),
    # Shares
    "optimisation.free": (
        "You can stop varying {names}: less than 5 % of the variance goes with each (upper limit at 95 %).",
        "可不再调整 {names}：各自解释的方差均低于 5 %（95 % 置信上限）。",
    ),
    "optimisation.free_none": (
        "There is no setting that you can stop varying for sure.", "没有可以确定不再调整的参数。",
    ),
    "optimisation.free_unsure": (
        " Not known of {names}: the interval reaches from 0 to above 5 %.",
        " 尚不能判断 {names}：置信区间从 0 延伸至 5 % 以上。",
    ),
    "optimisation.free_not_judged": (
        "Which settings you can stop varying is not judged: that needs a prediction with R² of 0.3 or more, so more runs.",
        "无法判断可不再调整哪些参数：预测的 R² 需达到 0.3，请增加训练。",
    ),
    "optimisation.waiting": ("The shares are waiting for another computation to finish.", "占比计算正在排队。"),
    "optimisation.fitting": ("Shares: refit {n} of {total}", "占比：第 {n} / {total} 次拟合"),
    "optimisation.done": ("Shares: {n} refits, each without a fifth of the runs", "占比：拟合 {n} 次，每次留出五分之一的训练"),
    "optimisation.stopped": ("Shares: stopped after {n} of {total} refits", "占比：已停止，完成 {n} / {total} 次拟合"),
    "optimisation.failed": ("The shares failed: {text}", "占比计算失败：{text}"),
    "optimisation.shares_few": ("Shares need ten runs with this result.", "计算占比至少需要 10 个有该结果的训练。"),
    "optimisation.shares_constant": (
        "All runs have the same result: there is nothing to explain.",
        "所有训练结果相同，无可解释。",
    ),
    "optimisation.shares_settings": (
        "No setting varies in a way that could be told apart.",
        "没有可供区分的参数变化。",
    ),
    "optimisation.fit": ("R² {fit} on held-out runs", "对未参与训练数据的 R² 为 {fit}"),
    "optimisation.no_fit": (
        "R² {fit} on held-out runs: no better than guessing the mean, so no shares are shown",
        "对未参与训练数据的 R² 为 {fit}：不优于均值预测，因此不显示占比",
    ),
    "optimisation.fit_tip": (
        "1 is exact. Variance that was not learned is attributed to no setting.",
        "1 表示完全准确。未学到的部分不归于任何参数。",
    ),
    "optimisation.stop": "common.stop",
    "optimisation.again": ("Recompute", "重新计算"),
    # Charts
    "optimisation.distribution": "common.distribution",
    "optimisation.summary": (
        "n = {runs}, min {least}, median {middle}, max {most}",
        "{runs} 个训练：最小 {least}，中位数 {middle}，最大 {most}",
    ),
    "optimisation.over": ("{target} over {setting}", "{target} 随 {setting} 的变化"),
    "optimisation.over_none": ("Result over a setting", "结果随参数的变化"),
    "optimisation.log": "common.log_inline",
    "optimisation.log_tip": ("Logarithmic axis of the setting", "参数使用对数坐标轴"),
    "optimisation.drawn": ("n = {n}", "n = {n}"),
    "optimisation.tried": ("tried from {least} to {most}", "取值范围 {least} 至 {most}"),
    "optimisation.per_unit": ("slope {slope} per unit", "斜率：每单位 {slope}"),
    "optimisation.per_decade": ("slope {slope} per ×10", "斜率：每 10 倍 {slope}"),
    "optimisation.best": ("best near {at} ({low} to {high} may be as good)", "{at} 附近最优（{low} 至 {high} 可能同样好）"),
    "optimisation.best_low": (
        "best near {at}, the lowest value tried (up to {high} may be as good)",
        "最小值 {at} 附近最优（至 {high} 可能同样好）",
    ),
    "optimisation.best_high": (
        "best near {at}, the highest value tried (from {low} on may be as good)",
        "最大值 {at} 附近最优（自 {low} 起可能同样好）",
    ),
    "optimisation.left": ("{n} rarer categories left out", "省略 {n} 个较少的类别"),
    # Pairs
    "optimisation.pairs": ("Nearest runs", "最接近的训练"),
    "optimisation.pairs_of": ("Runs that differ in {setting}", "{setting} 不同的训练"),
    "optimisation.alone": ("{n} of {total} pairs that differ in nothing else", "仅此参数不同的训练对：{n} / {total}"),
    "optimisation.also": (
        "no two runs differ in it only; the nearest also differ in {n}: {names}",
        "没有仅此参数不同的训练对；最接近的一对另有 {n} 项不同：{names}",
    ),
    "optimisation.no_pairs": ("No two of these runs differ in it.", "这些训练的该参数均相同。"),
    "optimisation.first": "common.run",
    "optimisation.second": ("Other run", "对比训练"),
    "optimisation.named": ("{name}", "{name}"),
    "optimisation.difference": "common.difference",
    "optimisation.both": ("Compare these two runs", "对比这两个训练"),
    # Files
    "optimisation.save": "common.save",
    "optimisation.save.png": "common.png",
    "optimisation.save.svg": ("SVG", "SVG"),
    "optimisation.save.csv": "common.csv",
})
