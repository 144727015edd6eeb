"""The card with the three figures of how far a profile uses its hardware, for the pages that show it.

A page puts `stores` and `use_card` into its layout, and calls `register_use`; the settings are typed in the browser
(assets/profiles/efficiency.js) and kept in the state under the keys of `layouts.profiles.efficiency.SETTINGS`.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from dash import Input, Output, State, dcc, html, no_update
from parsers.analysis.profiles.efficiency import KNOWN, DevicePeak, KnownDevice
from parsers.analysis.profiles.efficiency.figures import Doubt

from layouts.kit import units as fmt
from layouts.kit.callbacks import in_browser
from layouts.kit.i18n import attributes, both, t
from layouts.kit.page import Ids
from layouts.kit.plain_html import still
from layouts.profiles.efficiency import SETTINGS, Efficiency, EfficiencyRequest, MeasuredProfiles
from layouts.profiles.efficiency_texts import TEXTS
from layouts.profiles.links import address
from layouts.sources import ProfileSources

OF_USE = tuple(name for name in SETTINGS if name != "bandwidth")
"""Settings in the card of the three figures."""
NEEDED = tuple(TEXTS)
"""Text keys for the page's scripts."""


def stores(ids: Ids) -> list[Any]:
    """The components that ask for the figures, and again while files are read."""
    return [dcc.Store(id=ids("use-ask")), dcc.Store(id=ids("use-again"))]


def use_card(ids: Ids, settings: Sequence[str] = OF_USE, below: Sequence[Any] = ()) -> html.Section:
    """The card, without data. settings are those that the page uses; below is what follows them."""
    head = html.Header(
        [
            html.H3(t("efficiency.use"), className="ms-card-title"), html.Span(className="ms-card-badges"),
            html.Span(csv_link("figures"), className="ms-card-tools"),
        ],
        className="ms-card-head",
    )  # fmt: skip
    fields = html.Div(
        className="ms-efficiency-settings", role="group", **{"data-settings": " ".join(settings)},
        **attributes(aria_label="efficiency.settings"),
    )  # fmt: skip
    inside = [html.Div(id=ids("use"), className="ms-efficiency-figures"), fields]
    fold = html.Details(
        [html.Summary(t("efficiency.nothing")), html.Div(inside)], id=ids("use-fold"), open=False,
        className="ms-efficiency-fold",
    )  # fmt: skip
    body = html.Div([fold, *below], className="ms-card-body")
    return html.Section([head, body], className="ms-card ms-efficiency-use", tabIndex=-1)


def csv_link(table: str) -> html.A:
    """A link to a table as CSV; the browser fills in its address."""
    return html.A(
        "CSV", className="ms-button ms-button-small", download="", **{"data-efficiency-csv": table},
        **attributes(title="efficiency.csv", aria_label="efficiency.csv"),
    )  # fmt: skip


Draw = Callable[[Efficiency, Any], tuple[Any, ...]]
"""(use of the hardware, request from the browser) -> what further outputs of a page show."""


def register_use(
    app: Any, source: ProfileSources, ids: Ids, outputs: Sequence[Any] = (), draw: Draw | None = None, *,
    kept: MeasuredProfiles | None = None,
) -> None:  # fmt: skip
    """Add the callbacks of the card, and those of further outputs of the page, which are drawn from the same request.

    A page without any links to the one that has more.
    """
    known = kept or MeasuredProfiles()

    def show(data: Any) -> tuple[Any, ...]:
        ask = EfficiencyRequest.read_any(data)
        if ask is None:
            return (no_update,) * (3 + len(outputs))
        found = Efficiency(source, ask, known)
        if found.waits():
            waiting = html.P(t("efficiency.reading"), className="ms-muted")
            return still([waiting]), no_update, time.time(), *(no_update for _ in outputs)
        more = [] if outputs else [on_operators(found)]
        unfolded = is_known(found) or bool(ask.settings)
        return still([*figures(found), *more]), unfolded, 0, *(draw(found, data) if draw is not None else ())

    app.callback(
        Output(ids("use"), "children"), Output(ids("use-fold"), "open"), Output(ids("use-again"), "data"), *outputs,
        Input(ids("use-ask"), "data"),
        prevent_initial_call=True,
    )(show)  # fmt: skip
    call = in_browser(app, "mindscope_efficiency")
    root = State(ids("root"), "id")
    call(
        "plan", Output(ids("use-ask"), "data"), Input(ids("ask"), "data"), Input(ids("state"), "data"), root,
        prevent_initial_call=True,
    )  # fmt: skip
    call("again", Input(ids("use-again"), "data"), root, prevent_initial_call=True)


