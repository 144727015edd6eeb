"""The directory of a result: that of the run, a new one, or one that holds nothing but results. Others are left as they are."""

from __future__ import annotations

import os
import re

from app.landscapes.options import LandscapeError
from parsers.discovery.listing import classify
from parsers.events.mindspore import MINDSPORE
from parsers.events.tensorboard import TENSORBOARD

PLANES = "landscape-planes-"
"""Beginning of the name of the folder in which workers find weights and directions, for as long as they compute."""
_OURS = re.compile(
    rf"landscape-[0-9a-f]{{16}}\.(points|json)(\.part)?|{PLANES}\w+|\.?events\.out\.events\.summary\.\d+\.\d+\.landscape_MS(\.part)?"
)


def prepare(out: str, run: str) -> None:
    """Make the directory of the result of a run. LandscapeError, before anything is written, for one that is not ours."""
    if os.path.lexists(out) and not os.path.isdir(out):
        raise LandscapeError(f"--out: expected a directory, found {out!r}, which is none; nothing was written")
    if os.path.isdir(out) and not os.path.samefile(out, run):
        foreign = sorted(name for name in os.listdir(out) if not _OURS.fullmatch(name))
        if foreign:
            raise LandscapeError(
                f"--out: expected {run!r}, a new directory, or one with nothing but landscapes, found {foreign[0]!r} in "
                f"{out!r}; nothing was written"
            )
    other = _other_run(out, run)
    if other:
        raise LandscapeError(f"--out: expected no directory within another run, found the run {other!r}; nothing was written")
    os.makedirs(out, exist_ok=True)


def _other_run(out: str, run: str) -> str:
    """Return the run that a directory is in, "" for none and for the run itself."""
    place, own = os.path.realpath(out), os.path.realpath(run)
    while place not in (own, os.path.dirname(place)):
        place = os.path.dirname(place)
        if place != own and _has_events(place):
            return place
    return ""


def _has_events(directory: str) -> bool:
    try:
        kinds = {found[0] for name in os.listdir(directory) if (found := classify(name)) is not None}
    except OSError:  # not there yet, or closed to us
        return False
    return bool(kinds & {MINDSPORE.name, TENSORBOARD.name})
