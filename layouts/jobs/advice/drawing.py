"""Advice as cards: a sentence, the time at stake, the threshold, the evidence rows, and a link to the page with details."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.jobs.advice import THRESHOLDS, Advice, Review
from parsers.analysis.jobs.advice.saved import FROM_SUMS
from parsers.analysis.jobs.replay.what_ifs import AT_MOST, BETWEEN
from parsers.deferred import pandas as pd

from layouts.jobs.advice.stage_card import NOT_COMPARED, what_differs
from layouts.jobs.advice.stage_kernels import ComparedStages
from layouts.kit import units as fmt
from layouts.kit.elements import icon
from layouts.kit.i18n import CATALOGUE, attributes, both, t
from layouts.kit.tables import Cell, TableColumn, table
from layouts.profiles.advising import quantity, sentence
from layouts.profiles.frames import NO_TRACE, IdleTime
from layouts.profiles.kernel_names import kernel_labels
from layouts.profiles.links import address, range_on_timeline
from layouts.profiles.profile_choice import ProfileChoice
from layouts.runs.symptoms.meanings import OF_ADVICE, meaning_link

_OTHER_UNITS = {"interval": ("ms", 1e6), "retransmission": ("ms", 1e6), "contention": ("GB/s", 1e9)}
UNITS = {rule: _OTHER_UNITS.get(rule, ("%", 0.01)) for rule in THRESHOLDS}
"""Rule -> unit in which its threshold is shown and typed, and the size of that unit in the unit of THRESHOLDS."""
_OF_ASCEND = frozenset(("ai_cpu", "alignment", "retransmission"))
"""Rules about what GPUs do not have: AI CPU, and what HCCL counts of transfers."""
_OF_MEMORY = frozenset(("memory", "leak"))
_HINTS = ("batch", "map", "generator")
SAME = 0.02
"""Two savings are the same to a reader if they differ by less than this part of the larger one."""
_NONE = -1
_IN_FUNCTION = re.compile(r"(.*\.py): (.*)")
_UNKNOWN = {"unread": "advice.unread", "reading": "advice.reading", "none": "profiling.idle.none", "ready": "advice.no_steps"}
"""State of idle time -> why the rule about gaps was not checked."""
_NUMBERS = frozenset(("rank", "stage", "step", "since", "allocated_bytes", "reserved_bytes"))
"""Columns in which -1 stands for unknown."""
_PARTS = frozenset(("queue_use", "queue_empty", "user", "system", "io", "idle"))


def drawn(
    review: Review, thresholds: Mapping[str, float], choice: ProfileChoice | None, *, idle: IdleTime = NO_TRACE,
    traced: bool = False, capacity: float = 0.0, ranks: Mapping[int, ProfileChoice] = MappingProxyType({}),
    stages: ComparedStages = NOT_COMPARED, pending: Mapping[str, str] = MappingProxyType({}), torch: bool = False,
) -> list[Any]:
    """Return a card for each piece of advice, one of the rules that found nothing, and one of those that lack data.

    idle is what is known of gaps; with `traced`, evidence links to the timeline. capacity is the memory of the device as typed
    in, in GiB, 0 for none. ranks are the profiles of the job, to which evidence about ranks links. stages is what their
    operators differ in. pending are rules whose saving is not known, with the reason. torch: the profile is of torch.profiler,
    so no files of MindSpore are asked for, and nothing is said of cores that only Ascend has.
    """
    fields = _AdviceFields(thresholds, capacity)
    cards = [
        _card(one, fields, choice, idle, traced=traced, ranks=ranks, stages=stages, pending=pending.get(one.rule, ""))
        for one in review.found
    ]
    numbers = {"n": fmt.count(len(review.fine)), "total": fmt.count(len(THRESHOLDS))}
    none = "advice.none" if review.fine else "advice.none_checked"
    first = [html.P(t(none, **(numbers if review.fine else {})), className="ms-advice-none")] if not cards else []
    fine = [rule for rule in review.fine if not (torch and rule in _OF_ASCEND)]
    return [*first, *cards, _fine(fine, fields), _unchecked(review, choice, idle, fields, torch=torch)]


@dataclass(frozen=True, slots=True)
class _AdviceFields:
    """What can be typed in: the thresholds of the rules, and the memory of the device in GiB."""

    thresholds: Mapping[str, float]
    capacity: float


def _card(
    one: Advice, fields: _AdviceFields, choice: ProfileChoice | None, idle: IdleTime, *, traced: bool,
    ranks: Mapping[int, ProfileChoice], stages: ComparedStages, pending: str,
) -> html.Section:
    cost = html.Span(t(f"advice.pending.{pending}"), className="ms-badge ms-advice-pending") if pending else _cost(one)
    head = html.Header(
        [html.H3(t(f"advice.{one.rule}.title"), className="ms-card-title"), html.Span(cost, className="ms-card-badges")],
        className="ms-card-head",
    )
    hints = [html.Li(t(f"advice.do.{hint}")) for hint in _hints(one)]
    links = places(one, choice, idle) if traced and choice is not None else []
    evidence = _table(one, links, ranks)
    table = html.Details(
        [html.Summary(t("advice.evidence", n=fmt.count(len(one.evidence)))), *([] if pending else [_how(one)]), evidence],
        open=one.rule == "gaps",
    )
    links_on = [_link(one.page, choice), _meaning(one.rule, choice)]
    foot = html.Div(
        [_threshold(one.rule, fields), html.Span(links_on, className="ms-advice-links")], className="ms-advice-foot"
    )
    more = what_differs(stages) if one.rule == "stages" else []
    alone = [] if pending else _alone(one)
    body = html.Div([sentence(one), *alone, *more, html.Ul(hints), table, foot], className="ms-card-body")
    return html.Section([head, body], className="ms-card ms-advice-card", tabIndex=-1, **{"data-rule": one.rule})


def _hints(one: Advice) -> list[str]:
    """Names of the hints to show. For slow operations they depend on the operation's type, as in MindInsight."""
    if one.rule == "empty":
        return [f"empty_{one.subject[0]}"]
    if one.rule == "interval":
        return ["_".join(filter(None, ("interval", one.variant)))]
    if one.rule == "communication" and "moved" in one.parts_ns:
        hints = {"waited": "wait", "moved": "transit", "unexplained": "unexplained"}
        return [f"communication_{hints[max(hints, key=lambda part: one.parts_ns[part])]}"]
    if one.rule == "communication" and one.parts_ns:
        return [f"communication_{max(('transit', 'wait', 'idle'), key=lambda part: one.parts_ns[part])}"]
    if one.rule in ("fetching", "float32"):
        return [f"{one.rule}_{one.variant}"]
    if one.rule == "slow_rank":
        return [f"slow_rank_{one.variant.removeprefix('replica_')}"]
    if one.rule != "queue_use":
        return [one.rule]
    kinds = [next((hint for hint in _HINTS if hint in name.lower()), "reader") for name in one.subject]
    return list(dict.fromkeys(kinds))


