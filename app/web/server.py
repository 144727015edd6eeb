"""The Dash application: shell, pages, routes and security over one source of runs."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Collection, Sequence
from typing import Any

import dash
from flask import Flask, Response, abort, request
from flask_compress import Compress

from app.commands.settings import parse_prefix
from app.routes import all_routes as routes
from app.routes.runs import listing
from app.store import workspace as workspaces
from app.store.store import Store
from app.web import gate, security
from app.web.bundles import CHARTS, LIBRARIES, NEVER, Bundle, Bundles, all_charts, assets_directory
from app.web.callbacks import PageCallbacks
from app.web.downloads import Downloads
from app.web.modules import BASE, EARLY, GENERATORS, JOINED, SHELL, Assets
from app.web.people import EVERYBODY, People
from app.web.private_dash import NoHooks, apart_from_other_apps, to_json
from layouts import PAGES
from layouts.kit.page import Ids, Page
from layouts.shell import shell
from layouts.shell.shell import NeededFiles
from layouts.sources import Sources
from parsers import Source
from parsers.discovery import source_of

_LIGHT = ("health", "api/status.json", "_dash-layout", "_dash-dependencies")
_FILES = ("assets/", "_dash-component-suites/", shell.CONTENTS)

UNSTYLED = """\
This page could not be loaded from {prefix}: behind a proxy that changes the path, start the server with --public-prefix.
无法从 {prefix} 加载本页面的文件：若反向代理改变了路径，启动服务时需指定 --public-prefix。"""

Places = str | os.PathLike[str] | Sources | Sequence[str | os.PathLike[str] | Source]


def create_app(
    sources: Places,
    *,
    prefix: str = "/",
    public_prefix: str | None = None,
    server: Flask | None = None,
    pages: Sequence[Page] = PAGES,
    host: str = "127.0.0.1",
    allowed_hosts: Sequence[str] = (),
    framed_by: Sequence[str] = (),
    token: str = "",
    cookie: str = "mindscope",
    workspace: str | os.PathLike[str] | None = None,
    people: People = EVERYBODY,
    demo: str = "",
) -> Application:
    """Create a Dash application over sources: a path, several paths, the result of `discover`, or a `Sources`.

    A path is a directory with runs below it, or one event file.

    prefix is the URL path it is served below; public_prefix is the path browsers see, if a proxy changes it. server is a Flask
    application to join; by default it has its own (`.server`, a WSGI application). It accepts requests to local names, to those
    of the host it listens on, and to allowed_hosts ("*": any). framed_by are origins of other servers whose pages may show it
    in a frame ("https://lab.example"). If token is set, visitors need it; it has at least 16 characters. workspace is a
    directory of this user, not below the runs, for the index, remarks, tags and saved views; without one there is no index and
    nothing can be saved. people says who may change what; a `Sources` has to know them, too (`Store(visitor=people)`).
    demo is the URL of a server of the demo with a slash at its end, to which pages without data link, or "here" for the demo.
    """
    source = frame_source(sources, workspace, people)
    prefix = parse_prefix(prefix)
    public_prefix = parse_prefix(public_prefix) if public_prefix is not None else prefix
    with apart_from_other_apps():
        app = Application(source, prefix, public_prefix, server, pages, demo)
        app.layout = shell.layout(pages, Ids("shell"), public_prefix)
        app.settle()
    plain = routes.blueprint(source, _name("mindscope", prefix))
    app.server.register_blueprint(plain, url_prefix=prefix + shell.ROUTES.rstrip("/"))
    app.server.add_url_rule(f"{prefix}{shell.CONTENTS}<name>.json", _name("content", prefix), app.content)
    app.server.add_url_rule(prefix + "health", _name("health", prefix), lambda: listing.health(source))
    policy = security.content_policy([app.renderer], framed_by)
    names, allowed = security.names_of(host, allowed_hosts), security.plain_names(allowed_hosts)
    guard = security.Guard(prefix, public_prefix, policy, names, allowed, token, cookie, (prefix + "health",), people)
    guard.install(app.server)
    app.guard = guard
    _compress(app.server, prefix)
    downloads = Downloads()
    app.server.after_request(lambda response: downloads.limit(response) if guard.concerns(request.path) else response)
    return app


def frame_source(sources: Places, workspace: str | os.PathLike[str] | None = None, people: People = EVERYBODY) -> Sources:
    """Return sources if it is a `Sources`, else a started Store over them that saves to the workspace, if one is given."""
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    if not isinstance(sources, Sequence):
        if workspace is not None:
            raise ValueError(f"workspace: expected none, as a `Sources` has its own; found {os.fspath(workspace)!r}")
        return sources
    items = [source_of(item) if not isinstance(item, Source) and os.path.isfile(item) else item for item in sources]
    paths = [item for item in items if not isinstance(item, Source)]
    discovered = [item for item in items if isinstance(item, Source)]
    index, notes = _directories(workspace, [*paths, *(source.path for source in discovered)])
    return Store(paths, sources=discovered, index_directory=index, notes_directory=notes, visitor=people).start()


def _directories(
    workspace: str | os.PathLike[str] | None, runs: Sequence[str | os.PathLike[str]]
) -> tuple[str, str] | tuple[None, None]:
    """Return the directories of index and notes. Raises SettingError for an invalid workspace or one below the runs."""
    if workspace is None:
        return None, None
    path = os.fspath(workspace)
    for base in runs:
        path = workspaces.prepare(path, base=os.fspath(base), origin="workspace")
    index, notes = (workspaces.subdirectory(path, name, origin="workspace") for name in ("index", "notes"))
    return index, notes


class Application(dash.Dash):  # type: ignore[misc]  # mypy does not follow dash, so its base class is Any
    """Dash with our index page and static files, isolated from other Dash applications in the process."""

    guard: security.Guard
    """What checks the requests; `create_app` sets it."""

    def __init__(
        self, source: Sources, prefix: str, public_prefix: str, server: Flask | None, pages: Sequence[Page], demo: str = ""
    ) -> None:
        self.source = source
        self.demo = demo
        self.prefix = prefix
        self.public_prefix = public_prefix
        self._pages_by_path = {page.path: page for page in pages}
        self._scripts: tuple[str, ...] = ()
        self._dependencies: Bundle | None = None
        self._contents: dict[str, Bundle] = {}
        self._parts: dict[str, tuple[list[str], list[str]]] = {}  # of the HTML of each page: its head, and what starts it
        # Every argument is given, as Dash takes the others from the environment.
        super().__init__(
            __name__,
            server=server or Flask("mindscope", static_folder=None, root_path=os.path.dirname(__file__)),
            routes_pathname_prefix=prefix,
            requests_pathname_prefix=public_prefix,
            assets_folder=assets_directory(),
            assets_external_path="",
            include_assets_files=False,
            pages_folder="",
            use_pages=False,
            serve_locally=True,
            compress=False,
            suppress_callback_exceptions=True,
            title="Mindscope",
            update_title="",
            add_log_handler=False,
            use_async=False,
            enable_mcp=False,
            mcp_path="_mcp",
        )
        self.bundles = Bundles(self.registered_paths, Assets(assets_directory()))
        shell.register(self)
        self.callbacks = PageCallbacks(self, pages, lambda page: shell.register_page(self, source, page, public_prefix))
        views = self.server.view_functions
        views[prefix + "_dash-update-component"] = gate.guarded(views[prefix + "_dash-update-component"], self.callbacks)
        views[prefix + "_dash-component-suites/<string:package_name>/<path:fingerprinted_path>"] = self.bundles.component
        views[prefix.replace("/", "_").replace(".", "_") + "dash_assets.static"] = self.bundles.asset

    def content(self, name: str) -> Response:
        """Respond with the components of a page as JSON."""
        page = next((page for page in self._pages_by_path.values() if page.name == name), None)
        if page is None:
            abort(404, f"Expected the name of a page, found {name[:80]!r}.")
        return self._content(page).answer(0)

    def _content(self, page: Page) -> Bundle:
        # Concurrent requests may build it twice, with equal results.
        if page.path not in self._contents:
            text = to_json(shell.content(page, Ids("shell"), self.public_prefix))
            self._contents[page.path] = Bundle(text.encode(), f"{page.name}.json")
        return self._contents[page.path]

    def dependencies(self) -> Any:
        """Respond with the callbacks as JSON: cached, with a tag, so that each frame of a board does not load them again."""
        if self._dependencies is None:  # concurrent requests may build it twice, with equal results
            self._dependencies = Bundle(to_json(self.callbacks.listed()).encode(), "dependencies.json")
        return self._dependencies.answer(0)

    def is_light(self, path: str) -> bool:
        """Return whether a path is that of `health`, of a page, or of a file that pages start with: answered from memory."""
        rest = path.removeprefix(self.prefix)
        return rest in _LIGHT or rest in self._pages_by_path or rest.startswith(_FILES)

    def _setup_hooks(self) -> None:
        """Use no hooks of other packages."""
        self._hooks = NoHooks()

    def settle(self) -> None:
        """Finish the setup that Dash postpones to the first request."""
        self._setup_server()
        self._parts = {}
        self._scripts = tuple(re.findall(r'<script src="([^"]+)"></script>', super()._generate_scripts_html()))

    def _generate_scripts_html(self) -> str:
        """Return the script tags, cached by `settle`, without those the requested page does not need."""
        if not self._scripts:
            return str(super()._generate_scripts_html())
        return "\n".join(f'<script src="{url}"></script>' for url in self.scripts_of(self._page()))

    def _entries(self, page: Page) -> list[str]:
        """Return the entry modules of a page; that of the shell is joined with BASE."""
        return [name for name in (SHELL, self.bundles.assets.page_entry(page.name)) if name in self.bundles.assets]

    def _later(self, page: Page, known: Collection[str], shared: Collection[str]) -> NeededFiles:
        """Return the URLs that only this page needs, by "scripts", "styles" and "modules".

        known are the modules and shared the style sheets that every page has.
        """
        assets = self.bundles.assets
        modules = [name for name in assets.modules(self._entries(page)) if name not in known]
        sheets = [name for name in assets.styles(modules, page.name) if name not in shared]
        return {
            "scripts": [url for name in page.libraries for url in self._library(name)],
            "styles": [self._asset(name) for name in sheets],
            "modules": [self._asset(JOINED + name) for name in self._entries(page) if name != SHELL],
        }

    def scripts_of(self, page: Page) -> list[str]:
        """Return the URLs of the scripts that a page loads at the start."""
        unneeded = [package for name, package in LIBRARIES.items() if name not in page.libraries]
        left_out = (*NEVER, *(package + "/" for package in unneeded))
        return [url for url in self._scripts if not url.partition("_dash-component-suites/")[2].startswith(left_out)]

    def _page(self) -> Page:
        """Return the page of the current request; the first page if there is none."""
        return self._pages_by_path.get(self._path()) or next(iter(self._pages_by_path.values()))

    def _path(self) -> str:
        return request.path.removeprefix(self.prefix).strip("/")

    def index(self, *_args: Any, **_kwargs: Any) -> Response:
        """Respond with the index page: 404 for an unknown page, as HTML if the client accepts it; renamed pages redirect.

        500 if a proxy says that browsers see another path: all addresses on the page would be wrong.
        """
        told = self.guard.people.foreign_prefix(request, self.public_prefix)
        if told:
            text = f"expected {self.public_prefix!r} as the path that browsers see, found {told[:200]!r} from the proxy"
            abort(500, f"{text}: start the server with --public-prefix {told[:200]}.")
        found = self._path() in self._pages_by_path
        renamed = next((page for page in self._pages_by_path.values() if self._path() in page.redirected), None)
        if renamed is not None and not found:
            query = request.query_string.decode("ascii", "replace")
            address = self.public_prefix + renamed.path + (f"?{query}" if query else "")
            return Response(status=308, headers={"Location": address})
        if not found and "text/html" not in [kind for kind, _ in request.accept_mimetypes]:
            abort(404, "There is no such page.")
        return Response(str(super().index()), status=200 if found else 404, mimetype="text/html")

    def interpolate_index(self, **parts: str) -> str:
        """Return the HTML of a page."""
        assets = self.bundles.assets.current()
        if assets is not self.bundles.assets:
            self.bundles.assets, self._parts = assets, {}
        page = self._page()
        if page.path not in self._parts:
            self._parts[page.path] = self._head(page), self._starts(page)
        head, starts = self._parts[page.path]
        if self._path() in self._pages_by_path:
            content = shell.content_url(page, self.public_prefix)
            head = [*head, f'<link rel="preload" as="fetch" crossorigin="anonymous" href="{content}">']
        head = [parts["metas"], f"<title>{parts['title']}</title>", *head, parts["css"]]
        body = [parts["app_entry"], self._unstyled(), "<footer>", parts["config"], parts["scripts"], *starts, "</footer>"]
        return "\n".join(
            ["<!DOCTYPE html>", '<html lang="en">', "<head>", *head, "</head>", "<body>", *body, "</body>", "</html>", ""])

    def _unstyled(self) -> str:
        """Return what is seen only if no style sheet can be loaded, as behind a proxy that serves another path."""
        texts = UNSTYLED.format(prefix=html.escape(self.public_prefix)).splitlines()
        return f'<p class="ms-unstyled">{"<br>".join(texts)}</p>'

    def _head(self, page: Page) -> list[str]:
        """Return what is in the head of a page as long as no asset changes."""
        assets = self.bundles.assets
        known = set(assets.modules((BASE, SHELL)))
        shared = assets.styles(known)
        others = [other for other in self._pages_by_path.values() if other is not page]
        later = {other.path: self._later(other, known, shared) for other in others}
        sheets = assets.styles(assets.modules(self._entries(page)), page.name)
        return [
            f'<meta name="mindscope-pages" content="{html.escape(json.dumps(later))}">',
            f'<meta name="mindscope-surfaces" content="{self._suite(all_charts())}">',
            *([f'<meta name="mindscope-demo" content="{html.escape(self.demo)}">'] if self.demo else []),
            f'<link rel="icon" type="image/svg+xml" href="{self._asset("favicon.svg")}">',
            f'<script src="{self._asset(EARLY)}"></script>',
            f'<script src="{self._asset(GENERATORS)}"></script>',
            *(f'<link rel="stylesheet" href="{url}">' for url in map(self._asset, sheets)),
            *(f'<link rel="preload" as="script" href="{url}">' for url in self._charts() if "plotly" in page.libraries),
        ]

    def _starts(self, page: Page) -> list[str]:
        """Return the scripts at the end of a page as long as no asset changes.

        Module scripts run in order after all classic ones, so the last of them starts Dash. They are preloaded here, not in the
        head, so that the browser requests the large libraries first.
        """
        urls = [self._asset(JOINED + name) for name in self._entries(page)]
        return [
            *(f'<link rel="modulepreload" href="{url}">' for url in urls),
            *(f'<script type="module" src="{url}"></script>' for url in urls),
            f'<script id="_dash-renderer" type="module">{self.renderer}</script>',
        ]

    def _asset(self, name: str) -> str:
        """Return the cacheable URL of an asset."""
        return str(self.get_asset_url(self.bundles.assets.path(name)))

    def _library(self, name: str) -> list[str]:
        """Return the URLs of a library that is loaded when the first page that needs it is opened."""
        return [url for url in self._scripts if name in LIBRARIES and f"_dash-component-suites/{LIBRARIES[name]}/" in url]

    def _suite(self, path: str) -> str:
        return f"{self.public_prefix}_dash-component-suites/{path}"

    def _charts(self) -> list[str]:
        """Return the URLs that Dash loads for the first chart: plotly.js, the largest script, and its graph component."""
        return [self._suite(CHARTS), self._suite("dash/dcc/async-graph.js")]


def _compress(server: Flask, prefix: str) -> None:
    """Compress dynamic responses. A separate Flask object holds the settings, so that a host's stay unchanged."""
    settings = Flask("mindscope-compression", static_folder=None)
    settings.config["COMPRESS_ALGORITHM"] = settings.config["COMPRESS_ALGORITHM_STREAMING"] = ["br", "gzip"]
    settings.config["COMPRESS_MIMETYPES"] = ["text/html", "text/csv", "application/json"]
    compress = Compress(settings)

    def below_prefix(response: Response) -> Response:
        return compress.after_request(response) if request.path.startswith(prefix) else response

    server.after_request(below_prefix)


def _name(what: str, prefix: str) -> str:
    """Return an endpoint name that is unique per prefix."""
    return what + re.sub(r"\W", "_", prefix)
