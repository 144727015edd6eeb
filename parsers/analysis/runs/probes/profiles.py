"""Probes of a profile and its job: what the rules of the advice say, and the longest of what pages list."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import partial

import numpy as np

from parsers.analysis.jobs.advice import Advice
from parsers.analysis.jobs.clocks import clock_offsets
from parsers.analysis.jobs.experts import UNEVEN, loads
from parsers.analysis.jobs.two_jobs import rank_values
from parsers.analysis.jobs.who_is_slow import who_is_slow
from parsers.analysis.profiles.busy import COMMUNICATION
from parsers.analysis.profiles.efficiency.figures import HardwareUse
from parsers.analysis.profiles.efficiency.kernels import slow_kernels
from parsers.analysis.profiles.efficiency.measured import bound_times
from parsers.analysis.profiles.memory.blocks import CLOCKS, blocks_of, levels
from parsers.analysis.profiles.memory.curves import components, peak
from parsers.analysis.profiles.memory.plan import plan
from parsers.analysis.profiles.memory.pool import pool_at
from parsers.analysis.profiles.shape_tables import ShapeTables
from parsers.analysis.profiles.shape_times import FEWEST_STEPS, cells, changing, steps_with_new_shapes
from parsers.analysis.profiles.shape_times import operators as changing_operators
from parsers.analysis.profiles.steps import IDLE, Average, average, breakdowns
from parsers.analysis.runs.probes.model import FOUND, NOT_JUDGED, NOTHING, Finding, ProbedRun, Where, not_recorded
from parsers.deferred import pandas as pd
from parsers.model import Floats

_PARTS = ("idle", "communication")
"""Rules of the advice about a part of the step rather than about a cause."""
_COMPILING = re.compile(r"(?<!set)compile(?!d|opt)", re.IGNORECASE)
"""Calls that compile an operator or a graph, or find it compiled: aclopCompileAndExecute of CANN, compile of torch and
MindSpore. aclSetCompileopt and aclopSetCompileFlag set options."""
_REGION = re.compile(r"Torch-Compiled Region: \d+/[1-9]\d*$")
"""What torch calls a function that it compiled again: the number after the slash is that of its version."""
_MARK = "ProfilerStep"
"""What torch.profiler calls the marks of steps, which are among the operators of the host."""
COMPILING_NS = 20_000_000
"""A call takes longer than this if it compiles: one that finds its operator compiled takes a few ms at most."""
OFTEN = 2
"""Calls that compile, and steps after the first that bring new shapes, from which on they do so again and again."""
_UNNAMED = ("", "N/A")
"""Types of operators that files leave empty."""


def advice(run: ProbedRun, *, rules: Sequence[str], either: bool = False) -> Finding:
    """Return the costliest advice of some rules. Nothing is said to be found only if each of them could be checked.

    either: they judge the same by files of different tools, so that one of them is enough.
    """
    review = run.review(rules)
    if review is None:
        return not_recorded("no_profile")
    if review.found:
        one = review.found[0]
        told: dict[str, float | str] = {"n": len(review.found)}
        return Finding(FOUND, "advice", told, rule=f"advice.{one.rule}", by=one, severity=_severity(one))
    lacking = {rule: review.unchecked[rule] for rule in rules if rule in review.unchecked}
    checked = [one for one in rules if one not in lacking]
    rule = f"advice.{checked[0] if either and checked else rules[0]}"
    if not lacking or (either and checked):
        return Finding(NOTHING, "rules_fine", {"n": len(checked)}, rule=rule)
    files = tuple(dict.fromkeys(name for names in lacking.values() for name in names))
    reason = next((review.reasons[one] for one in lacking if one in review.reasons), "")
    if reason:
        lacked: dict[str, float | str] = {"reason": reason, "n": len(lacking), "of": len(rules)}
        return Finding(NOT_JUDGED, "rule_reason" if len(rules) > 1 else "only_rule_reason", lacked, rule=rule, missing=files)
    if len(lacking) < len(rules):
        return Finding(NOT_JUDGED, "rules_partly", {"n": len(lacking), "of": len(rules)}, rule=rule, missing=files)
    return not_recorded("no_frame", *files)


def _severity(one: Advice) -> float:
    """Return what orders symptoms: the costliest first, as on the page Advice, but a cause before a part of the step that has
    many causes. It grows with the cost, whatever that is, without what other rules find."""
    cost_s = 0.0 if math.isnan(one.cost_ns) else one.cost_ns * 1e-9
    return 1.4 + 0.1 * cost_s / (1.0 + cost_s) - 0.25 * (one.rule in _PARTS)


def host_code(run: ProbedRun) -> Finding:
    """Return whether the interval between steps is long though data was there, so that the program itself takes the time.

    Without data queues nobody can tell one from the other.
    """
    found = advice(run, rules=("interval",))
    if found.state != FOUND:
        return found
    if found.by.variant == "host":
        return found
    queues = run.frame("queues")
    if queues is None or not len(queues):
        return Finding(NOT_JUDGED, "no_queues", {}, rule="advice.interval", missing=tuple(run.files_of("queues")))
    return Finding(NOTHING, "waits_for_data", {}, rule="advice.interval")


def _frame(run: ProbedRun, name: str) -> pd.DataFrame | Finding:
    """Return a frame with rows, or that it was not recorded."""
    found = run.frame(name)
    return not_recorded("no_frame", *run.files_of(name)) if found is None or not len(found) else found


def usual_step(run: ProbedRun) -> Average | None:
    """Return the usual step of the profile; None without a step trace."""
    steps = run.frame("steps")
    found = breakdowns(steps) if steps is not None and len(steps) else ()
    return average(found[0]) if found else None


def step_lengths(run: ProbedRun) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return how long each step of the profile took, in ns; empty without a step trace."""
    steps = run.frame("steps")
    found = breakdowns(steps) if steps is not None and len(steps) else ()
    return found[0].whole_ns[found[0].judged].astype(np.float64) if found else np.empty(0)


