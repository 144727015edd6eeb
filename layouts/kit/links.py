"""Links to pages of ours with the state that they open with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode


def page_link(page: str, run: str, query: Iterable[tuple[str, object]]) -> Mapping[str, Any]:
    """Return the attributes of a link to a page about a run: its key and further state.

    The shell keeps the selected runs; a new tab needs at least this one.
    """
    state = urlencode([("of", run), *query])
    return {"href": f"{page}?{urlencode({'run': run})}&{state}", "data-page": page, "data-query": state}
