"""Where gepa meets our prompts: how a candidate is scored, what reflection sees, what is kept.

gepa itself is imported only to make the adapter, so that this module loads without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from learnloop.editing.gepa_reflector import FirstError
from learnloop.editing.parts import Evaluate
from learnloop.errors import ProposalError
from learnloop.quoting import as_data
from learnloop.structured_prompt import read_prompt
from learnloop.types import Episode, PromptForm

if TYPE_CHECKING:
    from gepa.core.adapter import EvaluationBatch, GEPAAdapter

COMPONENT = "prompt"
"""What the one part of a candidate is called."""

GRAIN = 2.0**20
"""Scores are multiples of 1/GRAIN, so that sums are exact and equal scores really tie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A text, taken as the prompt, on one episode. The score is 1 less its error."""

    text: str
    episode: Episode
    score: float


class Judging:
    """Scores texts as prompts by what was observed, without a model, and counts how often.

    A text that is no prompt scores 0 and is kept in `malformed` with the complaint.

    Args:
        form: How the prompt is written.
        evaluate: Gives the error of a text on an episode.
    """

    def __init__(self, *, form: PromptForm, evaluate: Evaluate) -> None:
        self.form = form
        self.evaluate = evaluate
        self.malformed: dict[str, str] = {}
        self.evaluations = 0
        self.datasets = 0

    def judge(self, text: str, episode: Episode) -> Judged:
        """Score a text on one episode."""
        self.evaluations += 1
        try:
            score = round((1 - self.evaluate(text, episode)) * GRAIN) / GRAIN
        except ProposalError as error:
            self.malformed[text] = str(error)
            score = 0.0
        return Judged(text=text, episode=episode, score=score)

    def observations(self, judged: Sequence[Judged]) -> list[dict[str, str]]:
        """Return what reflection is shown of a minibatch, one entry an episode."""
        self.datasets += 1
        return [
            {
                "Observed": as_data(self.form.observe(each.episode)),
                "The prompt says": self._said(each),
            }
            for each in judged
        ]

    def _said(self, judged: Judged) -> str:
        if judged.text in self.malformed:
            return f"nothing: {self.malformed[judged.text]}"
        answer = self.form.predict(read_prompt(self.form, judged.text), judged.episode.query)
        word = {1.0: "right", 0.0: "wrong"}.get(judged.score, "near, not right")
        return f"{answer} ({word})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One text of the population, for the records. Number 0 is the prompt in force.

    Attributes:
        number: Place in the order of proposal.
        text: As it was proposed.
        parent: Number of the candidate that it was made from.
        parent_fitness: What the parent scored on the common minibatch.
        fitness: What this one scored on it.
        validation: Mean score on all of the validation set; `None` where it was not let in.
    """

    number: int
    text: str
    parent: int | None = None
    parent_fitness: float | None = None
    fitness: float | None = None
    validation: float | None = None


class Lineage:
    """Follows a search through gepa's callbacks. They only take notes: gepa swallows their errors.

    Candidates that were let in also have an index in gepa, which `number` translates.
    """

    def __init__(self) -> None:
        self.candidates: list[Candidate] = []
        self._numbers: list[int] = []
        self._parent = 0
        self._parent_fitness = 0.0

    def number(self, index: int) -> int:
        """Return the number of the candidate that gepa has under an index."""
        return self._numbers[index]

    def on_evaluation_end(self, event: Mapping[str, Any]) -> None:
        """A parent, or (without an index) its child, was scored on a minibatch."""
        index, fitness = event["candidate_idx"], sum(event["scores"])
        if index is None:
            self.candidates[-1] = replace(self.candidates[-1], fitness=fitness)
        else:
            self._parent, self._parent_fitness = self.number(index), fitness

    def on_proposal_end(self, event: Mapping[str, Any]) -> None:
        """A reflection gave a text."""
        self.candidates.append(
            Candidate(
                number=len(self.candidates),
                text=event["new_instructions"][COMPONENT],
                parent=self._parent,
                parent_fitness=self._parent_fitness,
            )
        )

    def on_valset_evaluated(self, event: Mapping[str, Any]) -> None:
        """The prompt in force, or the newest candidate, was validated and let in."""
        if not self.candidates:
            self.candidates.append(Candidate(number=0, text=event["candidate"][COMPONENT]))
        newest = replace(self.candidates[-1], validation=event["average_score"])
        self.candidates[-1] = newest
        self._numbers.append(newest.number)


def make_adapter(judging: Judging, kept: FirstError) -> GEPAAdapter[Episode, Judged, float]:
    """Return the judging as gepa takes it; the base class has what gepa may ask for besides.

    gepa swallows what goes wrong when the observations are written: `kept` keeps it.
    """
    from gepa.core.adapter import EvaluationBatch, GEPAAdapter

    class Adapter(GEPAAdapter[Episode, Judged, float]):
        def evaluate(
            self, batch: list[Episode], candidate: dict[str, str], capture_traces: bool = False
        ) -> EvaluationBatch[Judged, float]:
            judged = [judging.judge(candidate[COMPONENT], episode) for episode in batch]
            scores = [each.score for each in judged]
            traces = judged if capture_traces else None
            return EvaluationBatch(outputs=scores, scores=scores, trajectories=traces)

        def make_reflective_dataset(
            self,
            candidate: dict[str, str],
            eval_batch: EvaluationBatch[Judged, float],
            components_to_update: list[str],
        ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
            with kept:
                return {COMPONENT: judging.observations(eval_batch.trajectories or [])}

    return Adapter()
