"""All probes by name. Steps of symptoms name them; a slow one runs when somebody asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from parsers.analysis.runs.probes import (
    curves,
    dumps,
    epochs,
    half,
    noise,
    pipeline_history,
    profiles,
    structure,
    two_runs,
    values,
)
from parsers.analysis.runs.probes.model import NO_FILE, Finding, Probe, ProbedRun


def check(run: ProbedRun) -> Finding:
    """Return that no file answers the question."""
    del run
    return Finding(NO_FILE, "check")


PROBES: Mapping[str, Probe] = MappingProxyType({probe.name: probe for probe in (
    Probe("check", check),
    Probe("insight", curves.insight),
    Probe("rates_at_bad", curves.rates_at_bad),
    Probe("norm_before_bad", curves.norm_before_bad),
    Probe("changed_at", curves.changed_at),
    Probe("restarted", curves.restarted),
    Probe("rate_after_restart", curves.rate_after_restart),
    Probe("mixed_writers", curves.mixed_writers),
    Probe("rate_beside_others", curves.rate_beside_others),
    Probe("gap", curves.gap),
    Probe("ranks_differ", curves.ranks_differ),
    Probe("data_time", curves.data_time),
    Probe("epoch_length", epochs.epoch_length),
    Probe("noise_of_batch", noise.noise_of_batch),
    Probe("frozen_weights", values.frozen_weights),
    Probe("zero_values", values.zero_values),
    Probe("bad_inputs", values.bad_inputs),
    Probe("repeated_batch", values.repeated_batch),
    Probe("ranks_inputs", values.ranks_inputs),
    Probe("ranks_weights", values.ranks_weights),
    Probe("landscape", values.landscape),
    Probe("shuffled", structure.shuffled),
    Probe("pipeline_order", structure.pipeline_order),
    Probe("unbounded_operators", structure.unbounded_operators),
    Probe("redistribution", structure.redistribution),
    Probe("setting", structure.setting),
    Probe("data_after_restart", values.data_after_restart),
    Probe("initial_values", values.initial_values),
    Probe("dumped_values", dumps.dumped_values),
    Probe("near_cause", dumps.near_cause, slow=True),
    Probe("overflows", dumps.overflows),
    Probe("half_overflow", dumps.half_overflow, slow=True),
    Probe("half_recorded", half.half_recorded),
    Probe("half_operators", half.half_operators),
    Probe("first_cause", dumps.first_cause, slow=True),
    Probe("departed", dumps.departed, slow=True),
    Probe("watched", dumps.watched, slow=True),
    Probe("first_tensor", dumps.first_tensor, slow=True),
    Probe("settings_differ", two_runs.settings_differ),
    Probe("pipelines_differ", pipeline_history.pipelines_differ),
    Probe("pipeline_changed", pipeline_history.pipeline_changed),
    Probe("evaluation_pipeline", two_runs.evaluation_pipeline),
    Probe("graphs_differ", two_runs.graphs_differ, slow=True),
    Probe("worse_result", two_runs.worse_result),
    Probe("seeds_differ", two_runs.seeds_differ),
    Probe("steps_differ", two_runs.steps_differ),
    Probe("operators_differ", two_runs.operators_differ),
    Probe("traces_differ", two_runs.traces_differ, slow=True),
    Probe("advice", profiles.advice),
    Probe("host_code", profiles.host_code),
    Probe("longest_part", profiles.longest_part),
    Probe("part_is_longest", profiles.part_is_longest),
    Probe("hardware", profiles.hardware),
    Probe("on_roofline", profiles.on_roofline),
    Probe("recompiled", profiles.recompiled),
    Probe("top_operators", profiles.top_operators),
    Probe("wide_kernels", profiles.wide_kernels),
    Probe("changing_shapes", profiles.changing_shapes),
    Probe("far_kernels", profiles.far_kernels),
    Probe("small_kernels", profiles.small_kernels),
    Probe("at_peak", profiles.at_peak),
    Probe("fragmentation", profiles.fragmentation),
    Probe("static_plan", profiles.static_plan),
    Probe("expert_balance", profiles.expert_balance),
    Probe("last_rank", profiles.last_rank),
    Probe("clocks", profiles.clocks),
    Probe("longest_rank", profiles.longest_rank),
)})  # fmt: skip
"""Name -> probe."""
