"""GET routes for the values of tensors. All of them take the parameters that `layouts.values.tensor_asks` reads.

    <prefix>tensor?run=KEY&tag=TAG&step=STEP&dims=0,:,:&rows=0:128&cols=0:64     a rectangle of the slice that dims selects
    <prefix>tensor-bad?...&after=0,3,5       index of the next NaN or infinity after this one: {"index": [0, 7, 1]} or null
    <prefix>tensor.npy?...&part=all          the slice that dims selects, or with part=all everything, as .npy
    <prefix>tensor.csv?...&part=all          the same as text: a table, or one line per value

    <prefix>tensor-about?...                 shape, dtype and the selected slice, or the problem
    <prefix>tensor-statistics?...&figure=1   statistics of all values, and a figure of their distribution
    <prefix>tensor-histograms?run=KEY&tag=TAG&view=heat&x=step&columns=600&zone=0     a figure over the steps of runs

A rectangle is sent row by row as little-endian numbers; the header Mindscope-Block describes it: {"dtype": "f4", "rows":
[0, 128], "cols": [0, 64]}. With minus_run or minus_step every route answers for the difference of two tensors.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from flask import Response, request
from numpy.typing import NDArray

from app.routes.refusals import Unusable, refusal
from app.routes.values.media import attachment, safe_name
from app.routes.values.tensor_blocks import respond_bad, respond_block, respond_json
from layouts.kit.state import BadInput
from layouts.sources import ValueSources
from layouts.values import tensor_facts as facts
from layouts.values.tensor_asks import ShownTensor, TensorRequest, chosen, find
from layouts.values.tensor_histograms import over_steps
from parsers.analysis import Tensor, chunks, cut
from parsers.errors import FormatError
from parsers.export import number_text

_ASK = ("run", "tag", "step", "place", "minus_run", "minus_step", "minus_place", "how", "dims")
_REFUSED = (Unusable, BadInput, FormatError)


def add_routes(routes: Any, source: ValueSources) -> None:
    """Add the routes over one source."""
    routes.add_url_rule("/tensor", "tensor", lambda: block(source))
    routes.add_url_rule("/tensor-about", "tensor-about", lambda: about(source))
    routes.add_url_rule("/tensor-statistics", "tensor-statistics", lambda: statistics(source))
    routes.add_url_rule("/tensor-histograms", "tensor-histograms", lambda: histograms(source))
    routes.add_url_rule("/tensor-bad", "tensor-bad", lambda: bad(source))
    routes.add_url_rule("/tensor.npy", "tensor-npy", lambda: npy(source))
    routes.add_url_rule("/tensor.csv", "tensor-csv", lambda: csv(source))


def block(source: ValueSources) -> Response:
    """Respond with a rectangle of values."""
    try:
        shown = _shown(source, "rows", "cols")
        return respond_block(shown.tensor, _text("dims"), _text("rows"), _text("cols"))
    except _REFUSED as error:
        return _refusal(error)


def about(source: ValueSources) -> Response:
    """Respond with the facts about a tensor; if it cannot be read or shown, `problem` has the reason."""
    try:
        _refuse_others()
        return respond_json(facts.about(source, TensorRequest.read(_query())))
    except _REFUSED as error:
        return _refusal(error)


def statistics(source: ValueSources) -> Response:
    """Respond with statistics of all values of a tensor."""
    try:
        _refuse_others("figure")
        return respond_json(facts.summary(source, TensorRequest.read(_query()), figure=_text("figure") == "1"))
    except _REFUSED as error:
        return _refusal(error)


def histograms(source: ValueSources) -> Response:
    """Respond with a figure of a tag over the steps of one or more runs, with as many steps as the time limit allowed."""
    try:
        return respond_json(over_steps(source, _query()))
    except _REFUSED as error:
        return _refusal(error)


def bad(source: ValueSources) -> Response:
    """Respond with the index of the next non-finite value in row order; after the last one it starts over."""
    try:
        return respond_bad(_shown(source, "after").tensor, _text("after"))
    except _REFUSED as error:
        return _refusal(error)


def npy(source: ValueSources) -> Response:
    """Respond with values as a .npy file."""
    return _file(source, "npy", "application/octet-stream", npy_pieces)


def csv(source: ValueSources) -> Response:
    """Respond with values as CSV."""
    return _file(source, "csv", "text/csv", _csv_pieces)


def _file(source: ValueSources, suffix: str, mimetype: str, sent: Any) -> Response:
    try:
        shown = _shown(source, "part")
        whole = _text("part") == "all"
        picked = chosen(_text("dims"), shown.tensor)
    except _REFUSED as error:
        return _refusal(error)
    tensor = shown.tensor if whole else cut(shown.tensor, picked.index)
    starts = [0] * len(tensor.shape) if whole else [indices.start for indices in picked.ranges]
    answer = Response(sent(tensor, starts), mimetype=mimetype)
    answer.headers["Content-Disposition"] = attachment(f"{_name(shown)}.{suffix}")
    answer.cache_control.no_store = True
    return answer


def _name(shown: ShownTensor) -> str:
    """Return a file name as in exports: tag and step, and for a difference the subtracted run and step."""
    name = f"{safe_name(shown.value.named.tag)}_{shown.value.step}"
    if shown.minus is None:
        return name
    other = safe_name(shown.minus.named.run) + "_" if shown.minus.named.run != shown.value.named.run else ""
    return f"{name}_minus_{other}{shown.minus.step}"


# Parameters ---------------------------------------------------------------------------------------------------------


def _shown(source: ValueSources, *others: str) -> ShownTensor:
    _refuse_others(*others)
    ask = TensorRequest.read(_query())
    for run in [ask.value.run] + ([ask.minus.run] if ask.minus else []):
        if not any(run in row.members for row in source.runs.rows()):
            raise Unusable(f"no such run: {run[:200]!r}", 404)
        if source.values.series(run, "tensor", ask.value.tag) is None:
            raise Unusable(f"run {run[:200]!r} has no tensor {ask.value.tag[:200]!r}", 404)
    return find(source, ask)


def _refuse_others(*others: str) -> None:
    known = (*_ASK, *others)
    for name in request.args:
        if name not in known:
            raise Unusable(f"expected the parameters {', '.join(known)}, found {name[:80]!r}")


def _query() -> dict[str, list[str]]:
    return request.args.to_dict(flat=False)


def _text(name: str) -> str:
    return request.args.get(name, "")


# Responses ----------------------------------------------------------------------------------------------------------


def npy_head(tensor: Tensor) -> bytes:
    """Return the header of an .npy file."""
    header = io.BytesIO()
    descr = np.lib.format.dtype_to_descr(tensor.dtype.newbyteorder("<"))
    np.lib.format.write_array_header_1_0(header, {"descr": descr, "fortran_order": False, "shape": tensor.shape})
    return header.getvalue()


def npy_pieces(tensor: Tensor, _starts: Sequence[int] = ()) -> Iterator[bytes]:
    """Yield an .npy file in pieces; values are read when their turn comes."""
    dtype = tensor.dtype.newbyteorder("<")
    yield npy_head(tensor)
    for values in chunks(tensor):
        yield values.astype(dtype, copy=False).tobytes()


def _csv_pieces(tensor: Tensor, starts: list[int]) -> Iterator[bytes]:
    """Yield CSV: up to two dimensions as a table with indices in its first row and column, otherwise one line per value."""
    if len(tensor.shape) > 2:
        yield from _csv_list(tensor)
        return
    height, width = ((*tensor.shape, 1, 1)[:2]) if tensor.shape else (1, 1)
    first_row, first_column = ((*starts, 0, 0)[:2]) if starts else (0, 0)
    heads = range(first_column, first_column + width) if len(tensor.shape) == 2 else ("value",)
    yield (",".join(["index", *map(str, heads)]) + "\n").encode()
    pending: list[str] = []
    row = first_row
    for values in chunks(tensor):
        pending += _cells(values)
        lines = []
        while len(pending) >= width > 0 and row < first_row + height:
            full = len(pending) // width
            lines += [f"{row + i},{','.join(pending[i * width : (i + 1) * width])}\n" for i in range(full)]
            row += full
            pending = pending[full * width :]
        yield "".join(lines).encode()


def _csv_list(tensor: Tensor) -> Iterator[bytes]:
    yield (",".join([*(f"dim{number}" for number in range(len(tensor.shape))), "value"]) + "\n").encode()
    begin = 0
    for values in chunks(tensor):
        places = np.unravel_index(np.arange(begin, begin + len(values)), tensor.shape)
        columns = [column.tolist() for column in places]
        rows = zip(*columns, _cells(values), strict=True)
        yield "".join(",".join(map(str, row)) + "\n" for row in rows).encode()
        begin += len(values)


def _cells(values: NDArray[Any]) -> list[str]:
    """Format numbers with the fewest digits that round-trip in their dtype; complex ones in parentheses, as in Python."""
    if values.dtype.kind in "biu":
        return [str(int(value)) for value in values.tolist()]
    if values.dtype.kind == "c":
        return [str(complex(value)) for value in values.tolist()]
    if values.dtype.itemsize >= 8:
        return [number_text(value) for value in values.tolist()]
    # str of a float32 has the fewest digits that round-trip as float32.
    return [str(value) if np.isfinite(value) else number_text(float(value)) for value in values]


def _refusal(error: Exception) -> Response:
    if isinstance(error, FormatError):
        error = Unusable(str(error), 422)
    return refusal(error)
