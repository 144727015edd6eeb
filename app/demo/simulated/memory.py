"""The device memory of a rank of a simulated job: weights, what forward keeps for backward, and what nobody frees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.demo.simulated.kernels import LAYERS, WIDTH, Kernel

MIB = 1 << 20
BEFORE_NS = 60_000_000
"""How long before the first kernel the weights are allocated."""
_WEIGHTS = 12 * WIDTH * WIDTH
_STATE = (("weight", 2), ("master_weight", 4), ("moment1", 4), ("moment2", 4), ("grad", 2))
"""What is kept per weight of a layer, in bytes."""
RESERVED_STEP = 256 * MIB
LEAK_BYTES = 24 * MIB
"""What a step leaves behind in a rank that keeps predictions: see `kept`."""


@dataclass(frozen=True, slots=True)
class SimulatedAllocation:
    """An allocation; end_ns is 0 if it was never released."""

    name: str
    size_bytes: int
    start_ns: int
    end_ns: int


def blocks_of(kernels: Sequence[Kernel], *, leak: bool) -> list[SimulatedAllocation]:
    """Return the allocations of a rank, the first first; leak: each step keeps its predictions."""
    begin = kernels[0].start_ns - BEFORE_NS
    found = [
        SimulatedAllocation(f"Default/vit/blocks.{layer}/{name}", size * _WEIGHTS, begin + 1_000 * place, 0)
        for place, (layer, (name, size)) in enumerate((layer, one) for layer in range(LAYERS) for one in _STATE)
    ]
    found += _activations(kernels)
    found += _kept(kernels) if leak else ()
    return sorted(found, key=lambda block: block.start_ns)


def _activations(kernels: Sequence[Kernel]) -> Iterator[SimulatedAllocation]:
    """Outputs of forward, until backward of the same layer and micro batch is over; those of backward until the next kernel."""
    ends: dict[tuple[int, int, int], int] = {}
    for kernel in kernels:
        if kernel.backward:
            ends[kernel.step, kernel.layer, kernel.micro] = kernel.end_ns
    for kernel, after in zip(kernels, [*kernels[1:], kernels[-1]], strict=True):
        if kernel.layer < 0:
            continue
        end = max(after.end_ns, kernel.end_ns) if kernel.backward else ends[kernel.step, kernel.layer, kernel.micro]
        yield SimulatedAllocation(kernel.name, kernel.operator.output_bytes, kernel.start_ns, end)


def _kept(kernels: Sequence[Kernel]) -> Iterator[SimulatedAllocation]:
    """What a callback appends to a list at the end of each step."""
    last: dict[int, Kernel] = {kernel.step: kernel for kernel in kernels}
    for kernel in last.values():
        yield SimulatedAllocation("Default/callback/KeepPredictions/Concat-op900", LEAK_BYTES, kernel.start_ns, 0)


def curve_of(blocks: Sequence[SimulatedAllocation]) -> tuple[list[tuple[int, int, int]], list[tuple[int, int]]]:
    """Return (time, allocated, reserved) after each change; and per block what was allocated after it came and after it went.

    The pool reserves pieces of RESERVED_STEP and gives none back. The second is 0 for a block that was not released.
    """
    changes = [(block.start_ns, block.size_bytes, place, 0) for place, block in enumerate(blocks)]
    changes += [(block.end_ns, -block.size_bytes, place, 1) for place, block in enumerate(blocks) if block.end_ns]
    allocated = reserved = 0
    curve = []
    totals = [[0, 0] for _ in blocks]
    for time, size, place, which in sorted(changes):
        allocated += size
        reserved = max(reserved, -(-allocated // RESERVED_STEP) * RESERVED_STEP)
        curve.append((time, allocated, reserved))
        totals[place][which] = allocated
    return curve, [(came, went) for came, went in totals]
