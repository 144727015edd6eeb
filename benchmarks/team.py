"""A team at one server: fifty readers of curves of a run that grows, and two editors who write remarks at the same time.

Readers ask as pages do (`assets/kit/polling.js`, `layouts.shell.chrome`, `layouts.kit.cards`): the status each second and, if
its version is new, the list of runs and the cards. What an editor was told is kept has to be there in the end.
"""

from __future__ import annotations

import http.client
import json
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks import many_data
from benchmarks.measure import NO_BOUND, Figure, cpu_seconds
from benchmarks.starting import server, wait_for
from parsers.recording import EventWriter

READERS, EDITORS = 50, ("ann", "ben")
RUNS, TAGS, STEPS = 20, 12, 1000
USER = "X-User"
SECONDS = 60.0
GROWS = "growing"
_CLOCK = ("status", "version", "mark", "changes")


@dataclass(slots=True)
class Outcome:
    """What came of it. share: percent of a core that the server took; delays: seconds until readers had each new step of the
    run that grows; written and lost: numbers of remarks that were confirmed, and of those that are not there; failed: answers
    other than 200."""

    share: float = 0.0
    delays: list[float] = field(default_factory=list)
    written: int = 0
    lost: int = 0
    failed: list[str] = field(default_factory=list)


def figures(times: int) -> list[Figure]:
    """Measure teams; RuntimeError if a remark was lost or a request failed."""
    shares, delays = [], []
    for _ in range(times):
        found = trial(SECONDS)
        if found.lost or found.failed:
            raise RuntimeError(f"{found.lost} of {found.written} remarks lost, {found.failed[:3]}")
        shares.append(found.share)
        delays.append(sorted(found.delays)[int(0.95 * len(found.delays))])
    what = f"server of {READERS} readers of 12 cards of {RUNS} runs, one of which grows, and {len(EDITORS)} editors"
    return [
        Figure(f"{what}: share of a core", "%", NO_BOUND, tuple(shares)),
        Figure("  until a new step is with a reader, 95 of 100", "s", 3.0, tuple(delays)),
    ]


def trial(seconds: float) -> Outcome:
    """Let a team work for some time."""
    found = Outcome()
    with tempfile.TemporaryDirectory() as directory:
        runs = Path(directory)
        many_data.make(runs, RUNS, TAGS, STEPS, "tb")
        growing = _Growing(runs / GROWS)
        options = ("--user-header", USER, "--trusted-proxy", "127.0.0.1", "--editors", ",".join(EDITORS))
        with server(runs, "--no-cache", *options) as (process, address):
            wait_for(address, RUNS * TAGS * STEPS)
            place, until = urlsplit(address).netloc, time.monotonic() + seconds
            readers = [_Reader(place, growing, until, found) for _ in range(READERS)]
            editors = [_Editor(place, name, until, found) for name in EDITORS]
            begun, before = time.monotonic(), cpu_seconds(process.pid)
            threads: list[threading.Thread] = [*readers, *editors]
            for thread in threads:
                thread.start()
                time.sleep(1.0 / READERS)
            while time.monotonic() < until:
                growing.write()
                time.sleep(1.0)
            for thread in threads:
                thread.join(60)
            found.share = 100 * (cpu_seconds(process.pid) - before) / (time.monotonic() - begun)
            notes = _Client(place, EDITORS[0]).notes()
        found.lost = sum(_missing(notes, editor) for editor in editors)
        found.written = sum(len(editor.confirmed) for editor in editors)
    return found


class _Growing:
    """A run that is written meanwhile: the time at which each of its steps was there."""

    def __init__(self, path: Path) -> None:
        path.mkdir()
        self._writer = EventWriter(str(path / "events.out.tfevents.1700000000.team"), "tensorboard")
        self.written: list[float] = []
        self.write()

    def write(self) -> None:
        """Write a step."""
        self._writer.add(len(self.written), {f"tag{number}": 1.0 / (len(self.written) + 1) for number in range(TAGS)})
        self._writer.flush()
        self.written.append(time.monotonic())


