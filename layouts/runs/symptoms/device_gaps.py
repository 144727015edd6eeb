"""The device has gaps: it waits for the host."""

from __future__ import annotations

from layouts.runs.symptoms.model import PERFORMANCE, Symptom, SymptomQuestion

SYMPTOM = Symptom(
    "device_gaps", PERFORMANCE, ("The device has gaps between kernels", "设备上算子之间有空隙"),
    ("idle host bound launch synchronization small kernels item print low utilization",
     "空闲 下发 同步 小算子 主机瓶颈 利用率低"),
    (
        SymptomQuestion(
            "idle", ("How much of a step is the device idle?", "一步中设备空闲占多少？"),
            ("Find the cause below.", "从下面找出原因。"),
            "advice", {"rules": ("idle",)}, "steps", "profile", sign=True,
        ),
        SymptomQuestion(
            "causes", ("What are the gaps caused by?", "空隙由什么造成？"),
            ("Move host code out of the step; look at the gaps on the timeline.", "将主机侧代码移出单步；在时间线上查看空隙。"),
            "advice", {"rules": ("gaps",)}, "timeline", "profile",
        ),
        SymptomQuestion(
            "waits", ("Does the host wait for the device?", "主机是否等待设备？"),
            ("Call item(), print and asnumpy less often.", "减少 item()、print 与 asnumpy 的调用。"),
            "advice", {"rules": ("synchronising",)}, "advice", "profile", sign=True,
        ),
        SymptomQuestion(
            "launching", ("Does the host launch kernels too slowly?", "主机下发算子是否过慢？"),
            ("Use graph mode, fuse operators, or compile the network.", "使用图模式、融合算子或编译网络。"),
            "advice", {"rules": ("launching",)}, "advice", "profile", sign=True,
        ),
        SymptomQuestion(
            "copies", ("Are copies made from pageable memory?", "拷贝是否来自可换页内存？"),
            ("Pin the memory of the data loader and copy asynchronously.", "为数据加载使用锁页内存，并异步拷贝。"),
            "advice", {"rules": ("pageable",)}, "advice", "profile",
        ),
        SymptomQuestion(
            "small", ("How many kernels are there, and how long is one?", "有多少 kernel，每个多长？"),
            ("Many kernels of a few microseconds: fuse them, or raise the batch size.",
             "若大量 kernel 仅几微秒：融合，或增大 batch size。"),
            "small_kernels", {}, "operators", "profile",
        ),
    ),
)  # fmt: skip
