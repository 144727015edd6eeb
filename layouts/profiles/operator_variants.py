"""The tabs of the operators page: by what operators ran on."""

from __future__ import annotations

VARIANTS = ("ai_core", "gpu", "gpu_kernel", "ai_cpu", "host_cpu", "communication", "copy")
"""Execution units of operators, in the order of their tabs."""
_CORES = {
    "GPU": "gpu", "GPU_KERNEL": "gpu_kernel", "AI_CPU": "ai_cpu", "AICPU": "ai_cpu", "HOST_CPU": "host_cpu",
    "HCCL": "communication", "COMMUNICATION": "communication", "COPY": "copy",
}  # fmt: skip


def variant_of(core: str) -> str:
    """Return the tab of a core. Unknown cores are cores of the device."""
    return _CORES.get(core, "ai_core")
