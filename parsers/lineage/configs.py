"""Reads configuration files beside a run's event files: config.json, hparams.json, and any .yaml or .yml, such as MindFormers'.

Read are the settings in mappings, nested ones under names joined by dots; comments are ignored. Nothing in a file is executed
and no object is constructed: YAML is read as nodes, and a value with a custom tag (`!!python/object:...`) is skipped. A file
of more than LIMIT bytes is rejected; nodes, levels and the expansion of aliases are limited too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from parsers.deferred import yaml
from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.lineage.values import DEEPEST, MOST, Setting, flat, load_json
from parsers.mlflow.directories import read_settings
from parsers.model import CONFIG, FileKind, Problem

LIMIT = 1 << 20
"""Bytes."""
MOST_NODES = 20_000
CONFIGS = FileKind(
    name=CONFIG, pattern=re.compile(r"\A(?:config|hparams|params)\.json\Z|\.ya?ml\Z"), makes_run=False, most=20
)
TAG = "tag:yaml.org,2002:"
"""What the tags of standard types begin with."""
# PyYAML follows YAML 1.1, in which 1e-3 is text and 1:30 is 90 (base 60).
_FLOAT = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
_NUMBER = re.compile(r"[-+]?[0-9_.eExXa-fA-FoO]+|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


@dataclass(frozen=True, slots=True, eq=False)
class ConfigSettings:
    """Settings by name, and the damage in the file."""

    settings: Mapping[str, Setting]
    problems: tuple[Problem, ...] = ()


def _loader() -> Any:
    """Return PyYAML's reader in C, or the one in Python where it was built without."""
    return getattr(yaml, "CSafeLoader", None) or yaml.SafeLoader


def read_config(path: str) -> ConfigSettings:
    """Read the settings in a file; never raises for its content, or if it does not exist."""
    try:
        settings, complaints = _read(path)
    except OSError as error:
        text = f"The file cannot be read ({error.strerror or error}); its settings are not shown."
        return ConfigSettings({}, (Problem(path, 0, 0, "unreadable", text),))
    except FormatError as error:
        return ConfigSettings({}, (Problem(path, 0, 0, "bad_value", f"No settings are taken from it: {error}."),))
    return ConfigSettings(settings, tuple(Problem(path, 0, 0, "bad_value", complaint) for complaint in complaints))


def _read(path: str) -> tuple[dict[str, Setting], list[str]]:
    if os.path.isdir(path):
        return dict(islice(read_settings(path).items(), MOST)), []
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
    node = compose(text)
    return _Values(complaints).value(node, 0) if node is not None else None


def compose(text: str) -> yaml.Node | None:
    """Return the node of a YAML text, None for an empty one; FormatError for no YAML, or for too many levels or nodes.

    Aliases are not expanded: who follows them has to limit their number.
    """
    try:
        _check(text)
        node: yaml.Node | None = yaml.compose(text, Loader=_loader())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" in line {mark.line + 1}" if mark is not None else ""
        raise FormatError(f"expected YAML, found {getattr(error, 'problem', None) or 'what is none'}{place}") from error
    except FormatError:
        raise
    except (ValueError, RecursionError) as error:
        raise FormatError(f"expected YAML, found {error}") from error
    return node


def _check(text: str) -> None:
    """Raise FormatError for YAML that is too deep or too large to compose."""
    level = 0
    for number, event in enumerate(yaml.parse(text, Loader=_loader())):
        level += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if level > DEEPEST:
            raise FormatError(f"expected at most {DEEPEST} levels, found more")
        if number > 2 * MOST_NODES:
            raise FormatError(f"expected at most {MOST_NODES:,} values, found more")


class _Values:
    """Converts nodes to values. _left limits their number, as an alias may repeat nodes that contain aliases."""

    def __init__(self, complaints: list[str]) -> None:
        self._complaints = complaints
        self._left = MOST_NODES

    def value(self, node: yaml.Node, depth: int) -> Any:
        """Return the value of a node; None for one with a custom tag."""
        self._left -= 1
        if self._left < 0:
            raise FormatError(f"expected at most {MOST_NODES:,} values with what its aliases repeat, found more")
        if depth > DEEPEST:
            raise FormatError(f"expected at most {DEEPEST} levels, found an alias within the node it refers to")
        if not node.tag.startswith(TAG) or node.tag.startswith(f"{TAG}python"):
            self._complaints.append(f"Line {node.start_mark.line + 1} has a value of type {node.tag}, which is skipped.")
            return None
        if isinstance(node, yaml.MappingNode):
            return dict(self._pairs(node, depth))
        if isinstance(node, yaml.SequenceNode):
            return [self.value(one, depth + 1) for one in node.value]
        plain = isinstance(node, yaml.ScalarNode) and not node.style
        return scalar(node.tag.removeprefix(TAG), node.value, plain=plain)

    def _pairs(self, node: yaml.MappingNode, depth: int) -> Iterator[tuple[str, Any]]:
        """Yield keys and values, those merged with << first, so that the mapping's own ones override them."""
        merged = [value for key, value in node.value if key.tag == f"{TAG}merge"]
        for value in merged:
            several = value.value if isinstance(value, yaml.SequenceNode) else [value]
            for one in reversed(several):
                found = self.value(one, depth + 1)
                yield from found.items() if isinstance(found, dict) else ()
        for key, value in node.value:
            if key.tag != f"{TAG}merge" and isinstance(key, yaml.ScalarNode):
                yield key.value, self.value(value, depth + 1)


def scalar(kind: str, text: str, *, plain: bool) -> Setting | None:
    """Convert a scalar to the type that PyYAML resolved; plain: it has no quotes. 1e-3 is a number, unlike in YAML 1.1."""
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in ("yes", "true", "on")
    if plain and not text.lstrip("+-").isdecimal() and _FLOAT.fullmatch(text):
        return float(text)
    if kind in ("int", "float") and _NUMBER.fullmatch(text):
        return _number(kind, text)
    return text


_MOST_BITS = 4096


def _number(kind: str, text: str) -> Setting:
    digits = text.replace("_", "")
    try:
        if kind == "float":
            return float(digits.lower().replace(".inf", "inf").replace(".nan", "nan"))
        octal = re.fullmatch(r"([-+]?)0([0-7]+)", digits)
        number = int(f"{octal[1]}0o{octal[2]}" if octal else digits, 0)
        # Python reads hexadecimal and octal digits of any number, but writes no more than some thousand decimal ones.
        return number if number.bit_length() <= _MOST_BITS else text
    except ValueError:  # thousands of digits
        return text
