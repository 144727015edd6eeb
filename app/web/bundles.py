"""Static files for the browser: the bundles of the component libraries and our own assets.

Each file is read once, compressed once per encoding and cached in memory with a hash of its content as ETag. Only known files
are served: a request can name one of them, never another path.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import mimetypes
import os
import re
import threading
import zlib
from collections.abc import Collection, Mapping
from types import MappingProxyType

import brotli
import dash_ag_grid  # noqa: F401 - registers its scripts, before the first page that uses it is imported
import dash_cytoscape  # noqa: F401
from dash.fingerprint import build_fingerprint, check_fingerprint
from flask import Response, request
from werkzeug.exceptions import NotFound

from app.web.modules import Assets

BROTLI_QUALITY = 5
"""Compresses plotly.js for two dimensions to 454 kB in 0.03 s, at its first request; quality 9 yields 444 kB in 0.10 s."""
A_YEAR = 31_536_000
_COMPRESSIBLE = re.compile(r"text/|application/(javascript|json)|image/svg")
LIBRARIES: Mapping[str, str] = MappingProxyType({"grid": "dash_ag_grid", "cytoscape": "dash_cytoscape"})
"""Name of a library in `Page.libraries` -> its package, which is loaded only on pages that need it."""
NEVER = ("dash/dash_table/", "dash/deps/polyfill@")
"""Prefixes of component URLs that none of our pages needs: tables, and what makes up for browsers of 2017, of which
`modules.GENERATORS` is the only part that Dash still calls."""
CHARTS = "plotly/package_data/plotly.min.js"
"""The URL, below the component suites, that Dash loads for the first chart: plotly.js for two dimensions, a third of it."""
ALL_CHARTS = "plotly/package_data/plotly.full.js"
"""The URL of the whole of plotly.js, which a page loads before its first surface. `all_charts` gives it a fingerprint."""
CARTESIAN = "vendor/plotly_cartesian.js"
"""plotly.js-cartesian-dist-min of npm, of the version that the package plotly has."""
FACTORY = (b'(typeof self !== "undefined" ? self : this, () => {', b"return Plotly;\n}));")
"""How the function that makes plotly.js begins and ends."""


@functools.cache
def all_charts() -> str:
    """Return ALL_CHARTS with a fingerprint, so that browsers keep it for a year."""
    changed = os.stat(all_charts_file()).st_mtime
    return str(build_fingerprint(ALL_CHARTS, importlib.metadata.version("plotly"), int(changed)))


def all_charts_file() -> str:
    """Return the path of the whole of plotly.js."""
    return os.path.join(_package_directory("plotly"), "package_data", "plotly.min.js")


def assets_directory() -> str:
    """Return the directory of CSS, JavaScript and icons: inside the package `app` in a wheel, beside it in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "assets")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(package), "assets")


def charts_once(script: bytes) -> bytes:
    """Return plotly.js so that it does nothing where it has run: pages ask for it again (assets/shell/compiled_charts.js).

    The function that makes it is put in brackets. V8 compiles such a function on another thread while the script arrives. Any
    other it reads then, and again when it is called: 0.04 s of 0.1.
    """
    begin, end = FACTORY
    if script.count(begin) == 1 and script.endswith(end):
        script = script.replace(begin, begin.replace(b"() =>", b"(() =>")).removesuffix(b"}));") + b"})));"
    return b"if (!window.Plotly) {\n" + script + b"\n}\n"


