"""What the operators page asks the server for, read from the browser's own words. Every value in it is untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layouts.profiling.choice import Choice, read_against, read_choice
from layouts.state import BadInput, text, texts

VARIANTS = ("ai_core", "gpu", "gpu_kernel", "ai_cpu", "host_cpu", "communication")
"""What operators ran on, as tabs in this order."""
VIEWS = ("types", "operators", "shapes", "executions")
SEARCHED = ("name", "type", "full_name")
MOST_OPEN = 100
KEYS = ("core", "chart", "by", "view", "q", "in", "sort", "open", "scope", "amount", "form")


@dataclass(frozen=True, slots=True)
class Ask:
    """What to show of a profile.

    variant "" is the first there is. by: "total" or "mean" time of types. sort: column and "desc" or "asc", None for the
    longest first. opened: types whose operators are shown below them. scope: the path whose parts are drawn, amount: "time" or
    "flops", form: "treemap" or "icicle".
    """

    choice: Choice
    against: Choice | None
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


def read_ask(data: Any) -> Ask | None:
    """The ask a browser sent, None where no profile is named, or BadInput."""
    choice = read_choice(data)
    if choice is None:
        return None
    opened = texts(data, "open")
    if len(opened) > MOST_OPEN:
        raise BadInput(f"open: wanted at most {MOST_OPEN} types; got {len(opened)}")
    return Ask(
        choice, read_against(data), text(data, "core", choices=("", *VARIANTS)), text(data, "chart", "pie", ("pie", "bar")),
        text(data, "by", "total", ("total", "mean")), text(data, "view", "types", VIEWS), text(data, "q"),
        text(data, "in", "name", SEARCHED), read_sort(text(data, "sort")), tuple(opened), text(data, "scope", limit=20_000),
        text(data, "amount", "time", ("time", "flops")), text(data, "form", "treemap", ("treemap", "icicle")),
        text(data, "theme", "light", ("light", "dark")) == "dark",
    )  # fmt: skip


def read_sort(given: str) -> tuple[str, str] | None:
    """Column and direction of "total_ns:desc"; None for an empty text."""
    if not given:
        return None
    name, colon, way = given.rpartition(":")
    if not colon or way not in ("asc", "desc"):
        raise BadInput(f"sort: wanted a column, a colon and asc or desc; got {given[:80]!r}")
    return name, way
