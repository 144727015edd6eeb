"""The command `gate`: are runs worse than a baseline? For continuous integration.

Exit codes: 0 not worse; 1 worse in one metric or more; 2 wrong options; 3 none worse, but some cannot be told.
"""

from __future__ import annotations

import argparse
import difflib
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence

from app.commands.gate_reports import as_json, junit, line
from app.commands.run_paths import is_incomplete, opened, sources_at
from app.commands.settings import SettingError
from app.commands.terminal import printable
from parsers import FormatError, Run, Source, SourceError
from parsers.analysis.curves.gate_files import (
    DUMP,
    MEMORY,
    SPEED,
    TAG,
    GateMetric,
    baseline_text,
    metric,
    read_baseline,
    read_metrics,
)
from parsers.analysis.curves.gates import CANNOT_TELL, NOT_WORSE, WORSE, GateVerdict, RunValue, TooFewRuns, compare, run_value
from parsers.analysis.runs.measures import Measure, peak_memory, steps_per_second

CODES = {WORSE: 1, CANNOT_TELL: 3}
_MEASURED: Mapping[str, Callable[[Run], Measure | None]] = {SPEED: steps_per_second, MEMORY: peak_memory}
_NOT_RECORDED = {SPEED: "no scalars with times", MEMORY: "no recorded memory", DUMP: "no dump"}
Values = dict[tuple[str, ...], list[RunValue]]


def gate(options: argparse.Namespace) -> int:
    """Compare runs with a baseline, print a line per metric, and return the exit code."""
    try:
        metrics = _metrics(options)
        if options.save and os.path.exists(options.save) and not options.force:
            raise SettingError(f"--save: expected a new file, or --force, found {options.save!r}")
        sources = sources_at(options.runs, "RUN")
        baseline = _baseline(options.against, metrics, {source.real_path: name for name, source in sources})
        values = _values(sources, metrics)
        verdicts = [(one, _verdict(one, values[one.key], baseline, shorter=options.allow_shorter)) for one in metrics]
    except (FormatError, SourceError) as error:
        raise SettingError(printable(str(error))) from None
    code = _exit_code([verdict for _, verdict in verdicts])
    if options.json:
        sys.stdout.buffer.write(as_json(verdicts, values, baseline, code))
    else:
        for one, verdict in verdicts:
            print(printable(line(one, verdict)))
    _write(options, verdicts, baseline)
    return code


def _exit_code(verdicts: Sequence[GateVerdict]) -> int:
    states = {verdict.state for verdict in verdicts}
    return next((CODES[state] for state in (WORSE, CANNOT_TELL) if state in states), 0)


def _write(options: argparse.Namespace, verdicts: Sequence[tuple[GateMetric, GateVerdict]], baseline: Values) -> None:
    if options.junit:
        _write_file("--junit", options.junit, junit(verdicts))
    if options.save:
        kept = {one.key: baseline[one.key] for one, _ in verdicts if one.measure != DUMP}
        _write_file("--save", options.save, baseline_text(kept).encode())


def _write_file(option: str, path: str, data: bytes) -> None:
    """Write a file whole: it appears under its name once it is complete."""
    part = f"{path}.part"
    try:
        with open(part, "wb") as stream:
            stream.write(data)
        os.replace(part, path)
    except OSError as error:
        raise SettingError(f"{option}: expected a file that can be written, found {path!r}: {error.strerror}") from None


# Options -------------------------------------------------------------------------------------------------------------


def _metrics(options: argparse.Namespace) -> list[GateMetric]:
    given = {key: value for key in ("better", "value", "margin", "alpha") if (value := getattr(options, key)) is not None}
    given |= {"robust": True} if options.robust else {}
    found = list(read_metrics(options.metrics, given)) if options.metrics else []
    found += [metric({"tag": tag}, f"--metric {printable(tag)}", given) for tag in options.metric]
    for measure in (SPEED, MEMORY, DUMP):
        if getattr(options, measure):
            watch = {"watch": options.watch} if measure == DUMP and options.watch else {}
            found.append(metric({"measure": measure, **watch}, "--" + measure.replace("_", "-"), given))
    if not found:
        raise SettingError("expected --metric, --metrics, --steps-per-second, --peak-memory or --check-dump, found none")
    if options.watch and not options.check_dump:
        raise SettingError("--watch: expected only with --check-dump")
    return list(dict.fromkeys(found))


