import json

from hypothesis import given
from hypothesis import strategies as st

from learnloop.server.streaming import EventSplitter, with_id

texts = st.text(alphabet='ab"\\:{}é☃ id', max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts | st.just("id"), inner),
    max_leaves=8,
)
contents = st.dictionaries(texts | st.just("id"), values, max_size=4)


@given(contents, st.booleans(), st.sampled_from([None, 1]))
def test_another_id_is_all_that_changes(content, ascii_only, indent):
    data = json.dumps(content, ensure_ascii=ascii_only, indent=indent).encode()
    assert json.loads(with_id(data, content, "inf_1")) == {**content, "id": "inf_1"}


@given(contents, texts)
def test_no_byte_but_those_of_the_id_changes(content, old):
    content = {"id": f"up-{old}", "choices": content}
    data = json.dumps(content, indent=1).encode()
    before, after = data.split(json.dumps(content["id"]).encode(), 1)
    assert with_id(data, content, "inf_1") == before + b'"inf_1"' + after


@given(st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\n\n", b"\r\n\r\n"])))
def test_no_byte_of_a_stream_is_lost(pieces):
    splitter = EventSplitter()
    events = [event for piece in pieces for event in splitter.feed(piece)]
    assert b"".join(events) + splitter.rest == b"".join(pieces)
