"""Start a server in the foreground or as a background process."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from app.commands import processes
from app.commands.remote_runs import mirrored
from app.commands.roots import Root, paths_of, roots_of
from app.commands.settings import SETTINGS, SettingError, Settings, is_local
from app.store import workspace
from app.store.mounts import network_of

SWITCH_SECONDS = 0.0005
"""Thread switch interval: with Python's default of 5 ms, small responses took 14 ms while a thread parsed; now 2.7 ms."""
PATIENCE = 60.0
"""Seconds within which a background server must answer."""
_ARENAS = 2
"""Arenas of glibc's malloc. It would make one per thread, up to eight per core, and what is freed in one serves its own threads
only: after five minutes of runs that come and go 140 MB were free and not given back; with two arenas it was 33 MB."""
_M_ARENA_MAX = -8
"""The name of this setting to mallopt (malloc.h of glibc)."""
_SELDOM = (20_000, 10, 10)
"""Thresholds of the search for garbage (`gc.set_threshold`) while runs are read first: once in two million new objects."""
LARGEST_LOG = 10 << 20
"""Bytes; a larger log is renamed to <name>.1 when a server starts."""
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared with, not bound to


class ServerStartError(RuntimeError):
    """The server cannot start, for a reason that is not a setting; the text is one line."""


def is_demo(roots: Sequence[Root]) -> bool:
    """Return whether the demo is what is to be shown."""
    return [root.path for root in roots] == [demo_directory()]


def demo_directory() -> str:
    """Return the directory of the recorded runs of the demo."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "demo", "runs")


def _announcement() -> str:
    from app.demo import prepared

    return prepared.announcement()


def demo_places() -> Any:
    """Return what the demo answers the questions of the start page with."""
    from app.demo import story

    return story.places()


def demo_jobs(failed: threading.Event) -> Callable[[], Collection[str]]:
    """Return what tells the names of the jobs that the demo writes into its directory; none once that has failed."""
    from app.demo import story

    return lambda: () if failed.is_set() else (story.JOB, story.JOB_REPAIRED)


def served_demo(base: str, directories: Directories, failed: threading.Event | None = None) -> str:
    """Return the directory to serve for that of the demo: its copy in the workspace, where the jobs are written to as well.

    failed is set if they are not.
    """
    failed = failed or threading.Event()
    from app.demo import prepared

    print(_announcement(), flush=True)
    if not directories.workspace:
        print("mindscope: without a workspace the demo has no jobs of ranks", file=sys.stderr, flush=True)
        failed.set()
        return base
    try:
        served = [record.base for record in processes.running(directories.records or None)]
        return os.fspath(prepared.prepare(Path(directories.workspace), _child_environment("", ""), served, failed))
    except OSError as error:
        print(f"mindscope: the demo has no jobs of ranks: {error}", file=sys.stderr, flush=True)
        failed.set()
        return base


@dataclass(frozen=True, slots=True)
class Directories:
    """Directories a server writes to, "" for none: the workspace (index, notes, logs) and the records of running servers.

    warning says in one line what does not work because the user's cache directory cannot be written to.
    """

    workspace: str
    records: str
    warning: str = ""


def prepare_directories(settings: Settings, roots: Sequence[Root]) -> Directories:
    """Create the directories if necessary. Raises SettingError if the workspace the user named is invalid.

    One on a file system that is read-only now is left alone, and no other takes its place.
    """
    bases = [root.path for root in roots if root.address is None]
    what = "no index, no remarks and no views" if settings.cache else "no remarks and no views"
    origin = "the user's cache directory"
    try:
        named = _apart(settings.workspace, bases) if settings.workspace else ""
    except workspace.ReadOnlyError as error:
        records = ""
        with contextlib.suppress(SettingError):
            records = workspace.subdirectory(_apart(workspace.cache_directory(), bases, origin), processes.RECORDS)
        return Directories("", records, f"{what} are kept: {error}")
    try:
        # Records are kept in the cache directory even with another workspace, so that `status` finds every server.
        cache = _apart(workspace.cache_directory(), bases, origin)
        return Directories(named or cache, workspace.subdirectory(cache, processes.RECORDS, origin=origin))
    except SettingError as error:
        lost = "status and stop will not find this server"
        if named:
            return Directories(named, workspace.subdirectory(named, processes.RECORDS), f"{lost}: {error}")
        return Directories("", "", f"{lost}; {what} are kept (name a directory outside the runs with --workspace): {error}")


def _apart(path: str, bases: Sequence[str | None], origin: str = "--workspace") -> str:
    for base in bases or [None]:
        path = workspace.prepare(path, base=base, origin=origin)
    return path


def opened_at(url: str, *, demo: bool) -> str:
    """Return the URL that users open: the demo begins with the questions that its runs answer."""
    return f"{url}start" if demo else url


def log_file(directory: str, host: str, port: int) -> str:
    """Return the path of a background server's log."""
    return os.path.join(workspace.subdirectory(directory, "log"), f"{processes.file_stem(host.strip('[]'), port)}.log")


