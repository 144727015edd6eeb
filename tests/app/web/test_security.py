"""Who may ask, from where, and with which token."""

from __future__ import annotations

import re
import socket
import time
from urllib.parse import unquote

import pytest
from flask import Flask

from app.commands.settings import is_local
from app.routes.all_routes import POST
from app.web import security
from tests.waiting import until

TOKEN = "t" * 43


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("localhost", True), ("LOCALHOST:8080", True), ("127.0.0.1", True), ("127.0.0.1:1", True), ("[::1]:8080", True),
        ("localhost.", True), ("named.example", True), ("named.example:99", True),
        ("evil.example", False), ("evil.example:8080", False), ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("", False), ("user@localhost", False), ("localhost:port", False), ("localhost:99999", False),
        ("localhost/x", False), ("127.0.0.2", False),
        ("0.0.0.0", False), ("[::2]", False), ("192.0.2.7", False), ("lo calhost", False), ("[::1", False),
        ("2130706433", False), ("127.1", False),
    ],
)  # fmt: skip
def test_hosts(shared_client, host, allowed) -> None:
    client = shared_client(allowed_hosts=("named.example",))
    for path in ("/", "/scalars", "/health", "/api/runs.json", "/_dash-layout", "/assets/early/prefs.js", "/no/such"):
        status = client.get(path, headers={"Host": host}).status_code
        assert (status != 403) == allowed, path


def test_any_host_can_be_allowed(make_app) -> None:
    client = make_app(allowed_hosts=("*",)).server.test_client()
    assert client.get("/", headers={"Host": "any.example"}).status_code == 200


def test_a_server_others_reach_goes_by_this_machines_names(make_app) -> None:
    client = make_app(host="0.0.0.0").server.test_client()
    own = {socket.gethostname(), "localhost"} | set(security._interface_addresses())
    for name in own:
        assert client.get("/health", headers={"Host": f"{name}:8080"}).status_code == 200, name
    for name in ("evil.example", "192.0.2.7", "0.0.0.0"):
        assert client.get("/health", headers={"Host": name}).status_code == 403, name


@pytest.mark.parametrize(("host", "local"), [
    ("127.0.0.1", True), ("localhost", True), ("::1", True), ("[::1]", True), ("127.8.8.8", True),
    ("0.0.0.0", False), ("::", False), ("192.168.0.1", False), ("example.org", False), ("", False),
])  # fmt: skip
def test_what_is_local(host, local) -> None:
    assert is_local(host) == local


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        (None, True), ("http://localhost:8080", True), ("https://localhost:8080", False), ("https://named.example", True),
        ("http://localhost:9999", False), ("http://localhost", False), ("http://evil.example", False), ("null", False),
        ("", False), ("http://localhost:8080.evil.example", False), ("file://", False), ("http://127.0.0.1:8080", False),
        ("chrome-extension://localhost:8080", False), ("http://[", False), ("http://[::1", False), ("http://", False),
        ("http://localhost:8080/x", False), ("http://localhost:8080:1", False), ("http://named.example:99999", False),
        ("http://user@named.example", False), ("HTTP://localhost:8080", False), ("http://LOCALHOST:8080", True),
    ],
)  # fmt: skip
def test_origins(shared_client, origin, allowed) -> None:
    client = shared_client(allowed_hosts=("named.example",))
    headers = {"Host": "localhost:8080"} | ({} if origin is None else {"Origin": origin})
    status = client.post("/_dash-update-component", json={}, headers=headers).status_code
    assert status == (400 if allowed else 403)


@pytest.mark.parametrize(("allowed", "passes"), [(("*",), True), ((), False), (("other.example",), False)])
def test_origins_of_a_proxy_that_changes_the_host(make_app, allowed, passes) -> None:
    client = make_app(allowed_hosts=allowed).server.test_client()
    headers = {"Host": "localhost:8080", "Origin": "https://proxy.example"}
    assert client.post("/_dash-update-component", json={}, headers=headers).status_code == (400 if passes else 403)


def test_another_server_on_this_machine_is_another_site(make_app) -> None:
    client = make_app(host="0.0.0.0", allowed_hosts=("named.example",)).server.test_client()
    for name in {socket.gethostname(), "localhost", *security._interface_addresses()}:
        for port, status in ((8080, 400), (9999, 403)):
            headers = {"Host": f"{name}:8080", "Origin": f"http://{name}:{port}"}
            assert client.post("/_dash-update-component", json={}, headers=headers).status_code == status, (name, port)


def test_the_prefix_without_its_slash_is_guarded(make_app) -> None:
    client = make_app(prefix="/a/", token=TOKEN).server.test_client()
    assert client.get("/a", headers={"Host": "evil.example"}).status_code == 403
    assert client.get("/a").status_code == 401
    assert client.get("/ab").status_code == 404
    assert client.get("/a", query_string={"token": TOKEN}).headers["Location"] == "/a/"
    assert client.get("/a").headers["Location"].endswith("/a/")


def test_a_host_that_is_refused_is_told_both_ways_to_allow_it(client) -> None:
    text = client.get("/", headers={"Host": "lab.example"}).text
    assert "--allowed-host" in text
    assert "allowed_hosts=" in text


