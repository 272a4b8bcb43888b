from learnloop.reports.groups import make_sections
from learnloop.reports.run_pages import show_run, show_runs
from learnloop.types import Bullet, Decision, Event, Feedback, Policy


def shown(runs):
    return show_run(runs.load()[0], name="run", section="shop").steps


def test_episodes_are_resolved_to_earlier_steps(runs, step):
    runs.write("drpg", [0.0, 1.0, step(2, 1.0, examples=("q0:correction", "q1"), evidence=("q9",))])
    last = shown(runs)[2]
    assert [(one.step, one.corrected) for one in last.examples] == [(1, True), (2, False)]
    assert last.evidence[0].step is None


def test_a_query_whose_own_id_ends_like_a_correction_is_itself(runs, step):
    runs.write(
        "drpg",
        [step(0, 1.0, query_id="a:correction"), step(1, 1.0, examples=("a:correction",))],
    )
    (example,) = shown(runs)[1].examples
    assert (example.step, example.corrected) == (1, False)


def test_a_later_correction_of_the_same_query_is_resolved_too(runs, step):
    runs.write("drpg", [0.0, step(1, 1.0, examples=("q0:correction:f7",))])
    (example,) = shown(runs)[1].examples
    assert (example.step, example.corrected) == (1, True)


def test_an_episode_of_a_later_step_is_not_resolved(runs, step):
    runs.write("drpg", [step(0, 0.0, examples=("q1",)), 1.0])
    assert shown(runs)[0].examples[0].step is None


def test_late_feedback_is_marked(runs, step):
    late = Feedback(id="l", target_id="q0", correct=False, comment="Too many rows.")
    runs.write("drpg", [0.0, step(1, 1.0, feedback=(late,))])
    (one,) = shown(runs)[1].feedback
    assert (one.late, one.target, one.comment) == (True, "q0", "Too many rows.")


def test_a_failed_step_is_failed_and_not_wrong(runs, step):
    runs.write("drpg", [1.0, 0.0, 0.5, step(3, 0.0, failed="ModelTimeoutError: late")])
    assert [one.verdict for one in shown(runs)] == ["right", "wrong", "wrong", "failed"]


def test_calls_are_joined_with_their_clock(runs):
    runs.write("drpg", [1.0])
    (call,) = shown(runs)[0].calls
    assert (call.tokens_in, call.tokens_cached, call.seconds) == (100, 40, 1.5)


def test_a_step_without_its_timing_has_no_seconds(runs):
    folder = runs.write("drpg", [1.0])
    (folder / "timings.jsonl").write_bytes(b"")
    (one,) = shown(runs)
    assert one.seconds is None
    assert one.calls[0].tokens_cached is None


def test_policy_gate_and_events_are_shown(runs, step):
    runs.write(
        "drpg",
        [
            step(
                0,
                1.0,
                policy=Policy(bullets=(Bullet(text="Be exact.", helped=2),), writer="rules"),
                decision=Decision(opened=True, signal=0.75, terms={"p": 0.5, "i": 0.25}),
                events=(Event(kind="rule_added", text="Be exact."),),
            )
        ],
    )
    (one,) = shown(runs)
    assert (one.writer, one.policy[0].text, one.policy[0].helped) == ("rules", "Be exact.", 2)
    assert one.decision == "gate opened, signal 0.75 (p 0.5, i 0.25)"
    assert one.events == ("rule_added: Be exact.",)


def test_the_leading_runs_are_marked(runs):
    runs.write("zero_shot", [0.0])
    runs.write("drpg", [1.0])
    (section,) = make_sections(runs.load())
    pages = show_runs(section, leading=("drpg", "comment"))
    assert [(page.name, page.leads) for page in pages] == [
        ("zero_shot, comment, seed 0", False),
        ("drpg, comment, seed 0", True),
    ]