# Values --------------------------------------------------------------------------------------------------------------


def _baseline(paths: Sequence[str], metrics: Sequence[GateMetric], judged: Mapping[str, str]) -> Values:
    """Return the values of the baseline's runs; judged are names of the other side's runs by path."""
    compared = [one for one in metrics if one.measure != DUMP]
    if not compared:
        return {}
    if not paths:
        raise SettingError("--against: expected the runs of a baseline, or a file that --save wrote, found none")
    if len(paths) == 1 and os.path.isfile(paths[0]) and paths[0].endswith(".json"):
        known = read_baseline(paths[0])
        empty = [RunValue(os.path.basename(paths[0]), math.nan, missing="not among the saved metrics")]
        return {one.key: known.get(one.key) or empty for one in compared}
    sources = sources_at(paths, "--against")
    both = next((name for name, source in sources if source.real_path in judged), None)
    if both is not None:
        raise SettingError(f"--against: expected other runs than those to be judged, found {both!r} on both sides")
    return _values(sources, compared)


def _values(sources: Sequence[tuple[str, Source]], metrics: Sequence[GateMetric]) -> Values:
    """Return the values of runs by the key of the metric; a run is forgotten once its values are known."""
    found: Values = {one.key: [] for one in metrics}
    unique = {one.key: one for one in metrics}.values()
    for name, source in sources:
        run = opened(source)
        for one in unique:
            found[one.key].append(_value(name, run, one))
    return found


def _value(name: str, run: Run, one: GateMetric) -> RunValue:
    if one.measure == DUMP:
        from app.commands.dump_checks import hits_in

        hits, unread = hits_in(name, run.dump, one.watch or None) if run.kinds().get("dump") else (0, -1)
        missing = "" if hits or not unread else _NOT_RECORDED[DUMP] if unread < 0 else f"{unread:,} tensors could not be read"
        return RunValue(name, math.nan if missing else float(hits), missing=missing)
    if one.measure == TAG:
        own = next((part for part in (run, *run.ranks) if one.tag in part.tags()), None)
        if own is None:
            return RunValue(name, math.nan, missing=_no_tag(run, one.tag), incomplete=is_incomplete(run))
        return run_value(name, own.series(one.tag), one.value, one.gate.better, incomplete=is_incomplete(run))
    own = next((part for part in (run, *run.ranks) if part.tags()), run)
    measured = _MEASURED[one.measure](own if one.measure == SPEED or not run.profiled else run)
    if measured is None:
        return RunValue(name, math.nan, missing=_NOT_RECORDED[one.measure], incomplete=is_incomplete(run))
    source = measured.source if one.measure == MEMORY else ""
    return RunValue(name, measured.value, incomplete=is_incomplete(run), source=source)


def _no_tag(run: Run, tag: str) -> str:
    known = list(dict.fromkeys(known for part in (run, *run.ranks) for known in part.tags()))
    near = difflib.get_close_matches(tag, known, 1) or [one for one in known if tag.lower() in one.lower()]
    return f"no scalar {tag!r}" + (f", did you mean {near[0]!r}?" if near else "" if known else ", as there are no scalars")


def _verdict(one: GateMetric, runs: Sequence[RunValue], baseline: Mapping[tuple[str, ...], Sequence[RunValue]], *,
             shorter: bool) -> GateVerdict:  # fmt: skip
    if one.measure == DUMP:
        return _of_dumps(runs)
    try:
        return compare(one.gate, runs, baseline[one.key], shorter=shorter)
    except TooFewRuns as error:
        raise SettingError(f"--margin: {error} ({one.name})") from None


def _of_dumps(runs: Sequence[RunValue]) -> GateVerdict:
    """Any hit is worse, whatever the baseline has."""
    hit = next((one for one in runs if one.value > 0), None)
    unknown = next((one for one in runs if one.missing), None)
    total = math.fsum(one.value for one in runs if not one.missing)
    state, reason = (WORSE, "hits") if hit else (CANNOT_TELL, "missing") if unknown else (NOT_WORSE, "no_hit")
    return GateVerdict(state, reason, total, 0.0, len(runs), 0, 0.0, run=hit or unknown)

