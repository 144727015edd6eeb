"""The files of assets/, native ES modules and style sheets, and which of them a page needs.

Every file belongs to its folder. A page gets the modules that its entry imports, and the styles of every folder from which it
imports. Only files found here are served: a request can name one of them, never another path.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

BASE = "kit/main.js"
"""The entry of every page, also when embedded in a host application."""
SHELL = "shell/main.js"
"""The entry of the whole dashboard: menu, routing, saved views."""
EARLY = "early/prefs.js"
"""A classic script that sets theme and language. It runs in the head of the index page, before the first paint."""
GENERATORS = "vendor/regenerator_runtime.js"
"""A classic script that Dash's own scripts need to load components when they are first shown: regenerator-runtime of npm."""
HOLD = "early/hold.js"
"""A classic script for embedded pages: it delays the start of Dash until our modules have run."""
PAGE_FILE = "early/page_file.js"
"""A classic script that is put into pages saved as files, and draws their figures; no page of a server loads it."""
PAGE_SAVING = "shell/page_saving.js"
"""A module that `mindscope save` has a page load (app/saving/page.py); no page does so by itself."""

JOINED = "joined/"
"""Begins the names of joined scripts (app/web/joined.py); the rest is the name of the module that one has and exports."""

SHARED = "kit"
"""The folder of what every page may use."""

_IMPORT = re.compile(r"""^(?:import|export)\b(?:[^;"'()]*?\bfrom)?\s*"([^"]+)"\s*;""", re.MULTILINE)
_VERSIONED = re.compile(r"v-([0-9a-f]{16})/(.+)")


def folder_of(file: str) -> str:
    """Return the folder that a file belongs to: "kit", "kit/cards", "profiles", "curves/scalars"."""
    return posixpath.dirname(file)


def is_page(folder: str) -> bool:
    """Return whether a folder belongs to one page: it lies below a subject. The folders below kit belong to several."""
    above = posixpath.dirname(folder)
    return bool(above) and above != SHARED


def sheet_of(folder: str) -> str:
    """Return the name under which the styles of a folder are served as one file."""
    return f"{folder}.css"


def imports_of(text: str) -> list[str]:
    """Return the specifiers that a module imports, in order."""
    return [found[1] for at in _lines_with(text, ("import", "export")) if (found := _IMPORT.match(text, at))]


def _lines_with(text: str, words: Iterable[str]) -> list[int]:
    """Return where the lines begin that begin with one of these words; a regular expression would look at every line."""
    found = [0]
    for word in words:
        at = text.find(f"\n{word}")
        while at >= 0:
            found.append(at + 1)
            at = text.find(f"\n{word}", at + 1)
    return sorted(found)


class Assets:
    """The files below a directory, as of construction.

    names: the paths of all files, sorted. sheets: name of each served style sheet -> the files it joins; the one named like the
    folder, or page.css, comes first. version: a hash of all contents.
    """

    def __init__(self, directory: str) -> None:
        self.directory = directory
        files = _files(directory)
        self.names = tuple(sorted(files))
        contents = {name: _read(os.path.join(directory, name)) for name in self.names}
        digest = hashlib.sha256()
        for name, content in contents.items():
            digest.update(f"{name}\0{len(content)}\0".encode())
            digest.update(content)
        self.version = digest.hexdigest()[:16]
        scripts = {name: content.decode() for name, content in contents.items() if name.endswith(".js")}
        self._imports = {name: tuple(_resolved(name, target) for target in imports_of(text)) for name, text in scripts.items()}
        self.sheets = MappingProxyType(_sheets(self.names))
        self._folders = {posixpath.basename(folder): folder for folder in map(folder_of, self.names) if is_page(folder)}
        self._files = files
        self._needed: dict[tuple[str, ...], list[str]] = {}

    def current(self) -> Assets:
        """Return this object, or a new one if a file has changed since, as during development."""
        return self if _files(self.directory) == self._files else Assets(self.directory)

    def __contains__(self, name: str) -> bool:
        return name in self.names or name in self.sheets or self.is_joined(name)

    def is_joined(self, name: str) -> bool:
        """Return whether a name is that of a joined script."""
        return name.startswith(JOINED) and name.removeprefix(JOINED) in self._imports

    def joined(self, name: str) -> str:
        """Return a joined script: that of SHELL has all that every page of the dashboard needs, others what it has not."""
        from app.web.joined import joined  # a start does without

        entry = name.removeprefix(JOINED)
        shared = self.modules((BASE, SHELL))
        names = shared if entry == SHELL else [own for own in self.modules((entry,)) if own not in shared]
        return joined(entry, names, lambda own: _read(os.path.join(self.directory, own)).decode())

    @property
    def imports(self) -> Mapping[str, tuple[str, ...]]:
        """Script -> the modules it imports."""
        return self._imports

    def modules(self, entries: Iterable[str]) -> list[str]:
        """Return the modules that these entries need, each after its imports. An entry that does not exist is skipped."""
        key = tuple(entries)
        if key in self._needed:
            return self._needed[key]
        found: dict[str, None] = {}

        def visit(name: str, above: tuple[str, ...] = ()) -> None:
            if name in found or name in above:
                return
            for target in self._imports[name]:
                visit(target, (*above, name))
            found[name] = None

        for entry in key:
            if entry in self._imports:
                visit(entry)
        self._needed[key] = list(found)
        return self._needed[key]

    def page_entry(self, page: str) -> str:
        """Return the entry module of a page; a page without JavaScript has no such file."""
        return posixpath.join(self._folders.get(page, page), "page.js")

    def styles(self, modules: Iterable[str], page: str = "") -> list[str]:
        """Return the style sheets of these modules' folders and of the page itself, the more specific ones later."""
        folders = {folder_of(name) for name in modules} | {self._folders.get(page, "")}
        order = sorted(folders, key=lambda folder: (folder != SHARED, is_page(folder), folder))
        return [sheet_of(folder) for folder in order if sheet_of(folder) in self.sheets]

    def path(self, name: str) -> str:
        """Return the path below /assets/ under which a browser may cache a file: it contains the version.

        Relative imports stay inside the version, so no module is loaded twice.
        """
        return f"v-{self.version}/{name}"

    def named(self, path: str) -> tuple[str, bool]:
        """Return (name of the file or sheet, whether it may be cached) for a path made by `path`, or for a plain name."""
        found = _VERSIONED.fullmatch(path)
        return (found[2], found[1] == self.version) if found else (path, False)

    def files(self, name: str) -> list[str]:
        """Return the full paths of the files that a name is served from."""
        return [os.path.join(self.directory, part) for part in self.sheets.get(name, (name,))]


def _files(directory: str, above: str = "") -> dict[str, float]:
    """Return the files below a directory by their paths in it, and when each was last written."""
    found: dict[str, float] = {}
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir():
                if not entry.is_symlink():
                    found |= _files(entry.path, f"{above}{entry.name}/")
            else:
                found[above + entry.name] = entry.stat().st_mtime
    return found


def _sheets(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name in names:
        if name.endswith(".css") and "/" in name:
            found.setdefault(folder_of(name), []).append(name)
    for folder, parts in found.items():
        first = ("page.css", f"{posixpath.basename(folder)}.css")
        parts.sort(key=lambda part: (posixpath.basename(part) not in first, part))
    return {sheet_of(folder): tuple(parts) for folder, parts in found.items()}


def _resolved(module: str, specifier: str) -> str:
    """Return the path of an imported module."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(module), specifier))


def _read(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()
