"""Labels of kernels of GPUs, which are named by their whole C++ signature: the function and its template arguments.

`void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, at::detail::Array<char*, 3> >(int, ...)` is
labelled `vectorized_elementwise_kernel<4, AddFunctor<float>, Array<char*, 3>>`. Other names are their own labels.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

_NAMESPACES = re.compile(r"(?:\b[A-Za-z_]\w*::|\(anonymous namespace\)::)+(?=[A-Za-z_{(])")
_OF_TORCH = re.compile(r"^(?:at::(?:native::|cuda::|detail::)*|\(anonymous namespace\)::)+")
_OPEN, _CLOSE = "(<[{", ")>]}"


def kernel_labels(names: Iterable[str]) -> dict[str, str]:
    """Return the label of each name; the name itself for labels that several of the names would have."""
    labels = {name: kernel_label(name) for name in names}
    having = Counter(labels.values())
    return {name: label if having[label] == 1 else name for name, label in labels.items()}


@lru_cache(20_000)
def kernel_label(name: str) -> str:
    """Return the function of a C++ signature and its template arguments without their namespaces; other texts as they are."""
    if not name.endswith(")"):
        return name
    depths = _depths(name)
    if depths is None:
        return name
    begin = max(place for place, depth in enumerate(depths) if depth == 0 and name[place] == "(")
    space = max((place for place in range(begin) if depths[place] == 0 and name[place] == " "), default=-1)
    function, bracket, arguments = name[space + 1 : begin].partition("<")
    if not function:
        return name
    return _OF_TORCH.sub("", function) + bracket + _NAMESPACES.sub("", arguments).replace("> >", ">>").replace("> >", ">>")


def _depths(name: str) -> list[int] | None:
    """Return how many brackets are open before each letter; None if they do not match. In round ones < and > compare."""
    open_: list[str] = []
    depths = []
    for letter in name:
        compares = letter in "<>" and "(" in open_
        if letter in _CLOSE and not compares and (not open_ or _OPEN.index(open_.pop()) != _CLOSE.index(letter)):
            return None
        depths.append(len(open_))
        if letter in _OPEN and not compares:
            open_.append(letter)
    return None if open_ else depths
