"""Requests with a body, and refused ones: the exception, and the response, one line of JSON with the reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec
from flask import Response, request

from layouts.kit.parameters import Request
from layouts.kit.state import BadInput

T = TypeVar("T", bound=msgspec.Struct)
R = TypeVar("R", bound=Request)


class Unusable(ValueError):
    """A request that is refused; status is the HTTP status of the response, the text is the reason."""

    def __init__(self, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.status = status


def refusal(error: Exception) -> Response:
    """Return the response to a request that failed with this error."""
    status = error.status if isinstance(error, Unusable) else 400
    answer = Response(json.dumps({"error": str(error)}) + "\n", status=status, mimetype="application/json")
    answer.cache_control.no_store = True
    if status == 503:
        answer.headers["Retry-After"] = "2"
    return answer


def answered(make: Callable[[], Response]) -> Response:
    """Return what make returns, which no browser keeps, or the refusal of what it raises: Unusable or BadInput."""
    try:
        answer = make()
    except (Unusable, BadInput) as error:
        return refusal(error)
    answer.cache_control.no_store = True
    return answer


def parameters(known: Sequence[str]) -> dict[str, list[str]]:
    """Return the parameters of a request by name; Unusable if one is not among these."""
    unknown = sorted(set(request.args) - set(known))
    if unknown:
        raise Unusable(f"expected the parameters {', '.join(known)}; found {unknown[0][:80]!r}")
    return request.args.to_dict(flat=False)


def asked(kind: type[R], more: Sequence[str] = ()) -> R:
    """Return the request that the parameters of a route describe; more are further parameters, which are read elsewhere.

    Unusable if it does not say what it is about or has other parameters, BadInput if a value is not valid.
    """
    found = kind.read_any(parameters((*kind.route_keys(), *more)))
    if found is None:
        raise Unusable("expected the parameter run, found none")
    return found


def body(kind: type[T], what: str = "a change") -> T:
    """Return the body of a request; Unusable if it is not JSON of this kind, or is not called so, as a form of another site."""
    if not request.is_json:
        raise Unusable(f"expected application/json, found {request.mimetype or 'no content type'}", 415)
    try:
        return msgspec.json.decode(request.get_data(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Unusable(f"expected {what} as JSON, found an error: {error}") from None
