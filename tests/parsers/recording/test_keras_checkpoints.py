"""Checkpoints of Keras, with a stand-in for keras.callbacks: the files of a ModelCheckpoint become texts."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from parsers import open_run

NAME = "parsers.recording.adapters.keras"


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    made, callbacks = ModuleType("keras"), ModuleType("keras.callbacks")
    callbacks.Callback = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keras", made)
    monkeypatch.setitem(sys.modules, "keras.callbacks", callbacks)
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    yield importlib.import_module(NAME)
    sys.modules.pop(NAME, None)


def test_each_new_checkpoint_is_a_text(adapter: Any, tmp_path: Path) -> None:
    (tmp_path / "epoch_0.keras").write_text("of an earlier run")
    saved = SimpleNamespace(filepath=str(tmp_path / "epoch_{epoch}.keras"))
    callback = adapter.Callback(str(tmp_path / "run"), checkpoint=saved)
    callback.model = SimpleNamespace(optimizer=SimpleNamespace(learning_rate=0.1))
    for epoch in (1, 2):
        callback.on_train_batch_end(epoch, {"loss": 0.5})
        (tmp_path / f"epoch_{epoch}.keras").write_text("weights")
        callback.on_epoch_end(epoch, {"loss": 0.5})
    callback.on_train_end({"loss": 0.5})
    callback.recorder.close()
    texts = open_run(tmp_path / "run").texts
    assert list(texts["tag"]) == ["checkpoint"] * 2
    assert list(texts["step"]) == [1, 2]
