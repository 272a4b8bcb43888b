import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from learnloop.errors import ConfigError
from learnloop.server.storage import keys


def error_of(response):
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return error["type"], error["code"]


def test_health_and_readiness_need_no_key(serve):
    server = serve()
    server.key()
    assert server.client.get("/health").json() == {"status": "ok"}
    ready = server.client.get("/ready")
    assert (ready.status_code, ready.json()["ready"]) == (200, True)
    assert [check["name"] for check in ready.json()["checks"]] == ["database", "writes", "task sql"]


def test_on_ones_own_machine_no_key_is_needed_until_there_is_one(serve, caplog):
    server = serve()
    assert "no API key yet" in caplog.text
    assert server.client.get("/probe/me").json() == {"tenant": "default", "role": "admin"}
    _, headers = server.key()
    assert server.client.get("/probe/me").status_code == 401
    assert server.client.get("/probe/me", headers=headers).json()["tenant"] == "acme"


def test_other_machines_are_not_served_without_a_key(serve):
    with pytest.raises(ConfigError, match="keys create"):
        serve(host="0.0.0.0")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {"host": "evil.example"},
        {"host": ""},
        {"host": "[::1"},
    ],
)
def test_a_page_of_another_site_cannot_use_a_server_without_keys(serve, headers):
    answer = serve().client.get("/probe/me", headers=headers)
    assert (answer.status_code, error_of(answer)[1]) == (403, "foreign_origin")


def test_a_page_of_the_server_itself_can(serve):
    headers = {"origin": "http://127.0.0.1:8321"}
    assert serve().client.get("/probe/me", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer ", "Bearer ll_wrong", "Basic abc", "Bearer \xe9\xff"]
)
def test_a_wrong_key_is_refused(serve, authorization):
    server = serve()
    server.key()
    answer = server.client.get(
        "/probe/me", headers={"authorization": authorization.encode("latin-1")}
    )
    assert answer.status_code == 401
    assert error_of(answer) == ("authentication_error", "invalid_api_key")


def test_a_key_is_revoked_at_once(serve):
    server = serve()
    key_id, headers = server.key()
    assert server.client.get("/probe/me", headers=headers).status_code == 200
    server.services.database.write(
        lambda connection: keys.revoke(connection, tenant="acme", key_id=key_id, at="now")
    ).result(30)
    assert server.client.get("/probe/me", headers=headers).status_code == 401


def test_a_role_may_what_it_may(serve):
    server = serve()
    answers = {
        role: server.client.get("/probe/admin", headers=server.key(role=role)[1])
        for role in ("app", "reviewer", "admin")
    }
    assert {role: answer.status_code for role, answer in answers.items()} == {
        "app": 403,
        "reviewer": 403,
        "admin": 200,
    }
    assert error_of(answers["app"]) == ("permission_error", "role_missing")


def test_a_known_key_is_good_while_the_database_is_away(serve):
    server = serve()
    _, known = server.key()
    _, unknown = server.key(tenant="beta")
    assert server.client.get("/probe/me", headers=known).status_code == 200
    server.services.database.close()
    assert server.client.get("/probe/me", headers=known).json()["tenant"] == "acme"
    answer = server.client.get("/probe/me", headers=unknown)
    assert (answer.status_code, error_of(answer)[1]) == (503, "storage_unavailable")
    ready = server.client.get("/ready")
    assert (ready.status_code, ready.json()["checks"][0]["ok"]) == (503, False)


