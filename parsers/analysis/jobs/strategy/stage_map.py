"""Which ranks are a stage of the pipeline, as the files of the ranks state it, and where they contradict each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from parsers.deferred import pandas as pd
from parsers.profiler.groups import ranks_of

Ranks = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StageMap:
    """The stages of a job.

    stages has the ranks of each stage by its number, modes the parallel modes that files state. files is stage -> ranks whose
    files have its graph, in order; under -1 those of an unknown stage. missing are ranks of a stage without a file, outside
    those with a file that are in no stage. differing are ranks whose file lists other stages than most, moved those whose own
    stage is not the one that lists them, renamed those whose file states another rank than its name.
    """

    stages: tuple[Ranks, ...] = ()
    modes: tuple[str, ...] = ()
    files: Mapping[int, Ranks] = field(default_factory=dict)
    missing: Ranks = ()
    outside: Ranks = ()
    differing: Ranks = ()
    moved: Ranks = ()
    renamed: Ranks = ()

    def stage_of(self, rank: int) -> int:
        """Return the stage of a rank; -1 for unknown."""
        own = next((stage for stage, ranks in enumerate(self.stages) if rank in ranks), -1)
        return own if own >= 0 else next((stage for stage, ranks in self.files.items() if rank in ranks), -1)


def stage_map(frame: pd.DataFrame) -> StageMap:
    """Return the stages that most files state (schema STAGES); without any list, the ranks by the stage that each states.

    A rank belongs to the stage that lists it, else to that which its own file states.
    """
    rows = frame.drop_duplicates("rank")
    ranks, told = rows["rank"].tolist(), rows["told_rank"].tolist()
    own = dict(zip(ranks, rows["stage"].tolist(), strict=True))
    listed = dict(zip(ranks, rows["stages"].astype("str").tolist(), strict=True))
    counted = Counter(text for text in listed.values() if text)
    text = counted.most_common(1)[0][0] if counted else ""
    stages = [ranks_of(part) for part in text.split(";")] if text else _by_own(own)
    place = {rank: stage for stage, members in reversed(list(enumerate(stages))) for rank in members}
    files: dict[int, list[int]] = {}
    for rank in sorted(own):
        files.setdefault(place[rank] if rank in place else own[rank], []).append(rank)
    return StageMap(
        tuple(stages),
        tuple(dict.fromkeys(mode for mode in rows["mode"].astype("str").tolist() if mode)),
        {stage: tuple(members) for stage, members in sorted(files.items())},
        tuple(sorted(place.keys() - own.keys())),
        tuple(sorted(own.keys() - place.keys())),
        tuple(rank for rank in sorted(own) if listed[rank] and listed[rank] != text),
        tuple(rank for rank in sorted(own) if own[rank] >= 0 and place.get(rank, own[rank]) != own[rank]),
        tuple(rank for rank, other in sorted(zip(ranks, told, strict=True)) if other not in (-1, rank)),
    )


def _by_own(own: Mapping[int, int]) -> list[Ranks]:
    """Return the ranks of each stage by what each rank states; numbers far beyond that of the ranks are not believed."""
    known = {stage for stage in own.values() if 0 <= stage <= 4 * len(own)}
    return [tuple(sorted(rank for rank, stage in own.items() if stage == one)) for one in range(max(known, default=-1) + 1)]
