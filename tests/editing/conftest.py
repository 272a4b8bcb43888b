import pytest

from learnloop.types import Episode, Feedback, Query, Source, Task


class Notes:
    """A journal that keeps its events."""

    def __init__(self):
        self.events = []

    def record(self, event):
        self.events.append(event)

    @property
    def kinds(self):
        return [event.kind for event in self.events]


@pytest.fixture
def journal():
    return Notes()


@pytest.fixture
def task():
    return Task(
        name="sql",
        role="You write SQL.",
        instructions="Answer with one query.",
        answer_format="Only SQL.",
        metric="accuracy",
        answer_label="SQL",
    )


@pytest.fixture
def make_episode():
    def make(query, *, answer="SELECT 1", correct=False, group="shop", **feedback):
        given = Feedback(id=f"f:{query}", target_id=query, correct=correct, **feedback)
        return Episode(
            id=query,
            query=Query(id=query, text=query, group=group),
            answer=answer,
            step=0,
            source=Source(kind="model"),
            correct=correct,
            feedback=(given,),
        )

    return make
