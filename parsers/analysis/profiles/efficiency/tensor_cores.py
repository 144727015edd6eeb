"""Which GPUs of NVIDIA have tensor cores, and which kernels multiply matrices, of float32 without them.

Names of kernels are those of cuBLAS, cuDNN and CUTLASS: `sgemm` and `scudnn` compute in float32 on the usual cores; products
by tensor cores have the shape of their instruction (`h884gemm`, `s1688gemm`), `tf32` or `tensorop` in the name, or are `nvjet`.
"""

from __future__ import annotations

import re
from typing import Literal

_FLOAT32 = re.compile(
    r"(?<![a-z0-9])s(?:gemm(?!Ex)|cudnn)|gemm(?:SN_[NT]+|k1)_kernel\w*<float\b|xmma_\w*?(?<!t)f32f32_f32f32", re.IGNORECASE
)
_HALF_ONLY = re.compile(
    r"\b(?:V100S?|GV100|T4|T4G|TITAN (?:V|RTX)|Quadro RTX [3-8]000|RTX 20[5-8]0)(?![0-9])", re.IGNORECASE
)
_TF32 = re.compile(
    r"\b(?:A(?:2|10G?|16|30|40|100|800)|H(?:20|100|200|800)|GH200|L(?:2|4|20|40S?)|G?B[123]00|"
    r"RTX(?: PRO)? (?:A?[2-6]000(?: Ada)?|[345]0[5-9]0))(?![0-9A-Z])",
    re.IGNORECASE,
)
_PRODUCT = re.compile(
    r"gemm|gemv|convol|scudnn|fprop|dgrad|wgrad|winograd|cutlass|nvjet|xmma|Cijk_|fmha|flash_(?:fwd|bwd)", re.IGNORECASE
)
Products = Literal["tf32", "half", ""]


def tensor_cores(chip: str) -> Products:
    """Return what tensor cores of a device can multiply: "tf32" (float32 rounded, and 16 bit), "half" (16 bit alone); "" for a
    device without them or of an unknown name."""
    return "half" if _HALF_ONLY.search(chip) else "tf32" if _TF32.search(chip) else ""


def multiplies_float32(kernel: str) -> bool:
    """Return whether a kernel multiplies matrices, or convolves, in float32 without tensor cores, by its name."""
    return _FLOAT32.search(kernel) is not None


def multiplies(kernel: str) -> bool:
    """Return whether a kernel multiplies matrices, convolves or computes attention, by its name."""
    return _PRODUCT.search(kernel) is not None
