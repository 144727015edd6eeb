"""The rules that probes name, in both languages: `symptoms.rule.<rule>`; what an insight takes is in words of its own."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "symptoms.rule.insight": ("{rule} (insight “{kind}”)", "{rule}（洞察“{kind}”）"),
    "symptoms.rule.advice": ("{rule} {limit} (advice “{title}”)", "{rule} {limit}（调优建议“{title}”）"),
    # What insights take
    "symptoms.rule.insight_non_finite": ("a value is NaN or infinite", "存在 NaN 或 Inf"),
    "symptoms.rule.insight_divergence": (
        "at least {limit} of what it had improved is lost and not won back", "已改善幅度至少损失 {limit}，且未恢复",
    ),
    "symptoms.rule.insight_unmoved": ("all values are equal, {limit} of them or more", "所有值相同，且不少于 {limit} 个"),
    "symptoms.rule.insight_overfitting": (
        "at least {limit} of the way back after its best value; of a loss, by difference or by ratio",
        "达到最优后至少退回 {limit}；对损失，按差值或比值计",
    ),
    "symptoms.rule.insight_frozen": (
        "{limit} equal values in a row or more, though it changes otherwise", "至少连续 {limit} 个值相同，其余时间有变化",
    ),
    "symptoms.rule.insight_stall": (
        "nothing was recorded for {limit} usual intervals or more", "至少 {limit} 个平常间隔没有记录",
    ),
    "symptoms.rule.insight_spike": (
        "away from the curve by at least {limit} times the noise nearby", "偏离曲线至少达到邻近噪声的 {limit} 倍",
    ),
    "symptoms.rule.insight_shift": (
        "the levels before and after differ by at least {limit} times the noise", "前后水平之差至少为噪声的 {limit} 倍",
    ),
    "symptoms.rule.insight_oscillation": (
        "at least {limit} of the variance is at one frequency", "至少 {limit} 的方差集中于单一频率",
    ),
    "symptoms.rule.insight_noisier": ("the noise is at least {limit} times that before", "噪声至少为此前的 {limit} 倍"),
    "symptoms.rule.insight_slower": (
        "a step takes at least {limit} times as long as before", "单步耗时至少为此前的 {limit} 倍",
    ),
    "symptoms.rule.insight_speed": ("the speed was at least {limit} times that at the end", "此前速度至少为末尾的 {limit} 倍"),
    "symptoms.rule.insight_plateau": ("no improvement for at least {limit} of the points", "至少 {limit} 的数据点没有改善"),
    "symptoms.rule.insight_gap": ("points are at least {limit} usual intervals apart", "相邻数据点至少相距 {limit} 个平常间隔"),
    # What probes take
    "symptoms.rule.scale_fell": ("the loss scale is lower than at first", "损失缩放低于首值"),
    "symptoms.rule.rate_highest": ("the learning rate is at its highest so far", "学习率处于迄今最高"),
    "symptoms.rule.learning_rate_changed": ("the largest change so far", "迄今最大的变化"),
    "symptoms.rule.epoch_changed": ("the recorded epoch changes between two points", "记录的 epoch 在两点之间变化"),
    "symptoms.rule.restart_at": (
        "steps go back, or another file begins, within one point", "一个数据点之内步骤回退或新文件开始",
    ),
    "symptoms.rule.restarted": ("steps go back", "步骤回退"),
    "symptoms.rule.rate_after_restart": (
        "the learning rate after a restart is above the last one before it", "重启后的学习率高于此前最后的值",
    ),
    "symptoms.rule.mixed_writers": ("the times of two files overlap", "两个文件的时间重叠"),
    "symptoms.rule.rate_beside_others": ("the highest value is outside those of other runs", "最高值超出其他训练的范围"),
    "symptoms.rule.data_time": ("data takes longer than the rest of the step", "数据耗时超过单步其余部分"),
    "symptoms.rule.frozen_weights": ("the last histogram equals the first", "最后一个直方图与第一个相同"),
    "symptoms.rule.zero_values": ("all values are 0", "所有值均为 0"),
    "symptoms.rule.bad_inputs": ("a value is NaN or Inf", "存在 NaN 或 Inf"),
    "symptoms.rule.repeated_batch": ("records are equal value by value", "记录逐值相同"),
    "symptoms.rule.same_inputs": ("inputs of two ranks are equal value by value", "两张卡的输入逐值相同"),
    "symptoms.rule.weights_of_ranks": ("histograms of two ranks differ", "两张卡的直方图不同"),
    "symptoms.rule.shuffled": ("an operation or the reader shuffles single samples", "有操作或读取器打乱单个样本"),
    "symptoms.rule.pipeline_order": ("map before batch, shuffle before repeat", "先 map 后 batch，先 shuffle 后 repeat"),
    "symptoms.rule.unbounded_operators": ("logarithm, division, root, power", "对数、除法、开方、幂"),
    "symptoms.rule.redistribution": ("AllGather, AllToAll, ReduceScatter", "AllGather、AllToAll、ReduceScatter"),
    "symptoms.rule.setting": ("another run on screen has another value", "所选的其他训练取值不同"),
    "symptoms.rule.regularization": ("all such settings are 0", "此类配置均为 0"),
    "symptoms.rule.overflows": ("records of the device", "设备上报的记录"),
    "symptoms.rule.half_overflow": (
        "float16: Inf from inputs not known to be NaN or Inf, or an absolute value of at least 32,768",
        "float16：输入未见 NaN 或 Inf 而结果为 Inf，或绝对值不小于 32,768",
    ),
    "symptoms.rule.half_operators": (
        "output of float16; powers, sums, products, norms, losses, divisions: what torch.autocast keeps in float32",
        "输出为 float16 的幂、求和、连乘、范数、损失与除法：torch.autocast 保持为 float32 的算子",
    ),
    "symptoms.rule.noise_of_batch": (
        "noise over level of the second half, beside that of other runs scaled by 1/√(batch size); limit of “Growing noise”",
        "后半段噪声与水平之比，对比其他训练按 1/√(batch size) 折算的值；限值同“噪声增大”",
    ),
    "symptoms.rule.epoch_length": (
        "the lengths of two complete epochs differ by more than the records leave open",
        "相邻完整 epoch 的步数之差超出记录间隔的误差",
    ),
    "symptoms.rule.first_cause": ("as on the page First cause", "与“异常溯源”页面一致"),
    "symptoms.rule.departed": ("the norm left its history, as on the page First cause", "范数偏离历史，与“异常溯源”页面一致"),
    "symptoms.rule.watched": ("watchpoints that MindInsight recommends", "MindInsight 推荐的监测点"),
    "symptoms.rule.first_tensor": (
        "difference above the tolerance, as on the page Two dumps", "差异大于容差，与“Dump 对比”页面一致",
    ),
    "symptoms.rule.settings_differ": ("recorded values differ", "记录的值不同"),
    "symptoms.rule.pipelines_differ": ("operations or parameters differ", "操作或参数不同"),
    "symptoms.rule.pipeline_changed": (
        "operations or parameters differ from those of the start before", "操作或参数与上次启动不同",
    ),
    "symptoms.rule.graphs_differ": ("nodes or edges differ", "节点或边不同"),
    "symptoms.rule.seeds_differ": ("the interval of the gate (95 %) does not contain 0", "门禁的区间（95 %）不含 0"),
    "symptoms.rule.steps_differ": (
        "steps are longer by more than they vary (interval of the gate, 95 %)", "单步增长超出自身波动（门禁的区间，95 %）",
    ),
    "symptoms.rule.operators_differ": ("the sum of the times is larger", "耗时总和更大"),
    "symptoms.rule.longest_part": ("the longest part of the usual step", "平均单步中最长的部分"),
    "symptoms.rule.hardware": ("counted operations over the peak", "计数的运算量与峰值之比"),
    "symptoms.rule.top_operators": ("the largest sum of times", "耗时总和最大"),
    "symptoms.rule.wide_kernels": ("an input is float32", "有输入为 float32"),
    "symptoms.rule.changing_shapes": (
        "two steps after the first or more bring new shapes", "首步之后至少两个步骤带来新的 shape",
    ),
    "symptoms.rule.far_kernels": ("as on the page Operators", "与“算子”页面一致"),
    "symptoms.rule.kernel_sizes": ("no limit: look at the number", "没有阈值：请查看数值"),
    "symptoms.rule.at_peak": ("the moment of most memory", "内存最多的时刻"),
    "symptoms.rule.fragmentation": ("free memory is in several pieces at the peak", "峰值时空闲内存不连续"),
    "symptoms.rule.static_plan": ("the most in use at once", "同时使用的最大值"),
    "symptoms.rule.expert_balance": ("load above 1.1 times the mean of the group", "负载高于组内平均的 1.1 倍"),
    "symptoms.rule.last_rank": ("as on the page Cluster", "与“集群”页面一致"),
    "symptoms.rule.clocks": ("offset above its spread", "偏差大于离散"),
    "symptoms.rule.rank_total": ("the longest step of all ranks", "所有卡中最长的单步"),
    "symptoms.rule.rank_preparing": ("the longest preparation of all ranks", "所有卡中最长的准备时间"),
    "symptoms.rule.landscape": ("sharper than those of all other runs on screen", "比所选的其他训练都更尖锐"),
    "symptoms.rule.data_after_restart": (
        "an input after a restart equals the first one, value by value", "重启后的输入与首个输入逐值相同",
    ),
    "symptoms.rule.initial_values": ("the first histograms differ", "首个直方图不同"),
    "symptoms.rule.worse_result": ("the last value is worse, as on the page Runs", "末值更差，与“训练列表”页面一致"),
    "symptoms.rule.traces_differ": (
        "the step of median length takes longer; own time by name, as on the timeline",
        "耗时居中的步骤更长；按名称统计自身耗时，与时间线一致",
    ),
    "symptoms.rule.bound": ("by its busiest unit, as on the page Operators", "按最繁忙的单元判定，与“算子”页面一致"),
    "symptoms.rule.evaluation_pipeline": (
        "the same normalization in both, random operations in one of them", "两者归一化相同，仅一方有随机操作",
    ),
    "symptoms.rule.on_roofline": ("no limit without the bandwidth of the memory", "缺少内存带宽时没有阈值"),
    "symptoms.rule.recompiled": (
        "two calls of a function or more compile, for over 20 ms, or torch compiled a function again",
        "同一函数至少两次编译且超过 20 ms，或 torch 重新编译了函数",
    ),
})  # fmt: skip
