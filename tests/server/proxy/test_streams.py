import json

import openai
import pytest

USAGE = {"prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13}


def lines_of(response):
    return [line for line in response.iter_lines() if line]


def stream(server, **options):
    """Return the response with its lines unread; what the client sends is what it always sends."""
    raw = server.client.chat.completions.with_streaming_response
    messages = [{"role": "user", "content": "How many?"}]
    return raw.create(model="sql", messages=messages, stream=True, **options)


def test_chunks_come_as_they_are_but_for_the_id(serve, upstream):
    chunks = [upstream.chunk("Hel"), upstream.chunk("lo"), upstream.chunk(reason="stop")]
    upstream.streams(*chunks, upstream.usage_chunk(), upstream.done)
    server = serve()
    with stream(server) as response:
        content = b"".join(response.iter_bytes())
        inference_id = response.headers["learnloop-inference-id"]
    own = b"".join(chunks).replace(b'"up-1"', f'"{inference_id}"'.encode()) + upstream.done
    assert content == own
    assert response.headers["content-type"] == "text/event-stream"
    assert "content-length" not in response.headers


def test_a_stream_is_on_record_with_its_usage_although_nobody_asked(serve, upstream):
    upstream.streams(
        upstream.chunk("Hel"),
        upstream.chunk("lo"),
        upstream.chunk(reason="stop"),
        upstream.usage_chunk(),
        upstream.done,
    )
    server = serve()
    said = list(server.chat(stream=True))
    assert [each.usage for each in said] == [None, None, None]
    assert upstream.heard[0]["stream_options"] == {"include_usage": True}
    kept = server.recorded(said[0].id)
    assert (kept.answer, kept.status, kept.finish_reason) == ("Hello", "answered", "stop")
    assert (kept.usage.tokens_in, kept.usage.tokens_out) == (11, 2)


def test_usage_comes_to_those_who_ask(serve, upstream):
    upstream.streams(upstream.chunk("Hello"), upstream.usage_chunk(), upstream.done)
    server = serve()
    said = list(server.chat(stream=True, stream_options={"include_usage": True, "odd": 1}))
    assert upstream.heard[0]["stream_options"] == {"include_usage": True, "odd": 1}
    assert said[-1].usage.total_tokens == 13
    assert {each.id for each in said} == {server.newest().id}


def test_empty_usage_in_each_chunk_is_taken_out_as_well(serve, upstream):
    chunks = (upstream.chunk("Hello", usage=None), upstream.chunk(reason="stop", usage=USAGE))
    upstream.streams(*chunks, upstream.done)
    with stream(serve()) as response:
        first, last, done = lines_of(response)
    assert "usage" not in json.loads(first.removeprefix("data: "))
    assert json.loads(last.removeprefix("data: "))["usage"] == USAGE
    assert done == "data: [DONE]"


def test_an_upstream_that_knows_no_stream_options_is_asked_without(serve, upstream):
    def script(body):
        if "stream_options" in body:
            return 400, b'{"error": {"message": "stream_options: unknown"}}'
        return [upstream.chunk("Hello"), upstream.done]

    upstream.script = script
    server = serve()
    assert [each.choices[0].delta.content for each in server.chat(stream=True)] == ["Hello"]


def test_tool_calls_are_put_together_for_the_record(serve, upstream):
    def tool(**function):
        return {"tool_calls": [{"index": 0, "function": function}]}

    def piece(delta):
        content = {"id": "up-1", "choices": [{"index": 0, "delta": delta}]}
        return b"data: " + json.dumps(content).encode() + b"\n\n"

    pieces = [tool(name="run", arguments=""), tool(arguments='{"n"'), tool(arguments=": 1}")]
    upstream.streams(*map(piece, pieces), upstream.done)
    server = serve()
    said = list(server.chat(stream=True))
    assert said[1].choices[0].delta.tool_calls[0].function.arguments == '{"n"'
    assert json.loads(server.newest().answer) == [{"name": "run", "arguments": '{"n": 1}'}]


def test_chunks_are_cut_anywhere_on_their_way(serve, upstream):
    whole = upstream.chunk("Grüße ☃") + upstream.chunk(reason="stop") + upstream.done
    upstream.streams(*(whole[n : n + 1] for n in range(len(whole))))
    server = serve()
    assert next(iter(server.chat(stream=True))).choices[0].delta.content == "Grüße ☃"
    assert server.newest().answer == "Grüße ☃"


def test_what_is_no_chunk_is_passed_on_untouched(serve, upstream):
    odd = [b": keep-alive\n\n", b"event: x\ndata: 1\ndata: 2\n\n", b"data: {broken\n\n", b"tail"]
    upstream.streams(*odd)
    with stream(serve()) as response:
        assert b"".join(response.iter_bytes()) == b"".join(odd)


@pytest.mark.parametrize("status", [400, 429, 500])
def test_an_error_before_the_stream_keeps_its_status(serve, upstream, status):
    body = b'{"error": {"message": "as told"}}'
    upstream.script = lambda request: (status, body)
    server = serve()
    with pytest.raises(openai.APIStatusError) as caught:
        server.chat(stream=True)
    assert (caught.value.status_code, caught.value.response.content) == (status, body)
    assert server.newest().status == "failed"


def test_an_upstream_that_breaks_off_is_an_error_in_the_stream(serve, upstream, caplog):
    upstream.streams(upstream.chunk("Hel"), None)
    server = serve()
    said = iter(server.chat(stream=True))
    assert next(said).choices[0].delta.content == "Hel"
    with pytest.raises(openai.APIError, match="cannot be reached"):
        next(said)
    kept = server.newest()
    assert (kept.status, kept.answer) == ("failed", "Hel")
    assert server.troubles() == ["upstream"]


def test_an_error_that_the_upstream_streams_is_passed_on(serve, upstream):
    upstream.streams(upstream.chunk("Hel"), b'data: {"error": {"message": "no more"}}\n\n')
    server = serve()
    with pytest.raises(openai.APIError, match="no more"):
        list(server.chat(stream=True))
    assert server.newest().status == "failed"


def test_a_client_that_leaves_a_stream_ends_it_and_is_on_record(serve, upstream):
    upstream.streams(upstream.chunk("Hel"), upstream.hang)
    server = serve()
    with server.chat(stream=True) as said:
        assert next(iter(said)).choices[0].delta.content == "Hel"
    assert upstream.left.wait(30)
    kept = server.newest()
    assert (kept.status, kept.answer) == ("cancelled", "Hel")


def test_what_is_learnt_is_shown_in_streams_too(serve, upstream):
    server = serve()
    server.teach()
    upstream.streams(upstream.chunk("Hello"), upstream.done)
    with stream(server) as response:
        lines_of(response)
    assert response.headers["learnloop-memory"] == "used"
    assert "How many open orders?" in upstream.heard[-1]["messages"][0]["content"]


def test_feedback_finds_a_stream_that_has_just_ended(serve, upstream):
    server = serve()
    upstream.streams(upstream.chunk("Hello"), upstream.done)
    *_, last = server.chat(stream=True)
    assert server.feedback(target_id=last.id, correct=True)["target_id"] == last.id
