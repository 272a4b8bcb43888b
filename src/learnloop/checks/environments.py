"""What every environment must do, also those of plugins: call `check_environment` on yours."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

from learnloop.errors import LearnloopError
from learnloop.protocols import Environment
from learnloop.types import Prediction, Query, Step


def check_environment(
    make_environment: Callable[[], Environment],
    *,
    wrong_answer: str = "no answer at all",
    gold_may_appear: bool = False,
) -> None:
    """Check streams, scores, feedback and the label firewall.

    Args:
        make_environment: Makes the same environment each time it is called.
        wrong_answer: An answer that is wrong for every query.
        gold_may_appear: Whether a query may hold its own answer, as a passage to read does.

    Raises:
        AssertionError: It breaks the contract; the message says where.
    """
    check_same_seed_same_stream(make_environment, wrong_answer=wrong_answer)
    check_length_and_ids(make_environment(), wrong_answer=wrong_answer)
    check_feedback(make_environment(), wrong_answer=wrong_answer)
    check_end(make_environment(), wrong_answer=wrong_answer)
    if not gold_may_appear:
        check_firewall(make_environment(), wrong_answer=wrong_answer)


def check_same_seed_same_stream(
    make_environment: Callable[[], Environment], *, wrong_answer: str
) -> None:
    """A seed gives one stream, in a new environment and in one that is begun again."""
    environment = make_environment()
    first = list(_walk(environment, wrong_answer, seed=3))
    other = list(_walk(environment, wrong_answer, seed=4))
    assert list(_walk(environment, wrong_answer, seed=3)) == first, "seed 3 differs the second time"
    fresh = list(_walk(make_environment(), wrong_answer, seed=3))
    assert fresh == first, "seed 3 differs in a new environment"
    ids = sorted(query.id for query, _ in first)
    assert sorted(query.id for query, _ in other) == ids, "two seeds ask different queries"


def check_length_and_ids(environment: Environment, *, wrong_answer: str) -> None:
    """As many queries as `len` says, each with an id of its own, and none of them lost."""
    assert environment.id.rpartition("-v")[2].isdigit(), f"no version in the id {environment.id!r}"
    ids = [query.id for query, _ in _walk(environment, wrong_answer, seed=0)]
    assert len(ids) == len(environment), f"{len(ids)} queries, but len is {len(environment)}"
    assert len(set(ids)) == len(ids), "two queries have one id"


def check_feedback(environment: Environment, *, wrong_answer: str) -> None:
    """Feedback is about the query in turn, agrees with the score, and helps on wrong ones only."""
    seen: set[str] = set()
    for query, step in _walk(environment, wrong_answer, seed=0):
        feedback = step.feedback
        assert feedback.target_id == query.id, f"{feedback.target_id!r} in place of {query.id!r}"
        assert feedback.id not in seen, f"the feedback id {feedback.id!r} comes twice"
        seen.add(feedback.id)
        assert 0 <= step.score.value < 1, f"{wrong_answer!r} scores {step.score.value!r}"
        assert feedback.correct is False, f"{wrong_answer!r} is called {feedback.correct!r}"


def check_end(environment: Environment, *, wrong_answer: str) -> None:
    """After the last query, and before the first, a step is an error that says so."""
    last = Prediction(query_id="?", text=wrong_answer)
    assert _refuses(environment, last), "a step before reset must raise a LearnloopError"
    for query, _ in _walk(environment, wrong_answer, seed=0):
        last = Prediction(query_id=query.id, text=wrong_answer)
    assert _refuses(environment, last), "a step after the end must raise a LearnloopError"


def check_firewall(environment: Environment, *, wrong_answer: str) -> None:
    """No gold answer stands in a query or in the task."""
    steps = list(_walk(environment, wrong_answer, seed=0))
    task = environment.task
    public = [task.role, task.instructions, task.answer_format]
    public += [text for query, _ in steps for text in (query.text, query.context)]
    everything = "\n".join(dict.fromkeys(public))
    leaked = [
        query.id for query, step in steps if step.score.gold and step.score.gold in everything
    ]
    assert not leaked, f"gold answers can be read in a query or the task: {leaked}"


def _walk(environment: Environment, answer: str, *, seed: int) -> Iterator[tuple[Query, Step]]:
    query: Query | None = environment.reset(seed=seed)
    while query is not None:
        prediction = Prediction(query_id=query.id, text=answer)
        before = copy.deepcopy(prediction)
        step = environment.step(prediction)
        assert prediction == before, "step changes the prediction"
        yield query, step
        query = step.query


def _refuses(environment: Environment, prediction: Prediction) -> bool:
    try:
        environment.step(prediction)
    except LearnloopError:
        return True
    return False