class _Client:
    """A connection of one person."""

    def __init__(self, place: str, name: str = "") -> None:
        self._connection = http.client.HTTPConnection(place, timeout=60)
        self._headers = {"Content-Type": "application/json"} | ({USER: name} if name else {})

    def ask(self, path: str, content: Any = None) -> Any:
        """Return what is answered; RuntimeError with status and text unless it is 200."""
        body = None if content is None else json.dumps(content)
        self._connection.request("GET" if body is None else "POST", path, body, self._headers)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status}: {text[:200]!r}")
        return json.loads(text)

    def call(self, outputs: dict[str, Any], inputs: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
        """Call a callback of the page of curves; names are those of its stores, the first input has changed."""
        places = [{"id": f"ms-scalars-{name}", "property": "data"} for name in outputs]
        names = [f"{one['id']}.{one['property']}" for one in places]
        given = [{"id": f"ms-scalars-{name}", "property": kind, "value": value} for name, (kind, value) in inputs.items()]
        answer = self.ask("/_dash-update-component", {
            "output": f"..{'...'.join(names)}.." if len(names) > 1 else names[0],
            "outputs": places if len(names) > 1 else places[0], "inputs": given,
            "state": [{"id": f"ms-scalars-{name}", "property": "data", "value": value} for name, value in state.items()],
            "changedPropIds": [f"{given[0]['id']}.{given[0]['property']}"],
        })["response"]  # fmt: skip
        return {key.removeprefix("ms-scalars-"): value["data"] for key, value in answer.items() if "data" in value}

    def notes(self) -> dict[str, Any]:
        """Return run -> its note."""
        found = self.call(dict.fromkeys(_CLOCK), _TICK, {"version": None, "mark": None})
        notes: dict[str, Any] = found["changes"]["notebook"]["notes"]
        return notes


_TICK = {"interval": ("n_intervals", 1), "reload": ("data", None)}


class _Worker(threading.Thread):
    """Someone at work until a time; what fails is told."""

    def __init__(self, place: str, name: str, until: float, found: Outcome) -> None:
        super().__init__(daemon=True)
        self.client, self.until, self.found = _Client(place, name), until, found

    def run(self) -> None:
        try:
            self.begin()
            while time.monotonic() < self.until:
                begun = time.monotonic()
                self.turn()
                time.sleep(max(0.0, 1.0 - (time.monotonic() - begun)))
        except (OSError, RuntimeError, KeyError, http.client.HTTPException) as error:
            self.found.failed.append(f"{type(error).__name__}: {error}")

    def begin(self) -> None:
        """Do what comes first."""

    def turn(self) -> None:
        """Do what is done each second."""


class _Reader(_Worker):
    def __init__(self, place: str, growing: _Growing, until: float, found: Outcome) -> None:
        super().__init__(place, "", until, found)
        self._growing = growing
        self._seen = self._version = -1
        self._known: dict[str, Any] = {"version": None, "mark": None}

    def begin(self) -> None:
        asks = [{"tag": [f"tag{number}"], "w": ["640"], "x": ["step"], "run": [GROWS]} for number in range(TAGS)]
        cards = [[slot, ask] for slot, ask in enumerate(asks)]
        drawn = self.client.call({"near-answer": None}, {"near": ("data", {"cards": cards})}, {})["near-answer"]
        stamps = [stamp for *_, stamp in drawn]
        self._cards: dict[str, Any] = {"shown": list(range(TAGS)), "asks": asks, "drawn": stamps, "looked": None}

    def turn(self) -> None:
        if self.client.ask("/api/status.json")["version"] == self._version:
            return
        news = self.client.call(dict.fromkeys(_CLOCK), _TICK, self._known)
        self._known = {"version": news.get("version", self._known["version"]), "mark": news.get("mark", self._known["mark"])}
        self._version = news["status"]["version"]
        grown = self.client.call({"grown": None, "looked": None}, {"interval": _TICK["interval"]}, self._cards)
        self._cards["looked"] = grown.get("looked", self._cards["looked"])
        for slot, _, stamp in grown.get("grown", ()):
            self._cards["drawn"][slot] = stamp
        steps = [row["points"] // TAGS for row in news.get("changes", {}).get("rows", ()) if row["key"] == GROWS]
        for step in range(self._seen + 1, (steps or [0])[0]):
            if self._seen >= 0:
                self.found.delays.append(time.monotonic() - self._growing.written[step])
        self._seen = max(self._seen, (steps or [0])[0] - 1)


class _Editor(_Worker):
    """Writes the remark of a run of its own, and adds words to one that all editors share."""

    def __init__(self, place: str, name: str, until: float, found: Outcome) -> None:
        super().__init__(place, name, until, found)
        self.name = name
        self.own = f"sweep{EDITORS.index(name):02}/run{EDITORS.index(name):05}"
        self.confirmed: list[tuple[str, str]] = []

    def turn(self) -> None:
        number = len(self.confirmed)
        self._write(self.own, lambda _: f"{self.name} {number}")
        self._write(GROWS, lambda before: f"{before} {self.name[0]}{number}"[-9_000:].lstrip())

    def _write(self, run: str, change: Any) -> None:
        """Change a remark until nobody else has changed it in between."""
        notes = self.client.notes()
        now = notes.get(run) or {"remark": "", "version": None}
        while True:
            text = change(now["remark"])
            was = {} if now["version"] is None else {"was": now["version"]}
            now = self.client.ask("/api/note", {"run": run, "remark": text, **was})["now"]
            if now["remark"] == text:
                self.confirmed.append((run, text))
                return


def _missing(notes: dict[str, Any], editor: _Editor) -> int:
    """Return how many confirmed remarks of an editor are gone: the last of its own run, or words in the shared one."""
    own = [text for run, text in editor.confirmed if run == editor.own]
    shared = [text.split()[-1] for run, text in editor.confirmed if run == GROWS]
    there = set(notes.get(GROWS, {"remark": ""})["remark"].split())
    return int(bool(own) and notes.get(editor.own, {"remark": ""})["remark"] != own[-1]) + len(set(shared) - there)
