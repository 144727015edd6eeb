"""Texts of the page about the first cause of bad values."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "first_cause.csv": "common.csv",
    # Cards
    "first_cause.causes": ("Iterations with bad values", "出现异常值的迭代"),
    "first_cause.spread": ("Spread in iteration {n}", "迭代 {n} 中的扩散"),
    "first_cause.spread_rank": ("Spread in iteration {n} of rank {rank}", "迭代 {n} 中的扩散（rank {rank}）"),
    "first_cause.spread_card": ("Spread", "扩散"),
    "first_cause.operators": ("Operators with bad values in iteration {n}", "迭代 {n} 中出现异常值的算子"),
    "first_cause.departed": (
        "Operators whose norm left its history in iteration {n}", "迭代 {n} 中范数偏离历史范围的算子",
    ),
    "first_cause.departed_rank": (
        "Operators whose norm left its history in iteration {n} of rank {rank}",
        "迭代 {n} 中范数偏离历史范围的算子（rank {rank}）",
    ),
    "first_cause.operators_rank": (
        "Operators with bad values in iteration {n} of rank {rank}", "迭代 {n} 中出现异常值的算子（rank {rank}）",
    ),
    "first_cause.said_spread": (
        "{n} tensors with bad values, in the order of {operators} operators",
        "{n} 个含异常值的张量，按 {operators} 个算子的执行顺序排列",
    ),
    "first_cause.said_left": ("iterations beyond the history", "超出历史范围的迭代"),
    "first_cause.said_bad": "common.iterations_with_nan_or_inf",
    "first_cause.norms": ("Norm over the iterations", "各迭代的范数"),
    "first_cause.departures": ("Norms that left their history", "偏离历史范围的范数"),
    # The sentence. {where} is one of the next two.
    "first_cause.in_iteration": ("in iteration {n}", "在迭代 {n} 中"),
    "first_cause.on_rank": ("in iteration {n} on rank {rank}", "在 rank {rank} 的迭代 {n} 中"),
    "first_cause.here": (
        "{where}, {name} made the first bad values ({bad}); all its inputs are finite.",
        "{where}，{name} 最先产生异常值（{bad}），其输入均为有限值。",
    ),
    "first_cause.before": (
        "{where}, {name} has the first bad values ({bad}); they came from {from_name}, which was bad already.",
        "{where}，{name} 最先出现异常值（{bad}），异常来自此前已异常的 {from_name}。",
    ),
    "first_cause.before_unnamed": (
        "{where}, {name} has the first bad values ({bad}); one of its inputs was bad already.",
        "{where}，{name} 最先出现异常值（{bad}），其输入此前已异常。",
    ),
    "first_cause.of_rank": (
        "{where}, {name} has the first bad values ({bad}); they came from rank {rank}, where {from_name} has them first.",
        "{where}，{name} 最先出现异常值（{bad}），异常来自 rank {rank}，最先出现在 {from_name}。",
    ),
    "first_cause.unknown": (
        "{where}, {name} has the first bad values ({bad}); its inputs were not dumped, so they may have been bad already.",
        "{where}，{name} 最先出现异常值（{bad}）；其输入未被 Dump，可能此前已异常。",
    ),
    "first_cause.exploding_at": (
        "{where}, the norm of {name} exploded: {measured} instead of about {usual}.",
        "{where}，{name} 的范数激增：{measured}，通常约为 {usual}。",
    ),
    "first_cause.vanishing_at": (
        "{where}, the norm of {name} vanished: {measured} instead of about {usual}.",
        "{where}，{name} 的范数骤降：{measured}，通常约为 {usual}。",
    ),
    "first_cause.norm_from": ("One of its inputs had changed already: {name}.", "其输入 {name} 此前已发生变化。"),
    "first_cause.norm_grown": (
        "One of its inputs had grown already: {name}, {times} in its last update.",
        "其输入 {name} 此前已增大：最近一次更新中变为原来的 {times}。",
    ),
    "first_cause.ranges": ("Range of its inputs and outputs", "该算子输入与输出的取值范围"),
    "first_cause.side": "common.tensor",
    "first_cause.low": ("Lowest", "最小值"),
    "first_cause.high": ("Highest", "最大值"),
    "first_cause.not_finite": ("NaN and Inf", "NaN 与 Inf"),
    "first_cause.all_finite": ("none", "无"),
    "first_cause.from_moved": ("changed before:", "此前已变化："),
    "first_cause.grown": ("({times} in one update)", "（一次更新中 {times}）"),
    "first_cause.first_value": ("Its value is {value}.", "其值为 {value}。"),
    "first_cause.first_value_at": (
        "The first of its bad values in row order is {value} at index {index}.",
        "按行序，其首个异常值为 {value}，索引为 {index}。",
    ),
    "first_cause.spread_n": (
        "Operators with bad values in this iteration: {n} of {total}.", "该迭代的 {total} 个算子中有 {n} 个出现异常值。",
    ),
    "first_cause.spread_norm": (
        "The norms of {n} of {total} operators left their history in this iteration.",
        "该迭代的 {total} 个算子中有 {n} 个的范数偏离历史范围。",
    ),
    "first_cause.searching": ("No bad value has been found yet.", "目前未发现异常值。"),
    "first_cause.none": (
        "No tensor has NaN or Inf, and no norm left its history (tensors: {tensors}, iterations: {iterations}).",
        "未发现 NaN 或 Inf，也没有范数偏离历史范围（张量 {tensors} 个，迭代 {iterations} 次）。",
    ),
    "first_cause.none_bad": (
        "No tensor has NaN or Inf (tensors: {tensors}, iterations: {iterations}).",
        "未发现 NaN 或 Inf（张量 {tensors} 个，迭代 {iterations} 次）。",
    ),
    "first_cause.not_judged": (
        "Not judged: whether norms explode or vanish. That takes {wanted} iterations of a tensor; none has more than {most}.",
        "未判断范数是否激增或骤降：同一张量至少需要 {wanted} 次迭代，而现有张量最多只有 {most} 次。",
    ),
    "first_cause.no_norms": (
        "Not judged: whether norms explode or vanish. No L2 norm of a tensor of real numbers is known.",
        "未判断范数是否激增或骤降：没有浮点张量的 L2 范数。",
    ),
    "first_cause.partly_judged": (
        "The norms of {n} of {total} tensors were not judged: that takes {wanted} iterations of a tensor with a known norm.",
        "{total} 个张量中有 {n} 个的范数未判断：同一张量至少需要 {wanted} 次已知范数的迭代。",
    ),
    "first_cause.gradients_vanishing": (
        "Gradients vanish: the mean absolute value of {n} of {total} is below {limit} in every iteration.",
        "梯度消失：{total} 个梯度中有 {n} 个在每次迭代中的绝对值均值都小于 {limit}。",
    ),
    "first_cause.gradients_exploding": (
        "Gradients explode: the mean absolute value of {n} of {total} is above {limit} in every iteration.",
        "梯度爆炸：{total} 个梯度中有 {n} 个在每次迭代中的绝对值均值都大于 {limit}。",
    ),
    "first_cause.gradients_within": (
        "None of {n} gradients has a mean absolute value below {least} or above {most} in every iteration.",
        "按绝对阈值判断：{n} 个梯度中，没有一个在每次迭代中的绝对值均值都小于 {least} 或都大于 {most}。",
    ),
    "first_cause.depth_vanishing": (
        "Gradients vanish from {layer} towards the input: {fall} times smaller per layer over {n} layers, {first} to {last}.",
        "梯度从 {layer} 起向输入方向逐层消失：{n} 层中平均每层缩小 {fall} 倍，从 {first} 降至 {last}。",
    ),
    "first_cause.depth_at_one": (
        "Gradients vanish at {layer}: {fall} times smaller ({first} to {last}), and by at least {limit} up to the input.",
        "梯度在 {layer} 处消失：从该层到输入均至少缩小 {limit} 倍，该层缩小 {fall} 倍（从 {first} 降至 {last}）。",
    ),
    "first_cause.depth_within": (
        "Gradients do not vanish over depth ({n} layers compared): at most they get {fall} times smaller per layer.",
        "梯度未随深度消失（比较了 {n} 层）：下降最快处平均每层缩小 {fall} 倍。",
    ),
    "first_cause.depth_limits": (
        "Limits: {deep} layers in a row, {per_layer} times per layer, {over_all} times over all.",
        "阈值：连续 {deep} 层，每层 {per_layer} 倍，累计 {over_all} 倍。",
    ),
    "first_cause.depth_not_judged": (
        "Not judged: whether gradients vanish over depth. It takes {wanted} iterations and {deep} layers, not {most} and {n}.",
        "未判断梯度是否随深度消失：至少需要 {wanted} 次迭代和 {deep} 层，现有 {most} 次迭代和 {n} 层。",
    ),
    "first_cause.nothing_known": (
        "Nothing is known of the values: the dump has neither tensors nor statistics of them.",
        "无法得知取值情况：Dump 数据中既没有张量也没有统计值。",
    ),
    "first_cause.unchecked": (
        "{n} of {total} tensors could not be checked: they have no values and no statistics, or cannot be read.",
        "{total} 个张量中有 {n} 个无法检查：没有取值和统计值，或无法读取。",
    ),
    # Tables
    "first_cause.iteration": "common.iteration",
    "first_cause.rank": "common.rank",
    "first_cause.operator": ("First operator", "首个算子"),
    "first_cause.bad_operator": "common.operator",
    "first_cause.what": ("Bad values", "异常值"),
    "first_cause.from": "common.from",
    "first_cause.line": "common.source_line",
    "first_cause.affected": ("Affected", "受影响算子"),
    "first_cause.of_operators": "common.n_of_total",
    "first_cause.order": "common.execution_order",
    "first_cause.hops": ("Hops", "距离"),
    "first_cause.type": "common.type",
    "first_cause.bad_inputs": ("Bad inputs", "异常输入"),
    "first_cause.tensor": "common.tensor",
    "first_cause.kind": ("What", "类别"),
    "first_cause.norm": ("Norm", "范数"),
    "first_cause.usual": ("Usual", "通常"),
    "first_cause.times": "common.ratio",
    "first_cause.lag": ("Loss follows (iterations)", "loss 滞后（迭代）"),
    "first_cause.non_finite": "common.nan_or_inf",
    "first_cause.exploding": ("exploding", "激增"),
    "first_cause.vanishing": ("vanishing", "骤降"),
    "first_cause.exploding_norm": ("norm {measured}, usually {usual}", "范数 {measured}，通常 {usual}"),
    "first_cause.vanishing_norm": "first_cause.exploding_norm",
    "first_cause.bad_of": ("{bad} of {count}", "{count} 个值中 {bad}"),
    "first_cause.bad_n": ("{n} NaN or Inf", "{n} 个 NaN 或 Inf"),
    "first_cause.some_bad": ("NaN or Inf, number unknown", "NaN 或 Inf，数量未知"),
    "first_cause.origin.here": ("here: inputs are finite", "此处：输入均为有限值"),
    "first_cause.origin.here_norm": ("here: inputs are as usual", "此处：输入正常"),
    "first_cause.origin.before": ("a bad input", "异常输入"),
    "first_cause.origin.unknown": ("inputs not dumped", "输入未被 Dump"),
    "first_cause.from_input": ("bad before:", "此前已异常："),
    "first_cause.from_rank": ("rank {rank}: {name}", "rank {rank}：{name}"),
    "first_cause.no_spread": ("No operator has bad values in this iteration.", "该迭代中没有算子出现异常值。"),
    "first_cause.no_departures": (
        "No norm left its history. After three iterations, one has if it is 8 robust deviations and a factor of 30 away.",
        "没有范数偏离历史范围。判断标准：至少 3 次迭代之后，偏离 8 个稳健标准差且相差 30 倍以上。",
    ),
    "first_cause.first_rows": "common.first_rows",
    # Figures
    "first_cause.x_order": ("Operators in the order they ran", "算子（按执行顺序）"),
    "first_cause.y_share": "first_cause.what",
    "first_cause.y_decades": ("Decades off", "偏离数量级"),
    "first_cause.operator_n": ("operator {n}", "第 {n} 个算子"),
    "first_cause.hops_n": ("hops from the first: {n}", "距首个算子 {n} 跳"),
    "first_cause.x_iteration": "common.iteration",
    "first_cause.y_norm": "common.l2_norm",
    "first_cause.loss_note": (
        "Dotted: the median of the iterations before. Orange: {tag}.", "虚线：此前迭代的中位数；橙色：{tag}。",
    ),
    "first_cause.usual_note": ("Dotted: the median of the iterations before.", "虚线：此前迭代的中位数。"),
})
