import copy
import json
import socket
import sqlite3
from contextlib import closing

import openai
import pytest

TOOL = {
    "type": "function",
    "function": {"name": "run", "parameters": {"type": "object", "properties": {}}},
}


def learnt_of(upstream):
    """Return the message that was added to what the upstream heard last."""
    (added,) = [each for each in upstream.heard[-1]["messages"] if "<" in str(each["content"])]
    return added


def test_an_answer_is_the_upstreams_byte_for_byte_but_for_its_id(serve, upstream):
    server = serve()
    answer = server.raw()
    inference_id = answer.headers["learnloop-inference-id"]
    own = upstream.completion("Hello").replace(b'"up-1"', f'"{inference_id}"'.encode())
    assert answer.content == own
    assert answer.headers["x-ratelimit-limit-requests"] == "9"
    assert answer.headers["server"] != "x"
    assert answer.headers["learnloop-memory"] == "empty"


def test_an_inference_is_on_record_with_what_it_took(serve):
    server = serve()
    answer = server.chat("How many?", user="u1", metadata={"learnloop_group": "shop"})
    kept = server.recorded(answer.id)
    assert (kept.task, kept.query, kept.answer, kept.model) == (
        "sql",
        "How many?",
        "Hello",
        "house/big",
    )
    assert (kept.user, kept.group, kept.status, kept.finish_reason) == (
        "u1",
        "shop",
        "answered",
        "stop",
    )
    assert (kept.usage.tokens_in, kept.usage.tokens_out, kept.usage.cost) == (11, 2, None)
    assert json.loads(kept.messages) == [{"role": "user", "content": "How many?"}]


def test_messages_are_not_kept_where_the_task_says_so(serve):
    server = serve(keep_texts=False)
    assert server.recorded(server.chat("How many?").id).messages is None


def test_everything_that_a_caller_sends_reaches_the_upstream(serve, upstream):
    server = serve()
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    messages = [
        {"role": "system", "content": "Be brief. é ☃"},
        {"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]},
    ]
    extra = {"new_parameter": {"deep": [1, 2.5, None]}}
    server.chat(messages=messages, tools=[TOOL], temperature=0.3, extra_body=extra)
    assert upstream.heard == [
        {
            "path": "/v1/chat/completions",
            "model": "big",
            "messages": messages,
            "tools": [TOOL],
            "temperature": 0.3,
            **extra,
        }
    ]


def test_the_callers_key_does_not_reach_the_upstream(serve, upstream):
    server = serve()
    server.chat()
    assert server.client.api_key not in str(upstream.headers)
    assert b"authorization" not in upstream.headers[0]


def test_what_is_learnt_is_one_message_before_the_last_of_the_user(serve, upstream):
    server = serve()
    server.teach()
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "How many orders are open?"},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "tool_call_id": "c1", "content": "7"},
    ]
    answer = server.raw(messages=copy.deepcopy(messages))
    heard = upstream.heard[-1]["messages"]
    assert heard[:3] + heard[4:] == messages
    assert heard[3]["role"] == "user"
    assert "How many open orders?" in heard[3]["content"]
    assert heard[3]["content"].endswith("</examples>")
    assert answer.headers["learnloop-memory"] == "used"
    kept = server.recorded(answer.headers["learnloop-inference-id"])
    assert (kept.memory, len(kept.examples)) == ("used", 1)
    assert json.loads(kept.messages) == messages


def test_feedback_is_visible_to_the_next_request(serve, upstream):
    server = serve()
    server.chat("How many open orders?")
    assert len(upstream.heard[-1]["messages"]) == 1
    server.feedback(target_id=server.newest().id, correct=False, correction="Forty-two")
    server.chat("How many orders are open?")
    assert "Forty-two" in learnt_of(upstream)["content"]
    assert "Hello" not in learnt_of(upstream)["content"]


def test_an_answer_that_was_wrong_is_only_shown_as_that(serve, upstream):
    server = serve(method="mem_prompt")
    told = server.chat("How many open orders?")
    server.feedback(target_id=told.id, correct=False, comment="Count paid ones only.")
    server.chat("How many orders are open?")
    shown = learnt_of(upstream)["content"]
    assert "Hello\nFeedback: this answer is not correct.\nComment: Count paid ones only." in shown


