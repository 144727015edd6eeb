"""Tensors over steps as histograms, over files written for the purpose, against numpy."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.store.store import Store
from layouts.kit.state import BadInput
from layouts.values.tensor_histograms import MOST, coarse_to_fine, over_steps
from parsers import HistogramValue
from parsers.recording import EventWriter, Tensor
from parsers.recording.wire import delimited, number, record

NAME = "events.out.events.summary.1700000000.0.host_MS"
RNG = np.random.default_rng(11)
WEIGHTS = [RNG.normal(step, 1 + step / 10, (20, 30)).astype(np.float32) for step in range(9)]
WEIGHTS[4][3, :5] = np.nan
WEIGHTS[6][:] = np.inf
LONG = 400


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name in ("one", "two", "long", "broken"):
        (folder / name).mkdir()
    for name, scale in (("one", 1), ("two", 2)):
        with EventWriter(str(folder / name / NAME), "mindspore") as writer:
            for step, array in enumerate(WEIGHTS):
                writer.add(10 * step, {"w": Tensor(array * scale)})
    with EventWriter(str(folder / "long" / NAME), "mindspore") as writer:
        for step in range(LONG):
            writer.add(step, {"w": Tensor(np.float32([step, step + 1]))})
    with EventWriter(str(folder / "broken" / NAME), "mindspore") as writer:
        writer.add(1, {"w": Tensor(WEIGHTS[1])})
    content = number(1, 7) + number(2, 11) + delimited(3, bytes(8))  # 7 values claimed, 2 there
    with open(folder / "broken" / NAME, "ab") as file:
        file.write(record(number(2, 2) + delimited(5, delimited(1, delimited(1, b"w") + delimited(8, content)))))
    return folder


@pytest.fixture
def store(base: Path) -> Iterator[Store]:
    made = Store([base], interval=0).start()
    assert made.wait(30)
    yield made
    made.stop()


def array(spec: dict[str, str]) -> np.ndarray[Any, Any]:
    return np.frombuffer(base64.b64decode(spec["bdata"]), "<" + spec["dtype"])


def ask(*runs: str, **more: str) -> dict[str, list[str]]:
    return {"tag": ["w"], "run": list(runs)} | {key: [value] for key, value in more.items()}


def test_an_overlay_counts_what_numpy_counts(store: Store) -> None:
    meta = over_steps(store, ask("one", view="overlay"), seconds=60)["layout"]["meta"]
    [panel] = meta["panels"]
    assert array(panel["step"]).tolist() == [10 * step for step in range(9)]
    finite = [values[np.isfinite(values)] for values in WEIGHTS]
    assert array(panel["total"]).tolist() == [600] * 9
    assert array(panel["finite"]).tolist() == [len(values) for values in finite]
    counts = array(panel["counts"]).reshape(9, -1).sum(axis=1)
    assert counts == pytest.approx([len(values) for values in finite])
    extent = array(panel["extent"]).reshape(9, 3)
    for step in (0, 4, 8):
        values = finite[step].astype(float)
        assert extent[step] == pytest.approx([values.min(), values.mean(), values.max()])
    assert meta["bad"] == [5, 600, 0]
    assert (meta["waiting"], meta["unread"], meta["empty"]) == (0, 0, 1)


@pytest.mark.parametrize("view", ["auto", "heat", "ridge", "overlay", "numbers"])
def test_every_view_has_a_panel_per_run(store: Store, view: str) -> None:
    meta = over_steps(store, ask("one", "two", view=view), seconds=60)["layout"]["meta"]
    assert sorted(panel["run"] for panel in meta["panels"]) == ["one", "two"]


@pytest.mark.parametrize("view", ["heat", "ridge", "overlay", "numbers"])
def test_a_run_of_which_nothing_is_made_yet_has_an_empty_panel(base: Path, view: str) -> None:
    store = Store([base], interval=0).start()
    assert store.wait(30)
    meta = over_steps(store, ask("one", "two", view=view), seconds=0)["layout"]["meta"]
    store.stop()
    assert [len(array(panel["at"])) for panel in meta["panels"]] == [1, 0]
    assert meta["waiting"] == 17


def test_a_request_without_time_makes_one_and_asking_again_comes_to_an_end(store: Store) -> None:
    seen = []
    while not seen or seen[-1]:
        seen.append(over_steps(store, ask("one", "two", view="ridge"), seconds=0)["layout"]["meta"]["waiting"])
    assert seen == list(range(17, -1, -1))
    shown = over_steps(store, ask("one", view="ridge"), seconds=0)["layout"]["meta"]
    assert (shown["waiting"], shown["steps"], shown["drawn"]) == (0, 9, 9)


def test_what_was_made_is_not_made_again_and_no_tensor_is_kept(store: Store) -> None:
    over_steps(store, ask("long", view="heat"), seconds=60)
    assert len(store.follower._cache) == 0  # white box: memory must not grow with the steps that are looked at
    first = store.values.distribution("long", "w", 0, known=True)
    assert isinstance(first, HistogramValue)
    assert store.values.distribution("long", "w", 0) is first


def test_of_many_steps_so_many_are_read(store: Store) -> None:
    meta = over_steps(store, ask("long", view="heat"), seconds=60)["layout"]["meta"]
    assert (meta["steps"], meta["drawn"]) == (LONG, MOST)
    steps = array(meta["panels"][0]["step"])
    assert (steps[0], steps[-1]) == (0, LONG - 1)


def test_a_damaged_tensor_is_named_and_the_others_are_drawn(store: Store) -> None:
    for _ in range(2):
        meta = over_steps(store, ask("broken", view="ridge"), seconds=60)["layout"]["meta"]
        assert "expected 7 values for the shape (7,), found 2" in meta["problem"]
        assert meta["waiting"] == 0
        assert array(meta["panels"][0]["total"]).tolist() == [600, 0]


def test_what_cannot_be_asked_is_refused(store: Store) -> None:
    for query in (ask("one", view="step"), ask("one", view="cake"), ask("one", x="sideways"), {"run": ["one"]}):
        with pytest.raises(BadInput):
            over_steps(store, query)


def test_a_tag_that_is_gone_is_an_empty_figure(store: Store) -> None:
    meta = over_steps(store, {"tag": ["none"], "run": ["one"]})["layout"]["meta"]
    assert (meta["panels"], meta["runs"]) == ([], 0)


@given(st.integers(0, 600))
def test_coarse_to_fine_is_an_order_of_all(count: int) -> None:
    order = coarse_to_fine(count)
    assert sorted(order) == list(range(count))
    assert order[:1] == [count - 1][:count]
