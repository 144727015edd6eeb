"""A run in words: its curves, profiles and dump as sentences in both languages, from the facts of `Run.digest`."""

from __future__ import annotations

import math
from collections.abc import Iterable

from parsers.analysis.curves.curve_digest import CurveDigest, CurveFact, insight_fact
from parsers.analysis.curves.insights.finding import FEWEST
from parsers.analysis.runs.run_digest import MOST_ADVICE, DumpDigest, ProfileDigest, RunDigest
from parsers.analysis.runs.run_news import NO_STEP

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import alternative, joined
from layouts.kit.i18n import Text, both, define_texts

define_texts({
    "digest.fell": ("{tag} fell from {first} to {last}", "{tag} 由 {first} 降至 {last}"),
    "digest.rose": ("{tag} rose from {first} to {last}", "{tag} 由 {first} 升至 {last}"),
    "digest.same": ("{tag} ends at {last}, where it began", "{tag} 末值为 {last}，与首值相同"),
    "digest.one": ("{tag} has one value, {last}", "{tag} 只有一个值 {last}"),
    "digest.no_value": ("{tag} has no finite value in {n} points", "{tag} 的 {n} 个数据点中没有有限值"),
    "digest.best": (" (best {value} at {step})", "（最优 {value}，步骤 {step}）"),
    "digest.range": (" (from {low} to {high})", "（介于 {low} 与 {high} 之间）"),
    "digest.last": ("last value {value} at {step}", "末值 {value}（步骤 {step}）"),
    "digest.non_finite": ("first {value} at {step}, {n} not finite", "步骤 {step} 首次出现 {value}，共 {n} 个非有限值"),
    "digest.divergence": ("diverges since {step}", "自步骤 {step} 起发散"),
    "digest.unmoved": ("never moves", "从未变化"),
    "digest.overfitting": ("gets worse since {step}", "自步骤 {step} 起变差"),
    "digest.frozen": ("frozen at {value} from {step} to {last}", "步骤 {step} 至 {last} 停在 {value}"),
    "digest.stall": ("no record for {value} after {step}", "步骤 {step} 之后 {value} 没有记录"),
    "digest.spike": ("spike to {value} at {step}", "步骤 {step} 处有尖峰 {value}"),
    "digest.shift": ("jump from {usual} to {value} at {step}", "步骤 {step} 处由 {usual} 跳至 {value}"),
    "digest.oscillation": ("oscillates since {step}", "自步骤 {step} 起振荡"),
    "digest.noisier": ("noise grows since {step}", "噪声自步骤 {step} 起增大"),
    "digest.slower": (
        "steps take {value} instead of {usual} since {step}", "自步骤 {step} 起单步耗时由 {usual} 变为 {value}",
    ),
    "digest.speed": ("speed falls since {step}", "速度自步骤 {step} 起下降"),
    "digest.plateau": ("plateau since {step}", "自步骤 {step} 起为平台期"),
    "digest.gap": ("gap of {value} steps after {step}", "步骤 {step} 之后缺 {value} 步"),
    "digest.frozens": ("{n} frozen stretches (longest from {step} to {last})", "{n} 段冻结（最长为步骤 {step} 至 {last}）"),
    "digest.spikes": ("{n} spikes (largest {value} at {step})", "{n} 处尖峰（最大 {value}，步骤 {step}）"),
    "digest.gaps": (
        "{n} gaps (largest of {value} steps after {step})", "{n} 处缺步（最大 {value} 步，在步骤 {step} 之后）",
    ),
    "digest.several": ("{n} times: {said}", "{n} 处：{said}"),
    "digest.nothing": ("nothing stands out", "未见异常"),
    "digest.not_judged": (
        "not judged: that takes {n} points, it has {points}", "未判定：需要 {n} 个数据点，现有 {points} 个",
    ),
    "digest.no_match": ("None of its {n} tags is one of those asked for.", "{n} 个标量标签均不在所选范围内。"),
    "digest.restart": ("1 restart at {step}", "1 次重启（步骤 {step}）"),
    "digest.restarts": ("{n} restarts, the first at {step}", "{n} 次重启，首次在步骤 {step}"),
    "digest.steps_per_second": ("{speed} steps/s", "{speed} 步/秒"),
    "digest.named": ("{name}: {said}", "{name}：{said}"),
    "digest.no_steps": ("The profile has no step trace.", "该性能数据没有迭代轨迹。"),
    "digest.no_advice": ("{n} rules found nothing.", "{n} 条规则均未发现问题。"),
    "digest.advice_not_judged": ("No rule of the advice has the data that it needs.", "各条建议规则均缺少所需数据。"),
    "digest.more_advice": ("{n} more on the page Advice.", "另有 {n} 条，见“调优建议”页面。"),
    "digest.dump_fine": "common.no_bad_values",
    "digest.dump_unknown": ("{n} of {total} dumped tensors could not be judged.", "{total} 个 Dump 张量中有 {n} 个无法判定。"),
    "digest.empty": ("Neither scalars nor a profile nor a dump.", "没有标量、性能数据或 Dump 数据。"),
    "digest.restarted": ("restart at {step}", "在步骤 {step} 重启"),
    "digest.no_step": ("no new step for {time} after step {step}", "步骤 {step} 之后已有 {time} 没有新步骤"),
})  # fmt: skip
_TOGETHER = {"spike": "spikes", "gap": "gaps", "frozen": "frozens"}
_TIMES = ("stall", "slower")