def longest_part(run: ProbedRun) -> Finding:
    """Return the usual step and the longest of its parts."""
    usual = usual_step(run)
    if usual is None:
        found = _frame(run, "steps")
        return found if isinstance(found, Finding) else Finding(NOT_JUDGED, "no_whole_step", {"n": len(found)})
    at = int(np.argmax(usual.time_ns))
    part = usual.parts[at]
    told: dict[str, float | str] = {
        "step_ns": usual.whole_ns, "part": part, "part_ns": usual.time_ns[at], "part_share": usual.shares[at],
        "n": usual.steps,
    }  # fmt: skip
    return Finding(FOUND, "longest_part", told, rule="longest_part", severity=1.2 if part in IDLE else 0.6)


def part_is_longest(run: ProbedRun, *, parts: Sequence[str]) -> Finding:
    """Return whether the longest part of a step is one of these (names of NEW and LEGACY in `steps`)."""
    found = longest_part(run)
    if found.state != FOUND or found.told["part"] in parts:
        return found
    return Finding(NOTHING, "another_part", found.told, rule="longest_part")


def hardware(run: ProbedRun) -> Finding:
    """Return the operations per second that counters measured, as a share of what the device can do."""
    use = HardwareUse(run.frame, {})
    if use.measured is None:
        return not_recorded("no_frame", *run.files_of("kernels"))
    if math.isnan(use.achieved.per_s):
        return Finding(NOT_JUDGED, "no_counters", {}, rule="hardware", missing=tuple(run.files_of("flops")))
    if math.isnan(use.share):
        return Finding(NOT_JUDGED, "no_peak", {"done_per_s": use.achieved.per_s}, rule="hardware")
    told: dict[str, float | str] = {"used_share": use.share, "done_per_s": use.achieved.per_s}
    return Finding(FOUND, "hardware", told, rule="hardware", severity=0.5)


