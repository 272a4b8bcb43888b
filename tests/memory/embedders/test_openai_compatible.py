"""Against a real server on this machine that answers what a test tells it to."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from learnloop.checks.embedders import check_embedder
from learnloop.errors import (
    BadReplyError,
    ContextLengthError,
    ModelConnectionError,
    ModelRequestError,
    ModelServerError,
    RateLimitError,
)
from learnloop.memory.embedders.openai_compatible import OpenAICompatibleEmbedder


def vector_of(text):
    """Eight numbers that depend on the text alone; not of length 1."""
    return [float(len(text) % 7 + 1), *(float(text.count(letter)) for letter in "aeordw?")]


def embeddings(body):
    rows = [
        {"index": place, "embedding": vector_of(text)} for place, text in enumerate(body["input"])
    ]
    return 200, {"data": rows[::-1], "usage": {"prompt_tokens": 3 * len(rows)}}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body, self.headers.get("Authorization")))
        status, answer, *headers = self.server.answer(body)
        text = answer if isinstance(answer, str) else json.dumps(answer)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text.encode())))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        made.asked, made.answer = [], embeddings
        made.url = f"http://127.0.0.1:{made.server_port}/v1"
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.fixture
def embedder(server):
    made = OpenAICompatibleEmbedder(
        model="small", base_url=server.url, api_key="secret", max_retries=0
    )
    yield made
    made.close()


def test_it_keeps_the_contract(embedder):
    check_embedder(embedder)


def test_rows_stand_in_the_order_of_the_texts_and_have_length_one(embedder, server):
    rows = embedder.embed(["who", "where"])
    for row, text in zip(rows, ["who", "where"], strict=True):
        expected = np.array(vector_of(text))
        assert row == pytest.approx(expected / np.sqrt((expected**2).sum()), abs=1e-6)
    [(path, body, key)] = server.asked
    assert path == "/v1/embeddings"
    assert body == {"model": "small", "input": ["who", "where"], "encoding_format": "float"}
    assert key == "Bearer secret"


def test_many_texts_are_asked_for_in_parts(embedder, server):
    assert embedder.embed([str(n) for n in range(600)]).shape == (600, 8)
    assert [len(body["input"]) for _, body, _ in server.asked] == [256, 256, 88]


def test_the_dimension_costs_one_call_unless_given(embedder, server):
    assert (embedder.dimension, embedder.dimension) == (8, 8)
    assert len(server.asked) == 1


def test_every_call_is_told_to_the_ledger(server):
    calls, ticks = [], iter([0.0, 1.5, 2.0, 2.25])
    embedder = OpenAICompatibleEmbedder(
        model="small",
        base_url=server.url,
        dimension=8,
        max_retries=0,
        on_call=calls.append,
        clock=lambda: next(ticks),
    )
    embedder.embed(["a", "b"])
    server.answer = lambda body: (500, {"error": {"message": "broken"}})
    with pytest.raises(ModelServerError):
        embedder.embed(["c"])
    embedder.close()
    good, bad = calls
    assert (good.role, good.model, good.error) == ("embed", "small", None)
    assert (good.usage.tokens_in, good.usage.seconds) == (6, 1.5)
    assert "broken" in bad.error
    assert bad.usage.seconds == 0.25


def refused(status, code, *headers):
    return status, {"error": {"message": "no", "code": code, "type": None}}, *headers


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (refused(400, "bad"), ModelRequestError, "'small' at http://127.0.0.1.*no"),
        (refused(401, "bad"), ModelRequestError, "no"),
        (refused(400, "context_length_exceeded"), ContextLengthError, "no"),
        (refused(503, "busy"), ModelServerError, "no"),
        ((200, "<html>"), BadReplyError, "not JSON"),
        ((200, '"words"'), BadReplyError, "sent no embeddings: the whole"),
        ((200, {"data": [{"index": 0}]}), BadReplyError, "data.0.embedding: Field required"),
        ((200, {"data": []}), BadReplyError, "0 vectors for 1 texts"),
        (
            (200, {"data": [{"index": 0, "embedding": [0.0, 0.0]}]}),
            BadReplyError,
            "without a direction",
        ),
    ],
)
def test_a_failed_call_is_an_error_that_says_why(embedder, server, answer, error, message):
    server.answer = lambda body: answer
    with pytest.raises(error, match=message):
        embedder.embed(["a"])


def test_a_busy_server_is_told_with_its_wish_to_wait(embedder, server):
    server.answer = lambda body: refused(429, "busy", ("Retry-After", "2.5"))
    with pytest.raises(RateLimitError) as caught:
        embedder.embed(["a"])
    assert caught.value.retry_after == 2.5


def test_another_dimension_than_before_is_refused(embedder, server):
    assert embedder.dimension == 8
    server.answer = lambda body: (200, {"data": [{"index": 0, "embedding": [1.0]}]})
    with pytest.raises(BadReplyError, match="dimension 1, not 8"):
        embedder.embed(["a"])


def test_nobody_there_is_told_with_the_address():
    embedder = OpenAICompatibleEmbedder(
        model="small", base_url="http://127.0.0.1:9/v1", max_retries=0
    )
    with pytest.raises(ModelConnectionError, match=r"127\.0\.0\.1:9.*[Cc]heck that the server"):
        embedder.embed(["a"])
    embedder.close()
