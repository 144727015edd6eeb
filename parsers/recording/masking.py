"""Masks what looks like a secret in names with values: options of a command, settings, and addresses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

MASK = "***"
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRETS = {"key", "keys", "auth", "authorization", "pwd", "pwds", "passphrase", "pass"}
_ENDINGS = ("token", "secret", "password", "passwd", "apikey", "credential")
_COUNTED = {"key", "keys", "token", "tokens", "auth"}
_SWITCHES = {"", "no", "yes", "all", "none", "true", "false", "auto"}
_LOGIN = re.compile(r"(?<=://)[^/@\s]+@")
_QUERY = re.compile(r"(?<=[?&;])([^=&;#\s]+)=([^&;#\s]+)")


def is_secret(name: str) -> bool:
    """Return whether a name looks like that of a secret: api_key, accessToken, db.password, but not tokenizer or monkey."""
    return any(_secret_word(word.lower()) for word in _WORD.findall(name))


def _secret_word(word: str) -> bool:
    return word in _SECRETS or word.endswith(_ENDINGS) or (word.endswith("s") and word[:-1].endswith(_ENDINGS))


def without_secrets(text: str) -> str:
    """Return a text with `***` for logins and secrets in the addresses it holds."""

    def hidden(match: re.Match[str]) -> str:
        return f"{match[1]}={MASK}" if is_secret(match[1]) else match[0]

    return _QUERY.sub(hidden, _LOGIN.sub(f"{MASK}@", text))


def masked(arguments: Sequence[str]) -> list[str]:
    """Return arguments of a command with `***` for the values of options such as --api-key, also in URLs with a password."""
    found, hide = [], False
    for argument in arguments:
        name, equals, _value = argument.partition("=")
        address = "://" in name
        if hide and not argument.startswith("--"):
            found.append(MASK)
            hide = False
            continue
        if equals and not address and is_secret(name):
            found.append(f"{name}={MASK}")
        else:
            found.append(without_secrets(argument))
        hide = argument.startswith("-") and not equals and is_secret(argument)
    return found


def masked_setting(name: str, value: Any) -> Any:
    """Return the value of a setting, or `***` where its name looks like a secret.

    Numbers below names such as max_tokens or key_size are amounts and stay, as do switches such as "no".
    """
    amount = isinstance(value, (bool, int, float)) and _is_amount(name)
    switch = value is None or (isinstance(value, str) and value.lower() in _SWITCHES)
    if is_secret(name) and not amount and not switch:
        return MASK
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, Mapping):
        return {key: masked_setting(str(key), one) for key, one in value.items()}
    if type(value) in (list, tuple):
        if all(isinstance(one, str) for one in value):
            return type(value)(masked(value))
        return type(value)(masked_setting("", one) for one in value)
    return value


def _is_amount(name: str) -> bool:
    words = (word.lower() for word in _WORD.findall(name))
    return all(word in _COUNTED for word in words if _secret_word(word))
