"""Opens the storage of a study: a journal in the workspace, one on a shared file system, or a database. Credentials stay here.

No message has the user or password of a database, and neither has the environment of a trial.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, quote_plus

import optuna

from app.commands.settings import SettingError
from app.tuning.journal_file import JournalFile
from parsers.errors import FormatError

if TYPE_CHECKING:
    from sqlalchemy import URL

SCHEMES = ("postgresql", "mysql", "sqlite")
VARIABLE = "MINDSCOPE_STORAGE"


class StorageError(Exception):
    """A storage cannot be opened or used; the text says why, without credentials."""


@dataclass(frozen=True, slots=True)
class OpenStorage:
    """A storage. journal is its file if it is one, label its name without credentials, shared: others may use it elsewhere."""

    storage: Any
    journal: JournalFile | None
    label: str
    shared: bool
    secrets: tuple[str, ...] = ()

    @contextlib.contextmanager
    def batch(self) -> Iterator[None]:
        """Write what the body changes at once, where the storage can."""
        if self.journal is None:
            yield
        else:
            with self.journal.batch():
                yield

    def catch_up(self) -> None:
        """Read on after an update was refused, as of a trial that another tuner has finished: each refused record of a journal
        is reported once."""
        for _ in range(1000):
            try:
                self.storage.get_all_studies()
            except optuna.exceptions.UpdateFinishedTrialError:
                continue
            return

    def failure(self, error: BaseException) -> str:
        """Return what went wrong, in one line without credentials."""
        return f"{self.label}: {_safe_text(error, self.secrets)}"


def failures() -> tuple[type[Exception], ...]:
    """Return the exceptions of a storage that may work again later: a full disk, a database that does not answer."""
    from sqlalchemy.exc import SQLAlchemyError

    return (OSError, SQLAlchemyError, optuna.exceptions.StorageInternalError, sqlite3.Error)


def chosen(option: str | None, default: str) -> tuple[str, bool]:
    """Return the storage (a path or an address), and whether it was named. SettingError for a password on the command line."""
    if option:
        if "://" in option and _secrets(option):
            raise SettingError(
                f"--storage: expected an address without user and password, since process lists show it; put it into {VARIABLE}"
            )
        return option, True
    found = os.environ.get(VARIABLE, "")
    return (found, True) if found else (default, False)


def open_storage(place: str, say: Callable[[str], None], *, shared: bool) -> OpenStorage:
    """Open a storage. StorageError says why it cannot be used."""
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    return _open_database(place) if "://" in place else _open_journal(place, say, shared)


def _open_journal(path: str, say: Callable[[str], None], shared: bool) -> OpenStorage:
    path = os.path.abspath(os.path.expanduser(path))
    if os.path.isdir(path):
        path = os.path.join(path, "journal.log")
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        journal = JournalFile(path, say)
        return OpenStorage(optuna.storages.JournalStorage(journal), journal, path, shared)
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}") from None
    except FormatError as error:
        raise StorageError(str(error)) from None
    except (AssertionError, KeyError, TypeError, ValueError) as error:
        text = f"{path}: expected a journal of Optuna {optuna.__version__}, found one that it cannot read ({error!r})"
        raise StorageError(text) from None


def _open_database(address: str) -> OpenStorage:
    url = _parsed(address)
    if url is None:
        raise StorageError(
            "storage: expected an address like postgresql://USER:PASSWORD@HOST:PORT/NAME, found one that cannot be read; "
            "write @ within user or password as %40"
        )
    scheme = url.drivername.partition("+")[0]
    if scheme not in SCHEMES:
        raise StorageError(f"storage: expected a path, or an address of {', '.join(SCHEMES)}, found one of {scheme!r}")
    label, secrets = _label(url), _secrets(address)
    try:
        storage = optuna.storages.RDBStorage(address, engine_kwargs={"pool_pre_ping": True})
    except ImportError as error:
        text = str(error.__cause__ or error).partition("\n")[0]
        advice = {"postgresql": "pip install 'psycopg[binary]'", "mysql": "pip install pymysql, and mysql+pymysql://"}
        how = f" ({advice[scheme]})" if scheme in advice else ""
        raise StorageError(f"{label}: a driver of this database is missing{how}: {_safe(text, secrets)}") from None
    except Exception as error:  # noqa: BLE001  drivers have exceptions of their own
        raise StorageError(f"{label}: {_safe_text(error, secrets)}") from None
    return OpenStorage(storage, None, label, True, secrets)


def _parsed(address: str) -> URL | None:
    """Return the parts of an address as the database gets them; None if it has none, or an @ that may be within a password."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        return None
    if url.drivername.startswith("sqlite"):
        return url
    return None if address.count("@") > 1 or "@" in f"{url.host}{url.database}" else url


def _label(url: URL) -> str:
    """Return an address without user, password and options."""
    from sqlalchemy import URL

    return URL.create(url.drivername, host=url.host, port=url.port, database=url.database).render_as_string()


def _secrets(address: str) -> tuple[str, ...]:
    """Return the texts of an address that nobody is to see, long ones first."""
    url = _parsed(address)
    if url is None:
        userinfo = address.partition("://")[2].rpartition("@")[0]
        return (userinfo,) if userinfo else ()
    found = {text for text in (url.username, None if url.password is None else str(url.password)) if text}
    hidden = ("user", "pass", "pwd", "key")
    found |= {value for name, value in parse_qsl(address.partition("?")[2]) if any(part in name.lower() for part in hidden)}
    found |= {coded(text) for text in found for coded in (quote, quote_plus)}
    return tuple(sorted((one for one in found if one), key=len, reverse=True))


def _safe_text(error: BaseException, secrets: tuple[str, ...]) -> str:
    cause = error
    while (inner := getattr(cause, "orig", None) or cause.__cause__) is not None:
        cause = inner
    text = getattr(cause, "strerror", None) or str(cause).strip().partition("\n")[0] or type(cause).__name__
    return _safe(text, secrets)


def _safe(text: str, secrets: tuple[str, ...]) -> str:
    """Return a text with asterisks for secrets; those of one or two letters are replaced as words only."""
    for one in secrets:
        text = text.replace(one, "***") if len(one) > 2 else re.sub(rf"(?<!\w){re.escape(one)}(?!\w)", "***", text)
    return text
