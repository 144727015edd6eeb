"""Check Host, Origin and token of requests, and add security headers to responses, below our own prefix only.

Host and Origin: a web page can point its own host name to 127.0.0.1 and then read a local server (DNS rebinding). So the Host
of every request must be a name of this server, and the Origin of a request other than GET must be the server it is sent to.
Sec-Fetch-Site: browsers say in it that a page of another site sends the request; then only links are followed. If they say that
it is the same origin, it is, whatever name a proxy gives to the server.
Token: a server that other machines can reach requires one. An address that offers wrong ones has to wait before the next wrong
one is answered; the right one is never held up, because honest visitors may share that address.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import math
import re
import secrets
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from flask import Flask, Response, request
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Request

from app.commands.settings import is_local
from app.web.people import EVERYBODY, People
from parsers.caches import Cache

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
LARGEST_REQUEST = 1 << 20
"""Maximum size of a request body in bytes, except on the routes of LARGER_REQUESTS."""
LARGER_REQUESTS = {
    "_dash-update-component": 8 << 20,  # the state of a page, which may name thousands of runs
    "board": 8 << 20,  # layouts.runs.boards.MOST_CHARACTERS, six bytes each where JSON escapes them
    "watchpoints": 8 << 20,  # layouts.dumps.watchpoints.MOST_CHARACTERS
}
"""Last part of the path -> maximum size of a request body in bytes."""
SHORTEST_TOKEN = 16
"""Characters."""
_SIGN_IN = (
    "A token is needed: open the address that was printed when the server started, or send the header "
    "'Authorization: Bearer TOKEN'.")
_UNKNOWN_HOST = (
    "This server does not accept requests to that host name. To allow it, start the server with --allowed-host NAME, or pass "
    "allowed_hosts=[NAME] to create_app, mount or the embedded page.")


def largest_body(path: str) -> int:
    """Return the maximum size of the body of a request to a path, in bytes."""
    return LARGER_REQUESTS.get(path.rpartition("/")[2], LARGEST_REQUEST)


def names_of(host: str, allowed: Iterable[str] = ()) -> frozenset[str]:
    """Return the accepted names of a server that listens on host: local and allowed ones and, unless local, its own."""
    names = plain_names((*LOCAL_NAMES, host, *allowed))
    return names if is_local(host) else names | _own_names()


def plain_names(names: Iterable[str]) -> frozenset[str]:
    """Normalize names for comparison: lower case, no brackets; drop wildcard addresses."""
    plain = {name.lower().strip("[]").rstrip(".") for name in names}
    return frozenset(plain - {"", "0.0.0.0", "::"})  # noqa: S104 - dropped, not bound to


def _own_names() -> set[str]:
    name = socket.gethostname().lower()
    names = {name, name.partition(".")[0]}
    with contextlib.suppress(OSError):
        names |= {str(info[4][0]).partition("%")[0] for info in socket.getaddrinfo(name, None)}
    return names | _interface_addresses()


def _interface_addresses() -> set[str]:
    """Return the IPv4 addresses of this machine's network interfaces; empty on systems without fcntl."""
    addresses: set[str] = set()
    try:
        import fcntl
    except ImportError:
        return addresses
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, interface in socket.if_nameindex():
            with contextlib.suppress(OSError):
                answer = fcntl.ioctl(probe.fileno(), 0x8915, struct.pack("256s", interface.encode()[:15]))  # SIOCGIFADDR
                addresses.add(socket.inet_ntoa(answer[20:24]))
    return addresses


def new_token() -> str:
    """Return a random token of 256 bits."""
    return secrets.token_urlsafe(32)


def content_policy(inline: Iterable[str] = (), framed_by: Iterable[str] = ()) -> str:
    """Return the Content-Security-Policy: only scripts from this server and these inline scripts.

    framed_by are the sources, besides this server, of pages that may show ours in a frame. Raises ValueError for a text that
    would end the list of them.
    """
    others = list(framed_by)
    for source in others:
        if not re.fullmatch(r"[^\s;,]+", source):
            raise ValueError(f"framed_by: expected sources such as https://lab.example, found {source!r}")
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
    scripts = " ".join(["'self'", *(f"'sha256-{digest}'" for digest in digests)])
    return "; ".join((
        "default-src 'self'", f"script-src {scripts}", "style-src 'self' 'unsafe-inline'", "img-src 'self' data: blob:",
        "font-src 'self' data:", "connect-src 'self'", "worker-src 'self' blob:", "object-src 'none'", "base-uri 'none'",
        "form-action 'self'", " ".join(["frame-ancestors 'self'", *others]),
    ))


