"""A method that is written down and read again goes on as if it had never been away."""

import hashlib
import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnloop.checks.list_environment import TASK
from learnloop.checks.listening_model import ListeningModel
from learnloop.control import GATES
from learnloop.environments.parity import Parity
from learnloop.errors import EditingError, ParameterError, StoreError
from learnloop.memory.embedders.wordllama import WordLlamaEmbedder
from learnloop.memory.opening import open_memory
from learnloop.methods import METHODS
from learnloop.methods.parts import Parts
from learnloop.types import Feedback, Query, Source

EMBEDDER = WordLlamaEmbedder()
HOSTED = [
    ("drpg", {}),
    ("few_shot", {}),
    ("grow_prompt", {}),
    ("mem_prompt", {}),
    ("posthoc_policy", {}),
    ("posthoc_policy", {"policy_cases": "contrastive"}),
    ("self_stream_icl", {}),
    ("zero_shot", {}),
]
GATED = [("gated_prompt", {"gate": gate}) for gate in sorted(GATES)] + [
    ("gated_prompt", {"gate": "proportional", "pause": 1}),
    ("gated_prompt", {"gate": "cusum", "max_interval": 3, "budget": 2}),
]
SAYINGS = {
    "right": {"correct": True},
    "wrong": {"correct": False},
    "words": {"comment": "Leave out the words of kind 'T'."},
    "why": {"correct": False, "comment": "Words of kind 'T' must be left out, kind <> 'T'."},
    "number": {"correct": False, "comment": "Count from 100, not from 0."},
    "better": {"correct": False, "correction": "SELECT kind FROM words WHERE kind <> 'T'"},
    "nothing": {},
}
LESSONS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from([*SAYINGS, "steer", "pin", "unpin"]),
        st.booleans(),
    ),
    max_size=14,
)


def reply(heard):
    """Say what any change in the messages changes."""
    digest = hashlib.sha256(heard.text.encode()).hexdigest()[:6]
    if heard.role == "edit":
        return json.dumps({"prompt": f"Write the word of case {digest}."})
    if heard.role == "answer":
        return f"word {digest}"
    if "Complaint" in heard.text.splitlines()[-1] or "Rule:" in heard.text:
        return f"Write it as in case {digest}, without kind 'T'."
    return f"POLICY:\n- Write the word of case {digest}."


class Notes:
    def __init__(self):
        self.heard = []

    def record(self, event):
        self.heard.append(event)

    def decided(self, error, decision):
        self.heard.append((error, decision))


class App:
    """A method with all that it is handed, and the answers that it gave."""

    def __init__(self, name, params, *, memory=None):
        self.model, self.notes = ListeningModel(reply), Notes()
        self.memory = memory or open_memory(EMBEDDER)
        parts = Parts(
            task=TASK,
            model=self.model,
            policy_model=self.model,
            memory=self.memory,
            embedder=EMBEDDER,
            journal=self.notes,
            demonstrations=lambda k: (),
        )
        self.name, self.params = name, params
        self.method = METHODS.load(name).from_parts(parts, **params)
        self.answered = {}
        self.count = 0

    def do(self, lessons):
        for number, what, again in lessons:
            if what in SAYINGS:
                self.tell(number, SAYINGS[what], again=again)
            else:
                with suppress(ParameterError):
                    self.steer(what, number)

    def tell(self, number, said, *, again):
        query = Query(id=f"q{number}", text=f"Which word is {number}?", group="ab"[number % 2])
        if not (again and query.id in self.answered):
            self.answered.setdefault(query.id, self.method.predict_one(query))
        feedback = Feedback(
            id=f"f{self.count}", target_id=query.id, source=Source(kind="user"), **said
        )
        self.count += 1
        with suppress(EditingError):
            self.method.learn_one(query, self.answered[query.id], feedback)

    def steer(self, what, number):
        method = self.method
        if self.name == "drpg":
            if what == "unpin":
                method.restore_rule(1 + number % 2)
            else:
                method.retire(1 + number % 2, cause="by hand")
        elif hasattr(method, "prompts"):
            if what == "steer":
                method.prompts.restore(number % 3, cause="by hand")
            else:
                method.pin(pinned=what == "pin")

    def moved(self):
        """Write the method down and read it into a new one, over the same memory."""
        other = App(self.name, self.params, memory=self.memory)
        other.method.restore(json.loads(json.dumps(self.method.state(), allow_nan=False)))
        other.answered, other.count = dict(self.answered), self.count
        return other

    def advice(self):
        asked = [Query(id="new", text="Which word is 3 of kind 'T'?", group=g) for g in "ab"]
        return [self.method.advise(query) for query in asked]


