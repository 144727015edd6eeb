"""Requests of the operators page to the server, parsed and validated: values from a browser are untrusted."""

from __future__ import annotations

from dataclasses import dataclass

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.kit.state import BadInput
from layouts.profiles.operator_variants import VARIANTS as VARIANTS
from layouts.profiles.profile_choice import ProfileChoice, other_profile, profile

VIEWS = ("types", "operators", "shapes", "executions", "counters")
SEARCHED = ("name", "type", "full_name")
MOST_OPEN = 100


def read_sort(sort: str) -> tuple[str, str] | None:
    """Parse a sort order such as "total_ns:desc" into column and direction; None for an empty text."""
    if not sort:
        return None
    name, colon, direction = sort.rpartition(":")
    if not colon or direction not in ("asc", "desc"):
        raise BadInput(f"sort: expected a column, a colon and asc or desc, found {sort[:80]!r}")
    return name, direction


@dataclass(frozen=True, slots=True)
class OperatorRequest(Request):
    """A request for parts of a profile.

    variant: one of VARIANTS, "" for the first one present. by: "total" or "mean" time of types. sort: column and "desc" or
    "asc", None for the longest first. opened: types whose operators are shown below them. scope: path whose parts are drawn.
    amount: "time" or "flops". form: "treemap" or "icicle".
    """

    choice: ProfileChoice = profile()
    against: ProfileChoice | None = other_profile()
    variant: str = asked.one_of("core", ("", *VARIANTS))
    chart: str = asked.one_of("chart", ("pie", "bar"))
    by: str = asked.one_of("by", ("total", "mean"))
    view: str = asked.one_of("view", VIEWS)
    query: str = asked.word("q")
    searched: str = asked.one_of("in", SEARCHED)
    sort: tuple[str, str] | None = asked.parsed("sort", read_sort)
    opened: tuple[str, ...] = asked.words("open", most=MOST_OPEN)
    scope: str = asked.word("scope", limit=20_000)
    amount: str = asked.one_of("amount", ("time", "flops"))
    form: str = asked.one_of("form", ("treemap", "icicle"))
    dark: bool = asked.dark()


