"""POST route by which the data health asks for a remote file that is above the mirror's limit.

    <prefix>api/fetch   {"address": ADDRESS, "name": NAME}

The name is one of those that the mirror has listed; any other one is answered with 404.
"""

from __future__ import annotations

import msgspec
from flask import Blueprint, Response

from app.routes.refusals import Unusable, answered, body
from layouts.sources import RunSources


class _FetchRequest(msgspec.Struct, forbid_unknown_fields=True):
    address: str
    name: str


def add_routes(routes: Blueprint, source: RunSources) -> None:
    """Add the route."""
    routes.add_url_rule("/fetch", "fetch", lambda: answered(lambda: fetch(source)), methods=["POST"])


def fetch(source: RunSources) -> Response:
    """Have a file copied; raise Unusable if no mirror has it."""
    asked = body(_FetchRequest)
    if not source.runs.fetch(asked.address, asked.name):
        raise Unusable("expected a file that a mirror of this server has listed and not copied, found none", 404)
    return Response("{}\n", mimetype="application/json")
