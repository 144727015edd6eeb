"""What `mindscope gate` found as a line, as JSON and as a JUnit report."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import msgspec

from app.commands.terminal import printable
from parsers.analysis.curves.gate_files import DUMP, MEMORY, SPEED, GateMetric
from parsers.analysis.curves.gates import CANNOT_TELL, LEAST_RUNS, WORSE, GateVerdict, RunValue

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold."""
_WHY = {
    "within": "the interval does not lie beyond the margin",
    "beyond": "the whole interval lies beyond the margin",
    "margin_within": "within the margin, which alone decides with fewer than {least} runs on a side",
    "margin_beyond": "beyond the margin, which alone decides with fewer than {least} runs on a side",
    "too_wide": "the interval exceeds the margin on both sides, more runs are needed",
    "missing": "{run}: {missing}",
    "baseline_missing": "baseline {run}: {missing}",
    "baseline_not_finite": "baseline {run} is {value}",
    "unfinished": "{run} is unfinished: {ended}",
    "baseline_unfinished": "baseline {run} is unfinished: {ended}",
    "sources": "{run} was measured by another source ({source}) than the baseline",
    "hits": "check-dump has {value} hits in {run}",
    "no_hit": "check-dump has no hit",
}
_UNITS = {SPEED: " steps/s", MEMORY: " B"}
Verdicts = Sequence[tuple[GateMetric, GateVerdict]]
Values = Mapping[tuple[str, ...], Sequence[RunValue]]


def line(metric: GateMetric, verdict: GateVerdict) -> str:
    """Return one line: both values, number of runs, interval, margin, and the reason."""
    return f"{metric.name}: {verdict.state}: {_numbers(metric, verdict)}{reason(verdict)}"


def reason(verdict: GateVerdict) -> str:
    """Return why the verdict is what it is."""
    run = verdict.run
    if run is None:
        return _WHY[verdict.reason].format(least=LEAST_RUNS)
    if verdict.reason == "not_finite":
        if math.isfinite(run.value) or run.first_bad >= 0:
            return f"{run.run} has {run.bad:,} NaN or Inf, the first at step {run.first_bad:,}"
        return f"{run.run} is {run.value}"
    ended = "a file ends within a record" if run.incomplete else f"it ended at step {run.last_step:,}"
    value = f"{run.value:,.0f}" if verdict.reason == "hits" else str(run.value)
    return _WHY[verdict.reason].format(run=run.run, missing=run.missing, value=value, ended=ended, source=run.source or "none")


def _numbers(metric: GateMetric, verdict: GateVerdict) -> str:
    if metric.measure == DUMP:
        return ""
    unit = _UNITS.get(metric.measure, "")
    mine, theirs = (_number(value, unit) for value in (verdict.candidate, verdict.baseline))
    said = f"{mine} ({_runs(verdict.runs)}) against {theirs} ({_runs(verdict.baseline_runs)}), {metric.gate.better} is better"
    if math.isnan(verdict.difference):
        return f"{said}; "
    said += f"; difference {verdict.difference:+.6g}{unit}"
    if not math.isnan(verdict.low):
        level = f"{100 * (1 - metric.gate.alpha):.6g} %"
        test = "Yuen" if metric.gate.robust else "Welch"
        said += f", interval {verdict.low:+.6g} to {verdict.high:+.6g} ({test}, {level} one-sided)"
    share = metric.gate.margin
    of = f" ({100 * share.size:.6g} % of the baseline)" if share is not None and share.relative else ""
    return f"{said}, margin {_number(verdict.margin, unit)}{of}: "


def _number(value: float, unit: str) -> str:
    return "unknown" if math.isnan(value) else f"{value:.6g}{unit}"


def _runs(count: int) -> str:
    return f"{count:,} {'run' if count == 1 else 'runs'}"


def as_json(verdicts: Verdicts, values: Values, baseline: Values, code: int) -> bytes:
    """Return the verdicts and the value of every run as JSON; what is not finite is NaN, Infinity or -Infinity as text."""
    found = {"exit_code": code, "metrics": [_metric_json(one, verdict, values, baseline) for one, verdict in verdicts]}
    return msgspec.json.format(msgspec.json.encode(found)) + b"\n"


def _metric_json(metric: GateMetric, verdict: GateVerdict, values: Values, baseline: Values) -> dict[str, Any]:
    gate = metric.gate
    numbers = ("candidate", "baseline", "margin", "difference", "low", "high", "freedom")
    return {
        "metric": metric.name, "measure": metric.measure, "tag": metric.tag, "value": metric.value, "better": gate.better,
        "state": verdict.state, "reason": verdict.reason, "text": reason(verdict), "alpha": gate.alpha, "robust": gate.robust,
        **{name: _known(getattr(verdict, name)) for name in numbers}, "run": verdict.run.run if verdict.run else "",
        "runs": [_run_json(one) for one in values[metric.key]],
        "baseline_runs": [_run_json(one) for one in baseline.get(metric.key, ())],
    }  # fmt: skip


def _run_json(one: RunValue) -> dict[str, Any]:
    return {
        "run": one.run, "value": _known(one.value) if not one.missing else None, "last_step": one.last_step, "bad": one.bad,
        "missing": one.missing,
    }  # fmt: skip


def _known(value: float) -> float | str:
    return value if math.isfinite(value) else "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def junit(verdicts: Verdicts) -> bytes:
    """Return a JUnit report: worse is a failure, what cannot be told an error."""
    states = [verdict.state for _, verdict in verdicts]
    counts = f'tests="{len(states)}" failures="{states.count(WORSE)}" errors="{states.count(CANNOT_TELL)}"'
    cases = "".join(_case(metric, verdict) for metric, verdict in verdicts)
    suite = f'<testsuite name="mindscope gate" {counts}>\n{cases}</testsuite>\n'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {counts}>\n{suite}</testsuites>\n'.encode("utf-8", "replace")


def _case(metric: GateMetric, verdict: GateVerdict) -> str:
    name, text = _xml(metric.name), _xml(line(metric, verdict))
    kind = {WORSE: "failure", CANNOT_TELL: "error"}.get(verdict.state, "system-out")
    message = "" if kind == "system-out" else f" message={quoteattr(text)}"
    return f'<testcase classname="mindscope.gate" name={quoteattr(name)}><{kind}{message}>{escape(text)}</{kind}></testcase>\n'


def _xml(text: str) -> str:
    return _NO_XML.sub("�", printable(text))
