"""A stream over the rows of a benchmark: their order by seed, their grading, what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Literal, Protocol

import numpy as np

from learnloop.errors import DataError, ParameterError
from learnloop.types import Episode, Feedback, Prediction, Query, Score, Source, Step, Task

Order = Literal["shuffled", "by_db", "given"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One row: the query, the answer that is right, and tags for reports.

    `gold` is written as a model would answer, so that it can be an example or a correction.
    Neighbours of one `series` (a conversation) stay together, in their order; `""` is none.
    """

    query: Query
    gold: str
    tags: tuple[str, ...] = ()
    series: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """The grade of one answer: `value` 0 to 1 is the metric, `correct` what users would say.

    `comment` is what a user sees of a wrong answer without knowing the right one.
    """

    value: float
    correct: bool
    why: str = ""
    comment: str = ""
    tags: tuple[str, ...] = ()


class Grades(Protocol):
    """Grades an answer to one item."""

    def __call__(self, item: Item, answer: str, /) -> Graded:
        """Return the grade; never fails on what a model wrote."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """Which edition of a benchmark a stream is, and how much of it is there.

    Attributes:
        id: Name with a version that rises when wording, order or grading changes.
        length: Number of queries in the published stream.
        excluded: Ids of rows that are left out, since their own reference does not pass.
        remarks: What else makes a result another one than the published task would give.
    """

    id: str
    length: int
    excluded: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


class Dataset:
    """A benchmark as an environment: what comes next does not depend on the answer.

    The order is that of `numpy.random.default_rng(seed).permutation`, which is also how the
    published streams are shuffled; their seed is 42. Excluded rows are left out afterwards, so
    that the order of the others does not depend on which they are.

    Args:
        edition: Names it, and tells a subset from the whole.
        task: What is asked of the model.
        items: The rows, in the order of the source, those that the edition excludes too.
        grade: Grades an answer.
        order: `shuffled`, `by_db` (shuffled, then one group after the other) or `given`.
        demonstrations: Rows with their answers that are not part of the stream.

    Raises:
        DataError: There are no rows, or two have one id.
    """

    def __init__(
        self,
        *,
        edition: Edition,
        task: Task,
        items: Sequence[Item],
        grade: Grades,
        order: Order = "shuffled",
        demonstrations: Sequence[Item] = (),
    ) -> None:
        excluded = frozenset(edition.excluded)
        kept = tuple(item for item in items if item.query.id not in excluded)
        if not kept:
            raise DataError(f"{edition.id} has no rows; loosen what selects them")
        if len({item.query.id for item in items}) != len(items):
            raise DataError(f"two rows of {edition.id} have the same id")
        self.edition = edition
        self.grade = grade
        self.order = order
        self._task = task
        self._source = tuple(items)
        self._items = kept
        self._gold = {item.query.id: item.gold for item in kept}
        self._demonstrations = tuple(demonstrations)
        self._order: list[Item] = []
        self._index = 0
        self._seed = 0

    @property
    def id(self) -> str:
        return self.edition.id

    @property
    def task(self) -> Task:
        return self._task

    @property
    def note(self) -> str:
        """What readers of a result must know of the rows; `""` where it is the whole stream."""
        notes = []
        count = len(self._items)
        if count + len(self.edition.excluded) != self.edition.length:
            notes.append(f"a subset: {count:,} of the {self.edition.length:,} published queries")
        if self.edition.excluded:
            notes.append(f"{len(self.edition.excluded)} excluded, whose reference does not pass")
        return "; ".join([*notes, *self.edition.remarks])

    @property
    def queries(self) -> Sequence[Query]:
        """The queries of the stream, in the order of the source."""
        return [item.query for item in self._items]

    def __len__(self) -> int:
        return len(self._items)

    def reset(self, *, seed: int) -> Query:
        self._order = self._ordered(seed)
        self._index = 0
        self._seed = seed
        return self._order[0].query

    def step(self, prediction: Prediction) -> Step:
        item = self._current(prediction)
        grade = self.grade(item, prediction.text)
        feedback = Feedback(
            id=f"{self.id}/{self._seed}/{self._index}/{item.query.id}",
            target_id=item.query.id,
            correct=grade.correct,
            comment=None if grade.correct else grade.comment or None,
            correction=None if grade.correct else item.gold,
            source=Source(kind="environment", id=self.id),
        )
        self._index += 1
        return Step(
            feedback=feedback,
            score=Score(
                value=grade.value, why=grade.why, gold=item.gold, tags=item.tags + grade.tags
            ),
            query=self._order[self._index].query if self._index < len(self._order) else None,
        )

    def gold(self, query: Query) -> str:
        """Return the right answer, for the method `oracle` and nobody else."""
        return self._gold[query.id]

    def demonstrations(self, *, k: int) -> tuple[Episode, ...]:
        """Return k rows that are not in the stream, with their right answers, as episodes.

        Raises:
            ParameterError: There are fewer.
        """
        if k > len(self._demonstrations):
            there = len(self._demonstrations)
            raise ParameterError(
                f"{self.id} has {there} demonstrations here, not {k}; "
                + (
                    "give a smaller k"
                    if there
                    else "get its training rows with `learnloop data get`"
                )
            )
        return tuple(
            Episode(
                id=item.query.id,
                query=item.query,
                answer=item.gold,
                step=place,
                source=Source(kind="environment", id=self.id),
                correct=True,
            )
            for place, item in enumerate(islice(self._demonstrations, k))
        )

    def _ordered(self, seed: int) -> list[Item]:
        if self.order == "given":
            return list(self._items)
        parts = _parts(self._source)
        places = np.random.default_rng(seed).permutation(len(parts))
        everything = [item for place in places for item in parts[int(place)]]
        shuffled = [item for item in everything if item.query.id in self._gold]
        if self.order == "by_db":
            shuffled.sort(key=lambda item: item.query.group)
        return shuffled

    def _current(self, prediction: Prediction) -> Item:
        if self._index >= len(self._order):
            raise ParameterError("the stream is over or was never begun; call reset first")
        item = self._order[self._index]
        if prediction.query_id != item.query.id:
            raise ParameterError(
                f"the query in turn is {item.query.id!r}, not {prediction.query_id!r}"
            )
        return item


def _parts(items: Sequence[Item]) -> list[list[Item]]:
    """Return what is shuffled: items, or series of them."""
    keyed = groupby(items, key=lambda item: item.series or item.query.id)
    return [list(part) for _, part in keyed]
