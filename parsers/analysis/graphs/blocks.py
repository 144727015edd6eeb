"""Finds equal blocks of a graph: the same operators, types, shapes and wiring, under the same inner names.

A block's hash is the sum of its nodes' hashes after rounds of colour refinement (Weisfeiler and Leman, 1968): a node's
colour is hashed with those of its neighbours in the block. Isomorphic blocks have one hash; blocks that differ have two,
except for graphs that colour refinement cannot distinguish in ROUNDS rounds, and for collisions of 1 in 2**64.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.graphs.network import OPERATOR, Ints, Network
from parsers.analysis.graphs.scopes import Scopes

Hashes = NDArray[np.uint64]
ROUNDS = 5
_ITSELF = np.uint64(0x6A09E667F3BCC908)
"""Stands for the hash of the empty name of a block within itself."""


def block_hashes(scopes: Scopes, children: Sequence[int]) -> dict[int, int]:
    """Hash the contents of scopes, none of which is in another."""
    network, chosen = scopes.network, np.array(children, np.int64)
    rows, many = scopes.each_within(chosen)
    block = np.full(network.size, -1, np.int64)
    block[rows] = np.repeat(chosen, many)
    within = np.zeros(len(scopes), np.uint64)
    for child in children:
        above, end = len(scopes.paths[child]), int(scopes.end[child])
        within[child:end] = text_hashes(path[above:] for path in scopes.paths[child:end]) if end > child + 1 else _ITSELF
    colour = node_hashes(network)
    colour[rows] = mixed(colour[rows], within[scopes.home[rows]])
    inner = block[network.source] >= 0
    inner &= block[network.source] == block[network.target]
    inner &= (network.kind[network.source] == OPERATOR) & (network.kind[network.target] == OPERATOR)
    colour = refined(colour, network.source[inner], network.target[inner], _slots(network)[inner], ROUNDS)
    return dict(zip(children, _totals(np.where(network.kind[rows] == OPERATOR, mixed(colour[rows]), 0), many), strict=True))


def node_hashes(network: Network) -> Hashes:
    """Hash each node by itself: kind, type, output, and the parameters and constants it takes, but no names."""
    colour = mixed(
        text_hashes(network.types)[network.type],
        text_hashes(network.output_types)[network.output_type],
        text_hashes(network.shapes)[network.shape],
        network.kind.astype(np.uint64),
    )
    given = network.kind[network.source] != OPERATOR
    added = np.zeros(network.size, np.uint64)
    np.add.at(added, network.target[given], mixed(colour[network.source[given]], _slots(network)[given]))
    return mixed(colour, added)


def refined(colour: Hashes, source: Ints, target: Ints, slots: Hashes, rounds: int) -> Hashes:
    """Hash each node with its neighbours this many times."""
    for _ in range(rounds):
        into, out = np.zeros(len(colour), np.uint64), np.zeros(len(colour), np.uint64)
        np.add.at(into, target, mixed(colour[source], slots))
        np.add.at(out, source, mixed(colour[target], slots, np.uint64(7)))
        colour = mixed(colour, into, out)
    return colour


def text_hashes(texts: Iterable[str]) -> Hashes:
    """Hash each text, the same in every process."""
    digests = (hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return np.frombuffer(b"".join(digests), np.uint64).copy()


@np.errstate(over="ignore")
def mixed(*parts: Hashes | np.uint64) -> Hashes:
    """Combine hashes in this order; after Stafford's variant 13 of the finaliser of splitmix64."""
    state: Hashes = np.zeros(1, np.uint64)
    for part in parts:
        state = (state * np.uint64(0x9E3779B97F4A7C15) + part) ^ np.uint64(0x2545F4914F6CDD1D)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    return state


def _slots(network: Network) -> Hashes:
    """Hash an edge without its ends: output, input, and whether it is a control edge."""
    return mixed(network.output.astype(np.uint64), network.input.astype(np.uint64), network.control.astype(np.uint64))


@np.errstate(over="ignore")
def _totals(colour: Hashes, many: Ints) -> list[int]:
    """Sum consecutive groups of hashes of these sizes; no size is 0."""
    return [int(total) for total in np.add.reduceat(colour, np.cumsum(many) - many)] if len(many) else []