def digest_texts(digest: RunDigest) -> list[Text]:
    """Return the sentences about a run, one for each curve, then those of profiles and of the dump; ranks are left out."""
    found = [curve_text(one) for one in digest.curves]
    for profile in digest.profiles:
        found += profile_texts(profile)
    if digest.dump is not None:
        found += dump_texts(digest.dump)
    if found or digest.ranks:
        return found
    return [both("digest.no_match", n=fmt.count(digest.unmatched)) if digest.unmatched else both("digest.empty")]


# Curves --------------------------------------------------------------------------------------------------------------


def curve_text(curve: CurveDigest) -> Text:
    """Return what a curve does in one sentence."""
    parts = [_course(curve)]
    if not math.isfinite(curve.final.last) and curve.first_step >= 0:
        parts.append(both("digest.last", value=fmt.number(curve.final.last), step=fmt.count(curve.final.last_step)))
    parts += _insights(map(insight_fact, curve.insights))
    if not curve.judged:
        parts.append(both("digest.not_judged", n=fmt.count(FEWEST), points=fmt.count(curve.final.points)))
    elif not curve.insights:
        parts.append(both("digest.nothing"))
    if curve.restarts:
        key = "digest.restart" if curve.restarts == 1 else "digest.restarts"
        parts.append(both(key, n=fmt.count(curve.restarts), step=fmt.count(curve.restarted)))
    if curve.speed is not None:
        parts.append(both("digest.steps_per_second", speed=fmt.number(1.0 / curve.speed.seconds, 3)))
    return alternative(joined(parts))


def _course(curve: CurveDigest) -> Text:
    end = curve.final
    values = {"tag": curve.tag, "n": fmt.count(end.points), "first": fmt.number(curve.first), "last": fmt.number(end.finite)}
    if curve.first_step < 0:
        return both("digest.no_value", **values)
    if end.points == 1:
        return both("digest.one", **values)
    key = "fell" if end.finite < curve.first else "rose" if end.finite > curve.first else "same"
    said = both(f"digest.{key}", **values)
    if end.best_step >= 0:
        more = both("digest.best", value=fmt.number(end.best), step=fmt.count(end.best_step))
    else:
        more = both("digest.range", low=fmt.number(curve.low), high=fmt.number(curve.high))
    return said[0] + more[0], said[1] + more[1]


def _insights(found: Iterable[CurveFact]) -> list[Text]:
    """Return a short text for each kind of insight of one curve; several of a kind are one, with the largest."""
    kinds: dict[str, list[CurveFact]] = {}
    for one in found:
        kinds.setdefault(one.kind, []).append(one)
    return [_kind(kind, several) for kind, several in kinds.items()]


def _kind(kind: str, found: list[CurveFact]) -> Text:
    largest = max(found, key=lambda one: abs(one.value - one.usual) if kind == "spike" else one.measured)
    if len(found) > 1 and kind in _TOGETHER:
        return both(f"digest.{_TOGETHER[kind]}", **{**_values(largest), "n": fmt.count(len(found))})
    said = both(f"digest.{kind}", **_values(largest))
    if len(found) == 1:
        return said
    english, chinese = (
        pattern.format(n=fmt.count(len(found)), said=text) for pattern, text in zip(both("digest.several"), said, strict=True)
    )
    return english, chinese


def _values(one: CurveFact) -> dict[str, str]:
    number = fmt.duration if one.kind in _TIMES else fmt.number
    value = fmt.count(int(one.value)) if one.kind == "gap" else number(one.value)
    return {
        "value": value, "usual": number(one.usual), "step": fmt.count(one.step), "last": fmt.count(one.last_step),
        "n": fmt.count(one.points),
    }  # fmt: skip


def news_text(fact: CurveFact) -> Text:
    """Return a fact that arose while a run was followed: an insight, a restart, or that no step was recorded."""
    if fact.kind == NO_STEP:
        step = fmt.UNKNOWN if fact.step is None else fmt.count(fact.step)
        said = both("digest.no_step", time=fmt.duration(fact.value), step=step)
    elif fact.kind == "restarts":
        said = _named(fact.name, both("digest.restarted", step=fmt.count(fact.step)))
    else:
        said = _named(fact.name, _kind(fact.kind, [fact]))
    return said


# Profiles and dumps --------------------------------------------------------------------------------------------------


def profile_texts(profile: ProfileDigest) -> list[Text]:
    """Return step time with its parts, and the first pieces of advice."""
    from layouts.profiles.advising import text as advice_text  # most runs have no profile, and its pages import much
    from layouts.profiles.composition import sentence_texts

    found = [both("digest.no_steps") if profile.usual is None else sentence_texts(profile.usual)]
    found += [advice_text(one) for one in profile.review.found[:MOST_ADVICE]]
    left = len(profile.review.found) - MOST_ADVICE
    if left > 0:
        found.append(both("digest.more_advice", n=fmt.count(left)))
    elif not profile.review.found and profile.review.fine:
        found.append(both("digest.no_advice", n=fmt.count(len(profile.review.fine))))
    elif not profile.review.found:
        found.append(both("digest.advice_not_judged"))
    return [_named(profile.name, one) for one in found]


def _named(name: str, said: Text) -> Text:
    english, chinese = (
        pattern.format(name=name, said=text) for pattern, text in zip(both("digest.named"), said, strict=True)
    )
    return english, chinese


def dump_texts(dump: DumpDigest) -> list[Text]:
    """Return the first cause of bad values, or that there are none, and what could not be judged."""
    from layouts.dumps.causes import cause

    known = dump.tensors - dump.unknown
    found = [] if dump.cause is None else [cause(dump.cause, ranks=dump.ranks)]
    if dump.cause is None and known:
        found.append(both("digest.dump_fine", n=fmt.count(known)))
    if dump.unknown:
        found.append(both("digest.dump_unknown", n=fmt.count(dump.unknown), total=fmt.count(dump.tensors)))
    return found
