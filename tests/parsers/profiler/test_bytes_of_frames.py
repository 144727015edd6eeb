"""How many bytes are read for frames of a job: by this it is decided whether they are worth a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.profiler.rank_bubble import KINDS as BUBBLE
from parsers.profiler.ranks import extent
from parsers.profiler.sessions import ProfileFile
from parsers.profiler.strategy import HEAD

SIZES = {
    "communication": 1_000, "analysis": 2_000, "communication_matrix": 4_000, "step_trace_time": 8_000, "memory_record": 16_000,
    "op_statistic": 32_000, "parallel_strategy": 10 * HEAD,
}  # fmt: skip


def files(*kinds: str, folder: Path = Path("/nowhere")) -> list[ProfileFile]:
    return [ProfileFile(str(folder / kind), kind, kind, 0, SIZES.get(kind, 64_000), 1) for kind in kinds]


@pytest.mark.parametrize(
    ("what", "size"),
    [
        ((), 0), (("collectives",), 1_000), (("collectives", "packets"), 1_000), (("links",), 4_000),
        (("collectives", "links"), 5_000), (("cluster_steps",), 8_000), (("stages",), HEAD),
    ],
)  # fmt: skip
def test_each_frame_is_read_from_the_first_file_that_gives_it(what: tuple[str, ...], size: int) -> None:
    assert extent(files(*SIZES), what) == size
    assert extent([], what) == 0


def test_another_file_gives_a_frame_whose_first_one_is_missing() -> None:
    assert extent(files("analysis"), ("collectives", "links", "cluster_steps")) == 2_000


def test_facts_of_a_rank_are_read_from_all_files_that_have_some() -> None:
    assert extent(files("memory_record", "op_statistic", "communication"), ("ranks",)) == 48_000


@pytest.mark.parametrize(("column", "size"), [("Duration(us)", 48_000), ("aic_cube_fops", 112_000)])
def test_kernels_count_only_where_more_than_their_header_is_read(tmp_path: Path, column: str, size: int) -> None:
    (tmp_path / "kernel_details").write_text(f"Name,{column}\nMatMul,1\n")
    (tmp_path / "op_statistic").write_text("OP Type,Count\nMatMul,1\n")
    assert extent(files("memory_record", "op_statistic", "kernel_details", folder=tmp_path), ("ranks",)) == size


def test_files_that_tell_more_together_count_only_together() -> None:
    (together, *_) = BUBBLE
    alone = extent(files("step_trace_time"), ("cluster_steps",))
    assert extent(files("step_trace_time", *together), ("cluster_steps",)) > alone
    assert extent(files("step_trace_time", together[0]), ("cluster_steps",)) == alone
