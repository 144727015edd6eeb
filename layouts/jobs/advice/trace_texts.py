"""Texts of the advice from traces of torch: fetching data, launches, copies, kernels, shapes."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "advice.fetching.title": ("Steps wait for the data loader", "步骤等待数据加载"),
    "advice.fetching.said": (
        "Fetching the next batch takes {value} of a step on the host.", "取下一批数据占主机侧单步时间的 {value}。",
    ),
    "advice.fetching.in_process": (
        "Fetching the next batch takes {value} of a step on the host: the training process loads it itself (num_workers=0).",
        "取下一批数据占主机侧单步时间的 {value}：由训练进程自己加载（num_workers=0）。",
    ),
    "advice.fetching.by_workers": (
        "Fetching the next batch takes {value} of a step on the host: the worker processes are too slow.",
        "取下一批数据占主机侧单步时间的 {value}：数据加载进程过慢。",
    ),
    "advice.fetching.rule": ("fetching data above", "取数据占比大于"),
    "advice.do.fetching_in_process": (
        "Set num_workers, and persistent_workers=True, so that batches are made while the device computes.",
        "将 num_workers 设为若干个 CPU 核，并设 persistent_workers=True，使数据准备与设备计算并行。",
    ),
    "advice.do.fetching_by_workers": (
        "Raise num_workers or prefetch_factor; look at what is done for each sample: decoding, augmentation, reading.",
        "增大 num_workers 或 prefetch_factor，并检查每个样本的处理：解码、增强、读取。",
    ),
    "advice.do.fetching_": (
        "Have batches made while the device computes: worker processes, prefetching, cheaper work for each sample.",
        "让数据准备与设备计算并行：多进程、预取、减少每个样本的处理。",
    ),
    "advice.launching.title": ("The host launches too slowly", "主机下发过慢"),
    "advice.launching.said": (
        (
            "For {value} of a step, stream {stream} waits for the host to launch {launches} kernels; the median kernel takes "
            "{kernel_ns}, and begins {delay_ns} after its launch."
        ),
        (
            "一步中有 {value} 的时间流 {stream} 在等待主机下发，每步 {launches} 个算子；"
            "算子耗时中位数 {kernel_ns}，下发后 {delay_ns} 开始执行。"
        ),
    ),
    "advice.launching.rule": ("waiting for launches above", "等待下发占比大于"),
    "advice.do.launching": (
        "Launch fewer and longer kernels: larger batches, torch.compile, CUDA graphs, fused optimizers (fused=True).",
        "下发更少、更长的算子：增大批次、torch.compile、CUDA Graph、融合优化器（fused=True）。",
    ),
    "advice.pageable.title": ("Copies from pageable memory", "从可分页内存拷贝"),
    "advice.pageable.said": (
        "{copies} copies from pageable memory hold the device up for {value} of a step, {sum_ns} a step in all.",
        "{copies} 次可分页内存拷贝使设备停顿，占单步 {value}，每步共 {sum_ns}。",
    ),
    "advice.pageable.rule": ("holding the device up above", "使设备停顿占比大于"),
    "advice.do.pageable": (
        "Have the data loader return pinned memory (pin_memory=True), and copy with non_blocking=True.",
        "数据加载使用锁页内存（pin_memory=True），并以 non_blocking=True 拷贝。",
    ),
    "advice.short_kernels.title": ("Many short kernels", "短算子过多"),
    "advice.short_kernels.said": (
        "{kernels} kernels of a median of {kernel_ns} in a step take {value} of it, with the gaps between them.",
        "每步有 {kernels} 个短算子，耗时中位数 {kernel_ns}，连同间隙共占单步 {value}。",
    ),
    "advice.short_kernels.rule": ("short kernels above", "短算子占比大于"),
    "advice.do.short_kernels": (
        "Join them: torch.compile, fused or foreach=True optimizers, CUDA graphs; larger batches make each of them longer.",
        "合并算子：torch.compile、融合或 foreach=True 优化器、CUDA Graph；增大批次也能延长单个算子。",
    ),
    "advice.float32.title": ("Products in float32 without tensor cores", "float32 矩阵乘未使用 Tensor Core"),
    "advice.float32.tf32": (
        "Products and convolutions in float32 take {value} of a step ({sum_ns}) on the usual cores of {chip}.",
        "float32 矩阵乘与卷积占单步 {value}（{sum_ns}），未使用 {chip} 的 Tensor Core。",
    ),
    "advice.float32.half": (
        "Products and convolutions in float32 take {value} of a step ({sum_ns}): tensor cores of {chip} take float16 alone.",
        "float32 矩阵乘与卷积占单步 {value}（{sum_ns}）：{chip} 的 Tensor Core 仅支持 float16。",
    ),
    "advice.float32.rule": ("float32 products above", "float32 矩阵乘占比大于"),
    "advice.do.float32_tf32": (
        (
            "Train with torch.autocast (bfloat16), or allow TF32 where its 10 bits of fraction are enough: "
            'torch.set_float32_matmul_precision("high").'
        ),
        '使用 torch.autocast（bfloat16）；若 10 位尾数足够，可启用 TF32：torch.set_float32_matmul_precision("high")。',
    ),
    "advice.do.float32_half": (
        "Train with torch.autocast (float16) and a gradient scaler.", "使用 torch.autocast（float16）并配合梯度缩放。",
    ),
    "advice.shapes.title": ("Shapes change from step to step", "输入 shape 逐步变化"),
    "advice.shapes.said": (
        "{steps} of the last {of_steps} steps bring shapes that no step before had, to {operators} operators: {subject}.",
        "最后 {of_steps} 步中有 {steps} 步出现此前没有的 shape，涉及 {operators} 个算子：{subject}。",
    ),
    "advice.shapes.rule": ("steps with new shapes above", "出现新 shape 的步数占比大于"),
    "advice.do.shapes": (
        (
            "Pad to a few lengths (buckets), or mark what changes for torch.compile (dynamic=True); with changing shapes leave "
            "cudnn.benchmark off and use expandable_segments."
        ),
        (
            "将输入补齐到少数几种长度（分桶），或为 torch.compile 设 dynamic=True；"
            "shape 变化时关闭 cudnn.benchmark，并启用 expandable_segments。"
        ),
    ),
    "advice.open.shapes": ("Open dynamic shapes", "查看动态 shape"),
    "advice.column.shapes": "common.number_of_shapes",
    "advice.reason.no_tensor_cores": (
        "the file names no device that is known to have tensor cores", "文件中没有已知带 Tensor Core 的设备",
    ),
    "advice.reason.no_shapes": (
        "the shapes of operators were not recorded (record_shapes=True)", "未记录算子的 shape（record_shapes=True）",
    ),
    "advice.reason.no_device": ("no operator ran anything on a device", "没有算子在设备上执行"),
    "advice.reason.no_kind_of_memory": (
        "the file does not say whether copies are from pageable or pinned memory", "文件未说明拷贝来自可分页内存还是锁页内存",
    ),
    "advice.cost_nothing": ("nothing beyond the other advice", "无其他建议之外的可省时间"),
    "advice.column.fetching_ns": ("Fetching data", "取数据"),
    "advice.column.stream": "common.stream",
    "advice.column.size_bytes": "common.size",
})  # fmt: skip
