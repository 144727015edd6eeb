"""Routes of view files (`layouts.runs.view_files`).

    <prefix>api/view-file.toml?place=PLACE    an address within the application as a view file
    <prefix>api/view-file                     POST {"text": FILE}: {"place": PLACE, "card": CARD}, the address that it means now
"""

from __future__ import annotations

from typing import Any

import msgspec
from flask import Response, request

from app.routes.refusals import Unusable, answered, body, parameters
from app.routes.runs.listing import json_answer
from layouts.kit.user_input import InvalidInput
from layouts.runs.view_files import place_of, read_view, view_text
from layouts.sources import Sources


class _File(msgspec.Struct, forbid_unknown_fields=True):
    text: str


def add_routes(routes: Any, source: Sources) -> None:
    """Add the routes."""
    routes.add_url_rule("/view-file.toml", "view-file-toml", lambda: answered(written))
    routes.add_url_rule("/view-file", "view-file", lambda: answered(lambda: opened(source)), methods=["POST"])


def written() -> Response:
    """Respond with an address as a view file."""
    parameters(("place",))
    try:
        text = view_text(request.args.get("place", ""))
    except InvalidInput as error:
        raise Unusable(str(error)) from None
    return Response(text, mimetype="application/toml", headers={"Content-Disposition": "attachment; filename=view.toml"})


def opened(source: Sources) -> Response:
    """Respond with the address that a view file means, and the card that it names, "" for none."""
    text = body(_File, "a view file").text
    try:
        view = read_view(text)
        return json_answer({"place": place_of(view, source), "card": view.card})
    except InvalidInput as error:
        raise Unusable(str(error)) from None
