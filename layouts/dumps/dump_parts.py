"""Parts of a page about a dump (`layouts.kit.page_parts`): asked for with `request` of assets/dumps/dumps.js."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from layouts.dumps.dump_choice import DumpChoice
from layouts.dumps.open_dump import DumpWork
from layouts.kit.page import Ids
from layouts.kit.page_parts import Answer, register_parts_in, stores
from layouts.kit.state import flag
from layouts.kit.work import WorkResult
from layouts.sources import DumpSources

__all__ = ["Answer", "progress", "register_parts", "stores", "worked"]


def register_parts(app: Any, ids: Ids, parts: Mapping[str, Answer]) -> None:
    """Add the callbacks of parts by name. Of a page whose layout is not made with `body`, `stores` belong to it."""
    register_parts_in(app, ids, parts, "mindscope_debugging")


def worked(source: DumpSources, choice: DumpChoice, work: DumpWork, ask: Any) -> WorkResult:
    """Return the result of work that a part asks for; with cancel=1 it is stopped, with again=1 resumed."""
    if flag(ask, "cancel"):
        source.dumps.cancel(choice.run, work)
    return source.dumps.work(choice.run, work, again=flag(ask, "again"))


def progress(found: WorkResult) -> dict[str, Any]:
    """Return what the browser needs to show how far work is; without its result."""
    return {"state": found.state, "done": found.done, "total": found.total, "text": found.text, "mark": found.mark}
