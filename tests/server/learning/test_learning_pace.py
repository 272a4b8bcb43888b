from hypothesis import given
from hypothesis import strategies as st

from learnloop.server.config import Learning
from learnloop.server.learning_pace import Failure, Pace

WAITS = st.lists(st.integers(0, 2000), max_size=40)


@given(WAITS, st.integers(0, 4))
def test_in_no_hour_are_there_more_calls_than_allowed(waits, most):
    time, made = 0.0, []
    pace = Pace(Learning(calls_per_hour=most), clock=lambda: time)
    for wait in waits:
        time += wait
        if not pace.why_not(calls=len(made)):
            pace.spent(1)
            made.append(time)
    assert all(sum(end - 3600 < at <= end for at in made) <= most for end in made)


def test_the_wait_ends_when_the_oldest_call_is_an_hour_old():
    time = 0.0
    pace = Pace(Learning(calls_per_hour=2), clock=lambda: time)
    pace.spent(1)
    time = 600.0
    pace.spent(1)
    assert pace.wait == 3000.0
    time = 3600.0
    assert (pace.wait, pace.why_not(calls=2)) == (0.0, "")


def test_all_calls_ever_have_a_limit_too():
    pace = Pace(Learning(max_calls=5), clock=lambda: 0.0)
    assert (pace.why_not(calls=4), pace.why_not(calls=5)) == ("", "all 5 calls are spent")


def test_pauses_double_up_to_a_quarter_of_an_hour_and_end_with_a_success():
    pace = Pace(Learning(), clock=lambda: 0.0)
    pauses = []
    for _ in range(10):
        pace.failed(Failure(feedback_id="f", error="down", at="now"))
        pauses.append(pace.wait)
    assert pauses == [5, 10, 20, 40, 80, 160, 320, 640, 900, 900]
    pace.succeeded("f")
    assert (pace.wait, pace.failure) == (0.0, None)