def _cost(one: Advice) -> Any:
    if math.isnan(one.cost_ns):
        return html.Span(t("advice.cost_unknown"), className="ms-badge")
    if one.cost_ns == 0.0 and math.isnan(one.alone_ns):
        return html.Span(t("advice.cost_nothing"), className="ms-badge")
    alone = one.cost_ns if math.isnan(one.alone_ns) else max(one.alone_ns, 0.0)
    times = {"time": fmt.duration(alone * 1e-9)}
    key = {AT_MOST: "advice.cost_at_most", FROM_SUMS: "advice.cost_sums"}.get(one.bound, "advice.cost")
    if one.bound == BETWEEN:
        key, times = "advice.cost_between", times | {"most": fmt.duration(one.most_ns * 1e-9)}
    said = t(key, **times)
    if not _differs(one):
        return html.Span(said, className="ms-badge ms-advice-cost")
    shown = [html.Span([t("advice.alone"), " ", said], className="ms-badge ms-advice-cost")]
    if one.cost_ns > SAME * alone:
        more = "advice.together_at_most" if one.bound == AT_MOST else "advice.together"
        shown.append(html.Span(t(more, time=fmt.duration(one.cost_ns * 1e-9)), className="ms-badge"))
    return shown


def _alone(one: Advice) -> list[Any]:
    """Say what a cause saves together with those above it where that differs from what it saves alone; or that no replay tells.
    """
    if one.bound == FROM_SUMS:
        return [html.P(t("advice.saves_sums"), className="ms-muted")]
    alone = max(one.alone_ns, 0.0)
    if not _differs(one):
        return []
    more = "nothing" if one.cost_ns <= SAME * alone else "more" if one.cost_ns > alone else "less"
    times = {"alone": fmt.duration(alone * 1e-9), "adds": fmt.duration(one.cost_ns * 1e-9)}
    return [html.P(t(f"advice.saves_{more}", **times), className="ms-muted")]


