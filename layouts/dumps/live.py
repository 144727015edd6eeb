"""The controls of live training on the pages about dumps: state, orders, and how training connects.

assets/dumps/live.js fills the place. It asks the plain routes (`app.routes.dumps.live`) once a second while training can
connect, which changes its state by itself.
"""

from __future__ import annotations

from typing import Annotated, TypedDict

from dash import html

from layouts.dumps.live_sessions import LiveStatus
from layouts.kit.i18n import attributes, define_texts
from layouts.sources import LiveSources

LIVE_TEXTS = define_texts({
    "live.controls": ("Live training", "在线训练"),
    "live.session": ("Live training {n}", "在线训练 {n}"),
    "live.state.pending": ("Connected", "已连接"),
    "live.state.receive_graph": ("Ready", "就绪"),
    "live.state.waiting": ("Waiting", "等待中"),
    "live.state.running": ("Running", "运行中"),
    "live.state.sending": ("Order on its way", "指令下发中"),
    "live.state.mismatch": ("Version not supported", "版本不支持"),
    "live.state.node_too_large": ("Graph too large", "计算图过大"),
    "live.state.ended": ("Over", "已结束"),
    "live.state.lost": ("Contact lost", "连接中断"),
    "live.about.pending": ("Training has connected; its graph is awaited.", "训练已连接，正在等待计算图。"),
    "live.about.receive_graph": ("Training has sent its graph.", "训练已发送计算图。"),
    "live.about.waiting": ("Training waits for an order.", "训练正在等待指令。"),
    "live.about.running": ("Training runs; tensors can be fetched when it waits.", "训练正在运行，等待时才能获取张量。"),
    "live.about.sending": (
        "Training has not fetched the last order yet: it does so at the end of the step.",
        "训练尚未取走上一条指令，将在当前步骤结束时取走。",
    ),
    "live.about.mismatch": (
        "MindSpore {version} has connected. MindSpore 1.5 to 2.2 is supported; end the training and use that, or write a dump.",
        "已连接的 MindSpore 版本为 {version}，仅支持 1.5 至 2.2。请结束训练并更换版本，或改用 Dump。",
    ),
    "live.about.node_too_large": (
        "The graph is not shown: {graph}. Training can be continued.", "不显示计算图：{graph}。训练可以继续。",
    ),
    "live.about.done": ("Training has finished.", "训练已完成。"),
    "live.about.terminated": ("Training was terminated.", "训练已被终止。"),
    "live.about.gone": (
        "The connection was closed. The session goes on if the same device connects again.",
        "连接已关闭。同一设备重新连接后会话将继续。",
    ),
    "live.about.silent": (
        "Three signs of life were missed. The session goes on if training calls again.",
        "连续三次未收到心跳。训练再次联系后会话将继续。",
    ),
    "live.about.replaced": ("The same program has begun another training.", "同一程序已开始新的训练。"),
    "live.about.refused": (
        "The session was ended: {n} messages could not be read. The last one: {text}.",
        "会话已结束：有 {n} 条消息无法读取。最后一条：{text}。",
    ),
    "live.unusual": (
        "MindSpore {version} was not tried with this protocol; 1.5 to 2.2 were made for it.",
        "MindSpore {version} 未经验证，该协议适用于 1.5 至 2.2。",
    ),
    "live.refusals": ("{n} messages refused", "拒绝了 {n} 条消息"),
    "live.step": "common.step_n_inline",
    "live.before": ("before the first step", "第一步之前"),
    "live.left": ("{n} more steps", "还有 {n} 步"),
    "live.left_until_hit": ("until a watchpoint is hit", "直到命中监测点"),
    "live.at": ("at {node}", "位于 {node}"),
    "live.hits": ("{n} hits", "命中 {n} 次"),
    "live.unsent": (
        "{n} changes of watchpoints are sent with the next order", "有 {n} 处监测点变更将随下一条指令发送",
    ),
    "live.heard": ("last heard {n} s ago", "上次联系在 {n} 秒前"),
    "live.steps": ("Steps to run", "运行步数"),
    "live.continue": "common.continue",
    "live.continue.tip": ("Run this many steps, or fewer if a watchpoint is hit", "运行指定步数，命中监测点时提前停止"),
    "live.until_hit": ("Until a hit", "运行到命中"),
    "live.until_hit.tip": ("Run until a watchpoint is hit", "运行到命中监测点为止"),
    "live.next": ("Next operator", "下一算子"),
    "live.next.tip": ("Run the next operator", "运行下一个算子"),
    "live.to_node": ("To operator", "运行到算子"),
    "live.to_node.tip": ("Run until the selected operator has been computed", "运行到所选算子计算完成"),
    "live.pause": ("Pause", "暂停"),
    "live.pause.tip": ("Wait at the end of the step", "在当前步骤结束时等待"),
    "live.recheck": ("Check again", "重新检查"),
    "live.recheck.tip": ("Check the changed watchpoints at this step", "在当前步骤检查已变更的监测点"),
    "live.terminate": ("Terminate", "终止"),
    "live.sure": ("End this training? It cannot be resumed.", "确定终止训练？终止后无法恢复。"),
    "live.dismiss": ("Forget session", "移除会话"),
    "live.dismiss.tip": ("Forget this session and what it sent", "移除该会话及其发送的数据"),
    "live.keep": ("Keep running", "不终止"),
    "live.no_answer": "common.the_server_does_not_answer",
    "live.listening": ("Live training can connect at {address}", "在线训练可连接到 {address}"),
    "live.waits": ("Waiting for training to connect at {address}.", "正在等待训练连接到 {address}。"),
    "live.how": ("How", "如何连接"),
    "live.how_text": (
        "Set these variables where the training runs, and dataset_sink_mode=False.",
        "在训练环境中设置以下变量，并设置 dataset_sink_mode=False。",
    ),
    "live.how_versions": (
        "MindSpore 1.5 to 2.2 speaks this protocol in graph mode. Later versions do not: let these write a dump.",
        "图模式下 MindSpore 1.5 至 2.2 支持该协议，更新的版本已不支持，请改用 Dump。",
    ),
    "live.turned_away": (
        "{n} trainings were refused: eight are connected already.", "已拒绝 {n} 个训练的连接：最多同时连接 8 个。",
    ),
    "live.show": ("Show", "查看"),
})  # fmt: skip


def place() -> html.Div:
    """Where the controls are shown; hidden without a session and while none can connect."""
    return html.Div(className="ms-live", hidden=True, role="region", **attributes(aria_label="live.controls"))


class ListedSessions(TypedDict):
    """Where training can connect, empty for nowhere, and the sessions."""

    live: str
    sessions: list[Annotated[list[str], tuple[str, str]]]
    """key and mark, newest first"""


def listed(source: LiveSources) -> ListedSessions:
    """Return where training can connect, "" for nowhere, and [[key, mark], ...] of the sessions, newest first."""
    status = source.live.status()
    return {"live": address(status), "sessions": [[one.key, one.mark] for one in status.sessions]}


def address(status: LiveStatus) -> str:
    """Return where training can connect, as host:port; "" for nowhere."""
    if status.state != "listening":
        return ""
    return f"[{status.host}]:{status.port}" if ":" in status.host else f"{status.host}:{status.port}"