@pytest.mark.parametrize(("name", "params"), HOSTED + GATED, ids=str)
@settings(max_examples=25, deadline=None)
@given(before=LESSONS, after=LESSONS)
def test_a_method_that_was_moved_goes_on_as_before(name, params, before, after):
    stayed, moving = App(name, params), App(name, params)
    stayed.do(before)
    moving.do(before)
    calls, notes = len(stayed.model.heard), len(stayed.notes.heard)
    moved = moving.moved()
    begun = len(moved.notes.heard)
    assert moved.advice() == stayed.advice()
    stayed.do(after)
    moved.do(after)
    assert moved.model.heard == stayed.model.heard[calls:]
    assert moved.notes.heard[begun:] == stayed.notes.heard[notes:]
    assert moved.advice() == stayed.advice()
    assert moved.method.state() == stayed.method.state()


PARITY = Parity()


class Station:
    """`gated_prompt` on a prompt with a form, which costs no call, with trials and recalls."""

    params = {"editor": "obedient", "gate": "proportional", "rollback": "sprt", "recall": "best"}

    def __init__(self):
        self.notes = Notes()
        parts = Parts(
            task=PARITY.task,
            model=None,
            policy_model=None,
            memory=None,
            embedder=None,
            journal=self.notes,
        )
        self.method = METHODS.load("gated_prompt").from_parts(parts, **self.params)

    def see(self, steps, *, first):
        query = PARITY.reset(seed=1)
        for number in range(first + len(steps)):
            prediction = self.method.predict_one(query)
            step = PARITY.step(prediction)
            if number >= first:
                flipped = steps[number - first]
                said = PARITY.distort(step.feedback, rng=None) if flipped else step.feedback
                self.method.learn_one(query, prediction, said)
            query = step.query


@settings(max_examples=50, deadline=None)
@given(
    before=st.lists(st.booleans(), max_size=30),
    after=st.lists(st.booleans(), max_size=20),
)
def test_trials_and_recalls_go_on_too(before, after):
    stayed, moved = Station(), Station()
    stayed.see(before, first=0)
    notes, begun = len(stayed.notes.heard), len(moved.notes.heard)
    moved.method.restore(json.loads(json.dumps(stayed.method.state())))
    stayed.see(after, first=len(before))
    moved.see(after, first=len(before))
    assert moved.notes.heard[begun:] == stayed.notes.heard[notes:]
    assert moved.method.state() == stayed.method.state()


@pytest.mark.parametrize(("name", "params"), [*HOSTED, GATED[0]], ids=str)
def test_a_state_of_another_version_is_refused(name, params):
    with pytest.raises(StoreError, match="version"):
        App(name, params).method.restore({"version": 2})


@pytest.mark.parametrize("name", ["drpg", "posthoc_policy", "gated_prompt"])
def test_a_method_that_has_learnt_something_takes_no_state(name):
    app = App(name, {})
    app.do([(0, "why", False)])
    with pytest.raises(StoreError, match="make a new one"):
        app.method.restore(app.method.state())


@pytest.mark.parametrize(
    ("one", "other"), [("drpg", "gated_prompt"), ("posthoc_policy", "drpg"), ("drpg", "zero_shot")]
)
def test_a_state_of_another_method_is_refused(one, other):
    app = App(one, {})
    app.do([(0, "why", False)])
    with pytest.raises(StoreError, match="for another method"):
        App(other, {}).method.restore(app.method.state())
