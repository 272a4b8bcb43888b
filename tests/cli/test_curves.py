import io

import pytest
from rich.console import Console

from learnloop.cli.curves import curves, sparkline
from learnloop.cli.progress import Track
from learnloop.records.schema import StepRecord, StepTiming
from learnloop.types import Feedback


def track(name, *scores, length=20, comment=None):
    said = (Feedback(id="f", target_id="q", comment=comment),) if comment else ()
    steps = [
        StepRecord(
            step=number,
            query_id="q",
            query="How many [bold]orders?",
            group="",
            answer="SELECT 1",
            score=score,
            feedback=said,
        )
        for number, score in enumerate(scores)
    ]
    timings = [StepTiming(step=number, seconds=1.0) for number in range(len(steps))]
    return Track(name=name, length=length, steps=steps, timings=timings)


def drawn(*tracks):
    console = Console(file=io.StringIO(), width=120)
    console.print(curves(tracks, width=120))
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("scores", "length", "line"),
    [
        ([], 8, ""),
        ([0] * 8, 8, "▁" * 8),
        ([1] * 8, 8, "█" * 8),
        ([1] * 8, 16, "█" * 4),
        ([0, 1], 2, "▁▅"),
    ],
)
def test_a_line_grows_with_the_steps_and_rises_with_right_answers(scores, length, line):
    assert sparkline(scores, length=length, room=8) == line


def test_only_the_last_ten_answers_count():
    assert sparkline([0] * 10 + [1] * 10, length=20, room=20)[-1] == "█"


def test_a_stream_without_steps_has_no_line():
    assert sparkline([], length=0, room=8) == ""


def test_each_method_has_a_row_and_the_one_furthest_on_shows_its_answer():
    text = drawn(track("zero_shot", 0.0), track("drpg", 0.0, 1.0, comment="Thanks."))
    assert "1/20" in text
    assert "2/20" in text
    assert "50.0 %" in text
    assert "drpg, step 2" in text
    assert "How many [bold]orders?" in text
    assert "right SELECT 1" in text
    assert "feedback: Thanks." in text


def test_before_the_first_answer_it_says_so():
    assert "waiting for the first answer" in drawn(track("drpg"))
