"""Runs in MLflow's databases. The schema is MLflow's (3.17.2), the rows are those that the tests write."""

from __future__ import annotations

import math
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from parsers import discover, open_run
from parsers.discovery.scanner import Scanner
from parsers.errors import SourceError
from tests.writers.mlflow import write_database

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "mlflow" / "3.17.2" / "mlflow.db"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "runs" / "mlflow.db"
    path.parent.mkdir()
    write_database(path, {"a1": 0.5, "b2": 0.25})
    return path


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_a_database_of_mlflow() -> None:
    runs = {source.name.rpartition("/")[2]: open_run(source.path) for source in discover(SAMPLE)}
    assert sorted(runs) == ["one", "two"]
    for name, rate in (("one", 0.1), ("two", 0.01)):
        run = runs[name]
        assert run.series("loss").value.tolist() == [rate / (step + 1) for step in range(10)]
        assert run.series("val/acc").value.tolist() == [step / 10 for step in range(10)]
        assert math.isnan(run.series("bad").value[0])
        assert (run.settings["learning_rate"], run.settings["optimizer"]) == (rate, "sgd")
        assert (run.settings["user_defined/tags.note"], run.settings["user_defined/tags.mlflow.user"]) == ("first", "root")
        assert run.settings["user_defined/tags.mlflow.runName"] == name
        assert "user_defined/tags.mlflow.source.type" not in run.settings
        assert not run.problems


def test_tags_are_texts_and_their_changes_are_followed(database: Path) -> None:
    execute(database, "INSERT INTO tags VALUES ('empty', NULL, 'a1')", "INSERT INTO tags VALUES ('stage', 'début', 'a1')")
    scanner = Scanner(database.parent)
    run = open_run(database / "a1")

    def tags() -> dict[str, object]:
        return {name.removeprefix("user_defined/"): one for name, one in run.settings.items() if "tags." in name}

    def refresh(*statements: str) -> None:
        execute(database, *statements)
        run.refresh(next(source for source in scanner.scan() if source.path == run.path))

    plain = {"tags.mlflow.source.git.commit": "12e5678", "experiment.tags.team": "vision"}
    assert tags() == {**plain, "tags.stage": "début"}
    refresh("INSERT INTO tags VALUES ('seen', 'yes', 'a1')")
    assert tags() == {**plain, "tags.stage": "début", "tags.seen": "yes"}
    changed = "UPDATE tags SET value = 'fin' WHERE key = 'stage'"
    refresh(changed, "INSERT INTO metrics VALUES ('loss', 9, 2000000, 'a1', 100, 0)")
    assert tags() == {**plain, "tags.stage": "fin", "tags.seen": "yes"}
    refresh("DELETE FROM tags WHERE key IN ('seen', 'stage')")
    assert tags() == plain
    assert run.series("loss").step.tolist() == [*range(10), 100]


def test_a_database_without_tags(database: Path) -> None:
    execute(database, "DROP TABLE tags", "DROP TABLE experiment_tags")
    run = open_run(database / "a1")
    assert dict(run.settings) == {"learning_rate": 0.5}
    assert not run.problems


@pytest.mark.parametrize("others", [0, 100])
def test_a_run_is_found_by_index_or_by_looking_at_all_rows(database: Path, others: int) -> None:
    """Which one depends on the share of the run among the rows: both give the same."""
    execute(database, *(f"INSERT INTO metrics VALUES ('loss', 9, 1, 'b2', {step}, 0)" for step in range(100, 100 + others)))
    run = open_run(database / "a1")
    assert run.series("loss").value.tolist() == [0.5 / (step + 1) for step in range(10)]


def test_a_database_holds_many_runs(database: Path) -> None:
    before = database.read_bytes()
    found = discover(database.parent)
    assert [source.name for source in found] == ["mlflow.db/digits/run a1", "mlflow.db/digits/run b2"]
    assert [source.path for source in found] == [str(database / "a1"), str(database / "b2")]
    with pytest.raises(SourceError, match="found 2 runs"):
        open_run(database)
    assert database.read_bytes() == before
    assert os.listdir(database.parent) == ["mlflow.db"]


