"""An environment made of a list: the double that checks and tests run methods on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from learnloop.errors import ParameterError
from learnloop.seeding import stream
from learnloop.types import Episode, Feedback, Prediction, Query, Score, Source, Step, Task

TASK = Task(
    name="list",
    role="You answer questions.",
    instructions="Answer the question.",
    answer_format="Answer with one word.",
    metric="accuracy",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A query, its answer, and what somebody would say about a wrong one."""

    query: Query
    gold: str
    comment: str = "That is wrong."


class ListEnvironment:
    """Asks the items in the order that the seed gives and compares answers letter by letter.

    Args:
        items: What is asked.
        marker: Stands in every field of the score, and in nothing that a method may see: where
            it turns up elsewhere, a label has leaked. It stands in what `gold` returns, too.
        demonstrations: Items that are not asked.

    Examples:
        >>> one = Item(query=Query(id="q1", text="2 + 2?"), gold="4")
        >>> world = ListEnvironment([one])
        >>> world.reset(seed=0).text
        '2 + 2?'
        >>> world.step(Prediction(query_id="q1", text="5")).feedback.correction
        '4'
    """

    def __init__(
        self, items: Sequence[Item], *, marker: str = "", demonstrations: Sequence[Item] = ()
    ) -> None:
        self.items = tuple(items)
        self.marker = marker
        self._demonstrations = tuple(demonstrations)
        self._order: list[Item] = []
        self._place = 0

    @property
    def id(self) -> str:
        return "list-v1"

    @property
    def task(self) -> Task:
        return TASK

    def __len__(self) -> int:
        return len(self.items)

    def reset(self, *, seed: int) -> Query:
        order = stream(seed, "order").permutation(len(self.items))
        self._order, self._place = [self.items[place] for place in order], 0
        return self._order[0].query

    def step(self, prediction: Prediction) -> Step:
        item = self._order[self._place]
        self._place += 1
        right = prediction.text == item.gold
        return Step(
            feedback=_feedback(item, right=right),
            score=Score(
                value=float(right),
                why=f"{self.marker}{'equal' if right else 'other'}",
                gold=f"{self.marker}{item.gold}",
                tags=(f"{self.marker}tag",),
            ),
            query=self._order[self._place].query if self._place < len(self._order) else None,
        )

    def gold(self, query: Query) -> str:
        """Return the right answer, for a method that declares that it needs it."""
        (gold,) = (item.gold for item in self.items if item.query.id == query.id)
        return f"{self.marker}{gold}"

    def demonstrations(self, *, k: int) -> tuple[Episode, ...]:
        """Return k items that are not asked, with their right answers, as episodes.

        Raises:
            ParameterError: There are fewer.
        """
        if k > len(self._demonstrations):
            raise ParameterError(f"there are {len(self._demonstrations)} demonstrations, not {k}")
        return tuple(
            Episode(
                id=item.query.id,
                query=item.query,
                answer=item.gold,
                step=place,
                source=Source(),
                correct=True,
            )
            for place, item in enumerate(self._demonstrations[:k])
        )


def _feedback(item: Item, *, right: bool) -> Feedback:
    return Feedback(
        id=f"{item.query.id}:feedback",
        target_id=item.query.id,
        correct=right,
        comment=None if right else item.comment,
        correction=None if right else item.gold,
    )
