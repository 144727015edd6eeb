"""What slices of a device may have waited for: their launch, the stream, other streams; and what repeated steps rule out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.gaps import Gaps, steps

NEAR = 20_000
"""ns between an end and what it releases: what a device takes to begin."""
_QUANTILE = 0.1
_SLACK, _RELATIVE = 1_500, 0.1
"""What took longer than in its quickest step by this (ns; launches also a share of it) was not what was waited for."""
_EVENT = 5_000
"""ns from the end of a slice to the begin of one of another stream that waited for it, where waits are not recorded."""
_STEADY = 5_000
"""ns by which delays of launches differ at most if the usual one tells when a launch arrived."""
_RECORDED = ("Stream Wait Event", "EVENT_WAIT", "Notify_Wait", "Notify Wait")
_MOST_STEPS = 64
_LOOK = 256
FULL = 1_000
"""Launches that have not begun, from which on the queue of a device is full (CUDA holds 1,022), and calls wait for it."""
_FORWARD = "fwdbwd"
"""Arrows from an operator to its gradient, which are no launches."""


class Launches:
    """Launching calls of the slices of devices in a range, with typical delays, and their places in repeated steps."""

    def __init__(self, trace: Trace, gaps: Gaps, t0: int, t1: int) -> None:
        self._trace, self._gaps = trace, gaps
        device = np.zeros(len(trace.tracks), np.bool_)
        device[gaps.device] = True
        self._range = t0, t1
        self._rows = np.concatenate([*self._by_track(), np.empty(0, np.int64)]).astype(np.int64)
        self._by_row = self._launching(device)
        self._calls = frozenset(self._by_row.values())
        begun = np.fromiter(self._by_row, np.int64, len(self._by_row))
        calls = np.fromiter(self._by_row.values(), np.int64, len(self._by_row))
        self._begun, self._called = (np.sort(trace.slices.start[rows]) for rows in (begun, calls))
        self._waits = {track: self._recorded(track) for track in gaps.device}
        streams = [track for track in gaps.device if trace.tracks[track].kind == "device_stream"]
        self._recording = any(len(self._waits[track]) for track in streams)  # tasks of a collective wait for other ranks
        self._delays, self._lag, self._quick = self._usual()
        self._places: dict[int, tuple[int, int, int]] = {}
        self._at: dict[tuple[int, int, int], int] = {}
        self._steps = 0
        self._delay: dict[tuple[int, int], list[int]] = {}
        self._find_steps()

    def of(self, row: int) -> int:
        """Return the call that launched a slice of a device; -1 for unknown."""
        return self._by_row.get(row, -1)

    def full(self, call: int) -> bool:
        """Return whether the launch queue of the device was full when this call began, so that it had to wait."""
        time = self._trace.slices.start[call]
        waiting = int(np.searchsorted(self._called, time)) - int(np.searchsorted(self._begun, time))
        return call in self._calls and waiting >= FULL

    def waited_for(self, row: int, ended: list[int], launch: int) -> int:
        """Return what a slice waited for: one of the slices of devices in `ended`, or the call `launch`; -1 for none.

        launch is -1 for unknown. Of slices that ended shortly before, the latest counts. Between it and the launch other steps
        decide in more of which it could have been so; without them the later one, a launch by its usual delay, or, where delays
        differ, the slice that ended as shortly before as slices of a busy stream do.
        """
        slices, start = self._trace.slices, int(self._trace.slices.start[row])
        near = [one for one in ended if start - self._end(one) <= self._allowed(row, one) and not self._longer(row, one)]
        if not near and self._implausible(row, launch):
            track = self._trace.slices.track
            near = [one for one in ended if start - self._end(one) <= NEAR or track[one] == track[row]]
        before = max(near, key=self._end, default=-1)
        if before < 0 or launch < 0:
            return before if before >= 0 else launch
        if self._follows(row, before):
            return before
        shares = self._fitting(row, before, launch)
        if shares is not None and shares[0] != shares[1]:
            return before if shares[0] > shares[1] else launch
        if self._delays[1] - self._delays[0] > _STEADY:
            return before
        launched = int(slices.start[launch] + slices.duration[launch])
        return launch if launched + self._delays[0] > self._end(before) else before

    def _follows(self, row: int, before: int) -> bool:
        """Return whether a slice began as soon after the one before it on its stream as slices do, in this step and others.

        A launch that arrives then by chance does not do so in another step, too.
        """
        slices = self._trace.slices
        if slices.track[before] != slices.track[row] or slices.start[row] - self._end(before) > self._quick:
            return False
        return sum(0 <= lag <= self._quick for lag in self._lags(row, before)) > 1

    def _implausible(self, row: int, launch: int) -> bool:
        """Return whether no launch to an idle device takes as long as that of a slice would have."""
        return launch < 0 or int(self._trace.slices.start[row]) - self._end(launch) > 2 * self._delays[1] + NEAR

    def _allowed(self, row: int, before: int) -> int:
        """Return how long after the end of another slice one may begin that waited for it."""
        same = self._trace.slices.track[before] == self._trace.slices.track[row]
        return self._lag if same else NEAR if self._recording else max(self._lag, _EVENT)

    def _end(self, row: int) -> int:
        return int(self._trace.slices.start[row] + self._trace.slices.duration[row])

    def _lags(self, row: int, before: int) -> list[int]:
        """Return the time from the end of one slice to the begin of the other in each step; empty if that is not known."""
        mine, other = self._places.get(row), self._places.get(before)
        if mine is None or other is None:
            return []
        apart, slices = other[0] - mine[0], self._trace.slices
        pairs = ((self._at.get((step, *mine[1:])), self._at.get((step + apart, *other[1:]))) for step in range(self._steps))
        return [int(slices.start[one]) - self._end(two) for one, two in pairs if one is not None and two is not None]

    def _longer(self, row: int, before: int) -> bool:
        """Return whether a slice began sooner after the other one in some step, so that it waited for something else here."""
        lags = [lag for lag in self._lags(row, before) if lag >= 0]
        return bool(lags) and int(self._trace.slices.start[row]) - self._end(before) > min(lags) + _SLACK

    def _fitting(self, row: int, before: int, launch: int) -> tuple[int, int] | None:
        """Return in how many steps a slice may have waited for the other one, and for its launch; None without other steps."""
        place, lags = self._places.get(row), self._lags(row, before)
        if place is None or len(lags) < 2 or launch != self.of(row):
            return None
        delays = self._delay[place[1:]]
        least = min(lags), min(delays)
        return (
            sum(lag <= least[0] + _SLACK for lag in lags),
            sum(delay <= least[1] + _SLACK + _RELATIVE * max(least[1], 0) for delay in delays),
        )

    def launched(self, row: int, launch: int) -> bool:
        """Return whether a launch may be what a slice waited for: in no other step it took much less."""
        place = self._places.get(row)
        if place is None or launch != self.of(row):
            return True
        least = min(self._delay[place[1:]])
        return int(self._trace.slices.start[row]) - self._end(launch) <= least + _SLACK + _RELATIVE * max(least, 0)

    def may_wait(self, row: int) -> bool:
        """Return whether a slice may have waited for another stream: always, unless waits are recorded and it has none."""
        if not self._recording:
            return True
        slices, track = self._trace.slices, int(self._trace.slices.track[row])
        waits = self._waits[track]
        call, start = self.of(row), int(slices.start[row])
        ends = slices.start[waits] + slices.duration[waits]
        if bool(((slices.track[waits] == track) & (ends > start - NEAR) & (ends <= start + 1_000)).any()):
            return True
        if call < 0:
            return False
        before = [int(slices.start[self.of(other)]) for other in self._before(row) if self.of(other) >= 0]
        low, high = max(before, default=-1), int(slices.start[call])
        return bool(((slices.start[waits] > low) & (slices.start[waits] <= high)).any())

    def contradicted(self, row: int, candidate: int) -> bool:
        """Return whether in another step the candidate ended after the slice had begun, so that it does not depend on it."""
        return any(lag < 0 for lag in self._lags(row, candidate))

    def _launching(self, device: NDArray[np.bool_]) -> dict[int, int]:
        """Return the call of each slice: the latest slice of the host from which an arrow leads to it."""
        flows, slices = self._trace.flows, self._trace.slices
        kinds = np.array([_FORWARD not in kind for kind in self._trace.flow_kinds], np.bool_)
        chosen = device[slices.track[flows.target]] & ~device[slices.track[flows.source]]
        chosen &= kinds[flows.kind] if len(kinds) else False
        source, target = flows.source[chosen], flows.target[chosen]
        order = np.argsort(slices.start[source], kind="stable")
        return dict(zip(target[order].tolist(), source[order].tolist(), strict=True))

    def _recorded(self, track: int) -> NDArray[np.int64]:
        """Return the recorded waits of a stream: on it, or on the track beside it."""
        trace, of = self._trace, self._trace.tracks[track]
        names = [number for number, name in enumerate(trace.names) if name.startswith(_RECORDED)]
        found = []
        for other, one in enumerate(trace.tracks):
            beside = one.kind == "scope" and (one.process_id, one.thread_id) == (of.process_id, of.thread_id)
            if names and (other == track or beside):
                rows = np.arange(one.first, one.last)
                found.append(rows[np.isin(trace.slices.name[rows], names)])
        return np.concatenate([*found, np.empty(0, np.int64)]).astype(np.int64)

    def _before(self, row: int) -> list[int]:
        """Return the slices of a stream just before one, the nearest first."""
        first = self._trace.tracks[int(self._trace.slices.track[row])].first
        return list(range(row - 1, max(first, row - 4) - 1, -1))

    def _usual(self) -> tuple[tuple[int, int], int, int]:
        """Return the lower and upper tenth of delays of launches to an idle device, and what a stream takes: most, usual (ns).

        The most is twice the time from a slice to the next one of its stream (the lower twentieth), and _SLACK; usual is that
        time and a fifth of it.
        """
        slices = self._trace.slices
        rows = self._rows[np.argsort(slices.start[self._rows], kind="stable")]
        if not len(rows):
            return (0, 0), NEAR, 0
        ends = np.maximum.accumulate(slices.start[rows] + slices.duration[rows])
        before = np.r_[self._earlier(), ends[:-1]]
        calls = np.array([self.of(row) for row in rows.tolist()], np.int64)
        launched = slices.start[calls] + slices.duration[calls]
        idle = (calls >= 0) & (before <= launched)
        delays = np.maximum(slices.start[rows] - launched, 0)[idle]
        own = [slices.start[one[1:]] - slices.start[one[:-1]] - slices.duration[one[:-1]] for one in self._by_track()]
        lags = np.concatenate([*own, np.empty(0, np.int64)])
        lags = lags[(lags >= 0) & (lags <= NEAR)]
        quick = int(np.quantile(lags, _QUANTILE / 2)) if len(lags) else 0
        lag, quick = min(2 * quick + _SLACK, NEAR) if len(lags) else NEAR, quick + quick // 5
        if not len(delays):
            return (0, 0), lag, quick
        low, high = np.quantile(delays, [_QUANTILE, 1 - _QUANTILE])
        return (int(low), int(high)), lag, quick

    def _earlier(self) -> int:
        """Return when the last slices of devices that began before the range had ended; 0 without any."""
        slices, found = self._trace.slices, [0]
        for own in self._by_track():
            if len(own):
                rows = np.arange(max(self._trace.tracks[int(slices.track[own[0]])].first, int(own[0]) - _LOOK), own[0])
                found += (slices.start[rows] + slices.duration[rows]).tolist()
        return max(found)

    def _by_track(self) -> list[NDArray[np.int64]]:
        return [np.arange(*self._gaps.running.inside(track, *self._range)) for track in self._gaps.device]

    def _find_steps(self) -> None:
        """Number the slices of each stream within the step that launched them, if all steps run the same ones."""
        slices = self._trace.slices
        known = steps(self._trace)[:_MOST_STEPS]
        if len(known) < 2:
            return
        begins = np.array([start for _, start, _ in known], np.int64)
        names: list[dict[int, list[int]]] = [{} for _ in known]
        rows: list[dict[int, list[int]]] = [{} for _ in known]
        for row, call in sorted(self._by_row.items()):
            step = int(np.searchsorted(begins, slices.start[call], "right")) - 1
            if step < 0 or int(slices.start[call]) >= known[step][2]:
                continue
            track = int(slices.track[row])
            rows[step].setdefault(track, []).append(row)
            names[step].setdefault(track, []).append(int(slices.name[row]))
        if any(one != names[0] for one in names[1:]):
            return
        self._steps = len(known)
        for step, own in enumerate(rows):
            for track, members in own.items():
                for place, row in enumerate(members):
                    self._places[row] = step, track, place
                    self._at[step, track, place] = row
                    call = self._by_row[row]
                    delay = int(slices.start[row] - slices.start[call] - slices.duration[call])
                    self._delay.setdefault((track, place), []).append(delay)
