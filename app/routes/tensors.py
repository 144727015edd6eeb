"""Plain GET routes for the values of tensors. What they all take is an ask of `layouts.queries.tensors`.

    <prefix>tensor?run=KEY&tag=TAG&step=STEP&dims=0,:,:&rows=0:128&cols=0:64     a rectangle of the part that dims names
    <prefix>tensor-bad?...&after=0,3,5       index of the next NaN or infinity after that one: {"index": [0, 7, 1]} or null
    <prefix>tensor.npy?...&part=all          the part that dims names, or all of it, as a .npy file
    <prefix>tensor.csv?...&part=all          the same as text: a table of rows and columns, or one line per value

    <prefix>tensor-about?...                 shape, dtype and the part that dims names, or why there is nothing to show
    <prefix>tensor-statistics?...&figure=1   statistics of all values, and a figure of their distribution
    <prefix>tensor-histograms?run=KEY&tag=TAG&view=heat&x=step&columns=600&zone=0     a figure of it over the steps of runs

A rectangle is sent row by row as little-endian numbers; the header Mindscope-Block says what of: {"dtype": "f4", "rows":
[0, 128], "cols": [0, 64]}. minus_run or minus_step make all of them speak of the difference of two tensors.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
from flask import Response, request
from numpy.typing import NDArray

from app.routes.media import attachment, safe_name
from app.routes.refusals import Unusable, refusal
from layouts.queries import tensor_facts as facts
from layouts.queries.tensor_histograms import over_steps
from layouts.queries.tensors import Shown, chosen, extent, find, read_ask, rectangle
from layouts.sources import ValueSource
from layouts.state import BadInput
from parsers.analysis import Tensor, chunks, cut, next_bad, row_number
from parsers.errors import FormatError
from parsers.export import number_text

MOST_VALUES = 100_000
"""A rectangle has at most so many."""
_ASK = ("run", "tag", "step", "place", "minus_run", "minus_step", "minus_place", "how", "dims")
_SPAN = re.compile(r"([0-9]{1,15}):([0-9]{1,15})")
_REFUSED = (Unusable, BadInput, FormatError)


def block(source: ValueSource) -> Response:
    """A rectangle of values."""
    try:
        shown = _shown(source, "rows", "cols")
        picked = chosen(_text("dims"), shown.tensor)
        height, width = extent(picked)
        rows, columns = _span("rows", height), _span("cols", width)
        count = (rows.stop - rows.start) * (columns.stop - columns.start)
        if count > MOST_VALUES:
            raise Unusable(f"wanted at most {MOST_VALUES:,} values, got {count:,}: name fewer rows or cols")
        values = _sendable(rectangle(shown.tensor, picked, rows, columns))
    except _REFUSED as error:
        return _refusal(error)
    answer = Response(values.tobytes(), mimetype="application/octet-stream")
    about = {"dtype": values.dtype.str[1:], "rows": [rows.start, rows.stop], "cols": [columns.start, columns.stop]}
    answer.headers["Mindscope-Block"] = json.dumps(about)
    answer.cache_control.no_store = True
    return answer


def about(source: ValueSource) -> Response:
    """What is known of a tensor without its values; one that cannot be read or shown says so in its `problem`."""
    try:
        _refuse_others()
        return _json(facts.about(source, read_ask(_query())))
    except _REFUSED as error:
        return _refusal(error)


def statistics(source: ValueSource) -> Response:
    """Statistics of all values of a tensor."""
    try:
        _refuse_others("figure")
        return _json(facts.summary(source, read_ask(_query()), figure=_text("figure") == "1"))
    except _REFUSED as error:
        return _refusal(error)


def histograms(source: ValueSource) -> Response:
    """A figure of a tag over the steps of one or many runs, of as many steps as a time allowed."""
    try:
        return _json(over_steps(source, _query()))
    except _REFUSED as error:
        return _refusal(error)


def bad(source: ValueSource) -> Response:
    """Where the next value that is not finite is, in row order; from the first on after the last."""
    try:
        tensor = _shown(source, "after").tensor
        begin = _after(tensor)
        index = next_bad(tensor, begin)
        if index is None and begin:
            index = next_bad(tensor)
    except _REFUSED as error:
        return _refusal(error)
    return _json({"index": index})


def npy(source: ValueSource) -> Response:
    """Values as a .npy file."""
    return _file(source, "npy", "application/octet-stream", _npy_pieces)


def csv(source: ValueSource) -> Response:
    """Values as text."""
    return _file(source, "csv", "text/csv", _csv_pieces)


def _file(source: ValueSource, suffix: str, mimetype: str, sent: Any) -> Response:
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


def _name(shown: Shown) -> str:
    """Like the files of an export: tag and step, and what was subtracted."""
    name = f"{safe_name(shown.value.named.tag)}_{shown.value.step}"
    if shown.minus is None:
        return name
    other = safe_name(shown.minus.named.run) + "_" if shown.minus.named.run != shown.value.named.run else ""
    return f"{name}_minus_{other}{shown.minus.step}"


# What is asked for --------------------------------------------------------------------------------------------------


def _shown(source: ValueSource, *others: str) -> Shown:
    _refuse_others(*others)
    ask = read_ask(_query())
    for run in [ask.value.run] + ([ask.minus.run] if ask.minus else []):
        if not any(run in row.members for row in source.runs()):
            raise Unusable(f"no such run: {run[:200]!r}", 404)
        if source.payload_series(run, "tensor", ask.value.tag) is None:
            raise Unusable(f"run {run[:200]!r} has no tensor {ask.value.tag[:200]!r}", 404)
    return find(source, ask)


def _refuse_others(*others: str) -> None:
    known = (*_ASK, *others)
    for name in request.args:
        if name not in known:
            raise Unusable(f"wanted the parameters {', '.join(known)}, got {name[:80]!r}")


def _query() -> dict[str, list[str]]:
    return request.args.to_dict(flat=False)


def _text(name: str) -> str:
    return request.args.get(name, "")


def _span(name: str, size: int) -> slice:
    """The rows or columns a request names, without what lies beyond the last."""
    text = _text(name)
    if not text:
        return slice(0, size)
    found = _SPAN.fullmatch(text)
    if not found or int(found[1]) > int(found[2]):
        raise Unusable(f"{name}: wanted a range such as 0:128, got {text[:80]!r}")
    return slice(min(int(found[1]), size), min(int(found[2]), size))


def _after(tensor: Tensor) -> int:
    """Place in row order behind the index that a request names."""
    text = _text("after")
    if not text or not tensor.size:
        return 0
    index = [int(number) if number.isdecimal() else -1 for number in text[:2000].split(",")]
    if len(index) != len(tensor.shape) or any(not 0 <= i < size for i, size in zip(index, tensor.shape, strict=True)):
        raise Unusable(f"after: wanted an index within {list(tensor.shape)}, got {text[:80]!r}")
    return row_number(index, tensor.shape) + 1


# What is answered ---------------------------------------------------------------------------------------------------


def _json(content: Any) -> Response:
    answer = Response(msgspec.json.encode(content), mimetype="application/json")
    answer.cache_control.no_store = True
    return answer


def _sendable(values: NDArray[Any]) -> NDArray[Any]:
    """Values in a dtype that a browser has an array for, without loss."""
    target = {"?": "u1", "e": "<f4"}.get(values.dtype.char)
    if target is None:
        target = values.dtype.newbyteorder("<").str
    return values.astype(target)


def _npy_pieces(tensor: Tensor, _starts: list[int]) -> Iterator[bytes]:
    dtype = tensor.dtype.newbyteorder("<")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": tensor.shape}
    )
    yield header.getvalue()
    for values in chunks(tensor):
        yield values.astype(dtype).tobytes()


def _csv_pieces(tensor: Tensor, starts: list[int]) -> Iterator[bytes]:
    """Up to two dimensions as a table whose first column and line are indices; of more, one line of index and value each."""
    if len(tensor.shape) > 2:
        yield from _csv_list(tensor)
        return
    height, width = ((*tensor.shape, 1, 1)[:2]) if tensor.shape else (1, 1)
    first_row, first_column = ((*starts, 0, 0)[:2]) if starts else (0, 0)
    heads = range(first_column, first_column + width) if len(tensor.shape) == 2 else ("value",)
    yield (",".join(["index", *map(str, heads)]) + "\n").encode()
    waiting: list[str] = []
    row = first_row
    for values in chunks(tensor):
        waiting += _cells(values)
        lines = []
        while len(waiting) >= width > 0 and row < first_row + height:
            full = len(waiting) // width
            lines += [f"{row + i},{','.join(waiting[i * width : (i + 1) * width])}\n" for i in range(full)]
            row += full
            waiting = waiting[full * width :]
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
    """Numbers with the fewest digits that read back the same in their dtype; complex ones in parentheses, as in Python."""
    if values.dtype.kind in "biu":
        return [str(int(value)) for value in values.tolist()]
    if values.dtype.kind == "c":
        return [str(complex(value)) for value in values.tolist()]
    if values.dtype.itemsize >= 8:
        return [number_text(value) for value in values.tolist()]
    # str of a float32 has the digits of a float32.
    return [str(value) if np.isfinite(value) else number_text(float(value)) for value in values]


def _refusal(error: Exception) -> Response:
    if isinstance(error, FormatError):
        error = Unusable(str(error), 422)
    return refusal(error)
