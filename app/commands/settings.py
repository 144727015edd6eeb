"""The settings: one tuple that the command line, the environment, the configuration file and the tests of the manual read.

The first source that has a value wins: the command line, MINDSCOPE_<NAME>, MINDINSIGHT_<NAME> (the predecessor's name for
the same setting), the file given with --config, the default.
"""

from __future__ import annotations

import ipaddress
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class SettingError(ValueError):
    """A setting has an invalid value; the text is one line: where it came from, what was expected, what was found."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    name is written with underscores (the option has hyphens, the environment variable capitals). parse converts a text into
    the value or raises ValueError, whose text is what was expected. A repeatable setting is a list: the option may be given
    several times, and the variable holds the values separated by commas. A secret setting has no option, so that no process
    list shows it. A valued switch may also be given a value, as by users of MindInsight.
    """

    name: str
    default: Any
    help: str
    parse: Callable[[str], Any]
    repeatable: bool = False
    secret: bool = False
    valued: bool = False

    @property
    def option(self) -> str:
        """The command-line option."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """The environment variable."""
        return "MINDSCOPE_" + self.name.upper()


def _text(expected: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if not value or "\0" in value:
            raise ValueError(expected)
        return value

    return parse


def _number(low: int, high: int, expected: str) -> Callable[[str], int]:
    def parse(value: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", value) or not low <= int(value) <= high:
            raise ValueError(expected)
        return int(value)

    return parse


def _switch(value: str) -> bool:
    switches = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
    try:
        return switches[value.lower()]
    except KeyError:
        raise ValueError("true or false") from None


def parse_prefix(value: str) -> str:
    """Normalize a URL path prefix to "/" or "/a/b/". Raises ValueError for anything but plain segments."""
    segments = [part for part in value.strip("/").split("/") if value.strip("/")]
    for segment in segments:
        if not re.fullmatch(r"[a-zA-Z0-9_.@%+~\-]+", segment) or segment in {".", ".."}:
            raise ValueError("segments of letters, digits and '_-.@%+~' separated by '/'")
    return "/" + "".join(segment + "/" for segment in segments)


def parse_size(value: str) -> str:
    """Return a text that is a size such as 500MiB or 20GiB. Raises ValueError."""
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,3})? ?([KMGT]i?)?B?", value) or not value.strip("0.KMGTiB "):
        raise ValueError("a size such as 500MiB or 20GiB")
    return value


def seconds_of(option: str, text: str) -> float:
    """Return the seconds that the text of an option says. Raises SettingError outside of 0.1 s to a day."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0.1 <= found <= 86_400:
        raise SettingError(f"{option}: expected a number of seconds from 0.1 to 86400, found {text!r}")
    return found


def size_bytes(value: str) -> int:
    """Return the bytes of a size (`parse_size`)."""
    digits = value.rstrip("KMGTiB ")
    unit = value[len(digits) :].strip().removesuffix("B")
    power = " KMGT".index(unit[:1] or " ")
    return int(float(digits) * (1024 if unit.endswith("i") else 1000) ** power)


def _host_name(value: str) -> str:
    name = value.strip().lower().removeprefix("[").removesuffix("]")
    if name != "*" and not re.fullmatch(r"[a-z0-9_.:\-]+", name):
        raise ValueError("a host name or address without port")
    return name


def _header(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9\-]{1,100}", value):
        raise ValueError("the name of a header: letters, digits and '-'")
    return value


def _network(value: str) -> str:
    try:
        return str(ipaddress.ip_network(value.strip("[]"), strict=False))
    except ValueError:
        raise ValueError("an address such as 127.0.0.1 or a network such as 10.0.0.0/24") from None


def _file_name(value: str) -> str:
    if not re.fullmatch(r"[^/\0]{1,200}", value) or not value.strip("*?"):
        raise ValueError("a pattern of file names with a letter or digit in it, without '/'")
    return value


def _token(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_\-]{16,200}", value):
        raise ValueError("16 to 200 letters, digits, '_' and '-'")
    return value


