"""The pages of the dashboard: data frames in, figures and Dash components out.

PAGES is what the menu knows of every page. The module of a page is imported when the page is first used, a module with texts
when a key of it is (`layouts.kit.i18n`), so that a server starts with the few modules that its first page needs.
"""

from __future__ import annotations

from typing import Any

from layouts.kit.i18n import Text, define_texts, modules_of_texts
from layouts.kit.page import FirstUse, Page

_JOB = ("of", "session", "rank", "with", "group", "step")
_SESSION = ("of", "session", "rank")
_EFFICIENCY = ("peak", "model_flops", "parameters", "tokens", "devices", "bandwidth")
_DUMP = ("of", "rank", "step", "node", "io", "with", "with_rank", "with_step")
_SAMPLES = ("of", "label", "outcome", "truth", "predicted", "q", "t", "p", "sd", "sort", "sample", "explainer")


def _page(folder: str, title: Text | str, needs: tuple[str, ...] = (), **facts: Any) -> Page:
    name, module = folder.rpartition(".")[2], f"layouts.{folder}.page"
    texts = define_texts({f"{name}.title": title})
    layout, register = FirstUse(module, "layout"), FirstUse(module, "register")
    return Page(name, texts, needs, layout, register, folder=folder, **facts)


def _frames(*names: str) -> tuple[str, ...]:
    return tuple(f"profile.{name}" for name in names)


PAGES: tuple[Page, ...] = (
    _page("runs.start", ("Start", "开始"), group="training", bare=True),
    _page("runs.runs", "common.run_list", libraries=("grid",), group="training", start=True),
    _page(
        "runs.overview", ("Overview", "概览"),
        needs=("scalar", "histogram", "image", "tensor", "landscape", "text", "graph", "dataset_graph", "lineage", "explain"),
        libraries=("plotly",), group="training",
    ),
    _page("runs.board", ("Boards", "看板"), group="training", whole=True),
    _page("curves.scalars", "common.scalars", needs=("scalar",), libraries=("plotly",), group="training"),
    _page("values.histograms", "common.histograms", needs=("histogram",), libraries=("plotly",), group="training"),
    _page("values.images", "common.images", needs=("image",), group="training"),
    _page("values.tensors", "common.tensors", needs=("tensor",), group="training"),
    _page(
        "values.landscape", "common.loss_landscape", needs=("landscape", "checkpoints", "growing"), libraries=("plotly",),
        group="training",
    ),
    _page("graphs.graph", "common.computation_graph", needs=("graph", "dump"), libraries=("cytoscape",), group="training"),
    _page("graphs.dataset", "common.dataset_graph", needs=("dataset_graph",), group="training"),
    _page("values.text", "common.text", needs=("text",), group="training", formerly=("texts",)),
    _page(
        "lineage.model_lineage", ("Model lineage", "模型溯源"), needs=("lineage", "hparams", "settings", "config"),
        libraries=("grid",), group="comparison", every=True, formerly=("lineage",),
    ),
    _page(
        "lineage.data_lineage", ("Data lineage", "数据溯源"), needs=("dataset_graph",), libraries=("grid",),
        group="comparison", every=True, formerly=("pipelines",),
    ),
    _page(
        "lineage.optimisation", ("Optimisation", "优化目标"), needs=("lineage", "hparams", "settings", "config"),
        libraries=("plotly",), group="comparison", every=True, formerly=("target",),
    ),
    _page("tuning.tuning", ("Tuning", "超参调优"), needs=("study",), libraries=("plotly",), group="comparison"),
    _page(
        "lineage.two_runs", ("Two runs", "两次训练对比"),
        needs=("scalar", "histogram", "image", "tensor", "landscape", "text", "graph", "dataset_graph", "lineage"),
        libraries=("plotly",), group="comparison", formerly=("pair",),
    ),
    _page("jobs.job", ("Job overview", "作业概览"), needs=("profile",), group="performance", keeps=_JOB),
    _page(
        "profiles.profile_overview", ("Profile overview", "性能总览"), needs=("profile",), libraries=("plotly",),
        group="performance", formerly=("profile",), keeps=(*_SESSION, *_EFFICIENCY),
    ),
    _page("profiles.timeline", "common.timeline", needs=_frames("trace"), group="performance", keeps=_SESSION),
    _page(
        "profiles.operators", "common.operators", needs=_frames("operators", "operator_types"),
        libraries=("plotly", "grid"), group="performance", keeps=(*_SESSION, "with", *_EFFICIENCY),
    ),
    _page(
        "profiles.shapes", ("Dynamic shapes", "动态 shape"), needs=_frames("shape_times", "kernels"),
        libraries=("plotly",), group="performance", keeps=_SESSION,
    ),
    _page(
        "profiles.steps", ("Steps", "单步耗时"), needs=_frames("steps"), libraries=("plotly",), group="performance",
        keeps=_SESSION,
    ),
    _page(
        "profiles.memory", ("Device memory", "设备内存"),
        needs=_frames("memory", "operator_memory", "static_memory", "module_memory"),
        libraries=("plotly",), group="performance", keeps=_SESSION,
    ),
    _page(
        "profiles.preparation", ("Data preparation", "数据准备"),
        needs=_frames("queues", "pipeline", "cpu", "host_memory"), libraries=("plotly",),
        group="performance", keeps=_SESSION,
    ),
    _page(
        "jobs.communication", "common.communication", needs=_frames("collectives", "links"), libraries=("plotly",),
        group="performance", keeps=_JOB,
    ),
    _page(
        "jobs.ranks", ("Operators by rank", "各卡算子对照"), needs=_frames("kernels", "collectives"), group="performance",
        keeps=_JOB,
    ),
    _page(
        "jobs.cluster", "common.cluster", needs=_frames("cluster_steps"), libraries=("plotly",), group="performance",
        keeps=_JOB,
    ),
    _page(
        "jobs.pipeline", ("Pipeline", "流水线"), needs=_frames("device_times", "collectives"), group="performance",
        keeps=_JOB,
    ),
    _page(
        "jobs.strategy", ("Parallel strategy", "并行策略"), needs=_frames("stages", "groups", "cluster_steps"),
        libraries=("cytoscape",), group="performance", keeps=_JOB,
    ),
    _page(
        "jobs.two_jobs", ("Two jobs", "两个作业"),
        needs=_frames("groups", "collectives", "links", "cluster_steps", "ranks", "stages"),
        libraries=("plotly",), group="performance", keeps=_JOB,
    ),
    _page(
        "jobs.advice", ("Advice", "调优建议"),
        needs=_frames(
            "steps", "communication", "operators", "queues", "pipeline", "cpu", "kernels",
            "memory", "static_memory", "step_times", "hardware", "shape_times", "groups",
            "collectives", "packets", "links", "cluster_steps", "ranks", "device_times",
        ),
        group="performance", keeps=_SESSION,
    ),
    _page(
        "dumps.debugger", ("Debugger", "调试器"), needs=("dump",), libraries=("cytoscape",), group="debugging",
        keeps=_DUMP,
    ),
    _page("dumps.first_cause", "common.first_cause", needs=("dump",), libraries=("plotly",), group="debugging", keeps=_DUMP),
    _page(
        "dumps.two_dumps", ("Two dumps", "Dump 对比"), needs=("dump",), libraries=("plotly",), group="debugging", keeps=_DUMP,
    ),
    _page("explanations.saliency", ("Saliency", "显著图"), needs=("explain",), group="explanation", keeps=_SAMPLES),
    _page(
        "explanations.confusion", ("Confusion", "混淆矩阵"), needs=("explain",), libraries=("plotly",), group="explanation",
        keeps=_SAMPLES,
    ),
    _page(
        "explanations.scores", ("Scores", "解释方法评分"), needs=("explain",), libraries=("plotly",), group="explanation",
        keeps=_SAMPLES,
    ),
    _page(
        "explanations.counterfactual", ("Counterfactual", "反事实解释"), needs=("explain",), libraries=("plotly",),
        group="explanation", keeps=_SAMPLES,
    ),
    _page(
        "explanations.uncertainty", ("Uncertainty", "不确定性"), needs=("explain",), libraries=("plotly",), group="explanation",
        keeps=_SAMPLES,
    ),
    _page("runs.guides", ("Guides", "诊断指引"), group="tools", keeps=("of", "with", "symptom")),
    _page(
        "graphs.conversion", ("Conversion", "模型转换"), needs=("conversion",), libraries=("plotly", "cytoscape"),
        group="tools", keeps=("of",),
    ),
)  # fmt: skip
"""All pages in menu order: subject and name, which is the folder below layouts, the title, and the facts of `Page`."""

