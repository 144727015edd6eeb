"""Texts of the images page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "images.controls": ("Which images are shown, and how", "图像显示设置"),
    # Controls
    "images.brightness": ("Brightness", "亮度"),
    "images.contrast": ("Contrast", "对比度"),
    "images.reset": ("Reset brightness and contrast", "重置亮度与对比度"),
    "images.size": "common.size",
    "images.fit": "common.fit",
    "images.actual": ("Actual size", "实际大小"),
    "images.scale": ("Enlargement", "放大方式"),
    "images.nearest": ("Pixels", "像素"),
    "images.smooth": ("Smooth", "平滑"),
    # Cards
    "images.count": ("{n} images", "{n} 张图像"),
    "images.count_one": ("1 image", "1 张图像"),
    "images.count.title": ("The slider reaches every recorded image", "滑动条可到达每一张已记录的图像"),
    "images.runs": "common.shown_of_total_runs",
    "images.every": "common.show_all",
    "images.save": ("Download this image", "下载此图像"),
    "images.index": ("Next image in this record", "该记录中的下一张图像"),
    "images.step": "common.step_step",
    "images.alt": ("{tag}, {run}, step {step}", "{tag}，{run}，步骤 {step}"),
    "images.not_yet": "common.nothing_yet",
    "images.undecodable": (
        "{what}: the {media} could not be decoded; its bytes are damaged.", "{what}：{media} 无法解码，数据已损坏。",
    ),
    "images.unanswered": ("{what}: the server does not answer.", "{what}：服务器没有响应。"),
    # Comparing
    "images.compare": ("Compare two images", "对比两张图像"),
    "images.run": "common.run",
    "images.how": ("How the two are compared", "对比方式"),
    "images.beside": "common.side_by_side",
    "images.slider": ("Slider", "滑动"),
    "images.difference": "common.what_differs",
    "images.swap": ("Swap the two", "交换"),
    "images.split": ("Boundary between A and B", "A 与 B 的分界"),
    # Empty
    "images.none": ("The chosen runs recorded no images.", "所选训练没有记录图像数据。"),
})
