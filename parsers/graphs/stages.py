"""Order of the stages of a compilation, from the names of the files that MindSpore saves them in.

`13_optimize_0916.ir` is stage 13, the 916th file that was written. Files of passes have only that number
(`hwopt_common_final_graph_0_0985.ir`) and belong before the stage whose file was written next; `ms_output_optimize.pb` and its
like have no number and stand beside the stage of that name, or where MindSpore 2.10 writes them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.graphs.access import GraphLocation

_STAGE = re.compile(r"(?P<stage>\d{1,3})_(?P<name>.+)")
_WRITTEN = re.compile(r"_(\d{4,9})(?:\.\w+)?$")
_EXECUTE = 24
_USUAL = {
    "bootstrap": 0.0, "type_inference": 1.0, "inline": 5.0, "optimize": 13.0, "validate": 21.0, "execute": 24.0,
}  # fmt: skip
_BEFORE_EXECUTE = {"before_opt": -0.9, "after_opt": -0.2, "vm_build": -0.15, "graph_build": -0.12, "trace_code_graph": -0.1}
"""Where files without a number stand before the last stage; those of passes of the back end are at -0.5."""
_ASIDE = ("ModelDigraph",)
"""Files that are no stage of the graph that runs."""
TAIL = 256


@dataclass(frozen=True, slots=True)
class Staged:
    """A graph in the order of compilation. final: it is of the last stage there is."""

    location: GraphLocation
    final: bool


def compiled(locations: Iterable[GraphLocation]) -> list[Staged]:
    """Return graphs in the order of compilation, folder by folder; those without a stage stay as they are."""
    folders: dict[str, list[GraphLocation]] = {}
    for one in locations:
        folders.setdefault(os.path.dirname(one.name), []).append(one)
    found: list[Staged] = []
    for inside in folders.values():
        without, staged = [one for one in inside if not one.stage], [one for one in inside if one.stage]
        places = _places(staged)
        order = sorted(range(len(staged)), key=lambda number: (*places[number], staged[number].name))
        main = [number for number in order if not staged[number].stage.startswith(_ASIDE)]
        last = places[main[-1]][0] if main and len(staged) > 1 else None
        found += [Staged(one, final=False) for one in without]
        found += [Staged(staged[number], number in main and places[number][0] == last) for number in order]
    return found


def opening(found: Sequence[Staged]) -> str:
    """Return the name of the graph to open first: the last complete one that ran, else the first there is; "" for none."""
    if not found:
        return ""
    begin = next((place for place, one in enumerate(found) if one.final), None)
    if begin is None:
        return found[0].location.name
    folder = os.path.dirname(found[begin].location.name)
    inside = [one for one in found if os.path.dirname(one.location.name) == folder and one.location.stage]
    final = [one for one in inside if one.final]
    earlier = [one for one in inside if not one.final and not one.location.stage.startswith(_ASIDE)]
    for one in [*final, *earlier[::-1]]:
        if complete(one.location):
            return one.location.name
    return final[0].location.name


def complete(location: GraphLocation) -> bool:
    """Return whether the file of a graph has its end, a closing bracket in texts. False if it cannot be read."""
    if not location.length:
        return False
    if not location.path.endswith((".ir", ".dot")) and not location.stage.startswith("trace_code_graph"):
        return True
    try:
        with RegularFile(location.path) as file:
            begin = max(0, file.size - TAIL)
            return bytes(file.read(begin, file.size - begin)).rstrip().endswith(b"}")
    except (OSError, FormatError):
        return False


def _places(staged: Sequence[GraphLocation]) -> list[tuple[float, int]]:
    """Return for each graph its stage and when its file was written, as far as its name says."""
    numbered: dict[str, int] = {}
    written: list[int] = []
    for one in staged:
        stage = _STAGE.fullmatch(one.stage)
        serial = _WRITTEN.search(one.name)
        written.append(int(serial[1]) if serial else -1)
        if stage:
            numbered[stage["name"]] = int(stage["stage"])
    anchors = sorted(
        (number, int(stage[1])) for one, number in zip(staged, written, strict=True)
        if number >= 0 and (stage := _STAGE.fullmatch(one.stage))
    )  # fmt: skip
    last = float(numbered.get("execute", max([_EXECUTE, *numbered.values()])))
    found = []
    for one, number in zip(staged, written, strict=True):
        stage = _STAGE.fullmatch(one.stage)
        if stage:
            place = float(stage["stage"])
        elif number >= 0 and anchors:
            place = next((after - 0.5 for serial, after in anchors if serial > number), anchors[-1][1] + 0.5)
        else:
            name = re.sub(r"_\d{1,3}$", "", one.stage)
            usual = last + _BEFORE_EXECUTE[name] if name in _BEFORE_EXECUTE else _USUAL.get(name, last - 0.5)
            place = float(numbered.get(name, usual))
        found.append((place, number))
    return found
