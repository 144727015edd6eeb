"""When each block of a device was allocated and released, by the entries of a snapshot and the blocks at its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.model import Ints

NONE = -1
SMALLEST = 512
"""Sizes of blocks are multiples of it (kMinBlockSize of the caching allocator)."""
_PADDINGS = (0, 32)
"""Bytes that torch and torch_npu add to a request before rounding."""
_KINDS = ("alloc", "free_requested", "free_completed")
Frames = Mapping[str, "pd.DataFrame"]


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Blocks of one device; all arrays have one value per block.

    allocated, requested and completed are numbers of entries of the device, from 0 in the order of its recording: the
    allocation, the request to release, and when no stream used the block any more. -1: not while recording. A block without
    an allocation is older than the recording. size is that of the block, requested_bytes what was asked for; stack -1 for
    unknown. contradictory counts blocks that another allocation took without a release: they end there.
    """

    address: Ints
    size: Ints
    requested_bytes: Ints
    allocated: Ints
    requested: Ints
    completed: Ints
    stream: Ints
    stack: Ints
    contradictory: int

    def __len__(self) -> int:
        return len(self.address)


def of_device(frames: Frames, device: int) -> pd.DataFrame:
    """Return the entries of a device, numbered from 0."""
    events = frames["snapshot_events"]
    return events[(events["device"] == device).to_numpy()].reset_index(drop=True)


def blocks_of_device(frames: Frames, device: int) -> pd.DataFrame:
    """Return the blocks of a device at the end of the recording, with the stream of their segment."""
    segments, blocks = frames["snapshot_segments"], frames["snapshot_blocks"]
    owner = blocks["segment"].to_numpy()
    mine = np.append((segments["device"] == device).to_numpy(), False)[owner]
    streams = np.append(segments["stream"].to_numpy(np.int64), NONE)[owner]
    found: pd.DataFrame = blocks.assign(stream=streams)[mine].reset_index(drop=True)
    return found


def rounded(requested: Ints, padding: int = 0) -> Ints:
    """Return the sizes of blocks for requests: multiples of SMALLEST. Larger where a block was not split; that is unknown."""
    return np.maximum(-(-(requested + padding) // SMALLEST), 1) * SMALLEST


def lifetimes(frames: Frames, device: int) -> Lifetimes:
    """Return the blocks of a device that were in use at any time of the recording.

    Those in use at its end have the size that the snapshot has, others that of their request, rounded.
    """
    events, blocks = of_device(frames, device), blocks_of_device(frames, device)
    found, contradictory = _paired(events)
    allocated, gone, completed = found
    rows = found.max(axis=0)
    first = np.where(allocated >= 0, allocated, np.where(gone >= 0, gone, completed))
    address, asked = events["address"].to_numpy()[rows], events["size_bytes"].to_numpy()[rows]
    size = np.where(asked < 0, NONE, rounded(asked, _padding(blocks)))
    held = blocks[blocks["state"].str.startswith("active").to_numpy(np.bool_)] if len(blocks) else blocks
    open_ = np.flatnonzero(completed < 0)
    at = pd.Series(np.arange(len(held)), index=held["address"].to_numpy())
    at = at[~at.index.duplicated()]
    place = at.reindex(address[open_]).fillna(NONE).to_numpy(np.int64)
    size[open_[place >= 0]] = held["size_bytes"].to_numpy()[place[place >= 0]]
    rest = held[~np.isin(np.arange(len(held)), place)]
    unknown = np.full(len(rest), NONE, np.int64)

    def both(known: NDArray[np.int64], added: NDArray[np.int64]) -> Ints:
        return np.concatenate((known, added)).astype(np.int64)

    return Lifetimes(
        both(address, rest["address"].to_numpy()),
        both(size, rest["size_bytes"].to_numpy()),
        both(asked, rest["requested_bytes"].to_numpy()),
        both(allocated, unknown),
        both(gone, unknown),
        both(completed, unknown),
        both(events["stream"].to_numpy(np.int64)[first], rest["stream"].to_numpy()),
        both(events["stack"].to_numpy()[first], rest["stack"].to_numpy()),
        contradictory,
    )


def _paired(events: pd.DataFrame) -> tuple[Ints, int]:
    """Return for each block the entries of its allocation and both releases, in order of the first; -1 for none."""
    kinds = np.full(len(events["action"].cat.categories) + 1, NONE)
    for number, name in enumerate(_KINDS):
        kinds[:-1][events["action"].cat.categories == name] = number
    kind = kinds[events["action"].cat.codes]
    address = events["address"].to_numpy()
    rows = np.flatnonzero((kind >= 0) & (address >= 0))
    rows = rows[np.argsort(address[rows], kind="stable")]
    kind, address = kind[rows], address[rows]
    # Entries of one address follow each other: a block begins where they do not go on from allocation to release.
    same = address[1:] == address[:-1]
    begins = np.append(True, ~same | (kind[1:] <= kind[:-1]))[: len(rows)]
    block = np.cumsum(begins) - 1
    found = np.full((3, int(block[-1]) + 1 if len(block) else 0), NONE, np.int64)
    found[kind, block] = rows
    ends = np.flatnonzero(begins)[1:]
    taken = np.flatnonzero(same[ends - 1] & (found[2, :-1] < 0)) if len(ends) else ends
    found[2, taken] = rows[ends[taken]]
    order = np.argsort(np.where(found >= 0, found, len(events)).min(axis=0), kind="stable")
    return found[:, order], len(taken)


def _padding(blocks: pd.DataFrame) -> int:
    """Return what is added to requests, as most of the blocks in use show."""
    held = blocks[((blocks["state"] == "active_allocated") & (blocks["requested_bytes"] >= 0)).to_numpy()]
    asked, size = held["requested_bytes"].to_numpy(), held["size_bytes"].to_numpy()
    return max(_PADDINGS, key=lambda padding: (np.count_nonzero(rounded(asked, padding) == size), -padding))


def older(found: Lifetimes) -> Ints:
    """Return the indices of the blocks that were allocated before the recording, the largest first."""
    before = np.flatnonzero(found.allocated < 0)
    return before[np.argsort(-found.size[before], kind="stable")]