def on_operators(found: Efficiency) -> html.P:
    """A link to the cards on the operators page, with the settings."""
    settings = {name: f"{value / SETTINGS[name]:.15g}" for name, value in found.ask.settings}
    return html.P(html.A(t("efficiency.on_operators"), **address("operators", found.ask.choice, **settings)))


def is_known(found: Efficiency) -> bool:
    """Return whether one of the three figures is known, or one was given that cannot be right."""
    return any(not math.isnan(value) for value in (found.achieved.per_s, found.share, found.mfu)) or bool(found.doubts)


def figures(found: Efficiency) -> list[Any]:
    """Return the three figures, each with what it is from or what it needs, why there is no peak, and what cannot be right."""
    achieved, peak = found.achieved, found.peak
    first = _figure("achieved", rate(achieved.per_s), [_achieved_from(found)])
    share = fmt.percent(found.share)
    second = _figure("share", share, [html.P(_share_of(found))])
    third = _figure("mfu", fmt.percent(found.mfu), [html.P(_mfu_of(found))])
    why = [] if peak.known else [peak_wanted(peak)]
    return [html.Div([first, second, third], className="ms-efficiency-row"), *why, *doubts(found)]


def _figure(name: str, value: str, notes: list[Any]) -> html.Div:
    shown = [html.Span(t(f"efficiency.{name}"), className="ms-efficiency-name"), html.Strong(value), *notes]
    return html.Div(shown, className=f"ms-efficiency-figure ms-efficiency-of-{name}")


def _achieved_from(found: Efficiency) -> html.P:
    if found.achieved.source == "summary":
        return html.P(t("efficiency.by_summary", rank=found.ask.choice.rank))
    known = found.measured
    if known is None:
        return html.P(t("efficiency.no_kernels"))
    if not known.counters.operations:
        return html.P(t("efficiency.no_operations"))
    if not found.achieved.source:
        return html.P(t("efficiency.no_counts"))
    return html.P(t(
        "efficiency.by_counters", operations=fmt.prefixed(known.operations, "FLOPs"), time=fmt.duration(known.counted_ns / 1e9),
        counted=fmt.count(known.counted), kernels=fmt.count(known.kernels), counters=", ".join(known.counters.operations),
    ))  # fmt: skip


def _share_of(found: Efficiency) -> Any:
    if not found.peak.known:
        return t("efficiency.needs_peak")
    english, chinese = source_of(found.peak)
    texts = both("efficiency.of_peak")
    said = [
        pattern.format(peak=rate(found.peak.matrix_per_s), source=source)
        for pattern, source in zip(texts, (english, chinese), strict=True)
    ]
    if not math.isnan(found.achieved.per_s):
        return in_both(*said)
    needs = both("efficiency.needs_achieved")
    return in_both(f"{said[0]}. {needs[0]}", f"{said[1]}。{needs[1]}")


def source_of(peak: DevicePeak) -> tuple[str, str]:
    """Return where a peak is from, in English and Chinese."""
    if peak.source == "table" and peak.device is not None:
        (pattern, in_chinese), (maker, maker_in_chinese) = both("efficiency.source.table"), maker_of(peak.device)
        name = peak.device.name
        return pattern.format(device=name, maker=maker), in_chinese.format(device=name, maker=maker_in_chinese)
    return both("efficiency.source.setting") if peak.source == "setting" else (peak.detail, peak.detail)


def maker_of(device: KnownDevice) -> tuple[str, str]:
    """Return who states the peak of a known device, in English and Chinese."""
    return both(f"efficiency.maker.{device.name.lower().replace(' ', '_')}")