class Bundle:
    """One file in memory; compressed forms are made on first use."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data = data
        self.type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        self.tag = hashlib.sha256(data).hexdigest()[:24]
        self._forms: dict[str, bytes] = {"": data}
        self._lock = threading.Lock()

    def form(self, encoding: str) -> bytes:
        """Return the bytes in an encoding: "br", "gzip" or "" for none."""
        with self._lock:
            if encoding not in self._forms:
                self._forms[encoding] = _compressed(self.data, encoding)
            return self._forms[encoding]

    def encoding(self, accepted: Collection[str]) -> str:
        """Return the best encoding the client accepts."""
        if len(self.data) < 500 or not _COMPRESSIBLE.match(self.type):
            return ""
        return next((encoding for encoding in ("br", "gzip") if encoding in accepted), "")

    def answer(self, max_age: int) -> Response:
        """Build the response to the current request. max_age 0: cached, but revalidated on every use (304 if unchanged)."""
        encoding = self.encoding(list(request.accept_encodings.values()))
        response = Response(self.form(encoding), mimetype=self.type)
        if encoding:
            response.headers["Content-Encoding"] = encoding
        response.vary.add("Accept-Encoding")
        response.set_etag(f"{self.tag}-{encoding or 'plain'}")
        if max_age:
            response.cache_control.max_age = max_age
            response.cache_control.immutable = True
        else:
            response.cache_control.no_cache = True
        response.make_conditional(request)
        return response


def _compressed(data: bytes, encoding: str) -> bytes:
    if encoding == "br":
        return bytes(brotli.compress(data, quality=BROTLI_QUALITY))
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


class Bundles:
    """The bundles of the packages registered with Dash, and our assets."""

    def __init__(self, registered: Mapping[str, Collection[str]], assets: Assets) -> None:
        self._registered = registered
        self.assets = assets
        self._loaded: dict[tuple[str, ...], tuple[str, Bundle]] = {}
        self._lock = threading.Lock()

    def component(self, package_name: str, fingerprinted_path: str) -> Response:
        """Respond with a file of a component library."""
        path, has_fingerprint = check_fingerprint(fingerprinted_path)
        charts = f"{package_name}/{path}" == CHARTS
        return self._bundle(self._component(package_name, path), charts=charts).answer(A_YEAR if has_fingerprint else 0)

    def asset(self, filename: str) -> Response:
        """Respond with one of our assets; if the path contains the current version, it may be cached for a year."""
        name, cacheable = self.assets.named(filename)
        if name not in self.assets:
            raise NotFound
        bundle = self._joined(name) if self.assets.is_joined(name) else self._bundle(*self.assets.files(name))
        return bundle.answer(A_YEAR if cacheable else 0)

    def _joined(self, name: str) -> Bundle:
        version = self.assets.version
        with self._lock:
            loaded = self._loaded.get((name,))
            if loaded is None or loaded[0] != version:
                loaded = self._loaded[(name,)] = (version, Bundle(self.assets.joined(name).encode(), name))
        return loaded[1]

    def _component(self, package_name: str, path: str) -> str:
        """Return the file of a component URL without its fingerprint, or raise NotFound."""
        if f"{package_name}/{path}" == CHARTS:
            return os.path.join(self.assets.directory, CARTESIAN)
        if f"{package_name}/{path}" == ALL_CHARTS:
            return all_charts_file()
        if path not in self._registered.get(package_name, ()):
            raise NotFound
        return os.path.join(_package_directory(package_name), path)

    def _bundle(self, *paths: str, charts: bool = False) -> Bundle:
        changed = _newest_mtime(paths)
        key = (*paths, CHARTS) if charts else paths
        with self._lock:
            loaded = self._loaded.get(key)
            if loaded is None or loaded[0] != changed:
                contents = []
                for path in paths:
                    with open(path, "rb") as stream:
                        contents.append(stream.read())
                data = b"\n".join(contents)
                loaded = self._loaded[key] = (changed, Bundle(charts_once(data) if charts else data, paths[0]))
        return loaded[1]


def _newest_mtime(paths: Collection[str]) -> str:
    return str(max(os.stat(path).st_mtime for path in paths))


def _package_directory(package_name: str) -> str:
    spec = importlib.util.find_spec(package_name)
    if spec is None or spec.origin is None:
        raise NotFound
    return os.path.dirname(spec.origin)
