import pytest

from learnloop.checks.list_environment import TASK
from learnloop.checks.listening_model import ListeningModel
from learnloop.memory.embedders.wordllama import WordLlamaEmbedder
from learnloop.memory.opening import open_memory
from learnloop.methods.parts import Parts
from learnloop.runner.run import StepJournal
from learnloop.types import Feedback, Query

NOTHING = {}


@pytest.fixture(scope="session")
def words():
    return WordLlamaEmbedder()


@pytest.fixture
def memory(words):
    return open_memory(words)


@pytest.fixture
def make_parts(words, memory):
    """Parts over an empty memory; the model gives the same reply to every call of a role."""

    def make(answer="word", policy="POLICY:\n- Write the word.", beside=NOTHING, **errors):
        model = ListeningModel(lambda heard: answer if heard.role == "answer" else policy, **errors)
        return Parts(
            task=TASK,
            model=model,
            policy_model=model,
            memory=memory,
            embedder=words,
            journal=StepJournal(),
            **beside,
        )

    return make


@pytest.fixture
def teach():
    """Let a method answer a query and hear about it; returns the prediction."""

    def one(method, number, **feedback):
        query = Query(id=f"q{number}", text=f"Which word is number {number}?", group="words")
        prediction = method.predict_one(query)
        given = Feedback(id=f"f{number}", target_id=query.id, **feedback)
        method.learn_one(query, prediction, given)
        return prediction

    return one
