"""Communication takes long."""

from __future__ import annotations

from layouts.runs.symptoms.model import PERFORMANCE, Symptom, SymptomQuestion

SYMPTOM = Symptom(
    "long_communication", PERFORMANCE, ("Communication takes long", "通信耗时长"),
    ("allreduce all reduce hccl nccl slow link bandwidth overlap ddp distributed multi gpu",
     "集合通信 慢链路 带宽 掩盖 分布式 多卡"),
    (
        SymptomQuestion(
            "exposed", ("How much communication is not overlapped?", "未被掩盖的通信占多少？"),
            ("Overlap it with the backward pass, or communicate less.", "与反向计算重叠，或减少通信。"),
            "advice", {"rules": ("communication",)}, "communication", "communication", sign=True,
        ),
        SymptomQuestion(
            "links", ("Is a link slower than the others?", "是否有链路比其他链路慢？"),
            ("Check this link and its network card.", "检查该链路及其网卡。"),
            "advice", {"rules": ("slow_link",)}, "communication", "communication", sign=True,
        ),
        SymptomQuestion(
            "packets", ("Are packets too small, or is AllReduce not fused?", "数据包是否过小，AllReduce 是否未融合？"),
            ("Fuse AllReduce (all_reduce_fusion_config), or raise the size of buckets.",
             "融合 AllReduce（all_reduce_fusion_config），或增大分桶大小。"),
            "advice", {"rules": ("small_packets", "alignment")}, "communication", "communication",
        ),
        SymptomQuestion(
            "retransmission", ("Does the network send packets again?", "网络是否重传？"),
            ("Check cables, switches and the flow control.", "检查线缆、交换机与流控。"),
            "advice", {"rules": ("retransmission", "contention")}, "communication", "communication",
        ),
        SymptomQuestion(
            "last", ("Which rank comes last, and why?", "哪张卡最晚，原因是什么？"),
            ("Look at this rank: others wait for it, so their communication looks long.",
             "查看该卡：其他卡在等它，因此通信显得很长。"),
            "last_rank", {}, "cluster", "communication", sign=True,
        ),
    ),
)  # fmt: skip
