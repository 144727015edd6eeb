"""The command line: `mindscope COMMAND`, the same as `python -m app COMMAND`.

Options are taken as text and validated in `app.commands.settings`, so every mistake is reported in one line: what was expected,
what was found. Exit codes: 0 success, 1 failure (port in use, damage or hits found, nothing to stop), 2 bad options, 3 done
except for values that could not be read.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import errno
import importlib
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import app
from app.commands.settings import NOT_YET, SETTINGS, Setting, SettingError, Settings, read_config, resolve

Command = Callable[[argparse.Namespace], int]
_UNKNOWN = re.compile(r"(?:argument COMMAND: invalid choice: '(.*?)'|unrecognized arguments: (\S+))")
_ALIASES = {"start": ["launch"]}
"""Names of commands that users of other viewers know."""
_DIRECTORY = ("--summary-base-dir", "--logdir")
"""What gives the directory to `start`; other commands take it without an option."""
_OUTPUT_LOST = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT)


class _CommandParser(argparse.ArgumentParser):
    """Reports a mistake in one line, with the command or option of nearly the same name."""

    def error(self, message: str) -> NoReturn:
        unknown = _UNKNOWN.match(message)
        if unknown:
            near = self._nearest(unknown[1] or unknown[2].partition("=")[0])
            message += f"; did you mean {near}?" if near else ""
        print(f"mindscope: {message} (see '{self.prog} --help')", file=sys.stderr)
        raise SystemExit(2)

    def _nearest(self, word: str) -> str:
        """Return what is nearly called so: an option or command, or the directory where it needs no option; else nothing."""
        if word in _DIRECTORY and any(action.metavar == "DIR" for action in self._get_positional_actions()):
            return f"'{self.prog} DIR'"
        commands = [name for action in self._actions if isinstance(action.choices, dict) for name in action.choices]
        return next(iter(difflib.get_close_matches(word, [*self._option_string_actions, *commands], 1, cutoff=0.7)), "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = _parsed(_with_command(words))
    try:
        command: Command = options.command
        code = command(options)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except SettingError as error:
        print(f"mindscope: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if error.errno not in _OUTPUT_LOST:
            raise
        # The interpreter flushes stdout at exit; without this the flush would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # The reader closed its end (`mindscope list DIR | head`): exit quietly.
        if error.errno != errno.EPIPE:
            print(f"mindscope: the output could not be written: {error.strerror}", file=sys.stderr)
        return 1


def _parsed(words: list[str]) -> argparse.Namespace:
    """Parse the arguments. An optional DIR may also stand after options, where argparse looks for none."""
    parser = _parser()
    options, left = parser.parse_known_args(words)
    if len(left) == 1 and not left[0].startswith("-") and getattr(options, "directory", None) == "":
        options.directory = left.pop()
    if left:
        options.parser.error(f"unrecognized arguments: {' '.join(left)}")
    return options


def _with_command(arguments: list[str]) -> list[str]:
    """Return the arguments with `start` in front if they name no command; a path or address alone is what to open."""
    first = arguments[0] if arguments else ""
    commands = [word for name, *_ in _COMMANDS for word in (name, *_ALIASES.get(name, []))]
    if first not in commands and (os.path.exists(first) or "://" in first):
        return ["start", "--summary-base-dir", *arguments]
    if first in ("-h", "--help", "--version") or not (first.startswith("-") or not first):
        return arguments
    return ["start", *arguments]


def _parser() -> argparse.ArgumentParser:
    parser = _CommandParser("mindscope", description="Open a directory of training runs in the browser.")
    parser.add_argument("--version", action="version", version=f"mindscope {app.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=_CommandParser)
    for name, text, add_options, command in _COMMANDS:
        sub = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", allow_abbrev=False,
                                  aliases=_ALIASES.get(name, []))  # fmt: skip
        add_options(sub)
        sub.set_defaults(command=command, parser=sub)
    return parser


# start ---------------------------------------------------------------------------------------------------------------


def _add_start_options(parser: argparse.ArgumentParser) -> None:
    for setting in SETTINGS:
        if not setting.secret:
            _add_setting(parser, setting)
    parser.add_argument("--config", metavar="FILE", help="TOML file with settings by name")
    parser.add_argument("--demo", action="store_true", help="open the demo runs included with Mindscope")
    parser.add_argument("--background", action="store_true", help="leave the server running and return once it answers")
    for name in NOT_YET:
        parser.add_argument("--" + name.replace("_", "-"), dest=name, nargs="?", const="", help=argparse.SUPPRESS)


def _add_setting(parser: argparse.ArgumentParser, setting: Setting) -> None:
    common: dict[str, Any] = {"dest": setting.name, "default": argparse.SUPPRESS}
    if setting.valued:
        parser.add_argument(
            setting.option, nargs="?", const="true", metavar="True", help=f"{setting.help} (default: no)", **common
        )
        parser.add_argument(setting.option.replace("--", "--no-", 1), action="store_const", const="false", **common)
        return
    if setting.default is None or isinstance(setting.default, bool):
        text = setting.help if setting.default is None else f"{setting.help} (default: {'yes' if setting.default else 'no'})"
        parser.add_argument(setting.option, action=argparse.BooleanOptionalAction, help=text, **common)
        return
    default = ", ".join(setting.default) if setting.repeatable else str(setting.default)
    default = f" (default: {default})" if default else ""
    action: Any = "append" if setting.repeatable else "store"
    metavar = setting.name.rpartition("_")[2].upper()
    options = (setting.option, "--logdir") if setting.name == "summary_base_dir" else (setting.option,)
    parser.add_argument(*options, action=action, metavar=metavar, help=setting.help + default, **common)


def _settings(options: argparse.Namespace) -> Settings:
    config = read_config(options.config) if options.config else {}
    values = {setting.name: getattr(options, setting.name) for setting in SETTINGS if hasattr(options, setting.name)}
    texts = {name: str(value).lower() if isinstance(value, bool) else value for name, value in values.items()}
    settings = resolve(texts, os.environ, config, config_name=options.config or "")
    if settings.table:
        from parsers.registry import read_as_tables

        read_as_tables(settings.table)
    return settings


def _start(options: argparse.Namespace) -> int:
    from app.commands import serving

    if options.demo and hasattr(options, "summary_base_dir"):
        raise SettingError(f"--demo: expected no --summary-base-dir beside it, found {', '.join(options.summary_base_dir)!r}")
    settings = _settings(options)
    if options.demo:
        settings = replace(settings, summary_base_dir=(serving.demo_directory(),))
    unused = ["--" + name.replace("_", "-") for name in NOT_YET if getattr(options, name) is not None]
    if unused:
        print(f"mindscope: without use here, ignored: {', '.join(unused)}", file=sys.stderr)
    try:
        if options.background:
            print(serving.serve_in_background(settings))
        else:
            with contextlib.suppress(KeyboardInterrupt):
                serving.serve(settings)
    except serving.ServerStartError as error:
        print(f"mindscope: {error}", file=sys.stderr)
        return 1
    return 0


# stop, status --------------------------------------------------------------------------------------------------------


def _add_stop_options(parser: argparse.ArgumentParser) -> None:
    _add_setting(parser, next(setting for setting in SETTINGS if setting.name == "port"))
    parser.set_defaults(config=None)


def _stop(options: argparse.Namespace) -> int:
    from app.commands import processes

    port = _settings(options).port
    records = processes.at_port(port)
    if not records:
        print(f"mindscope: no server of this user is running on port {port}", file=sys.stderr)
    failed = 0
    for record in records:
        if processes.stop(record):
            print(f"Stopped {record.url} (pid {record.pid})")
        else:
            failed += 1
            print(f"mindscope: {record.url} (pid {record.pid}) could not be stopped", file=sys.stderr)
    return 0 if records and not failed else 1


def _status(_options: argparse.Namespace) -> int:
    from app.commands import processes

    records = processes.running()
    for record in records:
        print(f"{record.url}\n  pid        {record.pid}\n  directory  {record.base}\n  workspace  {record.workspace}")
        print(f"  log        {record.log or 'the terminal it was started from'}")
    if not records:
        print("No server of this user is running.")
    return 0


# list, check, check-dump, index, export, parse_summary ----------------------------------------------------------------


def _add_directory(parser: argparse.ArgumentParser) -> None:
    text = "directory of the runs, or a trace or event file (default: .)"
    parser.add_argument("directory", metavar="DIR", nargs="?", default=".", help=text)
    _add_setting(parser, next(setting for setting in SETTINGS if setting.name == "table"))


def _add_list_options(parser: argparse.ArgumentParser) -> None:
    _add_directory(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_export_options(parser: argparse.ArgumentParser) -> None:
    _add_directory(parser)
    kinds = (
        "list from scalars,histograms,images,tensors,landscapes,texts,lineage,traces (default: scalars if OUT is a file, "
        "traces if there is nothing else, otherwise all but traces)"
    )
    parser.add_argument("--out", metavar="OUT", required=True, help="directory to write to, or a file for scalars only (x.csv)")
    parser.add_argument("--kinds", metavar="KINDS", help=kinds)
    parser.add_argument("--tags", metavar="REGEX", help="export only tags that match")
    parser.add_argument("--runs", metavar="REGEX", help="export only runs whose names match")
    parser.add_argument("--steps", metavar="A:B", help="export only steps from A to B, inclusive; either may be omitted")
    parser.add_argument("--format", metavar="FORMAT", default="csv", help="scalars as csv, parquet or json (default: csv)")
    parser.add_argument("--superseded", action="store_true", help="export also scalars that were written again after a restart")


def _add_index_options(parser: argparse.ArgumentParser) -> None:
    _add_directory(parser)
    for setting in SETTINGS:
        if setting.name in ("workspace", "stay_inside", "dask", "dask_trust"):
            _add_setting(parser, setting)


def _add_check_dump_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", metavar="DIR", nargs="?", default=".", help="directory of a dump or several (default: .)")
    watch = "TOML file with watchpoints (default: those recommended for any training)"
    parser.add_argument("--watch", metavar="FILE", help=watch)
    parser.add_argument("--most", metavar="N", default="100", help="hits to print, all are counted (default: 100)")


def _add_parse_summary_options(parser: argparse.ArgumentParser) -> None:
    run = "directory of the run (default: .)"
    parser.add_argument("--summary-dir", metavar="DIR", dest="directory", default=".", help=run)
    parser.add_argument("--output", metavar="DIR", default=".", help="directory in which to create output_<time> (default: .)")


def _on_files(option: str, module: str, name: str) -> Command:
    """Return the command `name` of a module, imported only when it runs. option is the one that names the directory."""

    def command(options: argparse.Namespace) -> int:
        from parsers import SourceError
        from parsers.discovery import opens_alone

        if hasattr(options, "table"):
            _settings(argparse.Namespace(config=None, table=options.table))
        alone = option == "DIR" and os.path.isfile(options.directory)
        if not alone and not os.path.isdir(options.directory):
            raise SettingError(f"{option}: expected an existing directory, found {options.directory!r}")
        if alone and not opens_alone(options.directory):
            raise SettingError(f"{option}: expected a directory, a trace or an event file, found {options.directory!r}")
        chosen: Command = getattr(importlib.import_module(f"app.commands.{module}"), name)
        try:
            return chosen(options)
        except SourceError as error:
            print(f"mindscope: {error}", file=sys.stderr)
            return 1

    return command


def _add_tune_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", metavar="FILE", required=True, help="YAML file with the search, also one of mindoptimizer")
    number = "trials to start (default: until the budget of the file is used, without one 1)"
    parser.add_argument("--iter", metavar="N", help=number)
    parser.add_argument("--jobs", metavar="N", help="trials that run at a time (default: number of devices, else 1)")
    parser.add_argument("--resume", action="store_true", help="continue a study that exists, with the trials that still run")
    parser.add_argument("--devices", metavar="LIST", help="devices to hand out to trials, separated by commas")
    parser.add_argument("--study", metavar="NAME", help="name of the study (default: that in the file, else the file's name)")
    storage = "journal file on a shared file system, or address of a database (default: a journal in the workspace)"
    parser.add_argument("--storage", metavar="PLACE", help=storage)
    parser.add_argument("--workspace", metavar="DIR", help="directory for the study (default: in the user's cache directory)")


def _tune(options: argparse.Namespace) -> int:
    from app.commands import tune

    return tune.tune(options)


def _add_landscape_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="directory of a run with checkpoints")
    parser.add_argument("--script", metavar="FILE", required=True, help="Python file with the function loss(parameters)")
    parser.add_argument("--out", metavar="DIR", required=True, help="directory of the summary file; may be that of the run")
    parser.add_argument("--function", metavar="NAME", default="loss", help="name of the function (default: loss)")
    parser.add_argument("--kind", metavar="LIST", default="path", help="of path, random, line (default: path)")
    parser.add_argument("--intervals", metavar="LIST", default="", help="FIRST-LAST,... steps (default: those of the plan)")
    parser.add_argument("--size", metavar="N", default="40", help="points along each axis (default: 40)")
    parser.add_argument("--seed", metavar="N", default="0", help="of random directions (default: 0)")
    parser.add_argument("--jobs", metavar="N", default="1", help="worker processes (default: 1)")
    parser.add_argument("--dask", metavar="ADDRESS", default="", help="compute on the workers of a Dask scheduler instead")
    parser.add_argument("--dask-trust", action="store_true", help="use one that nothing checks; see the option of start")
    parser.add_argument("--checkpoints", metavar="GLOB", default="", help="files below RUN (default: those of the plan)")
    parser.add_argument("--against", metavar="FILE", default="", help="where a line begins (default: the first checkpoint)")
    parser.add_argument("--scale", metavar="WHAT", default="tensor", help="tensor or filter (default: tensor)")
    parser.add_argument("--limit", metavar="SECONDS", default="0", help="that a point may take (default: 0, any time)")


def _landscape(options: argparse.Namespace) -> int:
    # Threads of numpy would wait for each other: the products of directions are small. Workers have their own share.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from app.commands import landscapes

    return landscapes.landscape(options)


def _add_convert_options(parser: argparse.ArgumentParser) -> None:
    from app.commands import convert

    convert.add_options(parser)


def _convert(options: argparse.Namespace) -> int:
    from app.commands import convert

    return convert.convert(options)


def _add_mirror_options(parser: argparse.ArgumentParser) -> None:
    from app.commands import mirror_options

    mirror_options.add_options(parser)


def _mirror(options: argparse.Namespace) -> int:
    from app.commands import mirror

    return mirror.mirror(options)


def _add_digest_options(parser: argparse.ArgumentParser) -> None:
    from app.commands import run_options

    run_options.add_digest_options(parser)


def _digest(options: argparse.Namespace) -> int:
    from app.commands import digest

    return digest.digest(options)


def _add_gate_options(parser: argparse.ArgumentParser) -> None:
    from app.commands import run_options

    run_options.add_gate_options(parser)


def _gate(options: argparse.Namespace) -> int:
    from app.commands import gate

    return gate.gate(options)


def _add_save_options(parser: argparse.ArgumentParser) -> None:
    from app.commands import save_options

    save_options.add_save_options(parser)
    for setting in SETTINGS:
        if setting.name in ("workspace", "table", "stay_inside"):
            _add_setting(parser, setting)


def _save(options: argparse.Namespace) -> int:
    from app.commands import save
    from app.saving.output import is_url

    options.config, options.reload_interval = None, "0"
    if not is_url(options.directory or options.page):
        options.directory = options.directory or "."
        options.summary_base_dir = [options.directory]
    return save.save(options, _settings(options))


def _add_no_options(_parser: argparse.ArgumentParser) -> None:
    pass


# In the order of --help.
_COMMANDS: tuple[tuple[str, str, Callable[[argparse.ArgumentParser], None], Command], ...] = (
    ("start", "serve a directory of runs (default if no command is given)", _add_start_options, _start),
    ("stop", "stop this user's servers on a port", _add_stop_options, _stop),
    ("status", "list the running servers of this user", _add_no_options, _status),
    ("list", "list the runs below a directory", _add_list_options, _on_files("DIR", "inspection", "list_runs")),
    ("check", "read everything and report all damage", _add_directory, _on_files("DIR", "inspection", "check")),
    (
        "check-dump", "check dumped tensors for NaN, Inf and other conditions", _add_check_dump_options,
        _on_files("DIR", "dump_checks", "check_dump"),
    ),
    ("digest", "describe runs in words, or as JSON", _add_digest_options, _digest),
    ("gate", "tell whether runs are worse than a baseline, by an exit code", _add_gate_options, _gate),
    (
        "index", "read everything ahead, so that a server finds it in its index", _add_index_options,
        _on_files("DIR", "indexing", "index_runs"),
    ),
    ("save", "save a page as a file: HTML, picture, drawing, PDF or data", _add_save_options, _save),
    ("export", "write recorded data to files", _add_export_options, _on_files("DIR", "exporting", "export_runs")),
    (
        "parse_summary", "write the scalars and images of a run in MindInsight's format", _add_parse_summary_options,
        _on_files("--summary-dir", "exporting", "parse_summary"),
    ),
    ("mirror", "copy runs from an object store or by ssh, and follow them", _add_mirror_options, _mirror),
    ("tune", "search for good settings of a training, with Optuna", _add_tune_options, _tune),
    ("landscape", "compute loss landscapes from checkpoints, by a function of yours", _add_landscape_options, _landscape),
    ("convert", "convert an ONNX model to a MindSpore script", _add_convert_options, _convert),
)
