from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.control.betting import BettingTrial
from learnloop.control.comparators import LabelComparator
from learnloop.control.cusum import CUSUMGate
from learnloop.control.evidence import recent, since_change
from learnloop.control.guards import Calls, Guarded
from learnloop.control.recall import BestRecall
from learnloop.control.sprt import SPRTTrial
from learnloop.editing.prompt_history import PromptHistory
from learnloop.errors import EditingError, ModelTimeoutError, ParameterError
from learnloop.loop import ClosedLoop, LoopParts
from learnloop.types import Decision, Edit, Feedback, Prediction, Query


class Parrot:
    """Answers what the prompt says, and counts how often it was asked."""

    def __init__(self):
        self.asked = 0

    def predict(self, prompt, query):
        self.asked += 1
        return Prediction(query_id=query.id, text=prompt.text, prompt_version=prompt.version)


class Openings:
    """A gate that opens where it is told to, else never, and keeps what it was told."""

    def __init__(self, openings=()):
        self.openings = list(openings)
        self.told = []
        self.resets = []

    def decide(self, error):
        opened = self.openings.pop(0) if self.openings else False
        self.told.append(error)
        return Decision(opened=opened, signal=error, terms={}, change_point=None)

    def reset(self, *, changed=True):
        self.resets.append(changed)


class Acts:
    """An editor that does one given thing after the other, the last one for ever."""

    def __init__(self, *acts, max_calls=1):
        self.acts = list(acts)
        self.max_calls = max_calls
        self.shown = []

    def edit(self, prompt, evidence):
        self.shown.append([episode.id for episode in evidence])
        act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
        if isinstance(act, Exception):
            raise act
        return act if isinstance(act, Edit) else Edit(text=act, reason="as told")


class Notes:
    def __init__(self):
        self.events = []
        self.decisions = []

    def record(self, event):
        self.events.append(event)

    def decided(self, error, decision):
        self.decisions.append((error, decision))

    @property
    def kinds(self):
        return [event.kind for event in self.events]


ALWAYS = [True] * 99


class Bench:
    """A loop whose prompt is the answer, with everything about it at hand."""

    def __init__(self, editor, *, gate=None, limit=None, pause=0, select=None, **parts):
        self.gate = Openings(ALWAYS) if gate is None else gate
        self.calls = Calls(limit=limit, reserve=editor.max_calls)
        self.editor = editor
        self.notes = Notes()
        self.predictor, self.reader = Parrot(), Parrot()
        self.prompts = PromptHistory("Red")
        self.asked = 0
        self.loop = ClosedLoop(
            prompts=self.prompts,
            journal=self.notes,
            parts=LoopParts(
                predictor=self.predictor,
                comparator=LabelComparator(),
                gate=Guarded(self.gate, calls=self.calls, pause=pause),
                editor=editor,
                budget=self.calls,
                select=select or recent(8),
                **{"reader": self.reader} | parts,
            ),
        )

    def ask(self):
        query = Query(id=f"q{self.asked}", text="?")
        self.asked += 1
        return query, self.loop.predict(query)

    def hear(self, query, prediction, observed=None, number=0, **parts):
        feedback = Feedback(
            id=f"{query.id}:{number}", target_id=query.id, observed=observed, **parts
        )
        return self.loop.observe(query, prediction, feedback)

    def see(self, *colours):
        """Ask, and observe these colours, one after the other."""
        return [self.hear(*self.ask(), colour) for colour in colours]

    @property
    def text(self):
        return self.prompts.current.text


def test_an_error_leads_to_an_edit_and_the_edit_to_a_reset():
    bench = Bench(Acts("Blue"))
    bench.see("Red", "Blue", "Blue")
    assert [bench.prompts.get(n).text for n in (0, 1)] == ["Red", "Blue"]
    assert bench.gate.told == [0.0, 1.0, 0.0]
    assert bench.gate.resets == [True]
    assert bench.notes.kinds == ["editor_called", "prompt_changed"]
    called, changed = bench.notes.events
    assert (called.text, called.refs) == ("charged 1", ("q0", "q1"))
    assert (changed.text, changed.refs) == ("Blue", ("1", "0"))


def test_a_bad_proposal_keeps_the_prompt_and_costs_its_calls():
    bad = Edit(text=None, reason="no JSON", invalid=2, calls=3)
    bench = Bench(Acts(bad, max_calls=3))
    bench.see("Blue")
    assert bench.notes.kinds == [
        "editor_called",
        "proposal_invalid",
        "proposal_invalid",
        "prompt_kept",
    ]
    assert bench.text == "Red"
    assert bench.calls.used == 3
    assert bench.gate.resets == [False]