def _how(one: Advice) -> html.P:
    """Say how the saving was computed."""
    by_replay = math.isfinite(one.alone_ns)
    way = "unknown" if math.isnan(one.cost_ns) else "replay" if by_replay else "sums" if one.bound == FROM_SUMS else "recorded"
    return html.P(t(f"advice.how.{way}"), className="ms-muted")


def _differs(one: Advice) -> bool:
    """Return whether a cause saves alone something else than together with those above it."""
    return math.isfinite(one.alone_ns) and abs(one.cost_ns - max(one.alone_ns, 0.0)) > SAME * max(one.cost_ns, one.alone_ns)


def _fine(rules: Sequence[str], fields: _AdviceFields) -> Any:
    lines = [html.Li([html.Span(t(f"advice.{rule}.title")), _threshold(rule, fields)]) for rule in rules]
    return _rules("fine", lines)


def _unchecked(review: Review, choice: ProfileChoice | None, idle: IdleTime, fields: _AdviceFields, *, torch: bool) -> Any:
    joints = both("advice.or")
    lines = []
    for rule, files in review.unchecked.items():
        if torch and rule in _OF_ASCEND:
            continue
        reason: Any
        if rule in review.reasons:
            field = [_capacity(fields.capacity)] if review.reasons[rule] == "no_capacity" else []
            reason = html.Span([t(f"advice.reason.{review.reasons[rule]}"), *field], className="ms-muted")
        elif rule == "gaps" and idle.state != "missing":
            link = html.A(t("profiling.idle.read"), **address("timeline", choice)) if choice and idle.state == "unread" else ""
            reason = html.Span([t(_UNKNOWN[idle.state]), " ", link],
                               className="ms-muted")  # fmt: skip
        elif torch:
            reason = html.Span(t("advice.torch_memory" if rule in _OF_MEMORY else "advice.torch"), className="ms-muted")
        else:
            english, chinese = (pattern.format(files=joint.join(files)) for pattern, joint in
                                zip(both("advice.missing"), joints, strict=True))  # fmt: skip
            texts = [html.Span(english, className="en", lang="en"), html.Span(chinese, className="zh", lang="zh-CN")]
            reason = html.Span(texts, className="t ms-muted")
        lines.append(html.Li([html.Span(t(f"advice.{rule}.title")), reason]))
    return _rules("unchecked", lines)


def _rules(state: str, lines: Sequence[html.Li]) -> Any:
    """A card of rules in one state; None without any."""
    if not lines:
        return None
    return html.Section(
        [
            html.Header(html.H3(t(f"advice.{state}"), className="ms-card-title"), className="ms-card-head"),
            html.Ul(list(lines), className="ms-card-body ms-advice-quiet"),
        ],
        className="ms-card", tabIndex=-1, **{"data-state": state},
    )  # fmt: skip


def _threshold(rule: str, fields: _AdviceFields) -> Any:
    """The input for a rule's threshold, and for the memory of the device where the rule needs it."""
    unit, scale = UNITS[rule]
    usual = f"{THRESHOLDS[rule] / scale:.10g}"
    field = _field(rule, f"{fields.thresholds[rule] / scale:.10g}", usual, unit, f"advice.{rule}.rule", f"advice.{rule}.title")
    return html.Span([field, _capacity(fields.capacity)], className="ms-advice-fields") if rule == "memory" else field


def _capacity(gib: float) -> html.Label:
    return _field("capacity", f"{gib:.10g}" if gib else "", "", "GiB", "advice.capacity", "advice.capacity")


def _field(name: str, shown: str, usual: str, unit: str, text: str, label: str) -> html.Label:
    """An input for a number in the state; assets/jobs/advice/page.js writes changes to it."""
    field = html.Span(
        className="ms-advice-field", **{"data-rule": name, "data-value": shown, "data-usual": usual},
        **attributes(aria_label=label),
    )  # fmt: skip
    return html.Label([html.Span(t(text), className="ms-muted"), field, html.Span(unit, className="ms-muted")],
                      className="ms-advice-threshold")  # fmt: skip


def _link(page: str, choice: ProfileChoice | None) -> Any:
    return None if choice is None else html.A(t(f"advice.open.{page}"), **address(page, choice))


def _meaning(rule: str, choice: ProfileChoice | None) -> Any:
    """Return the way to the symptom that the rule is a sign of."""
    return None if choice is None else html.A(t("symptoms.meaning"), **meaning_link(OF_ADVICE[rule], choice.run))


