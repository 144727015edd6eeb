"""Every question, of a run with the fault, of one without it, and of one without the data."""

from __future__ import annotations

import pytest

from parsers.analysis.runs.probes.model import FOUND, NOT_RECORDED, NOTHING, Finding
from parsers.analysis.runs.probes.registry import PROBES
from tests.parsers.analysis.runs.probes.probed_run import MadeRun
from tests.writers.symptomatic_runs import Made, Triple, triples

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