def is_local(host: str) -> bool:
    """Return whether only this machine can reach a server that listens on host."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


SETTINGS = (
    Setting("summary_base_dir", (".",), "directory that contains the runs, or NAME=DIR for each of several (repeatable)",
            _text("a directory"), repeatable=True),
    Setting("port", 8080, "port to listen on, 0 for any free port", _number(0, 65535, "a whole number from 0 to 65535")),
    Setting("host", "127.0.0.1", "address to listen on; any but a local one makes visitors give a token", _text("an address")),
    Setting("url_path_prefix", "/", "URL path prefix for everything served", parse_prefix),
    Setting("public_prefix", "", "URL path prefix that browsers see, if a proxy strips or changes it (default: the same)",
            parse_prefix),
    Setting("workspace", "",
            "directory for the index, notes and logs, outside the runs (default: the user's cache directory)",
            _text("a directory")),
    Setting("reload_interval", 3, "seconds between scans of the files, 0 to scan once",
            _number(0, 300, "a whole number of seconds from 0 to 300")),
    Setting("mirror_every", 10, "seconds between looks at growing remote runs (`mindscope URL`)",
            _number(1, 3600, "a whole number of seconds from 1 to 3600")),
    Setting("mirror_most", "20GiB", "size of all copies of remote runs", parse_size),
    Setting("mirror_largest", "1GiB", "size of the largest remote file that is copied", parse_size),
    Setting("allowed_host", (), "additional host name visitors may use, '*' for any (repeatable)", _host_name, repeatable=True),
    Setting("table", (), "name of further files that are tables of metrics, such as '*_log.csv' (repeatable)", _file_name,
            repeatable=True),
    Setting("stay_inside", None,
            "do not follow links that lead out of the directory of runs, show them (default: yes unless the host is local)",
            _switch),
    Setting("cache", True, "cache parsed columns on disk, so the next start reads only new bytes", _switch),
    Setting("enable_debugger", False, "let live training connect, which needs mindscope[debugger]", _switch, valued=True),
    Setting("debugger_port", 50051, "port that live training connects to, 0 for any free port",
            _number(0, 65535, "a whole number from 0 to 65535")),
    Setting("dask", "", "address of a Dask scheduler on whose workers large jobs are read, which needs mindscope[dask]",
            _text("the address of a Dask scheduler")),
    Setting("dask_trust", False,
            "let that scheduler be on another machine without tls: whoever can write to it can run code here", _switch),
    Setting("read_only", False, "let nobody change remarks, views, boards, marks, colours, watchpoints and live training",
            _switch),
    Setting("user_header", "", "header in which a proxy names the visitor, for remarks, views and boards", _header),
    Setting("trusted_proxy", (), "address or network of a proxy whose headers are believed (repeatable)", _network,
            repeatable=True),
    Setting("editors", "", "names of the only visitors who may change anything, separated by commas", _text("names")),
    Setting("open", False, "open the address in a browser", _switch),
    Setting("debug", False, "log more; tracebacks go to the log, never to the browser", _switch),
    Setting("token", "", "token required from visitors, instead of a random one", _token, secret=True),
)
# Options of the predecessor that have no use here: accepted and ignored with one line of warning.
NOT_YET = ("offline_debugger_mem_limit", "max_offline_debugger_session_num")


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, resolved and valid."""

    summary_base_dir: tuple[str, ...]
    port: int
    host: str
    url_path_prefix: str
    public_prefix: str
    workspace: str
    reload_interval: int
    mirror_every: int
    mirror_most: str
    mirror_largest: str
    allowed_host: tuple[str, ...]
    table: tuple[str, ...]
    stay_inside: bool
    cache: bool
    enable_debugger: bool
    debugger_port: int
    dask: str
    dask_trust: bool
    read_only: bool
    user_header: str
    trusted_proxy: tuple[str, ...]
    editors: str
    open: bool
    debug: bool
    token: str


