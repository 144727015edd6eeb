"""Public names of a package whose modules are imported when a name is first used (PEP 562).

A package with many modules lists its names and imports them for type checkers only:

    if TYPE_CHECKING:
        from parsers.analysis.curves.axes import earliest
    else:
        __getattr__, __dir__ = names_on_first_use(__name__, {"parsers.analysis.curves.axes": ("earliest",)})
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def names_on_first_use(
    package: str, names: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package whose public names are those of these modules."""
    modules = {name: module for module, some in names.items() for name in some}
    known = vars(sys.modules[package])

    def found(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = known[name] = getattr(import_module(modules[name]), name)
        return value

    return found, lambda: sorted({*known, *modules})
