"""Which connections of this process's gRPC servers are open: gRPC tells of a closed one only if a call is under way.

gRPC counts sockets for its service channelz. The functions below it that give them are no public interface, so all of it is
optional: without them a closed connection is noticed by missing signs of life, as one that is silent.
"""

from __future__ import annotations

import importlib
import json
from typing import Any
from urllib.parse import unquote

_AT_ONCE = 500
"""Connections that are listed by one call."""


class Connections:
    """Lists the peers of open connections, by the names that calls have (`ServicerContext.peer`)."""

    def __init__(self) -> None:
        try:
            self._core: Any = importlib.import_module("grpc._cython.cygrpc")
            self._core.channelz_get_servers(0)
        except (ImportError, AttributeError, ValueError):
            self._core = None

    def peers(self) -> set[str] | None:
        """Return the peers of all open connections; None if that cannot be told."""
        if self._core is None:
            return None
        try:
            servers = [int(one["ref"]["serverId"]) for one in json.loads(self._core.channelz_get_servers(0)).get("server", ())]
            return {name for server in servers for name in self._names(server)} if servers else None
        except (AttributeError, KeyError, TypeError, ValueError):
            self._core = None
            return None

    def _names(self, server: int) -> list[str]:
        found: list[str] = []
        first = 0
        while True:
            listed = json.loads(self._core.channelz_get_server_sockets(server, first, _AT_ONCE))
            sockets = listed.get("socketRef", ())
            found += [unquote(str(one["name"]).rpartition(" ")[2]) for one in sockets]
            if listed.get("end", not sockets) or not sockets:
                return found
            first = int(sockets[-1]["socketId"]) + 1