def test_a_tenant_is_not_shown_what_another_has_taught(serve, upstream):
    server = serve()
    server.teach()
    other = server.of_tenant("beta")
    assert other.raw().headers["learnloop-memory"] == "empty"
    assert len(upstream.heard[-1]["messages"]) == 1
    assert server.raw().headers["learnloop-memory"] == "used"


def test_learning_can_be_switched_off_for_a_request(serve, upstream):
    server = serve()
    server.teach()
    answer = server.raw(extra_headers={"learnloop": "off"})
    assert answer.headers["learnloop-memory"] == "off"
    assert len(upstream.heard[-1]["messages"]) == 1


def test_the_control_group_is_answered_unlearnt(serve, upstream):
    server = serve(control_share=1.0)
    server.teach()
    answer = server.raw()
    assert answer.headers["learnloop-memory"] == "control"
    assert len(upstream.heard[-1]["messages"]) == 1
    assert server.newest().memory == "control"


def test_tool_calls_come_back_and_are_on_record(serve, upstream):
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"n": 1}'}}
    upstream.script = lambda body: (200, upstream.completion(None, tool_calls=[call]))
    server = serve()
    answer = server.chat(tools=[TOOL])
    assert answer.choices[0].message.tool_calls[0].function.arguments == '{"n": 1}'
    kept = json.loads(server.recorded(answer.id).answer)
    assert kept == [{"name": "run", "arguments": '{"n": 1}'}]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
        (503, openai.InternalServerError),
    ],
)
def test_an_error_of_the_upstream_is_passed_on_with_its_body(serve, upstream, status, error):
    body = json.dumps({"error": {"message": "as told", "code": "c", "odd": 1.0}}).encode()
    upstream.script = lambda request: (status, body)
    server = serve()
    with pytest.raises(error) as caught:
        server.chat()
    response = caught.value.response
    assert (response.status_code, response.content) == (status, body)
    kept = server.recorded(response.headers["learnloop-inference-id"])
    assert kept.status == "failed"
    assert "as told" in kept.error


def test_an_upstream_that_is_down_is_a_502(serve, upstream):
    server = serve(model="http://127.0.0.1:9#nobody")
    with pytest.raises(openai.InternalServerError) as caught:
        server.chat()
    assert caught.value.status_code == 502
    assert caught.value.code == "upstream_unreachable"
    assert server.newest().status == "failed"
    assert server.troubles() == ["upstream"]


def test_an_upstream_that_is_too_slow_is_a_504(serve, upstream):
    upstream.script = lambda body: upstream.hang
    server = serve(limits={"upstream_timeout": 0.05})
    with pytest.raises(openai.InternalServerError) as caught:
        server.chat()
    assert (caught.value.status_code, caught.value.code) == (504, "upstream_timeout")


@pytest.mark.parametrize("garbage", [b"<html>", b"[1]", b"", b'{"choices": 3}', b"\xff"])
def test_garbage_is_passed_on_as_it_comes(serve, upstream, garbage):
    upstream.script = lambda body: (200, garbage)
    server = serve()
    answer = server.raw()
    if garbage.startswith(b"{"):
        assert json.loads(answer.content)["choices"] == 3
    else:
        assert answer.content == garbage
        assert server.newest().status == "failed"


def test_what_an_upstream_refuses_of_ours_is_sent_again_without(serve, upstream):
    server = serve()
    server.teach()
    said = json.dumps({"error": {"message": "too long", "code": "context_length_exceeded"}})

    def script(body):
        long = len(body["messages"]) > 1
        return (400, said.encode()) if long else (200, upstream.completion("Short"))

    upstream.script = script
    answer = server.raw()
    assert json.loads(answer.content)["choices"][0]["message"]["content"] == "Short"
    assert answer.headers["learnloop-memory"] == "failed"
    assert "400" in server.newest().error
    assert server.troubles() == ["upstream"]


def test_a_request_whose_advice_comes_too_late_goes_on_unlearnt(serve, upstream):
    server = serve(limits={"advice_timeout": 0.001})
    learner = server.app.state.host.learners.find("acme", "sql")
    answer = learner.at_rest(lambda method: server.raw())
    assert answer.headers["learnloop-memory"] == "failed"
    assert server.newest().error == "advice took longer than 1 ms"
    assert server.troubles() == ["advice"]


