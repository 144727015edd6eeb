"""Where values went bad, in real dumps and in those of a network made bad at a random operator."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsers import open_run
from parsers.analysis.dumps.departures import departures
from parsers.analysis.dumps.first_cause import BadPlace, first_bad
from parsers.dump_frames import DUMP_CAUSES, DUMP_DEPARTURES, DUMP_SPREAD
from parsers.dumps.values import TensorHeader
from parsers.errors import PayloadError
from tests.amounts import long_after
from tests.writers.dumps import Injection, file_name, network, npy, write_dump

KINDS = ("nan", "inf", "exploding", "vanishing")


def first(folder: Path) -> tuple[str, str, int, str, str]:
    causes = DUMP_CAUSES.check(open_run(folder).dump.first_cause())
    one = causes.iloc[0]
    return str(one["kind"]), str(one["origin"]), int(one["iteration"]), str(one["name"]), str(one["source"])


@pytest.mark.parametrize("seed", long_after(4, range(20)))
def test_the_operator_that_was_made_bad_comes_first(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(500 + seed)
    places = len(network(rng).operators)
    injection = Injection(int(rng.integers(4, 6)), int(rng.integers(places)), KINDS[seed % 4])
    net = write_dump(tmp_path, seed=seed, injection=injection, iterations=7, inputs=seed % 3 != 2)
    wanted = net.operators[injection.operator]
    kind, origin, iteration, name, source = first(tmp_path)
    assert (iteration, name, origin) == (injection.iteration, wanted.name, "here")
    assert source == f"/home/me/net.py:{wanted.line} value = self.{wanted.type.lower()}(value)"
    assert kind == (injection.kind if seed % 4 > 1 else "non_finite")


@pytest.mark.parametrize("seed", long_after(1, range(3)))
def test_a_healthy_training_has_no_cause(tmp_path: Path, seed: int) -> None:
    write_dump(tmp_path, seed=seed, iterations=12)
    assert open_run(tmp_path).dump.first_cause().empty


def test_damage_of_the_iteration_before_is_named(tmp_path: Path) -> None:
    net = write_dump(tmp_path, injection=Injection(3, 2, "nan"), iterations=6)
    causes = open_run(tmp_path).dump.first_cause()
    assert causes["iteration"].tolist() == [3, 4, 5]
    assert causes["origin"].tolist() == ["here", "before", "before"]
    assert causes["from_name"].iloc[1] == "fc0.weight"
    assert causes["name"].iloc[1] == net.operators[0].name
    assert (causes["affected"] <= causes["operators"]).all()


def test_an_optimizer_is_not_hidden_by_its_own_change_in_place(tmp_path: Path) -> None:
    net = network(np.random.default_rng(0))
    place = next(at for at, one in enumerate(net.operators) if one.in_place)
    write_dump(tmp_path, injection=Injection(2, place, "nan"), iterations=4)
    dump = open_run(tmp_path).dump
    kind, origin, iteration, name, _ = first(tmp_path)
    assert (kind, origin, iteration, name) == ("non_finite", "here", 2, net.operators[place].name)
    inputs = dump.tensors[(dump.tensors["name"] == name) & (dump.tensors["io"] == "input") & (dump.tensors["iteration"] == 2)]
    assert np.isnan(dump.tensor(int(inputs.index[0]))).any()


def test_norms_that_depart_are_listed_with_their_lag_to_the_loss(tmp_path: Path) -> None:
    net = write_dump(tmp_path, injection=Injection(5, 14, "exploding"), iterations=8)
    dump = open_run(tmp_path).dump
    loss = {step: 0.7 - 0.01 * step for step in range(7)} | {7: 1e5}
    found = DUMP_DEPARTURES.check(dump.departures(loss))
    assert found["name"].iloc[0] == net.operators[14].name
    assert (found["iteration"] >= 5).all()
    assert not found.duplicated(["name", "io", "slot"]).any()
    one = found.iloc[0]
    values = dump.tensor(int(one["row"])).astype(np.float64)
    assert one["measured"] == pytest.approx(np.linalg.norm(values), rel=1e-9)
    assert one["decades"] == pytest.approx(np.log10(one["measured"] / one["usual"]))
    assert one["lag"] == 2
    assert dump.departures()["lag"].isna().all()
    assert dump.departures({0: 1.0, 3: float("nan")})["lag"].iloc[0] == -2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("share", [0.5, 1.0 - 1e-6])
def test_the_norm_of_a_tensor_with_nan_is_not_compared_with_its_history(tmp_path: Path, seed: int, share: float) -> None:
    """All but a few values become NaN, and these few are tiny: what is left of the norm says nothing."""
    rng = np.random.default_rng(seed)
    entries = []
    for step in range(8):
        values = rng.normal(size=4000).astype(np.float32)
        if step in (5, 6):
            left = rng.random(4000) >= share
            left[0] = True
            values = np.where(left, values * np.float32(1e-12), np.float32(np.nan))
        if step == 7 and seed == 2:
            values *= np.float32(1e9)  # what explodes after a gap still does
        entries.append(values)
    for step, values in enumerate(entries):
        folder = tmp_path / f"rank_0/Net/0/{step}"
        folder.mkdir(parents=True)
        name = file_name("Square", "Default/Square-op0", 1000 + step, "output", 0, "float32")
        (folder / name).write_bytes(npy(values))
    dump = open_run(tmp_path).dump
    found = dump.departures()
    assert found[["iteration", "kind"]].values.tolist() == ([[7, "exploding"]] if seed == 2 else [])
    causes = dump.first_cause()
    assert causes["kind"][causes["iteration"].isin([5, 6])].tolist() == ["non_finite"] * 2


@pytest.mark.parametrize("shape", [(), (7,), (3, 4), (2, 3, 5)])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_sign_and_place_of_the_first_bad_value(shape: tuple[int, ...], bad: float, dtype: type) -> None:
    rng = np.random.default_rng(len(shape))
    flat = rng.normal(size=math.prod(shape)).astype(dtype)
    at = sorted(rng.choice(len(flat), min(2, len(flat)), replace=False).tolist())
    flat[at[-1]] = -np.inf if bad != -np.inf else np.nan
    flat[at[0]] = bad
    values = flat.reshape(shape)
    wanted = next(index for index in np.ndindex(shape) if not math.isfinite(float(values[index])))  # by brute force
    found = first_bad(Valued(values), 0)
    assert found == BadPlace("NaN" if math.isnan(bad) else f"{bad:+.0f}".title(), wanted)
    assert first_bad(Valued(np.array(values, order="F")), 0) == found
    assert first_bad(Valued(np.zeros(shape, dtype)), 0) is None
    assert first_bad(Valued(np.ones(shape, np.int32)), 0) is None
    assert first_bad(Valued(None), 0) is None


class Valued:
    """A dump of one tensor, or of one whose values were not dumped."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def header(self, row: int) -> TensorHeader:
        return TensorHeader(self.tensor(row).dtype.name, self.tensor(row).shape)

    def tensor(self, row: int) -> Any:
        if self.values is None:
            raise PayloadError("no values were dumped")
        return self.values


