"""The `house_rules` stream: questions to companies' databases, graded by what the SQL returns.

Which conventions exist is in `data`, what users say in `user`, grading in `graders.sql`.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from learnloop.environments.graders.sql import Grade, SQLGrader
from learnloop.environments.graders.sql_answer import parse_sql
from learnloop.environments.house_rules.data import (
    Database,
    Question,
    Rule,
    database_names,
    load_database,
)
from learnloop.environments.house_rules.user import SimulatedUser
from learnloop.errors import ParameterError
from learnloop.seeding import stream
from learnloop.types import Feedback, Prediction, Query, Score, Source, Step, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    database: Database
    question: Question

    @property
    def query(self) -> Query:
        return Query(
            id=self.question.id,
            text=self.question.text,
            context=self.database.context,
            group=self.database.name,
        )


class HouseRules:
    """Questions whose right answer needs conventions that no schema shows.

    Args:
        database: Name of the one database to ask about; `None` for all of them.
        drift_at: Fraction of the stream after which some conventions change; `None` for never.
        seconds: Longest time for one SQL statement.

    Examples:
        >>> environment = HouseRules(database="shop")
        >>> environment.reset(seed=1).group
        'shop'
    """

    def __init__(
        self, *, database: str | None = None, drift_at: float | None = None, seconds: float = 2.0
    ) -> None:
        if drift_at is not None and not 0 <= drift_at <= 1:
            raise ParameterError(f"drift_at must be from 0 to 1, not {drift_at!r}")
        self.database = database
        self.drift_at = drift_at
        self.seconds = seconds
        names = database_names() if database is None else (database,)
        databases = [load_database(name) for name in names]
        self._items = [
            _Item(database=db, question=each) for db in databases for each in db.questions
        ]
        folder = Path(tempfile.mkdtemp(prefix="learnloop-"))
        self._folder_removal = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._graders = {
            db.name: SQLGrader(_build(db, folder), today=db.as_of, seconds=seconds)
            for db in databases
        }
        self._order: list[_Item] = []
        self._index = 0
        self._seed = 0
        self._user: SimulatedUser | None = None

    @property
    def id(self) -> str:
        return "house_rules-v1" if self.drift_at is None else "house_rules_drift-v1"

    @property
    def task(self) -> Task:
        return _TASK

    def __len__(self) -> int:
        return len(self._items)

    def reset(self, *, seed: int) -> Query:
        order = stream(seed, "order").permutation(len(self._items))
        self._order = [self._items[int(place)] for place in order]
        self._index = 0
        self._seed = seed
        self._user = SimulatedUser(rng=stream(seed, "comment"))
        return self._order[0].query

    def step(self, prediction: Prediction) -> Step:
        item = self._current(prediction)
        drifted = self._drifted(self._index)
        gold = item.question.gold(drifted=drifted)
        grader = self._graders[item.database.name]
        grade = grader.grade(prediction.text, gold=gold, ordered=item.question.ordered)
        feedback = self._feedback(item, prediction.text, grade=grade, gold=gold)
        self._index += 1
        return Step(
            feedback=feedback,
            score=Score(
                value=float(grade.correct),
                why=grade.why + (f": {grade.detail}" if grade.detail else ""),
                gold=gold,
                tags=tuple(convention.id for convention in item.database.needed_by(item.question)),
            ),
            query=self._order[self._index].query if self._index < len(self._order) else None,
        )

    def stated(self, bullets: Sequence[str], query_id: str) -> tuple[str, ...]:
        """Return the ids of the conventions needed by a query that the bullets state.

        In a stream that drifts, what counts is the rule in force when the query's turn comes.
        """
        order = self._order or self._items
        at = next((i for i, item in enumerate(order) if item.question.id == query_id), None)
        if at is None:
            raise ParameterError(f"no query {query_id!r} in {self.id}")
        item, drifted = order[at], self._drifted(at)
        return tuple(
            convention.id
            for convention in item.database.needed_by(item.question)
            if any(convention.in_force(drifted=drifted).is_stated_in(text) for text in bullets)
        )

    def _current(self, prediction: Prediction) -> _Item:
        if self._user is None or self._index >= len(self._order):
            raise ParameterError("the stream is over or was never begun; call reset first")
        item = self._order[self._index]
        if prediction.query_id != item.question.id:
            raise ParameterError(
                f"the query in turn is {item.question.id!r}, not {prediction.query_id!r}"
            )
        return item

    def _drifted(self, index: int) -> bool:
        return self.drift_at is not None and index >= int(self.drift_at * len(self._items))

    def _rules(self, item: _Item) -> list[Rule]:
        drifted = self._drifted(self._index)
        needed = item.database.needed_by(item.question)
        return [convention.in_force(drifted=drifted) for convention in needed]

    def _feedback(self, item: _Item, sql: str, *, grade: Grade, gold: str) -> Feedback:
        assert self._user is not None
        comment = self._user.comment(sql[:_MOST_READ], needed=self._rules(item))
        return Feedback(
            id=f"{self.id}/{self._seed}/{self._index}/{item.question.id}",
            target_id=item.question.id,
            correct=grade.correct,
            comment=None if grade.correct else comment,
            correction=None if grade.correct else gold,
            source=Source(kind="environment", id=self.id),
        )


def house_rules_drift(
    *, database: str | None = None, drift_at: float = 0.5, seconds: float = 2.0
) -> HouseRules:
    """Make the stream in which some conventions change after the fraction `drift_at` of it."""
    return HouseRules(database=database, drift_at=drift_at, seconds=seconds)


def _build(database: Database, folder: Path) -> Path:
    path = folder / f"{database.name}.sqlite"
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(database.script)
        path.write_bytes(connection.serialize())
    return path


_MOST_READ = 20_000
"""So many characters of an answer a user reads; a longer one is refused by the grader anyway."""

_TASK = Task(
    name="house_rules",
    role="You write SQLite queries for the analysts of a company.",
    instructions=(
        "Answer the question with one SQLite query on the given tables. "
        "Return the columns that are asked for, in that order, and no others."
    ),
    answer_format="Only the SQL statement, without explanation.",
    metric="execution accuracy",
    parse=parse_sql,
    query_label="Question",
    answer_label="SQL",
    shared_context=True,
)
