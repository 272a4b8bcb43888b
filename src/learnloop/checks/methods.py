"""What every method must satisfy, as checks that raise `AssertionError` with what went wrong.

A method is made by a function from a model (it answers, and writes policies and prompts) to a
method that has learnt nothing yet, for the task of `list_environment`. A method that declares
`shows_wrong_answers` is let off the check of just that, one that declares `needs_answers` off the
one of failed calls, since it makes none.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from learnloop.checks.list_environment import Item, ListEnvironment
from learnloop.checks.listening_model import Heard, ListeningModel
from learnloop.errors import EditingError, LanguageModelError, ModelTimeoutError
from learnloop.protocols import LanguageModel, Method
from learnloop.types import CallRole, Feedback, Prediction, Query, Source

MakeMethod = Callable[[LanguageModel], Method]
Tell = Callable[[Feedback], Feedback]

MARKER = "POISON"
WRONG = "mistaken"
COUNT = 12
BESIDE: tuple[CallRole, ...] = ("policy", "edit", "loss", "backward", "reflect", "judge")
"""Roles of calls that help to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One query with its prediction and the clean feedback on it."""

    query: Query
    prediction: Prediction
    feedback: Feedback


def check_method(make: MakeMethod) -> None:
    """Run every check of this module on a method."""
    for check in CHECKS:
        check(make)


def check_predicting_does_not_learn(make: MakeMethod) -> None:
    """The same query gets the same prediction, however often anything was asked in between."""
    method = make(_model())
    queries = [lesson.query for lesson in teach(method)]
    first = [method.predict_one(query) for query in queries]
    again = [method.predict_one(query) for query in reversed(queries)]
    assert first == again[::-1], "a prediction changed although nothing was learnt in between"


def check_learning_does_not_answer(make: MakeMethod) -> None:
    """`learn_one` makes no call with the role `answer`."""
    model = _model()
    for before, after in _calls_while_learning(make(model), model):
        roles = [call.role for call in model.heard[before:after]]
        assert "answer" not in roles, f"learn_one made an answering call; its roles: {roles!r}"


def check_arguments_are_left_alone(make: MakeMethod) -> None:
    """Neither verb changes what it is given."""
    method = make(_model())
    for item in _items():
        query = copy.deepcopy(item.query)
        prediction = method.predict_one(query)
        kept = copy.deepcopy(prediction)
        feedback = _clean_feedback(item, prediction)
        given = copy.deepcopy(feedback)
        method.learn_one(query, prediction, feedback)
        assert (query, prediction, feedback) == (item.query, kept, given), "an argument was changed"


def check_no_label_leaks(make: MakeMethod) -> None:
    """Nothing of the score reaches a model: every field of it carries a marker that never does."""
    model = _model()
    list(teach(make(model)))
    for call in model.heard:
        assert MARKER not in call.text, f"a label reached a call with the role {call.role!r}"


def check_wrong_answers_are_no_examples(make: MakeMethod) -> None:
    """What a model answered wrongly is never shown to it when it answers."""
    model = _model()
    method = make(model)
    if getattr(method, "shows_wrong_answers", False):
        return
    list(teach(method))
    for call in model.heard:
        shown = call.role == "answer" and WRONG in call.text
        assert not shown, f"a wrong answer was shown to the answering model: {call.text!r}"


def check_memory_stays_out_of_the_system_message(make: MakeMethod) -> None:
    """No query, answer or comment of the past stands in a system message."""
    model = _model()
    list(teach(make(model)))
    remembered = [item.query.text for item in _items()] + [item.gold for item in _items()]
    remembered += [item.comment for item in _items()]
    for call in model.heard:
        system = "\n".join(m.content for m in call.messages if m.role == "system")
        found = [text for text in remembered if text in system]
        assert not found, f"a system message holds remembered text: {found!r}"


def check_a_failed_call_is_no_answer(make: MakeMethod) -> None:
    """`predict_one` raises where the answering call fails; its words are no prediction."""
    error = ModelTimeoutError("no answer in time")
    method = make(ListeningModel(_script, error=error, fails_on=("answer",)))
    if getattr(method, "needs_answers", False):
        return
    for item in _items():
        try:
            prediction = method.predict_one(item.query)
        except LanguageModelError:
            continue
        raise AssertionError(f"a failed call became the prediction {prediction.text!r}")


def check_a_failed_policy_call_does_not_stop_it(make: MakeMethod) -> None:
    """Where only calls beside the answering one fail, queries are still answered.

    `learn_one` may raise `EditingError` for one: a failed editor halts a run, but no application.
    """
    error = ModelTimeoutError("no answer in time")
    model = ListeningModel(_script, error=error, fails_on=BESIDE)
    method = make(model)
    for item in _items():
        prediction = method.predict_one(item.query)
        with suppress(EditingError):
            method.learn_one(item.query, prediction, _clean_feedback(item, prediction))
    for call in model.heard:
        assert str(error) not in call.text, f"an error was shown to a model: {call.text!r}"


def check_feedback_may_be_partial(make: MakeMethod) -> None:
    """Feedback may lack any part, come late, come twice, or be taken back."""
    method = make(_model())
    lessons = [
        Lesson(query=item.query, prediction=prediction, feedback=_clean_feedback(item, prediction))
        for item in _items()
        for prediction in [method.predict_one(item.query)]
    ]
    for lesson in reversed(lessons):
        for feedback in _partial(lesson.feedback):
            method.learn_one(lesson.query, lesson.prediction, feedback)
    method.predict_one(lessons[0].query)


def check_unused_feedback_changes_nothing(make: MakeMethod) -> None:
    """A method that declares `uses_feedback = False` makes the same calls whatever it is told."""
    model = _model()
    method = make(model)
    if getattr(method, "uses_feedback", True):
        return
    list(teach(method))
    for tell in (_say_nothing, _say_the_opposite):
        other = _model()
        list(teach(make(other), tell=tell))
        assert other.heard == model.heard, "other feedback led to other messages"


def check_it_repeats_itself(make: MakeMethod) -> None:
    """The same stream leads to the same calls, message by message."""
    first, second = _model(), _model()
    list(teach(make(first)))
    list(teach(make(second)))
    assert first.heard == second.heard, "the same stream led to other messages the second time"


def teach(method: Method, *, tell: Tell | None = None) -> Iterator[Lesson]:
    """Let a method go through the stream; half of its answers are right.

    The feedback is clean, unless `tell` changes it.
    """
    environment = ListEnvironment(_items(), marker=MARKER)
    query: Query | None = environment.reset(seed=0)
    while query is not None:
        prediction = method.predict_one(query)
        step = environment.step(prediction)
        feedback = step.feedback if tell is None else tell(step.feedback)
        method.learn_one(query, prediction, feedback)
        yield Lesson(query=query, prediction=prediction, feedback=feedback)
        query = step.query


def _calls_while_learning(method: Method, model: ListeningModel) -> Iterator[tuple[int, int]]:
    for item in _items():
        prediction = method.predict_one(item.query)
        before = len(model.heard)
        method.learn_one(item.query, prediction, _clean_feedback(item, prediction))
        yield before, len(model.heard)


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
    environment = ListEnvironment([item], marker=MARKER)
    environment.reset(seed=0)
    return environment.step(prediction).feedback


def _partial(feedback: Feedback) -> Iterator[Feedback]:
    """Give one feedback in parts, then whole, twice, then again from others, then the opposite."""
    bare = replace(feedback, correct=None, comment=None, correction=None)
    yield replace(bare, id=f"{feedback.id}/nothing")
    yield replace(bare, id=f"{feedback.id}/comment", comment="Not what was asked.")
    yield replace(bare, id=f"{feedback.id}/value", name="stars", value=0.2)
    yield replace(bare, id=f"{feedback.id}/correction", correction="word")
    yield feedback
    yield feedback
    yield replace(feedback, id=f"{feedback.id}/same", source=Source(kind="user", id="second"))
    yield replace(bare, id=f"{feedback.id}/other", correction="another")
    yield replace(bare, id=f"{feedback.id}/back", correction="word")
    turned = not feedback.correct
    yield replace(bare, id=f"{feedback.id}/late", correct=turned, supersedes=feedback.id)


def _say_nothing(feedback: Feedback) -> Feedback:
    return replace(feedback, correct=None, comment=None, correction=None)


def _say_the_opposite(feedback: Feedback) -> Feedback:
    return replace(feedback, correct=not feedback.correct, comment="No.", correction="another")


def _model() -> ListeningModel:
    return ListeningModel(_script)


def _script(heard: Heard) -> str:
    """Answer the last number asked about, right where it is even; else write a rule."""
    if heard.role == "edit":
        return '{"prompt": "Look the word up for its number, with three digits."}'
    rule = "- Look the word up for its number, with three digits."
    if heard.role != "answer":
        sheet = "<cheatsheet>" in heard.text
        return f"<cheatsheet>\n{rule}\n</cheatsheet>" if sheet else f"POLICY:\n{rule}"
    number = heard.text.rpartition("number ")[2][:3]
    right = number.isdigit() and int(number) % 2 == 0
    return f"word{number}" if right else f"{WRONG}{number}"


CHECKS = (
    check_predicting_does_not_learn,
    check_learning_does_not_answer,
    check_arguments_are_left_alone,
    check_no_label_leaks,
    check_wrong_answers_are_no_examples,
    check_memory_stays_out_of_the_system_message,
    check_a_failed_call_is_no_answer,
    check_a_failed_policy_call_does_not_stop_it,
    check_feedback_may_be_partial,
    check_unused_feedback_changes_nothing,
    check_it_repeats_itself,
)