def test_growth_and_new_runs_are_followed(database: Path) -> None:
    scanner = Scanner(database.parent)
    first = scanner.scan()
    run = open_run(database / "a1")
    execute(
        database, "INSERT INTO metrics VALUES ('loss', 9, 2000000, 'a1', 100, 0)",
        "INSERT INTO params VALUES ('seed', '7', 'a1')", "INSERT INTO runs VALUES ('c3', 'run c3', 1000, 'active', 1)",
    )  # fmt: skip
    again = scanner.scan()
    assert len(again) == len(first) + 1
    assert run.refresh(next(source for source in again if source.path == run.path))
    assert run.series("loss").step.tolist() == [*range(10), 100]
    assert run.settings["user_defined/seed"] == 7
    assert not run.refresh()
    execute(database, "DELETE FROM metrics WHERE run_uuid = 'a1' AND step < 5")
    assert run.refresh(next(source for source in scanner.scan() if source.path == run.path))
    assert run.series("loss").step.tolist() == [5, 6, 7, 8, 9, 100]


def test_hostile_values(database: Path) -> None:
    execute(
        database, "INSERT INTO metrics VALUES ('loss', 'text', 1, 'b2', 50, 0)",
        "INSERT INTO metrics VALUES ('loss', 1.7976931348623157e308, NULL, 'b2', 51, 0)",
        "INSERT INTO metrics VALUES ('loss', 1.7976931348623157e308, 5, 'b2', 52, 0)",
        "INSERT INTO metrics VALUES (x'ff', 1, 5, 'b2', 1.5, 0)", "INSERT INTO metrics VALUES (x'ff', 2, 5, 'b2', 3, 1)",
        "UPDATE runs SET name = '../' || char(10) WHERE run_uuid = 'b2'",
        "INSERT INTO runs VALUES ('../x', 'x', 0, 'active', 1)",
    )  # fmt: skip
    found = discover(database.parent)
    assert len(found) == 2
    run = open_run(database / "b2")
    assert run.series("loss").value.tolist()[-1] == math.inf
    assert [problem.kind for problem in run.problems] == ["bad_table"]
    assert "3 metrics" in run.problems[0].text


@pytest.mark.parametrize("content", [b"", b"no database" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_no_database_is_a_run_with_a_problem(content: bytes, database: Path) -> None:
    database.write_bytes(content)
    (source,) = discover(database.parent)
    assert len(source.problems) == 1
    assert not source.files


def test_a_database_that_its_writer_has_locked(database: Path) -> None:
    with closing(sqlite3.connect(database)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        writer.execute("INSERT INTO metrics VALUES ('loss', 9, 2000000, 'a1', 100, 0)")
        assert len(discover(database.parent)) == 2
        run = open_run(database / "a1")
        assert run.series("loss").step.tolist() == list(range(10))
        assert not run.problems
        writer.rollback()


def test_metrics_after_those_in_a_log_are_read(database: Path) -> None:
    """A writer in WAL mode that is at work: newest rows are beside the database, which must not be touched."""
    with closing(sqlite3.connect(database)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        with writer:
            writer.execute("INSERT INTO metrics VALUES ('loss', 9, 2000000, 'a1', 100, 0)")
        before = {path.name: path.read_bytes() for path in database.parent.iterdir() if not path.name.endswith("-shm")}
        run = open_run(database / "a1")
        assert run.series("loss").step.tolist() == [*range(10), 100]
        assert {name: (database.parent / name).read_bytes() for name in before} == before


def test_a_database_of_another_program(database: Path) -> None:
    database.unlink()
    execute(database, "CREATE TABLE runs (x)")
    (source,) = discover(database.parent)
    assert "no such column" in source.problems[0].text


def test_a_damaged_database_keeps_what_was_read(database: Path) -> None:
    scanner = Scanner(database.parent)
    first = scanner.scan()
    run = open_run(database / "a1")
    shutil.copyfile(__file__, database)
    assert scanner.scan() == first
    run.refresh(first[0])
    assert len(run.series("loss").value) == 10
