"""Advice about the host: calls that wait for the device, and gaps of the device that the host causes."""

from __future__ import annotations

import math
import re

from parsers.analysis.jobs.advice.launching import held_of, kernels_of_steps
from parsers.analysis.jobs.advice.model import MOST_ROWS, Advice, Frames, Unchecked, frame_of, needed
from parsers.analysis.jobs.advice.steps import usual_of
from parsers.analysis.profiles.launches import LAUNCH_BEGIN
from parsers.profiler.trace.gaps import CAUSES

SYNCHRONISING = re.compile(
    r"(?:.*::)?(?:item|_local_scalar_dense|is_nonzero|nonzero|equal|.*synchronize.*|.*memcpy.*|copy_?)", re.IGNORECASE
)
"""Operators of the host that wait for the device, or move data between the two."""
LATE = ("host", "synchronisation", "data")
"""Causes of gaps that are the host's."""
_SITE = re.compile(r"^(?:.*[/\\\\])?([^/\\\\]+\.py)(?:\(([0-9]+)\))?: (.*)$")
_METHOD = re.compile(
    r"^<built-in method (\w+) of \w*(?:Tensor|Parameter)\w* object>$|^aten::(item|tolist|nonzero|is_nonzero)$|"
    r"^aten::_local_scalar_dense$|^<built-in (?:method|function) (\w+)\b.*>$"
)
_TRACE_FILES = ("trace_view.json", "ascend_*_profiler_*.db")


def synchronising(frames: Frames, limit: float) -> Advice | None:
    """Calls of the host that wait for the device take more than this fraction of the step, or of the self time of the host.

    Self times are summed up, as a call that waits is often counted again in the one around it. A trace that tells when kernels
    were launched has more: how long the device has nothing to do after a copy that the host waited for (`held_of`). A host
    that waits for a busy device costs nothing. Evidence are the longest calls by the place in the program that calls them.
    """
    operators = needed(frames, "operators", "operator_details")
    host = operators[(operators["core"] == "HOST_CPU") & operators["self_ns"].notna()]
    if host.empty:
        raise Unchecked("operator_details")
    kernels = frames.get("kernels")
    if kernels is not None and kernels.empty and len(host) == len(operators) and not (host["device_ns"] > 0).any():
        raise Unchecked(reason="no_device")
    names = host["name"].cat.categories[[SYNCHRONISING.fullmatch(name) is not None for name in host["name"].cat.categories]]
    calls = host[host["name"].isin(names)]
    spent = float(calls["self_ns"].sum())
    steps = frame_of(frames, "steps")
    usual = usual_of(steps, "new") if steps is not None else None
    number = max(steps["step"][steps["kind"] == "step"].nunique(), 1) if steps is not None else 1
    whole = usual.whole_ns * number if usual is not None else float(host["self_ns"].sum())
    held = _held(frames)
    if held is not None:
        spent, whole, number = held
    if not whole > 0 or not spent / whole > limit:
        return None
    grouped = calls.groupby(["name", "stack"], observed=True, sort=False)[["count", "self_ns", "total_ns"]].sum().reset_index()
    shown = grouped.sort_values("self_ns", ascending=False)[["name", "count", "self_ns", "total_ns", "stack"]].head(MOST_ROWS)
    subject = tuple(dict.fromkeys(shown["name"].astype(str).head(3)))
    cost = spent / number if usual is not None or held is not None else math.nan
    variant = "" if held is None else "device"
    return Advice("synchronising", spent / whole, limit, cost, shown, "operators", subject, variant=variant)


def _held(frames: Frames) -> tuple[float, float, int] | None:
    """Return how long the device waits after copies to the host, the time of its steps, and their number.

    None where no file tells when kernels were launched.
    """
    try:
        kernels, whole, number = kernels_of_steps(frames)
    except Unchecked:
        return None
    return (float(held_of(kernels)), whole, number) if (kernels[LAUNCH_BEGIN] >= 0).any() else None


def gaps(frames: Frames, limit: float) -> Advice | None:
    """A stream of the device has nothing to do for more than this fraction of the step because of the host.

    That is: the host launched late, waited for the device, or waited for data. Evidence are the calls that caused the gaps,
    with their idle time per step; parts_ns are all causes, which together are the idle time of the average step.
    """
    steps, calls = frames.get("gap_steps"), frame_of(frames, "gap_calls")
    if steps is None or not len(steps) or not (whole := float(steps["duration_ns"].mean())) > 0:
        raise Unchecked(*_TRACE_FILES)
    parts: dict[str, float] = {cause: float(steps[f"{cause}_ns"].mean()) for cause in CAUSES}
    late = math.fsum(parts[cause] for cause in LATE)
    if not late / whole > limit:
        return None
    if calls is None:
        raise Unchecked(reason="no_calls")
    rows = calls[calls["cause"].isin(LATE)].head(MOST_ROWS)
    shown = rows[["cause", "site", "name", "count", "idle_ns", "duration_ns", "start_ns", "stack"]]
    shown = shown.assign(idle_ns=shown["idle_ns"] / len(steps))
    cost = late if (steps["step"] != "").all() else math.nan
    subject = tuple(called(site, name) for site, name in shown[["site", "name"]].head(1).itertuples(index=False))
    return Advice("gaps", late / whole, limit, cost, shown, "timeline", subject, {"whole": whole, **parts})


def called(site: str, name: str) -> str:
    """Return the line of a program and the call it made in few words: main.py:373 .item().

    Without a line, in a function: main.py train(): .item(); the name alone where the program is not known.
    """
    found, method = _SITE.match(site), _METHOD.match(name)
    call = f"{'' if method[3] else '.'}{method[1] or method[2] or method[3] or 'item'}()" if method else name
    if found is None:
        return call
    own = call in (site, "ProfilerStep", "Step")
    if found[2] is None:
        function = f"{found[3]}()" if found[3].isidentifier() else found[3]
        return f"{found[1]} {function}{'' if own else f': {call}'}"
    return f"{found[1]}:{found[2]} {found[3] if own else call}"
