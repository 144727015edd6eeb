"""Reads the configuration file of a search: YAML, as MindInsight's mindoptimizer has it and with more (docs/tuning.md).

Every mistake is found in one reading and says file, line, what was expected and what was found. No object is constructed, and
aliases are followed up to a limit.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from parsers.deferred import yaml
from parsers.errors import FormatError, SourceError
from parsers.files import RegularFile
from parsers.lineage.configs import LIMIT, TAG, compose, scalar
from parsers.tuning.checks import check_system, parameter_of
from parsers.tuning.description import (
    PRUNERS,
    SAMPLERS,
    SYSTEM_TARGETS,
    Pruning,
    Target,
    TunedParameter,
    Tuning,
)  # fmt: skip
from parsers.tuning.expressions import Constraint, parse_constraint
from parsers.tuning.mapping import Mistakes, Section, SettingField

MOST_VALUES = 20_000
DEEPEST = 50
MOST_PARAMETERS = 500
MOST_TARGETS = 10
METHODS = ("ucb", "pi", "ei")
STUDY_NAME = re.compile(r"(?!\.)[A-Za-z0-9_.-]{1,100}")
_KEYS = (
    "summary_base_dir", "command", "tuner", "target", "parameters", "study", "constraints", "pruner", "stop", "budget", "seed",
    "time_limit", "import_runs",
)  # fmt: skip


class ConfigError(FormatError):
    """The file describes no search; mistakes has a line of text for each."""

    def __init__(self, mistakes: Sequence[str]) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = tuple(mistakes)


def read_tuning(path: str, *, study: str = "") -> Tuning:
    """Return the search that a file describes. ConfigError for its mistakes, SourceError if it cannot be read.

    study names it instead of the file.
    """
    try:
        with RegularFile(path) as file:
            if file.size > LIMIT:
                raise ConfigError([f"{path}: expected at most {LIMIT:,} bytes, found {file.size:,}"])
            data = file.read(0, LIMIT)
    except OSError as error:
        raise SourceError(f"{path}: expected a configuration file, found {error.strerror or error}") from None
    try:
        node = compose(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigError([f"{path}: expected UTF-8, found byte {data[error.start]:02x} at {error.start:,}"]) from None
    except FormatError as error:
        raise ConfigError([f"{path}: {error}"]) from None
    mistakes = Mistakes(path)
    if not isinstance(node, yaml.MappingNode):
        mistakes.add(1, "", "a mapping with summary_base_dir, command, target and parameters", _kind(node))
        raise ConfigError(mistakes.lines)
    tree = _Nodes(mistakes).section(node)
    found = _tuning(path, study, tree, mistakes) if not mistakes.lines else None
    if found is None or mistakes.lines:
        raise ConfigError(mistakes.lines)
    return found


def _kind(node: yaml.Node | None) -> str:
    return "nothing" if node is None else "a list" if isinstance(node, yaml.SequenceNode) else "a single value"


class _Nodes:
    """Converts YAML nodes to fields that know their line."""

    def __init__(self, mistakes: Mistakes) -> None:
        self._mistakes, self._left = mistakes, MOST_VALUES

    def section(self, node: yaml.MappingNode, name: str = "", depth: int = 0) -> Section:
        """Return the fields of a mapping."""
        fields: dict[str, SettingField] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode) or key.tag == f"{TAG}merge":
                self._mistakes.add(line, name, "names as keys", "<<" if isinstance(key, yaml.ScalarNode) else _kind(key))
            elif key.value in fields:
                self._mistakes.add(line, f"{name}.{key.value}".lstrip("."), "each key once", "it twice")
            else:
                inner = f"{name}.{key.value}" if name else key.value
                fields[key.value] = SettingField(inner, line, self._value(value, inner, depth + 1))
        return Section(name, node.start_mark.line + 1, fields, self._mistakes)

    def _value(self, node: yaml.Node, name: str, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > DEEPEST:
            what = f"{DEEPEST} levels" if depth > DEEPEST else f"{MOST_VALUES:,} values with what its aliases repeat"
            raise ConfigError([f"{self._mistakes.path}: expected at most {what}, found more"])
        if not node.tag.startswith(TAG) or node.tag.startswith(f"{TAG}python"):
            self._mistakes.add(node.start_mark.line + 1, name, "a value without a tag of its own", node.tag)
            return None
        if isinstance(node, yaml.MappingNode):
            return self.section(node, name, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self._value(one, name, depth + 1) for one in node.value]
        return scalar(node.tag.removeprefix(TAG), node.value, plain=not getattr(node, "style", None))


def _tuning(path: str, study: str, tree: Section, mistakes: Mistakes) -> Tuning | None:
    tree.only(_KEYS)
    base = tree.text("summary_base_dir", required="a directory for the runs")
    command = _command(tree)
    sampler, method, startup = _tuner(tree)
    parameters = tuple(_parameters(tree))
    _check_conditions(parameters, tree)
    targets = tuple(_targets(tree))
    pruning = _pruning(tree, targets)
    constraints = tuple(_constraints(tree))
    budget = tree.section("budget", ("trials", "hours"))
    stop = tree.section("stop", ("nan", "plateau"))
    name = study or tree.text("study") or re.sub(r"[^A-Za-z0-9_.-]", "_", os.path.splitext(os.path.basename(path))[0])
    if not STUDY_NAME.fullmatch(name):
        tree.wrong("study", "at most 100 letters, digits, _, - and ., not first a .", repr(name))
    if sampler == "grid":
        _check_grid(parameters, tree)
    if sampler == "cmaes" and len(targets) > 1:
        tree.wrong("tuner", "gp, tpe, random, grid or qmc for several targets", "cmaes, which has one target")
    made: dict[str, Any] = {
        "trials": budget.whole("trials", low=1), "hours": budget.number("hours", above=0.0),
        "end_on_nan": stop.switch("nan"), "end_on_plateau": stop.switch("plateau"),
        "time_limit": tree.number("time_limit", above=0.0), "seed": tree.whole("seed", low=0) or 0,
        "import_runs": tree.switch("import_runs", default=True),
    }  # fmt: skip
    if mistakes.lines:
        return None
    where = os.path.abspath(os.path.expanduser(base))
    return Tuning(os.path.abspath(path), name, where, command, sampler, targets, parameters, method, startup, constraints,
                  pruning, **made)  # fmt: skip


def _command(tree: Section) -> tuple[str, ...]:
    text = tree.text("command", required='the command of a trial, such as "python train.py"')
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        tree.wrong("command", "a command line", f"{text!r} ({error})")
        return ()
    if text and not words:
        tree.wrong("command", "a command line", repr(text))
    if any("\0" in word for word in words):
        tree.wrong("command", "a command line without NUL", repr(text))
    return words


def _tuner(tree: Section) -> tuple[str, str, int | None]:
    tuner = tree.section("tuner", ("name", "args"))
    sampler = tuner.text("name", required=f"one of {', '.join(SAMPLERS)}" if "tuner" in tree.fields else "") or "tpe"
    sampler = sampler.lower()
    if sampler not in SAMPLERS:
        tuner.wrong("name", f"one of {', '.join(SAMPLERS)}", repr(sampler))
    arguments = tuner.section("args", ("method", "startup_trials"))
    method = arguments.text("method").lower()
    if method and method not in METHODS:
        arguments.wrong("method", f"one of {', '.join(METHODS)}", repr(method))
    elif method and sampler != "gp":
        arguments.wrong("method", f"no acquisition function for {sampler}", repr(method))
    return sampler, method, arguments.whole("startup_trials", low=1)


def _parameters(tree: Section) -> Iterator[TunedParameter]:
    section = tree.section("parameters", None, required="at least one parameter")
    if "parameters" in tree.fields and not section.fields:
        tree.wrong("parameters", "at least one parameter", "none")
    if len(section.fields) > MOST_PARAMETERS:
        tree.wrong("parameters", f"at most {MOST_PARAMETERS}", f"{len(section.fields):,}")
        return
    for name in section.fields:
        if not re.fullmatch(r"[A-Za-z0-9_]+", name):
            section.wrong(name, "letters, digits and _ as name of a parameter", repr(name))
            continue
        one = section.section(name, None)
        found = parameter_of(name, one)
        if found is not None:
            check_system(found, one)
            yield found


def _check_conditions(parameters: Sequence[TunedParameter], tree: Section) -> None:
    """Check that `when` names choices of parameters that are listed before, so that conditions form no circle."""
    known: dict[str, TunedParameter] = {}
    every = {one.name for one in parameters}
    section = tree.section("parameters", None)
    for one in parameters:
        for name, wanted in one.when.items():
            place = section.section(one.name, None)
            other = known.get(name)
            if other is None:
                found = f"{name!r}, which is listed after it" if name in every else repr(name)
                place.wrong("when", f"the name of a parameter above {one.name}", found)
            elif other.kind != "choice" or not all(other.fits(value) for value in wanted):
                expected = f"choices of {name} ({', '.join(map(repr, other.choices))})" if other.choices else "a choice"
                place.wrong("when", expected, f"{name}: {list(wanted)!r}")
        known[one.name] = one


def _check_grid(parameters: Sequence[TunedParameter], tree: Section) -> None:
    size = 1
    for one in parameters:
        values = one.values
        if values is None:
            section = tree.section("parameters", None).section(one.name, None)
            section.wrong("bounds", "a step or choices, since the tuner is grid", "bounds alone, or too many values")
        else:
            size *= len(values)
    if size > 10**6:
        tree.wrong("parameters", "a grid of at most 1,000,000 points", f"{size:,}")


_TARGET_KEYS = ("name", "group", "goal", "value")


def _targets(tree: Section) -> Iterator[Target]:
    field = tree.fields.get("target")
    if field is None:
        tree.wrong("target", "the name and goal of a target", "none")
        return
    several = field.value if isinstance(field.value, list) else [field.value]
    if not 1 <= len(several) <= MOST_TARGETS:
        tree.wrong("target", f"1 to {MOST_TARGETS} targets", str(len(several)))
        return
    names: set[str] = set()
    for one in several:
        if not isinstance(one, Section):
            tree.wrong("target", "a mapping with name and goal", repr(one))
            continue
        one.only(_TARGET_KEYS)
        name = one.text("name", required="the name of a scalar or metric")
        group = one.choice("group", ("system_defined", "metric", "scalar"))
        group = group or ("system_defined" if name in SYSTEM_TARGETS else "metric")
        if group == "system_defined" and name and name not in SYSTEM_TARGETS:
            one.wrong("group", f"metric or scalar for {name!r} (only {', '.join(SYSTEM_TARGETS)} is system_defined)", group)
        if name in names:
            one.wrong("name", "each target once", repr(name))
        names.add(name)
        goal = one.choice("goal", ("minimize", "maximize")) or "minimize"
        yield Target(name, group, goal, one.choice("value", ("last", "best")) == "best")  # type: ignore[arg-type]


_PRUNER_KEYS = (
    "name", "tag", "goal", "startup_trials", "warmup_steps", "interval", "percentile", "patience", "min_delta", "min_resource",
    "max_resource", "reduction_factor", "lower", "upper",
)  # fmt: skip
_OF_ONE: Mapping[str, tuple[str, ...]] = {
    "percentile": ("percentile",), "patience": ("patient",), "min_delta": ("patient",), "lower": ("threshold",),
    "upper": ("threshold",), "min_resource": ("halving", "hyperband"), "max_resource": ("hyperband",),
    "reduction_factor": ("halving", "hyperband"), "startup_trials": ("median", "percentile"),
    "warmup_steps": ("median", "percentile", "threshold"),
}  # fmt: skip


def _pruning(tree: Section, targets: Sequence[Target]) -> Pruning | None:
    field = tree.fields.get("pruner")
    if field is None or field.value is None or field.value == "none":
        return None
    section = tree.section("pruner", _PRUNER_KEYS)
    if not isinstance(field.value, Section):
        return None
    name = section.choice("name", PRUNERS, required=True)
    if len(targets) > 1:
        tree.wrong("pruner", "no pruner, since trials can be compared while they run by one target only", repr(name))
    for key, those in _OF_ONE.items():
        if key in section.fields and name and name not in those:
            section.wrong(key, f"it with {' or '.join(those)} only", f"it with {name}")
    if name == "patient" and "patience" not in section.fields:
        section.wrong("patience", "the steps without a better value after which a trial ends", "none")
    low, high = section.number("lower"), section.number("upper")
    if name == "threshold" and low is None and high is None:
        section.wrong("lower", "lower or upper", "neither")
    if not name or not targets:
        return None
    goal = section.choice("goal", ("minimize", "maximize")) or targets[0].goal
    given = {
        "startup_trials": section.whole("startup_trials", low=0), "warmup_steps": section.whole("warmup_steps", low=0),
        "interval": section.whole("interval", low=1), "percentile": section.number("percentile", above=0.0, most=100.0),
        "patience": section.whole("patience", low=1), "min_delta": section.number("min_delta", least=0.0),
        "min_resource": section.whole("min_resource", low=1), "max_resource": section.whole("max_resource", low=1),
        "reduction_factor": section.whole("reduction_factor", low=2), "lower": low, "upper": high,
    }  # fmt: skip
    chosen = {key: value for key, value in given.items() if value is not None}
    return Pruning(name, section.text("tag") or targets[0].name, goal, **chosen)  # type: ignore[arg-type]


def _constraints(tree: Section) -> Iterator[Constraint]:
    field = tree.fields.get("constraints")
    if field is None or field.value is None:
        return
    several = field.value if isinstance(field.value, list) else [field.value]
    for one in several:
        if not isinstance(one, str):
            tree.wrong("constraints", 'a condition such as "layers * width <= 4096"', repr(one))
            continue
        try:
            yield parse_constraint(one)
        except FormatError as error:
            tree.wrong("constraints", *_parts(str(error)))


def _parts(text: str) -> tuple[str, str]:
    expected, _, found = text.partition(", found ")
    return expected.removeprefix("expected "), found
