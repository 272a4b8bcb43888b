"""What a person can take back by hand, also while a model writes."""

import json

import pytest

from learnloop.checks.list_environment import TASK
from learnloop.checks.listening_model import ListeningModel
from learnloop.errors import ParameterError
from learnloop.memory.embedders.wordllama import WordLlamaEmbedder
from learnloop.memory.opening import open_memory
from learnloop.methods import METHODS
from learnloop.methods.parts import Parts
from learnloop.types import Feedback, Query

EMBEDDER = WordLlamaEmbedder()
RULE = "Leave out words with kind = 'T'."


class Notes:
    def __init__(self):
        self.kinds, self.decisions = [], []

    def record(self, event):
        self.kinds.append(event.kind)

    def decided(self, error, decision):
        self.decisions.append(decision)


class App:
    """A method whose every edit says something new; `meanwhile` is done while it is written."""

    def __init__(self, name, **params):
        self.written, self.count = 0, 0
        self.meanwhile = lambda: None
        self.notes = Notes()
        model = ListeningModel(self.reply)
        parts = Parts(
            task=TASK,
            model=model,
            policy_model=model,
            memory=open_memory(EMBEDDER),
            embedder=EMBEDDER,
            journal=self.notes,
        )
        self.method = METHODS.load(name).from_parts(parts, **params)

    def reply(self, heard):
        if heard.role == "answer":
            return "word"
        self.written += 1
        self.meanwhile()
        text = f"Write word {self.written}."
        return json.dumps({"prompt": text}) if heard.role == "edit" else f"POLICY:\n- {text}"

    def err(self):
        """Answer a query wrongly, and hear of it."""
        query = Query(id=f"q{self.count}", text=f"Which word is {self.count}?")
        self.count += 1
        prediction = self.method.predict_one(query)
        feedback = Feedback(id=f"f{query.id}", target_id=query.id, correct=False)
        self.method.learn_one(query, prediction, feedback)

    @property
    def texts(self):
        return [version.prompt.text for version in self.method.prompts.versions]


@pytest.fixture(params=["gated_prompt", "posthoc_policy"])
def app(request):
    gate = {"gate": "proportional"} if request.param == "gated_prompt" else {}
    return App(request.param, **gate)


def test_an_error_leads_to_a_version(app):
    first = app.method.prompts.current.text
    app.err()
    app.err()
    assert app.texts == [first, "Write word 1.", "Write word 2."]


def test_an_earlier_version_can_be_put_in_force_and_is_what_is_advised(app):
    app.err()
    app.err()
    shown = []
    for version in (1, 0):
        app.method.prompts.restore(version, cause="by hand")
        advice = app.method.advise(Query(id="new", text="Which?"))
        shown.append(advice.prompt.text if advice.prompt else advice.policy)
    one, none = shown
    assert one == "Write word 1." or one.bullets[0].text == "Write word 1."
    assert none in (TASK.instructions, None)
    assert [version.cause for version in app.method.prompts.versions][-2:] == ["by hand"] * 2


def test_a_pinned_version_is_not_edited_until_it_is_unpinned(app):
    app.err()
    app.method.pin()
    for _ in range(3):
        app.err()
    assert (app.texts[1:], app.written) == (["Write word 1."], 1)
    app.method.pin(pinned=False)
    app.err()
    assert app.texts[1:] == ["Write word 1.", "Write word 2."]


def test_a_pin_outlives_a_restart(app):
    app.method.pin()
    other = App(type(app.method).__module__.rpartition(".")[2])
    other.method.restore(app.method.state())
    other.err()
    assert len(other.texts) == 1


def test_what_was_written_for_another_version_is_dropped(app):
    app.err()
    app.meanwhile = lambda: app.method.prompts.restore(0, cause="by hand")
    app.err()
    assert app.texts[2:] == [app.texts[0]]
    assert app.notes.kinds[-1] in ("prompt_kept", "policy_refused")


def test_what_was_written_while_the_version_was_pinned_is_dropped(app):
    app.meanwhile = app.method.pin
    app.err()
    assert len(app.texts) == 1
    assert app.notes.kinds[-1] in ("prompt_kept", "policy_refused")


def test_after_a_rollback_by_hand_the_gate_begins_again():
    app = App("gated_prompt", **{"gate": "integral", "gate.window": 9, "gate.threshold": 2.5})
    app.err()
    app.err()
    app.method.prompts.restore(0, cause="by hand")
    app.err()
    app.err()
    assert [decision.opened for decision in app.notes.decisions] == [False] * 4
    assert app.notes.kinds.count("steered") == 1
    app.err()
    assert app.notes.decisions[-1].opened


def test_while_pinned_the_gate_is_told_but_held_back():
    app = App("gated_prompt", gate="proportional")
    app.method.pin()
    app.err()
    (decision,) = app.notes.decisions
    assert (decision.opened, decision.terms["pinned"]) == (False, 1.0)


@pytest.fixture
def ruled():
    """`drpg` with one rule, that fits every query."""
    app = App("drpg", min_fit=-1)
    app.method.writer.model.script = lambda heard: RULE
    complain(app)
    return app


def complain(app):
    query = Query(id=f"q{app.count}", text=f"Which words are there {app.count}?")
    app.count += 1
    prediction = app.method.predict_one(query)
    comment = "Words of kind 'T' must be left out: kind <> 'T'."
    feedback = Feedback(id=f"f{query.id}", target_id=query.id, correct=False, comment=comment)
    app.method.learn_one(query, prediction, feedback)


def advised(app):
    policy = app.method.advise(Query(id="new", text="Which words?")).policy
    return [bullet.text for bullet in policy.bullets] if policy else []


def test_a_retired_rule_is_shown_no_more_until_it_is_restored(ruled):
    assert advised(ruled) == [RULE]
    ruled.method.retire(1, cause="wrong")
    assert advised(ruled) == []
    ruled.method.restore_rule(1)
    assert advised(ruled) == [RULE]


def test_a_retired_rule_does_not_come_back_by_another_complaint(ruled):
    ruled.method.retire(1, cause="wrong")
    complain(ruled)
    (rule,) = ruled.method.rules
    assert advised(ruled) == []
    assert (rule.retired, rule.sources) == ("wrong", ("q0", "q1"))


@pytest.mark.parametrize("rule_id", [0, 2, -1])
def test_a_rule_that_is_not_there_cannot_be_retired(ruled, rule_id):
    with pytest.raises(ParameterError, match="there are 1 to 1"):
        ruled.method.retire(rule_id, cause="wrong")
    with pytest.raises(ParameterError, match="there are 1 to 1"):
        ruled.method.restore_rule(rule_id)


def test_a_rule_is_not_retired_without_a_cause(ruled):
    with pytest.raises(ParameterError, match="say why"):
        ruled.method.retire(1, cause="")


def test_a_rule_that_is_retired_while_another_is_written_stays_retired(ruled):
    def meanwhile(heard):
        ruled.method.retire(1, cause="wrong")
        return "Count from 100."

    ruled.method.writer.model.script = meanwhile
    query = Query(id="other", text="Where does it begin?")
    prediction = ruled.method.predict_one(query)
    feedback = Feedback(id="f", target_id="other", correct=False, comment="Count from 100, not 0.")
    ruled.method.learn_one(query, prediction, feedback)
    assert [rule.retired for rule in ruled.method.rules] == ["wrong", None]