def address(host: str, port: int, prefix: str) -> str:
    """Return the URL to open, without a token. For a server that listens on all addresses it has this machine's name."""
    name = socket.gethostname() if host.strip("[]") in EVERYWHERE else host.strip("[]")
    name = f"[{name}]" if ":" in name else name
    return f"http://{name}:{port}{prefix}"


# In the foreground --------------------------------------------------------------------------------------------------


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or Ctrl-C. Raises SettingError or ServerStartError."""
    with no_garbage() as enough:
        _serve(settings, enough)


def _serve(settings: Settings, enough: Callable[[Any], None]) -> None:
    """Serve; call enough with the store once all is imported."""
    from app.web import security

    roots = roots_of(settings.summary_base_dir, remote=True)
    directories = prepare_directories(settings, roots)
    _warn(directories)
    places, expected = None, None
    demo = is_demo(roots)
    if demo:
        failed = threading.Event()
        roots, places = (Root(served_demo(roots[0].path, directories, failed)),), demo_places()
        expected = demo_jobs(failed)
    base = paths_of(roots)
    show_token = not settings.token
    token = settings.token or ("" if is_local(settings.host) else security.new_token())
    with _listening(settings, base) as listener:
        _set_up_process(settings)
        with (
            _copied(settings, roots, directories.workspace) as (local, wishes), _debugger(settings) as sessions,
            open_store(settings, local, directories.workspace, sessions, places, wishes, expected) as store,
        ):  # fmt: skip
            listen_address, port = listener.getsockname()[:2]
            server = _create_server(settings, store, listener, token, demo=demo)
            url = address(settings.host, port, settings.url_path_prefix)
            log = os.environ.pop("MINDSCOPE_LOG", "")
            record = processes.own_record(
                url=url, address=listen_address, port=port, base=base, directory=directories.workspace, log=log
            )
            with processes.recorded(record, directories.records):
                first = opened_at(url, demo=demo)
                print(f"Serving {base}\nWeb address: {first}{f'?token={token}' if token and show_token else ''}", flush=True)
                if sessions is not None:
                    print(f"Live training: {sessions.host}:{sessions.port}", flush=True)
                stem = processes.file_stem(listen_address, port)
                with _browser(settings, first, token, directories.records, stem):
                    enough(store)
                    server.run()


@contextlib.contextmanager
def no_garbage() -> Iterator[Callable[[Any], None]]:
    """Look for no garbage among what is imported, which takes a tenth of the start, until the function given is called.

    Called with a store, it has garbage looked for seldom until that has read all runs: what is read stays, and looking through
    it again and again takes a tenth of the time.
    """
    usual = gc.get_threshold()

    def enough(store: Any) -> None:
        gc.freeze()
        gc.set_threshold(*_SELDOM)
        gc.enable()
        store.when_read(lambda: gc.set_threshold(*usual))

    gc.disable()
    try:
        yield enough
    finally:
        gc.enable()


@contextlib.contextmanager
def _copied(settings: Settings, roots: Sequence[Root], directory: str) -> Iterator[tuple[list[Root], dict[str, str]]]:
    """The roots on this disk, to which mirrors copy those that are elsewhere; for each of these the file with its wishes."""
    options = {
        "--every": str(settings.mirror_every), "--most": settings.mirror_most, "--largest": settings.mirror_largest,
    }  # fmt: skip
    environment = _child_environment("", "")
    local, wishes = [], {}
    with contextlib.ExitStack() as mirrors:
        for root in roots:
            if root.address is None:
                local.append(root)
                continue
            found = mirrors.enter_context(mirrored(root.address, directory, environment, options))
            local.append(Root(found.directory, root.name or (os.path.basename(root.path) if len(roots) > 1 else "")))
            wishes[found.directory] = found.wishes
        yield local, wishes


def _warn(directories: Directories) -> None:
    for text in warnings_of(directories):
        print(f"mindscope: {text}", file=sys.stderr, flush=True)


def warnings_of(directories: Directories) -> list[str]:
    """Return what is said at the start about the directories that a server writes to, a line each."""
    found = [directories.warning] if directories.warning else []
    network = network_of(directories.workspace) if directories.workspace else ""
    if network:
        found.append(
            f"the workspace {directories.workspace} is on {network}, where the index is slow, and damaged if several machines "
            "write to it: name a local directory with --workspace (remarks and views do work there)"
        )
    return found


def _browser(settings: Settings, url: str, token: str, directory: str, name: str) -> contextlib.AbstractContextManager[None]:
    if not settings.open:
        return contextlib.nullcontext()
    from app.commands.opening import opened

    return opened(url, token=token, directory=directory, name=name)


def _set_up_process(settings: Settings) -> None:
    os.umask(0o077)
    _limit_arenas()
    sys.setswitchinterval(SWITCH_SECONDS)
    logging.basicConfig(
        level=logging.DEBUG if settings.debug else logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    # SIGTERM ends the server's loop as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def _limit_arenas() -> None:
    """Let all threads share a few arenas, before they have any; MALLOC_ARENA_MAX overrides it. Other libraries have none."""
    if sys.platform.startswith("linux") and "MALLOC_ARENA_MAX" not in os.environ:
        with contextlib.suppress(AttributeError):  # as musl's has no such function
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)


@contextlib.contextmanager
def _listening(settings: Settings, base: str) -> Iterator[socket.socket]:
    """Open a socket that listens on the address of the settings."""
    host = settings.host.strip("[]")
    try:
        found = socket.getaddrinfo(host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError):
        raise SettingError(f"--host: expected a name or address of this machine, found {settings.host!r}") from None
    family, kind, protocol, _, socket_address = found[0]
    with socket.socket(family, kind, protocol) as listener:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(socket_address)
            listener.listen(1024)
        except OSError as error:
            raise _cannot_listen(error, settings, str(socket_address[0]), base) from None
        listener.setblocking(False)
        yield listener


def _cannot_listen(error: OSError, settings: Settings, bound: str, base: str) -> Exception:
    if error.errno == errno.EADDRNOTAVAIL:
        return SettingError(f"--host: expected a name or address of this machine, found {settings.host!r}")
    if error.errno != errno.EADDRINUSE:
        return ServerStartError(f"port {settings.port} cannot be used: {error.strerror}")
    overlapping = {bound, *EVERYWHERE}
    records = processes.at_port(settings.port)
    record = next((record for record in records if bound in EVERYWHERE or record.address in overlapping), None)
    if record is None:
        who = processes.listener(settings.port) or "another user's process"
        return ServerStartError(f"port {settings.port} is in use by {who}: choose another with --port")
    if os.path.realpath(record.base) == os.path.realpath(base):
        return ServerStartError(f"{base} is already served at {record.url} (pid {record.pid})")
    return ServerStartError(
        f"port {settings.port} is in use by Mindscope (pid {record.pid}), which serves {record.base}: "
        f"choose another with --port, or stop it with 'mindscope stop --port {settings.port}'"
    )


@contextlib.contextmanager
def _debugger(settings: Settings) -> Iterator[Any]:
    """The sessions of live training while the server listens for it; None if it is not enabled."""
    if not settings.enable_debugger:
        yield None
        return
    from app.live.server import CannotListen, DebuggerServer
    from app.live.sessions import Sessions

    sessions = Sessions()
    try:
        server = DebuggerServer(sessions, settings.host.strip("[]"), settings.debugger_port)
    except CannotListen as error:
        raise ServerStartError(str(error)) from None
    if not is_local(settings.host):
        warning = f"mindscope: port {server.port} has no login: whoever reaches it can open sessions of live training"
        print(warning, file=sys.stderr, flush=True)
    try:
        yield sessions
    finally:
        server.stop()


def cluster_engine(address: str, *, trust: bool, do: Any = None, otherwise: Any = None) -> Any:
    """Return the engine that reads on a Dask cluster, None without an address; one line says what was connected to.

    do and otherwise are those of `app.dask_engine.Dask`, by default for ranks of jobs. SettingError if the address must not
    be used, or Dask is not installed. A scheduler that cannot be reached is tried again when there is something to read.
    """
    if not address:
        return None
    from app.dask_engine import Dask, DaskError
    from app.dask_pieces import read_rank
    from app.engines import ByAmount

    try:
        engine = Dask(address, trust=trust, do=do or read_rank, otherwise=otherwise or ByAmount())
    except DaskError as error:
        raise SettingError(f"--dask: {error}") from None
    try:
        print(f"Dask: {engine.connect()} at {engine.address}", file=sys.stderr, flush=True)
    except DaskError as error:
        print(f"mindscope: {error}; reading on this machine until it can", file=sys.stderr, flush=True)
    return engine


@contextlib.contextmanager
def open_store(
    settings: Settings, roots: Sequence[Root], directory: str, sessions: Any = None, places: Any = None,
    wishes: dict[str, str] | None = None, expected: Callable[[], Collection[str]] | None = None,
) -> Iterator[Any]:
    """The store of the runs. It starts reading at once, while the remaining modules are imported."""
    from app.store.store import Store
    from parsers.discovery import source_of

    files = [root.path for root in roots if os.path.isfile(root.path)]
    folders = {root.path: root.name for root in roots if root.path not in files}
    index = workspace.subdirectory(directory, "index") if settings.cache and directory else None
    notes = workspace.subdirectory(directory, "notes") if directory else None
    studies = os.path.join(directory, "studies") if directory else None
    store = Store(
        list(folders), names=folders, sources=list(map(source_of, files)), interval=settings.reload_interval,
        index_directory=index, notes_directory=notes, studies_directory=studies,
        stay_inside=settings.stay_inside, sessions=sessions,
        engine=_engine(settings), places=places, visitor=_people(settings), wishes=wishes,
        expected=expected,
    ).start()  # fmt: skip
    try:
        yield store
    finally:
        store.stop()


def _engine(settings: Settings) -> Any:
    """Return what reads the ranks of jobs: None for processes of this machine."""
    if not settings.dask:
        return None
    from app.engines import ByAmount  # with all that reads profiles: 120 modules

    return ByAmount(processes=cluster_engine(settings.dask, trust=settings.dask_trust))


def _people(settings: Settings) -> Any:
    """Return who may change what (`app.web.people.People`)."""
    from app.web.people import People, networks

    editors = frozenset(name.strip() for name in settings.editors.split(",")) - {""}
    return People(settings.read_only, settings.user_header, networks(settings.trusted_proxy), editors)


def _create_server(settings: Settings, store: Any, listener: socket.socket, token: str, *, demo: bool) -> Any:
    from app.web.connections import create_server
    from app.web.server import create_app
    from app.web.status_first import StatusFirst

    app = create_app(
        store, prefix=settings.url_path_prefix, public_prefix=settings.public_prefix or None, host=settings.host,
        allowed_hosts=settings.allowed_host, token=token, cookie=f"mindscope-{listener.getsockname()[1]}",
        people=_people(settings), demo="here" if demo else "",
    )  # fmt: skip
    return create_server(StatusFirst(app), listener, refuse=app.guard.refuse_early, is_light=app.is_light)


# In the background --------------------------------------------------------------------------------------------------


def serve_in_background(settings: Settings) -> str:
    """Start a server as a background process, wait for its first answer and return the text to print.

    Raises SettingError and ServerStartError.
    """
    from app.web import security

    roots = roots_of(settings.summary_base_dir, remote=True)
    directories = prepare_directories(settings, roots)
    if not directories.workspace:
        place = f"for its log outside the runs in {paths_of(roots)!r}: name one with --workspace"
        raise SettingError(f"--background: expected a directory {place}, or start it in the foreground")
    _warn(directories)
    log = log_file(directories.workspace, settings.host, settings.port)
    token = settings.token or ("" if is_local(settings.host) else security.new_token())
    begin = _make_room(log)
    with open(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as output:
        child = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-P", "-m", "app", "start", *_as_options(settings, roots, directories.workspace)],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
            env=_child_environment(token, log),
        )  # fmt: skip
    record = _first_answer(child, settings, directories.records, log, begin)
    demo = is_demo(roots)
    first = opened_at(record.url, demo=demo)
    shown = f"{first}?token={token}" if token else first
    head = f"{_announcement()}\n" if demo else ""
    return f"{head}Web address: {shown}\nProcess: {record.pid}\nLog: {log}"


def _make_room(log: str) -> int:
    """Rename a log that has grown too large; return the offset at which new output begins."""
    with contextlib.suppress(FileNotFoundError):
        size = os.path.getsize(log)
        if size <= LARGEST_LOG:
            return size
        os.replace(log, log + ".1")
    return 0


def _as_options(settings: Settings, roots: Sequence[Root], directory: str) -> list[str]:
    """Return the settings as command-line options. The token is passed in the environment, which other users cannot read."""
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    values |= {"summary_base_dir": [root.text for root in roots], "workspace": directory}
    options = []
    for setting in SETTINGS:
        value = values[setting.name]
        if setting.secret or value == "":
            continue
        if isinstance(value, bool):
            options.append(setting.option if value else setting.option.replace("--", "--no-", 1))
        else:
            options += [f"{setting.option}={item}" for item in (value if setting.repeatable else [value])]
    return options


def _child_environment(token: str, log: str) -> dict[str, str]:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    names = {setting.variable for setting in SETTINGS} | {s.variable.replace("SCOPE", "INSIGHT", 1) for s in SETTINGS}
    inherited = {name: value for name, value in os.environ.items() if name not in names}
    return {**inherited, "PYTHONPATH": path, "MINDSCOPE_LOG": log} | ({"MINDSCOPE_TOKEN": token} if token else {})


def _first_answer(
    child: subprocess.Popen[bytes], settings: Settings, records: str, log: str, begin: int
) -> processes.ServerRecord:
    # A server that listens on all addresses also answers on the loopback address, which needs no name lookup.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host.strip("[]"), settings.host)  # noqa: S104
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if child.poll() is not None:
            raise ServerStartError(_last_line(log, begin) or f"the server ended with exit code {child.returncode}; see {log}")
        record = next((record for record in processes.running(records) if record.pid == child.pid), None)
        if record is not None and _answers(address(host, record.port, settings.url_path_prefix)):
            return record
        time.sleep(0.05)
    child.kill()
    raise ServerStartError(f"the server did not answer within {PATIENCE:g} s; see {log}")


def _answers(url: str) -> bool:
    import urllib.error  # with 15 modules, which only a start in the background uses
    import urllib.request

    # No proxy: the address belongs to this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url + "health", timeout=5) as answer:
            return bool(answer.status == 200)
    except urllib.error.HTTPError as error:
        # 503: the server runs but could not scan the runs; its pages show why.
        return error.code == 503
    except (OSError, urllib.error.URLError):
        return False


def _last_line(log: str, begin: int) -> str:
    with open(log, encoding="utf-8", errors="replace") as stream:
        stream.seek(begin)
        lines = [line.strip() for line in stream if line.strip()]
    return lines[-1].removeprefix("mindscope: ") if lines else ""
