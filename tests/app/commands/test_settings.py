from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.commands.settings import SETTINGS, SettingError, parse_prefix, read_config, resolve

ROOT = Path(__file__).parents[3]


def test_defaults() -> None:
    settings = resolve({}, {})
    assert (settings.port, settings.host, settings.reload_interval, settings.cache) == (8080, "127.0.0.1", 3, True)
    assert all(getattr(settings, setting.name) == setting.default for setting in SETTINGS if setting.default is not None)


@pytest.mark.parametrize(("given", "inside"), [
    ({}, False), ({"host": "localhost"}, False), ({"host": "0.0.0.0"}, True), ({"host": "lab.example"}, True),
    ({"host": "0.0.0.0", "stay_inside": "no"}, False), ({"stay_inside": "yes"}, True),
])  # fmt: skip
def test_a_server_that_others_reach_stays_inside_its_directory(given, inside) -> None:
    assert resolve(given, {}).stay_inside is inside


def test_precedence() -> None:
    config = {"port": 1}
    old, new = {"MINDINSIGHT_PORT": "2"}, {"MINDSCOPE_PORT": "3"}
    assert resolve({}, {}, config).port == 1
    assert resolve({}, old, config).port == 2
    assert resolve({}, old | new, config).port == 3
    assert resolve({"port": "4"}, old | new, config).port == 4


def test_an_empty_variable_is_not_set() -> None:
    assert resolve({}, {"MINDSCOPE_PORT": "", "MINDINSIGHT_PORT": "9"}).port == 9


@pytest.mark.parametrize("setting", list(SETTINGS), ids=lambda s: s.name)
def test_every_setting_is_read_from_both_variables(setting) -> None:
    samples = {"port": "81", "reload_interval": "7", "allowed_host": "a.b, c.d", "token": "t" * 20, "url_path_prefix": "/x/y"}
    samples |= {"debugger_port": "50052", "public_prefix": "/x/y", "trusted_proxy": "10.0.0.7, ::1", "user_header": "X-User"}
    samples |= {"mirror_every": "7", "mirror_most": "5 GiB", "mirror_largest": "300MB"}
    names = {"MINDSCOPE_TRUSTED_PROXY": "::1", "MINDSCOPE_USER_HEADER": "X-User"}
    beside = {name: text for name, text in names.items() if name != setting.variable}
    text = samples.get(setting.name, {True: "false", False: "true", None: "true"}.get(setting.default, "text"))
    for variable in (setting.variable, "MINDINSIGHT_" + setting.name.upper()):
        assert getattr(resolve({}, beside | {variable: text}), setting.name) != setting.default


@pytest.mark.parametrize(
    ("options", "environment", "config", "said"),
    [
        ({"port": "eighty"}, {}, {}, "--port: expected a whole number from 0 to 65535, found 'eighty'"),
        ({"port": "65536"}, {}, {}, "--port: expected a whole number from 0 to 65535, found '65536'"),
        ({"port": "٣"}, {}, {}, "--port: expected a whole number"),
        ({}, {"MINDSCOPE_RELOAD_INTERVAL": "301"}, {}, "MINDSCOPE_RELOAD_INTERVAL: expected a whole number"),
        ({}, {"MINDINSIGHT_PORT": "x"}, {}, "MINDINSIGHT_PORT: expected"),
        ({}, {}, {"port": "8080"}, "c.toml: port: expected a whole number, found '8080'"),
        ({}, {}, {"port": True}, "c.toml: port: expected a whole number, found True"),
        ({}, {}, {"cache": 1}, "c.toml: cache: expected true or false, found 1"),
        ({}, {}, {"prot": 1}, "c.toml: expected the name of a setting, found 'prot' (did you mean port?)"),
        ({}, {}, {"allowed_host": ["a", 1]}, "c.toml: allowed_host: expected a text"),
        ({"url_path_prefix": "/a/../b"}, {}, {}, "--url-path-prefix: expected segments"),
        ({"trusted_proxy": ["proxy.example"]}, {}, {}, "--trusted-proxy: expected an address such as 127.0.0.1"),
        ({"user_header": "X User"}, {}, {}, "--user-header: expected the name of a header"),
        ({"user_header": "X-User"}, {}, {}, "--user-header: expected --trusted-proxy"),
        ({"editors": "Ann"}, {}, {}, "--editors: expected --user-header"),
        ({"allowed_host": ["ok", "http://x"]}, {}, {}, "--allowed-host: expected a host name"),
        ({"summary_base_dir": ""}, {}, {}, "--summary-base-dir: expected a directory"),
        ({}, {"MINDSCOPE_TOKEN": "short"}, {}, "MINDSCOPE_TOKEN: expected 16 to 200"),
    ],
)
def test_mistakes_are_one_line(options, environment, config, said) -> None:
    with pytest.raises(SettingError) as raised:
        resolve(options, environment, config, config_name="c.toml")
    assert str(raised.value).startswith(said)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("given", "used"), [("", "/"), ("/", "/"), ("a", "/a/"), ("/a/b/", "/a/b/"), ("/v1.0/x-y_z", "/v1.0/x-y_z/")]
)
def test_prefixes(given, used) -> None:
    assert parse_prefix(given) == used


@pytest.mark.parametrize("given", ["/a//b", "..", "/a/./b", "/a b", "/ä", "/a?b", "//x\\y"])
def test_bad_prefixes(given) -> None:
    with pytest.raises(ValueError, match="segments"):
        parse_prefix(given)


def test_config_file(tmp_path) -> None:
    file = tmp_path / "c.toml"
    file.write_text('summary-base-dir = "runs"\nport = 81\nallowed_host = ["a", "b"]\ncache = false\n')
    settings = resolve({}, {}, read_config(str(file)), config_name="c.toml")
    assert (settings.summary_base_dir, settings.port) == (("runs",), 81)
    assert (settings.allowed_host, settings.cache) == (("a", "b"), False)


@pytest.mark.parametrize("name", ["x.py", "python:mindscope.settings", "file:x.py"])
def test_config_is_never_code(tmp_path, monkeypatch, name) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.py").write_text("raise SystemExit('ran')")
    with pytest.raises(SettingError, match=r"expected a TOML file, found .*never run"):
        read_config(name)


@pytest.mark.parametrize("content", [b"port = = 1", b"\xff\xfe", b"[a\n", b"a = " + b"[" * 5000, b"port = " + b"1" * 5000])
def test_config_that_is_no_toml(tmp_path, content) -> None:
    file = tmp_path / "c.toml"
    file.write_bytes(content)
    with pytest.raises(SettingError, match=r"^--config: expected valid TOML in") as raised:
        read_config(str(file))
    assert "\n" not in str(raised.value)


def test_config_that_is_not_there(tmp_path) -> None:
    with pytest.raises(SettingError, match="expected a readable TOML file"):
        read_config(os.path.join(tmp_path, "none.toml"))


def test_the_version_is_said_once() -> None:
    import tomllib

    import app

    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == app.__version__
