"""The reward server as its clients see it: rewards bit for bit, who may ask, what it says of itself, its end."""

import contextlib
import signal

import pytest
from makers.reward_server import HTTP, SECONDS, TOKEN, parsed, post, received, serving, serving_within, wait_until

HALF, REST = b'{"questions": "Q07", "answ', b'ers": ["Ice."]}'


@pytest.fixture(scope="module")
def server():
    with serving("--suite", "mini") as running:
        yield running


def test_it_describes_itself(server, scorer):
    assert server.line.startswith("http://127.0.0.1:")
    assert scorer.signature in server.line
    assert "16,384 answers of 100,000 characters and 32 MiB per request" in server.line
    document = HTTP.get(f"{server.url}/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    assert document["components"]["schemas"]["Answers"]["items"] == {"type": "string", "maxLength": 100_000}
    for path, methods in document["paths"].items():  # 404 for an unknown path, 405 for a method that it refuses
        assert HTTP.request(next(iter(methods)), f"{server.url}{path}").status_code in (200, 415)
    reply = HTTP.head(f"{server.url}/openapi.json")
    assert ("default-src 'none'" in reply.headers["content-security-policy"], reply.text) == (True, "")


def test_health_counts_requests_in_progress(server):
    assert HTTP.get(f"{server.url}/healthz").json() == {"status": "ok", "requests": 0, "bytes": 0}


@pytest.mark.parametrize(
    "headers",
    [
        *({"Host": "example.org"}, {"Host": "127.0.0.1"}, {"Host": ""}),
        *({"Origin": "http://example.org"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}),
    ],
)
def test_pages_of_other_origins_learn_nothing(server, headers):
    named = {"Host": f"127.0.0.1:{server.port}", **headers}
    for path in ("/reward", "/openapi.json", "/healthz"):
        status, reply = parsed(server.send(post(HALF + REST, path, **named)))
        assert status in (400, 403, 421)
        assert set(reply) == {"error"}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    file = tmp_path_factory.mktemp("token") / "token"
    file.write_text(TOKEN + "\n")
    file.chmod(0o600)
    with serving("--suite", "mini", "--host", "0.0.0.0", "--token-file", file) as running:
        yield running


def test_other_addresses_need_a_token(guarded, scorer):
    url = f"http://127.0.0.1:{guarded.port}"
    batch = {"questions": "Q07", "answers": ["Ice."]}
    assert HTTP.get(f"{url}/healthz").status_code == 200
    wrong = [{}, {"Authorization": "Bearer"}, {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": "Basic !"}]
    shown = ("Basic", "Basic zzz", b"Basic \xe9\xe9", b"Bearer \xff", f"Digest {TOKEN}", "")
    for headers in (*wrong, *({"Authorization": item} for item in shown)):
        for path in ("/openapi.json", "/nowhere"):
            assert HTTP.get(url + path, headers=headers).status_code == 401
        refused = HTTP.post(f"{url}/reward", json=batch, headers=headers)
        assert refused.status_code == 401
        assert "Bearer TOKEN" in refused.json()["error"]
        assert TOKEN not in refused.text + str(refused.headers)
    expected = scorer.reward("Q07", ["Ice."]).tolist()
    shown = HTTP.post(f"{url}/reward", json=batch, headers={"Authorization": f"Bearer {TOKEN}"})
    in_address = HTTP.post(f"http://anybody:{TOKEN}@127.0.0.1:{guarded.port}/reward", json=batch)
    assert shown.json()["rewards"] == in_address.json()["rewards"] == expected
    assert TOKEN not in guarded.line


def test_an_address_in_use_or_beyond_the_loopback_without_a_token_is_one_sentence(server, call, monkeypatch):
    monkeypatch.delenv("PFGEN_FAST_TOKEN", raising=False)
    told = {("--host", host): "everyone could send requests" for host in ("0.0.0.0", "::")}
    told["--port", server.port] = f"port {server.port} of 127.0.0.1 cannot be used"
    for options, sentence in told.items():
        code, _, err = call("serve", "--suite", "mini", *options)
        assert (code, err.count("\n")) == (2, 1)
        assert sentence in err


def test_a_token_that_others_may_read_is_refused_and_never_shown(call, tmp_path, monkeypatch):
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o644)
    assert "others may read the token" in call("serve", "--suite", "mini", "--token-file", file)[2]
    file.chmod(0o600)
    for bad in ("short-secret", f"{TOKEN} {TOKEN}", TOKEN + "\u00e9"):
        file.write_text(bad)
        err = call("serve", "--suite", "mini", "--token-file", file)[2]
        assert "expected a token of at least 16" in err
        assert bad not in err
    monkeypatch.setenv("PFGEN_FAST_TOKEN", "short-secret")
    err = call("serve", "--suite", "mini")[2]
    assert "PFGEN_FAST_TOKEN: expected a token" in err
    assert "short-secret" not in err
    assert "cannot be read" in call("serve", "--suite", "mini", "--token-file", tmp_path / "missing")[2]


@contextlib.contextmanager
def half_asked(running):
    """A connection with a request in progress, whose server has got SIGTERM meanwhile."""
    with running.connect() as connection:
        connection.sendall(post(HALF + REST, Host=f"127.0.0.1:{running.port}").removesuffix(REST))
        wait_until(lambda: HTTP.get(f"{running.url}/healthz").json()["requests"] == 1)
        running.process.send_signal(signal.SIGTERM)
        yield connection


@pytest.mark.slow
def test_sigterm_finishes_what_is_in_progress(scorer):
    with serving("--suite", "mini") as running, half_asked(running) as connection:
        running.wait_until_it_listens_no_more()
        connection.sendall(REST)
        status, reply = parsed(received(connection))
        assert (status, reply["rewards"]) == (200, scorer.reward("Q07", ["Ice."]).tolist())
        assert running.process.wait(SECONDS) == 0
        assert running.process.stderr.read() == ""


@pytest.mark.slow
@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_it_at_once(second):
    with serving("--suite", "mini", "--seconds", 3600) as running, half_asked(running):
        running.wait_until_it_listens_no_more()
        running.process.send_signal(second)
        assert running.process.wait(SECONDS) == 130
        assert "ended before all requests in progress were answered" in running.process.stderr.read()


@pytest.mark.slow
def test_a_slow_request_does_not_delay_the_end():
    with serving_within(seconds=1) as running, half_asked(running) as connection:
        assert running.process.wait(SECONDS) in (0, 1)
        assert received(connection) == b""
