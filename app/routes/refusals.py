"""Refused requests: the exception, and the response, one line of JSON with the reason."""

from __future__ import annotations

import json

from flask import Response


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
