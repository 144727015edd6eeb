"""Files of a conversion: each is complete or absent, and none is ever overwritten."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable
from functools import partial
from typing import IO, TYPE_CHECKING

from app.conversion import report
from app.conversion.checkpoint import files, write_checkpoint, write_safetensors
from app.conversion.refusals import ConversionError

if TYPE_CHECKING:
    from app.conversion.check_result import ConversionComparison
    from app.conversion.converting import Conversion

Write = Callable[[IO[bytes]], object]


class OutputExistsError(ConversionError):
    """A file that would be written exists."""


def weight_files(conversion: Conversion) -> dict[str, Write]:
    """Return name -> writer of the files of weights; several are numbered."""
    parts = files(conversion.script.parameters) if not conversion.options.safetensors else [conversion.script.parameters]
    if not conversion.script.parameters:
        return {}
    ending = "safetensors" if conversion.options.safetensors else "ckpt"
    writer = write_safetensors if conversion.options.safetensors else write_checkpoint
    names = (
        [f"{conversion.name}.{ending}"]
        if len(parts) == 1
        else [f"{conversion.name}_{place}.{ending}" for place in range(len(parts))]
    )
    return {
        name: partial(writer, parameters=part, weights=conversion.model.weights)
        for name, part in zip(names, parts, strict=True)
    }


def report_files(conversion: Conversion, check: ConversionComparison | None) -> dict[str, Write]:
    """Return name -> writer of the reports."""
    name = conversion.name
    texts = {
        f"conversion_of_{name}.json": lambda: report.report_json(conversion, check),
        f"report_of_{name}.txt": lambda: report.report_text(conversion),
        f"weight_map_of_{name}.json": lambda: report.weight_map(conversion),
        "operator_scanning_report.csv": lambda: report.operator_csv(conversion),
    }
    return {name: partial(_write_text, text=text) for name, text in texts.items()}


def script_files(conversion: Conversion) -> dict[str, Write]:
    """Return name -> writer of the script."""
    return {f"{conversion.name}.py": partial(_write_text, text=lambda: conversion.script.text)}


def _write_text(file: IO[bytes], text: Callable[[], str]) -> None:
    file.write(text().encode("utf-8", "backslashreplace"))


def refuse_existing(directory: str, names: list[str], stem: str = "") -> None:
    """Raise OutputExistsError if a file of the conversion exists."""
    del stem
    for name in names:
        path = os.path.join(directory, name)
        if os.path.lexists(path):
            raise OutputExistsError(f"--output: expected a directory without {name}, found {path}; nothing is overwritten")


def write_files(directory: str, writers: dict[str, Write]) -> None:
    """Write files beside their names and link them there; an existing one is never replaced."""
    os.makedirs(directory, exist_ok=True)
    for name, write in writers.items():
        path = os.path.join(directory, name)
        beside = os.path.join(directory, f".{secrets.token_hex(6)}.part")
        try:
            with open(beside, "xb") as file:
                write(file)
            try:
                os.link(beside, path)
            except FileExistsError:
                raise OutputExistsError(
                    f"--output: expected a directory without {name}, found {path}; nothing is overwritten"
                ) from None
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(beside)
