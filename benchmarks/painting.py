"""What a picture of the timeline costs the browser: script of decoding an answer and drawing 10,000 slices, 55,000 buckets and
300 labels in 50 lanes, as CPU of the page's thread in Chromium."""

from __future__ import annotations

import base64
import functools
import http.server
import os
import shutil
import statistics
import threading
from typing import Any

import numpy as np

from benchmarks.measure import ROOT, Figure
from parsers.profiler.trace.views import TraceView

SLICES, BUCKETS, LABELS, LANES = 10_000, 55_000, 300, 50
WIDTH, MARGIN = 1440, 0.25
K, BUCKET_PX = 10, 0.75
PICTURES = 15
_SCRIPT = """async ([text, wide, count, pictures]) => {
  const [{ viewOf }, { paint }, { paletteOf }] = await Promise.all(
    ["wire", "canvas", "colours"].map((name) => import(`/profiles/timeline/${name}.js`)));
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
  const lanes = Array.from({ length: count }, (_, lane) => lane);
  const k = 10, n = Math.ceil(wide / 0.75);
  const rowOf = (lane) => ({ kind: "track", lanes: 1, lane: 18, track: { first_lane: lane, kind: "python" } });
  const rows = lanes.map((lane) => [rowOf(lane), 18 * lane]);
  const names = { get: (name) => `aclnnMatMul_${name}_MatMulV2`, median: () => 1000 };
  const canvas = document.createElement("canvas");
  canvas.width = wide;
  canvas.height = 18 * count;
  document.body.append(canvas);
  const context = canvas.getContext("2d");
  window.picture = () => {
    context.clearRect(0, 0, wide, canvas.height);
    const view = viewOf(bytes.slice(0), { lanes, k, b0: 0, n });
    return paint(context, { view, rows, from: 0, to: n * 2 ** k, width: wide, ratio: 1, palette: paletteOf("light"),
      theme: "light", colour: "name", names });
  };
}"""


def figures(times: int) -> list[Figure]:
    """Draw the timeline in several visits; of each visit, the median script time of its pictures."""
    from playwright.sync_api import sync_playwright

    named = ("chromium-headless-shell", "chromium", "google-chrome")
    path = os.environ.get("CHROMIUM_PATH") or next(filter(None, map(shutil.which, named)), None)
    if path is None:
        print("no Chromium: pictures of the timeline not measured")
        return []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        try:
            visits = [_visit(browser) for _ in range(times)]
        finally:
            browser.close()
    drawn = visits[0][1]
    note = f"{drawn['slices']:,} slices, {drawn['buckets']:,} buckets, {drawn['labels']:,} labels"
    what = "script of a picture of the timeline, median of pictures"
    return [Figure(what, "ms", 20.0, tuple(statistics.median(spans) for spans, _ in visits), note)]


def _visit(browser: Any) -> tuple[list[float], dict[str, int]]:
    """Return (CPU ms of each picture, what is drawn)."""
    handler = functools.partial(_Quiet, directory=str(ROOT / "assets"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as files:
        threading.Thread(target=files.serve_forever, daemon=True).start()
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{files.server_port}/")
        page.set_content("<body></body>")
        wide = int(WIDTH * (1 + 2 * MARGIN))
        page.evaluate(_SCRIPT, [base64.b64encode(answer(wide)).decode(), wide, LANES, PICTURES])
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        spans = []
        drawn: dict[str, int] = {}
        for _ in range(PICTURES):
            before = _script_seconds(session)
            drawn = page.evaluate("() => window.picture()")
            spans.append(1000 * (_script_seconds(session) - before))
        page.close()
        files.shutdown()
    return spans, drawn


def _script_seconds(session: Any) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """Logs no request."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


def answer(wide: int) -> bytes:
    """An answer of the server: lanes with long, short and very short slices, in random order."""
    rng = np.random.default_rng(14)
    count, scale = int(wide / BUCKET_PX), 2**K
    lanes, starts, lengths = [], [], []
    of_lane = SLICES // LANES
    for lane in range(LANES):
        wanted = np.concatenate([np.full(LABELS // LANES, 60.0), rng.uniform(1, 5, of_lane - LABELS // LANES)]) / BUCKET_PX
        rng.shuffle(wanted)
        room = count - wanted.sum()
        gaps = rng.dirichlet(np.ones(of_lane + 1)) * room
        begin = np.cumsum(gaps[:-1] + np.append(0, wanted[:-1]))
        lanes.append(np.full(of_lane, lane))
        starts.append(begin * scale)
        lengths.append(wanted * scale)
    small = BUCKETS // LANES
    buckets = np.concatenate([np.sort(rng.choice(count, small, replace=False)) for _ in range(LANES)])
    name = rng.integers(0, 500, SLICES)
    return TraceView(
        K, 0, count, np.arange(SLICES), np.concatenate(lanes), np.concatenate(starts).astype(np.int64),
        np.concatenate(lengths).astype(np.int64), name, name % 20, np.repeat(np.arange(LANES), small), buckets,
        rng.integers(1, 30, BUCKETS), rng.integers(1, scale, BUCKETS), np.arange(BUCKETS),
    ).packed()  # fmt: skip


if __name__ == "__main__":
    for figure in figures(3):
        print(figure.line())
