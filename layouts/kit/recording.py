"""How data of each kind is recorded: the code for MindSpore, PyTorch, TensorBoard and mindscope-record; pages without data.

Every page without data shows `missing_data`: one sentence, the code, and the way to the demo, where the page has data. No
page has code of its own. assets/kit/recording.js shows the code of the framework that the user chose, on all pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import html

from layouts.kit.elements import icon_button
from layouts.kit.i18n import attributes, define_texts, t

TEXTS = define_texts({
    "recording.tools": ("Framework", "框架"),
    "recording.any": ("Any framework", "任意框架"),
    "recording.copy": "common.copy",
    "recording.other_runs": ("Show runs that recorded it", "查看有此数据的训练"),
    "recording.demo": ("See this page with data:", "查看此页面的演示："),
    "recording.open_demo": ("Open this page in the demo", "在演示中打开此页面"),
})
DEMO_COMMAND = "mindscope start --demo"
TOOLS = ("mindspore", "torch", "tensorboard", "record", "any")
"""Frameworks in the order of their tabs; "record" is code for any of them with mindscope-record, "any" code for arrays."""
_NAMES = {"mindspore": "MindSpore", "torch": "PyTorch", "tensorboard": "TensorBoard", "record": "mindscope-record"}

_WRITER = """from torch.utils.tensorboard import SummaryWriter

writer = SummaryWriter("summary/run_1")
"""
_RECORD = """from mindscope_record import Recorder  # pip install mindscope-record

with Recorder("summary/run_1"{more}) as run:
"""
_TF = """import tensorflow as tf

with tf.summary.create_file_writer("summary/run_1").as_default():
"""
_COLLECTOR = """from mindspore import SummaryCollector

summary = SummaryCollector("summary/run_1"{more})
model.train(epochs, dataset, callbacks=[summary])"""
_DUMP = """# dump.json
{"common_dump_settings": {"path": "/data/dump", "net_name": "Net", "iteration": "all", "saved_data": "tensor",
                          "input_output": 0, "dump_mode": 0, "op_debug_mode": 0, "support_device": [0]},
 "e2e_dump_settings": {"enable": true}}

export MINDSPORE_DUMP_CONFIG=$PWD/dump.json
python train.py"""
_MSPROBE = """from msprobe.pytorch import PrecisionDebugger

debugger = PrecisionDebugger(dump_path="summary/run_1/dump", task="tensor", level="L1")
for batch in loader:
    debugger.start(model=net)
    train(batch)
    debugger.stop()
    debugger.step()"""
_TORCH_PROFILE = """from torch.profiler import profile, tensorboard_trace_handler  # Ascend: torch_npu.profiler

with profile(on_trace_ready=tensorboard_trace_handler("summary/run_1/profiler"){more}) as profiler:
    for batch in loader:
        train(batch)
        profiler.step()"""
_TENSORBOARD_PROFILE = """from torch.profiler import profile, schedule, tensorboard_trace_handler

handler = tensorboard_trace_handler("summary/run_1/profiler")  # TensorBoard reads these files too
with profile(schedule=schedule(wait=1, warmup=1, active=5), on_trace_ready=handler{more}) as profiler:
    for batch in loader:
        train(batch)
        profiler.step()"""
_MS_PROFILE = """from mindspore import Profiler

profiler = Profiler(output_path="summary/run_1/profiler"{more})
model.train(epochs, dataset)
profiler.analyse()"""
_MS_COUNTERS = """import mindspore
from mindspore.profiler import AicoreMetrics, ProfilerLevel, tensorboard_trace_handler

# PipeUtilization says what binds kernels; a roofline takes a session with ArithmeticUtilization and one with MemoryAccess.
counted = mindspore.profiler._ExperimentalConfig(profiler_level=ProfilerLevel.Level1,
                                                 aic_metrics=AicoreMetrics.PipeUtilization)
handler = tensorboard_trace_handler("summary/run_1/profiler")
with mindspore.profiler.profile(on_trace_ready=handler, experimental_config=counted) as profiler:
    for batch in loader:
        train(batch)
        profiler.step()"""
_TORCH_COUNTERS = """import torch_npu.profiler as npu

# PipeUtilization says what binds kernels; a roofline takes a session with ArithmeticUtilization and one with MemoryAccess.
counted = npu._ExperimentalConfig(profiler_level=npu.ProfilerLevel.Level1, aic_metrics=npu.AiCMetrics.PipeUtilization)
handler = npu.tensorboard_trace_handler("summary/run_1/profiler")
with npu.profile(on_trace_ready=handler, experimental_config=counted) as profiler:
    for batch in loader:
        train(batch)
        profiler.step()"""
_RANKS = """from mindspore import SummaryCollector
from mindspore.communication import get_rank

summary = SummaryCollector(f"summary/run_1/rank_{get_rank()}")
model.train(epochs, dataset, callbacks=[summary])"""
_EXPLAIN = """from parsers.recording import ExplanationWriter{imports}

