"""The files of assets/: native ES modules and styles, and which of them a page needs.

The folder owns the file. What a page needs of others its modules import, and a page has the styles of every folder that its
imports touch. Only files found here are served: a request names one of them, never a path.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

BASE = "base/main.js"
"""The entry of every page of ours, also in somebody else's layout."""
SHELL = "shell/main.js"
"""The entry of our own application: menu, routing, saved views."""
EARLY = "early/prefs.js"
"""A classic script. It sets theme and language, so it runs in the head of the index page, before anything is painted."""
HOLD = "early/hold.js"
"""A classic script for pages in somebody else's layout: Dash starts there when our modules have run."""

_IMPORT = re.compile(r"""^(?:import|export)\b(?:[^;"'()]*?\bfrom)?\s*"([^"]+)"\s*;""", re.MULTILINE)
_VERSIONED = re.compile(r"v-([0-9a-f]{16})/(.+)")


def page_entry(name: str) -> str:
    """The module that a page begins with; there is none where the page is all Python."""
    return f"pages/{name}/page.js"


def folder_of(file: str) -> str:
    """The folder that owns a file: "base", "cards", "pages/scalars"."""
    first, _, rest = file.partition("/")
    return f"{first}/{rest.partition('/')[0]}" if first == "pages" else first


def sheet_of(folder: str) -> str:
    """The name under which the styles of a folder are served, as one file."""
    return f"{folder}.css"


def imports_of(text: str) -> list[str]:
    """The specifiers that a module imports, in their order."""
    return _IMPORT.findall(text)


class Assets:
    """The files below a directory, as they are when this is made.

    names: the paths of all files, sorted. sheets: name of each style sheet that is served -> the files joined in it, of which
    the one named like the folder, or page.css, comes first. version: a hash of all contents.
    """

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.names = tuple(_names(directory))
        contents = {name: _read(os.path.join(directory, name)) for name in self.names}
        digest = hashlib.sha256()
        for name, content in contents.items():
            digest.update(f"{name}\0{len(content)}\0".encode())
            digest.update(content)
        self.version = digest.hexdigest()[:16]
        scripts = {name: content.decode() for name, content in contents.items() if name.endswith(".js")}
        self._imports = {name: tuple(_resolved(name, wanted) for wanted in imports_of(text)) for name, text in scripts.items()}
        self.sheets = MappingProxyType(_sheets(self.names))
        self._stamp = _stamp(directory)
        self._needed: dict[tuple[str, ...], list[str]] = {}

    def current(self) -> Assets:
        """This, or what is there now where a file has changed since: somebody works on it."""
        return self if _stamp(self.directory) == self._stamp else Assets(self.directory)

    def __contains__(self, name: str) -> bool:
        return name in self.names or name in self.sheets

    @property
    def imports(self) -> Mapping[str, tuple[str, ...]]:
        """Each script -> the modules that it imports."""
        return self._imports

    def modules(self, entries: Iterable[str]) -> list[str]:
        """The modules that these entries need, each after those that it imports. An entry that is not there needs none."""
        wanted_by = tuple(entries)
        if wanted_by in self._needed:
            return self._needed[wanted_by]
        found: dict[str, None] = {}

        def visit(name: str, above: tuple[str, ...] = ()) -> None:
            if name in found or name in above:
                return
            for wanted in self._imports[name]:
                visit(wanted, (*above, name))
            found[name] = None

        for entry in wanted_by:
            if entry in self._imports:
                visit(entry)
        self._needed[wanted_by] = list(found)
        return self._needed[wanted_by]

    def styles(self, modules: Iterable[str], page: str = "") -> list[str]:
        """The style sheets of the folders that these modules are in, and of a page's own: what is more special comes later."""
        folders = {folder_of(name) for name in modules} | ({f"pages/{page}"} if page else set())
        order = sorted(folders, key=lambda folder: (folder != "base", folder.startswith("pages/"), folder))
        return [sheet_of(folder) for folder in order if sheet_of(folder) in self.sheets]

    def path(self, name: str) -> str:
        """The path below /assets/ under which a browser may keep a file: its version is part of it.

        Relative imports stay inside the version, so that no module is there twice.
        """
        return f"v-{self.version}/{name}"

    def named(self, path: str) -> tuple[str, bool]:
        """(name of the file or sheet, whether the answer may be kept) for a path as of `path`, or for a plain name."""
        found = _VERSIONED.fullmatch(path)
        return (found[2], found[1] == self.version) if found else (path, False)

    def files(self, name: str) -> list[str]:
        """The full paths of the files that a name is served from."""
        return [os.path.join(self.directory, part) for part in self.sheets.get(name, (name,))]


def _names(directory: str) -> list[str]:
    found = []
    for current, _, names in os.walk(directory):
        found += [os.path.relpath(os.path.join(current, name), directory).replace(os.sep, "/") for name in names]
    return sorted(found)


def _sheets(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name in names:
        if name.endswith(".css") and "/" in name:
            found.setdefault(folder_of(name), []).append(name)
    for folder, parts in found.items():
        first = ("page.css", f"{folder}.css")
        parts.sort(key=lambda part: (posixpath.basename(part) not in first, part))
    return {sheet_of(folder): tuple(parts) for folder, parts in found.items()}


def _resolved(module: str, specifier: str) -> str:
    """The path of what a module imports."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(module), specifier))


def _stamp(directory: str) -> tuple[int, float]:
    """What changes when a file is added, removed or edited: their number and the newest mtime."""
    names = _names(directory)
    return len(names), max((os.stat(os.path.join(directory, name)).st_mtime for name in names), default=0.0)


def _read(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()