def on_roofline(run: ProbedRun) -> Finding:
    """Return how much time kernels take that main memory binds, by counters of one session; without those where the longest
    kernel is on the roofline of two sessions.

    The latter is not judged: no file has the bandwidth of the memory, which the page asks for.
    """
    use = HardwareUse(run.frame, {})
    if use.measured is None:
        return not_recorded("no_frame", *run.files_of("kernels"))
    if use.measured.counters.compute and use.measured.counters.memory and use.measured.total_ns and use.shapes is not None:
        return _bound(use.measured.total_ns, use.shapes)
    others = run.other_kernels()
    if not others:
        return not_recorded("no_second_session", *run.files_of("kernels"))
    for session, kernels in others.items():
        joined = HardwareUse(run.frame, {}, other_kernels=partial(_same, kernels)).roofline
        if joined is not None and len(joined.frame) and math.isfinite(float(joined.frame["per_byte"].iloc[0])):
            row = joined.frame.iloc[0]
            told: dict[str, float | str] = {
                "name": str(row["name"]), "per_byte": float(row["per_byte"]), "done_per_s": float(row["per_s"]),
                "n": len(joined.frame),
            }  # fmt: skip
            return Finding(NOT_JUDGED, "on_roofline", told, Where(session=session), "on_roofline")
    return not_recorded("no_traffic_counters", *run.files_of("kernels"))


def _bound(total_ns: int, shapes: pd.DataFrame) -> Finding:
    times = bound_times(shapes)
    told: dict[str, float | str] = {
        "memory_share": times["memory"] / total_ns, "computing_share": times["compute"] / total_ns, "n": len(shapes),
    }  # fmt: skip
    rows = shapes[(shapes["bound"].astype("str") == "memory").to_numpy(bool)]
    if not len(rows):
        return Finding(NOTHING, "not_bound_by_memory", told, rule="bound")
    most = str(rows["type"].iloc[int(np.argmax(rows["total_ns"].to_numpy()))])
    return Finding(FOUND, "bound_by_memory", told | {"name": most}, Where(node=most), "bound", severity=0.7)


def _same(kernels: pd.DataFrame) -> pd.DataFrame:
    return kernels


def recompiled(run: ProbedRun) -> Finding:
    """Return the function of the host that compiled operators or graphs again and again while steps were recorded.

    Files have sums of calls, most of which may have found what they need compiled. Of calls d, none longer than the longest,
    at least sum(d^2) / longest^2 were long, and the sum follows from count, mean and variance; of a function without variance
    all calls took its mean.
    """
    calls, operators = run.frame("api"), run.frame("operators")
    host = None if operators is None else operators[operators["core"].astype("str").eq("HOST_CPU").to_numpy()]
    known = [frame for frame in (calls, host) if frame is not None and len(frame)]
    if not known:
        return not_recorded("no_frame", *run.files_of("api"), *run.files_of("operators"))
    names = [name for frame in known for name in frame["name"].astype("str").tolist()]
    rows = pd.concat([frame.reindex(columns=_CALL_COLUMNS) for frame in known], ignore_index=True)
    compiled, longest = _compilations(rows.astype(np.float64))
    again = np.array([bool(_REGION.search(name)) for name in names])
    compiling = np.array([bool(_COMPILING.search(name)) for name in names])
    found = again | (compiling & (compiled >= OFTEN) & (longest > COMPILING_NS))
    if not found.any():
        return Finding(NOTHING, "not_recompiled", {"names": len(names)}, rule="recompiled")
    times = rows["total_ns"].to_numpy(np.float64)
    most = int(np.argmax(np.where(found, times, -1.0)))
    told: dict[str, float | str] = {
        "name": names[most], "names": len(names), "n": int(np.ceil(np.where(again, rows["count"], compiled)[most])),
        "longest_ns": float(longest[most]), "taken_ns": float(times[most]),
    }  # fmt: skip
    return Finding(FOUND, "recompiled", told, Where(node=names[most]), "recompiled", severity=1.1)


