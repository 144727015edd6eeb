"""Texts of the job overview."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "job.csv": ("Tables of the job", "作业数据表"),
    "job.csv.groups": "common.rank_groups",
    "job.csv.cluster_steps": ("Parts of steps", "单步耗时组成"),
    "job.csv.collectives": "common.communication_operations",
    "job.csv.packets": ("Packets", "数据包"),
    "job.csv.links": "common.links",
    "job.csv.ranks": "common.ranks",
    "job.limits": ("What limits the job", "作业瓶颈"),
    "job.says.exposed": (
        "Communication that no computing overlaps limits the job: {time} of a step of {step} ({share}).",
        "该作业受限于未被计算掩盖的通信：{step} 的单步中占 {time}（{share}）。",
    ),
    "job.says.free": (
        "Idle devices limit the job: {time} of a step of {step} ({share}) are free.",
        "该作业受限于设备空闲：{step} 的单步中空闲 {time}（{share}）。",
    ),
    "job.says.bubble": (
        "Waiting for other stages limits the job: {time} of a step of {step} ({share}).",
        "该作业受限于等待其他流水线阶段：{step} 的单步中占 {time}（{share}）。",
    ),
    "job.says.bubble_at_most": (
        "Waiting for other stages limits the job: at most {time} of a step of {step} ({share}).",
        "该作业受限于等待其他流水线阶段：{step} 的单步中最多占 {time}（{share}）。",
    ),
    "job.says.slow_computing": (
        (
            "Rank {rank} limits the job: it computes longer than its peers since step {since}. As fast as they are, a step "
            "would be {time} ({share}) shorter."
        ),
        "rank {rank} 拖慢该作业：自步骤 {since} 起计算慢于同类。若与中位数一样快，单步可缩短 {time}（{share}）。",
    ),
    "job.says.slow_host": (
        (
            "Rank {rank} limits the job: its device is idle longer than its peers since step {since}. As fast as they are, a "
            "step would be {time} ({share}) shorter."
        ),
        "rank {rank} 拖慢该作业：自步骤 {since} 起设备空闲长于同类。若与中位数一样快，单步可缩短 {time}（{share}）。",
    ),
    "job.says.slow_replica_computing": (
        (
            "Replica {place} (ranks {ranks}) limits the job: it computes longer than the others since step {since}. As fast "
            "as they are, a step would be {time} ({share}) shorter."
        ),
        (
            "副本 {place}（rank {ranks}）拖慢该作业：自步骤 {since} 起计算慢于其他副本。若与中位数一样快，单步可缩短 {time}"
            "（{share}）。"
        ),
    ),
    "job.says.slow_replica_host": (
        (
            "Replica {place} (ranks {ranks}) limits the job: its devices are idle longer than the others since step {since}. "
            "As fast as they are, a step would be {time} ({share}) shorter."
        ),
        (
            "副本 {place}（rank {ranks}）拖慢该作业：自步骤 {since} 起设备空闲长于其他副本。若与中位数一样快，单步可缩短 {time}"
            "（{share}）。"
        ),
    ),
    "job.says.slow_link": (
        "A slow link of rank {rank} limits the job since step {since}: without it a step would be {time} ({share}) shorter.",
        "rank {rank} 的慢链路自步骤 {since} 起拖慢该作业：消除后单步可缩短 {time}（{share}）。",
    ),
    "job.says.memory": (
        "Memory limits the job: rank {rank} reserves {share} of what its device has.",
        "该作业受限于设备内存：rank {rank} 预留了设备内存的 {share}。",
    ),
    "job.says.nothing": (
        "Nothing that was checked limits the job: {time} of a step of {step} ({share}) are computing.",
        "已检查的各项均不构成瓶颈：{step} 的单步中计算占 {time}（{share}）。",
    ),
    "job.says.no_parts": (
        "What limits the job is not known: the files do not tell what a step of {step} consists of.",
        "无法判断作业瓶颈：文件未给出 {step} 的单步由哪些部分组成。",
    ),
    "job.says.unknown": (
        "What limits the job is not known: {wanted} is missing.", "无法判断作业瓶颈：缺少 {wanted}。",
    ),
    "job.says.unread": ("What limits the job is not known: the files tell of no step.", "无法判断作业瓶颈：文件中没有步骤。"),
    "job.part": "common.part",
    "job.per_step": "common.per_step",
    "job.share": "common.share",
    "job.most_on": ("Most on", "最多的 rank"),
    "job.because_of": ("because of rank {n}", "因 rank {n}"),
    "job.part.step": "common.whole_step",
    "job.part.computing": "common.computing",
    "job.part.exposed": ("Exposed communication", "未被掩盖的通信"),
    "job.part.free": "common.free",
    "job.part.slow_rank": ("Waiting for a slow rank", "等待慢 rank"),
    "job.part.bubble": ("Pipeline bubble", "流水线空泡"),
    "job.part.memory": "common.memory",
    "job.at_most": ("at most {time}", "最多 {time}"),
    "job.of_capacity": ("{share} of the capacity", "容量的 {share}"),
    "job.none_found": ("Nothing found.", "未发现。"),
    "job.unchecked.file": "common.not_checked_files_is_missing",
    "job.unchecked.torch_memory": (
        "Not checked: torch.profiler records memory with profile_memory=True.",
        "未检查：torch.profiler 需设置 profile_memory=True 才会记录内存。",
    ),
    "job.unchecked.empty": ("Not checked: the files have no such rows.", "未检查：文件中没有相应数据。"),
    "job.unchecked.steps": (
        "Not judged: that takes {least} steps; recorded: {n}.", "未判定：至少需要 {least} 个步骤，现有 {n} 个。",
    ),
    "job.unchecked.one_rank": ("Not checked: the steps of one rank only are known.", "未检查：仅有一个 rank 的步骤数据。"),
    "job.unchecked.no_group": (
        "Not checked: no group is known whose ranks do the same work.", "未检查：没有已知的、各 rank 工作相同的通信域。",
    ),
    "job.unchecked.no_waits": (
        "Not checked: no operation was recorded by all ranks of its group.", "未检查：没有被组内全部 rank 记录的通信算子。",
    ),
    "job.unchecked.no_stages": (
        "Not judged: the files tell of no stages, and no rank waits for another stage.",
        "未判定：文件中没有流水线阶段，也没有 rank 等待其他阶段。",
    ),
    "job.unchecked.reading": (
        "Not checked: its file is being read again. Open the page again.", "未检查：正在重新读取文件，请重新打开页面。",
    ),
    "job.unchecked.capacity_process": (
        "Not checked: no file tells the memory of the device. The whole process of rank {rank} held the most, {size}.",
        "未检查：没有文件给出设备内存容量。rank {rank} 的整个进程占用最高，为 {size}。",
    ),
    "job.unchecked.capacity_reserved": (
        "Not checked: no file tells the memory of the device. Rank {rank} reserved the most, {size}.",
        "未检查：没有文件给出设备内存容量。rank {rank} 预留最多，为 {size}。",
    ),
    "job.unchecked.capacity_allocated": (
        "Not checked: no file tells the memory of the device. Rank {rank} allocated the most, {size}.",
        "未检查：没有文件给出设备内存容量。rank {rank} 申请最多，为 {size}。",
    ),
    "job.warm_up": "common.warm_up",
    "job.mean": (
        "Mean over all ranks ({ranks}) and steps ({steps}). Waiting for a slow rank or another stage is not counted twice.",
        "所有 rank（{ranks} 个）和步骤（{steps} 个）的平均值。等待慢 rank 或其他阶段的时间不再计入未被掩盖的通信。",
    ),
    "job.what": ("What if", "假设分析"),
    "job.what.change": ("If", "假设"),
    "job.what.replayed": ("Step then", "之后的单步"),
    "job.what.saved": ("Saved", "可省"),
    "job.what.share": "common.share",
    "job.what.step": ("Recorded step", "实测单步"),
    "job.what.between": ("{time}, at most {most}", "{time}，最多 {most}"),
    "job.what.recorded": (
        "The recorded step takes {step} (steps: {steps}, ranks: {ranks}). Replayed unchanged it differs by at most {missed}.",
        "实测单步为 {step}（步骤 {steps} 个，rank {ranks} 个）。不作改动的重放最多相差 {missed}。",
    ),
    "job.what.stages": (
        "Stage {stage} computes {times} times as long as stage {other}.",
        "stage {stage} 的计算时间是 stage {other} 的 {times} 倍。",
    ),
    "job.what.even": ("All stages compute equally long, within 2 %.", "各 stage 的计算时间相差不到 2 %。"),
    "job.what.no_kernels": (
        "No kernels of all ranks: what lies between operations may be the host's, so savings are upper bounds.",
        "并非所有 rank 都有算子时间：操作之间的时间可能属于主机，因此结果为上限。",
    ),
    "job.what.small": ("Changes that save less than 0.1 % of a step: {n}.", "节省不足单步 0.1 % 的假设：{n} 项。"),
    "job.what.by_rank": ("Steps of each rank", "各 rank 的单步"),
    "job.what.if.ranks": ("ranks {ranks} were as fast as their peers", "rank {ranks} 与同类一样快"),
    "job.what.if.rank": ("rank {ranks} were as fast as its peers", "rank {ranks} 与同类一样快"),
    "job.what.if.link": ("the link {link} were as fast as others", "链路 {link} 与其他链路一样快"),
    "job.what.if.gaps": ("the host never let a device wait", "主机从不让设备等待"),
    "job.what.if.stages": ("all stages computed equally long", "各 stage 计算时间相同"),
    "job.what.if.communication": ("communication took no time", "通信不耗时"),
    "job.what.if.collectives": ("collectives took no time", "集合通信不耗时"),
    "job.what.if.bubble": ("no rank waited for another stage", "各 rank 不等待其他 stage"),
    "job.what.reading": ("Reading when each rank computed: {done} of {total}", "正在读取各 rank 的计算时间：{done} / {total}"),
    "job.what.working": ("Replaying the steps: {done} of {total}", "正在重放步骤：{done} / {total}"),
    "job.what.preparing": "common.being_prepared",
    "job.what.waiting": "common.other_work_comes_first",
    "job.what.cancelled": "common.work_stopped",
    "job.what.work_failed": "common.work_failed",
    "job.what.progress": "common.progress",
    "job.what.again": "common.continue",
    "job.what.not_judged": ("Not judged:", "未判定："),
    "job.what.reason.no_operations": ("no file has communication operations.", "文件中没有通信算子。"),
    "job.what.reason.no_starts": (
        "the files have sums of operations, not when they began.", "文件只有操作的总时长，没有起始时间。",
    ),
    "job.what.reason.one_rank": ("the operations of one rank only are known.", "仅有一个 rank 的通信算子。"),
    "job.what.reason.overlap": (
        "ranks communicate while they compute, and no file has their kernels (kernel_details.csv).",
        "通信与计算重叠，而文件中没有算子时间（kernel_details.csv）。",
    ),
    "job.what.reason.circle": ("what operations waited for cannot be told apart.", "无法区分各操作的等待关系。"),
    "job.what.reason.inexact": (
        "the replay differs from the recorded steps by more than 0.5 %.", "重放与实测单步相差超过 0.5 %。",
    ),
    "job.what.reason.alone": (
        "of many sends and receives the other rank is not known.", "许多点对点操作无法确定对端 rank。",
    ),
    "job.what.slow": ("ranks as fast as their peers", "与同类一样快的 rank"),
    "job.what.slow_tip": ("Ranks to make as fast as their peers, as 0-3,8", "假设与同类一样快的 rank，例如 0-3,8"),
    "job.what.link": ("links as fast as others", "与其他一样快的链路"),
    "job.what.link_tip": ("Links to make as fast as others, as 0-1,4-5", "假设与其他链路一样快的链路，例如 0-1,4-5"),
    "job.what.cause": ("all changes", "所有假设"),
    "job.what.of.rank": "common.ranks",
    "job.what.of.link": "common.links",
    "job.what.of.gaps": ("host gaps", "主机间隙"),
    "job.what.of.stages": ("stages", "各 stage"),
    "job.what.of.communication": "common.communication_inline",
    "job.what.of.bubble": ("waiting for stages", "等待其他 stage"),
    "job.ranks": "common.ranks",
    "job.found_of": ("{n} of {total} found", "找到 {n} / {total} 个"),
    "job.told": ("{n} in files about all ranks", "汇总文件中有 {n} 个"),
    "job.found": "common.n_found",
    "job.missing_n": ("{n} missing", "缺少 {n} 个"),
    "job.missing": ("Missing: {ranks}", "缺少：{ranks}"),
    "job.lacking_n": ("{n} lack files", "{n} 个缺少文件"),
    "job.size_unknown": ("number of ranks not known", "rank 总数未知"),
    "job.legend.whole": ("all files", "文件齐全"),
    "job.legend.lacking": ("lacks files that others have", "缺少其他 rank 有的文件"),
    "job.legend.missing": ("no files", "没有文件"),
    "job.legend.told": ("in files about all ranks only", "仅见于全部 rank 的汇总文件"),
    "job.legend.most": ("most of what limits the job", "瓶颈最明显"),
    "job.said_found": ("{n} ranks with files: {ranks}", "{n} 个 rank 有文件：{ranks}"),
    "job.said_none": ("No rank has files of its own", "没有任何 rank 有自己的文件"),
    "job.said_missing": ("Ranks without files: {ranks}", "没有文件的 rank：{ranks}"),
    "job.said_lacking": ("Files that some ranks lack: {files}", "部分 rank 缺少的文件：{files}"),
    "job.grid": ("Ranks of the job. Arrow keys move, Enter chooses.", "作业的各 rank。方向键移动，回车选择。"),
    "job.at.host": ("host {host}", "主机 {host}"),
    "job.at.lacks": ("lacks {files}", "缺少 {files}"),
    "job.at.missing": ("no files of this rank", "该 rank 没有文件"),
    "job.at.told": ("no files of its own", "没有单独的文件"),
    "job.at.most": ("has most of what limits the job", "瓶颈最明显"),
    "job.open": ("Open rank {rank}:", "打开 rank {rank}："),
    "job.png": "common.save_as_png",
    "job.groups": "common.rank_groups",
    "job.kind": "common.kind",
    "job.name": "common.name",
    "job.number": "common.number_of_groups",
    "job.each": ("Ranks each", "每个的 rank 数"),
    "job.of_ranks": "common.ranks",
    "job.does": ("Does", "用途"),
    "job.does.collective": ("collectives", "集合通信"),
    "job.does.p2p": ("send and receive", "点对点"),
    "job.does.both": ("both", "两者"),
    "job.kind_unknown": ("not known", "未知"),
    "job.ranks_seen": ("{ranks} (from operations)", "{ranks}（据通信算子）"),
    "job.and_more": ("{ranks} and {n} more", "{ranks} 等，另有 {n} 个"),
    "job.first_of": ("{n} of {total} are listed.", "共 {total} 项，列出前 {n} 项。"),
    "job.no_groups": ("The files tell of no group.", "文件中没有通信域。"),
    "job.steps": "common.steps",
    "job.steps.same": ("All ranks have the same steps: {steps} ({n})", "各 rank 的步骤相同：{steps}（{n} 个）"),
    "job.steps.common": ("Steps that all ranks with steps have: {steps} ({n})", "有步骤的 rank 共有的步骤：{steps}（{n} 个）"),
    "job.steps.unmarked": ("No step was marked; all of it counts as one.", "未标记步骤，整体视为一个步骤。"),
    "job.steps.none": ("No step is in all ranks.", "没有所有 rank 共有的步骤。"),
    "job.steps.partial": "common.step",
    "job.steps.lacking": ("Lacking in ranks", "缺少的 rank"),
    "job.steps.without": ("Ranks without any step: {ranks}", "没有步骤的 rank：{ranks}"),
    "job.files": ("Files that some ranks lack", "部分 rank 缺少的文件"),
    "job.files.same": ("All ranks have files of the same kinds.", "各 rank 的文件种类相同。"),
    "job.files.file": "common.file",
    "job.files.number": ("Number", "数量"),
    "job.hosts": "common.hosts",
    "job.host": ("Host", "主机"),
    "job.hosts.unknown": ("No file and no directory name tells a host.", "文件和目录名中都没有主机名。"),
    "job.clocks": ("Clocks", "时钟"),
    "job.clocks.differ": (
        "The clocks of {n} ranks differ by up to {most}; single operations by {spread} from that.",
        "{n} 个 rank 的时钟最多相差 {most}，单次操作偏离 {spread}。",
    ),
    "job.clocks.apart": (
        "{n} sets of ranks share no operation, so they cannot be compared with each other.",
        "{n} 组 rank 之间没有共同的操作，无法互相比较。",
    ),
    "job.clocks.ahead": ("Ahead of rank {rank}", "相对 rank {rank} 超前"),
    "job.clocks.why": (
        "From operations that end in all ranks together. Nothing here compares times of different clocks.",
        "依据在各 rank 同时结束的操作。本程序不比较不同时钟的时间。",
    ),
    "job.clocks.none": (
        "No two ranks have an operation in common whose begin is known.", "没有两个 rank 具有起点已知的共同操作。",
    ),
    "job.problems": ("Problems of the job", "作业的问题"),
})
