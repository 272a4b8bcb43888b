import pytest

from learnloop.reports.control_comparison import compare_arms
from learnloop.reports.control_headline import control_sentence, control_title

OURS = "Mine (ours)"


@pytest.fixture
def said(control, runs):
    """Say title and sentence of runs given as arm, pattern, calls and noise."""

    def say(*given):
        for arm, pattern, calls, noise in given:
            events = dict.fromkeys(range(calls), (control.CALLED, control.KEPT))
            gate = {"gate": "never"} if arm == "No Edit" else {}
            for seed in (1, 2):
                made = control.steps(pattern, events=events)
                control.write(runs, arm, made, seed=seed, noise=noise, params=gate)
        section = control.section_of(runs)
        results = compare_arms(section, OURS)
        return control_title(section, OURS, results), control_sentence(section, OURS, results)

    return say


def test_an_arm_that_never_edits_is_not_counted_but_told_apart(said):
    title, sentence = said((OURS, "....", 1, 0), ("P", "..xx", 2, 0), ("No Edit", "xxxx", 0, 0))
    assert title == "Mine (ours) beats every other arm that edits on parity, at no more calls"
    assert sentence.endswith("No Edit makes no calls, and is worse at every η.")


def test_where_an_arm_is_not_beaten_is_said(said):
    title, sentence = said(
        (OURS, "...x", 1, 0),
        (OURS, "...x", 1, 0.1),
        ("P", "..xx", 1, 0),
        ("P", "....", 1, 0.1),
        ("D", "xxxx", 1, 0),
        ("D", "xxxx", 1, 0.1),
    )
    assert title == "Mine (ours) beats 1 of 2 other arms on parity, at no more calls"
    assert sentence.endswith("Not beaten: P at η = 0.1.")


def test_an_arm_that_is_nowhere_beaten_is_said_shortly(said):
    _, sentence = said((OURS, "...x", 1, 0), (OURS, "...x", 1, 0.1), *_nowhere("P"), *_nowhere("D"))
    assert sentence.endswith("Not beaten: D at every η; P at every η.")


def _nowhere(arm):
    return (arm, "....", 1, 0), (arm, "....", 1, 0.1)


def test_an_arm_that_never_edits_and_is_no_worse_is_named_with_the_level(said):
    title, sentence = said((OURS, "..xx", 1, 0.1), ("No Edit", "...x", 0, 0.1))
    assert title == "Mine (ours) against No Edit on parity"
    assert sentence.endswith("No Edit makes no calls, and is no worse at η = 0.1.")


def test_chance_is_counted_among_the_arms_that_are_beaten_alone(control, runs):
    patterns = {
        OURS: ("....", "....", "...."),
        "P": ("xxxx", "...x", "...."),
        "I": ("xxxx", "xxxx", "xxxx"),
        "D": ("x...", "....", "...."),
    }
    calls = {OURS: 1, "P": 1, "I": 1, "D": 0}
    for arm, made in patterns.items():
        for seed, pattern in enumerate(made):
            events = dict.fromkeys(range(calls[arm]), (control.CALLED, control.KEPT))
            control.write(runs, arm, control.steps(pattern, events=events), seed=seed)
    section = control.section_of(runs)
    sentence = control_sentence(section, OURS, compare_arms(section, OURS))
    assert "In 1 of these 2 comparisons the difference may be chance." in sentence
    assert "Not beaten: D at η = 0.1." in sentence
