"""Routes of live training: its sessions, and orders for it.

    <prefix>api/live.json                    whether and where training can connect, and the sessions, newest first
    <prefix>api/live   {"session": KEY, "order": KIND, "steps": NUMBER, "node": NAME}, by POST

An order is one of `layouts.dumps.live_sessions.ORDERS`; it is for sessions of live training only. What the pages that change
remarks are protected by (`app.routes.runs.notes`) protects orders, too: they accept only application/json, and
`app.web.security` checks Host, Origin and token first.
"""

from __future__ import annotations

import msgspec
from flask import Blueprint, Response

from app.routes.refusals import Unusable, body, refusal
from layouts.dumps.live_sessions import LiveSession, LiveStatus, Order, UnfitOrder
from layouts.sources import LiveSources


class _OrderRequest(msgspec.Struct, forbid_unknown_fields=True):
    session: str
    order: str
    steps: int = 1
    node: str = ""


def add_routes(routes: Blueprint, source: LiveSources) -> None:
    """Add the routes of this module to a blueprint."""
    routes.add_url_rule("/live.json", "live-json", lambda: _json(source.live.status()))
    routes.add_url_rule("/live", "live", lambda: order(source), methods=["POST"])


def order(source: LiveSources) -> Response:
    """Give an order; respond with the session as it is then, 404 for an unknown one, 409 if it cannot follow."""
    try:
        asked = body(_OrderRequest, "an order")
        try:
            return _json(source.live.order(asked.session, Order(asked.order, asked.steps, asked.node)))
        except KeyError:
            raise Unusable(f"no such session of live training: {asked.session[:200]!r}", 404) from None
        except UnfitOrder as error:
            raise Unusable(str(error), 409) from None
    except Unusable as error:
        return refusal(error)


def _json(content: LiveStatus | LiveSession) -> Response:
    answer = Response(msgspec.json.encode(content), mimetype="application/json")
    answer.cache_control.no_store = True
    return answer
