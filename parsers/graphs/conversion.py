"""Reads the report of `mindscope convert`: conversion_of_MODEL.json, with the script that it names beside it.

A report says what became of each node of an ONNX model, where its code is, what the check found, and where weights went. The
file is indexed as one large value of kind "conversion" while a run is read, and decoded on demand. Of the script only text is
read; nothing of it is run. Not read: the checkpoint, and the three files in the formats of mindconverter.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsers.conversion_frames import CONVERSION_NODES, CONVERSION_VALUES, CONVERSION_WEIGHTS
from parsers.deferred import pandas as pd
from parsers.errors import FormatError
from parsers.file_reading import read_whole
from parsers.files import RegularFile
from parsers.json_text import encodable, parse_json
from parsers.model import Batch, Cursor, PayloadBlock, Problem, Reader
from parsers.names import printable
from parsers.schema import Schema

KIND = "conversion"
FORMAT = "mindscope conversion"
CONVERTED, FOLDED, MARKED, OTHER = STATES = ("converted", "folded", "marked", "other")
LONGEST = 256 << 20
"""Maximum bytes of a report: one of 100,000 nodes has 50 MB."""
LONGEST_SCRIPT = 32 << 20
"""Maximum bytes of a script."""
_SIGN = re.compile(rb'\A\s*\{\s*"format"\s*:\s*"mindscope conversion"')
_WHOLE = 2**53


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ConversionReader(Reader):
    """Reads reports of conversions."""

    def sniff(self, head: bytes) -> bool:
        """Return whether the first bytes of a file are those of a report."""
        return _SIGN.match(head) is not None

    def read(self, path: str, cursor: Cursor | None = None, limit: int | None = None) -> Batch:  # noqa: ARG002  one piece
        """Index the file as one value of kind "conversion", tagged with its name; nothing if it has not changed."""
        return read_whole(path, cursor, _index)

    def verify(self, path: str) -> Sequence[Problem]:
        """Decode the whole report; return all problems."""
        batch = self.read(path)
        if not batch.payloads:
            return batch.problems
        try:
            return read_conversion(path).problems
        except (OSError, FormatError) as error:
            return (Problem(path, 0, 0, "unreadable", str(error)),)


CONVERSIONS = ConversionReader(name="conversion", pattern=re.compile(r"\Aconversion_of_(?s:.+)\.json\Z"), signed=True)


def _index(file: RegularFile, now: Cursor) -> Batch:
    problem = None
    if _SIGN.match(file.read(0, 4096)) is None:
        text = "Expected the report of a conversion, as the name says, found another file; it is not shown."
        problem = Problem(file.path, 0, 0, "no_conversion", text)
    elif not file.read(max(0, file.size - 64), 64).rstrip().endswith(b"}"):
        text = "The report ends within a record: it was cut, or is still being written. Nothing of it is shown."
        problem = Problem(file.path, 0, file.size, "bad_conversion", text)
    if problem is not None:
        return Batch(now, problems=[problem], bytes_read=file.size)
    zero = np.zeros(1, np.int64)
    tag = printable(os.path.basename(file.path))
    block = PayloadBlock(KIND, tag, zero, np.array([now.mtime]), zero, zero, np.array([file.size]), np.ones(1, np.bool_))
    return Batch(now, payloads=[block], problems=[], records=1, bytes_read=file.size)


@dataclass(frozen=True, slots=True)
class ConversionCheck:
    """What the check says of itself. state is "checked" or "not checked", for which reason is given.

    error is that of the script; constant are outputs whose numbers are all the same, which proves nothing. versions: program ->
    version.
    """

    state: str = "not checked"
    reason: str = ""
    target: str = ""
    error: str = ""
    constant: tuple[str, ...] = ()
    tolerance: Mapping[str, float] | None = None
    versions: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConversionReport:
    """A decoded report: frames of the schemas in `parsers.conversion_frames`, facts, and the lines of the script.

    inputs and outputs are the names of the values of each row of nodes. no_script says why there are no lines; "" if there are.
    """

    model: str
    source: Mapping[str, str]
    nodes: pd.DataFrame
    values: pd.DataFrame
    weights: pd.DataFrame
    inputs: tuple[tuple[str, ...], ...]
    outputs: tuple[tuple[str, ...], ...]
    model_inputs: tuple[tuple[str, str, str], ...]
    unused: tuple[str, ...]
    check: ConversionCheck
    script: str
    lines: tuple[str, ...]
    no_script: str
    problems: tuple[Problem, ...]
    nbytes: int


def read_conversion(path: str, cursor: Cursor | None = None) -> ConversionReport:
    """Decode a report. OSError if it cannot be read, FormatError if it is none, is too large, or changed since the cursor."""
    with RegularFile(path) as file:
        if cursor is not None and (file.size != cursor.size or not file.continues(cursor)):
            raise FormatError("expected the report that was indexed, found another file: it was replaced since")
        if file.size > LONGEST:
            raise FormatError(f"expected a report of at most {LONGEST:,} bytes, found {file.size:,}")
        data = file.whole()
    try:
        told = parse_json(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"expected JSON, found an error: {error}") from None
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise FormatError("expected the report of a conversion, found other JSON")
    return _Decoding(path, told).report(len(data))


class _Decoding:
    """Decodes one report; what is no value of its column becomes an empty one, and is counted."""

    def __init__(self, path: str, told: Mapping[str, Any]) -> None:
        self.path, self.told, self.wrong = path, told, 0

    def report(self, size: int) -> ConversionReport:
        """Return the report."""
        nodes, values, weights = self._rows("nodes"), self._rows("values", self._dict("check")), self._rows("weights")
        script, lines, missing = _script(self.path, _text(self.told.get("script")))
        inputs, outputs = (tuple(self._names(row, key) for row in nodes) for key in ("inputs", "outputs"))
        frames = (self._nodes(nodes, inputs, outputs), self._values(values), self._weights(weights))
        source = self._dict("source")
        given = source.get("inputs")
        facts = {name: _text(source.get(name)) for name in ("file", "opset", "producer")}
        model_inputs = tuple(
            (_text(one.get("name")), _text(one.get("dtype")), _shape(one.get("shape")))
            for one in (given if isinstance(given, list) else []) if isinstance(one, dict)
        )
        return ConversionReport(
            _text(self.told.get("model")), facts, *frames, inputs, outputs, model_inputs, self._names(self.told, "unused"),
            self._check(), script, lines, missing, self._problems(), 4 * size,
        )  # fmt: skip

    def _problems(self) -> tuple[Problem, ...]:
        if not self.wrong:
            return ()
        text = f"{self.wrong:,} values of the report are not of their kind; they are left empty, everything else is shown."
        return (Problem(self.path, 0, 0, "bad_conversion", text),)

    def _dict(self, key: str) -> Mapping[str, Any]:
        found = self.told.get(key)
        return found if isinstance(found, dict) else {}

    def _rows(self, key: str, within: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        found = (self.told if within is None else within).get(key)
        if not isinstance(found, list):
            self.wrong += key != "values"
            return []
        rows = [row for row in found if isinstance(row, dict)]
        self.wrong += len(found) - len(rows)
        return rows

    def _names(self, row: Mapping[str, Any], key: str) -> tuple[str, ...]:
        found = row.get(key)
        return tuple(_text(name) for name in found) if isinstance(found, list) else ()

    def _texts(self, rows: Sequence[Mapping[str, Any]], key: str) -> list[str]:
        found = [row.get(key) for row in rows]
        self.wrong += sum(not isinstance(value, str) for value in found)
        return [_text(value) for value in found]

    def _whole(self, rows: Sequence[Mapping[str, Any]], key: str, absent: int) -> list[int]:
        found = [row.get(key) for row in rows]
        valid = [isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _WHOLE for value in found]
        self.wrong += len(found) - sum(valid)
        return [int(value) if good else absent for value, good in zip(found, valid, strict=True)]  # type: ignore[arg-type]

    def _nodes(
        self, rows: Sequence[Mapping[str, Any]], inputs: Sequence[Sequence[str]], outputs: Sequence[Sequence[str]]
    ) -> pd.DataFrame:
        states = [state if state in STATES else OTHER for state in self._texts(rows, "state")]
        lists = {"inputs": inputs, "outputs": outputs}
        return _frame(CONVERSION_NODES, {
            "node": self._whole(rows, "node", -1), "state": states, "shape": [_shape(row.get("shape")) for row in rows],
            **{key: self._texts(rows, key) for key in ("name", "operator", "domain", "message", "dtype")},
            **{key: self._whole(rows, key, 0) for key in ("first_line", "last_line")},
            **{key: [json.dumps(names, ensure_ascii=False) for names in some] for key, some in lists.items()},
        })  # fmt: skip

    def _values(self, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
        return _frame(CONVERSION_VALUES, {
            "order": range(len(rows)), "node": self._whole(rows, "node", -1), "value": self._texts(rows, "value"),
            **{key: [_number(row.get(key)) for row in rows] for key in ("largest", "relative")},
            "beyond": [row.get("beyond") is True for row in rows], "text": [_text(row.get("text")) for row in rows],
        })  # fmt: skip

    def _weights(self, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
        return _frame(CONVERSION_WEIGHTS, {
            **{key: self._texts(rows, key) for key in ("parameter", "dtype", "source", "source_dtype")},
            **{key: [_shape(row.get(key)) for row in rows] for key in ("shape", "source_shape")},
            "change": [_text(row.get("change")) for row in rows],
        })  # fmt: skip

    def _check(self) -> ConversionCheck:
        told = self._dict("check")
        tolerance, versions = ({str(key): value for key, value in part.items()} if isinstance(part, dict) else {}
                               for part in (told.get("tolerance"), told.get("versions")))  # fmt: skip
        state = "checked" if told.get("state") == "checked" else "not checked"
        return ConversionCheck(
            state, _text(told.get("reason")), _text(told.get("target")),
            _text(told.get("error")), self._names(told, "constant_outputs"),
            {key: _number(value) for key, value in tolerance.items()}, {key: _text(value) for key, value in versions.items()},
        )  # fmt: skip


def _frame(schema: Schema, columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    made = {}
    for column in schema.columns:
        values = columns[column.name]
        if column.dtype == "category":
            made[column.name] = pd.Series(pd.array(values, dtype="str")).astype("category")
        else:
            made[column.name] = pd.Series(values, dtype=column.dtype)
    return schema.check(pd.DataFrame(made))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _WHOLE else ""


def _number(value: Any) -> float:
    plain = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 1e308
    return float(value) if plain else math.inf if value == math.inf else math.nan


def _shape(value: Any) -> str:
    if not isinstance(value, list):
        return ""
    return "x".join("?" if one is None else _text(one) for one in value) if value else "[]"


def _script(path: str, name: str) -> tuple[str, tuple[str, ...], str]:
    """Return name and lines of the script beside a report, and why there are none."""
    if not name:
        return "", (), "the report names no script"
    if os.path.basename(name) != name or "\\" in name or "\0" in name or name in (".", ".."):
        return name, (), "the report names a script in another directory"
    place = os.path.join(os.path.dirname(path), name)
    try:
        if os.path.islink(place):
            return name, (), "the script is a link to another file"
        with RegularFile(place) as file:
            if file.size > LONGEST_SCRIPT:
                return name, (), f"the script has {file.size:,} bytes, more than {LONGEST_SCRIPT:,}"
            text = file.whole().decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        return name, (), f"the script cannot be read: {getattr(error, 'strerror', None) or error}"
    return name, tuple(encodable(text).removesuffix("\n").split("\n")), ""
