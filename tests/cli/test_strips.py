import io

import pytest
from rich.console import Console

from learnloop.cli.progress import Track
from learnloop.cli.strips import count_changes, marks, strip, strips
from learnloop.records.schema import CallRecord, StepRecord, StepTiming
from learnloop.types import Event

CALL = CallRecord(role="edit", model="local", tokens_in=70, tokens_out=9)


def track(name, pattern, *, length, events=None, calls=()):
    """Return a run of one step a letter: `.` is right, `x` wrong."""
    steps = [
        StepRecord(
            step=number,
            query_id=f"step-{number}",
            query="4",
            group="",
            answer="Red",
            score=float(letter == "."),
            events=tuple(Event(kind=kind, text="") for kind in (events or {}).get(number, ())),
            calls=(CALL,) if number in calls else (),
        )
        for number, letter in enumerate(pattern)
    ]
    timings = [StepTiming(step=step.step, seconds=0.0) for step in steps]
    return Track(name=name, length=length, steps=steps, timings=timings)


def drawn(*tracks, width=80):
    console = Console(file=io.StringIO(), width=width)
    console.print(strips(tracks, width=width))
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("scores", "length", "line"),
    [([], 4, "····"), ([1, 0, 1, 1], 4, "█▁██"), ([1, 0, 1, 1], 8, "▄█··")],
)
def test_a_cell_is_full_where_right_low_where_wrong_and_a_dot_ahead(scores, length, line):
    assert strip(scores, length=length, room=4) == line


def test_a_mark_stands_under_the_cell_in_which_the_prompt_changed():
    run = track(
        "P",
        "........",
        length=8,
        events={
            0: ("prompt_initial", "editor_called", "prompt_kept"),
            2: ("prompt_changed",),
            3: ("recalled",),
            7: ("rolled_back",),
        },
    )
    assert marks(run.steps, length=8, room=4) == " ▲ ▲"
    assert count_changes(run.steps) == 3


def test_what_happened_is_drawn_run_by_run():
    text = drawn(
        track("No Edit", "..xx", length=4),
        track(
            "Bayes", "..x.", length=4, events={2: ("editor_called", "prompt_changed")}, calls=[2]
        ),
    )
    _, first, _, second, below = text.splitlines()[:5]
    assert first.split() == ["No", "Edit", "██▁▁", "50.0", "%", "0", "0", "4/4"]
    assert second.split() == ["Bayes", "██▁█", "75.0", "%", "1", "1", "4/4"]
    assert below.index("▲") == second.index("▁")


def test_a_run_of_the_quickstart_fits_a_terminal_of_80_columns():
    events = dict.fromkeys(range(16), ("prompt_changed",))
    text = drawn(track("No Edit", "." * 120, length=120, events=events))
    assert "…" not in text
    assert "120/120" in text
    assert max(map(len, text.splitlines())) <= 80
