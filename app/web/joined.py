"""Scripts of assets/ joined into one response, made from the sources when a browser first asks for it.

A page needs about a hundred small modules, and each request costs the browser some milliseconds of processor time. In a joined
file every module is a function that runs once and returns what the module exports; `window.mindscopeModules` keeps what has
run, so what several joined files contain runs once. A joined file is a module itself and exports what its entry exports.

The transformation knows the ways of importing and exporting that our sources use, at the beginning of a line; anything else is
a ValueError, which tests find. An export that changes its value (`export let`) is among these: importers would keep the first.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable

_FROM = re.compile(r"""^(import|export)\b(?:([^;"'()]*?)\bfrom)?\s*"([^"]+)"\s*;""", re.MULTILINE)
_DECLARED = re.compile(r"^export (async function|function|class|const)\b(\*?)\s*([\w$]+|\{[^}]*\}|\[[^=]*\])", re.MULTILINE)
_LISTED = re.compile(r"^export \{([^}]*)\};", re.MULTILINE)
_EXPORT = re.compile(r"^export\b.*", re.MULTILINE)
_LATER = re.compile(r"""(?<![\w{.])import\("(\.[^"]+)"\)""")
_KEPT = "const modules = window.mindscopeModules ||= Object.create(null);\n"


def joined(entry: str, names: Iterable[str], read: Callable[[str], str]) -> str:
    """Return one script of modules, each after its imports, that exports what the module entry exports.

    read returns the source of a module. What entry needs and names does not contain has to be there when the script runs.
    Raises ValueError for a source that uses other ways of importing or exporting than ours.
    """
    parts = [_KEPT]
    for name in names:
        body, exports = module(name, read(name), entry)
        shown = ", ".join(f"{own}: {value}" if own != value else own for own, value in exports.items() if value)
        spread = "".join(f" ...{source}," for source, value in exports.items() if not value)
        parts.append(f'modules["{name}"] ||= (() => {{\n{body}\nreturn {{ __proto__: null,{spread} {shown} }};\n}})();\n')
    own = _names(entry, read)
    parts += [f'export const {{ {", ".join(own)} }} = modules["{entry}"];\n'] if own else []
    return "".join(parts)


def module(name: str, text: str, entry: str) -> tuple[str, dict[str, str]]:
    """Return (the source of a module as the body of a function, what it exports: name -> expression).

    A whole module that is exported again stands by its expression, with "" as its value. Imports that wait until they are
    needed (`import("./x.js")`) are relative to entry then. Raises ValueError as `joined` does.
    """
    folder = posixpath.dirname(name)
    exports: dict[str, str] = {}

    def whole(specifier: str) -> str:
        return f'modules["{posixpath.normpath(posixpath.join(folder, specifier))}"]'

    def replaced(found: re.Match[str]) -> str:
        kind, what, source = found[1], (found[2] or "").strip(), whole(found[3])
        named = re.fullmatch(r"\{(.*)\}", what, re.DOTALL)
        if kind == "export" and what == "*":
            exports[source] = ""
        elif kind == "export" and named:
            exports.update({new: f"{source}.{old}" for old, new in _pairs(named[1])})
        elif kind == "import" and named:
            bound = (f"{old}: {new}" if old != new else old for old, new in _pairs(named[1]))
            return f"const {{ {', '.join(bound)} }} = {source};"
        elif kind == "import" and (all_of := re.fullmatch(r"\*\s+as\s+([\w$]+)", what)):
            return f"const {all_of[1]} = {source};"
        elif kind == "export" or what:
            raise ValueError(f"{name}: expected names in braces, a star or nothing, found {found[0]!r}")
        return ""

    def declared(found: re.Match[str]) -> str:
        exports.update({own: own for own in _bound(found[3])})
        return found[0].removeprefix("export ")

    def listed(found: re.Match[str]) -> str:
        exports.update({new: old for old, new in _pairs(found[1])})
        return ""

    body = _LISTED.sub(listed, _DECLARED.sub(declared, _FROM.sub(replaced, text)))
    if left := _EXPORT.search(body):
        raise ValueError(f"{name}: expected an exported function, class, constant or list, found {left[0]!r}")
    above = posixpath.dirname(entry)

    def moved(found: re.Match[str]) -> str:
        return f'import("{_relative(posixpath.normpath(posixpath.join(folder, found[1])), above)}")'

    return _LATER.sub(moved, body), exports


def _names(name: str, read: Callable[[str], str]) -> list[str]:
    """Return the names that a module exports, with those of modules that it exports whole."""
    found: dict[str, None] = {}
    for own, value in module(name, read(name), name)[1].items():
        found.update(dict.fromkeys([own] if value else _names(own.split('"')[1], read)))
    return list(found)


def _relative(target: str, above: str) -> str:
    path = posixpath.relpath(target, above or ".")
    return path if path.startswith(".") else f"./{path}"


def _pairs(names: str) -> list[tuple[str, str]]:
    """Return (name, name it is bound to) of each in a list such as `one, two as three`."""
    found = [re.split(r"\s+as\s+", name.strip()) for name in names.split(",")]
    return [(name[0], name[-1]) for name in found if name[0]]


def _bound(pattern: str) -> list[str]:
    """Return the names that a declaration binds: `one`, `{ one, two: three }` or `[one, two]`."""
    if not pattern.startswith(("{", "[")):
        return [pattern]
    return [part.split(":")[-1].strip() for part in pattern[1:-1].split(",") if part.strip()]
