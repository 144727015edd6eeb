"""GET routes for the values of dumped tensors. All of them take the parameters that `layouts.dumps.dump_tensors` reads.

    <prefix>dump-values?run=KEY&row=ROW&mark=MARK&dims=0,:,:&rows=0:128&cols=0:64    a rectangle of the slice that dims selects
    <prefix>dump-about?...                    shape, dtype and the selected slice, or the problem
    <prefix>dump-bad?...&after=0,3,5          index of the next NaN or infinity after this one: {"index": [0, 7, 1]} or null

A rectangle is sent as by <prefix>tensor (`app.routes.values.tensors`). With with_row every route answers for the difference of
two. Status 204: the dump was listed anew since `mark`, so that rows may be others.
"""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request

from app.routes.refusals import Unusable, refusal
from app.routes.values.tensor_blocks import respond_bad, respond_block, respond_json
from layouts.dumps.dump_tensors import Changed, DumpTensorRequest, find, readable
from layouts.kit.state import BadInput, text
from layouts.sources import DumpSources
from layouts.values.tensor_facts import part_facts
from parsers.analysis import Tensor
from parsers.errors import FormatError

_ASK = ("run", "row", "mark", "with_run", "with_row", "with_mark", "how", "dims")
_REFUSED = (Unusable, BadInput, FormatError)


def add_routes(routes: Blueprint, source: DumpSources) -> None:
    """Add the routes for values of dumped tensors."""
    routes.add_url_rule("/dump-values", "dump-values", lambda: block(source))
    routes.add_url_rule("/dump-about", "dump-about", lambda: about(source))
    routes.add_url_rule("/dump-bad", "dump-bad", lambda: bad(source))


def block(source: DumpSources) -> Response:
    """Respond with a rectangle of values."""
    try:
        query = _query("rows", "cols")
        tensor = _found(source, query)
        rows, columns = text(query, "rows"), text(query, "cols")
        answer: Response = readable(lambda: respond_block(tensor, text(query, "dims"), rows, columns))
        return answer
    except _REFUSED as error:
        return _refusal(error)


def about(source: DumpSources) -> Response:
    """Respond with shape, dtype and the part that the dimension boxes select.

    problem is the reason if the tensor cannot be shown; changed says that the rows of the dump are others now.
    """
    try:
        query = _query()
        try:
            return respond_json({"problem": "", **part_facts(_found(source, query), text(query, "dims"))})
        except FormatError as error:
            return respond_json({"problem": str(error), "changed": isinstance(error, Changed)})
    except _REFUSED as error:
        return _refusal(error)


def bad(source: DumpSources) -> Response:
    """Respond with the index of the next non-finite value in row order; after the last one it starts over."""
    try:
        query = _query("after")
        tensor = _found(source, query)
        answer: Response = readable(lambda: respond_bad(tensor, text(query, "after")))
        return answer
    except _REFUSED as error:
        return _refusal(error)


def _query(*others: str) -> dict[str, list[str]]:
    known = (*_ASK, *others)
    for name in request.args:
        if name not in known:
            raise Unusable(f"expected the parameters {', '.join(known)}, found {name[:80]!r}")
    found: dict[str, list[str]] = request.args.to_dict(flat=False)
    if "row" not in found:
        raise Unusable("expected the parameter row")
    return found


def _found(source: DumpSources, query: dict[str, list[str]]) -> Tensor:
    ask = DumpTensorRequest.read(query)
    for run in [ask.value.run] + ([ask.minus.run] if ask.minus else []):
        if source.dumps.open(run).state == "missing":
            raise Unusable(f"no dump of a run {run[:200]!r}", 404)
    tensor: Tensor = readable(lambda: find(source, ask))
    return tensor


def _refusal(error: Any) -> Response:
    if isinstance(error, Changed):  # no error: whoever asked is about to ask again
        return Response(status=204)
    return refusal(Unusable(str(error), 422) if isinstance(error, FormatError) else error)
