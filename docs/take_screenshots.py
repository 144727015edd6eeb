"""Take the pictures of README and manual.

    python docs/take_screenshots.py DIR [TENSORBOARD [PROFILES [DUMPS [EXPLAINED [TUNED]]]]]

DIR (default: the runs of tests) holds MindSpore runs, TENSORBOARD runs with texts, PROFILES runs with profiler output, DUMPS
dumps, EXPLAINED explanations of models, TUNED runs of examples/tune.yaml with their journal.log.
A picture is named after its page, with a suffix where a page has several.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import sync_playwright
from waitress.server import create_server

from app import create_app
from app.store.store import Store
from layouts.runs.boards import BoardCard

HERE = Path(__file__).resolve().parent
OUT = HERE / "pictures"
RUNS = [
    "lenet_adam_lr0.001_b16", "lenet_adam_lr0.01_b64", "lenet_momentum_lr0.01_b32", "lenet_momentum_lr0.1_b32",
    "lenet_sgd_lr0.05_b48", "lenet_diverges_nan",
]  # fmt: skip
CHOSEN = "&".join(f"run={name}" for name in RUNS)
Picture = tuple[str, str, Literal["light", "dark"], str]
"""File name without suffix, address below the server, theme, language."""
PICTURES: tuple[Picture, ...] = (
    ("runs", "", "light", "en-US"),
    ("board", "board?board=0123456789abcdef", "light", "en-US"),
    ("scalars", f"scalars?{CHOSEN}&smooth=0.6", "light", "en-US"),
    ("scalars-dark", f"scalars?{CHOSEN}&smooth=0.6", "dark", "zh-CN"),
    ("scalars-groups", "scalars?run=ranks&tag=loss&tag=loss/auto&group=job", "light", "en-US"),
    ("overview", "overview?run=lenet_adam_lr0.01_b64", "light", "en-US"),
    ("histograms", "histograms?run=lenet_momentum_lr0.1_b32", "light", "en-US"),
    ("tensors", "tensors?run=lenet_defaults&run=lenet_export_npy&tag=logits&minus=prev:logits", "light", "en-US"),
    ("images", f"images?{CHOSEN}&step=40", "light", "en-US"),
    ("dataset", "dataset?run=lenet_landscape&run=lenet_defaults&run=lenet_sgd_lr0.05_b48&node=239adf5c:0", "light", "en-US"),
    ("landscape", "landscape?run=lenet_landscape&at=landscape_[6, 12]", "light", "en-US"),
    ("graph", "graph?run=graph_bert_train", "light", "en-US"),
    ("model_lineage", "model_lineage?run=*", "light", "en-US"),
    ("data_lineage", "data_lineage?run=*&together=1&node=239adf5c:0", "light", "en-US"),
    ("optimisation", "optimisation?target=loss&setting=epoch", "light", "en-US"),
    ("two_runs", "two_runs?one=lenet_momentum_lr0.1_b32&other=lenet_adam_lr0.01_b64", "light", "en-US"),
)

_LEVEL2 = "profiler_new/torch_npu_text_level2", "profiler_new/torch_npu_db_level2"
TUNING_PICTURES: tuple[Picture, ...] = (("tuning", "tuning", "light", "en-US"),)
TENSORBOARD_PICTURES: tuple[Picture, ...] = (("text", "text", "light", "en-US"),)
PROFILE_PICTURES: tuple[Picture, ...] = (
    ("start", "start", "light", "en-US"),
    ("job", "job?run=profiler_new/torch_npu_st_4ranks_pp2", "light", "en-US"),
    ("profile_overview", "profile_overview?run=mindinsight_legacy", "light", "en-US"),
    ("timeline", "timeline?run=profiler_new/torch_npu_text_level2&slice=3637&span=118000000,168000000", "light", "en-US"),
    ("shapes", "shapes?run=profiler_new/torch_npu_st_4ranks_pp2&scale=log", "light", "en-US"),
    ("operators", "operators?run=profiler_new/torch_npu_text_level2", "light", "en-US"),
    ("steps", "steps?run=mindinsight_legacy", "light", "en-US"),
    ("memory", "memory?run=profiler_new/torch_npu_text_level2", "light", "en-US"),
    ("preparation", "preparation?run=profiler_new/mindspore_2.10_minddata/raw_b", "light", "en-US"),
    ("ranks", "ranks?run=profiler_new/torch_npu_text_level2&aligned=1&lines=memory&zoom=0,50000000", "light", "en-US"),
    ("cluster", "cluster?run=profiler_new/torch_npu_st_4ranks_pp2&picked=0", "light", "en-US"),
    ("strategy", "strategy?run=mindinsight_legacy/parallel_strategy&node=n1", "light", "en-US"),
    ("communication", "communication?run=profiler_new/torch_npu_st_4ranks_pp2", "light", "en-US"),
    ("pipeline", "pipeline?run=profiler_new/torch_npu_st_4ranks_pp2", "light", "en-US"),
    ("two_jobs", f"two_jobs?run={_LEVEL2[0]}&run={_LEVEL2[1]}&of={_LEVEL2[0]}", "light", "en-US"),
    ("advice", "advice?run=profiler_new/mindspore_2.10_minddata/raw_b", "light", "en-US"),
)
DUMP_PICTURES: tuple[Picture, ...] = (
    ("debugger", "debugger?run=out_nan", "light", "en-US"),
    ("first_cause", "first_cause?run=out_nan", "light", "en-US"),
    ("two_dumps", "two_dumps?run=out_nan&step=0&with_step=1", "light", "en-US"),
)
EXPLANATION_PICTURES: tuple[Picture, ...] = (
    ("saliency", "saliency?run=summary_weak", "light", "en-US"),
    ("counterfactual", "counterfactual?run=summary_weak&sample=3", "light", "en-US"),
    ("uncertainty", "uncertainty?run=summary_weak", "light", "en-US"),
    ("confusion", "confusion?run=summary_weak&cell=0,2", "light", "en-US"),
    ("scores", "scores?run=summary_real", "light", "en-US"),
)


BOARD = "0123456789abcdef"
BOARD_CARDS = (
    BoardCard("1" * 16, text="# Sweep of optimizers\n\nAdam at **0.01** converges first; see [lineage](model_lineage).",
              w=4, h=5),
    BoardCard("2" * 16, "scalars?run=lenet_adam_lr0.001_b16&run=lenet_adam_lr0.01_b64&run=lenet_sgd_lr0.05_b48&smooth=0.6",
              "key:loss", x=4, w=8, h=8),
    BoardCard("3" * 16, "images?run=lenet_adam_lr0.01_b64&run=lenet_sgd_lr0.05_b48", "key:input_image", y=5, w=4, h=9),
    BoardCard("4" * 16, "histograms?run=lenet_momentum_lr0.1_b32", "key:conv1.weight/auto", x=4, y=8, w=4, h=7),
    BoardCard("5" * 16, "two_runs?one=lenet_momentum_lr0.1_b32&other=lenet_adam_lr0.01_b64", "id:section-settings", x=8, y=8,
              w=4, h=7),
)  # fmt: skip
"""The board of the picture of that page."""
MORE = (TENSORBOARD_PICTURES, PROFILE_PICTURES, DUMP_PICTURES, EXPLANATION_PICTURES, TUNING_PICTURES)
"""Those of further directories, in the order of the arguments."""


def take(base: str, pictures: Sequence[Picture]) -> None:
    with tempfile.TemporaryDirectory() as notes:
        store = Store([base], interval=0, notes_directory=notes).start()
        store.wait(60)
        store.notes.create_board("Optimizers", BOARD_CARDS, key=BOARD)
        _take(store, pictures)
        store.stop()


def _take(store: Store, pictures: Sequence[Picture]) -> None:
    server: Any = create_server(create_app(store).server, host="127.0.0.1", port=0, threads=16)
    threading.Thread(target=server.run, daemon=True).start()
    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("chromium-headless-shell")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for name, path, theme, language in pictures:
            context = browser.new_context(
                viewport={"width": 1360, "height": 800}, color_scheme=theme, locale=language
            )
            page = context.new_page()
            page.goto(f"http://127.0.0.1:{server.effective_port}/{path}")
            page.wait_for_timeout(12_000 if name == "board" else 4000)
            page.screenshot(path=OUT / f"{name}.png")
            context.close()
        browser.close()


if __name__ == "__main__":
    take(sys.argv[1] if len(sys.argv) > 1 else str(HERE.parent / "tests" / "data" / "runs"), PICTURES)
    for base, pictures in zip(sys.argv[2:], MORE, strict=False):
        take(base, pictures)
