"""A process that trains nothing but writes as if it did, until it is killed: appends, rotates, cuts and begins anew.

    python -m tests.writers.live_writer DIRECTORY LAYOUT SEED
"""

from __future__ import annotations

import os
import random
import sys

from parsers.recording import EventWriter


def main(directory: str, layout: str, seed: int) -> None:
    chance, number, step = random.Random(seed), 0, 0
    while True:
        path = os.path.join(directory, f"{number}.out.events.summary.{1_700_000_000 + number}.0.host_MS")
        with EventWriter(path, layout) as writer:
            for _ in range(chance.randrange(1, 400)):
                step += 1
                writer.add(step, {"loss": 1 / step, "accuracy": step, "x" * chance.randrange(1, 200): 1.0})
                if chance.random() < 0.2:
                    writer.flush()
        what = chance.random()
        if what < 0.1:
            os.truncate(path, chance.randrange(os.path.getsize(path)))
        elif what < 0.2:
            os.remove(path)
            number -= 1
        number = min(number + 1, 20)
        if number == 20:
            number = 0
            for name in os.listdir(directory):
                os.remove(os.path.join(directory, name))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
