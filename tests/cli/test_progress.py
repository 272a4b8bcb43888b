import io

from rich.console import Console

from learnloop.cli.progress import Progress, Track, progress_table
from learnloop.records.schema import CallRecord, CallTiming, StepRecord, StepTiming
from learnloop.runner.run import StepOutcome


def outcome(number, *, score=1.0):
    call = CallRecord(role="answer", model="m", tokens_in=1000, tokens_out=20)
    timed = CallTiming(role="answer", seconds=1.5, tokens_cached=0, replayed=False)
    return StepOutcome(
        record=StepRecord(
            step=number,
            query_id="q",
            query="?",
            group="",
            answer="a",
            score=score,
            calls=(call,),
        ),
        timing=StepTiming(step=number, seconds=2.0, calls=(timed,)),
    )


def drawn(table):
    console = Console(file=io.StringIO(), width=120)
    console.print(table)
    return console.file.getvalue()


def test_a_row_says_how_far_how_good_and_at_what_cost():
    track = Track(name="drpg", length=4)
    for number in range(2):
        track.add(outcome(number, score=number))
    words = drawn(progress_table([track], rows=10)).splitlines()[1].split()
    assert words == ["drpg", "2/4", "50.0", "%", "0", "2", "2,000", "40", "2.00", "running"]


def test_where_there_are_more_runs_than_rows_those_under_way_are_shown():
    tracks = [Track(name=f"run{n}", length=1) for n in range(30)]
    tracks[17].add(outcome(0))
    text = drawn(progress_table(tracks, rows=10))
    assert "run17" in text
    assert "run16" not in text
    assert "29 waiting, 1 running" in text


def test_without_a_terminal_there_is_a_line_in_ten_steps_and_at_the_end():
    console = Console(file=io.StringIO(), width=40)
    with Progress(console) as progress:
        track = progress.track("drpg", length=12)
        for number in range(12):
            progress.add(track, outcome(number))
    lines = console.file.getvalue().splitlines()
    assert [line.split(",")[0] for line in lines] == ["drpg: step 10/12", "drpg: step 12/12"]
