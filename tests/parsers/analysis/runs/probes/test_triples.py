"""Every question, of a run with the fault, of one without it, and of one without the data."""

from __future__ import annotations

import pytest

from parsers.analysis.runs.probes.model import FOUND, NOT_JUDGED, NOT_RECORDED, NOTHING, Finding
from parsers.analysis.runs.probes.registry import PROBES
from tests.parsers.analysis.runs.probes.probed_run import MadeRun
from tests.writers.symptomatic_runs import START_S, Made, Triple, graph, mapped, triples

TRIPLES = triples()


def answer(triple: Triple, made: Made) -> Finding:
    return PROBES[triple.probe].judge(MadeRun(made), **triple.parameters)


@pytest.mark.parametrize("name", TRIPLES)
def test_a_fault_is_found_a_healthy_run_is_fine_and_missing_data_are_said_to_be_missing(name: str) -> None:
    triple = TRIPLES[name]
    found = answer(triple, triple.fault)
    assert (found.state, bool(found.rule)) == (FOUND, True), found
    fine = answer(triple, triple.healthy)
    assert (fine.state, bool(fine.rule)) == (NOTHING, True), fine
    assert answer(triple, triple.absent).state == NOT_RECORDED


def test_there_are_enough_of_them_and_they_try_most_probes() -> None:
    assert len(TRIPLES) >= 40
    tried = {one.probe for one in TRIPLES.values()}
    # Questions that are always answered with a number, by dumps and profiles (tests/layouts/runs/symptoms), or by people.
    others = {
        "check", "overflows", "half_overflow", "dumped_values", "first_cause", "near_cause", "departed", "watched",
        "first_tensor",
        "longest_part", "hardware", "host_code", "traces_differ", "top_operators", "small_kernels", "at_peak", "static_plan",
    }  # fmt: skip
    assert tried | others == set(PROBES)
    assert not tried & others


@pytest.mark.parametrize("name", PROBES)
def test_nothing_is_never_said_of_a_run_without_data(name: str) -> None:
    parameters = next((one.parameters for one in TRIPLES.values() if one.probe == name), None)
    usual = {"watched": {"conditions": ("tensor_all_zero",)}, "first_tensor": {"tolerance": 1e-3}}
    found = PROBES[name].judge(MadeRun(Made()), **(usual.get(name, {}) if parameters is None else parameters))
    assert found.state not in (FOUND, NOTHING)


@pytest.mark.parametrize(("name", "kinds"), [
    ("nan", {"scalar"}), ("frozen weights", {"histogram"}), ("no shuffle", {"dataset_graph"}), ("logarithm", {"graph"}),
    ("interval", {"profile"}), ("settings", {"lineage"}), ("bad inputs", {"scalar", "tensor"}),
])  # fmt: skip
def test_a_probe_asks_for_what_it_needs_alone(name: str, kinds: set[str]) -> None:
    run = MadeRun(TRIPLES[name].fault)
    PROBES[TRIPLES[name].probe].judge(run, **TRIPLES[name].parameters)
    assert set(run.asked) == kinds


@pytest.mark.parametrize("points", [0, 1, 5])
def test_short_curves_are_not_judged(points: int) -> None:
    from tests.writers.symptomatic_runs import curve, falling, loss

    short = loss(falling(400)[:points]) if points else Made({"loss": curve([])})
    found = PROBES["insight"].judge(MadeRun(short), kinds=("plateau",), about=("loss",))
    assert found.state not in (FOUND, NOTHING)


def test_a_pipeline_that_changed_is_told_with_the_step_where_it_began() -> None:
    found = answer(TRIPLES["pipeline at a restart"], TRIPLES["pipeline at a restart"].fault)
    assert (found.said, found.told["step"], found.told["name"]) == ("pipeline_changed_at", START_S, "Map")
    alone = PROBES["pipeline_changed"].judge(MadeRun(mapped("Normalize")))
    assert (alone.state, alone.said) == (NOT_JUDGED, "one_pipeline")


@pytest.mark.parametrize(("kinds", "types", "state", "said"), [
    (("MatMul", "ReLU"), "Tensor[Float16]", NOTHING, "half_operators_safe"),
    (("MatMul", "ReLU", "Exp"), "Tensor[BFloat16]", NOTHING, "no_half_operators"),
    (("MatMul", "Exp"), "", NOT_JUDGED, "no_value_types"),
])  # fmt: skip
def test_operators_in_float16_are_told_by_their_types(kinds: tuple[str, ...], types: str, state: str, said: str) -> None:
    found = PROBES["half_operators"].judge(MadeRun(graph(*kinds, types=types)))
    assert (found.state, found.said) == (state, said)


def test_the_operator_in_float16_nearest_to_the_end_is_named() -> None:
    found = PROBES["half_operators"].judge(MadeRun(graph("Exp", "MatMul", "ReduceSum", "ReLU", types="Tensor[Float16]")))
    assert (found.told["n"], found.told["of"], found.told["name"], found.where.node) == (2, 4, "ReduceSum-op2", "n2")
