"""Operators over ranks: 64 ranks of 5,000 kernels read and laid over each other, and answers of the page about them."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path

from benchmarks.measure import ROOT, Figure, in_fresh_process

RANKS, OPERATORS = 64, 5_000
COLUMNS = 1_300
WINDOWS = 50
_BOUNDS = {"read": 6.0, "whole": 200.0, "window": 100.0, "operator": 20.0}


def figures(times: int) -> list[Figure]:
    """All from files to the answers, in fresh processes."""
    from tests.writers import rank_kernels

    folder = Path(os.environ.get("MINDSCOPE_BENCH_DATA", ROOT / "bench-data")) / "ranks"
    if not folder.is_dir():
        made = folder.with_suffix(".made")
        rank_kernels.write(made / "job", ranks=RANKS, operators=OPERATORS, stages=4, every=50)
        made.rename(folder)
    found = [in_fresh_process("benchmarks.ranks", str(folder), times=1)[0] for _ in range(times)]
    size = sum(path.stat().st_size for path in folder.rglob("*.csv")) / 2**20
    first = found[0]
    note = f"{size:.0f} MB; {first['operators']:,.0f} operators"

    def figure(what: str, unit: str, name: str, more: str = "") -> Figure:
        return Figure(what, unit, _BOUNDS[name], tuple(one[name] for one in found), more)

    return [
        figure(f"{RANKS} ranks x {OPERATORS:,} kernels: files to the first answer", "s", "read", note),
        figure("page: all of them on one screen", "ms", "whole", f"CPU; {first['whole_kb']:,.0f} kB"),
        figure(f"page: a window of a fiftieth, slowest of {WINDOWS}", "ms", "window", "CPU"),
        figure("page: one operator on all ranks", "ms", "operator", "CPU"),
    ]


def answers(folder: str) -> dict[str, float]:
    """CPU seconds until all ranks are laid over each other, and CPU ms of the answers after that."""
    from app import create_app
    from app.store.store import Store

    store = Store([folder], interval=0).start()
    store.wait(60)
    client = create_app(store).server.test_client()
    (row, *_) = store.profiles.rows("job")
    query = {"run": "job", "session": row.session, "rank": row.rank, "rows": f"0-{RANKS - 1}", "aligned": 1}

    def cost() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + used.ru_utime + used.ru_stime

    def ask(name: str, **more: int) -> tuple[float, bytes]:
        begin = time.process_time()
        data = client.get(f"/api/ranks/{name}", query_string=query | more).data
        return 1e3 * (time.process_time() - begin), data

    begin = cost()
    while (facts := json.loads(ask("facts")[1])).get("state") != "ready":
        time.sleep(0.05)
    read = cost() - begin
    length = facts["length"]
    ask("view", columns=COLUMNS)
    whole, data = ask("view", columns=COLUMNS)
    part = length // WINDOWS
    windows = [ask("view", **{"from": at * part, "to": (at + 1) * part, "columns": COLUMNS})[0] for at in range(WINDOWS)]
    operator = max(ask("operator", at=rank, operator=OPERATORS // 2)[0] for rank in range(0, RANKS, 8))
    store.stop()
    return {
        "read": read, "whole": whole, "whole_kb": len(data) / 1e3, "window": max(windows), "operator": operator,
        "operators": float(sum(one["operators"] for one in facts["ranks"])),
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(answers(sys.argv[1])))
