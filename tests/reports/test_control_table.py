from dataclasses import replace
from statistics import stdev

import pytest

from learnloop.records.schema import CallRecord
from learnloop.reports.control_sections import (
    from_record,
    make_control_sections,
    without_record,
)
from learnloop.reports.control_table import RoleMeans, make_control_rows


def rows_of(control, runs):
    return make_control_rows(control.section_of(runs), limits={})


def test_accuracy_is_mean_and_deviation_over_seeds(control, runs):
    control.write(runs, "P", control.steps("....x"), seed=1)
    control.write(runs, "P", control.steps("...xx"), seed=2)
    (row,) = rows_of(control, runs)
    assert (row.arm, row.noise, row.metric, row.seeds) == ("P", 0.1, "accuracy", (1, 2))
    assert row.mean == pytest.approx(0.7)
    assert row.sd == pytest.approx(stdev([0.8, 0.6]))


@pytest.mark.parametrize(
    ("task", "expected"), [("guess", (0 + 3 + 4) / 3), ("track", ((0 + 9 + 16) / 3) ** 0.5)]
)
def test_numbers_are_measured_by_their_distance_from_the_truth(control, runs, task, expected):
    control.write(runs, "P", control.steps(".xx", answer="50", golds=["50", "53", "46"]), task=task)
    (row,) = rows_of(control, runs)
    assert row.mean == pytest.approx(expected)
    assert not row.higher_is_better


def test_what_happened_to_the_prompt_is_counted_apart(control, runs):
    call = CallRecord(role="edit", model="local", tokens_in=70, tokens_out=9)
    events = {
        1: (control.CALLED, control.EDITED),
        2: (control.CALLED, control.INVALID, control.KEPT),
        3: (control.BACK,),
        4: (control.RECALLED,),
        5: (control.CALLED, control.EDITED),
    }
    control.write(runs, "P", control.steps("......", events=events, calls=(call,)), seed=1)
    control.write(runs, "P", control.steps("......"), seed=2)
    (row,) = rows_of(control, runs)
    assert (row.editor_calls, row.calls, row.edits) == (1.5, 1.5, 1.0)
    assert (row.invalid, row.rollbacks, row.recalls) == (0.5, 0.5, 0.5)
    assert row.changes_of_prompt == 2.0
    assert row.roles == {"edit": RoleMeans(calls=2.0, tokens_in=140.0, tokens_out=18.0)}
    assert (row.tokens_in, row.tokens_out) == (140, 18)
    assert row.seconds == 12.0


def test_delay_counts_the_wrong_answers_after_a_flip_that_was_followed(control, runs):
    pattern = "..xx..xxxx"
    control.write(runs, "P", control.steps(pattern, changes=(2, 6)), seed=1)
    control.write(runs, "P", control.steps("..xxxx....", changes=(2, 6)), seed=2)
    (row,) = rows_of(control, runs)
    assert row.changes == 3
    assert row.delay == 2.0
    assert row.followed == pytest.approx(1 / 3)


def test_false_alarms_are_calls_and_recalls_while_the_prompt_is_right(control, runs):
    events = {
        1: (control.CALLED, control.EDITED),
        3: (control.RECALLED,),
        5: (control.CALLED, control.KEPT),
    }
    control.write(runs, "P", control.steps("...xx.....", events=events))
    (row,) = rows_of(control, runs)
    assert row.false_alarms == 2
    assert row.run_length == 8 / 2


def test_without_a_false_alarm_the_run_length_is_not_known(control, runs):
    control.write(runs, "P", control.steps("...."))
    (row,) = rows_of(control, runs)
    assert (row.run_length, row.right_steps) == (None, 4)


def test_the_best_of_each_level_is_marked_and_lower_is_better_for_distances(control, runs):
    control.write(runs, "P", control.steps("..", answer="50", golds=["50", "50"]), task="guess")
    control.write(runs, "D", control.steps("xx", answer="50", golds=["52", "50"]), task="guess")
    assert {row.arm: row.is_best for row in rows_of(control, runs)} == {"P": True, "D": False}


def test_an_unfinished_run_is_left_out_and_said_so(control, runs):
    control.write(runs, "P", control.steps("...."), seed=1)
    control.write(runs, "P", control.steps("x"), seed=2, complete=False)
    control.write(runs, "D", control.steps("...x"), seed=1)
    control.write(runs, "D", control.steps("...x"), seed=2)
    p, d = (next(r for r in rows_of(control, runs) if r.arm == arm) for arm in ("P", "D"))
    assert (p.mean, p.seeds) == (1.0, (1,))
    assert p.notes == ("1 unfinished run left out (seed 2)", "1 of 2 seeds")
    assert d.notes == ()


def test_an_arm_without_a_finished_run_has_no_mean(control, runs):
    control.write(runs, "P", control.steps("."), complete=False)
    (row,) = rows_of(control, runs)
    assert (row.mean, row.is_best, row.runs) == (None, False, 0)


def test_a_reference_editor_is_named_unless_the_label_names_it(control, runs):
    control.write(runs, "P", control.steps(".."), params={"editor": "majority"})
    control.write(runs, "I (obedient)", control.steps(".."), params={"editor": "obedient"})
    control.write(runs, "Bayes (ours)", control.steps(".."), params={"editor": "obedient"})
    control.write(runs, "D", control.steps(".."))
    assert set(control.section_of(runs).labels) == {
        "P (majority)",
        "I (obedient)",
        "Bayes (ours, obedient)",
        "D",
    }


def test_arms_of_one_label_are_told_apart_by_what_differs(control, runs):
    control.write(runs, "P", control.steps(".."), params={"gate": "cusum", "pause": 2})
    control.write(runs, "P", control.steps(".."), params={"gate": "cusum"})
    assert set(control.section_of(runs).labels) == {"P (pause 2)", "P (pause default)"}


def test_arms_stand_in_the_order_of_the_paper_and_ours_last(control, runs):
    gates = {"Ours (ours)": "bayes", "GEPA": "fixed", "D": "derivative", "No Edit": "never"}
    for label, gate in gates.items():
        editor = {"editor": "gepa"} if label == "GEPA" else {}
        control.write(runs, label, control.steps(".."), params={"gate": gate} | editor)
    assert control.section_of(runs).labels == ("No Edit", "D", "GEPA", "Ours (ours)")


def test_a_summary_makes_the_same_row_as_the_record_but_for_the_clock(control, runs):
    events = {1: (control.CALLED, control.EDITED), 3: (control.RECALLED,)}
    control.write(runs, "P", control.steps("...xx...x.", events=events, changes=(3,)))
    whole = [from_record(run) for run in runs.load()]
    lines = [without_record(run.summary) for run in whole]
    rows = [make_control_rows(make_control_sections(one)[0]) for one in (whole, lines)]
    assert rows[0][0].seconds is not None
    fields = [f for f in rows[0][0].__slots__ if f != "seconds"]
    assert [getattr(rows[0][0], f) for f in fields] == [getattr(rows[1][0], f) for f in fields]


def test_levels_rise_with_the_noise(control, runs):
    for noise in (0.2, 0, 0.1):
        control.write(runs, "P", control.steps(".."), noise=noise)
    assert [level.title for level in control.section_of(runs).levels] == [
        "η = 0",
        "η = 0.1",
        "η = 0.2",
    ]


def test_a_timing_without_its_step_is_left_out(control, runs):
    control.write(runs, "P", control.steps(".."))
    (run,) = runs.load()
    killed = replace(run, timings=(*run.timings, replace(run.timings[-1], step=2)))
    assert from_record(killed).seconds == from_record(run).seconds == 4.0
