"""Cuts buffers of evidence from a task's stream: stale observations, new ones, corrupted ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from learnloop.editing.majority import MajorityEditor
from learnloop.environments.drift import CHANGED
from learnloop.environments.guess import Guess
from learnloop.environments.parity import Parity
from learnloop.environments.track import Track
from learnloop.errors import DataError, ParameterError
from learnloop.seeding import stream
from learnloop.structured_prompt import read_prompt, write_prompt
from learnloop.types import Episode, Feedback, Prediction, Prompt, PromptForm, Query, Source, Step

K = 8
TASKS: Mapping[str, Callable[[], Parity | Guess | Track]] = {
    "parity": Parity,
    "guess": Guess,
    "track": Track,
}
TRACK_CUTS = (20, 100)
"""The number of `track` moves all the time: any step from here to there is as good as another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """How many observations of each kind are in a buffer.

    `corrupted` ones are among the new; where there are no new ones, among the stale.
    """

    stale: int
    new: int
    corrupted: int = 0

    def __post_init__(self) -> None:
        if min(self.stale, self.new, self.corrupted) < 0 or not self.stale + self.new:
            raise ParameterError(
                f"a buffer holds at least one observation, and none below 0: {self}"
            )
        if self.corrupted > (self.new or self.stale):
            raise ParameterError(f"more observations are corrupted than may be: {self}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """What an editor is handed, and at its newest observation the query and what was true."""

    form: PromptForm
    prompt: Prompt
    evidence: tuple[Episode, ...]
    query: Query
    gold: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Observed:
    """One step of a stream: what was asked and answered, and the feedback clean and corrupted."""

    query: Query
    answer: str
    step: Step
    distorted: Feedback

    def episode(self, number: int, *, corrupted: bool = False) -> Episode:
        feedback = self.distorted if corrupted else self.step.feedback
        return Episode(
            id=self.query.id,
            query=self.query,
            answer=self.answer,
            step=number,
            source=Source(kind="model"),
            correct=feedback.correct,
            feedback=(feedback,),
        )


def default_compositions() -> list[Composition]:
    """Return those of the table: new observations alone, after stale ones, and none that is new."""
    alone = [
        Composition(stale=0, new=new, corrupted=corrupted)
        for new in range(1, K + 1)
        for corrupted in range(min(3, new) + 1)
    ]
    after = [Composition(stale=K - new, new=new) for new in range(1, K)]
    kept = [Composition(stale=stale, new=0, corrupted=corrupted) for stale, corrupted in _KEPT]
    return [*alone, *after, *kept]


def cut(task: str, composition: Composition, *, seed: int) -> Buffer:
    """Return the buffer of that composition and seed, the same for every editor.

    Until the change the prompt is kept up to date by `majority` on clean observations.
    """
    environment = TASKS[task]()
    query = environment.reset(seed=seed)
    form = environment.task.prompt_form
    if form is None:
        raise DataError(f"the prompt of {task!r} has no form that could be judged")
    change = _change(task, seed=seed)
    if composition.stale > change:
        raise DataError(
            f"{task!r} changes at step {change} with seed {seed}; take fewer stale ones"
        )
    path = _Path(environment=environment, form=form, change=change, rng=stream(seed, "alone_noise"))
    seen, text = path.walk(query, steps=change + composition.new)
    wrong = _corrupted(composition, seed=seed)
    recent = seen[change - composition.stale :]
    evidence = [
        observed.episode(change - composition.stale + place, corrupted=place in wrong)
        for place, observed in enumerate(recent)
    ]
    newest = seen[-1]
    return Buffer(
        form=form,
        prompt=Prompt(version=0, text=text),
        evidence=tuple(evidence),
        query=newest.query,
        gold=newest.step.score.gold,
    )


def _change(task: str, *, seed: int) -> int:
    """Return the first step of the changed rule or number."""
    if task == "track":
        return int(stream(seed, "alone_change").integers(*TRACK_CUTS))
    environment = TASKS[task]()
    query: Query | None = environment.reset(seed=seed)
    for number in range(len(environment)):
        assert query is not None
        step = environment.step(Prediction(query_id=query.id, text=""))
        if CHANGED in step.score.tags:
            return number
        query = step.query
    raise DataError(f"nothing changes in {task!r} with seed {seed}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Path:
    """Answers a stream under a prompt that is kept up to date until the change."""

    environment: Parity | Guess | Track
    form: PromptForm
    change: int
    rng: np.random.Generator

    def walk(self, query: Query | None, *, steps: int) -> tuple[list[_Observed], str]:
        """Return what was observed in so many steps, and the text of the last prompt."""
        editor = MajorityEditor(form=self.form)
        text = write_prompt(self.form, self.form.initial)
        seen: list[_Observed] = []
        for number in range(steps):
            assert query is not None
            seen.append(self._answer(text, query))
            query = seen[-1].step.query
            if number < self.change:
                known = [each.episode(place) for place, each in enumerate(seen)][-K:]
                text = editor.edit(Prompt(version=0, text=text), known).text or text
        return seen, text

    def _answer(self, text: str, query: Query) -> _Observed:
        answer = self.form.predict(read_prompt(self.form, text), query)
        step = self.environment.step(Prediction(query_id=query.id, text=answer))
        distorted = self.environment.distort(step.feedback, rng=self.rng)
        return _Observed(query=query, answer=answer, step=step, distorted=distorted)


def _corrupted(composition: Composition, *, seed: int) -> Collection[int]:
    """Return the places of the corrupted observations in the buffer."""
    first = composition.stale if composition.new else 0
    places: Sequence[int] = range(first, composition.stale + composition.new)
    drawn = stream(seed, "alone_corrupted").permutation(len(places))
    return {places[int(each)] for each in drawn[: composition.corrupted]}


_KEPT = ((1, 1), (3, 1), (5, 1), (8, 0), (8, 1), (8, 2), (8, 3))
"""Stale and corrupted observations where nothing has changed: a gate that opened for noise."""