def test_a_proposal_that_changes_nothing_is_a_prompt_kept():
    bench = Bench(Acts("Red"))
    bench.see("Blue")
    assert bench.notes.kinds == ["editor_called", "prompt_kept"]
    assert len(bench.prompts.versions) == 1
    assert bench.gate.resets == [False]


@pytest.mark.parametrize("error", [EditingError("broken"), ModelTimeoutError("too late")])
def test_an_editor_that_fails_leaves_the_prompt_and_is_no_prompt_kept(error):
    bench = Bench(Acts(error, "Blue", max_calls=3))
    with pytest.raises(EditingError, match="stays as it was: (broken|too late)"):
        bench.see("Blue")
    assert bench.text == "Red"
    assert bench.notes.kinds == ["editor_failed"]
    assert bench.calls.used == 3  # what it made before it failed is not known, so all it might
    assert bench.gate.resets == []
    bench.see("Blue")
    assert bench.text == "Blue"


CALLS = st.integers(0, 3)
EDITS = st.builds(
    Edit,
    text=st.sampled_from([None, "Red", "Blue"]),
    reason=st.just("as told"),
    invalid=st.integers(0, 2),
    calls=CALLS,
)
FAILURES = st.sampled_from([EditingError("broken"), ModelTimeoutError("too late")])


@given(
    openings=st.lists(st.booleans(), max_size=40),
    acts=st.lists(EDITS | FAILURES, min_size=1, max_size=40),
    limit=st.integers(0, 12),
    colours=st.lists(st.sampled_from(["Red", "Blue"]), min_size=40, max_size=40),
    pause=st.integers(0, 3),
    rollback=st.booleans(),
)
def test_the_calls_never_pass_the_limit_whatever_gate_and_editor_do(
    openings, acts, limit, colours, pause, rollback
):
    class Watched(Acts):
        def edit(self, prompt, evidence):
            assert bench.calls.used + self.max_calls <= limit
            return super().edit(prompt, evidence)

    editor = Watched(*acts, max_calls=3)
    trial = SPRTTrial() if rollback else None
    bench = Bench(editor, gate=Openings(openings), limit=limit, pause=pause, trial=trial)
    failed = 0
    for colour in colours:
        before = bench.prompts.versions
        try:
            bench.see(colour)
        except EditingError:
            failed += 1
            assert bench.prompts.versions == before
    kinds = Counter(bench.notes.kinds)
    assert kinds["editor_failed"] == failed
    assert kinds["editor_called"] + failed == len(editor.shown)
    assert kinds["prompt_changed"] + kinds["prompt_kept"] == kinds["editor_called"]
    charged = [int(e.text.split()[1].rstrip(":")) for e in bench.notes.events if e.kind in CHARGED]
    assert bench.calls.used == sum(charged) <= limit


CHARGED = ("editor_called", "editor_failed")


def test_late_feedback_is_judged_by_the_prompt_in_force():
    bench = Bench(Acts("Blue"))
    late = bench.ask()
    bench.see("Blue")
    assert bench.text == "Blue"
    bench.hear(*late, "Blue")  # the old prompt said Red; the one in force would have been right
    assert bench.gate.told == [1.0, 0.0]
    assert bench.editor.shown == [["q1"]]


@pytest.mark.parametrize(
    ("parts", "feedback"),
    [
        ({"reader": None}, {"observed": "Red"}),
        ({}, {"correct": True}),
        ({}, {"correction": "Blue"}),
    ],
)
def test_late_feedback_that_says_nothing_of_the_prompt_in_force_is_evidence_only(parts, feedback):
    bench = Bench(Acts("Blue", "Red"), **parts)
    late = bench.ask()
    bench.see("Blue")
    assert bench.hear(*late, **feedback) is None
    assert bench.gate.told == [1.0]
    bench.see("Red")
    assert bench.editor.shown[-1] == ["q1", "q0", "q2"]


def test_late_feedback_on_a_prompt_that_is_in_force_again_counts():
    bench = Bench(Acts("Blue", "Red"))
    late = bench.ask()
    bench.see("Blue", "Red")
    assert (bench.text, bench.prompts.current.version) == ("Red", 2)
    bench.hear(*late, correct=False)
    assert bench.gate.told == [1.0, 1.0, 1.0]


