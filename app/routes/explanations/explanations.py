"""GET routes for explanations of models.

    <prefix>explanation/image?run=KEY&sample=ID                          the picture of a sample, as its file has it
    <prefix>explanation/heatmap?run=KEY&sample=ID&explainer=NAME&label=N  a heat map as a grey PNG without loss
    <prefix>explanation/outcome?run=KEY&sample=ID&label=N&layer=N         the picture with the boxes of a layer visible, PNG
    <prefix>explanation/counterfactuals.csv?run=KEY&label=N&t=0.5        layers of the samples that the filters keep, in order
    <prefix>explanation/samples.csv?run=KEY&label=N&outcome=tp&t=0.5     labels of the samples that the filters keep, in order
    <prefix>explanation/frame.csv?run=KEY&name=NAME                      all rows of a frame of `parsers.explanation_frames`

run is the key of a member run. Filters of samples.csv are those of the pages
(`layouts.explanations.explanation_choice.FILTERS`), except sorting by disagreement; outcomes of frame.csv are at the threshold
t. Pictures are PNG or JPEG by their content, and only from below the directory of the run. v is ignored: browsers cache an
address with another v separately; download=1 requests an attachment. The header Mindscope-Problem, percent-encoded, describes
the damage to a picture that is shown only in part.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from urllib.parse import quote

import numpy as np
from flask import Blueprint, Response, request

from app.routes.csv_files import csv_answer, table_name
from app.routes.refusals import Unusable, refusal
from app.routes.values.media import POLICY, SUFFIXES, attachment, safe_name
from layouts.explanations.explanation_choice import FILTERS, ExplanationChoice, read_choice
from layouts.explanations.filtering import matching
from layouts.explanations.layers import layer_row, layers_table
from layouts.explanations.tables import sample_table
from layouts.kit.state import BadInput
from layouts.sources import Sources
from parsers.errors import MediaError, PayloadError
from parsers.explanation_frames import EXPLANATION_FRAMES
from parsers.explanations.snapshot import Explanations

PATIENCE = 30.0
"""Seconds a request waits for explanations that are being read."""
_WHOLE = re.compile(r"-?[0-9]{1,15}")
_ALWAYS = ("v", "download")


def add_routes(routes: Blueprint, source: Sources) -> None:
    """Add the routes of this module to a blueprint."""
    made: dict[str, Callable[[Sources], Response]] = {
        "image": image, "heatmap": heat_map, "outcome": outcome, "samples.csv": samples,
        "counterfactuals.csv": counterfactuals, "frame.csv": frame,
    }  # fmt: skip
    for name, make in made.items():
        routes.add_url_rule(f"/explanation/{name}", f"explanation-{name.replace('.', '-')}", answering(source, make))


def answering(source: Sources, make: Callable[[Sources], Response]) -> Callable[[], Response]:
    """Return the view of a route, which refuses what is asked wrongly."""

    def respond() -> Response:
        try:
            return make(source)
        except (Unusable, BadInput) as error:
            return refusal(error)

    return respond


def image(source: Sources) -> Response:
    """Respond with the picture of a sample; 404 if there is none, 415 for another type, 422 if it cannot be read."""
    asked = parameters(("run", "sample"))
    found = opened_explanations(source, asked["run"])
    place = _sample(asked, found)
    path = str(found.samples["image"].array[place])
    if not path:
        raise Unusable(f"sample {asked['sample']} has no picture", 404)
    try:
        value = source.explanations.picture(asked["run"], path)
    except PayloadError as error:
        raise _unreadable(error) from error
    name = f"{safe_name(asked['run'])}_{asked['sample']}.{SUFFIXES[value.media]}"
    return _picture(value.data, value.media, name, value.problem)


def heat_map(source: Sources) -> Response:
    """Respond with one heat map, as `image` does; the header Mindscope-Constant is 1 if all its values are equal."""
    asked = parameters(("run", "sample", "explainer", "label"))
    found = opened_explanations(source, asked["run"])
    place = _sample(asked, found)
    path = map_path(found, place, asked.get("explainer", ""), _whole(asked, "label"))
    if path is None:
        raise Unusable(f"no heat map of {asked.get('explainer', '')[:80]!r} for this sample and label", 404)
    try:
        value = source.explanations.heat_map(asked["run"], path)
    except PayloadError as error:
        raise _unreadable(error) from error
    names = (asked["run"], asked["sample"], asked["explainer"], asked["label"])
    tag = _digest(value.values.tobytes() + str(value.values.shape).encode())
    data = b"" if tag in request.if_none_match else value.png()
    answer = _picture(data, "image/png", f"{'_'.join(safe_name(one) for one in names)}.png", value.problem, tag)
    answer.headers["Mindscope-Constant"] = str(int(value.is_constant))
    return answer


def outcome(source: Sources) -> Response:
    """Respond with the picture of a layer of counterfactuals, as `image` does; 404 if there is no such layer."""
    asked = parameters(("run", "sample", "label", "layer"))
    found = opened_explanations(source, asked["run"])
    place, label, layer = _sample(asked, found), _whole(asked, "label"), _whole(asked, "layer")
    row = layer_row(found, place, label, layer)
    path = str(found.samples["image"].array[place])
    if row is None or not path:
        raise Unusable(f"no layer {layer} of label {label} for this sample, or no picture", 404)
    boxes, mask = (str(found.counterfactuals[name].array[row]) for name in ("boxes", "mask"))
    try:
        value = source.explanations.outcome(asked["run"], path, boxes, mask)
    except PayloadError as error:
        raise _unreadable(error) from error
    name = "_".join(safe_name(asked[one]) for one in ("run", "sample", "label", "layer"))
    return _picture(value.data, value.media, f"{name}_outcome.png", value.problem)


def counterfactuals(source: Sources) -> Response:
    """Respond with the layers of the samples that the filters keep, in their order, as CSV."""
    run, found, choice = _filtered(source)
    return csv_answer(layers_table(found, matching(found, choice).rows), table_name(run, "counterfactual"))


def samples(source: Sources) -> Response:
    """Respond with the labels of the samples that the filters keep, one row per sample and label, as CSV."""
    run, found, choice = _filtered(source)
    return csv_answer(sample_table(found, matching(found, choice).rows, choice), table_name(run, "saliency", "samples"))


def _filtered(source: Sources) -> tuple[str, Explanations, ExplanationChoice]:
    """Return run, explanations and filters of a request."""
    asked = parameters(("run", *FILTERS), many=("label", "outcome", "truth", "predicted"))
    found = opened_explanations(source, asked["run"])
    state = {name: request.args.getlist(name) for name in FILTERS if name in request.args}
    choice = read_choice({**state, "of": [asked["run"]]})
    assert choice is not None
    if choice.sort.startswith("disagreement"):
        raise Unusable("sort: expected id, confidence or uncertainty, found disagreement")
    return asked["run"], found, choice


def frame(source: Sources) -> Response:
    """Respond with all rows of a frame as CSV."""
    asked = parameters(("run", "name", "t"))
    name = asked.get("name", "")
    if name not in EXPLANATION_FRAMES:
        raise Unusable(f"name: expected one of {', '.join(EXPLANATION_FRAMES)}; found {name[:80]!r}")
    found = opened_explanations(source, asked["run"])
    choice = read_choice({"of": [asked["run"]], "t": [asked["t"]] if "t" in asked else []})
    assert choice is not None
    table = found.outcomes(choice.threshold) if name == "outcomes" else getattr(found, name)
    return csv_answer(table, table_name(asked["run"], "explanations", name))


def map_path(found: Explanations, place: int, explainer: str, label: int) -> str | None:
    """Return the path of the heat map of a row of `samples`; None if there is none."""
    first, last = found.map_starts[place : place + 2].tolist()
    maps = found.saliency.iloc[first:last]
    rows = np.flatnonzero((maps["explainer"] == explainer).to_numpy() & (maps["label"] == label).to_numpy())
    return str(maps["path"].array[int(rows[0])]) if len(rows) else None


# Parameters ---------------------------------------------------------------------------------------------------------


def parameters(known: tuple[str, ...], many: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the parameters of the request; Unusable for others, for repeated ones that are not among many, and without run."""
    for name in request.args:
        if name not in (*known, *_ALWAYS):
            raise Unusable(f"expected the parameters {', '.join(known)}, found {name[:80]!r}")
        if len(request.args.getlist(name)) > 1 and name not in many:
            raise Unusable(f"{name}: expected this parameter once, found it {len(request.args.getlist(name))} times")
    if "run" not in request.args:
        raise Unusable("expected the parameter run, found none")
    return request.args.to_dict()


