"""Texts of the page about two dumps."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "two_dumps.csv": "common.csv",
    "two_dumps.one_dump": ("There is nothing to compare with.", "没有可对比的对象。"),
    "two_dumps.one_dump_hint": (
        "The dump has one rank and one iteration. Choose a run with another dump at the top.",
        "该 Dump 数据只有一个 rank 和一次迭代。请在顶部再选择一个有 Dump 数据的训练。",
    ),
    "two_dumps.swap": "common.swap_a_and_b",
    "two_dumps.tolerance": "common.tolerance",
    "two_dumps.tolerance.tip": (
        "Greatest difference that is still the same: the L2 norm of A − B relative to the larger norm",
        "仍视为一致的最大差异：A − B 的 L2 范数与两者中较大范数之比",
    ),
    "two_dumps.find": ("Find operators", "查找算子"),
    "two_dumps.show": "common.rows",
    "two_dumps.show.outputs": "common.outputs",
    "two_dumps.show.differing": ("Differing", "有差异"),
    "two_dumps.show.all": ("With inputs", "含输入"),
    # Cards
    "two_dumps.said_outputs": ("{n} outputs drawn", "绘制了 {n} 个输出"),
    "two_dumps.said_beyond": ("outputs beyond the tolerance", "超出容差的输出"),
    "two_dumps.curve": ("Difference over depth", "差异随深度的变化"),
    "two_dumps.table": "common.tensors",
    "two_dumps.alone": ("Without a partner", "未匹配"),
    # Sentences
    "two_dumps.first": (
        "The first output that differs by more than {tolerance} is {tensor} of {name}: {difference}.",
        "首个差异超过 {tolerance} 的是 {name} 的 {tensor}：{difference}。",
    ),
    "two_dumps.first_unlike": (
        "The first output that differs by more than {tolerance} is {tensor} of {name}: NaN or Inf in one ({n} of {count}).",
        "首个差异超过 {tolerance} 的是 {name} 的 {tensor}：{count} 个值中有 {n} 个仅在一方为 NaN 或 Inf。",
    ),
    "two_dumps.first_infinite": (
        "The first output that differs by more than {tolerance} is {tensor} of {name}: it has NaN or Inf in one dump only.",
        "首个差异超过 {tolerance} 的是 {name} 的 {tensor}：仅一方含有 NaN 或 Inf。",
    ),
    "two_dumps.first_hash": (
        "The first output that differs is {tensor} of {name}, by its hash: by how much is unknown.",
        "按哈希，首个有差异的是 {name} 的 {tensor}，差异大小未知。",
    ),
    "two_dumps.none": (
        "No output differs by more than {tolerance} (compared: {n}).", "没有输出的差异超过 {tolerance}（共对比 {n} 个）。",
    ),
    "two_dumps.none_partly": (
        "No output differs by more than {tolerance} (compared: {n}). Not judged: {left} outputs that cannot be compared.",
        "没有输出的差异超过 {tolerance}（共对比 {n} 个）。另有 {left} 个输出无法对比，未作判断。",
    ),
    "two_dumps.searching": ("Looking for the first iteration that differs.", "正在查找首个有差异的迭代。"),
    "two_dumps.earliest": ("Iteration {step} is the first that differs.", "迭代 {step} 是首个有差异的迭代。"),
    "two_dumps.earliest_go": "common.show_iteration_step",
    "two_dumps.alike": ("Iterations compared before it, without a difference: {n}.", "此前对比的 {n} 个迭代均无差异。"),
    "two_dumps.all_alike": ("No iteration differs (compared: {n}).", "所有迭代均无差异（共对比 {n} 个）。"),
    "two_dumps.some_alike": (
        "No iteration differs (compared: {n}). Not judged: {left} of both dumps, in which no output can be compared.",
        "已对比的 {n} 个迭代均无差异。另有 {left} 个双方共有的迭代没有可对比的输出，未作判断。",
    ),
    "two_dumps.no_iteration_shared": (
        "The dumps have no iteration in common: no first difference was searched for.",
        "两份 Dump 数据没有相同的迭代，因此未查找首个差异。",
    ),
    "two_dumps.none_comparable": (
        "In none of the {n} iterations of both dumps can an output be compared.", "双方共有的 {n} 个迭代中均没有可对比的输出。",
    ),
    "two_dumps.one_iteration": ("Other iterations were not compared.", "其他迭代未对比。"),
    "two_dumps.none_yet": ("No output that differs by more than {tolerance} yet.", "目前没有输出的差异超过 {tolerance}。"),
    "two_dumps.nothing": ("No tensor can be compared.", "没有可对比的张量。"),
    "two_dumps.nothing_shared": (
        "The two share no operator and no parameter: nothing can be compared.", "双方没有相同的算子和参数，无法对比。",
    ),
    "two_dumps.lone_producer": (
        "Its input {slot} comes from {name}, which only {side} has.", "其输入 {slot} 来自仅 {side} 中有的 {name}。",
    ),
    "two_dumps.inputs_same": ("All its dumped inputs agree.", "其已 Dump 的输入均一致。"),
    "two_dumps.inputs_partly": (
        "{n} of its {total} dumped inputs agree, the others cannot be compared.",
        "其 {total} 个已 Dump 的输入中有 {n} 个一致，其余无法对比。",
    ),
    "two_dumps.inputs_unknown": ("Its inputs cannot be compared.", "其输入无法对比。"),
    "two_dumps.inputs_differ": (
        "Inputs that differ already: {n} of {total} dumped, most of all input {slot} ({difference}).",
        "其 {total} 个已 Dump 的输入中有 {n} 个已有差异，差异最大的是输入 {slot}（{difference}）。",
    ),
    "two_dumps.inputs_absent": ("Its inputs were not dumped in both.", "其输入未在双方 Dump。"),
    "two_dumps.inputs_later": ("Its inputs are compared later.", "其输入稍后对比。"),
    "two_dumps.side": ("rank {rank}, iteration {step}", "rank {rank}，迭代 {step}"),
    "two_dumps.matched": ("Tensors matched: {how}.", "张量匹配方式：{how}。"),
    "two_dumps.how.name_n": ("{n} by name", "按名称 {n} 个"),
    "two_dumps.how.without_op_n": ("{n} by name without -op<n>", "按去除 -op<n> 的名称 {n} 个"),
    "two_dumps.how.scope_n": ("{n} by scope, type and order", "按作用域、类型和顺序 {n} 个"),
    "two_dumps.by_statistics": (
        "{n} of {total} tensors are compared by maximum, minimum, mean and norm: what leaves these as they are is not seen.",
        "{total} 个张量中有 {n} 个仅按统计值对比：若最大值、最小值、均值和范数不变，则无法发现差异。",
    ),
    "two_dumps.by_hash": (
        "{n} of {total} tensors are compared by hash only, and are the same.",
        "{total} 个张量中有 {n} 个仅按哈希对比，结果一致。",
    ),
    "two_dumps.why.shapes_differ": ("{n} tensors have another shape in B.", "{n} 个张量在 B 中的 shape 不同。"),
    "two_dumps.why.types_differ": (
        "{n} tensors are complex in one dump and real in the other, or texts in one only.",
        "{n} 个张量的数据类型无法对比：一方为复数、另一方为实数，或仅一方为文本。",
    ),
    "two_dumps.why.no_numbers": ("{n} tensors are texts.", "{n} 个张量为文本。"),
    "two_dumps.why.unreadable": ("{n} tensors cannot be read.", "{n} 个张量无法读取。"),
    "two_dumps.why.no_values": ("{n} tensors have neither values nor statistics.", "{n} 个张量既没有取值也没有统计值。"),
    "two_dumps.why.hashes_differ": (
        "{n} tensors have only hashes, which differ: by how much is unknown.", "{n} 个张量只有哈希且不同，差异大小未知。",
    ),
    # Table
    "two_dumps.order": "common.execution_order",
    "two_dumps.operator": "common.operator",
    "two_dumps.type": "common.type",
    "two_dumps.tensor": "common.tensor",
    "two_dumps.difference": "common.what_differs",
    "two_dumps.cosine": ("Cosine", "余弦相似度"),
    "two_dumps.max_absolute": ("Max absolute", "最大绝对误差"),
    "two_dumps.max_relative": ("Max relative", "最大相对误差"),
    "two_dumps.rms": ("RMS", "均方根"),
    "two_dumps.compared": ("Compared by", "对比依据"),
    "two_dumps.by.values": ("values", "取值"),
    "two_dumps.by.statistics": ("statistics", "统计值"),
    "two_dumps.by.hash": ("hash", "哈希"),
    "two_dumps.reason.shapes_differ": ("shapes differ", "shape 不同"),
    "two_dumps.reason.types_differ": ("types differ", "数据类型不同"),
    "two_dumps.reason.no_numbers": ("no numbers", "不是数值"),
    "two_dumps.reason.unreadable": ("unreadable", "无法读取"),
    "two_dumps.reason.no_values": ("no values", "没有取值"),
    "two_dumps.reason.hashes_differ": ("hashes differ", "哈希不同"),
    "two_dumps.no_rows": ("No tensor is like that.", "没有符合条件的张量。"),
    "two_dumps.first_rows": "common.first_rows",
    "two_dumps.only": ("Only in {side}: {n}", "仅 {side} 中有：{n}"),
    # Figure
    "two_dumps.x_order": ("Outputs in the order of execution", "输出（按执行顺序）"),
    "two_dumps.y_difference": "common.what_differs",
    "two_dumps.y_cosine": "two_dumps.cosine",
    "two_dumps.infinite": ("NaN or Inf in one only", "仅一方含 NaN 或 Inf"),
})
