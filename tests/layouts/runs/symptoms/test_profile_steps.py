"""Questions about profiles, of files: data queues, traces of two runs on request, and the roofline of two sessions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from app.store.store import Store
from layouts.runs.symptoms.answering import Answer, SymptomAnswers
from layouts.runs.symptoms.links import address
from layouts.runs.symptoms.model import SymptomQuestion
from layouts.runs.symptoms.probed import QuestionSubject, SourceRun
from layouts.runs.symptoms.registry import SYMPTOMS
from parsers.analysis.runs.probes.model import FOUND, NOT_JUDGED, NOT_RECORDED, NOTHING
from parsers.recording import EventWriter
from tests.simulations.data_pipelines import FAULTS, healthy_plan, simulate
from tests.waiting import until
from tests.writers import minddata_files
from tests.writers.kineto_traces import KinetoWriter, training, write
from tests.writers.step_traces import step_trace_time

KERNELS = "Step ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes,{}\n"
GEMM = "void gemm<float, 128>(float*, float const*)"


def slowed(extra_ns: int) -> KinetoWriter:
    """A training of which the first kernel of every step, and so the step, takes longer."""
    made = training(5, changing=False)
    late = 0
    for event in sorted(made.events, key=lambda one: float(one["ts"].strip("\0"))):
        event["ts"] = f"\0{float(event['ts'].strip(chr(0))) + late / 1000:.3f}\0"
        if event["name"].startswith("ProfilerStep"):
            event["dur"] = f"\0{float(event['dur'].strip(chr(0))) + extra_ns / 1000:.3f}\0"
        if event["name"] == GEMM:
            event["dur"] = f"\0{float(event['dur'].strip(chr(0))) + extra_ns / 1000:.3f}\0"
            late += extra_ns
    return made


def session(folder: Path, day: int, counters: str, value: str) -> None:
    output = folder / f"h_{day}_2026010{day}000000_ascend_ms" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    rows = "".join(f'1,MatMul-op1,MatMul,AI_CORE,{1000 + 20 * n},10,"64,64",{value}\n' for n in range(20))
    (output / "kernel_details.csv").write_text(KERNELS.format(counters) + rows)


def steps_of(folder: Path, day: int, computing_us: float) -> None:
    """A session of twelve steps, whose files are of that day."""
    output = folder / f"h_{day}_2026010{day}000000_ascend_ms" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    steps = [(n, 0.0, computing_us + 10.0 * (n % 3), 0.0, 100.0, 100.0) for n in range(1, 13)]
    (output / "step_trace_time.csv").write_text(step_trace_time(steps))
    os.utime(output / "step_trace_time.csv", (1_767_000_000 + 86_400 * day,) * 2)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    base = tmp_path_factory.mktemp("profiles")
    write(base / "slow" / "profiler" / "host_1.1712000000000.pt.trace.json", slowed(400_000))
    write(base / "fast" / "profiler" / "host_1.1712000000000.pt.trace.json", slowed(0))
    (base / "none").mkdir()
    with EventWriter(str(base / "none" / "events.out.tfevents.1700000000.host"), "tensorboard") as writer:
        writer.add(0, {"loss": 1.0})
    session(base / "two" / "profiler", 1, "aic_cube_fops", "8000000")
    session(base / "two" / "profiler", 2, "aic_read_main_memory_datas(KB)", "4")
    session(base / "one" / "profiler", 1, "aic_cube_fops", "8000000")
    steps_of(base / "again" / "profiler", 1, 5000.0)
    steps_of(base / "again" / "profiler", 2, 9000.0)
    steps_of(base / "alike" / "profiler", 1, 5000.0)
    steps_of(base / "alike" / "profiler", 2, 5000.0)
    for name in ("slow_map", "host_code"):
        minddata_files.write(simulate(FAULTS[name](0, 0.5)[0], 0), base / name)
    minddata_files.write(simulate(healthy_plan(0), 0), base / "healthy")
    store = Store([base], interval=0).start()
    assert store.wait(60)
    until(lambda: store.runs.status().loaded == store.runs.status().total)
    yield store
    store.stop()


def step_of(symptom: str, name: str) -> SymptomQuestion:
    return next(one for one in SYMPTOMS[symptom].steps if one.name == name)


def answer(store: Store, run: str, step: SymptomQuestion, other: str = "") -> tuple[Answer, SourceRun]:
    answers = SymptomAnswers(store)

    def ready() -> tuple[Answer, SourceRun] | None:
        probed = SourceRun(store, QuestionSubject(run, other, (run, *([other] if other else []))))
        told = answers.answer(probed, step, slow=True)
        return (told, probed) if told.state == "ready" else None

    found = until(ready)
    assert found is not None
    return found


def first_sign(store: Store, run: str) -> str:
    """The symptom that comes first; a request judges what is read within its patience, so the next one may say another."""
    found = SymptomAnswers(store).signs(SourceRun(store, QuestionSubject(run, "", (run,))))
    return found[0].symptom.name if found else ""


@pytest.mark.parametrize(("name", "runs"), [
    ("interval", ("slow_map", "healthy", "none")), ("queues", ("slow_map", "healthy", "none")),
    ("code", ("host_code", "slow_map", "none")), ("code", ("host_code", "healthy", "none")),
])  # fmt: skip
def test_data_queues_tell_data_from_code(store: Store, name: str, runs: tuple[str, ...]) -> None:
    found = [answer(store, run, step_of("long_interval", name))[0].finding for run in runs]
    assert [one.state for one in found if one is not None] == [FOUND, NOTHING, NOT_RECORDED]


def test_a_trace_is_compared_on_request(store: Store) -> None:
    step = step_of("slower_than_before", "traces")
    run = SourceRun(store, QuestionSubject("slow", "fast", ("slow", "fast")))
    assert SymptomAnswers(store).answer(run, step, slow=False).state == "ask"
    states = [answer(store, of, step, other)[0].finding for of, other in (("slow", "fast"), ("fast", "slow"), ("none", "fast"))]
    assert [one.state for one in states if one is not None] == [FOUND, NOTHING, NOT_RECORDED]
    found, probed = answer(store, "slow", step, "fast")
    assert found.finding is not None
    assert found.finding.told["name"] == GEMM
    assert found.finding.told["more_ns"] == pytest.approx(400_000)
    query = parse_qs(str(address(store, probed, step, found.finding)["data-query"]))
    assert (query["run"], query["by"]) == (["slow", "fast"], ["difference"])
    assert parse_qs(query["also"][0])["run"] == ["fast"]
    assert (query["axis"], query["at"]) == (["step"], ["5"])  # steps of both begin together
    begin, end = map(int, query["range"][0].split(","))
    assert end - begin == found.finding.told["step_ns"]
    assert answer(store, "slow", step)[0].finding.said == "no_session_before"  # type: ignore[union-attr]


def test_a_session_is_compared_with_the_one_before(store: Store) -> None:
    step = step_of("slower_than_before", "parts")
    found, probed = answer(store, "again", step)
    assert found.finding is not None
    assert (found.finding.state, found.finding.told["part"]) == (FOUND, "computing")
    assert found.finding.told["before"] == "profiler/h_1_20260101000000_ascend_ms"
    query = parse_qs(str(address(store, probed, step, found.finding)["data-query"]))
    assert query["session"] == ["profiler/h_2_20260102000000_ascend_ms"]
    assert query["with"] == ["again|profiler/h_1_20260101000000_ascend_ms|0"]
    assert until(lambda: first_sign(store, "again") in ("slower_than_before", "device_gaps"))
    alike = answer(store, "alike", step)[0].finding
    assert alike is not None
    assert alike.state == NOTHING


def test_a_roofline_takes_two_sessions(store: Store) -> None:
    step = step_of("long_computing", "roofline")
    found, probed = answer(store, "two", step)
    assert found.finding is not None
    assert (found.finding.state, found.finding.said) == (NOT_JUDGED, "on_roofline")
    assert {found.finding.told["per_byte"], found.finding.told["done_per_s"]} == {2000.0, 8e11}
    assert "with" in parse_qs(str(address(store, probed, step, found.finding)["data-query"]))
    alone = answer(store, "one", step)[0].finding
    assert alone is not None
    assert (alone.state, alone.said) == (NOT_RECORDED, "no_second_session")