def _whole(asked: dict[str, str], name: str) -> int:
    text = asked.get(name, "")
    if not _WHOLE.fullmatch(text):
        raise Unusable(f"{name}: expected a whole number, found {text[:80]!r}")
    return int(text)


def _sample(asked: dict[str, str], found: Explanations) -> int:
    sample = _whole(asked, "sample")
    place = found.place_of(sample)
    if place is None:
        raise Unusable(f"no such sample: {sample}", 404)
    return place


def opened_explanations(source: Sources, run: str) -> Explanations:
    """Return the explanations of a run once they are read."""
    end = time.monotonic() + PATIENCE
    while (opened := source.explanations.open(run)).state == "reading":
        if time.monotonic() > end:
            raise Unusable("still reading the explanations; try again later", 503)
        time.sleep(0.05)
    if opened.explanations is None:
        if opened.state == "missing":
            raise Unusable(f"no explanations of a run {run[:200]!r}", 404)
        raise Unusable(f"reading the explanations failed: {opened.text}", 500)
    return opened.explanations


# Responses ----------------------------------------------------------------------------------------------------------


def _unreadable(error: PayloadError) -> Unusable:
    if isinstance(error.__cause__, FileNotFoundError):
        return Unusable(str(error), 404)
    return Unusable(str(error), 415 if isinstance(error.__cause__, MediaError) else 422)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _picture(data: bytes, media: str, name: str, problem: str, tag: str = "") -> Response:
    answer = Response(data, content_type=media)
    answer.headers["Content-Security-Policy"] = POLICY
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers["Mindscope-Problem"] = quote(problem)
    answer.cache_control.private = True
    answer.cache_control.no_cache = True
    answer.set_etag(tag or _digest(data))
    if request.args.get("download") == "1":
        answer.headers["Content-Disposition"] = attachment(name)
    answer.make_conditional(request.environ)
    return answer
