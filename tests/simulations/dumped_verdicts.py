"""What First cause says of dumps of simulated trainings, and how often that is right.

Run as a script to print the figures of docs/debugging.md (half an hour): python -m tests.simulations.dumped_verdicts SEED
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np

from parsers import open_run
from parsers.analysis.dumps.departures import norm_changes
from parsers.analysis.dumps.first_cause import Causes, first_bad
from tests.simulations.dumped_networks import Training
from tests.simulations.faulty_trainings import EXPLODING, NON_FINITE, SHARES, VANISHING, non_finite
from tests.simulations.healthy_trainings import HEALTHY

SIGNS = {"log_of_zero": {"-Inf"}, "one_by_zero": {"+Inf", "-Inf"}, "half_overflow": {"+Inf"}, "exponential": {"+Inf"}}
"""What faults make of finite values, where it is not NaN."""
Maker = Callable[[np.random.Generator, float], Training]


def draw(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def departed(training: Training) -> tuple[int, set[int]]:
    """Return the first iteration in which a norm leaves its history, -1 for none, and in which directions norms do so then."""
    made = training.norms()
    sign = norm_changes(made.series, made.iteration, made.norm).sign
    first = min(made.iteration[sign != 0].tolist(), default=-1)
    return first, set(sign[(sign != 0) & (made.iteration == first)].tolist())


def causes_of(folder: Path, training: Training) -> Causes:
    training.write(folder)
    return Causes(open_run(folder).dump)


def has_a_cause(causes: Causes) -> bool:
    """Return whether the page names anything of a training, or calls its gradients vanishing or exploding."""
    judgement = causes.judgement
    return not causes.frame().empty or bool(judgement.vanishing or judgement.exploding or judgement.depth.vanishing)


def found_in(kind: str, seeds: Iterable[int]) -> int:
    """Return in how many healthy trainings a norm leaves its history."""
    return sum(departed(HEALTHY[kind](draw(seed)))[0] >= 0 for seed in seeds)


def names_what_explodes(causes: Causes, training: Training) -> bool:
    found = causes.frame()
    first = found.iloc[0] if len(found) else {"kind": "", "name": "", "from_name": ""}
    return first["kind"] == "exploding" and bool({first["name"], first["from_name"]} & set(training.culprits))


def names_what_vanishes(causes: Causes, training: Training) -> bool:
    found = causes.frame()
    return bool(len(found)) and (found.iloc[0]["kind"], found.iloc[0]["name"]) == ("vanishing", training.culprits[0])


def names_where_gradients_vanish(causes: Causes, training: Training) -> bool:
    depth = causes.judgement.depth
    return bool(depth.vanishing) and any(name in depth.begins for name in training.culprits)


def names_what_is_not_finite(causes: Causes, training: Training, kind: str) -> bool:
    """Return whether the first cause is the operator that made NaN or Inf, in its iteration and with its sign."""
    found = causes.frame()
    if not len(found):
        return False
    first = found.iloc[0]
    place = first_bad(causes.dump, int(first["row"]))
    named = (first["kind"], first["iteration"], first["name"]) == ("non_finite", training.begins, training.culprits[0])
    return named and place is not None and place.value in SIGNS.get(kind, {"NaN"})


def _left(make: Maker, size: float, sign: int, seeds: Iterable[int]) -> int:
    """Return in how many trainings a norm leaves its history in this direction, at the fault or later."""
    count = 0
    for seed in seeds:
        training = make(draw(seed), size)
        first, signs = departed(training)
        count += first >= training.begins and sign in signs
    return count


def _named(make: Maker, size: float, seeds: Iterable[int], right: Callable[[Causes, Training], bool]) -> int:
    count = 0
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            training = make(draw(seed), size)
            count += right(causes_of(Path(folder), training), training)
    return count


RIGHT: Mapping[str, Callable[[Causes, Training], bool] | None] = {
    "learning_rate": None, "wild_input": names_what_explodes, "bad_layer": names_what_explodes,
    "growing_weights": names_what_explodes, "bad_operator": names_what_explodes,
    "sigmoid_depth": names_where_gradients_vanish, "from_one_layer": names_where_gradients_vanish,
    "vanishing_operator": names_what_vanishes,
}  # fmt: skip
"""Fault -> whether the first cause is right; None where all that leaves its history is a consequence."""


def measure(seed: int) -> None:
    norms, dumps, healthy = (range(seed, seed + count) for count in (200, 12, 400))
    for faults, sign in ((EXPLODING, 1), (VANISHING, -1)):
        for kind, (make, sizes) in faults.items():
            right = RIGHT[kind]
            if right is names_where_gradients_vanish:
                print(kind, sizes, f"named of {len(dumps)}:", [_named(make, size, dumps, right) for size in sizes], flush=True)
                continue
            seen = [_left(make, size, sign, norms) for size in sizes]
            named = [] if right is None else [_named(make, size, dumps, right) for size in sizes[1:]]
            print(kind, sizes, f"found of {len(norms)}:", seen, f"named of {len(dumps)}:", named, flush=True)
    for kind in NON_FINITE:
        named = [
            _named(lambda chance, share, kind=kind: non_finite(chance, kind, share), share, range(seed, seed + 10),
                   lambda causes, training, kind=kind: names_what_is_not_finite(causes, training, kind))
            for share in SHARES
        ]  # fmt: skip
        print(kind, SHARES, "named of 10:", named, flush=True)
    for kind in HEALTHY:
        print("healthy", kind, f"of {len(healthy)}:", found_in(kind, healthy), flush=True)


if __name__ == "__main__":
    measure(int(sys.argv[1]))