_CALL_COLUMNS = ["count", "total_ns", "mean_ns", "max_ns", "variance_ns2"]


def _compilations(calls: pd.DataFrame) -> tuple[Floats, Floats]:
    """Return how many calls of each function were about as long as its longest, at least, and that one (ns)."""
    count, total = (calls[name].to_numpy(np.float64) for name in ("count", "total_ns"))
    mean = total / np.maximum(count, 1.0)
    longest = np.fmax(calls["max_ns"].to_numpy(np.float64), mean)
    squares = count * (np.nan_to_num(calls["variance_ns2"].to_numpy(np.float64)) + mean**2)
    return squares / np.maximum(longest, 1.0) ** 2, longest


def top_operators(run: ProbedRun) -> Finding:
    """Return the type of operators that takes most of the device's time; communication is another question."""
    types = _frame(run, "operator_types")
    if isinstance(types, Finding):
        return types
    types = computing_types(types)
    if not len(types):
        return Finding(NOT_JUDGED, "no_operator_times", {"n": 0}, rule="top_operators")
    times = types["total_ns"].to_numpy(np.float64)
    if not np.nansum(times) > 0.0:
        return Finding(NOT_JUDGED, "no_operator_times", {"n": len(types)}, rule="top_operators")
    at = int(np.nanargmax(times))
    told: dict[str, float | str] = {
        "name": str(types["type"].array[at]), "taken_ns": float(times[at]), "taken_share": float(times[at] / np.nansum(times)),
        "n": len(types),
    }  # fmt: skip
    return Finding(FOUND, "top_operators", told, Where(node=str(types["type"].array[at])), "top_operators", severity=0.6)


