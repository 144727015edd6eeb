"""Every sample is read without a problem: a reader that skips intact rows says so in one, whatever the other tests look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.dumps.access import RunDump
from parsers.model import Problem, Reader
from parsers.profiler.frame_parts import FrameReader, ProfileInput
from parsers.profiler.registry import FRAME_READERS, classify
from parsers.profiler.trace import sources
from parsers.profiler.trace.files import TRACE_FILES
from parsers.registry import READERS
from tests.contract.samples import PROFILE_SAMPLES, SAMPLES
from tests.parsers.dumps.golden import samples as dumps
from tests.parsers.profiler.written import FILES

NOT_INTACT = {
    **dict.fromkeys(
        [
            "written/statistic/acl", "written/statistic/configurable", "written/statistic/configurable_all",
            "written/statistic/configurable_nan_spelling", "written/statistic/device_stat", "written/statistic/fixed_columns",
            "written/statistic/sha1",
        ],
        "holds one table of statistics, without graph and execution order",
    ),
    "written/async_bin/20261122040000": "holds files of tensors, without graph and execution order",
}  # fmt: skip
"""Sample -> what it lacks, so that it must yield a problem."""


def said(problems: object) -> list[str]:
    assert isinstance(problems, list | tuple)
    assert all(isinstance(problem, Problem) for problem in problems)
    return [f"{problem.path}: {problem.text}" for problem in problems]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_samples_of_a_reader_yield_no_problem(reader: Reader) -> None:
    assert SAMPLES[reader.name]
    for path in SAMPLES[reader.name]:
        batch = reader.read(str(path))
        assert said(batch.problems) + said(reader.verify(str(path))) == []
        assert batch.pending == 0, path


@pytest.mark.parametrize("reader", FRAME_READERS, ids=lambda reader: f"{reader.schema.name}-{reader.file.name}")
def test_samples_of_a_frame_yield_no_problem(reader: FrameReader, tmp_path: Path) -> None:
    for name, text in FILES.items():  # all of them: some files are read with the help of others beside them
        (tmp_path / name).write_text(text, encoding="utf-8")
    beside = {kind[0]: ProfileInput(str(tmp_path / name), name, {}) for name in FILES if (kind := classify(name))}
    written = [tmp_path / name for name in FILES if reader.file.pattern.fullmatch(name)]
    for path in (*PROFILE_SAMPLES.get(reader.file.name, ()), *written):
        assert said(reader.read(ProfileInput(str(path), path.name, beside)).problems) == []


@pytest.mark.parametrize("kind", [kind.name for kind in TRACE_FILES])
def test_samples_of_a_trace_yield_no_problem(kind: str) -> None:
    assert PROFILE_SAMPLES[kind]
    for path in PROFILE_SAMPLES[kind]:
        assert said(sources.read(str(path)).problems) == []


def test_dumps_yield_a_problem_if_they_lack_something_and_only_then() -> None:
    problems = {}
    for name, source in dumps().items():
        dump = RunDump(source.path, [path for leaf in source.leaves for path in leaf.dump_dirs])
        assert len(dump.statistics) == len(dump.tensors) > 0
        assert dump.first_cause() is not None
        problems[name] = said(dump.problems)
    assert {name: found for name, found in problems.items() if found and name not in NOT_INTACT} == {}
    assert [name for name in NOT_INTACT if not problems[name]] == []
