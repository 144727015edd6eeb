"""The interval between steps is long: the device waits for data or for the program."""

from __future__ import annotations

from layouts.runs.symptoms.model import PERFORMANCE, Symptom, SymptomQuestion

SYMPTOM = Symptom(
    "long_interval", PERFORMANCE, ("The step interval is long, the device waits for data", "步骤间隔长，设备等待数据"),
    ("data loader dataloader queue empty input bottleneck low gpu npu utilization waits num_workers preprocessing",
     "数据加载 数据处理 队列 空 预处理 利用率低 等待数据 迭代间隙"),
    (
        SymptomQuestion(
            "interval", ("How long does the device wait between two steps?", "两步之间设备等待多久？"),
            ("Look at the queues: the first empty one is after the slow part.", "查看各队列：首个为空的队列之前即为慢的部分。"),
            "advice", {"rules": ("interval", "fetching"), "either": True}, "steps", "profile", sign=True,
        ),
        SymptomQuestion(
            "queues", ("How often is a data queue empty?", "数据队列为空的比例是多少？"),
            ("Make the pipeline faster: more num_parallel_workers, MindRecord files, work done once offline.",
             "加快数据处理：增大 num_parallel_workers，使用 MindRecord，将一次性工作离线完成。"),
            "advice", {"rules": ("empty",)}, "preparation", "profile", sign=True,
        ),
        SymptomQuestion(
            "slowest", ("Which operation of the pipeline is slowest?", "数据处理中哪个操作最慢？"),
            ("Raise num_parallel_workers of this operation, or replace Python by an operation of mindspore.dataset.",
             "增大该操作的 num_parallel_workers，或用 mindspore.dataset 自带操作替换 Python 实现。"),
            "advice", {"rules": ("queue_use",)}, "preparation", "profile",
        ),
        SymptomQuestion(
            "cpu", ("Are the cores of the host busy?", "主机 CPU 是否繁忙？"),
            ("Use fewer workers than cores; keep other jobs off this machine.",
             "线程数不超过核数；避免在该机器上运行其他任务。"),
            "advice", {"rules": ("cpu",)}, "preparation", "profile",
        ),
        SymptomQuestion(
            "recorded", ("How long is the time for data beside that for computing, as recorded?",
                         "记录的数据耗时与计算耗时各是多少？"),
            ("Fetch data ahead in a thread or in processes.", "在单独的线程或进程中预取数据。"),
            "data_time", {}, "scalars", "scalar", sign=True,
        ),
        SymptomQuestion(
            "longest", ("Is waiting for data the longest part of a step?", "等待数据是否是单步中最长的部分？"),
            ("Begin with the queues above.", "先从上面的队列入手。"),
            "part_is_longest", {"parts": ("interval", "preparing")}, "steps", "profile",
        ),
        SymptomQuestion(
            "code", ("Is there code of your own between the iterator and the network?", "迭代器与网络之间是否有自定义代码？"),
            ("Move it into the pipeline, or into a thread of its own.", "将其移入数据处理流程或单独的线程。"),
            "host_code", {}, "steps", "profile",
        ),
        SymptomQuestion(
            "storage", ("Are the data on a slow or shared disk?", "数据是否位于慢速或共享磁盘上？"),
            ("Copy them to a local disk, or cache them in memory.", "复制到本地磁盘，或缓存到内存中。"),
        ),
    ),
)  # fmt: skip
