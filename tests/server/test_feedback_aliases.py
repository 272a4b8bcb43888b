import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.errors import RequestRefusedError
from learnloop.server.config import FeedbackRules
from learnloop.server.feedback_aliases import for_learning, read_body, read_feedback
from learnloop.types import Feedback, Source

RULES = FeedbackRules(threshold=0.7, weights={"model": 0.3, "code": 0.5})
USER = Source(kind="user")


def read(content, *, rules=RULES):
    return read_feedback(read_body(content), feedback_id="f1", rules=rules)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            {"traceId": "i1", "name": "quality", "value": 1, "dataType": "BOOLEAN", "comment": "k"},
            {"name": "quality", "correct": True, "value": 1.0, "comment": "k"},
        ),
        (
            {"traceId": "t9", "observationId": "i1", "name": "q", "value": 0.2, "configId": "c"},
            {"name": "q", "correct": False, "value": 0.2},
        ),
        (
            {"traceId": "i1", "name": "output", "value": "SELECT 1", "dataType": "CORRECTION"},
            {"name": "output", "correction": "SELECT 1"},
        ),
        (
            {
                "trace_id": "i1",
                "name": "ok",
                "value": False,
                "rationale": "Cents",
                "source": {"source_type": "HUMAN", "source_id": "ann"},
                "overrides": "f0",
            },
            {
                "name": "ok",
                "correct": False,
                "comment": "Cents",
                "source": Source(kind="user", id="ann"),
                "supersedes": "f0",
            },
        ),
        (
            {"inference_id": "i1", "metric_name": "thumb", "value": True, "dryrun": False},
            {"name": "thumb", "correct": True},
        ),
        (
            {"inference_id": "i1", "metric_name": "demonstration", "value": "42"},
            {"name": "demonstration", "correction": "42"},
        ),
        (
            {"id": "i1", "name": "score", "value": 0.7, "reason": "Good", "source": "ui"},
            {"name": "score", "correct": True, "value": 0.7, "comment": "Good"},
        ),
        (
            {"target_id": "i1", "value": " Wrong "},
            {"correct": False},
        ),
        (
            {"target_id": "i1", "value": "off by one", "comment": "see row 2"},
            {"comment": "off by one: see row 2"},
        ),
        (
            {"target_id": "i1", "correct": False, "value": 0.9, "confidence": None},
            {"correct": False, "value": 0.9},
        ),
    ],
)
def test_each_tools_words_are_understood(content, expected):
    wanted = {"id": "f1", "target_id": "i1", "source": USER, **expected}
    assert read(content) == Feedback(**wanted)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ([], "JSON object"),
        ({}, "target_id: is missing"),
        ({"target_id": 3, "correct": True}, "target_id"),
        ({"target_id": "", "correct": True}, "target_id"),
        ({"target_id": "i1"}, "value: is missing"),
        ({"target_id": "i1", "corect": True}, "value: is missing"),
        ({"target_id": "i1", "correct": "yes"}, "correct"),
        ({"target_id": "i1", "value": []}, "value"),
        ({"target_id": "i1", "value": float("nan")}, "value"),
        ({"target_id": "i1", "value": 10**400}, "value"),
        ({"target_id": "i1", "value": "x" * 20_001}, "value"),
        ({"target_id": "i1", "value": "many", "dataType": "NUMERIC"}, "value"),
        ({"target_id": "i1", "name": "demonstration", "value": 3}, "value"),
        ({"target_id": "i1", "comment": {"a": 1}}, "comment"),
        ({"target_id": "i1", "value": 1, "confidence": 1.5}, "confidence"),
        ({"target_id": "i1", "value": 1, "event_time": "yesterday"}, "event_time"),
        ({"target_id": "i1", "value": 1, "source": "oracle"}, "source.kind"),
        ({"target_id": "i1", "value": 1, "source": {"kind": 3}}, "source.kind"),
        ({"target_id": "i1", "value": 1, "source": 3}, "source"),
    ],
)
def test_what_cannot_be_read_is_refused_by_the_name_of_its_field(content, named):
    with pytest.raises(RequestRefusedError) as caught:
        read(content)
    assert caught.value.status == 422
    assert named in str(caught.value)


def test_the_message_says_which_of_a_list_is_meant():
    with pytest.raises(RequestRefusedError, match=r"feedback\[2\]\.target_id"):
        read_body({}, place="feedback[2].")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_counts_as_right_from_the_threshold_on(value):
    assert read({"target_id": "i1", "value": value}).correct is (value >= 0.7)


def test_a_source_that_is_hardly_believed_is_kept_and_teaches_nothing():
    said = {"target_id": "i1", "correct": False, "comment": "No", "source": {"kind": "llm_judge"}}
    doubted = read(said)
    assert (doubted.correct, doubted.comment, doubted.confidence) == (None, "No", 0.3)
    assert for_learning(doubted).comment is None
    believed = read({**said, "source": "code"})
    assert (believed.correct, believed.confidence) == (False, 0.5)
    assert for_learning(believed) is believed


def test_a_clients_own_confidence_and_the_tasks_weight_multiply():
    said = {"target_id": "i1", "correct": True, "confidence": 0.8}
    assert (read(said).confidence, read(said).correct) == (0.8, True)
    assert read({**said, "source": "code"}).confidence == pytest.approx(0.4)
    assert read({**said, "source": "code"}).correct is None
