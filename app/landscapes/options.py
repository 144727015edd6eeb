"""What is computed, from what and how."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.analysis.values.landscapes import SCALES

PATH, RANDOM, LINE = KINDS = ("path", "random", "line")
SIZES = (3, 1000)
ALPHAS = 101
"""Places between two checkpoints."""


class LandscapeError(ValueError):
    """Options or files that no landscape can be computed from; the text says what was expected and what was found."""


@dataclass(frozen=True, slots=True)
class LandscapeOptions:
    """run: directory with checkpoints. script: file with the user's function. out: directory of the result.

    kinds: of KINDS. intervals: (first, last) steps; () for those of the plan, or all checkpoints. size: places along each axis.
    checkpoints: glob below the run, "" for those of the plan. against: a checkpoint for the kind "line", "" for the first one.
    limit_s: seconds that a point may take, 0 for any time. dask: address of a Dask scheduler whose workers compute, "" for own
    processes; dask_trust allows an address that nothing checks (`app.dask_engine`).
    """

    run: str
    script: str
    out: str
    function: str = "loss"
    kinds: tuple[str, ...] = (PATH,)
    intervals: tuple[tuple[int, int], ...] = ()
    size: int = 40
    seed: int = 0
    jobs: int = 1
    checkpoints: str = ""
    against: str = ""
    scale: str = SCALES[0]
    limit_s: float = 0.0
    dask: str = ""
    dask_trust: bool = False

    def checked(self) -> LandscapeOptions:
        """Return the options, or raise LandscapeError for those that no landscape can have."""
        unknown = [kind for kind in self.kinds if kind not in KINDS]
        if unknown or not self.kinds:
            raise LandscapeError(f"kind: expected {', '.join(KINDS)}, found {', '.join(unknown)[:80] or 'none'}")
        if not SIZES[0] <= self.size <= SIZES[1]:
            raise LandscapeError(f"size: expected {SIZES[0]} to {SIZES[1]:,} places along each axis, found {self.size:,}")
        if self.scale not in SCALES:
            raise LandscapeError(f"scale: expected {' or '.join(SCALES)}, found {self.scale[:80]!r}")
        if not 1 <= self.jobs <= 1024:
            raise LandscapeError(f"jobs: expected 1 to 1,024 processes, found {self.jobs:,}")
        return self
