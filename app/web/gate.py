"""Validate callback requests before they reach Dash.

Dash takes the ids, properties and the number of values of a callback from the request and answers 500 if they are not what it
expects. Here a request is decoded and compared with the callback it names; it is refused with 400 unless every id and property
belongs to that callback. Each callback validates its values itself and raises `layouts.kit.state.BadInput`.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from dash.exceptions import InvalidCallbackReturnValue, PreventUpdate
from flask import Response, request
from werkzeug.exceptions import HTTPException

from layouts.kit.state import BadInput

_log = logging.getLogger(__name__)
_WILDCARDS = {("MATCH",): "MATCH", ("ALL",): "ALL", ("ALLSMALLER",): "ALLSMALLER"}
_LONG_NUMBER = re.compile(rb"[0-9]{19}")
_LEAST, _GREATEST = -(1 << 63), (1 << 63) - 1

Scalar = str | int | float | bool
Id = str | dict[str, Scalar]


class RequestRefused(ValueError):
    """The request is not one that our pages send; the text says what was expected."""


class Value(msgspec.Struct):
    """A property of a component in a request, with its value if the request has one."""

    id: Id
    property: str
    value: Any = None


Values = Value | list[Value]


class CallbackBody(msgspec.Struct):
    """A callback request as the browser sends it."""

    output: str
    inputs: list[Values]
    state: list[Values] = []
    outputs: Value | list[Values] | None = None
    changedPropIds: list[str] = []  # noqa: N815 - the name in the request


def check(body: bytes, callbacks: Mapping[str, Any]) -> CallbackBody:
    """Decode a request and check it against the callback it names. Raises RequestRefused."""
    try:
        decoded = msgspec.json.decode(body, type=CallbackBody)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RequestRefused(f"expected a callback request, found an error: {error}") from None
    if _LONG_NUMBER.search(body):
        _check_numbers([*decoded.inputs, *decoded.state])
    callback = callbacks.get(decoded.output)
    if callback is None:
        raise RequestRefused(f"expected the output of a callback, found {decoded.output[:80]!r}")
    matched: dict[str, Scalar] = {}
    _check_list(decoded.inputs, callback["inputs"], matched, "inputs")
    _check_list(decoded.state, callback["state"], matched, "state")
    _check_outputs(decoded.outputs, callback["output"], matched)
    _check_changed(decoded.changedPropIds, decoded.inputs)
    return decoded


def _check_numbers(values: Sequence[Values]) -> None:
    """Refuse whole numbers beyond 64 bits, which no array takes. JSON and Python have them of any size."""
    waiting: list[Any] = [value.value for given in values for value in (given if isinstance(given, list) else [given])]
    while waiting:
        value = waiting.pop()
        if isinstance(value, int) and not _LEAST <= value <= _GREATEST:
            raise RequestRefused(f"expected whole numbers of 64 bits, found one of {value.bit_length()} bits")
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def outputs_fit(asked: CallbackBody) -> bool:
    """Return whether each list of outputs is as long as every other list of the request.

    A callback returns one value per component of a list. Dash checks their number only after the callback has run.
    """
    # Dash writes the outputs of a callback that has several as "..a.b...c.d..".
    outputs = asked.outputs if isinstance(asked.outputs, list) and asked.output.startswith("..") else [asked.outputs]
    counts = {len(given) for given in outputs if isinstance(given, list)}
    return not counts or len(counts | {len(given) for given in (*asked.inputs, *asked.state) if isinstance(given, list)}) == 1


def _check_list(given: Sequence[Values], wanted: Sequence[Mapping[str, str]], matched: dict[str, Scalar], part: str) -> None:
    if len(given) != len(wanted):
        raise RequestRefused(f"{part}: expected {len(wanted)} values, found {len(given)}")
    for value, want in zip(given, wanted, strict=True):
        _check_value(value, want["id"], want["property"], matched, part)


def _check_outputs(given: Value | list[Values] | None, wanted: Any, matched: dict[str, Scalar]) -> None:
    several = isinstance(wanted, (list, tuple))
    wants = list(wanted) if several else [wanted]
    if not wants:
        if given not in (None, []):
            raise RequestRefused("outputs: expected none, found some")
        return
    if given is None:
        raise RequestRefused("outputs: expected some, found none")
    values = given if several else [given]
    if not isinstance(values, list) or len(values) != len(wants):
        found = len(values) if isinstance(values, list) else "one that is no list"
        raise RequestRefused(f"outputs: expected {len(wants)}, found {found}")
    for value, want in zip(values, wants, strict=True):
        _check_value(value, want.component_id_str(), want.component_property, matched, "outputs")


def _check_value(given: Any, want_id: str, want_property: str, matched: dict[str, Scalar], part: str) -> None:
    pattern = _pattern(want_id)
    several = pattern is not None and any(part in ("ALL", "ALLSMALLER") for part in _wildcards(pattern).values())
    if several != isinstance(given, list):
        raise RequestRefused(f"{part}: expected {'a list' if several else 'one value'} for {want_id}, found the other")
    for value in given if isinstance(given, list) else [given]:
        # A duplicate output has a hash after "@", which only the browser uses.
        if not isinstance(value, Value) or value.property.split("@")[0] != want_property.split("@")[0]:
            raise RequestRefused(f"{part}: expected property {want_property} of {want_id}, found another")
        if not (_fits(value.id, pattern, matched) if pattern is not None else value.id == want_id):
            raise RequestRefused(f"{part}: expected {want_id}, found another id")


def _pattern(identifier: str) -> dict[str, Any] | None:
    """Parse the pattern id of a callback; None for a plain id."""
    return json.loads(identifier) if identifier.startswith("{") else None


def _wildcards(pattern: Mapping[str, Any]) -> dict[str, str]:
    """Return key -> wildcard of a pattern id."""
    return {key: _WILDCARDS[tuple(part)] for key, part in pattern.items() if isinstance(part, list)}


def _fits(given: Id, pattern: Mapping[str, Any], matched: dict[str, Scalar]) -> bool:
    """Return whether an id fits a pattern; MATCH must have the same value everywhere in a request."""
    if isinstance(given, str) or given.keys() != pattern.keys():
        return False
    wildcards = _wildcards(pattern)
    for key, part in given.items():
        if key not in wildcards:
            if part != pattern[key] or type(part) is not type(pattern[key]):
                return False
        elif wildcards[key] == "MATCH" and matched.setdefault(key, part) != part:
            return False
    return True


def _check_changed(changed: Sequence[str], inputs: Sequence[Values]) -> None:
    known = set()
    for given in inputs:
        for value in given if isinstance(given, list) else [given]:
            known.add(f"{_as_text(value.id)}.{value.property}")
    for name in changed:
        if name not in known:
            raise RequestRefused(f"changedPropIds: expected names of inputs, found {name[:80]!r}")


def _as_text(identifier: Id) -> str:
    """Serialize an id as the browser does: JSON with sorted keys and no spaces."""
    if isinstance(identifier, str):
        return identifier
    return json.dumps(identifier, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def guarded(dispatch: Callable[[], Any], callbacks: Mapping[str, Any]) -> Callable[[], Any]:
    """Wrap Dash's view of callback requests in `check`. A client never receives more than one line about an error."""

    def dispatch_checked() -> Any:
        asked = None
        try:
            if not request.is_json:
                raise RequestRefused("expected application/json, found another content type")
            asked = check(request.get_data(), callbacks)
            return dispatch()
        except (RequestRefused, BadInput) as error:
            _log.info("callback refused: %s", error)
            return _refusal(400, str(error))
        except HTTPException:
            raise
        except PreventUpdate:
            return Response(status=204)
        except Exception as error:  # noqa: BLE001 - else Dash would send the traceback to the browser; it belongs in the log
            _log.exception("callback failed")
            if isinstance(error, InvalidCallbackReturnValue) and asked is not None and not outputs_fit(asked):
                return _refusal(400, "outputs: expected those that belong to the inputs, found others")
            return _refusal(500, "internal error; the log has the details")

    return dispatch_checked


def _refusal(status: int, text: str) -> Response:
    return Response(json.dumps({"error": text}), status=status, mimetype="application/json")
