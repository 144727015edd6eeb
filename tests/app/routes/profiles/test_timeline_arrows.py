"""The arrows of one slice as columns, against a count over all arrows."""

from __future__ import annotations

import random
from pathlib import Path

from app.routes.profiles import timeline_arrows
from parsers.profiler.trace import pyramid, storage
from parsers.profiler.trace.opened import OpenTrace
from parsers.profiler.trace.together import Together
from tests.writers.traces import trace


def test_every_arrow_of_a_slice_is_among_its_columns(tmp_path: Path) -> None:
    rng = random.Random(7)
    rows = {name: [(10 * at, 5, f"{name}{at % 3}") for at in range(60)] for name in "abc"}
    ends = [((rng.choice("abc"), rng.randrange(60)), (rng.choice("abc"), rng.randrange(60)), "f") for _ in range(900)]
    ends += [(("a", 30), ("b", at), "f") for at in range(60)]
    made = trace(rows, arrows=ends)
    storage.write(made, str(tmp_path))
    pyramid.build(made, str(tmp_path))
    (part,) = Together([OpenTrace(made, pyramid.open(str(tmp_path)))]).parts
    slices, flows = made.slices, made.flows
    for row in (0, 30, 77, 179):
        into = [int(flows.source[at]) for at in range(len(flows)) if flows.target[at] == row]
        out_of = [int(flows.target[at]) for at in range(len(flows)) if flows.source[at] == row]
        found = timeline_arrows.columns_of(part, row)
        assert (found["total"], found["arriving"]) == (len(into) + len(out_of), len(into))
        for which, wanted in ((slice(0, len(into)), into), (slice(len(into), None), out_of)):
            shown = zip(found["track"][which], found["depth"][which], found["start"][which], strict=True)
            assert sorted(shown) == sorted((slices.track[at], slices.depth[at], slices.start[at]) for at in wanted)


def test_a_slice_without_arrows(tmp_path: Path) -> None:
    made = trace({"a": [(0, 5, "x")]})
    storage.write(made, str(tmp_path))
    pyramid.build(made, str(tmp_path))
    (part,) = Together([OpenTrace(made, pyramid.open(str(tmp_path)))]).parts
    assert timeline_arrows.columns_of(part, 0)["total"] == 0