with ExplanationWriter("summary/run_1", labels=["cat", "dog"]{explainers}) as writer:
    writer.sample(0, picture, truth=[0], probabilities={{0: 0.93, 1: 0.07}}{sample})"""


def _collected(data: str = "") -> str:
    return _COLLECTOR.format(more=f", collect_specified_data={{{data}}}" if data else "")


def _operator(name: str, tag: str, value: str) -> str:
    return f"""from mindspore import ops

self.record = ops.{name}()  # in __init__ of the network
self.record("{tag}", {value})  # in construct"""


def _recorded(*lines: str, more: str = "") -> str:
    return _RECORD.format(more=more) + "\n".join(f"    {line}" for line in lines)


def _stepped(value: str) -> str:
    return _recorded("for step, batch in enumerate(loader):", "    loss = train(batch)", f"    run.log(step, {{{value}}})")


def _explained(imports: str = "", explainers: str = "", sample: str = "") -> str:
    return _EXPLAIN.format(imports=imports, explainers=explainers, sample=sample)


RECORDINGS: Mapping[str, Mapping[str, str]] = {
    "scalar": {
        "mindspore": _collected(),
        "torch": _WRITER + 'writer.add_scalar("loss", loss, step)',
        "tensorboard": _TF + '    tf.summary.scalar("loss", loss, step=step)',
        "record": _stepped('"loss": loss'),
    },
    "histogram": {
        "mindspore": _collected('"histogram_regular": ".*"'),
        "torch": _WRITER + 'for name, weights in net.named_parameters():\n    writer.add_histogram(name, weights, step)',
        "tensorboard": _TF + '    for weights in model.weights:\n        tf.summary.histogram(weights.path, weights, step)',
        "record": _stepped('"fc.weight": run.histogram(weights)'),
    },
    "image": {
        "mindspore": _operator("ImageSummary", "input", "x"),
        "torch": _WRITER + 'writer.add_images("input", x, step)',
        "tensorboard": _TF + '    tf.summary.image("input", images, step=step)',
        "record": _stepped('"input": run.image(pictures)'),
    },
    "tensor": {
        "mindspore": _operator("TensorSummary", "input", "x"),
        "torch": _WRITER + 'writer.add_tensor("logits", logits, step)',
        "tensorboard": _TF + '    tf.summary.write("logits", logits, step=step)',
        "record": _stepped('"logits": run.tensor(logits)'),
    },
    "text": {
        "torch": _WRITER + 'writer.add_text("samples", "what the model said", step)',
        "tensorboard": _TF + '    tf.summary.text("samples", "what the model said", step=step)',
        "record": _stepped('"samples": "what the model said"'),
    },
    "graph": {
        "mindspore": "mindspore.set_context(mode=mindspore.GRAPH_MODE)\n" + _collected('"collect_graph": True'),
        "torch": _WRITER + "writer.add_graph(net, batch)",
        "tensorboard": _TF + "    tf.summary.graph(train_step.get_concrete_function(batch).graph)",
        "record": _recorded('with open("model.onnx", "rb") as model:', "    run.graph(model.read())"),
    },
    "dataset_graph": {"mindspore": _collected('"collect_dataset_graph": True')},
    "lineage": {
        "mindspore": """from mindspore import SummaryCollector

lineage = {"collect_train_lineage": True, "collect_eval_lineage": True}
summary = SummaryCollector("summary/run_1", collect_specified_data=lineage, custom_lineage_data={"dropout": 0.1})
model.train(epochs, dataset, callbacks=[summary])  # a callback of model.eval, too, for its metrics""",
        "torch": _WRITER + 'writer.add_hparams({"lr": 0.1, "dropout": 0.1}, {"accuracy": accuracy}, run_name=".")',
        "tensorboard": "from tensorboard.plugins.hparams import api as hp\n" + _TF
        + '    hp.hparams({"lr": 0.1, "dropout": 0.1})\n    tf.summary.scalar("accuracy", accuracy, step=step)',
        "record": _recorded('run.metrics({"accuracy": train()})', more=', settings={"lr": 0.1, "dropout": 0.1}'),
    },
    "landscape": {"mindspore": """from mindspore import SummaryCollector, SummaryLandscape

model.train(epochs, dataset, callbacks=[SummaryCollector("summary/run_1")])  # collects checkpoints
landscape = SummaryLandscape("summary/run_1")
landscape.gen_landscapes_with_multi_process(callback_fn, device_ids=[0])  # callback_fn: model, network, dataset, metrics"""},
    "profile": {
        "mindspore": _MS_PROFILE.format(more=""),
        "torch": _TORCH_PROFILE.format(more=""),
        "tensorboard": _TENSORBOARD_PROFILE.format(more=""),
        "record": _recorded(
            "run.profile(first=100, steps=5)  # of torch or MindSpore", "for batch in run.steps(loader):", "    train(batch)"
        ),
    },
    "memory": {
        "mindspore": _MS_PROFILE.format(more=", profile_memory=True"),
        "torch": _TORCH_PROFILE.format(more=", profile_memory=True"),
        "tensorboard": _TENSORBOARD_PROFILE.format(more=", profile_memory=True"),
    },
    "communication": {
        "mindspore": _MS_PROFILE.format(more=", profile_communication=True"),
        "torch": _TORCH_PROFILE.format(more=""),
        "tensorboard": _TENSORBOARD_PROFILE.format(more=""),
    },
    "counters": {"mindspore": _MS_COUNTERS, "torch": _TORCH_COUNTERS},
    "ranks": {
        "mindspore": _RANKS,
        "torch": "import torch.distributed as dist\n"
        + _WRITER.replace('"summary/run_1"', 'f"summary/run_1/rank_{dist.get_rank()}"')
        + 'writer.add_scalar("loss", loss, step)',
        "record": "import os\n"
        + _recorded("for step, batch in enumerate(loader):", '    run.log(step, {"loss": train(batch)})',
                    more=', rank=int(os.environ["RANK"])'),
    },
    "dump": {"mindspore": _DUMP, "torch": _MSPROBE},
    "explain": {
        "mindspore": """from mindspore_xai.explainer import GradCAM
from mindspore_xai.runner import ImageClassificationRunner

runner = ImageClassificationRunner("summary/run_1", data=(dataset, labels), network=net, activation_fn=nn.Softmax())
runner.register_saliency([GradCAM(net, layer="layer4")])
runner.run()""",
        "any": _explained(explainers=', explainers=["GradCAM"]') + '\n    writer.heat_map(0, "GradCAM", 0, saliency)',
    },
    "scores": {"any": _explained(explainers=', explainers=["GradCAM"], metrics=["Faithfulness"]')
               + '\n    writer.score("GradCAM", "Faithfulness", 0.71)'},
    "uncertainty": {"any": _explained(", Uncertainty", sample=", uncertainty={0: Uncertainty(sd=0.02, low=0.88, high=0.96)}")},
    "counterfactual": {"any": _explained(", Layer")
                       + "\n    writer.counterfactual(0, 0, [Layer(0.91, [(20, 0, 56, 56)])], radius=4)"},
    "conversion": {"any": "pip install 'mindscope[convert]'\nmindscope convert model.onnx --output runs/model --check"},
    "study": {"any": "pip install 'mindscope[tune]'\nmindscope tune --config search.yaml --jobs 4"},
}  # fmt: skip
"""Kind of data -> framework -> the code that records it, for the frameworks that can, in the order of TOOLS."""


