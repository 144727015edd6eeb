"""Which connections go where there are too many."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from app.web import crowds
from app.web.crowds import IDLE, INCOMPLETE, NOT_READING, Importance, unneeded


@dataclass
class Known:
    name: str
    found: Importance | None
    address: str = "a"

    @property
    def addr(self) -> tuple[str, int]:
        return self.address, 1

    def importance(self) -> Importance | None:
        return self.found


def closed(connections: list[Known], most: int, most_of_one: int) -> str:
    return "".join(each.name for each in unneeded(connections, most, most_of_one, 100.0) if isinstance(each, Known))


def test_none_goes_where_there_are_not_too_many() -> None:
    assert unneeded([], 1, 1, 0.0) == []
    assert closed([Known("x", (INCOMPLETE, 0.0))], 1, 1) == ""


@pytest.mark.parametrize(("most", "gone"), [(7, ""), (6, "b"), (5, "ab"), (4, "abc"), (3, "abcd"), (2, "abcde"), (1, "abcde")])
def test_the_order_in_which_they_go(most: int, gone: str) -> None:
    found = [
        Known("f", None), Known("a", (INCOMPLETE, 90.0)), Known("b", (INCOMPLETE, 80.0)), Known("c", (IDLE, 10.0)),
        Known("d", (IDLE, 20.0)), Known("e", (NOT_READING, 30.0)), Known("g", (NOT_READING, 100.0 - crowds.PATIENCE)),
    ]  # fmt: skip
    assert "".join(sorted(closed(found, most, 99))) == gone


def test_an_address_with_too_many_loses_its_own() -> None:
    found = [Known("a", (INCOMPLETE, 0.0), "b"), *(Known(name, (INCOMPLETE, 50.0)) for name in "cde")]
    assert closed(found, 9, 2) == "c"


def test_the_newest_of_an_address_goes_if_no_other_may() -> None:
    assert closed([Known(name, None) for name in "abc"], 9, 2) == "c"
    assert closed([Known(name, None) for name in "abc"], 2, 9) == ""  # the others wait until there is room
