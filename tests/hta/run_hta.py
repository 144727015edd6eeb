"""Writes what Holistic Trace Analysis says of two public traces; `make test-hta` runs it in an environment of its own.

run_hta.py TRACES FILE: TRACES is the folder kineto of the shared samples, FILE gets one JSON object by trace. Times are ns: HTA
has microseconds, and rounds begins up and ends down where a file has more digits.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any

from hta.trace_analysis import TraceAnalysis

TRACES = {"dlrm_rank3_of_8/control.json.gz": 3, "ddp_nccl_a100/nccl_data.json.gz": 0}


def figures(path: Path, rank: int) -> dict[str, Any]:
    """Return the figures of one trace."""
    found = TraceAnalysis(trace_files={rank: str(path)}, include_last_profiler_step=True)
    parts = found.get_temporal_breakdown(visualize=False).iloc[0]
    overlap = found.get_comm_comp_overlap(visualize=False).iloc[0]
    idle, _ = found.get_idle_time_breakdown(
        ranks=[rank], visualize=False, show_idle_interval_stats=False, consecutive_kernel_delay=30
    )
    kinds, _ = found.get_gpu_kernel_breakdown(visualize=False)
    launches = found.get_cuda_kernel_launch_stats(ranks=[rank], visualize=False)[rank]
    queues = found.get_queue_length_summary(ranks=[rank])["queue_length"]
    return {
        "idle_ns": _ns(parts["idle_time(us)"]), "computing_ns": _ns(parts["compute_time(us)"]),
        "whole_ns": _ns(parts["kernel_time(us)"]), "overlap_share": float(overlap["comp_comm_overlap_pctg"]) / 100,
        "gaps_ns": {
            f"{int(stream)} {kind}": _ns(time)
            for stream, kind, time in idle[["stream", "idle_category", "idle_time"]].itertuples(index=False)
        },
        "kernels_ns": {str(kind): _ns(time) for kind, time in kinds[["kernel_type", "sum"]].itertuples(index=False)},
        "launches": len(launches), "delay_mean_ns": _ns(launches["launch_delay"].mean()),
        "delay_median_ns": _ns(launches["launch_delay"].median()),
        "queues": {
            str(int(stream)): {"mean": float(row["mean"]), "longest": int(row["max"])} for (_, stream), row in queues.iterrows()
        },
    }  # fmt: skip


def _ns(microseconds: float) -> float:
    return round(float(microseconds) * 1000, 3)


def main(traces: str, file: str) -> None:
    """Write the figures of all traces."""
    logging.disable(logging.CRITICAL)
    found = {name: figures(Path(traces) / name, rank) for name, rank in TRACES.items()}
    Path(file).write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])