def test_learning_never_asks_the_predictor():
    bench = Bench(Acts("Blue", "Green"), trial=SPRTTrial(), recall=BestRecall())
    late = bench.ask()
    bench.see("Blue", "Blue", "Red", "Blue", "Green", "Red")
    bench.hear(*late, "Green")
    assert bench.predictor.asked == bench.asked
    assert bench.reader.asked > 0


def test_a_prediction_is_one_error_however_often_it_is_judged():
    bench = Bench(Acts("Blue"), gate=Openings())
    query, prediction = bench.ask()
    bench.hear(query, prediction, "Blue")
    bench.hear(query, prediction, "Blue")
    bench.hear(query, prediction, "Red", number=1)
    assert bench.gate.told == [1.0]
    bench.gate.openings = [True]
    bench.see("Blue")
    assert bench.editor.shown == [["q0", "q1"]]


def test_of_two_judgements_the_newer_one_is_the_evidence():
    seen = []

    def select(episodes, decision):
        seen.extend(episode.feedback[-1].observed for episode in episodes)
        return episodes

    bench = Bench(Acts("Blue"), gate=Openings([False, True]), select=select)
    query, prediction = bench.ask()
    bench.hear(query, prediction, "Blue")
    bench.hear(query, prediction, "Green", number=1)
    bench.hear(query, prediction, number=2, comment="As I said.")
    bench.see("Blue")
    assert seen == ["Green", "Blue"]


def test_feedback_that_is_delivered_again_does_not_undo_what_came_since():
    seen = []

    def select(episodes, decision):
        seen.extend([each.id for each in episode.feedback] for episode in episodes)
        return episodes

    bench = Bench(Acts("Blue"), gate=Openings([False, True]), select=select)
    query, prediction = bench.ask()
    for number, colour in enumerate(["Blue", "Green"]):
        bench.hear(query, prediction, colour, number=number)
    bench.hear(query, prediction, "Blue", number=0)
    bench.see("Blue")
    assert seen == [["q0:0", "q0:1"], ["q1:0"]]


def test_an_answer_that_is_judged_after_it_was_spoken_of_counts_when_it_is_judged():
    bench = Bench(Acts("Blue"), gate=CUSUMGate(threshold=2.0), select=since_change(8))
    talked_of = bench.ask()
    bench.hear(*talked_of, comment="I am not sure.")
    bench.see("Red", "Red")
    bench.hear(*talked_of, "Blue", number=1)
    bench.see("Blue")
    assert bench.editor.shown == [["q0", "q3"]]


@pytest.mark.parametrize("parts", [{}, {"value": 0.5}])
def test_feedback_that_says_nothing_changes_nothing(parts):
    bench = Bench(Acts("Blue"))
    assert bench.hear(*bench.ask(), **parts) is None
    assert bench.gate.told == []
    assert bench.notes.decisions == []
    bench.see("Blue")
    assert bench.editor.shown == [["q1"]]


def test_a_comment_without_a_judgement_is_evidence_and_no_error():
    bench = Bench(Acts("Blue"))
    assert bench.hear(*bench.ask(), comment="Not what I meant.") is None
    bench.see("Blue")
    assert bench.gate.told == [1.0]
    assert bench.editor.shown == [["q0", "q1"]]


def test_evidence_since_the_change_is_counted_as_the_gate_counts():
    bench = Bench(Acts("Blue"), gate=CUSUMGate(threshold=2.0), select=since_change(8), reader=None)
    bench.see("Red", "Red", "Red")
    bench.hear(*bench.ask())  # judges nothing, so it is no call of the gate
    bench.see("Blue", "Blue")
    assert bench.editor.shown == [["q4", "q5"]]


def test_evidence_since_the_change_is_found_after_more_steps_than_are_remembered():
    bench = Bench(Acts("Blue"), gate=CUSUMGate(threshold=2.0), select=since_change(8))
    bench.see(*["Red"] * 70, "Blue", "Blue")
    assert bench.editor.shown == [["q70", "q71"]]


def test_only_so_many_episodes_are_kept():
    bench = Bench(Acts("Blue"), gate=Openings([False] * 99 + [True]), select=recent(500))
    bench.see(*["Red"] * 99, "Blue")
    assert bench.editor.shown == [[f"q{n}" for n in range(36, 100)]]


def test_a_worse_prompt_is_rolled_back_to_the_very_text_and_costs_nothing_more():
    bench = Bench(Acts("Blue"), trial=SPRTTrial(margin=2))
    bench.see("Blue")
    assert bench.text == "Blue"
    decisions = bench.see("Red", "Red")
    assert bench.notes.kinds == ["editor_called", "prompt_changed", "rolled_back"]
    assert bench.prompts.current.text == bench.prompts.get(0).text == "Red"
    assert bench.notes.events[-1].refs == ("2", "1")
    assert bench.calls.used == 1
    assert bench.gate.resets == [True, True]
    assert all(decision.terms["trial"] == 1.0 for decision in decisions)


