"""Texts of mirrors of remote runs in the data health: what is copied, what is not and why."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "mirror.title": ("Copies of {address}", "{address} 的副本"),
    "mirror.starting": ("Copies of remote runs: the mirror is starting.", "远程训练的副本：镜像正在启动。"),
    "mirror.stopped": (
        "The mirror is not running: nothing new is copied. Start Mindscope again, or run `mindscope mirror`.",
        "镜像未在运行：不会复制新数据。请重新启动 Mindscope，或运行 `mindscope mirror`。",
    ),
    "mirror.failed": ("The last listing failed:", "上次列举失败："),
    "mirror.retry": ("Next try in {n} s.", "{n} 秒后重试。"),
    "mirror.listed": ("listed at {time}", "列举时间 {time}"),
    "mirror.traffic": ("{requests} requests, {received} received", "{requests} 次请求，已接收 {received}"),
    "mirror.copied": ("{n} copied", "{n} 个已复制"),
    "mirror.growing": ("{n} growing", "{n} 个在增长"),
    "mirror.waiting": ("{n} to be copied", "{n} 个待复制"),
    "mirror.large": ("{n} too large", "{n} 个过大"),
    "mirror.removed": ("{n} removed for room", "{n} 个因空间不足已移除"),
    "mirror.not_copied": ("{n} not copied", "{n} 个未能复制"),
    "mirror.state_large": ("too large", "过大"),
    "mirror.state_removed": ("no room", "空间不足"),
    "mirror.state_failed": ("not copied", "未能复制"),
    "mirror.fetch": ("Fetch", "获取"),
    "mirror.asked": ("Asked for", "已请求"),
    "mirror.refused": ("access was refused; check the credentials and start again", "访问被拒绝；请检查凭据后重新启动"),
    "mirror.host_key": (
        "the key of the host is not known; connect once with ssh and confirm it", "主机密钥未知；请先用 ssh 连接一次并确认",
    ),
    "mirror.missing": ("there is no such bucket or directory", "没有该存储桶或目录"),
    "mirror.busy": ("the server is busy", "服务器繁忙"),
    "mirror.broken": ("the server failed", "服务器出错"),
    "mirror.unreachable": ("the server cannot be reached", "无法连接服务器"),
    "mirror.slow": ("the server did not answer in time", "服务器未及时响应"),
    "mirror.short": ("fewer bytes came than the file has", "收到的字节数少于文件大小"),
    "mirror.full": ("the disk is full", "磁盘已满"),
    "mirror.unwritable": ("the copy cannot be written", "无法写入副本"),
    "mirror.name": ("a file of this name cannot be written", "无法写入此名称的文件"),
    "mirror.case": ("the name differs from another one in case only", "名称与另一文件仅大小写不同"),
    "mirror.link": ("a link, which is not followed", "符号链接，不会跟随"),
    "mirror.package": ("a package is missing", "缺少软件包"),
    "mirror.changed": ("the file changed while it was read", "文件在读取时发生变化"),
    "mirror.unknown": ("an error", "出现错误"),
})  # fmt: skip
REASONS = (
    "refused", "host_key", "missing", "busy", "broken", "unreachable", "slow", "short", "full", "unwritable", "name", "case",
    "link", "package", "changed", "unknown",
)  # fmt: skip
"""Why something is not copied, each with a text `mirror.<reason>`; the same as `app.mirror.remote.REASONS`."""
