"""Texts of the page about two jobs."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "two_jobs.csv": "common.csv",
    "two_jobs.one_job": ("The chosen runs have one job only.", "所选训练只有一个作业。"),
    "two_jobs.one_job_hint": ("Choose a run with another job at the top.", "请在顶部选择包含另一个作业的训练。"),
    "two_jobs.nothing": ("Neither job has anything to compare here.", "两个作业在此处均无可对比的数据。"),
    "two_jobs.no_steps": ("No rank has the parts of its steps in both jobs.", "没有任何一张卡在两个作业中都有步骤组成数据。"),
    "two_jobs.lacks": ("{job} has no data in {files}.", "{job} 缺少 {files} 中的数据。"),
    "two_jobs.or": "common.or_between_words",
    "two_jobs.not_in": ("not in {job}", "{job} 中没有"),
    "two_jobs.first": "common.first_rows",
    "two_jobs.rank_n": "common.rank_n_inline",
    # Sections
    "two_jobs.parts": ("Median of all ranks", "各卡中位数"),
    "two_jobs.bars": ("Difference by rank, A − B", "各卡差值（A − B）"),
    "two_jobs.ranks": "common.ranks",
    "two_jobs.operations": "common.communication_operations",
    "two_jobs.links": "common.links",
    "two_jobs.groups": "common.rank_groups",
    # What the jobs are
    "two_jobs.job": "common.job",
    "two_jobs.ranks_of": "common.n_of_total",
    "two_jobs.hosts": "common.hosts",
    "two_jobs.steps": "common.steps",
    "two_jobs.parallel": ("Parallel", "并行策略"),
    # Sentences
    "two_jobs.longer": (
        "A step of A takes {one}: {difference} ({change}) longer than in B ({other}), by the median over ranks ({ranks}).",
        "按 {ranks} 张卡的中位数，A 的单步耗时 {one}，比 B（{other}）长 {difference}（{change}）。",
    ),
    "two_jobs.shorter": (
        "A step of A takes {one}: {difference} ({change}) less than in B ({other}), by the median over ranks ({ranks}).",
        "按 {ranks} 张卡的中位数，A 的单步耗时 {one}，比 B（{other}）短 {difference}（{change}）。",
    ),
    "two_jobs.equal": (
        "Steps take about the same time: {one} in A and {other} in B, by the median over ranks ({ranks}).",
        "按 {ranks} 张卡的中位数，两个作业单步耗时相近：A 为 {one}，B 为 {other}。",
    ),
    "two_jobs.most_more": ("What differs most: {part}, {difference} more in A.", "差异最大的是{part}，A 多 {difference}。"),
    "two_jobs.most_less": ("What differs most: {part}, {difference} less in A.", "差异最大的是{part}，A 少 {difference}。"),
    "two_jobs.who": ("rank {rank} ({cause}, {lateness} per step)", "rank {rank}（{cause}，每步 {lateness}）"),
    "two_jobs.who_host": (
        "rank {rank} on {host} ({cause}, {lateness} per step)", "{host} 上的 rank {rank}（{cause}，每步 {lateness}）",
    ),
    "two_jobs.who_replica": (
        "replica {place}, ranks {ranks} ({cause}, {lateness} per step)",
        "副本 {place}，rank {ranks}（{cause}，每步 {lateness}）",
    ),
    "two_jobs.cause.computing": "common.computes_longer",
    "two_jobs.cause.host": "common.starts_late",
    "two_jobs.cause.link": "common.slow_link",
    "two_jobs.cause.pipeline": ("waits for another stage", "等待其他流水线阶段"),
    "two_jobs.cause.unknown": ("reason unknown", "原因未知"),
    "two_jobs.slow.unchecked": (
        (
            "Whether ranks wait for a slow one was not checked in {jobs}: operations of all ranks of a group whose ranks do "
            "the same work are needed."
        ),
        "{jobs} 未检查慢卡：需要由执行相同工作的卡组成的通信域中所有卡的通信算子。",
    ),
    "two_jobs.slow.none": ("In neither job the ranks wait for a slow one.", "两个作业均未发现慢卡。"),
    "two_jobs.slow.one": ("Only in {job} the others wait for a slow rank: {who}.", "仅 {job} 存在慢卡：{who}。"),
    "two_jobs.late.none": (
        "No rank was late in the recorded steps of either job; who is slow takes {n} steps.",
        "两个作业记录的步骤中均无 rank 迟到；判断慢卡需要 {n} 步。",
    ),
    "two_jobs.late.one": (
        "In the recorded steps the others waited only in {job} for a rank: {who}. Whether it is slow takes {n} steps.",
        "在记录的步骤中，仅 {job} 的其他卡等待了一张卡：{who}。判断是否为慢卡需要 {n} 步。",
    ),
    "two_jobs.late.both": (
        "In the recorded steps the others waited in A for {first}, in B for {second}. Whether these are slow takes {n} steps.",
        "在记录的步骤中，A 的其他卡等待 {first}，B 的其他卡等待 {second}。判断是否为慢卡需要 {n} 步。",
    ),
    "two_jobs.slow.rank": (
        "In A the others wait for {first}, in B for {second}: it follows the number of the rank, not the host.",
        "A 的慢卡为 {first}，B 的慢卡为 {second}：问题跟随 rank 编号，而不是主机。",
    ),
    "two_jobs.slow.host": (
        "In A the others wait for {first}, in B for {second}: it follows the host, not the number of the rank.",
        "A 的慢卡为 {first}，B 的慢卡为 {second}：问题跟随主机，而不是 rank 编号。",
    ),
    "two_jobs.slow.both": (
        "In A the others wait for {first}, in B for {second}: the same rank on the same host, so neither can be ruled out.",
        "A 的慢卡为 {first}，B 的慢卡为 {second}：rank 与主机都相同，无法区分原因。",
    ),
    "two_jobs.slow.apart": (
        "In A the others wait for {first}, in B for {second}: it follows neither the rank nor the host.",
        "A 的慢卡为 {first}，B 的慢卡为 {second}：问题既不跟随 rank，也不跟随主机。",
    ),
    "two_jobs.slow.same_rank": (
        (
            "In A the others wait for {first}, in B for {second}. The hosts are unknown, so whether it follows the rank or "
            "the host cannot be told."
        ),
        "A 的慢卡为 {first}，B 的慢卡为 {second}。主机未知，无法判断问题跟随 rank 还是主机。",
    ),
    "two_jobs.slow.other_rank": (
        "In A the others wait for {first}, in B for {second}. It does not follow the rank; the hosts are unknown.",
        "A 的慢卡为 {first}，B 的慢卡为 {second}。问题不跟随 rank；主机未知。",
    ),
    # What cannot be compared
    "two_jobs.note.no_common": (
        "The jobs have no rank in common, so nothing can be compared by rank.", "两个作业没有相同编号的卡，无法逐卡对比。",
    ),
    "two_jobs.note.only": ("Ranks in {job} only ({n}): {ranks}.", "仅在 {job} 中的 rank（{n} 张）：{ranks}。"),
    "two_jobs.note.parallel": (
        (
            "The jobs are divided differently (A: {one}; B: {other}): ranks of one number do other work in each, and groups "
            "do not match."
        ),
        "两个作业的并行策略不同（A：{one}；B：{other}）：相同编号的卡所做的工作不同，通信域也不对应。",
    ),
    "two_jobs.note.few_steps": (
        "Steps recorded: {one} in A, {other} in B. With fewer than {least}, differences and slow ranks may be chance.",
        "采集步数：A {one} 步，B {other} 步。少于 {least} 步时，差异与慢卡可能是偶然现象。",
    ),
    "two_jobs.note.bubble": (
        "The bubble is exact for some ranks and an upper bound for others.", "部分卡的空泡是精确值，另一部分是上限。",
    ),
    "two_jobs.note.links": (
        "Links of {job} left out, as no file tells the ranks at their ends: {n}.",
        "{job} 有 {n} 条链路未列出：文件未记录其两端的 rank。",
    ),
    # Columns
    "two_jobs.value": "common.per_step",
    "two_jobs.difference": ("A − B", "A − B"),
    "two_jobs.relative": ("of B", "相对 B"),
    "two_jobs.most": ("Highest, {job}", "{job} 最大值"),
    "two_jobs.column.rank": "common.rank",
    "two_jobs.column.host": ("Host, {job}", "{job} 主机"),
    "two_jobs.column.group_kind": "common.rank_group",
    "two_jobs.column.group_ranks": ("Its ranks", "成员"),
    "two_jobs.column.operation": "common.operation",
    "two_jobs.column.source": "common.from",
    "two_jobs.column.target": ("To", "目的"),
    "two_jobs.column.transport": "common.transport",
    "two_jobs.column.count": "common.times",
    "two_jobs.column.waited_ns": ("Waited", "等待"),
    "two_jobs.column.size_bytes": "common.bytes",
    "two_jobs.column.time_ns": "common.time_taken",
    "two_jobs.column.size": "common.number_of_ranks",
    # Values of a rank
    "two_jobs.metric": "common.value",
    "two_jobs.metric.total": ("whole step", "单步总耗时"),
    "two_jobs.metric.computing": "common.computing_inline",
    "two_jobs.metric.exposed": ("exposed communication", "未被掩盖的通信"),
    "two_jobs.metric.overlapped": ("overlapped communication", "被掩盖的通信"),
    "two_jobs.metric.communication": "common.communication_inline",
    "two_jobs.metric.free": "common.free_inline",
    "two_jobs.metric.bubble": ("bubble", "空泡"),
    "two_jobs.metric.preparing": ("preparing", "准备"),
    "two_jobs.metric.interval": ("iteration interval", "迭代间隔"),
    "two_jobs.metric.forward_backward": "common.forward_and_backward_inline",
    "two_jobs.metric.tail": ("tail", "迭代拖尾"),
    "two_jobs.metric.operations": ("communication operations", "通信算子"),
    "two_jobs.metric.waited": ("waiting for other ranks", "等待其他卡"),
    "two_jobs.metric.lateness": ("others wait for it", "被其他卡等待"),
    "two_jobs.metric.peak_allocated": ("peak of allocated memory", "已分配内存峰值"),
    "two_jobs.metric.peak_reserved": ("peak of reserved memory", "预留内存峰值"),
    "two_jobs.metric.flops": ("floating-point operations", "浮点运算量"),
    "two_jobs.metric.flops_per_s": ("floating-point operations per second", "每秒浮点运算"),
    # Controls
    "two_jobs.swap": "common.swap_a_and_b",
    "two_jobs.by": ("List operations by", "算子列表方式"),
    "two_jobs.by.group": ("By group", "按通信域"),
    "two_jobs.by.rank": "common.by_rank",
    "two_jobs.drawn": (
        "{n} of {total} ranks are drawn: both ends, and some between.", "绘制了 {total} 张卡中的 {n} 张：两端及中间抽样。",
    ),
    "two_jobs.sorted": ("Ranks from the largest difference to the least", "按差值从大到小排列的各卡"),
    "two_jobs.alike": ("No rank differs in this value.", "各卡的该指标均无差异。"),
    "two_jobs.undrawn": ("No rank has this value in both jobs.", "没有任何一张卡在两个作业中都有该指标。"),
})  # fmt: skip
