"""Texts of the start page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "start.found": ("Found in this directory", "该目录中的数据"),
    "start.asks": ("What do you want to know?", "你想了解什么？"),
    "start.guides": ("Something is wrong? From a symptom to its cause", "出了问题？从症状查找原因"),
    "start.missing": ("Not recorded here", "此处未记录"),
    "start.missing_all": ("How to record a run", "如何记录训练"),
    "start.empty": (
        "No runs here yet. They appear on this page as soon as training writes them.",
        "还没有训练数据。训练写入数据后，此页会自动显示。",
    ),
    "start.is_demo": (
        "The demo: a network that reads digits. Its runs are recorded; the jobs of eight ranks are simulated.",
        "演示：一个识别手写数字的网络。训练数据均为实际记录，8 卡作业为模拟生成。",
    ),
    "start.reading": (
        "still reading {n} of {total} runs: the numbers may change", "{total} 个训练中还有 {n} 个正在读取，数字可能变化",
    ),
    "start.coming": ("1 more run is being written: the numbers will change", "另有 1 个训练正在生成，数字将更新"),
    "start.coming_n": ("{n} more runs are being written: the numbers will change", "另有 {n} 个训练正在生成，数字将更新"),
    "start.run": "common.one_run",
    "start.run_n": "common.n_runs",
    "start.profile": ("1 profile", "1 份性能数据"),
    "start.profile_n": ("{n} profiles", "{n} 份性能数据"),
    "start.dump": ("1 dump", "1 份 Dump 数据"),
    "start.dump_n": ("{n} dumps", "{n} 份 Dump 数据"),
    "start.graph": ("1 graph", "1 个计算图"),
    "start.graph_n": ("{n} graphs", "{n} 个计算图"),
    "start.explain": ("1 set of explanations", "1 份模型解释数据"),
    "start.explain_n": ("{n} sets of explanations", "{n} 份模型解释数据"),
    "start.study": ("1 search", "1 次调参搜索"),
    "start.study_n": ("{n} searches", "{n} 次调参搜索"),
    "start.problem": ("1 problem in the files", "文件中有 1 处问题"),
    "start.problem_n": ("{n} problems in the files", "文件中有 {n} 处问题"),
    "start.going": ("How is training going?", "训练进行得如何？"),
    "start.going.says": (
        "The curves of the newest run, what is unusual in them, and what else it recorded.",
        "最新训练的曲线、其中的异常，以及它记录的其他数据。",
    ),
    "start.best": ("Which setting is best?", "哪种配置最好？"),
    "start.best.says": (
        "Which settings move the result, which you can stop varying, and where to look next.",
        "哪些参数影响结果，哪些可以不再调整，下一步试哪里。",
    ),
    "start.best.says_runs": (
        "The runs by their last value, with what is unusual in them beside it.",
        "按最新值比较各训练，并列出其中的异常。",
    ),
    "start.settings": ("Which settings made the difference?", "哪些参数造成了差异？"),
    "start.broke": ("Where did it break, and why?", "从哪里开始出错，原因是什么？"),
    "start.broke.says": (
        "The first tensor with NaN or Inf, the operator that made it, and what went into it.",
        "最先出现 NaN 或 Inf 的张量、产生它的算子及其输入。",
    ),
    "start.broke.says_curve": (
        "The step at which the loss became NaN or Inf, and what the curves did before.",
        "损失变为 NaN 或 Inf 的步骤，以及此前曲线的变化。",
    ),
    "start.time": ("Where does a step's time go?", "一步的时间花在哪里？"),
    "start.time.says": (
        "Computing, communication, waiting and input of a step, and what to change first.",
        "单步中计算、通信、等待、取数各占多少，先改什么。",
    ),
    "start.late": ("Which rank is late?", "哪张卡慢？"),
    "start.late.says": ("Who makes the others wait, at which step, and by how much.", "哪张卡让其他卡等待，在哪一步，慢多少。"),
    "start.memory": ("What fills the memory?", "什么占用了设备内存？"),
    "start.memory.says": (
        "The peak of device memory, and which operators and tensors hold it.", "设备内存的峰值，以及占用它的算子和张量。",
    ),
    "start.looks": ("What does the network look at?", "网络关注图像的哪里？"),
    "start.looks.says": (
        "Heat maps over the pictures of right and wrong predictions, the least certain ones first.",
        "正确与错误预测的图像及热力图，最不确定的在前。",
    ),
    "start.of_runs": "common.n_runs",
    "start.of_ranks": "common.n_ranks",
    "start.rank": "common.rank_n_inline",
    "start.needs.scalar": ("Needs the loss by step", "需要逐步记录的损失"),
    "start.needs.lineage": ("Needs settings and a result of several runs", "需要多个训练的配置和结果"),
    "start.needs.dump": ("Needs a dump of tensors", "需要张量的 Dump 数据"),
    "start.needs.profile": ("Needs a profile", "需要性能数据"),
    "start.needs.communication": ("Needs profiles of several ranks", "需要多卡的性能数据"),
    "start.needs.memory": ("Needs a profile with memory", "需要包含内存的性能数据"),
    "start.needs.explain": ("Needs explanations of images", "需要图像的模型解释数据"),
    "start.demo": ("See it answered in the demo:", "在演示中查看答案："),
    "start.open_demo": ("See it answered in the demo", "在演示中查看答案"),
    "start.choose": ("What to record", "要记录的数据"),
})
