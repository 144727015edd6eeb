"""Texts of the advice about jobs of many ranks, packets and memory."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "advice.open.cluster": ("Open the cluster", "查看集群"),
    "advice.open.communication": ("Open communication", "查看通信"),
    "advice.open.memory": ("Open device memory", "查看设备内存"),
    "advice.rank": ("Open the overview of this rank", "查看该卡的性能概览"),
    "advice.capacity": ("memory of the device", "设备内存容量"),
    # Why a rule was not checked although there are files
    "advice.reason.one_rank": ("the job has one rank", "作业只有一张卡"),
    "advice.reason.no_group": (
        "no group of ranks that do the same work has an operation of all its ranks",
        "没有由执行相同工作的卡组成、且各卡算子齐全的通信域",
    ),
    "advice.reason.few_links": ("fewer than 4 links of one kind moved 1 MB", "传输量达到 1 MB 的同类链路少于 4 条"),
    "advice.reason.slow_steps": ("fewer than 8 steps were recorded", "采集的步骤少于 8 个"),
    "advice.reason.few_steps": ("fewer than 10 steps were recorded", "采集的步骤少于 10 个"),
    "advice.reason.no_step_times": (
        "fewer than 10 steps lie within the time of the memory records", "内存记录时间内的步骤少于 10 个",
    ),
    "advice.reason.pool_free": (
        (
            "the pool holds nearly all of the device but has much of it free: files do not tell whether it was reserved at the "
            "start or is in pieces"
        ),
        "内存池几乎占满设备，但其中大量空闲：文件无法区分启动时即预留与内存碎片",
    ),
    "advice.reason.no_capacity": ("no file has the memory of the device; enter it", "文件中没有设备内存容量，请填写"),
    "advice.reason.no_matmul": ("no matrix multiplication was recorded", "没有采集到矩阵乘算子"),
    "advice.reason.no_packets": ("no transfers of this kind were recorded", "没有采集到此类传输"),
    # Rules
    "advice.idle.ranks": (
        (
            "{ranks} of {of} ranks neither compute nor communicate for longer than the threshold; the most is rank {rank}: "
            "{part_ns} of a step ({part_share})."
        ),
        "{of} 张卡中有 {ranks} 张既不计算也不通信的时间超过阈值，最多的是 rank {rank}：每步 {part_ns}（{part_share}）。",
    ),
    "advice.communication.ranks": (
        (
            "{ranks} of {of} ranks communicate for longer than the threshold while nothing computes; the most is rank "
            "{rank}: {part_ns} of a step ({part_share})."
        ),
        "{of} 张卡中有 {ranks} 张未被计算掩盖的通信超过阈值，最多的是 rank {rank}：每步 {part_ns}（{part_share}）。",
    ),
    "advice.communication.parts_unrecorded": (
        (
            "Operations take {all} per rank and step: {moved} is transfer, in {waited} a rank waits for others that come "
            "later, {unexplained} is not explained."
        ),
        "每卡每步通信 {all}：传输 {moved}，等待晚到的卡 {waited}，{unexplained} 原因未知。",
    ),
    "advice.communication.parts_ranks": (
        (
            "Operations take {all} per rank and step: {moved} is transfer, in {waited} a rank waits for others that come "
            "later, {unexplained} is not explained. The files have {transit} of transit and {recorded_wait} of waiting."
        ),
        (
            "每卡每步通信 {all}：传输 {moved}，等待晚到的卡 {waited}，{unexplained} 原因未知。"
            "文件记录的传输为 {transit}，等待为 {recorded_wait}。"
        ),
    ),
    "advice.slow_rank.title": ("Others wait for a rank", "其他卡等待某张卡"),
    "advice.slow_rank.computing": (
        (
            "Rank {rank} computes {excess_ns} longer per step than the median of the other ranks that do the same work, since "
            "step {since}, in {steps} of {of} steps. The others of its group ({kind}) wait {lateness_ns} per step for it "
            "({late_share}). As fast as the median, it would make a step {saved_ns} shorter."
        ),
        (
            "rank {rank} 自第 {since} 步起每步计算比工作相同的其他卡的中位数长 {excess_ns}（{of} 步中的 {steps} 步）。"
            "同组（{kind}）其他卡每步等待它 {lateness_ns}（{late_share}）。若与中位数一样快，每步可减少 {saved_ns}。"
        ),
    ),
    "advice.slow_rank.host": (
        (
            "Rank {rank} starts late: its device is idle {excess_ns} longer per step than the median of the other ranks that "
            "do the same work, since step {since}, in {steps} of {of} steps. The others of its group ({kind}) wait "
            "{lateness_ns} per step for it ({late_share}). As fast as the median, it would make a step {saved_ns} shorter."
        ),
        (
            "rank {rank} 下发较晚：自第 {since} 步起其设备每步空闲比工作相同的其他卡的中位数长 {excess_ns}"
            "（{of} 步中的 {steps} 步）。同组（{kind}）其他卡每步等待它 {lateness_ns}（{late_share}）。若与中位数一样快，"
            "每步可减少 {saved_ns}。"
        ),
    ),
    "advice.slow_rank.replica_computing": (
        (
            "Replica {place} (ranks {ranks}) computes {excess_ns} longer per step on each of its ranks than the median of "
            "the other replicas, since step {since}, in {steps} of {of} steps. Others wait {lateness_ns} per step for each "
            "of them ({late_share}). As fast as the median, it would make a step {saved_ns} shorter."
        ),
        (
            "副本 {place}（rank {ranks}）的每张卡自第 {since} 步起每步计算比其他副本的中位数长 {excess_ns}"
            "（{of} 步中的 {steps} 步）。其他卡每步等待其中每张卡 {lateness_ns}（{late_share}）。若与中位数一样快，"
            "每步可减少 {saved_ns}。"
        ),
    ),
    "advice.slow_rank.replica_host": (
        (
            "Replica {place} (ranks {ranks}) starts late: the device of each of its ranks is idle {excess_ns} longer per "
            "step than the median of the other replicas, since step {since}, in {steps} of {of} steps. Others wait "
            "{lateness_ns} per step for each of them ({late_share}). As fast as the median, it would make a "
            "step {saved_ns} shorter."
        ),
        (
            "副本 {place}（rank {ranks}）下发较晚：自第 {since} 步起每张卡的设备每步空闲比其他副本的中位数长 {excess_ns}"
            "（{of} 步中的 {steps} 步）。其他卡每步等待其中每张卡 {lateness_ns}（{late_share}）。若与中位数一样快，"
            "每步可减少 {saved_ns}。"
        ),
    ),
    "advice.slow_rank.link": (
        (
            "The others of its group ({kind}) wait {lateness_ns} of a step ({late_share}) for rank {rank}, since step "
            "{since}. It neither computes longer nor starts late, but one of its links is slow."
        ),
        (
            "同组（{kind}）其他卡自第 {since} 步起每步等待 rank {rank} {lateness_ns}（{late_share}）。该卡计算不更久、"
            "下发不更晚，但有一条链路较慢。"
        ),
    ),
    "advice.slow_rank.rule": ("above its peers by more than", "超出同类大于"),
    "advice.slow_link.title": ("A link is slow", "存在慢链路"),
    "advice.slow_link.said": (
        (
            "The link from rank {source} to rank {target} ({transport}) reaches {bandwidth}, {link_share} of the median of "
            "its kind ({usual_bandwidth})."
        ),
        (
            "rank {source} 到 rank {target} 的链路（{transport}）带宽为 {bandwidth}，"
            "是同类链路中位数（{usual_bandwidth}）的 {link_share}。"
        ),
    ),
    "advice.slow_link.rule": ("share of the median bandwidth below", "与带宽中位数之比小于"),
    "advice.small_packets.title": ("Packets are small", "通信小包过多"),
    "advice.small_packets.said": (
        "{small_share} of the packets by {family} are smaller than {limit_traffic}.",
        "{family} 通信中 {small_share} 的数据包小于 {limit_traffic}。",
    ),
    "advice.small_packets.rule": ("small packets above", "小包占比大于"),
    "advice.alignment.title": ("Data is not aligned", "通信数据未对齐"),
    "advice.alignment.said": (
        "{odd_share} of the time of transfers within nodes is spent on packets whose size is no multiple of 512 bytes.",
        "节点内传输时间的 {odd_share} 花在大小不是 512 字节整数倍的数据包上。",
    ),
    "advice.alignment.rule": ("part of the time above", "时间占比大于"),
    "advice.retransmission.title": ("Data is sent again", "通信重传"),
    "advice.retransmission.said": (
        (
            "{name} took {transit_ns} to transfer by RDMA, and long in its fastest rank too, so data was probably sent "
            "again (operations like this: {operations})."
        ),
        "{name} 的 RDMA 传输耗时 {transit_ns}，且最快的卡也同样耗时，很可能发生了重传（此类算子 {operations} 个）。",
    ),
    "advice.retransmission.rule": ("transfer longer than its bytes take by", "传输耗时超出数据量所需时间"),
    "advice.contention.title": ("Communication competes with MatMul", "通信与 MatMul 争抢带宽"),
    "advice.contention.said": (
        "Beside matrix multiplications, communication reaches {bandwidth}; alone it reaches {usual_bandwidth}.",
        "与矩阵乘同时执行时通信带宽为 {bandwidth}，单独执行时为 {usual_bandwidth}。",
    ),
    "advice.contention.only": (
        "Beside matrix multiplications, communication reaches {bandwidth}. None runs alone to compare it with.",
        "与矩阵乘同时执行时通信带宽为 {bandwidth}，没有单独执行的通信可供比较。",
    ),
    "advice.contention.rule": ("bandwidth below", "带宽小于"),
    "advice.bubble.title": ("Stages of the pipeline wait", "流水线空泡"),
    "advice.bubble.said": (
        "The ranks of stage {stage} wait {waited_ns} of a step ({bubble_share}) for other stages, rank {rank} the longest.",
        "stage {stage} 的卡每步等待其他 stage {waited_ns}（{bubble_share}），rank {rank} 等待最久。",
    ),
    "advice.bubble.at_most": (
        (
            "The ranks of stage {stage} wait up to {waited_ns} of a step ({bubble_share}) for other stages, rank {rank} the "
            "longest. It may be less: no file says how much of that computing overlaps."
        ),
        (
            "stage {stage} 的卡每步等待其他 stage 至多 {waited_ns}（{bubble_share}），rank {rank} 等待最久。实际可能更少："
            "文件未记录其中有多少被计算掩盖。"
        ),
    ),
    "advice.bubble.said_unknown": (
        (
            "Ranks wait {waited_ns} of a step ({bubble_share}) for other stages, rank {rank} the longest. No file tells the "
            "stages."
        ),
        "各卡每步等待其他 stage {waited_ns}（{bubble_share}），rank {rank} 等待最久。文件未记录 stage 划分。",
    ),
    "advice.bubble.at_most_unknown": (
        (
            "Ranks wait up to {waited_ns} of a step ({bubble_share}) for other stages, rank {rank} the longest. It may be "
            "less: no file says how much of that computing overlaps, or tells the stages."
        ),
        (
            "各卡每步等待其他 stage 至多 {waited_ns}（{bubble_share}），rank {rank} 等待最久。实际可能更少："
            "文件未记录其中有多少被计算掩盖，也未记录 stage 划分。"
        ),
    ),
    "advice.bubble.rule": ("bubble above", "空泡占比大于"),
    "advice.stages.title": ("Stages compute unequally long", "各 stage 计算不均衡"),
    "advice.stages.said": (
        "Stage {stage} computes {times} times as long as stage {other}: {computing_ns} of a step against {other_ns}.",
        "stage {stage} 的计算时间是 stage {other} 的 {times} 倍：每步 {computing_ns}，后者为 {other_ns}。",
    ),
    "advice.stages.operators": (
        "A step of rank {rank} (stage {stage}) computes {more} longer than one of rank {other} (stage {peer}), most in:",
        "rank {rank}（stage {stage}）每步计算比 rank {other}（stage {peer}）长 {more}，主要来自：",
    ),
    "advice.stages.dimension": (
        (
            "{part} of these {more} are operators with {dimension} in a shape, which the other stage hardly has. If that is "
            "the size of the vocabulary, they compute the logits and the loss."
        ),
        (
            "其中 {part}（共 {more}）来自形状含 {dimension} 的算子，另一 stage 几乎没有。"
            "若它是词表大小，则这些算子计算 logits 与损失。"
        ),
    ),
    "advice.stages.no_operators": (
        "Not judged which operators make the difference: that takes kernel_details.csv of a rank of each of the two stages.",
        "未判定是哪些算子造成差异：需要这两个 stage 各一张卡的 kernel_details.csv。",
    ),
    "advice.stages.reading": ("Reading which operators make the difference …", "正在读取造成差异的算子…"),
    "advice.column.of_stage": ("In stage {stage}", "stage {stage} 中"),
    "advice.column.more_ns": ("Longer by", "多出"),
    "advice.stages.rule": ("longer than the mean of stages by", "超出各 stage 均值"),
    "advice.open.ranks": ("Compare the operators of ranks", "对比各卡算子"),
    "advice.reason.no_stages": (
        "the files tell of no stages, and no rank waits for another stage", "文件中没有流水线阶段，也没有卡等待其他阶段",
    ),
    "advice.reason.few_batches": ("fewer than 10 batches were recorded", "采集的批次少于 10 个"),
    "advice.reason.few_samples": ("fewer than 10 samples were recorded", "采样少于 10 次"),
    "advice.reason.no_calls": (
        "the device is idle because of the host, but the trace has no calls of the host",
        "设备因主机空闲，但轨迹中没有主机调用",
    ),
    "advice.reason.one_stage": ("the job has one stage", "作业只有一个 stage"),
    "advice.column.ranks": "common.ranks",
    "advice.column.of_least": ("Of the shortest stage", "与最短 stage 之比"),
    "advice.memory.title": ("Memory is close to the capacity", "设备内存接近上限"),
    "advice.memory.said": (
        "At its peak {component} holds {peak_bytes} of {capacity_bytes}; {left_bytes} are left.",
        "{component} 峰值占用 {peak_bytes}，设备容量 {capacity_bytes}，仅剩 {left_bytes}。",
    ),
    "advice.memory.ranks": (
        (
            "{ranks} of {of} ranks come closer to the memory of the device than the threshold; the closest is rank {rank}: "
            "{peak_bytes} of {capacity_bytes}, {left_bytes} are left."
        ),
        (
            "{of} 张卡中有 {ranks} 张的内存峰值超过阈值，最接近上限的是 rank {rank}：{capacity_bytes} 中已用 {peak_bytes}，"
            "仅剩 {left_bytes}。"
        ),
    ),
    "advice.memory.rule": ("part of the capacity above", "占容量大于"),
    "advice.leak.title": ("Memory grows", "设备内存持续增长"),
    "advice.leak.said": (
        (
            "The least memory of {component} in a step grows by {slope_bytes} from step to step (99 % interval: {low_bytes} "
            "to {high_bytes}), by {growth_bytes} over {steps} steps."
        ),
        (
            "{component} 单步内存最小值每步增长 {slope_bytes}（99 % 区间：{low_bytes} 至 {high_bytes}），{steps} 步共增长 "
            "{growth_bytes}。"
        ),
    ),
    "advice.leak.sessions": (
        (
            "The least memory of {component} in a session grows by {slope_bytes} from session to session (99 % interval: "
            "{low_bytes} to {high_bytes}), by {growth_bytes} over {steps} sessions."
        ),
        (
            "{component} 单次采集的内存最小值每次增长 {slope_bytes}（99 % 区间：{low_bytes} 至 {high_bytes}），{steps} 次采集"
            "共增长 {growth_bytes}。"
        ),
    ),
    "advice.leak.rule": ("growth over all steps above", "全程增长大于"),
    # Columns of evidence
    "advice.column.rank": "common.rank",
    "advice.column.group_kind": "common.rank_group",
    "advice.column.group_ranks": ("Ranks of the group", "通信域成员"),
    "advice.column.group": "common.rank_group",
    "advice.column.why": "common.reason",
    "advice.why.computing": "common.computes_longer",
    "advice.why.host": "common.starts_late",
    "advice.why.link": "common.slow_link",
    "advice.column.lateness_ns": ("Others wait", "其他卡等待"),
    "advice.column.late_share": ("Part of the step", "单步占比"),
    "advice.column.excess_ns": ("Above the median", "超出中位数"),
    "advice.column.saved_ns": ("Saved at the median", "达到中位数可省"),
    "advice.column.last_share": ("Came last", "最后到达"),
    "advice.column.late_steps": ("Steps late", "晚到步数"),
    "advice.column.of_steps": ("Of steps", "总步数"),
    "advice.column.since": ("Since step", "起始步骤"),
    "advice.column.source": ("From rank", "源 rank"),
    "advice.column.target": ("To rank", "目的 rank"),
    "advice.column.transport": "common.transport",
    "advice.column.size_bytes": "common.size",
    "advice.column.bandwidth": "common.bandwidth",
    "advice.column.usual_bandwidth": "common.median",
    "advice.column.link_share": ("Of the median", "与中位数之比"),
    "advice.column.lost_ns": ("Lost", "损失"),
    "advice.column.stage": "common.stage",
    "advice.column.own_bubble_ns": "common.bubble",
    "advice.column.bubble_share": "advice.column.late_share",
    "advice.column.part_share": "advice.column.late_share",
    "advice.column.computing_ns": "common.computing",
    "advice.column.packets": "common.packets",
    "advice.column.time_ns": "common.time_taken",
    "advice.column.elapse_ns": ("Fastest rank", "最快的卡"),
    "advice.column.beside_share": ("Beside MatMul", "与 MatMul 同时"),
    "advice.column.component": "common.component",
    "advice.column.memory_share": ("Of the capacity", "占容量"),
    "advice.column.peak_bytes": "common.peak",
    "advice.column.allocated_bytes": "common.allocated",
    "advice.column.reserved_bytes": "common.reserved",
    "advice.column.capacity_bytes": "common.capacity",
    "advice.column.least_bytes": ("Least memory", "最小内存"),
    # What to do
    "advice.do.slow_rank_computing": (
        (
            "Compare its operators with those of another rank: another load (data, experts, sequence lengths), or a lower "
            "frequency?"
        ),
        "与其他卡对比算子：负载是否不同（数据、专家、序列长度），或频率是否偏低。",
    ),
    "advice.do.slow_rank_host": (
        "Look at its timeline before the operations it comes late to: host load, data loading, logging, garbage collection.",
        "查看该卡在晚到的通信之前的时间线：主机负载、数据加载、日志、垃圾回收。",
    ),
    "advice.do.slow_rank_link": (
        "Check the link on the page Communication, then cable, port and topology.",
        "在“通信”页面查看该链路，并检查线缆、端口与拓扑。",
    ),
    "advice.do.slow_link": (
        "Check cable, port and topology of this link; a second job shows whether it stays with the hosts.",
        "检查该链路的线缆、端口与拓扑；用第二个作业可判断问题是否跟随主机。",
    ),
    "advice.do.small_packets": (
        "Merge messages: larger buckets for gradients, fewer and larger tensors, gradient accumulation.",
        "合并消息：增大梯度融合桶、减少并增大张量、使用梯度累积。",
    ),
    "advice.do.alignment": (
        "Choose sizes that divide: pad parameters or buckets so that each rank sends a multiple of 512 bytes.",
        "选择可整除的大小：对参数或融合桶做填充，使每卡发送量为 512 字节的整数倍。",
    ),
    "advice.do.retransmission": (
        "Check the network between hosts: lost packets, congestion control (PFC, ECN), and the timeout of RDMA.",
        "检查主机间网络：丢包、拥塞控制（PFC、ECN）以及 RDMA 超时设置。",
    ),
    "advice.do.contention": (
        "Let communication run beside operators that need less memory bandwidth, or accept it where it is hidden anyway.",
        "将通信安排在访存压力较小的算子旁边；若通信本就被掩盖，可保持现状。",
    ),
    "advice.do.bubble": (
        "Use more micro batches, interleaved stages, or balance the layers of the stages.",
        "增加 micro batch 数、使用交错流水线，或均衡各 stage 的层数。",
    ),
    "advice.do.stages": (
        "Move layers from the stage that computes longest to the others; compare operators of a rank of each.",
        "将计算最久的 stage 的部分层移到其他 stage；可各取一张卡对比算子。",
    ),
    "advice.do.memory": (
        "Recompute activations, shard the optimiser, or use a smaller micro batch; the page Device memory shows what fills it.",
        "使用重计算、优化器切分或更小的 micro batch；“设备内存”页面可查看占用构成。",
    ),
    "advice.do.leak": (
        (
            "Look on the page Device memory for what was allocated in one step and never released: lists of tensors, "
            "caches, graphs."
        ),
        "在“设备内存”页面查找某步分配后未释放的内存：张量列表、缓存、计算图。",
    ),
})  # fmt: skip
