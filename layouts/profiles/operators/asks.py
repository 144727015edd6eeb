"""Requests of the operators page to the server, parsed and validated: values from a browser are untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layouts.kit.state import BadInput, text, texts
from layouts.profiles.operator_variants import VARIANTS as VARIANTS
from layouts.profiles.profile_choice import ProfileChoice, read_against, read_choice

VIEWS = ("types", "operators", "shapes", "executions", "counters")
SEARCHED = ("name", "type", "full_name")
MOST_OPEN = 100
KEYS = ("core", "chart", "by", "view", "q", "in", "sort", "open", "scope", "amount", "form")


@dataclass(frozen=True, slots=True)
class OperatorRequest:
    """A request for parts of a profile.

    variant: one of VARIANTS, "" for the first one present. by: "total" or "mean" time of types. sort: column and "desc" or
    "asc", None for the longest first. opened: types whose operators are shown below them. scope: path whose parts are drawn.
    amount: "time" or "flops". form: "treemap" or "icicle".
    """

    choice: ProfileChoice
    against: ProfileChoice | None
    variant: str = ""
    chart: str = "pie"
    by: str = "total"
    view: str = "types"
    query: str = ""
    searched: str = "name"
    sort: tuple[str, str] | None = None
    opened: tuple[str, ...] = ()
    scope: str = ""
    amount: str = "time"
    form: str = "treemap"
    dark: bool = False


def read_ask(data: Any) -> OperatorRequest | None:
    """Parse a request from the browser; None if it names no profile. BadInput if it is malformed."""
    choice = read_choice(data)
    if choice is None:
        return None
    opened = texts(data, "open")
    if len(opened) > MOST_OPEN:
        raise BadInput(f"open: expected at most {MOST_OPEN} types, found {len(opened)}")
    return OperatorRequest(
        choice, read_against(data), text(data, "core", choices=("", *VARIANTS)), text(data, "chart", "pie", ("pie", "bar")),
        text(data, "by", "total", ("total", "mean")), text(data, "view", "types", VIEWS), text(data, "q"),
        text(data, "in", "name", SEARCHED), read_sort(text(data, "sort")), tuple(opened), text(data, "scope", limit=20_000),
        text(data, "amount", "time", ("time", "flops")), text(data, "form", "treemap", ("treemap", "icicle")),
        text(data, "theme", "light", ("light", "dark")) == "dark",
    )  # fmt: skip


def read_sort(sort: str) -> tuple[str, str] | None:
    """Parse a sort order such as "total_ns:desc" into column and direction; None for an empty text."""
    if not sort:
        return None
    name, colon, direction = sort.rpartition(":")
    if not colon or direction not in ("asc", "desc"):
        raise BadInput(f"sort: expected a column, a colon and asc or desc, found {sort[:80]!r}")
    return name, direction
