"""The server's cost of a recorded image: from a GET of the image route to its last byte, in a fresh process.

CPU of the thread that answers: another one verifies the file meanwhile.
"""

from __future__ import annotations

import json
import sys
import time

from benchmarks.data import folder
from benchmarks.measure import Figure, anonymous_rss, in_fresh_process

VISITED = 200
BOUND_MS = 150.0
BOUND_MB = 300.0


def figures(times: int) -> list[Figure]:
    """Server time of an image and of the list of all images, and memory after many."""
    results = in_fresh_process("benchmarks.showing", times=times)
    note = f"{results[0]['images']:,.0f} images of about {results[0]['kilobytes']:,.0f} KiB"
    return [
        Figure("S4: an image over its route (99 % of 200)", "CPU ms", BOUND_MS, tuple(r["image"] for r in results), note),
        Figure("S4: when images of a tag were recorded, for the page", "CPU ms", BOUND_MS, tuple(r["list"] for r in results)),
        Figure("S4: memory after 200 of them", "MB", BOUND_MB, tuple(r["rss"] for r in results)),
    ]


def visit() -> dict[str, float]:
    """200 images spread over the run, each asked for once."""
    from app import create_app
    from app.store.store import Store
    from layouts.values.images.page import CARDS

    store = Store([folder() / "ms" / "S4"], interval=0).start()
    store.wait(60)
    (run,) = store.runs.rows()
    tags = store.runs.tags(run.key, "image")
    begun = time.thread_time()
    drawing = [CARDS.draw(store, {"tag": [tag]}) for tag in tags]
    listed = (time.thread_time() - begun) * 1e3 / max(len(drawing), 1)
    places = [(tag, place) for tag in tags for place in range(len(store.values.series(run.key, "image", tag) or ()))]
    client = create_app(store).server.test_client()
    client.get("/api/health")
    spent, size = [], 0
    for tag, place in places[:: max(1, len(places) // VISITED)][:VISITED]:
        begun = time.thread_time()
        answer = client.get("/api/image", query_string={"run": run.key, "tag": tag, "place": place})
        size += len(answer.data)
        spent.append((time.thread_time() - begun) * 1e3)
        if answer.status_code != 200:
            raise RuntimeError(answer.text)
    store.stop()
    return {
        "image": sorted(spent)[int(0.99 * (len(spent) - 1))], "list": listed, "rss": anonymous_rss(),
        "images": len(places), "kilobytes": size / 1024 / len(spent),
    }  # fmt: skip


if __name__ == "__main__":
    json.dump(visit(), sys.stdout)
