"""The one place that decides between "1 step" and "2 steps" in English texts; counterpart of assets/kit/counted.js.

A text is written for several: "{n} steps". Where the number is 1, the noun after it becomes singular, and so does a verb that
follows the noun. Both pass the cases of tests/layouts/kit/counted.json.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

NOUNS = (
    "allocations", "arrows", "attributes", "blocks", "bytes", "cards", "characters", "checkpoints", "chunks", "collectives",
    "columns", "components", "constants", "curves", "dimensions", "dumps", "edges", "executions", "files", "functions",
    "gaps", "graphs", "groups", "histograms", "hits", "hosts", "images", "inputs", "insights", "intervals", "iterations",
    "kernels", "kinds", "labels", "layers", "lines", "links", "maps", "marks", "messages", "names", "nodes", "notes",
    "operations", "operators", "outliers", "outputs", "packets", "pairs", "parameters", "parts", "points", "problems",
    "profiles", "ranks", "requests", "restarts", "rows", "rules", "runs", "samples", "scalars", "scopes", "sessions",
    "settings", "shapes", "slices", "stacks", "stages", "states", "steps", "streams", "tags", "tensors", "texts", "traces",
    "tracks", "trials", "types", "values", "weights", "workers",
)  # fmt: skip
"""Nouns that are counted, as they are written after a number."""
VERBS = {"are": "is", "were": "was", "have": "has", "do": "does", "begin": "begins", "start": "starts", "lack": "lacks",
         "stand": "stands", "belong": "belongs", "reserve": "reserves", "cannot": "cannot"}  # fmt: skip
_COUNTED = re.compile(rf"\{{(\w+)\}} ({'|'.join(NOUNS)})\b(?: ({'|'.join(VERBS)})\b)?")
_NUMBERED = re.compile(r"\b(?:rank|step|stage|node|layer|iteration|epoch|device|sample|graph)$", re.IGNORECASE)
"""Words after which a number is a name: "rank 1 steps" counts nothing."""


def counted(english: str, values: Mapping[str, object]) -> str:
    """Return an English text whose nouns after a number that is 1 are singular; placeholders stay."""
    if not any(str(value) == "1" for value in values.values()):
        return english

    def one(found: re.Match[str]) -> str:
        name, noun, verb = found.groups()
        if str(values.get(name)) != "1" or _NUMBERED.search(english[: found.start()].rstrip()):
            return found[0]
        return f"{{{name}}} {noun[:-1]}" + (f" {VERBS[verb]}" if verb else "")

    return _COUNTED.sub(one, english)
