"""What a page needs to be saved as one file that opens without a server (`app.routes.all_routes`).

    <prefix>api/page-file.json?charts=none|flat|all    version, script of the file, plotly.js, and the hashes of both

The browser makes the file (assets/shell/page_file.js), as only it has the page as it is drawn. Hashes come from here, because
browsers compute none on pages of plain HTTP from another machine.
"""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import os
from collections.abc import Mapping
from typing import Any

from flask import Response, request

import app
from app.routes.refusals import Unusable, answered, parameters
from app.routes.runs.listing import json_answer
from app.web.bundles import CARTESIAN, all_charts_file, assets_directory
from app.web.modules import PAGE_FILE

CHARTS = ("none", "flat", "all")
"""Values of `charts`: no plotly.js, that for two dimensions, or the whole of it."""


def add_routes(routes: Any, _source: object) -> None:
    """Add the route."""
    routes.add_url_rule("/page-file.json", "page-file", lambda: answered(parts))


def parts() -> Response:
    """Respond with what the browser puts into a file: version, loader, plotly as gzip in base64, and their hashes for CSP."""
    parameters(("charts",))
    charts = request.args.get("charts", "none")
    if charts not in CHARTS:
        raise Unusable(f"charts: expected one of {', '.join(CHARTS)}; found {charts[:80]!r}")
    return json_answer({"version": app.__version__, **_parts(charts)})


@functools.lru_cache(maxsize=len(CHARTS))
def _parts(charts: str) -> Mapping[str, Any]:
    if charts == "none":
        return {"loader": "", "plotly": "", "hashes": []}
    loader = _read(os.path.join(assets_directory(), PAGE_FILE))
    bundle = _read(os.path.join(assets_directory(), CARTESIAN) if charts == "flat" else all_charts_file())
    packed = base64.b64encode(gzip.compress(bundle, 9, mtime=0)).decode()
    return {"loader": loader.decode(), "plotly": packed, "hashes": [policy_hash(loader), policy_hash(bundle)]}


def policy_hash(script: bytes) -> str:
    """Return the source expression of a Content-Security-Policy that allows an inline script with this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"


def _read(path: str) -> bytes:
    """Return the contents of a script as a browser sees them: HTML has no carriage returns."""
    with open(path, "rb") as stream:
        return stream.read().replace(b"\r\n", b"\n")
