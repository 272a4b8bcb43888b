from dataclasses import replace

import pytest

from learnloop.checks.hosting import check_hosting
from learnloop.checks.list_environment import TASK, Item, ListEnvironment
from learnloop.control import GATES
from learnloop.errors import ParameterError
from learnloop.memory.embedders.wordllama import WordLlamaEmbedder
from learnloop.memory.opening import open_memory
from learnloop.methods import METHODS
from learnloop.methods.hosting_refusals import hosting_refusal
from learnloop.methods.parts import Parts
from learnloop.types import Advice, Feedback, Message, Options, Prediction, Query

WORLD = ListEnvironment(
    [Item(query=Query(id="q0", text=""), gold="")],
    demonstrations=[
        Item(query=Query(id=f"d{n}", text=f"Which word goes with {n}?"), gold=f"shown{n}")
        for n in range(16)
    ],
)
HOSTED = [name for name in METHODS if hosting_refusal(name, {}) is None]


class Silent:
    def record(self, event):
        pass

    def decided(self, error, decision):
        pass


@pytest.fixture(scope="module")
def embedder():
    return WordLlamaEmbedder()


def maker(name, embedder, **params):
    def make(model):
        parts = Parts(
            task=TASK,
            model=model,
            policy_model=model,
            memory=open_memory(embedder),
            embedder=embedder,
            journal=Silent(),
            demonstrations=lambda k: WORLD.demonstrations(k=k),
        )
        return METHODS.load(name).from_parts(parts, **params)

    return make


def test_eight_methods_can_be_hosted():
    assert HOSTED == [
        "drpg",
        "few_shot",
        "gated_prompt",
        "grow_prompt",
        "mem_prompt",
        "posthoc_policy",
        "self_stream_icl",
        "zero_shot",
    ]


@pytest.mark.parametrize("name", HOSTED)
def test_a_method_that_can_be_hosted_satisfies_every_check(name, embedder):
    check_hosting(maker(name, embedder))


@pytest.mark.parametrize("gate", sorted(GATES))
def test_gated_prompt_can_be_hosted_with_any_gate(gate, embedder):
    check_hosting(maker("gated_prompt", embedder, gate=gate))


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("drpg", {"policy_only": True, "insertion": "pattern", "policy_scope": "stream"}),
        ("posthoc_policy", {"variant": "published", "policy_cases": "contrastive"}),
        ("mem_prompt", {"only_correct": True}),
        ("gated_prompt", {"gate": "proportional", "evidence": "recent", "pause": 1}),
    ],
)
def test_it_does_with_other_parameters_too(name, params, embedder):
    check_hosting(maker(name, embedder, **params))


@pytest.mark.parametrize(
    ("name", "params", "why"),
    [
        ("drpg", {"writer": "contrastive"}, "take writer='rules'"),
        ("drpg", {"variant": "published"}, "take writer='rules'"),
        ("drpg", {"reasoning": True}, "leave it off"),
        ("self_stream_icl", {"rationale": True}, "leave it off"),
        ("posthoc_policy", {"reasoning": True}, "leave it off"),
        ("gated_prompt", {"rollback": "sprt"}, "take rollback='none'"),
        ("gated_prompt", {"recall": "best", "recall.margin": 2}, "take recall='none'"),
        ("gated_prompt", {"predictor": "structured"}, "take predictor='llm'"),
        ("gated_prompt", {"editor": "majority"}, "take editor='rewriter'"),
        ("gated_prompt", {"editor": "obedient"}, "take editor='rewriter'"),
        ("gated_prompt", {"editor": "gepa"}, "take editor='rewriter'"),
        ("dynamic_cheatsheet", {}, "take another method"),
        ("oracle", {}, "take another method"),
    ],
)
def test_what_cannot_be_hosted_is_refused_before_anything_is_made(name, params, why):
    assert why in hosting_refusal(name, params)


@pytest.mark.parametrize("editor", ["rewriter", "textgrad"])
def test_an_editor_of_free_text_can_be_hosted(editor):
    assert hosting_refusal("gated_prompt", {"editor": editor, "gate.threshold": 0.9}) is None


def test_a_method_that_needs_a_model_to_advise_says_so(embedder):
    method = maker("drpg", embedder, writer="contrastive")(None)
    with pytest.raises(ParameterError, match="take writer='rules'"):
        method.advise(Query(id="q", text="?"))


class Mistaken:
    """Breaks one promise, so that the check of it is seen to fail."""

    def __init__(self, model, broken=""):
        self.model = model
        self.broken = broken
        self.learnt = 0

    def _ask(self, role):
        self.model.complete([Message(role="user", content="number 2")], options=Options(role=role))

    def advise(self, query):
        if self.broken == "advise calls":
            self._ask("policy")
        if self.broken == "advise learns":
            self.learnt += 1
        return Advice()

    def predict_one(self, query):
        examples = ("q0",) if self.broken == "predict" else ()
        self.model.complete([Message(role="user", content=query.text)], options=Options())
        return Prediction(query_id=query.id, text="2", examples=examples)

    def learn_one(self, query, prediction, feedback):
        self.reflect_one(self.remember_one(query, prediction, feedback), prediction)
        if self.broken == "learn":
            self.learnt += 1

    def remember_one(self, query, prediction, feedback):
        if self.broken == "remember calls":
            self._ask("policy")
        if self.broken == "remember learns":
            self.learnt += 1
        made = episode(query, prediction, feedback)
        return replace(made, feedback=()) if self.broken == "no feedback" else made

    def reflect_one(self, episode, prediction):
        if self.broken == "reflect answers":
            self._ask("answer")
        if self.broken == "reflect again":
            self.learnt += 1

    def state(self):
        if self.broken == "no version":
            return {}
        learnt = {self.learnt} if self.broken == "no json" else self.learnt
        return {"version": 1, "learnt": learnt}

    def restore(self, state):
        self.learnt = 7 if self.broken == "restore" else state["learnt"]


def episode(query, prediction, feedback):
    forgetful = METHODS.load("zero_shot")(answerer=None)
    return forgetful.remember_one(query, prediction, feedback)


def test_a_method_that_keeps_its_promises_passes():
    check_hosting(Mistaken)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("advise calls", "advise called a model"),
        ("advise learns", "advise has changed the state"),
        ("predict", "advised .* showed"),
        ("remember calls", "remember_one called a model"),
        ("remember learns", "remember_one has changed the state"),
        ("no feedback", "without feedback"),
        ("learn", "lead to other states"),
        ("reflect answers", "made an answering call"),
        ("reflect again", "changes the state a second time"),
        ("no version", "no version"),
        ("restore", "the state changes on its way"),
    ],
)
def test_a_method_that_breaks_a_promise_is_found_out(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_hosting(lambda model: Mistaken(model, broken))


def test_a_state_that_json_does_not_have_is_found_out():
    with pytest.raises(TypeError, match="not JSON serializable"):
        check_hosting(lambda model: Mistaken(model, "no json"))


def test_feedback_comes_back_last(embedder):
    method = maker("drpg", embedder)(None)
    query, said = Query(id="q", text="How many?"), Prediction(query_id="q", text="7")
    for number in range(3):
        feedback = Feedback(id=f"f{number}", target_id="q", comment="No.")
        assert method.remember_one(query, said, feedback).feedback[-1] == feedback