def test_the_spread_follows_the_graph(tmp_path: Path) -> None:
    net = write_dump(tmp_path, injection=Injection(2, 3, "nan"), iterations=3)
    spread = DUMP_SPREAD.check(open_run(tmp_path).dump.spread(0, 2))
    assert spread["name"].iloc[0] == net.operators[3].name
    assert spread["hops"].tolist()[:3] == [0, 1, 2]
    assert (spread["hops"] >= 0).all()
    assert spread["bad_inputs"].iloc[0] == 0
    assert (spread["bad_inputs"].iloc[1:] > 0).all()
    assert [net.operators[place].name for place in spread["place"]] == spread["name"].tolist()
    dump = open_run(tmp_path).dump
    assert [dump.tensor(row).size for row in spread["row"]] == spread["count"].tolist()
    assert open_run(tmp_path).dump.spread(0, 1).empty


def test_without_a_graph_inputs_tell(tmp_path: Path) -> None:
    net = write_dump(tmp_path, injection=Injection(2, 5, "inf"), iterations=3, graph=False)
    _, origin, iteration, name, source = first(tmp_path)
    assert (origin, iteration, name, source) == ("here", 2, net.operators[5].name.replace("/", "_"), "")


def test_without_graph_and_inputs_the_origin_is_unknown(tmp_path: Path) -> None:
    net = write_dump(tmp_path, injection=Injection(2, 5, "inf"), iterations=3, graph=False, inputs=False)
    _, origin, iteration, name, _ = first(tmp_path)
    assert (origin, iteration, name) == ("unknown", 2, net.operators[5].name.replace("/", "_"))


