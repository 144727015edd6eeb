"""Which curves a question is about, by their names: the loss, a norm of gradients, the learning rate, a measurement of time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from parsers.analysis.curves.insights.speed import is_speed
from parsers.analysis.curves.insights.unmoved import GRADIENT
from parsers.analysis.lineage.results import LOSS, VALIDATION_LOSS, VALIDATION_METRIC, kind_of
from parsers.lineage.table import better

_RATE = re.compile(r"(^|[^a-z])lr([^a-z]|$)|learning.?rate", re.IGNORECASE)
_SCALE = re.compile(r"loss[ _/-]?scal|scaler?[ _/-]?(value)?$|grad[ _/-]?scal", re.IGNORECASE)
_EPOCH = re.compile(r"(^|[^a-z])epochs?([^a-z]|$)", re.IGNORECASE)
_DATA_TIME = re.compile(
    r"(data|batch|load|fetch|input|wait)[ _/-]?(load|wait|fetch|prepar)?(ing|er)?[ _/-]?(time|ms|sec|s|duration)$",
    re.IGNORECASE,
)
_STEP_TIME = re.compile(r"(step|iter(ation)?|batch|train(ing)?)[ _/-]?(time|ms|sec|s|duration)$", re.IGNORECASE)
_INPUT = re.compile(r"(^|[^a-z])(inputs?|images?|pictures?|samples?|batch|data|x|labels?|targets?)([^a-z]|$)", re.IGNORECASE)

ROLES: Mapping[str, Callable[[str], bool]] = MappingProxyType({
    "any": lambda _tag: True,
    "loss": lambda tag: kind_of(tag) in (LOSS, VALIDATION_LOSS),
    "training": lambda tag: kind_of(tag) not in (VALIDATION_LOSS, VALIDATION_METRIC) and bool(better(tag)),
    "validation": lambda tag: kind_of(tag) in (VALIDATION_LOSS, VALIDATION_METRIC),
    "result": lambda tag: bool(better(tag)) and not GRADIENT.search(tag),
    "norm": lambda tag: bool(GRADIENT.search(tag)),
    "learning_rate": lambda tag: bool(_RATE.search(tag)),
    "loss_scale": lambda tag: bool(_SCALE.search(tag)),
    "epoch": lambda tag: bool(_EPOCH.search(tag)),
    "data_time": lambda tag: bool(_DATA_TIME.search(tag)) and not _STEP_TIME.search(tag),
    "step_time": lambda tag: bool(_STEP_TIME.search(tag)),
    "speed": is_speed,
    "input": lambda tag: bool(_INPUT.search(tag)),
})  # fmt: skip
"""Role -> whether a tag has it."""


def of_role(tags: Iterable[str], *roles: str) -> list[str]:
    """Return the tags that have one of these roles, in their order. KeyError for an unknown role."""
    tests = [ROLES[role] for role in roles]
    return [tag for tag in tags if any(test(tag) for test in tests)]
