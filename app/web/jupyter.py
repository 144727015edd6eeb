"""Mindscope in JupyterLab: the tile of its launcher, and the addresses of ports behind it."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Mapping
from typing import Any

from app.web.bundles import assets_directory

STARTING_S = 60
"""How long the launcher waits for a server; by default it gives up after 5 s."""
PLACE = "mindscope"


def launcher() -> dict[str, Any]:
    """Return what jupyter-server-proxy starts for the tile (its entry point `jupyter_serverproxy_servers`).

    The server listens on this machine, where other users may reach its port, so it has a token that Jupyter alone knows and
    sends along. Jupyter also sends the name of this machine as Host; which site a browser sees, it says in Sec-Fetch-Site.
    """
    token = secrets.token_urlsafe(32)
    return {
        "command": [
            sys.executable, "-m", "app", "start", "--summary-base-dir", ".", "--port", "{port}",
            "--url-path-prefix", "{base_url}" + PLACE,
        ],
        "environment": {"MINDSCOPE_TOKEN": token},
        "request_headers_override": {"Host": "localhost:{port}", "Authorization": f"Bearer {token}"},
        "absolute_url": True,
        "timeout": STARTING_S,
        "launcher_entry": {"title": "Mindscope", "icon_path": os.path.join(assets_directory(), "favicon.svg")},
    }  # fmt: skip


def notebook_url(port: int, environment: Mapping[str, str]) -> str:
    """Return the URL or path at which the browser of a notebook reaches a port of its machine; "" if nothing says it.

    PROXY_URL with %PORT% and BASE_URL are what the magic of MindInsight used, JUPYTERHUB_SERVICE_PREFIX is set by JupyterHub.
    """
    proxy = environment.get("PROXY_URL", "")
    if "%PORT%" in proxy:
        return proxy.replace("%PORT%", str(port)).rstrip("/") + "/"
    base = environment.get("JUPYTERHUB_SERVICE_PREFIX") or environment.get("BASE_URL") or ""
    return f"{base.rstrip('/')}/proxy/{port}/" if base else ""