# Real dumps -----------------------------------------------------------------------------------------------------------------


def test_out_nan_overflows_in_the_loss(real_data: Path) -> None:
    causes = open_run(real_data / "dump/out_nan").dump.first_cause()
    assert causes[["iteration", "origin", "from_name"]].values.tolist() == [
        [1, "here", ""], [2, "before", "fc1.weight"], [3, "before", "fc1.weight"],
    ]  # fmt: skip
    assert causes["name"].tolist()[0] == "Default/network-WithLossCell/_loss_fn-MSELoss/Square-op0"
    assert "return square_op(input)" in causes["source"].iloc[0]
    assert (causes["nan"].iloc[0], causes["inf"].iloc[0]) == (0, 12)


def test_the_cause_of_out_nan_is_right_by_the_values(real_data: Path) -> None:
    dump = open_run(real_data / "dump/out_nan").dump
    one = dump.first_cause().iloc[0]
    mine = dump.tensors[(dump.tensors["name"] == one["name"]) & (dump.tensors["iteration"] == 1)]
    given, made = (dump.tensor(int(mine.index[(mine["io"] == io).to_numpy()][0])) for io in ("input", "output"))
    assert np.isfinite(given).all()
    assert np.isinf(made).any()
    earlier = dump.tensors[(dump.tensors["iteration"] == 1) & (dump.tensors["time_ns"] < mine["time_ns"].min())]
    assert all(np.isfinite(dump.tensor(int(row))).all() for row in earlier.index)


def test_control_flow_is_ordered_by_time(real_data: Path) -> None:
    causes = open_run(real_data / "dump/out_cf").dump.first_cause()
    assert causes["name"].tolist() == ["Default/Log-op0"] * 2
    assert causes["source"].iloc[0].endswith("dump_cf.py:18 return self.log(self.fc2(o))")


@pytest.mark.parametrize(
    ("run", "name"),
    [
        ("torch/stat_L1", "Torch.log.0.forward"),
        ("torch/stat_mix", "Torch.log.0.forward"),
        ("torch/tensor_mix", "Torch.log.0.forward"),
        ("torch/stat_md5_mix", "Torch.log.0.forward"),
        ("torch/stat_L0", "Module.bad.BadLog.forward.0"),
        ("mindspore/stat_L1", "Functional.log.0.forward"),
        ("mindspore/stat_mix", "Functional.log.0.forward"),
        ("mindspore/tensor_mix", "Functional.log.0.forward"),
        ("mindspore/stat_L0", "Cell.bad.BadLog.forward.0"),
    ],
)
def test_msprobe_blames_the_logarithm(real_data: Path, run: str, name: str) -> None:
    causes = open_run(real_data / "msprobe" / run).dump.first_cause()
    assert causes[["iteration", "origin", "name"]].values.tolist()[0] == [1, "here", name]
    assert (causes["origin"].iloc[1:] == "before").all()
    assert "_train.py:" in causes["source"].iloc[0]


def test_a_cause_on_another_rank_is_named(real_data: Path) -> None:
    causes = open_run(real_data / "msprobe/torch/stat_ddp").dump.first_cause()
    assert causes[["rank", "iteration", "origin", "name", "from_rank", "from_name"]].values.tolist() == [
        [1, 1, "here", "Torch.div.0.forward", -1, ""],
        [0, 1, "rank", "Distributed.all_reduce.0.forward", 1, "Torch.div.0.forward"],
    ]


# Modules --------------------------------------------------------------------------------------------------------------------


def _leaf(value: float) -> dict[str, object]:
    return {
        "type": "mindspore.Tensor",
        "dtype": "Float32",
        "shape": [2],
        "Max": value,
        "Min": value,
        "Mean": value,
        "Norm": value,
    }


