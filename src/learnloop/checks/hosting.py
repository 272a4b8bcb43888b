"""What every method must satisfy that an application can ask what to show: `check_hosting`.

A method is made as for `check_method`, and each call of the function makes one over a memory of
its own.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from learnloop.checks.list_environment import Item, ListEnvironment
from learnloop.checks.listening_model import Heard, ListeningModel
from learnloop.errors import EditingError
from learnloop.hosting import Hosted
from learnloop.protocols import LanguageModel
from learnloop.types import Advice, Feedback, Prediction, Query

MakeHosted = Callable[[LanguageModel], Hosted]

COUNT = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One query with its prediction and a feedback on it."""

    query: Query
    prediction: Prediction
    feedback: Feedback


def check_hosting(make: MakeHosted) -> None:
    """Run every check of this module on a method."""
    for check in HOSTING_CHECKS:
        check(make)


def check_advice_takes_no_call(make: MakeHosted) -> None:
    """`advise` calls no model, and says the same again."""
    model = _model()
    method = make(model)
    for lesson in _teach(method):
        with _silence(model, "advise"):
            first = method.advise(lesson.query)
            again = method.advise(lesson.query)
        assert first == again, "advise says something else the second time"


def check_advising_does_not_learn(make: MakeHosted) -> None:
    """A method that is asked for advice goes on as one that is not."""
    asked, left_alone = _model(), _model()
    method = make(asked)
    for lesson in _teach(method):
        method.advise(lesson.query)
    state = method.state()
    other = make(left_alone)
    _go_through(other)
    assert asked.heard == left_alone.heard, "advise has changed a later call"
    assert state == other.state(), "advise has changed the state"


def check_predictions_follow_the_advice(make: MakeHosted) -> None:
    """`predict_one` is based on just what `advise` says, where no budget cuts it."""
    method = make(_model())
    for item in _items():
        advice = method.advise(item.query)
        prediction = method.predict_one(item.query)
        _follows(prediction, advice)
        method.learn_one(item.query, prediction, _clean_feedback(item, prediction))


def check_remembering_takes_no_call(make: MakeHosted) -> None:
    """`remember_one` calls no model, leaves the state alone, and returns the feedback last."""
    model = _model()
    method = make(model)
    for lesson in _lessons(method):
        before = method.state()
        with _silence(model, "remember_one"):
            episode = method.remember_one(lesson.query, lesson.prediction, lesson.feedback)
        assert method.state() == before, "remember_one has changed the state"
        assert episode.query == lesson.query, "remember_one returns the episode of another query"
        assert episode.feedback, "remember_one returns an episode without feedback"
        with suppress(EditingError):
            method.reflect_one(episode, lesson.prediction)


def check_learning_is_remembering_and_reflecting(make: MakeHosted) -> None:
    """`learn_one` does what the two parts do, one after the other."""
    whole, parts = _model(), _model()
    one, other = make(whole), make(parts)
    for lesson in _lessons(one):
        one.learn_one(lesson.query, lesson.prediction, lesson.feedback)
    for lesson in _lessons(other):
        episode = other.remember_one(lesson.query, lesson.prediction, lesson.feedback)
        other.reflect_one(episode, lesson.prediction)
    assert whole.heard == parts.heard, "learn_one and its two parts lead to other calls"
    assert one.state() == other.state(), "learn_one and its two parts lead to other states"


def check_reflecting_does_not_answer(make: MakeHosted) -> None:
    """`reflect_one` makes no call with the role `answer`, and does nothing the second time."""
    model = _model()
    method = make(model)
    for lesson in _lessons(method):
        episode = method.remember_one(lesson.query, lesson.prediction, lesson.feedback)
        before = len(model.heard)
        method.reflect_one(episode, lesson.prediction)
        roles = [call.role for call in model.heard[before:]]
        assert "answer" not in roles, f"reflect_one made an answering call; its roles: {roles!r}"
        state, calls = method.state(), len(model.heard)
        method.reflect_one(episode, lesson.prediction)
        assert len(model.heard) == calls, "the same reflection calls a model a second time"
        assert method.state() == state, "the same reflection changes the state a second time"


def check_arguments_are_left_alone(make: MakeHosted) -> None:
    """No verb changes what it is given."""
    method = make(_model())
    for lesson in _lessons(method):
        kept = copy.deepcopy(lesson)
        episode = method.remember_one(lesson.query, lesson.prediction, lesson.feedback)
        remembered = copy.deepcopy(episode)
        method.reflect_one(episode, lesson.prediction)
        assert (lesson, episode) == (kept, remembered), "an argument was changed"


