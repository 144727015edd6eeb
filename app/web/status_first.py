"""A WSGI application in front of ours that answers what every open page asks again and again: the status of the server.

Flask takes longer for it than all the rest: matching the address, two contexts, functions before and after each request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from app.routes.runs import listing
from layouts.shell import shell
from layouts.shell.run_list import shown_status

if TYPE_CHECKING:
    from app.web.server import Application


class StatusFirst:
    """Answer GET `<prefix>api/status.json` as the application does, its checks included, and pass on every other request."""

    def __init__(self, app: Application) -> None:
        self._app: Callable[..., Iterable[bytes]] = app.server
        self._source = app.source
        self._guard = app.guard
        self._path = f"{app.prefix}{shell.ROUTES}status.json"
        answer = app.guard.with_headers(listing.json_answer(None), self._path)
        self._headers = [(name, value) for name, value in answer.headers.items() if name != "Content-Length"]

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Respond to a request."""
        if environ.get("REQUEST_METHOD") != "GET" or environ.get("PATH_INFO") != self._path:
            return self._app(environ, start_response)
        refused = self._guard.refuse_early(environ)
        if refused is not None:
            return refused(environ, start_response)
        body = msgspec.json.encode(shown_status(self._source))
        start_response("200 OK", [*self._headers, ("Content-Length", str(len(body)))])
        return [body]
