"""Facts about the frames of real memory files: rows, sums, extremes and texts of every column, without their contents.

The files may not be copied into this repository. `python -m tests.parsers.profiler.memory.golden` writes the facts anew from
those in MINDSCOPE_TEST_DATA.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from parsers import open_run

GOLDEN = Path(__file__).with_name("frames.golden")
FRAMES = ("memory", "operator_memory", "static_memory", "module_memory")
FOLDERS = (
    "cluster_samples/msinsight/torch_npu_st_4ranks_pp2/rank_2_ascend_pt",
    "cluster_samples/msinsight/torch_npu_text_level0/rank1_ascend_pt",
    "profiler_new/msinsight_server/full_db", "profiler_new/msinsight_server/test_rank_0",
    "profiler_new/msinsight_server/test_rank_1", "profiler_new/torch_npu_db_level2/rank0_ascend_pt",
    "profiler_new/torch_npu_db_level2/rank1_ascend_pt", "profiler_new/torch_npu_st_4ranks_pp2/rank_0_ascend_pt",
    "profiler_new/torch_npu_text_level0/rank0_ascend_pt", "profiler_new/torch_npu_text_level2/rank0_ascend_pt",
    "profiler_new/torch_npu_text_level2/rank1_ascend_pt",
)  # fmt: skip


def facts(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the number of rows and, per column, a digest of its values and what helps to see a difference."""
    made: dict[str, Any] = {"rows": len(frame)}
    for name in frame.columns if len(frame) else ():
        values = frame[name]
        digest = hashlib.blake2b("\n".join(map(str, values.tolist())).encode(), digest_size=8).hexdigest()
        if values.dtype == "category":
            made[name] = [digest, {str(text): int(count) for text, count in values.value_counts().sort_index().head(6).items()}]
        else:
            made[name] = [digest, int(values.min()), int(values.max()), int((values == -1).sum())]
    return made


def all_facts(data: Path) -> dict[str, Any]:
    """Return the facts about every frame of every folder."""
    found: dict[str, Any] = {}
    for folder in FOLDERS:
        (profile,) = open_run(data / folder).profile.values()
        found[folder] = {name: facts(profile.frame(name)) for name in FRAMES}
    return found


def written(found: dict[str, Any]) -> str:
    """Return the text of the golden file: a line per column."""
    lines = [
        f"{folder} {frame} {name} {json.dumps(fact, ensure_ascii=False)}"
        for folder, frames in found.items()
        for frame, columns in frames.items()
        for name, fact in columns.items()
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    GOLDEN.write_text(written(all_facts(Path(os.environ["MINDSCOPE_TEST_DATA"]))), encoding="utf-8")
    sys.stdout.write(f"{GOLDEN}: {len(GOLDEN.read_text(encoding='utf-8').splitlines())} lines\n")