@pytest.mark.parametrize("parents_first", [True, False])
def test_modules_are_not_blamed_for_what_is_in_them(tmp_path: Path, parents_first: bool) -> None:
    nan = float("nan")
    container = {"input_args": [_leaf(1.0)], "output": [_leaf(nan)]}
    entries = {
        "Cell.a.Net.forward.0": container,
        "Cell.a.b.Block.forward.0": container,
        "Functional.exp.0.forward": {"input_args": [_leaf(1.0)], "output": [_leaf(1.0)]},
        "Functional.log.0.forward": {"input_args": [_leaf(1.0)], "output": [_leaf(nan)]},
        "Functional.sum.0.forward": {"input_args": [_leaf(nan)], "output": [_leaf(nan)]},
    }
    names = list(entries) if parents_first else [*list(entries)[2:], *list(entries)[1::-1]]
    folder = tmp_path / "step4" / "rank0"
    folder.mkdir(parents=True)
    content = {"task": "statistics", "level": "mix", "data": {name: entries[name] for name in names}}
    (folder / "dump.json").write_text(json.dumps(content))
    block = "Cell.a.b.Block.forward.0"
    parents = dict.fromkeys(list(entries)[2:], block) | {block: "Cell.a.Net.forward.0", "Cell.a.Net.forward.0": None}
    (folder / "construct.json").write_text(json.dumps(parents))
    _, origin, iteration, name, _ = first(tmp_path)
    assert (origin, iteration, name) == ("here", 4, "Functional.log.0.forward")


# Departures -----------------------------------------------------------------------------------------------------------------


def test_nothing_departs_without_a_history() -> None:
    sign, usual = departures(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    assert len(sign) == len(usual) == 0
    sign, usual = departures(np.zeros(3, np.int64), np.arange(3), np.array([1.0, 1e9, 1e-9]))
    assert sign.tolist() == [0, 0, 0]


@pytest.mark.parametrize(("value", "wanted"), [(1e4, 1), (1e-4, -1), (0.0, 0), (5.0, 0), (np.nan, 0)])
def test_a_norm_that_leaves_its_history_departs(value: float, wanted: int) -> None:
    rng = np.random.default_rng(0)
    norm = np.append(np.exp(rng.normal(0.0, 0.05, 9)), value)
    sign, usual = departures(np.zeros(10, np.int64), np.arange(10), norm)
    assert sign.tolist() == [0] * 9 + [wanted]
    if wanted:
        assert usual[9] == pytest.approx(10.0 ** np.median(np.log10(norm[:9])))


@pytest.mark.parametrize(("history", "times", "wanted"), [(3, 80.0, 0), (3, 200.0, 1), (4, 80.0, 1), (6, 50.0, 0)])
def test_a_norm_of_only_three_iterations_must_grow_more(history: int, times: float, wanted: int) -> None:
    norm = np.append(np.ones(history), times)
    assert departures(np.zeros(len(norm), np.int64), np.arange(len(norm)), norm)[0].tolist() == [0] * history + [wanted]


@pytest.mark.parametrize(("usual", "value", "wanted"), [([1.0, 1.0, 1.0, 1.0], 0.0025, -1), ([1.0, 3.0, 1.0, 2.0], 0.0025, 0),
                                                        ([1.0, 3.0, 1.0, 2.0], 0.0005, -1)])  # fmt: skip
def test_a_norm_that_varies_must_fall_farther(usual: list[float], value: float, wanted: int) -> None:
    norm = np.array([*usual, value])
    assert departures(np.zeros(5, np.int64), np.arange(5), norm)[0].tolist() == [0] * 4 + [wanted]


@pytest.mark.parametrize(("end", "wanted"), [
    ([0.0] * 5, -1), ([0.0] * 4, 0), ([0.0] * 5 + [1.0], 0), ([0.1, 0.01, *[0.0] * 5], 0), ([0.0, 1.0, *[0.0] * 5], 0),
])  # fmt: skip
def test_a_norm_of_zero_has_vanished_only_if_it_stays_and_came_at_once(end: list[float], wanted: int) -> None:
    norm = np.array([1.0, 1.1, 0.9, 1.0, 1.0, *end])
    sign, _ = departures(np.zeros(len(norm), np.int64), np.arange(len(norm)), norm)
    assert sign.tolist() == [0] * 5 + [wanted] * len(end)


def test_what_was_zero_before_does_not_explode() -> None:
    norm = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 1.1, 0.9, 1.0])
    assert not departures(np.zeros(8, np.int64), np.arange(8), norm)[0].any()


def test_what_varies_widely_or_falls_slowly_does_not_depart() -> None:
    rng = np.random.default_rng(1)
    wild = 10.0 ** rng.normal(0.0, 1.0, 60)
    slow = 10.0 ** (-np.arange(60) * 0.02)
    for norm in (wild, slow, np.zeros(60)):
        assert not departures(np.zeros(60, np.int64), np.arange(60), norm)[0][6:].any()