def check_the_state_goes_through_json(make: MakeHosted) -> None:
    """The state is made of what JSON has, says its version, and is taken up as it was."""
    method = make(_model())
    _go_through(method)
    state = method.state()
    assert isinstance(state.get("version"), int), f"no version in the state: {state!r:.200}"
    read = json.loads(json.dumps(state, allow_nan=False))
    other = make(_model())
    kept = copy.deepcopy(read)
    other.restore(read)
    assert read == kept, "restore changes what it is given"
    assert json.dumps(other.state()) == json.dumps(state), "the state changes on its way"


def _follows(prediction: Prediction, advice: Advice) -> None:
    shown = tuple(episode.id for episode in advice.examples)
    assert prediction.examples == shown, f"advised {shown!r}, showed {prediction.examples!r}"
    evidence = tuple(episode.id for episode in advice.evidence)
    assert prediction.evidence == evidence, f"advised {evidence!r}, not {prediction.evidence!r}"
    assert prediction.policy == advice.policy, f"another policy than advised: {prediction.policy!r}"
    version = None if advice.prompt is None else advice.prompt.version
    assert prediction.prompt_version == version, f"advised version {version!r} of the prompt"


@contextmanager
def _silence(model: ListeningModel, verb: str) -> Iterator[None]:
    before = len(model.heard)
    yield
    roles = [call.role for call in model.heard[before:]]
    assert not roles, f"{verb} called a model; the roles: {roles!r}"


def _teach(method: Hosted) -> Iterator[Lesson]:
    """Let a method learn the lessons, and give each once it is learnt."""
    for lesson in _lessons(method):
        method.learn_one(lesson.query, lesson.prediction, lesson.feedback)
        yield lesson


def _go_through(method: Hosted) -> None:
    for lesson in _lessons(method):
        method.learn_one(lesson.query, lesson.prediction, lesson.feedback)


def _lessons(method: Hosted) -> Iterator[Lesson]:
    """Ask and give feedback: all of it, words alone, late, a second one, and one taken back."""
    late: list[Lesson] = []
    for number, item in enumerate(_items()):
        prediction = method.predict_one(item.query)
        feedback = _clean_feedback(item, prediction)
        lesson = Lesson(query=item.query, prediction=prediction, feedback=feedback)
        if number % 4 == 1:
            late.append(lesson)
            continue
        yield lesson
        if number % 4 == 2:
            yield replace(lesson, feedback=_turned(feedback))
        if number % 4 == 3:
            yield replace(lesson, feedback=_words(feedback))
            yield late.pop()


def _turned(feedback: Feedback) -> Feedback:
    return replace(
        feedback,
        id=f"{feedback.id}/late",
        correct=not feedback.correct,
        correction=None,
        supersedes=feedback.id,
    )


def _words(feedback: Feedback) -> Feedback:
    comment = "Write three digits, such as 007."
    return replace(
        feedback, id=f"{feedback.id}/words", correct=None, correction=None, comment=comment
    )


def _items() -> tuple[Item, ...]:
    return tuple(
        Item(
            query=Query(id=f"q{n}", text=f"Which word goes with number {n:03}?", group="words"),
            gold=f"word{n:03}",
            comment=f"Number {n:03} has another word.",
        )
        for n in range(COUNT)
    )


def _clean_feedback(item: Item, prediction: Prediction) -> Feedback:
    environment = ListEnvironment([item])
    environment.reset(seed=0)
    return environment.step(prediction).feedback


def _model() -> ListeningModel:
    return ListeningModel(_script)


def _script(heard: Heard) -> str:
    """Answer the last number asked about, right where it is even; else write a rule."""
    if heard.role == "edit":
        return '{"prompt": "Look the word up for its number, with three digits."}'
    if heard.role != "answer":
        return "POLICY:\n- Look the word up for its number, with three digits."
    number = heard.text.rpartition("number ")[2][:3]
    right = number.isdigit() and int(number) % 2 == 0
    return f"word{number}" if right else f"mistaken{number}"


HOSTING_CHECKS = (
    check_advice_takes_no_call,
    check_advising_does_not_learn,
    check_predictions_follow_the_advice,
    check_remembering_takes_no_call,
    check_learning_is_remembering_and_reflecting,
    check_reflecting_does_not_answer,
    check_arguments_are_left_alone,
    check_the_state_goes_through_json,
)