def resolve(
    options: Mapping[str, str | Sequence[str]], environment: Mapping[str, str], config: Mapping[str, Any] | None = None,
    *, config_name: str = "",
) -> Settings:
    """Resolve and validate the settings; raises SettingError. options holds only those given on the command line."""
    config = config or {}
    _refuse_unknown(config, config_name)
    values = {s.name: _value(s, options, environment, config, config_name) for s in SETTINGS}
    if values["stay_inside"] is None:
        values["stay_inside"] = not is_local(values["host"])
    if values["user_header"] and not values["trusted_proxy"]:
        raise SettingError("--user-header: expected --trusted-proxy with the address of the proxy that sends it, found none")
    if values["editors"] and not values["user_header"]:
        raise SettingError("--editors: expected --user-header, the header with the names of visitors, found none")
    return Settings(**values)


def _value(
    setting: Setting, options: Mapping[str, str | Sequence[str]], environment: Mapping[str, str], config: Mapping[str, Any],
    config_name: str,
) -> Any:
    if setting.name in options:
        return _parsed(setting, options[setting.name], setting.option)
    for variable in (setting.variable, setting.variable.replace("MINDSCOPE_", "MINDINSIGHT_", 1)):
        text = environment.get(variable, "")
        if text:
            return _parsed(setting, _divided(text) if setting.repeatable else text, variable)
    if setting.name in config:
        return _configured(setting, config[setting.name], f"{config_name}: {setting.name}")
    return setting.default


def _divided(text: str) -> Sequence[str]:
    """Return the values in a variable; a path that exists is one, even with a comma in its name."""
    return [text] if os.path.exists(text) else [part.strip() for part in text.split(",") if part.strip()]


def _parsed(setting: Setting, raw: str | Sequence[str], origin: str) -> Any:
    texts = [raw] if isinstance(raw, str) else list(raw)
    try:
        parsed = tuple(setting.parse(text) for text in texts)
    except ValueError as error:
        found = f"{len(texts[0])} characters" if setting.secret else ", ".join(repr(text) for text in texts)
        raise SettingError(f"{origin}: expected {error}, found {found}") from None
    return parsed if setting.repeatable else parsed[0]


def _configured(setting: Setting, value: Any, origin: str) -> Any:
    """Validate a value of the configuration file. TOML has types: a string is not accepted for a number, nor the reverse."""
    items = value if setting.repeatable and isinstance(value, list) else [value]
    kind = str if setting.repeatable else bool if setting.default is None else type(setting.default)
    if any(type(item) is not kind for item in items):
        expected = {str: "a text", int: "a whole number", bool: "true or false"}[kind]
        raise SettingError(f"{origin}: expected {expected}, found {value!r}")
    texts = [str(item) for item in items]
    return _parsed(setting, texts if setting.repeatable else texts[0], origin)


def _refuse_unknown(config: Mapping[str, Any], config_name: str) -> None:
    names = [setting.name for setting in SETTINGS]
    for key in config:
        if key not in names:
            from difflib import get_close_matches

            near = get_close_matches(key, names, 1)
            hint = f"did you mean {near[0]}?" if near else "one of " + ", ".join(names)
            raise SettingError(f"{config_name}: expected the name of a setting, found {key!r} ({hint})")


def read_config(path: str) -> dict[str, Any]:
    """Read a TOML file; return its values by setting name (hyphens become underscores). Raises SettingError.

    The file is data: the predecessor's forms that ran Python code are refused.
    """
    if path.startswith("python:") or path.endswith(".py"):
        raise SettingError(f"--config: expected a TOML file, found {path!r}: Python code is never run as configuration")
    path = path.removeprefix("file:")
    try:
        with open(path, "rb") as stream:
            loaded = tomllib.load(stream)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise SettingError(f"--config: expected a readable TOML file, found {path!r}: {reason}") from None
    except (ValueError, RecursionError) as error:  # also of a number with thousands of digits
        reason = "too deep nesting" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise SettingError(f"--config: expected valid TOML in {path!r}, found an error: {reason}") from None
    return {key.replace("-", "_"): value for key, value in loaded.items()}
