"""Part of `tests.sources.MemorySource`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from layouts.kit.patterns import PatternMatcher

if TYPE_CHECKING:
    from tests.sources import MemorySource


class MemoryPatterns(PatternMatcher):
    def __init__(self, memory: MemorySource) -> None:
        self._memory = memory

    def matching(self, pattern: str, names: Sequence[str]) -> Sequence[str]:
        return [name for name in names if re.search(pattern, name)]

    def captured(self, pattern: str, names: Sequence[str]) -> Sequence[str | None]:
        found = [re.search(pattern, name) for name in names]
        return [match and (match[1] if match.re.groups else match[0]) for match in found]
