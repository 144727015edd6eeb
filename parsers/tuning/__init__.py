"""Hyper-parameter search: the settings of a trial, the configuration of a search, and the journal that a search leaves.

`HyperConfig` is what a training script needs; it imports nothing but the standard library. The rest is imported when it is
asked for: `read_tuning` (`parsers.tuning.config`) and `read_studies` (`parsers.tuning.journal`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsers.first_use import names_on_first_use

if TYPE_CHECKING:
    from parsers.tuning.hyper_config import HyperConfig

__all__ = ["HyperConfig"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_first_use(__name__, {
        "parsers.tuning.hyper_config": ("HyperConfig",),
    })  # fmt: skip
