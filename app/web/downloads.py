"""A limit of the responses that are streamed at once, so that clients that do not read leave threads for all others."""

from __future__ import annotations

import json
import threading

from flask import Response

MOST = 8
"""Streamed responses at once: half of the server's threads."""


class Downloads:
    """The streamed responses of one application."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._free = threading.BoundedSemaphore(most)

    def limit(self, response: Response) -> Response:
        """Return the response, or 503 in place of a streamed one while as many as allowed are being sent."""
        if not response.is_streamed:
            return response
        if not self._free.acquire(blocking=False):
            response.close()
            text = f"{self._most} downloads are running: try again when one has ended."
            busy = Response(json.dumps({"error": text}) + "\n", status=503, mimetype="application/json")
            busy.headers["Retry-After"] = "5"
            return busy
        response.call_on_close(self._free.release)
        return response
