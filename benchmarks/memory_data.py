"""Memory files of any size, with the columns, texts and widths of those of torch_npu.

`operator_memory(path, blocks)` and `memory_record(path, rows)` write them; the same call writes the same bytes. A million
blocks are about 200 MB, three million records about 230 MB.
"""

from __future__ import annotations

import random
from pathlib import Path

RECORD_HEADER = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\n"
BLOCK_HEADER = (
    "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),Active Duration(us),"
    "Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),Release Total Allocated(MB),"
    "Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type\n"
)
_NAMES = (
    "aten::empty_strided", "aten::matmul", "aten::mul", "aten::embedding", "aten::cat", "aten::clone", "npu::_npu_dtype_cast",
    "aten::_foreach_add", "aten::index", "aten::native_batch_norm", "aten::_convolution", "aten::npu_fusion_attention",
)  # fmt: skip
_START = 1_764_246_877_074_330_300
_BEFORE = 4_514_074_624
_RESERVED = 10_372.0


def memory_record(path: Path, rows: int) -> None:
    """Write memory_record.csv: the process first, then two rows for each change."""
    draw = random.Random(7)
    time, level = _START, _BEFORE
    with path.open("w", encoding="utf-8") as file:
        file.write(RECORD_HEADER)
        samples = rows // 500
        for sample in range(samples):
            file.write(f"APP,{_us(_START + sample * 20_000_000)}\t,,11925.015625,,,NPU:0\n")
        for row in range(rows - samples):
            if row % 2 == 0:
                time += draw.randint(200, 40_000)
                level = max(_BEFORE, level + draw.randint(-4_000, 4_000) * 512)
            size = level / 2**20
            name = "PTA" if row % 2 == 0 else "PTA+GE"
            file.write(f"{name},{_us(time)}\t,{size},{_RESERVED},{size},2,NPU:0\n")


def operator_memory(path: Path, blocks: int) -> None:
    """Write operator_memory.csv: one block in fifty is not released."""
    draw = random.Random(8)
    time, level = _START, _BEFORE
    with path.open("w", encoding="utf-8") as file:
        file.write(BLOCK_HEADER)
        for block in range(blocks):
            time += draw.randint(200, 40_000)
            size = draw.choice((512, 33_280, 16_896, 8_389_120, 1_024, 2_560, 67_109_376))
            level = _BEFORE + draw.randint(0, 10_000) * 512
            total = level / 2**20
            file.write(f"{_NAMES[block % len(_NAMES)]},{size / 1024},{_us(time)}\t,")
            if block % 50 == 49:
                file.write(f",,,,{total},{_RESERVED},{total},,,,2,NPU:0\n")
                continue
            taken = draw.randint(10_000, 400_000_000)
            active = taken - draw.randint(500, 4_000)
            file.write(
                f"{_us(time + taken)}\t,{_us(time + active)}\t,{_ms(taken)},{_ms(active)},{total},{_RESERVED},{total},"
                f"{total},{_RESERVED},{total},2,NPU:0\n"
            )


def _us(time: int) -> str:
    return f"{time // 1000}.{time % 1000:03}"


def _ms(duration: int) -> str:
    return f"{duration / 1000:.3f}"