def computing_types(types: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of operator types (schema OPERATOR_TYPES) that compute and have a name."""
    names = types["type"].astype("str")
    kept = ~(types["core"].astype("str").isin(COMMUNICATION) | names.isin(_UNNAMED) | names.str.startswith(_MARK)).to_numpy()
    found: pd.DataFrame = types[kept]
    return found


def wide_kernels(run: ProbedRun) -> Finding:
    """Return the share of the time of kernels with known types that those with float32 inputs take."""
    kernels = _frame(run, "kernels")
    if isinstance(kernels, Finding):
        return kernels
    types = kernels["input_types"].astype("str").str.lower()
    known = types.str.contains("float|bf16|half", regex=True).to_numpy()
    if not known.any():
        return Finding(NOT_JUDGED, "no_types", {"n": len(kernels)}, rule="wide_kernels", missing=tuple(run.files_of("kernels")))
    time = kernels["duration_ns"].to_numpy(np.float64)
    wide = known & types.str.contains(r"(?:^|[^a-z])(?:dt_)?float(?:32)?(?:$|[^0-9a-z])", regex=True).to_numpy()
    whole = float(time[known].sum())
    told: dict[str, float | str] = {"n": int(wide.sum()), "of": int(known.sum())}
    if wide.any() and whole > 0.0:
        names = kernels["type"].array[np.flatnonzero(wide)]
        most = pd.Series(time[wide]).groupby(np.asarray(names, object)).sum().idxmax()
        told |= {"taken_share": float(time[wide].sum()) / whole, "name": str(most)}
        return Finding(FOUND, "wide_kernels", told, Where(node=str(most)), "wide_kernels", severity=0.8)
    return Finding(NOTHING, "no_wide_kernels", told, rule="wide_kernels")


def changing_shapes(run: ProbedRun) -> Finding:
    """Return how many operators have shapes that change, if several steps bring new ones: a smaller last batch costs little."""
    rows = ShapeTables(run.frame).rows
    if not len(rows):
        return not_recorded("no_frame", *run.files_of("shape_times"))
    found = changing_operators(cells(rows), changing(rows))
    if not (found["shapes"] > 0).any():
        return Finding(NOT_JUDGED, "no_shapes", {"n": len(rows)}, rule="changing_shapes")
    steps = int(rows["step"][rows["step"] >= 0].nunique())
    if steps < FEWEST_STEPS:
        return Finding(NOT_JUDGED, "few_steps_with_shapes", {"n": steps, "of": FEWEST_STEPS}, rule="changing_shapes")
    moving = found[found["changes"].to_numpy(bool)]
    fresh = steps_with_new_shapes(rows)
    told: dict[str, float | str] = {"n": len(moving), "of": len(found), "fresh": fresh}
    if len(moving) and fresh < OFTEN:
        return Finding(NOTHING, "shapes_change_once", told, rule="changing_shapes")
    if len(moving):
        first = moving.iloc[0]
        told |= {"name": str(first["name"]), "shapes": int(first["shapes"])}
        return Finding(FOUND, "changing_shapes", told, Where(node=str(first["name"])), "changing_shapes", severity=1.1)
    return Finding(NOTHING, "shapes_stay", told, rule="changing_shapes")


def far_kernels(run: ProbedRun) -> Finding:
    """Return the kernels that take much longer than others of the same type and shapes (`slow_kernels`)."""
    kernels = _frame(run, "kernels")
    if isinstance(kernels, Finding):
        return kernels
    found = slow_kernels(kernels)
    if len(found):
        row = found.iloc[0]
        told: dict[str, float | str] = {
            "n": len(found), "name": str(row["name"]), "taken_ns": float(row["duration_ns"]),
            "usual_ns": float(row["median_ns"]),
        }  # fmt: skip
        return Finding(FOUND, "far_kernels", told, Where(node=str(row["name"])), "far_kernels", severity=0.9)
    return Finding(NOTHING, "no_far_kernels", {"n": len(kernels)}, rule="far_kernels")


def small_kernels(run: ProbedRun) -> Finding:
    """Return how many kernels a step has and the median time of one."""
    kernels = _frame(run, "kernels")
    if isinstance(kernels, Finding):
        return kernels
    time = kernels["duration_ns"].to_numpy(np.float64)
    told: dict[str, float | str] = {"n": len(kernels), "median_ns": float(np.median(time)), "sum_ns": float(time.sum())}
    return Finding(NOT_JUDGED, "kernel_sizes", told, rule="kernel_sizes")


# Memory ----------------------------------------------------------------------------------------------------------------


def at_peak(run: ProbedRun) -> Finding:
    """Return the highest memory of the device, and the largest allocation that was in use then."""
    memory, operators = run.frame("memory"), run.frame("operator_memory")
    if memory is None or not len(memory):
        return _peak_of_blocks(run, operators)
    name = components(memory)[0] if components(memory) else ""
    top = peak(memory, name)
    if top is None:
        return Finding(NOT_JUDGED, "no_memory_values", {"n": len(memory)}, rule="at_peak")
    size = top.allocated if top.allocated >= 0 else top.active
    told: dict[str, float | str] = {"peak_bytes": float(size)}
    if operators is not None and len(operators):
        blocks = blocks_of(operators, component=name)
        blocks = blocks if len(blocks) else blocks_of(operators)
        alive = blocks.alive_at(top.time)
        if alive.size:
            most = int(alive[np.argmax(blocks.size[alive])])
            owner = str(operators["name"].array[blocks.rows[most]])
            told |= {"n": int(alive.size), "largest_bytes": float(blocks.size[most]), "name": owner}
            return Finding(FOUND, "at_peak", told, Where(node=owner), "at_peak", severity=0.7)
    return Finding(FOUND, "only_peak", told, rule="at_peak", severity=0.7)


def _peak_of_blocks(run: ProbedRun, operators: pd.DataFrame | None) -> Finding:
    """Return the peak of what was allocated while recording, for files without a curve, such as those of the memory tracker."""
    if operators is None or not len(operators):
        return not_recorded("no_frame", *run.files_of("memory"))
    clock = next((clock for clock in CLOCKS if len(blocks_of(operators, clock=clock))), CLOCKS[0])
    blocks = blocks_of(operators, clock=clock)
    times, used = levels(blocks)
    if not used.size:  # nothing was allocated or released while recording
        return Finding(NOT_JUDGED, "no_memory_values", {"n": len(operators)}, rule="at_peak")
    top = int(np.argmax(used))
    alive = blocks.alive_at(int(times[top]))
    most = int(alive[np.argmax(blocks.size[alive])])
    owner = str(operators["name"].array[blocks.rows[most]])
    told: dict[str, float | str] = {
        "peak_bytes": float(used[top]), "n": int(alive.size), "largest_bytes": float(blocks.size[most]), "name": owner,
    }  # fmt: skip
    return Finding(FOUND, "at_peak", told, Where(node=owner), "at_peak", severity=0.7)


def fragmentation(run: ProbedRun) -> Finding:
    """Return the share of the free part of the pool that the largest request could not have, at the peak."""
    operators = run.frame("operator_memory")
    if operators is None or not len(operators):
        return not_recorded("no_frame", *run.files_of("operator_memory"))
    clock = next((clock for clock in CLOCKS if len(blocks_of(operators, clock=clock))), CLOCKS[0])
    blocks = blocks_of(operators, clock=clock)
    if not len(blocks):
        return Finding(NOT_JUDGED, "no_addresses", {"n": len(operators)}, rule="fragmentation")
    starts = blocks.start
    change = np.concatenate([blocks.size, -blocks.size])
    order = np.argsort(np.concatenate([starts, blocks.end]), kind="stable")
    time = int(np.concatenate([starts, blocks.end])[order][int(np.argmax(np.cumsum(change[order])))])
    pool = pool_at(operators, blocks, time)
    if pool is None:
        return Finding(NOT_JUDGED, "no_addresses", {"n": len(operators)}, rule="fragmentation")
    told: dict[str, float | str] = {"free_bytes": float(pool.free), "largest_bytes": float(pool.largest)}
    if pool.free and pool.largest < pool.free:
        return Finding(FOUND, "fragmentation", told | {"lost_share": pool.fragmentation}, rule="fragmentation", severity=0.8)
    return Finding(NOTHING, "one_piece", told, rule="fragmentation")


def static_plan(run: ProbedRun) -> Finding:
    """Return the most memory that the plan of a graph has in use at once, of the graph that needs most."""
    rows = _frame(run, "static_memory")
    if isinstance(rows, Finding):
        return rows
    plans = [plan(rows, int(graph)) for graph in np.unique(rows["graph"].to_numpy())]
    best = max(plans, key=lambda one: one.peak)
    if best.peak < 0:
        return Finding(NOT_JUDGED, "no_memory_values", {"n": len(rows)}, rule="static_plan")
    told: dict[str, float | str] = {"peak_bytes": float(best.peak), "node": best.peak_node, "n": len(plans)}
    return Finding(FOUND, "static_plan", told, rule="static_plan", severity=0.5)


# Jobs ------------------------------------------------------------------------------------------------------------------


def expert_balance(run: ProbedRun) -> Finding:
    """Return the rank with the largest load of experts, if it is well above the mean of its group (`UNEVEN`)."""
    collectives, groups = run.frame("collectives"), run.frame("groups")
    if collectives is None or groups is None or not len(collectives):
        return not_recorded("no_frame", *run.files_of("collectives"))
    found = loads(collectives, groups, run.frame("ranks"))
    if found is None or not np.isfinite(found.share).any():
        return Finding(NOT_JUDGED, "no_experts", {"n": int(collectives["rank"].nunique())}, rule="expert_balance")
    at = int(np.nanargmax(found.share))
    rank = int(found.ranks[at])
    told: dict[str, float | str] = {"rank": rank, "load_share": float(found.share[at]), "n": len(found.ranks)}
    if float(found.share[at]) > UNEVEN:
        return Finding(FOUND, "expert_balance", told, Where(rank=rank), "expert_balance", severity=0.8)
    return Finding(NOTHING, "experts_even", told, rule="expert_balance")


def last_rank(run: ProbedRun) -> Finding:
    """Return the rank that others wait for, and why (`who_is_slow`); of few steps that of single ones."""
    frames = {name: run.frame(name) for name in ("cluster_steps", "collectives", "groups", "links")}
    found = who_is_slow(frames)
    listed = found.slow or (found.once if found.reason == "steps" else ())
    if listed:
        one = listed[0]
        told: dict[str, float | str] = {"rank": one.rank, "cause": one.cause, "n": len(found.slow), "steps": found.steps}
        said, severity = ("slow_rank", 1.6) if found.slow else ("slow_once", 0.8)
        return Finding(FOUND, said, told, Where(rank=one.rank), "last_rank", severity=severity)
    if found.reason in ("cluster_steps", "collectives"):
        return not_recorded("no_frame", *run.files_of(found.reason))
    if found.reason:
        return Finding(NOT_JUDGED, "only_rule_reason", {"reason": _REASONS.get(found.reason, found.reason)}, rule="last_rank")
    return Finding(NOTHING, "no_slow_rank", {"steps": found.steps}, rule="last_rank")


_REASONS = {"no_waits": "no_group", "steps": "slow_steps"}
"""Reasons that the rules of the advice name in another way."""


def clocks(run: ProbedRun) -> Finding:
    """Return the rank whose clock is furthest from the others, beyond the spread of single operations."""
    collectives = _frame(run, "collectives")
    if isinstance(collectives, Finding):
        return collectives
    offsets = clock_offsets(collectives)
    if len(offsets) < 2:
        return Finding(NOT_JUDGED, "no_clocks", {"n": int(collectives["rank"].nunique())}, rule="clocks")
    beyond = offsets[offsets["offset_ns"].abs() > offsets["spread_ns"]]
    if len(beyond):
        row = beyond.iloc[int(np.argmax(beyond["offset_ns"].abs().to_numpy()))]
        rank = int(row["rank"])
        told: dict[str, float | str] = {
            "rank": rank, "ahead_ns": float(row["offset_ns"]), "spread_ns": float(row["spread_ns"]), "n": len(beyond),
        }  # fmt: skip
        return Finding(FOUND, "clocks", told, Where(rank=rank), "clocks", severity=0.4)
    return Finding(NOTHING, "clocks_agree", {"n": len(offsets)}, rule="clocks")


def longest_rank(run: ProbedRun, *, value: str = "total") -> Finding:
    """Return the rank (or with value "preparing" the host) with the longest time, beside the median of all ranks."""
    steps = _frame(run, "cluster_steps")
    if isinstance(steps, Finding):
        return steps
    table = rank_values({name: run.frame(name) for name in ("cluster_steps", "collectives", "groups", "ranks")})
    known = table[value].dropna()
    if len(known) < 2:
        return Finding(NOT_JUDGED, "one_rank_steps", {"n": len(known)}, rule=f"rank_{value}")
    rank = int(known.index.to_numpy()[int(np.argmax(known.to_numpy()))])
    told: dict[str, float | str] = {
        "rank": rank, "taken_ns": float(known.max()), "usual_ns": float(known.median()), "n": len(known),
        "host": str(table["host"].get(rank, "")),
    }  # fmt: skip
    if known.max() > known.min():
        said = "rank_of_host" if told["host"] else "rank_longest"
        return Finding(FOUND, said, told, Where(rank=rank), f"rank_{value}", severity=0.7)
    return Finding(NOTHING, "ranks_take_same", told, rule=f"rank_{value}")