def test_no_answer_allows_other_sites(client) -> None:
    for path in ("/", "/api/runs.json", "/_dash-layout", "/assets/early/prefs.js"):
        answer = client.get(path, headers={"Origin": "http://evil.example"})
        assert not [name for name in dict(answer.headers) if name.lower().startswith("access-control-")]


@pytest.mark.parametrize("path", ["/", "/scalars", "/nope", "/api/runs.json", "/_dash-layout", "/assets/kit.css", "/health"])
def test_headers(client, path) -> None:
    headers = client.get(path).headers
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    assert "unsafe" not in policy["script-src"]
    assert policy["default-src"] == policy["connect-src"] == policy["frame-ancestors"] == "'self'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"


def test_inline_scripts_are_those_of_the_policy(client) -> None:
    import base64
    import hashlib
    import re

    answer = client.get("/scalars")
    inline = re.findall(r"<script(?![^>]*(?:\bsrc=|application/json))[^>]*>(.*?)</script>", answer.text, re.DOTALL)
    digests = {f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in inline}
    assert digests
    assert digests <= set(re.search(r"script-src ([^;]+)", answer.headers["Content-Security-Policy"])[1].split())


class TestToken:
    @pytest.fixture
    def client(self, make_app):
        return make_app(token=TOKEN, cookie="mindscope-8080").server.test_client()

    @pytest.mark.parametrize("path", ["/", "/scalars", "/api/runs.json", "/api/scalars.csv", "/_dash-layout", "/assets/x.js"])
    def test_nothing_without_it(self, client, path) -> None:
        wrong = {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}, {"Cookie": "mindscope-8080=x"}
        for headers in ({}, *wrong):
            answer = client.get(path, headers=headers)
            assert answer.status_code == 401
            assert TOKEN not in answer.text
        assert client.get(path, query_string={"token": "wrong"}).status_code == 401
        assert client.get(path, query_string={"token": TOKEN + "é"}).status_code == 401

    def test_callbacks_need_it(self, client) -> None:
        assert client.post("/_dash-update-component", json={}).status_code == 401
        assert client.post(f"/_dash-update-component?token={TOKEN}", json={}).status_code == 401

    def test_the_address_is_cleaned_and_a_cookie_set(self, client) -> None:
        answer = client.get("/scalars", query_string={"run": ["a&b", "é"], "token": TOKEN, "smooth": "0.6"})
        assert answer.status_code == 303
        assert answer.headers["Location"] == "/scalars?run=a%26b&run=%C3%A9&smooth=0.6"
        cookie = answer.headers["Set-Cookie"]
        assert re.match(r"mindscope-8080=[0-9a-f]{128};", cookie)
        assert TOKEN not in cookie
        assert "HttpOnly" in cookie
        assert "SameSite=Lax" in cookie
        assert client.get("/scalars").status_code == 200
        assert client.get("/scalars?token=any&run=a").headers["Location"] == "/scalars?run=a"
        assert client.post("/_dash-update-component", json={}).status_code == 400

    @pytest.mark.parametrize("path", ["//evil.example/", "/%5Cevil.example/", "///evil.example"])
    def test_the_redirect_stays_here(self, client, path) -> None:
        # Given as it comes over the wire: a test client takes //evil.example for the name of a host.
        answer = client.get("/", query_string={"token": TOKEN}, environ_overrides={"PATH_INFO": unquote(path)})
        location = answer.headers["Location"]
        assert answer.status_code == 303
        assert location.startswith("/")
        assert not location.startswith(("//", "/\\"))

    def test_bearer(self, client) -> None:
        assert client.get("/api/runs.json", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200

    def test_health_is_open_but_says_nothing(self, client) -> None:
        answer = client.get("/health")
        assert (answer.status_code, answer.json) == (200, {"status": "ok"})

    def test_a_foreign_name_gets_no_cookie(self, client) -> None:
        answer = client.get(f"/?token={TOKEN}", headers={"Host": "evil.example"})
        assert answer.status_code == 403
        assert "Set-Cookie" not in answer.headers


    def test_an_address_that_offers_wrong_tokens_has_to_wait(self, make_app) -> None:
        app = make_app(token=TOKEN, cookie="mindscope-8080").server
        visitor, guesser = app.test_client(), app.test_client()
        assert visitor.get("/", query_string={"token": TOKEN}).status_code == 303
        for _ in range(5):
            assert guesser.get("/", query_string={"token": "wrong"}).status_code == 401
        for offered in ({"query_string": {"token": "wrong"}}, {"headers": {"Authorization": "Bearer wrong"}}):
            answer = guesser.get("/", **offered)
            assert (answer.status_code, answer.headers["Retry-After"]) == (429, "1")
            assert "try again in 1 s" in answer.text
        assert guesser.get("/").status_code == 401
        assert visitor.get("/").status_code == 200  # signed in before
        elsewhere = {"REMOTE_ADDR": "192.0.2.1"}
        assert guesser.get("/", query_string={"token": "wrong"}, environ_base=elsewhere).status_code == 401

    def test_the_right_token_passes_whoever_guessed_at_its_address(self, make_app) -> None:
        app = make_app(token=TOKEN, cookie="mindscope-8080").server
        guesser = app.test_client()
        while guesser.get("/", headers={"Authorization": "Bearer wrong"}).status_code != 429:
            pass
        assert app.test_client().get("/api/runs.json", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
        assert app.test_client().get("/", query_string={"token": TOKEN}).status_code == 303
        assert guesser.get("/", headers={"Authorization": "Bearer wrong"}).status_code == 429  # still, after the right ones

    @pytest.mark.parametrize("seconds", [-86_400.0, 365 * 86_400.0])
    def test_a_clock_that_is_set_frees_no_guesser_and_keeps_nobody_out(self, make_app, monkeypatch, seconds) -> None:
        """Waiting takes as long as ever, and who has signed in stays so: the cookie ends with the browser, not at a time."""
        app = make_app(token=TOKEN, cookie="mindscope-8080").server
        visitor, guesser = app.test_client(), app.test_client()
        signed = visitor.get("/", query_string={"token": TOKEN}).headers["Set-Cookie"].lower()
        assert "expires" not in signed
        assert "max-age" not in signed
        for _ in range(5):
            assert guesser.get("/", query_string={"token": "wrong"}).status_code == 401
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() + seconds)
        answer = guesser.get("/", query_string={"token": "wrong"})
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, "1")
        until(lambda: guesser.get("/", query_string={"token": "wrong"}).status_code == 401, 20.0)
        assert visitor.get("/").status_code == 200

    @pytest.mark.parametrize("token", ["t", "t" * 15])
    def test_a_short_one_is_refused(self, make_app, token) -> None:
        with pytest.raises(ValueError, match=f"expected at least 16 characters, found {len(token)}"):
            make_app(token=token)


