import json

import pytest

from learnloop.reports.themes import LIGHT
from learnloop.reports.trajectories import choose_trajectories, make_trajectory
from learnloop.reports.trajectory_chart import datasets, fill, template
from learnloop.types import Feedback


@pytest.fixture
def trajectory(control, runs):
    events = {
        0: (control.FIRST,),
        3: (control.CALLED, control.EDITED),
        5: (control.CALLED, control.INVALID, control.KEPT),
        6: (control.RECALLED,),
    }
    control.write(runs, "P", control.steps("..xx.xx.", events=events, changes=(2, 5)))
    return make_trajectory(runs.load()[0], name="P", level="η = 0.1", is_number=False)


def test_versions_are_in_force_from_the_step_after_they_were_made(trajectory):
    made = [(one.version, one.start, one.end, one.cause) for one in trajectory.versions]
    assert made == [(0, 1, 4, "first"), (1, 5, 7, "edited"), (3, 8, 8, "recalled")]


def test_the_same_text_looks_the_same(trajectory):
    assert [one.look for one in trajectory.versions] == [0, 1, 0]


def test_flips_and_events_stand_at_their_steps_counted_from_one(trajectory):
    assert trajectory.flips == (3, 6)
    assert [(row["step"], row["kind"]) for row in trajectory.events] == [
        (4, "called"),
        (4, "edited"),
        (6, "called"),
        (6, "invalid"),
        (6, "kept"),
        (7, "recalled"),
    ]


def test_the_words_tell_what_the_figure_shows(trajectory):
    assert trajectory.words == (
        "4 of 8 answers right; changes at steps 3, 6; 2 calls of the editor, 1 edit, "
        "1 invalid proposal, 0 rollbacks, 1 recall."
    )


def test_terms_that_only_repeat_signal_or_threshold_are_not_drawn(trajectory):
    assert {row["term"] for row in trajectory.terms} == {"eta"}


def test_without_tags_the_flips_of_a_rule_come_from_the_truth(control, runs):
    golds = ["Red", "Red", "Blue", "Blue", "Red"]  # all queries are even
    control.write(runs, "P", control.steps("..xx.", golds=golds))
    made = make_trajectory(runs.load()[0], name="P", level="", is_number=False)
    assert made.flips == (3, 5)


@pytest.mark.parametrize(
    ("observed", "gold", "false"),
    [("Red", "Blue", True), ("Red", "Red", False), ("31-40", "35", False), ("31-40", "41", True)],
)
def test_feedback_is_false_where_it_does_not_hold_the_truth(control, runs, observed, gold, false):
    (step,) = control.steps(".", golds=[gold])
    heard = Feedback(id="f", target_id="step-0", observed=observed)
    fields = {name: getattr(step, name) for name in step.__slots__}
    control.write(runs, "P", [type(step)(**(fields | {"feedback": (heard,)}))])
    made = make_trajectory(runs.load()[0], name="P", level="", is_number=False)
    assert made.steps[0]["false"] is false


def test_one_run_an_arm_and_level_is_chosen_ours_in_the_middle_first(control, runs):
    for noise in (0, 0.1, 0.2):
        for seed in (5, 4):
            control.write(runs, "P", control.steps(".."), noise=noise, seed=seed)
            control.write(runs, "Mine (ours)", control.steps(".."), noise=noise, seed=seed)
    chosen = choose_trajectories(control.section_of(runs), arm="Mine (ours)")
    assert [one.name for one in chosen[:2]] == [
        "Mine (ours), η = 0.1, seed 4",
        "P, η = 0.1, seed 4",
    ]
    assert len(chosen) == 6
    assert [one.leads for one in chosen] == [True] + [False] * 5


def test_a_filled_figure_holds_numbers_for_every_mark(trajectory):
    spec = fill(template(LIGHT, is_number=False), trajectory, width=400)
    text = json.dumps({key: value for key, value in spec.items() if key != "datasets"})
    assert "$" not in text
    assert {lane["width"] for lane in spec["vconcat"]} == {400}


def test_a_prompt_is_written_out_where_there_is_room_and_numbered_where_not(trajectory):
    wide, narrow = (datasets(trajectory, width=width)["versions"] for width in (2000, 60))
    assert [one["label"] for one in wide] == ["even: Red · odd: Blue", "even: Blue · odd: Red"] + [
        "even: Red · odd: Blue"
    ]
    assert [one["label"] for one in narrow] == ["v0", "v1", ""]


def test_numbers_are_told_by_how_far_off_they_were(control, runs):
    made = control.steps("x.x", answer="50", golds=["47", "50", "56"])
    control.write(runs, "P", made, task="guess")
    told = make_trajectory(runs.load()[0], name="P", level="", is_number=True).words
    assert told.startswith("answers off by 3.00 in the mean, 1 of 3 exact; 0 calls of the editor")