class Attempts:
    """Wrong tokens by address: after FREE of them it waits before the next is counted, twice as long after each further one."""

    FREE = 5
    LONGEST = 60
    """Seconds."""
    ADDRESSES = 10_000
    """Addresses remembered; the one heard of longest ago is forgotten first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures: Cache[str, tuple[int, float]] = Cache(self.ADDRESSES)

    def wait(self, address: str) -> int:
        """Return the seconds, rounded up, that a visitor at this address who offered a wrong token has to wait; 0 if none."""
        count, last = self._failures.get(address) or (0, 0.0)
        if count < self.FREE:
            return 0
        pause = min(self.LONGEST, 1 << min(count - self.FREE, 30))
        return max(0, math.ceil(last + pause - self._clock()))

    def failed(self, address: str) -> None:
        """Count a wrong token."""
        with self._lock:
            count, _ = self._failures.get(address) or (0, 0.0)
            self._failures.put(address, (count + 1, self._clock()))


@dataclass(frozen=True, slots=True)
class Guard:
    """The checks of one application.

    prefix: the path it is served below; public_prefix: the same as browsers see it. names: accepted host names ("*": any);
    allowed: those of them set by the user, which a proxy in front may use. token: the token visitors need, "" for none;
    open_paths need none. cookie: the name of the cookie of visitors who have given the token. people: who may change what.

    Raises ValueError for a token shorter than SHORTEST_TOKEN.
    """

    prefix: str
    public_prefix: str
    policy: str
    names: frozenset[str] = LOCAL_NAMES
    allowed: frozenset[str] = frozenset()
    token: str = ""
    cookie: str = "mindscope"
    open_paths: Sequence[str] = field(default=())
    people: People = EVERYBODY
    attempts: Attempts = field(default_factory=Attempts)
    _session: str = field(init=False, default="")

    def __post_init__(self) -> None:
        if not self.token:
            return
        if len(self.token) < SHORTEST_TOKEN:
            raise ValueError(f"token: expected at least {SHORTEST_TOKEN} characters, found {len(self.token)}")
        # The cookie is derived slowly, so that trying out cookies is no faster way to the token than trying out tokens.
        derived = hashlib.scrypt(self.token.encode(), salt=b"mindscope session", n=1 << 14, r=8, p=1, maxmem=1 << 26)
        object.__setattr__(self, "_session", derived.hex())

    def install(self, server: Flask) -> None:
        """Check every request below the prefix and add headers to every response."""
        server.before_request(self.check)
        server.after_request(self.add_headers)

    def concerns(self, path: str) -> bool:
        """Return whether a path is below the prefix, or is the prefix without its last slash, which redirects to it."""
        return path.startswith(self.prefix) or path + "/" == self.prefix

    def check(self) -> Response | None:
        """Return a refusal of the current request, or None to accept it."""
        refused = self.refusal(request)
        if refused is None and self.concerns(request.path):
            # A body in chunks says no length, and a host application may have another limit.
            request.max_content_length = largest_body(request.path)
        return refused

    def refuse_early(self, environ: Mapping[str, Any]) -> Response | None:
        """Return a refusal of a request of which only first line and headers have arrived, or None to read its body."""
        asked = Request(dict(environ))
        refused = self.refusal(asked)
        return None if refused is None else self.with_headers(refused, asked.path)

    def refusal(self, asked: Request) -> Response | None:
        """Return a refusal of a request, from its first line and headers alone, or None to accept it."""
        if not self.concerns(asked.path):
            return None
        largest = largest_body(asked.path)
        if (asked.content_length or 0) > largest:
            return _refusal(413, f"Expected at most {largest} bytes, found {asked.content_length}.")
        if not self.knows_host(asked.headers.get("Host", "")):
            return _refusal(403, _UNKNOWN_HOST)
        changes = asked.method not in ("GET", "HEAD", "OPTIONS")
        if (changes and not self.knows_origin(asked)) or self.is_foreign(asked, changes):
            return _refusal(403, "Requests from other sites are refused.")
        told = self._check_token(asked) if self.token and asked.path not in self.open_paths else None
        reason = "" if told is not None else self.people.refused(asked)
        return _refusal(403, reason) if reason else told

    def knows_host(self, header: str) -> bool:
        """Return whether a Host header names this server."""
        name = host_name(header)
        return name is not None and ("*" in self.names or name in self.names)

    def knows_origin(self, asked: Request) -> bool:
        """Return whether the Origin of a request is this server itself. Without one it is accepted: no web page sent it."""
        header = asked.headers.get("Origin")
        # A browser says of itself that the page comes from where the request goes: no page can write this header. Behind a
        # proxy, Origin is a name that the server need not know; Host has been checked before.
        if header is None or asked.headers.get("Sec-Fetch-Site") == "same-origin":
            return True
        scheme, _, place = header.partition("://")
        name = host_name(place)
        if scheme not in ("http", "https") or name is None:
            return False
        if place.lower() == asked.headers.get("Host", "").lower() and scheme == asked.scheme:
            return True
        # Behind a proxy that changes Host or adds TLS, the user must have allowed the public name.
        return "*" in self.allowed or name in self.allowed

    def is_foreign(self, asked: Request, changes: bool) -> bool:
        """Return whether a browser says that a page of another site sent the request, and it is not a followed link."""
        headers = asked.headers
        if headers.get("Sec-Fetch-Site", "") != "cross-site":
            return False
        # Behind a proxy that changes Host, Origin has been checked against the allowed names.
        known = headers.get("Origin") is not None and self.knows_origin(asked)
        return not known and (changes or headers.get("Sec-Fetch-Mode", "") != "navigate")

    def _check_token(self, asked: Request) -> Response | None:
        if _equal(asked.cookies.get(self.cookie, ""), self._session):
            return self._sign_in(asked) if asked.method == "GET" and "token" in asked.args else None
        scheme, _, bearer = asked.headers.get("Authorization", "").partition(" ")
        offered = bearer.strip() if scheme.lower() == "bearer" else None
        in_address = asked.args.get("token") if offered is None and asked.method == "GET" else None
        if offered is None and in_address is None:
            return _refusal(401, _SIGN_IN)
        if not _equal(offered or in_address or "", self.token):
            return self._wrong_token(asked.remote_addr or "")
        return None if in_address is None else self._sign_in(asked)

    def _wrong_token(self, visitor: str) -> Response:
        seconds = self.attempts.wait(visitor)
        if not seconds:
            self.attempts.failed(visitor)
            return _refusal(401, _SIGN_IN)
        refused = _refusal(429, f"Too many wrong tokens from this address: try again in {seconds} s.")
        refused.headers["Retry-After"] = str(seconds)
        return refused

    def _sign_in(self, asked: Request) -> Response:
        """Redirect to the same URL without the token, and set the cookie."""
        rest = MultiDict((key, value) for key, value in asked.args.items(multi=True) if key != "token")
        query = urlencode(list(rest.items(multi=True)))
        path = self.public_prefix + quote(asked.path[len(self.prefix) :].lstrip("/"))
        answer = Response(status=303, headers={"Location": path + ("?" + query if query else "")})
        path = self.public_prefix.rstrip("/") or "/"
        answer.set_cookie(self.cookie, self._session, httponly=True, samesite="Lax", path=path, secure=asked.is_secure)
        answer.cache_control.no_store = True
        return answer

    def add_headers(self, response: Response) -> Response:
        """Add the security headers to the response to the current request."""
        return self.with_headers(response, request.path)

    def with_headers(self, response: Response, path: str) -> Response:
        """Add the security headers to the response to a request for a path."""
        if self.concerns(path):
            response.headers.setdefault("Content-Security-Policy", self.policy)
            response.headers["X-Content-Type-Options"] = "nosniff"
            response.headers["Referrer-Policy"] = "same-origin"
            response.headers.setdefault("Cache-Control", "no-cache")
            response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        return response


def host_name(header: str) -> str | None:
    """Return the name or address in "name:port", lower case and without brackets; None if it is invalid."""
    try:
        parts = urlsplit("//" + header)
        _ = parts.port  # raises ValueError for an invalid port
        name = parts.hostname
    except ValueError:
        return None
    if not name or parts.netloc != header or "@" in header:
        return None
    return name.rstrip(".")


def _equal(offered: str, expected: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(offered.encode("utf-8", "replace"), expected.encode())


def _refusal(status: int, text: str) -> Response:
    return Response(text + "\n", status=status, mimetype="text/plain")