def test_while_a_prompt_is_on_trial_nothing_is_edited():
    bench = Bench(Acts("Blue", "Red"), trial=SPRTTrial(margin=3))
    decisions = bench.see("Blue", "Red", "Blue", "Red", *["Blue"] * 4)
    assert [decision.opened for decision in decisions[1:]] == [False] * 7
    assert bench.notes.kinds == ["editor_called", "prompt_changed"]
    bench.see("Red")  # the trial kept the new prompt at the step before, so now it can be edited
    assert bench.text == "Red"


@pytest.mark.parametrize("trial", [SPRTTrial(longest=4), BettingTrial(longest=4)])
def test_a_trial_that_sees_nothing_comes_to_its_end(trial):
    bench = Bench(Acts("Blue", "Green"), trial=trial)
    bench.see("Blue")
    for _ in range(4):
        bench.hear(*bench.ask(), correct=False)
        assert bench.text == "Blue"
    bench.hear(*bench.ask(), correct=False)
    assert bench.text == "Green"


def test_late_feedback_on_the_old_prompt_speaks_in_the_trial_for_whom_it_suits():
    bench = Bench(Acts("Blue"), trial=SPRTTrial(margin=2))
    late = [bench.ask(), bench.ask()]
    bench.see("Blue")
    for query, prediction in late:
        bench.hear(query, prediction, "Red")
    assert bench.text == "Red"


def test_a_pause_begins_with_a_rollback_too():
    bench = Bench(Acts("Blue", "Green"), trial=SPRTTrial(margin=1), pause=2)
    bench.see("Blue", "Red")
    assert bench.notes.kinds[-1] == "rolled_back"
    bench.see("Blue", "Blue")
    assert bench.text == "Red"
    bench.see("Blue")
    assert bench.text == "Green"


def test_an_earlier_prompt_that_explains_the_evidence_comes_back_without_a_call():
    bench = Bench(Acts("Blue", "Green"), recall=BestRecall(), select=recent(1), pause=1)
    bench.see("Blue", "Red", "Red")
    assert bench.notes.kinds == ["editor_called", "prompt_changed", "recalled"]
    recalled = bench.notes.events[-1]
    assert (recalled.text, recalled.refs) == ("Red", ("2", "1"))
    assert bench.gate.resets == [True, True]
    bench.see("Blue")  # in the pause that begins with a recall
    assert bench.text == "Red"


def test_a_new_world_needs_the_editor_where_no_earlier_prompt_explains_it():
    bench = Bench(Acts("Blue", "Green"), recall=BestRecall(), select=recent(1))
    bench.see("Blue", "Green")
    assert bench.text == "Green"
    assert "recalled" not in bench.notes.kinds


def test_a_recall_needs_no_budget():
    bench = Bench(Acts("Blue"), recall=BestRecall(), select=recent(1), limit=1)
    decisions = bench.see("Blue", "Red", "Green")
    assert (bench.text, bench.calls.used) == ("Red", 1)
    assert [decision.opened for decision in decisions] == [True, False, False]
    assert bench.notes.kinds == ["editor_called", "prompt_changed", "recalled"]


def test_a_recall_chooses_among_earlier_texts_each_once_and_the_newest_first():
    offered = []

    class Watching:
        def choose(self, current, earlier):
            offered.append(len(earlier))
            return 0 if offered == [0, 1, 2, 2] else None

    bench = Bench(Acts("Blue", "Green", "Blue", "Pink"), recall=Watching())
    bench.see("Blue", "Green", "Blue", "Red")
    assert offered == [0, 1, 2, 2]  # of Red, Blue, Green, Blue: without the one in force
    assert bench.text == "Green"


def test_a_loop_without_memory_is_refused():
    bench = Bench(Acts("Blue"))
    with pytest.raises(ParameterError, match="at least 1 episode, not 0"):
        ClosedLoop(prompts=bench.prompts, parts=bench.loop.parts, journal=bench.notes, memory=0)


@pytest.mark.parametrize("parts", [{"trial": SPRTTrial()}, {"recall": BestRecall()}])
def test_rollback_and_recall_need_a_prompt_that_is_read_without_a_model(parts):
    with pytest.raises(ParameterError, match="read without a model"):
        Bench(Acts("Blue"), reader=None, **parts)
