"""Opens the storage of a study: a journal in the workspace, one on a shared file system, or a database. Credentials stay here.

No message has the user or password of a database, and neither has the environment of a trial.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import optuna

from app.commands.settings import SettingError
from app.tuning.journal_file import JournalFile
from parsers.errors import FormatError

SCHEMES = ("postgresql", "mysql", "sqlite")
VARIABLE = "MINDSCOPE_STORAGE"


class StorageError(Exception):
    """A storage cannot be opened or used; the text says why, without credentials."""


@dataclass(frozen=True, slots=True)
class Opened:
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


def open_storage(place: str, say: Callable[[str], None], *, shared: bool) -> Opened:
    """Open a storage. StorageError says why it cannot be used."""
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    return _open_database(place) if "://" in place else _open_journal(place, say, shared)


def _open_journal(path: str, say: Callable[[str], None], shared: bool) -> Opened:
    path = os.path.abspath(os.path.expanduser(path))
    if os.path.isdir(path):
        path = os.path.join(path, "journal.log")
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        journal = JournalFile(path, say)
        return Opened(optuna.storages.JournalStorage(journal), journal, path, shared)
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}") from None
    except FormatError as error:
        raise StorageError(str(error)) from None
    except (AssertionError, KeyError, TypeError, ValueError) as error:
        text = f"{path}: expected a journal of Optuna {optuna.__version__}, found one that it cannot read ({error!r})"
        raise StorageError(text) from None


def _open_database(address: str) -> Opened:
    scheme = urlsplit(address).scheme.partition("+")[0]
    if scheme not in SCHEMES:
        raise StorageError(f"storage: expected a path, or an address of {', '.join(SCHEMES)}, found one of {scheme!r}")
    label, secrets = label_of(address), _secrets(address)
    try:
        storage = optuna.storages.RDBStorage(address, engine_kwargs={"pool_pre_ping": True})
    except ImportError as error:
        text = str(error).partition("\n")[0]
        raise StorageError(f"{label}: a driver of this database is missing: {_safe(text, secrets)}") from None
    except Exception as error:  # noqa: BLE001  drivers have exceptions of their own
        raise StorageError(f"{label}: {_safe_text(error, secrets)}") from None
    return Opened(storage, None, label, True, secrets)


def label_of(address: str) -> str:
    """Return an address without user, password and options."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def _secrets(address: str) -> tuple[str, ...]:
    """Return the texts of an address that nobody is to see, long ones first."""
    parts = urlsplit(address)
    userinfo = parts.netloc.rpartition("@")[0]
    found = {userinfo, *userinfo.split(":"), *(unquote(one) for one in userinfo.split(":"))}
    found |= {value for name, value in parse_qsl(parts.query) if name.lower() in ("user", "password", "passwd", "sslkey")}
    return tuple(sorted((one for one in found if one), key=len, reverse=True))


def _safe_text(error: BaseException, secrets: tuple[str, ...]) -> str:
    cause = getattr(error, "orig", None) or error.__cause__ or error
    text = getattr(cause, "strerror", None) or str(cause).strip().partition("\n")[0] or type(cause).__name__
    return _safe(text, secrets)


def _safe(text: str, secrets: tuple[str, ...]) -> str:
    if any(len(one) < 3 and one in text for one in secrets):
        return "the database reports an error whose text may hold credentials"
    for one in secrets:
        text = text.replace(one, "***")
    return text