def missing_data(
    sentence: str | Any, record: str, *, page: str = "", above: Sequence[Any] = (), values: Mapping[str, object] | None = None
) -> html.Div:
    """Return what a page without data shows.

    sentence is the text key of what is missing, or a component that a script fills, record a kind in RECORDINGS. page is the
    page to open in the demo, "" for no way to the demo. above are components between sentence and code.
    """
    said = html.P(t(sentence, **(values or {})), className="ms-empty-sentence") if isinstance(sentence, str) else sentence
    return html.Div(
        [said, *above, recording(record), *([demo_line(page)] if page else [])], className="ms-empty ms-missing-data"
    )


def other_runs(page: str) -> html.P:
    """Return a link to a page with the runs that it shows by default, seen only where some run has data for it (kit.css)."""
    link = html.A(t("recording.other_runs"), href=page, className="ms-button", **{"data-page": page, "data-exact": ""})
    return html.P(link, className="ms-other-runs")


def recording(record: str) -> html.Div:
    """Return the code that records a kind of data, one framework at a time."""
    tools = list(RECORDINGS[record])
    tabs = [
        html.Button(
            t("recording.any") if tool == "any" else _NAMES[tool], type="button", className="ms-recording-tab",
            **{"data-action": "recording-tool", "data-tool": tool, "aria-pressed": str(tool == tools[0]).lower()},
        )
        for tool in tools
    ]  # fmt: skip
    parts = [_code(RECORDINGS[record][tool], hidden=tool != tools[0], **{"data-tool": tool}) for tool in tools]
    return html.Div(
        [html.Div(tabs, className="ms-recording-tabs", role="group", **attributes(aria_label="recording.tools")), *parts],
        className="ms-recording", **{"data-record": record},
    )  # fmt: skip


def demo_line(page: str, said: str = "recording.demo", link: str = "recording.open_demo") -> html.P:
    """Return the way to a page of the demo: how to start it, or a link where the server has it (assets/kit/recording.js).

    said and link are the text keys of either.
    """
    copy = icon_button("copy", "recording.copy", **{"data-action": "copy-code"})
    started = html.Span(
        [t(said), " ", html.Code(DEMO_COMMAND, className="ms-mono"), copy], className="ms-demo-start ms-code-box"
    )
    opened = html.A(t(link), className="ms-demo-link", hidden=True, **{"data-demo-page": page})
    return html.P([started, opened], className="ms-demo-line")


def _code(code: str, **props: Any) -> html.Div:
    copy = icon_button("copy", "recording.copy", class_name="ms-code-copy", **{"data-action": "copy-code"})
    return html.Div([html.Pre(html.Code(code), className="ms-code"), copy], className="ms-code-box", **props)
