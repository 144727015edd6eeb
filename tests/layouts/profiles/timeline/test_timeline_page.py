"""The page of the timeline: what it asks for before it draws, and its texts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from dash.development.base_component import Component

from layouts import PAGES
from layouts.kit.page import Ids
from layouts.profiles.frames import ProfileFrame
from layouts.profiles.profile_choice import ProfileChoice
from layouts.profiles.reading_progress import reading
from layouts.profiles.timeline.page import FRAMES
from layouts.profiles.timeline.texts import TEXTS
from parsers.model import Problem
from tests.pages import page_named
from tests.sources import MemorySource

PAGE = page_named("timeline")

ASSETS = Path(__file__).resolve().parents[4] / "assets" / "profiles" / "timeline"
KEY = (".", 0)


def source(trace: ProfileFrame | None) -> MemorySource:
    return MemorySource({"run": {"profiles": {KEY: {} if trace is None else {"trace": trace}}}})


def progress(trace: ProfileFrame | None) -> dict[str, Any]:
    return reading(source(trace), ProfileChoice("run", *KEY), None, FRAMES)


def test_it_waits_for_the_trace_and_lists_its_problems() -> None:
    reading_now = progress(ProfileFrame("reading", done=5, total=10))
    assert [reading_now[key] for key in ("state", "name", "done", "total")] == ["reading", "trace", 5, 10]
    found = progress(ProfileFrame("ready", problems=(Problem("trace_view.json", 7, 2, "bad_trace", "1 event dropped."),)))
    assert (found["state"], found["frames"]) == ("ready", ["trace"])
    assert found["problems"] == [{"path": "trace_view.json", "text": "1 event dropped."}]
    assert progress(None)["state"] == "missing"


def test_it_comes_after_the_overview_and_keeps_the_profile() -> None:
    names = [page.name for page in PAGES]
    assert names.index("timeline") == names.index("profile_overview") + 1
    assert PAGE.needs == ("profile.trace",)
    assert PAGE.keeps == ("of", "session", "rank")


def test_every_text_that_scripts_name_is_sent() -> None:
    root: Component = PAGE.layout(Ids("timeline"), "/api/")
    sent = json.loads(root.to_plotly_json()["props"]["data-texts"])
    scripts = "\n".join(path.read_text(encoding="utf-8") for path in ASSETS.glob("*.js"))
    named = set(re.findall(r'"(timeline\.[\w.]+)"', scripts))
    assert named
    assert named <= set(sent)
    # Every text is used by a script, whole or as the end of a key that is put together.
    stems = tuple(re.findall(r"`(timeline\.(?:\w+\.)+)\$\{", scripts))
    quoted = set(re.findall(r'"([\w.]+)"', scripts)) | {"unfinished", "unstarted"}
    unused = {key for key in TEXTS if not (key in named or key.startswith(stems) or key.removeprefix("timeline.") in quoted)}
    assert unused == set()
