"""Profiles of Nsight Systems are named, and no other database is taken for one."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from parsers import discover, open_run
from parsers.model import NOTE


def database(path: Path, *tables: str) -> None:
    connection = sqlite3.connect(path)
    for table in tables:
        connection.execute(f"CREATE TABLE {table} (start INTEGER, name TEXT)")
    connection.commit()
    connection.close()


@pytest.mark.parametrize("table", ["CUPTI_ACTIVITY_KIND_KERNEL", "NVTX_EVENTS", "TARGET_INFO_SESSION_START_TIME"])
def test_an_export_is_named(tmp_path: Path, table: str) -> None:
    database(tmp_path / "report1.sqlite", "StringIds", table)
    [source] = discover(tmp_path)
    assert [(os.path.basename(file.path), file.kind) for file in source.files] == [("report1.sqlite", "nsys")]
    run = open_run(tmp_path)
    [problem] = run.problems
    assert (problem.kind, problem.is_note, "Nsight Systems" in problem.text) == (NOTE, True, True)
    assert not run.tags()


def test_a_report_is_named_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "report1.nsys-rep").write_bytes(b"\0" * 100)
    (tmp_path / "report2.qdrep").write_bytes(b"\0" * 100)
    assert [problem.kind for problem in open_run(tmp_path).problems] == [NOTE, NOTE]


def test_databases_of_others_pipes_and_links_are_not_taken_for_one(tmp_path: Path) -> None:
    database(tmp_path / "study.sqlite", "studies", "trials")
    (tmp_path / "text.sqlite").write_bytes(b"CREATE TABLE NVTX_EVENTS")
    os.mkfifo(tmp_path / "pipe.sqlite")
    (tmp_path / "inside").mkdir()
    database(tmp_path / "export", "NVTX_EVENTS")
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "export")
    assert [source for source in discover(tmp_path) if source.files] == []


def test_one_that_becomes_an_export_is_found(tmp_path: Path) -> None:
    database(tmp_path / "one.sqlite", "other")
    assert discover(tmp_path) == []
    database(tmp_path / "one.sqlite", "NVTX_EVENTS")
    os.utime(tmp_path / "one.sqlite", (1, 1))
    assert [source.files[0].kind for source in discover(tmp_path)] == ["nsys"]


def test_real_exports_are_all_named(real_data: Path) -> None:
    files = sorted((real_data / "accelerators" / "nsys").glob("*.sqlite"))
    found = open_run(files[0].parent).problems
    assert sorted(problem.path for problem in found) == list(map(str, files))