def places(one: Advice, choice: ProfileChoice, idle: IdleTime) -> list[Mapping[str, Any]]:
    """The place of each row of evidence on the timeline: a gap, a step, or the first slice of a name; empty if it has none."""
    names = set(one.evidence.columns)
    rows = one.evidence.to_dict("records")
    if one.rule == "gaps" and idle.idle is not None:
        stream = idle.idle.track
        return [range_on_timeline(choice, row["start_ns"], row["duration_ns"], by="gaps", stream=stream) for row in rows]
    if one.page in ("cluster", "memory") or "rank" in names:
        return []
    if "name" in names and one.page != "preparation":
        return [address("timeline", choice, first=row["name"]) for row in rows]
    if "step" in names and one.page == "steps":
        return [address("timeline", choice, step=int(row["step"])) for row in rows]
    return []


def _table(one: Advice, links: Sequence[Mapping[str, Any]], ranks: Mapping[int, ProfileChoice]) -> Any:
    """The evidence rows of the frame as a table: times with a unit, fractions in percent, columns without values left out.

    links: the attributes of a link to the timeline for each row; empty for none. ranks: profiles to which ranks link.
    """
    rows = one.evidence
    hidden = ("start_ns", "stack") if one.rule == "gaps" else ()
    shown = [str(name) for name in rows.columns if name not in hidden and not _blank(rows[name])]
    labels = kernel_labels(rows["name"].astype(str)) if "name" in shown else {}
    body = [
        (*(_named(row[name], labels) if name == "name" else _cell(name, row, ranks) for name in shown), *_place(links, number))
        for number, row in enumerate(rows.to_dict("records"))
    ]
    columns = [*(TableColumn(_heading(one.rule, name)) for name in shown), *([TableColumn("")] if links else [])]
    return table(columns, body, class_name="", scroll="ms-advice-rows", heads=0)


def _blank(values: pd.Series) -> bool:
    return bool((values.isna() | values.astype("object").isin([_NONE, ""])).all())


def _place(links: Sequence[Mapping[str, Any]], number: int) -> list[Cell]:
    if not links:
        return []
    text = attributes(title="advice.timeline", aria_label="advice.timeline")
    return [Cell(icon("timeline"), link={"className": "ms-button ms-button-icon", **links[number], **text})]


def _heading(rule: str, name: str) -> str:
    own = f"advice.column.{rule}.{name}"
    return own if own in CATALOGUE else f"advice.column.{name}"


def _named(name: Any, labels: Mapping[str, str]) -> Any:
    label = labels[str(name)]
    return label if label == name else html.Span(label, title=name)


def _cell(name: str, row: Mapping[Any, Any], ranks: Mapping[int, ProfileChoice]) -> Any:
    value = row[name]
    if name in ("rank", "source", "target") and value in ranks:
        return html.A(str(value), **address("profile_overview", ranks[value]), **attributes(title="advice.rank"))
    if name == "why":
        return t(f"advice.why.{value}")
    if name == "site" and row["stack"]:
        return _folded(_in_program(value), row["stack"].split("\n"))
    if name == "stack":
        return _stack(str(value))
    if name == "cause":
        return t(f"timeline.cause.{value}")
    if isinstance(value, str):
        return value
    if not np.isfinite(value) or (value == _NONE and name in _NUMBERS):
        return "–"
    if name.endswith(("_ns", "_bytes", "_share", "bandwidth")):
        return quantity(name, float(value))
    if name in _PARTS:
        return fmt.percent(value)
    return fmt.count(int(value)) if float(value).is_integer() else fmt.number(float(value))


def _stack(text: str) -> Any:
    """A call stack below its first line in a file of the program itself, as libraries call the operator."""
    lines = [line.strip().rstrip(";") for line in text.splitlines() if line.strip()]
    if not lines:
        return "–"
    own = next((line for line in lines if _is_own(line)), lines[0])
    return _folded(_in_program(own), lines)


def _in_program(site: str) -> Any:
    """Return a line of the program; of one that is not known the function."""
    found = _IN_FUNCTION.fullmatch(site)
    return t("advice.in_function", function=found[2], file=found[1]) if found is not None else site or "–"


def _folded(summary: Any, lines: Sequence[str]) -> html.Details:
    return html.Details([html.Summary(summary), html.Pre("\n".join(lines))], className="ms-advice-stack")


def _is_own(line: str) -> bool:
    """Return whether a line of a stack is of a file of the program; torch leaves out where its own package lies."""
    return ".py" in line and not line.startswith(_PACKAGES) and not any(part in line for part in _LIBRARIES)


_LIBRARIES = ("site-packages", "dist-packages", "/lib/python", "<frozen", "<built-in")
_PACKAGES = ("torch/", "torch_npu/", "mindspore/", "transformers/", "multiprocessing/", "nn.Module")
