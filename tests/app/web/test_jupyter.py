"""Addresses behind JupyterHub and other proxies of notebooks, and what the launcher of JupyterLab starts."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from app.commands.settings import parse_prefix, resolve
from app.web.jupyter import launcher, notebook_url

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(("environment", "url"), [
    ({}, ""),
    ({"JUPYTERHUB_SERVICE_PREFIX": "/user/ann/"}, "/user/ann/proxy/8001/"),
    ({"BASE_URL": "/notebook/7"}, "/notebook/7/proxy/8001/"),
    ({"BASE_URL": "https://lab.example/n/7/"}, "https://lab.example/n/7/proxy/8001/"),
    ({"PROXY_URL": "https://lab.example/%PORT%/x", "BASE_URL": "/b"}, "https://lab.example/8001/x/"),
    ({"PROXY_URL": "https://lab.example/", "BASE_URL": "/b"}, "/b/proxy/8001/"),
])  # fmt: skip
def test_what_the_environment_says_of_ports(environment: dict[str, str], url: str) -> None:
    assert notebook_url(8001, environment) == url


def test_the_launcher_starts_our_server_with_a_token_of_its_own() -> None:
    given, other = launcher(), launcher()
    token = given["environment"]["MINDSCOPE_TOKEN"]
    assert token != other["environment"]["MINDSCOPE_TOKEN"]
    assert given["request_headers_override"]["Authorization"] == f"Bearer {token}"
    assert token not in " ".join(given["command"])
    assert Path(given["launcher_entry"]["icon_path"]).is_file()
    options = dict(zip(given["command"][4::2], given["command"][5::2], strict=True))
    values = {name.removeprefix("--").replace("-", "_"): text for name, text in options.items()}
    rendered = {name: text.format(port=8001, base_url="/user/ann@lab/") for name, text in values.items()}
    settings = resolve(rendered, given["environment"])
    assert (settings.port, settings.url_path_prefix, settings.token) == (8001, "/user/ann@lab/mindscope/", token)


def test_the_entry_point_and_the_extension_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, name = project["entry-points"]["jupyter_serverproxy_servers"]["mindscope"].partition(":")
    assert callable(getattr(import_module(module), name))
    assert callable(import_module("mindscope").load_ipython_extension)


def test_names_of_users_may_stand_in_a_path() -> None:
    assert parse_prefix("/user/ann%40lab+x~y") == "/user/ann%40lab+x~y/"