modules_of_texts({f"{page.folder}.texts": [page.name] for page in PAGES})
modules_of_texts({
    "shell.board_texts": ("boards",), "shell.page_file_texts": ("page_file", "view_file"),
    "shell.mirror_texts": ("mirror",),
    "shell.note_texts": ("colour", "notes", "tag", "views"),
    "shell.texts": ("age", "dialog", "health", "keys", "menu", "picker", "problem", "shell", "state", "status"),
    "kit.body": ("body",), "kit.cards.run_list_texts": ("runlist",), "kit.cards.step_texts": ("step_slider",),
    "kit.cards.texts": ("cards",), "kit.damage_texts": ("damage",), "kit.elements": ("elements",),
    "kit.figures.alternatives": ("alternative",), "kit.grid_texts": ("grid",), "kit.plot_texts": ("plots",),
    "kit.recording": ("recording",), "kit.tensor_grid_texts": ("tensor_grid",),
    "runs.digest": ("digest",), "runs.runs.texts": ("kind",), "runs.symptoms.texts": ("symptoms",),
    "runs.symptoms.said_texts": ("symptoms",), "runs.symptoms.rule_texts": ("symptoms",),
    "curves.curve_alternatives": ("curves",), "curves.expression_texts": ("expr",), "curves.insight_texts": ("insights",),
    "curves.last_values": ("last",), "curves.scalars.texts": ("final", "groups", "hover", "range", "threshold"),
    "values.histogram_alternatives": ("distributions",), "values.landscape_alternatives": ("landscapes",),
    "graphs.alternatives": ("graphs",), "graphs.graph.painting_texts": ("graph",), "graphs.texts": ("graphs",),
    "lineage.alternatives": ("lineages",), "lineage.texts": ("lineage",),
    "profiles.composition_texts": ("composition",), "profiles.efficiency_texts": ("efficiency",),
    "profiles.step_alternatives": ("step_figures",), "profiles.texts": ("profiling",),
    "profiles.track_alternatives": ("tracks",),
    "jobs.advice.job_texts": ("advice",), "jobs.advice.trace_texts": ("advice",), "jobs.rank_alternatives": ("rank_rows",),
    "jobs.late_cause": ("late_cause",),
    "dumps.debugger.selected_texts": ("debugger",), "dumps.live": ("live",), "dumps.texts": ("debugging",),
    "explanations.texts": ("explanations",),
})  # fmt: skip