def test_pauses_double_up_to_a_minute() -> None:
    now = 0.0
    attempts = security.Attempts(lambda: now)
    waits = []
    for _ in range(14):
        attempts.failed("a")
        waits.append(attempts.wait("a"))
        now += waits[-1]
        assert attempts.wait("a") == 0
    assert waits == [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
    assert attempts.wait("b") == 0
    for number in range(security.Attempts.ADDRESSES + 1):
        attempts.failed(str(number))
    assert len(attempts._failures) == security.Attempts.ADDRESSES  # memory is bounded


@pytest.mark.parametrize(("headers", "read", "change"), [
    ({}, 200, 400),
    ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, 200, 400),
    ({"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, 200, 400),
    ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200, 403),  # a link in somebody's notes is followed
    ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403, 403),
    ({"Sec-Fetch-Site": "cross-site"}, 403, 403),
    ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Origin": "http://named.example"}, 200, 400),
])  # fmt: skip
def test_what_a_browser_says_of_other_sites(shared_client, headers, read, change) -> None:
    client = shared_client(allowed_hosts=("named.example",))
    assert client.get("/api/runs.json", headers=headers).status_code == read
    assert client.post("/_dash-update-component", json={}, headers=headers).status_code == change


def test_a_host_application_is_left_alone(make_app) -> None:
    host = Flask("host")
    host.add_url_rule("/own", "own", lambda: "own")
    make_app(prefix="/training", server=host, token=TOKEN)
    client = host.test_client()
    answer = client.get("/own", headers={"Host": "anything.example"})
    assert (answer.status_code, answer.text) == (200, "own")
    assert "Content-Security-Policy" not in answer.headers
    assert client.get("/training/").status_code == 401
    assert client.get("/training/", headers={"Host": "anything.example"}).status_code == 403
    assert client.get("/training/scalars", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert not [key for key in host.config if key.startswith("COMPRESS")]


def test_large_requests_are_refused(client) -> None:
    for path, largest in (("/_dash-update-component", 8 << 20), ("/api/note", 1 << 20)):  # what SECURITY.md promises
        for size, status in ((largest, 400), (largest + 1, 413)):
            assert client.post(path, data=b"x" * size, content_type="application/json").status_code == status


def test_each_larger_request_is_one_of_a_route(client) -> None:
    plain = {rule.rule.rpartition("/")[2] for rule in client.application.url_map.iter_rules() if "POST" in rule.methods}
    posted = plain | {rule.rpartition("/")[2] for rules in POST.values() for rule in rules}
    assert set(security.LARGER_REQUESTS) < posted
    assert dict.fromkeys(("_dash-update-component", "board", "watchpoints"), 8 << 20) == security.LARGER_REQUESTS


def test_a_dashboard_is_framed_by_its_own_origin_and_those_named() -> None:
    assert security.content_policy().endswith("frame-ancestors 'self'")
    named = security.content_policy(framed_by=["https://lab.example", "http://localhost:*"])
    assert named.endswith("frame-ancestors 'self' https://lab.example http://localhost:*")
    for wrong in ("a; script-src *", "a b", "", "a,b"):
        with pytest.raises(ValueError, match="framed_by"):
            security.content_policy(framed_by=[wrong])
