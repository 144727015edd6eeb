"""The layout of MindInsight's parse_summary."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

from parsers import PayloadError, open_run
from parsers.export import write_summary
from parsers.recording import EventWriter, Image, Value
from tests.parsers.payloads.reference import messages
from tests.recorded import RECORDED

PNG = b"\x89PNG\r\n\x1a\n" + bytes(4) + b"IHDR" + (1).to_bytes(4, "big") * 2 + bytes(9)


def rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, dialect="excel"))


def test_all_files_of_a_run(tmp_path: Path) -> None:
    run = open_run(shutil.copytree(RECORDED / "several_files", tmp_path / "run"))
    assert len(run.files) > 1
    counts = write_summary(run, tmp_path / "out", refused=pytest.fail)
    header, *found = rows(tmp_path / "out" / "scalar.csv")
    assert header == ["tag", "step", "wall_time (unit: seconds)", "value"]
    assert len(found) == counts["scalars"] == len(run.scalars)
    expected = run.scalars.sort_values(["file", "order"], kind="stable")
    assert [row[0] for row in found] == expected["tag"].tolist()
    assert [int(row[1]) for row in found] == expected["step"].tolist()
    np.testing.assert_array_equal([float(row[3]) for row in found], expected["value"])
    assert (tmp_path / "out" / "scalar.csv").read_bytes().count(b"\r\n") == len(found) + 1


def test_images_of_a_real_run(tmp_path: Path) -> None:
    run = open_run(RECORDED / "lenet_adam_lr0.01_b64")
    counts = write_summary(run, tmp_path / "out", refused=pytest.fail)
    written = {
        f"{quote(tag, safe='')}_{step}.png": message.encoded_image
        for (kind, tag), found in messages(run).items() if kind == "image"
        for step, message in found
    }  # fmt: skip
    assert counts["images"] == len(written) > 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "out" / "image").iterdir()} == written


def test_hostile_tags(tmp_path: Path) -> None:
    values: dict[str, Value] = {"=cmd()": 1.0, "a/../b": Image(PNG, 1, 1), "层": Image(PNG, 1, 1), "x" * 400: Image(PNG, 1, 1)}
    (tmp_path / "run").mkdir()
    with EventWriter(str(tmp_path / "run" / "e.summary.1.h_MS"), "mindspore") as writer:
        writer.add(1, values)
        writer.add(1, values)
        writer.add(2, {"层": Image(b"no image", 1, 1)})
    refused: list[PayloadError] = []
    counts = write_summary(open_run(tmp_path / "run"), tmp_path / "out", refused=refused.append)
    assert counts == {"scalars": 2, "images": 6}
    assert len(refused) == 1
    assert rows(tmp_path / "out" / "scalar.csv")[1][0] == "'=cmd()"
    names = {path.name for path in (tmp_path / "out" / "image").iterdir()}
    assert {"a%2F..%2Fb_1.png", "a%2F..%2Fb_1~2.png", "%E5%B1%82_1.png", "%E5%B1%82_1~2.png"} < names
    assert len(names) == 6
    assert max(map(len, names)) <= 200


def test_a_run_without_scalars(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with EventWriter(str(tmp_path / "run" / "e.summary.1.h_MS"), "mindspore"):
        pass
    write_summary(open_run(tmp_path / "run"), tmp_path / "out", refused=pytest.fail)
    assert len(rows(tmp_path / "out" / "scalar.csv")) == 1
