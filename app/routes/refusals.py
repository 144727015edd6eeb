"""Requests to a plain route that cannot be answered, and what is answered instead: one line of JSON that says why."""

from __future__ import annotations

import json

from flask import Response


class Unusable(ValueError):
    """A request that cannot be answered; status is that of the answer, the text says why."""

    def __init__(self, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.status = status


def refusal(error: Exception) -> Response:
    """The answer to a request that failed with this."""
    status = error.status if isinstance(error, Unusable) else 400
    answer = Response(json.dumps({"error": str(error)}) + "\n", status=status, mimetype="application/json")
    answer.cache_control.no_store = True
    if status == 503:
        answer.headers["Retry-After"] = "2"
    return answer
