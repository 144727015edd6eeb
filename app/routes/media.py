"""Plain GET routes for one image, text or loss landscape.

    <prefix>image?run=KEY&tag=TAG&place=N      one image; place counts those of the tag in the order they were written
    <prefix>image?run=KEY&tag=TAG&step=STEP    the one of a step, of several the last; with place: that place, if of that step
    <prefix>text?run=KEY&tag=TAG&place=N       one text, as text/plain
    <prefix>landscape.npz?run=KEY&tag=TAG      the newest landscape of a tag as a file of numpy arrays

index=K picks one of several images in a record (the header Mindscope-Images says how many), download=1 asks for a file, and v
is anything: browsers take an address with another v for another image. Mindscope-Problem, percent-encoded, says what is wrong
with a value that can be shown in part only.
The type of an image is what its first bytes say, and only types are sent that browsers decode without running anything.
Answers carry an ETag of the bytes, so a browser that has them need not be sent them again.
"""

from __future__ import annotations

import hashlib
import io
import re
from dataclasses import dataclass
from urllib.parse import quote

from flask import Response, request

from app.routes.refusals import Unusable, refusal
from layouts.sources import ValueSource
from parsers import ImageValue, MediaError, PayloadError, PayloadSeries, TextValue, Value
from parsers.export.single import files_of

PARAMETERS = ("run", "tag", "place", "step", "index", "download", "v")
SUFFIXES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
POLICY = "sandbox; default-src 'none'"
"""Whatever the bytes are: opened on their own they run nothing and ask for nothing."""
_WHOLE = re.compile(r"-?[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Wanted:
    """One recorded value that is there."""

    run: str
    kind: str
    tag: str
    place: int
    step: int


def image(source: ValueSource) -> Response:
    """One image; 404 where there is none, 415 where its type is not sent, 422 where it cannot be read."""
    try:
        wanted = _wanted(source, "image")
        value = _value(source, wanted)
        assert isinstance(value, ImageValue)
        chosen = _one_of(value, wanted)
    except Unusable as error:
        return refusal(error)
    answer = _answer(chosen.data, chosen.media, wanted, SUFFIXES[chosen.media])
    answer.headers["Mindscope-Images"] = str(1 + len(value.others))
    answer.headers["Mindscope-Problem"] = quote(chosen.problem)
    return answer


def text(source: ValueSource) -> Response:
    """One text, one string a line; 404 where there is none, 422 where it cannot be read."""
    try:
        wanted = _wanted(source, "text")
        value = _value(source, wanted)
        assert isinstance(value, TextValue)
    except Unusable as error:
        return refusal(error)
    answer = _answer(value.text.encode("utf-8", "replace"), "text/plain; charset=utf-8", wanted, "txt")
    answer.headers["Mindscope-Problem"] = quote(value.problem)
    return answer


def landscape(source: ValueSource) -> Response:
    """The arrays of one landscape; 404 where there is none, 422 where it cannot be read."""
    try:
        wanted = _wanted(source, "landscape", newest=True)
        (file,) = files_of(_value(source, wanted))
    except Unusable as error:
        return refusal(error)
    content = io.BytesIO()
    file.save(content)
    answer = _answer(content.getvalue(), "application/octet-stream", wanted, "npz")
    name = f"{safe_name(wanted.run)}_{safe_name(wanted.tag)}.npz"
    answer.headers["Content-Disposition"] = attachment(name)
    answer.headers["Mindscope-Problem"] = quote(file.note)
    return answer


# What is asked for --------------------------------------------------------------------------------------------------


def _wanted(source: ValueSource, kind: str, *, newest: bool = False) -> Wanted:
    """What a request names; with newest it need name neither place nor step."""
    for name in request.args:
        if name not in PARAMETERS:
            raise Unusable(f"wanted the parameters {', '.join(PARAMETERS)}, got {name[:80]!r}")
    run, tag = _text("run"), _text("tag")
    if not any(run in row.members for row in source.runs()):
        raise Unusable(f"no such run: {run[:200]!r}", 404)
    items = source.payload_series(run, kind, tag)
    if items is None:
        raise Unusable(f"run {run[:200]!r} has no {kind} {tag[:200]!r}", 404)
    place = len(items) - 1 if newest and not {"place", "step"} & set(request.args) else _place(items)
    if place is None:
        asked = " and ".join(f"{name} {request.args[name]}" for name in ("place", "step") if name in request.args)
        raise Unusable(f"run {run[:200]!r}, {kind} {tag[:200]!r}: {asked} is not there, or no longer", 404)
    return Wanted(run, kind, tag, place, int(items.step[place]))


def _place(items: PayloadSeries) -> int | None:
    place, step = _number("place"), _number("step")
    if place is None:
        if step is None:
            raise Unusable("wanted a place or a step")
        return items.find(step)
    if not 0 <= place < len(items) or (step is not None and items.step[place] != step):
        return None
    return place


def _text(name: str) -> str:
    values = request.args.getlist(name)
    if len(values) != 1:
        raise Unusable(f"{name}: wanted once, got {len(values)} times")
    return values[0]


def _number(name: str) -> int | None:
    if name not in request.args:
        return None
    digits = _text(name)
    if not _WHOLE.fullmatch(digits) or not -(2**63) <= int(digits) < 2**63:
        raise Unusable(f"{name}: wanted a whole number, got {digits[:80]!r}")
    return int(digits)


def _value(source: ValueSource, wanted: Wanted) -> Value:
    try:
        return source.value(wanted.run, wanted.kind, wanted.tag, wanted.place)
    except PayloadError as error:
        raise Unusable(str(error), 415 if isinstance(error.__cause__, MediaError) else 422) from error


def _one_of(value: ImageValue, wanted: Wanted) -> ImageValue:
    index = _number("index") or 0
    images = (value, *value.others)
    if not 0 <= index < len(images):
        raise Unusable(f"image {wanted.tag[:200]!r} of step {wanted.step}: wanted one of {len(images)}, got index {index}", 404)
    return images[index]


# What is answered ---------------------------------------------------------------------------------------------------


def _answer(data: bytes, media: str, wanted: Wanted, suffix: str) -> Response:
    answer = Response(data, content_type=media)
    answer.headers["Content-Security-Policy"] = POLICY
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.cache_control.private = True
    answer.cache_control.no_cache = True
    answer.set_etag(hashlib.blake2b(data, digest_size=16).hexdigest())
    if request.args.get("download") == "1":
        answer.headers["Content-Disposition"] = attachment(f"{safe_name(wanted.tag)}_{wanted.step}.{suffix}")
    answer.make_conditional(request.environ)
    return answer


def safe_name(text: str) -> str:
    """A part of a file name: letters, digits and dots of a text, at most 80 characters, none of them a path's."""
    return re.sub(r"[^\w.-]+", "_", text).strip("._-")[:80].strip("._-")


def attachment(name: str) -> str:
    """A Content-Disposition for a safe file name: plain in ASCII, and in UTF-8 for those who read it."""
    plain = re.sub(r"_+", "_", name.encode("ascii", "replace").decode().replace("?", "_")).lstrip("_-")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
