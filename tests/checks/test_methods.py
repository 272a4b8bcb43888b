import pytest

from learnloop.checks.list_environment import TASK, Item, ListEnvironment
from learnloop.checks.listening_model import ListeningModel
from learnloop.checks.methods import CHECKS, COUNT, check_method
from learnloop.memory.embedders.wordllama import WordLlamaEmbedder
from learnloop.memory.opening import open_memory
from learnloop.methods import METHODS
from learnloop.methods.parts import Parts
from learnloop.types import Message, Options, Prediction, Query

WORLD = ListEnvironment(
    [Item(query=Query(id=f"q{n}", text=""), gold=f"word{n:03}") for n in range(COUNT)],
    demonstrations=[
        Item(query=Query(id=f"d{n}", text=f"Which word goes with {n}?"), gold=f"shown{n}")
        for n in range(16)
    ],
)


class Silent:
    def record(self, event):
        pass

    def decided(self, error, decision):
        pass


@pytest.fixture(scope="module")
def embedder():
    return WordLlamaEmbedder()


def maker(name, embedder, **params):
    method = METHODS.load(name)

    def make(model):
        parts = Parts(
            task=TASK,
            model=model,
            policy_model=model,
            memory=open_memory(embedder),
            embedder=embedder,
            journal=Silent(),
            seed=0,
            demonstrations=lambda k: WORLD.demonstrations(k=k),
            answer_key=WORLD.gold if getattr(method, "needs_answers", False) else None,
        )
        return method.from_parts(parts, **params)

    return make


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", list(METHODS))
def test_every_method_satisfies_every_check(name, check, embedder):
    check(maker(name, embedder))


@pytest.mark.parametrize("writer", ["rules", "contrastive"])
def test_drpg_does_with_either_policy_writer(writer, embedder):
    check_method(maker("drpg", embedder, writer=writer))


@pytest.mark.parametrize("variant", ["cumulative", "retrieval_synthesis"])
def test_dynamic_cheatsheet_does_in_either_variant(variant, embedder):
    check_method(maker("dynamic_cheatsheet", embedder, variant=variant))


@pytest.mark.parametrize("gate", ["proportional", "fixed"])
def test_gated_prompt_does_with_a_gate_that_opens_often(gate, embedder):
    check_method(maker("gated_prompt", embedder, gate=gate))


class Telling:
    """Declares what it does otherwise than others, so that it is let off just that."""

    def __init__(self, model):
        self.model = model
        self.wrong = []

    def predict_one(self, query):
        text = "\n".join([*self.wrong, query.text])
        message = Message(role="user", content=text)
        return Prediction(
            query_id=query.id, text=self.model.complete([message], options=Options()).text
        )

    def learn_one(self, query, prediction, feedback):
        self.wrong += [] if feedback.correct else [prediction.text]


class Declared(Telling):
    shows_wrong_answers = True


def test_a_method_that_shows_wrong_answers_must_declare_it():
    check_method(Declared)
    with pytest.raises(AssertionError, match="wrong answer was shown"):
        check_method(Telling)


class Attentive(Telling):
    """Says that feedback makes no difference to it."""

    shows_wrong_answers = True
    uses_feedback = False


def test_a_method_that_says_it_uses_no_feedback_is_held_to_it():
    with pytest.raises(AssertionError, match="other feedback led to other messages"):
        check_method(Attentive)


class Leaky:
    """Breaks one promise, so that the check of it is seen to fail."""

    def __init__(self, model, broken):
        self.model = model
        self.broken = broken
        self.asked = []

    def _ask(self, role, text, *, place="user"):
        message = Message(role=place, content=text)
        return self.model.complete([message], options=Options(role=role)).text

    def predict_one(self, query):
        self.asked.append(query.text)
        shown = query.text
        if self.broken == "learns":
            shown = f"{len(self.asked)} number {len(self.asked):03}"
        return Prediction(query_id=query.id, text=self._ask("answer", shown))

    def learn_one(self, query, prediction, feedback):
        if self.broken == "answers":
            self._ask("answer", query.text)
        if self.broken == "system":
            self._ask("policy", query.text, place="system")
        if self.broken == "wrong" and not feedback.correct:
            self._ask("answer", prediction.text)
        if self.broken == "label":
            self._ask("policy", "POISON")


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("learns", "a prediction changed"),
        ("answers", "made an answering call"),
        ("system", "holds remembered text"),
        ("wrong", "made an answering call|wrong answer was shown"),
        ("label", "a label reached"),
    ],
)
def test_a_method_that_breaks_a_promise_is_found_out(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_method(lambda model: Leaky(model, broken))


def test_a_listening_model_keeps_what_it_was_told():
    assert ListeningModel(lambda heard: "").heard == []
