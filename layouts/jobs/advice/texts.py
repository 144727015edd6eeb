"""Texts of the advice page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "advice.csv": "common.csv",
    "advice.none": (
        "{n} of {total} rules were checked and found nothing to change.",
        "已检查 {total} 条规则中的 {n} 条，未发现可改进之处。",
    ),
    "advice.none_checked": "common.no_rule_could_be_checked",
    "advice.fine": ("Checked and fine", "已检查，无需改进"),
    "advice.unchecked": ("Not checked", "未检查"),
    "advice.missing": ("no data in {files}", "缺少 {files} 中的数据"),
    "advice.or": "common.or_between_words",
    "advice.cost": "common.time_of_a_step",
    "advice.cost_unknown": ("cost unknown", "耗时影响未知"),
    "advice.cost_at_most": ("at most {time} of a step", "每步最多 {time}"),
    "advice.cost_between": ("{time} of a step, at most {most}", "每步 {time}，最多 {most}"),
    "advice.cost_sums": ("{time} of a step, from sums", "每步 {time}（据总时长）"),
    "advice.alone": ("alone:", "单独："),
    "advice.together": ("{time} more once the causes above are gone", "消除上方各项后再省 {time}"),
    "advice.together_at_most": ("at most {time} more once the causes above are gone", "消除上方各项后最多再省 {time}"),
    "advice.saves_more": (
        "Removed alone it saves {alone}. The causes above hide a part of it: once they are gone, it saves {adds} more.",
        "单独消除可省 {alone}。其影响部分被上方各项掩盖：上方各项消除后，再消除它可另省 {adds}。",
    ),
    "advice.saves_nothing": (
        "Removed alone it saves {alone}. The causes above cover all of that: once they are gone, it saves nothing more.",
        "单独消除可省 {alone}，但已全部包含在上方各项中：上方各项消除后，再消除它不再节省时间。",
    ),
    "advice.saves_less": (
        "Removed alone it saves {alone}. The causes above cover a part of that: once they are gone, it saves {adds} more.",
        "单独消除可省 {alone}。其中一部分已包含在上方各项中：上方各项消除后，再消除它可另省 {adds}。",
    ),
    "advice.how.replay": (
        "The saving is the recorded step less its replay without this cause.", "可省时间为实测单步减去去除该原因后的重放。",
    ),
    "advice.how.sums": ("The saving is what this takes in the sums of the files.", "可省时间取自文件中的总时长。"),
    "advice.how.recorded": ("The saving is what this takes of a step, as recorded.", "可省时间为实测中该项在单步中的耗时。"),
    "advice.how.unknown": ("The profile does not tell what this costs.", "性能数据未反映该项的耗时影响。"),
    "advice.saves_sums": (
        "No replay: the files do not tell when what ran. The saving is made of sums and may be less.",
        "无法重放：文件未记录各操作的起止时间。可省时间由总时长估算，实际可能更少。",
    ),
    "advice.evidence": ("Evidence ({n})", "依据（{n}）"),
    "advice.open.steps": ("Open the steps", "查看步骤"),
    "advice.open.preparation": ("Open data preparation", "查看数据准备"),
    "advice.open.operators": ("Open the operators", "查看算子"),
    "advice.open.timeline": "common.open_the_timeline",
    "advice.timeline": "common.show_on_the_timeline",
    "advice.unread": ("the trace has not been read", "尚未读取轨迹"),
    "advice.reading": ("the trace is being read", "正在读取轨迹"),
    "advice.no_steps": ("the trace has no time to look into", "轨迹中没有可分析的时间"),
    # Rules
    "advice.interval.title": ("Steps wait for their data", "步骤间隔过长"),
    "advice.interval.said": (
        "Between two steps the device waits {value} on average.", "两步之间设备平均等待 {value}。",
    ),
    "advice.interval.rule": ("average interval above", "平均间隔大于"),
    "advice.idle.title": ("The device is idle", "设备空闲"),
    "advice.idle.said": (
        "For {value} of a step, the device neither computes nor communicates.", "一步中有 {value} 的时间设备既不计算也不通信。",
    ),
    "advice.idle.rule": ("idle part of a step above", "单步空闲占比大于"),
    "advice.communication.title": ("Communication is not overlapped", "通信未被掩盖"),
    "advice.communication.said": (
        "For {value} of a step, the device communicates while nothing computes.",
        "一步中有 {value} 的时间设备在通信而没有计算。",
    ),
    "advice.communication.parts": (
        "Communication takes {all} per step: {transit} in transit, {wait} waiting for other ranks, {idle} idle.",
        "每步通信 {all}：传输 {transit}，等待其他卡 {wait}，空闲 {idle}。",
    ),
    "advice.communication.rule": ("communication not overlapped above", "未被掩盖的通信占比大于"),
    "advice.synchronising.title": ("The host waits for the device", "主机等待设备"),
    "advice.synchronising.said": (
        "Calls that wait for the device take {value} of a step on the host, most of all {subject}.",
        "等待设备的调用占主机侧单步时间的 {value}，主要为 {subject}。",
    ),
    "advice.synchronising.rule": ("part of a step above", "单步占比大于"),
    "advice.empty.title": ("A queue runs empty", "队列为空"),
    "advice.empty.pipeline": (
        "The queue after data processing was empty for {value} of the batches: the pipeline is too slow.",
        "数据处理队列在 {value} 的批次中为空：数据处理过慢。",
    ),
    "advice.empty.transmission": (
        "The queue on the device was empty for {value} of the batches although the host had data: transmission is too slow.",
        "主机有数据而设备队列在 {value} 的批次中为空：数据发送过慢。",
    ),
    "advice.empty.rule": ("empty batches above", "空批次占比大于"),
    "advice.gaps.title": ("The device waits for the host", "设备等待主机"),
    "advice.gaps.said": (
        "For {value} of a step a stream of the device has nothing to do because of the host, most at {subject}.",
        "一步中有 {value} 的时间设备流因主机而空闲，最多的是 {subject}。",
    ),
    "advice.gaps.said_unknown": (
        "For {value} of a step a stream of the device has nothing to do because of the host.",
        "一步中有 {value} 的时间设备流因主机而空闲。",
    ),
    "advice.gaps.rule": ("caused by the host above", "主机导致的空闲占比大于"),
    "advice.queue_use.title": ("Slow operations in the pipeline", "数据处理算子较慢"),
    "advice.queue_use.said": (
        "Only {value} of the queue after {subject} is used, so the operations after it wait.",
        "{subject} 之后的队列使用率仅 {value}，后续算子在等待。",
    ),
    "advice.queue_use.rule": ("unless all queues are used by", "除非所有队列使用率不低于"),
    "advice.cpu.title": ("The CPU is busy", "CPU 繁忙"),
    "advice.cpu.said": ("The machine's cores were busy for {value} of the time.", "整机 CPU 平均占用 {value}。"),
    "advice.cpu.rule": ("busy above", "占用大于"),
    "advice.ai_cpu.title": ("Operators on the AI CPU", "AI CPU 算子"),
    "advice.ai_cpu.said": (
        "{value} of the time on the device is spent on its AI CPU, most by {subject}.",
        "设备时间的 {value} 花在 AI CPU 上，主要为 {subject}。",
    ),
    "advice.ai_cpu.rule": ("part of the device's time above", "占设备时间大于"),
    # Columns of evidence
    "advice.column.step": "common.step",
    "advice.column.interval_ns": ("Interval", "间隔"),
    "advice.column.total_ns": "common.total",
    "advice.column.free_ns": "common.free",
    "advice.column.preparing_ns": "common.preparing",
    "advice.column.exposed_ns": "common.not_overlapped",
    "advice.column.overlapped_ns": ("Overlapped", "被掩盖"),
    "advice.column.kind": "common.kind",
    "advice.column.duration_ns": "common.duration",
    "advice.column.transit_ns": "common.transit",
    "advice.column.wait_ns": "common.wait",
    "advice.column.idle_ns": "common.idle",
    "advice.column.self_ns": "common.host_self",
    "advice.column.stack": "common.call_stack",
    "advice.column.queue": "common.queue",
    "advice.column.size": ("Entries", "深度"),
    "advice.column.capacity": "common.capacity",
    "advice.column.get_ns": "common.get",
    "advice.column.op_id": "common.number",
    "advice.column.type": "common.type",
    "advice.column.workers": "common.workers",
    "advice.column.queue_mean": "common.mean_entries",
    "advice.column.queue_length": "common.capacity",
    "advice.column.queue_use": "common.queue_use",
    "advice.column.queue_empty": "common.queue_empty",
    "advice.column.scope": "common.scope",
    "advice.column.samples": "common.measurements",
    "advice.column.user": ("User", "用户态"),
    "advice.column.system": ("System", "内核态"),
    "advice.column.io": "common.i_o_wait",
    "advice.column.idle": "common.idle",
    "advice.column.name": "common.operator",
    "advice.column.cause": "common.waiting_for",
    "advice.column.gaps.name": ("Call", "调用"),
    "advice.column.gaps.count": ("Gaps", "空隙数"),
    "advice.column.gaps.idle_ns": ("Idle in a step", "每步空闲"),
    "advice.column.gaps.duration_ns": "common.longest",
    "advice.in_function": ("in function {function} of {file}", "位于 {file} 的函数 {function} 中"),
    "advice.column.site": ("Line of the program", "程序位置"),
    "advice.column.count": "common.executions",
    "advice.column.mean_ns": "common.mean_time",
    # What to do
    "advice.do.interval": (
        "Find where data stalls by looking at the queues; enable dataset_sink_mode if data is fed step by step.",
        "查看队列定位数据瓶颈；若为非下沉模式，可开启 dataset_sink_mode。",
    ),
    "advice.do.idle": (
        "Look for gaps between kernels: host code between steps, small operators, waiting for data or synchronisation.",
        "查找算子间空隙：步间 Host 代码、小算子、等待数据或同步。",
    ),
    "advice.do.communication": (
        "Overlap communication with the backward pass, or communicate less; communication.json tells waiting from transfer.",
        "让通信与反向计算重叠，或减少通信；communication.json 可区分等待与传输。",
    ),
    "advice.do.communication_transit": (
        "Transfer takes the most: send less (smaller types, gradient accumulation), in larger messages, over faster links.",
        "传输占比最大：减小通信量（更小的数据类型、梯度累积）、合并小消息、使用更快的链路。",
    ),
    "advice.do.communication_wait": (
        "Waiting for other ranks takes the most: compare the steps of the ranks and find the slow one.",
        "等待其他卡占比最大：对比各卡的步骤，找出慢卡。",
    ),
    "advice.do.communication_idle": (
        "Idle time takes the most: the operator neither transfers nor waits for a rank. Check for late launches by the host.",
        "空闲占比最大：算子在执行但既不传输也不等待其他卡。检查主机侧下发是否过晚。",
    ),
    "advice.do.communication_unexplained": (
        "Most of it is neither transfer nor waiting for a rank with files: look at ranks without files, and late launches.",
        "大部分时间既非传输，也非等待有文件的卡：请检查没有文件的卡，以及主机侧下发是否过晚。",
    ),
    "advice.do.gaps": (
        "Wait for the device less often (item(), print, synchronize); move host code out of the step; fetch data ahead.",
        "减少对设备的等待（item()、print、synchronize）；将主机侧代码移出单步；提前取数据。",
    ),
    "advice.do.synchronising": (
        "Call item(), print or asnumpy less often, such as every 100 steps; copy asynchronously. The call stack says where.",
        "减少 item()、print、asnumpy 的调用（如每 100 步一次），使用异步拷贝。调用位置见调用栈。",
    ),
    "advice.do.empty_pipeline": (
        "Make the pipeline faster: more num_parallel_workers, MindRecord files, one-time work done offline.",
        "加速数据处理：增大 num_parallel_workers、使用 MindRecord、把一次性处理提前离线完成。",
    ),
    "advice.do.empty_transmission": (
        "Send less data, or larger batches: smaller types, batching on the host, no other load on the device link.",
        "减小传输量或增大单次传输：更小的数据类型、在主机侧组批，避免传输通道上的其他负载。",
    ),
    "advice.queue_use.said_many": (
        "The queues after {subject} are hardly used (the emptiest: {value}), so the operations after them wait.",
        "{subject} 之后的队列很少被使用，最低使用率 {value}，后续算子在等待。",
    ),
    "advice.do.batch": (
        "Batch: raise prefetch_size, or num_parallel_workers where it maps.",
        "Batch：增大 prefetch_size，或在有映射时增大 num_parallel_workers。",
    ),
    "advice.do.map": (
        "Map: raise num_parallel_workers; replace Python operations with those of mindspore.dataset, or run them in processes.",
        "Map：增大 num_parallel_workers；用 mindspore.dataset 自带算子替换 Python 算子，或使用多进程。",
    ),
    "advice.do.generator": (
        "Generator: raise num_parallel_workers, or write its data as MindRecord once.",
        "Generator：增大 num_parallel_workers，或转换为 MindRecord。",
    ),
    "advice.do.reader": (
        "Reader: raise num_parallel_workers; check the disk it reads from.",
        "读取算子：增大 num_parallel_workers；检查所读磁盘。",
    ),
    "advice.do.cpu": (
        "Reduce CPU load: fewer workers than cores, no other jobs on the machine, cheaper pipeline operations.",
        "减轻 CPU 负载：线程数不超过核数、避免其他任务、使用更轻的数据处理算子。",
    ),
    "advice.do.ai_cpu": (
        "Use types and shapes that AI Core kernels support (float16, int32), or replace the operators.",
        "使用 AI Core 支持的数据类型与形状（如 float16、int32），或替换这些算子。",
    ),
})  # fmt: skip
