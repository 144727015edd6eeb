"""Embed Mindscope in other applications: the whole dashboard below a path, one page in a layout, or a notebook's output.

    mount(host, "/training", "runs")               the dashboard in a Flask or Dash application
    page = pages.Scalars("runs", id="s1")          one page: page.layout() goes into the host's layout,
    page.register(host)                            its callbacks and routes into the host
    show("runs")                                   the dashboard in a notebook

An ASGI application takes `a2wsgi.WSGIMiddleware(create_app("runs", prefix="/training/").server)`.
"""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import dash
from dash.development.base_component import Component
from flask import Blueprint, Flask

from app.routes import all_routes as routes
from app.web import security
from app.web.bundles import Bundles, assets_directory
from app.web.jupyter import notebook_url
from app.web.modules import BASE, HOLD, Assets
from app.web.server import Application, Places, create_app, frame_source
from layouts import PAGES
from layouts.kit.page import Ids, Page
from layouts.kit.plain_html import still
from layouts.kit.state import BadInput
from layouts.runs.view_files import LONGEST_FILE, SUFFIX, place_of, read_view
from layouts.shell import chrome

_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_PLACE = "_mindscope/"
NOTEBOOKS = ("http://127.0.0.1:*", "http://localhost:*", "vscode-webview:", "vscode-file:")
"""Where notebooks are that show pages of a server on the same machine: JupyterLab at another port, which is another origin, and
Visual Studio Code."""
FOUND_SECONDS = 60.0
"""Seconds that a view file waits for the runs that it names."""


def mount(host: Flask | dash.Dash, prefix: str, sources: Places, **options: Any) -> Application:
    """Mount the whole dashboard below a path of a Flask or Dash application; options are those of `create_app`.

    Checks of Host, Origin and token, and our response headers, apply below that path only.
    """
    server = host.server if isinstance(host, dash.Dash) else host
    if not isinstance(server, Flask):
        found = f"expected a Flask or Dash application, found {type(host).__name__}"
        raise TypeError(f"mount: {found}; for ASGI wrap create_app(...).server in a2wsgi.WSGIMiddleware")
    return create_app(sources, prefix=prefix, server=server, **options)


class EmbeddedPage:
    """One page in the layout of a host's Dash application, which may embed several under different ids.

    The page keeps its state in a store of its own, not in the host's URL. Its routes are below `/_mindscope/<id>/` and accept
    requests to local names and allowed_hosts ("*": any). workspace is a directory for the index and for what users write, as in
    `create_app`. A board has cards of other pages, so the whole dashboard is served below `/_mindscope/<id>/app/` with it.
    """

    def __init__(
        self, page: Page, sources: Places, id: str, *,  # noqa: A002  as in Dash
        allowed_hosts: Sequence[str] = (), workspace: str | os.PathLike[str] | None = None,
    ) -> None:  # fmt: skip
        if not _ID.fullmatch(id):
            raise ValueError(f"id: expected a letter, then up to 63 letters, digits, _ or -; found {id!r}")
        self.page = page
        self.ids = Ids(page.name, id)
        self.source = frame_source(sources, workspace)
        self._allowed_hosts = tuple(allowed_hosts)
        self._host: dash.Dash | None = None
        self._waiting: list[Component] = []

    def layout(self, *, provider: bool | None = None) -> Component:
        """Return the page's components. provider is ignored: no provider of a theme is needed any more.

        `register` completes layouts made before it, because only then the URL prefix of the host is known.
        """
        content = self._content()
        if self._host is None:
            self._waiting.append(content)
        if provider is not None:
            warnings.warn("layout: provider is ignored; leave it out", DeprecationWarning, stacklevel=2)
        return content

    def register(self, host: dash.Dash) -> None:
        """Add the page's callbacks, routes and assets to a Dash application. Call it once per page and application."""
        self._host = host
        prefix = f"{host.config.routes_pathname_prefix}{_PLACE}{self.ids.instance}/"
        blueprint = routes.blueprint(self.source, f"mindscope-{self.ids.instance}")
        host.server.register_blueprint(blueprint, url_prefix=prefix.rstrip("/"))
        names, allowed = security.names_of("127.0.0.1", self._allowed_hosts), security.plain_names(self._allowed_hosts)
        security.Guard(prefix, self._routes(), security.content_policy(), names, allowed).install(host.server)
        if self.page.whole:
            whole = {"public_prefix": f"{self._routes()}app/", "server": host.server, "allowed_hosts": self._allowed_hosts}
            create_app(self.source, prefix=f"{prefix}app/", **whole)
        _add_assets(host, self.page)
        for content in self._waiting:
            content.children = self._content().children
        self._waiting.clear()
        chrome.register(host, self.source, self.page, self.ids, self._routes())

    def _content(self) -> Component:
        return still(chrome.frame(self.page, self.ids, self._routes(), picker=True))

    def _routes(self) -> str:
        prefix = self._host.config.requests_pathname_prefix if self._host is not None else "/"
        return f"{prefix}{_PLACE}{self.ids.instance}/"


