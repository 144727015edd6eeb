"""Which weights vary: those that the function `names` of the script chooses, if it has one."""

from __future__ import annotations

import symtable
import tokenize
from collections.abc import Iterator, Sequence

from app.landscapes.chosen import ChosenCheckpoints
from app.landscapes.options import LandscapeError
from app.landscapes.workers import names_by_script
from parsers.errors import FormatError
from parsers.weights import opened


def names_chosen(script: str, found: ChosenCheckpoints) -> Sequence[str]:
    """Return the names that a script chooses of the newest checkpoint that can be read; () for a script without `names`.

    Raises LandscapeError for names that are no tensors of real numbers, ScriptFailed for what the script raises.
    """
    if not has_names(script):
        return ()
    for file in _newest_first(found):
        try:
            with opened(file) as weights:
                floating = {name for name, one in weights.tensors.items() if one.floating and one.size}
        except (FormatError, OSError):  # `usable` says so
            continue
        names = list(dict.fromkeys(names_by_script(script, file)))
        unknown = [name for name in names if name not in floating]
        if unknown or not names:
            wanted = unknown[0][:200] if unknown else "no name"
            raise LandscapeError(f"names(): expected names of weights of real numbers in {file}, found {wanted!r}")
        return names
    return ()


def has_names(script: str) -> bool:
    """Return whether a script binds `names` at its top level. It is compiled, not run: that is done by workers only."""
    try:
        with tokenize.open(script) as stream:
            text = stream.read()
        table = symtable.symtable(text, script, "exec")
        name = table.lookup("names")
    except (KeyError, SyntaxError, ValueError, RecursionError):  # a worker says what is wrong with the script
        return False
    return name.is_assigned() or name.is_imported()


def _newest_first(found: ChosenCheckpoints) -> Iterator[str]:
    for path in sorted(found.paths, key=lambda one: one.steps[-1], reverse=True):
        yield from reversed(path.files)
