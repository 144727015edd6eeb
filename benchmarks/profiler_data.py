"""A kernel_details.csv of any size, with the columns, texts and widths of a real one of level 2 on Ascend.

`kernel_details(path, rows)` writes it; the same call writes the same bytes. A million rows are about 370 MB.
"""

from __future__ import annotations

import random
from pathlib import Path

HEADER = (
    "Step ID,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),"
    "Block Num,Mix Block Num,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,"
    "Output Formats,Context ID,aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,aic_scalar_time(us),"
    "aic_scalar_ratio,aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,aic_fixpipe_time(us),"
    "aic_fixpipe_ratio,aic_icache_miss_rate,aiv_time(us),aiv_total_cycles,aiv_vec_time(us),aiv_vec_ratio,"
    "aiv_scalar_time(us),aiv_scalar_ratio,aiv_mte2_time(us),aiv_mte2_ratio,aiv_mte3_time(us),aiv_mte3_ratio,"
    "aiv_icache_miss_rate,cube_utilization(%)\n"
)
_TYPES = (
    ("MatMulV3", "AI_CORE", '"""4096,1024;1024,3072"""', "DT_BF16;DT_BF16", "ND;ND", '"""4096,3072"""', "DT_BF16"),
    ("Mul", "AI_VECTOR_CORE", '"""1,4096,1024;1,4096,1024"""', "DT_BF16;DT_BF16", "ND;ND", '"""1,4096,1024"""', "DT_BF16"),
    ("Cast", "AI_VECTOR_CORE", '"""1,4096,1024"""', "DT_BF16", "ND", '"""1,4096,1024"""', "FLOAT"),
    ("FlashAttentionScore", "MIX_AIC", '"""1,4096,2048;1,4096,1024;1,4096,1024"""', "DT_BF16;DT_BF16;DT_BF16", "NCL;NCL;NCL",
     '"""1,4096,2048"""', "DT_BF16"),
)  # fmt: skip
OPERATORS = 2_000
"""Operators of one step."""


def kernel_details(path: Path, rows: int) -> None:
    """Write the table."""
    draw = random.Random(6)
    start = 1_764_246_877_073_569_640
    with path.open("w", encoding="utf-8") as file:
        file.write(HEADER)
        for row in range(rows):
            step, operator = divmod(row, OPERATORS)
            kind, core, shapes, types, formats, output, output_type = _TYPES[operator % len(_TYPES)]
            duration = draw.randint(1_000, 900_000)
            start += duration + (wait := draw.randint(0, 20_000))
            name = f"Default/network-Net/layers-CellList/{operator // 40}-Layer/{kind}-op{operator}/aclnn{kind}_{kind}"
            vector = _times(draw, duration if core != "AI_CORE" else 0, 4)
            cube = _times(draw, duration if core != "AI_VECTOR_CORE" else 0, 5)
            file.write(
                f"{step},4294967295,{row % 65_536},2,{name},{kind},dynamic,{core},{start // 1000}.{start % 1000:03}\t,"
                f"{duration / 1000:.3f},{wait / 1000:.3f},40,0,NO,{shapes},{types},{formats},{output},{output_type},ND,N/A,"
                f"{cube},{vector},{draw.random() * 100:.3f}\n"
            )


def _times(draw: random.Random, duration: int, units: int) -> str:
    """Time and cycles of a core, time and share of its units, and the share of misses."""
    if not duration:
        return ",".join(["0.0", "0", *["0.0"] * (2 * units + 1)])
    pairs = []
    for _ in range(units):
        share = draw.random()
        pairs.append(f"{duration * share / 1000:.3f},{share:.3f}")
    return f"{duration / 1000:.3f},{duration * 2},{','.join(pairs)},{draw.random() / 10:.3f}"
