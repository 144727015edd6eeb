"""What probes say, in both languages: `symptoms.said.<said>`."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    # Scalars
    "symptoms.said.no_scalar": ("No scalar of {role} was recorded.", "没有记录{role}标量。"),
    "symptoms.said.too_short": (
        "The longest of {tags} scalars has {points} points; the rule needs {needed}.",
        "{tags} 个标量中最长的有 {points} 个数据点，规则需要 {needed} 个。",
    ),
    "symptoms.said.no_insight": (
        "{tags} scalars of up to {points} points show none.", "{tags} 个标量（最多 {points} 个数据点）均未见异常。",
    ),
    "symptoms.said.no_change_before": (
        "No norm changed before step {step}, the first with a value that is not finite (up to {points} points).",
        "在首个非有限值出现的步骤 {step} 之前，梯度范数没有变化（最多 {points} 个数据点）。",
    ),
    "symptoms.said.all_finite": ("All values of {tags} scalars are finite.", "{tags} 个标量的所有值均为有限值。"),
    "symptoms.said.no_value_at": ("No value was recorded up to step {step}.", "步骤 {step} 之前没有记录值。"),
    "symptoms.said.scale_fell": (
        "{tag} fell {n} times before step {step}, from {before} to {value}.",
        "步骤 {step} 之前 {tag} 下降了 {n} 次，由 {before} 降至 {value}。",
    ),
    "symptoms.said.rate_highest": (
        "{tag} was at its highest, {value}, at step {step} (first value {before}).",
        "步骤 {step} 时 {tag} 处于最高值 {value}（首值 {before}）。",
    ),
    "symptoms.said.rates_usual": (
        "{tag} was {value} at step {step}, not at its highest.", "步骤 {step} 时 {tag} 为 {value}，并非最高值。",
    ),
    "symptoms.said.rate_setting": (
        "No learning rate was recorded step by step; the setting {tag} is {value}.",
        "没有逐步记录学习率；配置 {tag} 为 {value}。",
    ),
    "symptoms.said.learning_rate_changed": (
        "The largest change of {tag} is there: from {before} to {value} at step {at}.",
        "{tag} 的最大变化在此处：步骤 {at} 由 {before} 变为 {value}。",
    ),
    "symptoms.said.epoch_changed": (
        "{tag} changes there: from {before} to {value} at step {at}.", "{tag} 在此处变化：步骤 {at} 由 {before} 变为 {value}。",
    ),
    "symptoms.said.unchanged_at": ("{tag} has no such change at step {step}.", "{tag} 在步骤 {step} 没有此类变化。"),
    "symptoms.said.restart_at": (
        "Training was restarted at step {step} (one of {n} restarts).", "训练在步骤 {step} 重启（共 {n} 次重启）。",
    ),
    "symptoms.said.no_restart_at": (
        "None of {n} restarts of {tag} is at step {step}.", "{tag} 的 {n} 次重启均不在步骤 {step}。",
    ),
    "symptoms.said.restarted": ("{n} restarts; the first goes back to step {step}.", "重启 {n} 次；首次回到步骤 {step}。"),
    "symptoms.said.no_restart": ("{points} points of {tag} never go back.", "{tag} 的 {points} 个数据点从未回退。"),
    "symptoms.said.rate_after_restart": (
        "{tag} rises from {before} to {value} where training resumes, at step {step}.",
        "训练在步骤 {step} 恢复时，{tag} 由 {before} 升至 {value}。",
    ),
    "symptoms.said.rate_kept": ("{tag} goes on as before after {n} restarts.", "{n} 次重启后 {tag} 均延续。"),
    "symptoms.said.no_times": ("The files of {tag} have no times.", "{tag} 的文件没有时间信息。"),
    "symptoms.said.mixed_writers": ("Two of {n} files were written at the same time.", "{n} 个文件中有两个在同一时间写入。"),
    "symptoms.said.one_writer": ("{n} files, written one after the other.", "{n} 个文件，依次写入。"),
    "symptoms.said.no_others": (
        "{tag} is at most {value}; no other run on screen recorded it.", "{tag} 最高为 {value}；所选的其他训练没有记录。",
    ),
    "symptoms.said.rate_outside": (
        "{tag} is up to {value}; in {n} runs beside it from {low} to {high}.",
        "{tag} 最高为 {value}；其他 {n} 个训练介于 {low} 与 {high} 之间。",
    ),
    "symptoms.said.rate_inside": (
        "{tag} is up to {value}, within that of {n} runs beside it.", "{tag} 最高为 {value}，在其他 {n} 个训练的范围内。",
    ),
    "symptoms.said.one_rank": ("The run has one rank.", "该训练只有一张卡。"),
    "symptoms.said.no_scalar_of_ranks": ("{n} ranks recorded a loss; two are needed.", "{n} 张卡记录了损失，至少需要两张。"),
    "symptoms.said.rank_alone": (
        "{n} of {of} ranks differ; first rank {rank}:", "{of} 张卡中有 {n} 张不同；首先是 rank {rank}：",
    ),
    "symptoms.said.ranks_alike": ("The losses of {of} ranks show the same insights.", "{of} 张卡的损失曲线洞察一致。"),
    "symptoms.said.data_time": (
        "Data takes {taken_share} of a step (median of {points} steps).",
        "数据占单步耗时的 {taken_share}（{points} 步的中位数）。",
    ),
    "symptoms.said.no_shared_steps": (
        "{tag} has no step in common with the time of a step.", "{tag} 与单步耗时没有共同的步骤。",
    ),
    # Large values
    "symptoms.said.no_histograms": ("No histograms of weights were recorded.", "没有记录权重直方图。"),
    "symptoms.said.one_histogram": ("A comparison takes two records of a tag.", "每个标签需要至少两条记录才能比较。"),
    "symptoms.said.frozen_weights": (
        "{n} of {judged} histograms end as they began, such as {tag}.", "{judged} 个直方图中有 {n} 个首末相同，如 {tag}。",
    ),
    "symptoms.said.weights_move": ("All of {judged} histograms changed.", "{judged} 个直方图均有变化。"),
    "symptoms.said.no_gradients": ("No gradients were recorded.", "没有记录梯度。"),
    "symptoms.said.no_activations": ("No histograms of activations were recorded.", "没有记录激活值直方图。"),
    "symptoms.said.zero_gradients": (
        "{n} of {judged} gradients are 0 at the end, such as {tag}.", "{judged} 个梯度中有 {n} 个末值为 0，如 {tag}。",
    ),
    "symptoms.said.zero_activations": (
        "{n} of {judged} activations are 0 at the end, such as {tag}.", "{judged} 个激活值中有 {n} 个末值为 0，如 {tag}。",
    ),
    "symptoms.said.gradients_not_zero": ("None of {judged} gradients is 0.", "{judged} 个梯度均不为 0。"),
    "symptoms.said.activations_not_zero": ("None of {judged} activations is all 0.", "{judged} 个激活值均不全为 0。"),
    "symptoms.said.no_inputs": ("No inputs (images, tensors) were recorded.", "没有记录输入（图像、张量）。"),
    "symptoms.said.bad_inputs": (
        "{n} of {of} values of {tag} are not finite at step {step}.", "步骤 {step} 时 {tag} 的 {of} 个值中有 {n} 个非有限值。",
    ),
    "symptoms.said.inputs_finite": ("{n} recorded inputs are finite.", "{n} 个记录的输入均为有限值。"),
    "symptoms.said.look_at_inputs": ("{tag} was recorded at step {step}: look at it.", "步骤 {step} 记录了 {tag}，请查看。"),
    "symptoms.said.repeated_batch": ("{n} records of {tag} are the same, value by value.", "{tag} 的 {n} 条记录逐值相同。"),
    "symptoms.said.batches_differ": ("{n} records of {tag} differ.", "{tag} 的 {n} 条记录不同。"),
    "symptoms.said.one_input": ("A comparison takes two records of {tag}.", "{tag} 需要至少两条记录才能比较。"),
    "symptoms.said.same_inputs": (
        "Ranks {first} and {rank} got the same {tag} at step {step}.",
        "步骤 {step} 时 rank {first} 与 rank {rank} 的 {tag} 相同。",
    ),
    "symptoms.said.inputs_of_ranks_differ": ("The inputs of {of} ranks differ.", "{of} 张卡的输入互不相同。"),
    "symptoms.said.weights_of_ranks": (
        "{tag} differs between ranks {first} and {rank} at step {step}.",
        "步骤 {step} 时 rank {first} 与 rank {rank} 的 {tag} 不同。",
    ),
    "symptoms.said.weights_of_ranks_equal": ("{n} weights are equal on {of} ranks.", "{of} 张卡上的 {n} 个权重相同。"),
    "symptoms.said.data_begins_anew": (
        "At step {step} {tag} is again what training began with.", "步骤 {step} 的 {tag} 与训练开始时相同。",
    ),
    "symptoms.said.data_goes_on": (
        "{tag} after {n} restarts is not what training began with.", "{n} 次重启后的 {tag} 与训练开始时不同。",
    ),
    "symptoms.said.inputs_of_one_start": (
        "{tag} was recorded, but never after a restart.", "记录了 {tag}，但没有重启之后的记录。",
    ),
    "symptoms.said.no_two_histograms": (
        "Both runs need histograms of the same weights.", "两个训练都需要记录相同权重的直方图。",
    ),
    "symptoms.said.initial_values_equal": (
        "The first histograms of {n} weights are equal.", "{n} 个权重的首个直方图相同。",
    ),
    "symptoms.said.initial_values": (
        "{tag} begins between {low} and {high}, in the other run between {other_low} and {other_high} ({n} weights compared).",
        "{tag} 的初始值介于 {low} 与 {high} 之间，另一个训练介于 {other_low} 与 {other_high} 之间（对比了 {n} 个权重）。",
    ),
    "symptoms.said.trained_values": (
        "First recorded at step {step}, after updates: {tag} from {low} to {high}, in the other {other_low} to {other_high}.",
        "首次记录于步骤 {step}（已更新过）：{tag} 介于 {low} 与 {high}，另一个训练介于 {other_low} 与 {other_high}。",
    ),
    "symptoms.said.sharpness_alone": (
        "The sharpness is {value} per squared unit; no other run on screen has a landscape to compare with.",
        "锐度为 {value}（每平方单位）；没有其他所选训练的地形图可对比。",
    ),
    "symptoms.said.sharpest": (
        "The sharpness is {value} per squared unit, at most {high} in {n} runs beside it.",
        "锐度为 {value}（每平方单位），其他 {n} 个训练最高为 {high}。",
    ),
    "symptoms.said.not_sharpest": "symptoms.said.sharpest",
    "symptoms.said.no_landscape": ("No loss landscape was recorded.", "没有记录 Loss 地形图。"),
    "symptoms.said.look_at_landscape": (
        "{n} loss landscapes were recorded: look at the minimum.", "记录了 {n} 个 Loss 地形图，请查看极小点。",
    ),
    # Data pipeline, graph, settings
    "symptoms.said.no_pipeline": ("No data pipeline was recorded.", "没有记录数据图。"),
    "symptoms.said.shuffles_batches": ("{name} shuffles after the batches were made: it mixes batches, not samples.",
                                       "{name} 在组批之后打乱：打乱的是批次而非样本。"),
    "symptoms.said.shuffles": ("The pipeline of {n} operations shuffles.", "该数据处理流程（{n} 个操作）会打乱数据。"),
    "symptoms.said.unknown_reader": ("The reader does not say whether it shuffles.", "读取操作没有说明是否打乱。"),
    "symptoms.said.no_shuffle": ("Nothing shuffles: {name} reads in order.", "没有打乱：{name} 按顺序读取。"),
    "symptoms.said.maps_batches": ("{name} is applied to whole batches.", "{name} 作用于整个批次。"),
    "symptoms.said.repeats_first": (
        "{name} shuffles repeated data: epochs mix.", "{name} 打乱的是重复后的数据：不同 epoch 混在一起。",
    ),
    "symptoms.said.pipeline_damaged": ("A part of the pipeline cannot be read.", "数据图有一部分无法读取。"),
    "symptoms.said.usual_order": ("The order of {n} operations is as usual.", "{n} 个操作的顺序正常。"),
    "symptoms.said.no_graph": ("No computation graph was recorded.", "没有记录计算图。"),
    "symptoms.said.unbounded_operators": ("{n} such operators: {types}.", "此类算子 {n} 个：{types}。"),
    "symptoms.said.unbounded_near": (
        "{n} such operators: {types}. Nearest to the output is {name}, {distance} edges before it.",
        "此类算子 {n} 个：{types}。离输出最近的是 {name}，相距 {distance} 条边。",
    ),
    "symptoms.said.bounded_operators": ("None among {nodes} nodes.", "{nodes} 个节点中没有此类算子。"),
    "symptoms.said.graph_damaged": ("A part of the graph cannot be read.", "计算图有一部分无法读取。"),
    "symptoms.said.no_value_types": (
        "The graph has no types of values ({nodes} nodes).", "计算图没有数据类型信息（{nodes} 个节点）。",
    ),
    "symptoms.said.half_operators": (
        "{n} of {of} operators in float16 may exceed {largest}: {types}. Nearest to the output is {name}.",
        "{of} 个 float16 算子中有 {n} 个可能超出 {largest}：{types}。离输出最近的是 {name}。",
    ),
    "symptoms.said.half_operators_safe": (
        "{of} operators compute in float16; none of them is of a type that often exceeds {largest}.",
        "{of} 个算子使用 float16 计算，均不属于容易超出 {largest} 的类型。",
    ),
    "symptoms.said.no_half_operators": (
        "None of {nodes} operators of a known type computes in float16.", "{nodes} 个数据类型已知的算子均未使用 float16。",
    ),
    "symptoms.said.redistribution": ("{n} operators move parts of tensors: {types}.", "{n} 个算子进行张量重排布：{types}。"),
    "symptoms.said.no_redistribution": "symptoms.said.bounded_operators",
    "symptoms.said.no_setting_batch": ("No batch size was recorded.", "没有记录 batch size。"),
    "symptoms.said.no_setting_regularization": ("No setting of regularization was recorded.", "没有记录正则化相关配置。"),
    "symptoms.said.no_setting_memory": (
        "Neither batch size nor sequence length was recorded.", "没有记录 batch size 与序列长度。",
    ),
    "symptoms.said.setting_alone": (
        "{name} is {value}; no other run on screen to compare with.", "{name} 为 {value}；没有其他所选训练可对比。",
    ),
    "symptoms.said.setting_differs": (
        "{name} is {value}; another run has {other}.", "{name} 为 {value}；另一个训练为 {other}。",
    ),
    "symptoms.said.setting_equal": (
        "{name} is {value}, as in {n} runs beside it.", "{name} 为 {value}，与其他 {n} 个训练相同。",
    ),
    "symptoms.said.noise_of_batch": (
        "The noise of {tag} is {noise_share} of its level at batch size {batch}; {n} other runs suggest {expected_share}.",
        "batch size 为 {batch} 时，{tag} 的噪声为其水平的 {noise_share}；由其他 {n} 个训练推算应为 {expected_share}。",
    ),
    "symptoms.said.noise_alone": (
        "The noise of {tag} is {noise_share} of its level with batch size {batch}; no other run on screen has both.",
        "batch size 为 {batch} 时，{tag} 的噪声为其水平的 {noise_share}；没有其他所选训练可对比。",
    ),
    "symptoms.said.noise_unknown": (
        "{tag} has fewer than {needed} finite values, or a level of 0.", "{tag} 的有限值不足 {needed} 个，或水平为 0。",
    ),
    "symptoms.said.few_epochs": (
        "{tag} has {n} complete epochs with a known beginning; the rule needs {needed}.",
        "{tag} 中起点已知的完整 epoch 有 {n} 个，规则需要 {needed} 个。",
    ),
    "symptoms.said.epochs_alike": (
        "All of {n} complete epochs have the same length, about {value} steps.", "{n} 个完整 epoch 长度相同，约 {value} 步。",
    ),
    "symptoms.said.epoch_changed_length": (
        "The epoch that begins at step {step} has {value} steps, the one before it {before}.",
        "从步骤 {step} 开始的 epoch 有 {value} 步，前一个有 {before} 步。",
    ),
    "symptoms.said.setting_text": ("{name} is {value}.", "{name} 为 {value}。"),
    "symptoms.said.regularized": "symptoms.said.setting_text",
    "symptoms.said.not_regularized": ("{name} is 0, and nothing else regularizes.", "{name} 为 0，且没有其他正则化。"),
    # Dumps
    "symptoms.said.no_dump": ("No tensors were dumped.", "没有 Dump 数据。"),
    "symptoms.said.dump_bad": (
        "{name} holds NaN or Inf in iteration {step}; {n} of {of} tensors are known so far.",
        "迭代 {step} 的 {name} 含 NaN 或 Inf；目前已知 {of} 个张量中的 {n} 个。",
    ),
    "symptoms.said.dump_glanced": (
        "{n} of {of} tensors were looked at, all of them finite; check the others below.",
        "已查看 {of} 个张量中的 {n} 个，均为有限值；其余请在下面检查。",
    ),
    "symptoms.said.dump_unread": (
        "There is a dump of {of} tensors that nobody has checked yet: do so below.",
        "有 {of} 个张量的 Dump 数据尚未检查：请在下面检查。",
    ),
    "symptoms.said.no_dumped_graph": (
        "The dump has no graph with {operator}, the operator of iteration {step}.",
        "Dump 中没有包含 {operator}（迭代 {step}）的计算图。",
    ),
    "symptoms.said.none_near_cause": (
        "None of {nodes} operators before {operator} (iteration {step}).",
        "{operator}（迭代 {step}）之前的 {nodes} 个算子中没有。",
    ),
    "symptoms.said.cause_is_unbounded": (
        "{operator} itself, in iteration {step}, is such an operator ({n} of {nodes} before it).",
        "迭代 {step} 的 {operator} 本身即为此类算子（其之前 {nodes} 个算子中有 {n} 个）。",
    ),
    "symptoms.said.near_cause": (
        "{name} is {distance} edges before {operator} (iteration {step}); {n} of {nodes} before it are such operators.",
        "{name} 在计算图中位于 {operator}（迭代 {step}）之前 {distance} 条边；其之前 {nodes} 个算子中有 {n} 个此类算子。",
    ),
    "symptoms.said.no_overflow_records": ("The dump has no overflow records; nobody knows whether they were asked for.",
                                          "Dump 中没有溢出记录；无法得知是否开启了溢出检测。"),
    "symptoms.said.overflows": (
        "{n} overflows; the first in {name}, iteration {step}.", "溢出 {n} 次；首次在迭代 {step} 的 {name}。",
    ),
    "symptoms.said.half_overflowed": (
        "{name} overflows in iteration {step}: Inf, above {largest} ({hits} of {n} float16 tensors).",
        "迭代 {step} 的 {name} 溢出：float16 的最大值为 {largest}，结果为 Inf（{n} 个 float16 张量中有 {hits} 个）。",
    ),
    "symptoms.said.half_near": (
        "{name} reaches {value} in iteration {step}; float16 ends at {largest} ({hits} of {n} float16 tensors are near).",
        "迭代 {step} 的 {name} 达到 {value}，float16 的上限为 {largest}（{n} 个 float16 张量中有 {hits} 个接近上限）。",
    ),
    "symptoms.said.half_fits": (
        "The largest value of {n} float16 tensors is {value}, of {largest} possible.",
        "{n} 个 float16 张量的最大绝对值为 {value}，上限为 {largest}。",
    ),
    "symptoms.said.half_inherited": (
        "All Infs in {n} float16 tensors come from inputs that already held NaN or Inf.",
        "{n} 个 float16 张量中的 Inf 均来自已含 NaN 或 Inf 的输入。",
    ),
    "symptoms.said.no_half_tensors": (
        "None of {of} dumped tensors is float16 with known values.", "{of} 个 Dump 张量中没有取值已知的 float16 张量。",
    ),
    "symptoms.said.no_tensors": ("No tensor is recorded beside the inputs.", "除输入外未记录任何张量。"),
    "symptoms.said.no_half_recorded": (
        "None of {of} recorded tensors is float16.", "{of} 个已记录的张量均不是 float16。",
    ),
    "symptoms.said.no_statistics": ("None of {n} dumped tensors could be judged.", "{n} 个 Dump 张量均无法判定。"),
    "symptoms.said.no_cause": "common.no_bad_values",
    "symptoms.said.departed_exploding": (
        "{name} explodes in iteration {step}: its norm is {value}, {usual} before.",
        "{name} 在迭代 {step} 爆炸：范数为 {value}，此前为 {usual}。",
    ),
    "symptoms.said.departed_vanishing": (
        "{name} vanishes in iteration {step}: its norm is {value}, {usual} before.",
        "{name} 在迭代 {step} 消失：范数为 {value}，此前为 {usual}。",
    ),
    "symptoms.said.short_history": ("No norm left its history, of {n} iterations; a short history shows little.",
                                    "{n} 次迭代中没有范数偏离历史；历史较短时难以判断。"),
    "symptoms.said.watched_gradient_vanishing": (
        "{n} gradients vanish; first {name} in iteration {step}.", "{n} 个梯度消失；首先是迭代 {step} 的 {name}。",
    ),
    "symptoms.said.watched_weight_not_changed": (
        "{n} weights do not change; first {name} in iteration {step}.", "{n} 个权重不变；首先是迭代 {step} 的 {name}。",
    ),
    "symptoms.said.watched_tensor_all_zero": (
        "{n} tensors are all zero; first {name} in iteration {step}.", "{n} 个张量全为零；首先是迭代 {step} 的 {name}。",
    ),
    "symptoms.said.watched_activation_range": ("{n} activations are dead or saturated; first {name} in iteration {step}.",
                                               "{n} 个激活值死亡或饱和；首先是迭代 {step} 的 {name}。"),
    "symptoms.said.watched_weight_initialization": (
        "{n} weights begin as zeros; first {name}.", "{n} 个权重初始为零；首先是 {name}。",
    ),
    "symptoms.said.nothing_watched": (
        "The dump has no tensor that these conditions judge.", "Dump 中没有这些条件可判定的张量。",
    ),
    "symptoms.said.no_hits": ("{n} checks of the recommended watchpoints find nothing.", "推荐监测点的 {n} 次检查均未命中。"),
    "symptoms.said.no_other_run": ("Choose a second run at the top to compare with.", "请在顶部选择第二个训练进行对比。"),
    "symptoms.said.no_session_before": (
        "The run has one session of the profiler: choose a second run at the top to compare with.",
        "该训练只有一次性能采集：请在顶部选择第二个训练进行对比。",
    ),
    "symptoms.said.no_two_dumps": ("Both runs need a dump.", "两个训练都需要有 Dump 数据。"),
    "symptoms.said.no_pairs": ("The dumps have no values in common.", "两份 Dump 没有可对比的数值。"),
    "symptoms.said.tensors_equal": ("{n} tensors are equal within {tolerance}.", "{n} 个张量在容差 {tolerance} 内相同。"),
    "symptoms.said.first_tensor": (
        "{name} differs first, by {difference} (tolerance {tolerance}).",
        "最先不同的是 {name}，相差 {difference}（容差 {tolerance}）。",
    ),
    # Two runs
    "symptoms.said.no_settings": ("One of the runs recorded no settings.", "其中一个训练没有记录配置。"),
    "symptoms.said.no_shared_settings": ("The runs recorded no setting in common.", "两个训练没有共同的配置。"),
    "symptoms.said.settings_differ": (
        "{n} settings differ; first {name}: {value}, in the other run {other}.",
        "{n} 项配置不同，首先是 {name}：{value}，另一个训练为 {other}。",
    ),
    "symptoms.said.settings_equal": ("All of {n} common settings are equal.", "{n} 项共同的配置均相同。"),
    "symptoms.said.no_two_pipelines": ("Both runs need a data pipeline.", "两个训练都需要记录数据图。"),
    "symptoms.said.large_pipelines": (
        "Pipelines of more than {n} operations are not compared.", "超过 {n} 个操作的数据图不做对比。",
    ),
    "symptoms.said.one_pipeline": (
        "The pipeline was recorded once: there is no second start, and no other run to compare with.",
        "数据图只记录了一次：没有第二次启动，也没有其他训练可对比。",
    ),
    "symptoms.said.pipeline_changed_at": (
        "From step {step} on (start {start} of {starts}), {name} is not as before, first in {parameter}; {n} differences.",
        "从步骤 {step}（{starts} 次启动中的第 {start} 次）起，{name} 与上次启动不同，首先是 {parameter}（共 {n} 处不同）。",
    ),
    "symptoms.said.pipeline_changed": (
        "In start {start} of {starts}, {name} is not as before, first in {parameter}; {n} differences.",
        "{starts} 次启动中的第 {start} 次，{name} 与上次启动不同，首先是 {parameter}（共 {n} 处不同）。",
    ),
    "symptoms.said.pipeline_kept": (
        "The pipelines of all {starts} starts are equal.", "{starts} 次启动的数据图均相同。",
    ),
    "symptoms.said.pipelines_differ": (
        "{n} parts differ; first {name}: {parameter}.", "{n} 处不同，首先是 {name}：{parameter}。",
    ),
    "symptoms.said.pipelines_equal": ("Both pipelines of {n} operations are equal.", "两个数据处理流程（{n} 个操作）相同。"),
    "symptoms.said.no_normalization": (
        "Neither pipeline normalizes, in {n} and {of} tensor operations: it may be in the network.",
        "两个数据处理流程的张量操作（{n} 个与 {of} 个）均无归一化，可能在网络中进行。",
    ),
    "symptoms.said.normalization_differs": (
        "They normalize differently: {name}, in the other run {other}.", "归一化不同：{name}，另一个训练为 {other}。",
    ),
    "symptoms.said.both_augment": (
        "Both have random operations, such as {name}: an evaluation should have none.",
        "两者都有随机操作（如 {name}），评估时不应有。",
    ),
    "symptoms.said.same_normalization": (
        "Both apply {name}, and at most one of them augments ({n} random operations).",
        "两者均使用 {name}，至多一方有数据增强（{n} 个随机操作）。",
    ),
    "symptoms.said.no_two_graphs": ("Both runs need a computation graph.", "两个训练都需要记录计算图。"),
    "symptoms.said.graphs_differ": ("{n} nodes differ, {removed} are missing and {added} are new in the other graph.",
                                    "{n} 个节点不同，另一计算图缺少 {removed} 个、新增 {added} 个。"),
    "symptoms.said.attributes_differ": (
        "{parameter} of {name} is {value}, there {other}. {n} nodes differ, {removed} are missing and {added} are new there.",
        "{name} 的 {parameter} 为 {value}，另一计算图为 {other}。{n} 个节点不同，另一方缺少 {removed} 个、新增 {added} 个。",
    ),
    "symptoms.said.graphs_equal": ("Both graphs of {nodes} nodes are equal.", "两个计算图（{nodes} 个节点）相同。"),
    "symptoms.said.no_shared_scalar": ("The two runs share no scalar.", "两个训练没有共同的标量。"),
    "symptoms.said.no_final_value": ("{tag} has no last value in one of the runs.", "其中一个训练的 {tag} 没有末值。"),
    "symptoms.said.worse_result": (
        "{tag} ends at {value}, {other} in the other run.", "{tag} 末值为 {value}，另一个训练为 {other}。",
    ),
    "symptoms.said.result_not_worse": "symptoms.said.worse_result",
    "symptoms.said.few_seeds": ("{n} runs with the same settings on the smaller side; the interval needs {needed}.",
                                "配置相同的训练较少一方有 {n} 个，计算区间需要 {needed} 个。"),
    "symptoms.said.seeds_differ": (
        "{tag} differs by {difference}, interval from {low} to {high}.", "{tag} 相差 {difference}，区间为 {low} 至 {high}。",
    ),
    "symptoms.said.seeds_alike": (
        "The difference of {tag} is within that of seeds: from {low} to {high}.",
        "{tag} 的差异在随机种子差异范围内：{low} 至 {high}。",
    ),
    "symptoms.said.no_two_profiles": ("Both runs need a profile with such times.", "两个训练都需要有此类性能数据。"),
    "symptoms.said.no_shared_parts": ("The two step traces have no part in common.", "两份迭代轨迹没有共同的部分。"),
    "symptoms.said.steps_differ": ("A step takes {step_ns}, {other_ns} in {before}; most of it: {part}, {part_ns} more.",
                                   "单步 {step_ns}，{before} 为 {other_ns}；差异最大的是{part}，多 {part_ns}。"),
    "symptoms.said.steps_not_slower": (
        "A step takes {step_ns}, {other_ns} in {before}.", "单步 {step_ns}，{before} 为 {other_ns}。",
    ),
    "symptoms.said.few_steps": (
        "A step takes {step_ns}, {other_ns} in {before}; {n} steps on the smaller side, a judgement takes {needed}.",
        "单步 {step_ns}，{before} 为 {other_ns}；较少一方有 {n} 个步骤，判定需要 {needed} 个。",
    ),
    "symptoms.said.no_two_traces": ("Both runs need a trace.", "两个训练都需要有轨迹数据。"),
    "symptoms.said.empty_traces": ("One of the traces has no task in its step.", "其中一份轨迹的步骤内没有任务。"),
    "symptoms.said.traces_differ": (
        "A step takes {step_ns}, {other_ns} in {before}; {name} takes most more time: {more_ns}.",
        "单步 {step_ns}，{before} 为 {other_ns}；增加最多的是 {name}：{more_ns}。",
    ),
    "symptoms.said.traces_not_slower": (
        "A step takes {step_ns}, {other_ns} in {before} ({n} names compared).",
        "单步 {step_ns}，{before} 为 {other_ns}（对比了 {n} 个名称）。",
    ),
    "symptoms.said.operators_differ": (
        "{name} takes {taken_ns} more than in {before}.", "{name} 比 {before} 多 {taken_ns}。",
    ),
    "symptoms.said.operators_not_slower": ("None of {n} types takes longer.", "{n} 类算子均未变慢。"),
    # Profiles
    "symptoms.said.no_profile": ("No profile was recorded.", "没有采集性能数据。"),
    "symptoms.said.rules_fine": ("Nothing found by {n} rules of the advice.", "{n} 条调优规则均未发现问题。"),
    "symptoms.said.only_rule_reason": ("This cannot be judged: {reason}.", "无法判定：{reason}。"),
    "symptoms.said.rule_reason": ("{n} of {of} rules cannot judge: {reason}.", "{of} 条规则中有 {n} 条无法判定：{reason}。"),
    "symptoms.said.rules_partly": ("{n} of {of} rules have no data.", "{of} 条规则中有 {n} 条缺少数据。"),
    "symptoms.said.no_frame": ("The files of the profile lack these data.", "性能数据文件中没有此类数据。"),
    "symptoms.said.no_queues": (
        "The interval is long, but without data queues nobody can tell code from waiting for data.",
        "步骤间隔过长，但缺少数据队列信息，无法区分自定义代码与等待数据。",
    ),
    "symptoms.said.waits_for_data": (
        "No: for most of the interval the queue had no data.", "否：步骤间隔的大部分时间内队列中没有数据。",
    ),
    "symptoms.said.no_whole_step": ("The step trace has no whole step.", "迭代轨迹中没有完整的步骤。"),
    "symptoms.said.longest_part": (
        "A step takes {step_ns}; longest is {part}: {part_share}.", "单步 {step_ns}；最长的是{part}：{part_share}。",
    ),
    "symptoms.said.another_part": (
        "No: {part} is longest, {part_share} of {step_ns}.", "否：最长的是{part}，占 {step_ns} 的 {part_share}。",
    ),
    "symptoms.said.no_counters": ("The profile has no counters of operations.", "性能数据中没有运算量计数。"),
    "symptoms.said.no_peak": (
        "{done_per_s} operations per second; the peak of the device is unknown.", "每秒 {done_per_s} 次运算；设备峰值未知。",
    ),
    "symptoms.said.hardware": (
        "{used_share} of the peak: {done_per_s} operations per second.", "达到峰值的 {used_share}：每秒 {done_per_s} 次运算。",
    ),
    "symptoms.said.no_second_session": (
        "A roofline joins two sessions of this run: one with counters of operations, one with those of main memory.",
        "屋顶线需要该训练的两次采集：一次含运算量计数，一次含主存访问计数。",
    ),
    "symptoms.said.no_traffic_counters": (
        "No two sessions have counters of operations and of main memory for the same kernels.",
        "没有两次采集分别含有相同 kernel 的运算量与主存访问计数。",
    ),
    "symptoms.said.bound_by_memory": (
        "Memory binds {memory_share} of the time of kernels, computing {computing_share}; most bound by memory: {name}.",
        "kernel 耗时中 {memory_share} 受限于访存，{computing_share} 受限于计算；受访存限制最多的是 {name}。",
    ),
    "symptoms.said.not_bound_by_memory": (
        "Memory binds none of {n} kinds of kernels; computing binds {computing_share} of their time.",
        "{n} 种 kernel 均不受限于访存；耗时的 {computing_share} 受限于计算。",
    ),
    "symptoms.said.on_roofline": (
        "{name}, longest of {n} kernels: {per_byte} operations per byte, {done_per_s} per second. No file has the bandwidth.",
        "{n} 个 kernel 中耗时最长的 {name}：每字节 {per_byte} 次运算，每秒 {done_per_s} 次。文件中没有内存带宽。",
    ),
    "symptoms.said.recompiled": (
        "{name} compiled {n} times or more, for up to {longest_ns}; all of its calls took {taken_ns}.",
        "{name} 至少编译 {n} 次，最长 {longest_ns}；该函数所有调用共 {taken_ns}。",
    ),
    "symptoms.said.not_recompiled": (
        "None of {names} functions of the host compiles again and again.", "{names} 个主机函数中没有反复编译的调用。",
    ),
    "symptoms.said.no_operator_times": ("{n} types of operators have no times.", "{n} 类算子没有耗时。"),
    "symptoms.said.top_operators": (
        "{name} takes {taken_share} of {n} types: {taken_ns}.", "{name} 在 {n} 类算子中占 {taken_share}：{taken_ns}。",
    ),
    "symptoms.said.no_types": ("{n} kernels have no data types.", "{n} 个 kernel 没有数据类型。"),
    "symptoms.said.wide_kernels": ("{n} of {of} kernels have float32 inputs, {taken_share} of their time; most: {name}.",
                                   "{of} 个 kernel 中有 {n} 个输入为 float32，占其耗时的 {taken_share}；最多的是 {name}。"),
    "symptoms.said.no_wide_kernels": ("None of {of} kernels has float32 inputs.", "{of} 个 kernel 的输入均非 float32。"),
    "symptoms.said.no_shapes": ("The executions of operators have no shapes.", "算子执行记录中没有 shape。"),
    "symptoms.said.few_steps_with_shapes": (
        "A change takes {of} steps with shapes; {n} were recorded.", "判断变化需要 {of} 个有 shape 的步骤，只采集了 {n} 个。",
    ),
    "symptoms.said.shapes_change_once": (
        "Of {of} operators {n} change, but no more than {fresh} step after the first brings new shapes.",
        "{of} 个算子中有 {n} 个变化，但首步之后最多只有 {fresh} 个步骤带来新的 shape。",
    ),
    "symptoms.said.changing_shapes": (
        "{n} of {of} operators change; {name} has {shapes} shapes. Steps after the first with new shapes: {fresh}.",
        "{of} 个算子中有 {n} 个变化；{name} 有 {shapes} 种 shape。首步之后有 {fresh} 个步骤带来新的 shape。",
    ),
    "symptoms.said.shapes_stay": ("The shapes of {of} operators stay the same.", "{of} 个算子的 shape 不变。"),
    "symptoms.said.far_kernels": (
        "{n} kernels; the furthest is {name}: {taken_ns}, usually {usual_ns}.",
        "{n} 个 kernel；最明显的是 {name}：{taken_ns}，通常为 {usual_ns}。",
    ),
    "symptoms.said.no_far_kernels": ("None of {n} kernels.", "{n} 个 kernel 中没有。"),
    "symptoms.said.kernel_sizes": (
        "{n} kernels; the median takes {median_ns}, all of them {sum_ns}.",
        "{n} 个 kernel；中位数 {median_ns}，总计 {sum_ns}。",
    ),
    "symptoms.said.no_memory_values": ("{n} rows have no sizes.", "{n} 行没有内存大小。"),
    "symptoms.said.at_peak": (
        "{peak_bytes} in {n} allocations; the largest is {largest_bytes} of {name}.",
        "共 {peak_bytes}，{n} 块；最大的一块 {largest_bytes}，属于 {name}。",
    ),
    "symptoms.said.only_peak": ("{peak_bytes}; the files do not tell whose it is.", "{peak_bytes}；文件未记录其归属。"),
    "symptoms.said.no_addresses": ("The allocations have no addresses.", "内存分配记录没有地址。"),
    "symptoms.said.fragmentation": (
        "Of {free_bytes} free the largest piece is {largest_bytes}: {lost_share} is out of reach of one request.",
        "空闲 {free_bytes}，最大一块 {largest_bytes}：{lost_share} 无法用于单次申请。",
    ),
    "symptoms.said.one_piece": ("{free_bytes} are free, in one piece.", "空闲 {free_bytes}，为完整一块。"),
    "symptoms.said.static_plan": (
        "{peak_bytes} at node {node} (largest of {n} graphs).", "节点 {node} 处 {peak_bytes}（{n} 个图中最大）。",
    ),
    "symptoms.said.no_experts": ("No file of {n} ranks tells of experts.", "{n} 张卡的文件中没有专家信息。"),
    "symptoms.said.expert_balance": (
        "Rank {rank} has {load_share} of the mean load of its group.", "rank {rank} 的负载为组内平均的 {load_share}。",
    ),
    "symptoms.said.experts_even": ("The load of {n} ranks is even.", "{n} 张卡的负载均衡。"),
    "symptoms.said.slow_rank": (
        "Rank {rank} is slow: {cause} ({n} slow in {steps} steps).", "rank {rank} 较慢：{cause}（{steps} 步中有 {n} 张慢卡）。",
    ),
    "symptoms.said.slow_once": (
        "Others waited for rank {rank} in single steps: {cause}.", "个别步骤中其他卡等待 rank {rank}：{cause}。",
    ),
    "symptoms.said.no_slow_rank": ("No rank is slow in {steps} steps.", "{steps} 步中没有慢卡。"),
    "symptoms.said.no_clocks": (
        "Clocks can be compared only by operations of {n} ranks that end together.", "{n} 张卡没有可用于比较时钟的通信算子。",
    ),
    "symptoms.said.clocks": (
        "The clock of rank {rank} is off by {ahead_ns} (spread {spread_ns}).",
        "rank {rank} 的时钟偏差 {ahead_ns}（离散 {spread_ns}）。",
    ),
    "symptoms.said.clocks_agree": ("The clocks of {n} ranks agree within their spread.", "{n} 张卡的时钟在离散范围内一致。"),
    "symptoms.said.one_rank_steps": ("A comparison takes two ranks; {n} recorded this.", "比较需要两张卡，{n} 张有此数据。"),
    "symptoms.said.rank_longest": (
        "Rank {rank}: {taken_ns}; the median of {n} ranks is {usual_ns}.",
        "rank {rank}：{taken_ns}；{n} 张卡的中位数为 {usual_ns}。",
    ),
    "symptoms.said.rank_of_host": (
        "Rank {rank} ({host}): {taken_ns}; the median of {n} ranks is {usual_ns}.",
        "rank {rank}（{host}）：{taken_ns}；{n} 张卡的中位数为 {usual_ns}。",
    ),
    "symptoms.said.ranks_take_same": ("{n} ranks take the same time.", "{n} 张卡耗时相同。"),
    "symptoms.said.check": ("No file can answer this: check it, and tick it off.", "没有文件能回答此问题：请检查后勾选。"),
    # Words
    "symptoms.role.any": ("any kind", "任何"),
    "symptoms.role.loss": ("a loss", "损失"),
    "symptoms.role.validation": ("an evaluation", "评估"),
    "symptoms.role.norm": ("a norm of gradients", "梯度范数"),
    "symptoms.role.learning_rate": ("the learning rate", "学习率"),
    "symptoms.role.rates": ("learning rate or loss scale", "学习率或损失缩放"),
    "symptoms.role.epoch": ("the epoch", "epoch "),
    "symptoms.role.data_time": ("the time for data", "数据耗时"),
    "symptoms.role.step_time": ("the time of a step", "单步耗时"),
    "symptoms.cause.computing": ("it computes longer", "计算时间更长"),
    "symptoms.cause.host": ("it starts late", "启动较晚"),
    "symptoms.cause.link": ("a slow link", "链路较慢"),
    "symptoms.cause.pipeline": ("it waits for another stage", "在等待其他阶段"),
    "symptoms.cause.unknown": ("unknown cause", "原因未知"),
})  # fmt: skip
