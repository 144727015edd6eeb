"""Explanations in a server: first rows of the saliency page, filters and orders, and a heat map of 1,000 x 1,000 px."""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import orjson

SIDE = 1_000
FILTERS: dict[str, dict[str, list[str]]] = {
    "a threshold": {"t": ["0.7"], "outcome": ["fn"]},
    "labels, outcomes, text, and order by uncertainty": {
        "t": ["0.3"], "outcome": ["fn", "tn"], "label": ["1", "2"], "truth": ["1", "3"], "q": ["99"], "sort": ["uncertainty"],
    },
}  # fmt: skip
"""What is asked for -> the filters."""
PAGES = ("counterfactual: samples with layers", "counterfactual: a sample", "uncertainty: plots", "uncertainty: tables")
"""What the other pages are asked for, with a threshold and, of uncertainty, a selection."""


def _cpu_ms(work: Callable[[], Any]) -> float:
    begun = time.process_time()
    work()
    return 1000 * (time.process_time() - begun)


def _measure(base: str) -> dict[str, float]:
    from app.store.store import Store
    from layouts.explanations.explanation_choice import ExplanationChoice
    from layouts.explanations.listing import listing
    from layouts.explanations.saliency.page import answer_rows

    store = Store([base], interval=0).start()
    if not store.wait(120):
        raise RuntimeError("the run was not found within 120 s")
    (run,) = (member for row in store.runs.rows() for member in row.members)
    while listing(store, ExplanationChoice(run))["state"] == "reading":
        time.sleep(0.02)

    def rows(filters: dict[str, list[str]]) -> None:
        answer = answer_rows(store, {"of": [run], "count": ["200"], **filters})
        if answer["state"] != "ready" or not answer["rows"]:
            raise RuntimeError(f"wanted rows for {filters}, got {answer['state']}")
        orjson.dumps(answer)

    def first() -> None:
        listing(store, ExplanationChoice(run))
        rows({})

    found = {"first": _cpu_ms(first)}
    for name, filters in FILTERS.items():
        found[name] = _cpu_ms(partial(rows, filters))
    found |= _pages(store, run)
    store.stop()
    return found | _picture()


def _pages(store: Any, run: str) -> dict[str, float]:
    from layouts.explanations.counterfactual import page as counterfactual
    from layouts.explanations.uncertainty import page as uncertainty

    asked = {"of": [run], "t": ["0.7"], "outcome": ["fn", "fp"]}
    chosen = asked | {"sd": ["0.01,0.1"]}
    works: tuple[Callable[[], Any], ...] = (
        lambda: counterfactual.answer_rows(store, asked | {"count": ["200"]}),
        lambda: counterfactual.answer_sample(store, asked),
        lambda: uncertainty.answer_plots(store, chosen), lambda: uncertainty.answer_tables(store, "/api/", chosen),
    )  # fmt: skip
    if any(work()["state"] != "ready" for work in works):
        raise RuntimeError("wanted an answer of every page")
    return dict(zip(PAGES, map(_cpu_ms, works), strict=True))


def _picture() -> dict[str, float]:
    """Decode a heat map from JPEG and encode it for the browser, as the route does."""
    from PIL import Image

    from parsers.analysis.explanations.occlusion import outcome_picture
    from parsers.payloads.pictures import grey_picture, png_of, rgb_picture

    y, x = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    noise = np.random.default_rng(0).random((SIDE, SIDE))
    out = io.BytesIO()
    Image.fromarray(np.uint8(200 * np.exp(-((x - 0.3) ** 2 + (y - 0.4) ** 2) * 20) + 50 * noise)).save(out, "JPEG", quality=90)
    grey_picture(out.getvalue()).png()
    drawn = _cpu_ms(lambda: png_of(outcome_picture(rgb_picture(out.getvalue())[0], [(100, 200, 400, 300)], 40)))
    return {"picture": _cpu_ms(lambda: grey_picture(out.getvalue()).png()), "outcome": drawn}


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1])))
