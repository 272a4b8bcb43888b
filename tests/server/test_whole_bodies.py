import asyncio
import json

import pytest

from learnloop.server.whole_bodies import WholeBodies


async def app(scope, receive, send):
    """Answer with what arrived, and with what comes after it."""
    first, second = await receive(), await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": first["body"] + second["type"].encode()})


def ask(messages, *, headers=(), **limits):
    """Send messages, then nothing for ever; return what was answered."""
    given, sent = iter(messages), []

    async def receive():
        message = next(given, None)
        return message if message is not None else await asyncio.Event().wait()

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/", "headers": list(headers)}
    asyncio.run(WholeBodies(app, **limits)(scope, receive, send))
    return sent


def part(body, *, more=True):
    return {"type": "http.request", "body": body, "more_body": more}


GONE = {"type": "http.disconnect"}


def test_parts_are_handed_over_as_one():
    sent = ask([part(b"ab"), part(b""), part(b"c", more=False), GONE], max_bytes=3)
    assert sent[1]["body"] == b"abchttp.disconnect"


@pytest.mark.parametrize("announced", [b"", b"10", b"nonsense", b"-1", b"9" * 30])
def test_parts_that_are_too_much_together_are_refused(announced):
    headers = [(b"content-length", announced)]
    sent = ask([part(b"ab"), part(b"cd", more=False)], headers=headers, max_bytes=3)
    assert (sent[0]["status"], json.loads(sent[1]["body"])["error"]["code"]) == (
        413,
        "body_too_large",
    )


def test_a_body_without_end_is_not_read_without_end():
    def endless():
        while True:
            yield part(b"x" * 1_000_000)

    assert ask(endless(), max_bytes=10)[0]["status"] == 413


def test_a_client_that_sends_no_more_is_told_so():
    sent = ask([part(b"ab")], max_bytes=10, seconds=0.01)
    assert (sent[0]["status"], json.loads(sent[1]["body"])["error"]["code"]) == (
        408,
        "body_too_slow",
    )


def test_a_client_that_leaves_is_not_answered():
    assert ask([part(b"ab"), GONE], max_bytes=10) == []
