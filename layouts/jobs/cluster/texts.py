"""Texts of the cluster page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "cluster.controls": ("Metric, order and rows", "指标、排序与分组"),
    # Text alternatives
    "cluster.said_rank": "common.rank_n_inline",
    "cluster.said_step": "common.step_n_inline",
    "cluster.said_most": "common.highest",
    "cluster.said_least": "common.lowest",
    "cluster.said_values": "common.n_values",
    "cluster.said_unknown": ("No value is known", "没有已知的值"),
    "cluster.said_late": ("Ranks that others wait for", "其他 rank 等待的 rank"),
    # Cards and controls
    "cluster.bars": ("Every rank", "各 rank"),
    "cluster.grid": ("Rank grid", "rank 分布"),
    "cluster.heat": ("Ranks over the steps", "各 rank 随步骤的变化"),
    "cluster.dimensions": ("Communication by parallel dimension", "各并行维度的通信耗时"),
    "cluster.experts": ("Load of experts", "专家负载"),
    "cluster.metric": "common.metric",
    "cluster.order": "common.sort_order",
    "cluster.order.value": ("Highest first", "由高到低"),
    "cluster.order.rank": "common.by_rank",
    "cluster.rows": "common.rows",
    "cluster.rows.rank": "common.ranks",
    "cluster.rows.host": "common.hosts",
    "cluster.rows.stage": "common.stages",
    "cluster.rows.group": "common.rank_groups",
    "cluster.find": ("Go to rank", "跳转到 rank"),
    "cluster.find_tip": ("Number of a rank; the arrow keys go to its neighbours", "输入 rank 编号；方向键切换到相邻 rank"),
    "cluster.previous": ("Previous bar (left arrow)", "上一个（左方向键）"),
    "cluster.next": ("Next bar (right arrow)", "下一个（右方向键）"),
    "cluster.all": "common.all",
    "cluster.csv.cluster_steps": ("Steps of all ranks as CSV", "各 rank 步骤 CSV"),
    "cluster.csv.collectives": ("Operations as CSV", "通信算子 CSV"),
    "cluster.csv.groups": ("Groups as CSV", "通信域 CSV"),
    "cluster.csv.ranks": ("Hosts, memory and FLOPs as CSV", "主机、内存与 FLOPs CSV"),
    "cluster.reading": ("Reading {done} of {total} of all ranks", "正在读取各 rank 的文件：{done} / {total}"),
    "cluster.preparing": ("Reading files of all ranks", "正在读取各 rank 的文件"),
    "cluster.sessions": ("Reading the other sessions of this job", "正在读取该作业的其他采集会话"),
    "cluster.failed": ("The files of ranks could not be read: {text}", "无法读取各 rank 的文件：{text}"),
    "cluster.binned": ("{n} per bar", "每条 {n} 个"),
    "cluster.binned_tip": (
        "A bar is the mean of {n} neighbours in this order; of {total}. Zoom in for single ones.",
        "每条为当前顺序下相邻 {n} 个的平均，共 {total} 个。放大可查看单个。",
    ),
    "cluster.cells_binned": ("{n} ranks per cell", "每格 {n} 个 rank"),
    "cluster.cells_tip": (
        "A cell shows the rank of {n} neighbours that is furthest from the median of the step.",
        "每格显示相邻 {n} 个 rank 中偏离该步中位数最多的一个。",
    ),
    "cluster.unknown_n": ("{n} without a value", "{n} 个无数值"),
    "cluster.limited": ("Shown: the {n} ranks of {group}", "仅显示 {group} 的 {n} 个 rank"),
    # Metrics
    "cluster.metric.total": "common.whole_step",
    "cluster.metric.computing": "common.computing",
    "cluster.metric.exposed": "common.communication_not_overlapped",
    "cluster.metric.overlapped": ("Communication overlapped", "被掩盖的通信"),
    "cluster.metric.communication": "common.communication",
    "cluster.metric.free": "common.free",
    "cluster.metric.bubble": "common.bubble",
    "cluster.metric.preparing": "common.preparing",
    "cluster.metric.interval": "common.iteration_interval",
    "cluster.metric.forward_backward": "common.forward_and_backward",
    "cluster.metric.tail": "common.tail",
    "cluster.metric.lateness": ("Others wait for it", "使其他 rank 等待"),
    "cluster.metric.waited": ("Waits for others", "等待其他 rank"),
    "cluster.metric.peak_allocated": ("Peak memory, allocated", "已分配内存峰值"),
    "cluster.metric.peak_reserved": ("Peak memory, reserved", "已预留内存峰值"),
    "cluster.metric.flops": "common.flops_per_step",
    "cluster.metric.flops_per_s": "common.flop_rate",
    "cluster.metric.operators": ("Operators on the device", "设备算子耗时"),
    "cluster.part.bubble": "common.bubble",
    # Words of figures
    "cluster.word.rank": ("rank", "rank"),
    "cluster.word.ranks": ("ranks", "rank"),
    "cluster.word.host": "common.host",
    "cluster.word.stage": ("stage", "阶段"),
    "cluster.word.group": ("group", "通信域"),
    "cluster.word.step": "common.step_inline",
    "cluster.word.session": ("session {n}", "会话 {n}"),
    "cluster.word.mean": ("mean of {n}", "{n} 个的平均"),
    "cluster.word.mean_ranks": ("mean of {n} ranks", "{n} 个 rank 的平均"),
    "cluster.word.highest": ("highest of {n} ranks", "{n} 个 rank 的最大值"),
    "cluster.word.from_to": ("{first} to {last}", "{first} 至 {last}"),
    "cluster.word.most": ("highest: rank {rank}", "最高：rank {rank}"),
    "cluster.word.whole": "common.whole_step",
    "cluster.word.waited_for": ("others wait {late} for it", "其他 rank 等待 {late}"),
    "cluster.word.unknown": "common.unknown",
    "cluster.word.no_host": ("host unknown", "主机未知"),
    "cluster.word.no_stage": ("stage unknown", "阶段未知"),
    # Who is late
    "cluster.late.computing": (
        (
            "Rank {rank}{where} computes {excess} longer per step than the median of the other ranks that do the same work "
            "({others} of them); since step {since} the others of {group} wait {late} per step for it ({share})."
        ),
        (
            "rank {rank}{where} 每步计算比工作相同的其他 {others} 个 rank 的中位数多 {excess}；自第 {since} 步起，{group} "
            "的其他 rank 每步等待它 {late}（{share}）。"
        ),
    ),
    "cluster.late.host": (
        (
            "Rank {rank}{where} starts late: its device is idle {excess} longer per step than the median of the other "
            "ranks that do the same work ({others} of them), so look at its host; since step {since} the others of {group} "
            "wait {late} per step for it ({share})."
        ),
        (
            "rank {rank}{where} 下发较晚：其设备每步空闲比工作相同的其他 {others} 个 rank 的中位数多 {excess}，请检查其主机；"
            "自第 {since} 步起，{group} 的其他 rank 每步等待它 {late}（{share}）。"
        ),
    ),
    "cluster.late.replica_computing": (
        (
            "Replica {place} (ranks {ranks}) computes {excess} longer per step on each of its ranks than the median of the "
            "other replicas ({others}): more data, or slower devices; since step {since} others wait {late} per step for "
            "each of them ({share})."
        ),
        (
            "副本 {place}（rank {ranks}）的每个 rank 每步计算比其他 {others} 个副本的中位数多 {excess}：数据更多或设备较慢；"
            "自第 {since} 步起，其他 rank 每步等待其中每个 rank {late}（{share}）。"
        ),
    ),
    "cluster.late.replica_host": (
        (
            "Replica {place} (ranks {ranks}) starts late: the device of each of its ranks is idle {excess} longer per step "
            "than the median of the other replicas ({others}); since step {since} others wait {late} per step for each of "
            "them ({share})."
        ),
        (
            "副本 {place}（rank {ranks}）下发较晚：其每个 rank 的设备每步空闲比其他 {others} 个副本的中位数多 {excess}；"
            "自第 {since} 步起，其他 rank 每步等待其中每个 rank {late}（{share}）。"
        ),
    ),
    "cluster.late.link": (
        (
            "Rank {rank}{where} is late beside a slow link: {link} ({transport}) has {slow}, its peers {usual}; since "
            "step {since} the others of {group} wait {late} per step for it ({share})."
        ),
        (
            "rank {rank}{where} 因链路慢而较晚：{link}（{transport}）带宽 {slow}，同类链路为 {usual}；自第 {since} 步起，"
            "{group} 的其他 rank 每步等待它 {late}（{share}）。"
        ),
    ),
    "cluster.most.computing": (
        (
            "Others wait most for rank {rank}{where}, {late} per step ({share}). It computes longer when they do, but not "
            "steadily enough to be called slow."
        ),
        "其他 rank 等待最多的是 rank {rank}{where}，每步 {late}（{share}）。其间它计算更久，但不够稳定，不能判定为慢。",
    ),
    "cluster.most.host": (
        (
            "Others wait most for rank {rank}{where}, {late} per step ({share}). Its device is idle longer when they do, "
            "but not steadily enough to be called slow."
        ),
        "其他 rank 等待最多的是 rank {rank}{where}，每步 {late}（{share}）。其间它的设备空闲更久，但不够稳定，不能判定为慢。",
    ),
    "cluster.most.link": (
        "Others wait most for rank {rank}{where}, {late} per step ({share}); one of its links is slow.",
        "其他 rank 等待最多的是 rank {rank}{where}，每步 {late}（{share}）；它有一条链路较慢。",
    ),
    "cluster.most.pipeline": (
        (
            "Others wait most for rank {rank}{where}, {late} per step ({share}), as it waits longer for another stage than its "
            "peers: look for the cause there."
        ),
        (
            "其他 rank 等待最多的是 rank {rank}{where}，每步 {late}（{share}），"
            "因为它等待其他流水线阶段的时间比同组 rank 更长：请到那个阶段查找原因。"
        ),
    ),
    "cluster.most.unknown": (
        (
            "Others wait most for rank {rank}{where}, {late} per step ({share}); neither computing nor idle time nor a slow "
            "link says why."
        ),
        "其他 rank 等待最多的是 rank {rank}{where}，每步 {late}（{share}）；计算、空闲与链路均无法解释原因。",
    ),
    "cluster.saved": (
        "As fast as the median of them, it would make a step {saved} shorter.", "若与中位数一样快，每步可节省 {saved}。",
    ),
    "cluster.evidence": (
        (
            "Of the {peers} ranks that do the same work it stands out in {late} of {of} steps, by {z} times as much as the "
            "others usually differ from each other. A rank is called late from {often} of the steps, {least_z} times that "
            "difference and {excess} of a step on. It came last in {last} of its operations, by how long these took; no clocks "
            "are compared."
        ),
        (
            "在工作相同的 {peers} 个 rank（含自身）中，{of} 步里有 {late} 步偏高，超出量是其他 rank 之间通常差异的 {z} 倍；"
            "判定条件：不少于 {often} 的步骤、通常差异的 {least_z} 倍、单步的 {excess}。其 {last} 的通信算子最后到达："
            "由算子耗时得出，不依赖时钟。"
        ),
    ),
    "cluster.evidence_two": (
        (
            "Above in {late} of {of} steps; limits: {often} of the steps, {excess} of a step. It came last in {last} of its "
            "operations. Only {peers} are compared, so the difference is known, not which of them is unusual."
        ),
        (
            "在 {of} 步中的 {late} 步更高；界限：步数的 {often}、单步的 {excess}。其 {last} 的通信算子最后到达。"
            "只比较了 {peers} 个，只知道彼此的差异，无法判断哪个异常。"
        ),
    ),
    "cluster.show": ("Show rank {rank}", "查看 rank {rank}"),
    "cluster.more_late": ("{n} more ranks are late; the bars mark them.", "另有 {n} 个 rank 较晚，已在柱状图中标出。"),
    "cluster.nobody": (
        "No rank is slow: over {n} steps none is above its peers by {excess} of a step in {often} of the steps.",
        "没有慢 rank：在 {n} 步中，没有 rank 在 {often} 的步骤中高于同类达单步的 {excess}。",
    ),
    "cluster.warm_up": "common.warm_up",
    "cluster.few_steps": (
        "Who is slow was not judged: that takes {least} steps, recorded: {n}.",
        "未判断哪个 rank 较慢：至少需要 {least} 步，记录的步骤数：{n}。",
    ),
    "cluster.once": ("Others waited for {parts}.", "其他 rank 还等待过：{parts}。"),
    "cluster.once_one": ("rank {rank}: {late} ({share}{why})", "rank {rank}：{late}（{share}{why}）"),
    "cluster.once_step": (
        "rank {rank} in step {step}: {late} ({share}{why})", "rank {rank} 在第 {step} 步：{late}（{share}{why}）",
    ),
    "cluster.once_steps": (
        "rank {rank} in {n} steps: {late} ({share}{why})", "rank {rank} 在 {n} 步中：{late}（{share}{why}）",
    ),
    "cluster.once_more": (" and {n} more", "等，另有 {n} 个"),
    "cluster.joint": ("; ", "；"),
    "cluster.why.computing": (", computes longer", "，计算更久"),
    "cluster.why.host": (", starts late", "，下发较晚"),
    "cluster.why.link": (", slow link", "，链路慢"),
    "cluster.why.pipeline": (", as it waits for another stage", "，因为它在等待其他流水线阶段"),
    "cluster.why.unknown": (", reason unknown", "，原因未知"),
    "cluster.moved.both": (
        (
            "In the second job it is the same rank on the same host ({host2}, {late} per step): rank and host cannot be "
            "told apart."
        ),
        "在第二个作业中仍是同一主机（{host2}）上的同一 rank（每步 {late}）：无法区分是 rank 还是主机的原因。",
    ),
    "cluster.moved.rank": (
        "It follows the rank: in the second job rank {rank} is late as well, on another host ({host2}, {late} per step).",
        "随 rank 而动：第二个作业中 rank {rank} 在另一台主机（{host2}）上仍较晚（每步 {late}）。",
    ),
    "cluster.moved.rank_unknown": (
        "In the second job rank {rank} is late as well ({late} per step); whether on the same host is not known.",
        "第二个作业中 rank {rank} 仍较晚（每步 {late}）；是否在同一主机未知。",
    ),
    "cluster.moved.host": (
        "It follows the host: in the second job rank {other} is late, on the same host ({host}, {late} per step).",
        "随主机而动：第二个作业中同一主机（{host}）上的 rank {other} 较晚（每步 {late}）。",
    ),
    "cluster.moved.other": (
        "In the second job it is not late, but rank {other} is ({late} per step).",
        "第二个作业中它并不较晚，较晚的是 rank {other}（每步 {late}）。",
    ),
    "cluster.moved.nobody": ("In the second job no rank is late in most steps.", "第二个作业中没有持续较慢的 rank。"),
    "cluster.second_only": ("In the second job rank {rank} is.", "第二个作业中 rank {rank} 持续较慢。"),
    "cluster.checked": (
        "Checked groups of ranks with the same work: {n} ({kinds}).", "已检查的工作相同的通信域：{n} 个（{kinds}）。",
    ),
    "cluster.checked_unknown": (
        "Checked groups of ranks: {n}; what they are for is not known, so pipeline groups may be among them.",
        "已检查的通信域：{n} 个；其用途未知，可能包含流水线组。",
    ),
    "cluster.not_judged": (
        "Not judged: {kinds}, since their ranks wait by the shape of the pipeline.",
        "不作判断：{kinds}，其等待由流水线结构决定。",
    ),
    "cluster.unchecked_file": ("Who is late was not checked: {files} is missing.", "未检查哪个 rank 较晚：缺少 {files}。"),
    "cluster.unchecked_none": (
        "Who is late was not checked: the files list no communication operation.", "未检查哪个 rank 较晚：文件中没有通信算子。",
    ),
    "cluster.doubled": (
        "Some ranks have several rows for a step, as of several devices; {n} rows beyond the first are not shown.",
        "部分 rank 的同一步骤有多行数据（如多个设备），仅显示第一行，其余 {n} 行未显示。",
    ),
    "cluster.unchecked_alike": (
        "Who is late was not checked: no group is known whose ranks do the same work.",
        "未检查哪个 rank 较晚：没有已知的、各 rank 工作相同的通信域。",
    ),
    "cluster.unchecked_partly": (
        "Who is late was not checked: no operation was recorded by all ranks of its group.",
        "未检查哪个 rank 较晚：没有被组内全部 rank 记录的通信算子。",
    ),
    "cluster.unchecked_links": (
        "Slow links were not checked: the files have none (on Ascend: {files}).",
        "未检查慢链路：文件中没有链路（昇腾：{files}）。",
    ),
    "cluster.joined": ("The steps of {n} sessions are judged together.", "{n} 个采集会话的步骤一并判断。"),
    "cluster.not_joined": (
        "{n} sessions are shown together; only the chosen one is judged.", "共显示 {n} 个采集会话，仅对所选会话作判断。",
    ),
    # Dimensions
    "cluster.dim.kind": ("Dimension", "维度"),
    "cluster.dim.groups": "common.number_of_groups",
    "cluster.dim.operations": ("Operations", "算子数"),
    "cluster.dim.elapse": "common.time_taken",
    "cluster.dim.highest": ("Longest rank", "最久的 rank"),
    "cluster.dim.wait": ("Of it waiting", "其中等待"),
    "cluster.dim.size": "common.sent",
    "cluster.dim.note": (
        (
            "Mean per step and rank. Operations run beside each other and beside computing, so these times do not add up "
            "to the step."
        ),
        "每步每 rank 的平均值。通信算子之间及与计算可并行，耗时之和不等于单步耗时。",
    ),
    "cluster.dim.none": "common.not_checked_files_is_missing",
    "cluster.dim.nothing": ("The files list no communication operation.", "文件中没有通信算子。"),
    "cluster.dim.unknown": ("Groups of unknown kind", "用途未知的通信域"),
    "cluster.dim.tp": ("Tensor parallel", "张量并行"),
    "cluster.dim.pp": ("Pipeline parallel", "流水线并行"),
    "cluster.dim.dp": "common.data_parallel",
    "cluster.dim.cp": ("Context parallel", "上下文并行"),
    "cluster.dim.sp": ("Sequence parallel", "序列并行"),
    "cluster.dim.ep": ("Expert parallel", "专家并行"),
    "cluster.dim.dp_cp": ("Data and context parallel", "数据与上下文并行"),
    "cluster.dim.mp": ("Model parallel", "模型并行"),
    "cluster.dim.embd": ("Embedding", "词嵌入"),
    "cluster.dim.default_group": "common.all_ranks",
    # Experts
    "cluster.experts.tokens": (
        "Rank {rank} gets {share} times the mean of its group of tokens for its experts: {value} of {mean}.",
        "rank {rank} 的专家收到的 token 是组内平均的 {share} 倍：{value}，平均 {mean}。",
    ),
    "cluster.experts.bytes": (
        "Rank {rank} sends {share} times the mean of its group in all-to-all: {value} of {mean} per step.",
        "rank {rank} 的 all-to-all 发送量是组内平均的 {share} 倍：每步 {value}，平均 {mean}。",
    ),
    "cluster.experts.of_tokens": (
        "Tokens are the rows of grouped matrix multiplications in kernel_details.",
        "token 数取自 kernel_details 中分组矩阵乘的行数。",
    ),
    "cluster.experts.of_bytes": (
        "No file has numbers of tokens; the bytes of all-to-all stand in for them.",
        "文件中没有 token 数，以 all-to-all 的字节数代替。",
    ),
    "cluster.experts.none": (
        "Not checked: no operation of this job is all-to-all, and no file has rows of grouped matrix multiplications.",
        "未检查：该作业没有 all-to-all 算子，文件中也没有分组矩阵乘的行数。",
    ),
    # The picked rank
    "cluster.rank_n": "common.rank_n",
    "cluster.close": "common.close",
    "cluster.panel.open": ("Open this rank in", "在其他页面打开该 rank"),
    "cluster.panel.metric": "common.per_step",
    "cluster.panel.value": ("This rank", "该 rank"),
    "cluster.panel.median": "common.median",
    "cluster.panel.change": "common.difference",
    "cluster.panel.place": ("Place", "名次"),
    "cluster.panel.among": ("Compared with the {n} ranks of {group}.", "与 {group} 的 {n} 个 rank 比较。"),
    "cluster.panel.among_all": ("Compared with all {n} ranks.", "与全部 {n} 个 rank 比较。"),
    "cluster.panel.no_files": ("This rank has no files of its own.", "该 rank 没有自己的文件。"),
    "cluster.panel.absent": ("The job has no steps of rank {n}.", "该作业没有 rank {n} 的步骤。"),
    "cluster.panel.device": "common.device_n",
    "cluster.no_steps": ("No rank of this job has steps.", "该作业的各 rank 没有步骤。"),
    "cluster.no_values": ("No file of this job tells this. It is in {files}.", "该作业的文件中没有此项。可由 {files} 得到。"),
})
