"""Texts of the profile overview."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "profile_overview.made_of": ("Composition of a step", "单步耗时组成"),
    "profile_overview.joined": ("Step time: profiled and over the run", "单步耗时：性能数据与整个训练"),
    "profile_overview.busy_title": ("Busy and idle time", "忙碌与空闲时间"),
    "profile_overview.busy": (
        "From the first execution to the last: {time}, of which {parts}.", "从首个到末个执行共 {time}：{parts}。",
    ),
    "profile_overview.busy_of": ("By {n} executions; those that overlap count once.", "依据 {n} 次执行；重叠部分只计一次。"),
    "profile_overview.ten_operators": ("Operators by time", "耗时最长的算子"),
    "profile_overview.all_operators": ("All {n} operators", "全部 {n} 个算子"),
    "profile_overview.first_advice": ("First advice", "首要建议"),
    "profile_overview.all_advice": (
        "All advice: {n} ({checked} of {total} rules checked)", "全部建议：{n} 条（已检查 {total} 条规则中的 {checked} 条）",
    ),
    "profile_overview.reading": (
        "Not known yet: files of the job are being read, or savings computed.", "尚不可知：正在读取作业的文件或计算可省时间。",
    ),
    "profile_overview.no_advice": ("The rules that were checked found nothing to change.", "已检查的规则未发现可改进之处。"),
    "profile_overview.no_rule": "common.no_rule_could_be_checked",
    "profile_overview.ranks": ("Ranks of the job", "该任务的各卡"),
    "profile_overview.more_ranks": ("{n} more ranks are in the rank selector.", "另有 {n} 个 rank，见 rank 选择器。"),
    "profile_overview.launch.title": ("Launch delay", "下发延迟"),
    "profile_overview.launch.said": (
        "A kernel begins {delay} after its launch in the median of {n} launches, {high} at the 95th percentile.",
        "{n} 次下发中，算子开始距下发结束的中位数为 {delay}，95 分位数为 {high}。",
    ),
    "profile_overview.launch.host": ("The host had launched nothing", "主机未下发"),
    "profile_overview.launch.between": ("Less than 30 µs between two kernels", "算子间不足 30 µs 的空隙"),
    "profile_overview.launch.other": ("Longer gaps, although the next kernel was launched", "已下发但仍空闲（更长的空隙）"),
    "profile_overview.launch.busy": ("It ran something", "正在执行"),
    "profile_overview.launch.stream": (
        "Of the busiest stream, {stream}, with {n} kernels and copies.", "最繁忙的流 {stream}，共 {n} 个算子与拷贝。",
    ),
    "profile_overview.launch.queue": (
        "At most {longest} of them were launched and waiting.", "其中最多有 {longest} 个已下发而在等待。",
    ),
    "profile_overview.launch.longer": (
        "{share} of the launches took the host longer than the device took to run them.",
        "{share} 的下发在主机侧的耗时长于设备执行。",
    ),
    "profile_overview.launch.full": (
        "{n} launches began while 1,024 kernels waited, where calls of CUDA block.",
        "有 {n} 次下发时已有 1,024 个算子在等待，此时 CUDA 调用会阻塞。",
    ),
    "profile_overview.column.stream_time": ("The stream", "该流"),
    "profile_overview.column.operator": "common.operator",
    "profile_overview.column.core": "common.ran_on",
    "profile_overview.column.count": "common.times",
    "profile_overview.column.time": "common.time_taken",
    "profile_overview.column.self": "common.self_time",
    "profile_overview.column.share": "common.share",
    "profile_overview.column.rank": "common.rank",
    "profile_overview.column.step": "common.whole_step",
    "profile_overview.column.computing": "common.computing",
    "profile_overview.column.exposed": "common.not_overlapped",
    "profile_overview.column.free": "common.free",
    "profile_overview.tiles": ("Where to look next", "下一步查看"),
    "profile_overview.steps": ("Every step, steps that stand out, streams", "各步骤、异常步骤与流"),
    "profile_overview.operators": ("Operators and their types by time", "算子及类型耗时"),
    "profile_overview.preparation": ("Data preparation: queues, pipeline, CPU", "数据准备：队列、流水线、CPU"),
    "profile_overview.advice": ("What to change, with evidence", "优化建议与依据"),
    "profile_overview.not_there": ("This profile has no data for it.", "该性能数据中没有相应文件。"),
    "profile_overview.same": (
        "The profiled steps {first} to {last} took {profiled} each, by the clock of the run {run}: {change}.",
        "所采集的步骤 {first} 至 {last} 平均 {profiled}，按训练时钟为 {run}：{change}。",
    ),
    "profile_overview.slower": ("{share} more than was profiled", "比采集值多 {share}"),
    "profile_overview.faster": ("{share} less than was profiled", "比采集值少 {share}"),
    "profile_overview.equal": ("the same", "一致"),
    "profile_overview.apart": (
        "The profile has steps {first} to {last}, the scalars of the run {from_step} to {to_step}: none is in both.",
        "性能数据为步骤 {first} 至 {last}，训练标量为步骤 {from_step} 至 {to_step}：没有重合。",
    ),
    "profile_overview.no_scalars": (
        "The run has no scalars with steps, so its own step time is not known.", "该训练没有带步骤的标量，无法得知其单步耗时。",
    ),
    "profile_overview.no_numbers": ("The step trace does not number its steps.", "迭代轨迹没有步骤编号。"),
    "profile_overview.by": ("By the wall times of scalar {tag}.", "依据标量 {tag} 的记录时间。"),
})
