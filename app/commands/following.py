"""Follows runs while they grow, and tells the facts that are new."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.commands.run_paths import sources_at
from layouts.kit.i18n import Text
from layouts.runs.digest import dump_texts, news_text, profile_texts
from parsers import Run, Series, Source
from parsers.analysis.curves.curve_digest import CurveDigest, CurveFact, curve_digest
from parsers.analysis.runs.run_digest import RunDigest, dump_of, fact_json, profiles_of
from parsers.analysis.runs.run_news import CurveNews, Standstill

RESCAN = 15.0
"""Seconds between two searches for runs that are new."""


@dataclass(frozen=True, slots=True)
class News:
    """Facts that arose together, and their texts."""

    facts: Sequence[CurveFact]
    texts: Sequence[Text]

    def as_json(self) -> list[dict[str, Any]]:
        """Return the facts as JSON holds them."""
        return list(map(fact_json, self.facts))


class _Curves:
    """The digests of the curves of one run or rank; those that did not grow are not computed again."""

    def __init__(self, run: Run, wanted: re.Pattern[str]) -> None:
        self._run, self._wanted = run, wanted
        self._known: dict[str, tuple[Series, CurveDigest]] = {}
        self._news = CurveNews()

    def all(self) -> tuple[CurveDigest, ...]:
        """Return the digests of all curves."""
        found = []
        for tag in self._run.tags("scalar"):
            if self._wanted.search(tag) and (series := self._run.series(tag)).step.size:
                known = self._known.get(tag)
                if known is None or not _same(known[0], series):
                    known = self._known[tag] = series, curve_digest(tag, series)
                found.append(known[1])
        return tuple(found)

    def news(self) -> list[CurveFact]:
        """Return the facts that are new."""
        return self._news.take(self.all())

    def extent(self) -> tuple[int, int | None]:
        """Return (number of points, newest step); None without points."""
        series = [self._run.series(tag) for tag in self._run.tags("scalar")]
        ends = [int(one.step[-1]) for one in series if one.step.size]
        return sum(one.step.size for one in series), max(ends, default=None)


class _FollowedRun:
    """A run with its ranks, and the facts printed so far."""

    def __init__(self, name: str, source: Source, wanted: re.Pattern[str], patience: float, now: float) -> None:
        self.name = name
        self._run, self._wanted = Run(source), wanted
        self._run.refresh(source)
        self._curves: dict[str, _Curves] = {}
        self._profiles: set[str] = set()
        self._dumped, self._cause = 0, ""
        self._looked = False
        self._standstill = Standstill(name, now, patience)

    def begin(self, now: float) -> RunDigest:
        """Return the digest; its facts are known from now on."""
        self._looked = True
        curves = self._parts()
        own = curves[0][1].all()
        profiles, dump = tuple(profiles_of(self._run)), dump_of(self._run) if self._has_dump() else None
        for _, part in curves:
            part.news()
        self._profiles = {one.name for one in profiles}
        if dump is not None:
            self._dumped, self._cause = dump.tensors, repr(list(dump.facts()))
        self._look_at_steps(now)
        ranks = tuple(RunDigest(rank.name, found) for rank, part in curves[1:] if (found := part.all()))
        return RunDigest(self._run.name, own, profiles, dump, ranks)

    def look(self, now: float) -> Iterator[News]:
        """Read what was added, and return what is new."""
        if self._run.refresh() or not self._looked:
            self._looked = True
            facts = [fact for _, part in self._parts() for fact in part.news()]
            if facts:
                yield News(facts, [news_text(fact) for fact in facts])
            yield from self._look_at_profiles()
            yield from self._look_at_dump()
        still = self._look_at_steps(now)
        if still is not None:
            yield News([still], [news_text(still)])

    def _parts(self) -> list[tuple[Run, _Curves]]:
        runs = (self._run, *self._run.ranks)
        return [(run, self._curves.setdefault(run.path, _Curves(run, self._wanted))) for run in runs]

    def _look_at_steps(self, now: float) -> CurveFact | None:
        extents = [part.extent() for _, part in self._parts()]
        newest = max((step for _, step in extents if step is not None), default=None)
        return self._standstill.look(now, sum(points for points, _ in extents), newest)

    def _look_at_profiles(self) -> Iterator[News]:
        if len(self._run.profile) == len(self._profiles):
            return
        for one in profiles_of(self._run):
            if one.name not in self._profiles:
                self._profiles.add(one.name)
                yield News(list(one.facts()), profile_texts(one))

    def _look_at_dump(self) -> Iterator[News]:
        if not self._has_dump() or len(self._run.dump.tensors) == self._dumped:
            return
        dump = dump_of(self._run)
        facts = list(dump.facts())
        before, self._dumped, self._cause = self._cause, dump.tensors, repr(facts)
        if dump.cause is not None and self._cause != before:
            yield News(facts, dump_texts(dump))

    def _has_dump(self) -> bool:
        return bool(self._run.kinds().get("dump"))


class FollowedRuns:
    """Runs at and below paths, those that appear later included."""

    def __init__(self, paths: Sequence[str], wanted: re.Pattern[str], patience: float) -> None:
        self._paths, self._wanted, self._patience = paths, wanted, patience
        self._runs: dict[str, _FollowedRun] = {}
        self._scan_at = 0.0

    def begin(self, now: float) -> Iterator[tuple[str, RunDigest]]:
        """Return the digest of each run."""
        for one in self._scan(now):
            yield one.name, one.begin(now)

    def look(self, now: float) -> Iterator[tuple[str, News]]:
        """Return what is new; of a run that appeared, all that a digest marks."""
        if now >= self._scan_at:
            self._scan(now)
        for one in self._runs.values():
            for news in one.look(now):
                yield one.name, news

    def _scan(self, now: float) -> list[_FollowedRun]:
        self._scan_at = now + RESCAN
        fresh = [(name, source) for name, source in sources_at(self._paths, "RUN") if source.real_path not in self._runs]
        found = [_FollowedRun(name, source, self._wanted, self._patience, now) for name, source in fresh]
        self._runs |= {source.real_path: one for (_, source), one in zip(fresh, found, strict=True)}
        return found


def _same(one: Series, other: Series) -> bool:
    """Return whether a series is still that of an earlier look: as long, and with the same end."""
    return one is other or all(
        before.size == now.size and before[-1:].tobytes() == now[-1:].tobytes()
        for before, now in ((one.step, other.step), (one.value, other.value), (one.wall_time, other.wall_time))
    )