def _mfu_of(found: Efficiency) -> Any:
    flops, how = found.model_flops
    lacks = {"model": math.isnan(flops), "peak": not found.peak.known, "step": math.isnan(found.step_ns)}
    missing = [name for name, lacking in lacks.items() if lacking]
    if missing:
        words = [both(f"efficiency.need.{name}") for name in missing]
        joints = both("efficiency.and")
        english, chinese = (_listed([word[at] for word in words], joints[at], (", ", "、")[at]) for at in (0, 1))
        texts = both("efficiency.needs")
        return in_both(texts[0].format(what=english), texts[1].format(what=chinese))
    count, from_ = found.devices
    devices, ways = both(f"efficiency.devices.{from_}", n=fmt.count(count)), both(f"efficiency.how.{how}")
    numbers = {
        "flops": fmt.prefixed(flops, "FLOPs"), "step": fmt.duration(found.step_ns / 1e9), "peak": rate(found.peak.matrix_per_s)
    }
    texts = both("efficiency.mfu_of")
    english, chinese = (texts[at].format(how=ways[at], devices=devices[at], **numbers) for at in (0, 1))
    return in_both(english, chinese)


def _listed(words: Sequence[str], joint: str, comma: str) -> str:
    return words[0] if len(words) == 1 else f"{comma.join(words[:-1])}{joint}{words[-1]}"


def peak_wanted(peak: DevicePeak) -> html.P:
    """Why there is no peak, and the known devices that it may be as buttons that set it."""
    chips = ", ".join(peak.chips)
    able = peak.candidates or (KNOWN if peak.reason == "unnamed" else ())
    buttons = [
        html.Button(
            f"{one.name} · {one.matrix_per_s / 1e12:g}", type="button", className="ms-button ms-button-small",
            **{"data-set": json.dumps({"peak": f"{one.matrix_per_s / 1e12:g}"})}, **_known(one),
        )
        for one in able
    ]  # fmt: skip
    return html.P([t(f"efficiency.peak.{peak.reason}", chips=chips), *buttons], className="ms-efficiency-ask")


def _known(device: KnownDevice) -> dict[str, Any]:
    makers = maker_of(device)
    english, chinese = both("efficiency.known", device=device.name, peak=rate(device.matrix_per_s), maker="{maker}")
    english, chinese = english.format(maker=makers[0]), chinese.format(maker=makers[1])
    return {"title": english, "data-en-title": english, "data-zh-title": chinese}


def doubts(found: Efficiency) -> list[Any]:
    """What cannot be right, as a list; empty if there is nothing."""
    if not found.doubts:
        return []
    listed = html.Ul([html.Li(said(one)) for one in found.doubts], className="ms-efficiency-doubts")
    return [html.Div(listed, role="status")]


def said(doubt: Doubt) -> Any:
    """A doubt as a sentence."""
    values = dict(doubt.values)
    key = f"efficiency.doubt.{doubt.key}"
    if "setting" in values:
        group = "half" if doubt.key == "half" else "setting"
        names = both(f"efficiency.{group}.{values.pop('setting')}")
        english, chinese = (pattern.format(setting=name, **values) for pattern, name in zip(both(key), names, strict=True))
        return in_both(english, chinese)
    written: dict[str, str] = {}
    for name, value in values.items():
        if name in ("peak", "per_s"):
            written["rate" if name == "per_s" else name] = rate(value)
        elif name in ("share", "mfu"):
            written[name] = fmt.percent(value)
        else:
            written[name] = fmt.count(value) if isinstance(value, int) else str(value)
    return t(key, **written)


def in_both(english: str, chinese: str) -> html.Span:
    """A span with a text in both languages, of which the page shows one."""
    if english == chinese:
        return html.Span(english)
    return html.Span(
        [html.Span(english, className="en", lang="en"), html.Span(chinese, className="zh", lang="zh-CN")], className="t"
    )


def rate(per_s: float) -> str:
    """Format operations per second: 12.3 TFLOPS."""
    return fmt.prefixed(per_s, "FLOPS")
