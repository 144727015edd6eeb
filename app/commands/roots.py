"""The directories that a server shows: one, or several with a name for the runs of each (`NAME=DIR`)."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.commands.settings import SettingError
from app.mirror.addresses import Address, AddressError, is_address, parse_address

OPTION = "--summary-base-dir"
_NAMED = re.compile(r"([^=/\\\0]{1,100})=(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Root:
    """A directory of runs, or one file, as an absolute path. name: what the runs begin with, "" for what several need.

    address: where the runs are if they are elsewhere; path is its text then.
    """

    path: str
    name: str = ""
    address: Address | None = None

    @property
    def text(self) -> str:
        """The root as a value of the option."""
        return f"{self.name}={self.path}" if self.name else self.path


def roots_of(texts: Sequence[str], *, remote: bool = False) -> tuple[Root, ...]:
    """Return the roots of the values of the option; what is given twice counts once. Raises SettingError.

    A directory that exists is one, whatever its name; otherwise what comes before the first `=` is a name. remote: addresses
    may be among them, which a mirror copies; otherwise they are refused.
    """
    roots = tuple(dict.fromkeys(_root(text, remote=remote) for text in texts))
    if len(roots) > 1:
        _refuse_equal(roots)
    return roots


def paths_of(roots: Sequence[Root]) -> str:
    """Return what messages and records call the roots: their paths, joined as in a search path."""
    return os.pathsep.join(root.path for root in roots)


def _root(text: str, *, remote: bool) -> Root:
    path = _absolute(text)
    named = None if os.path.exists(path) else _NAMED.fullmatch(text)
    name, place = (named[1], named[2]) if named is not None else ("", text)
    if is_address(place) and not os.path.exists(place):
        address = _address(place)
        if not remote:
            how = f"copy and follow it with `mindscope mirror {address.text} DIR`, and open DIR"
            raise SettingError(f"{OPTION}: expected a directory, found {address.text!r}: {how}")
        return Root(address.text, name, address)
    path = _absolute(place)
    if not os.path.isdir(path) and not os.path.isfile(path):
        raise SettingError(f"{OPTION}: expected an existing directory or file, found {text!r}")
    from parsers.discovery import opens_alone

    if os.path.isfile(path) and not opens_alone(path):
        raise SettingError(f"{OPTION}: expected a trace or an event file, found {text!r}")
    if os.path.isfile(path) and name:
        raise SettingError(f"{OPTION}: expected a directory after a name, found the file {place!r}")
    return Root(path, name)


def _address(text: str) -> Address:
    """Return an address. What is refused is not quoted: it may hold a secret."""
    try:
        return parse_address(text)
    except AddressError as error:
        raise SettingError(f"{OPTION}: expected {error}") from None


def _absolute(text: str) -> str:
    return os.path.abspath(os.path.expanduser(text))


def _refuse_equal(roots: Sequence[Root]) -> None:
    """Refuse names that are equal, and a directory that lies in another one: its runs would be there twice."""
    names = [root.name or os.path.basename(root.path) for root in roots]
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"{OPTION}: expected different names, found {name!r} twice; name them: NAME=DIR")
    for root in roots:
        for other in roots:
            inside = os.path.realpath(root.path).startswith(os.path.join(os.path.realpath(other.path), ""))
            if root is not other and (inside or os.path.realpath(root.path) == os.path.realpath(other.path)):
                raise SettingError(f"{OPTION}: expected directories apart, found {root.path!r} in {other.path!r}")
