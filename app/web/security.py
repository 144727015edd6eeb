"""Who may ask, and what a browser may do with the answer. Everything here holds below our own prefix only.

Names: a page on the internet can make its own name point to 127.0.0.1 and then read a local server (DNS rebinding), so the
Host of every request must be a name this server goes by, and the Origin of a request that is not a plain GET the very
server it is sent to. Persons: a server that other machines can reach asks for a token.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import ipaddress
import secrets
import socket
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode, urlsplit

from flask import Flask, Response, redirect, request
from werkzeug.datastructures import MultiDict

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
LARGEST_REQUEST = 8 << 20
"""A request body has at most so many bytes."""
_OTHER_NAME = (
    "This server does not go by that name. If it should, start it with --allowed-host NAME, or give allowed_hosts=[NAME] to "
    "create_app, mount or the page where it is part of another application.")


def is_local(host: str) -> bool:
    """Whether only this machine reaches a server that listens at host."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def names_of(host: str, allowed: Iterable[str] = ()) -> frozenset[str]:
    """The names by which a server listening at host may be called: local ones, this machine's own, and those allowed."""
    names = plain_names((*LOCAL_NAMES, host, *allowed))
    return names if is_local(host) else names | _own_names()


def plain_names(names: Iterable[str]) -> frozenset[str]:
    """Names as they are compared: lower case, without brackets, and none that stands for every address."""
    plain = {name.lower().strip("[]").rstrip(".") for name in names}
    return frozenset(plain - {"", "0.0.0.0", "::"})  # noqa: S104 - left out because no visitor uses it as a name


def _own_names() -> set[str]:
    name = socket.gethostname().lower()
    names = {name, name.partition(".")[0]}
    with contextlib.suppress(OSError):
        names |= {str(info[4][0]).partition("%")[0] for info in socket.getaddrinfo(name, None)}
    return names | _interface_addresses()


def _interface_addresses() -> set[str]:
    """The IPv4 addresses of this machine's network interfaces; empty where the system has no such call."""
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
    """A random token of 256 bits."""
    return secrets.token_urlsafe(32)


def content_policy(inline: Iterable[str] = ()) -> str:
    """The Content-Security-Policy: scripts from this server alone, and the given inline texts."""
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
    scripts = " ".join(["'self'", *(f"'sha256-{digest}'" for digest in digests)])
    return "; ".join((
        "default-src 'self'", f"script-src {scripts}", "style-src 'self' 'unsafe-inline'", "img-src 'self' data: blob:",
        "font-src 'self' data:", "connect-src 'self'", "worker-src 'self' blob:", "object-src 'none'", "base-uri 'none'",
        "form-action 'self'", "frame-ancestors 'self'",
    ))


@dataclass(frozen=True, slots=True)
class Guard:
    """The checks of one application.

    prefix: the path it is served below; public_prefix the same as browsers see it. names: the hosts it answers to, "*" for any;
    allowed: those of them that the user has given, under which a proxy in front of it may be known to browsers.
    token: what visitors need, "" for nothing; open_paths need none. cookie: the name of the cookie that holds the token.
    """

    prefix: str
    public_prefix: str
    policy: str
    names: frozenset[str] = LOCAL_NAMES
    allowed: frozenset[str] = frozenset()
    token: str = ""
    cookie: str = "mindscope"
    open_paths: Sequence[str] = field(default=())

    def install(self, server: Flask) -> None:
        """Check every request below the prefix and mark every answer."""
        server.before_request(self.check)
        server.after_request(self.mark)

    def concerns(self, path: str) -> bool:
        """Whether a path is below the prefix, or the prefix without its last slash, from where visitors are redirected."""
        return path.startswith(self.prefix) or path + "/" == self.prefix

    def check(self) -> Response | None:
        """The refusal of the current request, or None."""
        if not self.concerns(request.path):
            return None
        if (request.content_length or 0) > LARGEST_REQUEST:
            return _refusal(413, f"A request has at most {LARGEST_REQUEST} bytes.")
        if not self.knows_host(request.headers.get("Host", "")):
            return _refusal(403, _OTHER_NAME)
        if request.method not in ("GET", "HEAD", "OPTIONS") and not self.knows_origin(request.headers.get("Origin")):
            return _refusal(403, "Requests from other sites are refused.")
        return self._check_token() if self.token and request.path not in self.open_paths else None

    def knows_host(self, header: str) -> bool:
        """Whether a Host header names this server."""
        name = host_name(header)
        return name is not None and ("*" in self.names or name in self.names)

    def knows_origin(self, header: str | None) -> bool:
        """Whether an Origin header (None: there is none, so no browser's page sent it) is this server itself."""
        if header is None:
            return True
        scheme, _, place = header.partition("://")
        name = host_name(place)
        if scheme not in ("http", "https") or name is None:
            return False
        if place.lower() == request.headers.get("Host", "").lower():
            return True
        # Behind a proxy that changes Host, the public name is one the user has allowed.
        return "*" in self.allowed or name in self.allowed

    def _check_token(self) -> Response | None:
        offered = request.args.get("token")
        if offered is not None and request.method == "GET" and self._is_token(offered):
            return self._welcome()
        scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._is_token(bearer.strip()):
            return None
        if self._is_token(request.cookies.get(self.cookie, "")):
            return None
        return _refusal(
            401, "A token is needed: open the address that was printed when the server started, or send the header "
            "'Authorization: Bearer TOKEN'.")

    def _is_token(self, offered: str) -> bool:
        return hmac.compare_digest(offered.encode("utf-8", "replace"), self.token.encode())

    def _welcome(self) -> Response:
        """To the same address without the token, which from now on is in a cookie."""
        rest = MultiDict((key, value) for key, value in request.args.items(multi=True) if key != "token")
        query = urlencode(list(rest.items(multi=True)))
        path = self.public_prefix + quote(request.path[len(self.prefix) :].lstrip("/"))
        answer = redirect(path + ("?" + query if query else ""), 303)
        path = self.public_prefix.rstrip("/") or "/"
        answer.set_cookie(self.cookie, self.token, httponly=True, samesite="Lax", path=path, secure=request.is_secure)
        answer.cache_control.no_store = True
        return answer  # type: ignore[return-value]  # Flask makes its own Response, werkzeug declares the base

    def mark(self, response: Response) -> Response:
        """Add the headers that bind the browser."""
        if self.concerns(request.path):
            response.headers.setdefault("Content-Security-Policy", self.policy)
            response.headers["X-Content-Type-Options"] = "nosniff"
            response.headers["Referrer-Policy"] = "same-origin"
            response.headers.setdefault("Cache-Control", "no-cache")
            response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        return response


def host_name(header: str) -> str | None:
    """The name or address in "name:port", lower case and without brackets; None if it is no such thing."""
    try:
        parts = urlsplit("//" + header)
        _ = parts.port  # ValueError for what is no port
        name = parts.hostname
    except ValueError:
        return None
    if not name or parts.netloc != header or "@" in header:
        return None
    return name.rstrip(".")


def _refusal(status: int, text: str) -> Response:
    return Response(text + "\n", status=status, mimetype="text/plain")
