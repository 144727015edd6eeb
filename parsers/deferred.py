"""Libraries that are imported when they are first used, since a server may never need them: pandas and pyarrow take 0.25 s."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import yaml
else:

    class _Deferred(ModuleType):
        """Stands for a module until one of its names is asked for."""

        def __getattr__(self, name: str) -> Any:
            found = getattr(importlib.import_module(self.__name__), name)
            setattr(self, name, found)
            return found

    pandas = _Deferred("pandas")
    yaml = _Deferred("yaml")

__all__ = ["pandas", "yaml"]
