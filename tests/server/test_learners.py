import threading

import pytest

from learnloop.errors import InputError, UnknownNameError
from learnloop.llm.scripted import Scripted
from learnloop.memory.opening import open_memory
from learnloop.server.config import make_config
from learnloop.server.learner import Learner
from learnloop.server.learners import Learners, assemble
from learnloop.server.models import Models
from learnloop.server.storage import learner_states, learning_calls, tenants
from learnloop.server.storage.database import Database
from learnloop.settings import read_settings
from learnloop.types import Feedback, Prediction, Query

QUERY = Query(id="inf_1", text="How many orders?")
NEXT = Query(id="inf_2", text="How many orders?")
ANSWER = Prediction(query_id="inf_1", text="7", raw="7")
WRONG = Feedback(id="fb_1", target_id="inf_1", correct=False, comment="Count paid orders only.")


@pytest.fixture
def database(tmp_path):
    with Database(tmp_path / "learnloop.sqlite") as opened:
        for tenant in ("acme", "beta"):
            opened.write(lambda made, name=tenant: tenants.create(made, tenant=name, at="now"))
        yield opened


@pytest.fixture
def open_learners(database, tmp_path):
    opened = []

    def make(**task):
        config = {"tasks": {"sql": {"model": "scripted/static", **task}}}
        config = make_config(config, path=tmp_path / "learnloop.toml")
        settings = read_settings()
        models = Models(config, settings=settings)
        opened.append(Learners(config, settings=settings, database=database, models=models))
        return opened[-1]

    yield make
    for learners in opened:
        learners.close()


class Kept:
    """Keeps the count of calls in this process, and no state."""

    def __init__(self):
        self.made = 0

    def state(self):
        return None

    def calls(self):
        return self.made

    def count_call(self):
        self.made += 1
        return self.made


def within_another_thread(do):
    thread = threading.Thread(target=do, daemon=True)
    thread.start()
    thread.join(30)
    return not thread.is_alive()


def test_what_is_remembered_is_there_for_the_next_process(open_learners):
    first = open_learners(method="self_stream_icl").find("acme", "sql")
    right = Feedback(id="fb_1", target_id="inf_1", correct=True)
    first.remember_one(QUERY, ANSWER, right)
    again = open_learners(method="self_stream_icl").find("acme", "sql")
    assert [each.answer for each in again.advise(NEXT).examples] == ["7"]


def test_a_tenant_has_a_memory_of_its_own(open_learners):
    learners = open_learners(method="self_stream_icl")
    right = Feedback(id="fb_1", target_id="inf_1", correct=True)
    learners.find("acme", "sql").remember_one(QUERY, ANSWER, right)
    assert len(learners.find("acme", "sql").advise(NEXT).examples) == 1
    assert learners.find("beta", "sql").advise(NEXT).examples == ()
    assert learners.find("acme", "sql") is learners.find("acme", "sql")


def test_the_calls_of_learning_are_counted_for_good(open_learners, database):
    learner = open_learners().find("acme", "sql")
    learner.reflect_one(learner.remember_one(QUERY, ANSWER, WRONG), ANSWER)
    assert learner.calls == 1
    with database.read() as connection:
        assert learning_calls.count(connection, tenant="acme", task="sql") == 1
        assert learning_calls.count(connection, tenant="beta", task="sql") == 0
    assert open_learners().find("acme", "sql").calls == 1


def test_what_is_not_stored_is_forgotten_by_a_reload(open_learners, database):
    learner = open_learners().find("acme", "sql")
    learner.reflect_one(learner.remember_one(QUERY, ANSWER, WRONG), ANSWER)
    state = learner.at_rest(lambda method: method.state())
    assert [event.kind for event in learner.drain()] == ["rule_added"]
    learner.reload()
    assert learner.at_rest(lambda method: method.state()) != state
    where = {"tenant": "acme", "task": "sql"}
    database.write(
        lambda made: learner_states.swap(made, **where, expected=0, state=state, at="now")
    ).result(30)
    learner.reload()
    assert (learner.at_rest(lambda method: method.state()), learner.version) == (state, 1)
    assert learner.drain() == ()


def test_others_are_let_in_while_a_reflection_waits_for_a_model(embedder):
    went_through = []

    def script(messages, options):
        went_through.append(within_another_thread(lambda: learner.advise(QUERY)))
        again = Feedback(id="fb_2", target_id="inf_1", correct=False)
        went_through.append(
            within_another_thread(lambda: learner.remember_one(QUERY, ANSWER, again))
        )
        return "Count paid orders only."

    memory = open_memory(embedder)
    task = make_config({"tasks": {"sql": {"model": "scripted/static"}}}).tasks["sql"]
    learner = Learner(
        assemble=lambda model, journal: assemble(
            "sql", task, model=model, memory=memory, journal=journal
        ),
        model=Scripted(script),
        records=Kept(),
    )
    learner.reflect_one(learner.remember_one(QUERY, ANSWER, WRONG), ANSWER)
    assert went_through == [True, True]
    assert len(learner.at_rest(lambda method: method.rules)) == 1


def test_an_unknown_task_has_no_learner(open_learners):
    with pytest.raises(UnknownNameError, match="no task named 'chat'"):
        open_learners().find("acme", "chat")


def test_a_model_without_an_address_is_no_upstream(open_learners):
    models = open_learners().models
    with pytest.raises(InputError, match="inside a process only"):
        models.address("scripted/static")
    found = models.address("http://127.0.0.1:8080/v1#small")
    assert (found.base_url, found.model) == ("http://127.0.0.1:8080/v1", "small")
