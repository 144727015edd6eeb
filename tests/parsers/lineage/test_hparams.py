from __future__ import annotations

from pathlib import Path

from parsers import LINEAGE, open_run
from parsers.lineage.hparams import plugin_data
from parsers.recording.wire import delimited, float32, float64, number, record

WALL = float64(1, 1.7e9)


def value(kind: int, content: bytes | float | int) -> bytes:
    """A google.protobuf.Value."""
    if isinstance(content, float):
        return float64(kind, content)
    return number(kind, content) if isinstance(content, int) else delimited(kind, content)


def session(**settings: bytes) -> bytes:
    entries = [delimited(1, delimited(1, name.encode()) + delimited(2, content)) for name, content in settings.items()]
    return delimited(3, b"".join(entries))


def experiment(*tags: str) -> bytes:
    return delimited(2, b"".join(delimited(5, delimited(1, delimited(2, tag.encode()))) for tag in tags))


def metadata(content: bytes) -> bytes:
    return delimited(1, delimited(1, b"hparams") + delimited(2, content))


def written(tmp_path: Path, *contents: bytes, scalars: dict[str, float]) -> Path:
    values = [delimited(1, delimited(1, b"_hparams_/x") + delimited(9, metadata(content))) for content in contents]
    values += [delimited(1, delimited(1, tag.encode()) + float32(2, value)) for tag, value in scalars.items()]
    events = [WALL + delimited(3, b"brain.Event:2"), *(WALL + number(2, 3) + delimited(5, value) for value in values)]
    path = tmp_path / "events.out.tfevents.1700000000.host.1.0"
    path.write_bytes(b"".join(map(record, events)))
    return path


def test_settings_and_metrics_of_a_session(tmp_path: Path) -> None:
    settings = session(
        lr=value(2, 0.125), epochs=value(2, 64.0), optimizer=value(3, b"Adam"), augment=value(4, 1), none=value(1, 0),
        layers=value(6, delimited(1, value(2, 1.0)) + delimited(1, value(2, 2.5))),
        nested=value(5, delimited(1, delimited(1, b"a/b") + delimited(2, value(3, b"x")))),
    )  # fmt: skip
    path = written(tmp_path, experiment("acc", "never"), settings, scalars={"acc": 0.5, "other": 1.0})
    run = open_run(path)
    assert dict(run.settings) == {
        "learning_rate": 0.125, "epoch": 64, "optimizer": "Adam", "user_defined/augment": True,
        "user_defined/layers": "[1, 2.5]", "user_defined/nested.a/b": "x", "metric/acc": 0.5,
    }  # fmt: skip
    LINEAGE.check(run.lineage)
    with path.open("ab") as file:
        file.write(record(WALL + number(2, 4) + delimited(5, delimited(1, delimited(1, b"acc") + float32(2, 0.75)))))
    run.refresh()
    assert run.settings["metric/acc"] == 0.75


def test_real_hparams_of_torch(real_data: Path) -> None:
    run = open_run(real_data / "tensorboard/torch_sgd_lr0.05/hparams")
    assert {name: value for name, value in run.settings.items() if not name.startswith("metric/")} == {
        "learning_rate": 0.05, "optimizer": "SGD", "user_defined/augment": 0, "user_defined/batch": 32
    }  # fmt: skip
    metrics = {name.removeprefix("metric/"): value for name, value in run.settings.items() if name.startswith("metric/")}
    assert metrics == {tag: run.series(tag).value[-1] for tag in run.tags("scalar")}
    assert len(metrics) == 2


def test_damaged_plugin_data_is_a_problem(tmp_path: Path) -> None:
    path = written(tmp_path, b"\x1a\x05\x0a\x09", session(a=value(2, 1.0)), scalars={})
    run = open_run(path)
    assert dict(run.settings) == {"user_defined/a": 1}
    assert [problem.kind for problem in run.problems] == ["bad_value"]
    assert plugin_data(memoryview(b"")) == ([], {})
