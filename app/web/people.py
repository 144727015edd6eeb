"""Who may change what on a server for several people, and who they are: told by a proxy in front, which logs them in.

A proxy says in a header who sends a request. Anybody who reaches the server past the proxy could send that header as well, so
it is believed from the addresses of proxies only, and a request from elsewhere that has it is refused. Nothing that is refused
here is secret: whoever may not change anything still reads everything.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field

from flask import has_request_context, request
from werkzeug.wrappers import Request

from layouts.kit.user_input import one_line
from layouts.runs.notes import LONGEST_AUTHOR

READING_POSTS = ("_dash-update-component", "view-file", "scalars-points")
"""Last parts of the paths of requests by POST that change nothing."""
PREFIX_HEADER = "X-Forwarded-Prefix"

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class People:
    """The visitors of one application. By default all of them may change everything, and have no names.

    read_only: nobody may change anything. header: the name of the header with the name of a visitor, "" for none. proxies: the
    networks it is believed from. editors: the names of those who may change something, empty for everybody.

    Raises ValueError if header and proxies are not given together, or editors without them.
    """

    read_only: bool = False
    header: str = ""
    proxies: tuple[Network, ...] = field(default=())
    editors: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.header and not self.proxies:
            raise ValueError("expected the address of the proxy that sends the header with names, found none")
        if self.editors and not self.header:
            raise ValueError("expected a header with the names of visitors, as only some may change something, found none")

    def name(self) -> str:
        """Return the name of who sends the current request; "" if nothing says it, and outside of requests."""
        return self._name_in(request) if self.header and has_request_context() else ""

    def may_change(self) -> bool:
        """Return whether who sends the current request may change something; always outside of requests."""
        return not has_request_context() or self._may_change(request)

    def refused(self, asked: Request) -> str:
        """Return why a request is refused, for the header it has or for what it would change; "" if it is not."""
        if self.header and self.header in asked.headers and not self.is_proxy(asked.remote_addr):
            return f"The header {self.header} is accepted from the proxy only."
        changes = asked.method not in ("GET", "HEAD", "OPTIONS") and asked.path.rpartition("/")[2] not in READING_POSTS
        if changes and not self._may_change(asked):
            return "You may look at everything here, but change nothing."
        return ""

    def foreign_prefix(self, asked: Request, prefix: str) -> str:
        """Return the path that a proxy says browsers see, if it is another one than this prefix; "" if it is not."""
        told = asked.headers.get(PREFIX_HEADER, "") if self.is_proxy(asked.remote_addr) else ""
        return told if told and told.strip("/") != prefix.strip("/") else ""

    def is_proxy(self, address: str | None) -> bool:
        """Return whether an address is that of a proxy."""
        try:
            found = ipaddress.ip_address(address or "")
        except ValueError:
            return False
        plain = getattr(found, "ipv4_mapped", None) or found
        return any(plain in network for network in self.proxies)

    def _name_in(self, asked: Request) -> str:
        # WSGI gives the bytes of a header as Latin-1; proxies send UTF-8.
        told = asked.headers.get(self.header, "").encode("latin-1", "replace").decode("utf-8", "replace")
        return one_line(told)[:LONGEST_AUTHOR]

    def _may_change(self, asked: Request) -> bool:
        return not self.read_only and (not self.editors or self._name_in(asked) in self.editors)


EVERYBODY = People()


def networks(addresses: Iterable[str]) -> tuple[Network, ...]:
    """Return the networks of addresses ("10.0.0.7", "10.0.0.0/24", "::1"). Raises ValueError for anything else."""
    return tuple(ipaddress.ip_network(address, strict=False) for address in addresses)
