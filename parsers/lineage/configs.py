"""Configuration files beside a run's event files: config.json, hparams.json, and any .yaml or .yml, MindFormers' among them.

Read are the settings in mappings, nested ones under names joined by dots; comments are ignored. Nothing in a file is executed
and no object is made: YAML is taken as its nodes, and a value with a tag of its own (`!!python/object:...`) is left out. A file
is refused beyond LIMIT bytes; nodes, levels and what aliases repeat are bounded too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.lineage.values import DEEPEST, MOST, Setting, flat, load_json
from parsers.model import CONFIG, FileKind, Problem

LIMIT = 1 << 20
"""Bytes."""
MOST_NODES = 20_000
CONFIGS = FileKind(
    name=CONFIG, pattern=re.compile(r"\A(?:config|hparams)\.json\Z|\.ya?ml\Z"), makes_run=False, most=20
)
_TAG = "tag:yaml.org,2002:"
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# PyYAML follows YAML 1.1, in which 1e-3 is text and 1:30 a number of minutes.
_FLOAT = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
_NUMBER = re.compile(r"[-+]?[0-9_.eExXa-fA-FoO]+|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


@dataclass(frozen=True, slots=True, eq=False)
class Config:
    """Settings by name, and what of the file cannot be read."""

    settings: Mapping[str, Setting]
    problems: tuple[Problem, ...] = ()


def read_config(path: str) -> Config:
    """The settings in a file; never raises for what is in it, or for there being none."""
    try:
        settings, complaints = _read(path)
    except OSError as error:
        text = f"The file cannot be read ({error.strerror or error}); its settings are not shown."
        return Config({}, (Problem(path, 0, 0, "unreadable", text),))
    except FormatError as error:
        return Config({}, (Problem(path, 0, 0, "bad_value", f"No settings are taken from it: {error}."),))
    return Config(settings, tuple(Problem(path, 0, 0, "bad_value", complaint) for complaint in complaints))


def _read(path: str) -> tuple[dict[str, Setting], list[str]]:
    with RegularFile(path) as file:
        if file.size > LIMIT:
            raise FormatError(f"expected a configuration of at most {LIMIT:,} bytes, found {file.size:,}")
        data = file.read(0, LIMIT)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"expected UTF-8, found byte {data[error.start]:02x} at {error.start:,}") from error
    complaints: list[str] = []
    found = load_json(text) if path.endswith(".json") else _load_yaml(text, complaints)
    if found is None:
        return {}, complaints
    if not isinstance(found, dict):
        raise FormatError(f"expected a mapping of settings, found {type(found).__name__}")
    settings: dict[str, Setting] = {}
    for name, value in flat(found):
        if len(settings) == MOST:
            complaints.append(f"It has more than {MOST:,} settings; the first ones are shown.")
            break
        settings.setdefault(name, value)
    return settings, complaints


def _load_yaml(text: str, complaints: list[str]) -> Any:
    try:
        _check(text)
        node = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" in line {mark.line + 1}" if mark is not None else ""
        raise FormatError(f"expected YAML, found {getattr(error, 'problem', None) or 'what is none'}{place}") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"expected YAML, found {error}") from error
    return _Values(complaints).value(node, 0) if node is not None else None


def _check(text: str) -> None:
    """FormatError for what is too deep or too much to be composed."""
    level = 0
    for number, event in enumerate(yaml.parse(text, Loader=_Loader)):
        level += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if level > DEEPEST:
            raise FormatError(f"expected at most {DEEPEST} levels, found more")
        if number > 2 * MOST_NODES:
            raise FormatError(f"expected at most {MOST_NODES:,} values, found more")


class _Values:
    """Makes values of nodes. left bounds them, as an alias may repeat what has aliases in it."""

    def __init__(self, complaints: list[str]) -> None:
        self._complaints = complaints
        self._left = MOST_NODES

    def value(self, node: yaml.Node, depth: int) -> Any:
        """The value of a node; None for one with a tag of its own."""
        self._left -= 1
        if self._left < 0:
            raise FormatError(f"expected at most {MOST_NODES:,} values with what its aliases repeat, found more")
        if depth > DEEPEST:
            raise FormatError(f"expected at most {DEEPEST} levels, found an alias within what it stands for")
        if not node.tag.startswith(_TAG) or node.tag.startswith(f"{_TAG}python"):
            self._complaints.append(f"Line {node.start_mark.line + 1} has a value of type {node.tag}, which is not read.")
            return None
        if isinstance(node, yaml.MappingNode):
            return dict(self._pairs(node, depth))
        if isinstance(node, yaml.SequenceNode):
            return [self.value(one, depth + 1) for one in node.value]
        plain = isinstance(node, yaml.ScalarNode) and not node.style
        return _scalar(node.tag.removeprefix(_TAG), node.value, plain=plain)

    def _pairs(self, node: yaml.MappingNode, depth: int) -> Iterator[tuple[str, Any]]:
        """Keys and values, those merged with << first, so that the mapping's own ones replace them."""
        merged = [value for key, value in node.value if key.tag == f"{_TAG}merge"]
        for value in merged:
            several = value.value if isinstance(value, yaml.SequenceNode) else [value]
            for one in reversed(several):
                found = self.value(one, depth + 1)
                yield from found.items() if isinstance(found, dict) else ()
        for key, value in node.value:
            if key.tag != f"{_TAG}merge" and isinstance(key, yaml.ScalarNode):
                yield key.value, self.value(value, depth + 1)


def _scalar(kind: str, text: str, *, plain: bool) -> Setting | None:
    """A scalar of a type that PyYAML resolved it to."""
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in ("yes", "true", "on")
    if plain and not text.lstrip("+-").isdecimal() and _FLOAT.fullmatch(text):
        return float(text)
    if kind in ("int", "float") and _NUMBER.fullmatch(text):
        return _number(kind, text)
    return text


def _number(kind: str, text: str) -> Setting:
    digits = text.replace("_", "")
    try:
        if kind == "float":
            return float(digits.lower().replace(".inf", "inf").replace(".nan", "nan"))
        octal = re.fullmatch(r"([-+]?)0([0-7]+)", digits)
        return int(f"{octal[1]}0o{octal[2]}" if octal else digits, 0)
    except ValueError:  # thousands of digits
        return text
