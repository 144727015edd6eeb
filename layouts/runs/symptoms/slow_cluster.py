"""A cluster is slower than one device times n."""

from __future__ import annotations

from layouts.runs.symptoms.model import PERFORMANCE, Symptom, SymptomQuestion

SYMPTOM = Symptom(
    "slow_cluster", PERFORMANCE, ("The cluster is slower than one device times n", "集群比单卡乘以卡数慢"),
    ("scaling scales badly straggler slow rank node multi gpu ddp linearity speedup", "扩展性 线性度 慢卡 慢节点 多机 加速比"),
    (
        SymptomQuestion(
            "stragglers", ("Is a rank slower than the others?", "是否有慢卡？"),
            ("Check clock, temperature and other jobs of this device.", "检查该设备的频率、温度与其他任务。"),
            "advice", {"rules": ("slow_rank",)}, "cluster", "communication", sign=True,
        ),
        SymptomQuestion(
            "hosts", ("Which host prepares its data longest?", "哪台主机准备数据最久？"),
            ("Spread the data evenly; check the disk of this host.", "均匀分布数据；检查该主机的磁盘。"),
            "longest_rank", {"value": "preparing"}, "cluster", "communication",
        ),
        SymptomQuestion(
            "steps", ("Which rank has the longest step?", "哪张卡的单步最长？"),
            ("Look at what this rank does longer than its peers.", "查看该卡的哪一部分比同伴更长。"),
            "longest_rank", {"value": "total"}, "cluster", "communication",
        ),
        SymptomQuestion(
            "clocks", ("Do the clocks of the ranks agree?", "各卡时钟是否一致？"),
            ("Synchronize clocks (NTP, PTP) before you compare times of ranks.", "对比各卡时间前先同步时钟（NTP、PTP）。"),
            "clocks", {}, "job", "communication",
        ),
        SymptomQuestion(
            "exposed", ("How much communication is not overlapped?", "未被掩盖的通信占多少？"),
            ("Go on with the guide “Communication takes long”.", "参见“通信耗时长”。"),
            "advice", {"rules": ("communication",)}, "communication", "communication",
        ),
    ),
)  # fmt: skip
