"""GET routes for one image, text or loss landscape.

    <prefix>image?run=KEY&tag=TAG&place=N      one image; place is its index among those of the tag
    <prefix>image?run=KEY&tag=TAG&step=STEP    the image of a step, the last one if there are several
    <prefix>text?run=KEY&tag=TAG&place=N       one text, as text/plain
    <prefix>landscape.npz?run=KEY&tag=TAG      the newest landscape of a tag as a file of numpy arrays

With both place and step, the value at that place must have that step. index=K selects one of several images in a record (the
header Mindscope-Images has their number), download=1 requests an attachment, and v is ignored: browsers cache an address with
another v separately. The header Mindscope-Problem, percent-encoded, describes the damage to a value that is shown only in part.
The type of an image is detected from its first bytes, and only types are sent that browsers decode without running anything.
Responses carry an ETag of the bytes, so browsers need not fetch them again.
"""

from __future__ import annotations

import hashlib
import io
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from flask import Response, request

from app.routes.refusals import Unusable, refusal
from layouts.sources import ValueSources
from parsers import ImageValue, MediaError, PayloadError, PayloadSeries, TextValue, Value
from parsers.export.single import files_of

PARAMETERS = ("run", "tag", "place", "step", "index", "download", "v")
SUFFIXES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
POLICY = "sandbox; default-src 'none'"
"""Opened on its own, a response can neither run scripts nor load anything, whatever its bytes are."""
_WHOLE = re.compile(r"-?[0-9]{1,19}")


def add_routes(routes: Any, source: ValueSources) -> None:
    """Add the routes over one source."""
    routes.add_url_rule("/image", "image", lambda: image(source))
    routes.add_url_rule("/text", "text", lambda: text(source))
    routes.add_url_rule("/landscape.npz", "landscape-npz", lambda: landscape(source))


@dataclass(frozen=True, slots=True)
class ValueKey:
    """Identifies one recorded value that exists."""

    run: str
    kind: str
    tag: str
    place: int
    step: int


def image(source: ValueSources) -> Response:
    """Respond with one image; 404 if it does not exist, 415 if its type is not served, 422 if it cannot be read."""
    try:
        key = _requested(source, "image")
        value = _value(source, key)
        assert isinstance(value, ImageValue)
        chosen = _one_of(value, key)
    except Unusable as error:
        return refusal(error)
    answer = _answer(chosen.data, chosen.media, key, SUFFIXES[chosen.media])
    answer.headers["Mindscope-Images"] = str(1 + len(value.others))
    answer.headers["Mindscope-Problem"] = quote(chosen.problem)
    return answer


def text(source: ValueSources) -> Response:
    """Respond with one text, one string per line; 404 if it does not exist, 422 if it cannot be read."""
    try:
        key = _requested(source, "text")
        value = _value(source, key)
        assert isinstance(value, TextValue)
    except Unusable as error:
        return refusal(error)
    answer = _answer(value.text.encode("utf-8", "replace"), "text/plain; charset=utf-8", key, "txt")
    answer.headers["Mindscope-Problem"] = quote(value.problem)
    return answer


def landscape(source: ValueSources) -> Response:
    """Respond with the arrays of one landscape; 404 if it does not exist, 422 if it cannot be read."""
    try:
        key = _requested(source, "landscape", newest=True)
        (file,) = files_of(_value(source, key))
    except Unusable as error:
        return refusal(error)
    content = io.BytesIO()
    file.save(content)
    answer = _answer(content.getvalue(), "application/octet-stream", key, "npz")
    name = f"{safe_name(key.run)}_{safe_name(key.tag)}.npz"
    answer.headers["Content-Disposition"] = attachment(name)
    answer.headers["Mindscope-Problem"] = quote(file.note)
    return answer


# Parameters ---------------------------------------------------------------------------------------------------------


def _requested(source: ValueSources, kind: str, *, newest: bool = False) -> ValueKey:
    """Parse the parameters of a request; with newest, place and step are optional."""
    for name in request.args:
        if name not in PARAMETERS:
            raise Unusable(f"expected the parameters {', '.join(PARAMETERS)}, found {name[:80]!r}")
    run, tag = _text("run"), _text("tag")
    if not any(run in row.members for row in source.runs.rows()):
        raise Unusable(f"no such run: {run[:200]!r}", 404)
    items = source.values.series(run, kind, tag)
    if items is None:
        raise Unusable(f"run {run[:200]!r} has no {kind} {tag[:200]!r}", 404)
    place = len(items) - 1 if newest and not {"place", "step"} & set(request.args) else _place(items)
    if place is None:
        position = " and ".join(f"{name} {request.args[name]}" for name in ("place", "step") if name in request.args)
        raise Unusable(f"run {run[:200]!r}, {kind} {tag[:200]!r}: {position} does not exist, or no longer", 404)
    return ValueKey(run, kind, tag, place, int(items.step[place]))


def _place(items: PayloadSeries) -> int | None:
    place, step = _number("place"), _number("step")
    if place is None:
        if step is None:
            raise Unusable("expected the parameter place or step, found neither")
        return items.find(step)
    if not 0 <= place < len(items) or (step is not None and items.step[place] != step):
        return None
    return place


def _text(name: str) -> str:
    values = request.args.getlist(name)
    if len(values) != 1:
        raise Unusable(f"{name}: expected this parameter once, found it {len(values)} times")
    return values[0]


def _number(name: str) -> int | None:
    if name not in request.args:
        return None
    digits = _text(name)
    if not _WHOLE.fullmatch(digits) or not -(2**63) <= int(digits) < 2**63:
        raise Unusable(f"{name}: expected a whole number, found {digits[:80]!r}")
    return int(digits)


def _value(source: ValueSources, key: ValueKey) -> Value:
    try:
        return source.values.value(key.run, key.kind, key.tag, key.place)
    except PayloadError as error:
        raise Unusable(str(error), 415 if isinstance(error.__cause__, MediaError) else 422) from error


def _one_of(value: ImageValue, key: ValueKey) -> ImageValue:
    index = _number("index") or 0
    images = (value, *value.others)
    if not 0 <= index < len(images):
        expected = f"expected an index below {len(images)}"
        raise Unusable(f"image {key.tag[:200]!r} of step {key.step}: {expected}, found {index}", 404)
    return images[index]


# Responses ----------------------------------------------------------------------------------------------------------


def _answer(data: bytes, media: str, key: ValueKey, suffix: str) -> Response:
    answer = Response(data, content_type=media)
    answer.headers["Content-Security-Policy"] = POLICY
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.cache_control.private = True
    answer.cache_control.no_cache = True
    answer.set_etag(hashlib.blake2b(data, digest_size=16).hexdigest())
    if request.args.get("download") == "1":
        answer.headers["Content-Disposition"] = attachment(f"{safe_name(key.tag)}_{key.step}.{suffix}")
    answer.make_conditional(request.environ)
    return answer


def safe_name(text: str) -> str:
    """Convert a text to a safe part of a file name: letters, digits, dots, hyphens and underscores, at most 80 characters."""
    return re.sub(r"[^\w.-]+", "_", text).strip("._-")[:80].strip("._-")


def attachment(name: str) -> str:
    """Return a Content-Disposition for a safe file name: in ASCII, and in UTF-8 for clients that support it."""
    plain = re.sub(r"_+", "_", name.encode("ascii", "replace").decode().replace("?", "_")).lstrip("_-")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
