"""Where the demo answers the questions of the start page best: pages, with what they are about chosen."""

from __future__ import annotations

from app.demo import story
from layouts.runs.questions import Destination, Destinations


def places() -> Destinations:
    """Return the place of each question. Those about the jobs hold once these are written."""
    job, late = {"run": [story.JOB], "of": [story.JOB]}, [str(story.LATE_RANK)]
    explained = {"run": [story.EXPLAINED], "of": [story.EXPLAINED], "sort": ["uncertainty"]}
    return {
        "best": Destination("optimisation", {"run": [*story.sweep()], "target": ["metric/accuracy"]}),
        "broke": Destination("first_cause", {"run": [story.DIVERGES], "of": [story.DIVERGES]}),
        "time": Destination("job", {**job, "rank": late}),
        "late": Destination("cluster", {**job, "picked": late}),
        "memory": Destination("memory", {**job, "rank": late}),
        "looks": Destination("saliency", explained),
    }
