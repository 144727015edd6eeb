"""Texts of insights: one sentence for each kind, and the choice of sensitivity."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "insights.title": "common.insights",
    "insights.strict": "common.marks",
    "insights.strict_tip": (
        "Mark notable places on curves. High: marks more; low: marks only clear cases.",
        "标出曲线中值得注意之处。高：提示更多；低：仅提示明显的情况。",
    ),
    "insights.off": ("Off", "关闭"),
    "insights.low": "common.low",
    "insights.normal": ("Normal", "标准"),
    "insights.high": "common.high",
    "insights.same": ("As all ({level})", "同总体（{level}）"),
    "insights.per_rule": ("Level of each rule", "逐条规则设置"),
    "insights.count": ("{n} marks", "{n} 处标记"),
    "insights.count_one": ("1 mark", "1 处标记"),
    "insights.cause": ("Find the cause in the dump", "在 Dump 数据中溯源"),
    "insights.meaning": "common.what_does_this_mean",
    "insights.count_tip": ("Notable places on these curves", "这些曲线中值得注意之处"),
    "insights.more": "common.n_more",
    "insights.none": ("Nothing in the scalars of this run stands out.", "该训练的标量没有异常。"),
    "insights.few": (
        "Not judged: that takes {n} values of a scalar; none has as many.", "未判定：至少需要某个标量有 {n} 个值，目前都不足。",
    ),
    "insights.reading": ("{n} scalars not analysed yet", "还有 {n} 个标量待分析"),
    "insights.score": (
        "Score {score}: {measured} {unit}, reported from {limit}.", "得分 {score}：{measured} {unit}，自 {limit} 起提示。",
    ),
    "insights.csv": ("Insights as CSV", "洞察（CSV）"),
    "insights.kind.non_finite": "common.nan_or_inf",
    "insights.kind.divergence": ("Divergence", "发散"),
    "insights.kind.unmoved": ("Never moves", "从未变化"),
    "insights.kind.overfitting": ("Overfitting", "过拟合"),
    "insights.kind.frozen": ("Frozen value", "数值冻结"),
    "insights.kind.stall": ("Stall", "停滞"),
    "insights.kind.spike": ("Spike", "尖峰"),
    "insights.kind.shift": ("Level shift", "水平突变"),
    "insights.kind.oscillation": ("Oscillation", "振荡"),
    "insights.kind.noisier": ("Growing noise", "噪声增大"),
    "insights.kind.slower": ("Slower steps", "单步变慢"),
    "insights.kind.speed": ("Falling speed", "速度下降"),
    "insights.kind.plateau": ("Plateau", "平台期"),
    "insights.kind.gap": ("Missing steps", "步骤缺失"),
    "insights.non_finite": (
        "{tag} is {value} at step {step}; {n} of its values are not finite, the last at step {last}.",
        "{tag} 在步骤 {step} 处为 {value}；共有 {n} 个非有限值，最后一个在步骤 {last}。",
    ),
    "insights.divergence": (
        "{tag} got worse from step {step} on, from {usual} to {value} at the end, and did not recover.",
        "{tag} 自步骤 {step} 起恶化，由 {usual} 变为末尾的 {value}，未再恢复。",
    ),
    "insights.unmoved": (
        "{tag} stays at {value} in all {n} points, from step {step} on: it never moved.",
        "{tag} 自步骤 {step} 起的全部 {n} 个数据点均为 {value}，从未变化。",
    ),
    "insights.overfitting": (
        "{tag} was best at step {step} ({usual}) and is {value} at the end: {share} of the way back.",
        "{tag} 在步骤 {step} 处最优（{usual}），末尾为 {value}：改善已退回 {share}。",
    ),
    "insights.frozen": (
        "{tag} stays at {value} from step {step} to {last}, {n} times in a row, though it changes otherwise.",
        "{tag} 自步骤 {step} 至 {last} 连续 {n} 次停在 {value}，而其余时候一直在变化。",
    ),
    "insights.stall": (
        "Nothing was recorded for {value} after step {step}; the usual interval is at most {usual}.",
        "步骤 {step} 之后有 {value} 没有新记录；平常间隔不超过 {usual}。",
    ),
    "insights.spike": (
        "{tag} jumps to {value} at step {step}, where the curve is at {usual}: {measured} times the noise nearby.",
        "{tag} 在步骤 {step} 处跳至 {value}，而曲线约为 {usual}，是附近噪声的 {measured} 倍。",
    ),
    "insights.shift": (
        "{tag} jumps from {usual} to {value} at step {step} and goes on from there: {measured} times the noise of its points.",
        "{tag} 在步骤 {step} 处由 {usual} 跳至 {value}，此后未回到原水平，幅度为其噪声的 {measured} 倍。",
    ),
    "insights.oscillation": (
        "{tag} swings {n} times up and down from step {step} on: by {value} at the end, {usual} at first.",
        "{tag} 自步骤 {step} 起上下振荡 {n} 次：末尾幅度 {value}，起初 {usual}。",
    ),
    "insights.noisier": (
        "The noise of {tag} grows from step {step} on: standard deviation {value} at the end, {usual} before.",
        "{tag} 的噪声自步骤 {step} 起增大：标准差由 {usual} 变为末尾的 {value}。",
    ),
    "insights.slower": (
        "From step {step} on a step takes {value} instead of {usual}.",
        "自步骤 {step} 起，单步耗时由 {usual} 变为 {value}。",
    ),
    "insights.speed": (
        "{tag} falls from step {step} on, from {usual} to {value} at the end.",
        "{tag} 自步骤 {step} 起下降，由 {usual} 变为末尾的 {value}。",
    ),
    "insights.plateau": (
        "{tag} has not improved since step {step}: it stays at {value} for {share} of the points.",
        "{tag} 自步骤 {step} 起不再改善：{share} 的数据点停留在 {value} 附近。",
    ),
    "insights.gap": (
        "No points between steps {step} and {last}; they are usually at most {usual} apart.",
        "步骤 {step} 与 {last} 之间没有数据点；平常间距不超过 {usual}。",
    ),
    "insights.unit.non_finite": ("values", "个值"),
    "insights.unit.divergence": ("of the improvement lost", "（占已改善幅度的比例）"),
    "insights.unit.overfitting": "insights.unit.divergence",
    "insights.unit.frozen": ("equal values in a row", "个连续相同的值"),
    "insights.unit.unmoved": "insights.unit.frozen",
    "insights.unit.stall": ("usual intervals", "个平常间隔"),
    "insights.unit.spike": ("robust sigma", "个稳健标准差"),
    "insights.unit.shift": "insights.unit.spike",
    "insights.unit.oscillation": ("of the variance at one rate", "（单一频率占方差的比例）"),
    "insights.unit.noisier": ("times the noise before", "倍于此前噪声"),
    "insights.unit.slower": ("times as long", "倍耗时"),
    "insights.unit.speed": ("times the speed at the end", "倍于末尾速度"),
    "insights.unit.plateau": ("of the points", "（占数据点的比例）"),
    "insights.unit.gap": "insights.unit.stall",
})
