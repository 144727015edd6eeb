"""Mutations of what clients send: values go where others of the same name are, or where any request has any other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from random import Random
from typing import Any

from tests.fuzz.mutated_texts import NUMBERS, Corpus
from tests.fuzz.mutated_trees import changed_tree, tree

Place = tuple[str, Any, Callable[[Any], None]]
_ODD: tuple[Any, ...] = (
    None, True, 0, -1, 2**53 + 1, 2**63, -(2**63) - 1, 10**30, 1e308, "", " ", "x", "\0", "\ud800", "*", ".", "..", "/dev/zero",
    "../../etc/passwd", "<b>", "=1+1", "(a+)+$", "[", "nan", "inf", "-1", "1e999", "9" * 5000, "²", "é" * 3000, "a,b,,", ",,,,",
    "0,1,2,3", "9e18,9.3e18", "?run=a&run=b", "%00", "训练", [], {}, [None], [["x"]], {"x": 1}, {"": None},
)  # fmt: skip


def request(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Put one to four values of other requests, or odd ones, into a request; at times change its tree or text."""
    if random.random() < 0.2:
        return tree(data, corpus, random)
    try:
        found = json.loads(data)
        other = json.loads(random.choice(corpus)) if corpus else found
        for _ in range(random.choice((1, 1, 2, 3, 4))):
            _put_one(found, list(_places(other)), random)
        return json.dumps(found).encode()
    except (ValueError, RecursionError):  # no JSON, or deeper than it can be
        return tree(data, corpus, random)


def _put_one(found: Any, given: Sequence[Place], random: Random) -> None:
    places = list(_places(found))
    if not places:
        return
    name, value, put = random.choice(places)
    alike = [other for known, other, _put in given if known == name]
    act = random.random()
    if act < 0.4 and alike:
        put(random.choice(alike))
    elif act < 0.5 and given:
        put(random.choice(given)[1])
    elif act < 0.6:
        put(changed_tree(value, random))
    else:
        put(random.choice((*_ODD, random.choice(NUMBERS))))


def _places(found: Any, name: str = "", depth: int = 0) -> Iterator[Place]:
    """Yield each value within a tree: the name of the nearest object that has it, the value, and what replaces it."""
    items = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for key, value in list(items) if depth < 12 else ():

        def put(other: Any, key: Any = key) -> None:
            found[key] = deepcopy(other)  # two requests share nothing, and no value is within itself

        named = key if isinstance(key, str) else name
        yield named, value, put
        yield from _places(value, named, depth + 1)
