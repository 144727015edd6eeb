"""What a card of the tensors page is told: facts, statistics and the part shown, of tensors at hand."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest

from layouts.kit.page import Ids
from layouts.kit.state import BadInput
from layouts.values.tensor_asks import NamedTensor, TensorRequest, chosen, extent, find, rectangle
from layouts.values.tensor_facts import about, summary
from layouts.values.tensors import page as tensors
from parsers import PayloadError, TensorValue
from tests.sources import MemorySource

STEPS = [1, 5, 5, 9]
VALUES = [TensorValue(np.arange(24, dtype=np.float32).reshape(2, 3, 4) + step, "float32") for step in STEPS]


@pytest.fixture
def source() -> MemorySource:
    """Two runs with a tensor "w" at steps 1, 5, 5 and 9; the one at place 3 of run b is damaged."""
    damaged = PayloadError("wanted 24 values for the shape (2, 3, 4), got 23", "events", 300)
    values = {"a": VALUES, "b": [*VALUES[:3], damaged]}
    return MemorySource({run: {"tensor": {"w": list(zip(STEPS, of_run, strict=True))}} for run, of_run in values.items()})


def ask(**changes: str) -> TensorRequest:
    return TensorRequest.read({"run": ["a"], "tag": ["w"]} | {name: [value] for name, value in changes.items()})


def test_an_ask_is_read() -> None:
    assert ask(step="-3", place="2") == TensorRequest(NamedTensor("a", "w", -3, 2), None, False, "")
    assert ask(minus_step="1", how="relative", dims="0,:") == TensorRequest(
        NamedTensor("a", "w"), NamedTensor("a", "w", 1), True, "0,:"
    )
    assert ask(minus_run="b").minus == NamedTensor("b", "w")


@pytest.mark.parametrize(
    "data",
    [
        None, [], {"run": "a"}, {"step": ["x"]}, {"step": ["1.5"]}, {"step": [str(2**63)]}, {"place": ["1" * 30]},
        {"how": ["cubed"]}, {"dims": ["0" * 3000]}, {"minus_step": ["²"]}, {"tag": [1]},
    ],
)  # fmt: skip
def test_what_is_no_ask_is_refused(data: Any) -> None:
    if data is None:
        assert TensorRequest.read({}) == TensorRequest(NamedTensor("", ""), None, False, "")
        return
    with pytest.raises(BadInput):
        TensorRequest.read(data)


@pytest.mark.parametrize(
    ("named", "place"),
    [
        ({}, 3), ({"step": "1"}, 0), ({"step": "5"}, 2), ({"step": "5", "place": "1"}, 1), ({"place": "0"}, 0),
        ({"step": "9", "place": "0"}, 3),
    ],
)  # fmt: skip
def test_a_tensor_is_found_by_step_and_place(source, named, place) -> None:
    assert find(source, ask(**named)).value.place == place


@pytest.mark.parametrize("named", [{"step": "2"}, {"place": "4"}, {"place": "-1"}, {"minus_step": "7"}])
def test_one_that_is_not_there_is_a_message(source, named) -> None:
    told = about(source, ask(**named))
    assert "found only 4 values of steps 1 to 9" in told["problem"]


def test_a_damaged_one_is_a_message_that_names_the_record(source) -> None:
    for told in (about(source, ask(run="b")), summary(source, ask(run="b")), about(source, ask(minus_run="b"))):
        assert told["problem"] == "events: record at byte 300: wanted 24 values for the shape (2, 3, 4), got 23"


def test_facts(source) -> None:
    told = about(source, ask(step="5", dims="[1, :, 1:3]"))
    assert (told["place"], told["step"], told["shape"], told["dtype"], told["kept"]) == (2, 5, [2, 3, 4], "float32", "float32")
    assert told["boxes"] == ("1", ":", "1:3")
    assert told["fixed"] == [1, 0, 0]
    assert told["free"] == [{"dim": 1, "start": 0, "count": 3}, {"dim": 2, "start": 1, "count": 2}]
    assert about(source, ask())["boxes"] == ("0", ":", ":")
    assert about(source, ask(dims="0,:,4"))["refused"] == "dimension 2: expected -4 to 3, found 4"
    compared = about(source, ask(step="9", minus_step="1"))
    assert (compared["kept"], compared["minus"]["step"]) == ("float64", 1)


def test_what_was_narrowed_says_so(source, monkeypatch) -> None:
    narrowed = TensorValue(np.zeros(3, np.float32), "int64", "float32")
    exact = TensorValue(np.zeros(3, np.int64), "int64", "", "/data/runs/a/export_1/tensor/w_9.npy")
    monkeypatch.setattr(source.values, "value", lambda run, kind, tag, place: exact if run == "b" else narrowed)
    told = about(source, ask(minus_run="b"))
    assert (told["stored"], told["twin"]) == ("float32", "")
    # A path is nobody's business; the name is enough to find it.
    assert (told["minus"]["stored"], told["minus"]["twin"]) == ("", "w_9.npy")


def test_statistics_and_distribution(source) -> None:
    told = summary(source, ask(step="1"), figure=True)
    texts = told["texts"]
    assert (texts["min"], texts["max"], texts["count"]) == (["1", "1"], ["24", "24"], ["24", "24"])
    assert told["largest"] == 24.0
    bars = told["figure"]["data"][0]
    counts = np.frombuffer(base64.b64decode(bars["y"]["bdata"]), np.dtype(bars["y"]["dtype"]))
    np.testing.assert_array_equal(counts, np.histogram(VALUES[0].data, len(counts))[0])
    assert summary(source, ask(step="5", minus_step="5"))["largest"] == 0.0


@pytest.mark.parametrize(
    ("dims", "size"), [("", (3, 4)), (":,0,1:", (2, 3)), ("0,1,:", (4, 1)), ("0,1,2", (1, 1)), ("-1,-1,-2:", (2, 1))]
)
def test_the_part_shown_is_a_table(source, dims, size) -> None:
    tensor = find(source, ask()).tensor
    picked = chosen(dims, tensor)
    assert extent(picked) == size
    whole = rectangle(tensor, picked, slice(None), slice(None))
    np.testing.assert_array_equal(whole, np.asarray(tensor[picked.index]).reshape(size))
    np.testing.assert_array_equal(rectangle(tensor, picked, slice(1, 2), slice(0, 2)), whole[1:2, :2])


def test_the_page_has_four_cards() -> None:
    page = str(tensors.layout(Ids("tensors"), "/api/"))
    assert page.count("'part': 'graph'") == tensors.SLOTS == 4