def test_a_locked_database_makes_the_server_not_ready(serve):
    server = serve()
    other = sqlite3.connect(server.services.database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert server.client.get("/ready").status_code == 503
    assert server.client.get("/health").status_code == 200
    other.execute("ROLLBACK")
    other.close()
    assert server.client.get("/ready").status_code == 200


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large_is_refused(serve, chunked):
    server = serve(limits={"max_body_bytes": 1000})
    body = b'{"text": "' + b"x" * 2000 + b'"}'
    content = (body[n : n + 100] for n in range(0, len(body), 100)) if chunked else body
    answer = server.client.post("/probe/echo", content=content)
    assert (answer.status_code, error_of(answer)[1]) == (413, "body_too_large")


def test_a_body_of_just_the_limit_is_taken(serve):
    server = serve(limits={"max_body_bytes": 100})
    body = b'{"text": "' + b"x" * 88 + b'"}'
    assert len(body) == 100
    assert server.client.post("/probe/echo", content=body).json() == {"text": "x" * 88}
    assert server.client.post("/probe/echo", content=body + b" ").status_code == 413


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b'{"a": "\xff"}',
        b'{"a": NaN}',
        b'{"a": "\\ud800"}',
        b"[" * 100_000,
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
    ],
)
def test_what_is_no_json_object_is_refused(serve, body):
    answer = serve().client.post("/probe/echo", content=body)
    assert (answer.status_code, error_of(answer)) == (
        400,
        ("invalid_request_error", "invalid_json"),
    )


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(body=st.binary(max_size=200))
def test_no_body_makes_the_server_fail(fuzzed, body):
    answer = fuzzed.client.post("/probe/echo", content=body)
    assert answer.status_code in {200, 400}


@pytest.fixture
def fuzzed(serve):
    return serve(limits={"requests_per_minute": 1_000_000})


def test_errors_have_the_shape_that_clients_expect(serve):
    client = serve().client
    assert error_of(client.get("/nowhere")) == ("not_found_error", "not_found")
    wrong_verb = client.post("/health")
    assert (wrong_verb.status_code, wrong_verb.headers["allow"]) == (405, "GET")
    assert error_of(wrong_verb) == ("invalid_request_error", "method_not_allowed")
    wrong_type = client.get("/probe/number/x")
    assert (wrong_type.status_code, error_of(wrong_type)[1]) == (400, "invalid_request")
    assert "path.n" in wrong_type.json()["error"]["message"]
    bug = client.get("/probe/bug")
    assert (bug.status_code, error_of(bug)) == (500, ("server_error", "server_failed"))
    assert "zero" not in bug.text


def test_every_answer_has_an_id_and_headers_that_protect_browsers(serve):
    client = serve().client
    for answer in (client.get("/health"), client.get("/nowhere")):
        assert answer.headers["x-request-id"].startswith("req_")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    given = client.get("/health", headers={"x-request-id": "abc-1"})
    assert given.headers["x-request-id"] == "abc-1"
    odd = client.get("/health", headers={"x-request-id": "a b"})
    assert odd.headers["x-request-id"].startswith("req_")


def test_a_request_is_logged_without_its_key_and_its_query_string(serve, caplog):
    server = serve()
    key_id, headers = server.key()
    caplog.set_level("INFO", "learnloop.server.requests")
    server.client.get("/probe/me?secret=abc", headers=headers)
    (record,) = [each for each in caplog.records if each.name == "learnloop.server.requests"]
    assert (record.fields["path"], record.fields["status"]) == ("/probe/me", 200)
    assert (record.fields["tenant"], record.fields["key_id"]) == ("acme", key_id)
    assert "abc" not in str(record.__dict__)


def test_a_key_that_asks_too_often_is_told_when_to_come_back(serve):
    server = serve(limits={"requests_per_minute": 2})
    _, first = server.key()
    _, second = server.key(tenant="beta")
    statuses = [server.client.get("/probe/me", headers=first).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    answer = server.client.get("/probe/me", headers=first)
    assert error_of(answer) == ("rate_limit_error", "rate_limit_exceeded")
    assert 1 <= int(answer.headers["retry-after"]) <= 30
    assert server.client.get("/probe/me", headers=second).status_code == 200
    assert server.client.get("/health").status_code == 200


def test_whoever_guesses_keys_is_slowed_down(serve):
    server = serve(limits={"requests_per_minute": 2})
    server.key()
    guesses = [
        server.client.get("/probe/me", headers={"authorization": f"Bearer ll_{n}"}).status_code
        for n in range(3)
    ]
    assert guesses == [401, 401, 429]
