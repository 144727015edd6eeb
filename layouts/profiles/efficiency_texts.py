"""Texts of the cards on how far a profile uses its hardware."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "efficiency.use": ("Use of the hardware", "硬件利用情况"),
    "efficiency.bound": ("What limits the kernels", "内核的性能瓶颈"),
    "efficiency.slow": ("Kernels far from their own median", "远慢于自身中位数的内核"),
    "efficiency.roofline": ("Roofline", "Roofline 模型"),
    "efficiency.csv": ("Save as CSV", "保存为 CSV"),
    "efficiency.nothing": (
        "FLOPS achieved, share of the peak, MFU: what they are computed from", "实测 FLOPS、峰值占比与 MFU：计算依据",
    ),
    "efficiency.reading": ("The kernels are being read.", "正在读取内核数据。"),
    "efficiency.settings": ("Peak, model and devices", "峰值、模型与设备"),
    "efficiency.on_operators": (
        "What limits the kernels, those far from their median, and the roofline", "内核瓶颈、远慢于中位数的内核与 Roofline",
    ),
    # The three figures
    "efficiency.achieved": ("Achieved, by counters", "实际算力（计数器）"),
    "efficiency.share": ("Share of the hardware's peak", "占硬件峰值的比例"),
    "efficiency.mfu": ("MFU, by the FLOPs of the model", "MFU（按模型 FLOPs）"),
    "efficiency.by_counters": (
        "{operations} in {time}: {counted} of {kernels} kernels on the device, by {counters}",
        "{time} 内 {operations}：设备上 {kernels} 个内核中的 {counted} 个，依据 {counters}",
    ),
    "efficiency.by_summary": ("Cube units, by flops_summary_{rank}.json", "Cube 单元，依据 flops_summary_{rank}.json"),
    "efficiency.no_kernels": (
        "Needs kernel_details.csv, op_summary_*.csv or flops_summary_*.json: there is none.",
        "需要 kernel_details.csv、op_summary_*.csv 或 flops_summary_*.json：均未找到。",
    ),
    "efficiency.no_operations": (
        "The kernels have no columns aic_cube_fops or aiv_vector_fops. Profile with aic_metrics=ArithmeticUtilization.",
        "内核数据中没有 aic_cube_fops 或 aiv_vector_fops 列。采集时请设置 aic_metrics=ArithmeticUtilization。",
    ),
    "efficiency.no_counts": (
        "The counters of operations are 0 or empty for all kernels.", "所有内核的运算计数器均为 0 或为空。",
    ),
    "efficiency.of_peak": ("of {peak}: {source}", "峰值 {peak}：{source}"),
    "efficiency.needs_achieved": ("Needs the operations per second.", "需要实际算力。"),
    "efficiency.needs_peak": ("Needs the peak of the device.", "需要设备的峰值算力。"),
    "efficiency.mfu_of": (
        "{flops} of the model ({how}) in a step of {step}, at {peak} for each device. {devices}",
        "单步 {step}，模型 {flops}（{how}），每个设备 {peak}。{devices}",
    ),
    "efficiency.how.typed": ("typed", "手动输入"),
    "efficiency.how.transformer": ("6 × parameters × tokens", "6 × 参数量 × token 数"),
    "efficiency.devices.typed": ("Devices: {n} (typed)", "设备数：{n}（手动输入）"),
    "efficiency.devices.told": ("Devices: {n} (as the files tell)", "设备数：{n}（据文件）"),
    "efficiency.devices.found": ("Devices: {n} (ranks that have files)", "设备数：{n}（有文件的 rank）"),
    "efficiency.needs": ("Needs {what}.", "需要{what}。"),
    "efficiency.and": (" and ", "和"),
    "efficiency.need.model": ("the FLOPs of the model in a step", "模型单步的 FLOPs"),
    "efficiency.need.peak": ("the peak of the device", "设备的峰值算力"),
    "efficiency.need.step": ("the time of a step (step_trace_time.csv)", "单步耗时（step_trace_time.csv）"),
    # Where the peak is from, or why there is none
    "efficiency.source.table": ("{device}, table of known devices ({maker})", "{device}，已知设备表（{maker}）"),
    "efficiency.source.setting": "efficiency.how.typed",
    "efficiency.peak.differ": (
        "The peak is not known: info.json describes devices that differ.", "峰值未知：info.json 中各设备不一致。",
    ),
    "efficiency.peak.several": (
        "The peak is not known: files name several devices ({chips}).", "峰值未知：文件中有多种设备（{chips}）。",
    ),
    "efficiency.peak.ambiguous": (
        "Which one is {chips}? Its variants have different peaks, and the files do not tell which it is. Type its peak.",
        "{chips} 具体是哪一款？各型号峰值不同，而文件没有说明。请输入其峰值。",
    ),
    "efficiency.peak.unlisted": (
        "The peak of {chips} is in no file and not in the table of known devices. Type it.",
        "文件与已知设备表中均没有 {chips} 的峰值。请手动输入。",
    ),
    "efficiency.peak.unnamed": (
        "The peak is not known: there is no info.json, and no file names the device. Type it, or choose a known device:",
        "峰值未知：没有 info.json，也没有文件说明设备型号。请手动输入，或选择已知设备：",
    ),
    "efficiency.known": ("{device}: {peak}, dense float16. {maker}", "{device}：{peak}，float16 稠密算力。{maker}"),
    "efficiency.maker.ascend_910": ("Huawei's data sheet of the Ascend 910", "华为 Ascend 910 数据手册"),
    "efficiency.maker.a100": ("NVIDIA's data sheet of the A100", "NVIDIA A100 数据手册"),
    "efficiency.maker.h100_sxm": ("NVIDIA's data sheet of the H100", "NVIDIA H100 数据手册"),
    "efficiency.maker.h100_pcie": "efficiency.maker.h100_sxm",
    # Settings
    "efficiency.setting.peak": ("Peak, TFLOPS", "峰值（TFLOPS）"),
    "efficiency.setting.model_flops": ("Model, TFLOPs per step", "模型每步 TFLOPs"),
    "efficiency.setting.parameters": ("or parameters, 10⁹", "或参数量（10⁹）"),
    "efficiency.setting.tokens": ("× tokens per step", "× 每步 token 数"),
    "efficiency.setting.devices": "common.devices",
    "efficiency.setting.bandwidth": ("Memory, GB/s", "内存带宽（GB/s）"),
    "efficiency.tip.peak": (
        "Of one device, dense, of the data type of the training. Replaces the table of known devices, not info.json",
        "单个设备、稠密、训练所用数据类型的峰值。优先于已知设备表，但不替代 info.json",
    ),
    "efficiency.tip.model_flops": (
        "Forward and backward, of all devices together, without what is computed again", "前向与反向，所有设备合计，不含重计算",
    ),
    "efficiency.tip.parameters": (
        "Dense transformers need about 6 × parameters × tokens; attention over long sequences is not in it",
        "稠密 Transformer 约需 6 × 参数量 × token 数，不含长序列的注意力",
    ),
    "efficiency.tip.tokens": ("Tokens in a step, of all devices together", "单步的 token 数，所有设备合计"),
    "efficiency.tip.devices": ("That share the step, if the files do not tell", "共同完成一步的设备数（文件未说明时填写）"),
    "efficiency.tip.bandwidth": (
        "Of the main memory of one device, for the slope of the roofline",
        "单个设备的主存带宽，用于 Roofline 斜线",
    ),
    # What cannot be right
    "efficiency.doubt.typed": (
        "{setting}: expected a number above 0, found {text}; it is not used.",
        "{setting}：应为大于 0 的数，实际为 {text}；未采用。",
    ),
    "efficiency.doubt.unused": (
        "The typed peak of {peak} is not used: info.json describes the device.",
        "手动输入的峰值 {peak} 未采用：info.json 已说明该设备。",
    ),
    "efficiency.doubt.zero": (
        "The counters of operations are 0 for all {n} kernels that have them, so nothing is computed from them.",
        "有运算计数器的 {n} 个内核计数均为 0，因此不作计算。",
    ),
    "efficiency.doubt.impossible": (
        "{counter} is below 0 or above 100 % (kernels: {n}); these are left out of its means.",
        "{n} 个内核的 {counter} 小于 0 或大于 100 %，求平均时已排除。",
    ),
    "efficiency.doubt.above": (
        "{type} has {rate}, {share} of the peak of {peak} (rows above it: {n}): counters or peak are wrong.",
        "{type} 达到 {rate}，为峰值 {peak} 的 {share}（共 {n} 行超过峰值）：计数器或峰值有误。",
    ),
    "efficiency.doubt.above_all": (
        "{rate} are more than the peak of {peak}: counters or peak are wrong.", "{rate} 超过峰值 {peak}：计数器或峰值有误。",
    ),
    "efficiency.doubt.half": ("6 × parameters × tokens also needs {setting}.", "6 × 参数量 × token 数还需要{setting}。"),
    "efficiency.half.parameters": ("the parameters", "参数量"),
    "efficiency.half.tokens": ("the tokens per step", "每步 token 数"),
    "efficiency.doubt.mfu": (
        "An MFU of {mfu} cannot be: check the FLOPs of the model, the peak, the number of devices, and that the step is whole.",
        "MFU 不可能为 {mfu}：请检查模型 FLOPs、峰值、设备数，以及该步骤是否完整。",
    ),
})  # fmt: skip

CARD_TEXTS = define_texts({
    # What limits kernels
    "efficiency.said": (
        "Of {time} of kernels on the device, {parts}.", "设备上内核共 {time}，其中{parts}。",
    ),
    "efficiency.part": ("{share} {what}", "{what} {share}"),
    "efficiency.what.compute": ("are bound by computing", "受限于计算"),
    "efficiency.what.memory": ("are bound by memory", "受限于内存"),
    "efficiency.what.neither": ("by neither", "两者均非"),
    "efficiency.what.": ("have no counters that say so", "没有相应计数器"),
    "efficiency.class.compute": "common.computing",
    "efficiency.class.memory": "common.memory",
    "efficiency.class.neither": ("Neither", "均非"),
    "efficiency.class.": ("Cannot tell", "无法判断"),
    "efficiency.rule": (
        "Bound: a unit that computes, or a pipe to main memory, was busy in at least {share} of the cycles, as a mean by time.",
        "受限：计算单元或主存通路在至少 {share} 的周期内忙碌（按时间加权平均）。",
    ),
    "efficiency.no_shares": (
        "The kernels have no columns such as aic_mac_ratio and aic_mte2_ratio. Profile with aic_metrics=PipeUtilization.",
        "内核数据中没有 aic_mac_ratio、aic_mte2_ratio 等列。采集时请设置 aic_metrics=PipeUtilization。",
    ),
    "efficiency.no_memory": (
        "Without columns such as aic_mte2_ratio (PipeUtilization), no kernel can be called bound by memory, or by neither.",
        "没有 aic_mte2_ratio 等列（PipeUtilization），因此无法判断受限于内存或两者均非。",
    ),
    "efficiency.no_compute": (
        "Without columns such as aic_mac_ratio (PipeUtilization), no kernel can be called bound by computing, or by neither.",
        "没有 aic_mac_ratio 等列（PipeUtilization），因此无法判断受限于计算或两者均非。",
    ),
    "efficiency.column.type": "common.type",
    "efficiency.column.time": "common.time_taken",
    "efficiency.column.of_time": "common.share",
    "efficiency.column.rate": "common.flop_rate",
    "efficiency.column.of_peak": ("Of peak", "占峰值"),
    "efficiency.column.compute": "common.computing",
    "efficiency.column.memory": "common.memory",
    "efficiency.column.bound": "common.bound_by",
    "efficiency.column.kernel": ("Kernel", "内核"),
    "efficiency.column.took": ("Took", "耗时"),
    "efficiency.column.median": "common.median",
    "efficiency.column.times": "common.ratio",
    "efficiency.column.alike": ("Of", "同类数"),
    "efficiency.by": "common.rows",
    "efficiency.by.types": ("By type", "按类型"),
    "efficiency.by.shapes": ("By shape", "按形状"),
    "efficiency.all_counters": ("All {n} rows and counters", "全部 {n} 行与计数器"),
    "efficiency.no_shape": ("no shapes", "无形状"),
    # Kernels far from their median
    "efficiency.slow_said": (
        "{n} of {kernels} kernels took {time} more than the median of those alike (same type, core, shapes and data types).",
        "{kernels} 个内核中有 {n} 个比同类（类型、执行单元、形状与数据类型相同）的中位数共多耗时 {time}。",
    ),
    "efficiency.slow_none": (
        "None of {kernels} kernels is far from the median of at least {least} alike.",
        "{kernels} 个内核中没有远离其同类（至少 {least} 个）中位数的。",
    ),
    "efficiency.slow_alike": (
        "No kernel has {least} alike (same type, core, shapes and data types), so none was judged.",
        "没有任何内核有 {least} 个同类（类型、执行单元、形状与数据类型相同），未作判断。",
    ),
    "efficiency.slow_rule": (
        "Far: at least {times} times the median, and {far} scaled median deviations above it.",
        "远离：至少为中位数的 {times} 倍，且高出 {far} 个标准化中位差。",
    ),
    "efficiency.more": "common.more_in_csv",
    "efficiency.timeline": "common.show_on_the_timeline",
    "efficiency.no_trace": (
        "Without a trace (trace_view.json) they have no links to the timeline.",
        "没有轨迹文件（trace_view.json），无法跳转到时间线。",
    ),
    # Roofline
    "efficiency.roofline_choose": (
        "One run cannot count both operations and main memory. Choose a second session with Compare.",
        "一次采集无法同时统计运算量与主存访问量。请用“对比”选择第二个会话。",
    ),
    "efficiency.roofline_needs": (
        "One has columns as aic_cube_fops (ArithmeticUtilization), the other aic_read_main_memory_datas(KB) (MemoryAccess).",
        "其一含 aic_cube_fops 等列（ArithmeticUtilization），另一个含 aic_read_main_memory_datas(KB)（MemoryAccess）。",
    ),
    "efficiency.roofline_lacks": (
        "Neither session has columns of {what}, so there is no roofline.", "两个会话均没有{what}的列，无法绘制 Roofline。",
    ),
    "efficiency.lacks.operations": ("operations (aic_cube_fops)", "运算量（aic_cube_fops）"),
    "efficiency.lacks.traffic": (
        "main memory (aic_read_main_memory_datas(KB))",
        "主存访问量（aic_read_main_memory_datas(KB)）",
    ),
    "efficiency.roofline_other": (
        "The second session has no kernels (kernel_details.csv).", "第二个会话没有内核数据（kernel_details.csv）。",
    ),
    "efficiency.roofline_none": (
        "No kernel of both sessions has equal name, shapes and data types: {ours} with operations, {theirs} with main memory.",
        "两个会话没有名称、形状与数据类型均相同的内核：{ours} 个有运算量，{theirs} 个有主存访问量。",
    ),
    "efficiency.roofline_said": (
        "{n} kernels of both sessions; without a partner: {ours} with operations, {theirs} with main memory.",
        "两个会话共有 {n} 个内核；无对应项：{ours} 个仅有运算量，{theirs} 个仅有主存访问量。",
    ),
    "efficiency.roofline_zero": (
        "{n} kernels without operations or without bytes have no place on the logarithmic axes.",
        "{n} 个内核的运算量或字节数为 0，无法画在对数坐标上。",
    ),
    "efficiency.roofline_peak": ("Without a peak there is no roof. Type it above.", "没有峰值，未画水平线。请在上方输入。"),
    "efficiency.roofline_bandwidth": (
        "No file has the bandwidth of main memory. Type it above for the slope.",
        "文件中没有主存带宽。请在上方输入以绘制斜线。",
    ),
    "efficiency.axis.intensity": ("Operations per byte of main memory", "每字节主存访问的运算次数"),
    "efficiency.axis.rate": ("Operations per second", "每秒运算次数"),
    "efficiency.said_roofline": (
        "Operations per second over operations per byte, kernels with the most time first",
        "每秒运算次数与每字节运算次数，按耗时排列",
    ),
    "efficiency.said_roof": ("Roof at {peak}", "水平线为 {peak}"),
    "efficiency.roof": "common.peak",
    "efficiency.slope": "common.bandwidth",
})  # fmt: skip