def test_a_request_whose_learner_cannot_be_opened_goes_on_unlearnt(serve, upstream):
    server = serve()
    server.services.database.write(
        lambda connection: (
            connection.execute(
                "INSERT INTO learner_states VALUES ('acme', 'sql', 1, '{\"version\": 99}', 'now')"
            ).rowcount
        )
    ).result(30)
    answer = server.raw()
    assert json.loads(answer.content)["choices"][0]["message"]["content"] == "Hello"
    assert answer.headers["learnloop-memory"] == "failed"
    assert server.newest().error.startswith("advice failed: StoreError")


def test_a_memory_that_is_slow_to_open_is_waited_for_once(serve, upstream):
    server = serve(limits={"advice_timeout": 0.001})
    with server.services.database.writer.lock:
        answers = [server.raw(), server.raw()]
    assert [answer.headers["learnloop-memory"] for answer in answers] == ["failed", "failed"]
    said = [server.recorded(json.loads(answer.content)["id"]).error for answer in answers]
    assert said == ["advice took longer than 2000 ms", "advice took longer than 1 ms"]
    server.app.state.host.learners.find("acme", "sql")


def test_a_locked_database_keeps_no_answer_back(serve, upstream):
    server = serve()
    server.teach()
    with closing(sqlite3.connect(server.services.database.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = server.raw()
        server.settle()
        other.rollback()
    assert answer.headers["learnloop-memory"] == "used"
    assert server.troubles() == ["record"]


def test_a_client_that_hangs_up_ends_the_upstreams_work(serve, upstream):
    upstream.script = lambda body: upstream.hang
    server = serve()
    body = json.dumps({"model": "sql", "messages": [{"role": "user", "content": "Hi"}]})
    host, _, port = server.address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\n"
            f"authorization: Bearer {server.client.api_key}\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        connection.sendall((head + body).encode())
        assert upstream.asked.wait(30)
    assert upstream.left.wait(30)
    assert server.newest().status == "cancelled"


def test_an_unknown_model_is_refused_with_those_there_are(serve):
    server = serve()
    with pytest.raises(openai.NotFoundError, match="no task 'gpt'.*'sql'"):
        server.client.chat.completions.create(model="gpt", messages=[])


def test_a_body_without_messages_is_for_the_upstream_to_judge(serve, upstream):
    upstream.script = lambda body: (400, b'{"error": {"message": "no messages"}}')
    server = serve()
    with pytest.raises(openai.BadRequestError, match="no messages"):
        server.client.post("/chat/completions", body={"model": "sql"}, cast_to=object)


def test_the_prompt_version_is_named(serve, upstream):
    server = serve(method="gated_prompt")
    answer = server.raw()
    assert answer.headers["learnloop-prompt-version"] == "0"
    assert answer.headers["learnloop-memory"] == "empty"
    assert len(upstream.heard[-1]["messages"]) == 1


def test_tasks_are_listed_as_models(serve):
    server = serve()
    assert [model.id for model in server.client.models.list()] == ["sql"]
    assert server.client.models.retrieve("sql").owned_by == "learnloop"
    with pytest.raises(openai.NotFoundError):
        server.client.models.retrieve("gpt")


def test_embeddings_are_passed_through(serve, upstream):
    vectors = {"object": "list", "model": "e", "data": [{"index": 0, "embedding": [0.5, 1.0]}]}
    upstream.script = lambda body: (200, json.dumps(vectors).encode())
    server = serve(server={"embeddings": "house/small"})
    answer = server.client.embeddings.create(model="any", input=["a"], encoding_format="float")
    assert answer.data[0].embedding == [0.5, 1.0]
    assert upstream.heard[0]["path"] == "/v1/embeddings"
    assert (upstream.heard[0]["model"], upstream.heard[0]["input"]) == ("small", ["a"])


def test_without_a_model_for_them_there_are_no_embeddings(serve):
    with pytest.raises(openai.NotFoundError, match="embeddings"):
        serve().client.embeddings.create(model="any", input="a")