class Pages:
    """One factory per page of the menu: `pages.Scalars(sources, id="s1")` is that page, ready to be embedded."""

    def __getattr__(self, name: str) -> Any:
        page = next((page for page in PAGES if name in map(_class_name, (page.name, *page.formerly))), None)
        if page is None:
            raise AttributeError(f"pages: expected one of {', '.join(self.__dir__())}; found {name!r}")

        def embedded(
            sources: Places, id: str, *,  # noqa: A002
            allowed_hosts: Sequence[str] = (), workspace: str | os.PathLike[str] | None = None,
        ) -> EmbeddedPage:  # fmt: skip
            return EmbeddedPage(page, sources, id, allowed_hosts=allowed_hosts, workspace=workspace)

        return embedded

    def __dir__(self) -> list[str]:
        return [_class_name(page.name) for page in PAGES]


def _class_name(page: str) -> str:
    """Return the class name of a page, TwoRuns for two_runs."""
    return page.replace("_", " ").title().replace(" ", "")


pages = Pages()


def show(sources: Places, page: str = "scalars", *, height: int = 800, proxy_prefix: str | None = None) -> Any:
    """Serve the dashboard on a free local port and show one of its pages as a notebook's output.

    page is a page, with its state if it has one ("scalars?run=a"), or the path of a view file (`layouts.runs.view_files`).
    height is in pixels. proxy_prefix is the path at which a proxy serves ports ("/user/me/proxy/{port}/"), for a notebook that
    runs on another machine; "/" for none. By default the environment says it, as JupyterHub sets it (`app.web.jupyter`).
    The server runs as long as the notebook's process.
    """
    if page.lower().endswith(SUFFIX):
        sources = frame_source(sources)
        page = _viewed(page, sources)
    check_page(page)
    return shown(serve_in_thread(sources, proxy_prefix), page, height)


def check_page(page: str) -> None:
    """Raise ValueError if there is no page of this name."""
    if page.partition("?")[0] not in {known.path for known in PAGES}:
        raise ValueError(f"page: expected one of {', '.join(repr(known.path) for known in PAGES)}; found {page!r}")


def shown(url: str, page: str, height: int) -> Any:
    """Return a page of a server as a notebook's output."""
    from IPython.display import IFrame

    return IFrame(f"{url}{page}{'&' if '?' in page else '?'}embed=1", width="100%", height=height)


def serve_in_thread(sources: Places, proxy_prefix: str | None = None) -> str:
    """Start a server in a thread on a free local port; return its URL (see `show`)."""
    from waitress.server import create_server

    listener: Any = create_server(_not_ready, host="127.0.0.1", port=0, threads=4)
    port = int(listener.effective_port)
    url = notebook_url(port, os.environ) if proxy_prefix is None else proxy_prefix.replace("{port}", str(port))
    path = urlsplit(url).path
    proxied = path not in ("", "/")
    app = create_app(
        sources, public_prefix=path if proxied else None, allowed_hosts=("*",) if proxied else (),
        framed_by=() if proxied else NOTEBOOKS,
    )  # fmt: skip
    listener.application = app.server
    threading.Thread(target=listener.run, name=f"mindscope-{port}", daemon=True).start()
    return url if proxied else f"http://127.0.0.1:{port}/"


def _viewed(path: str, source: Any) -> str:
    """Return the address that a view file means once all runs have been found."""
    with open(path, encoding="utf-8") as stream:
        view = read_view(stream.read(LONGEST_FILE + 1))
    if hasattr(source, "wait"):
        source.wait(FOUND_SECONDS)
    return place_of(view, source)


def _not_ready(_environ: Any, start_response: Any) -> list[bytes]:
    start_response("503 Service Unavailable", [])
    return []


def _add_assets(host: dash.Dash, page: Page) -> None:
    """Serve our scripts and styles once per host, and add those of the page to the host's index page."""
    name = "mindscope-assets"
    assets = Assets(assets_directory())
    if name not in host.server.blueprints:
        blueprint = Blueprint(name, __name__)
        blueprint.add_url_rule("/<path:filename>", "asset", Bundles({}, assets).asset)
        prefix = f"{host.config.routes_pathname_prefix}{_PLACE}assets"
        host.server.register_blueprint(blueprint, url_prefix=prefix)
        host.server.register_error_handler(BadInput, _refusal)
    public = f"{host.config.requests_pathname_prefix}{_PLACE}assets/"
    modules = assets.modules((BASE, assets.page_entry(page.name)))
    for sheet in assets.styles(modules, page.name):
        url = public + assets.path(sheet)
        if url not in host.config.external_stylesheets:
            host.config.external_stylesheets.append(url)
    script = {"src": public + assets.path(HOLD), "data-modules": " ".join(modules)}
    if script not in host.config.external_scripts:
        host.config.external_scripts.append(script)


def _refusal(error: BadInput) -> tuple[str, int]:
    """Answer a callback's BadInput with 400: the request is wrong, not the server."""
    return f"{error}\n", 400
